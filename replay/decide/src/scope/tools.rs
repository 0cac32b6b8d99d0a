//! Tools: verdicts on their calls, halts, and the Operator's directives about them (spec §8.5).
//!
//! Nothing here reads or changes what is true of code.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use tslp_projections::state::StateView;

use tslp_core::capture::{self, FenceContent};
use tslp_core::event::{
    ActionJudged, ActionRequested, CallId, CapabilityChanged, Event, GrantChange, NoticeIssued,
    ToolOutcome, ToolRan, Verb,
};
use tslp_core::guardian::{
    ACTION_MINUTES, CallPart, Capability, Class, Decision, Denial, Door, GrantToken, Jail,
    JudgedCommand, JudgedLine, LineContext, Step, ToolProfile, judge_client_call, judge_line,
    minutes_after,
};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, SessionId, UnixMillis};
use tslp_core::policy::Policy;
use tslp_core::reason::Reason;
use tslp_projections::guardian::ToolSession;

/// Denials by class after which a session's tools are halted.
pub const CLASS_VIOLATIONS_MAX: u32 = 3;

/// What `tslp resume` says where it lifts a breach.
pub const LIFTS_BREACH: &str = "--breach";

/// How often a reply may make the same call and get the same output.
pub const SAME_RESULTS_MAX: usize = 3;

/// The inputs by which a recorded request is judged.
pub struct ToolJudging<'j> {
    /// The profile in force.
    pub profile: &'j ToolProfile,
    /// Its text in the Vault.
    pub policy: Option<ArtifactHash>,
    /// Where tools may look.
    pub jail: &'j Jail,
    /// What is known of the session.
    pub session: &'j ToolSession,
}

/// Judges a request by what is on record of it. The line is there if it was read.
#[must_use]
pub fn judge_request(
    at: UnixMillis,
    request: &ActionRequested,
    judging: &ToolJudging<'_>,
) -> (ActionJudged, Option<JudgedLine>) {
    let judged = |denials: Vec<Denial>| ActionJudged {
        call: request.call,
        class: Class::Unknown,
        decision: match denials.is_empty() {
            true => Decision::Allow,
            false => Decision::Deny,
        },
        denials,
        timeout_seconds: None,
        rule: None,
        policy: judging.policy,
    };
    let denial = |step, code: &str, why| Denial {
        command: 0,
        step,
        code: code.to_string(),
        why,
    };
    if let Some(flaw) = &request.flaw {
        let denial = denial(Step::Invariants, "NOT-RUN", flaw.clone());
        return (judged(Vec::from([denial])), None);
    }
    if let Some(parts) = client_parts(request) {
        let found = judge_client_call(&parts, judging.jail).into_iter();
        let denials = found.map(|(harm, why)| denial(Step::Rules, harm.as_str(), why));
        return (judged(denials.collect()), None);
    }
    if let Some(halt) = judging.session.halt {
        let why = format!("tools are halted ({halt}) until the user lets them go on");
        return (judged(Vec::from([denial(Step::Mode, "HALTED", why)])), None);
    }
    let leads_to = |path: &str| {
        let seen = request.links.iter().find(|link| link.path == path);
        seen.map(|link| link.leads_to.clone())
    };
    let line = judge_line(
        request.commands.clone(),
        &LineContext {
            profile: judging.profile,
            mode: request.mode,
            now: at,
            grants: &judging.session.grants,
            builds: judging.session.builds,
            jail: judging.jail,
            leads_to: &leads_to,
        },
    );
    let is_denied = |judged: &&JudgedCommand| judged.decision() == Decision::Deny;
    let deciding = line
        .commands
        .iter()
        .find(is_denied)
        .or(line.commands.last());
    let rule = deciding.and_then(|judged| judging.profile.rule_for(judged.class));
    let denials = line.commands.iter().flat_map(|judged| &judged.denials);
    let judged = ActionJudged {
        class: line.gravest_class(),
        decision: line.strictest_decision(),
        timeout_seconds: line.timeout_seconds,
        rule: rule.map(|(id, _)| id.into()),
        ..judged(denials.cloned().collect())
    };
    (judged, Some(line))
}

