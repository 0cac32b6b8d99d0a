//! Migration: a copy before, all steps or none, newer ledgers refused; on ladders with more steps than there are today.

use std::os::unix::fs::PermissionsExt;

use tslp_migrations::schema::{self, LADDER, Ladder, Step};

use super::*;
use crate::ledger::CheckpointMode;
use crate::ledger::reader::ReaderFactory;

const NOTES: Step = Step {
    version: 2,
    title: "a table more",
    sql: "CREATE TABLE notes (seq INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT;
          INSERT INTO notes SELECT seq, kind || ' of ' || length(payload) FROM ledger;",
};

/// A future of the ladder.
static STEPS: &[Step] = &[
    schema::STEPS[0],
    NOTES,
    Step {
        version: 3,
        title: "an index",
        sql: "CREATE INDEX ledger_by_kind ON ledger (kind);",
    },
];

const FUTURE: Ladder = Ladder(STEPS);

/// Another future, whose second step fails.
static FAILING: &[Step] = &[
    schema::STEPS[0],
    NOTES,
    Step {
        version: 3,
        title: "what no event fulfils",
        sql: "CREATE TABLE more (seq CHECK (seq < 0)); INSERT INTO more SELECT seq FROM ledger;",
    },
];

/// Another one, whose step loses an event.
static LOSING: &[Step] = &[
    schema::STEPS[0],
    Step {
        version: 2,
        title: "an event less",
        sql: "DROP TRIGGER ledger_refuses_delete; DELETE FROM ledger WHERE seq = 2;",
    },
];

impl Fixture {
    fn of_the_future(&self) -> Self {
        self.with(FUTURE)
    }

    /// The same folder, seen by a program with another ladder.
    fn with(&self, ladder: Ladder) -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            at: Some(self.data()),
            options: OpenOptions {
                ladder,
                ..self.options.clone()
            },
        }
    }

    fn copy(&self, suffix: &str) -> PathBuf {
        self.data().join(format!("ledger.db.before-v3{suffix}"))
    }

    fn version(&self) -> i64 {
        let shell = self.shell();
        shell
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .unwrap()
    }

    /// Everything that bears a copy's name.
    fn copies(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.data()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut copies: Vec<String> = names.filter(|name| name.contains("before")).collect();
        copies.sort();
        copies
    }

    /// The copy put in a place of its own and opened by the program of today.
    fn restored(&self, suffix: &str) -> Self {
        let restored = Self::new();
        std::fs::create_dir(restored.data()).unwrap();
        let copy = self.copy(suffix);
        let mut anchor = copy.clone().into_os_string();
        anchor.push(".anchor");
        std::fs::copy(&copy, restored.files().database).unwrap();
        std::fs::copy(anchor, restored.files().anchor).unwrap();
        restored
    }
}

#[test]
fn an_older_ledger_climbs_and_is_kept_as_it_was() {
    let today = Fixture::new();
    today.filled(5);
    let fixture = today.of_the_future();
    let opened = fixture.open();
    assert_eq!(verified(&opened.log).seq, Seq(5));
    drop(opened);
    assert_eq!(fixture.version(), 3);
    let notes = "SELECT count(*) FROM notes WHERE note LIKE 'content.v1 of %'";
    let count = fixture.shell().query_row(notes, [], |row| row.get(0));
    assert_eq!(count, Ok(5));
    fixture.filled(7);
    assert_eq!(verified(&fixture.open().log).seq, Seq(7));
    assert_eq!(
        fixture.copies(),
        ["ledger.db.before-v3", "ledger.db.before-v3.anchor"]
    );
    for name in fixture.copies() {
        let found = std::fs::metadata(fixture.data().join(name)).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
    }
    let restored = fixture.restored("");
    assert_eq!(verified(&restored.open().log).seq, Seq(5));
    assert_eq!(restored.version(), 1);
    restored.filled(6);
}

