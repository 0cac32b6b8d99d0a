//! Calls of the client's own tools that a model wrote as text: delivered as calls, or asked for once more.

use std::ops::ControlFlow;
use std::sync::Arc;

use tslp_core::event::{LostCallFound, LostCallOutcome};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::EpisodeId;
use tslp_core::message::ToolCall;
use tslp_core::policy::ClientTools;
use tslp_core::redact;
use tslp_decide::judge::draft::DraftAttempt;
use tslp_wire::chat::asked_again::asked_again;
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::lost_calls::{FoundCall, FoundText, OfferedTools, complaint};
use tslp_wire::chat::reply::ReadReply;
use tslp_wire::chat::reply_pipe::{CallRule, DeliveredCalls};
use tslp_wire::chat::request::RequestBody;

use super::{EngineThread, ReplyUnderWay};
use crate::channel::{ExchangeId, ResponseEnd, ToLoop};

/// Whether the model ended its turn by itself.
fn ended_turn(read: &ReadReply) -> bool {
    let ends = |reason: &str| {
        matches!(
            reason,
            "stop" | "end_turn" | "completed" | "tool_calls" | "tool_use"
        )
    };
    read.is_finished && read.finish_reason.as_deref().is_none_or(ends)
}

/// The ids of a reply's calls: nine letters and digits, since some models' templates take no others.
pub(super) fn call_id(episode: EpisodeId, number: usize) -> String {
    format!("t{:06}{:02}", episode.0 % 1_000_000, number % 100)
}

impl EngineThread {
    /// The tools of a request if text that may be calls of them is to be kept back.
    pub(super) fn watched_tools(
        &self,
        dialect: Dialect,
        body: &RequestBody<'_>,
    ) -> Option<Arc<OfferedTools>> {
        if !self.engine.repairs_calls() || dialect.is_bare_prompt() {
            return None;
        }
        body.offered_tools().map(Arc::new)
    }

    /// A response is over: calls in its text are delivered, or asked for once more. Breaks with the reply's end, if it is over, and
    /// with nothing if another response follows.
    pub(super) fn settle_lost_calls(
        &mut self,
        exchange: ExchangeId,
        ending: ResponseEnd,
    ) -> ControlFlow<Option<ResponseEnd>> {
        let Some(running) = self.running.get_mut(&exchange) else {
            return ControlFlow::Continue(());
        };
        let written = std::mem::take(&mut running.read.held_text);
        if !std::mem::take(&mut running.may_hold_calls) {
            running.reply.tail.push_str(&written);
            return ControlFlow::Continue(());
        }
        let is_second = running.first.is_some();
        let has_ended = ending.is_success() && ended_turn(&running.read);
        let found = match running.read.calls.is_empty() {
            _ if !has_ended => FoundText::Prose,
            false if is_second => calls_of(&running.read),
            false => FoundText::Prose,
            true => std::mem::take(&mut running.read.found),
        };
        let found = match found {
            FoundText::Calls(calls) if self.makes_harm(exchange, &calls) => FoundText::Prose,
            found => found,
        };
        let loss = match &found {
            FoundText::Calls(calls) if !is_second => self.refuse_written(exchange, calls),
            _ => None,
        };
        let Some(running) = self.running.get_mut(&exchange) else {
            return ControlFlow::Continue(());
        };
        match found {
            FoundText::Calls(calls) => match loss {
                Some(remark) => {
                    let flaw = "it would lose code".to_owned();
                    self.ask_for_calls_again(exchange, &written, (remark, flaw))
                }
                None => {
                    let first = self.take_first_reply(exchange);
                    self.deliver_calls(exchange, calls, first.unwrap_or(written));
                    ControlFlow::Break(Some(ResponseEnd::Complete { status: 200 }))
                }
            },
            FoundText::Flawed(flaw) if !is_second => {
                let remark = complaint(&written, &flaw);
                self.ask_for_calls_again(exchange, &written, (remark, flaw))
            }
            _ if !is_second => {
                running.reply.tail.push_str(&written);
                ControlFlow::Continue(())
            }
            _ => {
                let (episode, reply) = (running.episode, &running.reply);
                let said = [&*reply.text, &reply.tail, &written].concat();
                let held = self.take_first_reply(exchange).unwrap_or_default();
                let is_gone = matches!(ending, ResponseEnd::ClientGone | ResponseEnd::LedgerFailed);
                if let Some(running) = self.running.get_mut(&exchange) {
                    running.reply.tail.push_str(&held);
                    // The client didn't get the reply that was complete.
                    if is_gone {
                        running.read = ReadReply::default();
                        return ControlFlow::Break(Some(ending));
                    }
                }
                let outcome = LostCallOutcome::LeftAsText;
                self.record_lost_calls(episode, &said, outcome, (Vec::new(), String::new()));
                ControlFlow::Break(Some(ResponseEnd::Complete { status: 200 }))
            }
        }
    }

    /// Whether the Guardian denies one of the calls and, since it only observes, wouldn't keep it back: what harms nobody as a text
    /// isn't made a call.
    fn makes_harm(&mut self, exchange: ExchangeId, calls: &[FoundCall]) -> bool {
        let choice = self.client_tools();
        let observes = matches!(choice, ClientTools::Observe | ClientTools::Hold);
        let running = self.running.get_mut(&exchange).filter(|_| observes);
        let Some(running) = running else {
            return false;
        };
        running.are_calls_judged = true;
        let episode = running.episode;
        let denied = calls.iter().filter(|call| {
            let arguments = call.arguments.to_string();
            self.judge_client_call(episode, &call.name, &arguments)
                .is_some()
        });
        denied.count() > 0
    }

