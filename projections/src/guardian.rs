//! Tools: the approved profile, grants, halts, and the last calls with their results (spec §8.5). What is true of code doesn't
//! depend on them.

use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::event::{
    ActionJudged, ActionRequested, CallId, CapabilityChanged, Event, GrantChange, NoticeIssued,
    Recorded, ToolRan,
};
use tslp_core::guardian::{Capability, Class, Decision, Door, GrantToken};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_core::limits::{SESSIONS_KEPT, TOOL_EPISODES_KEPT};
use tslp_core::reason::{Reason, ReasonClass};

use crate::row_map::RowMap;

row! {
    /// `approved_policy`: the profile that the Operator approved last.
    pub struct PolicyRow in table "approved_policy", version 1;
    key {
        /// The event of the approval.
        seq: Seq,
    }
    values {
        /// The id in its text.
        profile: String,
        /// Its text in the Vault.
        text: ArtifactHash,
    }
}

row! {
    /// `grants`: the last grant of each capability in each session, whether it still holds or not.
    pub struct GrantRow in table "grants", version 2;
    key {
        /// The session.
        session: SessionId,
        /// The capability.
        capability: Capability,
    }
    values {
        /// The event that changed the grant last.
        seq: Seq,
        /// The root of what it allows.
        scope_root: ArtifactHash,
        /// The time from which it holds.
        issued_at: UnixMillis,
        /// The time at which it ends.
        expires_at: UnixMillis,
        /// Whether it was taken back.
        revoked: bool,
    }
}

row! {
    /// `tool_sessions`: the halt of each session's tools and what counts against its limits since they were last resumed.
    /// Session 0 means all sessions, the highest one all agents.
    #[derive(Default)]
    pub struct ToolSessionRow in table "tool_sessions", version 1;
    key {
        /// The session.
        session: SessionId,
    }
    values {
        /// Why its tools are halted, if they are.
        halt: Option<Reason>,
        /// Builds that were allowed.
        builds: u64,
        /// Calls that were denied for the class of their commands.
        violations: u32,
    }
}

row! {
    /// `tool_calls`: the calls of the last episodes that made any.
    pub struct ToolCallRow in table "tool_calls", version 1;
    key {
        /// The call's episode.
        episode: EpisodeId,
        /// The call's number in it.
        number: u32,
    }
    values {
        /// Its session.
        session: SessionId,
        /// Who asks, and who would run it.
        door: Door,
        /// The round of the reply that made it.
        round: u32,
        /// What it asks for, in the Vault.
        text: ArtifactHash,
        /// The decision on it.
        decision: Option<Decision>,
        /// Whether it is known what came of it.
        is_over: bool,
        /// What it printed, in the Vault.
        output: Option<ArtifactHash>,
    }
}

/// The session id under which a halt of all sessions is kept.
const ALL_SESSIONS: SessionId = SessionId(0);

/// The session id under which a stop of all agents is kept: it and a breach are lifted apart.
const ALL_AGENTS: SessionId = SessionId(i64::MAX as u64);

/// What is known of a session's tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSession {
    /// Why none may run until the Operator resumes them.
    pub halt: Option<Reason>,
    /// What was granted, whether it still holds or not.
    pub grants: Vec<GrantToken>,
    /// Builds that ran since the Operator last resumed them.
    pub builds: u64,
    /// Denials by class since then.
    pub class_violations: u32,
}

/// The Guardian's state.
#[derive(Default)]
pub struct GuardianState {
    /// One at most.
    pub(crate) policy: RowMap<PolicyRow>,
    pub(crate) grants: RowMap<GrantRow>,
    pub(crate) sessions: RowMap<ToolSessionRow>,
    pub(crate) calls: RowMap<ToolCallRow>,
}

