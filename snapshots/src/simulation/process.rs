//! One process of the proxy: the network loop, the engine, the writer and the auditor, each driven a step at a time.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, bounded, never};
use serde_json::json;
use tslp_core::event::AuditOutcome;
use tslp_core::ids::Seq;
use tslp_core::policy::Policy;
use tslp_grammars::TreeSitterGrammars;
use tslp_io::auditor::queue::{Audit, AuditQueue};
use tslp_io::channel::{ToEngine, ToLoop};
use tslp_io::config::settings::{NoticesInReply, Settings, TokenBudget, WindowGuard};
use tslp_io::config::upstream::UpstreamUrl;
use tslp_io::engine::new_engine;
use tslp_io::engine_thread::{EngineThread, EngineWiring};
use tslp_io::main_loop::{LoopChannels, LoopHandle, MainLoop};
use tslp_projections::state::State;
use tslp_projections::table::RowsHash;
use tslp_store::content_cache::ContentCache;
use tslp_store::ledger::writer::{
    Commit, Durability, Writer, WriterFailure, WriterLimits, WriterStep,
};
use tslp_store::ledger::{DurableHead, TablesState};
use tslp_store::scrub::{Scrub, ScrubFlaw};
use tslp_store::startup::{self, StartError};
use tslp_workspace::observer::DirectObserver;
use tslp_workspace::observer::EtvConfig;

use super::clock::SimClock;
use super::wire::Network;
use super::workspace::Workspace;
use crate::dice::Dice;
use crate::stage::ROOT;
use crate::storage::{DATA_DIR, SimDisk};
use crate::tables::state_tables;

/// Capacity of the queues of commits; the driver empties them after each of the engine's steps.
const COMMITS: usize = 1024;

/// The environment of a process.
pub(super) struct Surroundings<'w> {
    /// The disk with the ledger.
    pub(super) disk: &'w SimDisk,
    /// The user's files.
    pub(super) workspace: &'w Workspace,
    /// Its clocks.
    pub(super) clock: &'w SimClock,
    /// Its settings.
    pub(super) policy: &'w Policy,
}

/// The proxy.
pub(super) struct Process {
    /// Its sockets.
    pub(super) network: Network,
    main_loop: MainLoop,
    handle: LoopHandle,
    from_loop: Receiver<ToEngine>,
    to_engine: Sender<ToEngine>,
    engine: EngineThread,
    decided: Receiver<Commit>,
    commits: Sender<Commit>,
    writer: Option<Writer>,
    durable: Arc<DurableHead>,
    audits: AuditQueue,
    auditing: AuditorState,
    scrub: Scrub,
}

/// The auditor's progress.
enum AuditorState {
    Idle,
    /// Waits for the model's answer to this.
    Asking(Audit),
    /// Waits for room in the engine's queue.
    Reporting(ToEngine),
}

