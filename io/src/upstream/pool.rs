//! Upstream connections that wait for their next request.

use std::time::Instant;

/// Most connections kept; a local model server rarely answers more at once.
const IDLE_MAX: usize = 32;

/// Keys of idle connections, the one used last at the end.
#[derive(Debug, Default)]
pub struct ConnectionPool {
    idle: Vec<(usize, Instant)>,
}

/// Whether the pool kept a connection that was offered to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptInPool {
    /// It waits for its next request.
    Yes,
    /// The pool is full: close it.
    No,
}

impl ConnectionPool {
    /// Keeps a connection until then.
    pub fn put(&mut self, key: usize, until: Instant) -> KeptInPool {
        debug_assert!(
            self.idle.iter().all(|(kept, _)| *kept != key),
            "a connection is kept once"
        );
        if self.idle.len() >= IDLE_MAX {
            return KeptInPool::No;
        }
        self.idle.push((key, until));
        KeptInPool::Yes
    }

    /// The connection used last, if it hasn't expired: the likeliest to be alive.
    pub fn take(&mut self, now: Instant) -> Option<usize> {
        // All are kept for the same time, so if the last one has expired, all have.
        match self.idle.last() {
            Some((_, until)) if *until > now => self.idle.pop().map(|(key, _)| key),
            _ => None,
        }
    }

    /// Forgets a connection that ended.
    pub fn remove(&mut self, key: usize) {
        self.idle.retain(|(kept, _)| *kept != key);
    }

    /// Forgets the expired ones and names them.
    pub fn take_expired(&mut self, now: Instant) -> Vec<usize> {
        let expired = self
            .idle
            .iter()
            .filter(|(_, until)| *until <= now)
            .map(|(key, _)| *key)
            .collect();
        self.idle.retain(|(_, until)| *until > now);
        expired
    }

    /// The moment at which the next connection expires.
    #[must_use]
    pub fn next_expiry(&self) -> Option<Instant> {
        self.idle.iter().map(|(_, until)| *until).min()
    }
}
