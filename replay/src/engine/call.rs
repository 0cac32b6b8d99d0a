//! Tool calls: request with decision, run, and approval are one step each.

use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::entity::EntityId;
use tslp_core::event::{
    ActionJudged, ActionRequested, CheckRan, ContentKind, Event, LostCallFound, LostCallOutcome,
    NoticeIssued, PolicyApproved, ToolRan,
};
use tslp_core::extract::Grammars;
use tslp_core::guardian::{Jail, JudgedLine, ToolProfile};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, SessionId, UnixMillis};
use tslp_core::message::ToolCall;
use tslp_core::policy::Repair;
use tslp_core::reason::Reason;
use tslp_decide::judge::check;
use tslp_decide::judge::fitted;
use tslp_decide::scope::place::Standpoint;
use tslp_decide::scope::tools::{self, ToolJudging};
use tslp_projections::guardian::ToolSession;

use super::Engine;
use crate::pending::{Batch, BatchBuilder};
use tslp_projections::store::Store;

/// A tool call that a reply asks for, as the io layer prepares it.
pub struct WantedCall {
    /// The event, apart from the hashes of the texts that go with it.
    pub request: ActionRequested,
    /// The session of its episode.
    pub session: SessionId,
    /// The command line, or what the model wrote.
    pub text: String,
    /// The folders that tools may read.
    pub jail: Jail,
    /// The jail as text.
    pub scope: String,
}

impl<G: Grammars, S: Store> Engine<G, S> {
    /// A reply asks for a tool: the decision, and the line if it was read. Nothing may run before the batch is durable.
    pub fn judge_call(
        &mut self,
        at: UnixMillis,
        wanted: WantedCall,
        (profile, policy): (&ToolProfile, Option<ArtifactHash>),
    ) -> (Batch, ActionJudged, Option<JudgedLine>) {
        let WantedCall {
            mut request,
            session,
            text,
            jail,
            scope,
        } = wanted;
        let mut work = BatchBuilder::of(at, request.call.episode, session);
        self.record_with_evidence(&mut work, [&text, &scope], |[text, scope]| {
            (request.text, request.scope) = (text, scope);
            Event::ActionRequested(request.clone())
        });
        work.end_step();
        let judging = ToolJudging {
            profile,
            policy,
            jail: &jail,
            session: &self.tool_session(session),
        };
        let (judged, line) = tools::judge_request(at, &request, &judging);
        self.fold(Vec::from([Event::ActionJudged(judged.clone())]), &mut work);
        self.halt_after_judgement(&judged, &mut work);
        (work.finish(), judged, line)
    }

    /// A call has come to its end; `output` is what it printed, without credentials.
    pub fn tool_ran(&mut self, at: UnixMillis, mut ran: ToolRan, output: &str) -> Batch {
        let mut work = self.step_of(at, ran.call.episode);
        self.record_with_evidence(&mut work, [output], |[output]| {
            ran.output = Some(output);
            Event::ToolRan(ran.clone())
        });
        self.halt_after_run(&ran, &mut work);
        work.finish()
    }

    /// A reply's text was meant to be calls; `written` is that text.
    pub fn lost_call_found(
        &mut self,
        at: UnixMillis,
        episode: EpisodeId,
        mut found: LostCallFound,
        written: &str,
    ) -> Batch {
        let mut work = self.step_of(at, episode);
        self.record_with_evidence(&mut work, [written], |[written]| {
            found.written = written;
            Event::LostCallFound(found.clone())
        });
        self.tell_fitted(found.outcome, &mut work);
        work.finish()
    }

    /// What is told of a call that was given its file's own text.
    pub(crate) fn tell_fitted(&mut self, outcome: LostCallOutcome, work: &mut BatchBuilder) {
        let notice = Event::NoticeIssued(NoticeIssued::new(work.ids(), Reason::EditFitted, None));
        if outcome == LostCallOutcome::Fitted {
            self.decide(work, |_, _| Vec::from([notice.clone()]));
        }
    }

