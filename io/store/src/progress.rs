//! How far a long walk is: one line on standard error that is written over, if that is a terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two sights of it, and before the first: a short walk shows none.
const PAUSE: Duration = Duration::from_millis(200);

/// The progress of a walk; many threads may report to it.
#[derive(Debug)]
pub struct WalkProgress {
    steps: AtomicU64,
    done: AtomicU64,
    unit: &'static str,
    /// When it was shown last; `None`: nobody sees it.
    shown: Option<Mutex<Instant>>,
}

impl WalkProgress {
    /// Of so many steps.
    #[must_use]
    pub fn new(steps: u64, unit: &'static str) -> Self {
        let is_seen = io::stderr().is_terminal();
        Self {
            steps: AtomicU64::new(steps),
            done: AtomicU64::new(0),
            unit,
            shown: is_seen.then(|| Mutex::new(Instant::now())),
        }
    }

    /// Shows nothing.
    #[must_use]
    pub fn hidden() -> Self {
        let mut hidden = Self::new(0, "");
        hidden.shown = None;
        hidden
    }

    /// There is one step more than was known.
    pub fn step_found(&self) {
        self.steps.fetch_add(1, Relaxed);
    }

    /// One more step is done.
    pub fn step_done(&self) {
        self.set_done(self.done.load(Relaxed) + 1);
    }

    /// So many steps are done.
    pub fn set_done(&self, done: u64) {
        self.done.store(done, Relaxed);
        let Some(shown) = &self.shown else { return };
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.elapsed() >= PAUSE {
            *shown = Instant::now();
            self.show(&format!(
                "{done} of {} {}",
                self.steps.load(Relaxed),
                self.unit
            ));
        }
    }

    fn show(&self, text: &str) {
        // The walk goes on whether or not somebody can see it.
        let _ = write!(io::stderr(), "\r\x1b[K{text}");
    }
}

impl Drop for WalkProgress {
    fn drop(&mut self) {
        if self.shown.is_some() {
            self.show("");
        }
    }
}
