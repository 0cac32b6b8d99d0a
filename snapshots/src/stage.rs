//! Plays a story: a client that keeps its conversation, a model that says what the story says, a disk in memory.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use tslp_core::decide::compose::Outgoing;
use tslp_core::decide::reply::Reply;
use tslp_core::event::{DiskFile, DiskFinding, DiskSlice, Recorded, ReplyOutcome};
use tslp_core::extract::Grammars;
use tslp_core::ids::{EpisodeId, Seq, UnixMillis};
use tslp_core::message::{Attempt, Message, Request, Role, Tools};
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::slice;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::TABLES;
use tslp_projections::table::{Changes, Value};
use tslp_replay::engine::{Answers, Batch, DiskCheck, Engine, Finding};
use tslp_replay::state::{Contents, State};

use crate::script::{self, Ending, Step};
use crate::tables::Tables;

/// The workspace of every story.
pub const ROOT: &str = "/work/space";

/// Content events of the story so far. The engine keeps what isn't settled itself, and nothing here ever settles.
struct NothingStored;

impl Contents for NothingStored {
    fn content(&self, _: Seq) -> Option<Arc<[u8]>> {
        None
    }
}

/// A played story.
pub struct Stage {
    engine: Engine<TreeSitterGrammars, NothingStored>,
    disk: BTreeMap<RelPath, String>,
    conversation: Vec<Message>,
    open: Option<EpisodeId>,
    clock: i64,
    ledger: Vec<Recorded>,
    tables: Tables,
    seen: String,
}

/// Plays a story and tells what the model saw and what became true.
///
/// # Panics
/// When the story can't be read, or when replaying its events gives another state.
#[must_use]
pub fn play(story: &str) -> String {
    play_with(story, Policy::default())
}

/// The same under a policy of its own.
///
/// # Panics
/// As [`play`].
#[must_use]
pub fn play_with(story: &str, policy: Policy) -> String {
    let mut stage = Stage::new(policy);
    for step in script::parse(story) {
        stage.step(step);
    }
    stage.check_replay();
    format!("{}{}", stage.seen, stage.engine.state())
}

impl Stage {
    /// An empty ledger and an empty disk.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        let policy = Policy {
            workspace_root: ROOT.into(),
            ..policy
        };
        Self {
            engine: Engine::new(State::default(), TreeSitterGrammars, policy, NothingStored),
            disk: BTreeMap::new(),
            conversation: Vec::new(),
            open: None,
            clock: 0,
            ledger: Vec::new(),
            tables: Tables::default(),
            seen: String::new(),
        }
    }

    /// Plays one step.
    pub fn step(&mut self, step: Step) {
        match step {
            Step::Disk { path, text } => {
                self.disk.insert(RelPath::from_normalised(&path), text);
            }
            Step::Gone { path } => {
                self.disk.remove(&RelPath::from_normalised(&path));
            }
            Step::New => self.conversation.clear(),
            Step::Context(text) => self.conversation.push(Message::new(Role::User, &text)),
            Step::User(text) => self.prompt(&text),
            Step::Model { text, ending } => self.reply(&text, ending),
        }
    }

    /// Every event so far.
    #[must_use]
    pub fn ledger(&self) -> &[Recorded] {
        &self.ledger
    }

    /// The live state.
    #[must_use]
    pub fn state(&self) -> &State {
        self.engine.state()
    }

    fn prompt(&mut self, text: &str) {
        self.conversation.push(Message::new(Role::User, text));
        let request = Request {
            model: "story".into(),
            messages: self.conversation.clone(),
            session_name: None,
            attempt: Attempt::First,
            tools: Tools::None,
        };
        let at = self.tick();
        let pending = self.engine.receive(at, request);
        let answers = Answers {
            findings: self.look(&pending.checks),
            texts: pending
                .reads
                .iter()
                .map(|path| self.disk.get(path).cloned().map(Ok))
                .collect(),
        };
        let composed = self.engine.compose(pending, answers);
        self.open = Some(composed.episode);
        self.append(composed.batch);
        self.tell(composed.episode, &composed.outgoing);
    }

    fn tell(&mut self, episode: EpisodeId, outgoing: &Outgoing) {
        let messages = outgoing.messages.len();
        let _ = writeln!(
            self.seen,
            "--- {episode}: the model sees {messages} of the client's messages and"
        );
        let _ = writeln!(self.seen, "{}", outgoing.system);
        for message in &outgoing.messages {
            for (_, text) in &message.rewritten {
                let _ = writeln!(self.seen, "--- rewritten message {}\n{text}", message.index);
            }
        }
    }

    fn reply(&mut self, text: &str, ending: Ending) {
        self.conversation.push(Message::new(Role::Assistant, text));
        let Some(episode) = self.open.take() else {
            return;
        };
        let reply = Reply {
            tail: text.into(),
            finish_reason: Some(
                if ending == Ending::Cut {
                    "length"
                } else {
                    "stop"
                }
                .into(),
            ),
            ..Reply::default()
        };
        let outcome = match ending {
            Ending::Whole | Ending::Cut => ReplyOutcome::Completed,
            Ending::Broken => ReplyOutcome::UpstreamBroken,
        };
        let at = self.tick();
        let pending = self.engine.end(at, episode, reply, outcome);
        let findings = self.look(&pending.checks);
        let batch = self.engine.judge(pending, findings);
        self.append(batch);
    }

    fn tick(&mut self) -> UnixMillis {
        self.clock += 1000;
        UnixMillis(self.clock)
    }

    fn look(&self, checks: &[DiskCheck]) -> Vec<Finding> {
        checks
            .iter()
            .map(|check| {
                let finding = match self.disk.get(&check.path) {
                    None => DiskFinding::Missing,
                    Some(text) => DiskFinding::File(fingerprint(check, text.as_bytes())),
                };
                (check.path.clone(), finding)
            })
            .collect()
    }

    fn append(&mut self, batch: Batch) {
        self.tables.apply(batch.changes);
        self.ledger.extend(batch.recorded);
    }

    /// Folds the whole ledger anew and compares every table three ways.
    ///
    /// # Panics
    /// When they differ.
    pub fn check_replay(&self) {
        let mut replayed = State::default();
        for recorded in &self.ledger {
            replayed.apply(recorded, &mut Changes::discarding());
        }
        for (index, table) in TABLES.iter().enumerate() {
            let live = rows(self.engine.state(), index);
            assert_eq!(live, rows(&replayed, index), "replay of {}", table.name);
            assert_eq!(
                live,
                self.tables.rows(index),
                "row changes of {}",
                table.name
            );
        }
    }
}

/// What a file holds, as the observer of the real disk would say it.
fn fingerprint(check: &DiskCheck, bytes: &[u8]) -> DiskFile {
    let whole = slice::hash_of(bytes);
    let grammars = TreeSitterGrammars;
    let extraction = grammars
        .language_of_path(&check.path)
        .and_then(|language| grammars.extract(language, bytes).ok());
    let Some(extraction) = extraction else {
        return DiskFile {
            whole,
            slices: Vec::new(),
            definitions: 0,
            grammar: None,
        };
    };
    let slices = extraction.slices(bytes);
    DiskFile {
        whole,
        slices: check
            .symbols
            .iter()
            .map(|symbol| DiskSlice {
                symbol: symbol.clone(),
                slice: slices.get(symbol).copied(),
            })
            .collect(),
        definitions: u32::try_from(extraction.top_level().len()).unwrap_or(u32::MAX),
        grammar: Some(extraction.grammar.clone()),
    }
}

fn rows(state: &State, table: usize) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    state.rows(table, &mut |row| rows.push(row));
    rows
}
