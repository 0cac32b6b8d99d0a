//! The upstream's response on its way to the client, and everything that can cut it short.

use std::time::{Duration, Instant};

use tslp_wire::chat::reply_pipe::BodyForm;
use tslp_wire::http::error::Refusal;
use tslp_wire::http::head::{self, LAST_CHUNK, ResponseContent, ResponseFraming};
use tslp_wire::http::inflate::{BodyCoding, Inflate};
use tslp_wire::http::request::{HttpVersion, Persistence};
use tslp_wire::http::response::{ResponseBody, ResponseHead};

use super::MainLoop;
use super::client::{
    CallConnection, Client, ClientStage, Downstream, Exchange, ExchangeStage, LinkStage, Retry,
    Upload,
};
use super::failed_answer::{FailedAnswer, KEPT_BYTES_MAX};
use super::rounds::write_body;
use super::upstreams::LinkUse;
use crate::channel::ResponseEnd;
use crate::probe;
use crate::socket::TransferResult;
use crate::upstream::connection::{FedBytes, ReceivedSoFar};
use crate::upstream::server::ServerNumber;

/// What was read is handed over to the engine after so many bytes. Less would wake it for every few tokens: a server writes some 250
/// bytes of JSON for each.
const HANDOVER_BYTES: usize = 16 * 1024;

/// Time for which a reply's text may remain unrecorded.
const HANDOVER: Duration = Duration::from_millis(250);

