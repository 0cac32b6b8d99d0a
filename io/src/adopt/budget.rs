//! Bounds the memory of files that are read and parsed at one time: who wants more than is free waits.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of memory that may be in use.
#[derive(Debug)]
pub(super) struct Budget {
    bytes_max: usize,
    in_use: Mutex<usize>,
    freed: Condvar,
}

/// A share of the budget, given back when dropped.
#[derive(Debug)]
pub(super) struct Share {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    pub(super) fn new(bytes_max: usize) -> Arc<Self> {
        Arc::new(Self {
            bytes_max,
            in_use: Mutex::new(0),
            freed: Condvar::new(),
        })
    }

    /// Waits until so many bytes are free. Who wants more than there are at all gets all of them.
    pub(super) fn take(self: &Arc<Self>, bytes: usize) -> Share {
        let bytes = bytes.min(self.bytes_max);
        let mut in_use = self.lock();
        while *in_use + bytes > self.bytes_max {
            in_use = self
                .freed
                .wait(in_use)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *in_use += bytes;
        Share {
            budget: Arc::clone(self),
            bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// How much it is.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Gives back all but so many bytes.
    pub(super) fn shrink_to(&mut self, bytes: usize) {
        let freed = self.bytes.saturating_sub(bytes);
        self.bytes -= freed;
        *self.budget.lock() -= freed;
        self.budget.freed.notify_all();
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn who_wants_too_much_waits_until_enough_is_given_back() {
        let budget = Budget::new(10);
        let mut first = budget.take(6);
        let second = budget.take(4);
        let (got, waits) = mpsc::channel();
        let waiting = Arc::clone(&budget);
        let third = thread::spawn(move || {
            let share = waiting.take(5);
            got.send(()).unwrap();
            share.bytes
        });
        first.shrink_to(3);
        assert!(waits.try_recv().is_err());
        drop(second);
        assert_eq!(third.join().unwrap(), 5);
        drop(first);
        assert_eq!(*budget.lock(), 0);
    }

    #[test]
    fn more_than_there_is_means_all_of_it() {
        let budget = Budget::new(10);
        assert_eq!(budget.take(1000).bytes, 10);
        assert_eq!(*budget.lock(), 0);
    }
}
