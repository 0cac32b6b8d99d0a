//! Tools: the approved profile, grants, halts, and the last calls with their results (spec §8.5). What is true of code doesn't
//! depend on them.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use tslp_core::event::{
    ActionJudged, ActionRequested, CallId, CapabilityChanged, Event, GrantChange, NoticeIssued,
    Recorded, ToolRan,
};
use tslp_core::guardian::{
    BudgetAmounts, BudgetItem, Capability, Class, Decision, Door, GrantToken, Risk,
};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_core::limits::{SESSIONS_KEPT, TOOL_EPISODES_KEPT};
use tslp_core::reason::Reason;

use crate::table::{
    Changes, Column, ColumnType, Keep, RowCells, Table, UnfitRow, Value, column, nullable,
};

const POLICY_COLUMNS: &[Column] = &[
    column("seq", ColumnType::Integer),
    column("profile", ColumnType::Text),
    column("text", ColumnType::Hash),
];

/// `approved_policy`: the profile that the Operator approved last.
pub const POLICY_TABLE: Table = Table {
    name: "approved_policy",
    version: 1,
    columns: POLICY_COLUMNS,
    key: 1,
    keep: Keep::Latest,
};

const GRANT_COLUMNS: &[Column] = &[
    column("session", ColumnType::Integer),
    column("capability", ColumnType::Text),
    column("seq", ColumnType::Integer),
    column("risk", ColumnType::Text),
    column("scope_root", ColumnType::Hash),
    column("issued_at", ColumnType::Integer),
    column("expires_at", ColumnType::Integer),
    column("renewed", ColumnType::Integer),
    nullable("last_renewed_at", ColumnType::Integer),
    column("revoked", ColumnType::Integer),
];

/// `grants`: the last grant of each capability in each session, whether it still holds or not.
pub const GRANTS_TABLE: Table = Table {
    name: "grants",
    version: 1,
    columns: GRANT_COLUMNS,
    key: 2,
    keep: Keep::Latest,
};

const SESSION_COLUMNS: &[Column] = &[
    column("session", ColumnType::Integer),
    nullable("halt", ColumnType::Text),
    column("builds", ColumnType::Integer),
    column("violations", ColumnType::Integer),
];

/// `tool_sessions`: the halt of each session's tools and what counts against its limits. Session 0 means all sessions.
pub const SESSIONS_TABLE: Table = Table {
    name: "tool_sessions",
    version: 1,
    columns: SESSION_COLUMNS,
    key: 1,
    keep: Keep::Latest,
};

const CALL_COLUMNS: &[Column] = &[
    column("episode", ColumnType::Integer),
    column("number", ColumnType::Integer),
    column("session", ColumnType::Integer),
    column("door", ColumnType::Text),
    column("round", ColumnType::Integer),
    column("text", ColumnType::Hash),
    nullable("decision", ColumnType::Text),
    column("is_over", ColumnType::Integer),
    nullable("output", ColumnType::Hash),
];

/// `tool_calls`: the calls of the last episodes that made any.
pub const CALLS_TABLE: Table = Table {
    name: "tool_calls",
    version: 1,
    columns: CALL_COLUMNS,
    key: 2,
    keep: Keep::Latest,
};

/// The session id under which a halt of all sessions is kept.
const ALL_SESSIONS: SessionId = SessionId(0);

/// One session's halt, builds and violations since its tools were last resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SessionTally {
    halt: Option<Reason>,
    builds: u64,
    violations: u32,
}

/// What is known of a session's tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSession {
    /// Why none may run until the Operator resumes them.
    pub halt: Option<Reason>,
    /// What was granted, whether it still holds or not.
    pub grants: Vec<GrantToken>,
    /// What was spent since the Operator last resumed them.
    pub spent: BudgetAmounts,
    /// Denials by class since then.
    pub class_violations: u32,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// Its session.
    pub session: SessionId,
    /// Who asks, and who would run it.
    pub door: Door,
    /// The round of its reply.
    pub round: u32,
    /// The command line in the Vault.
    pub text: ArtifactHash,
    /// What was decided on it.
    pub decision: Option<Decision>,
    /// Whether it is known what came of it.
    pub is_over: bool,
    /// What it printed, in the Vault.
    pub output: Option<ArtifactHash>,
}

/// The Guardian's state.
#[derive(Default)]
pub struct GuardianState {
    policy: Option<ApprovedPolicy>,
    grants: BTreeMap<(SessionId, Capability), GrantToken>,
    sessions: BTreeMap<SessionId, SessionTally>,
    calls: BTreeMap<CallId, RecordedCall>,
}

