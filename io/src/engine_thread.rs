//! The engine's thread: prompts and replies in the order of the sockets, decided on one state, handed to the writer.
//!
//! A prompt goes upstream as soon as it is composed; its commit runs while the model thinks, and the network loop
//! releases the reply only when the commit is durable. A transition is seen by a later prompt only after its commit.

mod ahead;
mod check;
mod lost_calls;
mod repair;
mod tools;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, after, never, select_biased};
use tslp_core::artifact::Transition;
use tslp_core::audit::AuditQuestion;
use tslp_core::delimiter;
use tslp_core::event::{
    AuditOutcome, Event, History, PartKind, PromptCost, PromptMeasured, Recorded, ReplyOutcome,
    ServerUsage, WindowExceeded,
};
use tslp_core::guardian::Mode;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_core::limits::REPLY_SEGMENT_BYTES;
use tslp_core::message::{Attempt, ToolCall, Tools};
use tslp_core::outgoing::Outgoing;
use tslp_core::path::RelPath;
use tslp_core::read_message::ReadMessage;
use tslp_core::reason::{Reason, ReasonClass};
use tslp_core::redact;
use tslp_core::request::Request;
use tslp_decide::judge::reply::{Reply, SegmentExtent};
use tslp_decide::scope::work::WithheldPrompt;
use tslp_decide::wording::user_line::{self, UserNews};
use tslp_grammars::{TreeSitterGrammars, remembering};
use tslp_projections::state::State;
use tslp_replay::engine::Engine;
use tslp_replay::pending::{
    Batch, BatchBuilder, DiskAnswers, DiskCheck, FileFinding, PendingReply,
};

use crate::acts;
use crate::adopt::{self, AdoptSummary};
use crate::attention::Attention;
use crate::auditor::queue::{Audit, AuditQueue, AuditedModel};
use crate::channel::{
    ExchangeId, ModelRequest, OwnAnswer, OwnHeaders, ResponseEnd, ToEngine, ToLoop,
};
use crate::config::secret::Secret;
use crate::config::settings::{Settings, WindowGuard};
use crate::engine::compose_request;
use crate::evidence::replies::AnsweringStep;
use crate::main_loop::LoopHandle;
use crate::memory;
use crate::metrics::Metrics;
use crate::prompt_cost::{self, CostPair, PromptCosts};
use crate::tool_loop::BODY_BYTES_MAX;
use crate::windows::Windows;
use ahead::Unparsed;
use check::CheckState;
use repair::CallRepair;
use tools::{ToolLoop, ToolReply};
use tslp_store::content_cache::ContentCache;
use tslp_store::ledger::writer::Commit;
use tslp_store::ledger::{DurableHead, WriterStopped};
use tslp_wire::chat::bad_request::BadRequest;
use tslp_wire::chat::checksum::hold_checksum;
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::kept_responses::KeptResponses;
use tslp_wire::chat::reply::{DecodedPiece, ReadReply};
use tslp_wire::chat::reply_pipe::{CallRule, PipeRules, ReplyRead};
use tslp_wire::chat::request::{self, KnownMessages, PromptPlaces, RequestEnvelope};
use tslp_wire::chat::rewrite::RewrittenMessages;
use tslp_wire::chat::sent::{SentMessage, SentPrompts};
use tslp_wire::chat::template::KnownText;
use tslp_wire::http::error::Refusal;
use tslp_workspace::observer::{WallClock, WorkspaceObserver};

/// Text after which memory is given back, at the first idle moment of this length.
const GIVE_BACK_BYTES: usize = 64 << 10;
const IDLE: Duration = Duration::from_millis(50);

/// Text that is kept of one reply until it is judged, and of all that are under way: several times what a model says at once. A reply
/// that is longer is passed on and not judged.
const REPLY_KEPT_BYTES_MAX: usize = 1 << 20;
const REPLIES_KEPT_BYTES_MAX: usize = 4 << 20;

/// Rows are written after so long without a message while no reply is under way, and anyway once they are so late or those of so many
/// events: what comes and goes meanwhile never is.
const QUIET: Duration = Duration::from_millis(200);
const ROWS_LATE: Duration = Duration::from_millis(250);
const ROWS_LATE_EVENTS: usize = 2000;

/// Longest header with answers to directives, in characters.
const ANSWERS_MAX: usize = 1000;

/// The engine thread's channels, clock and counters.
pub struct EngineWiring {
    /// Messages from the network loop and the auditor.
    pub from_loop: Receiver<ToEngine>,
    /// Those who wait for rows.
    pub rows_wanted: Receiver<Sender<Infallible>>,
    /// Messages to the network loop.
    pub to_loop: LoopHandle,
    /// Batches for the ledger's writer.
    pub commits: Sender<Commit>,
    /// The last position that the writer has made durable.
    pub durable: Arc<DurableHead>,
    /// Questions for the auditor.
    pub audits: AuditQueue,
    /// Counters for `/metrics`.
    pub metrics: Arc<Metrics>,
    /// The configuration.
    pub settings: Arc<Settings>,
    /// Has the model server asked how much its models read at once, if anybody wants to know.
    pub ask_for_windows: Option<Sender<()>>,
    /// Time of day, which every event carries.
    pub clock: Arc<dyn WallClock>,
}

/// The engine with its surroundings.
pub struct EngineThread {
    engine: Engine<TreeSitterGrammars, ContentCache>,
    observer: Box<dyn WorkspaceObserver + Send>,
    wiring: EngineWiring,
    running: HashMap<ExchangeId, ReplyUnderWay>,
    prompt_costs: PromptCosts,
    windows: Windows,
    known_messages: KnownMessages,
    kept_responses: KeptResponses,
    rewritten_messages: RewrittenMessages,
    sent_prompts: SentPrompts,
    last_transition: Seq,
    /// Bytes of prompts and replies since memory was last given back.
    worked_bytes: usize,
    /// Files that the log has reported as STALE.
    told_stale: BTreeSet<RelPath>,
    /// Models of which the log has reported that their last prompt was too long.
    told_exceeded: BTreeSet<String>,
    /// Tools for replies, if they are on.
    tools: Option<Box<ToolLoop>>,
    /// Changes that the user's check is to be run after.
    check: CheckState,
    /// The guardian's mode as last sent to the network loop.
    mode: Option<Mode>,
    /// Whether the loop was told that all agents are stopped.
    is_stopped: bool,
    /// The thread that parses long texts, if there is one.
    parser: Option<Sender<Unparsed>>,
    /// Since when rows are to be written.
    rows_late_since: Option<Instant>,
    /// Events since then.
    rows_late_events: usize,
}

