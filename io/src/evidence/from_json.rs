//! From exported JSON back to an event.
//!
//! Fields that no event has are let through here: an import prints every event again and compares the lines.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use tslp_core::artifact::Version;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{
    ArtifactCaptured, ArtifactResolved, AuditAnswered, AuditAsked, AuditVerdict, Audited, Content,
    DirectiveGiven, DiskFile, DiskFinding, DiskObserved, DiskSlice, Dropped, EditRef, Event, Fork,
    Hydrated, Injected, MessageRef, NoticeIssued, PromotionRefused, PromptAmended, PromptBase,
    PromptComposed, PromptCost, PromptMeasured, PromptReceived, PromptSent, ReplyEnded,
    ReplyOutcome, ReplyPart, ReplySegment, RulesInForce, ServerUsage, SideRequestReceived,
    ToolCallRef, Transitioned, Withheld, Within,
};
use tslp_core::extract::GrammarTag;
use tslp_core::gate::{GateReport, Thresholds, Verdict};
use tslp_core::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use tslp_core::ids::{CaptureId, EpisodeId, SessionId, VersionId};
use tslp_core::limits::TOMBSTONE_EPISODES_DEFAULT;
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::reason::Reason;
use tslp_core::slice::{Figures, Span};

use super::action_json;
use super::kind::EventKind;
use super::words::Word;

/// What can't be read, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {detail}")]
pub struct Unreadable {
    /// The field.
    pub field: &'static str,
    /// What is wrong with it.
    pub detail: String,
}

pub(super) type Read<T> = Result<T, Unreadable>;

