//! Copies a ledger whose files were taken away while it was open: what the connection still sees, verified.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use tslp_core::ids::Seq;
use tslp_replay::fold::ChainCheck;
use tslp_replay::log::Head;

use super::anchor::Anchor;
use super::backup::copy_pages;
use super::connection::{self, Database, companion_file};
use super::data_files::RESCUED_SUFFIX;
use super::error::LedgerError;
use super::recognise::check_pages;

/// Copies what the connection still sees to a name of its own. Returns what to do with the copy, or why there is none.
pub(super) fn copy_lost_ledger(connection: &Connection, database: &Database, head: Head) -> String {
    let copy = companion_file(&database.path, RESCUED_SUFFIX);
    match copy_to(connection, database, &copy, head) {
        Ok(()) => {
            let (copy, path) = (copy.display(), database.path.display());
            format!(
                "Everything acknowledged was copied to {copy} and verified: stop tslp, remove what is left of {path} with \
                 its -wal and -shm, rename {copy} to {path} and {copy}.anchor to ledger.anchor beside it, and start it again"
            )
        }
        Err(error) => format!("What it held could not be copied either: {error}"),
    }
}

/// Copies what a connection sees, verifies it up to `head`, and gives it the copy's name.
fn copy_to(
    connection: &Connection,
    database: &Database,
    copy: &Path,
    head: Head,
) -> Result<(), LedgerError> {
    let disk = &*database.disk;
    if let Some(dir) = copy.parent() {
        disk.make_dir(dir).map_err(|source| LedgerError::DataDir {
            path: dir.to_owned(),
            source,
        })?;
    }
    // A copy that nobody has put back yet: there is no room for a second one under its name.
    if matches!(disk.bytes(copy), Ok(Some(_))) {
        return Err(LedgerError::on_file("replace", copy)(
            io::ErrorKind::AlreadyExists.into(),
        ));
    }
    let fresh = database.sibling(companion_file(copy, ".new"));
    fresh.remove_files()?;
    // SQLite would create a file that other users can read.
    disk.create(&fresh.path)
        .map_err(LedgerError::on_file("create", &fresh.path))?;
    copy_pages(connection, &fresh, Duration::ZERO, &mut |_, _| {})
        .map_err(fresh.sqlite_error("write"))?;
    // Verified after that, as the file that a user will rename: nothing is changed once it is known to be good.
    leave_wal_mode(&fresh).map_err(fresh.sqlite_error("write"))?;
    verify_copy(database, &fresh, head)?;
    let durable = disk.open(&fresh.path).and_then(|mut file| file.sync());
    durable.map_err(LedgerError::on_file("sync", &fresh.path))?;
    // The anchor first: the copy's name is what marks it as complete.
    drop(Anchor::create(
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

/// Verifies every link. A flaw of the copy is one of the ledger, so errors name the ledger.
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
    let read = connection::visit_events(&copy, Seq(1), &mut |stored| {
        flaw = chain.step(&stored).err();
        match flaw {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    });
    read.map_err(fresh.sqlite_error("read"))?;
    if let Some(flaw) = flaw {
        return Err(corrupt(flaw.to_string()));
    }
    if chain.head() != head {
        let found = chain.head().seq;
        return Err(corrupt(format!(
            "its events can be read up to {found} only"
        )));
    }
    check_pages(&copy, database)
}
