//! Events of tools as readable JSON and back. Every field is named, so that a new one can't be left out.

use serde_json::{Value, json};
use tslp_core::event::{
    ActionJudged, ActionRequested, CallId, CapabilityChanged, Denial, Event, LinkSeen,
    PolicyApproved, RequestedCommand, ToolOutcome, ToolRan,
};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, SessionId, UnixMillis};

use super::from_json::{
    Read, artifact, field, flag, hash, list, number, optional, signed, small, string, text, word,
    wrong,
};
use super::kind::EventKind;
use super::to_json::hex;
use super::words::Word;

/// The fields of an event of tools.
///
/// # Panics
/// When the event is of another kind.
pub(super) fn to_json(event: &Event) -> Value {
    match event {
        Event::ActionRequested(ActionRequested {
            call,
            session,
            door,
            round,
            text,
            flaw,
            commands,
            mode,
            scope,
            links,
        }) => {
            let commands = commands.iter().map(
                |RequestedCommand { join, words }| json!({ "join": join.word(), "words": words }),
            );
            let links = links
                .iter()
                .map(|LinkSeen { path, leads_to }| json!({ "path": path, "leads_to": leads_to }));
            json!({
                "episode": call.episode.0,
                "number": call.number,
                "session": session.0,
                "door": door.word(),
                "round": round,
                "text": hex(&text.0),
                "flaw": flaw,
                "commands": commands.collect::<Vec<_>>(),
                "mode": mode.word(),
                "scope": hex(&scope.0),
                "links": links.collect::<Vec<_>>(),
            })
        }
        Event::ActionJudged(ActionJudged {
            call,
            class,
            decision,
            denials,
            timeout_seconds,
            rule,
            policy,
        }) => {
            let denials = denials.iter().map(
                |Denial {
                     command,
                     step,
                     code,
                     why,
                 }| {
                    json!({ "command": command, "step": step.word(), "code": code, "why": why })
                },
            );
            json!({
                "episode": call.episode.0,
                "number": call.number,
                "class": class.word(),
                "decision": decision.word(),
                "denials": denials.collect::<Vec<_>>(),
                "timeout_seconds": timeout_seconds,
                "rule": rule,
                "policy": policy.map(|policy| hex(&policy.0)),
            })
        }
        Event::ToolRan(ToolRan {
            call,
            outcome,
            output,
            redacted,
            bytes,
            duration_ms,
            cpu_ms,
            rss_bytes_max,
        }) => json!({
            "episode": call.episode.0,
            "number": call.number,
            "outcome": outcome_json(outcome),
            "output": output.map(|output| hex(&output.0)),
            "redacted": redacted,
            "bytes": bytes,
            "duration_ms": duration_ms,
            "cpu_ms": cpu_ms,
            "rss_bytes_max": rss_bytes_max,
        }),
        Event::PolicyApproved(PolicyApproved { profile_id, text }) => {
            json!({ "profile_id": profile_id, "text": hex(&text.0) })
        }
        Event::CapabilityChanged(CapabilityChanged {
            session,
            change,
            capability,
            risk,
            scope_root,
            issued_at,
            expires_at,
            renewed_count,
            last_renewed_at,
        }) => json!({
            "session": session.0,
            "change": change.word(),
            "capability": capability.word(),
            "risk": risk.word(),
            "scope_root": hex(&scope_root.0),
            "issued_at": issued_at.0,
            "expires_at": expires_at.0,
            "renewed_count": renewed_count,
            "last_renewed_at": last_renewed_at.map(|at| at.0),
        }),
        other => unreachable!("{} is no event of tools", other.name()),
    }
}

fn outcome_json(outcome: &ToolOutcome) -> Value {
    match outcome {
        ToolOutcome::Exited(status) => json!({ "exited": status }),
        ToolOutcome::Signalled(signal) => json!({ "signalled": signal }),
        ToolOutcome::TimedOut => json!("timed_out"),
        ToolOutcome::Limit(what) => json!({ "limit": what }),
        ToolOutcome::NotStarted(why) => json!({ "not_started": why }),
        ToolOutcome::Breach(what) => json!({ "breach": what }),
        ToolOutcome::Stopped => json!("stopped"),
        ToolOutcome::Interrupted => json!("interrupted"),
    }
}

