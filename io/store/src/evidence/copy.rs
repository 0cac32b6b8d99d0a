//! `tslp copy`: the events of a ledger, live or damaged, or of the lines that `tslp log --json` prints, as a new ledger.

use std::fs;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use tslp_core::ids::Seq;
use tslp_migrations::PAYLOAD_BYTES_MAX;
use tslp_replay::fold::ChainCheck;
use tslp_replay::log::{Head, Stored};

use super::line;
use super::scan::LedgerScan;
use crate::data_dir::{self, DataDirError};
use crate::ledger::disk::sync_parent;
use crate::ledger::lock::DataDirLock;
use crate::ledger::{CheckpointMode, DataFiles, LedgerError, OpenLedger, OpenOptions};
use crate::progress::WalkProgress;
use crate::startup::{self, StartError};

/// Events written in one transaction.
const BATCH_EVENTS: usize = 4096;

/// Bytes after which a transaction ends early.
const BATCH_BYTES: usize = 8 << 20;

/// Longest line that an event can have: a byte of content takes six at the most (`\u0000`), and the rest is small.
const LINE_BYTES_MAX: u64 = 7 * PAYLOAD_BYTES_MAX as u64;

/// Where the events come from.
pub enum CopySource<'a> {
    /// A ledger.
    Ledger(Box<LedgerScan>),
    /// Lines, as `tslp log --json` prints them.
    Lines(&'a mut dyn BufRead),
}

/// A finished copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Its last event.
    pub head: Head,
    /// Why the source's later events were left out, if it is damaged.
    pub flaw: Option<String>,
}

/// An error of a copy. None leaves a ledger.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A line isn't as it was printed.
    #[error("line {line}: {detail}. Nothing was copied")]
    Line {
        /// Counted from 1.
        line: u64,
        /// The defect.
        detail: String,
    },
    /// The lines can't be read.
    #[error("the lines can't be read: {0}")]
    Read(io::Error),
    /// Another version of tslp wrote the ledger. Its events would be left behind.
    #[error("nothing was copied: {0}")]
    OtherVersion(Box<StartError>),
    /// The target holds something.
    #[error("{} is not empty; name a folder that doesn't exist yet, or an empty one", .0.display())]
    NotEmpty(PathBuf),
    /// The target can't be made.
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
    /// The new ledger can't be made, or takes no events.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Nothing of the ledger can be copied, or the new one's tables can't be made.
    #[error(transparent)]
    Rebuild(Box<StartError>),
}

impl From<StartError> for CopyError {
    fn from(error: StartError) -> Self {
        Self::Rebuild(Box::new(error))
    }
}

/// Makes a new data directory out of events, in a hidden folder beside it that gets its name when it is whole: what a killed copy leaves
/// never looks complete.
///
/// # Errors
/// See [`CopyError`].
pub fn copy_ledger(from: CopySource<'_>, to: &Path, workspace: &Path) -> Result<Copied, CopyError> {
    if !is_free(to) {
        return Err(CopyError::NotEmpty(to.to_owned()));
    }
    let fresh = hidden_folder(to)?;
    let named = || fs::rename(&fresh, to).and_then(|()| sync_parent(to));
    let made = copy_events(&OpenOptions::default(), from, &fresh, workspace)
        .and_then(|(copied, mut opened)| {
            opened.log.checkpoint(CheckpointMode::Truncate)?;
            Ok((copied, opened.lock))
        })
        // The lock is held until then: another copy to this place would take the folder for a left-over.
        .and_then(|(copied, _lock)| match named() {
            Ok(()) => Ok(copied),
            Err(cause) => Err(unwritable(to)(cause)),
        });
    if made.is_err()
        && let Err(error) = fs::remove_dir_all(&fresh)
    {
        tracing::warn!(%error, folder = %fresh.display(), "an unfinished copy can't be removed");
    }
    made
}

