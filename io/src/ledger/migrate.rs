//! Migrates an older ledger to the current schema: a verified copy is kept next to it, then all steps are taken in one
//! transaction.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use tslp_core::ids::Seq;
use tslp_migrations::schema::{Ladder, Step};
use tslp_replay::fold::ChainCheck;
use tslp_replay::log::{Head, Stored};

use super::anchor::Anchor;
use super::backup::copy_pages;
use super::connection::{self, AccessKind, Database, companion_file, pragma_number};
use super::error::LedgerError;
use super::recognise::check_pages;
use super::schema_version::is_at_the_top;

/// Takes the steps that a ledger lacks, if there are any. If it holds events, it is copied first.
///
/// A crash leaves the old ledger or the new one, and a copy that has its final name is complete.
pub(super) fn migrate_ledger(
    database: &Database,
    ladder: Ladder,
    version: i64,
    head: Head,
) -> Result<(), LedgerError> {
    let steps = ladder.steps_above(version);
    if steps.is_empty() {
        return Ok(());
    }
    let (from, to) = (version, ladder.current());
    let copy = match head.seq {
        Seq(0) => None,
        _ => Some(keep_copy(database, ladder, version, head)?),
    };
    let connection = database.connect(AccessKind::Write)?;
    check_pages(&connection, database)?;
    take_steps(&connection, steps, ladder, head).map_err(|error| match error {
        MigrationFailure::Sqlite(error) => database.sqlite_error("migrate")(error),
        MigrationFailure::Defect(detail) => LedgerError::Migration {
            path: database.path.clone(),
            from,
            to,
            detail,
        },
    })?;
    match copy {
        Some(copy) => tracing::warn!(
            from, to, copy = %copy.display(),
            "the ledger was brought to a newer schema. It is kept as it was before in a copy, which may be deleted, with \
             the .anchor beside it, once all is well"
        ),
        None => tracing::info!(from, to, "the empty ledger was brought to a newer schema"),
    }
    Ok(())
}

/// Takes steps of the schema's ladder inside a transaction.
pub(super) fn apply_steps(connection: &Connection, steps: &[Step]) -> rusqlite::Result<()> {
    for step in steps {
        connection.execute_batch(step.sql)?;
        connection.pragma_update(None, "user_version", step.version)?;
        tracing::info!(version = step.version, title = step.title, "schema step");
    }
    Ok(())
}

/// The reason why the steps weren't taken.
enum MigrationFailure {
    Sqlite(rusqlite::Error),
    Defect(&'static str),
}

impl From<rusqlite::Error> for MigrationFailure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Takes all steps in one transaction and checks the result before it commits, so that there is never a mix of two schemas.
fn take_steps(
    connection: &Connection,
    steps: &[Step],
    ladder: Ladder,
    head: Head,
) -> Result<(), MigrationFailure> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let taken = climb_checked(connection, steps, ladder, head);
    let ended = taken.and_then(|()| Ok(connection.execute_batch("COMMIT")?));
    if ended.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    ended
}

fn climb_checked(
    connection: &Connection,
    steps: &[Step],
    ladder: Ladder,
    head: Head,
) -> Result<(), MigrationFailure> {
    apply_steps(connection, steps)?;
    let count: i64 = connection.query_row("SELECT count(*) FROM ledger", [], |row| row.get(0))?;
    if connection::last_head(connection)? != head || u64::try_from(count) != Ok(head.seq.0) {
        return Err(MigrationFailure::Defect("its events wouldn't be the same"));
    }
    if !is_at_the_top(connection, ladder)? {
        return Err(MigrationFailure::Defect(
            "its schema wouldn't be that version's",
        ));
    }
    Ok(())
}

/// Copies the ledger to a name of its own next to it, verifies the copy from its first event to its last, and makes it
/// durable. An existing copy is never overwritten; one with exactly this state, left by a crash before the steps, is reused.
fn keep_copy(
    database: &Database,
    ladder: Ladder,
    version: i64,
    head: Head,
) -> Result<PathBuf, LedgerError> {
    let to = ladder.current();
    let mut copy = companion_file(&database.path, &format!(".before-v{to}"));
    for number in 2.. {
        let there = database_at(database, &copy);
        match there.disk.bytes(&copy) {
            Ok(None) => break,
            Ok(Some(_)) if is_copy(&there, version, head) => return Ok(copy),
            Ok(Some(_)) => {
                copy = companion_file(&database.path, &format!(".before-v{to}-{number}"))
            }
            Err(source) => return Err(LedgerError::on_file("look at", &copy)(source)),
        }
    }
    let bytes = database.file_bytes() + database.wal_bytes();
    tracing::info!(bytes, copy = %copy.display(), "copying the ledger before it is brought to a newer schema");
    let no_copy = |source: LedgerError| match source {
        // A flaw of the ledger itself is reported as the ledger's, not as the copy's.
        source if source.asks_for_safe_mode() || source.is_newer() => source,
        source => LedgerError::NoCopy {
            path: database.path.clone(),
            copy: copy.clone(),
            from: version,
            to,
            bytes,
            source: Box::new(source),
        },
    };
    let fresh = database_at(database, &companion_file(&copy, ".new"));
    let made = make_copy(database, &fresh, &copy, head);
    if made.is_err() {
        // The rest would take up room; the next attempt removes it if this fails.
        let _ = remove(&fresh);
    }
    made.map_err(no_copy)?;
    Ok(copy)
}

