//! The state that the tables and the events after them give, and with it the rows that are still to be written.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::time::Instant;

use tslp_core::ids::Seq;
use tslp_projections::TABLES;
use tslp_projections::changes::{Change, RowChange};
use tslp_projections::row::{EventAt, UnfitRow};
use tslp_projections::state::State;
use tslp_projections::table::{RowsHash, Value};
use tslp_replay::fold::{ChainCheck, Replay, ReplayError};
use tslp_replay::log::{Head, Stored};

use super::{LedgerError, LedgerReader, TablesState};
use crate::ledger::scratch::CODE_BYTES_KEPT;
use crate::ledger::start_error::StartError;

/// A row that the tail changes; `None`: it removes it.
type Changed = Option<Vec<Value>>;

/// The rows of one table that the tail changes, by their keys.
#[derive(Default)]
pub(crate) struct TableTail(BTreeMap<Vec<Value>, Changed>);

/// The rows of all tables that the tail changes, or why it can't be folded: then rows are shown as they are.
type TailRows = Result<Arc<Vec<TableTail>>, String>;

/// The tail between two events.
pub(crate) struct FoldedTail {
    between: (Seq, Seq),
    rows: TailRows,
}

impl TableTail {
    /// The row of a key, where `stored` finds the written one.
    pub(crate) fn found(
        &self,
        key: &[Value],
        stored: impl FnOnce() -> Result<Changed, LedgerError>,
    ) -> Result<Changed, LedgerError> {
        let changed = self.0.get(key);
        changed.map_or_else(stored, |changed| Ok(changed.clone()))
    }

    /// Hands the rows from a key on to `visit`, in the order of their keys, where `read` reads the written ones.
    pub(crate) fn merged(
        &self,
        from: &[Value],
        visit: &mut dyn FnMut(&[Value]) -> ControlFlow<()>,
        read: impl FnOnce(&mut dyn FnMut(&[Value]) -> ControlFlow<()>) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        let from = (Bound::Included(from), Bound::Unbounded);
        let mut changed = self.0.range::<[Value], _>(from).peekable();
        let mut course = ControlFlow::Continue(());
        read(&mut |row| {
            while let Some((key, new)) = changed.next_if(|(key, _)| key[..] <= row[..key.len()]) {
                let is_same = row.starts_with(key);
                course = new.iter().try_for_each(|new| visit(new));
                if is_same || course.is_break() {
                    return course;
                }
            }
            course = visit(row);
            course
        })?;
        if course.is_continue() {
            let mut left = changed.filter_map(|(_, new)| new.as_ref());
            let _is_enough = left.try_for_each(|new| visit(new));
        }
        Ok(())
    }
}

impl LedgerReader {
    /// The state at the head, by the written rows and a fold of what follows them. All of it is in memory.
    ///
    /// # Errors
    /// The reason why there is none, for people.
    pub fn state(&self) -> Result<State, String> {
        let state = self.in_snapshot(|| match self.tables_state()? {
            TablesState::UpTo(applied) => Ok(self.state_from(State::default(), applied)),
            TablesState::Rebuild { reason } => Ok(Err(reason)),
        });
        state.map_err(|error| error.to_string())?
    }

    /// Why rows that are still to be written can't be shown, if that is so.
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn flaw_of_tail(&self) -> Result<Option<String>, LedgerError> {
        self.in_snapshot(|| Ok(self.tail()?.and_then(Result::err)))
    }

    fn state_from(&self, empty: State, applied: Seq) -> Result<State, String> {
        let state = self.restore(empty, applied)?;
        let folded = self.fold_tail(state);
        folded.map_err(|error| error.to_string())
    }

