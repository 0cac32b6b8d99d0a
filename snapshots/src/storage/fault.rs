//! Faults of a disk's operations, and when they occur.

use std::path::{Path, PathBuf};

use super::power_loss::PowerLoss;

/// An operation of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Opening a file, or making it.
    Open,
    /// Reading bytes.
    Read,
    /// Writing bytes in place or at the end.
    Write,
    /// Changing a file's size.
    Truncate,
    /// Making a file's bytes durable.
    Sync,
    /// Renaming or removing a file, or making names durable.
    Name,
    /// Any operation that changes something: all but opening and reading.
    Change,
}

impl Operation {
    const fn covers(self, other: Self) -> bool {
        match self {
            Self::Change => !matches!(other, Self::Open | Self::Read),
            _ => self as u8 == other as u8,
        }
    }
}

/// The effect of a fault, in place of the operation's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// `EIO`; nothing is changed.
    Error,
    /// `EIO`, and a part of a write's bytes is written, as many as the disk's seed says.
    Short,
    /// `EIO` on a sync, and the file's unsynced bytes never reach the disk, though readers see them until the power
    /// goes. The next sync reports success: this is what Linux does.
    Forgotten,
    /// `ENOSPC`; nothing is changed.
    Full,
    /// The power goes before anything of the operation reaches the disk.
    PowerLoss(PowerLoss),
}

/// The number of successes left of a fault that has occurred.
const SPENT: u64 = u64::MAX;

/// A fault of the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    operation: Operation,
    file: Option<String>,
    /// Matching operations that still succeed before it; [`SPENT`] once it has occurred.
    successes_left: u64,
    lasting: bool,
    effect: Effect,
}

impl Fault {
    /// The `nth` operation from now on fails; 1 is the next one.
    #[must_use]
    pub const fn nth(nth: u64, operation: Operation, effect: Effect) -> Self {
        Self {
            operation,
            file: None,
            successes_left: nth.saturating_sub(1),
            lasting: false,
            effect,
        }
    }

    /// All such operations after it fail, too, until [`heal`](super::SimDisk::heal).
    #[must_use]
    pub const fn lasting(mut self) -> Self {
        self.lasting = true;
        self
    }

    /// Only operations on files whose names have this end count.
    #[must_use]
    pub fn on_file(mut self, name_end: &str) -> Self {
        self.file = Some(name_end.to_owned());
        self
    }
}

/// The faults of a disk.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    armed: Vec<Fault>,
    pub(super) counts: Counts,
    /// The faults that have occurred, in order.
    pub(super) met: Vec<(Operation, PathBuf, Effect)>,
}

impl Faults {
    pub(super) fn arm(&mut self, fault: Fault) {
        self.armed.push(fault);
    }

    pub(super) fn disarm_all(&mut self) {
        self.armed.clear();
    }

    /// Counts an operation, and returns the effect of the fault that it meets, if it meets one.
    pub(super) fn next_effect(&mut self, operation: Operation, file: &Path) -> Option<Effect> {
        self.counts.count_operation(operation);
        let name = file.to_string_lossy();
        let mut found = None;
        for fault in &mut self.armed {
            let named = fault.file.as_ref().is_none_or(|end| name.ends_with(end));
            if !named || !fault.operation.covers(operation) {
                continue;
            }
            if fault.successes_left > 0 {
                fault.successes_left -= 1;
            } else if found.is_none() {
                found = Some(fault.effect);
                fault.successes_left = if fault.lasting { 0 } else { SPENT };
            }
        }
        self.armed.retain(|fault| fault.successes_left != SPENT);
        let effect = found?;
        self.met.push((operation, file.to_owned(), effect));
        Some(effect)
    }
}

/// The numbers of operations so far, failed ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files opened.
    pub opens: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Changes of a file's size.
    pub truncates: u64,
    /// Syncs of a file.
    pub syncs: u64,
    /// Renames, removals and syncs of names.
    pub names: u64,
}

impl Counts {
    /// Operations that change something.
    #[must_use]
    pub const fn changes(&self) -> u64 {
        self.writes + self.truncates + self.syncs + self.names
    }

    const fn count_operation(&mut self, operation: Operation) {
        match operation {
            Operation::Open => self.opens += 1,
            Operation::Read => self.reads += 1,
            Operation::Write => self.writes += 1,
            Operation::Truncate => self.truncates += 1,
            Operation::Sync => self.syncs += 1,
            Operation::Name | Operation::Change => self.names += 1,
        }
    }
}
