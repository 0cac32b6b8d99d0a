//! An agent's calls that change files, looked at before its client has them: those that lose code are asked for once more
//! (docs/repair.md).

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::slice::from_ref;

use tslp_core::capture::vocabulary;
use tslp_core::ids::EpisodeId;
use tslp_core::message::ToolCall;
use tslp_core::path::RelPath;
use tslp_decide::judge::draft::{DraftAttempt, JudgedDraft};
use tslp_wire::chat::asked_again::with_results;
use tslp_wire::chat::reply::ReadReply;

use super::lost_calls::{call_id, calls_written};
use super::{EngineThread, ReplyUnderWay};
use crate::channel::{ExchangeId, ResponseEnd};
use crate::diagnostics::recent::client_name;

/// Whoever has waited longer for a reply isn't made to wait for another one: what it lost is told.
const ASKED_WITHIN_MILLIS: i64 = 60_000;

/// What is said of a call that came after one that was refused.
const NOT_RUN: &str = "Not run, since a call before it was refused.";

/// The calls of a reply so far, as the client is to have them.
#[derive(Debug, Default)]
pub(super) struct CallRepair {
    /// Those that change files and went on.
    passed: Vec<ToolCall>,
    /// Those that wait for the reply's end: the first one that loses code, and all after it, since their order counts.
    waiting: Vec<WaitingCall>,
    /// Whether the model was asked once more.
    was_asked: bool,
}

#[derive(Clone, Debug)]
struct WaitingCall {
    number: usize,
    call: ToolCall,
    /// Whether it isn't the one that came.
    is_replaced: bool,
    /// Whether it is the second reply's, of which the Guardian knows nothing yet.
    is_new: bool,
    /// The files that it changes.
    files: BTreeSet<RelPath>,
}

impl CallRepair {
    /// All calls, in their order.
    fn calls(&self) -> Vec<ToolCall> {
        let waiting = self.waiting.iter().map(|it| &it.call);
        self.passed.iter().chain(waiting).cloned().collect()
    }
}

/// What a call says, whatever its id.
fn said_by(call: &ToolCall) -> (&str, &str) {
    (&call.name, &call.arguments)
}

/// Whether a response is over and nothing of it is missing; one that was cut at its limit would be cut again.
fn is_whole(ending: ResponseEnd, read: &ReadReply) -> bool {
    ending.is_success() && read.is_finished && !read.was_cut()
}

impl EngineThread {
    /// Whether a call waits for the reply's end.
    pub(super) fn waits_for_reply(
        &mut self,
        exchange: ExchangeId,
        number: usize,
        came: &ToolCall,
        fitted: Option<&ToolCall>,
    ) -> bool {
        let running = self.running.get_mut(&exchange);
        let Some((repair, episode)) =
            running.and_then(|it| Some((it.repair.as_mut()?, it.episode)))
        else {
            return false;
        };
        let call = fitted.unwrap_or(came).clone();
        let files = self.engine.files_changed(episode, &call);
        if repair.waiting.is_empty() {
            if files.is_empty() {
                return false;
            }
            let calls = [&*repair.passed, from_ref(&call)].concat();
            if !self.engine.judge_draft(episode, &calls).is_faulty() {
                repair.passed.push(call);
                return false;
            }
        }
        repair.waiting.push(WaitingCall {
            number,
            files,
            call,
            is_replaced: fitted.is_some(),
            is_new: false,
        });
        true
    }

    fn call_repair(&mut self, exchange: ExchangeId) -> Option<&mut CallRepair> {
        self.running.get_mut(&exchange)?.repair.as_mut()
    }

    /// A response is over: how it ended, once its calls that wait are settled. Breaks if another response was asked for.
    pub(super) fn settle_waiting_calls(
        &mut self,
        exchange: ExchangeId,
        ending: ResponseEnd,
    ) -> ControlFlow<(), ResponseEnd> {
        let now = self.wiring.clock.now();
        let Some(running) = self.running.get(&exchange) else {
            return ControlFlow::Continue(ending);
        };
        let repair = running.repair.as_ref();
        let Some(repair) = repair.filter(|it| !it.waiting.is_empty()) else {
            return ControlFlow::Continue(ending);
        };
        if repair.was_asked {
            return ControlFlow::Continue(self.settle_second_calls(exchange, ending));
        }
        let judged = self.engine.judge_draft(running.episode, &repair.calls());
        let is_quick = now.0 - running.sent_at.0 <= ASKED_WITHIN_MILLIS;
        if judged.is_faulty()
            && is_whole(ending, &running.read)
            && is_quick
            && self.ask_for_changes_again(exchange, &judged)
        {
            return ControlFlow::Break(());
        }
        self.let_waiting_go(exchange);
        ControlFlow::Continue(ending)
    }

