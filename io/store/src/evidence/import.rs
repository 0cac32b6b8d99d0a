//! `tslp import`: an export back into a ledger, if it is exactly what was exported.

use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tslp_migrations::PAYLOAD_BYTES_MAX;
use tslp_replay::fold::ChainCheck;
use tslp_replay::log::Head;

use super::line::{self, ExportHeader};
use super::workshop::{self, ScratchPurpose};
use crate::data_dir::{self, DataDirError};
use crate::ledger::lock::DataDirLock;
use crate::ledger::{self, CheckpointMode, LedgerError, NotAppended};
use crate::progress::WalkProgress;
use crate::startup::{self, StartError};

/// Events written in one transaction.
const BATCH_EVENTS: usize = 1024;

/// Bytes after which a transaction ends early.
const BATCH_BYTES: usize = 8 << 20;

/// Longest line that an export can have: a byte of content takes six at the most (`\u0000`), and the rest is small.
const LINE_BYTES_MAX: u64 = 7 * PAYLOAD_BYTES_MAX as u64;

/// Longest header: a workspace's path and a few hashes. What isn't an export at all shows before it fills the memory.
const HEADER_BYTES_MAX: u64 = 1 << 20;

/// An error of an import. None leaves a ledger.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A line is not what was exported.
    #[error("line {line}: {detail}. Nothing was imported")]
    Line {
        /// Counted from 1.
        line: u64,
        /// The defect.
        detail: String,
    },
    /// The export can't be read.
    #[error("the export can't be read: {0}")]
    Read(io::Error),
    /// The target holds something.
    #[error("{} is not empty; name a folder that doesn't exist yet, or an empty one", .0.display())]
    NotEmpty(PathBuf),
    /// The target can't be used.
    #[error(transparent)]
    Place(#[from] DataDirError),
    /// The target can't be written.
    #[error("{} can't be written: {cause}", path.display())]
    Write {
        /// The target.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// The new ledger can't be made.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The new ledger's projections can't be made.
    #[error(transparent)]
    Rebuild(#[from] StartError),
    /// The new ledger takes no events.
    #[error(transparent)]
    Append(#[from] NotAppended),
}

/// A ledger that came out of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedLedger {
    /// Its data directory.
    pub data_dir: PathBuf,
    /// The workspace that it belongs to.
    pub workspace: PathBuf,
    /// Its last event.
    pub head: Head,
}

/// Builds a ledger out of an export's lines in a hidden folder, and gives that the name `to` when it is whole.
///
/// # Errors
/// See [`ImportError`].
pub fn import_ledger(lines: &mut dyn BufRead, to: &Path) -> Result<ImportedLedger, ImportError> {
    let mut lines = CountedLines::new(lines);
    let header = match lines.next()? {
        Some(line) => ExportHeader::read(&line).map_err(|error| lines.line_error(error))?,
        None => return Err(lines.line_error("the file is empty")),
    };
    let to = data_dir::choose_data_dir(&header.workspace, Some(to), None)?;
    if !workshop::is_free(&to) {
        return Err(ImportError::NotEmpty(to));
    }
    let unwritable = |cause| ImportError::Write {
        path: to.clone(),
        cause,
    };
    workshop::make_data_dir(&to, ScratchPurpose::Import, unwritable, |fresh| {
        fill_ledger(&mut lines, &header, fresh).map(|lock| ((), lock))
    })?;
    Ok(ImportedLedger {
        data_dir: to,
        workspace: header.workspace,
        head: header.head,
    })
}

/// Returns the new ledger's lock.
fn fill_ledger(
    lines: &mut CountedLines<'_>,
    header: &ExportHeader,
    dir: &Path,
) -> Result<Arc<DataDirLock>, ImportError> {
    let mut opened = ledger::open_ledger(dir, &header.workspace)?;
    let progress = WalkProgress::new(header.head.seq.0, "events");
    let mut chain = ChainCheck::default();
    let (mut waiting, mut bytes) = (Vec::new(), 0);
    while let Some(text) = lines.next()? {
        let stored = line::read_event(&text).map_err(|error| lines.line_error(error))?;
        chain
            .step_decoded(&stored, tslp_migrations::decode)
            .map_err(|error| lines.line_error(error))?;
        progress.set_done(stored.seq.0);
        bytes += stored.payload.len();
        waiting.push(stored);
        if waiting.len() == BATCH_EVENTS || bytes >= BATCH_BYTES {
            opened.log.append_waiting(&mut waiting)?;
            bytes = 0;
        }
    }
    opened.log.append_waiting(&mut waiting)?;
    drop(progress);
    if chain.head() != header.head {
        return Err(lines.line_error(format!(
            "the export ends at {}, but its header names {} (chain {:.12}) as the last event",
            chain.head().seq,
            header.head.seq,
            header.head.chain.to_string()
        )));
    }
    startup::rebuild_tables(&mut opened.log)?;
    opened.log.checkpoint(CheckpointMode::Truncate)?;
    Ok(opened.lock)
}

/// Whole lines of a file, counted.
struct CountedLines<'r> {
    source: &'r mut dyn BufRead,
    number: u64,
}

impl<'r> CountedLines<'r> {
    fn new(source: &'r mut dyn BufRead) -> Self {
        Self { source, number: 0 }
    }

    /// The next line without its end; `None` at the end of the file.
    fn next(&mut self) -> Result<Option<String>, ImportError> {
        let mut bytes = Vec::new();
        let limit = if self.number == 0 {
            HEADER_BYTES_MAX
        } else {
            LINE_BYTES_MAX
        };
        (&mut *self.source)
            .take(limit)
            .read_until(b'\n', &mut bytes)
            .map_err(ImportError::Read)?;
        self.number += 1;
        if bytes.is_empty() {
            return Ok(None);
        }
        if bytes.pop() != Some(b'\n') {
            return Err(self
                .line_error("it is cut off, or no line of an export: those end with a line feed"));
        }
        String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| self.line_error("it is no UTF-8 text"))
    }

    fn line_error(&self, detail: impl ToString) -> ImportError {
        ImportError::Line {
            line: self.number,
            detail: detail.to_string(),
        }
    }
}
