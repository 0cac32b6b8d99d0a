//! The thread that writes checkpoints while the proxy serves.

use std::path::Path;
use std::sync::Arc;

use tslp_core::ids::Seq;
use tslp_core::limits::CHECKPOINT_EVENTS;
use tslp_io::checkpoint::keeper::Keeper;
use tslp_io::checkpoint::{self, Unusable};
use tslp_io::ledger::{DataFiles, OpenLedger};
use tslp_replay::state::State;
use tslp_snapshots::replay_check;
use tslp_snapshots::storage::{DATA_DIR, SimDisk};

use super::workload::{open, run};

/// Lets a keeper do something with the story's last state, and says what is on the disk then.
fn kept(act: impl FnOnce(&mut Keeper, &State, &OpenLedger)) -> Result<Seq, String> {
    let disk = SimDisk::new(0);
    run(&disk);
    let file = DataFiles::of(Path::new(DATA_DIR)).checkpoint;
    tslp_io::ledger::disk::Disk::remove(&disk, &file).unwrap();
    let (opened, state) = open(&disk).unwrap();
    let (mut keeper, thread) = Keeper::spawn(
        Arc::new(disk.clone()),
        file.clone(),
        opened.readers.open().unwrap(),
        opened.log.soundness().clone(),
        Seq(0),
    )
    .unwrap();
    act(&mut keeper, &state, &opened);
    drop(keeper);
    thread.join().unwrap();
    match checkpoint::load(&disk, &file, &opened.log) {
        Ok(loaded) => {
            let parts = replay_check::parts(&loaded.state);
            assert_eq!(parts, replay_check::parts(&state));
            assert_eq!(loaded.mark.head.seq, state.head());
            Ok(loaded.mark.head.seq)
        }
        Err(Unusable::Missing) => Err("none".into()),
        Err(other) => Err(other.to_string()),
    }
}

#[test]
fn an_idle_proxy_leaves_a_whole_checkpoint() {
    let written = kept(|keeper, state, _| {
        assert!(!keeper.is_due(state.head()));
        assert!(keeper.is_due(Seq(CHECKPOINT_EVENTS)));
        keeper.keep(state, || false);
    });
    assert!(written.unwrap() > Seq(0));
}

#[test]
fn who_is_wanted_gives_up_and_may_do_it_later() {
    let given_up = kept(|keeper, state, _| keeper.keep(state, || true));
    assert_eq!(given_up, Err("none".into()));
    let later = kept(|keeper, state, _| {
        keeper.keep(state, || true);
        keeper.keep(state, || false);
    });
    assert!(later.is_ok(), "{later:?}");
}

#[test]
fn a_ledger_that_was_found_to_be_damaged_gets_none() {
    let written = kept(|keeper, state, opened| {
        opened.log.soundness().condemn("event 3 is gone");
        keeper.keep(state, || false);
    });
    assert_eq!(written, Err("none".into()));
}
