//! The state of a simulated disk: its files, who has them open, and what fails next.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fault::{Effect, Faults, Operation};
use super::files::{FileId, Files};
use super::image::Image;
use super::locks::{FileLocks, HandleId, SharedMemory};
use super::power_loss::PowerLoss;
use crate::dice::Dice;

/// The VFS through which SQLite reaches a disk.
pub(super) trait DiskSlot: Sync {
    /// The name under which SQLite knows it.
    fn name(&self) -> &str;

    /// Its disk is gone, and with it all open files.
    fn detach(&'static self);
}

/// A disk with its VFS.
pub(super) struct SharedDisk {
    pub(super) slot: &'static dyn DiskSlot,
    state: Mutex<DiskState>,
}

impl SharedDisk {
    pub(super) fn new(slot: &'static dyn DiskSlot, state: DiskState) -> Self {
        Self {
            slot,
            state: Mutex::new(state),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, DiskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SharedDisk {
    fn drop(&mut self) {
        self.slot.detach();
    }
}

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiskFailure {
    /// `EIO`.
    Io,
    /// `ENOSPC`.
    Full,
    /// `ENOENT`.
    Missing,
}

/// A file that a program has open, until the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenedFile {
    pub(super) file: FileId,
    pub(super) handle: HandleId,
    boot: u64,
}

pub(super) struct DiskState {
    pub(super) files: Files,
    pub(super) faults: Faults,
    dice: Dice,
    pub(super) bytes_max: Option<usize>,
    /// Counts power losses; files that were opened before the last one fail.
    pub(super) boot: u64,
    pub(super) powered: bool,
    /// The files after the next boot, once the power is off.
    pub(super) next_image: Option<Image>,
    handles: HandleId,
    pub(super) locks: BTreeMap<FileId, FileLocks>,
    pub(super) shared_memory: BTreeMap<FileId, std::sync::Weak<SharedMemory>>,
    /// The data directories' locks, with the boot of their holders.
    pub(super) directory_locks: BTreeMap<PathBuf, u64>,
}

impl DiskState {
    pub(super) fn from_image(seed: u64, image: &Image) -> Self {
        Self {
            files: Files::from_image(image),
            faults: Faults::default(),
            dice: Dice::new(seed),
            bytes_max: None,
            boot: 1,
            powered: true,
            next_image: None,
            handles: 0,
            locks: BTreeMap::new(),
            shared_memory: BTreeMap::new(),
            directory_locks: BTreeMap::new(),
        }
    }

    pub(super) fn cut_power(&mut self, loss: PowerLoss) {
        if self.powered {
            self.next_image = Some(self.files.image_after(loss));
            self.powered = false;
        }
    }

    pub(super) fn boot(&mut self) {
        if let Some(image) = self.next_image.take() {
            self.files = Files::from_image(&image);
        }
        self.faults.disarm_all();
        self.locks.clear();
        self.shared_memory.clear();
        self.directory_locks.clear();
        self.boot += 1;
        self.powered = true;
    }

    /// Whether the file was opened since the last power loss.
    pub(super) const fn is_alive(&self, opened: OpenedFile) -> bool {
        self.powered && opened.boot == self.boot
    }

    /// Counts an operation, which fails if it meets a fault. The caller carries out an effect that is returned.
    fn begin(&mut self, operation: Operation, path: &Path) -> Result<Option<Effect>, DiskFailure> {
        if !self.powered {
            return Err(DiskFailure::Io);
        }
        match self.faults.next_effect(operation, path) {
            Some(Effect::Error) => Err(DiskFailure::Io),
            Some(Effect::Full) => Err(DiskFailure::Full),
            Some(Effect::PowerLoss(loss)) => {
                self.cut_power(loss);
                Err(DiskFailure::Io)
            }
            effect => Ok(effect),
        }
    }

    fn begin_on(
        &mut self,
        operation: Operation,
        opened: OpenedFile,
        path: &Path,
    ) -> Result<Option<Effect>, DiskFailure> {
        if !self.is_alive(opened) {
            return Err(DiskFailure::Io);
        }
        self.begin(operation, path)
    }

    /// Opens a file, or creates it if `create` says so; returns whether it was created.
    pub(super) fn open(
        &mut self,
        path: &Path,
        create: bool,
    ) -> Result<(OpenedFile, bool), DiskFailure> {
        self.begin(Operation::Open, path)?;
        let found = self.files.find(path);
        let file = match found {
            Some(file) => file,
            None if create => self.files.create(path),
            None => return Err(DiskFailure::Missing),
        };
        self.handles += 1;
        let opened = OpenedFile {
            file,
            handle: self.handles,
            boot: self.boot,
        };
        Ok((opened, found.is_none()))
    }

    /// Reads the bytes that there are; returns their number.
    pub(super) fn read(
        &mut self,
        opened: OpenedFile,
        path: &Path,
        offset: usize,
        into: &mut [u8],
    ) -> Result<usize, DiskFailure> {
        all_or_nothing(self.begin_on(Operation::Read, opened, path))?;
        let bytes = self.files.bytes(opened.file).get(offset..).unwrap_or(&[]);
        let count = bytes.len().min(into.len());
        into[..count].copy_from_slice(&bytes[..count]);
        Ok(count)
    }

    pub(super) fn write(
        &mut self,
        opened: OpenedFile,
        path: &Path,
        offset: usize,
        bytes: &[u8],
    ) -> Result<(), DiskFailure> {
        let short = self.begin_on(Operation::Write, opened, path)?.is_some();
        if short {
            let written = self.dice.below(bytes.len());
            self.files.write(opened.file, offset, &bytes[..written]);
            return Err(DiskFailure::Io);
        }
        let size = self.files.bytes(opened.file).len();
        let growth = (offset + bytes.len()).saturating_sub(size);
        let room = self
            .bytes_max
            .is_none_or(|bytes_max| growth == 0 || self.files.used_bytes() + growth <= bytes_max);
        if !room {
            return Err(DiskFailure::Full);
        }
        self.files.write(opened.file, offset, bytes);
        Ok(())
    }

    pub(super) fn resize(
        &mut self,
        opened: OpenedFile,
        path: &Path,
        size: usize,
    ) -> Result<(), DiskFailure> {
        all_or_nothing(self.begin_on(Operation::Truncate, opened, path))?;
        self.files.resize(opened.file, size);
        Ok(())
    }

    pub(super) fn sync(&mut self, opened: OpenedFile, path: &Path) -> Result<(), DiskFailure> {
        match self.begin_on(Operation::Sync, opened, path)? {
            None => {
                self.files.sync(opened.file);
                Ok(())
            }
            Some(effect) => {
                if effect == Effect::Forgotten {
                    self.files.drop_unsynced(opened.file);
                }
                Err(DiskFailure::Io)
            }
        }
    }

    pub(super) fn remove(&mut self, path: &Path) -> Result<(), DiskFailure> {
        all_or_nothing(self.begin(Operation::Name, path))?;
        self.files.find(path).ok_or(DiskFailure::Missing)?;
        self.files.remove(path);
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> Result<(), DiskFailure> {
        all_or_nothing(self.begin(Operation::Name, to))?;
        self.files.find(from).ok_or(DiskFailure::Missing)?;
        self.files.rename(from, to);
        Ok(())
    }

    pub(super) fn sync_name(&mut self, path: &Path) -> Result<(), DiskFailure> {
        all_or_nothing(self.begin(Operation::Name, path))?;
        self.files.sync_names();
        Ok(())
    }

    /// A file's size, if it exists. Fails only without power.
    pub(super) fn size(&self, path: &Path) -> Result<Option<usize>, DiskFailure> {
        if !self.powered {
            return Err(DiskFailure::Io);
        }
        let file = self.files.find(path);
        Ok(file.map(|file| self.files.bytes(file).len()))
    }
}

/// An operation that has no partial effect fails with `EIO` in its place.
fn all_or_nothing(begun: Result<Option<Effect>, DiskFailure>) -> Result<(), DiskFailure> {
    match begun? {
        None => Ok(()),
        Some(_) => Err(DiskFailure::Io),
    }
}
