//! A chat response that goes on over several rounds: what the engine says in the model's place, the next request, the end.

use std::time::Duration;

use tslp_core::event::ServerUsage;
use tslp_wire::chat::reply_pipe::{CallVerdict, DeliveredCalls, ReplyPipe};
use tslp_wire::http::error::Refusal;
use tslp_wire::http::head::{self, ContentCoding, LAST_CHUNK, RequestFraming, ResponseFraming};
use tslp_wire::http::outgoing::Outgoing;
use tslp_wire::http::response::ExpectedBody;

use super::MainLoop;
use super::client::{Client, Downstream, Retry, Upload};
use super::upstreams::LinkUse;
use crate::channel::{ModelRequest, ResponseEnd};
use crate::upstream::connection::{RequestBytes, ResponseReader};

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

/// Time between two signs of life in a stream that is held, so that no client takes it for dead.
const COMMENT_EVERY: Duration = Duration::from_secs(1);

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
        if let Some(refusal) = self.durability.refusal().filter(|_| self.engine.is_gone()) {
            // Nobody is left who could say what follows.
            return self.response_broke(client, &refusal);
        }
        let Some((id, call, _)) = client.call_parts() else {
            return;
        };
        let (status, is_refused) = (call.status, call.is_refused_later());
        let Some(reply) = &mut call.chat else {
            return;
        };
        let passed = match is_refused {
            true => Vec::new(),
            false => reply.pipe.end(),
        };
        if reply.pipe.form().is_stream() {
            self.write_waiting_head(client);
        }
        let Some((_, call, out)) = client.call_parts() else {
            return;
        };
        write_body(out, call.downstream, &passed);
        self.tell_end(id, call, ResponseEnd::Complete { status });
        self.leave_after_response(call, is_clean);
        client.moves += 1;
    }

    /// Says something in the model's place.
    pub(super) fn say_for_model(&mut self, client: &mut Client, text: &str) {
        Self::change_reply(client, |pipe| pipe.say_for_model(text));
    }

    /// Lets a call of the client's own tools go, as it was judged.
    pub(super) fn call_judged(&mut self, client: &mut Client, number: usize, verdict: CallVerdict) {
        Self::change_reply(client, |pipe| pipe.call_judged(number, verdict));
    }

    /// The client gets calls in the place of the text that they were written as.
    pub(super) fn deliver_calls(&mut self, client: &mut Client, calls: &DeliveredCalls) {
        Self::change_reply(client, |pipe| {
            pipe.deliver_calls(calls);
            Vec::new()
        });
    }

    /// The first reply is the one that the client gets.
    pub(super) fn keep_draft(&mut self, client: &mut Client, usage: ServerUsage) {
        Self::change_reply(client, |pipe| {
            pipe.take_draft_back(usage);
            Vec::new()
        });
        if let Some(call) = client.call() {
            // Only what succeeded is asked for once more.
            call.status = 200;
        }
    }

    /// Passes on what a change of the reply gives.
    fn change_reply(client: &mut Client, change: impl FnOnce(&mut ReplyPipe) -> Vec<u8>) {
        if let Some((_, call, out)) = client.call_parts()
            && let Some(reply) = call.open_reply()
        {
            let passed = change(&mut reply.pipe);
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
        let Some(call) = exchange.call().filter(|call| call.waits_for_engine()) else {
            return;
        };
        let Some(reply) = &mut call.chat else {
            return;
        };
        match asked {
            AskedFor::Another(usage) => reply.pipe.set_aside(usage),
            AskedFor::More => {
                let passed = reply.pipe.next_round();
                write_body(out, call.downstream, &passed);
            }
        }
        self.budget.goes_on(id, body.len() as u64);
        reply.is_over = false;
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
        let status = call.status;
        let Some(reply) = &mut call.chat else {
            return;
        };
        let is_whole = call.downstream == Downstream::Waiting;
        if !matches!(status, 200..=299) {
            let url = &self.connections.server(server).config.url;
            let message = format!(
                "the model server at {url} refused to go on after a tool's result (status {status})"
            );
            let refusal = Refusal::new("upstream_refused_round", message);
            return match is_whole {
                true => self.replace_response(client, &refusal, ResponseEnd::UpstreamBroken),
                false => self.response_broke(client, &refusal),
            };
        }
        let episode = reply.episode.to_string();
        let headers = std::mem::take(&mut reply.headers);
        let rest = reply.pipe.last_bytes();
        if reply.pipe.is_refused() {
            let reason = "the reply can't be read, so its calls of tools can't be judged";
            let refusal = Refusal::new("calls_not_judged", reason.to_owned());
            return self.replace_response(client, &refusal, ResponseEnd::UpstreamBroken);
        }
        let head = reply.head.take();
        let downstream = std::mem::replace(&mut call.downstream, Downstream::Done);
        match head {
            None => {
                write_body(out, downstream, &rest);
                if let Downstream::Streaming {
                    framing: ResponseFraming::Chunked,
                    ..
                } = downstream
                {
                    out.buffer().extend_from_slice(LAST_CHUNK);
                }
            }
            Some(head) => {
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
        let Some((id, call, _)) = client.call_parts() else {
            return;
        };
        let reply = call.chat.as_mut();
        let Some(reply) = reply.filter(|it| it.pipe.waits_for_engine()) else {
            return;
        };
        let is_too_long = reply.pipe.is_too_long();
        if reply.pipe.may_hold_calls() {
            if !is_too_long {
                return self.round_complete(client, false);
            }
            let reason = "its calls of tools are longer than what the Guardian reads of a reply";
            let refusal = Refusal::new("calls_not_judged", reason.to_owned());
            return self.response_broke(client, &refusal);
        }
        if reply.pipe.is_continued() && reply.pipe.is_whole() {
            let reason = "a later round's body is longer than what is kept of one";
            let refusal = Refusal::new("upstream_broke", reason.to_owned());
            return self.response_broke(client, &refusal);
        }
        if is_too_long {
            tracing::warn!(
                episode = %reply.episode,
                "a reply is longer than what is kept of one: the client gets all of it, but none of its code is judged; ask for less at once"
            );
        }
        let held = reply.pipe.pass_on();
        reply.may_ask_again = false;
        // Before more of its bytes: the engine must not answer calls in a reply that the client has got already.
        let read = reply.take_read(id, false);
        self.budget.request_gone(id);
        self.engine.send(read);
        self.write_waiting_head(client);
        if let Some((_, call, out)) = client.call_parts() {
            write_body(out, call.downstream, &held);
        }
        client.moves += 1;
    }

    /// If a reply was asked for in the place of a refused one and comes to nothing: ends it, and the first one goes out once the
    /// engine says so.
    pub(super) fn keep_first_reply(&mut self, client: &mut Client) -> bool {
        let Some((id, call, _)) = client.call_parts() else {
            return false;
        };
        if call
            .open_reply()
            .is_none_or(|reply| !reply.pipe.has_draft())
        {
            return false;
        }
        if !call.waits_for_engine() {
            self.leave_link(call, LinkUse::Close);
            self.tell_end(id, call, ResponseEnd::UpstreamBroken);
            client.moves += 1;
        }
        true
    }

    /// Lets clients whose replies are held know that something is coming.
    pub(super) fn comment_to_waiting(&mut self) {
        if self.next_comment.is_some_and(|next| next <= self.now) {
            self.next_comment = None;
            for key in self.connections.clients_with_exchange() {
                self.with_client(key, Self::comment_if_due);
            }
        }
    }

    /// Writes a sign of life into a stream that is held, if the last byte of it is some time ago.
    pub(super) fn comment_if_due(&mut self, client: &mut Client) {
        let Some((_, call, out)) = client.call_parts() else {
            return;
        };
        let downstream = call.downstream;
        let Some(reply) = call.open_reply() else {
            return;
        };
        if !reply.pipe.holds_anything() || !matches!(downstream, Downstream::Streaming { .. }) {
            reply.comment_due = None;
            return;
        }
        let due = reply.comment_due.get_or_insert(self.now + COMMENT_EVERY);
        if *due <= self.now {
            *due = self.now + COMMENT_EVERY;
            write_body(out, downstream, &reply.pipe.sign_of_life());
        }
        let due = *due;
        self.next_comment = Some(self.next_comment.map_or(due, |next| next.min(due)));
    }
}
