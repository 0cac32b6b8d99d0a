//! The wall clock, as a value that tests can freeze.

use std::time::{SystemTime, UNIX_EPOCH};

use tslp_core::ids::UnixMillis;

/// The clock that file times are compared with.
pub trait WallClock: Send + Sync {
    /// The current time.
    fn now(&self) -> UnixMillis;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl WallClock for SystemClock {
    fn now(&self) -> UnixMillis {
        let millis = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            Err(before) => {
                i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis)
            }
        };
        UnixMillis(millis)
    }
}
