//! Every kind of event through its line and back, and copies of ledgers of nonsense.

use std::collections::BTreeSet;
use std::path::Path;

use arbitrary::Unstructured;
use tslp_core::event::{Content, ContentKind, Envelope, Event, EventKind};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{Seq, UnixMillis};
use tslp_migrations::{encode, number_of};
use tslp_replay::chain::ChainHash;
use tslp_replay::log::{Head, Stored};

use super::copy::{Copied, CopyError, CopySource, copy_ledger};
use super::line::{event_line, read_event};
use super::scan::LedgerScan;
use crate::ledger::{self, DataFiles, OpenOptions, ReaderFactory};

/// Arbitrary events of every kind, the same each time.
fn events() -> Vec<Event> {
    let mut chance = arbitrary_bytes();
    let kinds = EventKind::ALL.iter().cycle();
    let events = kinds.take(20 * EventKind::ALL.len()).map(|kind| {
        let bytes: Vec<u8> = chance.by_ref().take(600).collect();
        Event::arbitrary_of(*kind, &mut Unstructured::new(&bytes)).unwrap()
    });
    events.collect()
}

fn arbitrary_bytes() -> impl Iterator<Item = u8> {
    (0_u64..).flat_map(|block| *blake3::hash(&block.to_le_bytes()).as_bytes())
}

fn content(bytes: &[u8]) -> Event {
    Event::Content(Content {
        hash: ArtifactHash::of(bytes),
        kind: ContentKind::Message,
        bytes: bytes.into(),
    })
}

fn after(head: Head, kind: u32, payload: Vec<u8>) -> Stored {
    let envelope = Envelope::outside(head.seq.next(), UnixMillis(1_700_000_000_000));
    Stored::after(head.chain, envelope, kind, payload)
}

const NONE: Head = Head {
    seq: Seq(0),
    chain: ChainHash::GENESIS,
};

/// The events as a store holds them.
fn chained(events: &[Event]) -> Vec<Stored> {
    let mut head = NONE;
    let chained = events.iter().map(|event| {
        let encoded = encode(event).unwrap();
        let stored = after(head, encoded.kind, encoded.payload);
        head = Head {
            seq: stored.seq,
            chain: stored.chain,
        };
        stored
    });
    chained.collect()
}

#[test]
fn line_round_trips() {
    let events = events();
    let kinds: BTreeSet<EventKind> = events.iter().map(Event::kind).collect();
    assert_eq!(kinds.len(), EventKind::ALL.len(), "every kind is there");
    for (event, stored) in events.iter().zip(chained(&events)) {
        let line = event_line(&stored, event);
        assert!(!line.contains("\"payload\""), "{line}");
        assert!(!line.contains('\n'), "{line}");
        let back = read_event(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(back, stored, "{line}");
    }
}

/// A payload of another layout is exported and imported as it is.
#[test]
fn unknown_payload() {
    let event = content(b"hello");
    let mut payload = b"....".to_vec();
    payload.extend(encode(&event).unwrap().payload);
    let stored = after(NONE, number_of(EventKind::Content), payload);
    assert_eq!(
        tslp_migrations::decode(stored.kind, &stored.payload).as_ref(),
        Ok(&event)
    );
    let line = event_line(&stored, &event);
    assert!(line.contains("\"payload\""), "{line}");
    assert_eq!(read_event(&line).unwrap(), stored);
    let other = line.replace("hello", "hellp");
    assert!(read_event(&other).is_err());
}

#[test]
fn a_line_has_one_form() {
    let event = content("größer \u{1f980} \"quoted\"\n".as_bytes());
    let line = event_line(&chained(std::slice::from_ref(&event))[0], &event);
    read_event(&line).unwrap();
    for edited in [
        line.replacen(':', ": ", 1),
        line.replacen('{', "{\"note\":1,", 1),
        line.replacen("größer", "gr\\u00f6\\u00dfer", 1),
        line.replacen("\"at\":1", "\"at\":2", 1)
            .replace("größer", "kleiner"),
        format!("{line} "),
    ] {
        assert_ne!(edited, line);
        assert!(read_event(&edited).is_err(), "{edited}");
    }
}

const WORKSPACE: &str = "/home/u/project";

/// The lines of a ledger.
fn printed(dir: &Path) -> String {
    let mut scan = scan(dir);
    let next = || scan.next_event().unwrap();
    let events = std::iter::from_fn(next);
    events
        .map(|(stored, event)| event_line(&stored, &event) + "\n")
        .collect()
}

fn scan(dir: &Path) -> LedgerScan {
    let readers = ReaderFactory::new(&DataFiles::of(dir), &OpenOptions::default());
    LedgerScan::begin(dir, &readers).unwrap()
}

fn import(text: &str, to: &Path) -> Result<Copied, CopyError> {
    let lines = CopySource::Lines(&mut text.as_bytes());
    copy_ledger(lines, to, Path::new(WORKSPACE))
}

fn refused(text: &str, to: &Path) -> (u64, String) {
    let error = import(text, to).unwrap_err();
    assert!(!to.exists(), "nothing is left");
    let beside = std::fs::read_dir(to.parent().unwrap()).unwrap();
    let left: Vec<_> = beside
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().ends_with(".tslp-copy"))
        .collect();
    assert_eq!(left, Vec::<std::ffi::OsString>::new());
    match error {
        CopyError::Line { line, detail } => (line, detail),
        other => panic!("{other}"),
    }
}

