//! Calls that their client doesn't have yet, judged by gate A: whether they are asked for once more (docs/repair.md).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::slice::from_ref;

use tslp_core::event::{DraftRefused, Event};
use tslp_core::extract::Grammars;
use tslp_core::ids::{EpisodeId, UnixMillis};
use tslp_core::message::ToolCall;
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_decide::judge::draft::{DraftAttempt, JudgedDraft};
use tslp_decide::judge::found_code::{FoundCode, MessageEnd};
use tslp_decide::judge::propose::{GainedCode, JudgingContext, WriteState};
use tslp_decide::judge::reply;
use tslp_decide::prompt::reader;

use super::Engine;
use super::seen::ModelSight;
use crate::pending::{Batch, BatchBuilder};
use tslp_projections::state::StateView;
use tslp_projections::store::Store;

impl<G: Grammars, S: Store> Engine<G, S> {
    /// The files whose code a reply's call changes.
    pub fn files_changed(&self, episode: EpisodeId, call: &ToolCall) -> BTreeSet<RelPath> {
        let session = self.session_of(episode).unwrap_or_default();
        let view = self.view();
        let code = self.reply_reader(&view, session);
        let found = self.code_of_reply(code, "", from_ref(call), MessageEnd::Whole);
        let paths = found.iter().filter_map(FoundCode::usable_path);
        paths.cloned().collect()
    }

    /// Judges what calls of a reply do to code, all together, and changes nothing.
    pub fn judge_draft(&self, episode: EpisodeId, calls: &[ToolCall]) -> JudgedDraft {
        self.draft_by(&self.policy, episode, calls)
    }

    fn draft_by(&self, policy: &Policy, episode: EpisodeId, calls: &[ToolCall]) -> JudgedDraft {
        let Some(session) = self.session_of(episode) else {
            return JudgedDraft::default();
        };
        let view = StateView {
            is_of_draft: true,
            ..self.view()
        };
        let code = self.reply_reader(&view, session);
        let found = self.code_of_reply(code, "", calls, MessageEnd::Whole);
        if found.is_empty() {
            return JudgedDraft::default();
        }
        let asked = reader::last_own_words(&view, &mut self.index.borrow_mut(), session);
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
        JudgedDraft::of(judging, &found)
    }

    /// Records that calls are refused before their client has them.
    pub fn refuse_draft(
        &mut self,
        at: UnixMillis,
        episode: EpisodeId,
        calls: &[ToolCall],
        (draft, attempt): (&JudgedDraft, DraftAttempt),
    ) -> Batch {
        let mut work = self.step_of(at, episode);
        self.fold_arguments(calls.iter().map(|call| &call.arguments), &mut work);
        let calls = reply::call_refs(&self.view(), calls);
        let events = draft.refuse(&self.view(), calls, attempt);
        self.fold(events, &mut work);
        work.finish()
    }

    /// Calls that were refused before their client had them.
    pub(crate) fn retrace_draft(&mut self, mut work: BatchBuilder, draft: &DraftRefused) {
        let calls: Vec<ToolCall> = self.calls_on_record(&draft.tool_calls);
        let attempt = match draft.told {
            Some(_) => DraftAttempt::First,
            None => DraftAttempt::Second,
        };
        let episode = work.episode;
        self.decide(&mut work, |engine, policy| -> Vec<Event> {
            let judged = engine.draft_by(policy, episode, &calls);
            judged.refuse(&engine.view(), draft.tool_calls.clone(), attempt)
        });
    }
}
