//! Starts and ends of processes, and the end of a run.

use super::{Growth, World};
use crate::simulation::client::Window;
use crate::simulation::process::{Process, Surroundings};
use crate::storage::{Effect, Fault, Operation, PowerLoss};
use std::ops::ControlFlow;

/// Rounds without faults after which every request must have an answer.
const QUIET_ROUNDS_MAX: u32 = 3000;

impl World<'_> {
    pub(super) fn crash_somehow(&mut self) {
        if self.chance.percent(50) {
            self.count_one("kills");
            self.disk.power_loss(PowerLoss::All);
        } else {
            self.count_one("power losses");
            let loss = self.random_loss();
            self.disk.power_loss(loss);
        }
        self.restart_process("crash");
    }

    /// Replaces the process, whose memory and connections are lost, by a new one.
    pub(super) fn restart_process(&mut self, why: &str) {
        self.process = None;
        self.unqueued.clear();
        self.upstream.forget_connections();
        for window in &mut self.windows {
            window.lose_connection();
        }
        self.trace(why);
        if self.chance.percent(15) {
            self.try_failing_start();
        }
        self.disk.heal();
        self.start_process(false);
    }

    /// A start on a disk that fails changes nothing for the next one.
    pub(super) fn try_failing_start(&mut self) {
        let nth = self.chance.between(1, 20) as u64;
        let operations = [Operation::Change, Operation::Read, Operation::Open];
        let effect = match self.chance.below(3) {
            0 => Effect::PowerLoss(self.random_loss()),
            _ => Effect::Error,
        };
        let fault = Fault::nth(nth, self.chance.pick(&operations), effect);
        self.disk.inject_fault(fault);
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
                let struck = self.disk.faults_met();
                assert!(!struck.is_empty(), "no start on a healthy disk: {error}");
                Some(error.to_string())
            }
        };
        match failed {
            Some(_) => self.count_one("failed starts"),
            None => self.count_one("starts that were cut short"),
        }
        if self.disk.is_off() {
            self.disk.reboot();
        } else {
            self.disk.power_loss(PowerLoss::All);
        }
    }

    pub(super) fn start_process(&mut self, is_first: bool) {
        if !is_first {
            self.check_tables_after_crash();
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
            self.count_one("starts from the tables");
        }
        let lost = self.witness.check_restart(&started);
        let Growth {
            contents,
            stored_bytes,
            ..
        } = &mut self.growth;
        contents.retain(|_, seq| *seq <= started.head);
        stored_bytes.retain(|seq, _| *seq <= started.head);
        if lost > 0 {
            self.count_one("restarts that lost what nobody was promised");
        }
        let open = self.witness.open_replies();
        self.lives += 1;
        if self.chance.percent(30) {
            let scrubbed = process.scrub();
            scrubbed.unwrap_or_else(|flaw| panic!("the scrub: {flaw}"));
            self.count_one("scrubs");
        }
        self.process = Some(process);
        self.check_decisions("begin");
        self.witness.check_interrupted();
        for _ in 0..open {
            self.count_one("interrupted replies");
        }
        self.count_one("starts");
    }

    pub(super) fn graceful_restart(&mut self) {
        let life = self.lives;
        self.process().shut_down();
        let mut turn = ControlFlow::Continue(());
        let mut engine_course = ControlFlow::Continue(());
        for _ in 0..QUIET_ROUNDS_MAX {
            if turn == ControlFlow::Continue(()) {
                turn = self.process().run_loop_once();
                self.check_durable_before_reply();
            }
            for at in 0..self.windows.len() {
                if self.windows[at].is_waiting() {
                    self.step_window(at);
                }
            }
            self.step_model_server();
            let process = self.process();
            // The engine gets nothing after its last message: a reply that ends later counts as interrupted.
            if engine_course == ControlFlow::Continue(())
                && process.engine_may_go_on()
                && let Some(stepped) = process.engine_step()
            {
                engine_course = stepped;
                self.check_decisions("engine");
            }
            self.step_writer();
            if self.lives != life {
                return;
            }
            if self.process().has_failed() {
                return self.crash_somehow();
            }
            self.clock.advance(100);
            if (turn, engine_course) == (ControlFlow::Break(()), ControlFlow::Break(()))
                && self.unqueued.is_empty()
            {
                return self.check_graceful_end();
            }
        }
        panic!("the proxy doesn't end: its loop says {turn:?}, its engine {engine_course:?}");
    }

    pub(super) fn check_graceful_end(&mut self) {
        let head = self.witness.head();
        assert_eq!(
            self.witness.announced_position(),
            head,
            "a graceful end leaves something unwritten"
        );
        self.count_one("graceful ends");
        self.restart_process("graceful end");
    }

    /// Nothing goes wrong any more: everybody gets an answer.
    pub(super) fn come_to_rest(&mut self) {
        self.disk.heal();
        self.is_calm = true;
        if self.process().has_failed() {
            self.crash_somehow();
        }
        self.process().network.report_everything();
        for _ in 0..QUIET_ROUNDS_MAX {
            if !self.windows.iter().any(Window::is_waiting) && self.unqueued.is_empty() {
                self.trace("rest");
                return;
            }
            self.quiet_round();
        }
        panic!("somebody waits for an answer that never comes");
    }

    pub(super) fn quiet_round(&mut self) {
        for at in 0..self.windows.len() {
            self.step_window(at);
        }
        self.step_model_server();
        self.step_loop();
        self.step_engine();
        self.step_writer();
        self.step_auditor();
        self.clock.advance(20);
    }

    /// Opens the ledger once more, which must hold every prompt that was answered.
    pub(super) fn check_end(&mut self) {
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
        self.trace("end");
    }

    pub(super) fn is_recorded(&self, ticket: &str) -> bool {
        self.witness.has_message_with(ticket)
    }
}