#[test]
fn an_empty_ledger_climbs_without_a_copy() {
    let today = Fixture::new();
    drop(today.open());
    let fixture = today.of_the_future();
    drop(fixture.open());
    assert_eq!((fixture.version(), fixture.copies().len()), (3, 0));
    let new = Fixture::new().of_the_future();
    drop(new.open());
    assert_eq!((new.version(), new.copies().len()), (3, 0));
}

#[test]
fn an_older_copy_is_never_written_over() {
    let today = Fixture::new();
    today.filled(5);
    let fixture = today.of_the_future();
    drop(fixture.open());
    let first = std::fs::read(fixture.copy("")).unwrap();
    // The user goes back to the old program and the copy, goes on, and comes here again.
    std::fs::copy(fixture.copy(""), fixture.files().database).unwrap();
    for file in [fixture.wal(), fixture.files().anchor] {
        std::fs::remove_file(file).unwrap();
    }
    let mut anchor = fixture.copy("").into_os_string();
    anchor.push(".anchor");
    std::fs::copy(anchor, fixture.files().anchor).unwrap();
    today.filled(6);
    drop(fixture.open());
    assert!(first == std::fs::read(fixture.copy("")).unwrap());
    assert_eq!(verified(&fixture.restored("-2").open().log).seq, Seq(6));
    assert_eq!(fixture.copies().len(), 4, "{:?}", fixture.copies());
}

#[test]
fn steps_that_fail_leave_the_old_ledger_and_its_copy_will_do_for_the_next_try() {
    let today = Fixture::new();
    today.filled(5);
    let failing = today.with(Ladder(FAILING));
    let error = failing.refused();
    assert!(error.to_string().contains("CHECK"), "{error}");
    assert_eq!(today.version(), 1);
    assert_eq!(verified(&today.open().log).seq, Seq(5));
    let copy = std::fs::read(failing.copy("")).unwrap();
    let fixture = today.of_the_future();
    assert_eq!(verified(&fixture.open().log).seq, Seq(5));
    assert_eq!(fixture.copies().len(), 2, "{:?}", fixture.copies());
    assert!(copy == std::fs::read(fixture.copy("")).unwrap());
}

#[test]
fn steps_that_lose_an_event_are_taken_back() {
    let today = Fixture::new();
    today.filled(5);
    let error = today.with(Ladder(LOSING)).refused();
    assert!(matches!(error, LedgerError::Migration { .. }), "{error:?}");
    assert!(error.to_string().contains("defect of tslp"), "{error}");
    assert_eq!(verified(&today.open().log).seq, Seq(5));
    assert_eq!(today.version(), 1);
}

#[test]
fn a_copy_that_can_not_be_named_stops_the_migration() {
    let today = Fixture::new();
    today.filled(5);
    // Nothing can get the name of a folder that isn't empty.
    std::fs::create_dir(today.copy(".new")).unwrap();
    let before = today.evidence();
    let error = today.of_the_future().refused();
    let LedgerError::NoCopy { from: 1, to: 3, .. } = error else {
        panic!("{error:?}");
    };
    let said = error.to_string();
    assert!(
        said.contains("was left as it was") && said.contains("before-v3"),
        "{said}"
    );
    assert!(!error.asks_for_safe_mode());
    assert!(before == today.evidence(), "the ledger was touched");
    assert_eq!(verified(&today.open().log).seq, Seq(5));
}

#[test]
fn a_damaged_ledger_is_not_migrated() {
    let today = Fixture::new();
    today.filled(5);
    today.past_the_triggers("UPDATE ledger SET at = at + 1 WHERE seq = 3");
    let before = today.evidence();
    let error = today.of_the_future().refused();
    assert!(error.asks_for_safe_mode(), "{error:?}");
    assert!(error.to_string().contains("hash chain"), "{error}");
    assert!(before == today.evidence(), "evidence was changed");
    assert_eq!(today.copies(), [""; 0]);
}

