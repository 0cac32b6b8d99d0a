//! A bit flips, on any page of the database or its WAL: it is noticed, or it changes nothing.

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use tslp_core::ids::Seq;
use tslp_snapshots::dice::Dice;
use tslp_snapshots::storage::{DATA_DIR, Image, SimDisk};
use tslp_store::evidence::scan::LedgerScan;
use tslp_store::ledger::disk::Disk;
use tslp_store::ledger::{CheckpointMode, DataFiles, LedgerError, OpenLedger, ReaderFactory};
use tslp_store::scrub::ScrubFlaw;
use tslp_store::startup::StartError;

use super::pages::{self, Parts};
use super::seeds;
use super::workload::{
    append, append_events, check_events, check_tables, groups, last_seq, open, scrub,
};

/// Groups that are appended after the flip, to see that the file still takes them.
const KEPT_BACK: usize = 3;

/// What became of a ledger with a flipped bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// Refused with the reason, evidence untouched, diagnostics up.
    SafeMode,
    /// Refused as another version's, since the header says so; untouched.
    OtherFormat,
    /// Every event and every row is there, nothing was written, and the ledger goes on.
    Intact,
    /// Every event is there, and the tables or the anchor were made anew.
    Rebuilt,
}

fn file(name: &str) -> PathBuf {
    Path::new(DATA_DIR).join(name)
}

/// How a ledger lies on its disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// All in the database, every page in use.
    Full,
    /// All in the database, some pages free.
    FreePages,
    /// Some pages free, and the last commits in a WAL.
    Wal,
}

fn image(layout: Layout) -> Image {
    let disk = SimDisk::new(0);
    let (mut opened, _) = open(&disk).unwrap();
    let written = &groups()[..groups().len() - KEPT_BACK];
    let in_wal = if layout == Layout::Wal { 3 } else { 0 };
    for (number, group) in written.iter().enumerate() {
        append(&mut opened.log, group).unwrap();
        if number + 1 == written.len() - in_wal {
            if matches!(layout, Layout::FreePages | Layout::Wal) {
                leave_free_pages(&disk);
            }
            opened.log.checkpoint(CheckpointMode::Truncate).unwrap();
        }
    }
    drop(opened);
    disk.image()
}

/// As a table of a projection that is no more leaves them.
fn leave_free_pages(disk: &SimDisk) {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let vfs = disk.vfs().unwrap();
    let shell = Connection::open_with_flags_and_vfs(file("ledger.db"), flags, vfs).unwrap();
    let made =
        "CREATE TABLE gone (bytes); INSERT INTO gone VALUES (zeroblob(30000)); DROP TABLE gone";
    shell.execute_batch(made).unwrap();
}

/// Opens a damaged ledger and makes sure that no event is lost or changed without a word.
fn open_damaged(damaged: &Image, story: &str) -> Outcome {
    let disk = SimDisk::from_image(0, damaged);
    let head = last_seq(&groups()[groups().len() - KEPT_BACK - 1]);
    let (mut opened, state) = match open(&disk) {
        Ok(opened) => opened,
        Err(error) => return check_refused(&disk, damaged, &error, story),
    };
    assert_eq!(state.head(), head, "{story}: another head");
    check_nothing_overwritten(damaged, story);
    if let Err(flaw) = scrub(&opened) {
        return check_scrub(&disk, damaged, opened, &flaw, story);
    }
    check_events(&opened.log, head, story);
    check_tables(&opened.log, &state, story);
    let now = disk.image();
    let rebuilt = ["ledger.db", "ledger.db-wal"]
        .iter()
        .any(|name| now.bytes(&file(name)) != damaged.bytes(&file(name)));
    // It goes on, or says that it can't; what it took is there afterwards.
    let mut acknowledged = head;
    let mut stopped = None;
    for group in &groups()[groups().len() - KEPT_BACK..] {
        if let Err(error) = append(&mut opened.log, group) {
            stopped = Some(format!("{error:?}"));
            break;
        }
        acknowledged = last_seq(group);
    }
    if let Err(error) = opened.log.checkpoint(CheckpointMode::Truncate) {
        stopped.get_or_insert(error.to_string());
    }
    drop(opened);
    match open(&disk) {
        Ok((opened, state)) => {
            assert!(state.head() >= acknowledged, "{story}: lost a tail");
            check_events(&opened.log, state.head(), story);
            check_tables(&opened.log, &state, story);
            assert_eq!(stopped, None, "{story}: taken for sound twice");
        }
        Err(error) => panic!("{story}: taken for sound, and then {error}"),
    }
    if rebuilt {
        Outcome::Rebuilt
    } else {
        Outcome::Intact
    }
}

