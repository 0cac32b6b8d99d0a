//! From a client's request to the one who answers it, and the answers that are the loop's own.

use std::sync::Arc;

use tslp_core::guardian::Mode;
use tslp_core::redact;
use tslp_wire::http::error::Refusal;
use tslp_wire::http::head::{
    self, CONTINUE, ContentCoding, HeaderFate, LAST_CHUNK, RequestFraming, RequestTo,
};
use tslp_wire::http::headers::Headers;
use tslp_wire::http::request::{BodyLength, Expectation, Persistence, RequestHead};
use tslp_wire::http::response::ExpectedBody;
use tslp_wire::http::server_connection::ClientEvent;

use super::client::{
    CallConnection, Client, ClientStage, Collecting, Downstream, Exchange, ExchangeStage, Retry,
    Upload, UpstreamCall,
};
use super::deadlines::WHOLE_BODY_IDLE_TIMES;
use super::memory_budget::{MEMORY_PER_BODY_BYTE, MemoryRoom};
use super::{LoopPhase, MainLoop, stopping};
use crate::channel::{DiagnosticPage, DiagnosticQuery, ExchangeId, OwnAnswer, ToEngine};
use crate::config::http::Limits;
use crate::config::secret::Secret;
use crate::guard::{Caller, check_chat_content};
use crate::memory;
use crate::routes::{Route, dialect_meant, route_request};
use crate::upstream::connection::{RequestBytes, ResponseReader};
use crate::upstream::server::ServerNumber;

/// Longest session name; it is stored with every episode.
const SESSION_NAME_BYTES_MAX: usize = 200;

/// Pages that may listen at once; each holds a connection.
const LISTENERS_MAX: usize = 16;

/// Most that is recorded of a client's name.
const USER_AGENT_CHARS_MAX: usize = 120;

/// Steps in which memory is taken for a body whose length isn't announced.
const CHUNKED_BODY_STEP_BYTES: u64 = 64 << 10;

/// One client event, without its borrow.
enum ClientInput {
    Head(Box<RequestHead>),
    Moved,
    End,
    Refused(Refusal),
}

impl MainLoop {
    /// Reads requests out of what the client has sent.
    pub(super) fn handle_client_events(&mut self, key: usize, client: &mut Client) {
        while client.stage == ClientStage::Open && self.may_understand(key, client) {
            let Client { http, exchange, .. } = client;
            let understood = match http.next_event(&self.config.limits.head) {
                ClientEvent::NeedMore => return,
                ClientEvent::Head(head) => ClientInput::Head(head),
                ClientEvent::End => ClientInput::End,
                ClientEvent::Refused(refusal) => ClientInput::Refused(refusal),
                ClientEvent::Body(bytes) => match exchange.as_deref_mut() {
                    Some(exchange) => take_body(&self.config.limits, exchange, bytes),
                    None => ClientInput::Moved,
                },
            };
            client.moves += 1;
            match understood {
                ClientInput::Head(head) => self.begin_exchange(key, client, *head),
                ClientInput::Moved => {}
                ClientInput::End => self.request_complete(client),
                ClientInput::Refused(refusal) => self.refuse_and_close(client, &refusal),
            }
        }
    }

    fn may_understand(&mut self, key: usize, client: &mut Client) -> bool {
        match client.exchange.as_deref().map(|exchange| &exchange.stage) {
            // One response at a time: the next request is looked at once the last response has left.
            None => client.out.is_empty(),
            Some(ExchangeStage::Upstream(call)) => {
                call.request.rest_len() < self.buffered_bytes_max()
            }
            Some(ExchangeStage::Collecting(_)) => {
                self.take_room(key, client) == MemoryRoom::Granted
            }
            Some(_) => true,
        }
    }

