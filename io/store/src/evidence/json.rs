//! Events as readable JSON and back. One list of fields serves both directions, and a field that a list forgets doesn't compile.
//! A field's name is its name in exports, so none may be renamed: the frozen exports wouldn't be read any more.
//!
//! Members that no event has are let through here: an import prints every event again and compares the lines.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};
use tslp_core::artifact::{Level, Origin, Transition, Version};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{
    ActionJudged, ActionRequested, ArtifactCaptured, ArtifactResolved, AuditAnswered, AuditAsked,
    AuditOutcome, AuditStatus, AuditVerdict, Audited, CallId, CapabilityChanged, Content,
    ContentKind, Denial, DirectiveGiven, DiskFile, DiskFinding, DiskObserved, DiskSlice, Dropped,
    EditRef, Event, EventKind, Extent, Fork, Format, GrantChange, History, Hydrated, Injected,
    LinkSeen, MessageRef, NoticeIssued, PartKind, PathEvidence, PolicyApproved, PromotionRefused,
    PromptAmended, PromptBase, PromptComposed, PromptCost, PromptMeasured, PromptReceived,
    PromptSent, ReadFailure, ReplyEnded, ReplyOutcome, ReplyPart, ReplySegment, RequestedCommand,
    RulesInForce, ServerUsage, Side, SideRequestReceived, ToolCallRef, ToolOutcome, ToolRan,
    Transitioned, Verb, Withheld, Within,
};
use tslp_core::extract::GrammarTag;
use tslp_core::gate::{Completeness, GateProfile, GateReport, Thresholds, Verdict};
use tslp_core::guardian::{Capability, Class, Decision, Door, Join, Mode, Risk, Step};
use tslp_core::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use tslp_core::ids::{CaptureId, EpisodeId, Seq, SessionId, UnixMillis, VersionId};
use tslp_core::limits::TOMBSTONE_EPISODES_DEFAULT;
use tslp_core::message::{Role, Tools};
use tslp_core::path::RelPath;
use tslp_core::policy::{AuditChoice, HistoryChoice, Placement, Policy};
use tslp_core::reason::Reason;
use tslp_core::slice::{Figures, Span};
use tslp_replay::chain::ChainHash;

/// A JSON value that isn't what an event has in its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{member}` {detail}")]
pub struct JsonMismatch {
    /// The innermost member of an object that holds it.
    pub member: &'static str,
    /// The mismatch.
    pub detail: String,
}

pub(super) type JsonResult<T> = Result<T, JsonMismatch>;

/// A value that has one form in JSON.
pub(super) trait JsonValue: Sized {
    fn to_json(&self) -> Value;

    /// # Errors
    /// When the JSON is no such value.
    fn from_json(value: &Value) -> JsonResult<Self>;
}

/// A value whose parts are members of an object.
trait JsonMembers: Sized {
    /// Adds its members at the object's end.
    fn add_to(&self, object: &mut Map<String, Value>);

    /// # Errors
    /// When a member is missing or isn't what it should be.
    fn read_from(object: &Value) -> JsonResult<Self>;
}

/// The member of an object with this name.
///
/// # Errors
/// When it is missing or isn't what it should be.
pub(super) fn read_member<T: JsonValue>(object: &Value, name: &'static str) -> JsonResult<T> {
    T::from_json(member_value(object, name)?).map_err(|mut error| {
        if error.member.is_empty() {
            error.member = name;
        }
        error
    })
}

/// The JSON of that member.
pub(super) fn member_value<'v>(object: &'v Value, name: &'static str) -> JsonResult<&'v Value> {
    object.get(name).ok_or_else(|| JsonMismatch {
        member: name,
        detail: "is missing".to_owned(),
    })
}

/// An error without the name of the member, which [`read_member`] adds.
fn mismatch<T>(detail: impl Into<String>) -> JsonResult<T> {
    Err(JsonMismatch {
        member: "",
        detail: detail.into(),
    })
}

macro_rules! add_member {
    ($object:ident, $field:ident) => {
        $object.insert(stringify!($field).to_owned(), $field.to_json());
    };
    ($object:ident, $field:ident among_them) => {
        $field.add_to($object);
    };
    ($object:ident, $field:ident unless $default:ident) => {
        if *$field != $default {
            add_member!($object, $field);
        }
    };
}

