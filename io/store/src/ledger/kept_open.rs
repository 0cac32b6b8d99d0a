//! Descriptors of database files that SQLite also has open: used to sync them, and never closed.
//!
//! A process that closes any descriptor of a file loses all of its POSIX locks on it. SQLite's would be among them, and the
//! next `sqlite3` shell would take itself for the last user and remove the WAL.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// By device and inode. One entry for each ledger that this process ever wrote to, and that is one in a life.
static FILES: Mutex<BTreeMap<(u64, u64), Arc<File>>> = Mutex::new(BTreeMap::new());

/// Makes durable what any descriptor of this process wrote to a file.
pub(super) fn sync_file(path: &Path) -> io::Result<()> {
    kept_descriptor(path)?.sync_data()
}

fn kept_descriptor(path: &Path) -> io::Result<Arc<File>> {
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let metadata = std::fs::metadata(path)?;
    let named = (metadata.dev(), metadata.ino());
    if let Some(file) = files.get(&named) {
        return Ok(Arc::clone(file));
    }
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let file = Arc::new(file);
    files.insert(named, Arc::clone(&file));
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file is opened once, and another one of the same name is opened anew.
    #[test]
    fn file_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ledger.db");
        assert!(sync_file(&path).is_err());
        std::fs::write(&path, "one").unwrap();
        let first = kept_descriptor(&path).unwrap();
        sync_file(&path).unwrap();
        assert!(Arc::ptr_eq(&first, &kept_descriptor(&path).unwrap()));
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "two").unwrap();
        assert!(!Arc::ptr_eq(&first, &kept_descriptor(&path).unwrap()));
    }
}
