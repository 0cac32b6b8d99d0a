//! The loop's state of each connection: clients with their exchange, and upstream connections.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tslp_core::ids::{EpisodeId, Seq};
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::reply_pipe::{BodyForm, ReplyPipe};
use tslp_wire::http::head::{ResponseContent, ResponseFraming, ResponseTo};
use tslp_wire::http::inflate::Inflate;
use tslp_wire::http::outgoing::Outgoing;
use tslp_wire::http::request::{Expectation, Persistence, RequestHead};
use tslp_wire::http::response::ResponseHead;
use tslp_wire::http::server_connection::ServerConnection;

use super::failed_answer::FailedAnswer;
use super::memory_budget::MemoryRoom;
use crate::channel::{ExchangeId, OwnHeaders, ToEngine};
use crate::guard::Caller;
use crate::socket::Socket;
use crate::upstream::connection::{RequestBytes, ResponseReader};
use crate::upstream::server::ServerNumber;
use crate::upstream::tls::Transport;

/// Longest request body that goes over a used connection to the upstream; a longer one is worth a fresh one.
const REPEATABLE_BODY_BYTES_MAX: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Client {
    pub(super) socket: Socket,
    pub(super) http: ServerConnection,
    pub(super) out: Outgoing,
    pub(super) exchange: Option<Box<Exchange>>,
    pub(super) stage: ClientStage,
    pub(super) due: Option<ArmedDeadline>,
    /// Whether the guard has let in the user whose connection it is.
    pub(super) is_let_in: bool,
    /// Counts every step of progress; the loop leaves the client when the count stops growing.
    pub(super) moves: u64,
    /// Counts requests, so that a deadline can't outlive its request.
    pub(super) requests: u64,
    /// The value of [`buffered_bytes`](Self::buffered_bytes) that the loop's total includes.
    pub(super) counted_bytes: usize,
}

/// A deadline, and what it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArmedDeadline {
    pub(super) due: WaitFor,
    pub(super) at: Instant,
    pub(super) request: u64,
    pub(super) moves: u64,
}

/// The event that a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitFor {
    /// The next request.
    KeepAlive,
    /// The rest of a head.
    Head,
    /// More of a request body.
    Body,
    /// Memory for a request body.
    MemoryRoom,
    /// The client to take bytes.
    Write,
    /// A connection to the upstream.
    Connect,
    /// The upstream to take bytes of the request.
    Upload,
    /// The response's first byte.
    FirstByte,
    /// More of the response.
    UpstreamIdle,
    /// The end of a message whose last event may have come.
    LastPiece,
    /// The client to close.
    Linger,
}

impl WaitFor {
    /// Whether every byte that moves restarts the deadline.
    pub(super) const fn is_renewed(self) -> bool {
        matches!(
            self,
            Self::Body | Self::Write | Self::Upload | Self::UpstreamIdle
        )
    }
}

/// The stage of a client connection's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientStage {
    /// Requests are read.
    Open,
    /// Buffered bytes are written, then our side is closed.
    Finishing,
    /// Our side is closed; what still comes is thrown away, so that the last response isn't lost to a reset.
    Lingering,
    /// To be dropped.
    Over,
}

impl Client {
    pub(super) fn new(socket: Socket) -> Self {
        Self {
            socket,
            http: ServerConnection::default(),
            out: Outgoing::default(),
            exchange: None,
            stage: ClientStage::Open,
            due: None,
            is_let_in: false,
            moves: 0,
            requests: 0,
            counted_bytes: 0,
        }
    }

    /// Bytes that wait for either peer, or to be understood. Prompts are counted by the memory budget.
    pub(super) fn buffered_bytes(&self) -> usize {
        let upload = match self.exchange.as_deref().map(|exchange| &exchange.stage) {
            Some(ExchangeStage::Upstream(call)) => match &call.chat {
                None => call.request.rest_len(),
                Some(reply) => reply.pipe.held_bytes(),
            },
            _ => 0,
        };
        self.http.waiting_bytes() + self.out.len() + upload
    }

    /// Whether a body waits for memory; then nothing is read from the client.
    pub(super) fn waits_for_room(&self) -> bool {
        match self.exchange.as_deref().map(|exchange| &exchange.stage) {
            Some(ExchangeStage::Collecting(collecting)) => collecting.room == MemoryRoom::NotYet,
            _ => false,
        }
    }

    /// The model server of the exchange; the default one if none is chosen yet.
    pub(super) fn server(&self) -> ServerNumber {
        let exchange = self.exchange.as_deref();
        exchange.map_or_else(ServerNumber::default, |exchange| exchange.server)
    }

    /// The exchange's way to the upstream, if it has one.
    pub(super) fn call(&mut self) -> Option<&mut UpstreamCall> {
        self.exchange.as_deref_mut()?.call()
    }

