//! What is true in files while a ledger is folded anew: in a file of its own, since no table holds it yet.

use rusqlite::{Connection, OptionalExtension as _};
use tslp_core::path::RelPath;
use tslp_projections::file_code::TrackedFileRow;
use tslp_projections::state::State;
use tslp_projections::state_map::StoredFiles;

/// Bytes of files' code that a fold keeps in memory: it hardly comes back to a file.
const CODE_BYTES_KEPT: usize = 2 << 20;

/// An empty state, whose files' code goes to a temporary file as far as it isn't needed.
#[must_use]
pub(crate) fn folding_state() -> State {
    let mut state = State::default();
    match SpilledFiles::open() {
        Ok(files) => state.set_stored_files(Box::new(files), CODE_BYTES_KEPT),
        // It all fits into memory, too.
        Err(error) => tracing::warn!(%error, "no temporary file for what is true of files"),
    }
    state
}

/// A database that SQLite keeps in a file without a name, and which vanishes with its connection.
struct SpilledFiles(Connection);

impl SpilledFiles {
    fn open() -> rusqlite::Result<Self> {
        let connection = Connection::open("")?;
        connection.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1024;
             CREATE TABLE files (path TEXT PRIMARY KEY, entities INTEGER, versions BLOB)",
        )?;
        Ok(Self(connection))
    }

    fn find(&self, path: &RelPath) -> rusqlite::Result<Option<TrackedFileRow>> {
        let sql = "SELECT entities, versions FROM files WHERE path = ?1";
        let mut statement = self.0.prepare_cached(sql)?;
        let found = statement.query_row([path.as_str()], |row| {
            Ok(TrackedFileRow {
                path: path.clone(),
                entities: row.get(0)?,
                versions: row.get_ref(1)?.as_blob()?.into(),
            })
        });
        found.optional()
    }

    fn put(&self, row: &TrackedFileRow) -> rusqlite::Result<()> {
        let sql = "INSERT OR REPLACE INTO files (path, entities, versions) VALUES (?1, ?2, ?3)";
        let cells = (row.path.as_str(), row.entities, &*row.versions);
        self.0.prepare_cached(sql)?.execute(cells).map(drop)
    }
}

impl StoredFiles for SpilledFiles {
    fn tracked_file(&self, path: &RelPath) -> Option<TrackedFileRow> {
        let found = self.find(path);
        found.unwrap_or_else(|error| {
            tracing::error!(%error, "the temporary file can't be read");
            None
        })
    }

    fn keep(&self, row: &TrackedFileRow) -> bool {
        match self.put(row) {
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
    fn the_last_row_of_a_file_comes_back() {
        let files = SpilledFiles::open().unwrap();
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
