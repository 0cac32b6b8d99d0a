//! Errors of a ledger on disk, each with what the user can do about it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use tslp_core::ids::Seq;
use tslp_migrations::schema::FORMAT_VERSION;
use tslp_migrations::{DecodeError, EncodeError};
use tslp_replay::log::Head;

/// An error while reading or writing a table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// SQLite's error.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// A row, or a request for one, doesn't fit the table's description.
    #[error("{detail}")]
    Shape {
        /// The table.
        table: &'static str,
        /// The description of the misfit.
        detail: String,
    },
}

/// An error of the ledger on disk.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The data directory can't be used.
    #[error(
        "the data directory {path} can't be used: {source}; make it readable and writable for your user, \
         or configure another one"
    )]
    DataDir {
        /// The directory.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A file of the ledger can't be used.
    #[error(
        "can't {action} {path}: {source}; check that your user owns it and that the disk is writable and has room, then restart"
    )]
    File {
        /// The action that failed.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// Another process has the ledger.
    #[error(
        "another tslp process{} is using {}, and only one at a time can write there; wait until it has ended, or stop it",
        .pid.map_or_else(String::new, |pid| format!(" (pid {pid})")), .path.display()
    )]
    InUse {
        /// The data directory.
        path: PathBuf,
        /// The holder's pid, if it could be read.
        pid: Option<u32>,
    },
    /// The file is no ledger.
    #[error(
        "{path} is not a TSLP ledger, or its header is damaged: {detail}; it was left untouched. Move it away, put a \
         copy in its place, or configure another data directory"
    )]
    NotOurs {
        /// The database.
        path: PathBuf,
        /// A description of what it is instead.
        detail: String,
    },
    /// The database file is gone while what belongs to it is still there.
    #[error(
        "{path} is missing, but {remnant} is still there: the ledger was moved or deleted in part. Put the database \
         back, or move the whole directory away to start an empty ledger"
    )]
    DatabaseMissing {
        /// The database.
        path: PathBuf,
        /// The files that are left of it.
        remnant: PathBuf,
    },
    /// The file that is open hasn't its name any more.
    #[error(
        "{path} {change} while tslp had it open. Nothing more is written: put back what was taken away, or the newest copy, and \
         start tslp again"
    )]
    TakenAway {
        /// The database, or its WAL.
        path: PathBuf,
        /// The change that was noticed.
        change: &'static str,
    },
    /// The file was found to be damaged after it was opened.
    #[error("{detail}")]
    Condemned {
        /// The damage, and what to do about it.
        detail: String,
    },
    /// Another version of tslp wrote the database.
    #[error(
        "{path} was written by another version of tslp, in format {found}, and was left untouched: this version reads format \
         {FORMAT_VERSION}, so use the one that wrote it, or begin a new ledger in another data directory"
    )]
    OtherFormat {
        /// The database.
        path: PathBuf,
        /// The format's number in its header.
        found: i64,
    },
    /// The ledger belongs to another project folder.
    #[error(
        "{path} belongs to the workspace {found}, not to {expected}; start tslp in that folder, or configure another \
         data directory"
    )]
    WrongWorkspace {
        /// The database.
        path: PathBuf,
        /// The workspace that it belongs to.
        found: PathBuf,
        /// The workspace that was asked for.
        expected: PathBuf,
    },
    /// The ledger doesn't hold what was once durable.
    #[error(
        "{path} has lost acknowledged events: its head anchor stands at {} (chain {:.12}), {mismatch}. The disk \
         dropped data, the -wal file was damaged or removed, or an older copy was put back. Nothing was changed. \
         Look with `tslp verify`; go on from the newest copy, or take the longest valid part with `tslp copy`",
        .anchor.seq, .anchor.chain.to_string()
    )]
    AnchorMismatch {
        /// The database.
        path: PathBuf,
        /// The durable head.
        anchor: Head,
        /// The ledger's head.
        ledger: Head,
        /// In which way they differ.
        mismatch: AnchorMismatch,
    },
    /// There are events and no anchor that vouches for them.
    #[error(
        "{path} holds events up to {}, but its head anchor {anchor} is {state}, so a lost tail could not be noticed. \
         Copy the anchor along with the database; if it is gone for good, check with `tslp verify` and continue with \
         `tslp copy`", .head.seq
    )]
    AnchorMissing {
        /// The database.
        path: PathBuf,
        /// The anchor file.
        anchor: PathBuf,
        /// `missing` or `damaged`.
        state: &'static str,
        /// The ledger's head.
        head: Head,
    },
    /// The SQLite library is too old.
    #[error(
        "SQLite {found} has a bug that can damage databases in WAL mode; tslp needs 3.51.3 or newer: build it with \
         its bundled SQLite"
    )]
    SqliteTooOld {
        /// The library's version.
        found: &'static str,
    },
    /// No space left.
    #[error(
        "the disk that holds {path} is full; free space: a running proxy goes on by itself then, any other command is to \
         be given again. Everything acknowledged so far is safe, the last change was not written"
    )]
    DiskFull {
        /// The database.
        path: PathBuf,
    },
    /// Somebody else holds SQLite's own lock.
    #[error(
        "{path} is locked by another program, such as a sqlite3 shell with an open transaction; close it, then \
         restart tslp"
    )]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// The bytes on disk are damaged.
    #[error(
        "{path} is damaged: {detail}. Nothing more is written; look with `tslp verify`, go on from a copy, or take \
         the longest valid part with `tslp copy`"
    )]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// The defect.
        detail: String,
    },
    /// Any other error of SQLite.
    #[error("can't {action} {path}: {source}; check the disk, then restart tslp")]
    Sqlite {
        /// The action that failed.
        action: &'static str,
        /// The database.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// A stored event can't be read.
    #[error("{path}, event {seq}: {source}")]
    Decode {
        /// The database.
        path: PathBuf,
        /// The event.
        seq: Seq,
        /// The reason.
        source: DecodeError,
    },
    /// An event can't be stored.
    #[error("event {seq} was not recorded: {source}")]
    Encode {
        /// The event.
        seq: Seq,
        /// The reason.
        source: EncodeError,
    },
    /// There is no content event at this position.
    #[error("{path} has no content at {seq}; its projections are damaged: run `tslp rebuild`")]
    NoContent {
        /// The database.
        path: PathBuf,
        /// The position.
        seq: Seq,
    },
    /// A projection's table doesn't hold what it should.
    #[error("{path}, table {table}: {detail}; run `tslp rebuild`")]
    Table {
        /// The database.
        path: PathBuf,
        /// The table.
        table: String,
        /// The defect.
        detail: String,
    },
    /// The ledger's head is not where the writer left it.
    #[error(
        "{path} stands at {}, not at {expected}: another program wrote to it; stop that program, then restart tslp",
        .found.seq
    )]
    Moved {
        /// The database.
        path: PathBuf,
        /// The expected position.
        expected: Seq,
        /// The head that was found.
        found: Head,
    },
    /// An event doesn't follow the one before it: a defect of this program.
    #[error(
        "event {found} does not follow {head}; this is a defect of tslp: nothing was written, restart it"
    )]
    OutOfOrder {
        /// The head.
        head: Seq,
        /// The event that was to follow.
        found: Seq,
    },
    /// An earlier failure left open what is on disk.
    #[error("the ledger takes nothing more after an earlier failure: {reason}")]
    Poisoned {
        /// That failure.
        reason: String,
    },
}

