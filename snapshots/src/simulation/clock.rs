//! Simulated time: a wall clock that jumps, and a monotonic one that doesn't.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tslp_core::ids::UnixMillis;
use tslp_workspace::observer::WallClock;

/// The wall clock's time at the beginning of every run: 1 January 2026.
const BEGIN_MILLIS: i64 = 1_767_225_600_000;

/// Both clocks. Clones are the same clocks.
#[derive(Clone, Debug)]
pub(super) struct SimClock {
    /// Time 0 of the monotonic clock; nothing depends on it.
    origin: Instant,
    monotonic_millis: Arc<AtomicU64>,
    wall_millis: Arc<AtomicI64>,
}

impl SimClock {
    /// Clocks at the beginning.
    #[must_use]
    pub(super) fn new() -> Self {
        Self {
            origin: Instant::now(),
            monotonic_millis: Arc::default(),
            wall_millis: Arc::new(AtomicI64::new(BEGIN_MILLIS)),
        }
    }

    /// Time passes on both clocks.
    pub(super) fn advance(&self, millis: u64) {
        self.monotonic_millis.fetch_add(millis, Ordering::Relaxed);
        self.jump_wall(i64::try_from(millis).unwrap_or(i64::MAX));
    }

    /// Sets the wall clock forward, or back.
    pub(super) fn jump_wall(&self, millis: i64) {
        self.wall_millis.fetch_add(millis, Ordering::Relaxed);
    }

    /// The time of the monotonic clock.
    #[must_use]
    pub(super) fn monotonic(&self) -> Instant {
        self.origin + Duration::from_millis(self.monotonic_millis.load(Ordering::Relaxed))
    }
}

impl Default for SimClock {
    fn default() -> Self {
        Self::new()
    }
}

impl WallClock for SimClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.wall_millis.load(Ordering::Relaxed))
    }
}
