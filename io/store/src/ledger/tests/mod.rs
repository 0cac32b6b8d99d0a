//! Tests of the ledger on disk: a workspace in a temporary directory, and what all tests do with it.

mod appending;
mod formats;
mod opening;
mod tables;
mod writing;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;
use tslp_core::event::{Content, ContentKind, Envelope, Event, Recorded};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{Seq, UnixMillis};
use tslp_migrations::encode;
use tslp_projections::changes::{Change, RowChange, RowsUpTo};
use tslp_projections::row;
use tslp_projections::row::{Row as _, StoredRow};
use tslp_projections::table::{Table, Value};
use tslp_replay::chain::ChainHash;
use tslp_replay::log::{Head, Stored};

use super::{
    DataFiles, LedgerError, LedgerReader, OpenLedger, OpenOptions, ReaderFactory, SqliteLog,
};

row! {
    /// An archive.
    struct VaultRow in archive "vault", version 1;
    key {
        hash: ArtifactHash,
    }
    values {
        seq: Seq,
    }
}

row! {
    /// A table with a compound key.
    struct StateRow in table "state", version 1;
    key {
        path: String,
        symbol: String,
    }
    values {
        note: Option<String>,
    }
}

row! {
    /// A table with a number for a key.
    struct OrderRow in table "order", version 1;
    key {
        id: u64,
    }
    values {}
}

static TABLES: &[Table] = &[VaultRow::TABLE, StateRow::TABLE, OrderRow::TABLE];

const VAULT: usize = 0;
const STATE: usize = 1;
const ORDER: usize = 2;

impl StoredRow for OrderRow {
    const INDEX: usize = ORDER;
}

struct Fixture {
    dir: TempDir,
    /// Another one's data directory, where that is meant.
    at: Option<PathBuf>,
    options: OpenOptions,
}

impl Fixture {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            at: None,
            options: OpenOptions {
                tables: TABLES,
                ..OpenOptions::default()
            },
        }
    }

    fn data(&self) -> PathBuf {
        self.at
            .clone()
            .unwrap_or_else(|| self.dir.path().join("data"))
    }

    /// The names of all files, but for those that any reader makes.
    fn names(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.data()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names
            .filter(|name| !name.ends_with("-wal") && !name.ends_with("-shm"))
            .collect();
        names.sort();
        names
    }

    fn files(&self) -> DataFiles {
        DataFiles::of(&self.data())
    }

    fn wal(&self) -> PathBuf {
        self.data().join("ledger.db-wal")
    }

    fn try_open(&self) -> Result<OpenLedger, LedgerError> {
        self.options.open(&self.data(), Path::new("/work/project"))
    }

    fn open(&self) -> OpenLedger {
        self.try_open().unwrap()
    }

    fn open_reader(&self) -> LedgerReader {
        ReaderFactory::new(&self.files(), &self.options)
            .open()
            .unwrap()
    }

    /// The error with which the ledger is refused.
    fn refused(&self) -> LedgerError {
        match self.try_open() {
            Ok(_) => panic!("the ledger was opened"),
            Err(error) => error,
        }
    }

    /// Appends events up to `last` with a row each, and closes the ledger as a crash would: nothing is moved.
    fn filled(&self, last: u64) {
        let mut log = self.open().log;
        let first = log.head().unwrap().seq.0 + 1;
        for seq in first..=last {
            append_one(&mut log, seq);
        }
    }

    /// A connection past all our code, as a `sqlite3` shell would have it.
    fn shell(&self) -> Connection {
        Connection::open(self.files().database).unwrap()
    }

    /// Runs statements that the ledger's triggers would refuse, and leaves the schema as it was.
    fn past_the_triggers(&self, sql: &str) {
        let shell = self.shell();
        let triggers: Vec<(String, String)> = shell
            .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'ledger'")
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        for (name, _) in &triggers {
            shell
                .execute_batch(&format!("DROP TRIGGER {name}"))
                .unwrap();
        }
        shell.execute_batch(sql).unwrap();
        for (_, made) in &triggers {
            shell.execute_batch(made).unwrap();
        }
    }

    /// All bytes that are evidence. Even a reader makes an empty WAL where there is none; nothing is evidence of that.
    fn evidence(&self) -> Vec<Vec<u8>> {
        [self.files().database, self.wal(), self.files().anchor]
            .iter()
            .map(|path| std::fs::read(path).unwrap_or_default())
            .collect()
    }
}

fn recorded(seq: u64) -> Recorded {
    let bytes = format!("content number {seq}").into_bytes();
    Recorded {
        envelope: Envelope::outside(Seq(seq), UnixMillis(1_000 * i64::try_from(seq).unwrap())),
        event: Event::Content(Content {
            hash: ArtifactHash::of(&bytes),
            kind: ContentKind::Message,
            bytes: bytes.into(),
        }),
    }
}

fn stored(chain: ChainHash, seq: u64) -> Stored {
    let recorded = recorded(seq);
    let encoded = encode(&recorded.event).unwrap();
    Stored::after(chain, recorded.envelope, encoded.kind, encoded.payload)
}

fn put(table: usize, row: Vec<Value>) -> RowChange {
    RowChange {
        table,
        change: Change::Put(row),
    }
}

fn order(id: u64) -> RowChange {
    put(ORDER, vec![id.into()])
}

fn append_one(log: &mut SqliteLog, seq: u64) -> Head {
    assert_eq!(log.head().unwrap().seq.0 + 1, seq);
    append_next(log, &[order(seq)]).unwrap()
}

fn rows_of(seq: u64, changes: &[RowChange]) -> RowsUpTo {
    RowsUpTo {
        seq: Seq(seq),
        changes: changes.to_vec(),
    }
}

/// Appends the next event with these changes.
fn append_next(log: &mut SqliteLog, changes: &[RowChange]) -> Result<Head, LedgerError> {
    let head = log.head()?;
    let mut batch = log.begin_batch()?;
    batch.append(&stored(head.chain, head.seq.0 + 1))?;
    batch.write_rows(&rows_of(head.seq.0 + 1, changes))?;
    batch.commit()
}

/// Reads the whole log; panics where the chain doesn't hold. Returns its head.
fn verified(log: &SqliteLog) -> Head {
    let mut head = Head {
        seq: Seq(0),
        chain: ChainHash::GENESIS,
    };
    log.read(Seq(1), &mut |stored| {
        assert_eq!(stored.seq, head.seq.next());
        head.seq = stored.seq;
        head.chain = head.chain.extended(&stored, stored.kind, &stored.payload);
        assert_eq!(head.chain, stored.chain, "at {}", stored.seq);
        ControlFlow::Continue(())
    })
    .unwrap();
    head
}
