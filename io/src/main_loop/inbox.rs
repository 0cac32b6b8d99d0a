//! Messages from the other threads, and the queue to the engine.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tslp_core::ids::{EpisodeId, Seq};
use tslp_wire::chat::reply_pipe::{PipeRules, ReplyPipe};
use tslp_wire::http::head::{ContentCoding, RequestFraming};
use tslp_wire::http::request::Persistence;
use tslp_wire::http::response::ExpectedBody;

use super::client::{
    CallConnection, ChatReply, Client, Downstream, ExchangeStage, Retry, Upload, UpstreamCall,
};
use super::rounds::AskedFor;
use super::{LoopInput, MainLoop};
use crate::channel::{ExchangeId, ModelRequest, OwnHeaders, ResponseEnd, ToEngine, ToLoop};
use crate::upstream::connection::{RequestBytes, ResponseReader};
use crate::upstream::server::ServerNumber;

impl MainLoop {
    /// Takes everything that the other threads have sent.
    pub(super) fn drain_inbox(&mut self) {
        // Before the look, so that a message sent during it wakes the loop again.
        self.handle.woken.swap(false, Ordering::AcqRel);
        while let Ok(item) = self.inbox.try_recv() {
            match item {
                LoopInput::Message(message) => self.take_message(message),
                LoopInput::Route(server, resolved) => self.take_route(server, &resolved),
                LoopInput::Shutdown => self.begin_stop(),
            }
        }
    }

    fn take_message(&mut self, message: ToLoop) {
        match message {
            ToLoop::Forward {
                exchange,
                request,
                durable_at,
                episode,
                headers,
                rules,
                may_ask_again,
            } => {
                let reply = (durable_at, episode, headers);
                self.forward_prompt(exchange, request, reply, (rules, may_ask_again));
            }
            ToLoop::Say { exchange, text } => {
                self.with_exchange(exchange, |main_loop, _, client| {
                    main_loop.say_for_model(client, &text)
                });
            }
            ToLoop::CallJudged {
                exchange,
                number,
                verdict,
            } => {
                self.with_exchange(exchange, |main_loop, _, client| {
                    main_loop.call_judged(client, number, verdict)
                });
            }
            ToLoop::DeliverCalls { exchange, calls } => {
                self.with_exchange(exchange, |main_loop, _, client| {
                    main_loop.deliver_calls(client, &calls)
                });
            }
            ToLoop::NextRound { exchange, request } => {
                self.with_exchange(exchange, |main_loop, key, client| {
                    main_loop.next_round(key, client, request, AskedFor::More)
                });
            }
            ToLoop::AskAgain {
                exchange,
                request,
                usage,
            } => {
                self.with_exchange(exchange, |main_loop, key, client| {
                    main_loop.next_round(key, client, request, AskedFor::Another(usage))
                });
            }
            ToLoop::KeepDraft { exchange, usage } => {
                self.with_exchange(exchange, |main_loop, _, client| {
                    main_loop.keep_draft(client, usage)
                });
            }
            ToLoop::LeaveAlone { exchange, request } => self.leave_alone(exchange, request),
            ToLoop::Answer { exchange, answer } => {
                self.budget.prompt_refused(exchange);
                self.with_exchange(exchange, |main_loop, _, client| {
                    main_loop.deliver_answer(client, &answer)
                });
            }
            ToLoop::Looked(exchange) => {
                self.with_exchange(exchange, |main_loop, _, client| {
                    main_loop.files_looked_at(client)
                });
            }
            ToLoop::Durable(seq) => {
                self.durability.advance(seq);
                self.budget.prompts_durable(self.durability.durable());
                for key in self.durability.take_held_clients() {
                    self.drive(key);
                    // Its prompt is in a later commit, or it hears of all.
                    let waits = |client: &Client| client.is_gated() || client.listens();
                    if self.connections.client(key).is_some_and(waits) {
                        self.durability.hold_client(key);
                    }
                }
            }
            ToLoop::Mode(mode, why) => (self.mode, self.mode_reason) = (mode, why),
            ToLoop::Stopped(is_stopped) => self.stop_agents(is_stopped),
            ToLoop::LedgerFailed { message } => self.ledger_failed(message),
        }
    }