    /// Takes memory for what comes next of a chat request's body, and asks for the body if the client waits for that.
    fn take_room(&mut self, key: usize, client: &mut Client) -> MemoryRoom {
        let Client {
            http,
            exchange,
            out,
            moves,
            ..
        } = client;
        let Some(exchange) = exchange.as_deref_mut() else {
            return MemoryRoom::Granted;
        };
        let ExchangeStage::Collecting(collecting) = &mut exchange.stage else {
            return MemoryRoom::Granted;
        };
        let is_asked_for = collecting.expects == Expectation::None;
        // A place in the order is for those who send: others may never do so.
        if http.request_is_complete() || (is_asked_for && http.waiting_bytes() == 0) {
            return MemoryRoom::Granted;
        }
        let limit = self.config.limits.chat_body_bytes_max;
        let (wanted, most) = match exchange.head.body {
            BodyLength::Known(bytes) => (bytes, bytes),
            BodyLength::Absent | BodyLength::Chunked => {
                let come = (collecting.body.len() + http.waiting_bytes()) as u64;
                let wanted = come.next_multiple_of(CHUNKED_BODY_STEP_BYTES);
                (wanted.min(limit), limit)
            }
        };
        collecting.room = self.budget.take_for_body(exchange.id, wanted, most);
        match collecting.room {
            MemoryRoom::NotYet => {
                if !self.room_waiters.contains(&key) {
                    self.room_waiters.push(key);
                }
            }
            MemoryRoom::Granted => {
                // All at once where the length is known: growing by doubling would hold the body twice.
                let missing = (wanted as usize).saturating_sub(collecting.body.len());
                if collecting.body.is_empty() {
                    collecting.body = memory::large_buffer(missing);
                } else {
                    collecting.body.reserve_exact(missing);
                }
                if !is_asked_for {
                    collecting.expects = Expectation::None;
                    out.buffer().extend_from_slice(CONTINUE);
                    *moves += 1;
                }
            }
        }
        collecting.room
    }

    fn begin_exchange(&mut self, key: usize, client: &mut Client, head: RequestHead) {
        client.requests += 1;
        let id = self.connections.fresh_exchange();
        tracing::debug!(exchange = id.0, method = %head.method, path = %redact::without_credentials(head.path()), "request");
        let persistence = match self.phase {
            LoopPhase::Serving => head.persistence,
            LoopPhase::Stopping(_) | LoopPhase::TellingEngine => Persistence::Close,
        };
        let mut exchange = Box::new(Exchange {
            id,
            // Before the guard, so that its refusal has the dialect's shape, too.
            dialect: dialect_meant(head.path()),
            head,
            persistence,
            caller: Caller::Plain,
            server: ServerNumber::default(),
            stage: ExchangeStage::Routing,
        });
        let checked = self.guard.check(&exchange.head).and_then(|caller| {
            if !client.is_let_in && exchange.head.path() != "/health" {
                self.guard.check_user(|| client.socket.peer_user())?;
                client.is_let_in = true;
            }
            Ok(caller)
        });
        if checked.is_err() {
            // Whoever isn't let in gets no further use of the connection.
            exchange.persistence = Persistence::Close;
        }
        let routed = checked.and_then(|caller| {
            exchange.caller = caller;
            // A preflight is the browser's own question (Fetch standard): the model server is never asked.
            let preflight = exchange.head.method == "OPTIONS" && exchange.caller != Caller::Plain;
            if preflight {
                Ok(None)
            } else {
                route_request(&exchange.head, self.config.debug).map(Some)
            }
        });
        let begun = match routed {
            Err(refusal) => Err((exchange, refusal)),
            Ok(None) => {
                self.answer_preflight(client, exchange);
                Ok(())
            }
            Ok(Some(Route::Health)) => {
                let health = OwnAnswer::json(200, self.health_page());
                self.write_answer(client, exchange, &health);
                Ok(())
            }
            Ok(Some(Route::Page(file))) => {
                let exchange = close_if_unread(client, exchange);
                let (answer, fields) = file.answer(&exchange.head);
                let to = exchange.response_to();
                head::write_own_response(client.out.buffer(), to, &fields, &answer);
                self.finish_exchange(client, &exchange);
                Ok(())
            }
            Ok(Some(Route::Diagnostic(page))) => self.ask_diagnostics(key, client, exchange, page),
            Ok(Some(Route::Events)) => self.begin_listening(key, client, exchange),
            Ok(Some(Route::Chat)) => self.collect_body(key, client, exchange),
            Ok(Some(Route::Relay)) => self.begin_relay(key, client, exchange),
        };
        if let Err((exchange, refusal)) = begun {
            self.refuse_exchange(client, exchange, &refusal);
        }
    }

