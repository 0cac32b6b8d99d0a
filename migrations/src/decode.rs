//! From stored bytes to a core event. Any bytes give an event or an error value; none give a panic.

use rkyv::Portable;
use rkyv::api::high::HighValidator;
use rkyv::bytecheck::CheckBytes;
use rkyv::rancor;
use tslp_core::event::{ContentKind, Event};
use tslp_core::hash::ArtifactHash;

use crate::v1::codes::Code;
use crate::v1::{self, Load, action};
use crate::v2;

/// Stored bytes that are no event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// No version of tslp up to this one writes such events.
    #[error("unknown event kind `{kind}`")]
    UnknownKind {
        /// The stored kind.
        kind: String,
    },
    /// The event's name is known, but its layout is newer.
    #[error("event kind `{kind}` has a newer layout than v{known}")]
    NewerVersion {
        /// The stored kind.
        kind: String,
        /// The newest layout version known here.
        known: u32,
    },
    /// The bytes don't have the layout of their kind.
    #[error("{bytes} bytes of a `{kind}` event are malformed: {detail}")]
    Malformed {
        /// The stored kind.
        kind: String,
        /// Their number.
        bytes: usize,
        /// The validator's message.
        detail: String,
    },
    /// The bytes have the layout of their kind, but a value in them has no meaning.
    #[error("a `{kind}` event says what no event can: {invalid}")]
    Invalid {
        /// The stored kind.
        kind: String,
        /// That value.
        invalid: InvalidValue,
    },
}

impl DecodeError {
    /// Whether a newer tslp may have written those bytes. If so, the hash chain decides: it did if their link holds, and
    /// otherwise they are damaged.
    #[must_use]
    pub fn may_be_newer(&self) -> bool {
        match self {
            Self::NewerVersion { .. } => true,
            Self::UnknownKind { kind } => is_name_of_a_layout(kind),
            Self::Invalid { invalid, .. } => {
                matches!(invalid, InvalidValue::Code { .. } | InvalidValue::Reason(_))
            }
            Self::Malformed { .. } => false,
        }
    }
}

/// Whether a kind is written as ours are: a name in small letters, `.v`, and a number.
fn is_name_of_a_layout(kind: &str) -> bool {
    let Some((name, version)) = kind.rsplit_once(".v") else {
        return false;
    };
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let is_number = version.bytes().all(|byte| byte.is_ascii_digit())
        && version.parse::<u32>().is_ok_and(|version| version > 0);
    is_name && is_number
}

/// A stored value without meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidValue {
    /// A number without a meaning.
    #[error("{code} is no {what}")]
    Code {
        /// The enum's name.
        what: &'static str,
        /// The number.
        code: u32,
    },
    /// A reason code that is not known here.
    #[error("`{0}` is no reason known to this version of tslp")]
    Reason(String),
    /// A path that is not normalised.
    #[error("`{0}` is no normalised path below a workspace")]
    Path(String),
    /// A range that ends before it starts.
    #[error("a range from {start} to {end}")]
    Range {
        /// First byte.
        start: u32,
        /// One past the last byte.
        end: u32,
    },
    /// More older messages than messages.
    #[error("{older} of {messages} messages are older history")]
    Older {
        /// Messages said to be older history.
        older: u32,
        /// All messages.
        messages: usize,
    },
}

/// A content event, read where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentRef<'a> {
    /// Address: BLAKE3 of `bytes`.
    pub hash: ArtifactHash,
    /// Their kind.
    pub kind: ContentKind,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl ContentRef<'_> {
    /// Whether the bytes are those that the hash names.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        ArtifactHash::of(self.bytes) == self.hash
    }
}

