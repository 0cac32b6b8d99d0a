//! Fills all projection tables anew in one transaction, from a stream of events: memory doesn't grow with the ledger.

use std::ops::ControlFlow;

use tslp_core::ids::Seq;
use tslp_projections::TABLES;
use tslp_projections::changes::{Change, RowChange};
use tslp_projections::table::{TableDigest, Value};
use tslp_replay::log::Stored;

use super::connection;
use super::error::{LedgerError, TableError};
use super::recognise::recorded_workspace;
use super::sqlite_log::{Batch, CheckpointMode, SqliteLog};

/// Rows collected before they are written in the order of their keys, so that a page is written once and not for each row.
const ROWS_WAITING: usize = 16_384;

/// Page cache of the connection during a rebuild, in KiB.
const CACHE_KIB: i64 = 16 << 10;

/// The transaction. Dropped without a commit it leaves everything as it was.
pub struct TableRebuild<'a> {
    batch: Batch<'a>,
    waiting: Vec<RowChange>,
}

impl<'a> TableRebuild<'a> {
    fn begin(log: &'a mut SqliteLog) -> Result<Self, LedgerError> {
        // Dropping a table frees pages, which in a damaged file may be the ledger's.
        log.check_movable()?;
        let mut batch = log.begin_batch()?;
        // Digests are sums over rows, so those of empty tables are where the new rows start from.
        batch.digests.fill(TableDigest::default());
        let begun = make_anew(batch.log);
        begun.map_err(|error| batch.table_failed(error))?;
        Ok(Self {
            batch,
            waiting: Vec::new(),
        })
    }

    /// Hands every event to `fold`, in order, which returns the rows that they put. Enlarges the page cache until
    /// [`SqliteLog::tidy_up`].
    ///
    /// # Errors
    /// The first error of `fold`, or when SQLite fails.
    pub fn replay_events<E: From<LedgerError>>(
        &mut self,
        mut fold: impl FnMut(&Stored, &mut Vec<RowChange>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { batch, waiting } = self;
        batch.log.set_cache_size(CACHE_KIB)?;
        let mut failed = Ok(());
        let mut refused = None;
        let read = connection::visit_events(&batch.log.connection, Seq(1), &mut |stored| {
            if let Err(error) = fold(&stored, waiting) {
                refused = Some(error);
                return ControlFlow::Break(());
            }
            if waiting.len() >= ROWS_WAITING {
                failed = write(batch.log, &mut batch.digests, waiting);
            }
            match failed {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        if let Some(error) = refused {
            return Err(error);
        }
        read.map_err(TableError::from)
            .and(failed)
            .and_then(|()| write(batch.log, &mut batch.digests, waiting))
            .map_err(|error| batch.table_failed(error).into())
    }

    /// Fills one table with the rows that `visit_all` visits.
    ///
    /// # Errors
    /// When a row doesn't fit the table, or SQLite fails.
    pub fn fill_table(
        &mut self,
        table: usize,
        visit_all: impl FnOnce(&mut dyn FnMut(Vec<Value>)),
    ) -> Result<(), LedgerError> {
        let Batch { log, digests, .. } = &mut self.batch;
        let mut filled = Ok(());
        visit_all(&mut |row| {
            if filled.is_ok() {
                let change = Change::Put(row);
                let change = RowChange { table, change };
                filled = log
                    .tables
                    .apply_changes(&log.connection, &[change], digests);
            }
        });
        filled.map_err(|error| self.batch.table_failed(error))
    }

    /// Commits; the rows were folded up to `applied`.
    ///
    /// # Errors
    /// When it fails; what was there before stays.
    pub fn commit(mut self, applied: Seq) -> Result<(), LedgerError> {
        let log = &*self.batch.log;
        let count = log.tables.descriptions().count();
        assert!(
            self.waiting.is_empty(),
            "every row is written before the commit"
        );
        // Triggers come last: they would be asked for each row of an archive that is filled.
        let sealed = (0..count)
            .try_for_each(|table| log.tables.complete_table(&log.connection, table))
            .and_then(|()| {
                let digests = &self.batch.digests;
                log.tables.keep_digests(&log.connection, digests, None)
            });
        sealed.map_err(|error| self.batch.table_failed(error))?;
        self.batch.set_applied(applied)?;
        self.batch.commit_sealed().map(drop)
    }
}

impl SqliteLog {
    /// Starts to rebuild all projection tables in one transaction, and makes them anew, empty; what was there stays until
    /// it commits.
    ///
    /// # Errors
    /// When the log is poisoned or SQLite fails.
    pub fn begin_rebuild(&mut self) -> Result<TableRebuild<'_>, LedgerError> {
        TableRebuild::begin(self)
    }

    /// Notes the workspace that the events name, which were another ledger's.
    ///
    /// # Errors
    /// When SQLite fails.
    pub fn note_former_workspace(&mut self) -> Result<(), LedgerError> {
        let named = recorded_workspace(&self.connection);
        named
            .and_then(|named| connection::set_meta(&self.connection, "moved_from", named))
            .map_err(self.database.sqlite_error("write"))
    }

    /// Moves a rebuild's rows out of the WAL, and frees the page cache that it needed.
    ///
    /// # Errors
    /// When SQLite fails; the log is poisoned then.
    pub fn tidy_up(&mut self) -> Result<(), LedgerError> {
        self.checkpoint(CheckpointMode::Truncate)?;
        self.set_cache_size(connection::CACHE_KIB)?;
        self.connection
            .execute_batch("PRAGMA shrink_memory")
            .map_err(self.database.sqlite_error("set up"))
    }
}

/// Drops every table, including those of projections that no longer exist, and creates the current ones.
fn make_anew(log: &SqliteLog) -> Result<(), TableError> {
    log.tables.drop_unknown(&log.connection)?;
    let count = log.tables.descriptions().count();
    (0..count).try_for_each(|table| log.tables.recreate_table(&log.connection, table))
}

/// Writes the rows in the order of their keys. The sort is stable, so of rows with one key the first comes first.
fn write(
    log: &SqliteLog,
    digests: &mut [TableDigest],
    waiting: &mut Vec<RowChange>,
) -> Result<(), TableError> {
    // In key order each page is written once; rows in the order of the events touch a page of the tree each.
    waiting.sort_by(|one, other| one.table_and_key(TABLES).cmp(&other.table_and_key(TABLES)));
    let written = log.tables.apply_changes(&log.connection, waiting, digests);
    waiting.clear();
    written
}
