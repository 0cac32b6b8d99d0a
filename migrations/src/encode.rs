//! From a core event to the bytes that the ledger stores, always in the newest layout.

use rkyv::api::high::{HighSerializer, to_bytes_in};
use rkyv::rancor;
use rkyv::ser::allocator::ArenaHandle;
use tslp_core::event::Event;
use tslp_core::limits::TOMBSTONE_EPISODES_DEFAULT;

use crate::v1::{self, action};
use crate::v2;

/// An event as the ledger stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedEvent {
    /// Name and layout version, such as `prompt_received.v1`.
    pub kind: &'static str,
    /// The bytes.
    pub payload: Vec<u8>,
}

/// Largest payload that is written. SQLite refuses rows of 1,000,000,000 bytes; relative pointers end at 2 GiB.
pub const PAYLOAD_BYTES_MAX: usize = 512 << 20;

/// An event could not be encoded.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// Larger than [`PAYLOAD_BYTES_MAX`].
    #[error(
        "a `{kind}` event takes {bytes} bytes, more than the {PAYLOAD_BYTES_MAX} that one row of the ledger may hold"
    )]
    TooLarge {
        /// Name and layout version.
        kind: &'static str,
        /// Its size, or its content's if that alone is too large.
        bytes: usize,
    },
    /// The serialiser failed.
    #[error("a `{kind}` event could not be encoded: {detail}")]
    Failed {
        /// Name and layout version.
        kind: &'static str,
        /// Its message.
        detail: String,
    },
}

/// Encodes an event.
///
/// # Errors
/// When the event is too large for one row; no event that came through the proxy's own limits is.
pub fn encode(event: &Event) -> Result<EncodedEvent, EncodeError> {
    let kind = kind_of(event);
    match event {
        Event::Content(content) if content.bytes.len() > PAYLOAD_BYTES_MAX => {
            Err(EncodeError::TooLarge {
                kind,
                bytes: content.bytes.len(),
            })
        }
        Event::Content(event) => encode_layout(
            kind,
            &v1::Content::from(event),
            event.bytes.len() + CONTENT_FRAME_BYTES,
        ),
        Event::RulesInForce(event) if kind == "rules_in_force.v1" => {
            encode_small(kind, &v1::RulesInForce::from(event))
        }
        Event::RulesInForce(event) => encode_small(kind, &v2::RulesInForce::from(event)),
        Event::PromptReceived(event) => encode_small(kind, &v1::PromptReceived::from(event)),
        Event::SideRequestReceived(event) => {
            encode_small(kind, &v1::SideRequestReceived::from(event))
        }
        Event::ReplySegment(event) => encode_small(kind, &v1::ReplySegment::from(event)),
        Event::ReplyEnded(event) => encode_small(kind, &v1::ReplyEnded::from(event)),
        Event::DirectiveGiven(event) => encode_small(kind, &v1::DirectiveGiven::from(event)),
        Event::AuditAsked(event) => encode_small(kind, &v1::AuditAsked::from(event)),
        Event::AuditAnswered(event) => encode_small(kind, &v1::AuditAnswered::from(event)),
        Event::PromptMeasured(event) => encode_small(kind, &v1::PromptMeasured::from(event)),
        Event::ReplyPart(event) => encode_small(kind, &v1::ReplyPart::from(event)),
        Event::PromptSent(event) => encode_small(kind, &v1::PromptSent::from(event)),
        Event::DiskObserved(event) => encode_small(kind, &v1::DiskObserved::from(event)),
        Event::ArtifactCaptured(event) => encode_small(kind, &v1::ArtifactCaptured::from(event)),
        Event::ArtifactResolved(event) => encode_small(kind, &v1::ArtifactResolved::from(event)),
        Event::Transitioned(event) => encode_small(kind, &v1::Transitioned::from(event)),
        Event::PromotionRefused(event) => encode_small(kind, &v1::PromotionRefused::from(event)),
        Event::NoticeIssued(event) => encode_small(kind, &v1::NoticeIssued::from(event)),
        Event::PromptAmended(event) => encode_small(kind, &v1::PromptAmended::from(event)),
        Event::PromptComposed(event) => encode_small(kind, &v1::PromptComposed::from(event)),
        Event::ActionRequested(event) => encode_small(kind, &action::ActionRequested::from(event)),
        Event::ActionJudged(event) => encode_small(kind, &action::ActionJudged::from(event)),
        Event::ToolRan(event) => encode_small(kind, &action::ToolRan::from(event)),
        Event::PolicyApproved(event) => encode_small(kind, &action::PolicyApproved::from(event)),
        Event::CapabilityChanged(event) => {
            encode_small(kind, &action::CapabilityChanged::from(event))
        }
    }
}

