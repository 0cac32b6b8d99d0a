//! A chat response that goes on over several rounds: what the engine says in the model's place, the next request, the end.

use std::time::Duration;

use tslp_core::event::ServerUsage;
use tslp_core::message::ToolCall;
use tslp_wire::chat::rounds::{DeliveredCalls, ResponseForm};
use tslp_wire::chat::stream_progress::{StreamProgress, StreamStage};
use tslp_wire::http::error::Refusal;
use tslp_wire::http::head::{self, ContentCoding, LAST_CHUNK, RequestFraming, ResponseFraming};
use tslp_wire::http::outgoing::Outgoing;
use tslp_wire::http::request::Persistence;
use tslp_wire::http::response::ExpectedBody;

use super::MainLoop;
use super::client::{
    Client, ContinuedResponse, Downstream, ErrorEventForm, ReplyEndHandling, ReplyGate, Retry,
    Upload, UpstreamCall,
};
use super::upstreams::LinkUse;
use crate::channel::{ExchangeId, Handover, ModelRequest, ResponseEnd, RoundsAllowed, ToEngine};
use crate::upstream::connection::{ReceivedSoFar, RequestBytes, ResponseReader};

/// Bytes of the response's body.
pub(super) fn write_body(out: &mut Outgoing, downstream: Downstream, data: &[u8]) {
    let Downstream::Streaming { framing, .. } = downstream else {
        return;
    };
    match framing {
        _ if data.is_empty() => {}
        ResponseFraming::Chunked => head::write_chunk(out.buffer(), data),
        ResponseFraming::Length(_) | ResponseFraming::Close => out.buffer().extend_from_slice(data),
        ResponseFraming::Bodiless => {}
    }
}

/// Time between two comments in a stream that is held, so that no client takes it for dead.
const COMMENT_EVERY: Duration = Duration::from_secs(1);

const COMMENT: &[u8] = b": the reply is judged before it is shown\n\n";

/// What a model server is asked for after a response that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskedFor {
    /// The reply's next round.
    More,
    /// Another reply in the place of the first one, which cost so much.
    Another(ServerUsage),
}

impl MainLoop {
    /// A round's response is over; the engine says whether another one follows.
    pub(super) fn round_complete(&mut self, client: &mut Client, is_clean: bool) {
        let Some((id, call, _)) = client.call_parts() else {
            return;
        };
        let Some(reply) = &mut call.chat else {
            return;
        };
        let Some(continued) = &mut reply.continued else {
            return;
        };
        let (status, upstream) = (continued.status, continued.upstream);
        let complete = match reply.allowed {
            RoundsAllowed::One => Vec::new(),
            _ => continued.rounds.complete_calls(true),
        };
        self.ask_about_calls(id, call, complete, true);
        self.end_reply(id, call, ResponseEnd::Complete { status });
        let idle = is_clean && upstream == Persistence::KeepAlive && call.request.rest_len() == 0;
        self.leave_link(call, if idle { LinkUse::Keep } else { LinkUse::Close });
        client.moves += 1;
    }

    /// Has the engine judge calls of the client's own tools, once it has read what came with them.
    pub(super) fn ask_about_calls(
        &mut self,
        exchange: ExchangeId,
        call: &mut UpstreamCall,
        complete: Vec<(usize, ToolCall)>,
        is_over: bool,
    ) {
        if let Some(reply) = call.chat.as_mut().filter(|_| !complete.is_empty()) {
            self.engine.send(ToEngine::ReplyBytes {
                exchange,
                bytes: std::mem::take(&mut reply.copied_bytes),
                handover: Handover::Enough,
            });
        }
        for (number, call) in complete {
            self.engine.send(ToEngine::CallComplete {
                exchange,
                number,
                call,
                is_over,
            });
        }
    }

    /// Says something in the model's place.
    pub(super) fn say_for_model(&mut self, client: &mut Client, text: &str) {
        Self::change_rounds(client, |continued| {
            let waited = continued.release();
            [waited, continued.rounds.say_for_model(text)].concat()
        });
    }

    /// Lets a call of the client's own tools go, or says something in its place.
    pub(super) fn call_judged(
        &mut self,
        client: &mut Client,
        number: usize,
        instead: Option<String>,
    ) {
        Self::change_rounds(client, |continued| {
            let passed = continued.rounds.call_judged(number, instead);
            continued.pass(passed)
        });
    }

