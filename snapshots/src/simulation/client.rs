//! Simulated clients: windows that hold a conversation, resend it with every prompt, retry, regenerate and go away.

use serde_json::{Value, json};

use super::http::{self, Framing, Message};
use super::speech;
use super::wire::{ClientEnd, Network, Received};
use crate::dice::Dice;

/// One window of one client.
pub(super) struct Window {
    name: usize,
    messages: Vec<Value>,
    /// The first messages of its conversations.
    beginnings: Vec<Value>,
    session: Option<String>,
    streams: bool,
    tools: bool,
    connection: Option<ClientConnection>,
    open: Option<Request>,
    /// How often the last prompt was sent.
    attempts: u32,
}

/// A connection to the proxy.
struct ClientConnection {
    /// `None` once the proxy's process is gone.
    end: Option<ClientEnd>,
    sending: Vec<u8>,
    received: Vec<u8>,
    has_ended: bool,
}

impl ClientConnection {
    fn send_piece(&mut self, network: &Network, chance: &mut Dice, calm: bool) {
        if self.sending.is_empty() || self.has_ended {
            return;
        }
        let rest = self.sending.len();
        let piece = if calm { rest } else { chance.piece(rest) };
        let Some(end) = self.end else { return };
        match network.client_sends(end, &self.sending[..piece]) {
            Some(count) => drop(self.sending.drain(..count)),
            None => self.sending.clear(),
        }
    }

    fn receive_piece(&mut self, network: &Network, chance: &mut Dice, calm: bool) {
        let most = if calm { usize::MAX } else { chance.piece(4096) };
        let Some(end) = self.end else { return };
        match network.client_receives(end, most) {
            Received::Nothing => {}
            Received::Bytes(bytes) => self.received.extend_from_slice(&bytes),
            Received::Ended => self.has_ended = true,
        }
    }
}

/// A request of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// A prompt; the user's last message holds the ticket.
    Chat {
        /// A text that is in no other prompt.
        ticket: String,
    },
    /// A request that is relayed and not recorded.
    Relay,
    /// `/health`.
    Health,
    /// A request that must be refused.
    Nonsense,
}

/// A response, or the part of it that came.
pub(super) struct FinishedResponse {
    /// Its request.
    pub(super) request: Request,
    /// The part that came; `None` without a complete head.
    pub(super) response: Option<Message>,
    /// The window's number.
    pub(super) window: usize,
    /// Whether the client itself went away.
    pub(super) has_left: bool,
}

/// The outcome of a window's step.
pub(super) enum WindowStep {
    /// There was nothing to do.
    Idle,
    /// It sent or read something.
    Busy,
    /// It sent a request; the kind is for the counters.
    Asked(&'static str),
    /// A response is over.
    FinishedResponse(Box<FinishedResponse>),
}

impl Window {
    /// A window without a conversation.
    #[must_use]
    pub(super) fn new(name: usize, chance: &mut Dice) -> Self {
        Self {
            name,
            messages: Vec::new(),
            beginnings: Vec::new(),
            session: match chance.below(10) {
                0 | 1 => Some(format!("window-{name}")),
                2 => Some("all of us".to_owned()),
                _ => None,
            },
            streams: chance.percent(75),
            tools: chance.percent(25),
            connection: None,
            open: None,
            attempts: 0,
        }
    }

    /// Whether a response is awaited.
    #[must_use]
    pub(super) const fn is_waiting(&self) -> bool {
        self.open.is_some()
    }

    /// The bytes received on the present connection since the last response ended.
    #[must_use]
    pub(super) fn received_bytes(&self) -> &[u8] {
        self.connection
            .as_ref()
            .map_or(&[], |connection| &connection.received)
    }

    /// The proxy's process is gone.
    pub(super) fn lose_connection(&mut self) {
        if let Some(connection) = &mut self.connection {
            connection.end = None;
            connection.has_ended = true;
            connection.sending.clear();
        }
    }

