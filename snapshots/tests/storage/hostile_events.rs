//! Stored events that somebody changed: out of order, twice, hashed anew, of unknown versions, cut, misaligned.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};
use tslp_core::event::Envelope;
use tslp_core::ids::Seq;
use tslp_replay::chain::ChainHash;
use tslp_replay::log::Stored;
use tslp_snapshots::dice::Dice;
use tslp_snapshots::storage::{DATA_DIR, Image, SimDisk};
use tslp_store::ledger::disk::Disk;
use tslp_store::ledger::{AnchorMismatch, LedgerError};
use tslp_store::scrub::ScrubFlaw;
use tslp_store::startup::StartError;

use super::workload::{append, check_events, events, groups, last_seq, open, scrub};

/// The position in the middle of the story at which somebody is at work.
const VICTIM: usize = 20;

fn written_disk() -> SimDisk {
    let disk = SimDisk::new(0);
    let (mut opened, _) = open(&disk).unwrap();
    for group in groups() {
        append(&mut opened.log, group).unwrap();
    }
    drop(opened);
    disk
}

/// Puts these events in place of all that there are, as a person with a `sqlite3` shell could.
fn replace(disk: &SimDisk, events: &[Stored]) {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let path = Path::new(DATA_DIR).join("ledger.db");
    let shell = Connection::open_with_flags_and_vfs(path, flags, disk.vfs().unwrap()).unwrap();
    let triggers: Vec<String> = shell
        .prepare("SELECT sql FROM sqlite_schema WHERE name IN ('ledger_refuses_delete', 'ledger_is_dense')")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let emptied = "BEGIN; DROP TRIGGER ledger_refuses_delete; DROP TRIGGER ledger_is_dense; DELETE FROM ledger;";
    shell.execute_batch(emptied).unwrap();
    for event in events {
        let values = params![
            i64::try_from(event.seq.0).unwrap(),
            event.at.0,
            event.episode.0.cast_signed(),
            event.session.0.cast_signed(),
            event.ends_step,
            event.kind,
            event.payload,
            event.chain.0
        ];
        shell
            .execute(
                "INSERT INTO ledger VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                values,
            )
            .unwrap();
    }
    for trigger in triggers {
        shell.execute_batch(&trigger).unwrap();
    }
    shell.execute_batch("COMMIT").unwrap();
}

/// Hashes the chain anew, as somebody would who knows how it works.
fn rehash_chain(events: &mut [Stored]) {
    let mut chain = ChainHash::GENESIS;
    for event in events {
        chain = chain.extended(event, event.kind, &event.payload);
        event.chain = chain;
    }
}

fn check_refused(events: &[Stored], story: &str) -> StartError {
    let disk = written_disk();
    replace(&disk, events);
    let before = disk.image();
    // A start takes the state from the tables; what it didn't read, the scrub does before anything is written.
    let error = match open(&disk) {
        Err(error) => error,
        Ok((opened, _)) => match scrub(&opened) {
            Err(ScrubFlaw::Ledger(error)) => error,
            other => panic!("{story}: opened, and then {other:?}"),
        },
    };
    assert!(error.asks_for_safe_mode(), "{story}: {error:?}");
    // That the next start folds every event is noted behind what the WAL held.
    let bytes = |image: &Image, name| image.bytes(&Path::new(DATA_DIR).join(name)).to_vec();
    let (now, wal) = (disk.image(), "ledger.db-wal");
    assert!(
        bytes(&now, "ledger.db") == bytes(&before, "ledger.db"),
        "{story}: evidence changed"
    );
    assert!(
        bytes(&now, wal).starts_with(&bytes(&before, wal)),
        "{story}: evidence changed"
    );
    error
}

fn story() -> Vec<Stored> {
    events().cloned().collect()
}

#[test]
fn changed_event() {
    let mut moved = story();
    let (one, other) = (moved[VICTIM].clone(), moved[VICTIM + 1].clone());
    for (at, from) in [(VICTIM, &other), (VICTIM + 1, &one)] {
        moved[at].kind.clone_from(&from.kind);
        moved[at].payload.clone_from(&from.payload);
    }
    let mut doubled = story();
    doubled[VICTIM + 1].kind.clone_from(&one.kind);
    doubled[VICTIM + 1].payload.clone_from(&one.payload);
    let mut later = story();
    later[VICTIM].envelope.at.0 += 1;
    let mut renamed = story();
    renamed[VICTIM].kind += 1;
    let mut other_chain = story();
    other_chain[VICTIM].chain.0[7] ^= 1;
    for (name, events) in [
        ("moved", moved),
        ("doubled", doubled),
        ("another time", later),
        ("another kind", renamed),
        ("another chain", other_chain),
    ] {
        let error = check_refused(&events, name);
        assert!(matches!(error, StartError::Damaged(_)), "{name}: {error:?}");
    }
}

/// A chain that was hashed again is another history.
#[test]
fn rehashed_chain() {
    let mut changed = story();
    changed[VICTIM].envelope.at.0 += 1;
    rehash_chain(&mut changed);
    let mut exchanged = story();
    exchanged.swap(VICTIM, VICTIM + 1);
    exchanged[VICTIM].envelope.seq.0 -= 1;
    exchanged[VICTIM + 1].envelope.seq.0 += 1;
    rehash_chain(&mut exchanged);
    for (name, events) in [("changed", changed), ("exchanged", exchanged)] {
        match check_refused(&events, name) {
            StartError::Ledger(LedgerError::AnchorMismatch { mismatch, .. }) => {
                assert_eq!(mismatch, AnchorMismatch::OtherHistory, "{name}");
            }
            error => panic!("{name}: {error:?}"),
        }
    }
    let mut missing = story();
    missing.remove(VICTIM);
    for event in &mut missing[VICTIM..] {
        event.envelope.seq.0 -= 1;
    }
    rehash_chain(&mut missing);
    match check_refused(&missing, "missing") {
        StartError::Ledger(LedgerError::AnchorMismatch { mismatch, .. }) => {
            let ledger_ends_at = missing.last().unwrap().seq;
            assert_eq!(mismatch, AnchorMismatch::LostTail { ledger_ends_at });
        }
        error => panic!("missing: {error:?}"),
    }
}