macro_rules! read_member {
    ($object:ident, $field:ident) => {
        read_member($object, stringify!($field))?
    };
    ($object:ident, $field:ident among_them) => {
        JsonMembers::read_from($object)?
    };
    ($object:ident, $field:ident unless $default:ident) => {
        match $object.get(stringify!($field)) {
            Some(_) => read_member!($object, $field),
            None => $default,
        }
    };
}

/// Structs as objects, with a member for each field, in this order. The members of a field `among_them` are the object's own; a
/// field is left out where it has the value that `unless` names.
macro_rules! objects {
    ($($type:ident { $($field:ident $($how:ident $($default:ident)?)?),+ })+) => {
        $(impl JsonMembers for $type {
            fn add_to(&self, object: &mut Map<String, Value>) {
                let Self { $($field),+ } = self;
                $(add_member!(object, $field $($how $($default)?)?);)+
            }

            fn read_from(object: &Value) -> JsonResult<Self> {
                Ok(Self { $($field: read_member!(object, $field $($how $($default)?)?)),+ })
            }
        }

        impl JsonValue for $type {
            fn to_json(&self) -> Value {
                let mut object = Map::new();
                self.add_to(&mut object);
                object.into()
            }

            fn from_json(value: &Value) -> JsonResult<Self> {
                Self::read_from(value)
            }
        })+
    };
}

/// Enums some of whose variants hold something: the others are words, and these are objects with one member.
macro_rules! variants {
    ($($type:ident, $name:literal:
        $($word:literal $plain:ident),+; $($key:literal $holding:ident),+;)+) => {
        $(impl JsonValue for $type {
            fn to_json(&self) -> Value {
                match self {
                    $(Self::$plain => json!($word),)+
                    $(Self::$holding(held) => json!({ $key: held.to_json() }),)+
                }
            }

            fn from_json(value: &Value) -> JsonResult<Self> {
                match value.as_str() {
                    $(Some($word) => return Ok(Self::$plain),)+
                    _ => {}
                }
                $(if value.get($key).is_some() {
                    return read_member(value, $key).map(Self::$holding);
                })+
                mismatch(format!("is {value}, which is no {}", $name))
            }
        })+
    };
}

/// Structs of one field, which are in JSON what that is.
macro_rules! wrappers {
    ($($type:ident),+) => {
        $(impl JsonValue for $type {
            fn to_json(&self) -> Value {
                self.0.to_json()
            }

            fn from_json(value: &Value) -> JsonResult<Self> {
                JsonValue::from_json(value).map(Self)
            }
        })+
    };
}

macro_rules! words {
    ($($type:ident),+) => {
        $(impl JsonValue for $type {
            fn to_json(&self) -> Value {
                self.as_str().into()
            }

            fn from_json(value: &Value) -> JsonResult<Self> {
                let word = string_value(value)?;
                let found = Self::of_word(word);
                found.map_or_else(|| mismatch(format!("is `{word}`, which is no {}", Self::TITLE)), Ok)
            }
        })+
    };
}

macro_rules! numbers {
    ($($type:ident),+) => {
        $(impl JsonValue for $type {
            fn to_json(&self) -> Value {
                (*self).into()
            }

            fn from_json(value: &Value) -> JsonResult<Self> {
                let number = value.as_number().and_then(serde_json::Number::as_i128);
                number.and_then(|it| it.try_into().ok()).map_or_else(
                    || mismatch(format!("is no whole number from {} to {}", Self::MIN, Self::MAX)),
                    Ok,
                )
            }
        })+
    };
}

macro_rules! events {
    ($($kind:ident),+) => {
        /// The event's fields as a JSON object.
        #[must_use]
        pub fn of_event(event: &Event) -> Value {
            match event {
                $(Event::$kind(event) => event.to_json(),)+
            }
        }

        /// The event of this kind with these fields.
        ///
        /// # Errors
        /// When a field is missing or isn't what it should be.
        pub(super) fn read_event(kind: EventKind, fields: &Value) -> JsonResult<Event> {
            Ok(match kind {
                $(EventKind::$kind => Event::$kind(JsonValue::from_json(fields)?),)+
            })
        }
    };
}

events! {
    RulesInForce, Content, PromptReceived, SideRequestReceived, ReplySegment, ReplyEnded,
    DiskObserved, DirectiveGiven, AuditAnswered, PromptMeasured, ReplyPart, PromptSent,
    ActionRequested, ToolRan, PolicyApproved, ArtifactCaptured, ArtifactResolved, Transitioned,
    PromotionRefused, AuditAsked, NoticeIssued, PromptAmended, PromptComposed, ActionJudged,
    CapabilityChanged
}

