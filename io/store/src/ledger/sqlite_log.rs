//! The ledger in SQLite: events, appended in one transaction, then anchored; and the rows that they change, written later.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use rusqlite::{CachedStatement, params};
use tslp_core::event::{Envelope, Recorded};
use tslp_core::ids::Seq;
use tslp_migrations::encode;
use tslp_projections::changes::RowsUpTo;
use tslp_projections::table::RowsHash;
use tslp_replay::chain::ChainHash;
use tslp_replay::log::{Head, Stored};

use super::anchor::Anchor;
use super::connection::{self, to_sql};
use super::error::{LedgerError, TableError};

use super::lock::DataDirLock;
use super::packing::Packer;
use super::reader::LedgerReader;
use super::recognise::check_pages;
use super::soundness::Soundness;

/// The one connection that writes.
///
/// After a failed write or sync it is *poisoned*: the state on disk is unknown, so nothing more is written until the ledger is
/// reopened.
pub struct SqliteLog {
    /// The connection.
    pub(super) reader: LedgerReader,
    pub(super) anchor: Anchor,
    pub(super) head: Head,
    /// Whether it may be written to.
    pub(super) soundness: Soundness,
    /// The hash of all rows but the archives'.
    pub(super) rows_hash: RowsHash,
    /// The last event whose rows are written; `None` if they must be rebuilt.
    pub(super) applied: Option<Seq>,
    pub(super) packer: Packer,
    pub(super) poisoned: Option<String>,
    pub(super) _lock: Arc<DataDirLock>,
}

/// The state of the WAL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalState {
    /// Pages in the WAL.
    pub pages: u64,
    /// Those of them that no checkpoint has moved yet.
    pub pages_pending: u64,
    /// The WAL file's size, moved pages included.
    pub file_bytes: u64,
}

/// The thoroughness of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointMode {
    /// Moves all pages that no reader still needs.
    Passive,
    /// Moves all pages and truncates the file; does nothing while a reader is active.
    Truncate,
}

/// What it holds is read as through any connection.
impl Deref for SqliteLog {
    type Target = LedgerReader;

    fn deref(&self) -> &LedgerReader {
        &self.reader
    }
}

