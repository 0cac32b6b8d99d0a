//! Messages between the threads: the network loop, the engine, the ledger writer, the auditor, the diagnostics.

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::Sender;
use tslp_core::event::{AuditOutcome, CallId, LinkSeen, ServerUsage};
use tslp_core::guardian::Mode;
use tslp_core::ids::{EpisodeId, Seq};
use tslp_grammars::ParsedTexts;
use tslp_tools::sandbox::RunOutcome;
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::reply::ReadReply;
use tslp_wire::chat::reply_pipe::{CallVerdict, DeliveredCalls, PipeRules, ReplyRead};
use tslp_workspace::tree::reading::ReadFile;

use crate::acts::{Act, ActResult};
use crate::adopt::AdoptSummary;
use crate::config::secret::Secret;
use crate::probe::ServerWindows;
pub use tslp_wire::http::head::OwnAnswer;

/// One request and its response on one client connection; never used twice in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub u64);

/// To the engine: from the network loop in the order in which things happened on the sockets, and from the auditor.
#[derive(Debug)]
pub enum ToEngine {
    /// The whole body of a chat request has arrived.
    Prompt {
        /// The API that the client speaks.
        dialect: Dialect,
        /// The exchange that the answer belongs to.
        exchange: ExchangeId,
        /// The `x-tslp-session` header.
        session_name: Option<String>,
        /// How the client calls itself (`User-Agent`); empty if it doesn't.
        user_agent: String,
        /// Whether the client marks this as a retry of its previous request (`x-stainless-retry-count` above 0).
        retry: bool,
        /// The value of the `Authorization` header that goes upstream; for an audit of the reply.
        authorization: Option<Secret>,
        /// The request body, content codings undone.
        body: Vec<u8>,
    },
    /// A message whose code was parsed while the engine did something else.
    Parsed(Box<Self>, ParsedTexts),
    /// What was read of the upstream's response. Each call that is complete waits for [`ToLoop::CallJudged`].
    ReplyRead {
        /// The exchange that this reply belongs to.
        exchange: ExchangeId,
        /// What was read; may be nothing.
        read: Box<ReplyRead>,
        /// Whether some of its text has waited for the longest time allowed, and all of it is to be recorded.
        is_due: bool,
    },
    /// The model server's response is over. Sent exactly once for each [`ToLoop::Forward`] and each [`ToLoop::NextRound`], and
    /// once more if the response to the client ends while the engine has yet to say how it goes on.
    ReplyEnd {
        /// The exchange that this reply belongs to.
        exchange: ExchangeId,
        /// The response's end.
        ending: ResponseEnd,
        /// The reply as it was read.
        reply: Box<ReadReply>,
        /// How long the proxy kept the prompt, from its last byte until it went on.
        added: Duration,
    },
    /// The result of the sandbox's self-test; `Err` holds the reason why tools can't run.
    ToolsTested(Result<(), String>),
    /// The paths of a tool call were checked for symbolic links.
    LinksSeen {
        /// The exchange whose reply names the paths.
        exchange: ExchangeId,
        /// The paths that symbolic links lead elsewhere.
        links: Vec<LinkSeen>,
    },
    /// A tool call has finished.
    ToolEnded {
        /// The exchange whose reply asked for it.
        exchange: ExchangeId,
        /// The call's number.
        call: CallId,
        /// Its end, output and resource use.
        outcome: Box<RunOutcome>,
    },
    /// The user's check has finished.
    CheckEnded {
        /// The episode that ended the turn.
        episode: EpisodeId,
        /// Its end and output.
        outcome: Box<RunOutcome>,
    },
    /// A shadow audit has finished (spec §10).
    Audited {
        /// The episode whose reply was audited.
        episode: EpisodeId,
        /// Whether the model answered.
        outcome: AuditOutcome,
        /// The model's text, if it gave one.
        answer: Option<String>,
    },
    /// The model server said how much its models read at once.
    WindowsSaid(ServerWindows),
    /// The user acts through the door. The answer comes with the position from which on it is durable.
    Act {
        /// What to do.
        act: Act,
        /// Where the result goes.
        answer: Sender<(Vec<ActResult>, Option<Seq>)>,
    },
    /// Whether adopting these files and folders may be what an agent's call says.
    AdoptAsked {
        /// What is to be adopted.
        targets: Vec<String>,
        /// Where the answer goes, as for an act.
        answer: Sender<(bool, Option<Seq>)>,
    },
    /// The user adopts a file, of a tree that somebody else walks.
    AdoptFile {
        /// The file as it was read.
        file: Box<ReadFile>,
        /// Where the result goes, as for an act.
        answer: Sender<(AdoptSummary, Option<Seq>)>,
    },
    /// No more requests will come; messages sent before this one are still handled.
    Shutdown,
}

/// The end of an upstream's response, as seen on the sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseEnd {
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

impl ResponseEnd {
    /// Whether the upstream said all of a response that is no refusal.
    #[must_use]
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Complete { status: 200..=299 })
    }
}