    /// The client gets calls in the place of the text that they were written as.
    pub(super) fn deliver_calls(&mut self, client: &mut Client, calls: &DeliveredCalls) {
        Self::change_rounds(client, |continued| {
            continued.rounds.deliver_calls(calls);
            Vec::new()
        });
    }

    /// The first reply is the one that the client gets.
    pub(super) fn keep_draft(&mut self, client: &mut Client, usage: ServerUsage) {
        Self::change_rounds(client, |continued| {
            continued.take_draft_back(usage);
            Vec::new()
        });
    }

    /// Passes on what a change of the rounds gives.
    fn change_rounds(client: &mut Client, change: impl FnOnce(&mut ContinuedResponse) -> Vec<u8>) {
        if let Some((_, call, out)) = client.call_parts()
            && let Some(continued) = call.rounds_state()
        {
            let passed = change(continued);
            write_body(out, call.downstream, &passed);
            client.moves += 1;
        }
    }

    pub(super) fn next_round(
        &mut self,
        key: usize,
        client: &mut Client,
        request: ModelRequest,
        asked: AskedFor,
    ) {
        if let Some(refusal) = self.durability.refusal() {
            return self.response_broke(client, &refusal);
        }
        let Client { exchange, out, .. } = client;
        let Some(exchange) = exchange.as_deref_mut() else {
            return;
        };
        let body = request.body;
        let framing = RequestFraming::Length(body.len() as u64);
        let head = self.request_head(exchange, framing, ContentCoding::Identity);
        let id = exchange.id;
        let Some(call) = exchange.call().filter(|call| call.waits_for_tools()) else {
            return;
        };
        let Some(reply) = &mut call.chat else {
            return;
        };
        if let Some(continued) = &mut reply.continued {
            if let AskedFor::Another(usage) = asked {
                continued.set_aside(reply.dialect, usage);
            } else {
                let passed = continued.rounds.next_round();
                write_body(out, call.downstream, &passed);
            }
        }
        self.budget.goes_on(id, body.len() as u64);
        reply.end_handling = ReplyEndHandling::NotYet;
        reply.progress = StreamProgress::new(reply.dialect);
        // A turn costs two requests at most, whatever becomes of the second.
        call.retry = match asked {
            AskedFor::More => Retry::of_body(&body),
            AskedFor::Another(_) => Retry::Never,
        };
        call.request = RequestBytes::new(head, body);
        call.upload = Upload::Complete;
        call.reader = ResponseReader::new(ExpectedBody::WithBody);
        self.use_model(id);
        client.moves += 1;
        self.start_call(key, client);
    }

    /// No round follows: the response comes to its end.
    pub(super) fn finish_rounds(&mut self, client: &mut Client) {
        let Client { exchange, out, .. } = client;
        let Some(exchange) = exchange.as_deref_mut() else {
            return;
        };
        let (to, server) = (exchange.response_to(), exchange.server);
        let Some(call) = exchange.call() else {
            return;
        };
        let Some(reply) = &mut call.chat else {
            return;
        };
        let Some(mut continued) = reply.continued.take() else {
            return;
        };
        let episode = reply.episode.to_string();
        let headers = std::mem::take(&mut reply.headers);
        let waited = continued.release();
        let ContinuedResponse {
            rounds,
            head,
            status,
            ..
        } = *continued;
        if !matches!(status, 200..=299) {
            let url = &self.connections.server(server).config.url;
            let message = format!(
                "the model server at {url} refused to go on after a tool's result (status {status})"
            );
            let refusal = Refusal::new(502, "upstream_refused_round", message);
            return match rounds.response_form() {
                ResponseForm::Stream => self.response_broke(client, &refusal),
                ResponseForm::Whole => {
                    self.replace_response(client, &refusal, ResponseEnd::UpstreamBroken)
                }
            };
        }
        let form = rounds.response_form();
        let rest = [waited, rounds.last_bytes()].concat();
        let downstream = std::mem::replace(&mut call.downstream, Downstream::Done);
        match form {
            ResponseForm::Stream => {
                write_body(out, downstream, &rest);
                if let Downstream::Streaming {
                    framing: ResponseFraming::Chunked,
                    ..
                } = downstream
                {
                    out.buffer().extend_from_slice(LAST_CHUNK);
                }
            }
            ResponseForm::Whole => {
                let mut fields = exchange.caller_fields();
                fields.push(("x-tslp-episode", &episode));
                fields.extend(headers.iter().map(|(name, value)| (*name, value.as_str())));
                let framing = ResponseFraming::Length(rest.len() as u64);
                head::write_relayed_response(out.buffer(), to, &head, framing, &fields);
                out.buffer().extend_from_slice(&rest);
            }
        }
        client.moves += 1;
    }

