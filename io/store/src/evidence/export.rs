//! `tslp export`: the whole ledger as JSON Lines that can be read, and verified, without this program.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempPath;
use tslp_replay::log::Head;

use super::line::{ExportHeader, event_line};
use super::scan::LedgerScan;
use super::workshop::{self, ScratchPurpose};
use crate::ledger::disk::sync_parent;
use crate::progress::WalkProgress;
use crate::startup::StartError;

/// An error of an export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The ledger can't be read or believed.
    #[error(transparent)]
    Ledger(#[from] StartError),
    /// The lines can't be written.
    #[error("the export can't be written: {0}")]
    Write(#[from] io::Error),
    /// The file is there already.
    #[error("{} exists already and was left as it is; name another file", .0.display())]
    Exists(PathBuf),
}

/// Writes every event of the walk. Holds one page of them at a time.
///
/// # Errors
/// See [`ExportError`]; what was written before a damage is sound.
pub fn write_export(scan: &mut LedgerScan, out: &mut dyn Write) -> Result<Head, ExportError> {
    let head = scan.head();
    let header = ExportHeader {
        workspace: scan.reader().workspace().map_err(StartError::from)?,
        head,
    };
    writeln!(out, "{}", header.to_line())?;
    let progress = WalkProgress::new(head.seq.0, "events");
    while let Some((stored, event)) = scan.next_event()? {
        writeln!(out, "{}", event_line(&stored, &event))?;
        progress.set_done(stored.seq.0);
    }
    out.flush()?;
    Ok(head)
}

/// Writes the export into a new file, which is there when it is whole and durable, and not before.
///
/// # Errors
/// See [`ExportError`].
pub fn write_file(scan: &mut LedgerScan, file: &Path) -> Result<Head, ExportError> {
    if file.symlink_metadata().is_ok() {
        return Err(ExportError::Exists(file.to_owned()));
    }
    let folder = file.parent().unwrap_or(Path::new("/"));
    let fresh = workshop::scratch_folder(folder, ScratchPurpose::Export)?;
    let _held = workshop::hold_folder(&fresh).map_err(StartError::from)?;
    let lines = fresh.path().join("export.jsonl");
    let mut made = File::options();
    let made = made.write(true).create_new(true).mode(0o600).open(&lines)?;
    let head = {
        let mut out = BufWriter::with_capacity(1 << 16, &made);
        let head = write_export(scan, &mut out)?;
        out.flush()?;
        head
    };
    made.sync_all()?;
    TempPath::try_from_path(lines)?
        .persist_noclobber(file)
        .map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => ExportError::Exists(file.to_owned()),
            _ => ExportError::Write(error.error),
        })?;
    sync_parent(file)?;
    Ok(head)
}
