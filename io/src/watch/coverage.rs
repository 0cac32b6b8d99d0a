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
    /// Why the first of those can't, and what to do.
    pub reason: Option<String>,
}

impl Coverage {
    /// The counts as they stand.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.lock().clone()
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
        if *refused == 0 {
            return Ok(format!("{watched} folders are watched"));
        }
        let of = watched + refused;
        let reason = self.reason.as_deref().unwrap_or("the system refuses");
        Err(format!(
            "{refused} of {of} folders aren't watched: {reason}; files are checked before each prompt all the same"
        ))
    }
}
