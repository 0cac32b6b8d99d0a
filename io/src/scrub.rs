//! The scrub: after a start that took the state from a checkpoint, everything that the start didn't read is read behind it,
//! while nobody wants anything.
//!
//! First every page of the file, since nothing is written before ([`crate::ledger::structure`]). Then the whole ledger is
//! folded: each link, each event's bytes, the archives' rows, and whether the checkpoint is what its events say. What it
//! finds turns on safe mode, as the same flaw would at a start, and takes the checkpoint away, so that the next start
//! looks at everything itself.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tslp_core::ids::Seq;
use tslp_projections::TABLES;
use tslp_projections::table::Changes;
use tslp_replay::fold::{Replay, ReplayError};
use tslp_replay::log::{Head, Stored};

use crate::archive_check::ArchiveCheck;
use crate::checkpoint::{self, Mark};
use crate::ledger::disk::Disk;
use crate::ledger::structure::Structure;
use crate::ledger::{DataFiles, LedgerError, LedgerReader, OpenLedger, OpenOptions};
use crate::startup::StartError;

pub mod thread;

/// Events read at once. Between two pages no snapshot is held, and others may go first.
const PAGE_EVENTS: usize = 512;

/// Bytes after which a page ends early.
const PAGE_BYTES: usize = 1 << 20;

/// What a scrub finds.
#[derive(Debug, thiserror::Error)]
pub enum Flaw {
    /// The ledger can't be read or believed.
    #[error(transparent)]
    Ledger(#[from] StartError),
    /// An archive holds something else than the ledger says.
    #[error(
        "table {table} {flaw}. No event is lost: restart tslp, which makes its tables anew from the ledger"
    )]
    Archive {
        /// The table.
        table: &'static str,
        /// What is wrong with it.
        flaw: String,
    },
    /// The checkpoint isn't the state that its events make.
    #[error(
        "the checkpoint at {0} isn't what the ledger says, though its hashes fit. No event is lost: restart tslp, which \
         folds the ledger from its first event, and run `tslp verify --deep` to see what was decided since the last start"
    )]
    Checkpoint(Seq),
}

impl From<ReplayError> for Flaw {
    fn from(error: ReplayError) -> Self {
        Self::Ledger(error.into())
    }
}

impl From<LedgerError> for Flaw {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error.into())
    }
}

impl Flaw {
    fn is_interruption(&self) -> bool {
        matches!(self, Self::Ledger(StartError::Ledger(error)) if error.is_interruption())
    }
}

/// How far a scrub is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The pages of the file are looked at.
    Pages,
    /// The pages are sound; so many of so many events are verified.
    Events {
        /// Verified.
        done: Seq,
        /// To be verified.
        of: Seq,
    },
    /// Everything is sound.
    Passed {
        /// How many events this scrub verified; without a checkpoint the start verified all of them.
        events: Seq,
    },
    /// Something isn't; why.
    Failed(String),
    /// It was stopped before it was through.
    Stopped,
}

/// Where the diagnostics see how far a scrub is.
#[derive(Clone, Debug)]
pub struct Watched(Arc<Mutex<Progress>>);

impl Default for Watched {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Progress::Pages)))
    }
}

impl Watched {
    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.lock().clone()
    }

    fn set(&self, progress: Progress) {
        *self.lock() = progress;
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a scrub goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// It does.
    On,
    /// There is no time for it any more.
    Over,
}

/// What is left to be looked at after a start.
pub struct Scrub {
    reader: LedgerReader,
    structure: Arc<Structure>,
    disk: Arc<dyn Disk>,
    file: PathBuf,
    /// The checkpoint that the start took the state from, and where the ledger ended then.
    unverified: Option<(Mark, Head)>,
    watched: Watched,
}

impl Scrub {
    /// What this start left to be looked at, through a connection of the scrub's own.
    ///
    /// # Errors
    /// When the ledger can't be read.
    pub fn of(
        opened: &OpenLedger,
        options: &OpenOptions,
        data_dir: &Path,
    ) -> Result<Self, StartError> {
        let reader = opened.readers.open()?;
        let unverified = match opened.unverified {
            Some(mark) => Some((mark, reader.head()?)),
            None => None,
        };
        Ok(Self {
            reader,
            structure: Arc::clone(opened.log.structure()),
            disk: Arc::clone(&options.disk),
            file: DataFiles::of(data_dir).checkpoint,
            unverified,
            watched: Watched::default(),
        })
    }

    /// Where its progress can be seen.
    #[must_use]
    pub fn watched(&self) -> Watched {
        self.watched.clone()
    }

    /// The connection, to be interrupted by who has no time any more.
    #[must_use]
    pub const fn reader(&self) -> &LedgerReader {
        &self.reader
    }

