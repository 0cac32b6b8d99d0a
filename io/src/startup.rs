//! From a data directory to a state: opens the ledger, takes the state from its checkpoint and folds what came later, or
//! folds everything, verifying every link on the way, and puts the projections' tables right.

use std::ops::ControlFlow;
use std::path::Path;

use tslp_core::ids::Seq;
use tslp_core::policy::Policy;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::TABLES;
use tslp_projections::table::{TableDigest, Value};
use tslp_replay::chain::ChainHash;
use tslp_replay::engine::Engine;
use tslp_replay::fold::{ChainCheck, Replay, ReplayError};
use tslp_replay::log::{Head, Log, Stored};
use tslp_replay::state::{Contents, State};

use crate::VERSION;
use crate::checkpoint;
use crate::data_dir::DataDirError;
use crate::ledger::LedgerError;
use crate::ledger::LedgerReader;
use crate::ledger::SqliteLog;
use crate::ledger::TablesState;
use crate::ledger::{DataFiles, OpenLedger, OpenOptions};

/// Why there is no state to go on from.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The data directory can't be used.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The ledger can't be opened.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The ledger opens, and what it holds can't be believed.
    #[error(
        "the ledger is damaged: {0}. Nothing was changed. Keep the data directory as evidence, and restore a backup or \
         take everything before that position with `tslp salvage --to NEW_DIR`"
    )]
    Damaged(#[from] ReplayError),
}

impl StartError {
    /// Whether the proxy should come up in safe mode: diagnostics work, nothing is written.
    #[must_use]
    pub const fn asks_for_safe_mode(&self) -> bool {
        match self {
            Self::Ledger(error) => error.asks_for_safe_mode(),
            Self::DataDir(_) => false,
            Self::Damaged(_) => true,
        }
    }
}

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
    let files = DataFiles::of(data_dir);
    if let Some((state, unverified)) = from_checkpoint(options, &files, &opened)? {
        opened.unverified = Some(unverified);
        opened.log.settle()?;
        return Ok((opened, state));
    }
    let state = fold(&opened.log)?;
    let reason = match &opened.tables {
        TablesState::Rebuild { reason } => Some(reason.clone()),
        TablesState::Current => damaged_table(&opened.log, &state),
    };
    if let Some(reason) = reason {
        tracing::info!(%reason, events = state.head().0, "rebuilding the projections from the ledger");
        rebuild(&mut opened.log, &state)?;
    }
    opened.log.settle()?;
    Ok((opened, state))
}

/// The state that a checkpoint and what came after it give, and what it is the checkpoint of; `None` if there is no
/// checkpoint to be believed, or the tables say something else.
fn from_checkpoint(
    options: &OpenOptions,
    files: &DataFiles,
    opened: &OpenLedger,
) -> Result<Option<(State, Head)>, StartError> {
    let (loaded, chain) = match checkpoint::load(&*options.disk, &files.checkpoint, &opened.log) {
        Ok(loaded) => loaded,
        Err(reason) => {
            tracing::info!(%reason, "the checkpoint isn't used: folding the ledger from its first event");
            return Ok(None);
        }
    };
    let seq = loaded.head();
    let state = fold_tail(|from, visit| opened.log.read(from, visit), loaded, chain)?;
    let reason = match &opened.tables {
        TablesState::Rebuild { reason } => Some(reason.clone()),
        TablesState::Current => damaged_table(&opened.log, &state),
    };
    if let Some(reason) = reason {
        tracing::warn!(%reason, "the checkpoint isn't used: folding the ledger from its first event");
        return Ok(None);
    }
    tracing::info!(checkpoint = %seq, head = %state.head(), "started from the checkpoint");
    Ok(Some((state, Head { seq, chain })))
}

/// Folds what came after a checkpoint, verifying the chain from there on.
///
/// # Errors
/// When it can't be read or believed.
pub(crate) fn fold_tail(
    read: impl FnOnce(Seq, &mut dyn FnMut(Stored) -> ControlFlow<()>) -> Result<(), LedgerError>,
    loaded: State,
    chain: ChainHash,
) -> Result<State, StartError> {
    let from = loaded.head().next();
    let mut replay = Replay::from(loaded, chain);
    visit_all(
        |visit| read(from, visit),
        |stored| replay.step(stored, tslp_migrations::decode),
    )?;
    Ok(replay.into_state())
}

/// The engine of this program: with the grammars that it links, and the rules in force put on record.
pub fn engine<C: Contents>(
    state: State,
    policy: &Policy,
    contents: C,
) -> Engine<TreeSitterGrammars, C> {
    let mut engine = Engine::new(state, TreeSitterGrammars, policy.clone(), contents);
    engine.declare(VERSION);
    engine
}

/// Why a table can't be trusted, if one can't: its rows aren't what the ledger says.
fn damaged_table(log: &SqliteLog, state: &State) -> Option<String> {
    TABLES.iter().enumerate().find_map(|(index, table)| {
        match stored_digest(|visit| log.read_table(index, visit)) {
            Ok(stored) if stored == state.digest(index) => None,
            Ok(_) => Some(format!(
                "table {} doesn't hold what the ledger says",
                table.name
            )),
            Err(error) => Some(error.to_string()),
        }
    })
}

/// How many rows a stored table has, and their digest, to be held against [`State::digest`].
pub(crate) fn stored_digest(
    read: impl FnOnce(&mut dyn FnMut(Vec<Value>) -> ControlFlow<()>) -> Result<(), LedgerError>,
) -> Result<(u64, [u8; 32]), LedgerError> {
    let mut stored = TableDigest::new();
    read(&mut |row| {
        stored.add(&row);
        ControlFlow::Continue(())
    })?;
    Ok(stored.finish())
}

/// Folds the whole ledger, verifying the chain.
///
/// # Errors
/// When it can't be read or believed.
pub fn fold(log: &SqliteLog) -> Result<State, StartError> {
    let mut replay = Replay::default();
    visit_all(
        |visit| log.read(Seq(1), visit),
        |stored| replay.step(stored, tslp_migrations::decode),
    )?;
    Ok(replay.into_state())
}

/// Writes every projection's table anew, in one transaction.
///
/// # Errors
/// When the store fails; the tables are then as they were.
pub fn rebuild(log: &mut SqliteLog, state: &State) -> Result<(), LedgerError> {
    let mut rebuild = log.rebuild()?;
    for table in 0..TABLES.len() {
        let mut rows = Vec::new();
        state.rows(table, &mut |row| rows.push(row));
        rebuild.recreate(table, rows)?;
    }
    rebuild.commit(state.head())
}

/// Verifies the chain through a read-only connection, for diagnostics.
///
/// # Errors
/// When it can't be read or believed.
pub fn verify_chain(reader: &LedgerReader) -> Result<Seq, StartError> {
    let mut chain = ChainCheck::default();
    visit_all(
        |visit| reader.read(Seq(1), visit),
        |stored| chain.step(stored),
    )?;
    Ok(chain.head().seq)
}

/// Hands every stored event to `step` until one can't be believed.
pub(crate) fn visit_all(
    read: impl FnOnce(&mut dyn FnMut(Stored) -> ControlFlow<()>) -> Result<(), LedgerError>,
    mut step: impl FnMut(&Stored) -> Result<(), ReplayError>,
) -> Result<(), StartError> {
    let mut flaw = None;
    read(&mut |stored| match step(&stored) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            flaw = Some(error);
            ControlFlow::Break(())
        }
    })?;
    flaw.map_or(Ok(()), |error| Err(error.into()))
}
