//! A full disk is waited for: once it takes bytes again, the network loop is asked to end, so that the proxy can start anew.
//!
//! What was decided and not written lives on in the engine's memory alone, so nothing but a fresh start goes on from
//! what is on disk.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use crate::main_loop::LoopHandle;

/// How long the disk is left alone between two tries.
const TRY_EVERY: Duration = Duration::from_secs(2);

/// What must fit on the disk: a few large prompts with their replies.
const ROOM_BYTES: usize = 8 << 20;

/// What is written at once to see whether it fits.
static PIECE: [u8; 64 << 10] = [0xa5; 64 << 10];

/// Waits for room, once it is told to.
pub(crate) struct RoomWatch {
    data_dir: PathBuf,
    handle: LoopHandle,
    found: Arc<AtomicBool>,
    over: Receiver<()>,
}

/// Whether room was found; dropping it ends the watch.
pub(crate) struct Room {
    found: Arc<AtomicBool>,
    _over: Sender<()>,
}

/// A watch over the disk of a data directory, and what it has found.
pub(crate) fn watch(data_dir: &Path, handle: LoopHandle) -> (RoomWatch, Room) {
    let found = Arc::new(AtomicBool::new(false));
    let (sender, over) = bounded(0);
    let watch = RoomWatch {
        data_dir: data_dir.to_owned(),
        handle,
        found: Arc::clone(&found),
        over,
    };
    let room = Room {
        found,
        _over: sender,
    };
    (watch, room)
}

impl Room {
    /// Whether the disk had no room and has it again.
    pub(crate) fn is_found(&self) -> bool {
        self.found.load(Ordering::Acquire)
    }
}

impl RoomWatch {
    /// Waits on a thread of its own.
    pub(crate) fn start(self) {
        let spawned = thread::Builder::new()
            .name("room".into())
            .spawn(|| self.wait());
        if let Err(error) = spawned {
            tracing::error!(%error, "can't wait for free space on the disk: free some, then restart tslp");
        }
    }

    fn wait(self) {
        while self.over.recv_timeout(TRY_EVERY) == Err(RecvTimeoutError::Timeout) {
            match try_room(&self.data_dir) {
                Ok(()) => {
                    tracing::info!("there is space on the disk again: restarting from the ledger");
                    self.found.store(true, Ordering::Release);
                    return self.handle.shutdown();
                }
                Err(error) => tracing::debug!(%error, "still no room on the disk"),
            }
        }
    }
}

/// Whether the disk takes [`ROOM_BYTES`] more; a quota or a reserve counts like a full disk, so it is tried out. The file
/// has no name and goes with its handle.
fn try_room(data_dir: &Path) -> io::Result<()> {
    let mut file: File = tempfile::tempfile_in(data_dir)?;
    for _ in 0..ROOM_BYTES / PIECE.len() {
        file.write_all(&PIECE)?;
    }
    file.sync_all()
}
