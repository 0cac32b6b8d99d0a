//! What the loop knows of each connection: clients with their exchange, and upstream connections.

use std::net::SocketAddr;
use std::time::Instant;

use tslp_core::ids::{EpisodeId, Seq};

use super::deadlines::Due;
use super::memory_budget::Room;
use super::rounds::Continued;
use crate::channel::{ExchangeId, RoundsAllowed};
use crate::chat::dialect::Dialect;
use crate::guard::Caller;
use crate::http::head::{Content, ResponseFraming, ResponseTo};
use crate::http::outgoing::Outgoing;
use crate::http::request::{Expectation, Persistence, RequestHead};
use crate::http::response::ResponseHead;
use crate::http::server_connection::ServerConnection;
use crate::http::socket::Socket;
use crate::upstream::connection::{RequestBytes, ResponseReader};
use crate::upstream::server::ServerNumber;
use crate::upstream::tls::Transport;

/// One client connection.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) socket: Socket,
    pub(super) http: ServerConnection,
    pub(super) out: Outgoing,
    pub(super) exchange: Option<Box<Exchange>>,
    pub(super) stage: Stage,
    pub(super) due: Option<Armed>,
    /// Counts everything that moved on; a turn ends when it stands still.
    pub(super) moves: u64,
    /// Counts requests, so that a deadline can't outlive its request.
    pub(super) requests: u64,
    /// What the loop has counted of [`buffered_bytes`](Self::buffered_bytes).
    pub(super) counted_bytes: usize,
}

/// A deadline, and what it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Armed {
    pub(super) due: Due,
    pub(super) at: Instant,
    pub(super) request: u64,
    pub(super) moves: u64,
}

