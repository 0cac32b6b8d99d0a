//! Random events of tools without sense.

use arbitrary::{Result, Unstructured};
use tslp_core::event::{
    ActionJudged, ActionRequested, CallId, CapabilityChanged, Denial, DirectiveGiven, Event,
    GrantChange, LinkSeen, PolicyApproved, RequestedCommand, ToolOutcome, ToolRan, Verb,
};
use tslp_core::guardian::{Capability, Class, Decision, Door, Join, Mode, Risk, Step};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, SessionId, UnixMillis};

/// One event of tools, with numbers and hashes from a small stock.
///
/// # Errors
/// Never in practice.
pub fn tool_event(u: &mut Unstructured<'_>) -> Result<Event> {
    let call = CallId {
        episode: EpisodeId(u.int_in_range(0..=9)?),
        number: u.int_in_range(0..=4)?,
    };
    let hash = |u: &mut Unstructured<'_>| Ok(ArtifactHash([u.int_in_range(0..=5)?; 32]));
    Ok(match u.int_in_range(0..=5)? {
        0 => Event::ActionRequested(ActionRequested {
            call,
            session: SessionId(u.int_in_range(0..=5)?),
            door: *u.choose(Door::ALL)?,
            round: u.arbitrary()?,
            text: hash(u)?,
            flaw: u.arbitrary()?,
            commands: Vec::from([RequestedCommand {
                join: Join::First,
                words: u.arbitrary()?,
            }]),
            mode: *u.choose(Mode::ALL)?,
            scope: hash(u)?,
            links: Vec::from([LinkSeen {
                path: u.arbitrary()?,
                leads_to: u.arbitrary()?,
            }]),
        }),
        1 => Event::ActionJudged(ActionJudged {
            call,
            class: *u.choose(Class::ALL)?,
            decision: *u.choose(Decision::ALL)?,
            denials: Vec::from([Denial {
                command: u.arbitrary()?,
                step: *u.choose(Step::ALL)?,
                code: String::from(*u.choose(&["SCOPE-BREACH", "COMMAND-CLASS-VIOLATION"])?),
                why: u.arbitrary()?,
            }]),
            timeout_seconds: u.arbitrary()?,
            rule: u.arbitrary()?,
            policy: None,
        }),
        2 => Event::ToolRan(ToolRan {
            call,
            outcome: match u.int_in_range(0..=3)? {
                0 => ToolOutcome::Exited(u.arbitrary()?),
                1 => ToolOutcome::Breach(u.arbitrary()?),
                2 => ToolOutcome::Interrupted,
                _ => ToolOutcome::Stopped,
            },
            output: if u.arbitrary()? { Some(hash(u)?) } else { None },
            redacted: u.arbitrary()?,
            bytes: u.arbitrary()?,
            duration_ms: u.arbitrary()?,
            cpu_ms: u.arbitrary()?,
            rss_bytes_max: u.arbitrary()?,
        }),
        3 => Event::PolicyApproved(PolicyApproved {
            profile_id: u.arbitrary()?,
            text: hash(u)?,
        }),
        4 => Event::CapabilityChanged(CapabilityChanged {
            session: SessionId(u.int_in_range(0..=5)?),
            change: *u.choose(&[
                GrantChange::Granted,
                GrantChange::Renewed,
                GrantChange::Revoked,
            ])?,
            capability: *u.choose(Capability::ALL)?,
            risk: *u.choose(Risk::ALL)?,
            scope_root: hash(u)?,
            issued_at: UnixMillis(u.arbitrary()?),
            expires_at: UnixMillis(u.arbitrary()?),
            renewed_count: u.arbitrary()?,
            last_renewed_at: u.arbitrary::<Option<i64>>()?.map(UnixMillis),
        }),
        _ => Event::DirectiveGiven(DirectiveGiven {
            episode: EpisodeId::OUTSIDE,
            verb: *u.choose(&[Verb::Allow, Verb::Revoke, Verb::Stop, Verb::Resume])?,
            target: u.arbitrary()?,
        }),
    })
}
