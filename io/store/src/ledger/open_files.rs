//! Checks that the files which the writer has open still have their names.
//!
//! A deleted file can be written to until it is closed: nothing fails, and at the next start all of it is gone.

use std::io::ErrorKind;
use std::path::PathBuf;

use super::anchor::Anchor;
use super::connection::{Database, companion_file};
use super::disk::FileIdentity;
use super::error::LedgerError;

/// The database, its WAL and the anchor, as they were when they were opened.
#[derive(Debug)]
pub(super) struct OpenFiles {
    database: NamedFile,
    wal: NamedFile,
    anchor: NamedFile,
}

#[derive(Debug)]
struct NamedFile {
    path: PathBuf,
    /// `None` until it exists: SQLite creates the WAL when it is needed.
    known: Option<FileIdentity>,
}

impl OpenFiles {
    pub(super) fn of_log(database: &Database, anchor: &Anchor) -> Self {
        let file = |path: PathBuf| NamedFile {
            known: database.disk.identity(&path).ok(),
            path,
        };
        Self {
            database: file(database.path.clone()),
            wal: file(companion_file(&database.path, "-wal")),
            anchor: file(anchor.path().to_owned()),
        }
    }

    /// Records that the writer itself has truncated the WAL, which isn't an interference.
    pub(super) const fn wal_was_cut(&mut self) {
        if let Some(known) = &mut self.wal.known {
            known.bytes = 0;
        }
    }

    /// Checks that none of the names has another file, or none.
    ///
    /// # Errors
    /// [`LedgerError::TakenAway`]
    pub(super) fn check_names(&mut self, database: &Database) -> Result<(), LedgerError> {
        for file in [&mut self.database, &mut self.wal, &mut self.anchor] {
            if let Some(change) = file.name_change(database) {
                return Err(LedgerError::TakenAway {
                    path: file.path.clone(),
                    change,
                });
            }
        }
        Ok(())
    }
}

impl NamedFile {
    /// The change of the file's name, if there is one.
    fn name_change(&mut self, database: &Database) -> Option<&'static str> {
        let found = match database.disk.identity(&self.path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return self.known.map(|_| "was deleted or renamed");
            }
            // If the name can't be looked up, the file isn't known to be gone.
            Err(_) => return None,
        };
        // The first sight of the WAL, which SQLite creates with the first write, is nothing to compare with.
        let known = self.known.replace(found)?;
        if (known.device, known.inode) != (found.device, found.inode) {
            return Some("was replaced by another file");
        }
        (found.bytes < known.bytes).then_some("was cut short")
    }
}
