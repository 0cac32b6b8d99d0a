//! Fills a ledger with the history of a project: the real engine decides, a client and a model are made up, the same ones
//! in every run. What is true stays small; the history grows as far as it is asked for. Three replies of four give whole
//! functions, the fourth is an edit.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use tslp_core::event::{DiskFinding, Recorded, ReplyOutcome};
use tslp_core::ids::{EpisodeId, UnixMillis};
use tslp_core::message::{Attempt, Message, Role, Tools};
use tslp_core::policy::{AuditChoice, Policy};
use tslp_core::request::Request;
use tslp_decide::judge::reply::Reply;
use tslp_grammars::TreeSitterGrammars;
use tslp_io::engine::new_engine;
use tslp_projections::VAULT;
use tslp_replay::engine::Engine;
use tslp_replay::pending::{Batch, DiskAnswers, DiskCheck, FileFinding};
use tslp_store::content_cache::ContentCache;
use tslp_store::ledger::{CheckpointMode, OpenOptions, SqliteLog};
use tslp_store::startup;

/// Events of one transaction.
const COMMIT_EVENTS: usize = 4096;

/// Prompts of one conversation.
const TURNS: usize = 6;

/// Functions that one reply gives anew.
const CHANGED: usize = 2;

/// How large what is true becomes.
#[derive(Clone, Copy)]
pub(crate) struct Truth {
    /// Files of C.
    pub(crate) files: usize,
    /// Functions in each of them.
    pub(crate) functions: usize,
}

/// What a ledger holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled {
    pub(crate) events: u64,
    pub(crate) artifacts: u64,
}

/// Goes on with the ledger until it has this many events.
///
/// # Errors
/// When it can't be opened or written.
pub(crate) fn fill(
    data_dir: &Path,
    workspace: &Path,
    truth: Truth,
    events: u64,
) -> Result<Filled, Box<dyn Error>> {
    let (opened, state) = startup::start(&OpenOptions::default(), data_dir, workspace)?;
    let store = ContentCache::new(opened.readers.open()?);
    let policy = Policy {
        audit: AuditChoice::Off,
        workspace_root: workspace.to_string_lossy().into_owned(),
        ..Policy::default()
    };
    let mut project = Project {
        clock: i64::try_from(state.head().0)?,
        engine: new_engine(state, &policy, store),
        log: opened.log,
        waiting: Vec::new(),
        conversation: Vec::new(),
        versions: HashMap::new(),
    };
    let is_new = project.engine.state().state_map().is_empty();
    for file in 0..if is_new { truth.files } else { 0 } {
        project.paste(file, truth.functions)?;
    }
    let mut turn = usize::try_from(project.clock)?;
    while project.engine.state().head().0 < events {
        project.exchange(truth, turn)?;
        turn += 1;
    }
    project.commit()?;
    project.log.checkpoint(CheckpointMode::Truncate)?;
    let mut artifacts = 0;
    project.log.read_table(VAULT, &mut |_| {
        artifacts += 1;
        ControlFlow::Continue(())
    })?;
    Ok(Filled {
        events: project.log.head()?.seq.0,
        artifacts,
    })
}

struct Project {
    engine: Engine<TreeSitterGrammars, ContentCache>,
    log: SqliteLog,
    waiting: Vec<Recorded>,
    clock: i64,
    conversation: Vec<Message>,
    /// The true version of each function that the model has given.
    versions: HashMap<(usize, usize), usize>,
}

impl Project {
    fn paste(&mut self, file: usize, functions: usize) -> Result<(), Box<dyn Error>> {
        let functions = (0..functions).map(|at| function(file, at, 0));
        let code = functions.collect::<Vec<_>>().join("\n");
        let path = path(file);
        self.conversation.clear();
        self.prompt(&format!(
            "Here is the next file.\n\n{path}\n```c\n{code}```\n"
        ))?;
        self.conversation.clear();
        Ok(())
    }

    /// The user asks for a change, and the model gives the functions anew.
    fn exchange(&mut self, truth: Truth, turn: usize) -> Result<(), Box<dyn Error>> {
        if self.conversation.len() >= 2 * TURNS {
            self.conversation.clear();
        }
        let mut dice = Dice::of(turn);
        let file = dice.below(truth.files);
        let changed = [(); CHANGED].map(|()| dice.below(truth.functions));
        let path = path(file);
        let names = changed.map(|at| format!("`{}`", name(file, at)));
        let asked = format!(
            "Turn {turn}. Please change {} in {path}: {}",
            names.join(" and "),
            prose(&mut dice, 160)
        );
        let episode = self.prompt(&asked)?;
        let mut said = prose(&mut dice, 200);
        for at in changed {
            let code = function(file, at, turn + 1);
            let before = self.versions.insert((file, at), turn + 1);
            let block = match before {
                // The second function of a reply may be the first one again.
                Some(before) if turn.is_multiple_of(4) && before != turn + 1 => {
                    let known = function(file, at, before);
                    format!("<<<<<<< SEARCH\n{known}=======\n{code}>>>>>>> REPLACE\n")
                }
                _ => code,
            };
            let around = prose(&mut dice, 60);
            write!(said, "\n\n{path}\n```c\n{block}```\n{around}")?;
        }
        self.reply(episode, &said)
    }

