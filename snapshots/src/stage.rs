//! Plays a story: a client with its conversations, a model with the story's replies, a disk in memory.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use tslp_core::directive::Directive;
use tslp_core::event::{AuditOutcome, Recorded, ReplyOutcome};
use tslp_core::ids::{EpisodeId, SessionId, UnixMillis};
use tslp_core::message::{Attempt, Message, Role, ToolCall, Tools};
use tslp_core::outgoing::Outgoing;
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::request::Request;
use tslp_decide::judge::reply::{Reply, SegmentExtent};
use tslp_decide::scope::place::Standpoint;
use tslp_grammars::TreeSitterGrammars;
use tslp_io::evidence::story::Steps;
use tslp_projections::changes::RowsUpTo;
use tslp_projections::state::{State, StateView};
use tslp_replay::engine::Engine;
use tslp_replay::pending::{Batch, DiskAnswers, TouchedText};

use crate::disk::{Disk, DiskEntry};
use crate::replay_check;
use crate::script::{Ending, Script, Step};
use crate::store::{MemoryFiles, MemoryStore};
use crate::tables::Tables;

pub use crate::disk::ROOT;

/// Where what is said in no conversation is meant from.
pub const AT: Standpoint<'static> = Standpoint {
    root: ROOT,
    session: SessionId(0),
};

/// The extent of what an engine keeps in memory. Its decisions don't depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineMemory {
    /// All rows, and what was learnt about texts.
    All,
    /// Only what the store lacks: durable rows come from it, and each prompt's texts are read anew.
    Nothing,
}

/// One window of the client.
#[derive(Clone, Default)]
struct Conversation {
    messages: Vec<Message>,
    /// The episode whose reply is awaited.
    open: Option<EpisodeId>,
}

/// A story under way.
pub struct Stage {
    engine: Engine<TreeSitterGrammars, MemoryStore>,
    store: MemoryStore,
    files: MemoryFiles,
    memory: EngineMemory,
    policy: Policy,
    disk: Disk,
    windows: BTreeMap<String, Conversation>,
    front_window: String,
    session_name: Option<String>,
    tools: Tools,
    /// Whether unknown files that somebody names are adopted from disk.
    adopts_on_touch: bool,
    /// Tool calls of the next reply.
    calls: Vec<ToolCall>,
    /// Thoughts of the next reply.
    thoughts: Vec<String>,
    /// Episodes whose audit has no answer, oldest first.
    audits: VecDeque<EpisodeId>,
    clock: i64,
    ledger: Vec<Recorded>,
    tables: Tables,
    /// The model's inputs, each with the number of events before it.
    inputs: Vec<(usize, ModelInput)>,
}

/// An input of the model.
#[derive(PartialEq, Eq, Debug)]
pub enum ModelInput {
    /// A prompt.
    Prompt(SentPrompt),
    /// An audit's question.
    Audit(String),
}

/// A prompt as it went to the model.
#[derive(PartialEq, Eq, Debug)]
pub struct SentPrompt {
    /// Its episode.
    pub episode: EpisodeId,
    /// The client's request.
    pub request: Request,
    /// The request that went out in its place.
    pub outgoing: Outgoing,
}

