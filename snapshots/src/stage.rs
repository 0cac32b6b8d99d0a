//! Plays a story: a client with its conversations, a model that says what the story says, a disk in memory.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use tslp_core::decide::compose::Outgoing;
use tslp_core::decide::reply::{Reply, SegmentExtent};
use tslp_core::event::{AuditOutcome, Recorded, ReplyOutcome};
use tslp_core::ids::{EpisodeId, UnixMillis};
use tslp_core::message::{Attempt, Message, Role, ToolCall, Tools};
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::request::Request;
use tslp_grammars::TreeSitterGrammars;
use tslp_replay::engine::Engine;
use tslp_replay::pending::{Batch, DiskAnswers};
use tslp_replay::state::{State, StateView};
use tslp_replay::store::EmptyStore;

use crate::disk::{Disk, DiskEntry};
use crate::script::{self, Ending, Script, Step};
use crate::store::MemoryStore;
use crate::tables::Tables;
use crate::{golden, replay_check};

/// The workspace of every story; a policy may name another.
pub const ROOT: &str = "/work/space";

/// What an engine keeps in memory. Its decisions are the same either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// All: the state holds every row that there is, and what was learnt of texts is kept.
    All,
    /// Nothing that can be had otherwise: rows are asked of the store, and each prompt's texts are read anew.
    Nothing,
}

/// One window of the client.
#[derive(Clone, Default)]
struct Conversation {
    messages: Vec<Message>,
    /// The episode whose reply is still to come.
    open: Option<EpisodeId>,
}

/// A story under way.
pub struct Stage {
    engine: Engine<TreeSitterGrammars, MemoryStore>,
    store: MemoryStore,
    keeping: Keeping,
    policy: Policy,
    disk: Disk,
    windows: BTreeMap<String, Conversation>,
    in_front: String,
    session_name: Option<String>,
    tools: Tools,
    /// Whether files that somebody names are taken as they are.
    on_touch: bool,
    /// Tool calls of the next reply.
    calls: Vec<ToolCall>,
    /// Thoughts of the next reply.
    thoughts: Vec<String>,
    /// Episodes whose audit has no answer, oldest first.
    audits: VecDeque<EpisodeId>,
    clock: i64,
    ledger: Vec<Recorded>,
    tables: Tables,
    /// What the model was given, each with how many events there were by then.
    inputs: Vec<(usize, ModelInput)>,
}

/// What the model was given.
#[derive(PartialEq, Eq, Debug)]
pub enum ModelInput {
    /// A prompt.
    Prompt(Sent),
    /// An audit's question.
    Audit(String),
}

/// A prompt as it went to the model.
#[derive(PartialEq, Eq, Debug)]
pub struct Sent {
    /// Its episode.
    pub episode: EpisodeId,
    /// What the client sent.
    pub request: Request,
    /// What went out in its place.
    pub outgoing: Outgoing,
}

impl Sent {
    /// Each message as the model was given it.
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

    /// All texts that the model was given, in order.
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

/// Plays a story and gives its golden end, with every text that the model saw if the story is a full one.
///
/// # Panics
/// When the story can't be read, when replaying its events gives another state, or when an engine that asks the store for
/// what it has decides otherwise.
#[must_use]
pub fn play(story: &str) -> String {
    let script = script::parse(story);
    let detail = script.detail;
    let stage = played(script.clone(), Keeping::All);
    stage.check_replay();
    let keeping = played(script, Keeping::Nothing);
    assert_eq!(keeping.ledger, stage.ledger, "of the store");
    assert_eq!(keeping.inputs, stage.inputs, "of the store");
    golden::golden(&stage, detail)
}

fn played(script: Script, keeping: Keeping) -> Stage {
    let mut stage = Stage::keeping(script.policy, keeping);
    for step in script.steps {
        stage.step(step);
    }
    stage
}

impl Stage {
    /// An empty ledger and an empty disk; nothing ever settles.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self::keeping(policy, Keeping::All)
    }

    /// An empty ledger and an empty disk.
    #[must_use]
    pub fn keeping(policy: Policy, keeping: Keeping) -> Self {
        let store = match keeping {
            Keeping::All => MemoryStore::default(),
            Keeping::Nothing => MemoryStore::with_archives(),
        };
        let mut policy = policy;
        if policy.workspace_root.is_empty() {
            policy.workspace_root = ROOT.into();
        }
        Self {
            engine: Engine::new(
                State::default(),
                TreeSitterGrammars,
                policy.clone(),
                store.clone(),
            ),
            store,
            keeping,
            policy,
            disk: Disk::default(),
            windows: BTreeMap::new(),
            in_front: "A".into(),
            session_name: None,
            tools: Tools::None,
            on_touch: false,
            calls: Vec::new(),
            thoughts: Vec::new(),
            audits: VecDeque::new(),
            clock: 0,
            ledger: Vec::new(),
            tables: Tables::default(),
            inputs: Vec::new(),
        }
    }