    fn collect_body(
        &mut self,
        key: usize,
        client: &mut Client,
        mut exchange: Box<Exchange>,
    ) -> ExchangeStart {
        let limit = self.config.limits.chat_body_bytes_max;
        let checked = check_chat_content(&exchange.head)
            .and_then(|()| check_session_name(&exchange.head))
            .and_then(|()| self.check_ledger())
            .and_then(|()| match exchange.head.body {
                BodyLength::Absent => Err(Refusal::new(
                    "length_required",
                    "a chat request needs a body with Content-Length or chunked",
                )),
                BodyLength::Known(bytes) if bytes > limit => Err(chat_body_too_large(limit)),
                BodyLength::Known(_) | BodyLength::Chunked => Ok(()),
            });
        match checked {
            Err(refusal) => {
                exchange.persistence = Persistence::Close;
                Err((exchange, refusal))
            }
            Ok(()) => {
                self.use_model(exchange.id);
                exchange.stage = ExchangeStage::Collecting(Collecting {
                    body: Vec::new(),
                    expects: if waits_to_be_asked(client, &exchange) {
                        Expectation::Continue
                    } else {
                        Expectation::None
                    },
                    room: MemoryRoom::Granted,
                    whole_by: self.now + self.config.timeouts.body_idle * WHOLE_BODY_IDLE_TIMES,
                });
                self.install_exchange(key, client, exchange);
                Ok(())
            }
        }
    }

    fn ask_diagnostics(
        &mut self,
        key: usize,
        client: &mut Client,
        mut exchange: Box<Exchange>,
        page: DiagnosticPage,
    ) -> ExchangeStart {
        let query = DiagnosticQuery {
            exchange: exchange.id,
            page,
        };
        // The loop never waits: a page that takes long must not hold up a reply.
        if self.to_diagnostics.try_send(query).is_err() {
            let refusal = Refusal::new(
                "diagnostics_busy",
                "the diagnostics are busy or have ended; try again",
            );
            return Err((exchange, refusal));
        }
        if !client.http.request_is_complete() {
            exchange.persistence = Persistence::Close;
        }
        exchange.stage = ExchangeStage::Diagnosing;
        self.install_exchange(key, client, exchange);
        Ok(())
    }

    /// An open page hears of every commit, from the loop itself: that takes no other thread, and no connection to the ledger.
    fn begin_listening(
        &mut self,
        key: usize,
        client: &mut Client,
        mut exchange: Box<Exchange>,
    ) -> ExchangeStart {
        let listeners = self.connections.clients();
        let listeners = listeners.filter(|(_, client)| client.listens()).count();
        if listeners >= LISTENERS_MAX || self.phase != LoopPhase::Serving {
            let message = "as many pages as may listen at once do; close one";
            return Err((exchange, Refusal::new("too_many_listeners", message)));
        }
        exchange.persistence = Persistence::Close;
        let (to, fields) = (exchange.response_to(), exchange.caller_fields());
        head::write_event_stream_head(client.out.buffer(), to, &fields);
        exchange.stage = ExchangeStage::Listening { heard: None };
        self.durability.hold_client(key);
        self.install_exchange(key, client, exchange);
        Ok(())
    }

    /// Tells a page that listens how far the ledger is. One that is slow to read hears of the last commit only.
    pub(super) fn tell_listener(&self, client: &mut Client) {
        let durable = self.durability.durable();
        let is_idle = client.out.is_empty();
        if let Some(exchange) = client.exchange.as_deref_mut()
            && let ExchangeStage::Listening { heard } = &mut exchange.stage
            && *heard != Some(durable)
            && (is_idle || heard.is_none())
        {
            *heard = Some(durable);
            let event = format!("data: {}\n\n", durable.0);
            client.out.buffer().extend_from_slice(event.as_bytes());
            client.moves += 1;
        }
    }