    /// Sends a new request, or goes on with the one under way.
    pub(super) fn step(
        &mut self,
        network: &Network,
        chance: &mut Dice,
        ticket: &mut u64,
        calm: bool,
    ) -> WindowStep {
        if self.open.is_none() {
            if calm {
                return WindowStep::Idle;
            }
            return WindowStep::Asked(self.start_request(network, chance, ticket));
        }
        if !calm && chance.percent(1) {
            return self.abort_request(network);
        }
        if let Some(connection) = &mut self.connection {
            connection.send_piece(network, chance, calm);
            connection.receive_piece(network, chance, calm);
        }
        self.finish_if_over(network)
    }

    /// Prepares the next request, on an open connection or a new one.
    fn start_request(
        &mut self,
        network: &Network,
        chance: &mut Dice,
        ticket: &mut u64,
    ) -> &'static str {
        let (request, kind, bytes) = match chance.below(40) {
            0 => (
                Request::Health,
                "health checks",
                b"GET /health HTTP/1.1\r\nHost: localhost:4141\r\n\r\n".to_vec(),
            ),
            1 => (
                Request::Relay,
                "relays",
                b"GET /v1/models HTTP/1.1\r\nHost: localhost:4141\r\n\r\n".to_vec(),
            ),
            2 => (Request::Nonsense, "bad requests", bad_request(chance)),
            _ => self.chat_request(chance, ticket),
        };
        let is_usable = self
            .connection
            .as_ref()
            .is_some_and(|connection| !connection.has_ended);
        if !is_usable || chance.percent(10) {
            self.hang_up(network);
            self.connection = Some(ClientConnection {
                end: Some(network.connect_client(chance.pick(&[300, 5000, 1 << 20]))),
                sending: Vec::new(),
                received: Vec::new(),
                has_ended: false,
            });
        }
        if let Some(connection) = &mut self.connection {
            connection.sending = bytes;
            connection.received.clear();
        }
        self.open = Some(request);
        kind
    }

    fn chat_request(
        &mut self,
        chance: &mut Dice,
        ticket: &mut u64,
    ) -> (Request, &'static str, Vec<u8>) {
        let mut kind = "retries";
        let mut retry = self.attempts > 0;
        let waits_for_reply = self
            .messages
            .last()
            .is_some_and(|last| last["role"] == json!("user"));
        match chance.below(20) {
            // A new conversation in the same window.
            0 if !waits_for_reply => self.messages.clear(),
            // The last reply once more.
            1 if self
                .messages
                .last()
                .is_some_and(|last| last["role"] == json!("assistant")) =>
            {
                self.messages.pop();
                kind = "regenerations";
                retry = false;
            }
            // The last prompt in other words.
            2 if self.messages.len() >= 2 => {
                self.forget_last_prompt();
            }
            // An old conversation's first message: another reply to it, or a new conversation in the same words.
            3 if !waits_for_reply && !self.beginnings.is_empty() => {
                let at = chance.below(self.beginnings.len());
                self.messages = vec![self.beginnings[at].clone()];
                self.attempts = 0;
                kind = "first messages again";
                retry = false;
            }
            _ => {}
        }
        let is_prompt = |message: &Value| message["role"] != json!("assistant");
        if !self.messages.last().is_some_and(is_prompt) {
            *ticket += 1;
            let message = speech::make_message(chance, *ticket);
            kind = message.kind;
            retry = false;
            let message = json!({"role": "user", "content": message.text});
            if self.messages.is_empty() {
                self.beginnings.push(message.clone());
            }
            self.messages.push(message);
        }
        self.attempts += 1;
        let last_user = self
            .messages
            .iter()
            .rev()
            .find(|message| message["role"] == json!("user"));
        let text = last_user
            .and_then(|message| message["content"].as_str())
            .unwrap_or_default();
        let ticket = text
            .rfind("(ticket ")
            .map_or("", |at| &text[at..])
            .to_owned();
        let bytes = self.request_bytes(chance, retry);
        (Request::Chat { ticket }, kind, bytes)
    }

