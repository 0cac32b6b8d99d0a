//! Verifies all events of a ledger whose state was taken from its tables: each link, each event's bytes, the archives' rows,
//! and whether the other tables are what the events make of them.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use tslp_core::ids::Seq;
use tslp_projections::TABLES;
use tslp_projections::changes::Changes;
use tslp_projections::table::TableDigest;
use tslp_replay::fold::{Replay, ReplayError};
use tslp_replay::log::{Head, Stored};

use super::archive_check::ArchiveCheck;
use super::disk::Disk;
use super::error::LedgerError;
use super::soundness::Soundness;
use super::start_error::StartError;
use super::tables::ArchiveRows;

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

impl From<ReplayError> for ScrubFlaw {
    fn from(error: ReplayError) -> Self {
        Self::Ledger(error.into())
    }
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

/// Takes one stored event after the other.
pub type StoredVisitor<'v> = dyn FnMut(Stored) -> ControlFlow<()> + 'v;

/// Hands the stored events from a position on to a visitor, through any connection.
pub type StoredReader<'r> = dyn Fn(Seq, &mut StoredVisitor<'_>) -> Result<(), LedgerError> + 'r;

/// Events read at once. Between two pages no snapshot is held.
const PAGE_EVENTS: usize = 512;

/// Bytes after which a page ends early.
const PAGE_BYTES: usize = 1 << 20;

/// Verifies everything up to `end`, where the tables have these digests; `course` gets the last verified event before each page.
///
/// # Errors
/// The flaw.
pub fn verify_history(
    read: &StoredReader<'_>,
    archives: &impl ArchiveRows,
    tables: &[TableDigest],
    end: Head,
    mut course: impl FnMut(Seq) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, ScrubFlaw> {
    let mut replay = Replay::default();
    let mut check = ArchiveCheck::default();
    while replay.head().seq < end.seq {
        let done = replay.head().seq;
        if course(done).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        // A page at a time: one snapshot held over the whole walk would keep the writer from cutting its WAL.
        let mut changes = fold_page(read, &mut replay, end.seq)?;
        check.check_rows(changes.drain(), archives);
        replay.settle();
    }
    if replay.head() != end {
        return Err(ReplayError::ChainBroken(end.seq.0).into());
    }
    for archive in check.into_results(end.seq, archives) {
        archive.rows.map_err(|flaw| ScrubFlaw::Table {
            table: TABLES[archive.table].name,
            flaw,
        })?;
    }
    let state = replay.state();
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

/// Folds the next events, and gives what they put into the archives.
fn fold_page(
    read: &StoredReader<'_>,
    replay: &mut Replay,
    until: Seq,
) -> Result<Changes, ScrubFlaw> {
    let mut changes = Changes::of_archives();
    let before = replay.head().seq;
    let (mut events, mut bytes, mut flaw) = (0, 0, None);
    read(before.next(), &mut |stored: Stored| {
        if stored.seq > until {
            return ControlFlow::Break(());
        }
        if let Err(error) = replay.step_with(&stored, tslp_migrations::decode, &mut changes) {
            flaw = Some(StartError::from_replay_error(error, &stored));
            return ControlFlow::Break(());
        }
        events += 1;
        bytes += stored.payload.len();
        if events == PAGE_EVENTS || bytes >= PAGE_BYTES {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    if let Some(error) = flaw {
        return Err(error.into());
    }
    if replay.head().seq == before {
        return Err(ReplayError::Gap {
            after: before.0,
            found: until.0,
        }
        .into());
    }
    Ok(changes)
}
