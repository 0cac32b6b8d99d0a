//! Checks that a file is one of our databases, and sound enough to be continued.

use std::ffi::OsString;
use std::ops::ControlFlow;

use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode};
use tslp_core::event::{Event, EventKind};
use tslp_core::ids::Seq;
use tslp_migrations::schema::{APPLICATION_ID, FORMAT, FORMAT_VERSION, SCHEMA};

use super::anchor::{self, AnchorState};
use super::connection::{self, Database, meta_value, pragma_number};
use super::data_files::DataFiles;
use super::disk::Disk;
use super::error::LedgerError;

/// Length of the header of every SQLite database.
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
        .map_err(LedgerError::on_file("open for reading and writing", path))?;
    if header.len() < HEADER_BYTES {
        return Err(not_ours("it is too short for a database"));
    }
    if header[..16] != *b"SQLite format 3\0" {
        return Err(not_ours("it is no SQLite database"));
    }
    if header[68..72] != APPLICATION_ID.to_be_bytes() {
        return Err(not_ours("it is the database of another application"));
    }
    // 1 is a rollback journal, 2 a WAL. SQLite would open other formats only for reading, or not at all.
    if !matches!(header[18..20], [1, 1] | [2, 2]) {
        return Err(not_ours("its header names no journal that there is"));
    }
    Ok(())
}

/// The error for a file that isn't recognised: it isn't ours, unless an anchor next to it vouches for events. Then it is a
/// damaged ledger, and evidence.
pub(super) fn as_damage(disk: &dyn Disk, files: &DataFiles, error: LedgerError) -> LedgerError {
    let Some(detail) = unrecognised_reason(&error) else {
        return error;
    };
    let vouched = match anchor::read(disk, &files.anchor) {
        Ok(AnchorState::Head(head)) if head.seq != Seq(0) => {
            format!("there were events up to {}", head.seq)
        }
        Ok(AnchorState::Damaged) => "there was a ledger".to_owned(),
        _ => return error,
    };
    LedgerError::Corrupt {
        path: files.database.clone(),
        detail: format!("{detail}, though its head anchor says that {vouched}"),
    }
}

