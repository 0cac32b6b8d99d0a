//! The disk under a data directory: the file system, or a simulated one that fails when a test says so.

use std::fmt::Debug;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::error::LedgerError;
use super::lock::DataDirLock;

/// Everything that the ledger does with files, except what SQLite does through its own layer, [`vfs`](Self::vfs).
///
/// A name that was created, renamed or removed is durable after [`sync_name`](Self::sync_name), a file's bytes are after
/// [`Medium::sync`].
pub trait Disk: Debug + Send + Sync {
    /// The registered SQLite VFS that reaches the same files; `None` for SQLite's default.
    fn vfs(&self) -> Option<&str>;

    /// Makes a directory and those above it, for this user alone, and their names durable.
    ///
    /// # Errors
    /// When it can't be made or isn't a directory.
    fn make_dir(&self, dir: &Path) -> io::Result<()>;

    /// A file's size; `None` if there is none.
    ///
    /// # Errors
    /// When it can't be looked at.
    fn bytes(&self, file: &Path) -> io::Result<Option<u64>>;

    /// The identity of the file with this name, which distinguishes it from one that replaced it. Constant on disks without identities.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when none has it, and others when it can't be looked at.
    fn identity(&self, _file: &Path) -> io::Result<FileIdentity> {
        Ok(FileIdentity::default())
    }

    /// A file's first bytes.
    ///
    /// # Errors
    /// When they can't be read.
    fn read(&self, file: &Path, bytes_max: usize) -> io::Result<Vec<u8>>;

    /// Opens a file to read it and to write in place.
    ///
    /// # Errors
    /// When it is missing, or either isn't allowed.
    fn open(&self, file: &Path) -> io::Result<Box<dyn Medium>>;

    /// Creates an empty file for this user alone, replacing an existing one.
    ///
    /// # Errors
    /// When it can't be made.
    fn create(&self, file: &Path) -> io::Result<Box<dyn Medium>>;

    /// Removes other users' permissions on a file.
    ///
    /// # Errors
    /// When they can't be removed.
    fn make_private(&self, file: &Path) -> io::Result<()>;

    /// Removes a file, if it is there.
    ///
    /// # Errors
    /// When it is still there.
    fn remove(&self, file: &Path) -> io::Result<()>;

    /// Renames a file; a file that had the new name is replaced.
    ///
    /// # Errors
    /// When nothing was changed.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes a file's name durable.
    ///
    /// # Errors
    /// When it may not be.
    fn sync_name(&self, file: &Path) -> io::Result<()>;

    /// Takes a data directory's lock, without waiting for it.
    ///
    /// # Errors
    /// [`LedgerError::InUse`] when another process holds it.
    fn lock(&self, file: &Path) -> Result<DataDirLock, LedgerError>;
}

/// The identity of a file, independent of its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileIdentity {
    /// The device that it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// A file that is read in pieces and written in place.
pub trait Medium: Send {
    /// Bytes from a position on; fewer only at the file's end.
    ///
    /// # Errors
    /// When they can't be read.
    fn read_at(&mut self, offset: usize, bytes_max: usize) -> io::Result<Vec<u8>>;

    /// The first bytes.
    ///
    /// # Errors
    /// When they can't be read.
    fn read(&mut self, bytes_max: usize) -> io::Result<Vec<u8>> {
        self.read_at(0, bytes_max)
    }

    /// Writes in place.
    ///
    /// # Errors
    /// When not everything could be written.
    fn write_at(&mut self, offset: usize, bytes: &[u8]) -> io::Result<()>;

    /// Waits until everything written is on disk.
    ///
    /// # Errors
    /// When it may not be.
    fn sync(&mut self) -> io::Result<()>;
}

impl Medium for File {
    fn read_at(&mut self, offset: usize, bytes_max: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; bytes_max];
        let mut filled = 0;
        while filled < bytes.len() {
            match FileExt::read_at(self, &mut bytes[filled..], (offset + filled) as u64)? {
                0 => break,
                count => filled += count,
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    fn write_at(&mut self, offset: usize, bytes: &[u8]) -> io::Result<()> {
        self.write_all_at(bytes, offset as u64)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// The operating system's file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

impl Disk for FileSystem {
    fn vfs(&self) -> Option<&str> {
        None
    }

    fn make_dir(&self, dir: &Path) -> io::Result<()> {
        let made: Vec<&Path> = dir.ancestors().take_while(|path| !path.exists()).collect();
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        restrict_to_user(dir, 0o700)?;
        made.into_iter()
            .filter(|path| !path.as_os_str().is_empty())
            .try_for_each(sync_parent)
    }

    fn bytes(&self, file: &Path) -> io::Result<Option<u64>> {
        match std::fs::metadata(file) {
            Ok(metadata) => Ok(Some(metadata.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn identity(&self, file: &Path) -> io::Result<FileIdentity> {
        let metadata = std::fs::metadata(file)?;
        Ok(FileIdentity {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
        })
    }

    fn read(&self, file: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(file)?
            .take(bytes_max as u64)
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn open(&self, file: &Path) -> io::Result<Box<dyn Medium>> {
        let file = OpenOptions::new().read(true).write(true).open(file)?;
        Ok(Box::new(file))
    }

    fn create(&self, file: &Path) -> io::Result<Box<dyn Medium>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(file)?;
        Ok(Box::new(file))
    }

    fn make_private(&self, file: &Path) -> io::Result<()> {
        restrict_to_user(file, 0o600)
    }

    fn remove(&self, file: &Path) -> io::Result<()> {
        match std::fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn sync_name(&self, file: &Path) -> io::Result<()> {
        sync_parent(file)
    }

    fn lock(&self, file: &Path) -> Result<DataDirLock, LedgerError> {
        DataDirLock::acquire(file)
    }
}

/// Makes a new or renamed file's name durable.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => File::open(".")?.sync_all(),
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

/// Removes other users' permissions.
fn restrict_to_user(path: &Path, mode: u32) -> io::Result<()> {
    let found = std::fs::metadata(path)?.permissions().mode();
    if found & 0o077 == 0 {
        return Ok(());
    }
    std::fs::set_permissions(path, Permissions::from_mode(mode))
}
