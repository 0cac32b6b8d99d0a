//! Simulated time: a wall clock that jumps, and a monotonic one that doesn't.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tslp_core::ids::UnixMillis;
use tslp_io::observer::WallClock;

/// The wall clock's time at the beginning of every run: 2026.
const BEGIN_MILLIS: i64 = 1_767_225_600_000;

/// Both clocks. Clones are the same clocks.
#[derive(Clone, Debug)]
pub(super) struct SimClock {
    /// Only differences from it matter.
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

    /// Time passes on both.
    pub(super) fn pass(&self, millis: u64) {
        self.monotonic_millis.fetch_add(millis, Ordering::Relaxed);
        self.jump(i64::try_from(millis).unwrap_or(i64::MAX));
    }

    /// Somebody sets the wall clock.
    pub(super) fn jump(&self, millis: i64) {
        self.wall_millis.fetch_add(millis, Ordering::Relaxed);
    }

    /// Now on the monotonic clock.
    #[must_use]
    pub(super) fn instant(&self) -> Instant {
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
