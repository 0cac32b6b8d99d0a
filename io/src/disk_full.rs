//! Waits while the disk is full; once it takes bytes again, the network loop is asked to end, so that the proxy can start anew.
//!
//! Decisions that weren't written exist only in the engine's memory, so only a fresh start continues from what is on disk.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use crate::main_loop::LoopHandle;

/// Pause between two tries.
const TRY_PAUSE: Duration = Duration::from_secs(2);

/// Free space to wait for: a few large prompts with their replies.
const SPACE_BYTES_MIN: usize = 8 << 20;

/// One write of a try.
static PIECE: [u8; 64 << 10] = [0xa5; 64 << 10];

/// Waits for free space once it is started.
pub(crate) struct SpaceWatcher {
    data_dir: PathBuf,
    handle: LoopHandle,
    found: Arc<AtomicBool>,
    cancelled: Receiver<()>,
}

/// Whether space was found; dropping it ends the watcher.
pub(crate) struct SpaceFound {
    found: Arc<AtomicBool>,
    _cancel: Sender<()>,
}

/// A watcher of the disk of a data directory, and its result.
pub(crate) fn watch_disk(data_dir: &Path, handle: LoopHandle) -> (SpaceWatcher, SpaceFound) {
    let found = Arc::new(AtomicBool::new(false));
    let (sender, cancelled) = bounded(0);
    let watcher = SpaceWatcher {
        data_dir: data_dir.to_owned(),
        handle,
        found: Arc::clone(&found),
        cancelled,
    };
    let space = SpaceFound {
        found,
        _cancel: sender,
    };
    (watcher, space)
}

impl SpaceFound {
    /// Whether the disk was full and has space again.
    pub(crate) fn is_found(&self) -> bool {
        self.found.load(Ordering::Acquire)
    }
}

impl SpaceWatcher {
    /// Waits on a thread of its own.
    pub(crate) fn start(self) {
        let spawned = thread::Builder::new()
            .name("disk space".into())
            .spawn(|| self.wait_for_space());
        if let Err(error) = spawned {
            tracing::error!(%error, "can't wait for free space on the disk: free some, then restart tslp");
        }
    }

    fn wait_for_space(self) {
        while self.cancelled.recv_timeout(TRY_PAUSE) == Err(RecvTimeoutError::Timeout) {
            match try_space(&self.data_dir) {
                Ok(()) => {
                    tracing::warn!("there is space on the disk again: restarting from the ledger");
                    // Before the loop is asked to end: who sees it end asks why.
                    self.found.store(true, Ordering::Release);
                    return self.handle.shutdown();
                }
                Err(error) => tracing::debug!(%error, "still no room on the disk"),
            }
        }
    }
}

/// Writes [`SPACE_BYTES_MIN`] to the disk, since figures of free space ignore quotas and reserves. The file has no name and is
/// gone once it is closed.
pub(crate) fn try_space(data_dir: &Path) -> io::Result<()> {
    let mut file: File = tempfile::tempfile_in(data_dir)?;
    for _ in 0..SPACE_BYTES_MIN / PIECE.len() {
        file.write_all(&PIECE)?;
    }
    file.sync_all()
}
