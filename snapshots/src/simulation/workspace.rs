//! The simulated workspace: files that editors write, as the observer sees them.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tslp_core::event::ReadFailure;
use tslp_core::path::RelPath;
use tslp_decide::scope::place::PlaceFinding;
use tslp_workspace::observer::{ChangeTimes, Files, Identity, OpenFile, WallClock as _};

use super::clock::SimClock;
use crate::disk::{Disk, DiskEntry};

/// Files by path. Clones are the same files.
#[derive(Clone)]
pub(super) struct Workspace(Arc<Mutex<WorkspaceState>>);

struct WorkspaceState {
    clock: SimClock,
    /// The step of the file system's clock in milliseconds.
    granularity_millis: i64,
    entries: BTreeMap<RelPath, WorkspaceEntry>,
    inodes: u64,
}

#[derive(Clone)]
struct WorkspaceEntry {
    what: EntryContent,
    inode: u64,
    times: ChangeTimes,
    /// The number of reads during which the file will change.
    changing_reads: u32,
}

#[derive(Clone)]
enum EntryContent {
    Text(String),
    Denied,
}

/// How an editor writes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteManner {
    /// Over the old bytes.
    InPlace,
    /// As a new file, which is renamed over the old one.
    Renamed,
    /// With an old time of modification, as version control and archives do.
    Backdated,
}

impl Workspace {
    /// A workspace without files, whose times are multiples of `granularity_millis`.
    #[must_use]
    pub(super) fn new(clock: SimClock, granularity_millis: i64) -> Self {
        Self(Arc::new(Mutex::new(WorkspaceState {
            clock,
            granularity_millis,
            entries: BTreeMap::new(),
            inodes: 1,
        })))
    }

    /// Writes a file as an editor does.
    pub(super) fn write(&self, path: &RelPath, text: &str, writing: WriteManner) {
        self.state()
            .put(path, EntryContent::Text(text.to_owned()), writing);
    }

    /// Makes a file unreadable.
    pub(super) fn lock(&self, path: &RelPath) {
        self.state()
            .put(path, EntryContent::Denied, WriteManner::InPlace);
    }

    /// Deletes a file.
    pub(super) fn delete(&self, path: &RelPath) {
        self.state().entries.remove(path);
    }

    /// A file will change during each of the next `reads` reads.
    pub(super) fn change_during_reads(&self, path: &RelPath, reads: u32) {
        if let Some(entry) = self.state().entries.get_mut(path) {
            entry.changing_reads = reads;
        }
    }

    /// Whether nothing is at a path.
    #[must_use]
    pub(super) fn is_missing(&self, path: &RelPath) -> bool {
        !self.state().entries.contains_key(path)
    }

    /// The files as they are, for the witness.
    #[must_use]
    pub(super) fn snapshot(&self) -> Rc<Disk> {
        let mut disk = Disk::default();
        for (path, entry) in &self.state().entries {
            let place = match &entry.what {
                EntryContent::Text(text) => DiskEntry::File(text.clone()),
                EntryContent::Denied => DiskEntry::Locked,
            };
            disk.put(path.clone(), place);
        }
        Rc::new(disk)
    }

    fn state(&self) -> MutexGuard<'_, WorkspaceState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkspaceState {
    fn put(&mut self, path: &RelPath, what: EntryContent, writing: WriteManner) {
        let now = self.clock.now().0;
        let now = now - now.rem_euclid(self.granularity_millis);
        let now = i128::from(now) * 1_000_000;
        let old = self.entries.get(path);
        let inode = match old {
            Some(old) if writing != WriteManner::Renamed => old.inode,
            _ => {
                self.inodes += 1;
                self.inodes
            }
        };
        let modified_nanos = match (writing, old) {
            (WriteManner::Backdated, Some(old)) => old.times.modified_nanos,
            (WriteManner::Backdated, None) => 0,
            _ => now,
        };
        let entry = WorkspaceEntry {
            what,
            inode,
            times: ChangeTimes {
                modified_nanos,
                changed_nanos: now,
            },
            changing_reads: 0,
        };
        self.entries.insert(path.clone(), entry);
    }
}

impl WorkspaceEntry {
    fn identity(&self) -> Identity {
        let bytes = match &self.what {
            EntryContent::Text(text) => text.len(),
            EntryContent::Denied => 0,
        };
        Identity::new(self.inode, bytes, self.times)
    }
}

impl Files for Workspace {
    fn identity(&self, path: &RelPath) -> Option<Identity> {
        self.state().entries.get(path).map(WorkspaceEntry::identity)
    }

    fn place(&self, written: &str) -> Option<PlaceFinding> {
        Some(self.snapshot().place(written))
    }

    fn open(&self, path: &RelPath) -> Result<Option<Box<dyn OpenFile>>, ReadFailure> {
        let Some(entry) = self.state().entries.get(path).cloned() else {
            return Ok(None);
        };
        if matches!(entry.what, EntryContent::Denied) {
            return Err(ReadFailure::Denied);
        }
        Ok(Some(Box::new(OpenReading {
            workspace: self.clone(),
            path: path.clone(),
            entry,
        })))
    }
}

/// A file that is being read.
struct OpenReading {
    workspace: Workspace,
    path: RelPath,
    entry: WorkspaceEntry,
}

impl OpenFile for OpenReading {
    fn identity(&self) -> Result<Identity, ReadFailure> {
        Ok(self.entry.identity())
    }

    fn read(&mut self, _expected: usize, bytes_max: u64) -> Result<Vec<u8>, ReadFailure> {
        let EntryContent::Text(text) = &self.entry.what else {
            return Err(ReadFailure::Denied);
        };
        let mut bytes = text.clone().into_bytes();
        bytes.truncate(usize::try_from(bytes_max).unwrap_or(usize::MAX));
        let mut state = self.workspace.state();
        let Some(entry) = state.entries.get_mut(&self.path) else {
            return Ok(bytes);
        };
        if entry.changing_reads > 0 {
            // An editor is writing it: half of it is there, and its time is newer afterwards.
            entry.changing_reads -= 1;
            bytes.truncate(bytes.len() / 2);
            self.entry.times.changed_nanos += 1;
        }
        Ok(bytes)
    }
}
