//! A reply that its client doesn't have yet, judged by gate A: whether it is asked for once more (docs/repair.md).

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::entity::EntityId;
use tslp_core::event::{DraftRefused, Event, ToolCallRef};
use tslp_core::extract::Grammars;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, UnixMillis};
use tslp_core::message::ToolCall;
use tslp_core::policy::Policy;
use tslp_core::reason::Reason;
use tslp_decide::draft::{DraftAttempt, JudgedDraft};
use tslp_decide::found_code::MessageEnd;
use tslp_decide::prompt;
use tslp_decide::propose::{GainedCode, JudgingContext, WriteState};
use tslp_decide::reply::{self, Reply};

use super::Engine;
use super::seen::ModelSight;
use crate::pending::{Batch, BatchBuilder};
use tslp_projections::state::StateView;
use tslp_projections::store::Store;

impl<G: Grammars, S: Store> Engine<G, S> {
    /// Judges the code of a reply that is over and recorded as text, and changes nothing. `changed_first` is what the first reply
    /// changes, if this is the second one.
    pub fn judge_draft(
        &self,
        episode: EpisodeId,
        (text, calls): (&str, &[ToolCall]),
        changed_first: &BTreeSet<EntityId>,
    ) -> JudgedDraft {
        self.draft_by(&self.policy, episode, (text, calls), changed_first)
    }

    fn draft_by(
        &self,
        policy: &Policy,
        episode: EpisodeId,
        (text, calls): (&str, &[ToolCall]),
        changed_first: &BTreeSet<EntityId>,
    ) -> JudgedDraft {
        let Some(session) = self.session_of(episode) else {
            return JudgedDraft::default();
        };
        let view = StateView {
            is_of_draft: true,
            ..self.view()
        };
        let code = self.reply_reader(&view, session);
        let found = self.code_of_reply(code, text, calls, MessageEnd::Whole);
        if found.is_empty() {
            return JudgedDraft::default().compared_with(changed_first);
        }
        let asked = prompt::last_own_words(&view, &mut self.index.borrow_mut(), session);
        let asked = self.text_around_code(&asked);
        // Whether the model saw what it replaces is another gate's question.
        let seen = ModelSight::UnseenOnRecord(BTreeSet::new());
        let judging = JudgingContext {
            view: &view,
            policy,
            episode,
            session,
            asked: &asked,
            gained: &GainedCode::of(&view, policy.thresholds, &found),
            grammars: &self.grammars,
            written: WriteState::NotYet,
            seen: &|entities| self.entities_seen(&seen, entities),
        };
        JudgedDraft::of(judging, &found).compared_with(changed_first)
    }

    /// Records that a reply is refused before its client has it.
    pub fn refuse_draft(
        &mut self,
        at: UnixMillis,
        episode: EpisodeId,
        (reply, calls): (&Reply, &[ToolCall]),
        (draft, attempt): (&JudgedDraft, DraftAttempt),
    ) -> Batch {
        let mut work = self.step_of(at, episode);
        let segments = reply.segments.iter().map(|(segment, _)| *segment).collect();
        self.fold_arguments(calls.iter().map(|call| &call.arguments), &mut work);
        let calls = reply::call_refs(&self.view(), calls);
        let events = draft.refuse(&self.view(), (segments, calls), attempt);
        self.fold(events, &mut work);
        work.finish()
    }

    /// A reply that was refused before its client had it.
    pub(crate) fn retrace_draft(&mut self, mut work: BatchBuilder, draft: &DraftRefused) {
        let texts = draft.segments.iter().map(|it| self.text_on_record(*it));
        let text: String = texts.collect();
        let calls: Vec<ToolCall> = self.calls_on_record(&draft.tool_calls);
        // What a second reply lacks of the first one's code is as it was recorded: which that is, the first one's step says.
        let lacking = draft.refused.iter();
        let lacking = lacking.filter(|fault| fault.reason == Reason::OmittedByUpdate);
        let lacking: BTreeSet<EntityId> = lacking.map(|fault| fault.entity.clone()).collect();
        let attempt = match draft.told {
            Some(_) => DraftAttempt::First,
            None => DraftAttempt::Second,
        };
        let episode = work.episode;
        let known: (Vec<ArtifactHash>, Vec<ToolCallRef>) =
            (draft.segments.clone(), draft.tool_calls.clone());
        self.decide(&mut work, |engine, policy| -> Vec<Event> {
            let judged = engine.draft_by(policy, episode, (&text, &calls), &lacking);
            judged.refuse(&engine.view(), known.clone(), attempt)
        });
    }
}
