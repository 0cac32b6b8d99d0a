//! Finds the boundaries between the engine's steps in the record.
//!
//! The record has no marks for that. All events of a step bear the same time, and a step's kinds of events follow one
//! another in an order of their own; where a look at the disk could end one step or begin the next, it makes no
//! difference, because decisions are made after all looks of their step.

use alloc::vec::Vec;

use tslp_core::event::{ContentKind, Event, Recorded, ReplyOutcome};
use tslp_core::ids::EpisodeId;

use crate::trace::is_look;

/// The position of the event that determines what kind of step it is.
pub(crate) fn defining_event(step: &[Recorded]) -> Option<usize> {
    let is_head = |recorded: &Recorded| {
        matches!(
            recorded.event,
            Event::PromptReceived(_)
                | Event::SideRequestReceived(_)
                | Event::ReplySegment(_)
                | Event::ReplyPart(_)
                | Event::ReplyEnded(_)
                | Event::PromptSent(_)
                | Event::AuditAnswered(_)
                | Event::DirectiveGiven(_)
                | Event::ActionRequested(_)
                | Event::ActionJudged(_)
                | Event::ToolRan(_)
                | Event::PolicyApproved(_)
        )
    };
    step.iter().position(is_head).or_else(|| {
        let is_composed = |recorded: &Recorded| matches!(recorded.event, Event::PromptComposed(_));
        step.iter().position(is_composed)
    })
}

/// Whether the step's last event always ends a step.
pub(crate) fn is_whole(step: &[Recorded]) -> bool {
    step.last().is_some_and(|last| {
        matches!(
            last.event,
            Event::PromptComposed(_)
                | Event::ReplySegment(_)
                | Event::ReplyPart(_)
                | Event::PromptSent(_)
                | Event::SideRequestReceived(_)
                | Event::PromptMeasured(_)
                | Event::ActionRequested(_)
                | Event::PolicyApproved(_)
        )
    })
}

/// Whether `next` belongs to the same step as the events in `step`.
pub(crate) fn goes_on(step: &[Recorded], next: &Recorded) -> bool {
    let Some(last) = step.last() else {
        return true;
    };
    // Nothing follows from what a prompt cost: it is a step of its own.
    let stands_alone = matches!(
        next.event,
        Event::RulesInForce(_) | Event::PromptMeasured(_)
    );
    if last.at != next.at || stands_alone || is_whole(step) {
        return false;
    }
    match defining_event(step).map(|at| &step[at].event) {
        Some(Event::PromptReceived(_)) => belongs_to_prompt(&next.event),
        Some(Event::ReplyEnded(ended)) => {
            ended.outcome == ReplyOutcome::Completed && follows(step, &next.event, ended.episode)
        }
        Some(Event::AuditAnswered(answered)) => {
            !matches!(next.event, Event::DiskObserved(_))
                && follows(step, &next.event, answered.episode)
        }
        Some(Event::DirectiveGiven(_)) => follows(step, &next.event, EpisodeId::OUTSIDE),
        Some(Event::ActionJudged(judged)) => halts(&next.event, judged.call.episode),
        Some(Event::ToolRan(ran)) => halts(&next.event, ran.call.episode),
        _ => opens(step, &next.event),
    }
}

/// Whether an event halts the tools of an episode's session: nothing else follows from a call.
fn halts(next: &Event, of: EpisodeId) -> bool {
    matches!(next, Event::NoticeIssued(notice) if notice.episode == of && notice.reason.halts_tools())
}

/// Whether nothing else can have happened before the prompt was composed.
const fn belongs_to_prompt(next: &Event) -> bool {
    !matches!(
        next,
        Event::PromptReceived(_)
            | Event::SideRequestReceived(_)
            | Event::ReplySegment(_)
            | Event::ReplyPart(_)
            | Event::ReplyEnded(_)
            | Event::PromptSent(_)
            | Event::AuditAnswered(_)
            | Event::ActionRequested(_)
            | Event::ActionJudged(_)
            | Event::ToolRan(_)
            | Event::PolicyApproved(_)
    )
}

/// Whether an event can follow from the step's defining event.
fn follows(step: &[Recorded], next: &Event, of: EpisodeId) -> bool {
    let is_decided = || {
        step.iter().any(|recorded| {
            matches!(
                recorded.event,
                Event::ArtifactCaptured(_) | Event::NoticeIssued(_)
            )
        })
    };
    match next {
        Event::Content(content) => content.kind == ContentKind::Code,
        Event::DiskObserved(_) => !is_decided(),
        Event::ArtifactCaptured(captured) => captured.episode == of,
        Event::Transitioned(moved) => moved.episode == of,
        Event::PromotionRefused(refused) => refused.episode == of,
        Event::NoticeIssued(notice) => notice.episode == of,
        Event::AuditAsked(asked) => asked.episode == of,
        Event::ArtifactResolved(_) | Event::CapabilityChanged(_) => true,
        _ => false,
    }
}