    /// Asks for the calls that change files once more: the request goes on from the reply, with what they lose as their results.
    fn ask_for_changes_again(&mut self, exchange: ExchangeId, judged: &JudgedDraft) -> bool {
        let Some(running) = self.running.get(&exchange) else {
            return false;
        };
        let (episode, dialect) = (running.episode, running.dialect);
        let text = [&*running.reply.text, &running.reply.tail].concat();
        let repair = running.repair.iter();
        let waiting = repair
            .flat_map(|it| &it.waiting)
            .filter(|it| !it.files.is_empty());
        let calls: Vec<ToolCall> = waiting.map(|it| it.call.clone()).collect();
        let mut told = Some(judged.complaint());
        let results = calls.iter().enumerate().map(|(number, call)| {
            let result = told.take().unwrap_or_else(|| NOT_RUN.to_owned());
            (call_id(episode, number), call.clone(), result)
        });
        let results: Vec<(String, ToolCall, String)> = results.collect();
        let request = |_: &ReplyUnderWay, body: &[u8]| with_results(dialect, body, &text, &results);
        let is_asked = self.ask_again(exchange, request, String::new());
        let repair = self.call_repair(exchange);
        if let Some(repair) = repair.filter(|_| is_asked) {
            repair.was_asked = true;
            let calls = repair.calls();
            self.refuse_draft(episode, &calls, (judged, DraftAttempt::First));
        }
        is_asked
    }

    /// The second response is over: its calls stand in for those that wait, of the same files. What the model says twice it means, but for
    /// what nobody can mean.
    fn settle_second_calls(&mut self, exchange: ExchangeId, ending: ResponseEnd) -> ResponseEnd {
        let Some(running) = self.running.get_mut(&exchange) else {
            return ending;
        };
        let episode = running.episode;
        let product = client_name(&running.user_agent).unwrap_or_default();
        let takes_text = vocabulary::TAKES_TEXT_FOR_CALL.contains(&product);
        let second = match is_whole(ending, &running.read) {
            true => calls_written(&mut running.read),
            false => Vec::new(),
        };
        self.take_first_reply(exchange);
        let Some(running) = self.running.get_mut(&exchange) else {
            return ending;
        };
        if matches!(ending, ResponseEnd::ClientGone | ResponseEnd::LedgerFailed) {
            // The client didn't get the reply that was complete.
            running.read = ReadReply::default();
            return ending;
        }
        let Some(repair) = &mut running.repair else {
            return ending;
        };
        let mut again: Vec<(BTreeSet<RelPath>, ToolCall)> = second
            .into_iter()
            .map(|call| (self.engine.files_changed(episode, &call), call))
            .collect();
        let first = repair.waiting.clone();
        for waiting in &mut repair.waiting {
            let same = again.iter().position(|(files, _)| *files == waiting.files);
            if let Some(at) = same.filter(|_| !waiting.files.is_empty()) {
                let call = again.remove(at).1;
                waiting.is_new = said_by(&call) != said_by(&waiting.call);
                waiting.is_replaced |= waiting.is_new;
                waiting.call = call;
            }
        }
        // Half of an answer is none.
        let is_held = |path: &RelPath| first.iter().any(|it| it.files.contains(path));
        if again.iter().any(|(files, _)| files.iter().any(is_held)) {
            repair.waiting = first;
        }
        let calls = repair.calls();
        let judged = self.engine.judge_draft(episode, &calls);
        if judged.is_faulty() {
            self.refuse_draft(episode, &calls, (&judged, DraftAttempt::Second));
        }
        let meaningless = judged.meaningless().filter(|_| takes_text);
        if let Some((entity, why)) = meaningless {
            self.keep_back(exchange, &entity.path, &why);
        }
        self.let_waiting_go(exchange);
        ResponseEnd::Complete { status: 200 }
    }

    /// The client gets a sentence in the place of the calls that change a file.
    fn keep_back(&mut self, exchange: ExchangeId, file: &RelPath, why: &str) {
        let repair = self.call_repair(exchange);
        let Some(repair) = repair else { return };
        let (kept, go_on): (Vec<_>, Vec<_>) = std::mem::take(&mut repair.waiting)
            .into_iter()
            .partition(|it| it.files.contains(file));
        repair.waiting = go_on;
        for (at, call) in kept.iter().enumerate() {
            let text = if at == 0 { why } else { NOT_RUN };
            let text = self.in_place_of_call(exchange, format!("{text}\n"));
            self.deny_call(exchange, call.number, text.unwrap_or_default());
        }
    }

    /// The client gets the calls that wait.
    pub(super) fn let_waiting_go(&mut self, exchange: ExchangeId) {
        let repair = self.call_repair(exchange);
        let waiting = repair.map(|it| std::mem::take(&mut it.waiting));
        for waiting in waiting.into_iter().flatten() {
            let denied = match waiting.is_new {
                true => self.text_instead_of(exchange, &waiting.call),
                false => None,
            };
            if let Some(text) = denied {
                self.deny_call(exchange, waiting.number, text);
                continue;
            }
            let instead = Some(waiting.call).filter(|_| waiting.is_replaced);
            self.let_call_go(exchange, waiting.number, instead);
        }
    }

    pub(super) fn refuse_draft(
        &mut self,
        episode: EpisodeId,
        calls: &[ToolCall],
        judged: (&JudgedDraft, DraftAttempt),
    ) {
        let at = self.wiring.clock.now();
        let batch = self.engine.refuse_draft(at, episode, calls, judged);
        self.commit_batch(batch);
    }
}
