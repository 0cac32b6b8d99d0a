//! The simulated disk, as tests handle it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard};

use tslp_store::ledger::OpenOptions;

use super::disk_state::{DiskState, SharedDisk};
use super::fault::{Counts, Effect, Fault, Operation};
use super::image::Image;
use super::power_loss::PowerLoss;
use super::vfs::VfsSlot;

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
        let slot = VfsSlot::acquire();
        let shared = Arc::new(SharedDisk::new(slot, DiskState::from_image(seed, image)));
        slot.attach(&shared);
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