#[test]
fn an_event_of_a_newer_program_stops_the_migration() {
    let today = Fixture::new();
    today.filled(2);
    let mut log = today.open().log;
    let head = log.head().unwrap();
    let (seq, at, kind, payload) = (Seq(3), UnixMillis(3), 9_999, b"?".to_vec());
    let newer = Stored {
        seq,
        at,
        kind,
        chain: head.chain.extended(seq, at, kind, &payload),
        payload,
    };
    log.append_with(head.seq, &[newer], &[]).unwrap();
    drop(log);
    let before = today.evidence();
    let error = today.of_the_future().refused();
    assert!(error.is_newer() && !error.asks_for_safe_mode(), "{error:?}");
    assert!(error.to_string().contains("9999"), "{error}");
    assert!(before == today.evidence(), "evidence was changed");
    assert_eq!(today.copies(), [""; 0]);
}

#[test]
fn a_newer_schema_is_refused_untouched() {
    for cut in [false, true] {
        let today = Fixture::new();
        let future = today.of_the_future();
        future.filled(2);
        if cut {
            let mut log = future.open().log;
            log.checkpoint(CheckpointMode::Truncate).unwrap();
        }
        let before = today.evidence();
        let names = today.names();
        let error = today.refused();
        assert!(
            matches!(error, LedgerError::NewerSchema { .. }),
            "{error:?}"
        );
        assert!(!error.asks_for_safe_mode() && error.is_newer());
        for words in [
            "newer tslp",
            "schema version 3",
            "up to 1",
            "left untouched",
            "use that version of tslp, or a newer one",
        ] {
            assert!(error.to_string().contains(words), "{words}: {error}");
        }
        // Those who only read say the same.
        let readers = ReaderFactory::new(&today.files(), &today.options);
        let Err(error) = readers.open() else {
            panic!("read by an older program");
        };
        assert!(error.is_newer(), "{error:?}");
        assert!(before == today.evidence(), "evidence was changed");
        assert_eq!(names, today.names());
        assert_eq!(verified(&future.open().log).seq, Seq(2));
    }
}

/// A newer program that adds no table of its own but changes one, or has one more and leaves the others.
#[test]
fn newer_schemas_of_all_sorts_are_told_from_flipped_bits() {
    for change in [
        "CREATE TABLE other (a)",
        "CREATE INDEX ledger_by_time ON ledger (at)",
        "ALTER TABLE ledger ADD COLUMN source INTEGER",
        "DROP TRIGGER ledger_is_dense",
    ] {
        let fixture = Fixture::new();
        fixture.filled(2);
        fixture.shell().execute_batch(change).unwrap();
        let shell = fixture.shell();
        shell.pragma_update(None, "user_version", 2).unwrap();
        drop(shell);
        let error = fixture.refused();
        assert!(error.is_newer(), "{change}: {error:?}");
    }
}

#[test]
fn a_version_that_the_schema_contradicts_is_damage_and_can_be_looked_at() {
    assert_eq!(LADDER.current(), 1);
    let flipped = (0..32).map(|bit| 1 ^ (1_u32 << bit)).map(u32::cast_signed);
    for version in flipped.chain([99]) {
        let fixture = Fixture::new();
        fixture.filled(2);
        let shell = fixture.shell();
        shell.pragma_update(None, "user_version", version).unwrap();
        drop(shell);
        let before = fixture.evidence();
        let error = fixture.refused();
        assert!(
            matches!(error, LedgerError::Corrupt { .. }),
            "{version}: {error:?}"
        );
        assert!(error.to_string().contains(&version.to_string()), "{error}");
        assert!(before == fixture.evidence(), "evidence was changed");
        let readers = ReaderFactory::new(&fixture.files(), &fixture.options);
        assert_eq!(readers.open().unwrap().head().unwrap().seq, Seq(2));
    }
}
