//! The settings of looks at files.

use std::time::Duration;

/// Looking at the workspace's files (spec §15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EtvConfig {
    /// Larger files count as unreadable.
    pub read_bytes_max: u64,
    /// Longest wait for the file system in front of a prompt.
    pub timeout: Duration,
    /// Whether files that somebody names, and of which nothing is known, are taken as they are.
    pub adopt_on_touch: bool,
}

impl Default for EtvConfig {
    fn default() -> Self {
        Self {
            read_bytes_max: 16 << 20,
            timeout: Duration::from_millis(250),
            adopt_on_touch: true,
        }
    }
}
