//! The driver: chooses what happens next, lets it happen, and checks what must hold after it.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;

use serde_json::Value;
use tslp_core::event::ReplyOutcome;
use tslp_core::gate::Profile;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq};
use tslp_core::path::RelPath;
use tslp_core::policy::{AuditChoice, HistoryChoice, Placement, Policy};
use tslp_io::engine_thread::{Course, Wake};
use tslp_io::ledger::writer::{Commit, Step};
use tslp_io::ledger::{DataFiles, LedgerReader, ReaderFactory};
use tslp_io::main_loop::Turn;
use tslp_projections::TABLES;
use tslp_projections::table::TableDigest;
use tslp_replay::state::State;

use super::chance::Chance;
use super::client::{Done, Finished, Request, Window};
use super::clock::SimClock;
use super::http::{self, Framing};
use super::process::{Process, Surroundings};
use super::speech::{self, Speech};
use super::upstream::{CALL_FIELD, Call, Trouble, Upstream};
use super::witness::Witness;
use super::workspace::{ROOT, Workspace, Writing};
use crate::disk::Disk;
use crate::random::code::{FILES, Function};
use crate::storage::{DATA_DIR, Effect, Fault, Operation, PowerLoss, SimDisk};

/// Steps between two turns of the loop at the most, so that no queue to it ever fills.
const STEPS_WITHOUT_TURN_MAX: u32 = 200;

/// Rounds in which everything must come to rest once nothing goes wrong any more.
const QUIET_ROUNDS_MAX: u32 = 3000;

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Its seed.
    pub seed: u64,
    /// Steps that were taken.
    pub steps: u64,
    /// A hash over everything that happened.
    pub trace: String,
    /// How often what happened.
    pub counters: BTreeMap<&'static str, u64>,
    /// What is wrong, if anything is.
    pub failure: Option<Failure>,
}

impl Report {
    /// Takes another run's numbers in; the trace is a hash of all of them.
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
    /// After which step.
    pub step: u64,
    /// What the check, or the panic, says.
    pub what: String,
}

/// Runs a seed; `tell` hears what happens, line by line.
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
        world.start(true);
        while taken < steps {
            taken += 1;
            world.step();
        }
        world.come_to_rest();
        world.end();
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
    chance: Chance,
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
    /// Decided, and not with the writer.
    undecided_commits: Vec<Commit>,
    /// What went to the model, by episode, with what was true of each file's symbols then.
    forwarded: BTreeMap<EpisodeId, Forwarded>,
    /// Tickets of which a client has seen an answer.
    acknowledged: BTreeSet<String>,
    ticket: u64,
    /// How many processes there were.
    lives: u64,
    since_turn: u32,
    is_calm: bool,
    /// How often in a thousand steps something bad befalls the disk or the process.
    hazard: usize,
    growth: Growth,
    tell: &'t mut dyn FnMut(&str),
    counters: &'t mut BTreeMap<&'static str, u64>,
}

struct Forwarded {
    body: Vec<u8>,
    since: TruthTimes,
}

/// When each symbol of each file became what it is.
type TruthTimes = BTreeMap<(&'static str, &'static str), Option<Seq>>;

/// The ledger grows with what is new, not with what is repeated.
#[derive(Default)]
struct Growth {
    stored_bytes: u64,
    new_bytes: u64,
    occasions: u64,
}

