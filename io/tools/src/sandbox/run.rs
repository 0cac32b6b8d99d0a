//! Starts the helpers, reads what the tool prints and what pid 1 reports, and sees to it that everything ends.

use std::io::{self, PipeReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::init::STARTED;
use super::outcome::{KeptOutput, RunOutcome};
use super::plan::SandboxPlan;
use tslp_core::event::ToolOutcome;

/// How long after its deadline a sandbox is ended from outside, though pid 1 ends it in time by itself; and how long it may
/// take to end then.
const GRACE: Duration = Duration::from_secs(2);

/// The end of a run of which nobody reported another.
const ENDED_WITHOUT_RESULT: ToolOutcome =
    ToolOutcome::Signalled(rustix::process::Signal::KILL.as_raw());

/// Longest report; the usual one has a hundred bytes.
const REPORT_BYTES_MAX: usize = 64 << 10;

pub(super) fn run_sandbox(
    helper: &Path,
    plan: &SandboxPlan,
    stop: Option<&PipeReader>,
) -> RunOutcome {
    let began = Instant::now();
    let is_stopped = || {
        let watched = stop.map(|stop| PollFd::new(stop, PollFlags::IN));
        watched.is_some_and(|stop| poll(&mut [stop], Some(&NO_TIME)).is_ok_and(|ready| ready > 0))
    };
    // Its reply may have ended while it waited in the worker's queue: then nothing is started.
    if is_stopped() {
        return RunOutcome::without_report(ToolOutcome::Stopped);
    }
    let mut outcome = match start_helper(helper, plan) {
        Ok(child) => RunningSandbox {
            stop,
            child,
            output: KeptOutput::with_capacity(plan.limits.output_bytes_kept),
            output_bytes_max: plan.limits.output_bytes_max,
            report: Vec::new(),
            deadline: began + plan.limits.time + GRACE,
            ended: None,
        }
        .wait_for_end(),
        Err(error) => RunOutcome::not_started(format!("{}: {error}", helper.display())),
    };
    outcome.duration = began.elapsed();
    outcome
}

const NO_TIME: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

fn start_helper(helper: &Path, plan: &SandboxPlan) -> io::Result<Child> {
    let mut command = Command::new(helper);
    command.arg(super::ENTER).env_clear();
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let json = serde_json::to_vec(plan)?;
    let length = u32::try_from(json.len()).map_err(io::Error::other)?;
    let mut child = command.spawn()?;
    if let Some(stdin) = &mut child.stdin {
        let written = stdin.write_all(&length.to_le_bytes());
        // A helper that stops reading reports the reason on standard error, which is more precise than a broken pipe.
        let _ = written.and_then(|()| stdin.write_all(&json));
    }
    Ok(child)
}

/// A sandbox under way. It ends when its standard input is closed.
struct RunningSandbox<'s> {
    child: Child,
    /// Closing its other end stops the run.
    stop: Option<&'s PipeReader>,
    output: KeptOutput,
    output_bytes_max: u64,
    report: Vec<u8>,
    /// The moment at which it is ended from outside.
    deadline: Instant,
    /// The reason, if it was ended from outside.
    ended: Option<ToolOutcome>,
}

impl RunningSandbox<'_> {
    fn wait_for_end(mut self) -> RunOutcome {
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        let read = self.read_all(stdout, stderr);
        drop(self.child.stdin.take());
        // The first helper ends after pid 1, which ends only when its namespace is empty.
        let waited = match read {
            Ok(()) => self.child.wait(),
            // It hangs in the kernel, as on a dead network drive. Waiting for it would hang the tools' thread as well.
            Err(error) => self.child.kill().and(Err(error)),
        };
        let started = self.report.first() == Some(&STARTED);
        let report = self.report.strip_prefix(&[STARTED]).unwrap_or(&self.report);
        let silent = || match (waited, started) {
            // Pid 1 was killed, as the system does when memory runs out.
            (_, true) => ENDED_WITHOUT_RESULT,
            (Err(error), false) => ToolOutcome::NotStarted(error.to_string()),
            (Ok(status), false) => {
                let said = String::from_utf8_lossy(report);
                ToolOutcome::NotStarted(format!("the helper ended with {status}: {}", said.trim()))
            }
        };
        let mut outcome =
            serde_json::from_slice(report).unwrap_or_else(|_| RunOutcome::without_report(silent()));
        // Pid 1 failed in the middle of a run, in which programs may have done something already.
        if started && matches!(outcome.ended, ToolOutcome::NotStarted(_)) {
            outcome.ended = ENDED_WITHOUT_RESULT;
        }
        RunOutcome {
            ended: self.ended.unwrap_or(outcome.ended),
            output: self.output,
            ..outcome
        }
    }

    /// Ends it from outside; the first reason counts.
    fn end_early(&mut self, why: ToolOutcome) {
        if self.ended.is_none() {
            self.ended = Some(why);
            self.deadline = Instant::now() + GRACE;
        }
        drop(self.child.stdin.take());
    }

    fn read_all(
        &mut self,
        mut stdout: Option<ChildStdout>,
        mut stderr: Option<ChildStderr>,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 64 << 10];
        while stdout.is_some() || stderr.is_some() {
            let left = self.deadline.saturating_duration_since(Instant::now());
            // The second deadline: it was told to end and didn't, so something of it hangs in the kernel.
            if left.is_zero() && self.ended.is_some() {
                return Err(io::ErrorKind::TimedOut.into());
            } else if left.is_zero() {
                self.end_early(ToolOutcome::TimedOut);
                continue;
            }
            // A closed pipe stays ready, so that polling it again would never wait.
            let stop = self.stop.filter(|_| self.ended.is_none());
            let [out_is_ready, err_is_ready, is_stopped] =
                wait_for_pipes(&stdout, &stderr, stop, left)?;
            if is_stopped {
                self.end_early(ToolOutcome::Stopped);
            }
            if let Some(pipe) = stdout.as_mut().filter(|_| out_is_ready) {
                match pipe.read(&mut buffer)? {
                    0 => stdout = None,
                    bytes => self.output.push(&buffer[..bytes]),
                }
                // Read on after it, until the pipe is closed: the programs end with pid 1, not with their next write.
                if self.output.bytes > self.output_bytes_max {
                    self.end_early(ToolOutcome::Limit("output".into()));
                }
            }
            if let Some(pipe) = stderr.as_mut().filter(|_| err_is_ready) {
                match pipe.read(&mut buffer)? {
                    0 => stderr = None,
                    bytes => {
                        // The rest is read and dropped: a full pipe would block pid 1 at its end.
                        let room = REPORT_BYTES_MAX - self.report.len();
                        self.report.extend_from_slice(&buffer[..bytes.min(room)]);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Waits until one of them has something to read or is closed, or the time is over.
fn wait_for_pipes(
    stdout: &Option<ChildStdout>,
    stderr: &Option<ChildStderr>,
    stop: Option<&PipeReader>,
    left: Duration,
) -> io::Result<[bool; 3]> {
    let mut watched = Vec::with_capacity(3);
    watched.extend(stdout.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    watched.extend(stderr.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    watched.extend(stop.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
    match poll(&mut watched, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    // In the order in which they were pushed: only those that are there have an answer.
    let mut ready = watched.iter().map(|pipe| !pipe.revents().is_empty());
    let mut is_ready = |is_watched: bool| is_watched && ready.next() == Some(true);
    Ok([
        is_ready(stdout.is_some()),
        is_ready(stderr.is_some()),
        is_ready(stop.is_some()),
    ])
}