    /// A body that is too long to be kept back, or a stream that doesn't end after its last word, is passed on as it comes from
    /// now on, and asks for nothing. Calls that have to be judged first aren't passed on.
    pub(super) fn pass_on_as_it_came(&mut self, client: &mut Client) {
        if self.keep_first_reply(client) {
            return;
        }
        let Some((id, call, out)) = client.call_parts() else {
            return;
        };
        let Some(reply) = &mut call.chat else {
            return;
        };
        let Some(continued) = &mut reply.continued else {
            return;
        };
        if reply.allowed == RoundsAllowed::OneJudged && continued.rounds.may_hold_calls() {
            if !continued.is_too_long() {
                return self.round_complete(client, false);
            }
            let reason = "its calls of tools are longer than what the Guardian reads of a reply";
            let refusal = Refusal::new(502, "calls_not_judged", reason.to_owned());
            return self.response_broke(client, &refusal);
        }
        if continued.rounds.is_continued()
            && continued.rounds.response_form() == ResponseForm::Whole
        {
            let reason = "a later round's body is longer than what is kept of one";
            let refusal = Refusal::new(502, "upstream_broke", reason.to_owned());
            return self.response_broke(client, &refusal);
        }
        let Some(mut continued) = reply.continued.take() else {
            return;
        };
        reply.allowed = RoundsAllowed::One;
        reply.offered = None;
        let may_be_acted_on = reply.progress.stage() >= StreamStage::ToolCallComplete;
        if may_be_acted_on && reply.gate == ReplyGate::Open {
            reply.hold_last_piece(out);
        }
        let waited = continued.release();
        let ContinuedResponse {
            mut rounds, head, ..
        } = *continued;
        self.budget.request_gone(id);
        // Before more of its bytes: the engine must not answer calls in a reply that the client has got already.
        self.engine.send(ToEngine::OneRound(id));
        let held = if rounds.is_continued() {
            rounds.last_bytes()
        } else {
            rounds.take_held()
        };
        if call.downstream == Downstream::Waiting {
            self.relay_head(client, &head);
        }
        if let Some((_, call, out)) = client.call_parts() {
            write_body(out, call.downstream, &[waited, held].concat());
        }
        client.moves += 1;
    }

    /// If a reply was asked for in the place of a refused one and comes to nothing: ends it, and the first one goes out once the
    /// engine says so.
    pub(super) fn keep_first_reply(&mut self, client: &mut Client) -> bool {
        let Some((id, call, _)) = client.call_parts() else {
            return false;
        };
        let continued = call.rounds_state();
        if continued.is_none_or(|continued| continued.draft.is_none()) {
            return false;
        }
        if !call.waits_for_tools() {
            self.leave_link(call, LinkUse::Close);
            self.end_reply(id, call, ResponseEnd::UpstreamBroken);
            client.moves += 1;
        }
        true
    }

    /// Lets clients whose replies are held know that something is coming. While a response comes in, its bytes are the occasion,
    /// so that a server's silence is noticed as ever.
    pub(super) fn comment_to_waiting(&mut self) {
        if self.next_comment.is_none_or(|next| next > self.now) {
            return;
        }
        self.next_comment = None;
        for key in self.connections.clients_with_exchange() {
            self.with_client(key, |main_loop, client| {
                let is_silent = |call: &mut UpstreamCall| {
                    call.reader.received_so_far() == ReceivedSoFar::Nothing
                        || call.waits_for_tools()
                };
                if client.call().is_some_and(is_silent) {
                    main_loop.comment_if_due(client);
                }
            });
        }
    }

    /// Writes a comment into a held stream of events, if the last one is some time ago.
    pub(super) fn comment_if_due(&mut self, client: &mut Client) {
        let Some((_, call, out)) = client.call_parts() else {
            return;
        };
        let downstream = call.downstream;
        let Downstream::Streaming {
            media: ErrorEventForm::EventStream,
            ..
        } = downstream
        else {
            return;
        };
        let Some(continued) = call.rounds_state().filter(|it| it.waiting.is_some()) else {
            return;
        };
        let due = continued
            .comment_due
            .get_or_insert(self.now + COMMENT_EVERY);
        if *due <= self.now {
            *due = self.now + COMMENT_EVERY;
            write_body(out, downstream, COMMENT);
        }
        let due = *due;
        self.next_comment = Some(self.next_comment.map_or(due, |next| next.min(due)));
    }
}
