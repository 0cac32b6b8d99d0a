//! A simulated disk: keeps what was written apart from what was synced, fails on demand, and loses power.
//!
//! [`SimDisk`] holds whole data directories in memory: SQLite reaches it as a VFS, the ledger's own files by
//! [`tslp_store::ledger::disk::Disk`]. Everything that it does follows from its seed and the calls made, except
//! for the salts that SQLite puts into a WAL's header.
//!
//! ```
//! use std::path::Path;
//! use tslp_snapshots::storage::{DATA_DIR, Effect, Fault, Operation, PowerLoss, SimDisk};
//!
//! let disk = SimDisk::new(7);
//! let open = || disk.open_options().open(Path::new(DATA_DIR), Path::new("/work"));
//! drop(open().unwrap());
//! disk.inject_fault(Fault::nth(1, Operation::Sync, Effect::Error));
//! let opened = open().unwrap(); // … appends fail and say so
//! disk.power_loss(PowerLoss::scattered(1));
//! drop(opened); // every call of a process from before the power loss fails
//! open().unwrap();
//! ```

mod disk_state;
mod fault;
mod files;
mod image;
mod locks;
mod power_loss;
mod seam;
mod sim_disk;
mod vfs;

pub use fault::{Counts, Effect, Fault, Operation};
pub use image::Image;
pub use power_loss::PowerLoss;
pub use sim_disk::{DATA_DIR, SimDisk};
