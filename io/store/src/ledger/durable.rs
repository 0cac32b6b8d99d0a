//! The durable position of the ledger, for threads that wait for it, and the writer's figures.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tslp_core::ids::Seq;

/// The reason why nothing more will become durable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WriterStopped(pub String);

/// The last durable position. Rises until the writer stops or fails.
#[derive(Debug)]
pub struct DurableHead {
    reached: AtomicU64,
    stopped: Mutex<Option<WriterStopped>>,
    changed: Condvar,
}

impl DurableHead {
    /// Starts at a position that is on disk.
    #[must_use]
    pub fn new(seq: Seq) -> Self {
        Self {
            reached: AtomicU64::new(seq.0),
            stopped: Mutex::new(None),
            changed: Condvar::new(),
        }
    }

    /// The last durable position.
    #[must_use]
    pub fn reached(&self) -> Seq {
        Seq(self.reached.load(Ordering::Acquire))
    }

    /// The reason why nothing more will become durable, if the writer has stopped.
    #[must_use]
    pub fn stop_reason(&self) -> Option<WriterStopped> {
        self.lock().clone()
    }

    /// Waits until a position is durable.
    ///
    /// # Errors
    /// When the writer failed or ended before.
    pub fn wait_for(&self, seq: Seq) -> Result<Seq, WriterStopped> {
        // The usual case, in which no lock is needed.
        if self.reached() >= seq {
            return Ok(self.reached());
        }
        let mut stopped = self.lock();
        loop {
            if self.reached() >= seq {
                return Ok(self.reached());
            }
            // After the position: what became durable before the stop is still acknowledged.
            if let Some(stopped) = &*stopped {
                return Err(stopped.clone());
            }
            stopped = self
                .changed
                .wait(stopped)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Announces a durable position.
    pub(crate) fn advance_to(&self, seq: Seq) {
        // Under the waiters' lock: one that has just seen the old position would otherwise miss the wake-up and sleep for ever.
        let _stopped = self.lock();
        let before = self.reached.swap(seq.0, Ordering::Release);
        assert!(before <= seq.0, "the durable position never falls");
        self.changed.notify_all();
    }

    /// Announces that nothing more will become durable. The first reason is kept.
    pub(crate) fn stop(&self, reason: String) {
        self.lock().get_or_insert(WriterStopped(reason));
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Option<WriterStopped>> {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Figures about the writer's work. They needn't belong to the same moment.
#[derive(Debug, Default)]
pub struct WriterFigures {
    /// Transactions committed.
    pub commits: AtomicU64,
    /// Events in them.
    pub events: AtomicU64,
    /// Checkpoints run.
    pub checkpoints: AtomicU64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn waiters_released() {
        let head = Arc::new(DurableHead::new(Seq(3)));
        assert_eq!(head.wait_for(Seq(3)), Ok(Seq(3)));
        let waiter = {
            let head = Arc::clone(&head);
            std::thread::spawn(move || (head.wait_for(Seq(5)), head.wait_for(Seq(9))))
        };
        head.advance_to(Seq(6));
        head.stop("full".into());
        head.stop("later".into());
        let (five, nine) = waiter.join().unwrap();
        assert_eq!(five, Ok(Seq(6)));
        assert_eq!(nine, Err(WriterStopped("full".into())));
        assert_eq!(head.wait_for(Seq(6)), Ok(Seq(6)));
    }
}