impl<'t> World<'t> {
    fn new(
        seed: u64,
        tell: &'t mut dyn FnMut(&str),
        counters: &'t mut BTreeMap<&'static str, u64>,
    ) -> Self {
        let mut chance = Chance::new(seed);
        let clock = SimClock::new();
        let workspace = Workspace::new(clock.clone(), chance.pick(&[1, 10, 1000, 2000]));
        let windows = (0..chance.between(1, 4))
            .map(|name| Window::new(name, &mut chance))
            .collect();
        let policy = Policy {
            workspace_root: ROOT.into(),
            profile: chance.pick(&[Profile::Standard, Profile::Standard, Profile::Strict]),
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
            disk: SimDisk::new(chance.seed()),
            files: workspace.snapshot(),
            clock,
            workspace,
            policy,
            process: None,
            upstream: Upstream::default(),
            windows,
            witness: Witness::default(),
            undecided_commits: Vec::new(),
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

    fn count(&mut self, what: &'static str) {
        *self.counters.entry(what).or_default() += 1;
    }

    fn say(&mut self, line: &str) {
        (self.tell)(line);
    }

    /// One thing happens.
    fn step(&mut self) {
        if self.process.as_ref().is_some_and(Process::has_failed) && self.chance.percent(4) {
            return self.crash_somehow();
        }
        self.since_turn += 1;
        if self.since_turn > STEPS_WITHOUT_TURN_MAX {
            return self.turn();
        }
        if self.chance.below(1000) < self.hazard {
            return match self.chance.below(10) {
                0..=4 => self.trouble_for_the_disk(),
                5..=8 => self.crash_somehow(),
                _ => self.graceful_restart(),
            };
        }
        match self.chance.below(1000) {
            0..=299 => self.client(),
            300..=499 => self.model_server(),
            500..=699 => self.turn(),
            700..=849 => self.engine(),
            850..=919 => self.writer(),
            920..=939 => self.auditor(),
            940..=959 => self.editor(),
            960..=985 => self.time(),
            986..=990 => self.watch(),
            _ => self.check_tables(),
        }
    }

    fn process(&mut self) -> &mut Process {
        self.process
            .as_mut()
            .expect("a process runs between any two steps")
    }

    // Clients.

    fn client(&mut self) {
        let at = self.chance.below(self.windows.len());
        self.client_at(at);
    }

    fn client_at(&mut self, at: usize) {
        let Some(process) = &self.process else { return };
        let network = process.network.clone();
        let window = &mut self.windows[at];
        let done = window.step(&network, &mut self.chance, &mut self.ticket, self.is_calm);
        match done {
            Done::Idle | Done::Busy => {}
            Done::Asked(kind) => {
                self.growth.occasions += 1;
                self.growth.new_bytes += 700;
                self.count(kind);
                self.say(&format!("client {at} {kind}"));
            }
            Done::Finished(finished) => self.finished(*finished),
        }
    }

    fn finished(&mut self, finished: Finished) {
        let status = finished.response.as_ref().map_or(0, http::Message::status);
        let bytes = finished
            .response
            .as_ref()
            .map_or(0, |response| response.body.len());
        self.say(&format!(
            "client {} got {status} {bytes} left {}",
            finished.window, finished.has_left
        ));
        let number = finished
            .response
            .as_ref()
            .and_then(|response| response.field(CALL_FIELD))
            .and_then(|number| number.parse::<usize>().ok());
        match number {
            Some(number) => self.relayed(&finished, number),
            None => self.refused(&finished, status),
        }
    }

    /// A response that came from the model server.
    fn relayed(&mut self, finished: &Finished, number: usize) {
        let Some(response) = &finished.response else {
            return;
        };
        let call = self.upstream.calls[number].clone();
        assert_eq!(
            response.status(),
            call.status,
            "another status than the model server's"
        );
        check_body(response, &call, finished.has_left);
        let window = &mut self.windows[finished.window];
        let Request::Chat { ticket } = &finished.request else {
            self.counters
                .entry("relayed")
                .and_modify(|count| *count += 1)
                .or_insert(1);
            return;
        };
        let asked = String::from_utf8_lossy(&call.asked);
        assert!(
            asked.contains(ticket.as_str()),
            "the answer to another prompt than {ticket}"
        );
        let is_proper = response.complete.is_some() && call.trouble == Trouble::None;
        match &call.speech {
            Some(speech) if is_proper => window.keep(&speech.text, speech.call.as_ref()),
            Some(speech) => {
                let end = speech.text.len().min(40);
                let end = (0..=end).rev().find(|at| speech.text.is_char_boundary(*at));
                window.make_do(&mut self.chance, &speech.text[..end.unwrap_or(0)]);
            }
            None => window.make_do(&mut self.chance, ""),
        }
        self.acknowledged.insert(ticket.clone());
        self.count(match (is_proper, finished.has_left) {
            (true, _) => "answers",
            (false, true) => "answers left by the client",
            (false, false) => "answers broken off",
        });
    }

    /// A response of the proxy's own, or none.
    fn refused(&mut self, finished: &Finished, status: u16) {
        if let Some(response) = &finished.response
            && response.complete.is_some()
        {
            match &finished.request {
                _ if status == 408 => {}
                Request::Health => assert_eq!(status, 200, "/health"),
                Request::Nonsense => assert!(
                    (400..500).contains(&status) || status == 503,
                    "{status} for nonsense"
                ),
                Request::Chat { .. } | Request::Relay => assert!(
                    status >= 500,
                    "{status} that no model server gave: {}",
                    String::from_utf8_lossy(&response.body)
                ),
            }
            self.count(match status {
                200 => "healthy",
                408 => "too slow",
                400..=499 => "refused as bad",
                503 => "refused for the ledger",
                _ => "refused for the model server",
            });
        } else {
            self.count("answers that never came");
        }
        if let Request::Chat { .. } = finished.request {
            self.windows[finished.window].make_do(&mut self.chance, "");
        }
    }

    // The proxy.

    fn turn(&mut self) {
        self.since_turn = 0;
        let turn = self.process().turn();
        assert_eq!(turn, Turn::Again, "the network loop has ended");
        self.check_gate();
        self.say("turn");
    }

    /// No byte of a reply is out before its prompt is durable.
    fn check_gate(&self) {
        for window in &self.windows {
            let Some(response) = http::read(window.received(), Framing::Response, false) else {
                continue;
            };
            let Some(episode) = response.field("x-tslp-episode") else {
                continue;
            };
            let episode = episode.trim_start_matches('e').parse().map(EpisodeId);
            let Ok(episode) = episode else {
                panic!("an episode called {episode:?}");
            };
            let Some(prompt) = self.witness.prompt_of(episode) else {
                panic!("a reply of {episode}, which the ledger doesn't know");
            };
            assert!(
                prompt <= self.witness.promised(),
                "a byte of {episode}'s reply is out, but its prompt at {prompt} is not durable"
            );
        }
    }

    fn engine(&mut self) {
        let process = self.process();
        if !process.engine_may_go_on() {
            self.count("waits for a transition");
            return self.writer();
        }
        let stepped = process.engine_step();
        if let Some(course) = stepped {
            assert_eq!(course, Course::On, "the engine was told to stop");
            self.decided("engine");
        }
    }

    /// Takes note of what the engine decided, and checks it.
    fn decided(&mut self, who: &'static str) {
        let Some(process) = &self.process else { return };
        let commits = process.take_decided();
        let prompt = process.take_last_prompt();
        let announced = process.announced();
        let before: BTreeMap<&'static str, Vec<Function>> = FILES
            .iter()
            .map(|path| (*path, self.witness.tracked(path)))
            .collect();
        let mut line = who.to_owned();
        for commit in commits {
            let since = self.truth_times();
            self.take(&commit, &mut line);
            self.undecided_commits.push(commit);
            self.check_reply(&before, &since);
        }
        if let Some(process) = &self.process {
            self.witness.compare(process.state());
            if let Some(prompt) = prompt {
                let text = texts_of(&prompt.body);
                self.witness
                    .check_prompt(process.state(), prompt.episode, &text, announced);
                let since = self.truth_times();
                let body = prompt.body;
                self.forwarded
                    .insert(prompt.episode, Forwarded { body, since });
            }
        }
        self.check_growth();
        self.say(&line);
    }

    fn take(&mut self, commit: &Commit, line: &mut String) {
        for recorded in &commit.recorded {
            let encoded = tslp_migrations::encode(&recorded.event)
                .unwrap_or_else(|error| panic!("{}: {error}", recorded.seq));
            self.growth.stored_bytes += encoded.payload.len() as u64;
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
        self.witness.take(commit.recorded.clone(), &self.files);
    }

    fn truth_times(&self) -> TruthTimes {
        let mut times = BTreeMap::new();
        for path in FILES {
            for function in self.witness.tracked(path) {
                let since = self.witness.true_since(&function.entity(path));
                times.insert((path, function.name), since);
            }
        }
        times
    }

    /// A reply that has just ended is what the model server said, and came to what its label allows.
    fn check_reply(&mut self, before: &BTreeMap<&'static str, Vec<Function>>, since: &TruthTimes) {
        let Some((ended, text)) = self.witness.reply_ended() else {
            return;
        };
        if ended.outcome == ReplyOutcome::Interrupted {
            return;
        }
        let (episode, outcome) = (ended.episode, ended.outcome);
        let Some(forwarded) = self.forwarded.get(&episode) else {
            panic!("{episode} ends, which never went to the model");
        };
        let said = self.upstream.calls.iter().rev().find(|call| {
            call.asked == forwarded.body
                && call
                    .speech
                    .as_ref()
                    .is_some_and(|speech| speech.text == text)
        });
        let Some(call) = said else {
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
                    Trouble::None | Trouble::BreaksOff | Trouble::Silent
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
        let must = self.policy.profile == Profile::Standard
            && speech.is_faithful(tracked)
            && speech.base == *tracked
            && shown_then.is_some()
            && since.get(&key) == Some(&shown_then)
            && self.workspace.is_missing(&path);
        let kind = self.witness.check_verdict(&speech, tracked, must);
        self.count(kind);
        if must {
            self.count("replies that had to become true");
        }
    }

    fn writer(&mut self) {
        let most = self.chance.between(1, 4);
        let Some(process) = self.process.as_mut() else {
            return;
        };
        for commit in self
            .undecided_commits
            .drain(..most.min(self.undecided_commits.len()))
        {
            process.queue(commit);
        }
        let Some(stepped) = process.writer_step() else {
            self.undecided_commits.clear();
            return;
        };
        match stepped {
            Ok(Step::Committed(seq)) => {
                self.witness.promise(seq);
                self.count("commits");
                self.say(&format!("writer {seq}"));
            }
            Ok(Step::Idle) => {}
            Err(failure) => {
                self.count("failed commits");
                self.say(&format!("writer failed: {failure}"));
                if self.disk.is_off() {
                    self.count("power losses in a commit");
                    self.disk.reboot();
                    self.restart("the power went in a commit");
                }
            }
        }
    }

    fn auditor(&mut self) {
        let Some(process) = self.process.as_mut() else {
            return;
        };
        if let Some(kind) = process.audit_step(&mut self.chance) {
            self.growth.occasions += 1;
            self.count(kind);
            self.say(kind);
        }
    }

    /// File events make the engine look between prompts.
    fn watch(&mut self) {
        let paths = FILES
            .iter()
            .map(|path| RelPath::from_normalised(path))
            .collect();
        self.growth.occasions += 1;
        self.process().wake_engine(Wake::Changed(paths));
        self.decided("watch");
        self.count("looks between prompts");
    }

    // The world around it.

    fn model_server(&mut self) {
        let Some(process) = &self.process else { return };
        let network = process.network.clone();
        let witness = &self.witness;
        let mut new_bytes = 0;
        let mut make = |chance: &mut Chance| made(chance, witness, &mut new_bytes);
        self.upstream
            .step(&network, &mut self.chance, self.is_calm, &mut make);
        self.growth.new_bytes += new_bytes;
        self.say("model server");
    }

    fn editor(&mut self) {
        let path = RelPath::from_normalised(self.chance.pick(&FILES));
        let tracked = self.witness.tracked(path.as_str());
        let what = match self.chance.below(12) {
            0..=2 => {
                self.workspace.delete(&path);
                "deletes"
            }
            3 => {
                self.workspace.lock(&path);
                "locks"
            }
            4 => {
                let reads = self.chance.pick(&[1, 3, 4, 9]) as u32;
                self.workspace.wobble(&path, reads);
                "wobbles"
            }
            _ => {
                let text = speech::file_text(&mut self.chance, &tracked);
                let writings = [Writing::InPlace, Writing::Renamed, Writing::Backdated];
                let writing = self.chance.pick(&writings);
                self.growth.new_bytes += text.len() as u64;
                self.workspace.write(&path, &text, writing);
                "writes"
            }
        };
        self.files = self.workspace.snapshot();
        self.count("edits of the workspace");
        self.say(&format!("editor {what} {path}"));
    }

    fn time(&mut self) {
        const HOUR: i64 = 3_600_000;
        match self.chance.below(10) {
            0 => {
                let hours = self.chance.between(1, 40_000) as i64;
                let millis = self.chance.below(3_600_000) as i64;
                let sign = if self.chance.percent(50) { 1 } else { -1 };
                self.clock.jump(sign * (hours * HOUR + millis));
                self.count("clock jumps");
            }
            1 => self
                .clock
                .pass(self.chance.pick(&[5_000, 80_000, 700_000]) as u64),
            _ => self.clock.pass(self.chance.between(1, 400) as u64),
        }
        self.say("time");
    }

    fn trouble_for_the_disk(&mut self) {
        let nth = self.chance.between(1, 12) as u64;
        let fault = match self.chance.below(9) {
            8 => Fault::nth(nth, Operation::Sync, Effect::Forgotten),
            0 => Fault::nth(nth, Operation::Write, Effect::Error),
            1 => Fault::nth(nth, Operation::Sync, Effect::Error),
            2 => Fault::nth(nth, Operation::Write, Effect::Short),
            3 => Fault::nth(nth, Operation::Change, Effect::Full),
            4 => Fault::nth(nth, Operation::Sync, Effect::Error).of(".anchor"),
            _ => {
                let loss = self.some_loss();
                Fault::nth(nth, Operation::Change, Effect::PowerLoss(loss))
            }
        };
        self.say(&format!("disk {fault:?}"));
        self.disk.fail(fault);
        self.count("disk faults");
    }

    fn some_loss(&mut self) -> PowerLoss {
        let seed = self.chance.seed();
        match self.chance.below(4) {
            0 => PowerLoss::Synced,
            1 => PowerLoss::prefix(seed),
            _ => PowerLoss::scattered(seed),
        }
    }

    // Ends and beginnings.

    fn crash_somehow(&mut self) {
        if self.chance.percent(50) {
            self.count("kills");
            self.disk.power_loss(PowerLoss::All);
        } else {
            self.count("power losses");
            let loss = self.some_loss();
            self.disk.power_loss(loss);
        }
        self.restart("crash");
    }

    /// The old process is gone with everything in it; a new one starts.
    fn restart(&mut self, why: &str) {
        self.process = None;
        self.undecided_commits.clear();
        self.upstream.forget_lines();
        for window in &mut self.windows {
            window.lose_line();
        }
        self.say(why);
        if self.chance.percent(15) {
            self.fail_to_start();
        }
        self.disk.heal();
        self.start(false);
    }

    /// A start on a disk that fails changes nothing for the next one.
    fn fail_to_start(&mut self) {
        let nth = self.chance.between(1, 20) as u64;
        let operations = [Operation::Change, Operation::Read, Operation::Open];
        let effect = match self.chance.below(3) {
            0 => Effect::PowerLoss(self.some_loss()),
            _ => Effect::Error,
        };
        let fault = Fault::nth(nth, self.chance.pick(&operations), effect);
        self.disk.fail(fault);
        let around = Surroundings {
            disk: &self.disk,
            workspace: &self.workspace,
            clock: &self.clock,
            policy: &self.policy,
        };
        let started = Process::start(&around, &mut self.chance);
        let failed = match started {
            Ok(_) => None,
            Err(error) => {
                let struck = self.disk.struck();
                assert!(!struck.is_empty(), "no start on a healthy disk: {error}");
                Some(error.to_string())
            }
        };
        match failed {
            Some(_) => self.count("failed starts"),
            None => self.count("starts that were cut short"),
        }
        if self.disk.is_off() {
            self.disk.reboot();
        } else {
            self.disk.power_loss(PowerLoss::All);
        }
    }

    fn start(&mut self, is_first: bool) {
        if !is_first {
            self.check_tables_of_the_dead();
        }
        let around = Surroundings {
            disk: &self.disk,
            workspace: &self.workspace,
            clock: &self.clock,
            policy: &self.policy,
        };
        let (process, started) = Process::start(&around, &mut self.chance)
            .unwrap_or_else(|error| panic!("the proxy doesn't start: {error}"));
        let lost = self.witness.restart(&started);
        if lost > 0 {
            self.count("restarts that lost what nobody was promised");
        }
        let open = self.witness.open();
        self.lives += 1;
        self.process = Some(process);
        self.decided("begin");
        self.witness.check_begun();
        for _ in 0..open {
            self.count("interrupted replies");
        }
        self.count("starts");
    }

    fn graceful_restart(&mut self) {
        let life = self.lives;
        self.process().shut_down();
        let mut turn = Turn::Again;
        let mut course = Course::On;
        for _ in 0..QUIET_ROUNDS_MAX {
            if turn == Turn::Again {
                turn = self.process().turn();
                self.check_gate();
            }
            for at in 0..self.windows.len() {
                if self.windows[at].is_waiting() {
                    self.client_at(at);
                }
            }
            self.model_server();
            let process = self.process();
            if process.engine_may_go_on()
                && let Some(stepped) = process.engine_step()
            {
                course = stepped;
                self.decided("engine");
            }
            self.writer();
            if self.lives != life {
                return;
            }
            if self.process().has_failed() {
                return self.crash_somehow();
            }
            self.clock.pass(100);
            if (turn, course) == (Turn::Over, Course::Over) && self.undecided_commits.is_empty() {
                return self.gracefully_ended();
            }
        }
        panic!("the proxy doesn't end: its loop says {turn:?}, its engine {course:?}");
    }

    fn gracefully_ended(&mut self) {
        let head = self.witness.head();
        assert_eq!(
            self.witness.promised(),
            head,
            "a graceful end leaves something unwritten"
        );
        self.count("graceful ends");
        self.restart("graceful end");
    }

    /// Nothing goes wrong any more: everybody gets an answer.
    fn come_to_rest(&mut self) {
        self.disk.heal();
        self.disk.limit_bytes(None);
        self.is_calm = true;
        if self.process().has_failed() {
            self.crash_somehow();
        }
        self.process().network.be_prompt();
        for _ in 0..QUIET_ROUNDS_MAX {
            if !self.windows.iter().any(Window::is_waiting) && self.undecided_commits.is_empty() {
                self.say("rest");
                return;
            }
            self.round();
        }
        panic!("somebody waits for an answer that never comes");
    }

    fn round(&mut self) {
        for at in 0..self.windows.len() {
            self.client_at(at);
        }
        if let Some(process) = &self.process {
            let network = process.network.clone();
            let witness = &self.witness;
            let mut new_bytes = 0;
            let mut make = |chance: &mut Chance| made(chance, witness, &mut new_bytes);
            self.upstream
                .step_all(&network, &mut self.chance, &mut make);
            self.growth.new_bytes += new_bytes;
        }
        self.turn();
        self.engine();
        self.writer();
        self.auditor();
        self.clock.pass(20);
    }

    /// The last word: the ledger is opened once more and holds everything.
    fn end(&mut self) {
        self.check_tables();
        self.crash_somehow();
        let missing: Vec<&String> = self
            .acknowledged
            .iter()
            .filter(|ticket| !self.is_recorded(ticket))
            .collect();
        assert!(
            missing.is_empty(),
            "answered, and not in the ledger: {missing:?}"
        );
        self.say("end");
    }

    fn is_recorded(&self, ticket: &str) -> bool {
        self.witness.holds(ticket)
    }

    // Tables.

    /// The tables in the store are what the live state says, when nothing waits.
    fn check_tables(&mut self) {
        let Some(process) = &self.process else { return };
        let is_settled = self.undecided_commits.is_empty()
            && self.witness.promised() == self.witness.head()
            && !process.has_failed();
        if !is_settled {
            return;
        }
        if let Some(reader) = self.reader() {
            check_tables(&reader, process.state());
            self.count("comparisons of the tables");
        }
    }

    /// Whatever the crash left: a state that some commit made, with tables to match.
    fn check_tables_of_the_dead(&mut self) {
        let Some(reader) = self.reader() else { return };
        let Ok(head) = reader.head() else { return };
        let folded = self.witness.folded(head.seq);
        check_tables(&reader, &folded);
        self.count("comparisons of the tables");
    }

    fn reader(&self) -> Option<LedgerReader> {
        let files = DataFiles::of(Path::new(DATA_DIR));
        ReaderFactory::new(&files, &self.disk.open_options())
            .open()
            .ok()
    }

    fn check_growth(&self) {
        let Growth {
            stored_bytes,
            new_bytes,
            occasions,
        } = self.growth;
        let bound = 10_000 + 2 * new_bytes + 1000 * occasions;
        assert!(
            stored_bytes <= bound,
            "the ledger has grown by {stored_bytes} bytes, for {new_bytes} new ones on {occasions} occasions"
        );
    }
}

fn made(chance: &mut Chance, witness: &Witness, new_bytes: &mut u64) -> Speech {
    let speech = speech::speak(chance, |path| witness.tracked(path));
    *new_bytes += speech.text.len() as u64;
    *new_bytes += speech
        .call
        .as_ref()
        .map_or(0, |(_, arguments)| arguments.len() as u64);
    speech
}

fn check_tables(reader: &LedgerReader, state: &State) {
    for (index, table) in TABLES.iter().enumerate() {
        let mut digest = TableDigest::new();
        let read = reader.read_table(index, &mut |row| {
            digest.add(&row);
            std::ops::ControlFlow::Continue(())
        });
        read.unwrap_or_else(|error| panic!("{}: {error}", table.name));
        assert_eq!(
            digest.finish(),
            state.digest(index),
            "the table {} isn't what its events say at {}",
            table.name,
            state.head()
        );
    }
}

/// What came is what the model server sent, byte for byte; whole only if that was whole.
fn check_body(response: &http::Message, call: &Call, has_left: bool) {
    let body = &response.body;
    if response.complete.is_some() && !has_left {
        assert!(
            call.is_over,
            "an answer passes for whole that the model server broke off"
        );
        assert_eq!(*body, call.body, "not what the model server sent");
        return;
    }
    let common = body
        .iter()
        .zip(&call.body)
        .take_while(|(got, sent)| got == sent)
        .count();
    // A response that broke off ends with an error event, which may be cut, too.
    let told = b"\n\ndata: {\"error\"";
    let is_told = (0..=common).any(|from| {
        let end = &body[from..];
        end.starts_with(told) || told.starts_with(end)
    });
    assert!(
        common == body.len() || is_told,
        "something else than what the model server sent: {:?} after {common} bytes",
        String::from_utf8_lossy(&body[common..])
    );
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
