//! The driver: chooses each step, takes it, and checks what must hold after it.

mod around;
mod clients;
mod lives;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use serde_json::Value;
use tslp_core::event::{Event, ReplyOutcome};
use tslp_core::gate::GateProfile;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq};
use tslp_core::path::RelPath;
use tslp_core::policy::{AuditChoice, HistoryChoice, Placement, Policy};
use tslp_store::ledger::writer::{Commit, WriterStep};

use super::client::Window;
use super::clock::SimClock;
use super::process::Process;
use super::speech::ModelReply;
use super::upstream::{ResponseTrouble, Upstream, UpstreamCall};
use super::witness::Witness;
use super::workspace::Workspace;
use crate::dice::Dice;
use crate::disk::Disk;
use crate::random::code::{FILES, Function};
use crate::stage::ROOT;
use crate::storage::SimDisk;

/// Most steps between two turns of the network loop, so that no queue to it ever fills.
const STEPS_WITHOUT_TURN_MAX: u32 = 200;

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Its seed.
    pub seed: u64,
    /// Steps that were taken.
    pub steps: u64,
    /// A hash over all lines of the run.
    pub trace: String,
    /// The number of occurrences of each kind of event and outcome.
    pub counters: BTreeMap<&'static str, u64>,
    /// The invariant that doesn't hold, if one doesn't.
    pub failure: Option<Failure>,
}

impl Report {
    /// Adds another run's numbers; the trace becomes a hash of both.
    pub fn add(&mut self, other: &Self) {
        self.seed = other.seed;
        self.steps += other.steps;
        self.trace =
            ArtifactHash::of([&*self.trace, &*other.trace].concat().as_bytes()).to_string();
        for (what, count) in &other.counters {
            *self.counters.entry(what).or_default() += count;
        }
    }
}

/// An invariant that doesn't hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The number of steps before it.
    pub step: u64,
    /// The message of the check or the panic.
    pub what: String,
}

/// Runs a seed; `tell` gets a line for each step.
pub fn run(seed: u64, steps: u64, tell: &mut dyn FnMut(&str)) -> Report {
    let mut taken = 0;
    let mut counters = BTreeMap::new();
    let mut trace = ArtifactHash::of(b"");
    let mut tell = |line: &str| {
        trace = ArtifactHash::of(&[&trace.0[..], line.as_bytes()].concat());
        tell(line);
    };
    let work = || {
        let mut world = World::new(seed, &mut tell, &mut counters);
        world.start_process(true);
        while taken < steps {
            taken += 1;
            world.step();
        }
        world.come_to_rest();
        world.check_end();
    };
    let failure = catch_unwind(AssertUnwindSafe(work)).err().map(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Failure {
            step: taken,
            what: text.unwrap_or("a panic without words").to_owned(),
        }
    });
    Report {
        seed,
        steps: taken,
        trace: trace.to_string(),
        counters,
        failure,
    }
}

struct World<'t> {
    chance: Dice,
    clock: SimClock,
    disk: SimDisk,
    workspace: Workspace,
    /// The workspace as it is, for the witness.
    files: Rc<Disk>,
    policy: Policy,
    process: Option<Process>,
    upstream: Upstream,
    windows: Vec<Window>,
    witness: Witness,
    /// Commits that the writer hasn't got.
    unqueued: Vec<Commit>,
    /// The requests that went to the model, by episode.
    forwarded: BTreeMap<EpisodeId, Vec<Forwarded>>,
    /// Tickets of prompts whose answer a client has seen.
    acknowledged: BTreeSet<String>,
    ticket: u64,
    /// The number of processes so far.
    lives: u64,
    since_turn: u32,
    is_calm: bool,
    /// Faults of the disk, crashes and restarts, per thousand steps.
    hazard: usize,
    growth: Growth,
    tell: &'t mut dyn FnMut(&str),
    counters: &'t mut BTreeMap<&'static str, u64>,
}

/// A request that went to the model.
struct Forwarded {
    body: Vec<u8>,
    /// What was true then.
    since: TruthTimes,
}

