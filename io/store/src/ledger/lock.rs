//! The lock file of a data directory: one process writes, and a second one learns which.

use std::any::Any;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::error::LedgerError;

/// An exclusive lock on a data directory; given back when dropped, also when the process dies.
pub struct DataDirLock {
    _held: Box<dyn Any + Send + Sync>,
}

impl std::fmt::Debug for DataDirLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DataDirLock")
    }
}

impl DataDirLock {
    /// A lock that is held as long as this value lives.
    pub fn held_by(held: impl Any + Send + Sync) -> Self {
        Self {
            _held: Box::new(held),
        }
    }

    /// Takes the lock, without waiting for it.
    ///
    /// # Errors
    /// [`LedgerError::InUse`] when another process holds it.
    pub fn acquire(path: &Path) -> Result<Self, LedgerError> {
        let failed = |action| LedgerError::on_file(action, path);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(failed("open"))?;
        // The kernel's lock decides, not the file's existence or its pid: those outlive a process that was killed.
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LedgerError::InUse {
                    path: path.parent().unwrap_or(path).to_owned(),
                    pid: holder_pid(&mut file),
                });
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock")(error)),
        }
        // Written before truncated, so that a file with a pid in it never lacks one again.
        let pid = format!("{}\n", std::process::id());
        file.write_all(pid.as_bytes())
            .and_then(|()| file.set_len(pid.len() as u64))
            .map_err(failed("write"))?;
        Ok(Self::held_by(file))
    }
}

/// The pid that the holder left in the file.
fn holder_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    // More than any pid has: the file may be anybody's.
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
