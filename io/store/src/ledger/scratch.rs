//! Tables in a file without a name, while a ledger is folded anew: what is true in files, since no table holds it yet, and the
//! archives' rows, to compare those of the ledger with.

use rusqlite::Connection;
use tslp_core::ids::Seq;
use tslp_core::path::RelPath;
use tslp_projections::changes::RowChange;
use tslp_projections::file_code::TrackedFileRow;
use tslp_projections::row::{Key as _, Row as _};
use tslp_projections::state::State;
use tslp_projections::state_map::StoredFiles;
use tslp_projections::table::RowsHash;
use tslp_projections::{STATE_MAP, TABLES};

use super::error::TableError;
use super::tables::{ProjectionTables, TableStatements};

/// Bytes of files' code that a fold keeps in memory: it hardly comes back to a file.
pub(super) const CODE_BYTES_KEPT: usize = 2 << 20;

/// An empty state, whose files' code goes to a temporary file as far as it isn't needed.
#[must_use]
pub(crate) fn folding_state() -> State {
    let mut state = State::default();
    match ScratchTables::open([STATE_MAP]) {
        Ok(files) => state.set_stored_files(Box::new(files), CODE_BYTES_KEPT),
        // It all fits into memory, too.
        Err(error) => tracing::warn!(%error, "no temporary file for what is true of files"),
    }
    state
}

/// A database that SQLite keeps in a file without a name, and which vanishes with its connection. It holds some tables.
pub(crate) struct ScratchTables {
    connection: Connection,
    tables: ProjectionTables,
}

impl ScratchTables {
    pub(super) fn open(wanted: impl IntoIterator<Item = usize>) -> Result<Self, TableError> {
        let connection = Connection::open("")?;
        connection.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1024",
        )?;
        let tables = ProjectionTables::new(TABLES);
        for table in wanted {
            tables.recreate_table(&connection, table)?;
        }
        Ok(Self { connection, tables })
    }

    pub(super) fn put(&self, rows: &[RowChange]) -> Result<(), TableError> {
        let hash = &mut RowsHash::default();
        self.tables.apply_changes(&self.connection, rows, hash)
    }

    pub(super) fn rows_hash(&self, table: usize) -> Result<RowsHash, TableError> {
        self.tables.tables[table].rows_hash_until(&self.connection, Seq(u64::MAX))
    }

    fn files(&self) -> &TableStatements {
        &self.tables.tables[STATE_MAP]
    }
}

impl StoredFiles for ScratchTables {
    fn tracked_file(&self, path: &RelPath) -> Option<TrackedFileRow> {
        let key = (path.clone(),).into_cells();
        let found = self.files().find_row(&self.connection, &key);
        let found = found.unwrap_or_else(|error| {
            tracing::error!(%error, "the temporary file can't be read");
            None
        });
        TrackedFileRow::from_cells(&found?).ok()
    }

    fn keep(&self, row: &TrackedFileRow) -> bool {
        let (cells, hash) = (row.clone().into_cells(), &mut RowsHash::default());
        match self.files().put_row(&self.connection, &cells, hash) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "what is true of a file stays in memory");
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_row() {
        let files = ScratchTables::open([STATE_MAP]).unwrap();
        let row = |entities, byte| TrackedFileRow {
            path: RelPath::from_normalised("a.c"),
            entities,
            versions: vec![byte; 100_000].into(),
        };
        assert_eq!(files.tracked_file(&row(1, 1).path), None);
        assert!(files.keep(&row(1, 1)) && files.keep(&row(2, 7)));
        assert_eq!(files.tracked_file(&row(1, 1).path), Some(row(2, 7)));
    }
}
