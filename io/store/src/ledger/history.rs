//! The check of everything: each event, link by link, and whether every table holds what the events say.

use std::ops::ControlFlow;

use tslp_core::ids::Seq;
use tslp_projections::TABLES;
use tslp_projections::changes::{Change, RowChange};
use tslp_projections::state::State;
use tslp_projections::table::{RowsHash, Table, Value};
use tslp_replay::chain::ChainHash;
use tslp_replay::fold::{Replay, ReplayError};
use tslp_replay::log::Head;

use super::error::LedgerError;
use super::reader::LedgerReader;
use super::scratch::{self, ScratchTables};
use super::start_error::StartError;

/// Rows collected before they are written in the order of their keys, so that a page is written once and not for each row.
const ROWS_WAITING: usize = 16_384;

/// A table's rows, or how they differ from what the events say.
pub struct TableCheck {
    /// The table.
    pub table: &'static Table,
    /// The hash of its rows, or the rest of a sentence that begins with the table.
    pub result: Result<RowsHash, String>,
}

/// Folds every event after a state up to `end`, link by link. The archives' rows go to `put`, in the order of their keys, and some
/// thousands at a time; the state holds the others. `course` gets the last verified event before each page; `None`: it broke off.
///
/// # Errors
/// When the ledger can't be read or believed; the first error of `put`.
pub(crate) fn fold_events(
    (state, chain): (State, ChainHash),
    reader: &LedgerReader,
    end: Head,
    mut course: impl FnMut(Seq) -> ControlFlow<()>,
    mut put: impl FnMut(&[RowChange]) -> Result<(), LedgerError>,
) -> Result<Option<State>, StartError> {
    let mut replay = Replay::from(state, chain);
    let mut waiting = Vec::new();
    let mut put_waiting = |waiting: &mut Vec<RowChange>| {
        // The sort is stable, so of rows with one key the first comes first.
        waiting.sort_by(|one, other| place_of(one).cmp(&place_of(other)));
        let written = put(waiting);
        waiting.clear();
        written
    };
    while replay.head().seq < end.seq {
        let done = replay.head().seq;
        if course(done).is_break() {
            return Ok(None);
        }
        // A page at a time: one snapshot held over the whole walk would keep the writer from cutting its WAL.
        let (page, read) = reader.page(done.next(), end.seq);
        for stored in page {
            let step = replay.step(&stored, tslp_migrations::decode);
            step.map_err(|error| StartError::from_replay_error(error, &stored))?;
        }
        read?;
        if replay.head().seq == done {
            let (after, found) = (done.0, end.seq.0);
            return Err(ReplayError::Gap { after, found }.into());
        }
        for table in archives() {
            replay.state().visit_rows(table, &mut |row| {
                let change = Change::Put(row);
                waiting.push(RowChange { table, change });
            });
        }
        if waiting.len() >= ROWS_WAITING {
            put_waiting(&mut waiting)?;
        }
        replay.settle();
    }
    put_waiting(&mut waiting)?;
    if replay.head() != end {
        return Err(ReplayError::ChainBroken(end.seq.0).into());
    }
    Ok(Some(replay.into_state()))
}

/// The table of a row, and its key.
fn place_of(RowChange { table, change }: &RowChange) -> (usize, &[Value]) {
    let (Change::Put(cells) | Change::Remove(cells)) = change;
    (*table, &cells[..TABLES[*table].key])
}

/// The tables to which rows are only added.
fn archives() -> impl Iterator<Item = usize> {
    (0..TABLES.len()).filter(|table| TABLES[*table].is_archive())
}

/// Verifies every event up to the head of now, folds them into an empty state, and compares each table with what those say whose rows
/// are written. `None`: `course`, which gets the last verified event before each page, broke off.
///
/// # Errors
/// When the ledger can't be read or believed.
pub fn check_all(
    reader: &LedgerReader,
    mut course: impl FnMut(Seq) -> ControlFlow<()>,
) -> Result<Option<(State, Vec<TableCheck>)>, StartError> {
    let (end, written, stored) = reader.in_snapshot(|| {
        let hashes = (0..TABLES.len()).map(|index| match TABLES[index].is_archive() {
            // Rows are only added, so those of later events are told apart by their position.
            true => Ok(RowsHash::default()),
            false => reader.rows_hash_until(index, Seq(u64::MAX)),
        });
        let (end, seq) = (reader.head()?, reader.rows_written()?);
        let chain = reader.chain_at(seq)?;
        let written = chain.map_or(end, |chain| Head { seq, chain });
        Ok((end, written, hashes.collect::<Vec<_>>()))
    })?;
    let archives = ScratchTables::open(archives());
    let archives = archives.map_err(|error| reader.database.table_failed("check", error))?;
    let put = |rows: &[RowChange]| {
        let put = archives.put(rows);
        put.map_err(|error| reader.database.table_failed("check", error))
    };
    let empty = (scratch::folding_state(), ChainHash::GENESIS);
    let Some(state) = fold_events(empty, reader, written, &mut course, put)? else {
        return Ok(None);
    };
    let checks = TABLES.iter().zip(stored).enumerate();
    let checks = checks.map(|(index, (table, stored))| {
        let (stored, said) = match table.is_archive() {
            true => (
                reader.rows_hash_until(index, written.seq),
                archives.rows_hash(index),
            ),
            false => (stored, Ok(state.rows_hash(index))),
        };
        let said = said.map_err(|error| reader.database.table_failed("check", error))?;
        let result = match stored {
            Ok(stored) if stored == said => Ok(stored),
            Ok(stored) => Err(format!(
                "holds {} rows with hash {stored}, but the ledger says {} rows with hash {said}",
                stored.rows(),
                said.rows(),
            )),
            Err(error) if error.is_interruption() => return Err(error.into()),
            Err(error) => Err(format!("can't be read: {error}")),
        };
        Ok(TableCheck { table, result })
    });
    let checks = checks.collect::<Result<_, StartError>>()?;
    // The rows of what follows are still to be written.
    let state = fold_events((state, written.chain), reader, end, course, |_| Ok(()))?;
    Ok(state.map(|state| (state, checks)))
}
