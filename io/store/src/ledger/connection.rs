//! SQLite connections set up for the ledger, and the reads that writer and reader share.

use std::borrow::Cow;
use std::ops::{ControlFlow, RangeInclusive};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};
use tslp_core::event::{Envelope, Event, EventKind, Recorded};
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_replay::chain::ChainHash;
use tslp_replay::fold::ChainCheck;
use tslp_replay::log::{Head, Stored};

use super::disk::{Disk, Medium};
use super::error::{LedgerError, TableError};
use super::packing::Unpacker;

/// Page cache of one connection in KiB: the working set is the end of the ledger and a few projection pages.
pub(super) const CACHE_KIB: i64 = 512;

/// Statements kept prepared: four for each projection's table and those of the ledger.
const STATEMENTS: usize = 128;

/// Bytes of a WAL that are written once more in one piece.
const WAL_PIECE_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Read,
    Write,
}

/// A database file and the disk that it is on.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    pub(crate) path: PathBuf,
    pub(crate) disk: Arc<dyn Disk>,
}

impl Database {
    /// Another database on the same disk.
    pub(super) fn sibling(&self, path: PathBuf) -> Self {
        Self {
            path,
            disk: Arc::clone(&self.disk),
        }
    }

    /// Removes the database with all that SQLite keeps next to it, if any of it is there.
    pub(super) fn remove_files(&self) -> Result<(), LedgerError> {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let file = companion_file(&self.path, suffix);
            let removed = self.disk.remove(&file);
            removed.map_err(LedgerError::on_file("remove", &file))?;
        }
        Ok(())
    }

    /// Connects to an existing database.
    pub(crate) fn connect(&self, access: AccessKind) -> Result<Connection, LedgerError> {
        let mode = match access {
            AccessKind::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            AccessKind::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        self.configured(self.connect_unconfigured(mode), access)
    }

    /// Connects, with SQLite's own settings.
    pub(crate) fn connect_unconfigured(&self, mode: OpenFlags) -> rusqlite::Result<Connection> {
        self.connect_at(&self.path, mode)
    }

    /// Connects to the database as it is without its WAL, read-only.
    pub(crate) fn connect_without_wal(&self) -> Result<Connection, LedgerError> {
        let mut uri = String::from("file:");
        for byte in self.path.as_os_str().as_bytes() {
            // Only these mean the same in a path and in a URI.
            match byte {
                b'/' | b'.' | b'-' | b'_' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => {
                    uri.push(char::from(*byte));
                }
                byte => uri.push_str(&format!("%{byte:02X}")),
            }
        }
        // SQLite looks for no WAL beside a file of which it is told that nobody changes it.
        uri.push_str("?immutable=1");
        let mode = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        self.configured(self.connect_at(Path::new(&uri), mode), AccessKind::Read)
    }

    fn connect_at(&self, name: &Path, mode: OpenFlags) -> rusqlite::Result<Connection> {
        let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        match self.disk.vfs() {
            Some(vfs) => Connection::open_with_flags_and_vfs(name, flags, vfs),
            None => Connection::open_with_flags(name, flags),
        }
    }

    fn configured(
        &self,
        connected: rusqlite::Result<Connection>,
        access: AccessKind,
    ) -> Result<Connection, LedgerError> {
        connected
            .and_then(|connection| configure_connection(&connection, access).map(|()| connection))
            .map_err(self.sqlite_error("open"))
    }

    /// Makes the WAL durable, whatever process wrote it: after a failed sync a later one may succeed though the bytes were dropped, so
    /// they are written once more. What SQLite has moved into the database is synced before the WAL lets go of it. Nobody may write
    /// meanwhile.
    pub(crate) fn rewrite_wal(&self) -> Result<(), LedgerError> {
        let wal = companion_file(&self.path, "-wal");
        let rewrite = |mut file: Box<dyn Medium>| {
            let mut done = 0;
            loop {
                let bytes = file.read_at(done, WAL_PIECE_BYTES)?;
                if bytes.is_empty() {
                    return file.sync();
                }
                file.write_at(done, &bytes)?;
                done += bytes.len();
            }
        };
        let rewritten = match self.disk.bytes(&wal) {
            Ok(None | Some(0)) => Ok(()),
            Ok(Some(_)) => self.disk.open(&wal).and_then(rewrite),
            Err(error) => Err(error),
        };
        rewritten
            .and_then(|()| self.disk.sync_name(&wal))
            .map_err(LedgerError::on_file("sync", &wal))
    }

    /// The size of the WAL file in bytes.
    pub(crate) fn wal_bytes(&self) -> u64 {
        let wal = self.disk.bytes(&companion_file(&self.path, "-wal"));
        wal.ok().flatten().unwrap_or(0)
    }

    /// The size of the database file in bytes.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.disk.bytes(&self.path).ok().flatten().unwrap_or(0)
    }

    /// Names this file in an error of SQLite.
    pub(crate) fn sqlite_error(
        &self,
        action: &'static str,
    ) -> impl Fn(rusqlite::Error) -> LedgerError + use<> {
        let path = self.path.clone();
        move |error| LedgerError::from_sqlite(&path, action, error)
    }

    /// Names this file in an error of a projection's table.
    pub(super) fn table_failed(&self, action: &'static str, error: TableError) -> LedgerError {
        match error {
            TableError::Sqlite(error) => LedgerError::from_sqlite(&self.path, action, error),
            TableError::Shape { table, detail } => LedgerError::Table {
                path: self.path.clone(),
                table: table.to_owned(),
                detail,
            },
        }
    }
}