/// The parts of a call of the client's own tools, if that is what is asked; an earlier tslp recorded command lines only.
fn client_parts(request: &ActionRequested) -> Option<Vec<(CallPart, &str)>> {
    let parts = request.commands.iter().map(|command| {
        let [part, text] = &command.words[..] else {
            return None;
        };
        Some((CallPart::of_word(part)?, text.as_str()))
    });
    let parts: Option<Vec<_>> = parts.collect();
    parts.filter(|parts| request.door == Door::Client && !parts.is_empty())
}

/// The halt that follows from a decision on a call, if one does. The state has folded the decision already: its violation counts.
#[must_use]
pub fn after_judgement(view: &StateView<'_>, judged: &ActionJudged) -> Vec<Event> {
    let call = view.state.guardian().tool_call(judged.call);
    // Only calls through the bridge are run for a reply; a verdict on a client's own call is advice and halts nothing.
    let Some(call) = call.filter(|call| call.door == Door::Bridge) else {
        return Vec::new();
    };
    let first = judged.first_denials();
    let reason = first.filter_map(|denial| match &*denial.code {
        "CAPABILITY-ESCALATION" => Some(Reason::CapabilityEscalation),
        "SCOPE-BREACH" => Some(Reason::ScopeBreach),
        "BUDGET-EXHAUSTED" => Some(Reason::BudgetExhausted),
        "COMMAND-CLASS-VIOLATION" => {
            let violations = view
                .state
                .guardian()
                .tool_session(call.session)
                .class_violations;
            (violations >= CLASS_VIOLATIONS_MAX).then_some(Reason::CommandClassViolation)
        }
        _ => None,
    });
    let reason = reason.min();
    halt_tools(view, judged.call.episode, call.session, reason)
}

/// The halt that follows from a run, if one does. The state has folded the run already: its output counts as a repetition.
#[must_use]
pub fn after_run(view: &StateView<'_>, ran: &ToolRan) -> Vec<Event> {
    let Some(call) = view.state.guardian().tool_call(ran.call) else {
        return Vec::new();
    };
    let repeated = || {
        let calls = view.state.guardian().calls_of(ran.call.episode).into_iter();
        let same = calls.filter(|other| {
            (other.text, other.output) == (call.text, call.output) && other.output.is_some()
        });
        same.count() >= SAME_RESULTS_MAX
    };
    let reason = match &ran.outcome {
        ToolOutcome::Breach(_) => Some(Reason::SandboxBreach),
        ToolOutcome::Interrupted => None,
        _ if ran.redacted => Some(Reason::CredentialInOutput),
        _ => repeated().then_some(Reason::RecursiveLoop),
    };
    halt_tools(view, ran.call.episode, call.session, reason)
}

/// The event for a call that was under way when the proxy ended. It is never run again.
#[must_use]
pub fn record_interrupted(call: CallId) -> Vec<Event> {
    Vec::from([Event::ToolRan(ToolRan {
        call,
        outcome: ToolOutcome::Interrupted,
        output: None,
        redacted: false,
        bytes: 0,
        duration_ms: 0,
        cpu_ms: 0,
        rss_bytes_max: 0,
    })])
}

/// The prefix of evidence in the Vault. Without it a message or code with the same bytes would count as known, and known bytes
/// are decided differently.
const EVIDENCE_MARK: &str = "[evidence]\n";

/// The text of evidence as the Vault stores it.
#[must_use]
pub fn stored_evidence(text: &str) -> String {
    format!("{EVIDENCE_MARK}{text}")
}

/// The text of stored evidence.
#[must_use]
pub fn evidence_text(stored: &str) -> Option<&str> {
    stored.strip_prefix(EVIDENCE_MARK)
}