    /// Whether calls are looked at before their client has them.
    pub fn repairs_calls(&self) -> bool {
        self.policy.repair == Repair::Fix
    }

    /// The file that a reply's call edits, and the call's arguments as they fit it, if they don't and can be made to.
    pub fn fitted_arguments(
        &self,
        episode: EpisodeId,
        call: &ToolCall,
    ) -> Option<(EntityId, String)> {
        if !self.repairs_calls() {
            return None;
        }
        let was_shown = |text: &str| self.saw_lines(episode, text);
        let session = self.session_of(episode).unwrap_or_default();
        let at = Standpoint::of(&self.policy, session);
        fitted::fitted_arguments(&self.view(), at, call, &was_shown)
    }

    /// The user's check has come to its end; `output` is what it printed, as models may see it.
    pub fn check_ran(
        &mut self,
        at: UnixMillis,
        episode: EpisodeId,
        mut ran: CheckRan,
        output: &str,
    ) -> Batch {
        let mut work = self.step_of(at, episode);
        self.record_with_evidence(&mut work, [output], |[output]| {
            ran.output = output;
            Event::CheckRan(ran.clone())
        });
        self.tell_check(&ran, &mut work);
        work.finish()
    }

    /// The Operator approves a profile.
    pub fn approve_policy(&mut self, at: UnixMillis, profile_id: &str, text: &str) -> Batch {
        let mut work = BatchBuilder::outside(at);
        self.record_with_evidence(&mut work, [text], |[text]| {
            Event::PolicyApproved(PolicyApproved {
                profile_id: profile_id.into(),
                text,
            })
        });
        work.finish()
    }

    /// Records texts, and an event that names them by their hashes.
    fn record_with_evidence<const TEXTS: usize>(
        &mut self,
        work: &mut BatchBuilder,
        texts: [&str; TEXTS],
        event: impl FnOnce([ArtifactHash; TEXTS]) -> Event,
    ) {
        let view = self.view();
        let mut recorder = tslp_decide::Recorder::new(&view);
        let hashes = texts.map(|text| {
            let evidence = tools::stored_evidence(text);
            recorder.store(ContentKind::Evidence, evidence.as_bytes())
        });
        recorder.push(event(hashes));
        let events = recorder.into_events();
        self.fold(events, work);
    }

    /// What follows from a decision on a call: too many denials halt the tools.
    pub(crate) fn halt_after_judgement(&mut self, judged: &ActionJudged, work: &mut BatchBuilder) {
        self.decide(work, |engine, _| {
            tools::after_judgement(&engine.view(), judged)
        });
    }

    /// What follows from a run.
    pub(crate) fn halt_after_run(&mut self, ran: &ToolRan, work: &mut BatchBuilder) {
        self.decide(work, |engine, _| tools::after_run(&engine.view(), ran));
    }

    /// What is told of the user's check.
    pub(crate) fn tell_check(&mut self, ran: &CheckRan, work: &mut BatchBuilder) {
        let ids = work.ids();
        self.decide(work, |_, _| check::tell(ids, ran));
    }

    /// The true code of an entity.
    pub fn true_code(&self, entity: &EntityId) -> Option<String> {
        let view = self.view();
        let current = view.current_version(entity)?;
        let code = view.artifact_slices(current.artifact, &current.spans)?;
        String::from_utf8(code).ok()
    }

    /// The state of a session's tools: the halt, grants, and what was spent.
    pub fn tool_session(&self, session: SessionId) -> ToolSession {
        self.state.guardian().tool_session(session)
    }

    /// The number of an episode's recorded tool calls.
    pub fn tool_call_count(&self, episode: EpisodeId) -> u32 {
        u32::try_from(self.state.guardian().calls_of(episode).len()).unwrap_or(u32::MAX)
    }

    /// A text that was stored as evidence.
    pub fn evidence(&self, hash: ArtifactHash) -> Option<String> {
        let text = self.text(hash)?;
        Some(tools::evidence_text(&text)?.into())
    }
}