    /// Takes the written rows into an empty state, which notes from then on which rows change.
    ///
    /// # Errors
    /// Why they can't be believed, for people.
    pub(crate) fn restore(&self, mut restoring: State, applied: Seq) -> Result<State, String> {
        let begun = Instant::now();
        let event: EventAt<'_> = &|seq| self.event_at(seq);
        let mut hash = RowsHash::default();
        for (index, table) in TABLES.iter().enumerate() {
            if table.is_archive() {
                continue;
            }
            let mut taken = Ok(());
            let read = self.read_stored(index, &mut |row| {
                hash.add(table, row);
                taken = restoring.restore_row(index, row, event);
                match taken {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            });
            read.map_err(|error| error.to_string())?;
            taken.map_err(|UnfitRow(what)| format!("table {}: {what}", table.name))?;
        }
        let kept = self.rows_hash().map_err(|error| error.to_string())?;
        if kept != Some(hash) {
            return Err("a table was changed since it was written".to_owned());
        }
        let state = restoring.restored(applied, event);
        let mut state = state.map_err(|UnfitRow(what)| format!("the tables: {what}"))?;
        state.follow_changes(true);
        tracing::debug!(%applied, took = ?begun.elapsed(), "the state was taken from the projections' tables");
        Ok(state)
    }

    /// Folds what follows a state, link by link.
    ///
    /// # Errors
    /// When it can't be read or believed.
    pub(crate) fn fold_tail(&self, state: State) -> Result<State, StartError> {
        let chain = self.check_after(state.head())?.head().chain;
        let from = state.head().next();
        let mut replay = Replay::from(state, chain);
        self.visit_believed(from, |stored| replay.step(stored, tslp_migrations::decode))?;
        Ok(replay.into_state())
    }

    /// A check of what follows an event, which is taken at its word.
    ///
    /// # Errors
    /// When there is none, or the ledger can't be read.
    pub(crate) fn check_after(&self, before: Seq) -> Result<ChainCheck, StartError> {
        let (after, found) = (before.0.saturating_sub(1), before.0 + 1);
        let chain = self.chain_at(before)?;
        let chain = chain.ok_or(ReplayError::Gap { after, found })?;
        Ok(ChainCheck::from(Head { seq: before, chain }))
    }

    /// Hands every stored event from a position on to `step` until one can't be believed.
    pub(crate) fn visit_believed(
        &self,
        from: Seq,
        mut step: impl FnMut(&Stored) -> Result<(), ReplayError>,
    ) -> Result<(), StartError> {
        let mut flaw = None;
        self.read(from, &mut |stored| match step(&stored) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                flaw = Some(StartError::from_replay_error(error, &stored));
                ControlFlow::Break(())
            }
        })?;
        flaw.map_or(Ok(()), Err)
    }

    /// Asks about a table as it is at the head.
    pub(crate) fn with_tail<T>(
        &self,
        table: usize,
        ask: impl FnOnce(&TableTail) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.in_snapshot(|| match self.tail()? {
            Some(Ok(tables)) => ask(&tables[table]),
            _ => ask(&TableTail::default()),
        })
    }

    /// The rows that are still to be written; `None` if there are none.
    fn tail(&self) -> Result<Option<TailRows>, LedgerError> {
        let between = (self.rows_written()?, self.head()?.seq);
        if between.0 >= between.1 {
            return Ok(None);
        }
        let mut known = self.tail.borrow_mut();
        let tail = match known.take().filter(|it| it.between == between) {
            Some(tail) => tail,
            None => FoldedTail {
                between,
                rows: self.tail_rows().map(Arc::new),
            },
        };
        Ok(Some(known.insert(tail).rows.clone()))
    }

    fn tail_rows(&self) -> Result<Vec<TableTail>, String> {
        let applied = match self.tables_state().map_err(|error| error.to_string())? {
            TablesState::UpTo(applied) => applied,
            TablesState::Rebuild { reason } => return Err(reason),
        };
        let mut empty = State::default();
        empty.forgo_names();
        if let Some(files) = self.beside().map_err(|error| error.to_string())? {
            empty.set_stored_files(Box::new(files), CODE_BYTES_KEPT);
        }
        let mut state = self.state_from(empty, applied)?;
        let mut tables: Vec<_> = TABLES.iter().map(|_| TableTail::default()).collect();
        for RowChange { table, change } in state.take_changes() {
            let (key, row) = match change {
                Change::Put(row) => (row[..TABLES[table].key].to_vec(), Some(row)),
                Change::Remove(key) => (key, None),
            };
            // The first row of an archive stays.
            let find = || self.ask(table, |table, it| table.find_row(it, &key));
            let is_kept =
                TABLES[table].is_archive() && find().map_err(|error| error.to_string())?.is_some();
            if !is_kept {
                tables[table].0.insert(key, row);
            }
        }
        Ok(tables)
    }

    /// Another reader of the same moment, from which files' code is read when it is needed; `None` if something was written in between:
    /// then all of it is in memory.
    fn beside(&self) -> Result<Option<Self>, LedgerError> {
        let connection = self.database.connect(super::AccessKind::Read)?;
        let other = Self::new(connection, self.database.clone(), self.tables.clone());
        let begun = other.connection.execute_batch("BEGIN");
        begun.map_err(other.database.sqlite_error("read"))?;
        let moment = |it: &Self| Ok::<_, LedgerError>((it.rows_written()?, it.head()?.seq));
        Ok((moment(self)? == moment(&other)?).then_some(other))
    }
}
