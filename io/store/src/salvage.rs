//! `tslp salvage`: the longest valid part of a damaged ledger, as a new one.

use std::io;
use std::iter;
use std::path::{Path, PathBuf};

use tslp_core::ids::Seq;
use tslp_replay::fold::ChainCheck;
use tslp_replay::log::{Log as _, Stored};

use crate::evidence::workshop::{self, ScratchPurpose};
use crate::ledger::{
    CheckpointMode, LedgerError, LedgerReader, NotAppended, OpenLedger, OpenOptions,
};
use crate::startup::{self, StartError};

/// Events written to a new ledger in one transaction.
const EVENTS_PER_BATCH: usize = 4096;

/// An error of a salvage.
#[derive(Debug, thiserror::Error)]
pub enum SalvageError {
    /// The old or the new ledger can't be opened or read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Another version of tslp wrote the old ledger. Its events would be left behind.
    #[error("nothing was salvaged: {0}")]
    OtherVersion(Box<StartError>),
    /// The new ledger's projections can't be made.
    #[error(transparent)]
    Rebuild(Box<StartError>),
    /// The target holds something.
    #[error("{} is not empty; name a folder that doesn't exist yet, or an empty one", .0.display())]
    NotEmpty(PathBuf),
    /// The target can't be written.
    #[error("{} can't be written: {cause}", path.display())]
    Write {
        /// The target.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// The new ledger takes no events.
    #[error(transparent)]
    Append(#[from] NotAppended),
}

/// The result of a salvage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SalvageResult {
    /// The last event of the new ledger.
    pub head: Seq,
    /// The error at the next event, if the old ledger goes on.
    pub flaw: Option<String>,
}

/// Copies the longest valid prefix of a ledger into a new data directory, which gets the name `to` when it is whole. The old one is
/// only read.
///
/// # Errors
/// See [`SalvageError`]. None leaves a ledger.
pub fn salvage_ledger(
    from: &LedgerReader,
    to: &Path,
    workspace: &Path,
) -> Result<SalvageResult, SalvageError> {
    if !workshop::is_free(to) {
        return Err(SalvageError::NotEmpty(to.to_owned()));
    }
    let unwritable = |cause| SalvageError::Write {
        path: to.to_owned(),
        cause,
    };
    workshop::make_data_dir(to, ScratchPurpose::Salvage, unwritable, |fresh| {
        let (result, mut opened) = copy_prefix(&OpenOptions::default(), from, fresh, workspace)?;
        opened.log.checkpoint(CheckpointMode::Truncate)?;
        Ok((result, opened.lock))
    })
}

/// Copies the longest valid prefix of a ledger into an empty one, opened with `options`.
///
/// # Errors
/// See [`SalvageError`]. What was made by then stays.
///
/// # Panics
/// If the new ledger isn't empty.
pub fn copy_prefix(
    options: &OpenOptions,
    from: &LedgerReader,
    to: &Path,
    workspace: &Path,
) -> Result<(SalvageResult, OpenLedger), SalvageError> {
    if let Err(error) = startup::verify_after(from, Seq(0))
        && error.is_other_version()
    {
        return Err(SalvageError::OtherVersion(Box::new(error)));
    }
    let mut opened = options.open(to, workspace)?;
    assert_eq!(opened.log.head()?.seq, Seq(0), "a copy begins empty");
    let mut waiting: Vec<Stored> = Vec::new();
    let (head, flaw) = read_valid(from, |stored| {
        waiting.push(stored.clone());
        if waiting.len() == EVENTS_PER_BATCH {
            opened.log.append_waiting(&mut waiting)?;
        }
        Ok(())
    })?;
    opened.log.append_waiting(&mut waiting)?;
    opened.log.note_former_workspace()?;
    let rebuilt = startup::rebuild_tables(&mut opened.log);
    rebuilt.map_err(|error| SalvageError::Rebuild(Box::new(error)))?;
    let flaw = flaw.map(|error| match error {
        StartError::Damaged(flaw) => flaw.to_string(),
        other => other.to_string(),
    });
    Ok((SalvageResult { head, flaw }, opened))
}

/// Hands `take` every event that follows from the one before, and returns the last one with the flaw behind it. In a damaged file a
/// later commit may have taken a page for free that held events: those are still in the file, and the later ones in its WAL.
///
/// # Errors
/// The first of `take`.
pub fn read_valid(
    from: &LedgerReader,
    mut take: impl FnMut(&Stored) -> Result<(), SalvageError>,
) -> Result<(Seq, Option<StartError>), SalvageError> {
    let without_wal = from.without_wal();
    let views = || iter::once(from).chain(without_wal.as_ref().ok());
    let mut chain = ChainCheck::default();
    loop {
        let before = chain.head().seq;
        let mut flaw = None;
        for view in views() {
            let next = chain.head().seq.next();
            let mut taken = Ok(());
            let read = startup::visit_all(view, next, |stored| {
                chain.step_decoded(stored, tslp_migrations::decode)?;
                if taken.is_ok() {
                    taken = take(stored);
                }
                Ok(())
            });
            taken?;
            flaw = flaw.or(read.err());
        }
        if chain.head().seq == before {
            return Ok((before, flaw));
        }
    }
}
