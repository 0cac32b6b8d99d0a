//! The scrub: after a start that took the state from the tables, it reads everything that the start didn't.
//!
//! First every page of the file, then the whole ledger ([`crate::ledger::history`]). No commit waits for it: until every page is
//! checked, what is committed stays in the WAL ([`crate::ledger::soundness`]). A flaw turns on safe mode, as it would at a start, and is
//! noted on disk, so that the next start checks everything itself.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tslp_core::ids::Seq;
use tslp_projections::table::TableDigest;
use tslp_replay::log::Head;

use crate::ledger::disk::Disk;
use crate::ledger::history;
use crate::ledger::soundness::{CheckInProgress, Soundness};
use crate::ledger::{DataFiles, LedgerReader, OpenLedger, OpenOptions, StartError};

pub use crate::ledger::history::ScrubFlaw;

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
        /// The events that this scrub verified; 0 if the start had folded them all.
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

/// The checks that a start left undone.
pub struct Scrub {
    reader: LedgerReader,
    soundness: Soundness,
    /// The claim of the check of pages, once it is made.
    pages: Option<CheckInProgress>,
    disk: Arc<dyn Disk>,
    doubt: PathBuf,
    /// The ledger's end and the tables' digests, if the start took the state from the tables.
    unverified: Option<(Head, Vec<TableDigest>)>,
    watched: SharedProgress,
}

impl Scrub {
    /// The checks that this start left undone; they use their own connection.
    ///
    /// # Errors
    /// When the ledger can't be read.
    pub fn after_start(
        opened: &OpenLedger,
        options: &OpenOptions,
        data_dir: &Path,
    ) -> Result<Self, StartError> {
        let reader = opened.readers.open()?;
        let unverified = if opened.log.is_unverified() {
            Some((reader.head()?, opened.log.table_digests().to_vec()))
        } else {
            None
        };
        let soundness = opened.log.soundness().clone();
        Ok(Self {
            reader,
            pages: None,
            soundness,
            disk: Arc::clone(&options.disk),
            doubt: DataFiles::of(data_dir).doubt,
            unverified,
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
            Err(flaw) if flaw.is_interruption() => Ok(ControlFlow::Break(())),
            outcome => outcome,
        };
        match &outcome {
            Ok(ControlFlow::Continue(())) => self.watched.set(ScrubProgress::Passed {
                events: self.unverified.as_ref().map_or(Seq(0), |(end, _)| end.seq),
            }),
            Ok(ControlFlow::Break(())) => self.watched.set(ScrubProgress::Stopped),
            Err(flaw) => self.stop_writing(flaw.to_string()),
        }
        outcome
    }

    fn stop_writing(&self, reason: String) {
        // First, so that the diagnostics say it as soon as a client is refused.
        self.watched.set(ScrubProgress::Failed(reason.clone()));
        history::condemn_ledger(&self.soundness, &*self.disk, &self.doubt, &reason);
    }

    fn check_all(
        &self,
        pages: &mut Option<CheckInProgress>,
        mut course: impl FnMut() -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, ScrubFlaw> {
        // Pages first: reading events through a broken tree could call a sound event damaged.
        let begun = Instant::now();
        if pages.is_some() {
            self.reader.check_pages()?;
            pages
                .take()
                .into_iter()
                .for_each(CheckInProgress::report_sound);
            tracing::info!(took = ?begun.elapsed(), "every page of the ledger's file is sound");
        }
        let Some((end, tables)) = &self.unverified else {
            return Ok(ControlFlow::Continue(()));
        };
        let verified = history::verify_history(&self.reader, tables, *end, |done| {
            self.watched
                .set(ScrubProgress::Events { done, of: end.seq });
            course()
        })?;
        if verified.is_continue() {
            tracing::info!(events = end.seq.0, took = ?begun.elapsed(), "every event is sound, and the tables are what they say");
        }
        Ok(verified)
    }
}
