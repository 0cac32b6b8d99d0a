//! The simulated disk: its files, what goes wrong with them, and who has them open.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tslp_io::ledger::OpenOptions;

use super::fault::{Counts, Effect, Fault, Faults, Operation};
use super::files::{FileId, Files};
use super::image::Image;
use super::locks::{FileLocks, HandleId, SharedMemory};
use super::power_loss::PowerLoss;
use super::vfs::VfsSlot;
use crate::dice::Dice;

/// A data directory on a simulated disk; any other path does as well.
pub const DATA_DIR: &str = "/sim/data";

/// A disk in memory. Clones are the same disk.
#[derive(Clone)]
pub struct SimDisk(pub(super) Arc<SharedDisk>);

impl SimDisk {
    /// An empty disk. The seed determines how many bytes of a write that falls short are written.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::with(seed, &Image::default())
    }

    /// A disk that holds these files, all synced.
    #[must_use]
    pub fn with(seed: u64, image: &Image) -> Self {
        let shared = Arc::new(SharedDisk {
            slot: VfsSlot::take(),
            state: Mutex::new(State {
                files: Files::of(image),
                faults: Faults::default(),
                dice: Dice::new(seed),
                bytes_max: None,
                boot: 1,
                powered: true,
                ahead: None,
                handles: 0,
                locks: BTreeMap::new(),
                shared_memory: BTreeMap::new(),
                directory_locks: BTreeMap::new(),
            }),
        });
        shared.slot.serve(&shared);
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

    /// Something will go wrong.
    pub fn fail(&self, fault: Fault) {
        self.state().faults.arm(fault);
    }

    /// Nothing goes wrong any more.
    pub fn heal(&self) {
        self.state().faults.heal();
    }

    /// All files together may hold so many bytes from now on; a write that needs more gets `ENOSPC`.
    pub fn limit_bytes(&self, bytes_max: Option<usize>) {
        self.state().bytes_max = bytes_max;
    }

    /// Bytes of all files.
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        self.state().files.used()
    }

    /// Operations so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.state().faults.counts
    }

    /// What has gone wrong so far, in order.
    #[must_use]
    pub fn struck(&self) -> Vec<(Operation, PathBuf, Effect)> {
        self.state().faults.struck.clone()
    }

    /// The power goes and comes back: all that is open fails from now on, what is opened anew sees what is left. Faults
    /// that wait are gone.
    pub fn power_loss(&self, loss: PowerLoss) {
        let mut state = self.state();
        state.cut(loss);
        state.boot();
    }

    /// Whether a fault took the power. Everything fails until [`reboot`](Self::reboot).
    #[must_use]
    pub fn is_off(&self) -> bool {
        !self.state().powered
    }

    /// The power comes back after a fault took it; without that it goes and leaves everything.
    pub fn reboot(&self) {
        let mut state = self.state();
        state.cut(PowerLoss::All);
        state.boot();
    }

    /// All files as programs see them.
    #[must_use]
    pub fn image(&self) -> Image {
        self.state().files.image()
    }

    /// What a power loss now would leave. Nothing happens.
    #[must_use]
    pub fn image_after(&self, loss: PowerLoss) -> Image {
        self.state().files.image_after(loss)
    }

    /// Puts other files in place of all that there are, as a person would who restores a copy while nothing runs: what
    /// is open fails from now on.
    pub fn restore(&self, image: &Image) {
        let mut state = self.state();
        state.ahead = Some(image.clone());
        state.powered = false;
        state.boot();
    }

    /// Flips a bit of a file on the platter while nothing runs: what is open fails from now on.
    ///
    /// # Panics
    /// When the file is shorter.
    pub fn flip_bit(&self, file: &Path, byte: usize, bit: u8) {
        let mut image = self.image();
        image.flip_bit(file, byte, bit);
        self.restore(&image);
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
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

/// A disk with its place among SQLite's VFSes.
pub(super) struct SharedDisk {
    pub(super) slot: &'static VfsSlot,
    state: Mutex<State>,
}

impl SharedDisk {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SharedDisk {
    fn drop(&mut self) {
        self.slot.give_back();
    }
}

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
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

pub(super) struct State {
    pub(super) files: Files,
    faults: Faults,
    dice: Dice,
    bytes_max: Option<usize>,
    /// Counts power losses; what was opened before the last one is dead.
    pub(super) boot: u64,
    powered: bool,
    /// What the next boot will find.
    ahead: Option<Image>,
    handles: HandleId,
    pub(super) locks: BTreeMap<FileId, FileLocks>,
    pub(super) shared_memory: BTreeMap<FileId, std::sync::Weak<SharedMemory>>,
    /// The data directories' locks, with the boot of their holders.
    pub(super) directory_locks: BTreeMap<PathBuf, u64>,
}

impl State {
    fn cut(&mut self, loss: PowerLoss) {
        if self.powered {
            self.ahead = Some(self.files.image_after(loss));
            self.powered = false;
        }
    }

    fn boot(&mut self) {
        if let Some(image) = self.ahead.take() {
            self.files = Files::of(&image);
        }
        self.faults.heal();
        self.locks.clear();
        self.shared_memory.clear();
        self.directory_locks.clear();
        self.boot += 1;
        self.powered = true;
    }

    /// Whether what was opened then still works.
    pub(super) const fn is_alive(&self, opened: OpenedFile) -> bool {
        self.powered && opened.boot == self.boot
    }

    /// Counts an operation and lets it fail if it must. What fails half done is for the caller to do by half.
    fn meet(&mut self, operation: Operation, path: &Path) -> Result<Option<Effect>, Failure> {
        if !self.powered {
            return Err(Failure::Io);
        }
        match self.faults.meet(operation, path) {
            Some(Effect::Error) => Err(Failure::Io),
            Some(Effect::Full) => Err(Failure::Full),
            Some(Effect::PowerLoss(loss)) => {
                self.cut(loss);
                Err(Failure::Io)
            }
            half_done => Ok(half_done),
        }
    }

    fn meet_opened(
        &mut self,
        operation: Operation,
        opened: OpenedFile,
        path: &Path,
    ) -> Result<Option<Effect>, Failure> {
        if !self.is_alive(opened) {
            return Err(Failure::Io);
        }
        self.meet(operation, path)
    }

    /// Opens a file, or makes it if it may. Says whether it was made.
    pub(super) fn open(
        &mut self,
        path: &Path,
        create: bool,
    ) -> Result<(OpenedFile, bool), Failure> {
        self.meet(Operation::Open, path)?;
        let found = self.files.find(path);
        let file = match found {
            Some(file) => file,
            None if create => self.files.create(path),
            None => return Err(Failure::Missing),
        };
        self.handles += 1;
        let opened = OpenedFile {
            file,
            handle: self.handles,
            boot: self.boot,
        };
        Ok((opened, found.is_none()))
    }

    /// Reads what there is; returns how much that was.
    pub(super) fn read(
        &mut self,
        opened: OpenedFile,
        path: &Path,
        offset: usize,
        into: &mut [u8],
    ) -> Result<usize, Failure> {
        if self.meet_opened(Operation::Read, opened, path)?.is_some() {
            return Err(Failure::Io);
        }
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
    ) -> Result<(), Failure> {
        let short = self.meet_opened(Operation::Write, opened, path)?.is_some();
        if short {
            let written = self.dice.below(bytes.len());
            self.files.write(opened.file, offset, &bytes[..written]);
            return Err(Failure::Io);
        }
        let size = self.files.bytes(opened.file).len();
        let growth = (offset + bytes.len()).saturating_sub(size);
        let room = self
            .bytes_max
            .is_none_or(|bytes_max| growth == 0 || self.files.used() + growth <= bytes_max);
        if !room {
            return Err(Failure::Full);
        }
        self.files.write(opened.file, offset, bytes);
        Ok(())
    }

    pub(super) fn resize(
        &mut self,
        opened: OpenedFile,
        path: &Path,
        size: usize,
    ) -> Result<(), Failure> {
        if self
            .meet_opened(Operation::Truncate, opened, path)?
            .is_some()
        {
            return Err(Failure::Io);
        }
        self.files.resize(opened.file, size);
        Ok(())
    }

    pub(super) fn sync(&mut self, opened: OpenedFile, path: &Path) -> Result<(), Failure> {
        match self.meet_opened(Operation::Sync, opened, path)? {
            None => {
                self.files.sync(opened.file);
                Ok(())
            }
            Some(effect) => {
                if effect == Effect::Forgotten {
                    self.files.forget(opened.file);
                }
                Err(Failure::Io)
            }
        }
    }

    pub(super) fn remove(&mut self, path: &Path) -> Result<(), Failure> {
        if self.meet(Operation::Name, path)?.is_some() {
            return Err(Failure::Io);
        }
        self.files.find(path).ok_or(Failure::Missing)?;
        self.files.remove(path);
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> Result<(), Failure> {
        if self.meet(Operation::Name, to)?.is_some() {
            return Err(Failure::Io);
        }
        self.files.find(from).ok_or(Failure::Missing)?;
        self.files.rename(from, to);
        Ok(())
    }

    pub(super) fn sync_name(&mut self, path: &Path) -> Result<(), Failure> {
        if self.meet(Operation::Name, path)?.is_some() {
            return Err(Failure::Io);
        }
        self.files.sync_names();
        Ok(())
    }

    /// A file's size, if it is there. Looking never fails but without power.
    pub(super) fn size(&self, path: &Path) -> Result<Option<usize>, Failure> {
        if !self.powered {
            return Err(Failure::Io);
        }
        let file = self.files.find(path);
        Ok(file.map(|file| self.files.bytes(file).len()))
    }
}
