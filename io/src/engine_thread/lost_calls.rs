//! Calls of the client's own tools that a model wrote as text: delivered as calls, or asked for once more.

use std::sync::Arc;

use tslp_core::event::{LostCallFound, LostCallOutcome};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::EpisodeId;
use tslp_core::message::ToolCall;
use tslp_core::redact;
use tslp_wire::chat::asked_again::asked_again;
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::lost_calls::{FoundCall, FoundText, LostCallWatch, OfferedTools};
use tslp_wire::chat::reply::ReplyDecoder;
use tslp_wire::chat::request::RequestBody;
use tslp_wire::chat::rounds::DeliveredCalls;

use super::EngineThread;
use crate::channel::{ExchangeId, ResponseEnd, RoundsAllowed, ToLoop};
use crate::config::settings::CallRepair;

/// A reply's text on the way to where it becomes calls.
pub(super) struct LostCalls {
    tools: Arc<OfferedTools>,
    watch: LostCallWatch,
    /// The request's body.
    body: Arc<Vec<u8>>,
    /// The reply that was asked for once more.
    first: Option<FirstReply>,
}

/// A reply whose text was meant to be calls.
struct FirstReply {
    decoder: ReplyDecoder,
    written: String,
    /// What the second reply said besides calls: nobody's.
    besides: String,
}

/// What became of a reply's text.
pub(super) enum SettledCalls {
    /// Nothing.
    None,
    /// It is settled, and the reply ends so.
    Over(ResponseEnd),
    /// The model is asked once more.
    AskedAgain,
}

impl LostCalls {
    /// Before the first byte of a reply to this request.
    pub(super) fn new(tools: Arc<OfferedTools>, body: Arc<Vec<u8>>) -> Self {
        Self {
            watch: LostCallWatch::new(Arc::clone(&tools)),
            tools,
            body,
            first: None,
        }
    }

    /// Takes more text; returns what is certain to be no call.
    pub(super) fn push(&mut self, text: &str) -> String {
        let passed = self.watch.push(text);
        match &mut self.first {
            None => passed,
            Some(first) => {
                first.besides.push_str(&passed);
                String::new()
            }
        }
    }

    /// Whether the reply under way was asked for in the place of one whose text was meant to be calls.
    pub(super) const fn is_second(&self) -> bool {
        self.first.is_some()
    }

    /// What is kept back.
    pub(super) fn held(&self) -> &str {
        self.watch.held()
    }

    /// Bytes that are kept of the reply.
    pub(super) fn held_bytes(&self) -> usize {
        let first = self.first.as_ref();
        let first = first.map_or(0, |first| first.written.len() + first.besides.len());
        self.held().len() + first
    }
}

/// Whether the model ended its turn by itself.
fn ended_turn(decoder: &ReplyDecoder) -> bool {
    let ends = |reason| {
        matches!(
            reason,
            "stop" | "end_turn" | "completed" | "tool_calls" | "tool_use"
        )
    };
    decoder.is_finished() && decoder.finish_reason().is_none_or(ends)
}

/// The ids of a reply's calls: nine letters and digits, since some models' templates take no others.
fn call_id(episode: EpisodeId, number: usize) -> String {
    format!("t{:06}{:02}", episode.0 % 1_000_000, number % 100)
}

impl EngineThread {
    /// The tools of a request if text that may be calls of them is to be kept back.
    pub(super) fn watched_tools(
        &self,
        dialect: Dialect,
        request: &RequestBody<'_>,
    ) -> Option<Arc<OfferedTools>> {
        let is_wanted = self.wiring.call_repair == CallRepair::On && !dialect.is_bare_prompt();
        let tools = is_wanted.then(|| request.offered_tools()).flatten();
        tools.map(Arc::new)
    }

