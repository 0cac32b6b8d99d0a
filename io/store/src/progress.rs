//! A progress bar for long walks over a ledger, if standard error is a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Steps below which no bar is shown.
const STEPS_MIN: u64 = 10_000;

/// The progress of a walk.
#[derive(Debug)]
pub struct WalkProgress(ProgressBar);

impl WalkProgress {
    /// On standard error, if that is a terminal and there are many steps.
    #[must_use]
    pub fn new(steps: u64, unit: &'static str) -> Self {
        if steps < STEPS_MIN || !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let target = ProgressDrawTarget::stderr_with_hz(10);
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        let template = format!("{{bar:30}} {{human_pos}} of {{human_len}} {unit}, {{elapsed}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Shows nothing.
    #[must_use]
    pub fn hidden(_: u64, _: &'static str) -> Self {
        Self(ProgressBar::hidden())
    }

    /// Shows this many steps as done.
    pub fn set_done(&self, done: u64) {
        self.0.set_position(done);
    }
}

impl Drop for WalkProgress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