/// The difference between ledger and anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnchorMismatch {
    /// The ledger ends before the anchor.
    #[error("while the ledger ends at {ledger_ends_at}")]
    LostTail {
        /// The ledger's last position.
        ledger_ends_at: Seq,
    },
    /// The ledger has another event at the anchor's position.
    #[error("where the ledger has another history")]
    OtherHistory,
}

/// Whether a value was read that is never written: invalid text, a number out of range, another type.
const fn is_no_value_of_ours(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
    )
}

impl LedgerError {
    /// Makes the error of an action on a file.
    pub(crate) fn on_file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File {
            action,
            path: path.to_owned(),
            source,
        }
    }

    /// Sorts an error of SQLite by what the user can do about it.
    pub(crate) fn from_sqlite(path: &Path, action: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt {
                path,
                detail: source.to_string(),
            },
            _ if is_no_value_of_ours(&source) => Self::Corrupt {
                path,
                detail: source.to_string(),
            },
            _ if source.to_string().starts_with("no such table: ledger") => Self::Corrupt {
                path,
                detail: "it holds no ledger, because it was emptied or replaced".to_owned(),
            },
            _ => Self::Sqlite {
                action,
                path,
                source,
            },
        }
    }

    /// Whether another version of tslp wrote the ledger, which is no damage.
    #[must_use]
    pub const fn is_other_version(&self) -> bool {
        matches!(self, Self::OtherFormat { .. })
    }

    /// Whether all that is missing is room on the disk.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        let lacks_room = |source: &io::Error| {
            matches!(
                source.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            )
        };
        match self {
            Self::DiskFull { .. } => true,
            Self::File { source, .. } | Self::DataDir { source, .. } => lacks_room(source),
            _ => false,
        }
    }

    /// Whether the statement was interrupted.
    #[must_use]
    pub fn is_interruption(&self) -> bool {
        matches!(self, Self::Sqlite { source, .. }
            if source.sqlite_error_code() == Some(ErrorCode::OperationInterrupted))
    }

    /// Whether the evidence on disk must stay as it is: chat is refused, diagnostics and copies go on.
    #[must_use]
    pub const fn asks_for_safe_mode(&self) -> bool {
        matches!(
            self,
            Self::AnchorMismatch { .. }
                | Self::AnchorMissing { .. }
                | Self::Condemned { .. }
                | Self::Corrupt { .. }
                | Self::Decode { .. }
                | Self::DatabaseMissing { .. }
                | Self::TakenAway { .. }
        )
    }
}
