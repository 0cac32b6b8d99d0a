//! Moves the WAL into the database on a thread and a connection of its own, while the writer goes on appending.
//!
//! SQLite syncs the database only when a checkpoint has moved the very last page, which rarely happens while the writer
//! appends. So the mover also syncs what it moved; otherwise the writer, which moves the last pages, would have to sync all of it.

use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use rusqlite::Connection;

use super::connection::{self, AccessKind, Database};
use super::error::LedgerError;

/// Most pages left to the writer, which can move so many without a noticeable delay.
const LEFT_PAGES: u64 = 256;

/// Most passes of one move: each leaves the pages appended meanwhile, which are fewer each time.
const PASSES_MAX: u32 = 4;

/// The result of a move. After an error it is unknown what is in the database.
pub(super) type MoveResult = Result<(), LedgerError>;

/// A thread that moves pages on request. Dropping it waits for the move in progress.
pub(super) struct PageMover {
    requests: Option<Sender<()>>,
    moved: Receiver<MoveResult>,
    at_work: bool,
    thread: Option<JoinHandle<()>>,
}

impl PageMover {
    /// Starts the thread. It does nothing before the first request.
    pub(super) fn start(database: &Database) -> Result<Self, LedgerError> {
        let connection = database.connect(AccessKind::Write)?;
        let (requests, told) = bounded(1);
        let (tell, moved) = bounded(1);
        let of_thread = database.clone();
        let thread = std::thread::Builder::new()
            .name("tslp-mover".to_owned())
            .spawn(move || {
                for () in told {
                    if tell.send(move_pages(&connection, &of_thread)).is_err() {
                        break;
                    }
                }
            })
            .map_err(LedgerError::on_file(
                "start the thread that moves the WAL of",
                &database.path,
            ))?;
        Ok(Self {
            requests: Some(requests),
            moved,
            at_work: false,
            thread: Some(thread),
        })
    }

    /// Whether a move was begun whose end wasn't taken yet.
    pub(super) const fn is_at_work(&self) -> bool {
        self.at_work
    }

    /// Begins a move, unless one is under way. The file must be one that may be written to.
    pub(super) fn begin_move(&mut self) {
        if self.at_work {
            return;
        }
        self.at_work = true;
        if let Some(requests) = &self.requests {
            // It fails if the thread has ended; then taking the move's end reports that.
            let _ = requests.try_send(());
        }
    }

    /// Takes the end of the move in progress, if it has ended.
    pub(super) fn take_result(&mut self) -> Option<MoveResult> {
        if !self.at_work {
            return None;
        }
        match self.moved.try_recv() {
            Ok(moved) => Some(self.take_end(Some(moved))),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(self.take_end(None)),
        }
    }

    /// Waits for the end of the move in progress, if there is one.
    pub(super) fn wait_for_result(&mut self) -> Option<MoveResult> {
        if !self.at_work {
            return None;
        }
        let moved = self.moved.recv().ok();
        Some(self.take_end(moved))
    }

    /// The channel on which the move's end will come, for a caller that waits for something else at the same time and passes the
    /// end to [`take_end`](Self::take_end).
    pub(super) const fn end_receiver(&self) -> &Receiver<MoveResult> {
        &self.moved
    }

    /// Takes an end that was received; `None` if the thread has ended.
    pub(super) fn take_end(&mut self, moved: Option<MoveResult>) -> MoveResult {
        self.at_work = false;
        moved.unwrap_or_else(|| {
            Err(LedgerError::Poisoned {
                reason: "the thread that moves the WAL panicked, a defect of tslp; restart it"
                    .to_owned(),
            })
        })
    }
}

impl Drop for PageMover {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // A panic was reported to the caller that took the move's end.
            let _ = thread.join();
        }
    }
}

/// Moves pages and syncs them, until few are left.
fn move_pages(connection: &Connection, database: &Database) -> MoveResult {
    let run = |pragma| {
        let counts = connection::run_checkpoint(connection, pragma);
        counts.map_err(database.sqlite_error("checkpoint"))
    };
    for _ in 0..PASSES_MAX {
        match run("PRAGMA wal_checkpoint(PASSIVE)") {
            // Another program is running a checkpoint.
            Ok((true, ..)) | Err(LedgerError::Busy { .. }) => return Ok(()),
            Ok(_) => database.sync_pages()?,
            Err(error) => return Err(error),
        }
        let (_, pages, moved) = run("PRAGMA wal_checkpoint(NOOP)")?;
        if pages.saturating_sub(moved) <= LEFT_PAGES {
            break;
        }
    }
    Ok(())
}