/// The event of tools with these fields.
///
/// # Errors
/// When a field is missing or isn't what it should be.
///
/// # Panics
/// When the kind is another one.
pub(super) fn from_json(kind: EventKind, v: &Value) -> Read<Event> {
    Ok(match kind {
        EventKind::ActionRequested => Event::ActionRequested(ActionRequested {
            call: call(v)?,
            session: SessionId(number(v, "session")?),
            door: word(v, "door")?,
            round: small(v, "round")?,
            text: ArtifactHash(hash(v, "text")?),
            flaw: optional(v, "flaw", string)?,
            commands: list(v, "commands", |command| {
                Ok(RequestedCommand {
                    join: word(command, "join")?,
                    words: list(command, "words", string)?,
                })
            })?,
            mode: word(v, "mode")?,
            scope: ArtifactHash(hash(v, "scope")?),
            links: list(v, "links", |link| {
                Ok(LinkSeen {
                    path: text(link, "path")?.to_owned(),
                    leads_to: text(link, "leads_to")?.to_owned(),
                })
            })?,
        }),
        EventKind::ActionJudged => Event::ActionJudged(ActionJudged {
            call: call(v)?,
            class: word(v, "class")?,
            decision: word(v, "decision")?,
            denials: list(v, "denials", |denial| {
                Ok(Denial {
                    command: small(denial, "command")?,
                    step: word(denial, "step")?,
                    code: text(denial, "code")?.to_owned(),
                    why: text(denial, "why")?.to_owned(),
                })
            })?,
            timeout_seconds: optional(v, "timeout_seconds", |_| number(v, "timeout_seconds"))?,
            rule: optional(v, "rule", string)?,
            policy: optional(v, "policy", artifact)?,
        }),
        EventKind::ToolRan => Event::ToolRan(ToolRan {
            call: call(v)?,
            outcome: outcome(field(v, "outcome")?)?,
            output: optional(v, "output", artifact)?,
            redacted: flag(v, "redacted")?,
            bytes: number(v, "bytes")?,
            duration_ms: number(v, "duration_ms")?,
            cpu_ms: number(v, "cpu_ms")?,
            rss_bytes_max: number(v, "rss_bytes_max")?,
        }),
        EventKind::PolicyApproved => Event::PolicyApproved(PolicyApproved {
            profile_id: text(v, "profile_id")?.to_owned(),
            text: ArtifactHash(hash(v, "text")?),
        }),
        EventKind::CapabilityChanged => Event::CapabilityChanged(CapabilityChanged {
            session: SessionId(number(v, "session")?),
            change: word(v, "change")?,
            capability: word(v, "capability")?,
            risk: word(v, "risk")?,
            scope_root: ArtifactHash(hash(v, "scope_root")?),
            issued_at: UnixMillis(signed(v, "issued_at")?),
            expires_at: UnixMillis(signed(v, "expires_at")?),
            renewed_count: small(v, "renewed_count")?,
            last_renewed_at: optional(v, "last_renewed_at", |_| {
                signed(v, "last_renewed_at").map(UnixMillis)
            })?,
        }),
        other => unreachable!("{} is no event of tools", other.name()),
    })
}

fn call(v: &Value) -> Read<CallId> {
    Ok(CallId {
        episode: EpisodeId(number(v, "episode")?),
        number: small(v, "number")?,
    })
}

fn outcome(value: &Value) -> Read<ToolOutcome> {
    let status = |name| {
        let number = signed(value, name)?;
        i32::try_from(number).map_err(|_| wrong(name, "is no number of 32 bits"))
    };
    let words = |name| text(value, name).map(str::to_owned);
    let only = value.as_object().and_then(|fields| fields.keys().next());
    match (value.as_str(), only.map(String::as_str)) {
        (Some("timed_out"), _) => Ok(ToolOutcome::TimedOut),
        (Some("stopped"), _) => Ok(ToolOutcome::Stopped),
        (Some("interrupted"), _) => Ok(ToolOutcome::Interrupted),
        (_, Some("exited")) => status("exited").map(ToolOutcome::Exited),
        (_, Some("signalled")) => status("signalled").map(ToolOutcome::Signalled),
        (_, Some("limit")) => words("limit").map(ToolOutcome::Limit),
        (_, Some("not_started")) => words("not_started").map(ToolOutcome::NotStarted),
        (_, Some("breach")) => words("breach").map(ToolOutcome::Breach),
        _ => Err(wrong("outcome", format!("is {value}, which ends no run"))),
    }
}
