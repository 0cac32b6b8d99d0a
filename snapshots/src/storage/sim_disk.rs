//! The simulated disk: its files, what goes wrong with them, and who has them open.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tslp_store::ledger::OpenOptions;

use super::fault::{Counts, Effect, Fault, Faults, Operation};
use super::files::{FileId, Files};
use super::image::Image;
use super::locks::{FileLocks, HandleId, SharedMemory};
use super::power_loss::PowerLoss;
use super::vfs::VfsSlot;
use crate::dice::Dice;

/// A data directory on a simulated disk; any other path would do.
pub const DATA_DIR: &str = "/sim/data";

/// A disk in memory. Clones are the same disk.
#[derive(Clone)]
pub struct SimDisk(pub(super) Arc<SharedDisk>);

impl SimDisk {
    /// An empty disk. The seed determines how many bytes of a write that falls short are written.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::from_image(seed, &Image::default())
    }

    /// A disk that holds these files, all synced.
    #[must_use]
    pub fn from_image(seed: u64, image: &Image) -> Self {
        let shared = Arc::new(SharedDisk {
            slot: VfsSlot::acquire(),
            state: Mutex::new(DiskState {
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
            }),
        });
        shared.slot.attach(&shared);
        Self(shared)
    }

    /// How to open a ledger on this disk.
    #[must_use]
    pub fn open_options(&self) -> OpenOptions {
        OpenOptions {
            disk: Arc::new(self.clone()),
            ..OpenOptions::default()
        }
    }

    /// Adds a fault that will occur.
    pub fn inject_fault(&self, fault: Fault) {
        self.state().faults.arm(fault);
    }

    /// Removes all faults that haven't occurred.
    pub fn heal(&self) {
        self.state().faults.disarm_all();
    }

    /// Limits the total size of all files from now on; a write that exceeds it gets `ENOSPC`.
    pub fn limit_bytes(&self, bytes_max: Option<usize>) {
        self.state().bytes_max = bytes_max;
    }

    /// The total size of all files in bytes.
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        self.state().files.used_bytes()
    }

    /// The numbers of operations so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.state().faults.counts
    }

    /// The faults that have occurred, in order.
    #[must_use]
    pub fn faults_met(&self) -> Vec<(Operation, PathBuf, Effect)> {
        self.state().faults.met.clone()
    }

    /// The power goes and comes back: open files fail from now on, files that are opened anew hold what is left, and faults that
    /// haven't occurred are removed.
    pub fn power_loss(&self, loss: PowerLoss) {
        let mut state = self.state();
        state.cut_power(loss);
        state.boot();
    }

    /// Whether a fault took the power. Everything fails until [`reboot`](Self::reboot).
    #[must_use]
    pub fn is_off(&self) -> bool {
        !self.state().powered
    }

    /// The power comes back after a fault took it. If none did, it goes and comes back, and all changes stay.
    pub fn reboot(&self) {
        let mut state = self.state();
        state.cut_power(PowerLoss::All);
        state.boot();
    }

    /// All files as programs see them.
    #[must_use]
    pub fn image(&self) -> Image {
        self.state().files.image()
    }

    /// The files that a power loss now would leave, without one.
    #[must_use]
    pub fn image_after(&self, loss: PowerLoss) -> Image {
        self.state().files.image_after(loss)
    }

    /// Replaces all files, as a person who restores a copy while nothing runs; open files fail from now on.
    pub fn restore(&self, image: &Image) {
        let mut state = self.state();
        state.next_image = Some(image.clone());
        state.powered = false;
        state.boot();
    }

    /// Flips a bit of a file on the platter while nothing runs; open files fail from now on.
    ///
    /// # Panics
    /// When the file is shorter.
    pub fn flip_bit(&self, file: &Path, byte: usize, bit: u8) {
        let mut image = self.image();
        image.flip_bit(file, byte, bit);
        self.restore(&image);
    }

    pub(super) fn state(&self) -> MutexGuard<'_, DiskState> {
        self.0.state()
    }
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("SimDisk")
            .field("files", &state.files.paths().collect::<Vec<_>>())
            .field("boot", &state.boot)
            .finish_non_exhaustive()
    }
}

/// A disk with its VFS.
pub(super) struct SharedDisk {
    pub(super) slot: &'static VfsSlot,
    state: Mutex<DiskState>,
}

impl SharedDisk {
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
    faults: Faults,
    dice: Dice,
    bytes_max: Option<usize>,
    /// Counts power losses; files that were opened before the last one fail.
    pub(super) boot: u64,
    powered: bool,
    /// The files after the next boot, once the power is off.
    next_image: Option<Image>,
    handles: HandleId,
    pub(super) locks: BTreeMap<FileId, FileLocks>,
    pub(super) shared_memory: BTreeMap<FileId, std::sync::Weak<SharedMemory>>,
    /// The data directories' locks, with the boot of their holders.
    pub(super) directory_locks: BTreeMap<PathBuf, u64>,
}

impl DiskState {
    fn cut_power(&mut self, loss: PowerLoss) {
        if self.powered {
            self.next_image = Some(self.files.image_after(loss));
            self.powered = false;
        }
    }

    fn boot(&mut self) {
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
