//! The observed files, beneath the workspace's root or in memory.

use std::fs::File;
use std::io::Read;

use rustix::io::Errno;
use tslp_core::event::ReadFailure;
use tslp_core::path::RelPath;
use tslp_decide::scope::place::PlaceFinding;

use super::beneath::{WorkspaceRoot, read_failure};
use super::identity::{Identity, is_regular};

/// Files by path.
pub trait Files {
    /// The identity of the file at the path, in one call; only for recognising a file that was opened before.
    fn identity(&self, path: &RelPath) -> Option<Identity>;

    /// Opens a regular file for reading; `None` if there is nothing.
    ///
    /// # Errors
    /// The reason why the file can't be read.
    fn open(&self, path: &RelPath) -> Result<Option<Box<dyn OpenFile>>, ReadFailure>;

    /// Where an absolute path leads; `None` if that can't be told.
    fn place(&self, written: &str) -> Option<PlaceFinding> {
        let _ = written;
        None
    }
}

/// A file that is being read.
pub trait OpenFile {
    /// Its identity now.
    ///
    /// # Errors
    /// If it is no regular file, or the file system fails.
    fn identity(&self) -> Result<Identity, ReadFailure>;

    /// Its bytes from the first on, no more than so many; asked for once.
    ///
    /// # Errors
    /// If the file system fails.
    fn read(&mut self, expected: usize, bytes_max: u64) -> Result<Vec<u8>, ReadFailure>;
}

impl Files for WorkspaceRoot {
    fn identity(&self, path: &RelPath) -> Option<Identity> {
        self.stat(path).map(|stat| Identity::of_stat(&stat))
    }

    fn open(&self, path: &RelPath) -> Result<Option<Box<dyn OpenFile>>, ReadFailure> {
        let file = self.open_file(path)?;
        Ok(file.map(|file| Box::new(file) as Box<dyn OpenFile>))
    }
}

impl OpenFile for File {
    fn identity(&self) -> Result<Identity, ReadFailure> {
        let stat = rustix::fs::fstat(self).map_err(read_failure)?;
        if is_regular(&stat) {
            Ok(Identity::of_stat(&stat))
        } else {
            Err(ReadFailure::NotAFile)
        }
    }

    fn read(&mut self, expected: usize, bytes_max: u64) -> Result<Vec<u8>, ReadFailure> {
        let mut bytes = Vec::with_capacity(expected + 1);
        Read::by_ref(self)
            .take(bytes_max)
            .read_to_end(&mut bytes)
            .map_err(|error| {
                Errno::from_io_error(&error).map_or(ReadFailure::Failed, read_failure)
            })?;
        Ok(bytes)
    }
}