/// Decodes a stored event of any version ever written.
///
/// # Errors
/// See [`DecodeError`].
pub fn decode(kind: &str, payload: &[u8]) -> Result<Event, DecodeError> {
    match kind {
        "rules_in_force.v1" => load_event::<v1::ArchivedRulesInForce<'_>>(kind, payload),
        "rules_in_force.v2" => load_event::<v2::ArchivedRulesInForce<'_>>(kind, payload),
        "content.v1" => load_event::<v1::ArchivedContent<'_>>(kind, payload),
        "prompt_received.v1" => load_event::<v1::ArchivedPromptReceived<'_>>(kind, payload),
        "side_request_received.v1" => {
            load_event::<v1::ArchivedSideRequestReceived<'_>>(kind, payload)
        }
        "reply_segment.v1" => load_event::<v1::ArchivedReplySegment>(kind, payload),
        "reply_ended.v1" => load_event::<v1::ArchivedReplyEnded<'_>>(kind, payload),
        "disk_observed.v1" => load_event::<v1::ArchivedDiskObserved<'_>>(kind, payload),
        "directive_given.v1" => load_event::<v1::ArchivedDirectiveGiven<'_>>(kind, payload),
        "audit_asked.v1" => load_event::<v1::ArchivedAuditAsked<'_>>(kind, payload),
        "audit_answered.v1" => load_event::<v1::ArchivedAuditAnswered<'_>>(kind, payload),
        "prompt_measured.v1" => load_event::<v1::ArchivedPromptMeasured>(kind, payload),
        "reply_part.v1" => load_event::<v1::ArchivedReplyPart>(kind, payload),
        "prompt_sent.v1" => load_event::<v1::ArchivedPromptSent>(kind, payload),
        "artifact_captured.v1" => load_event::<v1::ArchivedArtifactCaptured<'_>>(kind, payload),
        "artifact_resolved.v1" => load_event::<v1::ArchivedArtifactResolved<'_>>(kind, payload),
        "transitioned.v1" => load_event::<v1::ArchivedTransitioned<'_>>(kind, payload),
        "promotion_refused.v1" => load_event::<v1::ArchivedPromotionRefused<'_>>(kind, payload),
        "notice_issued.v1" => load_event::<v1::ArchivedNoticeIssued<'_>>(kind, payload),
        "prompt_amended.v1" => load_event::<v1::ArchivedPromptAmended<'_>>(kind, payload),
        "prompt_composed.v1" => load_event::<v1::ArchivedPromptComposed<'_>>(kind, payload),
        "action_requested.v1" => load_event::<action::ArchivedActionRequested<'_>>(kind, payload),
        "action_judged.v1" => load_event::<action::ArchivedActionJudged<'_>>(kind, payload),
        "tool_ran.v1" => load_event::<action::ArchivedToolRan<'_>>(kind, payload),
        "policy_approved.v1" => load_event::<action::ArchivedPolicyApproved<'_>>(kind, payload),
        "capability_changed.v1" => load_event::<action::ArchivedCapabilityChanged>(kind, payload),
        _ => Err(unknown_kind(kind)),
    }
}

/// The content in a stored `content` event without copying it; `None` if the event is of another kind.
///
/// # Errors
/// [`DecodeError`], likewise only for events of this kind.
pub fn decode_content<'a>(
    kind: &str,
    payload: &'a [u8],
) -> Result<Option<ContentRef<'a>>, DecodeError> {
    match kind {
        "content.v1" => {
            let stored: &'a v1::ArchivedContent<'a> = access_layout(kind, payload)?;
            let code = stored.kind;
            Ok(Some(ContentRef {
                hash: ArtifactHash(stored.hash),
                kind: ContentKind::from_code(code).ok_or_else(|| DecodeError::Invalid {
                    kind: kind.to_owned(),
                    invalid: InvalidValue::Code {
                        what: ContentKind::NAME,
                        code: code.into(),
                    },
                })?,
                bytes: &stored.bytes,
            }))
        }
        kind if kind.starts_with("content.") => Err(unknown_kind(kind)),
        _ => Ok(None),
    }
}

/// The names of all events with the newest version of their layout known here; all older versions are read, too.
pub const LAYOUTS: &[(&str, u32)] = &[
    ("rules_in_force", 2),
    ("content", 1),
    ("prompt_received", 1),
    ("side_request_received", 1),
    ("reply_segment", 1),
    ("reply_ended", 1),
    ("disk_observed", 1),
    ("directive_given", 1),
    ("audit_asked", 1),
    ("audit_answered", 1),
    ("prompt_measured", 1),
    ("reply_part", 1),
    ("prompt_sent", 1),
    ("artifact_captured", 1),
    ("artifact_resolved", 1),
    ("transitioned", 1),
    ("promotion_refused", 1),
    ("notice_issued", 1),
    ("prompt_amended", 1),
    ("prompt_composed", 1),
    ("action_requested", 1),
    ("action_judged", 1),
    ("tool_ran", 1),
    ("policy_approved", 1),
    ("capability_changed", 1),
];

fn unknown_kind(kind: &str) -> DecodeError {
    let newer = kind.rsplit_once(".v").and_then(|(name, version)| {
        let version: u32 = version.parse().ok()?;
        let (_, known) = LAYOUTS.iter().find(|(known, _)| *known == name)?;
        (version > *known).then_some(*known)
    });
    match newer {
        Some(known) => DecodeError::NewerVersion {
            kind: kind.to_owned(),
            known,
        },
        None => DecodeError::UnknownKind {
            kind: kind.to_owned(),
        },
    }
}

fn load_event<'a, A>(kind: &str, payload: &'a [u8]) -> Result<Event, DecodeError>
where
    A: Portable + for<'b> CheckBytes<HighValidator<'b, rancor::Error>> + Load<Core = Event> + 'a,
{
    access_layout::<A>(kind, payload)?
        .load()
        .map_err(|invalid| DecodeError::Invalid {
            kind: kind.to_owned(),
            invalid,
        })
}

fn access_layout<'a, A>(kind: &str, payload: &'a [u8]) -> Result<&'a A, DecodeError>
where
    A: Portable + for<'b> CheckBytes<HighValidator<'b, rancor::Error>>,
{
    rkyv::access::<A, rancor::Error>(payload).map_err(|error| DecodeError::Malformed {
        kind: kind.to_owned(),
        bytes: payload.len(),
        detail: error.to_string(),
    })
}