/// Runs a statement without parameters that is run again and again, such as the beginning of a transaction.
pub(super) fn run_cached(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

fn configure_connection(connection: &Connection, access: AccessKind) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Whoever can write to the file can also put SQL into its schema: that must neither rewrite the schema nor call functions.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // Without this SQLite compiles some statements anew for each value that is bound, in search of a better plan.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Evidence in the WAL stays there until the writer moves it; closing a connection changes nothing.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    // A read error in mapped memory is a SIGBUS that ends the process; this way it is an error value.
    connection.pragma_update(None, "mmap_size", 0)?;
    // SQLite's temporary files are outside of the data directory, and a sort would put a user's code into them.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    match access {
        AccessKind::Read => connection.pragma_update(None, "query_only", true),
        AccessKind::Write => {
            // Without it `INSERT OR REPLACE` deletes a row without firing the triggers that refuse deletions.
            connection.pragma_update(None, "recursive_triggers", true)?;
            // In WAL mode NORMAL syncs at checkpoints only, and what was acknowledged must survive a power cut.
            connection.pragma_update(None, "synchronous", "FULL")?;
            // The writer decides when pages are moved: SQLite would do it inside of a commit that somebody waits for.
            connection.pragma_update(None, "wal_autocheckpoint", 0)
        }
    }
}

pub(crate) fn last_head(connection: &Connection) -> rusqlite::Result<Head> {
    let found = connection
        .prepare_cached("SELECT seq, chain FROM ledger ORDER BY seq DESC LIMIT 1")?
        .query_row([], |row| {
            Ok(Head {
                seq: seq_column(row, 0)?,
                chain: ChainHash(row.get(1)?),
            })
        })
        .optional()?;
    Ok(found.unwrap_or(Head {
        seq: Seq(0),
        chain: ChainHash::GENESIS,
    }))
}

/// The chain's hash at one event.
pub(crate) fn chain_at(connection: &Connection, at: Seq) -> rusqlite::Result<Option<ChainHash>> {
    if at == Seq(0) {
        return Ok(Some(ChainHash::GENESIS));
    }
    connection
        .prepare_cached("SELECT chain FROM ledger WHERE seq = ?1")?
        .query_row([to_sql(at)], |row| row.get(0).map(ChainHash))
        .optional()
}

/// The event at a position, if there is one, it can be decoded, and its link holds: nobody has verified those before it.
pub(crate) fn event_at(connection: &Connection, at: Seq) -> Option<Recorded> {
    let before = Seq(at.0.checked_sub(1)?);
    let head = Head {
        seq: before,
        chain: chain_at(connection, before).ok()??,
    };
    // One link is enough: the event's own bytes are what could mislead here, and the scrub reads the rest.
    let mut found = None;
    let read = visit_events(connection, at, &mut |stored| {
        let event = ChainCheck::from(head).step_decoded(&stored, tslp_migrations::decode);
        found = event.ok().map(|event| stored.recorded(event));
        ControlFlow::Break(())
    });
    read.ok().and(found)
}

/// Hands every event from `from` on to `visit`; holds one at a time.
pub(crate) fn visit_events(
    connection: &Connection,
    from: Seq,
    visit: &mut dyn FnMut(Stored) -> ControlFlow<()>,
) -> rusqlite::Result<()> {
    visit_selected(connection, "true ORDER BY seq", from..=Seq(u64::MAX), visit)
}

