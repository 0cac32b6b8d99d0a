//! Opens the ledger of a data directory: lock, checks that change nothing, and only then the writer.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};
use tslp_core::ids::Seq;
use tslp_migrations::schema::{APPLICATION_ID, FORMAT, FORMAT_VERSION, SCHEMA};
use tslp_projections::table::RowsHash;
use tslp_replay::log::Head;

use super::anchor::{self, Anchor, AnchorState};
use super::connection::{self, AccessKind, Database, companion_file, set_meta};
use super::data_files::DataFiles;
use super::disk::Disk;
use super::error::{AnchorMismatch, LedgerError};
use super::lock::DataDirLock;
use super::open_options::{MissingAnchor, OpenOptions};
use super::packing::Packer;
use super::reader::{LedgerReader, ReaderFactory};
use super::recognise::{as_damage, check_file, check_meta, check_schema, check_version};
use super::soundness::Soundness;
use super::sqlite_log::SqliteLog;
use super::tables::{ProjectionTables, TablesState};

/// First SQLite without the WAL-reset bug.
const SQLITE_VERSION_MIN: i32 = 3_051_003;

/// An opened ledger.
pub struct OpenLedger {
    /// The one writer. Its chain is not verified yet, apart from the anchor's position.
    pub log: SqliteLog,
    /// Makes read-only connections.
    pub readers: ReaderFactory,
    /// Whether the projections' tables can be used.
    pub tables: TablesState,
    /// The data directory's lock; the log holds it, too.
    pub lock: Arc<DataDirLock>,
}

/// Opens or creates the ledger of a workspace, with today's projections.
///
/// # Errors
/// See [`LedgerError`]; nothing on disk was changed if it [asks for safe mode](LedgerError::asks_for_safe_mode).
pub fn open_ledger(data_dir: &Path, workspace: &Path) -> Result<OpenLedger, LedgerError> {
    OpenOptions::default().open(data_dir, workspace)
}

impl OpenOptions {
    /// Opens or creates the ledger of a workspace.
    ///
    /// # Errors
    /// As [`open_ledger`].
    pub fn open(&self, data_dir: &Path, workspace: &Path) -> Result<OpenLedger, LedgerError> {
        check_sqlite()?;
        let files = DataFiles::of(data_dir);
        let disk = &*self.disk;
        disk.make_dir(&files.dir)
            .map_err(|source| LedgerError::DataDir {
                path: files.dir.clone(),
                source,
            })?;
        // The lock comes first, and an existing database isn't written to before all checks are done: a damaged one is evidence.
        let lock = Arc::new(disk.lock(&files.lock)?);
        let database = Database {
            path: files.database.clone(),
            disk: Arc::clone(&self.disk),
        };
        if !has_bytes(disk, &files.database)? {
            check_nothing_left(disk, &files)?;
            create_ledger(&database, workspace)?;
        }
        make_private(disk, &files.database)?;
        let damage = |error| as_damage(disk, &files, error);
        check_file(disk, &files.database).map_err(damage)?;
        let head = self
            .inspect_database(&database, &files, workspace)
            .map_err(damage)?;
        let anchor = open_anchor(disk, &files, head)?;
        let tables = ProjectionTables::new(self.tables);
        let log = connect_writer(database, tables, anchor, head, Arc::clone(&lock));
        let mut log = log.map_err(damage)?;
        let tables = prepare_tables(&mut log)?;
        Ok(OpenLedger {
            log,
            readers: ReaderFactory::new(&files, self),
            tables,
            lock,
        })
    }

    /// Inspects the database through a connection that can't write, so that evidence stays as it is. Returns its head.
    fn inspect_database(
        &self,
        database: &Database,
        files: &DataFiles,
        workspace: &Path,
    ) -> Result<Head, LedgerError> {
        let connection = database.connect(AccessKind::Read)?;
        let failed = database.sqlite_error("read");
        check_version(&connection, database)?;
        check_schema(&connection, database)?;
        check_meta(&connection, database, workspace)?;
        let head = connection::last_head(&connection).map_err(&failed)?;
        self.check_anchor(&connection, database, files, head)?;
        Ok(head)
    }

    /// Makes sure that the anchor vouches for what is there.
    fn check_anchor(
        &self,
        connection: &Connection,
        database: &Database,
        files: &DataFiles,
        head: Head,
    ) -> Result<(), LedgerError> {
        let anchor = match anchor::read(&*self.disk, &files.anchor)? {
            AnchorState::Head(anchor) => anchor,
            // Between creating the database and its anchor there are no events yet.
            AnchorState::Missing if head.seq == Seq(0) => return Ok(()),
            _ if self.missing_anchor == MissingAnchor::Adopt => return Ok(()),
            reading => {
                return Err(LedgerError::AnchorMissing {
                    path: database.path.clone(),
                    anchor: files.anchor.clone(),
                    state: if reading == AnchorState::Missing {
                        "missing"
                    } else {
                        "damaged"
                    },
                    head,
                });
            }
        };
        let failed = database.sqlite_error("read");
        let chain = connection::chain_at(connection, anchor.seq).map_err(failed)?;
        let mismatch = match chain {
            Some(chain) if chain == anchor.chain => return Ok(()),
            Some(_) => AnchorMismatch::OtherHistory,
            None => AnchorMismatch::LostTail {
                ledger_ends_at: head.seq,
            },
        };
        Err(LedgerError::AnchorMismatch {
            path: database.path.clone(),
            anchor,
            ledger: head,
            mismatch,
        })
    }
}

