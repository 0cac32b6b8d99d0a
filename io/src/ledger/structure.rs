//! Whether the file may be written to: nothing is, before its pages were found to be laid out as they say.
//!
//! Looking at every page takes as long as reading the file, so a start doesn't wait for it. Whoever is first does it: the
//! scrub, which says so in advance, or else the first commit.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::error::LedgerError;

/// What is known of a file's structure. Shared by the writer and the scrub.
#[derive(Debug, Default)]
pub struct Structure {
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
    /// The file may be written to.
    Sound,
    /// It may not; why.
    Damaged(String),
}

/// Somebody is looking; whoever wants to write waits for it. Dropped without a verdict it leaves things as they were.
#[derive(Debug)]
pub struct Looking(Arc<Structure>);

impl Structure {
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

    /// From now on nothing is written any more. The first reason stays.
    pub fn condemn(&self, reason: String) {
        let mut verdict = self.lock();
        if !matches!(*verdict, Verdict::Damaged(_)) {
            *verdict = Verdict::Damaged(reason);
        }
        self.changed.notify_all();
    }

    /// Whether the file was looked at and may be written to.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        matches!(*self.lock(), Verdict::Sound)
    }

    /// Whether the file was found to be damaged.
    #[must_use]
    pub fn is_condemned(&self) -> bool {
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
    /// The file may be written to.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(structure: &Arc<Structure>) -> Option<String> {
        match structure.ensure(|| Ok(())) {
            Ok(()) => None,
            Err(Unsound::Damaged(reason)) => Some(reason),
            Err(Unsound::Unread(error)) => Some(error.to_string()),
        }
    }

    #[test]
    fn a_writer_waits_for_who_is_looking_and_looks_itself_if_that_gives_up() {
        let structure = Arc::new(Structure::default());
        let looking = structure.look().unwrap();
        assert!(structure.look().is_none());
        let writer = {
            let structure = Arc::clone(&structure);
            std::thread::spawn(move || refused(&structure))
        };
        drop(looking);
        assert_eq!(writer.join().unwrap(), None);
        assert!(structure.is_sound());
        assert!(structure.look().is_none());
    }

    #[test]
    fn a_sound_file_that_is_condemned_takes_nothing_more() {
        let structure = Arc::new(Structure::default());
        structure.look().unwrap().sound();
        assert_eq!(refused(&structure), None);
        structure.condemn("event 7 is gone".into());
        structure.condemn("later".into());
        assert_eq!(refused(&structure), Some("event 7 is gone".into()));
        assert!(!structure.is_sound());
    }
}