/// A reply under way.
struct ReplyUnderWay {
    episode: EpisodeId,
    dialect: Dialect,
    reply: Reply,
    /// The response as it was read, once it is over.
    read: ReadReply,
    /// Whether it is too long to be judged.
    is_given_up: bool,
    addressee: AuditedModel,
    costs: CostPair,
    /// How the client calls itself.
    user_agent: String,
    /// How long the prompt was kept until it went on; known once the reply has ended.
    added: Duration,
    /// The arguments of calls that are complete and not on record, although the reply is still coming.
    calls_unrecorded: Vec<String>,
    /// Files that its calls name and that were looked at then: some clients run a call while the reply is still coming.
    looked_at: BTreeSet<RelPath>,
    /// Whether the prompt is too long for its model, as far as its length shows that.
    exceeded: Option<WindowExceeded>,
    /// How its calls reach the client. As they come, nothing is added to it either.
    calls: CallRule,
    /// What its user has to hear; `None` if they are not told in the reply.
    news: Option<News>,
    /// The state of its tool calls, if it may ask for any.
    tools: Option<Box<ToolReply>>,
    /// The numbers of the calls of the client's own tools that it was given, where they wait to be judged; with what they were
    /// fitted to.
    calls_passed: Vec<(usize, Option<ToolCall>)>,
    /// Whether verdicts on its calls are on record.
    are_calls_judged: bool,
    /// Whether the client has a text in the place of a call.
    has_denied: bool,
    /// Whether its text may hold calls of the client's tools.
    may_hold_calls: bool,
    /// Its calls that change files, if they are looked at before the client has them.
    repair: Option<CallRepair>,
    /// When its prompt went to the model.
    sent_at: UnixMillis,
    /// The request's body, if it may be asked for once more.
    body: Option<Arc<Vec<u8>>>,
    /// The one in the place of which it was asked for.
    first: Option<Box<FirstReply>>,
    /// The server's figures for each response so far, the prompt's own first; none where one failed, or isn't over.
    usages: Vec<Option<ServerUsage>>,
}

/// A reply that was asked for once more.
struct FirstReply {
    reply: Reply,
    read: ReadReply,
    /// The end of its text, where that may be calls.
    held: String,
}

impl ReplyUnderWay {
    /// Text that is kept of it until it is judged.
    fn kept_bytes(&self) -> usize {
        let first = self.first.as_ref();
        self.reply.said_bytes() + first.map_or(0, |it| it.reply.said_bytes() + it.held.len())
    }

    /// What its user has to hear so far; `None` where there is no place for it.
    fn news(&self) -> Option<News> {
        let mut news = self.news.clone()?;
        if let News::Chat(news) = &mut news {
            let said = [&*self.reply.text, &self.reply.tail].concat();
            let repeats_blocks = matches!(delimiter::unmarked(&said), Cow::Owned(_));
            news.begin_reply(self.read.is_stream && repeats_blocks);
        }
        Some(news)
    }

    /// Appends a decoded piece to the reply.
    fn take_said(&mut self, said: &DecodedPiece) {
        self.reply.tail.push_str(&said.text);
        for (kind, choice, text) in &said.parts {
            self.reply.parts.add(*kind, *choice, text);
        }
    }

    /// Another response follows: returns what was read of the one that is over.
    fn next_response(&mut self) -> ReadReply {
        self.usages.push(None);
        // They are those of its calls.
        self.calls_unrecorded.clear();
        self.calls_passed.clear();
        std::mem::take(&mut self.read)
    }

    /// What the response that came last cost.
    fn last_usage(&self) -> ServerUsage {
        self.usages.last().copied().flatten().unwrap_or_default()
    }

    /// A request for another response.
    fn request_with(&self, body: Vec<u8>) -> ModelRequest {
        ModelRequest {
            model: self.addressee.model.clone(),
            body: Arc::new(body),
        }
    }
}

/// A request, ready for the model server.
enum ComposedRequest {
    /// It goes to the model as a prompt.
    Prompt(Box<(ToLoop, Batch, PromptToModel)>),
    /// It is relayed with this body.
    LeftAlone(Vec<u8>),
    /// It says so much new that its code is parsed elsewhere first.
    ParseFirst(Vec<Arc<ReadMessage>>),
}

/// A prompt that goes to the model.
struct PromptToModel {
    dialect: Dialect,
    episode: EpisodeId,
    request: Request,
    outgoing: Outgoing,
    conversation: Option<(SessionId, History)>,
    addressee: AuditedModel,
    /// The client's body, if it differs from the body that goes to the model.
    client_body: Option<Vec<u8>>,
    /// The prompt's positions in the client's body.
    client_prompt: PromptPlaces,
    /// The body that goes to the model.
    body: Arc<Vec<u8>>,
    /// The messages' positions in that body.
    messages: Vec<SentMessage>,
    /// Vault texts that its messages may contain, to be recorded by reference.
    texts: Vec<ArtifactHash>,
    /// Whether it is too long for its model.
    exceeded: Option<WindowExceeded>,
    /// How its reply reaches the client.
    rules: PipeRules,
    /// Whether its reply may ask for tools of tslp's.
    may_go_on: bool,
    /// Whether its calls are looked at before the client has them.
    is_repaired: bool,
    /// What its user has to hear; `None` if they aren't told in the reply.
    news: Option<News>,
}

/// What the line at a reply's end is about.
#[derive(Clone)]
enum News {
    /// A chat: what its prompt and the reply to it are about.
    Chat(UserNews),
    /// An agent's turn in a conversation, which ends with the first reply that calls no tool.
    Turn(SessionId),
}

/// The reason why a prompt isn't forwarded.
enum PromptRefusal {
    Request(BadRequest),
    Ledger(WriterStopped),
    /// A budget is used up, or the agent goes round in circles.
    Withheld(WithheldPrompt),
}

impl EngineThread {
    /// An engine that goes on from its state.
    #[must_use]
    pub fn new(
        engine: Engine<TreeSitterGrammars, ContentCache>,
        observer: Box<dyn WorkspaceObserver + Send>,
        wiring: EngineWiring,
    ) -> Self {
        Self {
            windows: Windows::of_record(engine.state()),
            engine,
            observer,
            wiring,
            running: HashMap::new(),
            prompt_costs: PromptCosts::default(),
            known_messages: KnownMessages::default(),
            kept_responses: KeptResponses::default(),
            rewritten_messages: RewrittenMessages::default(),
            sent_prompts: SentPrompts::default(),
            last_transition: Seq(0),
            worked_bytes: 0,
            told_stale: BTreeSet::new(),
            told_exceeded: BTreeSet::new(),
            tools: None,
            check: CheckState::default(),
            mode: None,
            is_stopped: false,
            parser: None,
            // Those of the events that the start has folded.
            rows_late_since: Some(Instant::now()),
            rows_late_events: 0,
        }
    }