/// No commit waits for the scrub. So what is appended to a damaged file before its pages were looked at leaves the file as it was, and
/// file and WAL together still hold every event that could be read, and what was appended.
fn check_nothing_overwritten(damaged: &Image, story: &str) {
    let disk = SimDisk::from_image(0, damaged);
    let readable = copied_head(&disk);
    let (mut opened, _) = open(&disk).unwrap();
    let opened_as = disk.image();
    let group = &groups()[groups().len() - KEPT_BACK];
    let appended = append_events(&mut opened.log, group);
    drop(opened);
    let name = "ledger.db";
    let unchanged = disk.image().bytes(&file(name)) == opened_as.bytes(&file(name));
    assert!(unchanged, "{story}: the file was written to unchecked");
    let whole = last_seq(&groups()[groups().len() - KEPT_BACK - 1]);
    let expected = match appended {
        Ok(head) if readable == whole => head.seq,
        _ => readable,
    };
    assert_eq!(copied_head(&disk), expected, "{story}: events are gone");
}

/// The last event that a copy finds.
fn copied_head(disk: &SimDisk) -> Seq {
    let options = disk.open_options();
    let dir = Path::new(DATA_DIR);
    let readers = ReaderFactory::new(&DataFiles::of(dir), &options);
    let mut scan = LedgerScan::begin_unvouched(dir, &readers).unwrap();
    let mut last = Seq(0);
    while let Ok(Some((stored, _))) = scan.next_valid() {
        last = stored.seq;
    }
    last
}

/// After a flaw that the start didn't meet nothing more is written.
fn check_scrub(
    disk: &SimDisk,
    damaged: &Image,
    mut opened: OpenLedger,
    flaw: &ScrubFlaw,
    story: &str,
) -> Outcome {
    let group = &groups()[groups().len() - KEPT_BACK];
    assert!(append(&mut opened.log, group).is_err(), "{story}: {flaw}");
    drop(opened);
    // That the next start folds every event is noted behind what the WAL held.
    let (now, before) = (disk.image(), damaged);
    let bytes = |image: &Image, name| image.bytes(&file(name)).to_vec();
    let database = "ledger.db";
    assert!(
        bytes(&now, database) == bytes(before, database),
        "{story}: evidence changed"
    );
    let wal = "ledger.db-wal";
    assert!(
        bytes(&now, wal).starts_with(&bytes(before, wal)),
        "{story}: evidence changed"
    );
    match (flaw, open(disk)) {
        (ScrubFlaw::Ledger(_), _) => Outcome::SafeMode,
        (ScrubFlaw::Table { .. }, Ok((opened, state))) => {
            check_events(&opened.log, state.head(), story);
            check_tables(&opened.log, &state, story);
            Outcome::Rebuilt
        }
        (ScrubFlaw::Table { .. }, Err(error)) => panic!("{story}: {error}"),
    }
}

fn check_refused(disk: &SimDisk, damaged: &Image, error: &StartError, story: &str) -> Outcome {
    let before = damaged.0.iter();
    for (path, bytes) in before {
        assert!(
            disk.image().bytes(path) == bytes,
            "{story}: evidence changed"
        );
    }
    if let StartError::Ledger(LedgerError::OtherFormat { .. }) = error {
        let bytes = damaged.bytes(&file("ledger.db"));
        assert_ne!(bytes[60..64], [0, 0, 0, 2], "{story}: {error}");
        return Outcome::OtherFormat;
    }
    assert!(error.asks_for_safe_mode(), "{story}: {error:?}");
    Outcome::SafeMode
}

/// Flips a bit at seeded places of every part of every page, and counts what became of it.
fn flip_everywhere(image: &Image, name: &str, parts: &Parts) -> BTreeMap<(String, Outcome), u64> {
    let file = file(name);
    let mut counts = BTreeMap::new();
    for seed in seeds(1) {
        let mut dice = Dice::new(seed);
        for (part, ranges) in parts {
            for range in ranges {
                let byte = range.start + dice.below(range.len());
                let bit = (dice.roll() % 8) as u8;
                let mut damaged = image.clone();
                damaged.flip_bit(&file, byte, bit);
                let story = format!("{name}, {part}, byte {byte}, bit {bit}");
                let outcome = open_damaged(&damaged, &story);
                *counts.entry(((*part).to_owned(), outcome)).or_default() += 1;
            }
        }
    }
    counts
}

