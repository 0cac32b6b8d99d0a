//! Whether a ledger may be written to. Two checks are needed: its pages are laid out consistently, before anything in its file
//! is moved, and its events match its chain, before another one follows them.
//!
//! Either takes as long as reading the file, so a start doesn't wait for it, but the first commit does. It is made once: by the
//! scrub, which claims it in advance, or else by the writer.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::error::LedgerError;

/// The two checks of a ledger, shared by the writer and the scrub.
#[derive(Clone, Debug, Default)]
pub struct Soundness {
    /// The check of its file's pages.
    pub pages: Arc<CheckedOnce>,
    /// The check of its events, which is needed if the state was restored from the tables.
    pub events: Arc<CheckedOnce>,
}

impl Soundness {
    /// Marks the ledger as damaged, so that nothing more is written. The first reason is kept.
    pub fn condemn(&self, reason: &str) {
        self.pages.condemn(reason);
        self.events.condemn(reason);
    }

    /// Whether the ledger was found to be damaged.
    #[must_use]
    pub fn is_condemned(&self) -> bool {
        self.pages.is_condemned()
    }
}

/// A check that is made once, by whoever needs it first.
#[derive(Debug, Default)]
pub struct CheckedOnce {
    verdict: Mutex<CheckState>,
    changed: Condvar,
}

#[derive(Clone, Debug, Default)]
enum CheckState {
    /// Nobody has checked.
    #[default]
    Unknown,
    /// Somebody is checking.
    InProgress,
    /// Nothing is wrong.
    Sound,
    /// Something is wrong, with the reason.
    Damaged(String),
}

/// The claim of a check in progress, for which the writer waits. Dropped without a result, it leaves the check to be made.
#[derive(Debug)]
pub struct CheckInProgress(Arc<CheckedOnce>);

impl CheckedOnce {
    /// Claims the check for the caller; `None` if it is made or claimed already.
    #[must_use]
    pub fn begin_check(self: &Arc<Self>) -> Option<CheckInProgress> {
        let mut verdict = self.lock();
        if !matches!(*verdict, CheckState::Unknown) {
            return None;
        }
        *verdict = CheckState::InProgress;
        Some(CheckInProgress(Arc::clone(self)))
    }

    fn condemn(&self, reason: &str) {
        let mut verdict = self.lock();
        if !matches!(*verdict, CheckState::Damaged(_)) {
            *verdict = CheckState::Damaged(reason.to_owned());
        }
        self.changed.notify_all();
    }

    /// Whether the check was made and found nothing wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        matches!(*self.lock(), CheckState::Sound)
    }

    fn is_condemned(&self) -> bool {
        matches!(*self.lock(), CheckState::Damaged(_))
    }

    /// Waits for the result, or makes the check with `check` if nobody else does.
    pub(super) fn ensure_checked(
        self: &Arc<Self>,
        check: impl FnOnce() -> Result<(), LedgerError>,
    ) -> Result<(), Unsound> {
        let mut verdict = self.lock();
        loop {
            match &*verdict {
                // Asked before each commit: from the first verdict on this is one uncontended lock.
                CheckState::Sound => return Ok(()),
                CheckState::Damaged(reason) => return Err(Unsound::Damaged(reason.clone())),
                CheckState::Unknown => break,
                CheckState::InProgress => {
                    let waited = self.changed.wait(verdict);
                    verdict = waited.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
        // The check reads the whole file, so it runs without the lock; a panic in it drops the claim, and others may try again.
        *verdict = CheckState::InProgress;
        drop(verdict);
        let looking = CheckInProgress(Arc::clone(self));
        match check() {
            Ok(()) => {
                looking.report_sound();
                Ok(())
            }
            // The dropped claim makes it unknown again: a file that couldn't be read isn't known to be damaged.
            Err(error) => Err(Unsound::Unread(error)),
        }
    }

    fn set_state(&self, found: CheckState) {
        let mut verdict = self.lock();
        debug_assert!(
            !matches!(*verdict, CheckState::Unknown),
            "a claim leaves `Unknown`, and only its end returns there"
        );
        // A condemnation that came during the check wins over its result.
        if matches!(*verdict, CheckState::InProgress) {
            *verdict = found;
        }
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, CheckState> {
        self.verdict.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CheckInProgress {
    /// Reports that nothing is wrong.
    pub fn report_sound(self) {
        self.0.set_state(CheckState::Sound);
    }
}

impl Drop for CheckInProgress {
    fn drop(&mut self) {
        self.0.set_state(CheckState::Unknown);
    }
}

/// The reason why the file may not be written to.
pub(super) enum Unsound {
    /// It was found to be damaged.
    Damaged(String),
    /// The check failed.
    Unread(LedgerError),
}

impl From<Unsound> for LedgerError {
    fn from(unsound: Unsound) -> Self {
        match unsound {
            Unsound::Damaged(detail) => Self::Condemned { detail },
            Unsound::Unread(error) => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(gate: &Arc<CheckedOnce>) -> Option<String> {
        match gate.ensure_checked(|| Ok(())) {
            Ok(()) => None,
            Err(Unsound::Damaged(reason)) => Some(reason),
            Err(Unsound::Unread(error)) => Some(error.to_string()),
        }
    }

    #[test]
    fn a_writer_waits_for_who_is_looking_and_looks_itself_if_that_gives_up() {
        let gate = Arc::new(CheckedOnce::default());
        let looking = gate.begin_check().unwrap();
        assert!(gate.begin_check().is_none());
        let writer = {
            let gate = Arc::clone(&gate);
            std::thread::spawn(move || refused(&gate))
        };
        drop(looking);
        assert_eq!(writer.join().unwrap(), None);
        assert!(gate.is_sound());
        assert!(gate.begin_check().is_none());
    }

    #[test]
    fn a_sound_file_that_is_condemned_takes_nothing_more() {
        let gate = Arc::new(CheckedOnce::default());
        gate.begin_check().unwrap().report_sound();
        assert_eq!(refused(&gate), None);
        gate.condemn("event 7 is gone");
        gate.condemn("later");
        assert_eq!(refused(&gate), Some("event 7 is gone".into()));
        assert!(!gate.is_sound());
    }
}
