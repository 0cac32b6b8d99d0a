//! From an event to readable JSON. Every field of every kind is named, so that a new one can't be left out.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
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
use tslp_core::limits::TOMBSTONE_EPISODES_DEFAULT;
use tslp_core::policy::Policy;
use tslp_core::slice::{Figures, Span};

use super::action_json;
use super::words::Word;

/// The event's fields as a JSON object.
#[must_use]
pub fn event(event: &Event) -> Value {
    match event {
        Event::RulesInForce(event) => rules_in_force(event),
        Event::Content(event) => content(event),
        Event::PromptReceived(event) => prompt_received(event),
        Event::ReplySegment(ReplySegment { episode, content }) => {
            json!({ "episode": episode.0, "content": hex(&content.0) })
        }
        Event::ReplyEnded(event) => reply_ended(event),
        Event::DiskObserved(DiskObserved { path, finding }) => {
            json!({ "path": path.as_str(), "finding": self::finding(finding) })
        }
        Event::DirectiveGiven(DirectiveGiven {
            episode,
            verb,
            target,
        }) => json!({ "episode": episode.0, "verb": verb.word(), "target": target }),
        Event::AuditAsked(AuditAsked { episode, about }) => {
            json!({ "episode": episode.0, "about": list(about, audited) })
        }
        Event::AuditAnswered(AuditAnswered {
            episode,
            outcome,
            answer,
            verdicts,
        }) => json!({
            "episode": episode.0,
            "outcome": outcome.word(),
            "answer": answer.map(|hash| hex(&hash.0)),
            "verdicts": list(verdicts, audit_verdict),
        }),
        Event::ReplyPart(ReplyPart {
            episode,
            kind,
            choice,
            content,
            left_out_bytes,
        }) => json!({
            "episode": episode.0,
            "kind": kind.word(),
            "choice": choice,
            "content": hex(&content.0),
            "left_out_bytes": left_out_bytes,
        }),
        Event::PromptSent(PromptSent {
            episode,
            frame,
            base,
            messages,
        }) => json!({
            "episode": episode.0,
            "frame": hex(&frame.0),
            "base": base.map(|PromptBase { episode, messages }| {
                json!({ "episode": episode.0, "messages": messages })
            }),
            "messages": list(messages, |hash| hex(&hash.0).into()),
        }),
        Event::PromptMeasured(PromptMeasured {
            episode,
            client,
            sent,
            server,
        }) => json!({
            "episode": episode.0,
            "client": prompt_cost(client),
            "sent": prompt_cost(sent),
            "server": server.as_ref().map(server_usage),
        }),
        Event::ArtifactCaptured(event) => artifact_captured(event),
        Event::ArtifactResolved(event) => artifact_resolved(event),
        Event::Transitioned(event) => transitioned(event),
        Event::PromotionRefused(PromotionRefused {
            episode,
            version,
            entity,
            rename_of,
            report,
        }) => json!({
            "episode": episode.0,
            "version": version.0,
            "entity": self::entity(entity),
            "rename_of": rename_of.as_ref().map(self::entity),
            "report": self::report(report),
        }),
        Event::NoticeIssued(NoticeIssued {
            episode,
            session,
            reason,
            entity,
            other,
        }) => json!({
            "episode": episode.0,
            "session": session.0,
            "reason": reason.code(),
            "entity": entity.as_ref().map(self::entity),
            "other": other.as_ref().map(self::entity),
        }),
        Event::SideRequestReceived(SideRequestReceived {
            episode,
            model,
            messages,
            transcript,
        }) => json!({
            "episode": episode.0,
            "model": model,
            "messages": messages,
            "transcript": hex(&transcript.0),
        }),
        Event::PromptAmended(PromptAmended {
            episode,
            injected,
            withheld,
        }) => json!({
            "episode": episode.0,
            "injected": injected.as_ref().map(|Injected { message, position, side, text }| json!({
                "message": hex(&message.0),
                "position": position,
                "side": side.word(),
                "text": hex(&text.0),
            })),
            "withheld": list(withheld, |Withheld { entity, slice, position }| json!({
                "entity": self::entity(entity),
                "slice": hex(&slice.0),
                "position": position,
            })),
        }),
        Event::PromptComposed(event) => prompt_composed(event),
        Event::ActionRequested(_)
        | Event::ActionJudged(_)
        | Event::ToolRan(_)
        | Event::PolicyApproved(_)
        | Event::CapabilityChanged(_) => action_json::to_json(event),
    }
}

/// Lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| {
            [
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ]
        })
        .map(char::from)
        .collect()
}

