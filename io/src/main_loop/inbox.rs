//! Messages from the other threads, and the queue to the engine.

use std::sync::atomic::Ordering;

use crossbeam_channel::TrySendError;
use tslp_core::ids::{EpisodeId, Seq};

use super::client::{
    CallConnection, ChatReply, Client, Downstream, ExchangeStage, Gate, Lane, ReplyEndHandling,
    Retry, Upload, UpstreamCall,
};
use super::rounds::waits_for_tools;
use super::{LoopInput, MainLoop};
use crate::channel::{Ending, ExchangeId, ModelRequest, RoundsAllowed, ToEngine, ToLoop};
use crate::chat::stream_progress::StreamProgress;
use crate::http::error::Refusal;
use crate::http::head::{Coding, RequestFraming};
use crate::http::response::Asked;
use crate::upstream::connection::{RequestBytes, ResponseReader};
use crate::upstream::server::ServerNumber;

/// Longest request body that goes over a used connection to the upstream; a longer one is worth a fresh one.
pub(super) const REPEATABLE_BODY_BYTES_MAX: usize = 1 << 20;

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
                rounds,
            } => self.forward_prompt(exchange, request, (durable_at, episode), rounds),
            ToLoop::Say { exchange, text } => {
                if let Some(key) = self.exchanges.get(&exchange).copied() {
                    self.with_client(key, |main_loop, client| main_loop.say(client, &text));
                }
            }
            ToLoop::KeepCallsBack { exchange, text } => {
                if let Some(key) = self.exchanges.get(&exchange).copied() {
                    self.with_client(key, |main_loop, client| {
                        main_loop.keep_calls_back(client, &text)
                    });
                }
            }
            ToLoop::NextRound { exchange, request } => {
                if let Some(key) = self.exchanges.get(&exchange).copied() {
                    self.with_client(key, |main_loop, client| {
                        main_loop.next_round(key, client, request)
                    });
                }
            }
            ToLoop::LeaveAlone { exchange, request } => self.leave_alone(exchange, request),
            ToLoop::Answer { exchange, answer } => {
                self.budget.prompt_refused(exchange);
                if let Some(key) = self.exchanges.get(&exchange).copied() {
                    self.with_client(key, |main_loop, client| {
                        main_loop.deliver_answer(client, &answer)
                    });
                }
            }
            ToLoop::Looked(exchange) => {
                if let Some(key) = self.exchanges.get(&exchange).copied() {
                    self.with_client(key, |main_loop, client| main_loop.files_looked_at(client));
                }
            }
            ToLoop::Durable(seq) => {
                self.durable = self.durable.max(seq);
                self.budget.prompts_durable(self.durable);
                for key in std::mem::take(&mut self.gated) {
                    self.drive(key);
                    if self
                        .clients
                        .get_mut(&key)
                        .is_some_and(|client| is_gated(client))
                    {
                        self.gated.push(key);
                    }
                }
            }
            ToLoop::Mode(mode) => self.mode = mode,
            ToLoop::LedgerFailed { message } => self.ledger_failed(message),
        }
    }

    fn forward_prompt(
        &mut self,
        id: ExchangeId,
        request: ModelRequest,
        (durable_at, episode): (Seq, EpisodeId),
        allowed: RoundsAllowed,
    ) {
        let request_bytes = request.body.len() as u64;
        self.budget
            .prompt_forwarded(id, request_bytes, durable_at, self.durable);
        let Some(key) = self.exchanges.get(&id).copied() else {
            // The client left while the engine composed. The engine waits for one end for each `Forward`.
            self.budget.request_gone(id);
            return self.tell_engine(ToEngine::ReplyEnd {
                exchange: id,
                ending: Ending::ClientGone,
                at: self.channels.audits.mark(),
            });
        };
        let exchange = self
            .clients
            .get(&key)
            .and_then(|client| client.exchange.as_deref());
        let dialect = exchange
            .and_then(|exchange| exchange.dialect)
            .unwrap_or_default();
        let reply = ChatReply {
            dialect,
            durable_at,
            episode,
            side: Vec::new(),
            handover_at: None,
            elsewhere: None,
            progress: StreamProgress::new(dialect),
            told: ReplyEndHandling::NotYet,
            gate: Gate::Closed,
            allowed,
            continued: None,
        };
        self.gated.push(key);
        self.with_client(key, |main_loop, client| {
            main_loop.begin_chat_call(key, client, request, Lane::Chat(reply))
        });
    }

    /// Relays a chat request's body that holds no prompt: nothing is recorded, and no gate holds the response.
    fn leave_alone(&mut self, id: ExchangeId, request: ModelRequest) {
        let request_bytes = request.body.len() as u64;
        self.budget
            .prompt_forwarded(id, request_bytes, self.durable, self.durable);
        match self.exchanges.get(&id).copied() {
            None => self.budget.request_gone(id),
            Some(key) => self.with_client(key, |main_loop, client| {
                main_loop.begin_chat_call(key, client, request, Lane::Relay)
            }),
        }
    }

    fn begin_chat_call(
        &mut self,
        key: usize,
        client: &mut Client,
        request: ModelRequest,
        lane: Lane,
    ) {
        let ModelRequest { model, body } = request;
        let Some(exchange) = client.exchange.as_deref_mut() else {
            return;
        };
        let ExchangeStage::Composing { since } = exchange.work else {
            unreachable!("one Forward for each prompt");
        };
        exchange.server = ServerNumber::for_model(model.as_deref(), &self.config.model_upstreams);
        let framing = RequestFraming::Length(body.len() as u64);
        // A body that may have to be sent again is kept until the response comes, which can take minutes.
        let retry = if body.len() <= REPEATABLE_BODY_BYTES_MAX {
            Retry::Possible
        } else {
            Retry::Never
        };
        let head = self.request_head(exchange, framing, Coding::Identity);
        let is_gated = matches!(lane, Lane::Chat(_));
        exchange.work = ExchangeStage::Upstream(Box::new(UpstreamCall {
            request: RequestBytes::new(head, body),
            upload: Upload::Complete,
            line: CallConnection::Off,
            retry,
            reader: ResponseReader::new(Asked::WithBody),
            lane,
            downstream: Downstream::Waiting,
        }));
        if is_gated {
            let overhead = self.net.now().saturating_duration_since(since);
            self.channels.metrics.count_overhead(overhead);
            client.out.hold_from_here();
        }
        if is_gated && self.ledger_failure.is_some() {
            return self.withdraw_exchange(client);
        }
        self.start_call(key, client);
    }

    fn ledger_failed(&mut self, message: String) {
        tracing::error!(reason = message, "chat requests are refused from now on");
        self.ledger_failure = Some(message);
        self.channels.audits.close();
        let keys: Vec<usize> = self.exchanges.values().copied().collect();
        for key in keys {
            self.with_client(key, |main_loop, client| main_loop.withdraw_exchange(client));
        }
        self.gated.clear();
    }

    /// Refuses a chat exchange that waits for the ledger, or for memory that only the ledger's progress would free. One whose
    /// prompt is durable goes on.
    fn withdraw_exchange(&mut self, client: &mut Client) {
        let message = self.ledger_failure.clone().unwrap_or_default();
        let refusal = Refusal::new(503, "ledger_failed", message);
        if let Some(exchange) = client.exchange.as_deref() {
            match &exchange.work {
                ExchangeStage::Composing { .. } => return self.refuse_current(client, &refusal),
                // Nothing becomes durable any more, so no memory comes back.
                ExchangeStage::Collecting(_) if client.waits_for_room() => {
                    return self.refuse_current(client, &refusal);
                }
                ExchangeStage::Upstream(_) if is_gated(client) => {}
                ExchangeStage::Upstream(call) if waits_for_tools(call) => {
                    return self.response_broke(client, &refusal);
                }
                _ => return,
            }
        }
        self.withdraw_call(client, &refusal);
    }

    /// Queues a message for the engine, behind everything queued before.
    pub(super) fn tell_engine(&mut self, message: ToEngine) {
        self.engine_queue.push_back(message);
        self.pump_engine();
    }

    /// Hands queued messages over as far as the channel takes them.
    pub(super) fn pump_engine(&mut self) {
        while let Some(message) = self.engine_queue.pop_front() {
            match self.channels.to_engine.try_send(message) {
                Ok(()) => {}
                Err(TrySendError::Full(message)) => return self.engine_queue.push_front(message),
                Err(TrySendError::Disconnected(_)) => {
                    self.engine_queue.clear();
                    if self.ledger_failure.is_none() {
                        let message =
                            "the engine has stopped; restart tslp and see its log".to_owned();
                        // Not at once: a client may be in the middle of its turn.
                        if self
                            .handle
                            .sender
                            .try_send(LoopInput::Message(ToLoop::LedgerFailed { message }))
                            .is_ok()
                        {
                            let _ = self.handle.rouse.rouse();
                        }
                    }
                }
            }
        }
        self.again.append(&mut self.engine_waiters);
    }
}

/// Whether a chat response is kept back until its prompt is durable.
pub(super) fn is_gated(client: &Client) -> bool {
    match client.exchange.as_deref().map(|exchange| &exchange.work) {
        Some(ExchangeStage::Upstream(call)) => match &call.lane {
            Lane::Chat(reply) => reply.gate == Gate::Closed,
            Lane::Relay => false,
        },
        _ => false,
    }
}
