//! A file's identity without reading it: which file it is, its length, and its times.

use rustix::fs::{FileType, Stat};
use tslp_core::ids::UnixMillis;

/// A file younger than this when it was read may have been changed again without a newer time. FAT counts
/// modifications in steps of 2 s, HFS+ and ext3 in steps of 1 s; Linux ticks every 1 to 10 ms elsewhere.
pub(super) const CLOCK_GRANULARITY_MILLIS: i64 = 2000;

/// A file's device, inode, length and times. Every change of its content changes at least one of them, unless it falls within
/// the clock's granularity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    device: i128,
    inode: i128,
    size: i128,
    modified_nanos: i128,
    changed_nanos: i128,
}

/// A file's times of change, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeTimes {
    /// Its content, as the program that wrote it says.
    pub modified_nanos: i128,
    /// Anything about it, as the file system says.
    pub changed_nanos: i128,
}

impl Identity {
    /// The identity of a file in memory.
    #[must_use]
    pub fn new(inode: u64, bytes: usize, times: ChangeTimes) -> Self {
        Self {
            device: 0,
            inode: i128::from(inode),
            size: i128::try_from(bytes).unwrap_or(i128::MAX),
            modified_nanos: times.modified_nanos,
            changed_nanos: times.changed_nanos,
        }
    }

    pub(super) fn of_stat(stat: &Stat) -> Self {
        let nanos = |seconds: i128, nanos: i128| seconds * 1_000_000_000 + nanos;
        Self {
            device: i128::from(stat.st_dev),
            inode: i128::from(stat.st_ino),
            size: i128::from(stat.st_size),
            modified_nanos: nanos(i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec)),
            changed_nanos: nanos(i128::from(stat.st_ctime), i128::from(stat.st_ctime_nsec)),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        usize::try_from(self.size).unwrap_or(0)
    }

    /// Whether the file is this long.
    pub(super) fn has_size(&self, bytes: usize) -> bool {
        i128::try_from(bytes).is_ok_and(|bytes| bytes == self.size)
    }

    /// Whether the file is longer than this.
    pub(super) fn exceeds(&self, bytes_max: u64) -> bool {
        self.size > i128::from(bytes_max)
    }

    /// When it was changed last: programs may set the one time, and the file system the other.
    pub(super) fn changed_at(&self) -> UnixMillis {
        let newest = self.modified_nanos.max(self.changed_nanos) / 1_000_000;
        UnixMillis(i64::try_from(newest).unwrap_or_default())
    }

    /// Whether a change made after `read_at` must show in the times. A time in the future never does.
    pub(super) fn settled_at(&self, read_at: UnixMillis) -> bool {
        let newest = self.modified_nanos.max(self.changed_nanos);
        let age = i128::from(read_at.0) * 1_000_000 - newest;
        age > i128::from(CLOCK_GRANULARITY_MILLIS) * 1_000_000
    }
}

/// Whether these are the same file or folder, however much it changed.
pub(super) fn same_inode(a: &Stat, b: &Stat) -> bool {
    a.st_dev == b.st_dev && a.st_ino == b.st_ino
}

/// Whether it is neither a folder nor a link, FIFO, socket or device.
pub(super) fn is_regular(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}