/// The reason why a file isn't recognised, if that is the error. Our own statements fail without an outside cause only if the
/// file's schema isn't ours.
fn unrecognised_reason(error: &LedgerError) -> Option<String> {
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

/// Refuses a ledger of another version of tslp, whose tables and events may mean something else.
pub(super) fn check_version(
    connection: &Connection,
    database: &Database,
) -> Result<(), LedgerError> {
    let failed = database.sqlite_error("read");
    let application: i32 = pragma_number(connection, "application_id").map_err(&failed)?;
    let found: i64 = pragma_number(connection, "user_version").map_err(&failed)?;
    // With another application's number in the header this one says nothing about tslp.
    if application != APPLICATION_ID || found == FORMAT_VERSION {
        return Ok(());
    }
    Err(LedgerError::OtherFormat {
        path: database.path.clone(),
        found,
    })
}

/// Whether the file can be written to without harm: pages are laid out consistently, and each belongs to one table or is free.
/// Reads the whole file.
///
/// Readers don't need that. But SQLite puts a new row where a page's header says that there is room, takes a page from the
/// list of free ones, drops a table and frees the pages that its entry names: with one bit of those flipped, the next
/// commit would write over acknowledged events. `cell_size_check` alone doesn't notice all of these.
pub(super) fn check_pages(connection: &Connection, database: &Database) -> Result<(), LedgerError> {
    let pages: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(database.sqlite_error("check"))?;
    if pages == "ok" {
        return Ok(());
    }
    Err(LedgerError::Corrupt {
        path: database.path.clone(),
        detail: pages.replace('\n', " "),
    })
}

/// Refuses a database whose own tables and triggers aren't those that we made, or whose schema has an entry that isn't what
/// its statement makes: a table is dropped by its entry.
pub(super) fn check_schema(
    connection: &Connection,
    database: &Database,
) -> Result<(), LedgerError> {
    let failed = database.sqlite_error("check");
    let corrupt = |detail: &str| LedgerError::Corrupt {
        path: database.path.clone(),
        detail: detail.to_owned(),
    };
    let mut found = schema_statements(connection).map_err(&failed)?;
    let made = Connection::open_in_memory().map_err(&failed)?;
    made.execute_batch(SCHEMA).map_err(&failed)?;
    let mut own = schema_statements(&made).map_err(&failed)?;
    let (mut found_own, projections): (Vec<_>, Vec<_>) = found
        .iter()
        .cloned()
        .partition(|(_, _, table, _)| own.iter().any(|(_, _, ours, _)| ours == table));
    for (_, name, _, statement) in &projections {
        if let Some(statement) = statement
            && let Err(error) = made.execute_batch(statement)
        {
            return Err(corrupt(&format!(
                "the statement of {name} in its schema: {error}"
            )));
        }
    }
    let mut expected = schema_statements(&made).map_err(&failed)?;
    for entries in [&mut own, &mut found_own, &mut found, &mut expected] {
        entries.sort();
    }
    if found_own != own {
        return Err(corrupt(
            "the statements of its own tables and triggers aren't tslp's",
        ));
    }
    if found != expected {
        return Err(corrupt(
            "entries of its schema aren't what their statements make",
        ));
    }
    Ok(())
}

/// An entry of a schema: kind, name, table, statement.
type SchemaStatement = (String, String, String, Option<String>);

/// All entries, in the order in which they were made.
fn schema_statements(connection: &Connection) -> rusqlite::Result<Vec<SchemaStatement>> {
    connection
        .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid")?
        .query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?
        .collect()
}

/// Refuses a database that doesn't say of itself that it is a ledger.
pub(super) fn check_format(
    connection: &Connection,
    database: &Database,
) -> Result<(), LedgerError> {
    let failed = database.sqlite_error("read");
    let format: Option<String> = meta_value(connection, "format").map_err(&failed)?;
    if format.as_deref() != Some(FORMAT) {
        return Err(LedgerError::NotOurs {
            path: database.path.clone(),
            detail: format!("its format is {format:?}"),
        });
    }
    Ok(())
}

pub(super) fn check_meta(
    connection: &Connection,
    database: &Database,
    workspace: &Path,
) -> Result<(), LedgerError> {
    let failed = database.sqlite_error("read");
    check_format(connection, database)?;
    let found = stored_workspace(connection).map_err(&failed)?;
    if found == workspace {
        return Ok(());
    }
    if found.as_os_str().is_empty() {
        return Err(LedgerError::NotOurs {
            path: database.path.clone(),
            detail: "it names no workspace".to_owned(),
        });
    }
    let recorded = recorded_workspace(connection).map_err(&failed)?;
    if recorded.is_some_and(|recorded| recorded == workspace.to_string_lossy()) {
        return Err(other_workspace(database, &found));
    }
    Err(LedgerError::WrongWorkspace {
        path: database.path.clone(),
        found,
        expected: workspace.to_owned(),
    })
}

pub(super) fn other_workspace(database: &Database, found: &Path) -> LedgerError {
    LedgerError::Corrupt {
        path: database.path.clone(),
        detail: format!(
            "it says that it belongs to the workspace {}, and its own events name another one",
            found.display()
        ),
    }
}

/// The workspace of the rules that were recorded last, if any were.
pub(super) fn recorded_workspace(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let mut last = None;
    let (kinds, all) = ([EventKind::RulesInForce], Seq(1)..=Seq(u64::MAX));
    connection::stream_back(connection, &kinds, all, &mut |_, _, event| {
        if let Event::RulesInForce(rules) = event {
            last = Some(rules.policy.workspace_root);
        }
        ControlFlow::Break(())
    })?;
    Ok(last)
}

/// The workspace that the database says it belongs to; empty if it says nothing.
pub(crate) fn stored_workspace(connection: &Connection) -> rusqlite::Result<PathBuf> {
    let stored: Option<rusqlite::types::Value> = meta_value(connection, "workspace")?;
    Ok(match stored {
        Some(rusqlite::types::Value::Text(text)) => PathBuf::from(text),
        Some(rusqlite::types::Value::Blob(bytes)) => PathBuf::from(OsString::from_vec(bytes)),
        _ => PathBuf::new(),
    })
}

/// The workspace that the events of a ledger that was taken over name; empty if it wasn't.
pub(super) fn moved_from(connection: &Connection) -> rusqlite::Result<String> {
    let named: Option<Option<String>> = meta_value(connection, "moved_from")?;
    Ok(named.flatten().unwrap_or_default())
}
