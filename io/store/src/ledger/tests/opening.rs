//! Opening: what is refused, with which words, and that refusing changes nothing.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::ledger::reader::ReaderFactory;
use crate::ledger::{AnchorMismatch, CheckpointMode, MissingAnchor};

/// Checks that the ledger is refused with such words, and that no evidence is touched by that.
fn check_refused(fixture: &Fixture, words: &[&str]) -> LedgerError {
    let before = fixture.evidence();
    let error = fixture.refused();
    for word in words {
        assert!(error.to_string().contains(word), "{word}: {error}");
    }
    assert!(before == fixture.evidence(), "evidence was changed");
    error
}

#[test]
fn new_ledger() {
    let fixture = Fixture::new();
    let log = fixture.open().log;
    assert_eq!(log.head().unwrap().seq, Seq(0));
    let files = fixture.files();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&files.dir), 0o700);
    for entry in std::fs::read_dir(&files.dir).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    let header = std::fs::read(&files.database).unwrap();
    assert_eq!(&header[68..72], b"TSLP");
}

/// A directory that is open to others is closed to them.
#[test]
fn open_directory_closed() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.data()).unwrap();
    std::fs::set_permissions(fixture.data(), PermissionsExt::from_mode(0o755)).unwrap();
    drop(fixture.open());
    let mode = std::fs::metadata(fixture.data())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn holder_is_named() {
    let fixture = Fixture::new();
    let opened = fixture.open();
    let pid = format!("pid {}", std::process::id());
    let error = fixture.refused();
    assert!(matches!(error, LedgerError::InUse { .. }), "{error:?}");
    assert!(error.to_string().contains(&pid), "{error}");
    // The log holds the lock as long as it can write.
    let OpenLedger { log, lock, .. } = opened;
    drop(lock);
    assert!(matches!(fixture.refused(), LedgerError::InUse { .. }));
    drop(log);
    drop(fixture.open());
}

#[test]
fn unusable_directory() {
    let fixture = Fixture::new();
    std::fs::write(fixture.data(), "a file").unwrap();
    let inside = fixture.data().join("below");
    let Err(error) = fixture.options.open(&inside, Path::new("/w")) else {
        panic!("opened below a file");
    };
    assert!(matches!(error, LedgerError::DataDir { .. }), "{error:?}");
    assert!(error.to_string().contains("data/below"), "{error}");
}

#[test]
fn read_only_directory() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.data()).unwrap();
    std::fs::set_permissions(fixture.data(), PermissionsExt::from_mode(0o500)).unwrap();
    if std::fs::write(fixture.data().join("probe"), "").is_ok() {
        return; // The superuser may write anywhere.
    }
    let error = fixture.refused();
    assert!(
        error.to_string().contains("check that your user owns it"),
        "{error}"
    );
}

/// Files of others are refused and left untouched.
#[test]
fn foreign_files() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.data()).unwrap();
    std::fs::write(fixture.files().database, "something else").unwrap();
    check_refused(&fixture, &["too short", "untouched"]);
    std::fs::write(fixture.files().database, "something else ".repeat(100)).unwrap();
    check_refused(&fixture, &["no SQLite database"]);
    std::fs::remove_file(fixture.files().database).unwrap();
    fixture.shell().execute_batch("CREATE TABLE t (a)").unwrap();
    let error = check_refused(&fixture, &["another application"]);
    assert!(!error.asks_for_safe_mode());
}

#[test]
fn other_workspace() {
    let fixture = Fixture::new();
    drop(fixture.open());
    let Err(error) = fixture
        .options
        .open(&fixture.data(), Path::new("/elsewhere"))
    else {
        panic!("opened for another workspace");
    };
    let text = error.to_string();
    assert!(
        text.contains("/work/project") && text.contains("/elsewhere"),
        "{text}"
    );
}

