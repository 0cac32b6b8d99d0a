//! Fills all projection tables anew in one transaction.

use tslp_core::ids::Seq;
use tslp_projections::changes::{Change, RowChange};
use tslp_projections::table::{RowsHash, Value};

use super::connection;
use super::error::{LedgerError, TableError};
use super::reader::LedgerReader;
use super::recognise::recorded_workspace;
use super::sqlite_log::{Batch, CheckpointMode, SqliteLog};

/// Page cache of the connection during a rebuild, in KiB.
const CACHE_KIB: i64 = 16 << 10;

/// The transaction. Dropped without a commit it leaves everything as it was.
pub struct TableRebuild<'a> {
    batch: Batch<'a>,
}

impl<'a> TableRebuild<'a> {
    fn begin(log: &'a mut SqliteLog) -> Result<Self, LedgerError> {
        // Dropping a table frees pages, which in a damaged file may be the ledger's.
        log.check_movable()?;
        log.set_cache_size(CACHE_KIB)?;
        let mut batch = log.begin_batch()?;
        batch.rows_hash = RowsHash::default();
        let begun = make_anew(batch.log);
        begun.map_err(|error| batch.table_failed(error))?;
        Ok(Self { batch })
    }

    /// The ledger, as the transaction sees it.
    #[must_use]
    pub fn reader(&self) -> &LedgerReader {
        self.batch.log
    }

    /// Puts rows of archives.
    ///
    /// # Errors
    /// When SQLite fails.
    pub fn put_archived(&self, rows: &[RowChange]) -> Result<(), LedgerError> {
        let (log, hash) = (&*self.batch.log, &mut RowsHash::default());
        let put = log.tables.apply_changes(&log.connection, rows, hash);
        put.map_err(|error| log.database.table_failed("write to", error))
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
        let Batch { log, rows_hash, .. } = &mut self.batch;
        let mut filled = Ok(());
        visit_all(&mut |row| {
            if filled.is_ok() {
                let change = Change::Put(row);
                let change = RowChange { table, change };
                filled = log
                    .tables
                    .apply_changes(&log.connection, &[change], rows_hash);
            }
        });
        filled.map_err(|error| self.batch.table_failed(error))
    }

    /// Commits; the rows were folded up to `applied`.
    ///
    /// # Errors
    /// When it fails; what was there before stays.
    pub fn commit(mut self, applied: Seq) -> Result<(), LedgerError> {
        self.batch.set_applied(applied)?;
        self.batch.commit().map(drop)
    }
}

impl SqliteLog {
    /// Starts to rebuild all projection tables in one transaction, and makes them anew, empty; what was there stays until
    /// it commits. Enlarges the page cache until [`Self::tidy_up`].
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
        let note = |named| connection::set_meta(&self.connection, "moved_from", named);
        named
            .and_then(|named| named.map_or(Ok(()), note))
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
    (0..count).try_for_each(|table| {
        log.tables.recreate_table(&log.connection, table)?;
        log.tables.note_version(&log.connection, table)
    })
}
