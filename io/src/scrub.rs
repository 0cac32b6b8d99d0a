//! The scrub: after a start that took the state from a checkpoint, everything that the start didn't read is read behind it,
//! while nobody wants anything.
//!
//! First every page of the file, since nothing is written before ([`crate::ledger::structure`]); then each event up to the
//! checkpoint, link by link, decoded. What it finds turns on safe mode, as the same flaw would at a start.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tslp_core::ids::Seq;
use tslp_replay::fold::{ChainCheck, ReplayError};
use tslp_replay::log::{Head, Stored};

use crate::ledger::structure::Structure;
use crate::ledger::{LedgerReader, OpenLedger};
use crate::startup::StartError;

/// Events read at once. Between two pages no snapshot is held, and others may go first.
const PAGE_EVENTS: usize = 512;

/// Bytes after which a page ends early.
const PAGE_BYTES: usize = 1 << 20;

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
        /// How many events this scrub verified; the others were verified by the start.
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
    unverified: Option<Head>,
    watched: Watched,
}

impl Scrub {
    /// What this start left to be looked at, through a connection of the scrub's own.
    ///
    /// # Errors
    /// When the ledger can't be opened to be read.
    pub fn of(opened: &OpenLedger) -> Result<Self, StartError> {
        Ok(Self {
            reader: opened.readers.open()?,
            structure: Arc::clone(opened.log.structure()),
            unverified: opened.unverified,
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
    pub fn run(&self, pause: impl FnMut() -> Course) -> Result<Course, StartError> {
        let outcome = match self.look(pause) {
            Err(StartError::Ledger(error)) if error.is_interruption() => Ok(Course::Over),
            outcome => outcome,
        };
        match &outcome {
            Ok(Course::On) => self.watched.set(Progress::Passed {
                events: self.unverified.map_or(Seq(0), |head| head.seq),
            }),
            Ok(Course::Over) => self.watched.set(Progress::Stopped),
            Err(error) => {
                let reason = error.to_string();
                tracing::error!(reason, "the scrub found a flaw: nothing more is written");
                self.structure.condemn(reason.clone());
                self.watched.set(Progress::Failed(reason));
            }
        }
        outcome
    }

    fn look(&self, mut pause: impl FnMut() -> Course) -> Result<Course, StartError> {
        if let Some(looking) = self.structure.look() {
            self.reader.check_pages()?;
            looking.sound();
        }
        let Some(until) = self.unverified else {
            return Ok(Course::On);
        };
        let mut chain = ChainCheck::default();
        while chain.head().seq < until.seq {
            self.watched.set(Progress::Events {
                done: chain.head().seq,
                of: until.seq,
            });
            if pause() == Course::Over {
                return Ok(Course::Over);
            }
            self.verify_page(&mut chain, until.seq)?;
        }
        if chain.head() == until {
            Ok(Course::On)
        } else {
            Err(ReplayError::ChainBroken(until.seq.0).into())
        }
    }

    fn verify_page(&self, chain: &mut ChainCheck, until: Seq) -> Result<(), StartError> {
        let before = chain.head().seq;
        let (mut events, mut bytes, mut flaw) = (0, 0, None);
        self.reader.read(before.next(), &mut |stored| {
            if stored.seq > until {
                return ControlFlow::Break(());
            }
            if let Err(error) = verify(chain, &stored) {
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
        match flaw {
            Some(error) => Err(error.into()),
            None if chain.head().seq == before => Err(ReplayError::Gap {
                after: before.0,
                found: until.0,
            }
            .into()),
            None => Ok(()),
        }
    }
}

fn verify(chain: &mut ChainCheck, stored: &Stored) -> Result<(), ReplayError> {
    chain.step(stored)?;
    tslp_migrations::decode(&stored.kind, &stored.payload)
        .map(drop)
        .map_err(|error| ReplayError::Undecodable {
            seq: stored.seq.0,
            reason: error.to_string(),
        })
}

/// Looks at everything that a start left, here and now: for acts that don't serve, and for tests.
///
/// # Errors
/// The flaw; the log takes nothing more then.
pub fn scrub(opened: &OpenLedger) -> Result<(), StartError> {
    Scrub::of(opened)?.run(|| Course::On).map(drop)
}
