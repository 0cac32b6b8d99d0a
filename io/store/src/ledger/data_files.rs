//! The files of a data directory, by their names.

use std::path::{Path, PathBuf};

/// The files of a data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFiles {
    /// The directory.
    pub dir: PathBuf,
    /// The database.
    pub database: PathBuf,
    /// The head anchor.
    pub anchor: PathBuf,
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
            lock: dir.join("lock"),
        }
    }
}