objects! {
    RulesInForce { program, rules, grammars, patterns, policy }
    Policy {
        workspace_root, profile, thresholds among_them, audit, history, placement, budget_tokens,
        // An event of the first layout, which can't hold it, was exported without it.
        tombstone_episodes unless TOMBSTONE_EPISODES_DEFAULT
    }
    Thresholds { nodes_percent, tokens_percent, correlation_percent, rename_percent }
    PromptReceived {
        episode, session, session_name, fork, transcript, length, model, system, messages, older,
        tools
    }
    Fork { session, messages }
    MessageRef { role, key, content }
    SideRequestReceived { episode, model, messages, transcript }
    ReplySegment { episode, content }
    ReplyPart { episode, kind, choice, content, left_out_bytes }
    ReplyEnded { episode, outcome, finish_reason, key, segments, tool_calls }
    ToolCallRef { name, arguments }
    DiskObserved { path, finding }
    DiskFile { whole, slices, definitions, grammar }
    DiskSlice { symbol, slice }
    GrammarTag { language, version }
    DirectiveGiven { episode, verb, target }
    AuditAsked { episode, about }
    Audited { version, entity }
    AuditAnswered { episode, outcome, answer, verdicts }
    AuditVerdict { version, entity, status }
    PromptSent { episode, frame, base, messages }
    PromptBase { episode, messages }
    PromptMeasured { episode, client, sent, server }
    PromptCost { chars_total, chars_anew }
    ServerUsage { prompt_tokens, cached_tokens, evaluated_tokens }
    ArtifactCaptured {
        capture, episode, origin, artifact, within, format, edit, language, evidence, path,
        completeness
    }
    Within { container, start, end }
    EditRef { texts, bases }
    ArtifactResolved { capture, level, reason, grammar, patterns, extent, versions }
    Version { id, entity, slice, spans, figures among_them }
    Span { start, end }
    Figures { nodes, tokens }
    EntityId { path, symbol }
    Transitioned { episode, version, entity, transition, origin, cause, report }
    GateReport { verdicts, conclusion, passed }
    Verdict { rule, met, seen, needed }
    PromotionRefused { episode, version, entity, rename_of, report }
    NoticeIssued { episode, session, reason, entity, other }
    PromptAmended { episode, injected, withheld }
    Injected { message, position, side, text }
    Withheld { entity, slice, position }
    PromptComposed { episode, history, hydrated, dropped, notices, budget_tokens }
    Hydrated { entity, version, reason, tokens }
    Dropped { entity, reason }
    CallId { episode, number }
    ActionRequested {
        call among_them, session, door, round, text, flaw, commands, mode, scope, links
    }
    RequestedCommand { join, words }
    LinkSeen { path, leads_to }
    ActionJudged {
        call among_them, class, decision, denials, timeout_seconds, rule, policy
    }
    Denial { command, step, code, why }
    ToolRan {
        call among_them, outcome, output, redacted, bytes, duration_ms, cpu_ms, rss_bytes_max
    }
    PolicyApproved { profile_id, text }
    CapabilityChanged {
        session, change, capability, risk, scope_root, issued_at, expires_at, renewed_count,
        last_renewed_at
    }
}

variants! {
    ReplyOutcome, "outcome":
        "completed" Completed, "client_gone" ClientGone, "upstream_broken" UpstreamBroken,
        "upstream_unreachable" UpstreamUnreachable, "interrupted" Interrupted;
        "upstream_refused" UpstreamRefused;
    DiskFinding, "finding":
        "missing" Missing; "unreadable" Unreadable, "file" File;
    ToolOutcome, "end of a run":
        "timed_out" TimedOut, "stopped" Stopped, "interrupted" Interrupted;
        "exited" Exited, "signalled" Signalled, "limit" Limit, "not_started" NotStarted,
        "breach" Breach;
}

wrappers![Seq, EpisodeId, SessionId, CaptureId, VersionId, UnixMillis];
wrappers![
    ArtifactHash,
    SliceHash,
    MessageKey,
    TranscriptHash,
    ChainHash
];