/// The profile that the Operator approved last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovedPolicy {
    /// The event of the approval.
    pub seq: Seq,
    /// The id in its text.
    pub profile_id: String,
    /// Its text in the Vault.
    pub text: ArtifactHash,
}

impl GuardianState {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        match &recorded.event {
            Event::ActionRequested(requested) => self.add_call(requested, changes),
            Event::ActionJudged(judged) => self.record_decision(judged, changes),
            Event::ToolRan(ran) => self.record_run(ran, changes),
            Event::CapabilityChanged(changed) => self.change_grant(recorded.seq, changed, changes),
            Event::NoticeIssued(notice) => self.apply_notice(notice, changes),
            Event::PolicyApproved(approved) => {
                if let Some(former) = &self.policy {
                    changes.remove(crate::APPROVED_POLICY, || Vec::from([former.seq.0.into()]));
                }
                let approved = ApprovedPolicy {
                    seq: recorded.seq,
                    profile_id: approved.profile_id.clone(),
                    text: approved.text,
                };
                changes.put(crate::APPROVED_POLICY, || policy_row(&approved));
                self.policy = Some(approved);
            }
            _ => {}
        }
    }

    fn add_call(&mut self, requested: &ActionRequested, changes: &mut Changes) {
        let call = RecordedCall {
            session: requested.session,
            door: requested.door,
            round: requested.round,
            text: requested.text,
            decision: None,
            is_over: false,
            output: None,
        };
        changes.put(crate::TOOL_CALLS, || call_row(requested.call, &call));
        self.calls.insert(requested.call, call);
        let mut episodes: Vec<EpisodeId> = self.calls.keys().map(|call| call.episode).collect();
        episodes.dedup();
        if let Some(oldest) = episodes
            .first()
            .filter(|_| episodes.len() > TOOL_EPISODES_KEPT)
        {
            self.forget_calls(*oldest, changes);
        }
    }

    fn forget_calls(&mut self, episode: EpisodeId, changes: &mut Changes) {
        self.calls.retain(|call, _| {
            if call.episode == episode {
                changes.remove(crate::TOOL_CALLS, || call_key(*call));
            }
            call.episode != episode
        });
    }

    fn record_decision(&mut self, judged: &ActionJudged, changes: &mut Changes) {
        let Some(call) = self.calls.get_mut(&judged.call) else {
            return;
        };
        call.decision = Some(judged.decision);
        // A call that the client runs is over at once, because no event says how it ends.
        call.is_over = judged.decision == Decision::Deny || call.door != Door::Bridge;
        changes.put(crate::TOOL_CALLS, || call_row(judged.call, call));
        if call.door != Door::Bridge {
            return;
        }
        let session = call.session;
        let is_allowed = judged.decision != Decision::Deny;
        let builds = u64::from(is_allowed && matches!(judged.class, Class::Build | Class::Shell));
        let mut first = judged.first_denials();
        let violates = first.any(|denial| denial.code == "COMMAND-CLASS-VIOLATION");
        if builds > 0 || violates {
            self.change_tally(session, changes, |tally| {
                tally.builds += builds;
                tally.violations += u32::from(violates);
            });
        }
    }

    fn record_run(&mut self, ran: &ToolRan, changes: &mut Changes) {
        if let Some(call) = self.calls.get_mut(&ran.call) {
            call.is_over = true;
            call.output = ran.output;
            changes.put(crate::TOOL_CALLS, || call_row(ran.call, call));
        }
    }

    fn change_grant(&mut self, seq: Seq, changed: &CapabilityChanged, changes: &mut Changes) {
        let key = (changed.session, changed.capability);
        let token = GrantToken {
            id: seq.0,
            goal: Some(changed.session.0),
            capability: changed.capability,
            risk: changed.risk,
            issued_at: changed.issued_at,
            expires_at: changed.expires_at,
            renewed_count: changed.renewed_count,
            last_renewed_at: changed.last_renewed_at,
            scope_root: changed.scope_root,
            revoked: changed.change == GrantChange::Revoked,
        };
        changes.put(crate::GRANTS, || grant_row(key, &token));
        self.grants.insert(key, token);
        if self.grants.len() > SESSIONS_KEPT {
            let oldest = self.grants.iter().min_by_key(|(_, token)| token.id);
            if let Some(key) = oldest.map(|(key, _)| *key) {
                self.grants.remove(&key);
                changes.remove(crate::GRANTS, || grant_key(key));
            }
        }
    }

    fn apply_notice(&mut self, notice: &NoticeIssued, changes: &mut Changes) {
        let NoticeIssued {
            reason, session, ..
        } = notice;
        if reason.halts_tools() {
            let session = if reason.halts_all_tools() {
                ALL_SESSIONS
            } else {
                *session
            };
            self.change_tally(session, changes, |tally| tally.halt = Some(*reason));
        } else if *reason == Reason::ToolsResumed {
            for session in [ALL_SESSIONS, *session] {
                if self.sessions.remove(&session).is_some() {
                    changes.remove(crate::TOOL_SESSIONS, || Vec::from([session.0.into()]));
                }
            }
        }
    }

    fn change_tally(
        &mut self,
        session: SessionId,
        changes: &mut Changes,
        act: impl FnOnce(&mut SessionTally),
    ) {
        let tally = self.sessions.entry(session).or_default();
        act(tally);
        changes.put(crate::TOOL_SESSIONS, || session_row(session, tally));
        // Neither the halt of all sessions nor the session that has just changed is forgotten.
        let is_old = |old: &SessionId| *old != ALL_SESSIONS && *old != session;
        if self.sessions.len() > SESSIONS_KEPT
            && let Some(oldest) = self.sessions.keys().copied().find(is_old)
        {
            self.sessions.remove(&oldest);
            changes.remove(crate::TOOL_SESSIONS, || Vec::from([oldest.0.into()]));
        }
    }

    /// The profile that the Operator approved last; none is the built-in one.
    #[must_use]
    pub const fn approved_policy(&self) -> Option<&ApprovedPolicy> {
        self.policy.as_ref()
    }

    /// The halt, the grants and the tally of a session's tools.
    #[must_use]
    pub fn tool_session(&self, session: SessionId) -> ToolSession {
        let own = self.sessions.get(&session).cloned().unwrap_or_default();
        let everywhere = self
            .sessions
            .get(&ALL_SESSIONS)
            .and_then(|tally| tally.halt);
        let grants = self
            .grants
            .range((session, Capability::FsRead)..=(session, Capability::ShellExec));
        ToolSession {
            halt: everywhere.or(own.halt),
            grants: grants.map(|(_, token)| *token).collect(),
            spent: BudgetAmounts::default().with_amount(BudgetItem::Builds, own.builds),
            class_violations: own.violations,
        }
    }

    /// The sessions whose tools are halted, and why; session 0 means all.
    pub fn halted_sessions(&self) -> impl Iterator<Item = (SessionId, Reason)> {
        let sessions = self.sessions.iter();
        sessions.filter_map(|(session, tally)| Some((*session, tally.halt?)))
    }

    /// A call of the last episodes that made any.
    #[must_use]
    pub fn tool_call(&self, call: CallId) -> Option<RecordedCall> {
        self.calls.get(&call).cloned()
    }

    /// All calls of an episode that is among the last ones that made any.
    #[must_use]
    pub fn calls_of(&self, episode: EpisodeId) -> Vec<RecordedCall> {
        let number = |number| CallId { episode, number };
        let calls = self.calls.range(number(0)..=number(u32::MAX));
        calls.map(|(_, call)| call.clone()).collect()
    }

    /// Calls that were allowed and have no result yet.
    #[must_use]
    pub fn under_way(&self) -> Vec<CallId> {
        let calls = self.calls.iter();
        let open = calls.filter(|(_, call)| call.decision.is_some() && !call.is_over);
        open.map(|(call, _)| *call).collect()
    }

    /// All rows of `approved_policy`.
    pub fn policy_rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        self.policy.iter().map(policy_row).for_each(visit);
    }

    /// All rows of `grants`, by key.
    pub fn grant_rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        // The table is sorted by the capability's word, the map by the enum.
        let mut rows: Vec<_> = self
            .grants
            .iter()
            .map(|(key, token)| grant_row(*key, token))
            .collect();
        rows.sort();
        rows.into_iter().for_each(visit);
    }

    /// All rows of `tool_sessions`, by key.
    pub fn session_rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        let sessions = self.sessions.iter();
        sessions
            .map(|(session, tally)| session_row(*session, tally))
            .for_each(visit);
    }

    /// All rows of `tool_calls`, by key.
    pub fn call_rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        self.calls
            .iter()
            .map(|(id, call)| call_row(*id, call))
            .for_each(visit);
    }

    /// Restores a row of `approved_policy`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore_policy(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let approved = ApprovedPolicy {
            seq: cells.next()?,
            profile_id: cells.next()?,
            text: cells.next()?,
        };
        match self.policy.replace(approved) {
            None => Ok(()),
            Some(_) => Err(UnfitRow("two profiles are in force")),
        }
    }

    /// Restores a row of `grants`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore_grant(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let session: SessionId = cells.next()?;
        let capability = cells.word(Capability::ALL, Capability::as_str)?;
        let token = GrantToken {
            id: cells.next()?,
            goal: Some(session.0),
            capability,
            risk: cells.word(Risk::ALL, Risk::as_str)?,
            scope_root: cells.next()?,
            issued_at: UnixMillis(cells.next()?),
            expires_at: UnixMillis(cells.next()?),
            renewed_count: cells.next()?,
            last_renewed_at: cells.next::<Option<i64>>()?.map(UnixMillis),
            revoked: cells.next()?,
        };
        self.grants.insert((session, capability), token);
        Ok(())
    }

    /// Restores a row of `tool_sessions`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore_session(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let session = cells.next()?;
        let halt = cells.next::<Option<String>>()?;
        let halt =
            halt.map(|code| Reason::from_code(&code).ok_or(UnfitRow("a halt has no reason")));
        let tally = SessionTally {
            halt: halt.transpose()?,
            builds: cells.next()?,
            violations: cells.next()?,
        };
        self.sessions.insert(session, tally);
        Ok(())
    }

    /// Restores a row of `tool_calls`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore_call(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let call = CallId {
            episode: cells.next()?,
            number: cells.next()?,
        };
        let session = cells.next()?;
        let door = cells.word(Door::ALL, Door::as_str)?;
        let (round, text) = (cells.next()?, cells.next()?);
        let decision = cells.next::<Option<String>>()?;
        let named = |word: String| {
            let mut all = Decision::ALL.iter().copied();
            all.find(|it| it.as_str() == word)
                .ok_or(UnfitRow("a call has no such decision"))
        };
        let known = RecordedCall {
            session,
            door,
            round,
            text,
            decision: decision.map(named).transpose()?,
            is_over: cells.next()?,
            output: cells.next()?,
        };
        self.calls.insert(call, known);
        Ok(())
    }
}