fn print(counts: &BTreeMap<(String, Outcome), u64>) {
    for ((part, outcome), count) in counts {
        println!("| {part} | {outcome:?} | {count} |");
    }
}

fn check_layout(layout: Layout, name: &str, parts: fn(&[u8]) -> Parts, expected: &[&str]) {
    let image = image(layout);
    assert_eq!(open_damaged(&image, "untouched"), Outcome::Intact);
    let parts = parts(image.bytes(&file(name)));
    for part in expected {
        assert!(parts.contains_key(part), "no {part} in {:?}", parts.keys());
    }
    let counts = flip_everywhere(&image, name, &parts);
    print(&counts);
    let noticed = counts
        .keys()
        .any(|(_, outcome)| *outcome == Outcome::SafeMode);
    assert!(noticed, "{counts:?}");
}

const DATABASE_PARTS: &[&str] = &[
    "database header",
    "index of tables",
    "b-tree page header",
    "cell pointers",
    "unused space",
    "free page, list",
    "cells of indexes and tables with text keys",
    "cells of tables with numbered rows",
    "overflow page, next",
    "overflow page, content",
];

#[test]
fn in_the_database() {
    let parts: Vec<&str> = DATABASE_PARTS
        .iter()
        .copied()
        .filter(|part| !part.starts_with("free"))
        .collect();
    check_layout(Layout::Full, "ledger.db", pages::of_database, &parts);
}

#[test]
fn with_free_pages() {
    check_layout(
        Layout::FreePages,
        "ledger.db",
        pages::of_database,
        DATABASE_PARTS,
    );
}

#[test]
fn in_a_schema_entry() {
    // A flipped bit in the name of the table that an entry belongs to: its table was missing, so it was made anew, and from
    // then on the schema had it twice and nothing could be read.
    let image = image(Layout::Full);
    let bytes = image.bytes(&file("ledger.db"));
    let entry = b"tombstonestombstones";
    let places = bytes.windows(entry.len()).enumerate();
    let at: Vec<usize> = places
        .filter(|(_, window)| window == entry)
        .map(|(at, _)| at)
        .collect();
    assert!(!at.is_empty(), "no such entry");
    let mut noticed = 0;
    for place in at {
        for byte in place..place + entry.len() {
            let mut damaged = image.clone();
            damaged.flip_bit(&file("ledger.db"), byte, 5);
            let outcome = open_damaged(&damaged, &format!("schema, byte {byte}"));
            noticed += u64::from(outcome == Outcome::SafeMode);
        }
    }
    assert!(noticed > 0);
}

#[test]
fn database_below_wal() {
    check_layout(
        Layout::Wal,
        "ledger.db",
        pages::of_database,
        &DATABASE_PARTS[..6],
    );
}

#[test]
fn in_the_wal() {
    let parts = ["WAL header", "WAL frame header", "WAL frame data"];
    check_layout(Layout::Wal, "ledger.db-wal", pages::of_wal, &parts);
}

/// Every single bit, since each field of these hundred bytes makes SQLite do something else, and
/// single bits of one field do, too: other tests flip one bit a seed here.
#[test]
fn database_header() {
    let image = image(Layout::Full);
    let mut counts = BTreeMap::new();
    for bit in 0..100 * 8 {
        let mut damaged = image.clone();
        damaged.flip_bit(&file("ledger.db"), bit / 8, (bit % 8) as u8);
        let story = format!("header, bit {bit}");
        *counts
            .entry((
                format!("bytes {}", bit / 80 * 10),
                open_damaged(&damaged, &story),
            ))
            .or_default() += 1;
    }
    print(&counts);
}

#[test]
fn in_the_anchor() {
    let image = image(Layout::Full);
    let anchor = file("ledger.anchor");
    let mut harmless = 0;
    let slots = (0..90).step_by(3).chain((4096..4186).step_by(3));
    let between = (90..image.bytes(&anchor).len()).step_by(501);
    for byte in slots.chain(between) {
        let mut damaged = image.clone();
        damaged.flip_bit(&anchor, byte, (byte % 8) as u8);
        // One slot is damaged at most; the other one vouches for the commit before.
        let outcome = open_damaged(&damaged, &format!("anchor, byte {byte}"));
        // With the newer slot damaged, the last commit is settled anew.
        assert!(
            matches!(outcome, Outcome::Intact | Outcome::Rebuilt),
            "{outcome:?}"
        );
        harmless += 1;
    }
    assert!(harmless > 0);
    assert!(
        open(&SimDisk::from_image(0, &image))
            .unwrap()
            .0
            .log
            .head()
            .unwrap()
            .seq
            > Seq(0)
    );
}