impl SentPrompt {
    /// Each message as it went to the model.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        let rendered = self.outgoing.messages.iter().map(|outgoing| {
            let message = &self.request.messages[outgoing.index];
            let text = |changed: &[(usize, String)], at: usize, own: &str| {
                let new = changed.iter().find(|(index, _)| *index == at);
                new.map_or_else(|| own.to_owned(), |(_, text)| text.clone())
            };
            let mut rendered = format!("{}\n{}", message.role.as_str(), outgoing.before);
            for (at, thought) in message.thoughts.iter().enumerate() {
                let _ = write!(rendered, "\n{}", text(&outgoing.thoughts, at, thought));
            }
            for (at, part) in message.parts.iter().enumerate() {
                let _ = write!(rendered, "\n{}", text(&outgoing.rewritten, at, part));
            }
            for (at, call) in message.tool_calls.iter().enumerate() {
                let arguments = text(&outgoing.arguments, at, &call.arguments);
                let _ = write!(rendered, "\n{}{arguments}", call.name);
            }
            rendered + "\n" + &outgoing.after
        });
        rendered.collect()
    }

    /// All texts that went to the model, in order.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.outgoing.system.iter().cloned().collect();
        for outgoing in &self.outgoing.messages {
            let parts = &self.request.messages[outgoing.index].parts;
            texts.push(outgoing.before.clone());
            texts.extend(parts.iter().enumerate().map(|(index, part)| {
                let rewritten = outgoing.rewritten.iter().find(|(at, _)| *at == index);
                rewritten.map_or_else(|| part.clone(), |(_, text)| text.clone())
            }));
            texts.push(outgoing.after.clone());
        }
        texts
    }
}

/// Plays the steps of a story.
pub fn play_script(script: Script, memory: EngineMemory) -> Stage {
    let mut stage = Stage::with_memory(script.policy, memory);
    for step in script.steps {
        stage.step(step);
    }
    stage
}

