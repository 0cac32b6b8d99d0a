//! Read-only connections to the ledger: for diagnostics, for the Vault's bytes, and for a ledger in safe mode.

mod tail;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, InterruptHandle, OptionalExtension};
use tslp_core::event::{Event, EventKind, Recorded};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq};
use tslp_core::limits::CONTAINERS_FOLLOWED_MAX;
use tslp_migrations::decode_content;
use tslp_projections::row::{Key as _, StoredRow, UnfitRow};
use tslp_projections::table::{RowsHash, Value};
use tslp_projections::vault::VaultLocation;
use tslp_replay::chain::ChainHash;
use tslp_replay::log::{Head, Stored};

use super::connection::{self, AccessKind, Database, pragma_number, to_sql};
use super::data_files::DataFiles;
use super::disk::Disk;
use super::error::{LedgerError, TableError};
use super::open_options::OpenOptions;
use super::packing::Unpacker;
use super::recognise::{
    check_format, check_pages, check_schema, check_version, moved_from, other_workspace,
    recorded_workspace, stored_workspace,
};
use tail::FoldedTail;

use super::tables::{APPLIED_SEQ, ProjectionTables, TableStatements, TablesState};

/// Events read at once.
const PAGE_EVENTS: usize = 512;

/// Bytes after which a page ends early.
const PAGE_BYTES: usize = 1 << 20;

/// Makes readers; each thread opens its own.
#[derive(Clone, Debug)]
pub struct ReaderFactory {
    database: Database,
    tables: ProjectionTables,
}

impl ReaderFactory {
    /// Readers of a data directory. They take no lock and check no anchor, so they work on a ledger that [`open_ledger`]
    /// refused, and while another process writes.
    ///
    /// [`open_ledger`]: super::open_ledger
    #[must_use]
    pub fn new(files: &DataFiles, options: &OpenOptions) -> Self {
        Self {
            database: Database {
                path: files.database.clone(),
                disk: Arc::clone(&options.disk),
            },
            tables: ProjectionTables::new(options.tables),
        }
    }

    /// The disk that the data directory is on.
    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.database.disk
    }

    /// Opens a reader.
    ///
    /// # Errors
    /// When the database is missing, can't be read, or is another version's.
    pub fn open(&self) -> Result<LedgerReader, LedgerError> {
        let connection = self.database.connect(AccessKind::Read)?;
        // Those who read a damaged file see as much of it as they can.
        if let Err(error @ LedgerError::OtherFormat { .. }) =
            check_version(&connection, &self.database)
        {
            return Err(error);
        }
        Ok(LedgerReader::new(
            connection,
            self.database.clone(),
            self.tables.clone(),
        ))
    }
}

/// A connection for what is read. Rows are those of the ledger's head, also where they are still to be written.
pub struct LedgerReader {
    pub(super) connection: Connection,
    pub(super) database: Database,
    pub(super) tables: ProjectionTables,
    /// The tail as it was folded last.
    tail: RefCell<Option<FoldedTail>>,
}

impl LedgerReader {
    pub(super) const fn new(
        connection: Connection,
        database: Database,
        tables: ProjectionTables,
    ) -> Self {
        Self {
            connection,
            database,
            tables,
            tail: RefCell::new(None),
        }
    }

    /// The bytes of the content event at a position, checked against their hash.
    ///
    /// # Errors
    /// When there is no content event, or it is damaged.
    pub fn content_at(&self, seq: Seq) -> Result<Vec<u8>, LedgerError> {
        let failed = self.database.sqlite_error("read");
        let mut statement = self
            .connection
            .prepare_cached("SELECT kind, payload FROM ledger WHERE seq = ?1")
            .map_err(&failed)?;
        let found = statement
            .query_row([to_sql(seq)], |row| {
                let (kind, payload) = connection::unpacked(&mut Unpacker::default(), row, 0)?;
                Ok(match decode_content(kind, &payload) {
                    Ok(Some(found)) if found.is_intact() => Ok(found.bytes.to_vec()),
                    Ok(Some(_)) => Err(LedgerError::Corrupt {
                        path: self.database.path.clone(),
                        detail: format!("the content at {seq} is not what its hash names"),
                    }),
                    Ok(None) => Err(self.no_content(seq)),
                    Err(source) => Err(LedgerError::Decode {
                        path: self.database.path.clone(),
                        seq,
                        source,
                    }),
                })
            })
            .optional()
            .map_err(&failed)?;
        found.unwrap_or_else(|| Err(self.no_content(seq)))
    }