fn check_sqlite() -> Result<(), LedgerError> {
    if rusqlite::version_number() < SQLITE_VERSION_MIN {
        return Err(LedgerError::SqliteTooOld {
            found: rusqlite::version(),
        });
    }
    Ok(())
}

fn make_private(disk: &dyn Disk, file: &Path) -> Result<(), LedgerError> {
    disk.make_private(file)
        .map_err(LedgerError::on_file("restrict access to", file))
}

fn has_bytes(disk: &dyn Disk, file: &Path) -> Result<bool, LedgerError> {
    match disk.bytes(file) {
        Ok(bytes) => Ok(bytes.is_some_and(|bytes| bytes > 0)),
        Err(source) => Err(LedgerError::on_file("read", file)(source)),
    }
}

/// An empty ledger may only be made where there was none: SQLite would take a left-over WAL for the new one's.
fn check_nothing_left(disk: &dyn Disk, files: &DataFiles) -> Result<(), LedgerError> {
    let missing = |remnant: &Path| LedgerError::DatabaseMissing {
        path: files.database.clone(),
        remnant: remnant.to_owned(),
    };
    for suffix in ["-wal", "-journal"] {
        let remnant = companion_file(&files.database, suffix);
        if has_bytes(disk, &remnant)? {
            return Err(missing(&remnant));
        }
    }
    match anchor::read(disk, &files.anchor)? {
        AnchorState::Head(head) if head.seq == Seq(0) => Ok(()),
        AnchorState::Missing => Ok(()),
        AnchorState::Head(_) | AnchorState::Damaged => Err(missing(&files.anchor)),
    }
}

/// Makes an empty ledger under another name and moves it into place whole.
fn create_ledger(database: &Database, workspace: &Path) -> Result<(), LedgerError> {
    let disk = &*database.disk;
    let fresh = database.sibling(companion_file(&database.path, ".new"));
    fresh.remove_files()?;
    disk.create(&fresh.path)
        .map_err(LedgerError::on_file("create", &fresh.path))?;
    fill_new_ledger(&fresh, workspace).map_err(fresh.sqlite_error("create"))?;
    let moved = disk
        .open(&fresh.path)
        .and_then(|mut file| file.sync())
        .and_then(|()| disk.rename(&fresh.path, &database.path))
        .and_then(|()| disk.sync_name(&database.path));
    moved.map_err(LedgerError::on_file("create", &database.path))
}

fn fill_new_ledger(fresh: &Database, workspace: &Path) -> rusqlite::Result<()> {
    let connection = fresh.connect_unconfigured(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // All in one transaction, and WAL mode after it: the file that gets the ledger's name is whole without a second file.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", FORMAT_VERSION)?;
    connection.execute_batch(SCHEMA)?;
    set_meta(&connection, "format", FORMAT)?;
    match workspace.to_str() {
        Some(text) => set_meta(&connection, "workspace", text)?,
        None => set_meta(&connection, "workspace", workspace.as_os_str().as_bytes())?,
    }
    connection.execute_batch("COMMIT")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.close().map_err(|(_, error)| error)
}

/// After the checks: opens the existing anchor, or creates one that is missing.
fn open_anchor(disk: &dyn Disk, files: &DataFiles, head: Head) -> Result<Anchor, LedgerError> {
    match anchor::read(disk, &files.anchor)? {
        // Only now, after the checks, is its mode changed: until then it is evidence.
        AnchorState::Head(_) => {
            make_private(disk, &files.anchor)?;
            Anchor::open(disk, &files.anchor)
        }
        AnchorState::Missing | AnchorState::Damaged => Anchor::create(disk, &files.anchor, head),
    }
}

fn connect_writer(
    database: Database,
    tables: ProjectionTables,
    anchor: Anchor,
    head: Head,
    lock: Arc<DataDirLock>,
) -> Result<SqliteLog, LedgerError> {
    let connection = database.connect(AccessKind::Write)?;
    let failed = database.sqlite_error("set up");
    let mode: String = connection
        .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
        .map_err(&failed)?;
    if mode != "wal" {
        let detail = format!("its journal mode is {mode} and can't be changed to wal");
        return Err(LedgerError::NotOurs {
            path: database.path,
            detail,
        });
    }
    Ok(SqliteLog {
        reader: LedgerReader::new(connection, database, tables),
        anchor,
        head,
        soundness: Soundness::default(),
        rows_hash: RowsHash::default(),
        applied: None,
        packer: Packer::default(),
        poisoned: None,
        _lock: lock,
    })
}

/// An empty ledger gets its empty tables at once; others are rebuilt by whoever can fold.
fn prepare_tables(log: &mut SqliteLog) -> Result<TablesState, LedgerError> {
    let mut state = log.tables_state()?;
    if log.head.seq == Seq(0) && matches!(state, TablesState::Rebuild { .. }) {
        let mut tables = log.begin_rebuild()?;
        tables.set_applied(Seq(0))?;
        tables.commit()?;
        state = TablesState::UpTo(Seq(0));
    }
    log.rows_hash = log.reader.rows_hash()?.unwrap_or_default();
    if let TablesState::UpTo(applied) = state {
        log.applied = Some(applied);
    }
    Ok(state)
}
