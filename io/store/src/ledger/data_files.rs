//! The files of a data directory, by their names.

use std::path::{Path, PathBuf};

use super::connection::companion_file;
use super::error::LedgerError;

/// The name of the file that says why the tables must be compared with all events before they are trusted.
pub(super) const DOUBT_FILE: &str = "ledger.doubt";

/// The end of the name of a copy that was rescued: a fixed one, by which the next start finds it.
pub(super) const RESCUED_SUFFIX: &str = ".rescued";

/// The files of a data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFiles {
    /// The directory.
    pub dir: PathBuf,
    /// The database.
    pub database: PathBuf,
    /// The head anchor.
    pub anchor: PathBuf,
    /// The reason why the next start compares the tables with all events; normally missing.
    pub doubt: PathBuf,
    /// The lock.
    pub lock: PathBuf,
}

impl DataFiles {
    /// Names the files; touches none.
    #[must_use]
    pub fn of(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            database: dir.join("ledger.db"),
            anchor: dir.join("ledger.anchor"),
            doubt: dir.join(DOUBT_FILE),
            lock: dir.join("lock"),
        }
    }

    /// The copy that a running proxy rescued when its database was taken away.
    #[must_use]
    pub fn rescued(&self) -> PathBuf {
        companion_file(&self.database, RESCUED_SUFFIX)
    }

    /// Says that a copy has to be put back first.
    #[must_use]
    pub fn copy_waits(&self) -> LedgerError {
        LedgerError::CopyWaits {
            path: self.database.clone(),
            copy: self.rescued(),
            anchor: self.anchor.clone(),
        }
    }
}
