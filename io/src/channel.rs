//! Messages between the threads: the network loop, the engine, the ledger writer, the auditor, the diagnostics.

use std::sync::Arc;

use tslp_core::event::{AuditOutcome, CallId, LinkSeen};
use tslp_core::guardian::Mode;
use tslp_core::ids::{EpisodeId, Seq};

use crate::auditor::queue::Mark;
use crate::chat::dialect::Dialect;
use crate::config::secret::Secret;
use crate::diagnostics::recent;
use crate::diagnostics::state::Wanted;
pub use crate::http::head::Answer;
use crate::sandbox::Outcome;

/// One request and its response on one client connection; never used twice in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub u64);

/// To the engine: from the network loop in the order in which things happened on the sockets, and from the auditor.
#[derive(Debug)]
pub enum ToEngine {
    /// The whole body of a chat request has arrived.
    Prompt {
        /// How it is written.
        dialect: Dialect,
        /// Where the answer goes.
        exchange: ExchangeId,
        /// The `x-tslp-session` header.
        session_name: Option<String>,
        /// Whether the client marks this as a retry of its previous request (`x-stainless-retry-count` above 0).
        retry: bool,
        /// The value of the `Authorization` header that goes upstream; for an audit of the reply.
        authorization: Option<Secret>,
        /// The request body, content codings undone.
        body: Vec<u8>,
    },
    /// A side copy of the upstream's response body, transfer codings undone. Sent in pieces of any size.
    ReplyBytes {
        /// Whose.
        exchange: ExchangeId,
        /// The bytes; there may be none.
        bytes: Vec<u8>,
        /// Why they are sent now.
        handover: Handover,
    },
    /// The client has the response as it came: no other round can follow.
    OneRound(ExchangeId),
    /// The model server's response is over. Sent exactly once for each [`ToLoop::Forward`] and each [`ToLoop::NextRound`], and
    /// once more if the response to the client ends while the engine has yet to say how it goes on.
    ReplyEnd {
        /// Whose.
        exchange: ExchangeId,
        /// How.
        ending: Ending,
        /// When.
        at: Mark,
    },
    /// The sandbox was tested.
    ToolsTested(Result<(), String>),
    /// It was looked where the paths of a call lead.
    LinksSeen {
        /// Whose reply names them.
        exchange: ExchangeId,
        /// Those that lead elsewhere.
        links: Vec<LinkSeen>,
    },
    /// A tool came to its end.
    ToolEnded {
        /// Whose reply asked for it.
        exchange: ExchangeId,
        /// The call.
        call: CallId,
        /// What came of it.
        outcome: Box<Outcome>,
    },
    /// A shadow audit came to its end.
    Audited {
        /// The episode whose reply was audited.
        episode: EpisodeId,
        /// How.
        outcome: AuditOutcome,
        /// The model's text, if it gave one.
        answer: Option<String>,
    },
    /// The model server told the size of its context.
    ContextTokens(u32),
    /// No more requests will come; what was sent before still counts.
    Shutdown,
}

/// Why a piece of a reply is handed to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// It is large, or the reply may be over.
    Enough,
    /// Some of the reply has waited long enough: all text that came so far is to be recorded.
    Due,
}

/// How a response from the upstream ended, as the sockets saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The upstream's message was complete by its own framing.
    Complete {
        /// The HTTP status.
        status: u16,
    },
    /// The client closed its connection first.
    ClientGone,
    /// The upstream's connection broke, or was silent for too long, after its response had begun.
    UpstreamBroken,
    /// The upstream could not be reached or sent no response.
    UpstreamUnreachable,
    /// The ledger failed before a byte was released; the client got 503 instead.
    LedgerFailed,
}

/// To the network loop; every sender wakes the loop's poll afterwards.
#[derive(Debug)]
pub enum ToLoop {
    /// Send this to the model server in place of the client's request.
    Forward {
        /// Which.
        exchange: ExchangeId,
        /// The composed request.
        request: ModelRequest,
        /// Response bytes may reach the client once this position is durable.
        durable_at: Seq,
        /// Told to the client in the `x-tslp-episode` response header.
        episode: EpisodeId,
        /// Whether tools may make it several rounds.
        rounds: RoundsAllowed,
    },
    /// Say this to the client in the model's place, after a round that has ended.
    Say {
        /// Which.
        exchange: ExchangeId,
        /// A piece of the reply's text.
        text: String,
    },
    /// Don't let the client have the calls of its own tools that a reply holds.
    KeepCallsBack {
        /// Which.
        exchange: ExchangeId,
        /// What the client is told in their place.
        text: String,
    },
    /// The reply goes on: ask the model server again.
    NextRound {
        /// Which.
        exchange: ExchangeId,
        /// What the model goes on from.
        request: ModelRequest,
    },
    /// Relay the exchange with this body, which is no prompt.
    LeaveAlone {
        /// Which.
        exchange: ExchangeId,
        /// The client's own.
        request: ModelRequest,
    },
    /// Answer the client at once; nothing goes upstream.
    Answer {
        /// Which.
        exchange: ExchangeId,
        /// The whole answer.
        answer: Answer,
    },
    /// The files that this reply is about have been looked at: the client may see the reply's end, and write them.
    Looked(ExchangeId),
    /// Everything up to here is on disk.
    Durable(Seq),
    /// What tslp is able to do, as the engine sees it.
    Mode(Mode),
    /// The ledger failed: chat requests are refused from now on, and exchanges that wait for durability end with this.
    LedgerFailed {
        /// What happened and what to do.
        message: String,
    },
}

/// How many requests to the model server one response to the client may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundsAllowed {
    /// One, whose response is relayed.
    One,
    /// One, whose calls of the client's tools reach the client once the engine has judged them.
    OneJudged,
    /// As many as the engine asks for ([`ToLoop::NextRound`]).
    Several,
}

/// A request for a model server.
#[derive(Debug)]
pub struct ModelRequest {
    /// The JSON text of its `model`, by which the server is chosen.
    pub model: Option<String>,
    /// All of it.
    pub body: Arc<Vec<u8>>,
}

/// From the network loop to the diagnostics thread.
#[derive(Debug)]
pub struct DiagnosticQuery {
    /// Where the answer goes.
    pub exchange: ExchangeId,
    /// What is asked for.
    pub page: DiagnosticPage,
}

/// The diagnostics of spec §14 that need more than the loop knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiagnosticPage {
    /// `GET /doctor`.
    Doctor,
    /// `GET /recent?limit=N&missing_lines=true`.
    Recent(recent::Wanted),
    /// `GET /state?path=PREFIX&after=ENTITY&limit=N`.
    State(Wanted),
    /// `GET /debug/last-prompt`.
    LastPrompt,
    /// `GET /metrics`.
    Metrics,
}