/// The event of this kind with these fields.
///
/// # Errors
/// When a field is missing or isn't what it should be.
pub fn event(kind: EventKind, value: &Value) -> Read<Event> {
    let v = value;
    Ok(match kind {
        EventKind::Content => Event::Content(Content {
            hash: ArtifactHash(hash(v, "hash")?),
            kind: word(v, "kind")?,
            bytes: bytes(v)?.into(),
        }),
        EventKind::RulesInForce => Event::RulesInForce(RulesInForce {
            program: text(v, "program")?.to_owned(),
            rules: small(v, "rules")?,
            grammars: list(v, "grammars", grammar)?,
            patterns: ArtifactHash(hash(v, "patterns")?),
            policy: policy(field(v, "policy")?)?,
        }),
        EventKind::PromptReceived => Event::PromptReceived(prompt_received(v)?),
        EventKind::ReplySegment => Event::ReplySegment(ReplySegment {
            episode: EpisodeId(number(v, "episode")?),
            content: ArtifactHash(hash(v, "content")?),
        }),
        EventKind::ReplyEnded => Event::ReplyEnded(ReplyEnded {
            episode: EpisodeId(number(v, "episode")?),
            outcome: reply_outcome(field(v, "outcome")?)?,
            finish_reason: optional(v, "finish_reason", string)?,
            key: MessageKey(hash(v, "key")?),
            segments: list(v, "segments", artifact)?,
            tool_calls: list(v, "tool_calls", |call| {
                Ok(ToolCallRef {
                    name: text(call, "name")?.to_owned(),
                    arguments: ArtifactHash(hash(call, "arguments")?),
                })
            })?,
        }),
        EventKind::DiskObserved => Event::DiskObserved(DiskObserved {
            path: path(field(v, "path")?)?,
            finding: finding(field(v, "finding")?)?,
        }),
        EventKind::DirectiveGiven => Event::DirectiveGiven(DirectiveGiven {
            episode: EpisodeId(number(v, "episode")?),
            verb: word(v, "verb")?,
            target: text(v, "target")?.to_owned(),
        }),
        EventKind::AuditAsked => Event::AuditAsked(AuditAsked {
            episode: EpisodeId(number(v, "episode")?),
            about: list(v, "about", |audited| {
                Ok(Audited {
                    version: VersionId(number(audited, "version")?),
                    entity: entity(field(audited, "entity")?)?,
                })
            })?,
        }),
        EventKind::AuditAnswered => Event::AuditAnswered(AuditAnswered {
            episode: EpisodeId(number(v, "episode")?),
            outcome: word(v, "outcome")?,
            answer: optional(v, "answer", artifact)?,
            verdicts: list(v, "verdicts", |verdict| {
                Ok(AuditVerdict {
                    version: VersionId(number(verdict, "version")?),
                    entity: entity(field(verdict, "entity")?)?,
                    status: word(verdict, "status")?,
                })
            })?,
        }),
        EventKind::ReplyPart => Event::ReplyPart(ReplyPart {
            episode: EpisodeId(number(v, "episode")?),
            kind: word(v, "kind")?,
            choice: small(v, "choice")?,
            content: ArtifactHash(hash(v, "content")?),
            left_out_bytes: number(v, "left_out_bytes")?,
        }),
        EventKind::PromptSent => Event::PromptSent(PromptSent {
            episode: EpisodeId(number(v, "episode")?),
            frame: ArtifactHash(hash(v, "frame")?),
            base: optional(v, "base", |base| {
                Ok(PromptBase {
                    episode: EpisodeId(number(base, "episode")?),
                    messages: small(base, "messages")?,
                })
            })?,
            messages: list(v, "messages", artifact)?,
        }),
        EventKind::PromptMeasured => Event::PromptMeasured(PromptMeasured {
            episode: EpisodeId(number(v, "episode")?),
            client: prompt_cost(field(v, "client")?)?,
            sent: prompt_cost(field(v, "sent")?)?,
            server: optional(v, "server", server_usage)?,
        }),
        EventKind::ArtifactCaptured => Event::ArtifactCaptured(artifact_captured(v)?),
        EventKind::ArtifactResolved => Event::ArtifactResolved(ArtifactResolved {
            capture: CaptureId(number(v, "capture")?),
            level: word(v, "level")?,
            reason: reason(field(v, "reason")?)?,
            grammar: optional(v, "grammar", grammar)?,
            patterns: ArtifactHash(hash(v, "patterns")?),
            extent: word(v, "extent")?,
            versions: list(v, "versions", version)?,
        }),
        EventKind::Transitioned => Event::Transitioned(Transitioned {
            episode: EpisodeId(number(v, "episode")?),
            version: VersionId(number(v, "version")?),
            entity: entity(field(v, "entity")?)?,
            transition: word(v, "transition")?,
            origin: word(v, "origin")?,
            cause: reason(field(v, "cause")?)?,
            report: optional(v, "report", report)?,
        }),
        EventKind::PromotionRefused => Event::PromotionRefused(PromotionRefused {
            episode: EpisodeId(number(v, "episode")?),
            version: VersionId(number(v, "version")?),
            entity: entity(field(v, "entity")?)?,
            rename_of: optional(v, "rename_of", entity)?,
            report: report(field(v, "report")?)?,
        }),
        EventKind::NoticeIssued => Event::NoticeIssued(NoticeIssued {
            episode: EpisodeId(number(v, "episode")?),
            session: SessionId(number(v, "session")?),
            reason: reason(field(v, "reason")?)?,
            entity: optional(v, "entity", entity)?,
            other: optional(v, "other", entity)?,
        }),
        EventKind::ActionRequested
        | EventKind::ActionJudged
        | EventKind::ToolRan
        | EventKind::PolicyApproved
        | EventKind::CapabilityChanged => action_json::from_json(kind, v)?,
        EventKind::SideRequestReceived => Event::SideRequestReceived(SideRequestReceived {
            episode: EpisodeId(number(v, "episode")?),
            model: text(v, "model")?.to_owned(),
            messages: small(v, "messages")?,
            transcript: TranscriptHash(hash(v, "transcript")?),
        }),
        EventKind::PromptAmended => Event::PromptAmended(PromptAmended {
            episode: EpisodeId(number(v, "episode")?),
            injected: optional(v, "injected", |injected| {
                Ok(Injected {
                    message: MessageKey(hash(injected, "message")?),
                    position: small(injected, "position")?,
                    side: word(injected, "side")?,
                    text: ArtifactHash(hash(injected, "text")?),
                })
            })?,
            withheld: list(v, "withheld", |withheld| {
                Ok(Withheld {
                    entity: entity(field(withheld, "entity")?)?,
                    slice: SliceHash(hash(withheld, "slice")?),
                    position: small(withheld, "position")?,
                })
            })?,
        }),
        EventKind::PromptComposed => Event::PromptComposed(prompt_composed(v)?),
    })
}

