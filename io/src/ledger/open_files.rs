//! Whether the files that the writer has open still have their names, and a copy of what they hold if they haven't.
//!
//! A deleted file can be written to until it is closed: nothing fails, and nothing of it is there at the next start.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tslp_replay::log::Head;

use super::connection::{Database, beside};
use super::disk::FileIdentity;
use super::error::LedgerError;
use super::migrate::{at, copy_of_connection};

/// The database and its WAL, as they were when they were opened.
#[derive(Debug)]
pub(super) struct OpenFiles {
    database: File,
    wal: File,
}

#[derive(Debug)]
struct File {
    path: PathBuf,
    /// `None` until it is there: SQLite makes the WAL when it is needed.
    known: Option<FileIdentity>,
}

impl OpenFiles {
    pub(super) fn of(database: &Database) -> Self {
        let file = |path: PathBuf| File {
            known: database.disk.identity(&path).ok(),
            path,
        };
        Self {
            database: file(database.path.clone()),
            wal: file(beside(&database.path, "-wal")),
        }
    }

    /// The writer itself has cut the WAL, as it does once all of it was moved.
    pub(super) const fn wal_was_cut(&mut self) {
        if let Some(known) = &mut self.wal.known {
            known.bytes = 0;
        }
    }

    /// Looks at the names of both. What is durable up to `head` is copied if one of them has another file, or none.
    ///
    /// # Errors
    /// [`LedgerError::TakenAway`]
    pub(super) fn check(
        &mut self,
        connection: &Connection,
        database: &Database,
        head: Head,
    ) -> Result<(), LedgerError> {
        for file in [&mut self.database, &mut self.wal] {
            if let Some(change) = file.change(database) {
                return Err(LedgerError::TakenAway {
                    path: file.path.clone(),
                    change,
                    rescued: rescue(connection, database, head),
                });
            }
        }
        Ok(())
    }
}

impl File {
    /// What became of it, if anything did.
    fn change(&mut self, database: &Database) -> Option<&'static str> {
        let found = match database.disk.identity(&self.path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return self.known.map(|_| "was deleted or renamed");
            }
            // Who can't look can't say that it is gone.
            Err(_) => return None,
        };
        let known = self.known.replace(found)?;
        if (known.device, known.inode) != (found.device, found.inode) {
            return Some("was replaced by another file");
        }
        (found.bytes < known.bytes).then_some("was cut short")
    }
}

/// Copies what the connection still sees to a name of its own: what to do with it, or why there is none.
fn rescue(connection: &Connection, database: &Database, head: Head) -> String {
    let copy = beside(&database.path, &format!(".rescued-{}", head.seq.0));
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

fn copy_to(
    connection: &Connection,
    database: &Database,
    copy: &Path,
    head: Head,
) -> Result<(), LedgerError> {
    if let Some(dir) = copy.parent() {
        let made = database.disk.make_dir(dir);
        made.map_err(|source| LedgerError::DataDir {
            path: dir.to_owned(),
            source,
        })?;
    }
    let fresh = at(database, &beside(copy, ".new"));
    copy_of_connection(connection, database, &fresh, copy, head)
}
