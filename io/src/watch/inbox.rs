//! What waits for the watch: folders to follow, from the engine, and paths that events were about, from the system. Sets
//! instead of queues, so that nothing is dropped and nobody waits.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tslp_core::path::RelPath;

/// Paths of events that may wait. With more, all that is followed counts as touched.
const TOUCHED_MAX: usize = 16_384;

/// Folders that are taken at one time, so that events are heard between.
const TAKEN_MAX: usize = 1024;

/// Shared by the engine, the system's events and the watch.
#[derive(Debug, Default)]
pub(super) struct Inbox(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    folders: BTreeSet<Box<str>>,
    heard: Heard,
}

/// What the system's events were about.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Files and folders, in full.
    pub(super) touched: BTreeSet<PathBuf>,
    /// Whether events were lost.
    pub(super) lost: bool,
}

impl Inbox {
    /// The file's folder is to be followed.
    pub(super) fn follow(&self, file: &RelPath) {
        let folder = folder_of(file.as_str());
        let mut waiting = self.lock();
        if !waiting.folders.contains(folder) {
            waiting.folders.insert(folder.into());
        }
    }

    /// Some of the folders to follow; none if there are no more.
    pub(super) fn take_folders(&self) -> Vec<Box<str>> {
        let folders = &mut self.lock().folders;
        let first = std::iter::from_fn(|| folders.pop_first());
        first.take(TAKEN_MAX).collect()
    }

    /// An event was about this.
    pub(super) fn touch(&self, path: PathBuf) {
        let heard = &mut self.lock().heard;
        if heard.touched.len() < TOUCHED_MAX {
            heard.touched.insert(path);
        } else {
            heard.lost = true;
        }
    }

    /// The system dropped events.
    pub(super) fn lose(&self) {
        self.lock().heard.lost = true;
    }

    /// All that was heard since the last time.
    pub(super) fn take_heard(&self) -> Heard {
        std::mem::take(&mut self.lock().heard)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folder of a file, both relative to the workspace; empty for the workspace itself.
pub(super) fn folder_of(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}