    /// The exchange, its way to the upstream, and the bytes for the client, if it has such a way.
    pub(super) fn call_parts(&mut self) -> Option<(ExchangeId, &mut UpstreamCall, &mut Outgoing)> {
        let exchange = self.exchange.as_deref_mut()?;
        Some((exchange.id, exchange.call()?, &mut self.out))
    }

    /// The chat reply of the exchange's way to the upstream, if it is one.
    pub(super) fn chat(&mut self) -> Option<&mut ChatReply> {
        self.call()?.chat.as_mut()
    }

    /// Whether a page listens for commits.
    pub(super) fn listens(&self) -> bool {
        let stage = self.exchange.as_deref().map(|exchange| &exchange.stage);
        matches!(stage, Some(ExchangeStage::Listening { .. }))
    }

    /// Whether a chat response is kept back until its prompt is durable.
    pub(super) fn is_gated(&self) -> bool {
        match self.exchange.as_deref().map(|exchange| &exchange.stage) {
            Some(ExchangeStage::Upstream(call)) => {
                let reply = call.chat.as_ref();
                reply.is_some_and(|reply| reply.is_gated)
            }
            _ => false,
        }
    }
}

/// One request and its response.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) id: ExchangeId,
    pub(super) head: RequestHead,
    pub(super) persistence: Persistence,
    pub(super) caller: Caller,
    /// The API of a chat request; `None` for others.
    pub(super) dialect: Option<Dialect>,
    /// The model server, once it is chosen.
    pub(super) server: ServerNumber,
    pub(super) stage: ExchangeStage,
}

impl Exchange {
    /// Its way to the upstream, if it has one.
    pub(super) fn call(&mut self) -> Option<&mut UpstreamCall> {
        match &mut self.stage {
            ExchangeStage::Upstream(call) => Some(call),
            _ => None,
        }
    }

    /// The dialect of a chat request.
    pub(super) fn chat_dialect(&self) -> Dialect {
        self.dialect
            .expect("only chat requests are composed, and their paths name the dialect")
    }

    /// The dialect in which errors are told. To requests that are relayed as they come that is OpenAI's: most of their routes are.
    pub(super) fn dialect_of_errors(&self) -> Dialect {
        self.dialect.unwrap_or(Dialect::ChatCompletions)
    }

    pub(super) fn response_to(&self) -> ResponseTo {
        let content = if self.head.method == "HEAD" {
            ResponseContent::HeadOnly
        } else {
            ResponseContent::Whole
        };
        ResponseTo {
            version: self.head.version,
            persistence: self.persistence,
            content,
            errors: self.dialect.filter(|_| self.head.method == "POST"),
        }
    }

    /// CORS headers for a configured page.
    pub(super) fn caller_fields(&self) -> Vec<(&str, &str)> {
        match &self.caller {
            Caller::Plain => Vec::new(),
            Caller::Page(origin) => {
                vec![("access-control-allow-origin", origin), ("vary", "origin")]
            }
        }
    }
}

#[derive(Debug)]
pub(super) enum ExchangeStage {
    /// The route isn't decided yet.
    Routing,
    /// A chat request's body is coming in.
    Collecting(Collecting),
    /// The engine has the prompt, since it was whole.
    Composing { since: Instant },
    /// The diagnostics thread has the question.
    Diagnosing,
    /// An open page hears of every commit; the last one that it has heard of.
    Listening { heard: Option<Seq> },
    /// The upstream is spoken to.
    Upstream(Box<UpstreamCall>),
}

/// A chat request's body on its way in.
#[derive(Debug)]
pub(super) struct Collecting {
    pub(super) body: Vec<u8>,
    /// Whether the client waits for `100 Continue` before it sends the body.
    pub(super) expects: Expectation,
    pub(super) room: MemoryRoom,
    /// The latest moment at which the body must be complete, however steadily it comes: it holds memory.
    pub(super) whole_by: Instant,
}

/// A request to the upstream and its response on the way back.
#[derive(Debug)]
pub(super) struct UpstreamCall {
    pub(super) request: RequestBytes,
    pub(super) upload: Upload,
    pub(super) connection: CallConnection,
    pub(super) retry: Retry,
    pub(super) reader: ResponseReader,
    /// When a byte of the response came last.
    pub(super) heard: Option<Instant>,
    /// The current response's HTTP status; 0 before its head.
    pub(super) status: u16,
    /// Whether its connection can be used again.
    pub(super) upstream: Persistence,
    /// The reply to a chat request. Any other response is passed through unread.
    pub(super) chat: Option<ChatReply>,
    pub(super) downstream: Downstream,
}

impl UpstreamCall {
    /// Whether the engine keeps the request, to ask the model server again.
    pub(super) fn may_ask_again(&self) -> bool {
        self.chat.as_ref().is_some_and(|reply| reply.may_ask_again)
    }

