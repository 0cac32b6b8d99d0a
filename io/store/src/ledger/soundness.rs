//! Whether the pages of a ledger's file are laid out consistently. In a damaged file SQLite may put a new row where an old one is, so
//! nothing is moved into it before every page was looked at: until then commits stay in the WAL, and the file is as it was found.
//!
//! The look takes as long as reading the file, so neither a start nor a commit waits for it. It is made once: by the scrub, or else by
//! whoever moves pages first.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::error::LedgerError;

/// The check of a ledger's pages, shared by the writer and the scrub.
#[derive(Clone, Debug, Default)]
pub struct Soundness(Arc<CheckedOnce>);

/// A check that is made once, by whoever needs it first.
#[derive(Debug, Default)]
struct CheckedOnce {
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

/// The claim of a check in progress. Dropped without a result, it leaves the check to be made.
#[derive(Debug)]
pub struct CheckInProgress(Soundness);

impl Soundness {
    /// Claims the check for the caller; `None` if it is made or claimed already.
    #[must_use]
    pub fn begin_check(&self) -> Option<CheckInProgress> {
        let mut verdict = self.lock();
        if !matches!(*verdict, CheckState::Unknown) {
            return None;
        }
        *verdict = CheckState::InProgress;
        Some(CheckInProgress(self.clone()))
    }

    /// Marks the ledger as damaged, so that nothing more is written. The first reason is kept.
    pub fn condemn(&self, reason: &str) {
        let mut verdict = self.lock();
        if !matches!(*verdict, CheckState::Damaged(_)) {
            *verdict = CheckState::Damaged(reason.to_owned());
        }
        self.0.changed.notify_all();
    }

    /// Whether the check was made and found nothing wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        matches!(*self.lock(), CheckState::Sound)
    }

    /// Whether somebody is checking.
    #[must_use]
    pub fn is_in_progress(&self) -> bool {
        matches!(*self.lock(), CheckState::InProgress)
    }

    /// The reason why nothing may be written, if the ledger was found to be damaged.
    #[must_use]
    pub fn flaw(&self) -> Option<String> {
        match &*self.lock() {
            CheckState::Damaged(reason) => Some(reason.clone()),
            _ => None,
        }
    }

    /// Waits for the result, or makes the check with `check` if nobody else does.
    pub(super) fn ensure_checked(
        &self,
        check: impl FnOnce() -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        let mut verdict = self.lock();
        loop {
            match &*verdict {
                CheckState::Sound => return Ok(()),
                CheckState::Damaged(reason) => return Err(condemned(reason)),
                CheckState::Unknown => break,
                CheckState::InProgress => {
                    let waited = self.0.changed.wait(verdict);
                    verdict = waited.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
        // The check reads the whole file, so it runs without the lock; a panic in it drops the claim, and others may try again.
        *verdict = CheckState::InProgress;
        drop(verdict);
        let looking = CheckInProgress(self.clone());
        // After an error the dropped claim makes it unknown again: a file that couldn't be read isn't known to be damaged.
        check()?;
        looking.report_sound();
        Ok(())
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
        self.0.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, CheckState> {
        self.0
            .verdict
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
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

fn condemned(reason: &str) -> LedgerError {
    LedgerError::Condemned {
        detail: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(soundness: &Soundness) -> Option<String> {
        match soundness.ensure_checked(|| Ok(())) {
            Ok(()) => None,
            Err(LedgerError::Condemned { detail }) => Some(detail),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Moving pages waits for a check under way, and checks by itself if that one gives up.
    #[test]
    fn mover_waits() {
        let soundness = Soundness::default();
        let looking = soundness.begin_check().unwrap();
        assert!(soundness.begin_check().is_none());
        assert!(soundness.is_in_progress());
        let writer = {
            let soundness = soundness.clone();
            std::thread::spawn(move || refused(&soundness))
        };
        drop(looking);
        assert_eq!(writer.join().unwrap(), None);
        assert!(soundness.is_sound());
        assert!(soundness.begin_check().is_none());
    }

    #[test]
    fn condemned_file() {
        let soundness = Soundness::default();
        soundness.begin_check().unwrap().report_sound();
        assert_eq!(refused(&soundness), None);
        soundness.condemn("event 7 is gone");
        soundness.condemn("later");
        assert_eq!(refused(&soundness), Some("event 7 is gone".into()));
        assert!(!soundness.is_sound());
    }
}
