//! Fills all projection tables anew in one transaction.

use tslp_projections::changes::{Change, RowChange};
use tslp_projections::table::{RowsHash, Value};

use super::connection;
use super::error::LedgerError;
use super::recognise::recorded_workspace;
use super::sqlite_log::{Batch, CheckpointMode, SqliteLog};

/// Page cache of the connection during a rebuild, in KiB.
const CACHE_KIB: i64 = 16 << 10;

impl Batch<'_> {
    /// Puts rows of archives.
    ///
    /// # Errors
    /// When SQLite fails.
    pub fn put_archived(&self, rows: &[RowChange]) -> Result<(), LedgerError> {
        let (log, hash) = (&*self.log, &mut RowsHash::default());
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
        let Self { log, rows_hash, .. } = self;
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
        filled.map_err(|error| self.table_failed(error))
    }
}

impl SqliteLog {
    /// Starts to rebuild all projection tables in one transaction, and makes them anew, empty; what was there stays until
    /// it commits, after [`Batch::set_applied`]. Enlarges the page cache until [`Self::tidy_up`].
    ///
    /// # Errors
    /// When the log is poisoned or SQLite fails.
    pub fn begin_rebuild(&mut self) -> Result<Batch<'_>, LedgerError> {
        // Dropping a table frees pages, which in a damaged file may be the ledger's.
        self.check_movable()?;
        self.set_cache_size(CACHE_KIB)?;
        let mut batch = self.begin_batch()?;
        batch.rows_hash = RowsHash::default();
        let begun = batch.log.tables.make_anew(&batch.log.connection);
        begun.map_err(|error| batch.table_failed(error))?;
        Ok(batch)
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