    /// The chat reply, as long as the client doesn't have all of it.
    pub(super) fn open_reply(&mut self) -> Option<&mut ChatReply> {
        let is_open = self.downstream != Downstream::Done;
        self.chat.as_mut().filter(|_| is_open)
    }

    /// Whether the model server refuses to go on with a reply.
    pub(super) fn is_refused_later(&self) -> bool {
        let is_later = |it: &ChatReply| it.pipe.is_continued() || it.pipe.has_draft();
        self.chat.as_ref().is_some_and(is_later) && !matches!(self.status, 200..=299)
    }

    /// Notes that a response has begun: the request isn't repeated, and freed if all of it was sent. Returns whether it was.
    pub(super) fn free_sent_request(&mut self) -> bool {
        self.retry = Retry::Never;
        let is_sent = self.request.rest_len() == 0 && self.upload == Upload::Complete;
        if is_sent {
            self.request = RequestBytes::default();
        }
        is_sent
    }

    /// Whether a response is over, and the engine has yet to say what follows.
    pub(super) fn waits_for_engine(&self) -> bool {
        let waits = |reply: &ChatReply| reply.is_over && reply.pipe.waits_for_engine();
        self.downstream != Downstream::Done && self.chat.as_ref().is_some_and(waits)
    }
}

/// The request body's way to the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Upload {
    /// More comes from the client, sent on with its length.
    Length,
    /// More comes from the client, sent on chunked; so many bytes so far.
    Chunked(u64),
    /// All of it is in the request's bytes.
    Complete,
    /// The upstream takes no more of it; a response may still come.
    Broken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallConnection {
    /// The address is being looked up.
    Resolving,
    /// The link with this key.
    Linked(usize),
    /// It has none any more.
    Off,
}

/// Whether a call may be repeated on a fresh connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retry {
    /// Once, if a reused connection turns out to be dead.
    Possible,
    /// It was, or repeating could do something twice.
    Never,
}

impl Retry {
    /// For a chat request: a long body isn't kept until the response comes, which can take minutes.
    pub(super) const fn of_body(body: &[u8]) -> Self {
        if body.len() <= REPEATABLE_BODY_BYTES_MAX {
            Self::Possible
        } else {
            Self::Never
        }
    }
}

/// The state of a chat response, in addition to relaying.
#[derive(Debug)]
pub(super) struct ChatReply {
    pub(super) durable_at: Seq,
    pub(super) episode: EpisodeId,
    /// How long the prompt was kept until it went on.
    pub(super) added: Duration,
    /// Headers of tslp's own for the response.
    pub(super) headers: OwnHeaders,
    /// An answer that is no reply, kept until it is complete and can be explained to the client.
    pub(super) failed: Option<Box<FailedAnswer>>,
    /// Reads the response's body, if it is compressed.
    pub(super) inflate: Option<Inflate>,
    /// The moment at which the engine has to record all text so far; `None` if there is nothing to record.
    pub(super) handover_at: Option<Instant>,
    /// What reads the response, and holds what the client may not have yet.
    pub(super) pipe: ReplyPipe,
    /// Whether the engine was told of the response's end, and has yet to say what follows.
    pub(super) is_over: bool,
    /// Whether every byte waits until the prompt is durable.
    pub(super) is_gated: bool,
    pub(super) may_ask_again: bool,
    /// The first response's head, until it is known whether its body comes piece by piece.
    pub(super) head: Option<Box<ResponseHead>>,
    /// When the client is to hear that something is coming.
    pub(super) comment_due: Option<Instant>,
}

impl ChatReply {
    /// What was read since the engine heard last, for it; `is_due`: all of its text is to be recorded.
    pub(super) fn take_read(&mut self, exchange: ExchangeId, is_due: bool) -> ToEngine {
        let read = Box::new(self.pipe.take_read());
        ToEngine::ReplyRead {
            exchange,
            read,
            is_due,
        }
    }
}

/// The stage of the response to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Downstream {
    /// No head yet.
    Waiting,
    /// The head is out; the body follows.
    Streaming {
        framing: ResponseFraming,
        form: BodyForm,
    },
    /// Everything is in the output buffer.
    Done,
}

#[derive(Debug)]
pub(super) struct UpstreamLink {
    pub(super) server: ServerNumber,
    pub(super) transport: Transport,
    pub(super) stage: LinkStage,
    /// The client that uses it; none while it is in the pool.
    pub(super) client: Option<usize>,
    pub(super) origin: LinkOrigin,
}

#[derive(Debug)]
pub(super) enum LinkStage {
    /// Connecting; these addresses are left to try.
    Connecting(Vec<SocketAddr>),
    /// Connected.
    Open,
}

/// Whether a link has carried a request before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkOrigin {
    Fresh,
    Reused,
}