impl Process {
    /// Starts as `tslp serve` does.
    ///
    /// # Errors
    /// When the ledger can't be opened.
    pub(super) fn start(
        around: &Surroundings<'_>,
        chance: &mut Dice,
    ) -> Result<(Self, StartFindings), StartError> {
        let options = around.disk.open_options();
        let (opened, state) = startup::start(&options, Path::new(DATA_DIR), Path::new(ROOT))?;
        let findings = StartFindings {
            from_tables: matches!(opened.tables, TablesState::UpTo(_)),
            ..StartFindings::of_state(&state)
        };
        let scrub = Scrub::of(&opened)?;
        let contents = ContentCache::new(opened.readers.open()?);
        let network = Network::new(around.clock.clone(), chance);
        let (to_engine, from_loop) = bounded(chance.pick(&[1, 2, 16, 256]));
        let (to_diagnostics, _) = bounded(1);
        let audits = AuditQueue::default();
        let metrics = Arc::default();
        let channels = LoopChannels {
            to_engine: to_engine.clone(),
            to_diagnostics,
            audits: audits.clone(),
            metrics: Arc::clone(&metrics),
        };
        let upstream = UpstreamUrl::parse("http://127.0.0.1:11434");
        let mut config = Settings::for_upstream(upstream.unwrap_or_else(|error| panic!("{error}")));
        // Replies are held against what the server sent, byte by byte.
        config.notices_in_reply = NoticesInReply::Never;
        config.budget = TokenBudget::Tokens(around.policy.budget_tokens);
        config.window_guard = WindowGuard::Off;
        let config = Arc::new(config);
        let (main_loop, handle) = MainLoop::with_net(
            Box::new(network.clone()),
            Arc::new(network.clone()),
            ([127, 0, 0, 1], 4141).into(),
            Arc::clone(&config),
            channels,
        )
        .unwrap_or_else(|error| panic!("{error}"));
        let (commits, queue) = bounded(COMMITS);
        let to_loop = handle.clone();
        let writer = Writer::new(
            opened.log,
            queue,
            WriterLimits {
                checkpoint_pages: chance.pick(&[4, 1024]) as u64,
                ..WriterLimits::default()
            },
            Box::new(move |durability| {
                to_loop.send(match durability {
                    Durability::Reached(seq) => ToLoop::Durable(seq),
                    Durability::RowsWritten(_) => return,
                    Durability::Failed(failure) => ToLoop::LedgerFailed {
                        message: failure.message,
                    },
                });
            }),
        )?;
        handle.send(ToLoop::Durable(state.head()));
        let durable = Arc::clone(writer.durable());
        let (to_writer, decided) = bounded(COMMITS);
        let wiring = EngineWiring {
            from_loop: never(),
            rows_wanted: never(),
            to_loop: handle.clone(),
            commits: to_writer,
            durable: Arc::clone(&durable),
            audits: audits.clone(),
            metrics,
            settings: Arc::clone(&config),
            ask_for_windows: None,
            clock: Arc::new(around.clock.clone()),
        };
        let look = DirectObserver::new(
            around.workspace.clone(),
            EtvConfig::default(),
            Arc::new(TreeSitterGrammars),
            Arc::new(around.clock.clone()),
        );
        let engine = new_engine(state, around.policy, contents);
        let mut engine = EngineThread::new(engine, Box::new(look), wiring);
        engine.resume();
        let process = Self {
            network,
            main_loop,
            handle,
            from_loop,
            to_engine,
            engine,
            decided,
            commits,
            writer: Some(writer),
            durable,
            audits,
            auditing: AuditorState::Idle,
            scrub,
        };
        Ok((process, findings))
    }

    /// A turn of the network loop.
    pub(super) fn run_loop_once(&mut self) -> ControlFlow<()> {
        let turned = self.main_loop.run_once();
        turned.unwrap_or_else(|error| panic!("the loop's poll failed: {error}"))
    }

    /// Whether the engine could take its next message without waiting for the writer.
    #[must_use]
    pub(super) fn engine_may_go_on(&self) -> bool {
        self.durable.reached() >= self.engine.awaited_position()
            || self.durable.stop_reason().is_some()
    }

    /// The engine takes its next message; `None` if there is none.
    pub(super) fn engine_step(&mut self) -> Option<ControlFlow<()>> {
        let message = self.from_loop.try_recv().ok()?;
        Some(self.engine.handle_message(message))
    }

    /// The engine has rows written, as it does when nothing has come for a while.
    pub(super) fn write_rows(&mut self) {
        self.engine.write_rows(None);
    }

    /// The commits that the engine decided since the last call, in order.
    #[must_use]
    pub(super) fn take_decided(&self) -> Vec<Commit> {
        self.decided.try_iter().collect()
    }

    /// The state as decided.
    #[must_use]
    pub(super) const fn state(&self) -> &State {
        self.engine.state()
    }