/// Bytes as text where they are UTF-8, else as base64: the key says which.
#[must_use]
pub fn text_or_base64(bytes: &[u8]) -> (&'static str, String) {
    match str::from_utf8(bytes) {
        Ok(text) => ("text", text.to_owned()),
        Err(_) => ("base64", base64(bytes)),
    }
}

/// Base64 with padding (RFC 4648, section 4).
#[must_use]
pub fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

fn list<T>(items: &[T], form: impl Fn(&T) -> Value) -> Vec<Value> {
    items.iter().map(form).collect()
}

fn rules_in_force(event: &RulesInForce) -> Value {
    let RulesInForce {
        program,
        rules,
        grammars,
        patterns,
        policy,
    } = event;
    json!({
        "program": program,
        "rules": rules,
        "grammars": list(grammars, grammar),
        "patterns": hex(&patterns.0),
        "policy": self::policy(policy),
    })
}

fn policy(policy: &Policy) -> Value {
    let Policy {
        workspace_root,
        profile,
        thresholds:
            Thresholds {
                nodes_percent,
                tokens_percent,
                correlation_percent,
                rename_percent,
            },
        audit,
        history,
        placement,
        budget_tokens,
        tombstone_episodes,
    } = policy;
    let mut json = json!({
        "workspace_root": workspace_root,
        "profile": profile.word(),
        "nodes_percent": nodes_percent,
        "tokens_percent": tokens_percent,
        "correlation_percent": correlation_percent,
        "rename_percent": rename_percent,
        "audit": audit.word(),
        "history": history.word(),
        "placement": placement.word(),
        "budget_tokens": budget_tokens,
    });
    // Only what the first layout can't hold, so that the export of an old event stays as it was.
    if *tombstone_episodes != TOMBSTONE_EPISODES_DEFAULT {
        json["tombstone_episodes"] = (*tombstone_episodes).into();
    }
    json
}

fn prompt_cost(cost: &PromptCost) -> Value {
    let PromptCost {
        chars_total,
        chars_anew,
    } = cost;
    json!({ "chars_total": chars_total, "chars_anew": chars_anew })
}

fn server_usage(usage: &ServerUsage) -> Value {
    let ServerUsage {
        prompt_tokens,
        cached_tokens,
        evaluated_tokens,
    } = usage;
    json!({
        "prompt_tokens": prompt_tokens,
        "cached_tokens": cached_tokens,
        "evaluated_tokens": evaluated_tokens,
    })
}

fn content(event: &Content) -> Value {
    let Content { hash, kind, bytes } = event;
    let (form, text) = text_or_base64(bytes);
    json!({ "hash": hex(&hash.0), "kind": kind.word(), form: text })
}

fn prompt_received(event: &PromptReceived) -> Value {
    let PromptReceived {
        episode,
        session,
        session_name,
        fork,
        transcript,
        length,
        model,
        system,
        messages,
        older,
        tools,
    } = event;
    let fork = fork
        .map(|Fork { session, messages }| json!({ "session": session.0, "messages": messages }));
    json!({
        "episode": episode.0,
        "session": session.0,
        "session_name": session_name,
        "fork": fork,
        "transcript": hex(&transcript.0),
        "length": length,
        "model": model,
        "system": system.map(|hash| hex(&hash.0)),
        "messages": list(messages, |MessageRef { role, key, content }| {
            json!({ "role": role.word(), "key": hex(&key.0), "content": hex(&content.0) })
        }),
        "older": older,
        "tools": tools.word(),
    })
}

fn reply_ended(event: &ReplyEnded) -> Value {
    let ReplyEnded {
        episode,
        outcome,
        finish_reason,
        key,
        segments,
        tool_calls,
    } = event;
    json!({
        "episode": episode.0,
        "outcome": reply_outcome(*outcome),
        "finish_reason": finish_reason,
        "key": hex(&key.0),
        "segments": list(segments, |hash| hex(&hash.0).into()),
        "tool_calls": list(tool_calls, |ToolCallRef { name, arguments }| {
            json!({ "name": name, "arguments": hex(&arguments.0) })
        }),
    })
}

fn reply_outcome(outcome: ReplyOutcome) -> Value {
    match outcome {
        ReplyOutcome::Completed => json!("completed"),
        ReplyOutcome::ClientGone => json!("client_gone"),
        ReplyOutcome::UpstreamBroken => json!("upstream_broken"),
        ReplyOutcome::UpstreamRefused(status) => json!({ "upstream_refused": status }),
        ReplyOutcome::UpstreamUnreachable => json!("upstream_unreachable"),
        ReplyOutcome::Interrupted => json!("interrupted"),
    }
}