/// Bytes out of hexadecimal digits.
#[must_use]
pub fn hash_of_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    let mut bytes = [0; 32];
    if digits.len() != 64 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let nibble = |digit: u8| char::from(digit).to_digit(16);
        let value = nibble(pair[0])? * 16 + nibble(pair[1])?;
        *byte = u8::try_from(value).ok()?;
    }
    Some(bytes)
}

/// Bytes out of base64 with padding.
#[must_use]
pub fn bytes_of_base64(text: &str) -> Option<Vec<u8>> {
    BASE64_STANDARD.decode(text).ok()
}

pub(super) fn wrong(field: &'static str, detail: impl Into<String>) -> Unreadable {
    Unreadable {
        field,
        detail: detail.into(),
    }
}

pub(super) fn field<'v>(value: &'v Value, name: &'static str) -> Read<&'v Value> {
    value.get(name).ok_or_else(|| wrong(name, "is missing"))
}

pub(super) fn text<'v>(value: &'v Value, name: &'static str) -> Read<&'v str> {
    let found = field(value, name)?;
    found.as_str().ok_or_else(|| wrong(name, "is no text"))
}

pub(super) fn number(value: &Value, name: &'static str) -> Read<u64> {
    let found = field(value, name)?;
    found
        .as_u64()
        .ok_or_else(|| wrong(name, "is no whole number from 0 to 2^64-1"))
}

pub(super) fn signed(value: &Value, name: &'static str) -> Read<i64> {
    let found = field(value, name)?;
    let found = found.as_i64();
    found.ok_or_else(|| wrong(name, "is no whole number of 64 bits"))
}

pub(super) fn hash(value: &Value, name: &'static str) -> Read<[u8; 32]> {
    hash_of_hex(text(value, name)?)
        .ok_or_else(|| wrong(name, "is no hash of 64 hexadecimal digits"))
}

pub(super) fn small(value: &Value, name: &'static str) -> Read<u32> {
    u32::try_from(number(value, name)?).map_err(|_| wrong(name, "is larger than 2^32-1"))
}

fn percent(value: &Value, name: &'static str) -> Read<u8> {
    u8::try_from(number(value, name)?).map_err(|_| wrong(name, "is larger than 255"))
}

pub(super) fn flag(value: &Value, name: &'static str) -> Read<bool> {
    let found = field(value, name)?;
    found
        .as_bool()
        .ok_or_else(|| wrong(name, "is neither true nor false"))
}

pub(super) fn word<T: Word>(value: &Value, name: &'static str) -> Read<T> {
    let word = text(value, name)?;
    T::from_word(word).ok_or_else(|| wrong(name, format!("is `{word}`, which is no {}", T::NAME)))
}

pub(super) fn list<T>(
    value: &Value,
    name: &'static str,
    item: impl Fn(&Value) -> Read<T>,
) -> Read<Vec<T>> {
    let found = field(value, name)?;
    let items = found.as_array().ok_or_else(|| wrong(name, "is no list"))?;
    items.iter().map(item).collect()
}

pub(super) fn optional<T>(
    value: &Value,
    name: &'static str,
    read: impl Fn(&Value) -> Read<T>,
) -> Read<Option<T>> {
    match field(value, name)? {
        Value::Null => Ok(None),
        found => read(found).map(Some),
    }
}

pub(super) fn string(value: &Value) -> Read<String> {
    value
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| wrong("text", "is no text"))
}

pub(super) fn artifact(value: &Value) -> Read<ArtifactHash> {
    value
        .as_str()
        .and_then(hash_of_hex)
        .map(ArtifactHash)
        .ok_or_else(|| wrong("hash", "is no hash of 64 hexadecimal digits"))
}

fn slice(value: &Value) -> Read<SliceHash> {
    artifact(value).map(|hash| SliceHash(hash.0))
}

