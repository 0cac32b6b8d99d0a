//! Writes checkpoints while the proxy serves, on a thread of its own: the engine hands over the state's parts when it has
//! nothing else to do, and gives up as soon as somebody wants something.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded};
use tslp_core::ids::Seq;
use tslp_core::limits::CHECKPOINT_EVENTS;
use tslp_projections::part::Part;
use tslp_replay::log::Head;
use tslp_replay::state::State;

use super::{NotWritten, Writing};
use crate::ledger::LedgerReader;
use crate::ledger::disk::Disk;
use crate::ledger::soundness::Soundness;

/// Parts that may wait for the disk, so that the state isn't held twice.
const QUEUE: usize = 2;

/// What the thread is told.
enum Piece {
    /// The next part.
    Part(Part),
    /// That was all of the state after this event, which is durable.
    Complete(Seq),
    /// Somebody wants something.
    Abandoned,
}

/// The engine's side: when a checkpoint is due, and where its parts go.
pub struct Keeper {
    pieces: Option<Sender<Piece>>,
    /// What the last checkpoint is of, whether or not it could be written.
    last: Seq,
}

impl Keeper {
    /// Writes none.
    #[must_use]
    pub const fn off() -> Self {
        Self {
            pieces: None,
            last: Seq(0),
        }
    }

    /// Starts the thread. `last` is what the checkpoint on disk is of; `reader` tells the chain's hash.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn spawn(
        disk: Arc<dyn Disk>,
        path: PathBuf,
        reader: LedgerReader,
        soundness: Soundness,
        last: Seq,
    ) -> io::Result<(Self, JoinHandle<()>)> {
        let (pieces, received) = bounded(QUEUE);
        let thread = thread::Builder::new()
            .name("checkpoints".into())
            .spawn(move || {
                while let Some(told) = write_next(&*disk, &path, &reader, &received) {
                    match told.and_then(|at| still_sound(&*disk, &path, &soundness, at)) {
                        Ok(at) => tracing::debug!(%at, "checkpoint written"),
                        Err(error) => {
                            tracing::warn!(%error, "no checkpoint was written; the next start takes longer");
                        }
                    }
                }
            })?;
        let keeper = Self {
            pieces: Some(pieces),
            last,
        };
        Ok((keeper, thread))
    }

    /// Whether enough has happened since the last one.
    #[must_use]
    pub const fn is_due(&self, head: Seq) -> bool {
        self.pieces.is_some() && head.0 >= self.last.0.saturating_add(CHECKPOINT_EVENTS)
    }

    /// Hands over a durable state, unless `is_wanted` says in between that there is something else to do; it is due again
    /// then.
    pub fn keep(&mut self, state: &State, is_wanted: impl Fn() -> bool) {
        if self.last == state.head() {
            return;
        }
        let Some(pieces) = &self.pieces else { return };
        let visited = state.parts(&mut |part| {
            if is_wanted() || pieces.send(Piece::Part(part)).is_err() {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        let end = match visited {
            Ok(ControlFlow::Continue(())) => {
                self.last = state.head();
                Piece::Complete(state.head())
            }
            Ok(ControlFlow::Break(())) | Err(_) => Piece::Abandoned,
        };
        if pieces.send(end).is_err() {
            self.pieces = None;
        }
    }
}

/// Writes one checkpoint as its parts come in; `None` once none will come.
fn write_next(
    disk: &dyn Disk,
    path: &Path,
    reader: &LedgerReader,
    pieces: &Receiver<Piece>,
) -> Option<Result<Seq, NotWritten>> {
    loop {
        let first = pieces.recv().ok()?;
        let mut writing = Writing::begin(disk, path);
        for piece in std::iter::once(first).chain(pieces) {
            match piece {
                // What can't be written is heard to its end all the same.
                Piece::Part(part) => writing = writing.and_then(|begun| begun.with(&part)),
                Piece::Complete(seq) => {
                    return Some(writing.and_then(|begun| finish(begun, reader, seq)));
                }
                Piece::Abandoned => break,
            }
        }
        if let Ok(begun) = writing {
            begun.abandon();
        }
    }
}

/// Where the scrub has found something meanwhile, the next start has to look at everything itself.
fn still_sound(
    disk: &dyn Disk,
    path: &Path,
    soundness: &Soundness,
    at: Seq,
) -> Result<Seq, NotWritten> {
    if !soundness.is_condemned() {
        return Ok(at);
    }
    disk.remove(path)?;
    Err(NotWritten::Condemned)
}

fn finish(writing: Writing<'_>, reader: &LedgerReader, seq: Seq) -> Result<Seq, NotWritten> {
    let chain = reader.chain_at(seq);
    match chain {
        Ok(Some(chain)) => writing.finish(Head { seq, chain }).map(|()| seq),
        Ok(None) => {
            writing.abandon();
            Err(NotWritten::NotDurable {
                state: seq,
                durable: Seq(0),
            })
        }
        Err(error) => {
            writing.abandon();
            Err(error.into())
        }
    }
}
