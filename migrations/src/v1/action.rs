//! Version 1 of the events of tools: the layouts and the conversions in both directions.

use rkyv::with::{InlineAsBox, Map};
use rkyv::{Archive, Serialize};
use tslp_core::event::{self, Event};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, SessionId, UnixMillis};

use super::Hash;
use super::codes::Code;
use super::load::{Load, load_code, load_list, load_text};
use crate::decode::InvalidValue;

#[derive(Archive, Serialize)]
pub(crate) struct CallId {
    episode: u64,
    number: u32,
}

#[derive(Archive, Serialize)]
pub(crate) struct RequestedCommand<'a> {
    join: u8,
    #[rkyv(with = Map<InlineAsBox>)]
    words: Vec<&'a str>,
}

#[derive(Archive, Serialize)]
pub(crate) struct LinkSeen<'a> {
    #[rkyv(with = InlineAsBox)]
    path: &'a str,
    #[rkyv(with = InlineAsBox)]
    leads_to: &'a str,
}

#[derive(Archive, Serialize)]
pub(crate) struct ActionRequested<'a> {
    call: CallId,
    session: u64,
    door: u8,
    round: u32,
    text: Hash,
    #[rkyv(with = Map<InlineAsBox>)]
    flaw: Option<&'a str>,
    commands: Vec<RequestedCommand<'a>>,
    mode: u8,
    scope: Hash,
    links: Vec<LinkSeen<'a>>,
}

#[derive(Archive, Serialize)]
pub(crate) struct Denial<'a> {
    command: u32,
    step: u8,
    #[rkyv(with = InlineAsBox)]
    code: &'a str,
    #[rkyv(with = InlineAsBox)]
    why: &'a str,
}

#[derive(Archive, Serialize)]
pub(crate) struct ActionJudged<'a> {
    call: CallId,
    class: u8,
    decision: u8,
    denials: Vec<Denial<'a>>,
    timeout_seconds: Option<u64>,
    #[rkyv(with = Map<InlineAsBox>)]
    rule: Option<&'a str>,
    policy: Option<Hash>,
}

/// How a run ended: a number for the kind, with its status or its text, if it has one.
#[derive(Archive, Serialize)]
pub(crate) struct ToolOutcome<'a> {
    kind: u8,
    number: i32,
    #[rkyv(with = InlineAsBox)]
    words: &'a str,
}

#[derive(Archive, Serialize)]
pub(crate) struct ToolRan<'a> {
    call: CallId,
    outcome: ToolOutcome<'a>,
    output: Option<Hash>,
    redacted: bool,
    bytes: u64,
    duration_ms: u64,
    cpu_ms: u64,
    rss_bytes_max: u64,
}

#[derive(Archive, Serialize)]
pub(crate) struct PolicyApproved<'a> {
    #[rkyv(with = InlineAsBox)]
    profile_id: &'a str,
    text: Hash,
}

#[derive(Archive, Serialize)]
pub(crate) struct CapabilityChanged {
    session: u64,
    change: u8,
    capability: u8,
    risk: u8,
    scope_root: Hash,
    issued_at: i64,
    expires_at: i64,
    renewed_count: u32,
    last_renewed_at: Option<i64>,
}

impl From<event::CallId> for CallId {
    fn from(call: event::CallId) -> Self {
        Self {
            episode: call.episode.0,
            number: call.number,
        }
    }
}

impl ArchivedCallId {
    fn call_id(&self) -> event::CallId {
        event::CallId {
            episode: EpisodeId(self.episode.to_native()),
            number: self.number.to_native(),
        }
    }
}

impl<'a> From<&'a event::ActionRequested> for ActionRequested<'a> {
    fn from(requested: &'a event::ActionRequested) -> Self {
        let commands = requested.commands.iter().map(|command| RequestedCommand {
            join: command.join.code(),
            words: command.words.iter().map(String::as_str).collect(),
        });
        let links = requested.links.iter().map(|link| LinkSeen {
            path: &link.path,
            leads_to: &link.leads_to,
        });
        Self {
            call: requested.call.into(),
            session: requested.session.0,
            door: requested.door.code(),
            round: requested.round,
            text: requested.text.0,
            flaw: requested.flaw.as_deref(),
            commands: commands.collect(),
            mode: requested.mode.code(),
            scope: requested.scope.0,
            links: links.collect(),
        }
    }
}

impl Load for ArchivedRequestedCommand<'_> {
    type Core = event::RequestedCommand;

    fn load(&self) -> Result<event::RequestedCommand, InvalidValue> {
        Ok(event::RequestedCommand {
            join: load_code(self.join)?,
            words: self.words.iter().map(ToString::to_string).collect(),
        })
    }
}

impl Load for ArchivedLinkSeen<'_> {
    type Core = event::LinkSeen;

    fn load(&self) -> Result<event::LinkSeen, InvalidValue> {
        Ok(event::LinkSeen {
            path: self.path.to_string(),
            leads_to: self.leads_to.to_string(),
        })
    }
}

impl Load for ArchivedActionRequested<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::ActionRequested(event::ActionRequested {
            call: self.call.call_id(),
            session: SessionId(self.session.to_native()),
            door: load_code(self.door)?,
            round: self.round.to_native(),
            text: ArtifactHash(self.text),
            flaw: load_text(&self.flaw),
            commands: load_list(&self.commands)?,
            mode: load_code(self.mode)?,
            scope: ArtifactHash(self.scope),
            links: load_list(&self.links)?,
        }))
    }
}

