//! How much of what should be watched is watched, for the log and `/doctor`.

use std::sync::{Arc, Mutex, PoisonError};

/// What the watch says of itself; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Coverage(Arc<Mutex<Counts>>);

/// Folders, as they stood when the watch last went through them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Folders that are watched.
    pub watched: usize,
    /// Folders that are there and can't be watched.
    pub refused: usize,
    /// Why one of those can't, and what to do; or why nothing is watched at all.
    pub reason: Option<String>,
}

impl Coverage {
    /// The counts as they stand.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.lock().clone()
    }

    /// Nothing is watched, or no more.
    pub(crate) fn fail(&self, reason: String) {
        *self.lock() = Counts {
            reason: Some(reason),
            ..Counts::default()
        };
    }

    /// New counts. Gives what to warn of: folders that can't be watched, where all could be before.
    pub(super) fn set(&self, counts: Counts) -> Option<String> {
        let mut held = self.lock();
        let is_new = held.refused == 0 && counts.refused > 0;
        *held = counts;
        is_new.then(|| held.words().err()).flatten()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    /// In words; an error if not every folder is watched.
    ///
    /// # Errors
    /// What is missing, why, and what to do.
    pub fn words(&self) -> Result<String, String> {
        let Self {
            watched, refused, ..
        } = self;
        let reason = match &self.reason {
            None if *refused == 0 => return Ok(format!("{watched} folders are watched")),
            None => "the system refuses",
            Some(reason) => reason,
        };
        let of = watched + refused;
        if of == 0 {
            return Err(format!(
                "no folder is watched: {reason}; files are checked before each prompt all the same"
            ));
        }
        Err(format!(
            "{refused} of {of} folders aren't watched: {reason}; files are checked before each prompt all the same"
        ))
    }
}
