//! The simulated disk as the ledger's own code uses it; SQLite goes through the VFS.

use std::io;
use std::path::{Path, PathBuf};

use tslp_store::ledger::LedgerError;
use tslp_store::ledger::disk::{Disk, Medium};
use tslp_store::ledger::lock::DataDirLock;

use super::disk_state::{DiskFailure, OpenedFile};
use super::sim_disk::SimDisk;

/// The error with Linux's number, so that it reads as on Linux.
fn io_error(failure: DiskFailure) -> io::Error {
    const ENOENT: i32 = 2;
    const EIO: i32 = 5;
    const ENOSPC: i32 = 28;
    io::Error::from_raw_os_error(match failure {
        DiskFailure::Io => EIO,
        DiskFailure::Full => ENOSPC,
        DiskFailure::Missing => ENOENT,
    })
}

struct OpenFile {
    disk: SimDisk,
    opened: OpenedFile,
    path: PathBuf,
}

impl Medium for OpenFile {
    fn read_at(&mut self, offset: usize, bytes_max: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; bytes_max];
        let read = self
            .disk
            .state()
            .read(self.opened, &self.path, offset, &mut bytes);
        bytes.truncate(read.map_err(io_error)?);
        Ok(bytes)
    }

    fn write_at(&mut self, offset: usize, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.disk.state();
        state
            .write(self.opened, &self.path, offset, bytes)
            .map_err(io_error)
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.state();
        state.sync(self.opened, &self.path).map_err(io_error)
    }
}

/// The lock of a data directory, released when dropped unless a power loss has released it.
struct HeldLock {
    disk: SimDisk,
    file: PathBuf,
    boot: u64,
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        let mut state = self.disk.state();
        if state.directory_locks.get(&self.file) == Some(&self.boot) {
            state.directory_locks.remove(&self.file);
        }
    }
}

impl SimDisk {
    fn open_file(&self, path: &Path, create: bool) -> io::Result<OpenFile> {
        let (opened, _) = self.state().open(path, create).map_err(io_error)?;
        Ok(OpenFile {
            disk: self.clone(),
            opened,
            path: path.to_owned(),
        })
    }
}

impl Disk for SimDisk {
    fn vfs(&self) -> Option<&str> {
        Some(self.0.slot.name())
    }

    /// Every directory exists, and its name is durable.
    fn make_dir(&self, dir: &Path) -> io::Result<()> {
        self.state().size(dir).map(drop).map_err(io_error)
    }

    fn bytes(&self, file: &Path) -> io::Result<Option<u64>> {
        let size = self.state().size(file).map_err(io_error)?;
        Ok(size.map(|size| size as u64))
    }

    fn read(&self, file: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
        self.open_file(file, false)?.read(bytes_max)
    }

    fn open(&self, file: &Path) -> io::Result<Box<dyn Medium>> {
        Ok(Box::new(self.open_file(file, false)?))
    }

    fn create(&self, file: &Path) -> io::Result<Box<dyn Medium>> {
        let opened = self.open_file(file, true)?;
        self.state()
            .resize(opened.opened, file, 0)
            .map_err(io_error)?;
        Ok(Box::new(opened))
    }

    fn make_private(&self, file: &Path) -> io::Result<()> {
        self.state().size(file).map(drop).map_err(io_error)
    }

    fn remove(&self, file: &Path) -> io::Result<()> {
        match self.state().remove(file) {
            Ok(()) | Err(DiskFailure::Missing) => Ok(()),
            Err(failure) => Err(io_error(failure)),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.state().rename(from, to).map_err(io_error)
    }

    fn sync_name(&self, file: &Path) -> io::Result<()> {
        self.state().sync_name(file).map_err(io_error)
    }

    fn lock(&self, file: &Path) -> Result<DataDirLock, LedgerError> {
        let mut state = self.state();
        state.size(file).map_err(|failure| LedgerError::File {
            action: "lock",
            path: file.to_owned(),
            source: io_error(failure),
        })?;
        let boot = state.boot;
        if state.directory_locks.contains_key(file) {
            return Err(LedgerError::InUse {
                path: file.parent().unwrap_or(file).to_owned(),
                pid: None,
            });
        }
        state.directory_locks.insert(file.to_owned(), boot);
        Ok(DataDirLock::held_by(HeldLock {
            disk: self.clone(),
            file: file.to_owned(),
            boot,
        }))
    }
}