fn reason(value: &Value) -> Read<Reason> {
    let code = value.as_str().unwrap_or_default();
    Reason::from_code(code).ok_or_else(|| {
        wrong(
            "reason",
            format!("is `{code}`, which is no reason known here"),
        )
    })
}

fn path(value: &Value) -> Read<RelPath> {
    let text = value.as_str().ok_or_else(|| wrong("path", "is no text"))?;
    Ok(RelPath::from_normalised(text))
}

fn entity(value: &Value) -> Read<EntityId> {
    Ok(EntityId {
        path: path(field(value, "path")?)?,
        symbol: optional(value, "symbol", |symbol| {
            string(symbol).map(|name| Symbol::new(&name))
        })?,
    })
}

fn bytes(value: &Value) -> Read<Vec<u8>> {
    if let Some(text) = value.get("text") {
        return string(text).map(String::into_bytes);
    }
    bytes_of_base64(text(value, "base64")?).ok_or_else(|| wrong("base64", "can't be decoded"))
}

fn policy(v: &Value) -> Read<Policy> {
    Ok(Policy {
        workspace_root: text(v, "workspace_root")?.to_owned(),
        profile: word(v, "profile")?,
        thresholds: Thresholds {
            nodes_percent: percent(v, "nodes_percent")?,
            tokens_percent: percent(v, "tokens_percent")?,
            correlation_percent: percent(v, "correlation_percent")?,
            rename_percent: percent(v, "rename_percent")?,
        },
        audit: word(v, "audit")?,
        history: word(v, "history")?,
        placement: word(v, "placement")?,
        budget_tokens: small(v, "budget_tokens")?,
        // It is left out where it is the number from before there was a setting.
        tombstone_episodes: match v.get("tombstone_episodes") {
            Some(_) => small(v, "tombstone_episodes")?,
            None => TOMBSTONE_EPISODES_DEFAULT,
        },
    })
}

fn prompt_received(v: &Value) -> Read<PromptReceived> {
    Ok(PromptReceived {
        episode: EpisodeId(number(v, "episode")?),
        session: SessionId(number(v, "session")?),
        session_name: optional(v, "session_name", string)?,
        fork: optional(v, "fork", |fork| {
            Ok(Fork {
                session: SessionId(number(fork, "session")?),
                messages: small(fork, "messages")?,
            })
        })?,
        transcript: TranscriptHash(hash(v, "transcript")?),
        length: small(v, "length")?,
        model: text(v, "model")?.to_owned(),
        system: optional(v, "system", artifact)?,
        messages: list(v, "messages", |message| {
            Ok(MessageRef {
                role: word(message, "role")?,
                key: MessageKey(hash(message, "key")?),
                content: ArtifactHash(hash(message, "content")?),
            })
        })?,
        older: small(v, "older")?,
        tools: word(v, "tools")?,
    })
}

fn prompt_cost(value: &Value) -> Read<PromptCost> {
    Ok(PromptCost {
        chars_total: small(value, "chars_total")?,
        chars_anew: small(value, "chars_anew")?,
    })
}

fn server_usage(value: &Value) -> Read<ServerUsage> {
    let figure = |name| match field(value, name)? {
        Value::Null => Ok(None),
        _ => small(value, name).map(Some),
    };
    Ok(ServerUsage {
        prompt_tokens: figure("prompt_tokens")?,
        cached_tokens: figure("cached_tokens")?,
        evaluated_tokens: figure("evaluated_tokens")?,
    })
}

fn reply_outcome(value: &Value) -> Read<ReplyOutcome> {
    if value.is_object() {
        let status = u16::try_from(number(value, "upstream_refused")?)
            .map_err(|_| wrong("upstream_refused", "is no HTTP status"))?;
        return Ok(ReplyOutcome::UpstreamRefused(status));
    }
    match value.as_str() {
        Some("completed") => Ok(ReplyOutcome::Completed),
        Some("client_gone") => Ok(ReplyOutcome::ClientGone),
        Some("upstream_broken") => Ok(ReplyOutcome::UpstreamBroken),
        Some("upstream_unreachable") => Ok(ReplyOutcome::UpstreamUnreachable),
        Some("interrupted") => Ok(ReplyOutcome::Interrupted),
        _ => Err(wrong("outcome", format!("is {value}, which is no outcome"))),
    }
}

