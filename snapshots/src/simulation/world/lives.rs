//! Processes end, well or badly, and others begin; at last everything comes to rest.

use super::around::made;
use super::{Growth, World};
use crate::dice::Dice;
use crate::simulation::client::Window;
use crate::simulation::process::{Process, Surroundings};
use crate::storage::{Effect, Fault, Operation, PowerLoss};
use std::ops::ControlFlow;

/// Rounds in which everything must come to rest once nothing goes wrong any more.
const QUIET_ROUNDS_MAX: u32 = 3000;

impl World<'_> {
    pub(super) fn crash_somehow(&mut self) {
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
    pub(super) fn restart(&mut self, why: &str) {
        self.process = None;
        self.unqueued.clear();
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
    pub(super) fn fail_to_start(&mut self) {
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

    pub(super) fn start(&mut self, is_first: bool) {
        if !is_first {
            self.check_tables_of_the_dead();
        }
        let around = Surroundings {
            disk: &self.disk,
            workspace: &self.workspace,
            clock: &self.clock,
            policy: &self.policy,
        };
        let (mut process, started) = Process::start(&around, &mut self.chance)
            .unwrap_or_else(|error| panic!("the proxy doesn't start: {error}"));
        if started.from_tables {
            self.count("starts from the tables");
        }
        let lost = self.witness.restart(&started);
        let Growth {
            contents,
            stored_bytes,
            ..
        } = &mut self.growth;
        contents.retain(|_, seq| *seq <= started.head);
        stored_bytes.retain(|seq, _| *seq <= started.head);
        if lost > 0 {
            self.count("restarts that lost what nobody was promised");
        }
        let open = self.witness.open();
        self.lives += 1;
        if self.chance.percent(30) {
            let scrubbed = process.scrub();
            scrubbed.unwrap_or_else(|flaw| panic!("the scrub: {flaw}"));
            self.count("scrubs");
        }
        self.process = Some(process);
        self.check_decisions("begin");
        self.witness.check_begun();
        for _ in 0..open {
            self.count("interrupted replies");
        }
        self.count("starts");
    }

    pub(super) fn graceful_restart(&mut self) {
        let life = self.lives;
        self.process().shut_down();
        let mut turn = ControlFlow::Continue(());
        let mut course = ControlFlow::Continue(());
        for _ in 0..QUIET_ROUNDS_MAX {
            if turn == ControlFlow::Continue(()) {
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
            // The engine doesn't hear what comes after its last message: such a reply counts as interrupted.
            if course == ControlFlow::Continue(())
                && process.engine_may_go_on()
                && let Some(stepped) = process.engine_step()
            {
                course = stepped;
                self.check_decisions("engine");
            }
            self.step_writer();
            if self.lives != life {
                return;
            }
            if self.process().has_failed() {
                return self.crash_somehow();
            }
            self.clock.pass(100);
            if (turn, course) == (ControlFlow::Break(()), ControlFlow::Break(()))
                && self.unqueued.is_empty()
            {
                return self.gracefully_ended();
            }
        }
        panic!("the proxy doesn't end: its loop says {turn:?}, its engine {course:?}");
    }

    pub(super) fn gracefully_ended(&mut self) {
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
    pub(super) fn come_to_rest(&mut self) {
        self.disk.heal();
        self.is_calm = true;
        if self.process().has_failed() {
            self.crash_somehow();
        }
        self.process().network.be_prompt();
        for _ in 0..QUIET_ROUNDS_MAX {
            if !self.windows.iter().any(Window::is_waiting) && self.unqueued.is_empty() {
                self.say("rest");
                return;
            }
            self.round();
        }
        panic!("somebody waits for an answer that never comes");
    }

    pub(super) fn round(&mut self) {
        for at in 0..self.windows.len() {
            self.client_at(at);
        }
        if let Some(process) = &self.process {
            let network = process.network.clone();
            let witness = &self.witness;
            let mut new_bytes = 0;
            let mut make = |chance: &mut Dice| made(chance, witness, &mut new_bytes);
            self.upstream
                .step_all(&network, &mut self.chance, &mut make);
            self.growth.new_bytes += new_bytes;
        }
        self.step_loop();
        self.step_engine();
        self.step_writer();
        self.step_auditor();
        self.clock.pass(20);
    }

    /// The last word: the ledger is opened once more and holds everything.
    pub(super) fn end(&mut self) {
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

    pub(super) fn is_recorded(&self, ticket: &str) -> bool {
        self.witness.holds(ticket)
    }
}