    fn begin_relay(
        &mut self,
        key: usize,
        client: &mut Client,
        mut exchange: Box<Exchange>,
    ) -> ExchangeStart {
        let limit = self.config.limits.relay_body_bytes_max;
        let (framing, upload) = match exchange.head.body {
            BodyLength::Known(bytes) if bytes > limit => return Err((exchange, too_large(limit))),
            BodyLength::Absent => (RequestFraming::Bodiless, Upload::Complete),
            BodyLength::Known(0) => (RequestFraming::Length(0), Upload::Complete),
            BodyLength::Known(bytes) => (RequestFraming::Length(bytes), Upload::Length),
            BodyLength::Chunked => (RequestFraming::Chunked, Upload::Chunked(0)),
        };
        // What isn't chat stays with the default server: its body is never read, and a list of models has none.
        let head = self.request_head(&exchange, framing, ContentCoding::AsAsked);
        let idempotent = matches!(
            exchange.head.method.as_str(),
            "GET" | "HEAD" | "OPTIONS" | "PUT" | "DELETE"
        );
        let repeatable = idempotent && upload == Upload::Complete;
        // Clients look at the list of models again and again; that costs the model nothing.
        let is_reading = matches!(exchange.head.method.as_str(), "GET" | "HEAD" | "OPTIONS");
        let asked = if exchange.head.method == "HEAD" {
            ExpectedBody::HeadOnly
        } else {
            ExpectedBody::WithBody
        };
        exchange.stage = ExchangeStage::Upstream(Box::new(UpstreamCall {
            request: RequestBytes::new(head, Arc::default()),
            upload,
            connection: CallConnection::Off,
            retry: if repeatable {
                Retry::Possible
            } else {
                Retry::Never
            },
            reader: ResponseReader::new(asked),
            heard: None,
            status: 0,
            upstream: Persistence::Close,
            chat: None,
            downstream: Downstream::Waiting,
        }));
        if !is_reading {
            self.use_model(exchange.id);
        }
        if waits_to_be_asked(client, &exchange) {
            client.out.buffer().extend_from_slice(CONTINUE);
        }
        self.install_exchange(key, client, exchange);
        self.start_call(key, client);
        Ok(())
    }

    /// Whatever is asked in a shadow audit gives way, before the request is even whole.
    pub(super) fn use_model(&mut self, id: ExchangeId) {
        let in_use = self.audits.begin_request();
        self.connections.begin_model_use(id, in_use);
    }

    fn install_exchange(&mut self, key: usize, client: &mut Client, exchange: Box<Exchange>) {
        assert!(
            client.exchange.is_none(),
            "a client has one exchange at a time"
        );
        self.connections.add_exchange(exchange.id, key);
        client.exchange = Some(exchange);
    }

    /// The head of a request to the upstream, made from the client's.
    pub(super) fn request_head(
        &self,
        exchange: &Exchange,
        framing: RequestFraming,
        coding: ContentCoding,
    ) -> Vec<u8> {
        let head = &exchange.head;
        let server = &self.connections.server(exchange.server).config;
        let authorization = server.own_authorization();
        let to = RequestTo {
            host: &server.url.authority(),
            target: &format!("{}{}", server.url.prefix, head.target),
            authorization: authorization.as_ref().map(|own| own.reveal().as_bytes()),
            framing,
            coding,
        };
        let mut out = Vec::with_capacity(1024);
        head::write_relayed_request(&mut out, &head.method, &head.headers, &to, |name, value| {
            self.guard.keeps_back(name, value)
        });
        out
    }

    /// The client's own `Authorization` for the model server.
    fn authorization(&self, head: &RequestHead) -> Option<Secret> {
        let name = "authorization";
        let value = head
            .headers
            .all(name)
            .find(|value| self.guard.keeps_back(name, value) == HeaderFate::Relayed)?;
        let value = core::str::from_utf8(value).ok()?;
        Some(Secret::new(value.to_owned()))
    }

    fn request_complete(&mut self, client: &mut Client) {
        let Some(exchange) = client.exchange.as_deref_mut() else {
            return;
        };
        match &mut exchange.stage {
            ExchangeStage::Upstream(call) => {
                if let Upload::Chunked(_) = call.upload {
                    call.request.body_buffer().extend_from_slice(LAST_CHUNK);
                }
                if call.upload != Upload::Broken {
                    call.upload = Upload::Complete;
                }
            }
            ExchangeStage::Collecting(collecting) => {
                let body = std::mem::take(&mut collecting.body);
                // Once more: it may have failed while the body came in.
                match self.check_ledger() {
                    Ok(()) => self.hand_over_prompt(exchange, body),
                    Err(refusal) => self.refuse_current(client, &refusal),
                }
            }
            ExchangeStage::Routing
            | ExchangeStage::Composing { .. }
            | ExchangeStage::Diagnosing
            | ExchangeStage::Listening { .. } => {}
        }
    }