fn finding(value: &Value) -> Read<DiskFinding> {
    if value.as_str() == Some("missing") {
        return Ok(DiskFinding::Missing);
    }
    if value.get("unreadable").is_some() {
        return word(value, "unreadable").map(DiskFinding::Unreadable);
    }
    let file = field(value, "file")?;
    Ok(DiskFinding::File(DiskFile {
        whole: SliceHash(hash(file, "whole")?),
        slices: list(file, "slices", |found| {
            Ok(DiskSlice {
                symbol: Symbol::new(text(found, "symbol")?),
                slice: optional(found, "slice", slice)?,
            })
        })?,
        definitions: small(file, "definitions")?,
        grammar: optional(file, "grammar", grammar)?,
    }))
}

fn grammar(value: &Value) -> Read<GrammarTag> {
    Ok(GrammarTag {
        language: text(value, "language")?.to_owned(),
        version: text(value, "version")?.to_owned(),
    })
}

fn artifact_captured(v: &Value) -> Read<ArtifactCaptured> {
    Ok(ArtifactCaptured {
        capture: CaptureId(number(v, "capture")?),
        episode: EpisodeId(number(v, "episode")?),
        origin: word(v, "origin")?,
        artifact: ArtifactHash(hash(v, "artifact")?),
        within: optional(v, "within", |within| {
            Ok(Within {
                container: ArtifactHash(hash(within, "container")?),
                start: small(within, "start")?,
                end: small(within, "end")?,
            })
        })?,
        format: word(v, "format")?,
        edit: optional(v, "edit", |edit| {
            Ok(EditRef {
                texts: list(edit, "texts", artifact)?,
                bases: list(edit, "bases", |base| {
                    let id = base
                        .as_u64()
                        .ok_or_else(|| wrong("bases", "holds no number"))?;
                    Ok(VersionId(id))
                })?,
            })
        })?,
        language: optional(v, "language", string)?,
        evidence: word(v, "evidence")?,
        path: optional(v, "path", path)?,
        completeness: word(v, "completeness")?,
    })
}

fn version(value: &Value) -> Read<Version> {
    Ok(Version {
        id: VersionId(number(value, "id")?),
        entity: entity(field(value, "entity")?)?,
        slice: SliceHash(hash(value, "slice")?),
        spans: list(value, "spans", |span| {
            Ok(Span {
                start: small(span, "start")?,
                end: small(span, "end")?,
            })
        })?,
        figures: Figures {
            nodes: small(value, "nodes")?,
            tokens: small(value, "tokens")?,
        },
    })
}

fn report(value: &Value) -> Read<GateReport> {
    Ok(GateReport {
        verdicts: list(value, "verdicts", |verdict| {
            Ok(Verdict {
                rule: reason(field(verdict, "rule")?)?,
                met: flag(verdict, "met")?,
                seen: number(verdict, "seen")?,
                needed: number(verdict, "needed")?,
            })
        })?,
        conclusion: optional(value, "conclusion", reason)?,
        passed: flag(value, "passed")?,
    })
}

fn prompt_composed(v: &Value) -> Read<PromptComposed> {
    Ok(PromptComposed {
        episode: EpisodeId(number(v, "episode")?),
        history: word(v, "history")?,
        hydrated: list(v, "hydrated", |shown| {
            Ok(Hydrated {
                entity: entity(field(shown, "entity")?)?,
                version: VersionId(number(shown, "version")?),
                reason: reason(field(shown, "reason")?)?,
                tokens: small(shown, "tokens")?,
            })
        })?,
        dropped: list(v, "dropped", |dropped| {
            Ok(Dropped {
                entity: entity(field(dropped, "entity")?)?,
                reason: reason(field(dropped, "reason")?)?,
            })
        })?,
        notices: small(v, "notices")?,
        budget_tokens: small(v, "budget_tokens")?,
    })
}
