//! Watches a sandbox from inside: its deadline, its memory and processes, held calls, and whether tslp is still there.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::enter::send_report;
use super::outcome::RunOutcome;
use super::plan::SandboxLimits;
use super::{filter, system};
use tslp_core::event::ToolOutcome;

/// Interval between counts of memory and processes: the system must bear a fork bomb for that long.
const TICK: Duration = Duration::from_millis(20);

/// Starts the thread, which isn't filtered. The descriptor that reports held calls is sent to it later.
///
/// Pid 1 gets no signal from inside that would end it, unless it has it blocked. The other thread does for a moment when it
/// starts a program, and the kernel gave the signal to this one then: a tool could end its sandbox without a report.
pub(super) fn start_watch(limits: SandboxLimits) -> io::Result<Sender<OwnedFd>> {
    let (sender, receiver) = channel();
    let deadline = Instant::now() + limits.time;
    let watch = move || watch_sandbox(&receiver, &limits, deadline);
    system::without_signals(|| thread::Builder::new().spawn(watch))?;
    Ok(sender)
}

/// Reports the end of everything and makes it so: when pid 1 ends, the kernel ends all processes of its namespace. Of two
/// threads that come to an end the first one reports.
pub(super) fn report_end(outcome: &RunOutcome) -> ! {
    static REPORTING: Mutex<()> = Mutex::new(());
    let _held_for_ever = REPORTING.lock().unwrap_or_else(PoisonError::into_inner);
    system::kill_all_others();
    send_report(outcome);
    process::exit(0);
}

fn watch_sandbox(receiver: &Receiver<OwnedFd>, limits: &SandboxLimits, deadline: Instant) {
    let Ok(listener) = receiver.recv() else {
        return;
    };
    let mut rss_bytes_max = 0;
    loop {
        if let Some(ended) = reason_to_end(&listener, limits, deadline, &mut rss_bytes_max) {
            report_end(&RunOutcome {
                rss_bytes_max,
                ..RunOutcome::without_report(ended)
            });
        }
    }
}

/// Waits a moment; returns why the run must end, if it must.
fn reason_to_end(
    listener: &OwnedFd,
    limits: &SandboxLimits,
    deadline: Instant,
    rss_bytes_max: &mut u64,
) -> Option<ToolOutcome> {
    let stdin = io::stdin();
    let mut watched = [
        PollFd::new(&stdin, PollFlags::IN),
        PollFd::new(listener, PollFlags::IN),
    ];
    let left = deadline.saturating_duration_since(Instant::now());
    let wait = Timespec::try_from(left.min(TICK)).ok()?;
    match poll(&mut watched, Some(&wait)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => {
            return Some(ToolOutcome::Breach(format!(
                "the watch was disturbed: {error}"
            )));
        }
    }
    if !watched[0].revents().is_empty() {
        // tslp is gone, or stops the run; it reads no report in either case.
        process::exit(0);
    }
    if watched[1].revents().contains(PollFlags::IN)
        // A process that died meanwhile takes its call with it.
        && let Ok(call) = system::held_call(listener.as_fd())
    {
        return Some(ToolOutcome::Breach(filter::name_of(call)));
    }
    if Instant::now() >= deadline {
        return Some(ToolOutcome::TimedOut);
    }
    let (processes, memory) = resources_in_use();
    *rss_bytes_max = memory.max(*rss_bytes_max);
    if processes > limits.processes {
        Some(ToolOutcome::Limit("processes".into()))
    } else if memory > limits.memory_bytes {
        Some(ToolOutcome::Limit("memory".into()))
    } else {
        None
    }
}

/// How many processes there are, and how much memory they have that isn't a file's or shared.
fn resources_in_use() -> (u64, u64) {
    let (mut processes, mut pages) = (0, 0);
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if !entry.file_name().as_encoded_bytes()[0].is_ascii_digit() {
            continue;
        }
        processes += 1;
        // A process that has ended since the folder was listed holds nothing any more.
        let Ok(figures) = fs::read_to_string(entry.path().join("statm")) else {
            continue;
        };
        let mut figures = figures
            .split(' ')
            .skip(1)
            .map_while(|it| it.parse::<u64>().ok());
        let (resident, shared) = (figures.next().unwrap_or(0), figures.next().unwrap_or(0));
        pages += resident.saturating_sub(shared);
    }
    (processes, pages * rustix::param::page_size() as u64)
}