/// The notice by which tools are halted, unless they are already.
fn halt_tools(
    view: &StateView<'_>,
    episode: EpisodeId,
    session: SessionId,
    reason: Option<Reason>,
) -> Vec<Event> {
    let is_halted = view.state.guardian().tool_session(session).halt.is_some();
    let reason = reason.filter(|_| !is_halted);
    let halt = reason.map(|reason| tool_notice(episode, session, reason));
    halt.into_iter().collect()
}

fn tool_notice(episode: EpisodeId, session: SessionId, reason: Reason) -> Event {
    Event::NoticeIssued(NoticeIssued::new((episode, session), reason, None))
}

/// A notice if a reply shows more results than it made calls, since the model made some up; or if it asks for tools and none was
/// judged, since none runs there. `text` is the whole reply.
#[must_use]
pub fn unanswered_tools(view: &StateView<'_>, episode: EpisodeId, text: &str) -> Vec<Event> {
    // The word stands in both kinds of fences, and most replies hold none.
    if !text.contains("tool") {
        return Vec::new();
    }
    let talk = capture::tool_text(text);
    let shown = talk
        .fences
        .iter()
        .filter(|it| it.holds == FenceContent::Result)
        .count();
    // Only episodes of long ago have no known session, and their replies are over.
    let Some(session) = view.state.sessions().of(episode) else {
        return Vec::new();
    };
    let calls = view.state.guardian().calls_of(episode).into_iter();
    let answered = calls.filter(|call| call.door == Door::Bridge).count();
    let reason = if shown > answered {
        Reason::ForgedResult
    } else if answered == 0 && !talk.calls.is_empty() && !talk.is_cut {
        Reason::ToolNotRun
    } else {
        return Vec::new();
    };
    Vec::from([tool_notice(episode, session, reason)])
}

/// Carries out a directive about tools.
#[must_use]
pub fn carry_out_for_tools(
    view: &StateView<'_>,
    policy: &Policy,
    at: UnixMillis,
    (episode, session): (EpisodeId, SessionId),
    (verb, target): (Verb, &str),
) -> Vec<Event> {
    let guardian = view.state.guardian();
    // Only a terminal's act belongs to no session: who sits there has seen what happened.
    let is_at_terminal = session == SessionId(0);
    let is_lifted = verb == Verb::Resume && is_at_terminal && target == LIFTS_BREACH;
    if guardian.is_breached() && matches!(verb, Verb::Allow | Verb::Resume) && !is_lifted {
        return Vec::from([tool_notice(episode, session, Reason::BreachStands)]);
    }
    let mut words = target.split_whitespace();
    let capability = words.next().and_then(|word| {
        let word = word.to_ascii_uppercase();
        Capability::of_word(&word).filter(|it| *it != Capability::FsRead)
    });
    let (change, reason) = match (verb, capability) {
        (Verb::Allow, Some(capability)) => match grant_minutes(words) {
            Some(minutes) => {
                let scope_root = ArtifactHash::of(policy.workspace_root.as_bytes());
                let token = GrantToken {
                    expires_at: minutes_after(at, minutes),
                    ..GrantToken::issue_for_session(capability, scope_root, at)
                };
                let granted = capability_changed(session, GrantChange::Granted, &token);
                (Some(granted), Reason::CapabilityGranted)
            }
            None => (None, Reason::NotGrantable),
        },
        (Verb::Revoke, Some(capability)) => {
            let held = guardian.tool_session(session).grants.into_iter();
            let mut held = held.filter(|it| it.capability == capability && !it.revoked);
            match held.next() {
                Some(token) => {
                    let revoked = capability_changed(session, GrantChange::Revoked, &token);
                    (Some(revoked), Reason::CapabilityRevoked)
                }
                None => (None, Reason::NothingToDo),
            }
        }
        (Verb::Stop, _) if is_at_terminal => (None, Reason::AgentsStopped),
        (Verb::Stop, _) => (None, Reason::ToolsStopped),
        (Verb::Resume, _) => (None, Reason::ToolsResumed),
        _ => (None, Reason::NotGrantable),
    };
    let mut events: Vec<Event> = change.into_iter().collect();
    events.push(tool_notice(episode, session, reason));
    events
}

