//! SQLite's locks on a database file, and the memory that its connections share in place of a `-shm` file.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

/// The size of one region, which SQLite always asks for.
const REGION_BYTES: usize = 32 * 1024;

/// The number of locks of a `-shm` file.
const SHM_LOCKS: usize = 8;

/// The identity of an open file of one connection.
pub(super) type HandleId = u64;

/// The lock that a connection holds on a database file, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LockLevel {
    #[default]
    None,
    SharedDisk,
    Reserved,
    Pending,
    Exclusive,
}

/// Another connection holds a conflicting lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Busy;

/// The locks on one database file.
#[derive(Debug, Default)]
pub(super) struct FileLocks(BTreeMap<HandleId, LockLevel>);

impl FileLocks {
    pub(super) fn lock(&mut self, handle: HandleId, level: LockLevel) -> Result<(), Busy> {
        let others = self.level_of_others(handle);
        let own = self.0.entry(handle).or_default();
        if level <= *own {
            return Ok(());
        }
        let free = match level {
            LockLevel::None | LockLevel::SharedDisk => others < LockLevel::Pending,
            LockLevel::Reserved | LockLevel::Pending => others < LockLevel::Reserved,
            LockLevel::Exclusive => {
                if others >= LockLevel::Reserved {
                    return Err(Busy);
                }
                *own = LockLevel::Pending;
                others < LockLevel::SharedDisk
            }
        };
        if !free {
            return Err(Busy);
        }
        *own = level;
        Ok(())
    }

    pub(super) fn unlock(&mut self, handle: HandleId, level: LockLevel) {
        if level == LockLevel::None {
            self.0.remove(&handle);
        } else if let Some(own) = self.0.get_mut(&handle) {
            *own = level.min(*own);
        }
    }

    pub(super) fn is_reserved(&self) -> bool {
        self.0.values().any(|level| *level >= LockLevel::Reserved)
    }

    fn level_of_others(&self, handle: HandleId) -> LockLevel {
        let others = self.0.iter().filter(|(other, _)| **other != handle);
        others.map(|(_, level)| *level).max().unwrap_or_default()
    }
}

/// The memory that all connections to one database share. Gone when the last of them unmaps it.
#[derive(Debug, Default)]
pub(super) struct SharedMemory {
    regions: Mutex<Vec<Box<[AtomicU64]>>>,
    locks: Mutex<[ShmLock; SHM_LOCKS]>,
}

#[derive(Clone, Debug, Default)]
struct ShmLock {
    shared: Vec<HandleId>,
    exclusive: Option<HandleId>,
}

/// A change of some locks of the shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShmChange {
    LockShared,
    LockExclusive,
    UnlockShared,
    UnlockExclusive,
}

impl SharedMemory {
    /// A region's memory, whose address stays the same as long as this lives.
    pub(super) fn region(self: &Arc<Self>, index: usize, extend: bool) -> Option<*mut u64> {
        let mut regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        while extend && regions.len() <= index {
            let region = (0..REGION_BYTES / 8).map(|_| AtomicU64::new(0)).collect();
            regions.push(region);
        }
        Some(regions.get(index)?.first()?.as_ptr())
    }

    pub(super) fn change_locks(
        &self,
        handle: HandleId,
        range: std::ops::Range<usize>,
        change: ShmChange,
    ) -> Result<(), Busy> {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        let locks = locks.get_mut(range).ok_or(Busy)?;
        let others_exclude = |lock: &ShmLock| lock.exclusive.is_some_and(|holder| holder != handle);
        let others_share = |lock: &ShmLock| lock.shared.iter().any(|holder| *holder != handle);
        match change {
            ShmChange::LockShared if locks.iter().any(others_exclude) => return Err(Busy),
            ShmChange::LockExclusive
                if locks
                    .iter()
                    .any(|lock| others_exclude(lock) || others_share(lock)) =>
            {
                return Err(Busy);
            }
            _ => {}
        }
        for lock in locks {
            match change {
                ShmChange::LockShared => lock.shared.push(handle),
                ShmChange::LockExclusive => lock.exclusive = Some(handle),
                ShmChange::UnlockShared => lock.shared.retain(|holder| *holder != handle),
                ShmChange::UnlockExclusive => {
                    lock.exclusive = lock.exclusive.filter(|holder| *holder != handle);
                }
            }
        }
        Ok(())
    }

    /// Releases all locks of a connection.
    pub(super) fn release_all(&self, handle: HandleId) {
        let all = 0..SHM_LOCKS;
        for change in [ShmChange::UnlockShared, ShmChange::UnlockExclusive] {
            // Unlocking never conflicts.
            let _ = self.change_locks(handle, all.clone(), change);
        }
    }
}