/// A crash while a ledger is created leaves nothing that matters.
#[test]
fn crash_while_creating() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.data()).unwrap();
    std::fs::write(fixture.data().join("ledger.db.new"), "half a database").unwrap();
    std::fs::write(fixture.data().join("ledger.anchor.new"), "half an anchor").unwrap();
    drop(fixture.open());
    // And one between the database and its anchor.
    std::fs::remove_file(fixture.files().anchor).unwrap();
    fixture.filled(1);
    assert_eq!(verified(&fixture.open().log).seq, Seq(1));
}

#[test]
fn flipped_bit_in_wal() {
    let fixture = Fixture::new();
    fixture.filled(4);
    let mut bytes = std::fs::read(fixture.wal()).unwrap();
    let last_page = bytes.len() - 100;
    bytes[last_page] ^= 1;
    std::fs::write(fixture.wal(), &bytes).unwrap();
    let error = check_refused(&fixture, &["lost acknowledged events"]);
    assert!(
        matches!(
            error,
            LedgerError::AnchorMismatch {
                mismatch: AnchorMismatch::LostTail {
                    ledger_ends_at: Seq(3)
                },
                ..
            }
        ),
        "{error:?}"
    );
    // Readers work on what is left.
    let reader = ReaderFactory::new(&fixture.files(), &fixture.options)
        .open()
        .unwrap();
    assert_eq!(reader.head().unwrap().seq, Seq(3));
}

/// Events without an anchor are refused unless a person says otherwise.
#[test]
fn without_anchor() {
    let mut fixture = Fixture::new();
    fixture.filled(2);
    let files = fixture.files();
    std::fs::write(&files.anchor, "nonsense").unwrap();
    check_refused(&fixture, &["damaged", "#2"]);
    std::fs::remove_file(&files.anchor).unwrap();
    let error = check_refused(&fixture, &["missing", "Copy the anchor along"]);
    assert!(error.asks_for_safe_mode());
    fixture.options.missing_anchor = MissingAnchor::Adopt;
    drop(fixture.open());
    fixture.options.missing_anchor = MissingAnchor::Refuse;
    assert_eq!(verified(&fixture.open().log).seq, Seq(2));
}

#[test]
fn foreign_schema() {
    // A flipped bit in a trigger's text was taken for sound, and every append failed from then on.
    for sql in [
        "DROP TRIGGER ledger_refuses_update",
        "DROP TRIGGER ledger_is_dense; CREATE TRIGGER ledger_is_dense BEFORE INSERT ON ledger
         WHEN NEW.seq IS NOT (SELECT coalgsce(max(seq), 0) + 1 FROM ledger)
         BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
        "ALTER TABLE meta ADD COLUMN extra TEXT",
        "CREATE INDEX ledger_by_time ON ledger (at)",
    ] {
        let fixture = Fixture::new();
        fixture.filled(2);
        fixture.shell().execute_batch(sql).unwrap();
        let error = check_refused(&fixture, &["its own tables and triggers aren't tslp's"]);
        assert!(error.asks_for_safe_mode());
        assert_eq!(fixture.open_reader().head().unwrap().seq, Seq(2));
    }
}

/// A database that is not recognised beside a used anchor is damage.
#[test]
fn unrecognised_database() {
    let fixture = Fixture::new();
    fixture.filled(2);
    let mut log = fixture.open().log;
    log.checkpoint(CheckpointMode::Truncate).unwrap();
    drop(log);
    let whole = std::fs::read(fixture.files().database).unwrap();
    for byte in [0, 18, 69] {
        let mut bytes = whole.clone();
        bytes[byte] ^= 4;
        std::fs::write(fixture.files().database, bytes).unwrap();
        let error = check_refused(&fixture, &["is damaged", "events up to #2", "tslp copy"]);
        assert!(error.asks_for_safe_mode(), "byte {byte}: {error:?}");
    }
    std::fs::write(fixture.files().database, &whole[..60]).unwrap();
    assert!(check_refused(&fixture, &["too short"]).asks_for_safe_mode());
}