/// Headers of tslp's own, by name.
pub type OwnHeaders = Vec<(&'static str, String)>;

/// To the network loop; every sender wakes the loop's poll afterwards.
#[derive(Debug)]
pub enum ToLoop {
    /// Send this to the model server in place of the client's request.
    Forward {
        /// The exchange to act on.
        exchange: ExchangeId,
        /// The composed request.
        request: ModelRequest,
        /// Response bytes may reach the client once this position is durable.
        durable_at: Seq,
        /// Sent to the client in the `x-tslp-episode` response header.
        episode: EpisodeId,
        /// Headers of tslp's own for the response: what its directives did, and that it is too long for its model.
        headers: OwnHeaders,
        /// How the reply reaches the client.
        rules: PipeRules,
        /// Whether the model server may be asked again.
        may_ask_again: bool,
    },
    /// Write text of tslp's own into the response, after a round that has ended.
    Say {
        /// The exchange to act on.
        exchange: ExchangeId,
        /// The text, as if the model had written it.
        text: String,
    },
    /// Let the client have a call of its own tools that was complete ([`ToEngine::ReplyRead`]), as it came or not.
    CallJudged {
        /// The exchange to act on.
        exchange: ExchangeId,
        /// The call's number in the reply.
        number: usize,
        /// What becomes of it.
        verdict: CallVerdict,
    },
    /// Let the client have calls in the place of the text that they were written as.
    DeliverCalls {
        /// The exchange to act on.
        exchange: ExchangeId,
        /// The calls.
        calls: DeliveredCalls,
    },
    /// The reply goes on: ask the model server again.
    NextRound {
        /// The exchange to act on.
        exchange: ExchangeId,
        /// The conversation so far, with the tools' results.
        request: ModelRequest,
    },
    /// The reply isn't what it should be: ask the model server once more, and keep it for the case that the other is no better.
    AskAgain {
        /// The exchange to act on.
        exchange: ExchangeId,
        /// The prompt with what is wrong with the reply.
        request: ModelRequest,
        /// What the reply cost.
        usage: ServerUsage,
    },
    /// The reply that was kept is the one that the client gets.
    KeepDraft {
        /// The exchange to act on.
        exchange: ExchangeId,
        /// What the other one cost.
        usage: ServerUsage,
    },
    /// Relay the exchange unrecorded: its body holds no prompt.
    LeaveAlone {
        /// The exchange to act on.
        exchange: ExchangeId,
        /// The client's own request.
        request: ModelRequest,
    },
    /// Answer the client at once; nothing goes upstream.
    Answer {
        /// The exchange to act on.
        exchange: ExchangeId,
        /// The whole answer.
        answer: OwnAnswer,
    },
    /// The files that this reply is about have been looked at: the client may see the reply's end, and write them.
    Looked(ExchangeId),
    /// Every event up to this position is on disk.
    Durable(Seq),
    /// The guardian's mode has changed, or is reported for the first time.
    Mode(Mode, String),
    /// All agents are stopped, or may go on.
    Stopped(bool),
    /// The ledger failed: chat requests are refused from now on, and exchanges that wait for durability end with this.
    LedgerFailed {
        /// What happened and what to do.
        message: String,
    },
}

/// A request for a model server.
#[derive(Debug)]
pub struct ModelRequest {
    /// The JSON text of its `model`, by which the server is chosen.
    pub model: Option<String>,
    /// The complete JSON body.
    pub body: Arc<Vec<u8>>,
}

/// From the network loop to the diagnostics thread.
#[derive(Debug)]
pub struct DiagnosticQuery {
    /// The exchange that the answer belongs to.
    pub exchange: ExchangeId,
    /// The page that is asked for.
    pub page: DiagnosticPage,
}

/// The diagnostics of spec §14 that need more than the loop knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiagnosticPage {
    /// `GET /doctor`.
    Doctor,
    /// `GET /recent?limit=N&missing_lines=true`.
    Recent(RecentQuery),
    /// `GET /state?path=PREFIX&contains=TEXT&after=ENTITY&limit=N`.
    State(StateQuery),
    /// `GET /turn?episode=N&whole=true`.
    Turn(TurnQuery),
    /// `GET /sent?episode=N&whole=true`.
    Sent(TurnQuery),
    /// `GET /entity?name=ENTITY`.
    Entity(String),
    /// `GET /overview`.
    Overview,
    /// `GET /debug/last-prompt`.
    LastPrompt,
    /// `GET /metrics`.
    Metrics,
}

/// The query of a `/recent` page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecentQuery {
    /// The largest number of episodes; `None`: as configured.
    pub limit: Option<usize>,
    /// Whether refusals show the missing lines of code.
    pub missing_lines: MissingLines,
}

/// Whether a refusal for missing code comes with the lines that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingLines {
    /// It doesn't: the page is metadata (spec §14.3).
    Hidden,
    /// It does, because the query asked for that.
    Shown,
}

/// The query of a `/state` page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateQuery {
    /// A prefix of the entities' paths.
    pub path: String,
    /// Only those that come after this one.
    pub after: Option<String>,
    /// Only those whose names contain this, in lower case.
    pub contains: Option<String>,
    /// The largest number of entities.
    pub limit: Option<usize>,
}

/// The query of a page about one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnQuery {
    /// The turn.
    pub episode: EpisodeId,
    /// Whether long texts come whole.
    pub is_whole: bool,
}
