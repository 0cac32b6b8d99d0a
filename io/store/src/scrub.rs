//! The scrub: after a start, and once a day, it reads everything that a start doesn't.
//!
//! First every page of the file, then the whole ledger ([`crate::ledger::history`]). No commit waits for it: until every page is
//! checked, what is committed stays in the WAL ([`crate::ledger::soundness`]). A flaw turns on safe mode, as it would at a start, and
//! the next start folds every event itself.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tslp_core::ids::Seq;

use crate::ledger::history;
use crate::ledger::soundness::{CheckInProgress, Soundness};
use crate::ledger::{LedgerError, LedgerReader, OpenLedger, StartError};

/// A flaw that a scrub has found.
#[derive(Debug, thiserror::Error)]
pub enum ScrubFlaw {
    /// The ledger can't be read or believed.
    #[error(transparent)]
    Ledger(#[from] StartError),
    /// A table holds something else than the ledger says.
    #[error(
        "table {table} {flaw}. No event is lost: restart tslp, which makes its tables anew from the ledger, and run \
         `tslp verify --deep` to see whether anything was decided by them"
    )]
    Table {
        /// The table.
        table: &'static str,
        /// The end of a sentence about it.
        flaw: String,
    },
}

impl From<LedgerError> for ScrubFlaw {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error.into())
    }
}

impl ScrubFlaw {
    /// Whether the check was interrupted, which says nothing about the ledger.
    fn is_interruption(&self) -> bool {
        matches!(self, Self::Ledger(StartError::Ledger(error)) if error.is_interruption())
    }
}

/// The progress of a scrub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScrubProgress {
    /// The file's pages are being checked.
    Pages,
    /// The pages are sound; events are being verified.
    Events {
        /// The last verified event.
        done: Seq,
        /// The last event to be verified.
        of: Seq,
    },
    /// Everything is sound.
    Passed {
        /// The last event that was verified.
        events: Seq,
    },
    /// A flaw was found.
    Failed(String),
    /// It was stopped before its end.
    Stopped,
}

/// A scrub's progress, for the diagnostics.
#[derive(Clone, Debug)]
pub struct SharedProgress(Arc<Mutex<ScrubProgress>>);

impl Default for SharedProgress {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(ScrubProgress::Pages)))
    }
}

impl SharedProgress {
    /// The progress so far.
    #[must_use]
    pub fn current(&self) -> ScrubProgress {
        self.lock().clone()
    }

    fn set(&self, progress: ScrubProgress) {
        *self.lock() = progress;
    }

    fn lock(&self) -> MutexGuard<'_, ScrubProgress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The checks that a start leaves undone.
pub struct Scrub {
    reader: LedgerReader,
    soundness: Soundness,
    /// The claim of the check of pages, once it is made.
    pages: Option<CheckInProgress>,
    watched: SharedProgress,
}

impl Scrub {
    /// The checks of this ledger; they use their own connection.
    ///
    /// # Errors
    /// When the ledger can't be read.
    pub fn of(opened: &OpenLedger) -> Result<Self, StartError> {
        Ok(Self {
            reader: opened.readers.open()?,
            pages: None,
            soundness: opened.log.soundness().clone(),
            watched: SharedProgress::default(),
        })
    }

    /// Its progress, shared.
    #[must_use]
    pub fn shared_progress(&self) -> SharedProgress {
        self.watched.clone()
    }

    /// The connection, whose statements can be interrupted.
    #[must_use]
    pub const fn reader(&self) -> &LedgerReader {
        &self.reader
    }

    /// Claims the check of pages in advance, so that nobody else makes it.
    pub fn claim_pages(&mut self) {
        self.pages = self.pages.take().or_else(|| self.soundness.begin_check());
    }

    /// Makes the checks; `course` is asked between two pieces of work. After a flaw the ledger takes nothing more.
    ///
    /// # Errors
    /// The flaw.
    pub fn run_checks(
        &mut self,
        course: impl FnMut() -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, ScrubFlaw> {
        // Held until the outcome is known: when a claim is dropped, a waiting writer makes the check itself.
        self.claim_pages();
        let mut pages = self.pages.take();
        let outcome = match self.check_all(&mut pages, course) {
            Err(flaw) if flaw.is_interruption() => Ok(None),
            outcome => outcome,
        };
        match outcome {
            Ok(Some(events)) => {
                self.watched.set(ScrubProgress::Passed { events });
                Ok(ControlFlow::Continue(()))
            }
            Ok(None) => {
                self.watched.set(ScrubProgress::Stopped);
                Ok(ControlFlow::Break(()))
            }
            Err(flaw) => {
                self.stop_writing(flaw.to_string());
                Err(flaw)
            }
        }
    }

    fn stop_writing(&self, reason: String) {
        tracing::error!(
            reason,
            "the ledger was found to be damaged: nothing more is written"
        );
        let has_sound_pages = self.watched.current() != ScrubProgress::Pages;
        // First, so that the diagnostics say it as soon as a client is refused.
        self.watched.set(ScrubProgress::Failed(reason.clone()));
        self.soundness.condemn(&reason);
        // In a file whose pages aren't sound nothing is written, and the next scrub finds them as this one did.
        if has_sound_pages && let Err(error) = self.reader.distrust_tables() {
            tracing::error!(%error, "the next start can't be told; run `tslp rebuild` before it");
        }
    }

    /// The last event that was verified; `None` if `course` broke off.
    fn check_all(
        &self,
        pages: &mut Option<CheckInProgress>,
        mut course: impl FnMut() -> ControlFlow<()>,
    ) -> Result<Option<Seq>, ScrubFlaw> {
        // Pages first: reading events through a broken tree could call a sound event damaged.
        let begun = Instant::now();
        self.watched.set(ScrubProgress::Pages);
        self.reader.check_pages()?;
        pages
            .take()
            .into_iter()
            .for_each(CheckInProgress::report_sound);
        tracing::info!(took = ?begun.elapsed(), "every page of the ledger's file is sound");
        let of = self.reader.head()?.seq;
        self.watched.set(ScrubProgress::Events { done: Seq(0), of });
        let checked = history::check_all(&self.reader, |done| {
            self.watched.set(ScrubProgress::Events { done, of });
            course()
        })?;
        let Some((state, tables)) = checked else {
            return Ok(None);
        };
        for check in tables {
            check.result.map_err(|flaw| ScrubFlaw::Table {
                table: check.table.name,
                flaw,
            })?;
        }
        tracing::info!(events = %state.head(), took = ?begun.elapsed(), "every event is sound, and the tables are what they say");
        Ok(Some(state.head()))
    }
}