    /// All rows of a projection's table, in the order of its key.
    ///
    /// # Errors
    /// When the table is missing, or holds what it can't.
    pub fn rows<R: StoredRow>(&self) -> Result<Vec<R>, LedgerError> {
        let mut rows = Vec::new();
        self.visit_rows(&mut |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        Ok(rows)
    }

    /// Hands every row of a projection's table to `visit`, in the order of its key.
    ///
    /// # Errors
    /// When the table is missing, or holds what it can't.
    pub fn visit_rows<R: StoredRow>(
        &self,
        visit: &mut dyn FnMut(R) -> ControlFlow<()>,
    ) -> Result<(), LedgerError> {
        self.visit_fitting(visit, |visit| self.read_table(R::INDEX, visit))
    }

    /// Hands the rows of a projection's table to `visit`, in the order of the key, from this value of its first column on.
    ///
    /// # Errors
    /// When the table is missing, or holds what it can't.
    pub fn visit_rows_from<R: StoredRow>(
        &self,
        first: &str,
        visit: &mut dyn FnMut(R) -> ControlFlow<()>,
    ) -> Result<(), LedgerError> {
        let first = [Value::text(first)];
        self.visit_fitting(visit, |visit| {
            self.with_tail(R::INDEX, |tail| {
                tail.merged(&first, visit, |visit| {
                    self.ask(R::INDEX, |table, it| table.read(it, first.first(), visit))
                })
            })
        })
    }

    fn visit_fitting<R: StoredRow>(
        &self,
        visit: &mut dyn FnMut(R) -> ControlFlow<()>,
        read: impl FnOnce(&mut dyn FnMut(&[Value]) -> ControlFlow<()>) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        let mut unfit = None;
        read(&mut |cells| match R::from_cells(cells) {
            Ok(row) => visit(row),
            Err(error) => {
                unfit = Some(error);
                ControlFlow::Break(())
            }
        })?;
        match unfit {
            None => Ok(()),
            Some(error) => Err(self.unfit_row::<R>(error)),
        }
    }

    /// The row with this key.
    ///
    /// # Errors
    /// When the table is missing, or holds what it can't.
    pub fn find_row<R: StoredRow>(&self, key: R::Key) -> Result<Option<R>, LedgerError> {
        let key = key.into_cells();
        let cells = self.with_tail(R::INDEX, |tail| {
            tail.found(&key, || {
                self.ask(R::INDEX, |table, it| table.find_row(it, &key))
            })
        })?;
        self.read_found(cells)
    }

    /// The row with this key as it is written, for a state that holds those that aren't.
    ///
    /// # Errors
    /// When the table is missing, or holds what it can't.
    pub fn find_stored<R: StoredRow>(&self, key: R::Key) -> Result<Option<R>, LedgerError> {
        let cells = self.ask(R::INDEX, |table, it| table.find_row(it, &key.into_cells()))?;
        self.read_found(cells)
    }

    /// Hands the written rows to `visit`, in the order of the key, from this value of its first column on.
    ///
    /// # Errors
    /// When the table is missing, or holds what it can't.
    pub fn visit_stored_from<R: StoredRow>(
        &self,
        first: &Value,
        visit: &mut dyn FnMut(R) -> ControlFlow<()>,
    ) -> Result<(), LedgerError> {
        self.visit_fitting(visit, |visit| {
            self.ask(R::INDEX, |table, it| table.read(it, Some(first), visit))
        })
    }

    fn read_found<R: StoredRow>(
        &self,
        cells: Option<Vec<Value>>,
    ) -> Result<Option<R>, LedgerError> {
        let row = cells.map(|cells| R::from_cells(&cells)).transpose();
        row.map_err(|error| self.unfit_row::<R>(error))
    }

    pub(super) fn unfit_row<R: StoredRow>(&self, UnfitRow(detail): UnfitRow) -> LedgerError {
        let error = TableError::Shape {
            table: R::TABLE.name,
            detail: detail.to_owned(),
        };
        self.database.table_failed("read the tables of", error)
    }

    fn ask<T>(
        &self,
        table: usize,
        question: impl FnOnce(&TableStatements, &Connection) -> Result<T, TableError>,
    ) -> Result<T, LedgerError> {
        let answer = question(&self.tables.tables[table], &self.connection);
        answer.map_err(|error| self.database.table_failed("read the tables of", error))
    }

    /// Hands the cells of every row of a table to `visit`, in the order of its key.
    ///
    /// # Errors
    /// When the table is missing, or holds what it can't.
    pub fn read_table(
        &self,
        table: usize,
        visit: &mut dyn FnMut(&[Value]) -> ControlFlow<()>,
    ) -> Result<(), LedgerError> {
        self.with_tail(table, |tail| {
            tail.merged(&[], visit, |visit| self.read_stored(table, visit))
        })
    }

    /// As [`Self::read_table`], the rows as they are written.
    pub(super) fn read_stored(
        &self,
        table: usize,
        visit: &mut dyn FnMut(&[Value]) -> ControlFlow<()>,
    ) -> Result<(), LedgerError> {
        self.ask(table, |table, it| table.read(it, None, visit))
    }

    /// Whether the projections' tables can be used as they are.
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn tables_state(&self) -> Result<TablesState, LedgerError> {
        let head = self.head()?.seq;
        self.tables
            .state(&self.connection, head)
            .map_err(|error| self.database.table_failed("read the tables of", error))
    }

    /// The last event whose rows are written; 0 if none are, or they must be made anew.
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn rows_written(&self) -> Result<Seq, LedgerError> {
        let applied = self.tables.applied(&self.connection);
        let applied = applied.map_err(self.database.sqlite_error("read"))?;
        Ok(applied.unwrap_or_default())
    }

    /// Hands every event from `from` on, in order, to `visit` until it breaks.
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn read(
        &self,
        from: Seq,
        visit: &mut dyn FnMut(Stored) -> ControlFlow<()>,
    ) -> Result<(), LedgerError> {
        connection::visit_events(&self.connection, from, visit)
            .map_err(self.database.sqlite_error("read"))
    }

    /// The next events up to `until`, as many as are held at once, and why there are no more: between two pages no snapshot is held.
    pub(crate) fn page(
        &self,
        from: Seq,
        until: Seq,
    ) -> (VecDeque<Stored>, Result<(), LedgerError>) {
        let (mut page, mut bytes) = (VecDeque::new(), 0);
        let read = self.read(from, &mut |stored| {
            if stored.seq > until {
                return ControlFlow::Break(());
            }
            bytes += stored.payload.len();
            page.push_back(stored);
            match page.len() == PAGE_EVENTS || bytes >= PAGE_BYTES {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        (page, read)
    }

    /// The same ledger as its file is without the WAL: what was committed before the last checkpoint, and nothing else.
    ///
    /// # Errors
    /// When the file can't be opened.
    pub fn without_wal(&self) -> Result<Self, LedgerError> {
        Ok(Self::new(
            self.database.connect_without_wal()?,
            self.database.clone(),
            self.tables.clone(),
        ))
    }

    /// Hands every event from a position on to `visit`, in order, decoded.
    ///
    /// # Errors
    /// When the database can't be read, or an event can't be decoded.
    pub fn read_events(
        &self,
        from: Seq,
        visit: &mut dyn FnMut(&Recorded),
    ) -> Result<(), LedgerError> {
        self.decoding(
            &mut |stored, event| {
                visit(&stored.recorded(event));
                ControlFlow::Continue(())
            },
            |each| connection::visit_events(&self.connection, from, each),
        )
    }

    /// Hands every event from a position on to `visit`, in order, decoded, except those of some kinds, which aren't read. So no link
    /// is checked on the way: see [`Self::is_linked`].
    ///
    /// # Errors
    /// As [`Self::read_events`].
    pub fn read_without(
        &self,
        left_out: &[EventKind],
        from: Seq,
        visit: &mut dyn FnMut(Stored, Event),
    ) -> Result<(), LedgerError> {
        let between = from..=Seq(u64::MAX);
        self.read_between(left_out, between, &mut |stored, event| {
            visit(stored, event);
            ControlFlow::Continue(())
        })
    }

    /// As [`Self::read_without`], between two positions and until `visit` breaks.
    ///
    /// # Errors
    /// As [`Self::read_events`].
    pub fn read_between(
        &self,
        left_out: &[EventKind],
        between: RangeInclusive<Seq>,
        visit: &mut dyn FnMut(Stored, Event) -> ControlFlow<()>,
    ) -> Result<(), LedgerError> {
        self.decoding(visit, |each| {
            connection::visit_without(&self.connection, left_out, between, each)
        })
    }

    /// Whether an event's bytes and number are those that the chain says, next to the event before it.
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn is_linked(&self, stored: &Stored) -> Result<bool, LedgerError> {
        let Some(before) = stored.seq.0.checked_sub(1) else {
            return Ok(false);
        };
        let chain = self.chain_at(Seq(before))?;
        let extended = chain.map(|chain| chain.extended(stored, stored.kind, &stored.payload));
        Ok(extended == Some(stored.chain))
    }

    fn decoding(
        &self,
        visit: &mut dyn FnMut(Stored, Event) -> ControlFlow<()>,
        read: impl FnOnce(&mut dyn FnMut(Stored) -> ControlFlow<()>) -> rusqlite::Result<()>,
    ) -> Result<(), LedgerError> {
        let mut decoded = Ok(());
        let read = read(
            &mut |stored| match tslp_migrations::decode(stored.kind, &stored.payload) {
                Ok(event) => visit(stored, event),
                Err(error) => {
                    let path = &self.database.path;
                    decoded = Err(LedgerError::Decode {
                        path: path.clone(),
                        seq: stored.seq,
                        source: error,
                    });
                    ControlFlow::Break(())
                }
            },
        );
        read.map_err(self.database.sqlite_error("read"))?;
        decoded
    }

    /// Hands each event of some kinds between two positions to `visit`, with its position and episode, the last first, until it breaks
    /// or one can't be read.
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn read_back(
        &self,
        kinds: &[EventKind],
        between: RangeInclusive<Seq>,
        visit: &mut dyn FnMut(Seq, EpisodeId, Event) -> ControlFlow<()>,
    ) -> Result<(), LedgerError> {
        connection::stream_back(&self.connection, kinds, between, visit)
            .map_err(self.database.sqlite_error("read"))
    }

    /// The bytes of an artifact, wherever the Vault's table says that they are, checked against their hash.
    ///
    /// # Errors
    /// When the table or the ledger can't be read, or either isn't what it was.
    pub fn artifact(&self, artifact: ArtifactHash) -> Result<Option<Vec<u8>>, LedgerError> {
        let Some(mut at) = self.find_row::<VaultLocation>((artifact,))? else {
            return Ok(None);
        };
        let mut range = at.start as usize..at.end as usize;
        // Bounded, since a damaged row may name its own artifact as the container.
        for _ in 0..CONTAINERS_FOLLOWED_MAX {
            let Some(container) = at.container else {
                let bytes = self.content_at(at.seq)?.get(range).map(<[u8]>::to_vec);
                // The content's own hash says nothing about the range that the row names.
                return Ok(bytes.filter(|bytes| ArtifactHash::of(bytes) == artifact));
            };
            let Some(outer) = self.find_row::<VaultLocation>((container,))? else {
                break;
            };
            let start = outer.start as usize;
            range = range.start + start..range.end + start;
            at = outer;
        }
        Ok(None)
    }

    /// The last committed event.
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn head(&self) -> Result<Head, LedgerError> {
        connection::last_head(&self.connection).map_err(self.database.sqlite_error("read"))
    }

    /// The chain's hash at one event, if there is such an event.
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn chain_at(&self, seq: Seq) -> Result<Option<ChainHash>, LedgerError> {
        connection::chain_at(&self.connection, seq).map_err(self.database.sqlite_error("read"))
    }

    /// An event that a row names, if its link holds.
    #[must_use]
    pub fn event_at(&self, seq: Seq) -> Option<Recorded> {
        connection::event_at(&self.connection, seq)
    }

    /// The stored hash of all rows but the archives'. `None` if it is missing or of another version.
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn rows_hash(&self) -> Result<Option<RowsHash>, LedgerError> {
        self.tables
            .rows_hash(&self.connection)
            .map_err(|error| self.database.table_failed("read the tables of", error))
    }

    /// The hash of the rows that a table holds; of an archive's, those that events up to `until` have put.
    ///
    /// # Errors
    /// When the table is missing, or holds what it can't.
    pub fn rows_hash_until(&self, table: usize, until: Seq) -> Result<RowsHash, LedgerError> {
        self.ask(table, |table, it| table.rows_hash_until(it, until))
    }

    /// Reads as the ledger is at one moment; within such a reading that is its moment.
    ///
    /// # Errors
    /// Those of `read`; when the database can't be read.
    pub fn in_snapshot<T>(
        &self,
        read: impl FnOnce() -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        if !self.connection.is_autocommit() {
            return read();
        }
        let failed = self.database.sqlite_error("read");
        self.connection.execute_batch("BEGIN").map_err(&failed)?;
        let found = read();
        self.connection.execute_batch("COMMIT").map_err(&failed)?;
        found
    }

    /// Has the next start fold every event itself: the tables, or the events, were found to be wrong. The file's pages must be
    /// sound.
    ///
    /// # Errors
    /// When that can't be written.
    pub(crate) fn distrust_tables(&self) -> Result<(), LedgerError> {
        let connection = self.database.connect(AccessKind::Write)?;
        let removed = connection.execute("DELETE FROM meta WHERE key = ?1", [APPLIED_SEQ]);
        let removed = removed.map_err(self.database.sqlite_error("write to"));
        removed.map(drop)
    }

    /// Checks that all pages are laid out consistently, so that the file may be written to. Reads the whole file.
    ///
    /// # Errors
    /// When it isn't, or can't be read.
    pub fn check_pages(&self) -> Result<(), LedgerError> {
        check_pages(&self.connection, &self.database)
    }

    /// A handle that interrupts the connection's work from another thread.
    #[must_use]
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.connection.get_interrupt_handle()
    }

    /// The workspace that the ledger belongs to.
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn workspace(&self) -> Result<PathBuf, LedgerError> {
        stored_workspace(&self.connection).map_err(self.database.sqlite_error("read"))
    }

    /// SQLite's own check of the whole file: the defects that it found, at most 100.
    ///
    /// # Errors
    /// When the database can't be read at all.
    pub fn integrity_check(&self) -> Result<Vec<String>, LedgerError> {
        let defects = || -> rusqlite::Result<Vec<String>> {
            self.connection
                .prepare("PRAGMA integrity_check(100)")?
                .query_map([], |row| row.get(0))?
                .filter(|line| !matches!(line.as_deref(), Ok("ok")))
                .collect()
        };
        defects().map_err(self.database.sqlite_error("check"))
    }

    /// SQLite's journal mode; `wal` for every healthy ledger.
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn journal_mode(&self) -> Result<String, LedgerError> {
        pragma_number(&self.connection, "journal_mode").map_err(self.database.sqlite_error("read"))
    }

    /// The workspace that the ledger belongs to, if its schema is sound and its events name no other.
    ///
    /// # Errors
    /// [`LedgerError::Corrupt`] where they contradict each other; when the database can't be read.
    pub fn checked_workspace(&self) -> Result<PathBuf, LedgerError> {
        check_schema(&self.connection, &self.database)?;
        check_format(&self.connection, &self.database)?;
        let workspace = self.workspace()?;
        let recorded =
            recorded_workspace(&self.connection).map_err(self.database.sqlite_error("read"))?;
        let moved_from =
            moved_from(&self.connection).map_err(self.database.sqlite_error("read"))?;
        let known = [workspace.to_string_lossy().into_owned(), moved_from];
        if recorded.is_some_and(|recorded| !known.contains(&recorded)) {
            return Err(other_workspace(&self.database, &workspace));
        }
        Ok(workspace)
    }

    /// The database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.database.path
    }

    /// Database and WAL on disk, in bytes.
    #[must_use]
    pub fn bytes_on_disk(&self) -> u64 {
        self.database.file_bytes() + self.database.wal_bytes()
    }

    fn no_content(&self, seq: Seq) -> LedgerError {
        LedgerError::NoContent {
            path: self.database.path.clone(),
            seq,
        }
    }
}