words![
    Role,
    ContentKind,
    PartKind,
    ReadFailure,
    Origin,
    Level,
    Transition,
    Completeness
];
words![
    PathEvidence,
    Format,
    AuditStatus,
    AuditOutcome,
    Verb,
    GrantChange,
    Decision,
    Join,
    Extent
];
words![
    History,
    Tools,
    GateProfile,
    AuditChoice,
    HistoryChoice,
    Placement,
    Side
];
words![Class, Door, Capability, Risk, Mode, Step];

numbers![u8, u16, u32, u64, i32, i64];

impl JsonValue for Content {
    fn to_json(&self) -> Value {
        let Self { hash, kind, bytes } = self;
        let (form, text) = text_or_base64(bytes);
        json!({ "hash": hash.to_json(), "kind": kind.to_json(), form: text })
    }

    fn from_json(value: &Value) -> JsonResult<Self> {
        Ok(Self {
            hash: read_member(value, "hash")?,
            kind: read_member(value, "kind")?,
            bytes: member_bytes(value)?.into(),
        })
    }
}

impl JsonValue for Reason {
    fn to_json(&self) -> Value {
        self.code().into()
    }

    fn from_json(value: &Value) -> JsonResult<Self> {
        let code = string_value(value)?;
        Self::from_code(code).map_or_else(
            || mismatch(format!("is `{code}`, which is no reason known here")),
            Ok,
        )
    }
}

impl JsonValue for bool {
    fn to_json(&self) -> Value {
        (*self).into()
    }

    fn from_json(value: &Value) -> JsonResult<Self> {
        value
            .as_bool()
            .map_or_else(|| mismatch("is neither true nor false"), Ok)
    }
}

impl JsonValue for String {
    fn to_json(&self) -> Value {
        self.as_str().into()
    }

    fn from_json(value: &Value) -> JsonResult<Self> {
        string_value(value).map(str::to_owned)
    }
}

impl JsonValue for RelPath {
    fn to_json(&self) -> Value {
        self.as_str().into()
    }

    fn from_json(value: &Value) -> JsonResult<Self> {
        string_value(value).map(Self::from_normalised)
    }
}

impl JsonValue for Symbol {
    fn to_json(&self) -> Value {
        self.as_str().into()
    }

    fn from_json(value: &Value) -> JsonResult<Self> {
        string_value(value).map(Self::new)
    }
}

impl JsonValue for [u8; 32] {
    fn to_json(&self) -> Value {
        blake3::Hash::from_bytes(*self).to_string().into()
    }

    fn from_json(value: &Value) -> JsonResult<Self> {
        match blake3::Hash::from_hex(string_value(value)?) {
            Ok(hash) => Ok(hash.into()),
            Err(_) => mismatch("is no hash of 64 hexadecimal digits"),
        }
    }
}

impl<T: JsonValue> JsonValue for Option<T> {
    fn to_json(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_json)
    }

    fn from_json(value: &Value) -> JsonResult<Self> {
        match value {
            Value::Null => Ok(None),
            held => T::from_json(held).map(Some),
        }
    }
}

impl<T: JsonValue> JsonValue for Vec<T> {
    fn to_json(&self) -> Value {
        self.iter().map(T::to_json).collect()
    }

    fn from_json(value: &Value) -> JsonResult<Self> {
        match value.as_array() {
            Some(items) => items.iter().map(T::from_json).collect(),
            None => mismatch("is no list"),
        }
    }
}

fn string_value(value: &Value) -> JsonResult<&str> {
    value.as_str().map_or_else(|| mismatch("is no text"), Ok)
}

/// Bytes as text where they are UTF-8, else as base64: the key says which.
#[must_use]
pub fn text_or_base64(bytes: &[u8]) -> (&'static str, String) {
    match str::from_utf8(bytes) {
        Ok(text) => ("text", text.to_owned()),
        Err(_) => ("base64", base64(bytes)),
    }
}

/// The bytes of an object that [`text_or_base64`] gave a member to.
pub(super) fn member_bytes(object: &Value) -> JsonResult<Vec<u8>> {
    if object.get("text").is_some() {
        return read_member(object, "text").map(String::into_bytes);
    }
    let encoded: String = read_member(object, "base64")?;
    bytes_of_base64(&encoded).ok_or_else(|| JsonMismatch {
        member: "base64",
        detail: "can't be decoded".to_owned(),
    })
}

/// Base64 with padding (RFC 4648, section 4).
#[must_use]
pub fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// Bytes out of base64 with padding.
#[must_use]
pub fn bytes_of_base64(text: &str) -> Option<Vec<u8>> {
    BASE64_STANDARD.decode(text).ok()
}
