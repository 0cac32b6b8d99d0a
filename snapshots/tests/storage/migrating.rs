//! The disk fails, fills up or loses power while a ledger is brought to a newer schema: the old or the new one is there,
//! whole, and a copy that has its name is whole.

use std::path::{Path, PathBuf};

use tslp_core::ids::Seq;
use tslp_io::ledger::{CheckpointMode, LedgerError, OpenLedger, OpenOptions};
use tslp_io::startup::{self, StartError};
use tslp_migrations::schema::{self, Ladder, Step};
use tslp_projections::state::State;
use tslp_snapshots::storage::{DATA_DIR, Effect, Fault, Image, Operation, PowerLoss, SimDisk};

use super::workload::{WORKSPACE, append, check_events, check_tables, groups, last_seq, open};

/// A future of the ladder: a table filled from every event, then an index over all of them.
static STEPS: &[Step] = &[
    schema::STEPS[0],
    Step {
        version: 2,
        title: "a table more",
        sql: "CREATE TABLE notes (seq INTEGER PRIMARY KEY, note BLOB NOT NULL) STRICT;
              INSERT INTO notes SELECT seq, payload FROM ledger;",
    },
    Step {
        version: 3,
        title: "an index",
        sql: "CREATE INDEX ledger_by_kind ON ledger (kind, chain);",
    },
];

/// Groups that are appended after the migration.
const KEPT_BACK: usize = 2;

fn head() -> Seq {
    last_seq(&groups()[groups().len() - KEPT_BACK - 1])
}

/// An older ledger, the last commits of which are in its WAL.
fn older_image() -> Image {
    let disk = SimDisk::new(0);
    let (mut opened, _) = open(&disk).unwrap();
    let written = &groups()[..groups().len() - KEPT_BACK];
    for (number, group) in written.iter().enumerate() {
        append(&mut opened.log, group).unwrap();
        if number == written.len() / 2 {
            opened.log.checkpoint(CheckpointMode::Truncate).unwrap();
        }
    }
    drop(opened);
    disk.image_after(PowerLoss::Synced)
}

/// Opens a ledger as a program of the future does.
fn open_newer(disk: &SimDisk) -> Result<(OpenLedger, State), StartError> {
    let options = OpenOptions {
        ladder: Ladder(STEPS),
        ..disk.open_options()
    };
    startup::start(&options, Path::new(DATA_DIR), Path::new(WORKSPACE))
}

fn check_whole(opened: &OpenLedger, state: &State, story: &str) {
    assert_eq!(state.head(), head(), "{story}: another head");
    check_events(&opened.log, head(), story);
    check_tables(&opened.log, state, story);
}

/// The version of the schema as today's program sees it: its own, with everything in place, or a newer one.
fn is_old(image: &Image, story: &str) -> bool {
    match open(&SimDisk::from_image(0, image)) {
        Ok((opened, state)) => {
            check_whole(&opened, &state, story);
            true
        }
        Err(StartError::Ledger(LedgerError::NewerSchema { .. })) => false,
        Err(error) => panic!("{story}: {error}"),
    }
}

fn copies(image: &Image) -> Vec<&PathBuf> {
    let names = image.0.keys();
    let is_copy = |name: &&PathBuf| {
        let name = name.to_string_lossy();
        name.contains("before-v3") && name.ends_with(|last: char| last.is_ascii_digit())
    };
    names.filter(is_copy).collect()
}

/// Each copy opens as the older ledger that it was made from.
fn check_copies(image: &Image, story: &str) {
    for copy in copies(image) {
        let mut alone = Image::default();
        let dir = Path::new(DATA_DIR);
        alone.put(&dir.join("ledger.db"), image.bytes(copy).to_owned());
        let anchor = PathBuf::from(format!("{}.anchor", copy.display()));
        alone.put(&dir.join("ledger.anchor"), image.bytes(&anchor).to_owned());
        assert!(is_old(&alone, story), "{story}: {}", copy.display());
    }
}

