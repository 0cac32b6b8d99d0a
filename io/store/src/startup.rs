//! From a data directory to a state: opens the ledger and takes the state from the projections' tables, or folds everything,
//! verifying every link on the way, and puts the tables right.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use tslp_core::ids::Seq;
use tslp_projections::TABLES;
use tslp_projections::changes::RowChange;
use tslp_projections::state::State;
use tslp_replay::chain::ChainHash;

use crate::ledger::history;
use crate::ledger::scratch;
use crate::ledger::{LedgerReader, OpenLedger, OpenOptions, SqliteLog, TablesState};
use crate::progress::WalkProgress;

pub use crate::ledger::StartError;

/// Bytes of files' code that a state keeps in memory: some thousands of usual files.
pub const CODE_BYTES_KEPT: usize = 8 << 20;

/// Opens the ledger and folds it.
///
/// # Errors
/// See [`StartError`]; an error that asks for safe mode left the ledger as it was.
pub fn start(
    options: &OpenOptions,
    data_dir: &Path,
    workspace: &Path,
) -> Result<(OpenLedger, State), StartError> {
    let mut opened = options.open(data_dir, workspace)?;
    let restored = match &opened.tables {
        TablesState::Rebuild { reason } => Err(reason.clone()),
        TablesState::UpTo(applied) => {
            let mut restoring = State::default();
            restoring.set_stored_files(Box::new(opened.readers.open()?), CODE_BYTES_KEPT);
            opened.log.restore(restoring, *applied)
        }
    };
    let state = match restored {
        Ok(state) => {
            let (rows, head) = (state.head(), opened.log.head()?.seq);
            tracing::info!(%head, %rows, "the state was taken from the projections' tables");
            verify_tail(&opened.log)?;
            opened.log.fold_tail(state)?
        }
        Err(reason) => {
            let mut state = rebuild_because(&mut opened.log, &reason)?;
            state.set_stored_files(Box::new(opened.readers.open()?), CODE_BYTES_KEPT);
            state
        }
    };
    opened.log.make_durable()?;
    Ok((opened, state))
}

/// Events at the ledger's end that are verified before anything follows them; the scrub reads the others.
const TAIL_EVENTS: u64 = 16;

/// Verifies the last events, link by link, and returns the last one.
///
/// # Errors
/// When they can't be read or believed.
pub fn verify_tail(reader: &LedgerReader) -> Result<Seq, StartError> {
    let head = reader.head()?.seq;
    verify_after(reader, Seq(head.0.saturating_sub(TAIL_EVENTS)))
}

fn rebuild_because(log: &mut SqliteLog, reason: &str) -> Result<State, StartError> {
    let begun = Instant::now();
    let events = log.head()?.seq.0;
    tracing::info!(%reason, events, "rebuilding the projections from the ledger");
    let state = rebuild_tables(log)?;
    let seconds = begun.elapsed().as_secs_f64();
    tracing::info!(
        tables = TABLES.len(),
        events,
        seconds,
        "the projections are rebuilt"
    );
    Ok(state)
}

/// Throws every projection away and writes its table anew, in one transaction, from the ledger alone. A ledger that
/// can't be believed is found out first, and nothing of it is touched.
///
/// # Errors
/// When the ledger can't be read or believed, or the store fails; the tables are then as they were.
pub fn rebuild_tables(log: &mut SqliteLog) -> Result<State, StartError> {
    let head = log.head()?;
    verify_after(log, Seq(0))?;
    let progress = WalkProgress::new(head.seq.0, "events folded");
    let mut rebuild = log.begin_rebuild()?;
    let course = |done: Seq| {
        progress.set_done(done.0);
        ControlFlow::Continue(())
    };
    let put = |rows: &[RowChange]| rebuild.put_archived(rows);
    let folded = history::fold_events(
        (scratch::folding_state(), ChainHash::GENESIS),
        &*rebuild.log,
        head,
        course,
        put,
    );
    let state = folded?.expect("nobody breaks it off");
    for (index, table) in TABLES.iter().enumerate() {
        // Archives were written on the way, since no state holds their rows.
        if !table.is_archive() {
            rebuild.fill_table(index, |visit| state.visit_rows(index, visit))?;
        }
    }
    rebuild.set_applied(head.seq)?;
    rebuild.commit()?;
    log.tidy_up()?;
    Ok(state)
}

/// Verifies each link behind an event, and reads the events; returns the last one.
///
/// # Errors
/// When they can't be read or believed.
pub(crate) fn verify_after(reader: &LedgerReader, before: Seq) -> Result<Seq, StartError> {
    let progress = WalkProgress::new(reader.head()?.seq.0, "events verified");
    let mut chain = reader.check_after(before)?;
    reader.visit_believed(before.next(), |stored| {
        progress.set_done(stored.seq.0);
        let decoded = chain.step_decoded(stored, tslp_migrations::decode);
        decoded.map(drop)
    })?;
    Ok(chain.head().seq)
}
