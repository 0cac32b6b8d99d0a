//! The thread that runs tools, one after the other. It starts with the first call.

use std::collections::BTreeSet;
use std::io::{self, PipeReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use tslp_core::event::{CallId, LinkSeen};
use tslp_core::ids::{EpisodeId, Seq};
use tslp_store::ledger::DurableHead;
use tslp_tools::guardian::beyond_links;
use tslp_tools::sandbox::{RunOutcome, Sandbox, SandboxPlan};

use crate::channel::{ExchangeId, ToEngine};

/// A job of the thread.
#[derive(Debug)]
pub enum ToolJob {
    /// Test the sandbox by these plans.
    Test(Vec<SandboxPlan>),
    /// Look where these paths lead.
    LookAt {
        /// The exchange whose reply names them.
        exchange: ExchangeId,
        /// Absolute and normalised.
        paths: BTreeSet<String>,
    },
    /// Runs a tool.
    Run(Box<ToolRun>),
    /// Runs the user's check.
    Check(Box<CheckRun>),
}

/// A run of the user's check.
#[derive(Debug)]
pub struct CheckRun {
    /// The episode that ends the turn.
    pub episode: EpisodeId,
    /// The plan.
    pub plan: SandboxPlan,
    /// The run ends when the other end is closed.
    pub stop: PipeReader,
    /// Disconnected when the check is called off.
    pub called_off: Receiver<()>,
    /// Files with code that the reply changed: where no client wrote it yet, it is waited for.
    pub unsaved: Vec<(PathBuf, String)>,
}

/// How often files are looked at for a change that is about to be saved, and how long between two looks.
const LOOKS: usize = 50;
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

impl CheckRun {
    /// Whether the files hold the change, now or soon.
    fn is_saved(&self) -> bool {
        let holds = |(file, code): &(PathBuf, String)| {
            let text = std::fs::read_to_string(file);
            text.is_ok_and(|text| text.contains(code.trim_end()))
        };
        (0..LOOKS).any(|_| {
            let waited = || self.called_off.recv_timeout(BETWEEN_LOOKS);
            self.unsaved.iter().all(holds) || waited() == Err(RecvTimeoutError::Disconnected)
        })
    }
}

/// A tool to be run.
#[derive(Debug)]
pub struct ToolRun {
    /// The exchange whose reply asked for it.
    pub exchange: ExchangeId,
    /// The call.
    pub call: CallId,
    /// The plan.
    pub plan: SandboxPlan,
    /// The decision's event: nothing is started before it is on disk.
    pub durable_at: Seq,
    /// The tool ends when the other end is closed.
    pub stop: PipeReader,
}

/// Starts the thread; it ends when the sender is dropped, after the tool that runs then.
///
/// # Errors
/// When the system gives no thread.
pub fn start_worker(
    sandbox: Sandbox,
    durable: Arc<DurableHead>,
    to_engine: Sender<ToEngine>,
) -> io::Result<Sender<ToolJob>> {
    let (jobs, todo) = unbounded();
    thread::Builder::new()
        .name("tools".into())
        .spawn(move || work_off_jobs(&sandbox, &durable, &todo, &to_engine))?;
    Ok(jobs)
}

fn work_off_jobs(
    sandbox: &Sandbox,
    durable: &DurableHead,
    todo: &Receiver<ToolJob>,
    to_engine: &Sender<ToEngine>,
) {
    let run = |plan: &SandboxPlan, stop: &PipeReader| {
        let outcome = or_defect(|| sandbox.run_until(plan, Some(stop)));
        outcome.unwrap_or_else(RunOutcome::not_started)
    };
    for job in todo {
        let done = match job {
            ToolJob::Test(plans) => {
                let mut tests = plans.iter().map(|plan| sandbox.self_test(plan));
                let tested = or_defect(|| tests.find(Result::is_err).unwrap_or(Ok(())));
                ToEngine::ToolsTested(tested.unwrap_or_else(|defect| Err(defect.to_owned())))
            }
            ToolJob::LookAt { exchange, paths } => {
                let links = paths.into_iter().filter_map(|path| {
                    let leads_to = beyond_links(&path)?;
                    Some(LinkSeen { path, leads_to })
                });
                ToEngine::LinksSeen {
                    exchange,
                    links: links.collect(),
                }
            }
            ToolJob::Run(tool) => ToEngine::ToolEnded {
                exchange: tool.exchange,
                call: tool.call,
                outcome: Box::new(match durable.wait_for(tool.durable_at) {
                    Ok(_) => run(&tool.plan, &tool.stop),
                    Err(stopped) => RunOutcome::not_started(stopped.0),
                }),
            },
            ToolJob::Check(check) => ToEngine::CheckEnded {
                episode: check.episode,
                outcome: Box::new(match check.is_saved() {
                    true => run(&check.plan, &check.stop),
                    false => RunOutcome::not_started("the change isn't in its files"),
                }),
            },
        };
        if to_engine.send(done).is_err() {
            return;
        }
    }
}

/// The work's result. A panic must not end the thread: the reply that waits for the tool has no deadline of its own.
fn or_defect<T>(work: impl FnOnce() -> T) -> Result<T, &'static str> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|_| "the sandbox panicked, a defect of tslp; see its log")
}
