//! A progress bar on a terminal, silence elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The number of files found, and of those decided about.
#[derive(Debug)]
pub struct AdoptProgress(ProgressBar);

impl AdoptProgress {
    /// On standard error, if that is a terminal.
    #[must_use]
    pub fn on_terminal() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::hidden();
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template(
            "{bar:30} {human_pos} of {human_len} files found so far, {elapsed}",
        ) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// Shows nothing.
    #[must_use]
    pub fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    pub(super) fn file_found(&self) {
        self.0.inc_length(1);
    }

    pub(super) fn file_decided(&self) {
        self.0.inc(1);
    }

    /// Removes the bar, so that the next output replaces it.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}
