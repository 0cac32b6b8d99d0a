//! What a client's run came to: told in the terminal once the client has ended, which itself shows every edit as done.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tslp_core::ids::Seq;
use tslp_store::ledger::LedgerError;

use super::ledger_subject;
use crate::config::settings::Settings;
use crate::diagnostics::status;
use crate::evidence::story::Outcome;

/// Most refusals that are told in a line of their own.
const REFUSALS_TOLD_MAX: usize = 4;

/// Runs the client in this terminal, tells what came of it, and ends as the client did. Returns only if it can't be started.
pub(super) fn run_to_end(mut command: Command, config: &Settings) -> io::Error {
    let from = last_event(config).map_or(Seq(1), Seq::next);
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return error,
    };
    match wait_for(child) {
        Ok(status) => {
            for line in report(config, from) {
                // Nobody may be reading.
                let _ = writeln!(io::stderr(), "tslp: {line}");
            }
            end_as(status)
        }
        Err(error) => error,
    }
}

/// Waits for the client. What a terminal's keys send it gets by itself; what ends this process alone is passed on to it.
fn wait_for(mut child: Child) -> io::Result<ExitStatus> {
    for signal in [SIGINT, SIGQUIT].into_iter().filter(|it| !is_ignored(*it)) {
        flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    let pid = Pid::from_child(&child);
    let passed_on = [SIGTERM, SIGHUP].into_iter();
    let mut signals = Signals::new(passed_on.filter(|it| !is_ignored(*it)))?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for signal in signals.forever() {
                let signal = match signal {
                    SIGHUP => Signal::HUP,
                    _ => Signal::TERM,
                };
                // It may just have ended.
                let _ = kill_process(pid, signal);
            }
        })?;
    child.wait()
}

/// Whether whoever started this process wants the signal ignored, as `nohup` does.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

fn end_as(status: ExitStatus) -> ! {
    if let Some(signal) = status.signal() {
        // Whoever waits for this process learns what ended the client.
        let _ = emulate_default_handler(signal);
        std::process::exit(128 + signal);
    }
    std::process::exit(status.code().unwrap_or(1))
}

fn last_event(config: &Settings) -> Option<Seq> {
    let reader = ledger_subject(config).readers.open().ok()?;
    reader.head().ok().map(|head| head.seq)
}

/// What became true, what was refused, and the way back; nothing where nothing happened.
fn report(config: &Settings, from: Seq) -> Vec<String> {
    let read = || -> Result<Vec<String>, LedgerError> {
        let reader = ledger_subject(config).readers.open()?;
        let changes = Outcome::since(&reader, from)?;
        let held = status::refused_on_disk(&reader)?;
        Ok(changes.lines(&held, REFUSALS_TOLD_MAX))
    };
    read().unwrap_or_else(|error| vec![format!("what came of it can't be read: {error}")])
}
