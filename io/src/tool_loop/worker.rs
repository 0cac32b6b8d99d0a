//! The thread that runs tools, one after the other. It starts with the first call.

use std::collections::BTreeSet;
use std::io::{self, PipeReader, PipeWriter};
use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};
use tslp_core::event::{CallId, LinkSeen};
use tslp_core::ids::Seq;

use crate::channel::{ExchangeId, ToEngine};
use crate::guardian::beyond_links;
use crate::ledger::DurableHead;
use crate::sandbox::{Outcome, Plan, Sandbox};

/// What the thread is to do.
#[derive(Debug)]
pub enum Job {
    /// Test the sandbox by these plans.
    Test(Vec<Plan>),
    /// Look where these paths lead.
    LookAt {
        /// Whose reply names them.
        exchange: ExchangeId,
        /// Absolute and normal.
        paths: BTreeSet<String>,
    },
    /// Run a tool.
    Run(Box<Run>),
}

/// A tool to be run.
#[derive(Debug)]
pub struct Run {
    /// Whose reply asked for it.
    pub exchange: ExchangeId,
    /// The call.
    pub call: CallId,
    /// What to run.
    pub plan: Plan,
    /// Nothing is started before the decision on it is on disk.
    pub durable_at: Seq,
    /// The tool ends when the other end is closed.
    pub stop: PipeReader,
}

/// A pipe by which a tool is stopped: it ends when the writer is dropped.
///
/// # Errors
/// When the system has no descriptors left.
pub fn stop_pipe() -> io::Result<(PipeReader, PipeWriter)> {
    io::pipe()
}

/// Starts the thread; it ends when the sender is dropped, after the tool that runs then.
///
/// # Errors
/// When the system gives no thread.
pub fn start(
    sandbox: Sandbox,
    durable: Arc<DurableHead>,
    to_engine: Sender<ToEngine>,
) -> io::Result<Sender<Job>> {
    let (jobs, todo) = unbounded();
    thread::Builder::new()
        .name("tools".into())
        .spawn(move || work(&sandbox, &durable, &todo, &to_engine))?;
    Ok(jobs)
}

fn work(
    sandbox: &Sandbox,
    durable: &DurableHead,
    todo: &Receiver<Job>,
    to_engine: &Sender<ToEngine>,
) {
    for job in todo {
        let done = match job {
            Job::Test(plans) => {
                let mut tests = plans.iter().map(|plan| sandbox.self_test(plan));
                ToEngine::ToolsTested(tests.find(Result::is_err).unwrap_or(Ok(())))
            }
            Job::LookAt { exchange, paths } => {
                let links = paths.into_iter().filter_map(|path| {
                    let leads_to = beyond_links(&path)?;
                    Some(LinkSeen { path, leads_to })
                });
                ToEngine::LinksSeen {
                    exchange,
                    links: links.collect(),
                }
            }
            Job::Run(run) => ToEngine::ToolEnded {
                exchange: run.exchange,
                call: run.call,
                outcome: Box::new(match durable.wait_for(run.durable_at) {
                    Ok(_) => sandbox.run_until(&run.plan, &run.stop),
                    Err(stopped) => Outcome::not_started(stopped.0),
                }),
            },
        };
        if to_engine.send(done).is_err() {
            return;
        }
    }
}
