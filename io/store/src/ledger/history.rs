//! Verifies all events of a ledger whose state was taken from its tables: each link, each event's bytes, the archives' rows,
//! and whether the other tables are what the events make of them.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use tslp_core::ids::Seq;
use tslp_projections::TABLES;
use tslp_projections::changes::Changes;
use tslp_projections::state::State;
use tslp_projections::table::TableDigest;
use tslp_replay::chain::ChainHash;
use tslp_replay::fold::{Replay, ReplayError};
use tslp_replay::log::Head;

use super::archive_check::{ArchiveCheck, ArchiveResult};
use super::disk::Disk;
use super::error::LedgerError;
use super::reader::LedgerReader;
use super::soundness::Soundness;
use super::spilled_files;
use super::start_error::StartError;

/// A flaw that a scrub has found.
#[derive(Debug, thiserror::Error)]
pub enum ScrubFlaw {
    /// The ledger can't be read or believed.
    #[error(transparent)]
    Ledger(#[from] StartError),
    /// A table holds something else than the ledger says.
    #[error(
        "table {table} {flaw}. No event is lost: restart tslp, which makes its tables anew from the ledger, and run \
         `tslp verify --deep` to see whether anything was decided by them"
    )]
    Table {
        /// The table.
        table: &'static str,
        /// The end of a sentence about it.
        flaw: String,
    },
}

impl From<LedgerError> for ScrubFlaw {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error.into())
    }
}

impl ScrubFlaw {
    /// Whether the check was interrupted, which says nothing about the ledger.
    pub(crate) fn is_interruption(&self) -> bool {
        matches!(self, Self::Ledger(StartError::Ledger(error)) if error.is_interruption())
    }
}

/// Folds everything up to `end`, verifying the chain, and compares the stored archives. The state holds what is true; the archives are the
/// store's. `course` gets the last verified event before each page; `None`: it broke off.
///
/// # Errors
/// When the ledger can't be read or believed.
pub fn fold_history(
    reader: &LedgerReader,
    end: Head,
    course: impl FnMut(Seq) -> ControlFlow<()>,
) -> Result<Option<(State, Vec<ArchiveResult>)>, StartError> {
    fold_into(spilled_files::folding_state(), reader, end, course)
}

fn fold_into(
    empty: State,
    reader: &LedgerReader,
    end: Head,
    mut course: impl FnMut(Seq) -> ControlFlow<()>,
) -> Result<Option<(State, Vec<ArchiveResult>)>, StartError> {
    let mut replay = Replay::from(empty, ChainHash::GENESIS);
    let mut check = ArchiveCheck::default();
    while replay.head().seq < end.seq {
        let done = replay.head().seq;
        if course(done).is_break() {
            return Ok(None);
        }
        // A page at a time: one snapshot held over the whole walk would keep the writer from cutting its WAL.
        let (page, read) = reader.page(done.next(), end.seq);
        let mut changes = Changes::of_archives();
        for stored in page {
            let step = replay.step_with(&stored, tslp_migrations::decode, &mut changes);
            step.map_err(|error| StartError::from_replay_error(error, &stored))?;
        }
        read?;
        if replay.head().seq == done {
            let (after, found) = (done.0, end.seq.0);
            return Err(ReplayError::Gap { after, found }.into());
        }
        check.check_rows(changes.drain(), reader)?;
        replay.settle();
    }
    if replay.head() != end {
        return Err(ReplayError::ChainBroken(end.seq.0).into());
    }
    Ok(Some((
        replay.into_state(),
        check.into_results(end.seq, reader)?,
    )))
}

/// Verifies everything up to `end`, where the tables have these digests; `course` gets the last verified event before each page.
///
/// # Errors
/// The flaw.
pub fn verify_history(
    reader: &LedgerReader,
    tables: &[TableDigest],
    end: Head,
    course: impl FnMut(Seq) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, ScrubFlaw> {
    let mut empty = spilled_files::folding_state();
    empty.forgo_names();
    let Some((state, archives)) = fold_into(empty, reader, end, course)? else {
        return Ok(ControlFlow::Break(()));
    };
    for archive in archives {
        archive.rows.map_err(|flaw| ScrubFlaw::Table {
            table: TABLES[archive.table].name,
            flaw,
        })?;
    }
    assert_eq!(tables.len(), TABLES.len(), "a digest for each table");
    for (index, table) in TABLES.iter().enumerate() {
        // An archive has no digest: its rows were compared one by one on the way.
        if !table.is_archive() && state.digest(index) != tables[index] {
            return Err(ScrubFlaw::Table {
                table: table.name,
                flaw: "doesn't hold what the ledger says, though its digest fits".to_owned(),
            });
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Nothing more is written, and the next start looks at everything itself.
pub fn condemn_ledger(soundness: &Soundness, disk: &dyn Disk, doubt: &Path, reason: &str) {
    tracing::error!(
        reason,
        "the ledger was found to be damaged: nothing more is written"
    );
    soundness.condemn(reason);
    let write = || -> io::Result<()> {
        let mut file = disk.create(doubt)?;
        file.write_at(0, reason.as_bytes())?;
        file.sync()?;
        disk.sync_name(doubt)
    };
    if let Err(error) = write() {
        tracing::error!(%error, file = %doubt.display(), "the next start can't be told; run `tslp rebuild` before it");
    }
}
