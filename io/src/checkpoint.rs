//! Checkpoints: the state at one durable event, in a file beside the ledger, so that a start folds the tail alone.
//!
//! A checkpoint is disposable: any flaw in it, or another program's, costs a fold from the first event and nothing else.
//! It is never trusted without its hashes, nor for another history than the one that the ledger's chain names.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use tslp_core::ids::Seq;
use tslp_migrations::checkpoint::{self as layout, PartError};
use tslp_projections::part::{Part, Unfit, Unsettled};
use tslp_replay::chain::ChainHash;
use tslp_replay::log::Head;
use tslp_replay::state::State;

use crate::ledger::LedgerError;
use crate::ledger::disk::Disk;

mod file;
mod header;
pub mod keeper;

pub use file::Writing;

/// Why a checkpoint isn't used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// There is none.
    #[error("there is none")]
    Missing,
    /// It can't be read.
    #[error("it can't be read: {0}")]
    Unreadable(#[source] io::Error),
    /// It is no checkpoint, or one that was cut.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
    /// Other sources made it.
    #[error("another program wrote it ({found}), this is {expected}")]
    Foreign {
        /// What it says of its program.
        found: String,
        /// This program.
        expected: String,
    },
    /// The ledger ends before it.
    #[error("it stands at {at}, and the ledger ends at {head}")]
    Ahead {
        /// Its event.
        at: Seq,
        /// The ledger's last one.
        head: Seq,
    },
    /// The ledger has another event there.
    #[error("the ledger's chain at {0} is another one")]
    OtherHistory(Seq),
    /// The ledger can't be asked.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The bytes of a part aren't one.
    #[error(transparent)]
    Part(#[from] PartError),
    /// The parts can't be of one state.
    #[error("its parts contradict each other: {0}")]
    Unfit(&'static str),
}

impl From<Unfit> for Unusable {
    fn from(Unfit(what): Unfit) -> Self {
        Self::Unfit(what)
    }
}

/// Why no checkpoint was written. Nothing is lost by that.
#[derive(Debug, thiserror::Error)]
pub enum NotWritten {
    /// The disk doesn't take it.
    #[error(transparent)]
    Disk(#[from] io::Error),
    /// A part can't be encoded.
    #[error(transparent)]
    Part(#[from] PartError),
    /// The state is in the middle of a batch.
    #[error("the state is in the middle of a batch")]
    Unsettled,
    /// Something is wrong with the ledger, and the next start has to find it.
    #[error("the ledger was found to be damaged")]
    Condemned,
    /// The state isn't the durable one.
    #[error("the state stands at {state}, and what is durable at {durable}")]
    NotDurable {
        /// The state's last event.
        state: Seq,
        /// The last event on disk.
        durable: Seq,
    },
    /// The ledger can't be asked for its chain.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// What a ledger must tell for a checkpoint to be believed.
pub trait Vouch {
    /// Its last event.
    ///
    /// # Errors
    /// When it can't be read.
    fn head(&self) -> Result<Head, LedgerError>;

    /// Its chain's hash at one event.
    ///
    /// # Errors
    /// When it can't be read.
    fn chain_at(&self, seq: Seq) -> Result<Option<ChainHash>, LedgerError>;
}

/// Which checkpoint it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The last event that was folded in.
    pub head: Head,
    /// The hash over all of it.
    pub hash: [u8; 32],
}

/// A state that was read from a checkpoint.
pub struct Loaded {
    /// The state.
    pub state: State,
    /// The checkpoint.
    pub mark: Mark,
}

/// Reads a checkpoint that this ledger vouches for, and checks every byte of it.
///
/// # Errors
/// See [`Unusable`]: fold the ledger from its first event then.
pub fn load(disk: &dyn Disk, path: &Path, ledger: &dyn Vouch) -> Result<Loaded, Unusable> {
    let reading = file::Reading::open(disk, path)?;
    let at = reading.head();
    let head = ledger.head()?;
    if at.seq > head.seq {
        return Err(Unusable::Ahead {
            at: at.seq,
            head: head.seq,
        });
    }
    if ledger.chain_at(at.seq)? != Some(at.chain) {
        return Err(Unusable::OtherHistory(at.seq));
    }
    reading.load()
}

/// Reads a checkpoint's state for whatever ledger it is of, and checks every byte of it.
///
/// # Errors
/// See [`Unusable`].
pub fn read(disk: &dyn Disk, path: &Path) -> Result<Loaded, Unusable> {
    file::Reading::open(disk, path)?.load()
}

/// The mark that a checkpoint of this state would have: two states with the same mark are the same.
///
/// # Errors
/// When none could be written.
pub fn mark(state: &State, chain: ChainHash) -> Result<Mark, NotWritten> {
    let mut sum = file::Sum::default();
    each_part(state, |part| sum.add(&layout::encode(part)?))?;
    let head = Head {
        seq: state.head(),
        chain,
    };
    Ok(Mark {
        head,
        hash: sum.hash(head),
    })
}

/// What each kind of parts comes to, in their order.
///
/// # Errors
/// When no checkpoint could be written.
pub fn kinds(state: &State) -> Result<Vec<(&'static str, [u8; 32])>, NotWritten> {
    let mut kinds: Vec<(&'static str, blake3::Hasher)> = Vec::new();
    each_part(state, |part| {
        if kinds.last().is_none_or(|(name, _)| *name != part.name()) {
            kinds.push((part.name(), blake3::Hasher::new()));
        }
        if let Some((_, hasher)) = kinds.last_mut() {
            hasher.update(&layout::encode(part)?);
        }
        Ok(())
    })?;
    let kinds = kinds.into_iter();
    Ok(kinds
        .map(|(name, hasher)| (name, *hasher.finalize().as_bytes()))
        .collect())
}

fn each_part(
    state: &State,
    mut take: impl FnMut(&Part) -> Result<(), NotWritten>,
) -> Result<(), NotWritten> {
    let mut taken = Ok(());
    let visited = state.parts(&mut |part| {
        taken = take(&part);
        if taken.is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    match visited {
        Ok(_) => taken,
        Err(Unsettled) => Err(NotWritten::Unsettled),
    }
}

/// A checkpoint that lacks nothing but the word that its state is durable.
pub struct Prepared<'d> {
    writing: Writing<'d>,
    at: Seq,
}

/// Writes a state down, which may take a while, before its last event is durable: nobody takes it for a checkpoint yet.
///
/// # Errors
/// See [`NotWritten`].
pub fn prepare<'d>(
    disk: &'d dyn Disk,
    path: &Path,
    state: &State,
) -> Result<Prepared<'d>, NotWritten> {
    let mut writing = Writing::begin(disk, path)?;
    match each_part(state, |part| writing.add(part)) {
        Ok(()) => Ok(Prepared {
            writing,
            at: state.head(),
        }),
        Err(error) => {
            writing.abandon();
            Err(error)
        }
    }
}

impl Prepared<'_> {
    /// Puts it in the place of the one before.
    ///
    /// # Errors
    /// See [`NotWritten`]; the one before is still there then.
    pub fn finish(self, durable: Head) -> Result<(), NotWritten> {
        let state = self.at;
        if state != durable.seq {
            self.abandon();
            let durable = durable.seq;
            return Err(NotWritten::NotDurable { state, durable });
        }
        self.writing.finish(durable)
    }

    /// Leaves the checkpoint before as it is.
    pub fn abandon(self) {
        self.writing.abandon();
    }
}

/// Writes a checkpoint of the state after the ledger's last event, in place of the one before.
///
/// # Errors
/// See [`NotWritten`]; the one before is still there then.
pub fn write(disk: &dyn Disk, path: &Path, durable: Head, state: &State) -> Result<(), NotWritten> {
    prepare(disk, path, state)?.finish(durable)
}

/// As [`write`], for whom a checkpoint is a convenience: a failure is told and costs nothing but time at the next start.
pub fn keep(disk: &dyn Disk, path: &Path, durable: Head, state: &State) {
    keep_prepared(prepare(disk, path, state), durable);
}

/// As [`keep`], of what was written down before.
pub fn keep_prepared(prepared: Result<Prepared<'_>, NotWritten>, durable: Head) {
    match prepared.and_then(|prepared| prepared.finish(durable)) {
        Ok(()) => tracing::debug!(at = %durable.seq, "checkpoint written"),
        Err(error) => {
            tracing::warn!(%error, "no checkpoint was written; the next start takes longer")
        }
    }
}
