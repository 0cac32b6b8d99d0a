//! Whether a file is one of our databases, and whole enough to go on from.

use std::ffi::OsString;

use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode};
use tslp_core::ids::Seq;
use tslp_migrations::schema::{self, APPLICATION_ID, FORMAT};

use super::anchor::{self, Reading};
use super::connection::{Database, meta, pragma};
use super::disk::Disk;
use super::error::LedgerError;
use super::open::{DataFiles, file_failed};

/// Of every SQLite database.
const HEADER_BYTES: usize = 100;

/// Refuses whatever isn't one of our databases before SQLite sees it.
pub(super) fn check_file(disk: &dyn Disk, path: &Path) -> Result<(), LedgerError> {
    let not_ours = |detail: &str| LedgerError::NotOurs {
        path: path.to_owned(),
        detail: detail.to_owned(),
    };
    let header = disk
        .open(path)
        .and_then(|mut file| file.read(HEADER_BYTES))
        .map_err(|source| file_failed("open for reading and writing", path, source))?;
    if header.len() < HEADER_BYTES {
        return Err(not_ours("it is too short for a database"));
    }
    if header[..16] != *b"SQLite format 3\0" {
        return Err(not_ours("it is no SQLite database"));
    }
    if header[68..72] != APPLICATION_ID.to_be_bytes() {
        return Err(not_ours("it is the database of another application"));
    }
    // 1 is a rollback journal, 2 a WAL. SQLite would open others for reading alone, or not at all.
    if !matches!(header[18..20], [1, 1] | [2, 2]) {
        return Err(not_ours("its header names no journal that there is"));
    }
    Ok(())
}

/// A file that isn't recognised is somebody else's, unless an anchor beside it vouches for events: then it is what is left
/// of a ledger, and evidence.
pub(super) fn as_damage(disk: &dyn Disk, files: &DataFiles, error: LedgerError) -> LedgerError {
    let Some(detail) = unrecognised(&error) else {
        return error;
    };
    let vouched = match anchor::read_on(disk, &files.anchor) {
        Ok(Reading::Head(head)) if head.seq != Seq(0) => {
            format!("there were events up to {}", head.seq)
        }
        Ok(Reading::Damaged) => "there was a ledger".to_owned(),
        _ => return error,
    };
    LedgerError::Corrupt {
        path: files.database.clone(),
        detail: format!("{detail}, though its head anchor says that {vouched}"),
    }
}

/// Why a file isn't recognised, if that is the error. Our own statements fail without any cause outside of the file only
/// where its schema isn't ours.
fn unrecognised(error: &LedgerError) -> Option<String> {
    match error {
        LedgerError::NotOurs { detail, .. } => Some(detail.clone()),
        LedgerError::Sqlite { source, .. }
            if source.sqlite_error_code() == Some(ErrorCode::Unknown) =>
        {
            Some(source.to_string())
        }
        _ => None,
    }
}

/// Refuses a database whose own tables and triggers aren't those that we made, or whose schema has an entry that isn't what
/// its statement makes: a table is dropped by its entry.
pub(super) fn check_schema(
    connection: &Connection,
    database: &Database,
) -> Result<(), LedgerError> {
    let failed = database.failed("read");
    let version: i64 = pragma(connection, "user_version").map_err(&failed)?;
    let newer = schema::pending(version);
    newer.map_err(|source| LedgerError::NewerSchema {
        path: database.path.clone(),
        source,
    })?;
    let expected = schema_of(version).map_err(&failed)?;
    let found = own_schema(connection).map_err(&failed)?;
    if found != expected {
        return Err(LedgerError::Corrupt {
            path: database.path.clone(),
            detail: format!("its schema isn't that of version {version}"),
        });
    }
    check_definitions(connection, database)
}

/// Whether the file can be written to without harm: pages are laid out as they say, and each belongs to one table or is
/// free. Reads the whole file.
///
/// Readers don't need that. But SQLite puts a new row where a page's header says that there is room, takes a page from the
/// list of free ones, drops a table and frees the pages that its entry names: with one bit of those flipped, the next
/// commit would write over acknowledged events. `cell_size_check` alone doesn't notice all of these.
pub(super) fn check_pages(connection: &Connection, database: &Database) -> Result<(), LedgerError> {
    let pages: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(database.failed("check"))?;
    if pages == "ok" {
        return Ok(());
    }
    Err(LedgerError::Corrupt {
        path: database.path.clone(),
        detail: pages.replace('\n', " "),
    })
}

fn check_definitions(connection: &Connection, database: &Database) -> Result<(), LedgerError> {
    let failed = database.failed("check");
    let corrupt = |detail: &str| LedgerError::Corrupt {
        path: database.path.clone(),
        detail: detail.to_owned(),
    };
    let mut found = definitions(connection).map_err(&failed)?;
    let made = Connection::open_in_memory().map_err(&failed)?;
    for (_, name, _, statement) in &found {
        if let Some(statement) = statement
            && let Err(error) = made.execute_batch(statement)
        {
            return Err(corrupt(&format!(
                "the statement of {name} in its schema: {error}"
            )));
        }
    }
    let mut expected = definitions(&made).map_err(&failed)?;
    found.sort();
    expected.sort();
    if found != expected {
        return Err(corrupt(
            "entries of its schema aren't what their statements make",
        ));
    }
    Ok(())
}

/// An entry of a schema: kind, name, table, statement.
type Definition = (String, String, String, Option<String>);

/// All entries, in the order in which they were made.
fn definitions(connection: &Connection) -> rusqlite::Result<Vec<Definition>> {
    connection
        .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid")?
        .query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?
        .collect()
}

/// The schema that the ladder's steps up to a version make.
fn schema_of(version: i64) -> rusqlite::Result<Vec<(String, String)>> {
    let made = Connection::open_in_memory()?;
    let steps = schema::STEPS.iter();
    for step in steps.take_while(|step| i64::from(step.version) <= version) {
        made.execute_batch(step.sql)?;
    }
    own_schema(&made)
}

/// The names and statements of the tables that aren't projections', and of their triggers.
fn own_schema(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    connection
        .prepare(
            "SELECT name, sql FROM sqlite_schema
             WHERE tbl_name IN ('ledger', 'meta') AND sql IS NOT NULL ORDER BY name",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

pub(super) fn check_meta(
    connection: &Connection,
    database: &Database,
    workspace: &Path,
) -> Result<(), LedgerError> {
    let failed = database.failed("read");
    let format: Option<String> = meta(connection, "format").map_err(&failed)?;
    if format.as_deref() != Some(FORMAT) {
        return Err(LedgerError::NotOurs {
            path: database.path.clone(),
            detail: format!("its format is {format:?}"),
        });
    }
    let found = stored_workspace(connection).map_err(&failed)?;
    if found != workspace {
        return Err(LedgerError::WrongWorkspace {
            path: database.path.clone(),
            found,
            expected: workspace.to_owned(),
        });
    }
    Ok(())
}

/// The workspace that the database says it belongs to; empty if it says nothing.
pub(crate) fn stored_workspace(connection: &Connection) -> rusqlite::Result<PathBuf> {
    let stored: Option<rusqlite::types::Value> = meta(connection, "workspace")?;
    Ok(match stored {
        Some(rusqlite::types::Value::Text(text)) => PathBuf::from(text),
        Some(rusqlite::types::Value::Blob(bytes)) => PathBuf::from(OsString::from_vec(bytes)),
        _ => PathBuf::new(),
    })
}
