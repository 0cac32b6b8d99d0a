//! A copy of the database while others write to it, by SQLite's own backup.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use tslp_replay::log::Head;

use super::connection::{self, Database};
use super::error::LedgerError;
use super::reader::LedgerReader;

/// Pages copied at once: one MiB.
const PAGES_PER_STEP: std::ffi::c_int = 256;

/// The pause between two steps, for the writer's syncs on the same disk.
const PAUSE: Duration = Duration::from_millis(1);

impl LedgerReader {
    /// Copies a consistent snapshot of the database into a file that is empty or doesn't exist. `progress` hears of
    /// the pages left and of all.
    ///
    /// The writer isn't blocked: the copy reads one snapshot of the WAL, which only can't be truncated meanwhile.
    ///
    /// # Errors
    /// When either can't be used.
    pub fn copy_to(
        &self,
        file: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Head, LedgerError> {
        // Without a transaction of its own the copy would start over with every commit of the proxy.
        self.in_snapshot(|| self.copy_snapshot(file, progress))
    }

    fn copy_snapshot(
        &self,
        file: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Head, LedgerError> {
        let failed = self.database.sqlite_error("read");
        let unwritable = |error| LedgerError::from_sqlite(file, "write", error);
        let head = connection::last_head(&self.connection).map_err(&failed)?;
        let to = Database {
            path: file.to_owned(),
            disk: Arc::clone(&self.database.disk),
        };
        copy_pages(&self.connection, &to, PAUSE, progress).map_err(unwritable)?;
        Ok(head)
    }
}

/// Copies every page that a connection sees into another file, which is empty or doesn't exist.
pub(super) fn copy_pages(
    from: &Connection,
    file: &Database,
    pause: Duration,
    progress: &mut dyn FnMut(u64, u64),
) -> rusqlite::Result<()> {
    let create = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut to = file.connect_unconfigured(create)?;
    let backup = Backup::new(from, &mut to)?;
    loop {
        let step = backup.step(PAGES_PER_STEP)?;
        let pages = backup.progress();
        let count = |pages| u64::try_from(pages).unwrap_or(0);
        progress(count(pages.remaining), count(pages.pagecount));
        match step {
            StepResult::Done => break,
            // Also when SQLite is busy: a checkpoint of the writer's takes a moment, and no copy is worth an error.
            _ => std::thread::sleep(pause),
        }
    }
    drop(backup);
    to.close().map_err(|(_, error)| error)
}
