//! Damage on purpose: the demo's tour shows that the projections' tables can be thrown away.

use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};
use tslp_core::ids::Seq;
use tslp_projections::TABLES;

use super::connection::{self, Database};
use super::data_files::DataFiles;
use super::disk::FileSystem;
use super::error::LedgerError;

/// Drops every projection's table from a ledger that nobody has open, as anyone with a `sqlite3` shell can. The last event's position is
/// returned: the next start folds all events up to it.
///
/// # Errors
/// When the database can't be written.
pub fn drop_tables(files: &DataFiles) -> Result<Seq, LedgerError> {
    let database = Database {
        path: files.database.clone(),
        disk: Arc::new(FileSystem),
    };
    let drop_all = |connection: &Connection| {
        for table in TABLES {
            connection.execute_batch(&format!("DROP TABLE {}", table.name))?;
        }
        connection::last_head(connection)
    };
    let dropped = database
        .connect_unconfigured(OpenFlags::SQLITE_OPEN_READ_WRITE)
        .and_then(|connection| drop_all(&connection));
    let head = dropped.map_err(database.sqlite_error("drop the tables of"))?;
    Ok(head.seq)
}