    /// Puts a commit into the writer's queue.
    pub(super) fn queue_commit(&self, commit: Commit) {
        // The queue of a writer that has failed is closed.
        let _ = self.commits.send(commit);
    }

    /// The writer takes a step; `None` if it has failed before.
    pub(super) fn writer_step(&mut self) -> Option<Result<WriterStep, WriterFailure>> {
        let stepped = self.writer.as_mut()?.step();
        if stepped.is_err() {
            self.writer = None;
        }
        Some(stepped)
    }

    /// Checks everything that the start didn't check.
    ///
    /// # Errors
    /// The flaw that it finds.
    pub(super) fn scrub(&mut self) -> Result<(), ScrubFlaw> {
        self.scrub
            .run_checks(|| ControlFlow::Continue(()))
            .map(drop)
    }

    /// Whether the writer has failed, so that nothing more is committed.
    #[must_use]
    pub(super) const fn has_failed(&self) -> bool {
        self.writer.is_none()
    }

    /// The last position that was announced as durable.
    #[must_use]
    pub(super) fn durable_position(&self) -> Seq {
        self.durable.reached()
    }

    /// Asks for a graceful end.
    pub(super) fn shut_down(&self) {
        self.handle.shutdown();
    }

    /// The auditor takes a step; returns the outcome of an audit for the counters.
    pub(super) fn audit_step(&mut self, chance: &mut Dice) -> Option<&'static str> {
        match std::mem::replace(&mut self.auditing, AuditorState::Idle) {
            AuditorState::Idle => {
                self.auditing = AuditorState::Asking(self.audits.try_next()?);
                Some("audits asked")
            }
            AuditorState::Asking(audit) => {
                let answer = audit_answer(&audit, chance);
                let (outcome, kind) = match (&answer, self.audits.end_audit()) {
                    (Some(_), _) => (AuditOutcome::Answered, "audits answered"),
                    (None, Err(_)) => {
                        self.audits.ask_again(audit);
                        return Some("audits put off");
                    }
                    (None, Ok(())) => (AuditOutcome::Failed, "audits failed"),
                };
                self.send_to_engine(ToEngine::Audited {
                    episode: audit.episode,
                    outcome,
                    answer,
                });
                Some(kind)
            }
            AuditorState::Reporting(message) => {
                self.send_to_engine(message);
                None
            }
        }
    }

    fn send_to_engine(&mut self, message: ToEngine) {
        if let Err(full) = self.to_engine.try_send(message) {
            self.auditing = AuditorState::Reporting(full.into_inner());
        }
    }
}

/// The model's answer about its code, which may be unusable; `None` if there is none.
fn audit_answer(audit: &Audit, chance: &mut Dice) -> Option<String> {
    let entities = audit
        .question
        .user
        .lines()
        .filter_map(|line| line.strip_prefix("Entity: "));
    let status = chance.pick(&[
        "completed",
        "completed",
        "completed",
        "partial",
        "discussion",
    ]);
    let verdicts: Vec<_> = entities
        .map(|entity| json!({"entity": entity, "status": status}))
        .collect();
    match chance.below(6) {
        0 => None,
        1 => Some("I think that it is fine.".into()),
        _ => Some(json!(verdicts).to_string()),
    }
}

/// The state of the ledger when a process started.
pub(super) struct StartFindings {
    /// The last event.
    pub(super) head: Seq,
    /// Whether the state was taken from the tables.
    pub(super) from_tables: bool,
    /// The whole state: the hashes of all tables but the archives.
    pub(super) hashes: Vec<RowsHash>,
}

impl StartFindings {
    /// The findings of a state that was not taken from the tables.
    #[must_use]
    pub(super) fn of_state(state: &State) -> Self {
        Self {
            head: state.head(),
            from_tables: false,
            hashes: state_tables()
                .map(|(table, _)| state.rows_hash(table))
                .collect(),
        }
    }
}