/// How a client connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Requests are read.
    Open,
    /// What is buffered goes out, then our side is closed.
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
            stage: Stage::Open,
            due: None,
            moves: 0,
            requests: 0,
            counted_bytes: 0,
        }
    }

    /// Bytes that wait for either peer, or to be understood. Prompts are counted by the memory budget.
    pub(super) fn buffered_bytes(&self) -> usize {
        let upload = match self.exchange.as_deref().map(|exchange| &exchange.work) {
            Some(Work::Upstream(call)) => match call.lane {
                Lane::Relay => call.request.rest_len(),
                Lane::Chat(ref reply) => {
                    let continued = reply.continued.as_ref();
                    continued.map_or(0, |continued| continued.rounds.held_bytes())
                }
            },
            _ => 0,
        };
        self.http.waiting_bytes() + self.out.len() + upload
    }

    /// Whether a body waits for memory: then nothing is read.
    pub(super) fn waits_for_room(&self) -> bool {
        match self.exchange.as_deref().map(|exchange| &exchange.work) {
            Some(Work::Collecting(collecting)) => collecting.room == Room::NotYet,
            _ => false,
        }
    }

    /// Who the exchange is for, if it goes upstream.
    pub(super) fn server(&self) -> ServerNumber {
        let exchange = self.exchange.as_deref();
        exchange.map_or_else(ServerNumber::default, |exchange| exchange.server)
    }

    /// The exchange's way to the upstream, if it has one.
    pub(super) fn call(&mut self) -> Option<&mut Call> {
        match self.exchange.as_deref_mut() {
            Some(Exchange {
                work: Work::Upstream(call),
                ..
            }) => Some(call),
            _ => None,
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
    /// Of a chat request.
    pub(super) dialect: Option<Dialect>,
    /// Who it is for, if it goes upstream.
    pub(super) server: ServerNumber,
    pub(super) work: Work,
}

impl Exchange {
    pub(super) fn response_to(&self) -> ResponseTo {
        let content = if self.head.method == "HEAD" {
            Content::HeadOnly
        } else {
            Content::Whole
        };
        ResponseTo {
            version: self.head.version,
            persistence: self.persistence,
            content,
            errors: self.dialect.map(Dialect::error_shape).unwrap_or_default(),
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

/// How far an exchange is.
#[derive(Debug)]
pub(super) enum Work {
    /// The route isn't decided yet.
    Routing,
    /// A chat request's body is coming in.
    Collecting(Collecting),
    /// The engine has the prompt, since it was whole.
    Composing { since: Instant },
    /// The diagnostics thread has the question.
    Diagnosing,
    /// The upstream is spoken to.
    Upstream(Box<Call>),
}

/// A chat request's body on its way in.
#[derive(Debug)]
pub(super) struct Collecting {
    pub(super) body: Vec<u8>,
    /// Whether the client still waits to be asked for it.
    pub(super) expects: Expectation,
    pub(super) room: Room,
    /// When it must be whole, however steadily it comes.
    pub(super) whole_by: Instant,
}

/// A request to the upstream and its response on the way back.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) request: RequestBytes,
    pub(super) upload: Upload,
    pub(super) line: Line,
    pub(super) retry: Retry,
    pub(super) reader: ResponseReader,
    pub(super) lane: Lane,
    pub(super) downstream: Downstream,
}

impl Call {
    /// Whether the engine keeps the request for another round.
    pub(super) fn may_go_on(&self) -> bool {
        match &self.lane {
            Lane::Chat(reply) => reply.allowed == RoundsAllowed::Several,
            Lane::Relay => false,
        }
    }
}

/// The request body's way to the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Upload {
    /// More comes from the client, sent on with its length told.
    Length,
    /// More comes from the client, sent on chunked; so many bytes so far.
    Chunked(u64),
    /// All of it is in the request's bytes.
    Complete,
    /// The upstream takes no more of it; a response may still come.
    Broken,
}

/// The connection that a call uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The address is being looked up.
    Resolving,
    /// The link with this key.
    Linked(usize),
    /// None any more.
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

/// What kind of traffic a call is.
#[derive(Debug)]
pub(super) enum Lane {
    /// Bytes through.
    Relay,
    /// A chat response with a side copy.
    Chat(ChatReply),
}

/// What a chat response needs besides relaying.
#[derive(Debug)]
pub(super) struct ChatReply {
    pub(super) dialect: Dialect,
    pub(super) durable_at: Seq,
    pub(super) episode: EpisodeId,
    /// A response by which the route isn't there, until it is whole and can be explained.
    pub(super) elsewhere: Option<Box<Elsewhere>>,
    /// What the engine hasn't got yet.
    pub(super) side: Vec<u8>,
    /// When the engine has to record all that came until then; none if it has nothing to record.
    pub(super) handover_at: Option<Instant>,
    /// A stream has said that it is done, though its response may not be over.
    pub(super) said_done: bool,
    pub(super) told: Told,
    pub(super) gate: Gate,
    pub(super) allowed: RoundsAllowed,
    /// What is known of the rounds, once the first one's response has begun and may be continued.
    pub(super) continued: Option<Box<Continued>>,
}

/// A response that says 404, or that the route is elsewhere.
#[derive(Debug)]
pub(super) struct Elsewhere {
    pub(super) head: ResponseHead,
    /// Its beginning.
    pub(super) body: Vec<u8>,
}

/// Whether the engine knows that the reply is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    NotYet,
    Ended,
    /// It does, and has looked at the files that the reply is about.
    Looked,
}

/// What keeps response bytes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    /// The prompt isn't durable.
    Closed,
    /// Nothing.
    Open,
    /// What may be the reply's end has come. The client mustn't be quicker than the engine: what it writes into a file
    /// must not be found there before the reply is judged.
    LastPiece,
}

/// How far the response to the client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Downstream {
    /// No head yet.
    Waiting,
    /// The head is out; the body follows.
    Streaming {
        framing: ResponseFraming,
        media: Media,
        status: u16,
        upstream: Persistence,
    },
    /// Everything is in the output buffer.
    Done,
}

/// Whether a broken response can carry an error event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    EventStream,
    JsonLines,
    Other,
}

/// One upstream connection.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) server: ServerNumber,
    pub(super) transport: Transport,
    pub(super) stage: LinkStage,
    /// The client that uses it; none while it is in the pool.
    pub(super) client: Option<usize>,
    pub(super) origin: Origin,
}

/// How far a link is.
#[derive(Debug)]
pub(super) enum LinkStage {
    /// Connecting; these addresses are left to try.
    Connecting(Vec<SocketAddr>),
    /// Connected.
    Open,
}

/// Whether a link has carried a request before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Fresh,
    Reused,
}