fn policy_row(approved: &ApprovedPolicy) -> Vec<Value> {
    Vec::from([
        approved.seq.0.into(),
        Value::text(&approved.profile_id),
        Value::from(&approved.text.0),
    ])
}

fn grant_key((session, capability): (SessionId, Capability)) -> Vec<Value> {
    Vec::from([session.0.into(), capability.as_str().into()])
}

fn grant_row(key: (SessionId, Capability), token: &GrantToken) -> Vec<Value> {
    let mut row = grant_key(key);
    row.extend([
        token.id.into(),
        token.risk.as_str().into(),
        Value::from(&token.scope_root.0),
        token.issued_at.0.into(),
        token.expires_at.0.into(),
        token.renewed_count.into(),
        token.last_renewed_at.map(|at| at.0).into(),
        token.revoked.into(),
    ]);
    row
}

fn session_row(session: SessionId, tally: &SessionTally) -> Vec<Value> {
    Vec::from([
        session.0.into(),
        tally.halt.map(Reason::code).into(),
        tally.builds.into(),
        tally.violations.into(),
    ])
}

fn call_key(call: CallId) -> Vec<Value> {
    Vec::from([call.episode.0.into(), call.number.into()])
}

fn call_row(id: CallId, call: &RecordedCall) -> Vec<Value> {
    let mut row = call_key(id);
    row.extend([
        call.session.0.into(),
        call.door.as_str().into(),
        call.round.into(),
        Value::from(&call.text.0),
        call.decision.map(Decision::as_str).into(),
        call.is_over.into(),
        call.output.as_ref().map(|output| &output.0).into(),
    ]);
    row
}

impl fmt::Display for GuardianState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(approved) = &self.policy {
            writeln!(f, "policy {} {:.12}", approved.profile_id, approved.text)?;
        }
        for ((session, capability), token) in &self.grants {
            let revoked = if token.revoked { " revoked" } else { "" };
            writeln!(
                f,
                "{session} {capability} until {}{revoked}",
                token.expires_at.0
            )?;
        }
        for (session, tally) in &self.sessions {
            let halt = tally.halt.map_or("runs", Reason::code);
            writeln!(
                f,
                "{session} {halt}, {} builds, {} violations",
                tally.builds, tally.violations
            )?;
        }
        for (id, call) in &self.calls {
            let decision = call.decision.map_or("not judged", Decision::as_str);
            let over = if call.is_over { "over" } else { "under way" };
            writeln!(f, "{id} {decision}, {over}")?;
        }
        Ok(())
    }
}