impl GuardianState {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::ActionRequested(requested) => self.add_call(recorded.session, requested),
            Event::ActionJudged(judged) => self.record_decision(judged),
            Event::ToolRan(ran) => self.record_run(ran),
            Event::CapabilityChanged(changed) => self.change_grant(recorded.seq, changed),
            Event::NoticeIssued(notice) => self.apply_notice(notice),
            Event::PolicyApproved(approved) => {
                let approved = PolicyRow {
                    seq: recorded.seq,
                    profile: approved.profile_id.clone(),
                    text: approved.text,
                };
                self.policy.put(approved);
                self.policy.keep_last(1);
            }
            _ => {}
        }
    }

    fn add_call(&mut self, session: SessionId, requested: &ActionRequested) {
        let call = ToolCallRow {
            episode: requested.call.episode,
            number: requested.call.number,
            session,
            door: requested.door,
            round: requested.round,
            text: requested.text,
            decision: None,
            is_over: false,
            output: None,
        };
        self.calls.put(call);
        let mut episodes: Vec<EpisodeId> = self.calls.keys().map(|key| key.0).collect();
        episodes.dedup();
        // One at the most is too many, since a call brings at most one.
        if let Some(oldest) = episodes
            .first()
            .filter(|_| episodes.len() > TOOL_EPISODES_KEPT)
        {
            self.calls.forget(|call| call.episode == *oldest);
        }
    }

    fn record_decision(&mut self, judged: &ActionJudged) {
        let Some(mut call) = self.tool_call(judged.call) else {
            return;
        };
        call.decision = Some(judged.decision);
        // A call that the client runs is over at once, because no event says how it ends.
        call.is_over = judged.decision == Decision::Deny || call.door != Door::Bridge;
        let (door, session) = (call.door, call.session);
        self.calls.put(call);
        if door != Door::Bridge {
            return;
        }
        let is_allowed = judged.decision != Decision::Deny;
        let builds = u64::from(is_allowed && matches!(judged.class, Class::Build | Class::Shell));
        let mut first = judged.first_denials();
        let violates = first.any(|denial| denial.code == "COMMAND-CLASS-VIOLATION");
        if builds > 0 || violates {
            self.change_tally(session, |tally| {
                tally.builds += builds;
                tally.violations += u32::from(violates);
            });
        }
    }

    fn record_run(&mut self, ran: &ToolRan) {
        if let Some(mut call) = self.tool_call(ran.call) {
            call.is_over = true;
            call.output = ran.output;
            self.calls.put(call);
        }
    }

    fn change_grant(&mut self, seq: Seq, changed: &CapabilityChanged) {
        let grant = GrantRow {
            session: changed.session,
            capability: changed.capability,
            seq,
            scope_root: changed.scope_root,
            // A grant of an earlier tslp may have been prolonged, which counts from then on.
            issued_at: changed.last_renewed_at.unwrap_or(changed.issued_at),
            expires_at: changed.expires_at,
            revoked: changed.change == GrantChange::Revoked,
        };
        self.grants.put(grant);
        if self.grants.len() > SESSIONS_KEPT {
            let oldest = self.grants.iter().min_by_key(|(_, grant)| grant.seq);
            let oldest = oldest.map(|(key, _)| *key);
            oldest.and_then(|oldest| self.grants.remove(&oldest));
        }
    }

    fn apply_notice(&mut self, notice: &NoticeIssued) {
        let NoticeIssued {
            reason, session, ..
        } = notice;
        if reason.is(ReasonClass::Halts) {
            let session = match reason {
                Reason::AgentsStopped => ALL_AGENTS,
                reason if reason.is(ReasonClass::HaltsAll) => ALL_SESSIONS,
                _ => *session,
            };
            // No other halt of all tools takes a breach's place: it would be lifted more easily.
            let stays = session == ALL_SESSIONS && self.is_breached();
            if !stays {
                self.change_tally(session, |tally| tally.halt = Some(*reason));
            }
        } else if *reason == Reason::ToolsResumed {
            // A stop of all agents ends by a word outside of all sessions only: no agent can say one.
            let agents = Some(ALL_AGENTS).filter(|_| *session == ALL_SESSIONS);
            for session in [ALL_SESSIONS, *session].into_iter().chain(agents) {
                self.sessions.remove(&(session,));
            }
        }
    }

    fn change_tally(&mut self, session: SessionId, act: impl FnOnce(&mut ToolSessionRow)) {
        let known = self.sessions.get(&(session,)).cloned();
        let mut tally = known.unwrap_or_default();
        tally.session = session;
        act(&mut tally);
        self.sessions.put(tally);
        // Neither the halt of all sessions nor the session that has just changed is forgotten.
        let is_old = |old: &(SessionId,)| ![ALL_SESSIONS, ALL_AGENTS, session].contains(&old.0);
        if self.sessions.len() > SESSIONS_KEPT
            && let Some(oldest) = self.sessions.keys().copied().find(is_old)
        {
            self.sessions.remove(&oldest);
        }
    }

    /// The profile that the Operator approved last; none is the built-in one.
    #[must_use]
    pub fn approved_policy(&self) -> Option<&PolicyRow> {
        self.policy.values().next()
    }

    /// The halt, the grants and the tally of a session's tools.
    #[must_use]
    pub fn tool_session(&self, session: SessionId) -> ToolSession {
        let own = self.sessions.get(&(session,)).cloned().unwrap_or_default();
        let everywhere = self.halt_of(ALL_SESSIONS).or(self.halt_of(ALL_AGENTS));
        let grants = self.grants.range((session, Capability::ALL[0])..);
        let grants = grants.take_while(|((of, _), _)| *of == session);
        ToolSession {
            halt: everywhere.or(own.halt),
            grants: grants.map(|(_, grant)| grant.into()).collect(),
            builds: own.builds,
            class_violations: own.violations,
        }
    }

    fn halt_of(&self, session: SessionId) -> Option<Reason> {
        self.sessions.get(&(session,))?.halt
    }

    /// Whether a tool tried to get out of the sandbox, and nobody has lifted that.
    #[must_use]
    pub fn is_breached(&self) -> bool {
        self.halt_of(ALL_SESSIONS) == Some(Reason::SandboxBreach)
    }

    /// Whether the user has stopped all agents.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.halt_of(ALL_AGENTS).is_some()
    }

    /// The sessions whose tools are halted, and why; session 0 means all. A stop of all agents isn't among them.
    pub fn halted_sessions(&self) -> impl Iterator<Item = (SessionId, Reason)> {
        let sessions = self.sessions.values();
        let real = sessions.filter(|tally| tally.session != ALL_AGENTS);
        real.filter_map(|tally| Some((tally.session, tally.halt?)))
    }

    /// A call of the last episodes that made any.
    #[must_use]
    pub fn tool_call(&self, call: CallId) -> Option<ToolCallRow> {
        self.calls.get(&(call.episode, call.number)).cloned()
    }

    /// All calls of an episode that is among the last ones that made any.
    #[must_use]
    pub fn calls_of(&self, episode: EpisodeId) -> Vec<ToolCallRow> {
        let calls = self.calls.range((episode, 0)..=(episode, u32::MAX));
        calls.map(|(_, call)| call.clone()).collect()
    }

    /// Calls that were allowed and have no result yet.
    #[must_use]
    pub fn under_way(&self) -> Vec<CallId> {
        let calls = self.calls.values();
        let open = calls.filter(|call| call.decision.is_some() && !call.is_over);
        open.map(ToolCallRow::id).collect()
    }
}

impl ToolCallRow {
    const fn id(&self) -> CallId {
        CallId {
            episode: self.episode,
            number: self.number,
        }
    }
}

impl From<&GrantRow> for GrantToken {
    fn from(row: &GrantRow) -> Self {
        Self {
            capability: row.capability,
            scope_root: row.scope_root,
            issued_at: row.issued_at,
            expires_at: row.expires_at,
            revoked: row.revoked,
        }
    }
}
