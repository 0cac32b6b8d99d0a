//! Reads whole files beneath the workspace root, and hashes them as the ledger does.

use std::path::Path;
use std::sync::Arc;

use tslp_core::entity::Symbol;
use tslp_core::event::{DiskFile, ReadFailure};
use tslp_core::extract::{Extraction, Grammars};
use tslp_core::hash::ArtifactHash;
use tslp_core::path::RelPath;

use super::SystemClock;
use super::beneath::WorkspaceRoot;
use super::etv_config::EtvConfig;
use super::examine::ObserverShared;
use super::fingerprint::Fingerprint;

/// Reads files as the observer does: only beneath the root, only regular ones, and only consistently. Waits for the file system
/// without a limit.
pub struct FileReader {
    root: WorkspaceRoot,
    shared: ObserverShared,
}

impl FileReader {
    /// A reader of the files beneath `root`, an absolute path.
    ///
    /// # Errors
    /// If the root can't be opened.
    pub fn open(
        root: &Path,
        config: EtvConfig,
        grammars: Arc<dyn Grammars + Send + Sync>,
    ) -> Result<Self, ReadFailure> {
        Ok(Self {
            root: WorkspaceRoot::open(root)?,
            shared: ObserverShared::new(config, grammars, Arc::new(SystemClock)),
        })
    }

    /// The file's bytes; `None` if there is no such file.
    ///
    /// # Errors
    /// The reason why it can't be read.
    pub fn read(&self, path: &RelPath) -> Result<Option<Vec<u8>>, ReadFailure> {
        self.shared.file_bytes(&self.root, path)
    }
}

/// Hashes of a file's content, from which an observation of any symbols can be made later.
#[derive(Debug)]
pub struct ContentHashes(Fingerprint);

impl ContentHashes {
    /// Hashes the whole and each definition.
    #[must_use]
    pub fn of(bytes: &[u8], extraction: Option<&Extraction>) -> Self {
        Self(Fingerprint::of(ArtifactHash::of(bytes), bytes, extraction))
    }

    /// The number of hashed definitions.
    #[must_use]
    pub fn definition_count(&self) -> usize {
        self.0.slice_count()
    }

    /// The observation of the file with these symbols.
    #[must_use]
    pub fn disk_file(&self, symbols: &[Symbol]) -> DiskFile {
        let known = self.0.disk_file(symbols);
        known.expect("who has parsed a file can tell of every symbol")
    }
}
