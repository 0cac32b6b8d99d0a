//! The files of a data directory, by their names.

use std::path::{Path, PathBuf};

/// The name of the file that says why the tables must be compared with all events before they are trusted.
pub(super) const DOUBT_FILE: &str = "ledger.doubt";

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
}