    /// From now on the rules in force are recorded, as the program records them.
    pub fn declare(&mut self) {
        self.engine.declare_rules("0.1.0");
    }

    /// From now on files that somebody names are taken as they are, where nothing is known of them.
    pub const fn adopt_on_touch(&mut self) {
        self.on_touch = true;
    }

    /// The disk, for whoever writes to it.
    pub const fn disk_mut(&mut self) -> &mut Disk {
        &mut self.disk
    }

    /// Puts a disk in place of the stage's own.
    pub fn set_disk(&mut self, disk: Disk) {
        self.disk = disk;
    }

    /// The same point of the same story on a stage of its own: the events so far, folded anew.
    #[must_use]
    pub fn fork(&self) -> Self {
        let store = MemoryStore::default();
        store.add(&self.ledger, Vec::new());
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
            keeping: Keeping::All,
            policy: self.policy.clone(),
            disk: self.disk.clone(),
            windows: self.windows.clone(),
            in_front: self.in_front.clone(),
            session_name: self.session_name.clone(),
            tools: self.tools,
            on_touch: self.on_touch,
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
            Step::Locked(path) => self
                .disk
                .put(RelPath::from_normalised(&path), DiskEntry::Locked),
            Step::Client(name) => self.in_front = name,
            Step::Session(name) => self.session_name = Some(name),
            Step::Tools => self.tools = Tools::Offered,
            Step::Touch => self.adopt_on_touch(),
            Step::New => *self.window() = Conversation::default(),
            Step::Context { role, text } => self.say(role, &text),
            Step::User(text) => {
                self.say(Role::User, &text);
                self.prompt(Attempt::First);
            }
            Step::Model { text, ending } => self.reply(&text, ending),
            Step::Call { name, arguments } => self.calls.push(ToolCall { name, arguments }),
            Step::Thought(text) => self.thoughts.push(text),
            Step::Audit { outcome, answer } => self.audited(outcome, &answer),
            Step::Back(count) => {
                let messages = &mut self.window().messages;
                messages.truncate(messages.len().saturating_sub(count));
            }
            Step::Again => self.prompt(Attempt::First),
            Step::Retry => self.prompt(Attempt::Retry),
        }
    }

    /// Whether the user's last message in the window in front was answered.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        let window = self.windows.get(&self.in_front);
        let messages = window.map_or(&[][..], |window| &window.messages);
        let behind = messages.rsplit(|message| message.role == Role::User).next();
        let is_reply = |message: &Message| message.role == Role::Assistant;
        behind.is_some_and(|behind| behind.len() < messages.len() && behind.iter().any(is_reply))
    }

    /// From here on no byte of what was recorded can be read: the store has lost it.
    pub fn lose_contents(&mut self) {
        self.engine.forget_contents(self.engine.state().head());
    }

    /// Every event so far.
    #[must_use]
    pub fn ledger(&self) -> &[Recorded] {
        &self.ledger
    }

    /// What steers its decisions.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The live state.
    #[must_use]
    pub const fn state(&self) -> &State {
        self.engine.state()
    }

    /// The live state as decisions see it; bytes of the Vault are not at hand.
    #[must_use]
    pub const fn view(&self) -> StateView<'_> {
        StateView {
            state: self.engine.state(),
            store: &EmptyStore,
        }
    }

    /// The disk as it is now.
    #[must_use]
    pub const fn disk(&self) -> &Disk {
        &self.disk
    }

    /// The last prompt that went out.
    #[must_use]
    pub fn sent(&self) -> Option<&Sent> {
        self.inputs.iter().rev().find_map(|(_, input)| match input {
            ModelInput::Prompt(sent) => Some(sent),
            ModelInput::Audit(_) => None,
        })
    }

    /// What the model was given, each with how many events there were by then.
    #[must_use]
    pub fn inputs(&self) -> &[(usize, ModelInput)] {
        &self.inputs
    }

    fn window(&mut self) -> &mut Conversation {
        self.windows.entry(self.in_front.clone()).or_default()
    }

    fn say(&mut self, role: Role, text: &str) {
        let message = Message::new(role, text);
        self.window().messages.push(message);
    }

    fn prompt(&mut self, attempt: Attempt) {
        let request = Request {
            model: "story".into(),
            messages: self
                .window()
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
        self.window().open = Some(episode);
    }

    /// A request comes in and goes out to the model, as [`Stage::sent`] has it.
    pub fn receive(&mut self, request: Request) -> EpisodeId {
        let at = self.tick();
        if self.keeping == Keeping::Nothing {
            self.engine.forget_texts();
        }
        let pending = self.engine.receive(at, request);
        let answers = DiskAnswers {
            findings: self.disk.look(&pending.checks),
            texts: pending
                .reads
                .iter()
                .map(|path| self.disk.text(path))
                .collect(),
            touched: self.touch(&pending.touches),
            aftermath: pending
                .aftermath
                .iter()
                .map(|path| self.disk.text(path))
                .collect(),
        };
        let composed = self.engine.compose(pending, answers);
        if let Some(conversation) = composed.conversation {
            let (episode, request) = (composed.episode, &composed.request);
            self.engine
                .keep_sent(episode, conversation, request, &composed.outgoing);
        }
        let episode = composed.episode;
        self.append(composed.batch);
        let sent = Sent {
            episode,
            request: composed.request,
            outgoing: composed.outgoing,
        };
        self.inputs
            .push((self.ledger.len(), ModelInput::Prompt(sent)));
        episode
    }

    fn reply(&mut self, text: &str, ending: Ending) {
        self.say(Role::Assistant, text);
        let tool_calls = std::mem::take(&mut self.calls);
        let thoughts = std::mem::take(&mut self.thoughts);
        if let Some(message) = self.window().messages.last_mut() {
            message.tool_calls.clone_from(&tool_calls);
            message.thoughts = thoughts;
        }
        let Some(episode) = self.window().open.take() else {
            return;
        };
        let mut reply = Reply {
            finish_reason: Some(
                if ending == Ending::Cut {
                    "length"
                } else {
                    "stop"
                }
                .into(),
            ),
            tool_calls,
            ..Reply::default()
        };
        if ending == Ending::Pieces {
            for line in text.split_inclusive('\n') {
                reply.tail.push_str(line);
                let at = self.tick();
                let batch = self.engine.record_segment(
                    at,
                    episode,
                    &mut reply,
                    SegmentExtent::CredentialSafe,
                );
                self.append(batch);
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
        self.end(episode, reply, outcome);
    }

    /// The model's reply has come to its end and is judged.
    pub fn end(&mut self, episode: EpisodeId, reply: Reply, outcome: ReplyOutcome) {
        let at = self.tick();
        let pending = self.engine.end_reply(at, episode, reply, outcome);
        let answers = DiskAnswers {
            findings: self.disk.look(&pending.checks),
            touched: self.touch(&pending.touches),
            ..DiskAnswers::default()
        };
        let judged = self.engine.judge(pending, answers);
        self.append(judged.batch);
        if let Some(question) = judged.audit {
            self.audits.push_back(episode);
            self.inputs
                .push((self.ledger.len(), ModelInput::Audit(question.user)));
        }
    }

    fn audited(&mut self, outcome: AuditOutcome, answer: &str) {
        let Some(episode) = self.audits.pop_front() else {
            return;
        };
        let at = self.tick();
        let answer = (!answer.is_empty()).then_some(answer);
        let pending = self
            .engine
            .receive_audit_answer(at, episode, outcome, answer);
        let findings = self.disk.look(&pending.checks);
        let batch = self.engine.settle_audit(pending, findings);
        self.append(batch);
    }

    fn touch(&self, paths: &[RelPath]) -> Vec<Option<String>> {
        let read = |path| self.disk.text(path)?.ok();
        let may_read = |path| if self.on_touch { read(path) } else { None };
        paths.iter().map(may_read).collect()
    }

    fn tick(&mut self) -> UnixMillis {
        self.clock += 1000;
        UnixMillis(self.clock)
    }

    fn append(&mut self, batch: Batch) {
        if self.keeping == Keeping::Nothing {
            self.store.add(&batch.recorded, batch.changes.clone());
            self.engine.rows_made_durable(self.engine.state().head());
        }
        self.tables.apply(batch.changes);
        self.ledger.extend(batch.recorded);
    }

    /// Replays the whole ledger by every road and compares (see [`replay_check`]).
    ///
    /// # Panics
    /// When something differs.
    pub fn check_replay(&self) {
        replay_check::check(&self.ledger, self.engine.state(), &self.tables);
        replay_check::check_deep(&self.ledger, self.engine.state(), &self.policy);
    }
}
