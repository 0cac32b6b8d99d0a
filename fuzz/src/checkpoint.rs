//! A checkpoint's file, and the parts in it.

use std::path::Path;

use tslp_io::checkpoint as file;
use tslp_migrations::checkpoint as layout;
use tslp_projections::TABLES;
use tslp_projections::part::Part;
use tslp_replay::chain::ChainHash;
use tslp_replay::log::Head;
use tslp_replay::state::{Restoring, State};
use tslp_snapshots::storage::{DATA_DIR, Image, SimDisk};

/// Any bytes are a checkpoint or an error. Parts out of any bytes make a state or an error, however they were hashed; a state
/// that they make is stored and read again as the same.
pub fn checkpoint(data: &[u8]) {
    let path = Path::new(DATA_DIR).join("ledger.checkpoint");
    let mut image = Image::default();
    image.put(&path, data.to_owned());
    let disk = SimDisk::with(0, &image);
    assert!(
        file::read(&disk, &path).is_err(),
        "a checkpoint out of nothing"
    );
    let Some(state) = restored(data) else { return };
    let _ = format!("{state}");
    for table in 0..TABLES.len() {
        state.rows(table, &mut |_| {});
    }
    let head = Head {
        seq: state.head(),
        chain: ChainHash::GENESIS,
    };
    if let Err(error) = file::write(&disk, &path, head, &state) {
        panic!("a state that was read can't be written: {error}");
    }
    match file::read(&disk, &path) {
        Ok(again) => assert_eq!(parts(&again.state), parts(&state)),
        Err(error) => panic!("a state that was written can't be read: {error}"),
    }
}

/// The state of the parts that stand in the data, each behind its length.
fn restored(mut data: &[u8]) -> Option<State> {
    let mut restoring = Restoring::default();
    while let Some((length, rest)) = data.split_first_chunk::<2>() {
        let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
        let (bytes, rest) = rest.split_at(length);
        data = rest;
        if let Ok(part) = layout::decode(bytes) {
            let encoded = match layout::encode(&part) {
                Ok(encoded) => encoded,
                Err(error) => panic!("{part:?} was decoded and can't be encoded: {error}"),
            };
            assert_eq!(layout::decode(&encoded).as_ref(), Ok(&part));
            restoring.take(part).ok()?;
        }
    }
    restoring.finish(tslp_core::ids::Seq(7)).ok()
}

fn parts(state: &State) -> Vec<Part> {
    tslp_snapshots::replay_check::parts(state)
}