    /// Looks at everything; `pause` is asked between any two pieces of work, and may wait. After a flaw the ledger takes
    /// nothing more.
    ///
    /// # Errors
    /// The flaw.
    pub fn run(&self, pause: impl FnMut() -> Course) -> Result<Course, Flaw> {
        let outcome = match self.look(pause) {
            Err(flaw) if flaw.is_interruption() => Ok(Course::Over),
            outcome => outcome,
        };
        match &outcome {
            Ok(Course::On) => self.watched.set(Progress::Passed {
                events: self.unverified.map_or(Seq(0), |(_, end)| end.seq),
            }),
            Ok(Course::Over) => self.watched.set(Progress::Stopped),
            Err(flaw) => self.stop_writing(flaw.to_string()),
        }
        outcome
    }

    fn stop_writing(&self, reason: String) {
        tracing::error!(reason, "the scrub found a flaw: nothing more is written");
        // In this order: whoever writes a checkpoint looks at the verdict afterwards.
        self.structure.condemn(reason.clone());
        if let Err(error) = self.disk.remove(&self.file) {
            tracing::error!(%error, file = %self.file.display(), "the checkpoint can't be removed: remove it before the next start");
        }
        self.watched.set(Progress::Failed(reason));
    }

    fn look(&self, pause: impl FnMut() -> Course) -> Result<Course, Flaw> {
        let begun = Instant::now();
        if let Some(looking) = self.structure.look() {
            self.reader.check_pages()?;
            looking.sound();
            tracing::info!(took = ?begun.elapsed(), "every page of the ledger's file is sound");
        }
        let Some((mark, end)) = self.unverified else {
            return Ok(Course::On);
        };
        let course = self.fold(mark, end, pause)?;
        if course == Course::On {
            tracing::info!(events = end.seq.0, took = ?begun.elapsed(), "everything behind the checkpoint is sound");
        }
        Ok(course)
    }

    fn fold(
        &self,
        mark: Mark,
        end: Head,
        mut pause: impl FnMut() -> Course,
    ) -> Result<Course, Flaw> {
        let mut replay = Replay::default();
        let mut archives = ArchiveCheck::default();
        while replay.head().seq < end.seq {
            let done = replay.head().seq;
            if done == mark.head.seq {
                compare(&replay, mark)?;
            }
            self.watched.set(Progress::Events { done, of: end.seq });
            if pause() == Course::Over {
                return Ok(Course::Over);
            }
            let border = if done < mark.head.seq { mark.head } else { end };
            self.fold_page(&mut replay, &mut archives, border.seq)?;
        }
        if mark.head.seq == end.seq {
            compare(&replay, mark)?;
        }
        if replay.head() != end {
            return Err(ReplayError::ChainBroken(end.seq.0).into());
        }
        for archive in archives.finish(end.seq, &self.reader) {
            archive.rows.map_err(|flaw| Flaw::Archive {
                table: TABLES[archive.table].name,
                flaw,
            })?;
        }
        Ok(Course::On)
    }

    fn fold_page(
        &self,
        replay: &mut Replay,
        archives: &mut ArchiveCheck,
        until: Seq,
    ) -> Result<(), Flaw> {
        let mut changes = Changes::of_archives();
        let before = replay.head().seq;
        let (mut events, mut bytes, mut flaw) = (0, 0, None);
        self.reader.read(before.next(), &mut |stored: Stored| {
            if stored.seq > until {
                return ControlFlow::Break(());
            }
            if let Err(error) = replay.step_with(&stored, tslp_migrations::decode, &mut changes) {
                flaw = Some(error);
                return ControlFlow::Break(());
            }
            events += 1;
            bytes += stored.payload.len();
            if events == PAGE_EVENTS || bytes >= PAGE_BYTES {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        if let Some(error) = flaw {
            return Err(error.into());
        }
        if replay.head().seq == before {
            return Err(ReplayError::Gap {
                after: before.0,
                found: until.0,
            }
            .into());
        }
        archives.take(changes.drain(), &self.reader);
        replay.settle();
        Ok(())
    }
}

/// Both roads lead to the same state.
fn compare(replay: &Replay, mark: Mark) -> Result<(), Flaw> {
    let folded = checkpoint::mark(replay.state(), replay.head().chain);
    match folded {
        Ok(folded) if folded == mark => Ok(()),
        Ok(_) | Err(_) => Err(Flaw::Checkpoint(mark.head.seq)),
    }
}

/// Looks at everything that a start left, here and now.
///
/// # Errors
/// The flaw; the log takes nothing more then.
pub fn scrub(opened: &OpenLedger, options: &OpenOptions, data_dir: &Path) -> Result<(), Flaw> {
    Scrub::of(opened, options, data_dir)?
        .run(|| Course::On)
        .map(drop)
}