impl Forwarded {
    /// Whether the prompt shows what the reply replaces as it was when the reply was made, and names its file.
    fn shows_base(&self, speech: &ModelReply) -> bool {
        let mut base = speech.base.iter();
        let Some(replaced) = base.find(|known| known.name == speech.function.name) else {
            return true;
        };
        let text = Value::from(replaced.text().trim_end()).to_string();
        let body = String::from_utf8_lossy(&self.body);
        let has = |text: &str| body.contains(text);
        has(text.trim_matches('"')) && has(speech.path)
    }

    /// Whether the user's last words have a name.
    fn is_asked_about(&self, name: &str) -> bool {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let messages = body.get("messages").or(body.get("input"));
        let mut messages = messages.and_then(Value::as_array).into_iter().flatten();
        let last = messages.rfind(|it| it["role"] == "user");
        let last = last.map_or_else(String::new, Value::to_string);
        // What is in front of them is the proxy's.
        let own = last.rsplit("[END ").next();
        own.is_some_and(|own| own.contains(name))
    }
}

/// The position at which each function's true version was promoted, by file and name.
type TruthTimes = BTreeMap<(&'static str, &'static str), Option<Seq>>;

/// Bytes stored and bytes that were new: the ledger must not grow with repetitions.
#[derive(Default)]
struct Growth {
    stored_bytes: BTreeMap<Seq, u64>,
    /// The position of each content.
    contents: BTreeMap<ArtifactHash, Seq>,
    new_bytes: u64,
    occasions: u64,
}

impl<'t> World<'t> {
    fn new(
        seed: u64,
        tell: &'t mut dyn FnMut(&str),
        counters: &'t mut BTreeMap<&'static str, u64>,
    ) -> Self {
        let mut chance = Dice::new(seed);
        let clock = SimClock::new();
        let workspace = Workspace::new(clock.clone(), chance.pick(&[1, 10, 1000, 2000]));
        let windows = (0..chance.between(1, 4))
            .map(|name| Window::new(name, &mut chance))
            .collect();
        let policy = Policy {
            workspace_root: ROOT.into(),
            profile: chance.pick(&[
                GateProfile::Standard,
                GateProfile::Standard,
                GateProfile::Strict,
            ]),
            audit: chance.pick(&[AuditChoice::Auto, AuditChoice::On, AuditChoice::Off]),
            history: chance.pick(&[
                HistoryChoice::Auto,
                HistoryChoice::Auto,
                HistoryChoice::Client,
            ]),
            placement: chance.pick(&[Placement::System, Placement::System, Placement::User]),
            budget_tokens: chance.pick(&[8192, 8192, 300]) as u32,
            ..Policy::default()
        };
        Self {
            disk: SimDisk::new(chance.roll()),
            files: workspace.snapshot(),
            clock,
            workspace,
            policy,
            process: None,
            upstream: Upstream::default(),
            windows,
            witness: Witness::default(),
            unqueued: Vec::new(),
            forwarded: BTreeMap::new(),
            acknowledged: BTreeSet::new(),
            ticket: 0,
            lives: 0,
            since_turn: 0,
            is_calm: false,
            hazard: chance.pick(&[0, 2, 5, 12]),
            growth: Growth::default(),
            chance,
            tell,
            counters,
        }
    }

    fn count_one(&mut self, what: &'static str) {
        *self.counters.entry(what).or_default() += 1;
    }

    fn trace(&mut self, line: &str) {
        (self.tell)(line);
    }

    /// Takes one step.
    fn step(&mut self) {
        if self.process.as_ref().is_some_and(Process::has_failed) && self.chance.percent(4) {
            return self.crash_somehow();
        }
        self.since_turn += 1;
        if self.since_turn > STEPS_WITHOUT_TURN_MAX {
            return self.step_loop();
        }
        if self.chance.below(1000) < self.hazard {
            return match self.chance.below(10) {
                0..=4 => self.inject_disk_fault(),
                5..=8 => self.crash_somehow(),
                _ => self.graceful_restart(),
            };
        }
        match self.chance.below(1000) {
            0..=299 => self.step_client(),
            300..=499 => self.step_model_server(),
            500..=699 => self.step_loop(),
            700..=849 => self.step_engine(),
            850..=919 => self.step_writer(),
            920..=939 => self.step_auditor(),
            940..=959 => self.step_editor(),
            960..=990 => self.pass_time(),
            _ => self.check_tables(),
        }
    }