/// Another database on the same disk.
pub(super) fn database_at(database: &Database, path: &Path) -> Database {
    Database {
        path: path.to_owned(),
        disk: Arc::clone(&database.disk),
    }
}

/// Whether a file holds a ledger of this version that ends here. It got its name when it was whole.
fn is_copy(file: &Database, version: i64, head: Head) -> bool {
    let looked_at = file
        .connect_unconfigured(OpenFlags::SQLITE_OPEN_READ_ONLY)
        .and_then(|copy| {
            Ok((
                pragma_number::<i64>(&copy, "user_version")?,
                connection::last_head(&copy)?,
            ))
        });
    looked_at.is_ok_and(|found| found == (version, head))
}

fn remove(fresh: &Database) -> Result<(), LedgerError> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let left_over = companion_file(&fresh.path, suffix);
        let removed = fresh.disk.remove(&left_over);
        removed.map_err(LedgerError::on_file("remove", &left_over))?;
    }
    Ok(())
}

fn make_copy(
    database: &Database,
    fresh: &Database,
    copy: &Path,
    head: Head,
) -> Result<(), LedgerError> {
    let source = database.connect(AccessKind::Read)?;
    copy_of_connection(&source, database, fresh, copy, head)
}

/// Copies what a connection sees, verifies it up to `head`, and gives it the copy's name.
pub(super) fn copy_of_connection(
    source: &Connection,
    database: &Database,
    fresh: &Database,
    copy: &Path,
    head: Head,
) -> Result<(), LedgerError> {
    let disk = &*database.disk;
    remove(fresh)?;
    // SQLite would create a file that other users can read.
    disk.create(&fresh.path)
        .map_err(LedgerError::on_file("create", &fresh.path))?;
    copy_pages(source, fresh, Duration::ZERO, &mut |_, _| {})
        .map_err(fresh.sqlite_error("write"))?;
    leave_wal_mode(fresh).map_err(fresh.sqlite_error("write"))?;
    verify_copy(database, fresh, head)?;
    let durable = disk.open(&fresh.path).and_then(|mut file| file.sync());
    durable.map_err(LedgerError::on_file("sync", &fresh.path))?;
    // The anchor first: the copy's name is what marks it as complete.
    drop(Anchor::create_on(
        disk,
        &companion_file(copy, ".anchor"),
        head,
    )?);
    disk.rename(&fresh.path, copy)
        .and_then(|()| disk.sync_name(copy))
        .map_err(LedgerError::on_file("name", copy))
}

/// Takes the copy out of WAL mode, so that it is one file and opening it creates no others.
fn leave_wal_mode(fresh: &Database) -> rusqlite::Result<()> {
    let connection = fresh.connect_unconfigured(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "journal_mode", "DELETE")?;
    connection.close().map_err(|(_, error)| error)
}

/// Verifies every link and reads every event. A flaw of the copy is one of the ledger, so errors name the ledger.
fn verify_copy(database: &Database, fresh: &Database, head: Head) -> Result<(), LedgerError> {
    let corrupt = |detail: String| LedgerError::Corrupt {
        path: database.path.clone(),
        detail,
    };
    let copy = fresh
        .connect_unconfigured(OpenFlags::SQLITE_OPEN_READ_ONLY)
        .map_err(fresh.sqlite_error("open"))?;
    let mut chain = ChainCheck::default();
    let mut flaw = None;
    let read = connection::visit_events(&copy, Seq(1), &mut |stored| match check_event(
        database, &mut chain, &stored,
    ) {
        Ok(()) => std::ops::ControlFlow::Continue(()),
        Err(error) => {
            flaw = Some(error);
            std::ops::ControlFlow::Break(())
        }
    });
    read.map_err(fresh.sqlite_error("read"))?;
    if let Some(flaw) = flaw {
        return Err(flaw);
    }
    if chain.head() != head {
        let found = chain.head().seq;
        return Err(corrupt(format!(
            "its events can be read up to {found} only"
        )));
    }
    check_pages(&copy, database)
}

fn check_event(
    database: &Database,
    chain: &mut ChainCheck,
    stored: &Stored,
) -> Result<(), LedgerError> {
    chain.step(stored).map_err(|flaw| LedgerError::Corrupt {
        path: database.path.clone(),
        detail: flaw.to_string(),
    })?;
    tslp_migrations::decode(stored.kind, &stored.payload)
        .map(drop)
        .map_err(|source| LedgerError::from_decode_error(&database.path, stored.seq, source))
}