impl Stage {
    /// An empty ledger and an empty disk; the engine keeps all in memory.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self::with_memory(policy, EngineMemory::All)
    }

    /// An empty ledger and an empty disk.
    #[must_use]
    pub fn with_memory(policy: Policy, memory: EngineMemory) -> Self {
        let store = match memory {
            EngineMemory::All => MemoryStore::default(),
            EngineMemory::Nothing => MemoryStore::with_archives(),
        };
        let mut policy = policy;
        if policy.workspace_root.is_empty() {
            policy.workspace_root = ROOT.into();
        }
        let (files, mut state) = (MemoryFiles::default(), State::default());
        if memory == EngineMemory::Nothing {
            state.set_stored_files(Box::new(files.clone()), 0);
        }
        Self {
            engine: Engine::new(state, TreeSitterGrammars, policy.clone(), store.clone()),
            store,
            files,
            memory,
            policy,
            disk: Disk::default(),
            windows: BTreeMap::new(),
            front_window: "A".into(),
            session_name: None,
            tools: Tools::None,
            adopts_on_touch: false,
            calls: Vec::new(),
            thoughts: Vec::new(),
            audits: VecDeque::new(),
            clock: 0,
            ledger: Vec::new(),
            tables: Tables::default(),
            inputs: Vec::new(),
        }
    }

    /// From now on the rules in force are recorded, as in the program.
    pub fn declare_rules(&mut self) {
        self.engine.declare_rules("0.1.0");
    }

    /// From now on unknown files that somebody names are adopted from disk.
    pub const fn adopt_on_touch(&mut self) {
        self.adopts_on_touch = true;
    }

    /// The disk, to be written to.
    pub const fn disk_mut(&mut self) -> &mut Disk {
        &mut self.disk
    }

    /// Puts a disk in place of the stage's own.
    pub fn set_disk(&mut self, disk: Disk) {
        self.disk = disk;
    }

    /// A stage of its own at the same point of the story, from the events so far.
    #[must_use]
    pub fn fork(&self) -> Self {
        let store = MemoryStore::default();
        store.append(&self.ledger, Vec::new());
        let mut engine = Engine::new(
            replay_check::folded(&self.ledger),
            TreeSitterGrammars,
            self.policy.clone(),
            store.clone(),
        );
        engine.take_over(&self.engine);
        Self {
            engine,
            store,
            files: MemoryFiles::default(),
            memory: EngineMemory::All,
            policy: self.policy.clone(),
            disk: self.disk.clone(),
            windows: self.windows.clone(),
            front_window: self.front_window.clone(),
            session_name: self.session_name.clone(),
            tools: self.tools,
            adopts_on_touch: self.adopts_on_touch,
            calls: self.calls.clone(),
            thoughts: self.thoughts.clone(),
            audits: self.audits.clone(),
            clock: self.clock,
            ledger: self.ledger.clone(),
            tables: self.tables.clone(),
            inputs: Vec::new(),
        }
    }

    /// Plays one step.
    pub fn step(&mut self, step: Step) {
        match step {
            Step::Disk { path, text } => self
                .disk
                .put(RelPath::from_normalised(&path), DiskEntry::File(text)),
            Step::Gone(path) => self.disk.delete(&RelPath::from_normalised(&path)),
            Step::Link { path, target } => self
                .disk
                .put(RelPath::from_normalised(&path), DiskEntry::Link(target)),
            Step::Locked(path) => self
                .disk
                .put(RelPath::from_normalised(&path), DiskEntry::Locked),
            Step::Client(name) => self.front_window = name,
            Step::Session(name) => self.session_name = Some(name),
            Step::Tools(tools) => self.tools = tools,
            Step::Touch => self.adopt_on_touch(),
            Step::New => *self.open_window() = Conversation::default(),
            Step::Context { role, text } => self.add_message(role, &text),
            Step::User(text) => {
                self.add_message(Role::User, &text);
                self.send_prompt(Attempt::First);
            }
            Step::Model { text, ending } => self.play_reply(&text, ending),
            Step::Call { name, arguments } => self.calls.push(ToolCall {
                id: String::new(),
                name,
                arguments,
            }),
            Step::Thought(text) => self.thoughts.push(text),
            Step::Audit { outcome, answer } => self.answer_audit(outcome, &answer),
            Step::Back(count) => {
                let messages = &mut self.open_window().messages;
                messages.truncate(messages.len().saturating_sub(count));
            }
            Step::Shorten { from_end, text } => {
                let messages = &mut self.open_window().messages;
                let at = messages
                    .len()
                    .checked_sub(from_end)
                    .expect("too few messages");
                let role = messages[at].role;
                messages[at] = Message::new(role, &text);
            }
            Step::Import { source, text } => self.import(&source, &text),
            Step::Later(hours) => {
                self.clock += hours * 60 * 60 * 1000;
                self.disk.set_time(UnixMillis(self.clock + 500));
            }
            Step::Again => self.send_prompt(Attempt::First),
            Step::Retry => self.send_prompt(Attempt::Retry),
            Step::Command(directive) => self.command(directive),
        }
    }

    /// Whether the user's last message in the window in front was answered.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        let window = self.windows.get(&self.front_window);
        let messages = window.map_or(&[][..], |window| &window.messages);
        let behind = messages.rsplit(|message| message.role == Role::User).next();
        let is_reply = |message: &Message| message.role == Role::Assistant;
        behind.is_some_and(|behind| behind.len() < messages.len() && behind.iter().any(is_reply))
    }

    /// The store loses all contents that were recorded.
    pub fn lose_contents(&mut self) {
        self.engine.forget_contents(self.engine.state().head());
    }

    /// Every event so far.
    #[must_use]
    pub fn ledger(&self) -> &[Recorded] {
        &self.ledger
    }

    /// What happened in its episodes.
    #[must_use]
    pub fn episode_entries(&self) -> Steps {
        let mut entries = Steps::default();
        let events = self.ledger.iter();
        events.for_each(|recorded| entries.apply(recorded));
        entries
    }

    /// The policy of its decisions.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The live state.
    #[must_use]
    pub const fn state(&self) -> &State {
        self.engine.state()
    }

    /// The live state as decisions see it.
    #[must_use]
    pub const fn view(&self) -> StateView<'_> {
        StateView {
            state: self.engine.state(),
            store: &self.store,
            is_of_draft: false,
        }
    }

    /// The disk as it is now.
    #[must_use]
    pub const fn disk(&self) -> &Disk {
        &self.disk
    }

    /// The last prompt that went out.
    #[must_use]
    pub fn last_sent(&self) -> Option<&SentPrompt> {
        self.inputs.iter().rev().find_map(|(_, input)| match input {
            ModelInput::Prompt(sent) => Some(sent),
            ModelInput::Audit(_) => None,
        })
    }

    /// The model's inputs, each with the number of events before it.
    #[must_use]
    pub fn model_inputs(&self) -> &[(usize, ModelInput)] {
        &self.inputs
    }

    fn open_window(&mut self) -> &mut Conversation {
        self.windows.entry(self.front_window.clone()).or_default()
    }

    fn add_message(&mut self, role: Role, text: &str) {
        let message = Message::new(role, text);
        self.open_window().messages.push(message);
    }

    fn send_prompt(&mut self, attempt: Attempt) {
        let request = Request {
            model: "story".into(),
            messages: self
                .open_window()
                .messages
                .iter()
                .cloned()
                .map(Into::into)
                .collect(),
            session_name: self.session_name.clone(),
            continues: None,
            attempt,
            tools: self.tools,
        };
        let episode = self.receive(request);
        self.open_window().open = Some(episode);
    }

    /// Receives a request and sends it to the model; [`Stage::last_sent`] returns what went out.
    pub fn receive(&mut self, request: Request) -> EpisodeId {
        let at = self.next_time();
        if self.memory == EngineMemory::Nothing {
            self.engine.forget_texts();
        }
        let disk = &self.disk;
        let look = &mut |asked| disk.places(asked);
        let mut pending = self.engine.receive(at, request, look);
        let findings = self.disk.findings(&pending.checks);
        self.engine.read_changed(&mut pending, &findings);
        let answers = DiskAnswers {
            findings,
            texts: pending
                .reads
                .iter()
                .map(|path| self.disk.read_text(path))
                .collect(),
            touched: self.read_touched(&pending.touches),
            aftermath: pending
                .aftermath
                .iter()
                .map(|path| self.disk.read_text(path))
                .collect(),
            off_files: self.disk.off_files(&pending.off_rules),
            aliases: self.disk.aliases(),
        };
        let composed = self.engine.compose(pending, answers);
        if composed.withheld.is_some() {
            self.record_batch(composed.batch);
            self.end_reply(composed.episode, Reply::default(), ReplyOutcome::Withheld);
            return composed.episode;
        }
        if let Some(conversation) = composed.conversation {
            let (episode, request) = (composed.episode, &composed.request);
            self.engine
                .keep_sent(episode, conversation, request, &composed.outgoing);
        }
        let episode = composed.episode;
        self.record_batch(composed.batch);
        let sent = SentPrompt {
            episode,
            request: composed.request,
            outgoing: composed.outgoing,
        };
        self.inputs
            .push((self.ledger.len(), ModelInput::Prompt(sent)));
        episode
    }

    fn play_reply(&mut self, text: &str, ending: Ending) {
        self.add_message(Role::Assistant, text);
        let tool_calls = std::mem::take(&mut self.calls);
        let thoughts = std::mem::take(&mut self.thoughts);
        if let Some(message) = self.open_window().messages.last_mut() {
            message.tool_calls.clone_from(&tool_calls);
            message.thoughts = thoughts;
        }
        let Some(episode) = self.open_window().open.take() else {
            return;
        };
        let finish_reason = match ending {
            Ending::Cut => "length",
            _ => "stop",
        };
        let mut reply = Reply {
            finish_reason: Some(finish_reason.into()),
            tool_calls,
            ..Reply::default()
        };
        if ending == Ending::Pieces {
            for line in text.split_inclusive('\n') {
                reply.tail.push_str(line);
                let at = self.next_time();
                let batch = self.engine.record_segment(
                    at,
                    episode,
                    &mut reply,
                    SegmentExtent::CredentialSafe,
                );
                self.record_batch(batch);
            }
        } else {
            reply.tail.push_str(text);
        }
        let outcome = match ending {
            Ending::Whole | Ending::Pieces | Ending::Cut => ReplyOutcome::Completed,
            Ending::Broken => ReplyOutcome::UpstreamBroken,
            Ending::ClientGone => ReplyOutcome::ClientGone,
            Ending::Refused => ReplyOutcome::UpstreamRefused(500),
        };
        self.end_reply(episode, reply, outcome);
    }

    /// Ends the model's reply, which is judged.
    pub fn end_reply(&mut self, episode: EpisodeId, reply: Reply, outcome: ReplyOutcome) {
        let at = self.next_time();
        let disk = &self.disk;
        let look = &mut |asked| disk.places(asked);
        let pending = self.engine.end_reply(at, episode, reply, outcome, look);
        let answers = DiskAnswers {
            findings: self.disk.findings(&pending.checks),
            touched: self.read_touched(&pending.touches),
            ..DiskAnswers::default()
        };
        let judged = self.engine.judge(pending, answers);
        self.record_batch(judged.batch);
        if let Some(question) = judged.audit {
            self.audits.push_back(episode);
            self.inputs
                .push((self.ledger.len(), ModelInput::Audit(question.user)));
        }
    }

    fn import(&mut self, source: &str, text: &str) {
        let at = self.next_time();
        let session = self.engine.state().current_session().unwrap_or_default();
        let pending = self.engine.receive_import(at, session, (source, text));
        let answers = DiskAnswers {
            findings: self.disk.findings(&pending.checks),
            touched: self.read_touched(&pending.touches),
            ..DiskAnswers::default()
        };
        let judged = self.engine.judge(pending, answers);
        self.record_batch(judged.batch);
    }

    fn command(&mut self, directive: Directive) {
        let at = self.next_time();
        let pending = self.engine.receive_command(at, SessionId(0), directive);
        let texts = pending.reads.iter();
        let answers = DiskAnswers {
            findings: self.disk.findings(&pending.checks),
            texts: texts.map(|path| self.disk.read_text(path)).collect(),
            ..DiskAnswers::default()
        };
        let batch = self.engine.carry_out_command(pending, answers);
        self.record_batch(batch);
    }

    fn answer_audit(&mut self, outcome: AuditOutcome, answer: &str) {
        let Some(episode) = self.audits.pop_front() else {
            return;
        };
        let at = self.next_time();
        let answer = (!answer.is_empty()).then_some(answer);
        let pending = self
            .engine
            .receive_audit_answer(at, episode, outcome, answer);
        let findings = self.disk.findings(&pending.checks);
        let batch = self.engine.settle_audit(pending, findings);
        self.record_batch(batch);
    }

    fn read_touched(&self, paths: &[RelPath]) -> Vec<Option<TouchedText>> {
        let read = |path| Some((self.disk.read_text(path)?.ok()?, self.disk.changed_at(path)));
        let may_read = |path| self.adopts_on_touch.then(|| read(path)).flatten();
        paths.iter().map(may_read).collect()
    }

    fn next_time(&mut self) -> UnixMillis {
        self.clock += 1000;
        // What is written before the next step is written a little later.
        self.disk.set_time(UnixMillis(self.clock + 500));
        UnixMillis(self.clock)
    }

    fn record_batch(&mut self, batch: Batch) {
        let RowsUpTo { changes, .. } = self.engine.take_rows();
        if self.memory == EngineMemory::Nothing {
            self.store.append(&batch.recorded, changes.clone());
            self.files.apply(&changes);
            self.engine.rows_made_durable(self.engine.state().head());
        }
        self.tables.apply(changes);
        self.ledger.extend(batch.recorded);
    }

    /// Replays the whole ledger in every way and compares (see [`replay_check`]).
    ///
    /// # Panics
    /// When something differs.
    pub fn check_replay(&self) {
        replay_check::check(&self.ledger, self.engine.state(), &self.tables);
        replay_check::check_deep(&self.ledger, self.engine.state(), &self.policy);
    }
}
