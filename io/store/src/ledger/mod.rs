//! The ledger on disk: SQLite behind one writer thread, with a lock, a head anchor and read-only readers.
//!
//! [`open_ledger`] takes the data directory's lock, makes sure that the database is ours and of this program's format,
//! compares it with the head anchor, and hands out the [`SqliteLog`]. Whoever opened it verifies the
//! chain while folding ([`LedgerReader::read`] streams), rebuilds projections that are behind, and gives the
//! log to [`writer::spawn_writer`], whose thread is the only one that writes from then on.
//!
//! What is acknowledged is on disk: a commit is synced, then the anchor is synced, then the position is announced.
//! After any failure nothing more is written until the ledger is opened anew.
//!
//! | file | holds |
//! |---|---|
//! | `ledger.db` (`-wal`, `-shm`) | the ledger and the projections' tables; readable with the `sqlite3` shell |
//! | `ledger.anchor` | position and chain hash of the last commit, to notice a lost tail or an older copy put back |
//! | `lock` | held by the one process that writes; names its pid |

pub mod anchor;
mod damage;
mod data_files;
pub mod disk;
pub mod durable;
mod error;
pub mod history;
pub mod lock;
mod open;
mod open_files;
mod open_options;
mod packing;
pub mod reader;
mod rebuild;
mod recognise;
pub(crate) mod scratch;
pub mod soundness;
mod sqlite_log;
mod start_error;
pub mod tables;
mod true_code;
pub mod writer;

mod connection;
#[cfg(test)]
mod tests;

pub use durable::{DurableHead, WriterStopped};
pub use error::{AnchorMismatch, LedgerError};
pub use rusqlite::InterruptHandle;

pub use damage::drop_tables;
pub use data_files::DataFiles;
pub use open::{OpenLedger, open_ledger};
pub use open_options::{MissingAnchor, OpenOptions};
pub use reader::{LedgerReader, ReaderFactory};
pub use sqlite_log::{Batch, CheckpointMode, SqliteLog, WalState};
pub use start_error::StartError;
pub use tables::TablesState;