/// What is left is the old ledger or the new one, any copy is whole, and the next start brings it to its end.
fn check_left(disk: &SimDisk, story: &str) -> bool {
    let left = disk.image();
    check_copies(&left, story);
    let was_old = is_old(&left, story);
    assert!(
        was_old || copies(&left).len() == 1,
        "{story}: migrated without a copy"
    );
    let (mut opened, state) = open_newer(disk).unwrap_or_else(|error| panic!("{story}: {error}"));
    check_whole(&opened, &state, story);
    for group in &groups()[groups().len() - KEPT_BACK..] {
        append(&mut opened.log, group).unwrap_or_else(|error| panic!("{story}: {error:?}"));
    }
    drop(opened);
    let after = disk.image();
    assert_eq!(copies(&after).len(), 1, "{story}: {:?}", copies(&after));
    check_copies(&after, story);
    was_old
}

#[test]
fn the_power_goes_at_every_change_of_a_migration() {
    let image = older_image();
    let (mut old, mut new) = (0, 0);
    for nth in 1.. {
        let loss = [
            PowerLoss::prefix(nth),
            PowerLoss::scattered(nth),
            PowerLoss::Synced,
            PowerLoss::All,
        ][(nth % 4) as usize];
        let disk = SimDisk::from_image(nth, &image);
        disk.inject_fault(Fault::nth(nth, Operation::Change, Effect::PowerLoss(loss)));
        let climbed = open_newer(&disk);
        if !disk.is_off() {
            climbed.unwrap();
            break;
        }
        assert!(climbed.is_err(), "change {nth}: done without power");
        drop(climbed);
        disk.reboot();
        if check_left(&disk, &format!("change {nth}, {loss:?}")) {
            old += 1;
        } else {
            new += 1;
        }
    }
    assert!(old > 20 && new > 0, "{old} old, {new} new");
}

#[test]
fn every_write_sync_and_change_of_names_of_a_migration_fails() {
    let image = older_image();
    let mut failures = 0;
    for (operation, effect) in [
        (Operation::Write, Effect::Error),
        (Operation::Write, Effect::Short),
        (Operation::Sync, Effect::Error),
        (Operation::Sync, Effect::Forgotten),
        (Operation::Name, Effect::Error),
        (Operation::Open, Effect::Error),
    ] {
        for nth in 1.. {
            let disk = SimDisk::from_image(nth, &image);
            disk.inject_fault(Fault::nth(nth, operation, effect));
            let climbed = open_newer(&disk);
            if disk.faults_met().is_empty() {
                climbed.unwrap();
                break;
            }
            let story = format!("{operation:?} {nth}, {effect:?}");
            drop(climbed);
            disk.heal();
            check_left(
                &SimDisk::from_image(nth, &disk.image_after(PowerLoss::Synced)),
                &format!("{story}, power loss"),
            );
            check_left(&disk, &story);
            failures += 1;
        }
    }
    assert!(failures > 60, "{failures}");
}

#[test]
fn a_disk_without_room_for_the_copy_stops_a_migration() {
    let image = older_image();
    let whole = SimDisk::from_image(0, &image);
    let before = whole.used_bytes();
    drop(open_newer(&whole).unwrap());
    let needed = whole.used_bytes() - before;
    let (mut without_copy, mut without_steps) = (0, 0);
    for room in (0..needed).step_by(needed / 40) {
        let disk = SimDisk::from_image(1, &image);
        disk.limit_bytes(Some(before + room));
        let Err(error) = open_newer(&disk) else {
            panic!("{room} bytes: no room was needed");
        };
        let said = error.to_string();
        let story = format!("{room} bytes: {said}");
        assert!(
            ["full", "No space left"]
                .iter()
                .any(|word| said.contains(word)),
            "{story}"
        );
        assert!(!error.asks_for_safe_mode(), "{story}");
        if let StartError::Ledger(LedgerError::NoCopy { .. }) = error {
            without_copy += 1;
            assert!(said.contains("was left as it was"), "{story}");
            for (file, bytes) in &image.0 {
                assert!(disk.image().bytes(file) == bytes, "{story}: touched");
            }
            assert_eq!(copies(&disk.image()).len(), 0, "{story}");
        } else {
            without_steps += 1;
        }
        disk.limit_bytes(None);
        check_left(&disk, &story);
    }
    assert!(
        without_copy > 10 && without_steps > 2,
        "{without_copy}, {without_steps}"
    );
}