    fn prompt(&mut self, text: &str) -> Result<EpisodeId, Box<dyn Error>> {
        self.conversation.push(Message::new(Role::User, text));
        let request = Request {
            model: String::new(),
            messages: self.conversation.iter().cloned().map(Into::into).collect(),
            session_name: None,
            continues: None,
            attempt: Attempt::First,
            tools: Tools::None,
        };
        let at = self.tick();
        let pending = self.engine.receive(at, request, &mut |_| Vec::new());
        let answers = DiskAnswers {
            findings: nothing_on_disk(&pending.checks),
            ..DiskAnswers::default()
        };
        let composed = self.engine.compose(pending, answers);
        self.take(composed.batch)?;
        Ok(composed.episode)
    }

    fn reply(&mut self, episode: EpisodeId, text: &str) -> Result<(), Box<dyn Error>> {
        self.conversation.push(Message::new(Role::Assistant, text));
        let reply = Reply {
            tail: text.into(),
            finish_reason: Some("stop".into()),
            ..Reply::default()
        };
        let at = self.tick();
        let pending =
            self.engine
                .end_reply(at, episode, reply, ReplyOutcome::Completed, &mut |_| {
                    Vec::new()
                });
        let answers = DiskAnswers {
            findings: nothing_on_disk(&pending.checks),
            ..DiskAnswers::default()
        };
        let judged = self.engine.judge(pending, answers);
        self.take(judged.batch)
    }

    fn take(&mut self, batch: Batch) -> Result<(), Box<dyn Error>> {
        self.waiting.extend(batch.recorded);
        if self.waiting.len() >= COMMIT_EVENTS {
            self.commit()?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Box<dyn Error>> {
        let mut transaction = self.log.begin_batch()?;
        for recorded in self.waiting.drain(..) {
            transaction.record_all([recorded])?;
        }
        transaction.write_rows(&self.engine.take_rows())?;
        let head = transaction.commit()?;
        self.log.checkpoint(CheckpointMode::Passive)?;
        self.engine.rows_made_durable(head.seq);
        Ok(())
    }

    fn tick(&mut self) -> UnixMillis {
        self.clock += 1000;
        UnixMillis(1_700_000_000_000 + self.clock)
    }
}

/// No file is there yet, so nothing is STALE.
fn nothing_on_disk(checks: &[DiskCheck]) -> Vec<FileFinding> {
    let paths = checks.iter().map(|check| check.path.clone());
    paths.map(|path| (path, DiskFinding::Missing)).collect()
}

fn path(file: usize) -> String {
    format!("src/part{:02}/module_{file:03}.c", file % 10)
}

fn name(file: usize, at: usize) -> String {
    format!("handle_{file:03}_{at:03}")
}

/// One function; each version differs from every other.
fn function(file: usize, at: usize, version: usize) -> String {
    let name = name(file, at);
    format!(
        "int {name}(struct slot *slot, size_t length)\n{{\n    size_t left = length;\n    if (slot == NULL || length > \
         {version}u)\n        return -1;\n    while (left-- > 0) {{\n        slot->value += (int)left ^ 0x{at:04x};\n    \
         }}\n    return slot->value;\n}}\n"
    )
}

fn prose(dice: &mut Dice, bytes: usize) -> String {
    const WORDS: [&str; 16] = [
        "buffer", "before", "caller", "is", "read", "more", "than", "the", "return", "early",
        "empty", "slot", "keep", "error", "short", "and",
    ];
    let mut text = String::with_capacity(bytes + 8);
    while text.len() < bytes {
        text.push_str(WORDS[dice.below(WORDS.len())]);
        text.push(' ');
    }
    text
}

/// Numbers that look like chance and never change.
struct Dice(u64);

impl Dice {
    fn of(seed: usize) -> Self {
        let mut dice =
            Self(0x9e37_79b9_7f4a_7c15 ^ (seed as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9));
        for _ in 0..4 {
            dice.below(2);
        }
        dice
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }
}