    /// A response is over: calls in its text are delivered, or asked for once more.
    pub(super) fn settle_lost_calls(
        &mut self,
        exchange: ExchangeId,
        ending: ResponseEnd,
    ) -> SettledCalls {
        let Some(running) = self.running.get_mut(&exchange) else {
            return SettledCalls::None;
        };
        let Some(mut lost) = running.lost_calls.take() else {
            return SettledCalls::None;
        };
        let has_ended = ending.is_success() && ended_turn(&running.decoder);
        let found = match (running.decoder.has_calls(), &lost.first) {
            _ if !has_ended => FoundText::Prose,
            (true, Some(_)) => calls_of(&running.decoder),
            (true, None) => FoundText::Prose,
            (false, _) => lost.watch.found(),
        };
        match (found, lost.first.take()) {
            (FoundText::Calls(calls), first) => {
                let mut written = lost.held().to_owned();
                let mut delivered = DeliveredCalls::default();
                if let Some(first) = first {
                    self.wiring.to_loop.send(ToLoop::KeepDraft(exchange));
                    delivered.usage = running.decoder.server_usage().unwrap_or_default();
                    (running.decoder, written) = (first.decoder, first.written);
                }
                delivered.written = written;
                self.deliver_calls(exchange, calls, delivered);
                SettledCalls::Over(ResponseEnd::Complete { status: 200 })
            }
            (FoundText::Flawed(flaw), None) => self.ask_for_calls_again(exchange, lost, flaw),
            (_, None) => {
                running.reply.tail.push_str(lost.held());
                SettledCalls::None
            }
            (_, Some(first)) => {
                running.reply.tail.push_str(&first.written);
                // The client didn't get the reply that was complete.
                let is_gone = matches!(ending, ResponseEnd::ClientGone | ResponseEnd::LedgerFailed);
                running.decoder = match is_gone {
                    true => ReplyDecoder::new(running.decoder.dialect()),
                    false => first.decoder,
                };
                let episode = running.episode;
                if is_gone {
                    return SettledCalls::Over(ending);
                }
                self.record_lost_calls(
                    episode,
                    &(first.besides + lost.held()),
                    LostCallOutcome::LeftAsText,
                    (Vec::new(), String::new()),
                );
                self.wiring.to_loop.send(ToLoop::KeepDraft(exchange));
                SettledCalls::Over(ResponseEnd::Complete { status: 200 })
            }
        }
    }

    /// The client gets calls in the place of the text that they were written as, but for those that the Guardian denies.
    fn deliver_calls(
        &mut self,
        exchange: ExchangeId,
        calls: Vec<FoundCall>,
        mut delivered: DeliveredCalls,
    ) {
        let Some(running) = self.running.get(&exchange) else {
            return;
        };
        let (episode, is_judged) = (running.episode, running.rounds != RoundsAllowed::One);
        let mut kept = Vec::new();
        for (number, call) in calls.into_iter().enumerate() {
            let written = ToolCall {
                name: call.name.clone(),
                arguments: call.arguments.to_string(),
                ..ToolCall::default()
            };
            let written = self.fitted_call(exchange, &written).unwrap_or(written);
            let arguments = serde_json::from_str(&written.arguments);
            let call = FoundCall {
                arguments: arguments.unwrap_or(call.arguments),
                ..call
            };
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
            running.decoder.deliver_calls(kept);
        }
        let outcome = LostCallOutcome::Delivered;
        self.record_lost_calls(episode, &delivered.written, outcome, (tools, String::new()));
        self.wiring.to_loop.send(ToLoop::DeliverCalls {
            exchange,
            calls: delivered,
        });
    }

    /// Asks once more, with what is wrong with the calls after all that the model was given, so that its prefix stays.
    fn ask_for_calls_again(
        &mut self,
        exchange: ExchangeId,
        mut lost: Box<LostCalls>,
        flaw: String,
    ) -> SettledCalls {
        let Some(running) = self.running.get_mut(&exchange) else {
            return SettledCalls::None;
        };
        let (episode, dialect) = (running.episode, running.decoder.dialect());
        let written = lost.held().to_owned();
        let complaint = format!(
            "You answered with a call of a tool that was not run, because {flaw}:\n{written}\nCall the tool once more, with arguments that fit its schema."
        );
        let Some(body) = asked_again(dialect, &lost.body, &complaint) else {
            running.reply.tail.push_str(&written);
            return SettledCalls::None;
        };
        let request = running.request_with(body);
        lost.first = Some(FirstReply {
            decoder: running.next_response(),
            written: written.clone(),
            besides: String::new(),
        });
        lost.watch = LostCallWatch::new(Arc::clone(&lost.tools));
        running.lost_calls = Some(lost);
        let outcome = LostCallOutcome::AskedAgain;
        self.record_lost_calls(episode, &written, outcome, (Vec::new(), flaw));
        self.wiring
            .to_loop
            .send(ToLoop::AskAgain { exchange, request });
        SettledCalls::AskedAgain
    }

    pub(super) fn record_lost_calls(
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

/// The calls of a second reply, as its server read them.
fn calls_of(decoder: &ReplyDecoder) -> FoundText {
    let calls = decoder.tool_calls().iter().map(|call| {
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
