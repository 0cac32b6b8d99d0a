//! What the user's check said of the files after a change: evidence for the next prompt, by which nothing is promoted (spec §8.5).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use tslp_projections::state::StateView;

use crate::scope::tools;
use tslp_core::event::{CheckRan, Event, NoticeIssued, ToolOutcome};
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::reason::Reason;

/// Lines of a failed check's output that are told, and characters of each.
const LINES_TOLD: usize = 12;
const LINE_CHARS_TOLD: usize = 200;

/// Tells of a check that came to an end of its own.
#[must_use]
pub fn tell(ids: (EpisodeId, SessionId), ran: &CheckRan) -> Vec<Event> {
    let says_something = match ran.outcome {
        ToolOutcome::Exited(_)
        | ToolOutcome::Signalled(_)
        | ToolOutcome::TimedOut
        | ToolOutcome::Limit(_) => true,
        ToolOutcome::NotStarted(_)
        | ToolOutcome::Breach(_)
        | ToolOutcome::Stopped
        | ToolOutcome::Interrupted => false,
    };
    let told = says_something.then(|| NoticeIssued::new(ids, Reason::CheckRan, None));
    told.map(Event::NoticeIssued).into_iter().collect()
}

/// What is told of a conversation's last check.
pub(crate) fn told(view: &StateView<'_>, session: SessionId) -> Option<String> {
    let row = view.state.checks().last(session)?;
    let mut text = format!(
        "`{}` was run on the files on disk after the last change: {}.",
        row.command, row.outcome
    );
    let output = view.artifact_content(row.output).unwrap_or_default();
    let output = String::from_utf8_lossy(&output);
    let output = tools::evidence_text(&output).unwrap_or_default();
    if row.outcome != "exit 0" {
        for line in output.lines().take(LINES_TOLD) {
            text.push('\n');
            text.extend(line.chars().take(LINE_CHARS_TOLD));
        }
    }
    Some(text)
}