impl<'a> From<&'a event::ActionJudged> for ActionJudged<'a> {
    fn from(judged: &'a event::ActionJudged) -> Self {
        let denials = judged.denials.iter().map(|denial| Denial {
            command: denial.command,
            step: denial.step.code(),
            code: &denial.code,
            why: &denial.why,
        });
        Self {
            call: judged.call.into(),
            class: judged.class.code(),
            decision: judged.decision.code(),
            denials: denials.collect(),
            timeout_seconds: judged.timeout_seconds,
            rule: judged.rule.as_deref(),
            policy: judged.policy.map(|policy| policy.0),
        }
    }
}

impl Load for ArchivedDenial<'_> {
    type Core = event::Denial;

    fn load(&self) -> Result<event::Denial, InvalidValue> {
        Ok(event::Denial {
            command: self.command.to_native(),
            step: load_code(self.step)?,
            code: self.code.to_string(),
            why: self.why.to_string(),
        })
    }
}

impl Load for ArchivedActionJudged<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        let seconds = self.timeout_seconds.as_ref();
        Ok(Event::ActionJudged(event::ActionJudged {
            call: self.call.call_id(),
            class: load_code(self.class)?,
            decision: load_code(self.decision)?,
            denials: load_list(&self.denials)?,
            timeout_seconds: seconds.map(|seconds| seconds.to_native()),
            rule: load_text(&self.rule),
            policy: self.policy.as_ref().copied().map(ArtifactHash),
        }))
    }
}

impl<'a> From<&'a event::ToolOutcome> for ToolOutcome<'a> {
    fn from(outcome: &'a event::ToolOutcome) -> Self {
        let (kind, number, words) = match outcome {
            event::ToolOutcome::Exited(status) => (1, *status, ""),
            event::ToolOutcome::Signalled(signal) => (2, *signal, ""),
            event::ToolOutcome::TimedOut => (3, 0, ""),
            event::ToolOutcome::Limit(what) => (4, 0, &**what),
            event::ToolOutcome::NotStarted(why) => (5, 0, &**why),
            event::ToolOutcome::Breach(what) => (6, 0, &**what),
            event::ToolOutcome::Stopped => (7, 0, ""),
            event::ToolOutcome::Interrupted => (8, 0, ""),
        };
        Self {
            kind,
            number,
            words,
        }
    }
}

impl Load for ArchivedToolOutcome<'_> {
    type Core = event::ToolOutcome;

    fn load(&self) -> Result<event::ToolOutcome, InvalidValue> {
        let (number, words) = (self.number.to_native(), || self.words.to_string());
        Ok(match self.kind {
            1 => event::ToolOutcome::Exited(number),
            2 => event::ToolOutcome::Signalled(number),
            3 => event::ToolOutcome::TimedOut,
            4 => event::ToolOutcome::Limit(words()),
            5 => event::ToolOutcome::NotStarted(words()),
            6 => event::ToolOutcome::Breach(words()),
            7 => event::ToolOutcome::Stopped,
            8 => event::ToolOutcome::Interrupted,
            other => {
                return Err(InvalidValue::Code {
                    what: "end of a run",
                    code: other.into(),
                });
            }
        })
    }
}

impl<'a> From<&'a event::ToolRan> for ToolRan<'a> {
    fn from(ran: &'a event::ToolRan) -> Self {
        Self {
            call: ran.call.into(),
            outcome: (&ran.outcome).into(),
            output: ran.output.map(|output| output.0),
            redacted: ran.redacted,
            bytes: ran.bytes,
            duration_ms: ran.duration_ms,
            cpu_ms: ran.cpu_ms,
            rss_bytes_max: ran.rss_bytes_max,
        }
    }
}

impl Load for ArchivedToolRan<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::ToolRan(event::ToolRan {
            call: self.call.call_id(),
            outcome: self.outcome.load()?,
            output: self.output.as_ref().copied().map(ArtifactHash),
            redacted: self.redacted,
            bytes: self.bytes.to_native(),
            duration_ms: self.duration_ms.to_native(),
            cpu_ms: self.cpu_ms.to_native(),
            rss_bytes_max: self.rss_bytes_max.to_native(),
        }))
    }
}

impl<'a> From<&'a event::PolicyApproved> for PolicyApproved<'a> {
    fn from(approved: &'a event::PolicyApproved) -> Self {
        Self {
            profile_id: &approved.profile_id,
            text: approved.text.0,
        }
    }
}

impl Load for ArchivedPolicyApproved<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        Ok(Event::PolicyApproved(event::PolicyApproved {
            profile_id: self.profile_id.to_string(),
            text: ArtifactHash(self.text),
        }))
    }
}

impl From<&event::CapabilityChanged> for CapabilityChanged {
    fn from(changed: &event::CapabilityChanged) -> Self {
        Self {
            session: changed.session.0,
            change: changed.change.code(),
            capability: changed.capability.code(),
            risk: changed.risk.code(),
            scope_root: changed.scope_root.0,
            issued_at: changed.issued_at.0,
            expires_at: changed.expires_at.0,
            renewed_count: changed.renewed_count,
            last_renewed_at: changed.last_renewed_at.map(|at| at.0),
        }
    }
}

impl Load for ArchivedCapabilityChanged {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        let renewed_at = self.last_renewed_at.as_ref();
        Ok(Event::CapabilityChanged(event::CapabilityChanged {
            session: SessionId(self.session.to_native()),
            change: load_code(self.change)?,
            capability: load_code(self.capability)?,
            risk: load_code(self.risk)?,
            scope_root: ArtifactHash(self.scope_root),
            issued_at: UnixMillis(self.issued_at.to_native()),
            expires_at: UnixMillis(self.expires_at.to_native()),
            renewed_count: self.renewed_count.to_native(),
            last_renewed_at: renewed_at.map(|at| UnixMillis(at.to_native())),
        }))
    }
}
