//! Every kind of event through its line and back, and exports of ledgers of nonsense.

use std::collections::BTreeSet;
use std::path::Path;

use arbitrary::Unstructured;
use tslp_core::event::{Content, ContentKind, Envelope, Event, EventKind};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{Seq, UnixMillis};
use tslp_migrations::{encode, number_of};
use tslp_replay::chain::ChainHash;
use tslp_replay::log::{Head, Log, Stored};

use super::export;
use super::import::{ImportError, import_ledger};
use super::line::{ExportHeader, event_line, read_event};
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

/// A header vouches for itself.
#[test]
fn header_checksum() {
    for workspace in ["/home/u/größe", "/"] {
        let header = ExportHeader {
            workspace: workspace.into(),
            head: Head {
                seq: Seq(3),
                chain: ChainHash([7; 32]),
            },
        };
        let line = header.to_line();
        assert_eq!(ExportHeader::read(&line).unwrap(), header);
        let edited = line.replacen("\"text\":\"/", "\"text\":\"/x", 1);
        assert!(ExportHeader::read(&edited).is_err());
    }
    let error = ExportHeader::read("{\"format\":\"other\"}").unwrap_err();
    assert!(error.to_string().contains("no header"), "{error}");
    let newer = "{\"format\":\"tslp-export\",\"version\":2}";
    let error = ExportHeader::read(newer).unwrap_err().to_string();
    assert!(error.contains("update tslp"), "{error}");
}

/// The lines of a ledger's export.
fn exported(dir: &Path) -> String {
    let readers = ReaderFactory::new(&DataFiles::of(dir), &OpenOptions::default());
    let mut bytes = Vec::new();
    export::write_export(&mut LedgerScan::begin(dir, &readers).unwrap(), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn refused(text: &str, to: &Path) -> (u64, String) {
    let error = import_ledger(&mut text.as_bytes(), to).unwrap_err();
    assert!(!to.exists(), "nothing is left");
    let beside = std::fs::read_dir(to.parent().unwrap()).unwrap();
    let left: Vec<_> = beside
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with(".tslp"))
        .collect();
    assert_eq!(left, Vec::<std::ffi::OsString>::new());
    match error {
        ImportError::Line { line, detail } => (line, detail),
        other => panic!("{other}"),
    }
}

/// An export of an import is the export.
#[test]
fn export_round_trip() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (dir.path().join("old"), dir.path().join("new"));
    let mut opened = ledger::open_ledger(&old, Path::new("/home/u/project")).unwrap();
    let stored = chained(&events());
    opened.log.append(Seq(0), &stored).unwrap();
    drop(opened);
    let text = exported(&old);
    assert_eq!(text.lines().count(), stored.len() + 1);
    let imported = import_ledger(&mut text.as_bytes(), &new).unwrap();
    assert_eq!(imported.head.seq.0, stored.len() as u64);
    assert_eq!(imported.workspace, Path::new("/home/u/project"));
    assert_eq!(exported(&new), text);
    let opened = ledger::open_ledger(&new, Path::new("/home/u/project")).unwrap();
    assert_eq!(opened.tables, ledger::TablesState::Current);
    assert!(matches!(
        import_ledger(&mut text.as_bytes(), &new),
        Err(ImportError::NotEmpty(_))
    ));
}

/// Whatever is done to a line is noticed at that line.
#[test]
fn changed_lines() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (dir.path().join("old"), dir.path().join("new"));
    let mut opened = ledger::open_ledger(&old, Path::new("/home/u/project")).unwrap();
    let texts = ["one", "two", "three", "four"];
    let events = texts.map(|text| content(text.as_bytes()));
    opened.log.append(Seq(0), &chained(&events)).unwrap();
    drop(opened);
    let text = exported(&old);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert_eq!(lines.len(), 5);
    let with = |order: &[usize]| -> String { order.iter().map(|at| lines[*at]).collect() };

    assert_eq!(refused(&with(&[0, 1, 3, 2, 4]), &new).0, 3, "swapped");
    assert_eq!(refused(&with(&[0, 1, 2, 2, 3, 4]), &new).0, 4, "repeated");
    assert_eq!(refused(&with(&[0, 1, 2, 4]), &new).0, 4, "left out");
    assert_eq!(refused(&with(&[1, 2, 3, 4]), &new).0, 1, "no header");
    let (line, detail) = refused(&with(&[0, 1, 2, 3]), &new);
    assert_eq!(
        (line, detail.contains("header names #4")),
        (5, true),
        "{detail}"
    );
    assert_eq!(refused(text.trim_end(), &new).0, 5, "cut off");
    assert_eq!(refused(&text[..text.len() - 40], &new).0, 5, "cut off");
    assert_eq!(refused("", &new).0, 1, "empty");
    assert_eq!(
        refused(&text.replace("three", "threx"), &new).0,
        4,
        "edited"
    );
    assert_eq!(
        refused(&text.replace("project", "other"), &new).0,
        1,
        "moved"
    );
    assert_eq!(refused(&format!("{text}\n"), &new).0, 6, "a blank line");
    // A forged event whose own figures fit.
    let forged = chained(&[content(b"other")]);
    let line = event_line(&forged[0], &content(b"other"));
    let forged = text.replacen(lines[1], &format!("{line}\n"), 1);
    assert_eq!(refused(&forged, &new).0, 3, "the next one doesn't follow");
    import_ledger(&mut text.as_bytes(), &new).unwrap();
}