/// The minutes of `for 15m` or `for 1h`, at most [`ACTION_MINUTES`], which is also the default; `None` if it is malformed.
fn grant_minutes<'w>(mut words: impl Iterator<Item = &'w str>) -> Option<u32> {
    match words.next() {
        None => return Some(ACTION_MINUTES),
        Some("for") => {}
        Some(_) => return None,
    }
    let time = words.next()?;
    let (number, unit) = time.split_at(time.find(|c: char| !c.is_ascii_digit())?);
    let number: u32 = number.parse().ok()?;
    let minutes = match unit {
        "m" | "min" => number,
        "h" => number.checked_mul(60)?,
        _ => return None,
    };
    (minutes > 0 && words.next().is_none()).then_some(minutes.min(ACTION_MINUTES))
}

fn capability_changed(session: SessionId, change: GrantChange, token: &GrantToken) -> Event {
    Event::CapabilityChanged(CapabilityChanged {
        session,
        change,
        capability: token.capability,
        risk: token.capability.least_risk(),
        scope_root: token.scope_root,
        issued_at: token.issued_at,
        expires_at: token.expires_at,
        renewed_count: 0,
        last_renewed_at: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tslp_core::guardian::{Join, Mode, SimpleCommand};

    const AT: fn(i64) -> UnixMillis = |minutes| UnixMillis(minutes * 60_000);

    fn build() -> ActionRequested {
        ActionRequested {
            call: CallId {
                episode: EpisodeId(1),
                number: 1,
            },
            door: Door::Bridge,
            round: 1,
            text: ArtifactHash::of(b""),
            flaw: None,
            commands: Vec::from([SimpleCommand {
                join: Join::First,
                words: Vec::from(["make".to_string()]),
            }]),
            mode: Mode::Ready,
            scope: ArtifactHash::of(b""),
            links: Vec::new(),
        }
    }

    fn granted() -> ToolSession {
        let scope_root = ArtifactHash::of(b"/w");
        let token = GrantToken::issue_for_session(Capability::BuildExec, scope_root, AT(0));
        ToolSession {
            grants: Vec::from([token]),
            ..ToolSession::default()
        }
    }

    /// law 8.5 | A grant that is over is no grant: tools are halted | capability_escalation
    #[test]
    fn grant_expiry() {
        let jail = Jail {
            root: "/w".into(),
            ..Jail::default()
        };
        let strict = ToolProfile {
            grants: Vec::from([(Capability::BuildExec, 5)]),
            ..ToolProfile::built_in()
        };
        let check = |at, session: &ToolSession, profile: &ToolProfile, expected: &str| {
            let judging = ToolJudging {
                profile,
                policy: None,
                jail: &jail,
                session,
            };
            let (judged, _) = judge_request(at, &build(), &judging);
            let code = judged.first_denials().next();
            let code = code.map_or(judged.decision.as_str(), |denial| &denial.code);
            assert_eq!(code, expected, "{at:?}");
        };
        let built_in = ToolProfile::built_in();
        check(AT(14), &granted(), &built_in, "ALLOW_WITH_LIMITS");
        check(AT(15), &granted(), &built_in, "CAPABILITY-ESCALATION");
        check(AT(4), &granted(), &strict, "ALLOW_WITH_LIMITS");
        check(AT(5), &granted(), &strict, "CAPABILITY-ESCALATION");
        check(
            AT(1),
            &ToolSession::default(),
            &built_in,
            "CAPABILITY-MISSING",
        );
    }

    #[test]
    fn minutes_of_grants() {
        let check = |text: &str, expected: Option<u32>| {
            assert_eq!(grant_minutes(text.split_whitespace()), expected, "{text}");
        };
        check("", Some(15));
        check("for 5m", Some(5));
        check("for 5min", Some(5));
        check("for 2h", Some(15));
        check("for 0m", None);
        check("for ever", None);
        check("for 5", None);
        check("5m", None);
        check("for 99999999999m", None);
        check("for 5m or so", None);
    }
}