/// Whether an event can follow while the step has no defining event yet.
fn opens(step: &[Recorded], next: &Event) -> bool {
    let all = |wanted: &dyn Fn(&Event) -> bool| {
        let mut events = step.iter().map(|recorded| &recorded.event);
        events.all(|event| wanted(event) || matches!(event, Event::RulesInForce(_)))
    };
    let is_of = |kind: ContentKind| move |event: &Event| matches!(event, Event::Content(content) if content.kind == kind);
    let is_message = is_of(ContentKind::Message);
    let is_piece = is_of(ContentKind::PromptPiece);
    let is_of_reply = |event: &Event| {
        is_of(ContentKind::Reply)(event) || is_of(ContentKind::ToolArguments)(event)
    };
    let is_evidence = is_of(ContentKind::Evidence);
    match next {
        Event::Content(content) => match content.kind {
            ContentKind::Message => all(&is_message),
            ContentKind::Reply => all(&|event| is_look(event) || is_of_reply(event)),
            ContentKind::ToolArguments => all(&is_of_reply),
            ContentKind::PromptPiece => all(&is_piece),
            ContentKind::Evidence => all(&is_evidence),
            ContentKind::Code | ContentKind::Injection => true,
        },
        Event::PromptReceived(_) => all(&is_message),
        Event::SideRequestReceived(_) => all(&|_| false),
        Event::PromptSent(_) => all(&is_piece),
        Event::ReplySegment(_) | Event::ReplyPart(_) | Event::ReplyEnded(_) => {
            all(&|event| is_look(event) || is_of_reply(event))
        }
        Event::AuditAnswered(_) => all(&|event| is_look(event) || is_of_reply(event)),
        Event::ActionRequested(_)
        | Event::ActionJudged(_)
        | Event::ToolRan(_)
        | Event::PolicyApproved(_) => all(&is_evidence),
        Event::DirectiveGiven(_) | Event::DiskObserved(_) => all(&is_look),
        _ => true,
    }
}

/// The looks at the disk that stand before anything else, each with what it made void.
pub(crate) fn leading_looks(step: &mut Vec<Recorded>) -> Vec<Vec<Recorded>> {
    let until = step
        .iter()
        .position(|recorded| !is_look(&recorded.event))
        .unwrap_or(step.len());
    let mut looks: Vec<Vec<Recorded>> = Vec::new();
    for recorded in step.drain(..until) {
        match looks.last_mut() {
            Some(look) if !matches!(recorded.event, Event::DiskObserved(_)) => look.push(recorded),
            _ => looks.push(Vec::from([recorded])),
        }
    }
    looks
}

#[cfg(test)]
mod tests {
    use tslp_core::event::{DiskFinding, DiskObserved, PromptCost, PromptMeasured, ReplyEnded};
    use tslp_core::hash::MessageKey;
    use tslp_core::ids::{Seq, UnixMillis};
    use tslp_core::path::RelPath;

    use super::*;

    fn at_once(event: Event) -> Recorded {
        Recorded {
            seq: Seq(1),
            at: UnixMillis(1),
            event,
        }
    }

    fn ended() -> Event {
        Event::ReplyEnded(ReplyEnded {
            episode: EpisodeId(1),
            outcome: ReplyOutcome::Completed,
            finish_reason: None,
            key: MessageKey([0; 32]),
            segments: Vec::new(),
            tool_calls: Vec::new(),
        })
    }

    fn look() -> Event {
        Event::DiskObserved(DiskObserved {
            path: RelPath::from_normalised("a.c"),
            finding: DiskFinding::Missing,
        })
    }

    fn measured() -> Event {
        Event::PromptMeasured(PromptMeasured {
            episode: EpisodeId(1),
            client: PromptCost::default(),
            sent: PromptCost::default(),
            server: None,
        })
    }

    #[test]
    fn a_measurement_is_a_step_of_its_own_though_it_comes_with_a_reply() {
        let check = |step: &[Event], next: Event, expected: bool| {
            let step: Vec<Recorded> = step.iter().cloned().map(at_once).collect();
            assert_eq!(goes_on(&step, &at_once(next)), expected, "{step:?}");
        };
        check(&[ended()], look(), true);
        check(&[ended(), look()], measured(), false);
        check(&[look()], measured(), false);
        check(&[measured()], look(), false);
        check(&[measured()], ended(), false);
        check(&[measured()], measured(), false);
    }
}