    fn request_bytes(&self, chance: &mut Dice, retry: bool) -> Vec<u8> {
        let mut body = json!({"model": "sim", "messages": self.messages, "stream": self.streams});
        if self.tools {
            body["tools"] = json!([{"type": "function", "function": {"name": "edit"}}]);
        }
        let body = body.to_string().into_bytes();
        let mut head = String::from(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:4141\r\nContent-Type: application/json\r\n",
        );
        if let Some(session) = &self.session {
            head.push_str(&format!("x-tslp-session: {session}\r\n"));
        }
        if retry {
            head.push_str(&format!("x-stainless-retry-count: {}\r\n", self.attempts));
        }
        if chance.percent(20) {
            head.push_str("Transfer-Encoding: chunked\r\n\r\n");
            [head.into_bytes(), http::encode_chunks(&body, chance)].concat()
        } else {
            head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
            [head.into_bytes(), body].concat()
        }
    }

    fn finish_if_over(&mut self, network: &Network) -> WindowStep {
        let Some(connection) = &mut self.connection else {
            return WindowStep::Idle;
        };
        let response = http::read_message(
            &connection.received,
            Framing::Response,
            connection.has_ended,
        );
        let is_complete = response
            .as_ref()
            .is_some_and(|response| response.complete.is_some());
        if !is_complete && !connection.has_ended {
            return WindowStep::Busy;
        }
        let closes = response
            .as_ref()
            .and_then(|response| response.field("connection"))
            == Some("close");
        if closes || !connection.sending.is_empty() || !is_complete {
            self.hang_up(network);
        } else if let Some(connection) = &mut self.connection {
            connection.received.clear();
        }
        self.finish_request(response, false)
    }

    /// The user presses stop.
    fn abort_request(&mut self, network: &Network) -> WindowStep {
        let received = self.received_bytes();
        let response = http::read_message(received, Framing::Response, false);
        self.hang_up(network);
        self.finish_request(response, true)
    }

    fn finish_request(&mut self, response: Option<Message>, has_left: bool) -> WindowStep {
        match self.open.take() {
            None => WindowStep::Idle,
            Some(request) => WindowStep::FinishedResponse(Box::new(FinishedResponse {
                request,
                response,
                window: self.name,
                has_left,
            })),
        }
    }

    fn hang_up(&mut self, network: &Network) {
        if let Some(end) = self.connection.take().and_then(|connection| connection.end) {
            network.client_leaves(end);
        }
    }

    /// Adds the reply to the conversation.
    pub(super) fn add_reply(&mut self, text: &str, call: Option<&(&'static str, String)>) {
        self.attempts = 0;
        let mut message = json!({"role": "assistant", "content": text});
        if let Some((name, arguments)) = call {
            message["tool_calls"] = json!([{"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}]);
        }
        self.messages.push(message);
        if call.is_some() {
            self.messages
                .push(json!({"role": "tool", "tool_call_id": "c1", "content": "done"}));
        }
    }

    /// Removes the last user message and all after it.
    fn forget_last_prompt(&mut self) {
        let is_user = |message: &Value| message["role"] == json!("user");
        let last = self.messages.iter().rposition(is_user);
        self.messages.truncate(last.unwrap_or(0));
    }

    /// Without a proper reply some clients keep its beginning, some drop the prompt, and some retry it.
    pub(super) fn handle_failed_reply(&mut self, chance: &mut Dice, partial: &str) {
        if self.attempts > 3 || chance.percent(40) {
            self.attempts = 0;
            if chance.percent(50) && !partial.is_empty() {
                self.add_reply(partial, None);
            } else {
                self.forget_last_prompt();
            }
        }
    }
}

fn bad_request(chance: &mut Dice) -> Vec<u8> {
    let body: &[u8] = chance.pick(&[
        b"{}".as_slice(),
        b"{\"messages\":[]}",
        b"{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"messages\":[]}",
        b"not json",
        b"\xff\xff",
    ]);
    let mut bytes = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    match chance.below(4) {
        0 => b"POST /v1/chat/completions HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}".to_vec(),
        1 => b"GARBAGE\r\n\r\n".to_vec(),
        _ => bytes,
    }
}