    fn process(&mut self) -> &mut Process {
        self.process
            .as_mut()
            .expect("a process runs between any two steps")
    }

    // The proxy.

    fn step_loop(&mut self) {
        self.since_turn = 0;
        let turn = self.process().run_loop_once();
        assert_eq!(
            turn,
            ControlFlow::Continue(()),
            "the network loop has ended"
        );
        self.check_durable_before_reply();
        self.trace("turn");
    }

    fn step_engine(&mut self) {
        let process = self.process();
        if !process.engine_may_go_on() {
            self.count_one("waits for a transition");
            return self.step_writer();
        }
        let stepped = process.engine_step();
        if process.state().head().0.is_multiple_of(4) {
            process.write_rows();
        }
        if let Some(engine_course) = stepped {
            assert_eq!(
                engine_course,
                ControlFlow::Continue(()),
                "the engine was told to stop"
            );
            self.check_decisions("engine");
        }
    }

    /// Records what the engine decided, and checks it.
    fn check_decisions(&mut self, who: &'static str) {
        let Some(process) = &self.process else { return };
        let commits = process.take_decided();
        let announced = process.durable_position();
        let before: BTreeMap<&'static str, Vec<Function>> = FILES
            .iter()
            .map(|path| (*path, self.witness.functions_in(path)))
            .collect();
        let mut line = who.to_owned();
        let mut sent = None;
        for commit in commits {
            let since = self.truth_times();
            self.record_commit(&commit, &mut line);
            sent = sent.or_else(|| prompt_sent(&commit));
            self.unqueued.push(commit);
            self.check_reply(&before, &since);
        }
        if let Some(process) = &self.process {
            self.witness.compare_state(process.state());
            if let Some(episode) = sent {
                // The request as the ledger has it; what the model server got is compared with it later.
                let body = self.witness.request_sent(episode);
                let text = texts_of(&body);
                self.witness
                    .check_prompt(process.state(), episode, &text, announced);
                let since = self.truth_times();
                let attempts = self.forwarded.entry(episode).or_default();
                attempts.push(Forwarded { body, since });
            }
        }
        self.check_growth();
        self.trace(&line);
    }

    fn record_commit(&mut self, commit: &Commit, line: &mut String) {
        for recorded in &commit.recorded {
            let encoded = tslp_migrations::encode(&recorded.event)
                .unwrap_or_else(|error| panic!("{}: {error}", recorded.seq));
            if let Event::Content(content) = &recorded.event {
                let known = self.growth.contents.insert(content.hash, recorded.seq);
                assert_eq!(known, None, "a content is stored twice");
            }
            let bytes = encoded.payload.len() as u64;
            self.growth.stored_bytes.insert(recorded.seq, bytes);
            let hash = ArtifactHash::of(&encoded.payload);
            line.push_str(&format!(
                " {}@{}:{}:{}",
                recorded.seq,
                recorded.at.0,
                recorded.event.name(),
                &hash.to_string()[..8]
            ));
            *self.counters.entry(recorded.event.name()).or_default() += 1;
        }
        self.witness.add_batch(commit.recorded.clone(), &self.files);
    }

    fn truth_times(&self) -> TruthTimes {
        let mut times = BTreeMap::new();
        for path in FILES {
            for function in self.witness.functions_in(path) {
                let since = self.witness.true_since(&function.entity_in(path));
                times.insert((path, function.name), since);
            }
        }
        times
    }