/// The lines of a copy of lines are the lines.
#[test]
fn copy_round_trip() {
    let dir = tempfile::tempdir().unwrap();
    let [old, new, newer] = ["old", "new", "newer"].map(|name| dir.path().join(name));
    let mut opened = ledger::open_ledger(&old, Path::new(WORKSPACE)).unwrap();
    let stored = chained(&events());
    opened.log.append(&stored).unwrap();
    drop(opened);
    let text = printed(&old);
    assert_eq!(text.lines().count(), stored.len());
    let copied = import(&text, &new).unwrap();
    assert_eq!(copied.head.seq.0, stored.len() as u64);
    assert_eq!(printed(&new), text);
    let again = CopySource::Ledger(Box::new(scan(&new)));
    assert_eq!(
        copy_ledger(again, &newer, Path::new(WORKSPACE)).unwrap(),
        copied
    );
    assert_eq!(printed(&newer), text);
    let opened = ledger::open_ledger(&newer, Path::new(WORKSPACE)).unwrap();
    assert_eq!(opened.tables, ledger::TablesState::UpTo(copied.head.seq));
    assert!(matches!(import(&text, &new), Err(CopyError::NotEmpty(_))));
}

/// Whatever is done to a line is noticed at that line.
#[test]
fn changed_lines() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (dir.path().join("old"), dir.path().join("new"));
    let mut opened = ledger::open_ledger(&old, Path::new(WORKSPACE)).unwrap();
    let texts = ["one", "two", "three", "four"];
    let events = texts.map(|text| content(text.as_bytes()));
    opened.log.append(&chained(&events)).unwrap();
    drop(opened);
    let text = printed(&old);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert_eq!(lines.len(), 4);
    let with = |order: &[usize]| -> String { order.iter().map(|at| lines[*at]).collect() };

    assert_eq!(refused(&with(&[0, 2, 1, 3]), &new).0, 2, "swapped");
    assert_eq!(refused(&with(&[0, 1, 1, 2, 3]), &new).0, 3, "repeated");
    assert_eq!(refused(&with(&[0, 1, 3]), &new).0, 3, "left out");
    assert_eq!(refused(&with(&[1, 2, 3]), &new).0, 1, "no beginning");
    assert_eq!(refused(text.trim_end(), &new).0, 4, "cut off");
    assert_eq!(refused(&text[..text.len() - 40], &new).0, 4, "cut off");
    let edited = text.replace("three", "threx");
    assert_eq!(refused(&edited, &new).0, 3, "edited");
    assert_eq!(refused(&format!("{text}\n"), &new).0, 5, "a blank line");
    // A forged event whose own figures fit.
    let forged = chained(&[content(b"other")]);
    let line = event_line(&forged[0], &content(b"other"));
    let forged = text.replacen(lines[0], &format!("{line}\n"), 1);
    assert_eq!(refused(&forged, &new).0, 2, "the next one doesn't follow");
    import(&text, &new).unwrap();
}