    fn hand_over_prompt(&mut self, exchange: &mut Exchange, body: Vec<u8>) {
        self.hand_over_all_replies();
        let body_bytes = body.len() as u64;
        debug_assert!(body_bytes <= self.config.limits.chat_body_bytes_max);
        let headers = &exchange.head.headers;
        // The SDKs of OpenAI and Anthropic count their own retries in this header.
        let retries = headers
            .first_text("x-stainless-retry-count")
            .and_then(|count| count.parse::<u32>().ok());
        let prompt = ToEngine::Prompt {
            dialect: exchange.chat_dialect(),
            exchange: exchange.id,
            session_name: headers
                .first_text("x-tslp-session")
                .filter(|name| !name.is_empty())
                .map(str::to_owned),
            user_agent: user_agent(headers),
            retry: retries.is_some_and(|count| count > 0),
            authorization: self.authorization(&exchange.head),
            body,
        };
        exchange.stage = ExchangeStage::Composing {
            since: self.net.now(),
        };
        self.budget.body_complete(exchange.id, body_bytes);
        self.engine.send(prompt);
    }

    /// The process lives either way; whether it takes prompts is the status.
    fn health_page(&self) -> Vec<u8> {
        let failure = self.durability.failure();
        let status = if failure.is_some() {
            "ledger_failed"
        } else {
            "ok"
        };
        let known = (self.mode, self.mode_reason.clone());
        let (mode, reason) = match (failure, self.mode) {
            // A damaged ledger is kept as it is.
            (Some(failure), _) => (Mode::OpPreserve, failure.to_string()),
            // How far the sandbox's test is says little where no model answers.
            (None, Mode::Boot | Mode::Attest | Mode::Ready) if self.upstream_is_down => (
                Mode::NoAiProvider,
                "the model server doesn't answer".to_owned(),
            ),
            (None, _) => known,
        };
        let page = serde_json::json!({ "mode": mode.as_str(), "reason": reason, "status": status });
        page.to_string().into_bytes()
    }

    fn check_ledger(&self) -> Result<(), Refusal> {
        let stopped = self.is_stopped.then(stopping::refusal);
        self.durability.refusal().or(stopped).map_or(Ok(()), Err)
    }

    /// Answers an exchange that the engine or the diagnostics decided.
    pub(super) fn deliver_answer(&mut self, client: &mut Client, answer: &OwnAnswer) {
        if let Some(exchange) = client.exchange.take() {
            self.write_answer(client, exchange, answer);
        }
    }

    fn write_answer(&mut self, client: &mut Client, exchange: Box<Exchange>, answer: &OwnAnswer) {
        let exchange = close_if_unread(client, exchange);
        let fields = exchange.caller_fields();
        let to = exchange.response_to();
        head::write_own_response(client.out.buffer(), to, &fields, answer);
        self.finish_exchange(client, &exchange);
    }

    fn answer_preflight(&mut self, client: &mut Client, exchange: Box<Exchange>) {
        let exchange = close_if_unread(client, exchange);
        let mut fields = exchange.caller_fields();
        fields.push(("access-control-allow-methods", "GET, HEAD, POST"));
        // Each dialect's library has headers of its own, and what the page's origin may say was decided before.
        let headers = &exchange.head.headers;
        if let Some(wanted) = headers.first_text("access-control-request-headers") {
            fields.push(("access-control-allow-headers", wanted));
        }
        let nothing = OwnAnswer::json(204, Vec::new());
        head::write_own_response(
            client.out.buffer(),
            exchange.response_to(),
            &fields,
            &nothing,
        );
        self.finish_exchange(client, &exchange);
    }

    fn refuse_exchange(&mut self, client: &mut Client, exchange: Box<Exchange>, refusal: &Refusal) {
        let exchange = close_if_unread(client, exchange);
        tracing::debug!(
            exchange = exchange.id.0,
            status = refusal.status(exchange.dialect),
            code = refusal.code,
            "refused"
        );
        head::write_refusal(
            client.out.buffer(),
            exchange.response_to(),
            refusal,
            &exchange.caller_fields(),
        );
        self.finish_exchange(client, &exchange);
    }

    /// Refuses the exchange that is under way; its response has not begun.
    pub(super) fn refuse_current(&mut self, client: &mut Client, refusal: &Refusal) {
        if let Some(exchange) = client.exchange.take() {
            self.refuse_exchange(client, exchange, refusal);
        }
    }

