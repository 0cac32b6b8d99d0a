//! Files are deleted, cut, or replaced by older copies: a ledger that lost acknowledged events says so.

use std::path::{Path, PathBuf};

use tslp_core::ids::Seq;
use tslp_snapshots::dice::Dice;
use tslp_snapshots::storage::{DATA_DIR, Image, PowerLoss, SimDisk};
use tslp_store::ledger::{AnchorMismatch, CheckpointMode, LedgerError};
use tslp_store::startup::StartError;

use super::pages::{FRAME_HEADER, PAGE, WAL_HEADER};
use super::seeds;
use super::workload::{Run, append, append_story, check_survived, groups, last_seq, open};

fn file(name: &str) -> PathBuf {
    Path::new(DATA_DIR).join(name)
}

/// The disk after each commit of the story; the WAL is cut after `cut_after` of them, if at all.
fn history(cut_after: Option<usize>) -> Vec<Image> {
    let disk = SimDisk::new(0);
    let (mut opened, _) = open(&disk).unwrap();
    let commits = groups().iter().enumerate().map(|(number, group)| {
        append(&mut opened.log, group).unwrap();
        if cut_after == Some(number + 1) {
            opened.log.checkpoint(CheckpointMode::Truncate).unwrap();
        }
        disk.image_after(PowerLoss::Synced)
    });
    commits.collect()
}

/// The ledger isn't opened, asks for safe mode in words of an anchor that doesn't match, and stays as it was.
fn check_noticed(image: &Image, story: &str) -> LedgerError {
    let disk = SimDisk::from_image(0, image);
    let Err(error) = open(&disk) else {
        panic!("{story}: not noticed");
    };
    assert!(error.asks_for_safe_mode(), "{story}: {error:?}");
    for (path, bytes) in &image.0 {
        assert!(
            disk.image().bytes(path) == bytes,
            "{story}: evidence changed"
        );
    }
    match error {
        StartError::Ledger(error) => error,
        other => panic!("{story}: {other:?}"),
    }
}

#[test]
fn deleted_wal() {
    let mut image = history(Some(3)).pop().unwrap();
    image.remove(&file("ledger.db-wal"));
    let error = check_noticed(&image, "no WAL");
    let expected = last_seq(&groups()[2]);
    assert!(
        matches!(
            error,
            LedgerError::AnchorMismatch { mismatch: AnchorMismatch::LostTail { ledger_ends_at }, .. } if ledger_ends_at == expected
        ),
        "{error:?}"
    );
}

#[test]
fn cut_wal() {
    let image = history(None).pop().unwrap();
    let wal = file("ledger.db-wal");
    let whole = image.bytes(&wal).to_owned();
    let frame = FRAME_HEADER + PAGE;
    let borders = (WAL_HEADER..whole.len()).step_by(frame);
    let mut cuts: Vec<usize> = borders.flat_map(|at| [at, at + FRAME_HEADER]).collect();
    let mut dice = Dice::new(1);
    cuts.extend(seeds(20).map(|_| dice.below(whole.len())));
    for cut in cuts {
        let mut image = image.clone();
        image.put(&wal, whole[..cut].to_owned());
        check_noticed(&image, &format!("cut at {cut}"));
    }
}

#[test]
fn swapped_wal_frames() {
    let image = history(None).pop().unwrap();
    let wal = file("ledger.db-wal");
    let whole = image.bytes(&wal).to_owned();
    let frame = FRAME_HEADER + PAGE;
    let frames = (whole.len() - WAL_HEADER) / frame;
    for number in 1..frames {
        let at = WAL_HEADER + number * frame;
        let mut bytes = whole.clone();
        bytes.copy_within(at - frame..at, at);
        let mut doubled = image.clone();
        doubled.put(&wal, bytes.clone());
        check_noticed(&doubled, &format!("frame {number} twice"));
        bytes[at - frame..at].copy_from_slice(&whole[at..at + frame]);
        let mut exchanged = image.clone();
        exchanged.put(&wal, bytes);
        check_noticed(&exchanged, &format!("frame {number} earlier"));
    }
}

#[test]
fn older_database_or_wal() {
    for cut_after in [None, Some(2), Some(5)] {
        let images = history(cut_after);
        let newest = images.last().unwrap();
        for (commit, older) in images[..images.len() - 1].iter().enumerate() {
            let story = format!("cut after {cut_after:?}, copy of commit {commit}");
            let mut both = newest.clone();
            for name in ["ledger.db", "ledger.db-wal"] {
                both.put(&file(name), older.bytes(&file(name)).to_owned());
            }
            check_noticed(&both, &story);
            let mut wal = newest.clone();
            let old_wal = older.bytes(&file("ledger.db-wal")).to_owned();
            wal.put(&file("ledger.db-wal"), old_wal);
            check_noticed(&wal, &format!("{story}, WAL alone"));
        }
    }
}

/// Nothing on this disk can tell that from a ledger that never went on. A backup elsewhere, or the client's own history,
/// can.
#[test]
fn whole_older_directory() {
    for (commit, older) in history(Some(3)).iter().enumerate() {
        let then = last_seq(&groups()[commit]);
        let ran = Run {
            acknowledged: then,
            tried: then,
            failure: None,
        };
        check_survived(&SimDisk::from_image(0, older), &ran, "an older copy");
    }
}

#[test]
fn missing_or_older_anchor() {
    let images = history(Some(3));
    let newest = images.last().unwrap();
    let mut without = newest.clone();
    without.remove(&file("ledger.anchor"));
    let error = check_noticed(&without, "no anchor");
    assert!(
        matches!(error, LedgerError::AnchorMissing { .. }),
        "{error:?}"
    );
    // An older one is what a crash leaves; the events after it are vouched for again before anybody goes on.
    for older in &images[..images.len() - 1] {
        let mut behind = newest.clone();
        let anchor = older.bytes(&file("ledger.anchor")).to_owned();
        behind.put(&file("ledger.anchor"), anchor);
        let disk = SimDisk::from_image(0, &behind);
        let ran = append_story(&disk);
        assert_eq!(ran.acknowledged, last_seq(groups().last().unwrap()));
        let mut lost = disk.image();
        for name in ["ledger.db", "ledger.db-wal"] {
            lost.put(&file(name), images[4].bytes(&file(name)).to_owned());
        }
        check_noticed(&lost, "an older copy after an older anchor");
    }
}

/// A missing database beside anything else is no new ledger.
#[test]
fn missing_database() {
    let image = history(Some(3)).pop().unwrap();
    for gone in [
        &["ledger.db"][..],
        &["ledger.db", "ledger.db-wal"],
        // SQLite would take the WAL for that of a new ledger.
        &["ledger.db", "ledger.anchor"],
    ] {
        let mut image = image.clone();
        for name in gone {
            image.remove(&file(name));
        }
        let error = check_noticed(&image, "no database");
        assert!(
            matches!(error, LedgerError::DatabaseMissing { .. }),
            "{error:?}"
        );
    }
    let mut image = image;
    for name in ["ledger.db", "ledger.db-wal", "ledger.anchor"] {
        image.remove(&file(name));
    }
    assert_eq!(
        open(&SimDisk::from_image(0, &image)).unwrap().1.head(),
        Seq(0)
    );
}
