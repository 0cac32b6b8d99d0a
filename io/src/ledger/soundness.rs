//! Whether a ledger may be written to. Two things are asked of it: that its pages are laid out as they say, before anything
//! in its file is moved, and that its events are what its chain says, before another one follows them.
//!
//! Either takes as long as reading the file, so a start doesn't wait for it, and the first commit does. Whoever is first
//! looks: the scrub, which says so in advance, or else who wants to write.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::error::LedgerError;

/// What is known of a ledger. Shared by the writer and the scrub.
#[derive(Clone, Debug, Default)]
pub struct Soundness {
    /// Of its file's pages.
    pub pages: Arc<Gate>,
    /// Of the events, where the state was taken from the tables.
    pub events: Arc<Gate>,
}

impl Soundness {
    /// From now on nothing is written any more. The first reason stays.
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

/// What is known of one thing that is asked of a ledger.
#[derive(Debug, Default)]
pub struct Gate {
    verdict: Mutex<Verdict>,
    changed: Condvar,
}

#[derive(Clone, Debug, Default)]
enum Verdict {
    /// Nobody has looked.
    #[default]
    Unknown,
    /// Somebody is looking.
    Looking,
    /// It is as it should be.
    Sound,
    /// It isn't; why.
    Damaged(String),
}

/// Somebody is looking; whoever wants to write waits for it. Dropped without a verdict it leaves things as they were.
#[derive(Debug)]
pub struct Looking(Arc<Gate>);

impl Gate {
    /// Says that the caller is going to look; `None` if that isn't needed any more.
    #[must_use]
    pub fn look(self: &Arc<Self>) -> Option<Looking> {
        let mut verdict = self.lock();
        if !matches!(*verdict, Verdict::Unknown) {
            return None;
        }
        *verdict = Verdict::Looking;
        Some(Looking(Arc::clone(self)))
    }

    fn condemn(&self, reason: &str) {
        let mut verdict = self.lock();
        if !matches!(*verdict, Verdict::Damaged(_)) {
            *verdict = Verdict::Damaged(reason.to_owned());
        }
        self.changed.notify_all();
    }

    /// Whether somebody looked, and found nothing wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        matches!(*self.lock(), Verdict::Sound)
    }

    fn is_condemned(&self) -> bool {
        matches!(*self.lock(), Verdict::Damaged(_))
    }

    /// Waits for the verdict, or makes it with `check` if nobody else does.
    pub(super) fn ensure(
        self: &Arc<Self>,
        check: impl FnOnce() -> Result<(), LedgerError>,
    ) -> Result<(), Unsound> {
        let mut verdict = self.lock();
        loop {
            match &*verdict {
                Verdict::Sound => return Ok(()),
                Verdict::Damaged(reason) => return Err(Unsound::Damaged(reason.clone())),
                Verdict::Unknown => break,
                Verdict::Looking => {
                    let waited = self.changed.wait(verdict);
                    verdict = waited.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
        *verdict = Verdict::Looking;
        drop(verdict);
        let looking = Looking(Arc::clone(self));
        match check() {
            Ok(()) => {
                looking.sound();
                Ok(())
            }
            Err(error) => Err(Unsound::Unread(error)),
        }
    }

    fn settle(&self, found: Verdict) {
        let mut verdict = self.lock();
        if matches!(*verdict, Verdict::Looking) {
            *verdict = found;
        }
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Verdict> {
        self.verdict.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Looking {
    /// Nothing is wrong.
    pub fn sound(self) {
        self.0.settle(Verdict::Sound);
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        self.0.settle(Verdict::Unknown);
    }
}

/// Why the file may not be written to.
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

    fn refused(gate: &Arc<Gate>) -> Option<String> {
        match gate.ensure(|| Ok(())) {
            Ok(()) => None,
            Err(Unsound::Damaged(reason)) => Some(reason),
            Err(Unsound::Unread(error)) => Some(error.to_string()),
        }
    }

    #[test]
    fn a_writer_waits_for_who_is_looking_and_looks_itself_if_that_gives_up() {
        let gate = Arc::new(Gate::default());
        let looking = gate.look().unwrap();
        assert!(gate.look().is_none());
        let writer = {
            let gate = Arc::clone(&gate);
            std::thread::spawn(move || refused(&gate))
        };
        drop(looking);
        assert_eq!(writer.join().unwrap(), None);
        assert!(gate.is_sound());
        assert!(gate.look().is_none());
    }

    #[test]
    fn a_sound_file_that_is_condemned_takes_nothing_more() {
        let gate = Arc::new(Gate::default());
        gate.look().unwrap().sound();
        assert_eq!(refused(&gate), None);
        gate.condemn("event 7 is gone");
        gate.condemn("later");
        assert_eq!(refused(&gate), Some("event 7 is gone".into()));
        assert!(!gate.is_sound());
    }
}
