//! Reasons, outcomes and verdicts in words.

use tslp_core::event::{LostCallFound, LostCallOutcome, ReplyOutcome};
use tslp_core::gate::{self, GateReport};
use tslp_core::reason::Reason;

/// What became of calls that a reply wrote as text.
#[must_use]
pub fn lost_call_words(event: &LostCallFound) -> String {
    let tools = event.tools.join(", ");
    match event.outcome {
        LostCallOutcome::Delivered if event.tools.is_empty() => {
            "calls written as text were kept back".into()
        }
        LostCallOutcome::Delivered => format!("written as text, delivered as calls: {tools}"),
        LostCallOutcome::AskedAgain => {
            format!("written as text, asked for once more: {}", event.flaw)
        }
        LostCallOutcome::Fitted => {
            format!("{tools}: {}; it was given the file's own text", event.flaw)
        }
        LostCallOutcome::LeftAsText => "the model gave no call when asked once more".into(),
    }
}

/// The rules that keep a version out.
pub fn unmet_verdicts(report: &GateReport) -> impl Iterator<Item = &gate::Verdict> {
    report
        .verdicts
        .iter()
        .filter(|verdict| !verdict.met && gate::is_needed(verdict.rule))
}

/// A reason's meaning, in the middle of a line.
#[must_use]
pub fn reason_words(reason: Reason) -> String {
    let meaning = reason.meaning();
    let mut characters = meaning.chars();
    match characters.next() {
        // A name in capitals stays as it is.
        Some(first) if !characters.clone().next().is_some_and(char::is_uppercase) => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => meaning.to_owned(),
    }
}

/// How a reply ended.
#[must_use]
pub fn outcome_words(outcome: ReplyOutcome) -> String {
    match outcome {
        ReplyOutcome::Completed => "completed".to_owned(),
        ReplyOutcome::ClientGone => "the client closed its connection".to_owned(),
        ReplyOutcome::UpstreamBroken => "the upstream broke off".to_owned(),
        ReplyOutcome::UpstreamRefused(status) => format!("the upstream refused it with {status}"),
        ReplyOutcome::UpstreamUnreachable => "the upstream couldn't be reached".to_owned(),
        ReplyOutcome::Interrupted => "the proxy stopped first".to_owned(),
        ReplyOutcome::Withheld => "the prompt was not sent".to_owned(),
    }
}