impl MainLoop {
    /// Reads from the upstream once and passes it on.
    pub(super) fn pull_response(&mut self, key: usize, client: &mut Client) {
        // A client that doesn't read slows its model server down by TCP, and costs no memory here.
        if client.stage == ClientStage::Over || client.out.len() >= self.buffered_bytes_max() {
            return;
        }
        let Some(call) = client.call() else {
            return;
        };
        let CallConnection::Linked(link_key) = call.connection else {
            return;
        };
        // What is read goes to the engine: while that can't keep up, nothing is.
        if call.chat.is_some() && self.engine.is_backlogged() {
            return self.engine.add_waiting_client(key);
        }
        let broken = call.upload == Upload::Broken;
        let piece = self.connections.piece_bytes();
        let Some(link) = self.connections.link_mut(link_key) else {
            return;
        };
        if matches!(link.stage, LinkStage::Connecting(_)) {
            return;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        match link.transport.read(&mut scratch[..piece]) {
            // The server took no more of the request, and there is no answer that would explain it.
            TransferResult::Blocked if broken => {
                self.call_broke(key, client, "it closed the connection")
            }
            TransferResult::Blocked => {}
            TransferResult::Bytes(count) => {
                client.moves += 1;
                if let Some(call) = client.call() {
                    call.heard = Some(self.now);
                }
                self.take_response(key, client, &scratch[..count]);
            }
            TransferResult::Ended => self.response_ended(key, client),
            TransferResult::Failed => {
                let reason = link
                    .transport
                    .failure_text()
                    .unwrap_or_else(|| "the connection broke".to_owned());
                self.call_broke(key, client, &reason);
            }
        }
        self.scratch = scratch;
    }

    fn take_response(&mut self, key: usize, client: &mut Client, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(call) = client.call() {
            match call.reader.feed(rest) {
                Ok(FedBytes::More) => return,
                Ok(FedBytes::Head { mut head, consumed }) => {
                    if let Some(reply) = &mut call.chat {
                        match BodyCoding::of_response(&mut head) {
                            BodyCoding::Plain => reply.inflate = None,
                            BodyCoding::Known(inflate) => reply.inflate = Some(inflate),
                            BodyCoding::Unknown if reply.pipe.must_be_read() => {
                                let reason =
                                    "its response is coded in a way that the Guardian can't read";
                                return self.call_refused(
                                    client,
                                    &Refusal::new("calls_not_judged", reason.to_owned()),
                                );
                            }
                            BodyCoding::Unknown => _ = reply.pipe.pass_on(),
                        }
                    }
                    self.relay_head(client, &head);
                    rest = &rest[consumed..];
                }
                Ok(FedBytes::Body { data, consumed }) => {
                    let inflate = call.chat.as_mut().and_then(|reply| reply.inflate.take());
                    match inflate {
                        None => self.relay_body(client, &rest[data]),
                        Some(mut inflate) => {
                            let read =
                                inflate.push(&rest[data], |held| self.relay_body(client, held));
                            if let Err(error) = read {
                                let reason =
                                    format!("its response isn't compressed as it says: {error}");
                                return self.call_broke(key, client, &reason);
                            }
                            if let Some(reply) = client.call().and_then(|call| call.chat.as_mut()) {
                                reply.inflate = Some(inflate);
                            }
                        }
                    }
                    rest = &rest[consumed..];
                }
                Ok(FedBytes::End) => {
                    let inflate = call.chat.as_mut().and_then(|reply| reply.inflate.as_mut());
                    if let Some(Err(error)) = inflate.map(Inflate::end) {
                        let reason = format!("its response isn't compressed as it says: {error}");
                        return self.call_broke(key, client, &reason);
                    }
                    return self.response_complete(client, rest.is_empty());
                }
                Err(error) => {
                    return self.call_broke(
                        key,
                        client,
                        &format!("its response can't be read: {error}"),
                    );
                }
            }
        }
    }

    pub(super) fn relay_head(&mut self, client: &mut Client, response: &ResponseHead) {
        self.upstream_is_down &= client.server() != ServerNumber::default();
        let Some(exchange) = client.exchange.as_deref_mut() else {
            return;
        };
        let Exchange {
            id,
            stage: ExchangeStage::Upstream(call),
            ..
        } = exchange
        else {
            return;
        };
        let form = BodyForm::of_head(response);
        (call.status, call.upstream) = (response.status, response.persistence);
        if let Some(reply) = &mut call.chat {
            if form == BodyForm::Whole {
                reply.pipe.expect_one_value();
            }
            if reply.pipe.is_continued() || reply.pipe.has_draft() {
                // The client has the head, or gets the first response's.
                call.free_sent_request();
                return;
            }
        }
        if let Some(reply) = &mut call.chat
            && FailedAnswer::is_one(response)
            && reply.failed.is_none()
        {
            call.retry = Retry::Never;
            reply.failed = Some(Box::new(FailedAnswer {
                head: response.clone(),
                body: Vec::new(),
            }));
            return;
        }
        if call.chat.is_some() {
            self.failing_since = None;
        }
        if call.free_sent_request() && !call.may_ask_again() {
            self.budget.request_gone(*id);
        }
        if let Some(reply) = &mut call.chat
            && form == BodyForm::Whole
            && reply.pipe.waits_for_engine()
        {
            // Whether its body comes piece by piece, the first of it shows; what one value states of its length may change.
            reply.head = Some(Box::new(response.clone()));
            return;
        }
        self.write_head(client, response, form);
    }

    /// Lets the client have the response's head.
    fn write_head(&mut self, client: &mut Client, response: &ResponseHead, form: BodyForm) {
        let Client { exchange, out, .. } = client;
        let Some(exchange) = exchange.as_deref_mut() else {
            return;
        };
        let Exchange {
            head,
            persistence,
            stage: ExchangeStage::Upstream(call),
            ..
        } = exchange
        else {
            return;
        };
        let is_changeable = call
            .chat
            .as_ref()
            .is_some_and(|it| it.pipe.waits_for_engine());
        let framing = match (response.body, head.version) {
            (ResponseBody::Absent, _) => ResponseFraming::Bodiless,
            (ResponseBody::Known(bytes), _) if !is_changeable => ResponseFraming::Length(bytes),
            (_, HttpVersion::Http11) => ResponseFraming::Chunked,
            // HTTP/1.0 has no chunks: its body ends with the connection.
            (_, HttpVersion::Http10) => {
                *persistence = Persistence::Close;
                ResponseFraming::Close
            }
        };
        let episode = call.chat.as_ref().map(|reply| reply.episode.to_string());
        let headers = call.chat.as_mut().map(|it| std::mem::take(&mut it.headers));
        call.downstream = Downstream::Streaming { framing, form };
        tracing::debug!(
            exchange = exchange.id.0,
            status = response.status,
            "the upstream answers"
        );
        let mut fields = exchange.caller_fields();
        fields.extend(episode.as_deref().map(|id| ("x-tslp-episode", id)));
        let headers = headers.iter().flatten();
        fields.extend(headers.map(|(name, value)| (*name, value.as_str())));
        head::write_relayed_response(
            out.buffer(),
            exchange.response_to(),
            response,
            framing,
            &fields,
        );
    }

    fn relay_body(&mut self, client: &mut Client, data: &[u8]) {
        let Some((id, call, out)) = client.call_parts() else {
            return;
        };
        if let Some(reply) = &mut call.chat
            && let Some(failed) = &mut reply.failed
        {
            debug_assert!(failed.body.len() <= KEPT_BYTES_MAX);
            let room = KEPT_BYTES_MAX - failed.body.len();
            failed.body.extend_from_slice(&data[..room.min(data.len())]);
            return;
        }
        if call.downstream == Downstream::Done {
            return;
        }
        let is_refused = call.is_refused_later();
        let Some(reply) = &mut call.chat else {
            return write_body(out, call.downstream, data);
        };
        let at = *reply.handover_at.get_or_insert(self.now + HANDOVER);
        self.next_handover = Some(self.next_handover.map_or(at, |next| next.min(at)));
        let passed = match is_refused {
            true => Vec::new(),
            false => reply.pipe.push(data),
        };
        let is_too_long = reply.pipe.is_too_long() && reply.pipe.waits_for_engine();
        if reply.pipe.is_read_urgent() || reply.pipe.unheard_bytes() >= HANDOVER_BYTES {
            self.engine.send(reply.take_read(id, false));
        }
        if !passed.is_empty() || !reply.pipe.is_whole() {
            reply.comment_due = reply.comment_due.filter(|_| passed.is_empty());
            self.write_waiting_head(client);
        }
        if let Some((_, call, out)) = client.call_parts() {
            write_body(out, call.downstream, &passed);
        }
        match is_too_long {
            true => self.pass_on_as_it_came(client),
            false => self.comment_if_due(client),
        }
    }

    /// Lets the client have a head that waited for the body's first bytes.
    pub(super) fn write_waiting_head(&mut self, client: &mut Client) {
        if let Some(reply) = client.chat()
            && let Some(head) = reply.head.take()
        {
            let form = reply.pipe.form();
            self.write_head(client, &head, form);
        }
    }

    /// Hands over what all replies have said so far: a client may have acted on it already.
    pub(super) fn hand_over_all_replies(&mut self) {
        self.hand_over_replies(self.now + HANDOVER);
    }

    /// Hands over the replies whose text was to be handed over by then. The client waits for none of it.
    pub(super) fn hand_over_replies(&mut self, until: Instant) {
        if self.next_handover.is_none_or(|next| next > until) {
            return;
        }
        self.next_handover = None;
        let mut due = Vec::new();
        for exchange in self
            .connections
            .clients_mut()
            .filter_map(|client| client.exchange.as_deref_mut())
        {
            let id = exchange.id;
            let Some(reply) = exchange.call().and_then(|call| call.chat.as_mut()) else {
                continue;
            };
            let Some(at) = reply.handover_at else {
                continue;
            };
            if at <= until {
                reply.handover_at = None;
                due.push(reply.take_read(id, true));
            } else {
                self.next_handover = Some(self.next_handover.map_or(at, |next| next.min(at)));
            }
        }
        for message in due {
            self.engine.send(message);
        }
    }

    fn response_ended(&mut self, key: usize, client: &mut Client) {
        if client.call().is_some_and(|call| call.reader.may_end()) {
            return self.response_complete(client, false);
        }
        let reason = "it closed the connection before the end of its response";
        self.call_broke(key, client, reason);
    }

    /// `is_clean`: the connection can carry another request.
    fn response_complete(&mut self, client: &mut Client, is_clean: bool) {
        let Some((id, call, out)) = client.call_parts() else {
            return;
        };
        if let Some(reply) = &mut call.chat {
            if let Some(failed) = reply.failed.take() {
                return self.answer_failed(client, &failed);
            }
            if reply.pipe.waits_for_engine() {
                return self.round_complete(client, is_clean);
            }
            let rest = [reply.pipe.end(), reply.pipe.last_bytes()].concat();
            write_body(out, call.downstream, &rest);
        }
        let Downstream::Streaming { framing, .. } = call.downstream else {
            return;
        };
        let status = call.status;
        // Queued before the last bytes are let go: the client's next prompt can't overtake it.
        self.tell_end(id, call, ResponseEnd::Complete { status });
        if framing == ResponseFraming::Chunked {
            out.buffer().extend_from_slice(LAST_CHUNK);
        }
        let is_uploaded = call.upload == Upload::Complete;
        self.leave_after_response(call, is_clean);
        call.downstream = Downstream::Done;
        if let Some(exchange) = client.exchange.as_deref_mut().filter(|_| !is_uploaded) {
            exchange.persistence = Persistence::Close;
        }
        client.moves += 1;
    }

    /// Says what is wrong and what to do, or passes on what says so itself.
    fn answer_failed(&mut self, client: &mut Client, failed: &FailedAnswer) {
        if let Some(reply) = client.chat() {
            // It is on record as what the model server said, not as a reply.
            let _ = reply.pipe.pass_on();
            reply.pipe.push(&failed.body);
            reply.pipe.end();
        }
        let Some(exchange) = client.exchange.as_deref_mut() else {
            return;
        };
        let url = &self.connections.server(exchange.server).config.url;
        let since = *self.failing_since.get_or_insert(self.now);
        let FailedAnswer { head, body } = failed;
        let ending = ResponseEnd::Complete {
            status: head.status,
        };
        if let Some(refusal) = failed.explained(exchange.chat_dialect(), url, self.now - since) {
            tracing::warn!("{}", refusal.message);
            return self.replace_response(client, &refusal, ending);
        }
        let to = exchange.response_to();
        let episode = exchange.call().and_then(|call| call.chat.as_ref());
        let episode = episode.map(|reply| reply.episode.to_string());
        let mut fields = exchange.caller_fields();
        fields.extend(episode.as_deref().map(|id| ("x-tslp-episode", id)));
        let framing = ResponseFraming::Length(body.len() as u64);
        head::write_relayed_response(client.out.buffer(), to, head, framing, &fields);
        client.out.buffer().extend_from_slice(body);
        self.end_call(client, ending);
    }

    /// The engine has looked at the files that the reply is about, so the client may see the reply's end and write them.
    pub(super) fn files_looked_at(&mut self, client: &mut Client) {
        if client.call().is_some_and(|call| call.waits_for_engine()) {
            self.finish_rounds(client);
        }
    }

    /// A response has said that it is over, and doesn't end.
    pub(super) fn last_piece_waited(&mut self, client: &mut Client) {
        match client
            .chat()
            .is_some_and(|reply| reply.pipe.counts_as_over())
        {
            true => self.round_complete(client, false),
            false => self.pass_on_as_it_came(client),
        }
    }

    /// Opens the gate of a durable prompt, and ends an exchange whose response is complete. The gate comes first: a response
    /// may be complete before its prompt is durable, and the exchange must not end with its bytes still held.
    pub(super) fn release_or_finish(&mut self, client: &mut Client) {
        let durable = self.durability.durable();
        let Some(call) = client.call() else {
            return self.tell_listener(client);
        };
        let done = call.downstream == Downstream::Done;
        if let Some(reply) = &mut call.chat
            && reply.is_gated
        {
            if reply.durable_at > durable {
                return;
            }
            reply.is_gated = false;
            client.out.release();
            client.moves += 1;
        }
        if done && let Some(exchange) = client.exchange.take() {
            self.finish_exchange(client, &exchange);
        }
    }

    pub(super) fn call_unreachable(&mut self, client: &mut Client, reason: &str) {
        self.upstream_is_down |= client.server() == ServerNumber::default();
        let server = &self.connections.server(client.server()).config;
        let url = &server.url;
        let message = match server.is_missing {
            true => probe::NONE_FOUND.to_owned(),
            false => format!(
                "the model server at {url} can't be reached ({reason}): start it, or name another with `--upstream`"
            ),
        };
        self.call_refused(client, &Refusal::new("upstream_unreachable", message));
    }

    /// The upstream's connection ended, or was given up, before the response was complete.
    pub(super) fn call_broke(&mut self, key: usize, client: &mut Client, reason: &str) {
        if self.retry_on_fresh_link(key, client) {
            return;
        }
        let url = &self.connections.server(client.server()).config.url;
        let message = format!("the model server at {url} broke off: {reason}");
        tracing::warn!("{message}");
        let refusal = Refusal::new("upstream_broke", message);
        match client.call().map(|call| call.reader.received_so_far()) {
            None => {}
            Some(ReceivedSoFar::Nothing | ReceivedSoFar::Bytes) => {
                self.call_refused(client, &refusal)
            }
            Some(ReceivedSoFar::Head) => self.response_broke(client, &refusal),
        }
    }

    /// Answers in the upstream's place; no byte of a response has been passed on.
    pub(super) fn call_refused(&mut self, client: &mut Client, refusal: &Refusal) {
        tracing::warn!("{}", refusal.message);
        if self.keep_first_reply(client) {
            return;
        }
        let has_begun = client
            .call()
            .is_some_and(|call| call.downstream != Downstream::Waiting);
        if has_begun {
            // An earlier round's response: the client has its head.
            return self.response_broke(client, refusal);
        }
        self.replace_response(client, refusal, ResponseEnd::UpstreamUnreachable);
    }

    /// Throws away a response that was never let go: the ledger failed.
    pub(super) fn withdraw_call(&mut self, client: &mut Client, refusal: &Refusal) {
        debug_assert!(client.is_gated(), "only a gated response can be withdrawn");
        client.out.discard();
        if let Some(reply) = client.chat() {
            reply.is_gated = false;
        }
        self.replace_response(client, refusal, ResponseEnd::LedgerFailed);
    }

    pub(super) fn replace_response(
        &mut self,
        client: &mut Client,
        refusal: &Refusal,
        ending: ResponseEnd,
    ) {
        let Client {
            exchange,
            out,
            http,
            ..
        } = client;
        let Some(exchange) = exchange.as_deref_mut() else {
            return;
        };
        if !http.request_is_complete() {
            exchange.persistence = Persistence::Close;
        }
        let to = exchange.response_to();
        head::write_refusal(out.buffer(), to, refusal, &exchange.caller_fields());
        self.end_call(client, ending);
    }

    /// The whole response is in the output buffer; the upstream's connection isn't used again.
    pub(super) fn end_call(&mut self, client: &mut Client, ending: ResponseEnd) {
        if let Some((id, call, _)) = client.call_parts() {
            self.leave_link(call, LinkUse::Close);
            self.tell_end(id, call, ending);
            call.downstream = Downstream::Done;
        }
        client.moves += 1;
    }

    /// Cuts a response that the client has seen the beginning of, so that it can't pass for complete.
    pub(super) fn response_broke(&mut self, client: &mut Client, refusal: &Refusal) {
        self.upstream_is_down &= client.server() != ServerNumber::default();
        if self.keep_first_reply(client) {
            return;
        }
        let Client { exchange, out, .. } = client;
        let Some(exchange) = exchange.as_deref_mut() else {
            return;
        };
        let whole = exchange.response_to().content == ResponseContent::Whole;
        let dialect = exchange.dialect_of_errors();
        let id = exchange.id;
        let ExchangeStage::Upstream(call) = &mut exchange.stage else {
            return;
        };
        if let Some(reply) = &mut call.chat
            && reply.pipe.waits_for_engine()
        {
            if call.downstream == Downstream::Waiting {
                // A body that was held: nothing of it is out.
                return self.replace_response(client, refusal, ResponseEnd::UpstreamBroken);
            }
            let held = reply.pipe.take_held();
            write_body(out, call.downstream, &held);
        }
        // The response isn't complete by its framing, so nothing can follow it on this connection.
        exchange.persistence = Persistence::Close;
        if let Downstream::Streaming { framing, form, .. } = call.downstream
            && whole
            && form.is_stream()
        {
            let event = [form.gap(), &refusal.stream_end(dialect)].concat();
            match framing {
                // Without the last chunk: the message stays visibly incomplete.
                ResponseFraming::Chunked => head::write_chunk(out.buffer(), &event),
                ResponseFraming::Close => out.buffer().extend_from_slice(&event),
                ResponseFraming::Length(_) | ResponseFraming::Bodiless => {}
            }
        }
        self.leave_link(call, LinkUse::Close);
        self.tell_end(id, call, ResponseEnd::UpstreamBroken);
        call.downstream = Downstream::Done;
        client.moves += 1;
    }
}