    fn forward_prompt(
        &mut self,
        id: ExchangeId,
        request: ModelRequest,
        (durable_at, episode, headers): (Seq, EpisodeId, OwnHeaders),
        (rules, may_ask_again): (PipeRules, bool),
    ) {
        let request_bytes = request.body.len() as u64;
        self.budget
            .prompt_forwarded(id, request_bytes, durable_at, self.durability.durable());
        let Some(key) = self.connections.client_of(id) else {
            // The client left while the engine composed. The engine waits for one end for each `Forward`.
            self.budget.request_gone(id);
            return self.engine.send(ToEngine::ReplyEnd {
                exchange: id,
                ending: ResponseEnd::ClientGone,
                reply: Box::default(),
                added: Duration::ZERO,
            });
        };
        let client = self.connections.client(key);
        let exchange = client.and_then(|client| client.exchange.as_deref());
        let dialect = exchange
            .expect("a client is found by the exchange that it has")
            .chat_dialect();
        let reply = ChatReply {
            durable_at,
            episode,
            added: Duration::ZERO,
            headers,
            inflate: None,
            handover_at: None,
            failed: None,
            pipe: ReplyPipe::new(dialect, rules),
            is_over: false,
            is_gated: true,
            may_ask_again,
            head: None,
            comment_due: None,
        };
        self.durability.hold_client(key);
        self.with_client(key, |main_loop, client| {
            main_loop.begin_chat_call(key, client, request, Some(reply))
        });
    }

    /// Relays a chat request's body that holds no prompt: nothing is recorded, and no gate holds the response.
    fn leave_alone(&mut self, id: ExchangeId, request: ModelRequest) {
        let durable = self.durability.durable();
        let request_bytes = request.body.len() as u64;
        self.budget
            .prompt_forwarded(id, request_bytes, durable, durable);
        match self.connections.client_of(id) {
            None => self.budget.request_gone(id),
            Some(key) => self.with_client(key, |main_loop, client| {
                main_loop.begin_chat_call(key, client, request, None)
            }),
        }
    }

    fn begin_chat_call(
        &mut self,
        key: usize,
        client: &mut Client,
        request: ModelRequest,
        mut chat: Option<ChatReply>,
    ) {
        let ModelRequest { model, body } = request;
        let Some(exchange) = client.exchange.as_deref_mut() else {
            return;
        };
        let ExchangeStage::Composing { since } = exchange.stage else {
            unreachable!("one Forward for each prompt");
        };
        exchange.server =
            ServerNumber::for_model(model.as_deref(), &self.config.upstream.named.by_model);
        let framing = RequestFraming::Length(body.len() as u64);
        let retry = Retry::of_body(&body);
        let head = self.request_head(exchange, framing, ContentCoding::Identity);
        let is_gated = chat.is_some();
        if let Some(reply) = &mut chat {
            reply.added = self.net.now().saturating_duration_since(since);
            self.metrics.count_overhead(reply.added);
        }
        exchange.stage = ExchangeStage::Upstream(Box::new(UpstreamCall {
            request: RequestBytes::new(head, body),
            upload: Upload::Complete,
            connection: CallConnection::Off,
            retry,
            reader: ResponseReader::new(ExpectedBody::WithBody),
            heard: None,
            status: 0,
            upstream: Persistence::Close,
            chat,
            downstream: Downstream::Waiting,
        }));
        if is_gated {
            // Every byte of the response waits for the prompt's commit.
            client.out.hold_from_here();
            // The ledger may have failed while the engine composed.
            if self.durability.failure().is_some() {
                return self.withdraw_exchange(client);
            }
        }
        self.start_call(key, client);
    }

    fn ledger_failed(&mut self, message: String) {
        tracing::error!(reason = message, "chat requests are refused from now on");
        self.durability.record_failure(message);
        self.audits.close();
        for key in self.connections.clients_with_exchange() {
            self.with_client(key, |main_loop, client| main_loop.withdraw_exchange(client));
        }
    }

    /// Refuses a chat exchange that waits for the ledger, or for memory that only the ledger's progress would free. One whose
    /// prompt is durable goes on.
    fn withdraw_exchange(&mut self, client: &mut Client) {
        let refusal = self.durability.refusal();
        let refusal = refusal.expect("exchanges are withdrawn when the ledger has failed");
        if let Some(exchange) = client.exchange.as_deref() {
            match &exchange.stage {
                ExchangeStage::Composing { .. } => return self.refuse_current(client, &refusal),
                // Nothing becomes durable any more, so no memory comes back.
                ExchangeStage::Collecting(_) if client.waits_for_room() => {
                    return self.refuse_current(client, &refusal);
                }
                ExchangeStage::Upstream(_) if client.is_gated() => {}
                ExchangeStage::Upstream(call) if call.waits_for_engine() => {
                    return self.response_broke(client, &refusal);
                }
                _ => return,
            }
        }
        self.withdraw_call(client, &refusal);
    }

    /// Goes on with what waited for the engine.
    pub(super) fn serve_engine_link(&mut self) {
        self.engine.pump();
        self.again.append(&mut self.engine.take_ready_clients());
        if self.engine.is_gone() && self.durability.failure().is_none() {
            self.ledger_failed("the engine has stopped; restart tslp and see its log".to_owned());
        }
    }
}