    /// The client gets calls in the place of the text that they were written as, but for those that the Guardian denies.
    fn deliver_calls(&mut self, exchange: ExchangeId, calls: Vec<FoundCall>, written: String) {
        let mut delivered = DeliveredCalls {
            written,
            ..DeliveredCalls::default()
        };
        let Some(running) = self.running.get(&exchange) else {
            return;
        };
        let is_judged = running.calls != CallRule::AsTheyCome;
        let episode = running.episode;
        let mut kept = Vec::new();
        for (number, call) in calls.into_iter().enumerate() {
            let came = as_call(&call);
            let fitted = self.fitted_call(exchange, &came);
            let arguments = fitted
                .as_ref()
                .and_then(|it| serde_json::from_str(&it.arguments).ok());
            let call = FoundCall {
                arguments: arguments.unwrap_or(call.arguments),
                ..call
            };
            let written = fitted.unwrap_or(came);
            let denied = is_judged.then(|| self.text_instead_of(exchange, &written));
            match denied.flatten() {
                Some(text) => delivered.instead.push_str(&text),
                None => {
                    delivered.calls.push((call_id(episode, number), call));
                    kept.push(written);
                }
            }
        }
        let tools = kept.iter().map(|call| call.name.clone()).collect();
        if let Some(running) = self.running.get_mut(&exchange) {
            running.read.deliver_calls(kept);
        }
        let outcome = LostCallOutcome::Delivered;
        self.record_lost_calls(episode, &delivered.written, outcome, (tools, String::new()));
        self.wiring.to_loop.send(ToLoop::DeliverCalls {
            exchange,
            calls: delivered,
        });
    }

    /// If written calls lose code: what the model is told of it, once that is on record.
    fn refuse_written(&mut self, exchange: ExchangeId, calls: &[FoundCall]) -> Option<String> {
        let episode = self.running.get(&exchange)?.episode;
        let calls: Vec<ToolCall> = calls.iter().map(as_call).collect();
        let judged = self.engine.judge_draft(episode, &calls);
        judged.is_faulty().then(|| {
            self.refuse_draft(episode, &calls, (&judged, DraftAttempt::First));
            judged.complaint()
        })
    }

    /// Asks once more, with a remark on the calls, for their flaw.
    fn ask_for_calls_again(
        &mut self,
        exchange: ExchangeId,
        written: &str,
        (remark, flaw): (String, String),
    ) -> ControlFlow<Option<ResponseEnd>> {
        let request =
            |running: &ReplyUnderWay, body: &[u8]| asked_again(running.dialect, body, &remark);
        let is_asked = self.ask_again(exchange, request, written.to_owned());
        let Some(running) = self.running.get_mut(&exchange) else {
            return ControlFlow::Continue(());
        };
        if !is_asked {
            running.reply.tail.push_str(written);
            return ControlFlow::Continue(());
        }
        running.may_hold_calls = true;
        let episode = running.episode;
        let outcome = LostCallOutcome::AskedAgain;
        self.record_lost_calls(episode, written, outcome, (Vec::new(), flaw));
        ControlFlow::Break(None)
    }

    /// A call with its file's own text, if an old text isn't there and exactly one place can be meant.
    pub(super) fn fitted_call(
        &mut self,
        exchange: ExchangeId,
        call: &ToolCall,
    ) -> Option<ToolCall> {
        let episode = self.running.get(&exchange)?.episode;
        let (file, arguments) = self.engine.fitted_arguments(episode, call)?;
        let flaw = format!("the text that it replaces isn't in {file}");
        let told = (Vec::from([call.name.clone()]), flaw);
        self.record_lost_calls(episode, &call.arguments, LostCallOutcome::Fitted, told);
        Some(ToolCall {
            arguments,
            ..call.clone()
        })
    }

    fn record_lost_calls(
        &mut self,
        episode: EpisodeId,
        written: &str,
        outcome: LostCallOutcome,
        (tools, flaw): (Vec<String>, String),
    ) {
        let found = LostCallFound {
            written: ArtifactHash::of(b""),
            outcome,
            tools,
            flaw: redact::without_credentials(&flaw).into_owned(),
        };
        let at = self.wiring.clock.now();
        let written = redact::without_credentials(written);
        let batch = self.engine.lost_call_found(at, episode, found, &written);
        self.commit_batch(batch);
    }
}

fn as_call(found: &FoundCall) -> ToolCall {
    ToolCall {
        name: found.name.clone(),
        arguments: found.arguments.to_string(),
        ..ToolCall::default()
    }
}

/// The calls of a second reply: real ones, or those that its text is.
pub(super) fn calls_written(read: &mut ReadReply) -> Vec<ToolCall> {
    match std::mem::take(&mut read.found) {
        FoundText::Calls(calls) if read.calls.is_empty() => calls.iter().map(as_call).collect(),
        _ => std::mem::take(&mut read.calls)
            .into_iter()
            .map(|(_, call)| call)
            .collect(),
    }
}

/// The calls of a second reply, as its server read them.
fn calls_of(read: &ReadReply) -> FoundText {
    let calls = read.calls.iter().map(|(_, call)| {
        let arguments = serde_json::from_str(&call.arguments).ok()?;
        Some(FoundCall {
            name: call.name.clone(),
            arguments,
        })
    });
    calls
        .collect::<Option<Vec<_>>>()
        .map_or(FoundText::Prose, FoundText::Calls)
}