/// Name and layout version under which an event is written today.
#[must_use]
pub const fn kind_of(event: &Event) -> &'static str {
    match event {
        // What the first layout can hold stays in it, so that older versions of tslp can read it.
        Event::RulesInForce(rules)
            if rules.policy.tombstone_episodes == TOMBSTONE_EPISODES_DEFAULT =>
        {
            "rules_in_force.v1"
        }
        Event::RulesInForce(_) => "rules_in_force.v2",
        Event::Content(_) => "content.v1",
        Event::PromptReceived(_) => "prompt_received.v1",
        Event::SideRequestReceived(_) => "side_request_received.v1",
        Event::ReplySegment(_) => "reply_segment.v1",
        Event::ReplyEnded(_) => "reply_ended.v1",
        Event::DirectiveGiven(_) => "directive_given.v1",
        Event::AuditAsked(_) => "audit_asked.v1",
        Event::AuditAnswered(_) => "audit_answered.v1",
        Event::PromptMeasured(_) => "prompt_measured.v1",
        Event::ReplyPart(_) => "reply_part.v1",
        Event::PromptSent(_) => "prompt_sent.v1",
        Event::DiskObserved(_) => "disk_observed.v1",
        Event::ArtifactCaptured(_) => "artifact_captured.v1",
        Event::ArtifactResolved(_) => "artifact_resolved.v1",
        Event::Transitioned(_) => "transitioned.v1",
        Event::PromotionRefused(_) => "promotion_refused.v1",
        Event::NoticeIssued(_) => "notice_issued.v1",
        Event::PromptAmended(_) => "prompt_amended.v1",
        Event::PromptComposed(_) => "prompt_composed.v1",
        Event::ActionRequested(_) => "action_requested.v1",
        Event::ActionJudged(_) => "action_judged.v1",
        Event::ToolRan(_) => "tool_ran.v1",
        Event::PolicyApproved(_) => "policy_approved.v1",
        Event::CapabilityChanged(_) => "capability_changed.v1",
    }
}

/// The size of a content event without its content: hash, kind, pointer and length.
const CONTENT_FRAME_BYTES: usize = 41;

/// Room for most events without growing.
const SMALL_BYTES: usize = 256;

fn encode_small<L>(kind: &'static str, layout: &L) -> Result<EncodedEvent, EncodeError>
where
    L: for<'a> rkyv::Serialize<HighSerializer<Vec<u8>, ArenaHandle<'a>, rancor::Error>>,
{
    encode_layout(kind, layout, SMALL_BYTES)
}

fn encode_layout<L>(
    kind: &'static str,
    layout: &L,
    capacity: usize,
) -> Result<EncodedEvent, EncodeError>
where
    L: for<'a> rkyv::Serialize<HighSerializer<Vec<u8>, ArenaHandle<'a>, rancor::Error>>,
{
    let payload =
        to_bytes_in::<_, rancor::Error>(layout, Vec::with_capacity(capacity)).map_err(|error| {
            EncodeError::Failed {
                kind,
                detail: error.to_string(),
            }
        })?;
    if payload.len() > PAYLOAD_BYTES_MAX {
        return Err(EncodeError::TooLarge {
            kind,
            bytes: payload.len(),
        });
    }
    Ok(EncodedEvent { kind, payload })
}
