//! The observed files, beneath the workspace's root or in memory, and an observer without a thread.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use rustix::io::Errno;
use tslp_core::decide::direct::FileText;
use tslp_core::event::{DiskFinding, ReadFailure};
use tslp_core::extract::Grammars;
use tslp_core::path::RelPath;

use super::WorkspaceObserver;
use super::beneath::{WorkspaceRoot, read_failure};
use super::clock::WallClock;
use super::examine::ObserverShared;
use super::identity::{Identity, is_regular};
use crate::config::settings::EtvConfig;
use tslp_replay::pending::DiskCheck;

/// Files by path.
pub trait Files {
    /// The identity of the file at the path, in one call; only for recognising a file that was opened before.
    fn identity(&self, path: &RelPath) -> Option<Identity>;

    /// Opens a regular file for reading; `None` if there is nothing.
    ///
    /// # Errors
    /// The reason why the file can't be read.
    fn open(&self, path: &RelPath) -> Result<Option<Box<dyn OpenFile>>, ReadFailure>;
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

/// An observer on the caller's own thread, for files that never block.
pub struct DirectObserver<F> {
    files: F,
    shared: ObserverShared,
}

impl<F: Files> DirectObserver<F> {
    /// An observer with an empty cache.
    #[must_use]
    pub fn new(
        files: F,
        config: EtvConfig,
        grammars: Arc<dyn Grammars + Send + Sync>,
        clock: Arc<dyn WallClock>,
    ) -> Self {
        Self {
            files,
            shared: ObserverShared::new(config, grammars, clock),
        }
    }
}

impl<F: Files> WorkspaceObserver for DirectObserver<F> {
    fn check(&mut self, checks: Vec<DiskCheck>) -> Vec<DiskFinding> {
        let findings = checks.iter();
        findings
            .map(|check| self.shared.examine(&self.files, check))
            .collect()
    }

    fn read(&mut self, path: &RelPath) -> FileText {
        self.shared.file_text(&self.files, path).transpose()
    }

    fn touch(&mut self, path: &RelPath) -> Option<String> {
        self.shared.touched_text(&self.files, path)
    }
}
