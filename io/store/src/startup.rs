//! From a data directory to a state: opens the ledger and takes the state from the projections' tables, or folds everything,
//! verifying every link on the way, and puts the tables right.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use tslp_core::ids::Seq;
use tslp_projections::changes::Changes;
use tslp_projections::row::UnfitRow;
use tslp_projections::state::State;
use tslp_projections::table::TableDigest;
use tslp_projections::{EventAt, TABLES};
use tslp_replay::chain::ChainHash;
use tslp_replay::fold::{ChainCheck, Replay, ReplayError};
use tslp_replay::log::{Head, Log, Stored};

use crate::ledger::history::{self, ScrubFlaw};
use crate::ledger::spilled_files;
use crate::ledger::{LedgerError, LedgerReader, OpenLedger, OpenOptions, SqliteLog, TablesState};
use crate::progress::WalkProgress;

pub use crate::ledger::StartError;

/// Bytes of files' code that a state keeps in memory: some thousands of usual files.
pub const CODE_BYTES_KEPT: usize = 8 << 20;

/// Events after which a fold lets go of what the archives hold.
const SETTLE_EVENTS: u64 = 1024;

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
        TablesState::Current => from_tables(&opened)?,
        TablesState::Doubtful { reason } => {
            tracing::info!(%reason, "checking the projections' tables against all events");
            match from_tables(&opened)? {
                Ok(state) => flaw_of_tables(&opened.log)?.map_or(Ok(state), Err),
                Err(reason) => Err(reason),
            }
        }
    };
    let state = match restored {
        Ok(state) => {
            if opened.tables == TablesState::Current {
                verify_tail(&opened.readers.open()?)?;
                opened.log.goes_on_from_tables();
            } else {
                opened.log.trust_tables()?;
            }
            state
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

/// A check of what follows an event, which is taken at its word.
///
/// # Errors
/// When there is none, or the ledger can't be read.
pub(crate) fn check_after(reader: &LedgerReader, before: Seq) -> Result<ChainCheck, StartError> {
    let (after, found) = (before.0.saturating_sub(1), before.0 + 1);
    let chain = reader.chain_at(before)?;
    let chain = chain.ok_or(ReplayError::Gap { after, found })?;
    Ok(ChainCheck::from(Head { seq: before, chain }))
}

/// The state that the tables hold, or why they can't be believed.
fn from_tables(opened: &OpenLedger) -> Result<Result<State, String>, StartError> {
    let begun = Instant::now();
    let log = &opened.log;
    let head = log.head()?.seq;
    let mut restoring = State::default();
    restoring.set_stored_files(Box::new(opened.readers.open()?), CODE_BYTES_KEPT);
    let (state, digests) = match restore(restoring, log, head) {
        Ok(restored) => restored,
        Err(reason) => return Ok(Err(reason)),
    };
    let mut tables = TABLES.iter().zip(digests.iter().zip(log.table_digests()));
    if let Some((table, _)) = tables.find(|(_, (read, kept))| read != kept) {
        let reason = format!("table {} was changed since it was written", table.name);
        return Ok(Err(reason));
    }
    tracing::info!(%head, took = ?begun.elapsed(), "the state was taken from the projections' tables");
    Ok(Ok(state))
}

/// The state that the tables of a reader's ledger hold up to `head`, all of it in memory, and the digests of the rows that were read; an
/// archive's, whose rows stay in the store, is that of no rows.
///
/// # Errors
/// The reason why there is none, for people.
pub fn state_of_tables(
    reader: &LedgerReader,
    head: Seq,
) -> Result<(State, Vec<TableDigest>), String> {
    restore(State::default(), reader, head)
}

fn restore(
    mut restoring: State,
    reader: &LedgerReader,
    head: Seq,
) -> Result<(State, Vec<TableDigest>), String> {
    let event: EventAt<'_> = &|seq| reader.event_at(seq);
    let mut digests = vec![TableDigest::default(); TABLES.len()];
    for (index, table) in TABLES.iter().enumerate() {
        if table.is_archive() {
            continue;
        }
        let mut taken = Ok(());
        let read = reader.read_table(index, &mut |row| {
            digests[index].add(row);
            taken = restoring.restore_row(index, row, event);
            match taken {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        read.map_err(|error| error.to_string())?;
        taken.map_err(|UnfitRow(what)| format!("table {}: {what}", table.name))?;
    }
    let state = restoring.restored(head, event);
    let state = state.map_err(|UnfitRow(what)| format!("the tables: {what}"))?;
    Ok((state, digests))
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

/// The reason to rebuild tables that agree with their digests: they aren't what the ledger says.
fn flaw_of_tables(log: &SqliteLog) -> Result<Option<String>, StartError> {
    let go_on = |_| ControlFlow::Continue(());
    match history::verify_history(log, log.table_digests(), log.head()?, go_on) {
        Ok(_) => Ok(None),
        Err(ScrubFlaw::Table { table, flaw }) => Ok(Some(format!("table {table} {flaw}"))),
        Err(ScrubFlaw::Ledger(error)) => Err(error),
    }
}

/// The number of a stored table's rows, and their digest, for comparison with [`State::digest`].
///
/// # Errors
/// When the table can't be read.
pub fn stored_digest(reader: &LedgerReader, table: usize) -> Result<TableDigest, LedgerError> {
    let mut stored = TableDigest::default();
    reader.read_table(table, &mut |row| {
        stored.add(row);
        ControlFlow::Continue(())
    })?;
    Ok(stored)
}

/// Throws every projection away and writes its table anew, in one transaction, from the ledger alone. A ledger that
/// can't be believed is found out first, and nothing of it is touched.
///
/// # Errors
/// When the ledger can't be read or believed, or the store fails; the tables are then as they were.
pub fn rebuild_tables(log: &mut SqliteLog) -> Result<State, StartError> {
    let events = log.head()?.seq.0;
    verify_after(log, Seq(0))?;
    let progress = WalkProgress::new(events, "events folded");
    let mut replay = Replay::from(spilled_files::folding_state(), ChainHash::GENESIS);
    let mut changes = Changes::of_archives();
    let mut rebuild = log.begin_rebuild()?;
    rebuild.replay_events(|stored, rows| -> Result<(), StartError> {
        progress.set_done(stored.seq.0);
        replay.step_with(stored, tslp_migrations::decode, &mut changes)?;
        rows.extend(changes.drain());
        // A fold looks into no archive, so it needs nothing of what it has put there.
        if stored.seq.0.is_multiple_of(SETTLE_EVENTS) {
            replay.settle();
        }
        Ok(())
    })?;
    replay.settle();
    let state = replay.into_state();
    for (index, table) in TABLES.iter().enumerate() {
        // Archives were written on the way, since no state holds their rows.
        if !table.is_archive() {
            rebuild.fill_table(index, |visit| state.visit_rows(index, visit))?;
        }
    }
    assert_eq!(
        state.head().0,
        events,
        "nobody else appends during a rebuild"
    );
    rebuild.commit(state.head())?;
    log.tidy_up()?;
    log.trust_tables()?;
    Ok(state)
}

/// Verifies each link behind an event, and reads the events; returns the last one.
///
/// # Errors
/// When they can't be read or believed.
pub(crate) fn verify_after(reader: &LedgerReader, before: Seq) -> Result<Seq, StartError> {
    let progress = WalkProgress::new(reader.head()?.seq.0, "events verified");
    let mut chain = check_after(reader, before)?;
    visit_all(reader, before.next(), |stored| {
        progress.set_done(stored.seq.0);
        let decoded = chain.step_decoded(stored, tslp_migrations::decode);
        decoded.map(drop)
    })?;
    Ok(chain.head().seq)
}

/// Hands every stored event from a position on to `step` until one can't be believed.
pub(crate) fn visit_all(
    reader: &LedgerReader,
    from: Seq,
    mut step: impl FnMut(&Stored) -> Result<(), ReplayError>,
) -> Result<(), StartError> {
    let mut flaw = None;
    reader.read(from, &mut |stored| match step(&stored) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            flaw = Some(StartError::from_replay_error(error, &stored));
            ControlFlow::Break(())
        }
    })?;
    flaw.map_or(Ok(()), Err)
}
