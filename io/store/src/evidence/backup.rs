//! `tslp backup`: a copy of the ledger, with an anchor of its own, while a proxy may be writing to it.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempPath;
use tslp_replay::log::Head;

use super::scan::LedgerScan;
use super::workshop::{self, ScratchPurpose};
use crate::ledger::anchor::Anchor;
use crate::ledger::disk::{FileSystem, sync_parent};
use crate::ledger::{DataFiles, LedgerError, OpenOptions, ReaderFactory};
use crate::progress::WalkProgress;
use crate::startup::StartError;

/// An error of a backup. None leaves a file that looks like one.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The file is there already.
    #[error("{} exists already and was left as it is; name another file", .0.display())]
    Exists(PathBuf),
    /// It can't be written.
    #[error("{} can't be written: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// The ledger, or its copy, can't be read or believed.
    #[error(transparent)]
    Ledger(#[from] StartError),
    /// SQLite finds defects in the copy.
    #[error("the copy is damaged: {0}; check both disks")]
    Copy(String),
}

impl From<LedgerError> for BackupError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error.into())
    }
}

/// A finished copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerCopy {
    /// The database.
    pub file: PathBuf,
    /// Its head anchor.
    pub anchor: PathBuf,
    /// Its last event.
    pub head: Head,
}

/// The name of a backup's head anchor.
#[must_use]
pub fn anchor_of(file: &Path) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(".anchor");
    name.into()
}

/// Copies the ledger of `data_dir` into `file`, with its anchor in the same folder, and verifies the copy before it gets its name.
///
/// # Errors
/// See [`BackupError`].
pub fn back_up(
    data_dir: &Path,
    readers: &ReaderFactory,
    file: &Path,
) -> Result<LedgerCopy, BackupError> {
    let anchor = anchor_of(file);
    for taken in [file, &anchor] {
        if taken.symlink_metadata().is_ok() {
            return Err(BackupError::Exists(taken.to_owned()));
        }
    }
    let unwritable = |cause| BackupError::Write {
        path: file.to_owned(),
        cause,
    };
    let folder = file.parent().unwrap_or(Path::new("/"));
    let fresh = workshop::scratch_folder(folder, ScratchPurpose::Backup).map_err(unwritable)?;
    let _held = workshop::hold_folder(&fresh)?;
    let files = DataFiles::of(fresh.path());
    let source = LedgerScan::begin(data_dir, readers)?;
    let head = copy_database(&source, &files.database)?;
    drop(Anchor::create(&FileSystem, &files.anchor, head)?);
    verify_copy(&files, &source)?;
    File::open(&files.database)
        .and_then(|copy| copy.sync_all())
        .map_err(unwritable)?;
    // The anchor first: where the database is, all of the backup is.
    give_name(&files.anchor, &anchor)?;
    give_name(&files.database, file)?;
    sync_parent(file).map_err(unwritable)?;
    Ok(LedgerCopy {
        file: file.to_owned(),
        anchor,
        head,
    })
}

fn copy_database(source: &LedgerScan, database: &Path) -> Result<Head, BackupError> {
    // SQLite would make a file that others can read, too.
    File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(database)
        .map_err(|cause| BackupError::Write {
            path: database.to_owned(),
            cause,
        })?;
    let mut progress = None;
    let head = source.reader().copy_to(database, &mut |left, all| {
        let bar = progress.get_or_insert_with(|| WalkProgress::new(all, "pages"));
        bar.set_done(all.saturating_sub(left));
    })?;
    Ok(head)
}

/// Reads the copy as a ledger from its first event to its last: chain, anchor, every event's bytes, and SQLite's own
/// check. What the source's anchor vouched for must be in it.
fn verify_copy(files: &DataFiles, source: &LedgerScan) -> Result<(), BackupError> {
    let readers = ReaderFactory::new(files, &OpenOptions::default());
    let mut copy = LedgerScan::begin(&files.dir, &readers)?;
    copy.check_against_anchor_of(source);
    let progress = WalkProgress::new(copy.head().seq.0, "events verified");
    while let Some((stored, _)) = copy.next_event()? {
        progress.set_done(stored.seq.0);
    }
    let defects = copy.reader().integrity_check();
    let defects = defects.map_err(|error| BackupError::Copy(error.to_string()))?;
    if defects.is_empty() {
        Ok(())
    } else {
        Err(BackupError::Copy(defects.join("; ")))
    }
}

/// Gives a file its final name, unless something has got that name meanwhile.
fn give_name(from: &Path, to: &Path) -> Result<(), BackupError> {
    let failed = |cause: io::Error| match cause.kind() {
        io::ErrorKind::AlreadyExists => BackupError::Exists(to.to_owned()),
        _ => BackupError::Write {
            path: to.to_owned(),
            cause,
        },
    };
    TempPath::try_from_path(from)
        .map_err(failed)?
        .persist_noclobber(to)
        .map_err(|error| failed(error.error))
}
