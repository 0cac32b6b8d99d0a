//! The last build and the last test run of agents, and how each ended by what their own tools gave back (docs/memory.md).

use alloc::format;
use alloc::string::String;

use tslp_core::guardian::{CallPart, builds_and_tests, call_parts};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{SessionId, UnixMillis};
use tslp_core::runs::{RunResult, run_result};
use tslp_projections::at_hand::ClientCallRow;

/// The longest command that is shown, in characters.
pub const COMMAND_CHARS_MAX: usize = 80;

/// A build or a test run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The beginning of its command line.
    pub command: String,
    /// How it ended.
    pub result: RunResult,
    /// When its result came.
    pub at: UnixMillis,
    /// In which conversation; 0 is outside of all.
    pub session: SessionId,
}

impl Run {
    /// Whether it is known to have failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.result.passed == Some(false)
    }

    /// In words: what it was, its command and how it ended.
    #[must_use]
    pub fn line(&self, what: &str) -> String {
        let outcome = match self.result.passed {
            Some(true) => "passed",
            Some(false) => "FAILED",
            None => "its output does not tell how it ended",
        };
        let summary = self.result.summary.as_ref();
        let summary = summary.map_or_else(String::new, |line| format!(" ({line})"));
        format!("{what}: `{}`: {outcome}{summary}", self.command)
    }
}

/// The last build and the last test run among calls, of which the newest come first.
#[must_use]
pub fn last_runs<'c>(
    calls: impl Iterator<Item = &'c ClientCallRow>,
    text: &impl Fn(ArtifactHash) -> Option<String>,
) -> (Option<Run>, Option<Run>) {
    let (mut build, mut test) = (None, None);
    for (call, result) in calls.filter_map(|call| Some((call, call.result?))) {
        let arguments = text(call.arguments).unwrap_or_default();
        let place = match builds_and_tests(&call.name, &arguments) {
            (0, 0) => continue,
            (_, 0) => &mut build,
            _ => &mut test,
        };
        if place.is_some() {
            continue;
        }
        let mut parts = call_parts(&call.name, &arguments).into_iter();
        let shell = parts.find(|(part, _)| *part == CallPart::Shell);
        let command = shell.map(|(_, line)| line).unwrap_or_default();
        let command = command.lines().next().unwrap_or_default().trim();
        *place = Some(Run {
            command: command.chars().take(COMMAND_CHARS_MAX).collect(),
            result: run_result(&text(result).unwrap_or_default()),
            at: call.answered_at.unwrap_or(call.asked_at),
            session: call.session,
        });
        if build.is_some() && test.is_some() {
            break;
        }
    }
    (build, test)
}