fn finding(finding: &DiskFinding) -> Value {
    match finding {
        DiskFinding::Missing => json!("missing"),
        DiskFinding::Unreadable(failure) => json!({ "unreadable": failure.word() }),
        DiskFinding::File(DiskFile {
            whole,
            slices,
            definitions,
            grammar,
        }) => json!({ "file": {
            "whole": hex(&whole.0),
            "slices": list(slices, |DiskSlice { symbol, slice }| {
                json!({ "symbol": symbol.as_str(), "slice": slice.map(|hash| hex(&hash.0)) })
            }),
            "definitions": definitions,
            "grammar": grammar.as_ref().map(self::grammar),
        }}),
    }
}

fn grammar(tag: &GrammarTag) -> Value {
    let GrammarTag { language, version } = tag;
    json!({ "language": language, "version": version })
}

fn artifact_captured(event: &ArtifactCaptured) -> Value {
    let ArtifactCaptured {
        capture,
        episode,
        origin,
        artifact,
        within,
        format,
        edit,
        language,
        evidence,
        path,
        completeness,
    } = event;
    let within = within.map(
        |Within {
             container,
             start,
             end,
         }| json!({ "container": hex(&container.0), "start": start, "end": end }),
    );
    let edit = edit.as_ref().map(|EditRef { texts, bases }| {
        json!({
            "texts": list(texts, |hash| hex(&hash.0).into()),
            "bases": list(bases, |version| version.0.into()),
        })
    });
    json!({
        "capture": capture.0,
        "episode": episode.0,
        "origin": origin.word(),
        "artifact": hex(&artifact.0),
        "within": within,
        "format": format.word(),
        "edit": edit,
        "language": language,
        "evidence": evidence.word(),
        "path": path.as_ref().map(|path| path.as_str()),
        "completeness": completeness.word(),
    })
}

fn artifact_resolved(event: &ArtifactResolved) -> Value {
    let ArtifactResolved {
        capture,
        level,
        reason,
        grammar,
        patterns,
        extent,
        versions,
    } = event;
    json!({
        "capture": capture.0,
        "level": level.word(),
        "reason": reason.code(),
        "grammar": grammar.as_ref().map(self::grammar),
        "patterns": hex(&patterns.0),
        "extent": extent.word(),
        "versions": list(versions, version),
    })
}

fn version(version: &Version) -> Value {
    let Version {
        id,
        entity,
        slice,
        spans,
        figures: Figures { nodes, tokens },
    } = version;
    json!({
        "id": id.0,
        "entity": self::entity(entity),
        "slice": hex(&slice.0),
        "spans": list(spans, |Span { start, end }| json!({ "start": start, "end": end })),
        "nodes": nodes,
        "tokens": tokens,
    })
}

fn transitioned(event: &Transitioned) -> Value {
    let Transitioned {
        episode,
        version,
        entity,
        transition,
        origin,
        cause,
        report,
    } = event;
    json!({
        "episode": episode.0,
        "version": version.0,
        "entity": self::entity(entity),
        "transition": transition.word(),
        "origin": origin.word(),
        "cause": cause.code(),
        "report": report.as_ref().map(self::report),
    })
}

fn report(report: &GateReport) -> Value {
    let GateReport {
        verdicts,
        conclusion,
        passed,
    } = report;
    json!({
        "verdicts": list(verdicts, |Verdict { rule, met, seen, needed }| {
            json!({ "rule": rule.code(), "met": met, "seen": seen, "needed": needed })
        }),
        "conclusion": conclusion.map(|reason| reason.code()),
        "passed": passed,
    })
}

fn entity(entity: &EntityId) -> Value {
    let EntityId { path, symbol } = entity;
    json!({ "path": path.as_str(), "symbol": symbol.as_ref().map(Symbol::as_str) })
}

fn audited(audited: &Audited) -> Value {
    let Audited { version, entity } = audited;
    json!({ "version": version.0, "entity": self::entity(entity) })
}

fn audit_verdict(verdict: &AuditVerdict) -> Value {
    let AuditVerdict {
        version,
        entity,
        status,
    } = verdict;
    json!({ "version": version.0, "entity": self::entity(entity), "status": status.word() })
}

fn prompt_composed(event: &PromptComposed) -> Value {
    let PromptComposed {
        episode,
        history,
        hydrated,
        dropped,
        notices,
        budget_tokens,
    } = event;
    json!({
        "episode": episode.0,
        "history": history.word(),
        "hydrated": list(hydrated, |Hydrated { entity, version, reason, tokens }| json!({
            "entity": self::entity(entity),
            "version": version.0,
            "reason": reason.code(),
            "tokens": tokens,
        })),
        "dropped": list(dropped, |Dropped { entity, reason }| {
            json!({ "entity": self::entity(entity), "reason": reason.code() })
        }),
        "notices": notices,
        "budget_tokens": budget_tokens,
    })
}
