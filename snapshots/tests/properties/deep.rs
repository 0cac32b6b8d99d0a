//! Deep verification of random ledgers: a forged decision is noticed, a ledger that ends early isn't taken for one.

use std::collections::BTreeSet;

use tslp_core::artifact::Level;
use tslp_core::event::{Event, EventKind, Recorded};
use tslp_core::gate::Completeness;
use tslp_core::ids::Seq;
use tslp_core::reason::{Reason, ReasonClass};
use tslp_replay::trace::{Difference, DifferenceCause};
use tslp_snapshots::random::{entropy, player};
use tslp_snapshots::replay_check::verify_deep;
use tslp_snapshots::stage::{EngineMemory, Stage};

/// Stories whose decisions are forged one by one.
const STORIES: u64 = 8;

fn other_reason(reason: Reason) -> Reason {
    match reason {
        Reason::Unlinked => Reason::UserRejected,
        _ => Reason::Unlinked,
    }
}

/// Another decision in place of the event's; `None` for an observation.
fn forged_event(event: &Event) -> Option<Event> {
    let mut event = event.clone();
    match &mut event {
        Event::ArtifactCaptured(captured) => {
            captured.completeness = match captured.completeness {
                Completeness::Full => Completeness::Elided,
                _ => Completeness::Full,
            };
        }
        Event::ArtifactResolved(resolved) => {
            resolved.level = match resolved.level {
                Level::Confirmed => Level::Inferred,
                _ => Level::Confirmed,
            };
        }
        Event::Transitioned(moved) => moved.cause = other_reason(moved.cause),
        Event::PromotionRefused(refused) => {
            refused.report.conclusion = refused.report.conclusion.map(other_reason);
        }
        Event::AuditAsked(asked) => asked.about.truncate(asked.about.len() - 1),
        Event::NoticeIssued(notice) => notice.reason = other_reason(notice.reason),
        Event::PromptComposed(composed) => composed.notices += 1,
        _ => return None,
    }
    Some(event)
}

fn stages() -> impl Iterator<Item = Stage> {
    (0..STORIES).map(|seed| player::play_with_memory(&entropy::bytes(seed, 700), EngineMemory::All))
}

/// Positions of decisions in a ledger.
fn decisions_in(ledger: &[Recorded]) -> Vec<usize> {
    let is_decision = |at: &usize| forged_event(&ledger[*at].event).is_some();
    (0..ledger.len()).filter(is_decision).collect()
}

/// The first and the last decision of each kind: one with many after it that build on it, and one
/// with few. Others of the kind are verified by the same code, and each costs a whole verification.
fn decisions_of_each_kind(ledger: &[Recorded]) -> BTreeSet<usize> {
    let decisions = decisions_in(ledger);
    let of_kind = |kind: EventKind| {
        let mut found = decisions
            .iter()
            .filter(move |at| ledger[**at].event.kind() == kind);
        let first = found.next();
        first.into_iter().chain(found.next_back())
    };
    EventKind::ALL
        .iter()
        .flat_map(|kind| of_kind(*kind))
        .copied()
        .collect()
}

fn unexplained(differences: &[Difference]) -> Vec<&Difference> {
    let all = differences.iter();
    all.filter(|difference| !difference.is_explained())
        .collect()
}

/// Each decision costs a verification of its whole ledger. Forging only one of a kind would miss those
/// that are noticed by what builds on them alone: so the first and the last of each kind are.
#[test]
fn forged_decision() {
    let mut tried = 0;
    for stage in stages() {
        for at in decisions_of_each_kind(stage.ledger()) {
            let mut ledger = stage.ledger().to_vec();
            let recorded = &mut ledger[at];
            recorded.event = forged_event(&recorded.event).unwrap();
            let (differences, _) = verify_deep(&ledger, stage.policy());
            let seq = ledger[at].seq;
            let found = unexplained(&differences);
            assert!(
                found.iter().any(|difference| difference.seq == seq),
                "{:?} in {found:#?}",
                ledger[at]
            );
            tried += 1;
        }
    }
    assert!(tried > 50, "{tried}");
}

#[test]
fn forged_number() {
    let mut tried = 0;
    for stage in stages() {
        for at in decisions_in(stage.ledger()) {
            let mut ledger = stage.ledger().to_vec();
            let Event::ArtifactCaptured(captured) = &mut ledger[at].event else {
                continue;
            };
            captured.capture.0 += 1000;
            if let Some(Recorded {
                event: Event::ArtifactResolved(resolved),
                ..
            }) = ledger.get_mut(at + 1)
            {
                resolved.capture.0 += 1000;
            }
            let seq = ledger[at].seq;
            let (differences, _) = verify_deep(&ledger, stage.policy());
            let found = unexplained(&differences);
            assert!(found.iter().any(|difference| difference.seq == seq));
            tried += 1;
            break;
        }
    }
    assert!(tried > 3, "{tried}");
}

/// As long as the test of forged decisions, for the same reason.
#[test]
fn missing_decision() {
    let mut tried = 0;
    for stage in stages() {
        for at in decisions_of_each_kind(stage.ledger()) {
            let mut ledger = stage.ledger().to_vec();
            let removed = ledger.remove(at);
            // Whether older messages show what disk contradicts isn't on record but by the notices of it.
            let is_evidence = match &removed.event {
                Event::NoticeIssued(notice) => notice.reason.is(ReasonClass::Divergence),
                _ => false,
            };
            for (recorded, seq) in ledger.iter_mut().zip(1..) {
                recorded.envelope.seq = Seq(seq);
            }
            let (differences, _) = verify_deep(&ledger, stage.policy());
            assert!(!differences.is_empty() || is_evidence, "{removed:?}");
            tried += 1;
        }
    }
    assert!(tried > 50, "{tried}");
}

/// Cuts are close together because steps are short: a cut between two steps is explained more easily
/// than one inside a step, and fewer cuts would miss the steps of two or three events.
#[test]
fn cut_short_ledger() {
    for (stage, first) in stages().zip(0..2) {
        for end in (first..stage.ledger().len()).step_by(3) {
            let ledger = &stage.ledger()[..end];
            let (differences, _) = verify_deep(ledger, stage.policy());
            for difference in &differences {
                assert_eq!(
                    difference.causes,
                    [DifferenceCause::CutShort],
                    "{end}: {difference:#?}"
                );
            }
        }
    }
}