/// Copies events into an empty ledger, opened with `options`.
///
/// # Errors
/// See [`CopyError`]. What was made by then stays.
///
/// # Panics
/// If the new ledger isn't empty.
pub fn copy_events(
    options: &OpenOptions,
    from: CopySource<'_>,
    to: &Path,
    workspace: &Path,
) -> Result<(Copied, OpenLedger), CopyError> {
    let mut opened = options.open(to, workspace)?;
    assert_eq!(opened.log.head()?.seq, Seq(0), "a copy begins empty");
    let (mut waiting, mut bytes) = (Vec::new(), 0);
    let mut flaw = from.visit(&mut |stored| {
        bytes += stored.payload.len();
        waiting.push(stored);
        if waiting.len() == BATCH_EVENTS || bytes >= BATCH_BYTES {
            opened.log.append(&waiting)?;
            waiting.clear();
            bytes = 0;
        }
        Ok(())
    })?;
    opened.log.append(&waiting)?;
    let head = opened.log.head()?;
    if let Some(flaw) = flaw.take_if(|_| head.seq == Seq(0)) {
        return Err(flaw.into());
    }
    opened.log.note_former_workspace()?;
    // Which reads the copy from its first event to its last.
    startup::rebuild_tables(&mut opened.log)?;
    let copied = Copied {
        head,
        flaw: flaw.map(|flaw| match flaw {
            StartError::Damaged(flaw) => flaw.to_string(),
            other => other.to_string(),
        }),
    };
    Ok((copied, opened))
}

impl CopySource<'_> {
    /// Hands `take` every event that follows from the one before, decoded once; returns the flaw behind the last one.
    fn visit(
        self,
        take: &mut dyn FnMut(Stored) -> Result<(), CopyError>,
    ) -> Result<Option<StartError>, CopyError> {
        match self {
            Self::Ledger(mut scan) => {
                let progress = WalkProgress::new(scan.head().seq.0, "events copied");
                loop {
                    match scan.next_valid() {
                        Ok(Some((stored, _))) => {
                            progress.set_done(stored.seq.0);
                            take(stored)?;
                        }
                        Ok(None) => return Ok(None),
                        Err(flaw) if flaw.is_other_version() => {
                            return Err(CopyError::OtherVersion(Box::new(flaw)));
                        }
                        Err(flaw) => return Ok(Some(flaw)),
                    }
                }
            }
            Self::Lines(source) => {
                let mut chain = ChainCheck::default();
                for number in 1.. {
                    let failed = |detail: String| CopyError::Line {
                        line: number,
                        detail,
                    };
                    let Some(text) = next_line(source).map_err(CopyError::Read)? else {
                        break;
                    };
                    let read = text.and_then(|text| {
                        line::read_event(&text).map_err(|error| error.to_string())
                    });
                    let stored = read.map_err(failed)?;
                    let linked = chain.step_decoded(&stored, tslp_migrations::decode);
                    linked.map_err(|flaw| failed(flaw.to_string()))?;
                    take(stored)?;
                }
                Ok(None)
            }
        }
    }
}

/// The next line without its end, or why it is none; `None` at the end of the file.
fn next_line(source: &mut dyn BufRead) -> io::Result<Option<Result<String, String>>> {
    let mut bytes = Vec::new();
    source.take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes)?;
    Ok(match bytes.pop() {
        None => None,
        Some(b'\n') => Some(String::from_utf8(bytes).map_err(|_| "it is no UTF-8 text".to_owned())),
        Some(_) => Some(Err("it is cut off: lines end with a line feed".to_owned())),
    })
}

/// Whether nothing is there, or an empty folder.
fn is_free(to: &Path) -> bool {
    match fs::read_dir(to) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Makes the folder in which a copy is made, without what a killed one left there.
fn hidden_folder(to: &Path) -> Result<PathBuf, CopyError> {
    let name = to.file_name().unwrap_or_default().display();
    let folder = to.with_file_name(format!(".{name}.tslp-copy"));
    data_dir::prepare(&folder)?;
    let _held = DataDirLock::acquire(&DataFiles::of(&folder).lock)?;
    let remove_left = || -> io::Result<()> {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("ledger.") {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    };
    remove_left().map_err(unwritable(&folder))?;
    Ok(folder)
}

fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> CopyError {
    let path = path.to_owned();
    move |cause| CopyError::Write { path, cause }
}