/// Hands every event between two positions to `visit`, except those of some kinds, whose bytes aren't read.
pub(crate) fn visit_without(
    connection: &Connection,
    left_out: &[EventKind],
    between: RangeInclusive<Seq>,
    visit: &mut dyn FnMut(Stored) -> ControlFlow<()>,
) -> rusqlite::Result<()> {
    let numbers: Vec<String> = left_out.iter().copied().map(numbers_of).collect();
    let wanted = format!("abs(kind) NOT IN ({}) ORDER BY seq", numbers.join(", "));
    visit_selected(connection, &wanted, between, visit)
}

/// Hands the events between two positions that are wanted to `visit`: a condition and an order.
fn visit_selected(
    connection: &Connection,
    wanted: &str,
    between: RangeInclusive<Seq>,
    visit: &mut dyn FnMut(Stored) -> ControlFlow<()>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT seq, at, episode, session, ends_step, kind, payload, chain FROM ledger WHERE seq BETWEEN ?1 AND ?2 AND {wanted}"
    ))?;
    let mut rows = statement.query([to_sql(*between.start()), to_sql(*between.end())])?;
    let mut unpacker = Unpacker::default();
    while let Some(row) = rows.next()? {
        let (kind, payload) = unpacked(&mut unpacker, row, 5)?;
        let stored = Stored {
            envelope: Envelope {
                seq: seq_column(row, 0)?,
                at: UnixMillis(row.get(1)?),
                episode: EpisodeId(row.get::<_, i64>(2)?.cast_unsigned()),
                session: SessionId(row.get::<_, i64>(3)?.cast_unsigned()),
                ends_step: row.get(4)?,
            },
            kind,
            payload: payload.into_owned(),
            chain: ChainHash(row.get(7)?),
        };
        if visit(stored).is_break() {
            break;
        }
    }
    Ok(())
}

/// The number of an event's kind, and its bytes, of which a row has the former in a column and the latter in the next one.
pub(super) fn unpacked<'r>(
    unpacker: &mut Unpacker,
    row: &'r Row<'_>,
    column: usize,
) -> rusqlite::Result<(u32, Cow<'r, [u8]>)> {
    let kind = row.get(column)?;
    unpacker
        .unpacked(kind, row.get_ref(column + 1)?.as_blob()?)
        .ok_or(rusqlite::Error::IntegralValueOutOfRange(column, kind))
}

/// The numbers of a kind, of all its layouts, as a list in a statement.
pub(super) fn numbers_of(kind: EventKind) -> String {
    let numbers = tslp_migrations::NUMBERS.iter().copied();
    let all = numbers.filter(|number| tslp_migrations::kind_of(*number) == Some(kind));
    all.map(|number| number.to_string())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Hands each event of some kinds between two positions to `visit`, the last first; one that can't be read is the end.
pub(crate) fn stream_back(
    connection: &Connection,
    kinds: &[EventKind],
    between: RangeInclusive<Seq>,
    visit: &mut dyn FnMut(Seq, EpisodeId, Event) -> ControlFlow<()>,
) -> rusqlite::Result<()> {
    let numbers: Vec<String> = kinds.iter().copied().map(numbers_of).collect();
    let wanted = format!("abs(kind) IN ({}) ORDER BY seq DESC", numbers.join(", "));
    visit_selected(
        connection,
        &wanted,
        between,
        &mut |stored| match tslp_migrations::decode(stored.kind, &stored.payload) {
            Ok(event) => visit(stored.seq, stored.episode, event),
            Err(_) => ControlFlow::Break(()),
        },
    )
}

/// A number of the schema or the configuration.
pub(crate) fn pragma_number<T: rusqlite::types::FromSql>(
    connection: &Connection,
    name: &str,
) -> rusqlite::Result<T> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

pub(crate) fn meta_value<T: rusqlite::types::FromSql>(
    connection: &Connection,
    key: &str,
) -> rusqlite::Result<Option<T>> {
    connection
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
}

/// Sets a value of the `meta` table.
pub(crate) fn set_meta(
    connection: &Connection,
    key: &str,
    value: impl rusqlite::ToSql,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO meta (key, value) VALUES (?1, ?2)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        )?
        .execute(rusqlite::params![key, value])
        .map(drop)
}

/// SQLite's integers are signed; positions are dense from 1 and never come near the sign bit.
pub(crate) fn to_sql(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

fn seq_column(row: &Row<'_>, column: usize) -> rusqlite::Result<Seq> {
    let stored: i64 = row.get(column)?;
    u64::try_from(stored)
        .map(Seq)
        .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, stored))
}

/// The path of a file that SQLite keeps next to its database.
pub(crate) fn companion_file(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