    /// Refuses what can't be read on. A response that has begun is cut instead.
    pub(super) fn refuse_and_close(&mut self, client: &mut Client, refusal: &Refusal) {
        let begun = client
            .call()
            .is_some_and(|call| call.downstream != Downstream::Waiting);
        if begun {
            client.stage = ClientStage::Over;
            return;
        }
        match client.exchange.take() {
            Some(mut exchange) => {
                self.abandon_call(&mut exchange);
                exchange.persistence = Persistence::Close;
                self.refuse_exchange(client, exchange, refusal);
            }
            None => {
                let to = head::ResponseTo {
                    version: tslp_wire::http::request::HttpVersion::Http11,
                    persistence: Persistence::Close,
                    content: head::ResponseContent::Whole,
                    errors: None,
                };
                head::write_refusal(client.out.buffer(), to, refusal, &[]);
                client.stage = ClientStage::Finishing;
            }
        }
    }

    /// The response is in the output buffer, whole.
    pub(super) fn finish_exchange(&mut self, client: &mut Client, exchange: &Exchange) {
        self.connections.remove_exchange(exchange.id);
        self.budget.request_gone(exchange.id);
        client.moves += 1;
        match exchange.persistence {
            Persistence::Close => client.stage = ClientStage::Finishing,
            Persistence::KeepAlive => client.http.start_next(),
        }
    }
}

/// Either the exchange is on its way, or it comes back with the refusal.
type ExchangeStart = Result<(), (Box<Exchange>, Refusal)>;

/// A response before the end of its request ends the connection: what follows can't be waited for.
fn close_if_unread(client: &Client, mut exchange: Box<Exchange>) -> Box<Exchange> {
    if !client.http.request_is_complete() {
        exchange.persistence = Persistence::Close;
    }
    exchange
}

/// Whether the client sends the body only once it is asked to.
fn waits_to_be_asked(client: &Client, exchange: &Exchange) -> bool {
    let waits = exchange.head.expects_continue == Expectation::Continue;
    waits && client.http.waiting_bytes() == 0 && !client.http.request_is_complete()
}

fn take_body(limits: &Limits, exchange: &mut Exchange, bytes: &[u8]) -> ClientInput {
    match &mut exchange.stage {
        ExchangeStage::Collecting(Collecting { body, .. }) => {
            if (body.len() + bytes.len()) as u64 > limits.chat_body_bytes_max {
                return ClientInput::Refused(chat_body_too_large(limits.chat_body_bytes_max));
            }
            body.extend_from_slice(bytes);
        }
        ExchangeStage::Upstream(call) => match &mut call.upload {
            Upload::Length => call.request.body_buffer().extend_from_slice(bytes),
            Upload::Chunked(total) => {
                *total += bytes.len() as u64;
                if *total > limits.relay_body_bytes_max {
                    return ClientInput::Refused(too_large(limits.relay_body_bytes_max));
                }
                head::write_chunk(call.request.body_buffer(), bytes);
            }
            Upload::Complete | Upload::Broken => {}
        },
        ExchangeStage::Routing
        | ExchangeStage::Composing { .. }
        | ExchangeStage::Diagnosing
        | ExchangeStage::Listening { .. } => {}
    }
    ClientInput::Moved
}

/// How a client calls itself, as far as that may be recorded.
fn user_agent(headers: &Headers) -> String {
    let said = headers.first_text("user-agent").unwrap_or_default();
    let said: String = said.chars().take(USER_AGENT_CHARS_MAX).collect();
    redact::without_credentials(&said).into_owned()
}

fn check_session_name(head: &RequestHead) -> Result<(), Refusal> {
    let Some(name) = head.headers.first("x-tslp-session") else {
        return Ok(());
    };
    let name = core::str::from_utf8(name)
        .ok()
        .filter(|name| name.len() <= SESSION_NAME_BYTES_MAX);
    match name {
        None => Err(Refusal::malformed(format!(
            "x-tslp-session must be UTF-8 of at most {SESSION_NAME_BYTES_MAX} bytes"
        ))),
        // Redacted, it would name every session that is called by a key.
        Some(name) if redact::without_credentials(name) != name => Err(Refusal::malformed(
            "x-tslp-session holds what looks like a credential, and session names are recorded; choose another name",
        )),
        Some(_) => Ok(()),
    }
}

fn chat_body_too_large(limit: u64) -> Refusal {
    let message = format!(
        "the chat request's body is larger than {limit} bytes, which is what `http.request_body_bytes_max` allows; \
         start a shorter conversation, or raise that setting: tslp then takes up to {MEMORY_PER_BODY_BYTE} bytes of memory for each byte more"
    );
    Refusal::new("body_too_large", message)
}

fn too_large(limit: u64) -> Refusal {
    Refusal::new(
        "body_too_large",
        format!("the request's body is larger than {limit} bytes"),
    )
}