#[test]
fn gap_in_numbers() {
    let mut gap = story();
    gap.remove(VICTIM);
    assert!(matches!(check_refused(&gap, "gap"), StartError::Damaged(_)));
}

/// Beyond the anchor the chain alone vouches, and whoever can write the file can hash it. What was added there must still
/// be an event, byte for byte.
#[test]
fn added_non_event() {
    let head = last_seq(groups().last().unwrap());
    let mut dice = Dice::new(3);
    let source = &story()[VICTIM];
    let mut forged: Vec<(String, u32, Vec<u8>)> = vec![
        ("unknown kind".into(), 9_999, source.payload.clone()),
        ("kind zero".into(), 0, Vec::new()),
    ];
    for event in story() {
        let cut = dice.below(event.payload.len());
        forged.push(("cut".into(), event.kind, event.payload[..cut].to_owned()));
        forged.push(("empty".into(), event.kind, Vec::new()));
        forged.push(("shifted".into(), event.kind, event.payload[1..].to_owned()));
        let noise = (0..event.payload.len()).map(|_| (dice.roll() & 0xFF) as u8);
        forged.push(("noise".into(), event.kind, noise.collect()));
    }
    let disk = written_disk();
    let whole = disk.image();
    for (name, kind, payload) in forged {
        // Some kinds are so small that other bytes are an event, too.
        if tslp_migrations::decode(kind, &payload).is_ok() {
            continue;
        }
        disk.restore(&whole);
        let mut events = story();
        let at = events[VICTIM].at;
        events.push(Stored {
            envelope: Envelope::outside(head.next(), at),
            kind,
            payload,
            chain: ChainHash::GENESIS,
        });
        rehash_chain(&mut events);
        replace(&disk, &events);
        let Err(error) = open(&disk) else {
            panic!("{name} of {kind}: opened");
        };
        let newer = matches!(name.as_str(), "unknown kind" | "kind zero");
        let as_expected = match error {
            StartError::Newer { .. } => newer,
            StartError::Damaged(_) => !newer,
            StartError::Ledger(_) | StartError::DataDir(_) => false,
        };
        assert!(as_expected, "{name} of {kind}: {error:?}");
        assert_ne!(
            error.asks_for_safe_mode(),
            error.is_other_version(),
            "{error:?}"
        );
    }
}

/// An event of a newer program is refused as such, and nothing is touched.
#[test]
fn newer_event_kind() {
    let head = last_seq(groups().last().unwrap());
    let source = story().pop().unwrap();
    let disk = written_disk();
    for kind in [9_999, u32::MAX] {
        let (mut opened, _) = open(&disk).unwrap();
        let whole = disk.image();
        let envelope = Envelope::outside(head.next(), source.at);
        let newer = Stored::after(source.chain, envelope, kind, source.payload.clone());
        let mut batch = opened.log.begin_batch().unwrap();
        batch.append(&newer).unwrap();
        batch.commit().unwrap();
        let path = Path::new(DATA_DIR).join("ledger.db");
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let vfs = disk.vfs().unwrap();
        let shell = Connection::open_with_flags_and_vfs(path, flags, vfs).unwrap();
        let newer = "UPDATE meta SET value = '99.0.0' WHERE key = 'folded_by'";
        shell.execute_batch(newer).unwrap();
        drop(shell);
        drop(opened);
        let before = disk.image();
        let Err(error) = open(&disk) else {
            panic!("{kind}: opened");
        };
        assert!(error.is_other_version() && !error.asks_for_safe_mode());
        for words in [
            "written by a newer tslp",
            &kind.to_string(),
            "or a newer one",
        ] {
            assert!(error.to_string().contains(words), "{error}");
        }
        assert!(disk.image() == before, "{kind}: something was touched");
        disk.restore(&whole);
    }
}

/// An event that is added twice by its own kind folds without a panic.
#[test]
fn event_added_twice() {
    let mut events = story();
    let again: Vec<Stored> = events.clone();
    let head = last_seq(groups().last().unwrap());
    for (offset, mut event) in again.into_iter().enumerate() {
        event.envelope.seq = Seq(head.0 + 1 + offset as u64);
        events.push(event);
    }
    rehash_chain(&mut events);
    let disk = written_disk();
    replace(&disk, &events);
    let (opened, state) = open(&disk).unwrap();
    assert_eq!(state.head(), Seq(2 * head.0));
    assert_eq!(opened.log.head().unwrap().seq, Seq(2 * head.0));
}

/// Where the bytes lie in memory makes no difference.
#[test]
fn any_alignment() {
    for event in events() {
        let expected = tslp_migrations::decode(event.kind, &event.payload);
        for offset in 0..16 {
            let mut shifted = vec![0; offset];
            shifted.extend(&event.payload);
            let found = tslp_migrations::decode(event.kind, &shifted[offset..]);
            assert_eq!(found, expected, "{} at {offset}", event.kind);
        }
    }
    let disk = written_disk();
    check_events(
        &open(&disk).unwrap().0.log,
        last_seq(groups().last().unwrap()),
        "whole",
    );
}