    /// A reply that has just ended is what the model server sent, and its verdict is one that its kind allows.
    fn check_reply(&mut self, before: &BTreeMap<&'static str, Vec<Function>>, since: &TruthTimes) {
        let Some((episode, ended, text)) = self.witness.reply_ended() else {
            return;
        };
        if ended.outcome == ReplyOutcome::Interrupted {
            return;
        }
        let outcome = ended.outcome;
        let Some(attempts) = self.forwarded.get(&episode) else {
            panic!("{episode} ends, which never went to the model");
        };
        // Several attempts may have sent the same text: one without trouble counts first.
        let mut calls: Vec<&UpstreamCall> = self.upstream.calls.iter().rev().collect();
        calls.sort_by_key(|call| call.trouble);
        let said = calls.into_iter().find_map(|call| {
            let speech = call.speech.as_ref()?;
            let attempt = attempts.iter().find(|attempt| attempt.body == call.asked)?;
            (speech.text == text).then_some((call, attempt))
        });
        let Some((call, forwarded)) = said else {
            assert_ne!(
                outcome,
                ReplyOutcome::Completed,
                "a reply that nobody gave was taken for whole: {text:?}"
            );
            return;
        };
        if outcome == ReplyOutcome::Completed {
            assert!(
                matches!(
                    call.trouble,
                    ResponseTrouble::None | ResponseTrouble::BreaksOff
                ),
                "a reply that never said that it is done was taken for whole: {:?}",
                call.trouble
            );
        }
        let Some(speech) = call.speech.clone() else {
            return;
        };
        let path = RelPath::from_normalised(speech.path);
        let key = (speech.path, speech.function.name);
        let shown_then = forwarded.since.get(&key).copied().flatten();
        let tracked = &before[speech.path];
        let must = self.policy.profile == GateProfile::Standard
            && speech.is_faithful(tracked)
            && speech.base == *tracked
            && shown_then.is_some()
            && since.get(&key) == Some(&shown_then)
            && forwarded.shows_base(&speech)
            && self.workspace.is_missing(&path)
            && !self.witness.saw_file(&path);
        let first = tracked.first();
        let is_asked = first.is_some_and(|first| forwarded.is_asked_about(first.name));
        let kind = self
            .witness
            .check_verdict(&speech, tracked, (must, is_asked));
        self.count_one(kind);
        if must {
            self.count_one("replies that had to become true");
        }
    }

    fn step_writer(&mut self) {
        let most = self.chance.between(1, 4);
        let Some(process) = self.process.as_mut() else {
            return;
        };
        for commit in self.unqueued.drain(..most.min(self.unqueued.len())) {
            process.queue_commit(commit);
        }
        let Some(stepped) = process.writer_step() else {
            self.unqueued.clear();
            return;
        };
        match stepped {
            Ok(WriterStep::Committed(seq)) => {
                self.witness.commit_announced(seq);
                self.count_one("commits");
                self.trace(&format!("writer {seq}"));
            }
            Ok(WriterStep::RowsWritten) => self.count_one("late rows"),
            Ok(WriterStep::Idle) => {}
            Err(failure) => {
                self.count_one("failed commits");
                self.trace(&format!("writer failed: {failure}"));
                if self.disk.is_off() {
                    self.count_one("power losses in a commit");
                    self.disk.reboot();
                    self.restart_process("the power went in a commit");
                }
            }
        }
    }

    fn step_auditor(&mut self) {
        let Some(process) = self.process.as_mut() else {
            return;
        };
        if let Some(kind) = process.audit_step(&mut self.chance) {
            self.growth.occasions += 1;
            self.count_one(kind);
            self.trace(kind);
        }
    }
}

/// The episode whose prompt went to the model.
fn prompt_sent(commit: &Commit) -> Option<EpisodeId> {
    let mut events = commit.recorded.iter();
    events.find_map(|recorded| match &recorded.event {
        Event::PromptSent(_) => Some(recorded.episode),
        _ => None,
    })
}

/// All texts of a request's messages, in order.
fn texts_of(body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_else(|error| panic!("{error}"));
    let mut texts = String::new();
    for message in body["messages"].as_array().map_or(&[][..], Vec::as_slice) {
        match &message["content"] {
            Value::String(text) => texts.push_str(text),
            Value::Array(parts) => {
                for part in parts {
                    texts.push_str(part["text"].as_str().unwrap_or_default());
                }
            }
            _ => {}
        }
        texts.push('\n');
    }
    texts
}
