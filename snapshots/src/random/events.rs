//! Random events without sense, of every kind.

use arbitrary::{Result, Unstructured};
use tslp_core::event::{Envelope, Event, EventKind, Recorded};
use tslp_core::ids::{Seq, UnixMillis};

/// Most events of a ledger.
const EVENTS_MAX: usize = 400;

/// Kinds that make something true only together; half of all events are of these.
const FREQUENT: [EventKind; 6] = [
    EventKind::PromptReceived,
    EventKind::ReplyEnded,
    EventKind::DiskObserved,
    EventKind::ArtifactCaptured,
    EventKind::ArtifactResolved,
    EventKind::Transitioned,
];

/// Kinds that are about tools alone.
const OF_TOOLS: [EventKind; 5] = [
    EventKind::ActionRequested,
    EventKind::ActionJudged,
    EventKind::ToolRan,
    EventKind::PolicyApproved,
    EventKind::CapabilityChanged,
];

/// A ledger without sense, as long as the bytes last. Positions ascend, some with a gap.
///
/// # Errors
/// Never in practice: a source that has run out ends the list.
pub fn random_ledger(source: &mut Unstructured<'_>) -> Result<Vec<Recorded>> {
    let mut ledger = Vec::new();
    let mut seq = 0_u64;
    while !source.is_empty() && ledger.len() < EVENTS_MAX {
        seq += match source.int_in_range(0..=99_u8)? {
            0 => 2,
            _ => 1,
        };
        let kinds = if source.arbitrary()? {
            &FREQUENT
        } else {
            EventKind::ALL
        };
        let kind = *source.choose(kinds)?;
        ledger.push(Recorded {
            envelope: Envelope {
                episode: source.arbitrary()?,
                session: source.arbitrary()?,
                ends_step: source.arbitrary()?,
                ..Envelope::outside(Seq(seq), UnixMillis(source.arbitrary()?))
            },
            event: Event::arbitrary_of(kind, source)?,
        });
    }
    Ok(ledger)
}

/// An event about tools.
///
/// # Errors
/// Never in practice.
pub fn tool_event(source: &mut Unstructured<'_>) -> Result<Event> {
    let kind = *source.choose(&OF_TOOLS)?;
    Event::arbitrary_of(kind, source)
}