impl SqliteLog {
    /// Starts a transaction at the head.
    ///
    /// # Errors
    /// When the log is poisoned, another program wrote to the ledger, or SQLite fails.
    pub fn begin_batch(&mut self) -> Result<Batch<'_>, LedgerError> {
        self.check_usable()?;
        if let Some(detail) = self.soundness.flaw() {
            return Err(self.poison(LedgerError::Condemned { detail }));
        }
        // Immediate: a deferred transaction that another program overtakes can't be turned into one that writes (SQLITE_BUSY_SNAPSHOT).
        // The head is read inside of it, so that nobody can append between this look and our first row.
        let begun = connection::run_cached(&self.connection, "BEGIN IMMEDIATE")
            .and_then(|()| connection::last_head(&self.connection))
            .map_err(self.database.sqlite_error("begin a transaction in"));
        let found = begun.map_err(|error| self.poison(error))?;
        let head = self.head;
        let batch = Batch {
            rows_hash: self.rows_hash,
            applied: self.applied,
            log: self,
            head,
            payload_bytes: 0,
            open: true,
        };
        if found != head {
            return Err(LedgerError::Moved {
                path: batch.log.database.path.clone(),
                expected: head.seq,
                found,
            });
        }
        Ok(batch)
    }

    /// Writes rows, as one transaction that nobody waits for: it isn't synced, since a power cut costs no more than the fold of their
    /// events.
    ///
    /// # Errors
    /// When a row doesn't fit its table, or SQLite fails; the log is poisoned then.
    pub fn write_rows(&mut self, all: &[RowsUpTo]) -> Result<(), LedgerError> {
        self.sync_commits("NORMAL")?;
        let written = self.begin_batch().and_then(|mut batch| {
            all.iter().try_for_each(|rows| batch.write_rows(rows))?;
            batch.commit().map(drop)
        });
        // Whatever has happened: the next commit is one that somebody waits for.
        self.sync_commits("FULL")?;
        written
    }

    fn sync_commits(&self, how: &str) -> Result<(), LedgerError> {
        self.connection
            .pragma_update(None, "synchronous", how)
            .map_err(self.database.sqlite_error("set up"))
    }

    /// Makes everything durable that is there, and lets the anchor vouch for it.
    ///
    /// A process that ended between a commit and the anchor's sync leaves events that were never acknowledged, and that may
    /// not be on disk; rows never are vouched for. Continuing from them acknowledges them, so call this first.
    ///
    /// # Errors
    /// When it may not be on disk; the log is poisoned then.
    pub fn make_durable(&mut self) -> Result<(), LedgerError> {
        self.check_usable()?;
        if self.anchor.has_synced(self.head) {
            return Ok(());
        }
        let vouched = self.anchor.head();
        assert!(
            vouched.seq <= self.head.seq,
            "an anchor ahead of its ledger is refused before this"
        );
        if vouched != self.head {
            tracing::info!(from = %vouched.seq, to = %self.head.seq, "settling what a crash left unacknowledged");
        }
        // Its lock keeps other programs from writing.
        let batch = self.begin_batch()?;
        let synced = batch.log.database.rewrite_wal();
        drop(batch);
        synced.map_err(|error| self.poison(error))?;
        // Written again though it may be the same head: whoever wrote it may have died before its sync.
        let anchored = self.anchor.advance(self.head);
        anchored.map_err(|error| self.poison(error))
    }

    /// Sets the size of the page cache, for callers with unusually large transactions.
    ///
    /// # Errors
    /// When SQLite fails.
    pub fn set_cache_size(&self, kib: i64) -> Result<(), LedgerError> {
        self.connection
            .pragma_update(None, "cache_size", -kib)
            .map_err(self.database.sqlite_error("set up"))
    }

    /// The length of the WAL.
    ///
    /// # Errors
    /// When SQLite fails.
    pub fn wal_state(&self) -> Result<WalState, LedgerError> {
        let (_, pages, moved) = self.run_checkpoint("PRAGMA wal_checkpoint(NOOP)")?;
        Ok(WalState {
            pages,
            pages_pending: pages.saturating_sub(moved),
            file_bytes: self.database.wal_bytes(),
        })
    }

    /// Moves pages from the WAL into the database file. Readers and other programs may hold it back; that is fine.
    ///
    /// # Errors
    /// When SQLite fails; the log is poisoned then.
    pub fn checkpoint(&mut self, mode: CheckpointMode) -> Result<(), LedgerError> {
        self.check_movable()?;
        let run = match mode {
            CheckpointMode::Passive => self.run_checkpoint("PRAGMA wal_checkpoint(PASSIVE)"),
            CheckpointMode::Truncate => self.truncate_wal(),
        };
        match run {
            // A reader or a `sqlite3` shell holds pages back: nothing is lost, and the next checkpoint moves them.
            Ok(_) | Err(LedgerError::Busy { .. }) => Ok(()),
            Err(error) => Err(self.poison(error)),
        }
    }

    /// Whether pages may be moved into the database file.
    pub(super) fn check_movable(&mut self) -> Result<(), LedgerError> {
        self.check_usable()?;
        let checked = self
            .soundness
            .ensure_checked(|| check_pages(&self.connection, &self.database));
        checked.map_err(|error| self.poison(error))
    }

    /// Truncates the WAL unless a reader is active: waiting for readers isn't worth it.
    fn truncate_wal(&self) -> Result<(bool, u64, u64), LedgerError> {
        // Without this SQLite would wait for each reader as long as for a lock, with every commit behind it in the queue.
        let wait = |millis| {
            self.connection
                .busy_timeout(std::time::Duration::from_millis(millis))
                .map_err(self.database.sqlite_error("set up"))
        };
        wait(0)?;
        let run = self.run_checkpoint("PRAGMA wal_checkpoint(TRUNCATE)");
        wait(BUSY_MILLIS)?;
        run
    }

    /// Whether another checkpoint kept it from running, the pages in the WAL, and those of them that are moved.
    fn run_checkpoint(&self, pragma: &str) -> Result<(bool, u64, u64), LedgerError> {
        let run = || {
            let mut statement = self.connection.prepare_cached(pragma)?;
            statement.query_row([], |row| {
                // -1 stands for a database that isn't in WAL mode.
                let count = |column| {
                    row.get(column)
                        .map(|count: i64| count.max(0).cast_unsigned())
                };
                Ok((row.get(0)?, count(1)?, count(2)?))
            })
        };
        run().map_err(self.database.sqlite_error("checkpoint"))
    }

    /// Whether its pages are sound, for sharing with the scrub.
    #[must_use]
    pub const fn soundness(&self) -> &Soundness {
        &self.soundness
    }

    fn check_usable(&self) -> Result<(), LedgerError> {
        match &self.poisoned {
            Some(reason) => Err(LedgerError::Poisoned {
                reason: reason.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Remembers the first failure and hands it on.
    fn poison(&mut self, error: LedgerError) -> LedgerError {
        self.poisoned.get_or_insert_with(|| error.to_string());
        error
    }
}

/// Longest wait for another program's lock.
const BUSY_MILLIS: u64 = 5000;

impl SqliteLog {
    /// The durable head.
    ///
    /// # Errors
    /// When the log is poisoned.
    pub fn head(&self) -> Result<Head, LedgerError> {
        self.check_usable()?;
        Ok(self.head)
    }

    /// Appends stored events in one transaction, all or nothing.
    ///
    /// # Errors
    /// When they don't follow the head, or SQLite fails.
    pub fn append(&mut self, all: &[Stored]) -> Result<Head, LedgerError> {
        let mut transaction = self.begin_batch()?;
        all.iter().try_for_each(|it| transaction.append(it))?;
        transaction.commit()
    }
}

/// A transaction that appends events. Dropped without a commit it leaves nothing behind.
///
/// Any error in it poisons the log; only an event out of order, or one that is too large, does not.
pub struct Batch<'a> {
    pub(crate) log: &'a mut SqliteLog,
    pub(super) rows_hash: RowsHash,
    applied: Option<Seq>,
    head: Head,
    payload_bytes: u64,
    open: bool,
}

impl Batch<'_> {
    /// The ledger's end before this batch.
    pub(super) fn start(&self) -> Seq {
        self.log.head.seq
    }

    /// The head after this batch.
    #[must_use]
    pub const fn head(&self) -> Head {
        self.head
    }

    /// Payload bytes appended so far.
    #[must_use]
    pub const fn payload_bytes(&self) -> u64 {
        self.payload_bytes
    }

    /// Encodes, chains and appends events. Each is dropped as soon as its bytes are encoded, so that a large one is in memory at
    /// most twice.
    ///
    /// # Errors
    /// When one doesn't follow the head, can't be encoded, or SQLite fails.
    pub fn record_all(
        &mut self,
        all: impl IntoIterator<Item = Recorded>,
    ) -> Result<(), LedgerError> {
        match self.encode_and_insert(all) {
            Ok(recorded) => recorded,
            Err(error) => Err(self.table_failed(error.into())),
        }
    }

    /// The inner error is the events', the outer one SQLite's.
    fn encode_and_insert(
        &mut self,
        all: impl IntoIterator<Item = Recorded>,
    ) -> Result<Result<(), LedgerError>, rusqlite::Error> {
        let mut insert = self.log.connection.prepare_cached(INSERT)?;
        for Recorded { envelope, event } in all {
            let encoded = match encode(&event) {
                Ok(encoded) => encoded,
                Err(source) => {
                    return Ok(Err(LedgerError::Encode {
                        seq: envelope.seq,
                        source,
                    }));
                }
            };
            // At once, though it would go at the loop's end: SQLite is about to make a third copy of the bytes.
            drop(event);
            let (kind, payload) = (encoded.kind, encoded.payload);
            debug_assert!(
                payload.len() <= tslp_migrations::PAYLOAD_BYTES_MAX,
                "encoding refuses larger events"
            );
            let chain = self.head.chain.extended(&envelope, kind, &payload);
            let head = Head {
                seq: envelope.seq,
                chain,
            };
            if let Err(error) = self.check_follows(head) {
                return Ok(Err(error));
            }
            self.payload_bytes += payload.len() as u64;
            let (kind, payload) = self.log.packer.packed(kind, payload.into());
            insert_event(&mut insert, &envelope, kind, payload, chain)?;
            self.head = head;
        }
        Ok(Ok(()))
    }

    /// Appends one event that is encoded and chained already.
    ///
    /// # Errors
    /// When it doesn't follow the head by number and chain, or SQLite fails.
    pub fn append(&mut self, stored: &Stored) -> Result<(), LedgerError> {
        // Chained anew instead of believed: lines, or a damaged file, may have been edited.
        let chain = self
            .head
            .chain
            .extended(stored, stored.kind, &stored.payload);
        if chain != stored.chain {
            return Err(LedgerError::OutOfOrder {
                head: self.head.seq,
                found: stored.seq,
            });
        }
        let head = Head {
            seq: stored.seq,
            chain,
        };
        self.check_follows(head)?;
        let payload = stored.payload.as_slice().into();
        let (kind, payload) = self.log.packer.packed(stored.kind, payload);
        let insert = self.log.connection.prepare_cached(INSERT);
        let inserted = insert
            .and_then(|mut insert| insert_event(&mut insert, stored, kind, payload, stored.chain));
        inserted.map_err(|error| self.table_failed(error.into()))?;
        self.head = head;
        self.payload_bytes += stored.payload.len() as u64;
        Ok(())
    }

    /// Changes rows, which are then those of an event.
    ///
    /// # Errors
    /// When one doesn't fit its table, or SQLite fails.
    pub fn write_rows(&mut self, rows: &RowsUpTo) -> Result<(), LedgerError> {
        // Rows that never were written would be missing for good under a position that covers them.
        assert!(
            self.applied.is_some_and(|it| it <= rows.seq) && rows.seq <= self.head.seq,
            "rows follow those that are there, and no event that isn't"
        );
        let Self { log, rows_hash, .. } = self;
        let applied = log
            .tables
            .apply_changes(&log.connection, &rows.changes, rows_hash);
        applied.map_err(|error| self.table_failed(error))?;
        self.set_applied(rows.seq)
    }

    /// Notes up to which event all rows are written.
    ///
    /// # Errors
    /// When SQLite fails.
    pub fn set_applied(&mut self, applied: Seq) -> Result<(), LedgerError> {
        let log = &*self.log;
        let set = (log.tables).set_applied(&log.connection, applied, self.rows_hash);
        set.map_err(|error| self.table_failed(error))?;
        self.applied = Some(applied);
        Ok(())
    }

    /// Makes everything durable: commits, syncs, then moves the anchor.
    ///
    /// # Errors
    /// When any of it fails; the state on disk is unknown then.
    pub fn commit(mut self) -> Result<Head, LedgerError> {
        let committed = connection::run_cached(&self.log.connection, "COMMIT");
        committed.map_err(|error| self.table_failed(error.into()))?;
        self.open = false;
        self.log.rows_hash = self.rows_hash;
        self.log.applied = self.applied;
        // The anchor follows the commit: it may lag behind the ledger after a crash, which is repaired, but an anchor ahead of the
        // ledger means a lost tail.
        assert!(
            self.log.anchor.head().seq <= self.head.seq,
            "an anchor that went back would hide a lost tail"
        );
        let moved = self.head != self.log.head;
        self.log.head = self.head;
        if moved {
            let anchored = self.log.anchor.advance(self.head);
            anchored.map_err(|error| self.log.poison(error))?;
        }
        Ok(self.head)
    }

    fn check_follows(&self, head: Head) -> Result<(), LedgerError> {
        if head.seq == self.head.seq.next() {
            return Ok(());
        }
        Err(LedgerError::OutOfOrder {
            head: self.head.seq,
            found: head.seq,
        })
    }

    pub(super) fn table_failed(&mut self, error: TableError) -> LedgerError {
        let error = self.log.database.table_failed("write to", error);
        self.log.poison(error)
    }
}

const INSERT: &str = "INSERT INTO ledger (seq, at, episode, session, ends_step, kind, payload, chain) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

fn insert_event(
    insert: &mut CachedStatement<'_>,
    envelope: &Envelope,
    kind: i64,
    payload: Cow<'_, [u8]>,
    chain: ChainHash,
) -> rusqlite::Result<usize> {
    let values = params![
        to_sql(envelope.seq),
        envelope.at.0,
        // All 64 bits, as they are: an import may bring any.
        envelope.episode.0.cast_signed(),
        envelope.session.0.cast_signed(),
        envelope.ends_step,
        kind
    ];
    for (place, value) in (1..).zip(values) {
        insert.raw_bind_parameter(place, value)?;
    }
    // SQLite copies what is bound and then makes a record of it: bytes that are given away go between the two.
    insert.raw_bind_parameter(7, payload)?;
    insert.raw_bind_parameter(8, chain.0)?;
    insert.raw_execute()
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        // A failed statement may have rolled back already; then there is nothing left to undo.
        if self.open
            && !self.log.connection.is_autocommit()
            && let Err(error) = self.log.connection.execute_batch("ROLLBACK")
        {
            self.table_failed(error.into());
        }
    }
}