    /// Works until the network loop says that no more will come, or is gone.
    pub fn run(mut self) {
        self.resume();
        while let Some(message) = self.next() {
            if self.handle_message(message).is_break() {
                break;
            }
        }
        self.write_rows(None);
    }

    /// Continues where the last process stopped. To be called once, before anything else.
    pub fn resume(&mut self) {
        let interrupted = self.engine.resume_after_restart(self.wiring.clock.now());
        self.commit_batch(interrupted);
        self.tell_mode();
    }

    /// The position that must be durable before the next prompt can be taken; until then [`handle_message`](Self::handle_message) waits.
    #[must_use]
    pub const fn awaited_position(&self) -> Seq {
        self.last_transition
    }

    /// The state as decided so far, durable or not.
    #[must_use]
    pub const fn state(&self) -> &State {
        self.engine.state()
    }

    /// Does all that follows from one message. `Break` after [`ToEngine::Shutdown`]: no message may follow.
    pub fn handle_message(&mut self, message: ToEngine) -> ControlFlow<()> {
        self.engine.rows_made_durable(self.wiring.durable.reached());
        match message {
            prompt @ ToEngine::Prompt { .. } => self.handle_prompt(prompt),
            ToEngine::Parsed(message, parsed) => {
                // Without the parser: once is enough.
                let parser = self.parser.take();
                let (flow, _) = remembering(parsed, || self.handle_message(*message));
                self.parser = parser;
                return flow;
            }
            ToEngine::ReplyRead {
                exchange,
                read,
                is_due,
            } => self.reply_read(exchange, *read, is_due),
            ToEngine::ReplyEnd {
                exchange,
                ending,
                reply,
                added,
            } => {
                if let Some(running) = self.running.get_mut(&exchange) {
                    running.added = added;
                }
                self.response_over(exchange, ending, *reply);
            }
            ToEngine::ToolsTested(tested) => self.tools_tested(tested),
            ToEngine::LinksSeen { exchange, links } => {
                self.links_seen(exchange, links);
            }
            ToEngine::ToolEnded {
                exchange,
                call,
                outcome,
            } => {
                self.tool_ended(exchange, call, *outcome);
            }
            ToEngine::CheckEnded { episode, outcome } => self.check_ended(episode, *outcome),
            ToEngine::Audited {
                episode,
                outcome,
                answer,
            } => self.handle_audit_answer(episode, outcome, answer.as_deref()),
            ToEngine::WindowsSaid(said) => self.windows.hear(said),
            // Whoever asked may have gone; what was done counts.
            ToEngine::Act { act, answer } => {
                let now = self.wiring.clock.now();
                let observer = &mut *self.observer;
                let (results, batch) = acts::decide_act(&mut self.engine, observer, now, &act);
                let last = batch.as_ref().and_then(Batch::last);
                batch.into_iter().for_each(|batch| self.commit_batch(batch));
                let _ = answer.send((results, last));
            }
            ToEngine::AdoptAsked { targets, answer } => {
                let now = self.wiring.clock.now();
                let is_agents = adopt::is_agents(&self.engine, now, targets.iter());
                let _ = answer.send((is_agents, None));
            }
            ToEngine::AdoptFile { file, answer } => {
                let (mut work, mut summary) = (BatchBuilder::default(), AdoptSummary::default());
                adopt::decide_read_file(&mut self.engine, *file, &mut work, &mut summary);
                let batch = work.finish();
                let last = batch.last();
                self.commit_batch(batch);
                let _ = answer.send((summary, last));
            }
            ToEngine::Shutdown => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// The next message; `None` once all senders are gone. The first idle moment after much text was handled is used to
    /// return its memory to the system, and one without replies to write rows.
    fn next(&mut self) -> Option<ToEngine> {
        loop {
            let rows_due = self.rows_due();
            if rows_due == Some(Duration::ZERO) {
                self.write_rows(None);
                continue;
            }
            let idle = (self.worked_bytes >= GIVE_BACK_BYTES).then_some(IDLE);
            let over = idle.or(rows_due).map_or_else(never, after);
            select_biased! {
                recv(self.wiring.rows_wanted) -> wanted => match wanted {
                    Ok(waiting) => self.write_rows(Some(waiting)),
                    Err(_) => self.wiring.rows_wanted = never(),
                },
                recv(self.wiring.from_loop) -> message => return message.ok(),
                recv(over) -> _ => match idle {
                    Some(_) => {
                        memory::trim_heap();
                        self.worked_bytes = 0;
                    }
                    None => self.write_rows(None),
                },
            }
        }
    }

    /// In what time rows are to be written if nothing happens.
    fn rows_due(&self) -> Option<Duration> {
        let late = self.rows_late_since?.elapsed();
        let left = match self.rows_late_events {
            0..ROWS_LATE_EVENTS => ROWS_LATE.saturating_sub(late),
            _ => Duration::ZERO,
        };
        let is_quiet = self.running.is_empty();
        Some(if is_quiet { left.min(QUIET) } else { left })
    }

    /// Has the rows written that have changed since the last time; whoever waits for them learns of it.
    pub fn write_rows(&mut self, waiting: Option<Sender<Infallible>>) {
        self.rows_late_since = None;
        self.rows_late_events = 0;
        let rows = self.engine.take_rows();
        // A start after which nothing happens writes nothing.
        if rows.changes.is_empty() && waiting.is_none() {
            return;
        }
        let commit = Commit {
            recorded: Vec::new(),
            rows: Some(rows),
            waiting,
        };
        // A writer that has stopped has told the loop itself, and the next start folds the events.
        let _ = self.wiring.commits.send(commit);
    }

    fn handle_prompt(&mut self, mut prompt: ToEngine) {
        let ToEngine::Prompt {
            dialect,
            exchange,
            session_name,
            user_agent,
            retry,
            authorization,
            body,
        } = &mut prompt
        else {
            return;
        };
        let (dialect, exchange, user_agent) = (*dialect, *exchange, user_agent.clone());
        let envelope = RequestEnvelope {
            dialect,
            session_name: session_name.clone(),
            attempt: if *retry {
                Attempt::Retry
            } else {
                Attempt::First
            },
        };
        if self.wiring.settings.holds_checksum {
            hold_checksum(body);
        }
        self.worked_bytes += body.len();
        self.call_off_check();
        match self.compose_prompt(exchange, envelope, authorization, body) {
            Ok(ComposedRequest::ParseFirst(new)) => self.parse_first(prompt, new),
            Ok(ComposedRequest::LeftAlone(body)) => self.wiring.to_loop.send(ToLoop::LeaveAlone {
                exchange,
                request: ModelRequest {
                    model: request::model_field(&body),
                    body: Arc::new(body),
                },
            }),
            // The prompt goes first: its way upstream counts, all else has until the reply comes. The writer is woken last,
            // since both it and this thread use the disk and the second core.
            Ok(ComposedRequest::Prompt(prompt)) => {
                let (forward, batch, sent) = *prompt;
                self.wiring.to_loop.send(forward);
                self.wiring.metrics.count_prompt(sent.dialect);
                let batch = match self.record_sent(&sent) {
                    Some(recorded) => batch.merged_with(recorded),
                    None => batch,
                };
                self.commit_batch(batch);
                // Its first bytes come through this thread's own queue, so none can have been missed.
                self.await_reply(exchange, sent, user_agent);
            }
            Err(refused) => self.wiring.to_loop.send(ToLoop::Answer {
                exchange,
                answer: refused.into_answer(dialect),
            }),
        }
    }

    fn compose_prompt(
        &mut self,
        exchange: ExchangeId,
        envelope: RequestEnvelope,
        authorization: &mut Option<Secret>,
        arrived: &mut Vec<u8>,
    ) -> Result<ComposedRequest, PromptRefusal> {
        self.record_said_so_far();
        let dialect = envelope.dialect;
        let reading = request::read_request(arrived, envelope, &mut self.known_messages);
        let (wire, mut request) = match reading.map_err(PromptRefusal::Request)? {
            Some(read) => read,
            None => return Ok(ComposedRequest::LeftAlone(std::mem::take(arrived))),
        };
        if let Some(new) = self.long_prompt(&request) {
            return Ok(ComposedRequest::ParseFirst(new));
        }
        let previous = wire.previous_response();
        request.continues = previous.and_then(|id| self.kept_responses.session_of(&id));
        // The prompt will show what has become true, and a crash must not take that back once a model has read it.
        self.wiring
            .durable
            .wait_for(self.last_transition)
            .map_err(PromptRefusal::Ledger)?;
        let places = wire.prompt_in(arrived);
        let chars =
            prompt_cost::chars_of(places.prompt_pieces(arrived, (arrived, &places.messages)));
        let settings = (
            self.wiring.settings.budget,
            self.wiring.settings.window_guard,
        );
        let window = self.windows.look(settings, &request.model, chars);
        self.engine.set_budget_tokens(window.hydration);
        let (exceeded, length) = (window.exceeded, window.length);
        let now = self.wiring.clock.now();
        let composed = compose_request(&mut self.engine, &mut *self.observer, now, request, length);
        if let Some(withheld) = composed.withheld {
            let (reply, outcome) = (Reply::default(), ReplyOutcome::Withheld);
            let look = &mut |_| Vec::new();
            let mut pending = self
                .engine
                .end_reply(now, composed.episode, reply, outcome, look);
            pending.exceeded = exceeded;
            let judged = self.engine.judge(pending, DiskAnswers::default());
            self.commit_batch(composed.batch.merged_with(judged.batch));
            return Err(PromptRefusal::Withheld(withheld));
        }
        let is_unchanged = composed.outgoing.is_unchanged(&composed.request);
        // Taken before the body may be moved: all of these point into it.
        let model = wire.model_json().map(str::to_owned);
        let offered = composed.request.tools;
        let has_one_choice = wire.asks_for_one_choice();
        let has_form = wire.asks_for_form();
        let tools = self
            .watched_tools(dialect, &wire)
            .filter(|_| has_one_choice);
        // Nothing that isn't needed changes, not even white space between fields; and nothing that is large is copied.
        let (sent_body, client_body, messages) = if is_unchanged {
            (std::mem::take(arrived), None, places.messages.clone())
        } else {
            let known = &mut self.rewritten_messages;
            let written = wire.with_messages(
                &composed.request,
                &composed.outgoing,
                known,
                memory::large_buffer,
            );
            (
                written.bytes,
                Some(std::mem::take(arrived)),
                written.messages,
            )
        };
        let can_be_repeated = sent_body.len() <= BODY_BYTES_MAX && !messages.is_empty();
        let can_go_on = offered == Tools::None && can_be_repeated;
        // A program reads the reply to a client's own request, and one with a form.
        let tells = self.wiring.settings.notices_in_reply.reaches(offered)
            && !dialect.is_bare_prompt()
            && !has_form;
        let news = composed.conversation.filter(|_| tells);
        let news = news.map(|(session, _)| match offered {
            Tools::Offered | Tools::Reading => News::Turn(session),
            Tools::None => {
                let mut news = UserNews::default();
                let exceeded = exceeded.clone().map(Event::WindowExceeded);
                let events = composed.batch.recorded.iter().map(|it| &it.event);
                let root = self.engine.root();
                events
                    .chain(&exceeded)
                    .for_each(|event| news.add(event, root));
                News::Chat(news)
            }
        });
        let can_change = has_one_choice && composed.conversation.is_some();
        let is_repaired = can_change && offered.are_offered() && self.engine.repairs_calls();
        let may_go_on = can_change && can_go_on && self.runs_tools();
        let calls = match can_change {
            true => self.call_rule(dialect, news.is_some() || is_repaired || may_go_on),
            false => CallRule::AsTheyCome,
        };
        let watched = tools.filter(|_| can_be_repeated && composed.conversation.is_some());
        let chars = client_body.as_ref().map_or(chars, |client_body| {
            prompt_cost::chars_of(places.prompt_pieces(client_body, (&sent_body, &messages)))
        });
        let asked_for = &composed.request.model;
        let attention = Attention::new(
            self.windows.tokens_of(asked_for, chars).about,
            self.windows.window_of(asked_for),
        );
        let mut headers = own_headers(&composed.batch, exceeded.as_ref());
        headers.extend(attention.header());
        let rules = PipeRules {
            calls,
            offered: watched,
        };
        let body = Arc::new(sent_body);
        let durable_at = composed.batch.last().unwrap_or(self.engine.state().head());
        let forward = ToLoop::Forward {
            exchange,
            request: ModelRequest {
                model: model.clone(),
                body: Arc::clone(&body),
            },
            durable_at,
            episode: composed.episode,
            headers,
            may_ask_again: may_go_on || is_repaired || rules.offered.is_some(),
            rules: rules.clone(),
        };
        let sent = PromptToModel {
            dialect,
            episode: composed.episode,
            request: composed.request,
            outgoing: composed.outgoing,
            conversation: composed.conversation,
            addressee: AuditedModel {
                model,
                authorization: authorization.take(),
            },
            client_body,
            client_prompt: places,
            body,
            messages,
            texts: texts_named(&composed.batch),
            exceeded,
            rules,
            may_go_on,
            is_repaired: is_repaired && can_be_repeated,
            news,
        };
        Ok(ComposedRequest::Prompt(Box::new((
            forward,
            composed.batch,
            sent,
        ))))
    }

    /// A reply to the prompt may come from now on.
    fn await_reply(&mut self, exchange: ExchangeId, sent: PromptToModel, user_agent: String) {
        let client_body = sent.client_body.as_ref().unwrap_or(&sent.body);
        let places = &sent.client_prompt;
        let costs = self.prompt_costs.measure(
            exchange,
            sent.addressee.model.as_deref(),
            places.prompt_pieces(client_body, (client_body, &places.messages)),
            places.prompt_pieces(client_body, (&sent.body, &sent.messages)),
        );
        let last = sent.messages.last().map(|last| last.bytes.clone());
        let may_hold_calls = sent.rules.offered.is_some();
        let repair = sent.is_repaired.then(CallRepair::default);
        let is_kept = may_hold_calls || repair.is_some();
        let body = is_kept.then(|| Arc::clone(&sent.body));
        let tools = match (sent.may_go_on, sent.conversation, last) {
            (true, Some((session, _)), Some(last)) => {
                let reply = ToolReply::new(session, sent.body, last);
                Some(Box::new(reply))
            }
            _ => None,
        };
        let running = ReplyUnderWay {
            episode: sent.episode,
            dialect: sent.dialect,
            reply: Reply::default(),
            read: ReadReply::default(),
            is_given_up: false,
            addressee: sent.addressee,
            costs,
            user_agent,
            added: Duration::ZERO,
            calls_unrecorded: Vec::new(),
            looked_at: BTreeSet::new(),
            exceeded: sent.exceeded,
            calls: sent.rules.calls,
            news: sent.news,
            calls_passed: Vec::new(),
            are_calls_judged: false,
            has_denied: false,
            tools,
            may_hold_calls,
            repair,
            sent_at: self.wiring.clock.now(),
            body,
            first: None,
            usages: vec![None],
        };
        let other = self.running.insert(exchange, running);
        assert!(other.is_none(), "an exchange has one prompt");
    }

    /// Records what went to the model, after it went: nothing waits for it. A request beside the conversations isn't
    /// recorded, since the texts in it are.
    fn record_sent(&mut self, sent: &PromptToModel) -> Option<Batch> {
        let conversation = sent.conversation?;
        let (session, _) = conversation;
        let (request, outgoing) = (&sent.request, &sent.outgoing);
        self.engine
            .keep_sent(sent.episode, conversation, request, outgoing);
        let engine = &self.engine;
        let named = sent
            .texts
            .iter()
            .chain(self.sent_prompts.last_reply(session));
        let named: Vec<(ArtifactHash, String)> = named
            .filter_map(|hash| Some((*hash, engine.text(*hash)?)))
            .collect();
        let body = core::str::from_utf8(&sent.body).expect("JSON that was read is UTF-8");
        let prompt = self.sent_prompts.record_prompt(
            session,
            sent.episode,
            body,
            &sent.messages,
            |message| {
                let own = sent.request.messages[message].iter();
                let own = own.flat_map(|message| recorded_texts(message));
                let named = named.iter().map(|(hash, text)| KnownText {
                    hash: *hash,
                    text: Cow::Borrowed(text.as_str()),
                });
                own.filter(|own| engine.holds(own.hash))
                    .chain(named)
                    .collect()
            },
        );
        Some(self.engine.record_sent(self.wiring.clock.now(), prompt))
    }

    fn reply_read(&mut self, exchange: ExchangeId, read: ReplyRead, is_due: bool) {
        // One endless reply must not crowd out the others, nor many long ones the process.
        let kept_of_all: usize = self.running.values().map(ReplyUnderWay::kept_bytes).sum();
        let Some(running) = self.running.get_mut(&exchange) else {
            return;
        };
        self.worked_bytes += read.bytes;
        if read.is_passed_on {
            running.calls = match running.calls {
                CallRule::Judged => CallRule::Judged,
                _ => CallRule::AsTheyCome,
            };
            running.news = None;
            running.tools = None;
            running.may_hold_calls = false;
            self.let_waiting_go(exchange);
        }
        let Some(running) = self.running.get_mut(&exchange) else {
            return;
        };
        if !running.is_given_up {
            running.take_said(&read.said);
        }
        if !running.is_given_up
            && (running.kept_bytes() > REPLY_KEPT_BYTES_MAX
                || kept_of_all + read.said.text.len() > REPLIES_KEPT_BYTES_MAX)
        {
            running.is_given_up = true;
            tracing::warn!(
                episode = %running.episode,
                "a reply is longer than what is kept of one ({REPLY_KEPT_BYTES_MAX} bytes, and {REPLIES_KEPT_BYTES_MAX} of \
                 all that are under way): the client gets all of it, but none of its code is judged; ask for less at once"
            );
        }
        if !read.paths.is_empty() {
            let episode = running.episode;
            self.touch_called(exchange, episode, &read.paths);
        }
        let Some(running) = self.running.get_mut(&exchange) else {
            return;
        };
        let arguments = read.calls.iter().map(|(_, call)| call.arguments.clone());
        running.calls_unrecorded.extend(arguments);
        for (number, call) in &read.calls {
            self.judge_complete_call(exchange, *number, call);
        }
        let Some(running) = self.running.get_mut(&exchange) else {
            return;
        };
        if is_due || running.reply.unrecorded_bytes() >= REPLY_SEGMENT_BYTES {
            let batch = self.engine.record_segment(
                self.wiring.clock.now(),
                running.episode,
                &mut running.reply,
                SegmentExtent::CredentialSafe,
            );
            self.commit_batch(batch);
        }
    }

    /// Looks at the files of a call now, not with the reply's end: what the call does to them is judged before the client has it, and some
    /// clients run it while the reply is still coming.
    fn touch_called(&mut self, exchange: ExchangeId, episode: EpisodeId, paths: &[String]) {
        let (now, observer) = (self.wiring.clock.now(), &mut self.observer);
        let look = &mut |asked| observer.places(asked);
        let (looked_for, mut files) = self.engine.look_for_called(now, episode, paths, look);
        if let Some(running) = self.running.get_mut(&exchange) {
            let looked_at = &mut running.looked_at;
            files.checks.retain(|it| looked_at.insert(it.path.clone()));
            files.touches.retain(|it| looked_at.insert(it.clone()));
        }
        let touched = files.touches.iter().map(|path| self.observer.touch(path));
        let answers = DiskAnswers {
            touched: touched.collect(),
            findings: self.check_files(files.checks),
            ..DiskAnswers::default()
        };
        let taken = self
            .engine
            .look_at_called(now, episode, files.touches, answers);
        for batch in [looked_for, taken] {
            if !batch.recorded.is_empty() {
                self.commit_batch(batch);
            }
        }
    }

    /// Records what the replies under way have said: some clients run a call while the reply is still coming, and a subagent that
    /// begins so speaks the model's words.
    fn record_said_so_far(&mut self) {
        let mut batches = Vec::new();
        for running in self.running.values_mut() {
            let now = self.wiring.clock.now();
            let calls = std::mem::take(&mut running.calls_unrecorded);
            if !calls.is_empty() {
                batches.push(self.engine.record_calls(now, running.episode, &calls));
            }
            if running.reply.unrecorded_bytes() > 0 {
                let extent = SegmentExtent::CredentialSafe;
                let (episode, reply) = (running.episode, &mut running.reply);
                batches.push(self.engine.record_segment(now, episode, reply, extent));
            }
        }
        for batch in batches {
            self.commit_batch(batch);
        }
    }

    fn response_over(&mut self, exchange: ExchangeId, ending: ResponseEnd, read: ReadReply) {
        if let Some(running) = self.running.get_mut(&exchange) {
            running.read = read;
            if running.is_given_up {
                running.read.give_up();
            }
            if let Some(usage) = running.usages.last_mut() {
                let success = ending.is_success().then(ServerUsage::default);
                *usage = running.read.usage.or(success);
            }
        }
        if let ControlFlow::Break(ending) = self.settle_lost_calls(exchange, ending) {
            if let Some(ending) = ending {
                self.settle_reply(exchange, ending);
            }
            return;
        }
        let ControlFlow::Continue(ending) = self.settle_waiting_calls(exchange, ending) else {
            return;
        };
        if !self.begins_another_round(exchange, ending) {
            self.settle_reply(exchange, ending);
        }
    }

    /// Asks the model once more, with a request made of the first one's body; `held` is the end of its text that is kept back. Whether it
    /// was asked.
    fn ask_again(
        &mut self,
        exchange: ExchangeId,
        request: impl FnOnce(&ReplyUnderWay, &[u8]) -> Option<Vec<u8>>,
        held: String,
    ) -> bool {
        let Some(running) = self.running.get_mut(&exchange) else {
            return false;
        };
        let body = running.body.clone();
        let Some(body) = body.and_then(|body| request(running, &body)) else {
            return false;
        };
        let (request, usage) = (running.request_with(body), running.last_usage());
        // At most two requests a turn.
        running.tools = None;
        let read = running.next_response();
        running.first = Some(Box::new(FirstReply {
            reply: std::mem::take(&mut running.reply),
            read,
            held,
        }));
        self.wiring.to_loop.send(ToLoop::AskAgain {
            exchange,
            request,
            usage,
        });
        true
    }

    /// The reply that was asked for once more is the one that the client gets, as it ended, if there is one: the end of its text.
    fn take_first_reply(&mut self, exchange: ExchangeId) -> Option<String> {
        let running = self.running.get_mut(&exchange)?;
        let first = running.first.take()?;
        (running.reply, running.read) = (first.reply, first.read);
        let usage = running.last_usage();
        self.wiring
            .to_loop
            .send(ToLoop::KeepDraft { exchange, usage });
        Some(first.held)
    }

    fn settle_reply(&mut self, exchange: ExchangeId, ending: ResponseEnd) {
        let running = self.running.get(&exchange);
        let were_held =
            |it: &ReplyUnderWay| self.holds_client_calls() && it.calls != CallRule::AsTheyCome;
        let are_judged = running.is_some_and(|it| it.are_calls_judged || were_held(it));
        let is_complete = ending.is_success();
        let called_tool = running.is_some_and(|it| !it.read.calls.is_empty());
        self.wiring
            .audits
            .note_reply_end(is_complete && called_tool);
        let news = running
            .filter(|it| is_complete && it.calls != CallRule::AsTheyCome && !called_tool)
            .and_then(ReplyUnderWay::news);
        let ended = self.record_end(exchange, ending);
        let looked = ended.map(|(mut pending, looked_at, episode, addressee)| {
            let touches = pending.touches.iter();
            let touched = touches.map(|path| match looked_at.contains(path) {
                true => None,
                false => self.observer.touch(path),
            });
            let touched = touched.collect();
            let answers = DiskAnswers {
                findings: self.check_files(std::mem::take(&mut pending.checks)),
                touched,
                ..DiskAnswers::default()
            };
            (pending, answers, episode, addressee)
        });
        // The client acts on a reply as soon as it has its end; what it writes then is no divergence.
        let Some((pending, answers, episode, addressee)) = looked else {
            return self.wiring.to_loop.send(ToLoop::Looked(exchange));
        };
        if news.is_none() {
            self.wiring.to_loop.send(ToLoop::Looked(exchange));
        }
        let judged = self.engine.judge(pending, answers);
        if let Some(news) = news {
            let line = match news {
                News::Chat(news) => self.chat_line(news, &judged.batch.recorded),
                News::Turn(session) => {
                    let of = (session, self.engine.root());
                    self.engine
                        .told(|view, by| user_line::turn_line(view, by, of))
                }
            };
            if let Some(text) = line {
                self.wiring.to_loop.send(ToLoop::Say { exchange, text });
            }
            self.wiring.to_loop.send(ToLoop::Looked(exchange));
        }
        let mut calls = Vec::new();
        for recorded in &judged.batch.recorded {
            if let Event::ReplyEnded(ended) = &recorded.event {
                self.sent_prompts
                    .record_reply_segments(recorded.episode, &ended.segments);
                calls.clone_from(&ended.tool_calls);
            }
        }
        self.check_after(episode, &judged.batch.recorded, &calls);
        self.commit_batch(judged.batch);
        self.observe_calls(episode, &calls, are_judged);
        if let Some(question) = judged.audit {
            self.ask_for_audit(episode, question, addressee);
        }
    }

    /// The line for a chat's user, once its reply was judged.
    fn chat_line(&mut self, mut news: UserNews, judged: &[Recorded]) -> Option<String> {
        let root = self.engine.root();
        judged.iter().for_each(|it| news.add(&it.event, root));
        let held = news.contradicted().map(|it| self.observer.read(&it.path));
        let held = held.flatten().and_then(Result::ok);
        // What was true is searched only where something of it has ended.
        let ends = |it: &&Recorded| {
            it.event
                .transitions()
                .any(|moved| moved.transition != Transition::Promote)
        };
        let reply = judged.iter().find(ends).map(|it| it.episode);
        self.engine
            .told(|view, grammars| news.line(view, grammars, (held.as_deref(), reply)))
    }

    /// Records the reply's end and reads its code; `None` if the exchange has no reply or the ledger has failed.
    fn record_end(
        &mut self,
        exchange: ExchangeId,
        ending: ResponseEnd,
    ) -> Option<(PendingReply, BTreeSet<RelPath>, EpisodeId, AuditedModel)> {
        let mut running = self.running.remove(&exchange)?;
        if let Some(id) = &running.read.response_id
            && let Some(session) = self.engine.session_of(running.episode)
        {
            self.kept_responses.keep_response(id, session);
        }
        let outcome = match reply_outcome(ending, &running.read)? {
            // A later round: what the model said before stays on record, but it isn't all of the reply.
            ReplyOutcome::UpstreamRefused(_) | ReplyOutcome::UpstreamUnreachable
                if !running.reply.segments.is_empty() =>
            {
                ReplyOutcome::UpstreamBroken
            }
            outcome => outcome,
        };
        if is_no_reply(outcome, &running) {
            let (beginning, left_out) = &running.read.beginning;
            running.reply.parts.add(PartKind::Error, 0, beginning);
            running.reply.parts.leave_out(PartKind::Error, 0, *left_out);
        }
        let is_known = |usage: &ServerUsage| *usage != ServerUsage::default();
        let server = running.usages[0].filter(is_known);
        let calls = running.read.calls.into_iter();
        let tool_calls: Vec<ToolCall> = calls.map(|(_, call)| call).collect();
        let arguments = tool_calls.iter().map(|call| call.arguments.len());
        let reply_bytes = running.reply.said_bytes() + arguments.sum::<usize>();
        let reply_bytes = u32::try_from(reply_bytes).unwrap_or(u32::MAX);
        running.reply.tool_calls = tool_calls;
        running.reply.finish_reason = running.read.finish_reason;
        let episode = running.episode;
        let (now, observer) = (self.wiring.clock.now(), &mut self.observer);
        let look = &mut |asked| observer.places(asked);
        let mut pending = self
            .engine
            .end_reply(now, episode, running.reply, outcome, look);
        if was_read(outcome) {
            let model = running.addressee.name();
            // Only episodes of long ago have no known session.
            let session = self.engine.session_of(episode).unwrap_or(SessionId(0));
            let sent = running.costs.sent;
            let seen = self.windows.learn((&model, session), sent, server.as_ref());
            let is_guarded = self.wiring.settings.window_guard != WindowGuard::Off;
            pending.exceeded = running.exceeded.or(seen).filter(|_| is_guarded);
            self.ask_for_windows(&model, pending.exceeded.as_ref());
            let own = PromptMeasured {
                client: running.costs.client,
                sent: running.costs.sent,
                server,
                reply_bytes,
                user_agent: running.user_agent,
                added_micros: u32::try_from(running.added.as_micros()).ok(),
                window: self.windows.window_of(&model),
            };
            // The client would have asked once.
            let further = running.usages.iter().skip(1).flatten();
            let further = further.map(|usage| PromptMeasured {
                client: PromptCost::default(),
                server: Some(*usage).filter(is_known),
                reply_bytes: 0,
                added_micros: None,
                ..own.clone()
            });
            pending.measured = further.collect();
            pending.measured.push(own);
        } else {
            self.prompt_costs.forget(exchange);
        }
        Some((pending, running.looked_at, episode, running.addressee))
    }

    /// Has the server asked again where what it said is old, and says in the log that it cuts a model's prompts.
    fn ask_for_windows(&mut self, model: &str, exceeded: Option<&WindowExceeded>) {
        if let Some(exceeded) = exceeded
            && self.told_exceeded.insert(model.to_owned())
        {
            tracing::warn!("{}", exceeded.sentence());
        }
        if exceeded.is_none() {
            self.told_exceeded.remove(model);
        }
        if let Some(ask) = &self.wiring.ask_for_windows
            && self.windows.is_due(model, Instant::now())
        {
            // If it is full, the server is asked in a moment.
            let _ = ask.try_send(());
        }
    }

    /// Asks the model about its reply, once nobody else needs it.
    fn ask_for_audit(
        &mut self,
        episode: EpisodeId,
        question: AuditQuestion,
        addressee: AuditedModel,
    ) {
        let audit = Audit {
            episode,
            question,
            addressee,
        };
        if let Some(dropped) = self.wiring.audits.ask(audit) {
            self.handle_audit_answer(dropped, AuditOutcome::Cancelled, None);
        }
    }

    fn handle_audit_answer(
        &mut self,
        episode: EpisodeId,
        outcome: AuditOutcome,
        answer: Option<&str>,
    ) {
        let mut pending =
            self.engine
                .receive_audit_answer(self.wiring.clock.now(), episode, outcome, answer);
        let checks = std::mem::take(&mut pending.checks);
        // Without an answer nothing can be promoted, and a prompt may be waiting.
        let findings = match outcome {
            AuditOutcome::Answered => self.check_files(checks),
            AuditOutcome::NoAnswer | AuditOutcome::Cancelled | AuditOutcome::Failed => Vec::new(),
        };
        let batch = self.engine.settle_audit(pending, findings);
        self.commit_batch(batch);
    }

    fn check_files(&mut self, checks: Vec<DiskCheck>) -> Vec<FileFinding> {
        let paths: Vec<_> = checks.iter().map(|check| check.path.clone()).collect();
        paths.into_iter().zip(self.observer.check(checks)).collect()
    }

    /// Logs once that files became STALE, and how to accept them: one line for a commit's worth of files.
    fn warn_of_stale(&mut self, looked_at: Vec<RelPath>) {
        let mut changed = Vec::new();
        for path in looked_at {
            let stale = self.engine.stale_in(&path);
            if stale == 0 {
                self.told_stale.remove(&path);
                continue;
            }
            if !self.told_stale.insert(path.clone()) {
                continue;
            }
            let loss = (self.engine).told(|view, by| user_line::loss_on_disk(view, by, &path));
            if let Some(loss) = loss {
                tracing::warn!("{loss}");
            } else {
                changed.push((path, stale));
            }
        }
        match &changed[..] {
            [] => {}
            [(path, stale)] => tracing::warn!(
                "{path} changed on disk: {stale} of its entities are STALE and withheld from the model; \
                 the line `@tslp accept {path}` in a prompt takes what it holds now"
            ),
            [(path, _), others @ ..] => tracing::warn!(
                "{path} and {} more files changed on disk, and what they hold is withheld from the model: `tslp state` lists \
                 them, `tslp accept PATH` takes what one holds now",
                others.len()
            ),
        }
    }

    /// Hands a batch to the writer. When the writer has stopped, it has told the loop itself.
    fn commit_batch(&mut self, batch: Batch) {
        let Some(last) = batch.last() else { return };
        assert!(
            batch.recorded.is_sorted_by(|one, next| one.seq < next.seq),
            "positions rise within a batch"
        );
        let mut looked_at = Vec::new();
        for recorded in &batch.recorded {
            self.wiring
                .metrics
                .count_event(recorded.seq, &recorded.event);
            match &recorded.event {
                event @ (Event::Transitioned(_) | Event::VersionsPromoted(_)) => {
                    debug_assert!(last >= self.last_transition, "positions rise");
                    self.last_transition = last;
                    event.visit_paths(&mut |path| {
                        if self.told_stale.contains(path) && self.engine.stale_in(path) == 0 {
                            self.told_stale.remove(path);
                        }
                    });
                }
                Event::DiskObserved(observed) => looked_at.push(observed.path.clone()),
                Event::NoticeIssued(notice) if notice.reason.is(ReasonClass::HaltsAll) => {
                    self.stop_tools();
                    self.tell_mode();
                }
                Event::NoticeIssued(notice) if notice.reason == Reason::ToolsResumed => {
                    self.tell_mode();
                }
                Event::NoticeIssued(notice) => {
                    if let Some(said) = user_line::about_work(notice.reason) {
                        tracing::warn!(session = %notice.session, "{said}");
                    }
                }
                Event::PolicyApproved(_) => {
                    self.forget_rules();
                    self.tell_mode();
                }
                _ => {}
            }
        }
        self.warn_of_stale(looked_at);
        self.rows_late_since.get_or_insert_with(Instant::now);
        self.rows_late_events += batch.recorded.len();
        let commit = Commit {
            recorded: batch.recorded,
            ..Commit::default()
        };
        if self.wiring.commits.send(commit).is_err() {
            tracing::error!(%last, "a decision could not be recorded: the ledger's writer has stopped");
        }
    }
}

impl PromptRefusal {
    fn into_answer(self, dialect: Dialect) -> OwnAnswer {
        let refusal = match self {
            Self::Request(error) => Refusal::new("invalid_request", error.to_string()),
            Self::Ledger(WriterStopped(message)) => Refusal::new("ledger_failed", message),
            // After 422 Codex and aider ask again (docs/rules.md).
            Self::Withheld(withheld) => Refusal::withheld(withheld.reason.code(), withheld.message),
        };
        OwnAnswer::refusal(&refusal, Some(dialect))
    }
}

/// The headers of tslp's own for a reply.
fn own_headers(batch: &Batch, exceeded: Option<&WindowExceeded>) -> OwnHeaders {
    let answers = directive_answers(batch).map(|it| ("x-tslp-directives", it));
    let exceeded = exceeded.and_then(|it| {
        let figures = format!("tokens={}; window={}", it.prompt, it.window?);
        Some(("x-tslp-window", figures))
    });
    answers.into_iter().chain(exceeded).collect()
}

/// The answers to a prompt's directives in the characters that a header may have.
fn directive_answers(batch: &Batch) -> Option<String> {
    let mut step = AnsweringStep::default();
    batch.recorded.iter().for_each(|it| step.apply(&it.event));
    let lines: Vec<String> = step
        .answers
        .iter()
        .map(AnsweringStep::answer_line)
        .collect();
    let mut text = String::new();
    for c in lines.join("; ").chars().take(ANSWERS_MAX) {
        match c {
            ' '..='~' => text.push(c),
            other => text.extend(other.escape_default()),
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Texts of a prompt that are on record elsewhere than under its messages: the system message's, and the proxy's own.
fn texts_named(batch: &Batch) -> Vec<ArtifactHash> {
    let events = batch.recorded.iter();
    let named = events.filter_map(|recorded| match &recorded.event {
        Event::PromptReceived(prompt) => prompt.system,
        Event::PromptAmended(amended) => Some(amended.injected.as_ref()?.text),
        _ => None,
    });
    named.collect()
}

/// A message's texts as the ledger may hold them.
fn recorded_texts(message: &ReadMessage) -> Vec<KnownText<'_>> {
    let arguments = message.tool_calls.iter().map(|call| &call.arguments);
    let others = arguments.chain(&message.thoughts);
    let others = others.map(|text| {
        let text = redact::without_credentials(text);
        KnownText {
            hash: ArtifactHash::of(text.as_bytes()),
            text,
        }
    });
    let said = KnownText {
        hash: message.content(),
        text: Cow::Borrowed(message.recorded()),
    };
    std::iter::once(said).chain(others).collect()
}

/// Whether the body is no model's reply, such as an error page: then it is recorded unread.
fn is_no_reply(outcome: ReplyOutcome, running: &ReplyUnderWay) -> bool {
    let is_refused = matches!(outcome, ReplyOutcome::UpstreamRefused(_));
    let said_nothing = running.reply.tail.is_empty() && running.reply.segments.is_empty();
    is_refused || said_nothing && running.read.is_unreadable
}

/// Whether the model server presumably read the prompt, at least in part.
const fn was_read(outcome: ReplyOutcome) -> bool {
    match outcome {
        ReplyOutcome::Completed | ReplyOutcome::ClientGone | ReplyOutcome::UpstreamBroken => true,
        ReplyOutcome::UpstreamRefused(_)
        | ReplyOutcome::UpstreamUnreachable
        | ReplyOutcome::Interrupted
        | ReplyOutcome::Withheld => false,
    }
}

/// The outcome to record for an ending on the sockets. A reply with its closing event or finish reason is complete, even if
/// a connection broke afterwards. `None`: the ledger takes nothing more.
fn reply_outcome(ending: ResponseEnd, read: &ReadReply) -> Option<ReplyOutcome> {
    Some(match ending {
        ResponseEnd::Complete { status } if !(200..300).contains(&status) => {
            ReplyOutcome::UpstreamRefused(status)
        }
        ResponseEnd::Complete { .. } | ResponseEnd::ClientGone | ResponseEnd::UpstreamBroken
            if read.is_finished =>
        {
            ReplyOutcome::Completed
        }
        ResponseEnd::Complete { .. } | ResponseEnd::UpstreamBroken => ReplyOutcome::UpstreamBroken,
        ResponseEnd::ClientGone => ReplyOutcome::ClientGone,
        ResponseEnd::UpstreamUnreachable => ReplyOutcome::UpstreamUnreachable,
        ResponseEnd::LedgerFailed => return None,
    })
}
