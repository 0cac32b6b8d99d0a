//! The power goes while a ledger is made, rebuilt or copied: the old or the new one opens, whole.

use std::path::Path;

use tslp_core::ids::Seq;
use tslp_io::maintenance;
use tslp_snapshots::storage::{DATA_DIR, Effect, Fault, Image, Operation, PowerLoss, SimDisk};
use tslp_store::evidence::copy::{self, CopyError, CopySource};
use tslp_store::evidence::scan::LedgerScan;
use tslp_store::ledger::DataFiles;
use tslp_store::ledger::reader::ReaderFactory;

use super::workload::{
    Run, WORKSPACE, append_story, check_events, check_survived, check_tables, groups, last_seq,
    open,
};

/// Where the copy goes.
const NEW_DIR: &str = "/sim/new";

fn written_image() -> (Image, Run) {
    let disk = SimDisk::new(0);
    let ran = append_story(&disk);
    (disk.image_after(PowerLoss::Synced), ran)
}

/// Lets an act run into a power loss at each of its changes, by turns torn and scattered, and looks at what is left.
fn cut_at_every_change(
    image: &Image,
    act: impl Fn(&SimDisk) -> Result<(), String>,
    check: impl Fn(&SimDisk, &str),
) {
    let mut cuts = 0;
    for nth in 1.. {
        let disk = SimDisk::from_image(nth, image);
        let loss = [
            PowerLoss::prefix(nth),
            PowerLoss::scattered(nth),
            PowerLoss::Synced,
        ][(nth % 3) as usize];
        disk.inject_fault(Fault::nth(nth, Operation::Change, Effect::PowerLoss(loss)));
        let acted = act(&disk);
        if !disk.is_off() {
            acted.unwrap();
            break;
        }
        assert!(acted.is_err(), "change {nth}: done without power");
        disk.reboot();
        check(&disk, &format!("change {nth}, {loss:?}"));
        cuts += 1;
    }
    assert!(cuts > 10, "{cuts} cuts");
}

#[test]
fn making_a_ledger() {
    let make = |disk: &SimDisk| match open(disk) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    };
    cut_at_every_change(&Image::default(), make, |disk, story| {
        assert_eq!(check_survived(disk, &Run::default(), story), Seq(0));
    });
}

#[test]
fn rebuilding_the_tables() {
    let (image, ran) = written_image();
    let rebuild = |disk: &SimDisk| {
        let options = disk.open_options();
        let lines =
            maintenance::rebuild_tables(&options, Path::new(DATA_DIR), Path::new(WORKSPACE));
        lines.map(drop).map_err(|error| error.to_string())
    };
    cut_at_every_change(&image, rebuild, |disk, story| {
        assert_eq!(check_survived(disk, &ran, story), ran.acknowledged);
    });
}

fn copy(disk: &SimDisk, from: &SimDisk) -> Result<Seq, CopyError> {
    let dir = Path::new(DATA_DIR);
    let readers = ReaderFactory::new(&DataFiles::of(dir), &from.open_options());
    let (copied, _) = copy::copy_events(
        &disk.open_options(),
        CopySource::Ledger(Box::new(LedgerScan::begin(dir, &readers).unwrap())),
        Path::new(NEW_DIR),
        Path::new(WORKSPACE),
    )?;
    assert_eq!(copied.flaw, None);
    Ok(copied.head.seq)
}

#[test]
fn copying() {
    let (image, ran) = written_image();
    let source = SimDisk::from_image(0, &image);
    let act = |disk: &SimDisk| {
        let done = copy(disk, &source);
        done.map(drop).map_err(|error| error.to_string())
    };
    cut_at_every_change(&Image::default(), act, |disk, story| {
        // The old ledger was only read. The new one is empty, or a prefix of it; it is made again in another folder.
        assert!(
            source.image_after(PowerLoss::Synced) == image,
            "{story}: the old ledger changed"
        );
        let options = disk.open_options();
        let new = tslp_store::startup::start(&options, Path::new(NEW_DIR), Path::new(WORKSPACE));
        let (opened, state) = new.unwrap_or_else(|error| panic!("{story}: {error}"));
        assert!(state.head() <= ran.acknowledged, "{story}");
        check_events(&opened.log, state.head(), story);
        check_tables(&opened.log, &state, story);
    });
    let disk = SimDisk::new(9);
    assert_eq!(
        copy(&disk, &source).unwrap(),
        last_seq(groups().last().unwrap())
    );
}
