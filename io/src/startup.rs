//! From a data directory to a state: opens the ledger, verifies every link of its chain while folding it, and puts the
//! projections' tables right.

use std::ops::ControlFlow;
use std::path::Path;

use tslp_core::ids::Seq;
use tslp_projections::TABLES;
use tslp_replay::fold::{Replay, ReplayError};
use tslp_replay::log::Log;
use tslp_replay::state::State;

use crate::ledger::LedgerError;
use crate::ledger::LedgerReader;
use crate::ledger::SqliteLog;
use crate::ledger::TablesState;
use crate::ledger::{self, OpenLedger};

/// Why there is no state to go on from.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The ledger can't be opened.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The ledger opens, and what it holds can't be believed.
    #[error(
        "the ledger is damaged: {0}. Nothing was changed. Keep a copy of the data directory as evidence and restore a \
         backup of it; events before that position are intact"
    )]
    Damaged(#[from] ReplayError),
}

impl StartError {
    /// Whether the proxy should come up in safe mode: diagnostics work, nothing is written.
    #[must_use]
    pub const fn asks_for_safe_mode(&self) -> bool {
        match self {
            Self::Ledger(error) => error.asks_for_safe_mode(),
            Self::Damaged(_) => true,
        }
    }
}

/// Opens the ledger and folds it.
///
/// # Errors
/// See [`StartError`]; an error that asks for safe mode left the ledger as it was.
pub fn start(data_dir: &Path, workspace: &Path) -> Result<(OpenLedger, State), StartError> {
    let mut opened = ledger::open(data_dir, workspace)?;
    let state = fold(&opened.log)?;
    if let TablesState::Rebuild { reason } = &opened.tables {
        tracing::info!(%reason, events = state.head().0, "rebuilding the projections from the ledger");
        rebuild(&mut opened.log, &state)?;
    }
    Ok((opened, state))
}

/// Folds the whole ledger, verifying the chain.
///
/// # Errors
/// When it can't be read or believed.
pub fn fold(log: &SqliteLog) -> Result<State, StartError> {
    let mut replay = Replay::default();
    let mut flaw = None;
    log.read(
        Seq(1),
        &mut |stored| match replay.step(&stored, tslp_migrations::decode) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                flaw = Some(error);
                ControlFlow::Break(())
            }
        },
    )?;
    match flaw {
        Some(error) => Err(error.into()),
        None => Ok(replay.into_state()),
    }
}

/// Writes every projection's table anew, in one transaction.
fn rebuild(log: &mut SqliteLog, state: &State) -> Result<(), LedgerError> {
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
pub fn verify(reader: &LedgerReader) -> Result<Seq, StartError> {
    let mut chain = tslp_replay::chain::ChainHash::GENESIS;
    let mut head = Seq(0);
    let mut flaw = None;
    reader.read(Seq(1), &mut |stored| {
        if stored.seq != head.next() {
            flaw = Some(ReplayError::Gap {
                after: head.0,
                found: stored.seq.0,
            });
            return ControlFlow::Break(());
        }
        chain = chain.extended(stored.seq, stored.at, &stored.kind, &stored.payload);
        if chain != stored.chain {
            flaw = Some(ReplayError::ChainBroken(stored.seq.0));
            return ControlFlow::Break(());
        }
        head = stored.seq;
        ControlFlow::Continue(())
    })?;
    flaw.map_or(Ok(head), |error| Err(error.into()))
}
