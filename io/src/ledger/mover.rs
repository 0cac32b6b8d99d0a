//! Moves the WAL into the database on a thread and a connection of its own, while the writer goes on appending.
//!
//! SQLite syncs the database only when a checkpoint has moved the very last page, and the writer rarely lets one do so. So
//! the mover syncs what it moved, too; otherwise all of that would wait for the writer, which moves the last pages.

use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use rusqlite::Connection;

use super::connection::{self, Access, Database};
use super::error::LedgerError;

/// Pages that the writer moves itself without being held up.
const LEFT_PAGES: u64 = 256;

/// Passes of one move: each leaves what was appended meanwhile, and that is less each time.
const PASSES_MAX: u32 = 4;

/// What a move came to. An error means that it is open what is in the database.
pub(super) type Moved = Result<(), LedgerError>;

/// A thread that moves pages when it is told. Dropped, it finishes what it is at.
pub(super) struct Mover {
    requests: Option<Sender<()>>,
    moved: Receiver<Moved>,
    at_work: bool,
    thread: Option<JoinHandle<()>>,
}

impl Mover {
    /// Starts the thread. It touches nothing before it is told to.
    pub(super) fn start(database: &Database) -> Result<Self, LedgerError> {
        let connection = database.connect(Access::Write)?;
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
            .map_err(|source| LedgerError::File {
                action: "start the thread that moves the WAL of",
                path: database.path.clone(),
                source,
            })?;
        Ok(Self {
            requests: Some(requests),
            moved,
            at_work: false,
            thread: Some(thread),
        })
    }

    /// Whether a move was begun and its end wasn't taken yet.
    pub(super) const fn is_at_work(&self) -> bool {
        self.at_work
    }

    /// Begins a move, unless one is under way. The file must be one that may be written to.
    pub(super) fn begin(&mut self) {
        if self.at_work {
            return;
        }
        self.at_work = true;
        if let Some(requests) = &self.requests {
            // It fails when the thread is gone, and then there is an end to be taken that says so.
            let _ = requests.try_send(());
        }
    }

    /// The end of the move that is under way, if it has come to it.
    pub(super) fn poll(&mut self) -> Option<Moved> {
        if !self.at_work {
            return None;
        }
        match self.moved.try_recv() {
            Ok(moved) => Some(self.ended(Some(moved))),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(self.ended(None)),
        }
    }

    /// Waits for the end of the move that is under way, if one is.
    pub(super) fn wait(&mut self) -> Option<Moved> {
        if !self.at_work {
            return None;
        }
        let moved = self.moved.recv().ok();
        Some(self.ended(moved))
    }

    /// Where the end of the move that is under way will come: for who waits for something else at the same time, and tells
    /// [`ended`](Self::ended) what came.
    pub(super) const fn ends(&self) -> &Receiver<Moved> {
        &self.moved
    }

    /// Takes the end that came; `None` if the thread is gone.
    pub(super) fn ended(&mut self, moved: Option<Moved>) -> Moved {
        self.at_work = false;
        moved.unwrap_or_else(|| {
            Err(LedgerError::Poisoned {
                reason: "the thread that moves the WAL panicked, a defect of tslp; restart it"
                    .to_owned(),
            })
        })
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // Whether it panicked was told to whoever took its end; now nobody wants to know.
            let _ = thread.join();
        }
    }
}

/// Moves pages and syncs them, until few are left.
fn move_pages(connection: &Connection, database: &Database) -> Moved {
    let run = |pragma| {
        let counts = connection::run_checkpoint(connection, pragma);
        counts.map_err(database.failed("checkpoint"))
    };
    for _ in 0..PASSES_MAX {
        match run("PRAGMA wal_checkpoint(PASSIVE)") {
            // Another program does it.
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
