//! What can go wrong with a disk's operations, and when.

use std::path::{Path, PathBuf};

use super::power_loss::PowerLoss;

/// What a disk is asked for.
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
    /// Any of those that change something: all but opening and reading.
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

/// What happens instead of an operation.
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

/// Something that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    operation: Operation,
    file: Option<String>,
    /// How many matching operations are still to succeed.
    pub(super) spare: u64,
    lasting: bool,
    effect: Effect,
}

impl Fault {
    /// The `nth` operation from now on goes wrong; 1 is the next one.
    #[must_use]
    pub const fn nth(nth: u64, operation: Operation, effect: Effect) -> Self {
        Self {
            operation,
            file: None,
            spare: nth.saturating_sub(1),
            lasting: false,
            effect,
        }
    }

    /// … and all such operations after it, until [`heal`](super::SimDisk::heal).
    #[must_use]
    pub const fn lasting(mut self) -> Self {
        self.lasting = true;
        self
    }

    /// Only operations on files whose name ends so count.
    #[must_use]
    pub fn of(mut self, name_end: &str) -> Self {
        self.file = Some(name_end.to_owned());
        self
    }
}

/// Faults that wait for their operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    armed: Vec<Fault>,
    pub(super) counts: Counts,
    /// What has gone wrong so far.
    pub(super) struck: Vec<(Operation, PathBuf, Effect)>,
}

impl Faults {
    pub(super) fn arm(&mut self, fault: Fault) {
        self.armed.push(fault);
    }

    pub(super) fn heal(&mut self) {
        self.armed.clear();
    }

    /// Counts an operation, and says what goes wrong with it, if anything.
    pub(super) fn meet(&mut self, operation: Operation, file: &Path) -> Option<Effect> {
        self.counts.add(operation);
        let name = file.to_string_lossy();
        let mut found = None;
        for fault in &mut self.armed {
            let named = fault.file.as_ref().is_none_or(|end| name.ends_with(end));
            if !named || !fault.operation.covers(operation) {
                continue;
            }
            if fault.spare > 0 {
                fault.spare -= 1;
            } else if found.is_none() {
                found = Some(fault.effect);
                fault.spare = if fault.lasting { 0 } else { u64::MAX };
            }
        }
        self.armed.retain(|fault| fault.spare < u64::MAX / 2);
        let effect = found?;
        self.struck.push((operation, file.to_owned(), effect));
        Some(effect)
    }
}

/// Operations so far, those that failed included.
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

    const fn add(&mut self, operation: Operation) {
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
