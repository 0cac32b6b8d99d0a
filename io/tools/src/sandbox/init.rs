//! Pid 1 of the sandbox: builds what a tool sees, gives up all rights, and runs the tool's programs.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{self, Child, Command, Stdio};
use std::thread;

use super::enter::{SetupFailure, report_refusal};
use super::outcome::RunOutcome;
use super::plan::{
    Pipeline, PlannedProgram, RunCondition, SandboxPlan, SandboxTask, WorkspaceLayer,
};
use super::{probe, programs, restrict, root, system, watch};
use tslp_core::event::ToolOutcome;

/// A shell's exit status for a program that can't be started.
const STATUS_NOT_FOUND: i32 = 127;

/// How far programs stand back for pid 1's watch, as `nice` says it; what they start inherits it.
const TOOL_NICENESS: i32 = 10;

/// The byte that reports that everything is in place: a later failure is the tool's, not the kernel's.
pub(super) const STARTED: u8 = b'\n';

/// Runs pid 1 until it ends, which ends everything in its namespace.
pub(super) fn run_init() -> ! {
    let (what, error) = match prepare_sandbox() {
        Ok(plan) => run_plan(&plan),
        Err(failure) => failure,
    };
    report_refusal(format!("{what}: {error}"));
    process::exit(1)
}

fn prepare_sandbox() -> Result<SandboxPlan, SetupFailure> {
    // First: a descriptor that was inherited reaches whatever it is open on, past every mount and rule.
    system::close_all_but_standard().map_err(|error| ("close_range", error))?;
    let plan = read_plan().map_err(|error| ("the plan can't be read", error))?;
    root::enter_new_root(&plan)?;
    restrict::restrict_process(&plan.limits)?;
    // Before this thread's rules, which threads started later would inherit: the watch still has to end everything.
    let watched = watch::start_watch(plan.limits).map_err(|error| ("the watch", error))?;
    let listener = restrict::restrict_thread(&plan)?;
    let gone = |_| ("the watch", io::Error::other("it has ended"));
    watched.send(listener).map_err(gone)?;
    std::env::set_current_dir(&plan.cwd).map_err(|error| ("the working directory", error))?;
    Ok(plan)
}

/// A plan is its length in bytes and its JSON; nothing may be read beyond it.
fn read_plan() -> io::Result<SandboxPlan> {
    let mut stdin = io::stdin().lock();
    let mut length = [0; 4];
    stdin.read_exact(&mut length)?;
    let mut json = vec![0; u32::from_le_bytes(length) as usize];
    stdin.read_exact(&mut json)?;
    Ok(serde_json::from_slice(&json)?)
}

/// Carries the plan out; returns only if that fails.
fn run_plan(plan: &SandboxPlan) -> SetupFailure {
    let told = io::stderr().write_all(&[STARTED]);
    if let Err(error) = told {
        return ("the report", error);
    }
    // The watch keeps its own: hundreds of busy programs of the same priority kept it from its turn for nine seconds.
    if let Err(error) = rustix::process::setpriority_process(None, TOOL_NICENESS) {
        return ("the priority", error.into());
    }
    match &plan.task {
        SandboxTask::Probe => {
            watch::report_end(&RunOutcome::without_report(probe::try_all_escapes(plan)))
        }
        SandboxTask::Run(pipelines) => {
            let mut run = TaskRun {
                plan,
                outcome: RunOutcome::without_report(ToolOutcome::Exited(0)),
            };
            let mut pipelines = pipelines.iter();
            match pipelines.try_for_each(|pipeline| run.run_pipeline(pipeline)) {
                Ok(()) => watch::report_end(&run.outcome),
                Err(error) => ("a program's end", error),
            }
        }
    }
}

/// A plan's pipelines as they are run, with what they used so far.
struct TaskRun<'p> {
    plan: &'p SandboxPlan,
    outcome: RunOutcome,
}

impl TaskRun<'_> {
    /// Starts a program with its words: from a thread that can run nothing else where the workspace's configuration names programs that
    /// nobody granted.
    fn start_program(&self, command: &mut Command, program: &PlannedProgram) -> io::Result<Child> {
        let mut words: Vec<&str> = program.words.iter().skip(1).map(String::as_str).collect();
        let is_led = program.words.first().is_some_and(|name| name == "git");
        if self.plan.layer == WorkspaceLayer::Scratch || !is_led {
            return command.args(words).spawn();
        }
        if let Some(at) = options_of_changes(&words) {
            words.splice(at..at, ["--no-textconv", "--no-ext-diff"]);
        }
        command.args(words);
        let start = || restrict::restrict_to_program(&program.path).and_then(|()| command.spawn());
        thread::scope(|scope| scope.spawn(start).join()).expect("nothing in the thread panics")
    }

    fn run_pipeline(&mut self, pipeline: &Pipeline) -> io::Result<()> {
        assert!(
            !pipeline.programs.is_empty(),
            "a pipeline is made with its first program"
        );
        let succeeded = self.outcome.ended == ToolOutcome::Exited(0);
        if pipeline.when == RunCondition::Succeeded && !succeeded
            || pipeline.when == RunCondition::Failed && succeeded
        {
            return Ok(());
        }
        let mut input = Stdio::null();
        let mut waited = Vec::new();
        let last = pipeline.programs.len() - 1;
        for (at, program) in pipeline.programs.iter().enumerate() {
            let output = if at == last {
                Stdio::from(output_pipe()?)
            } else {
                Stdio::piped()
            };
            let name = program.words.first().map_or("", String::as_str);
            let mut command = Command::new(&program.path);
            command.arg0(name).env_clear();
            command
                .envs(program_environment(self.plan))
                .stdin(input)
                .stdout(output);
            command.stderr(Stdio::from(self::output_pipe()?));
            let child = self.start_program(&mut command, program);
            // After a program that couldn't be started the next one reads nothing, as in a shell.
            input = Stdio::null();
            match child {
                Ok(child) => {
                    waited.push(child.id());
                    if let Some(piped) = child.stdout {
                        input = piped.into();
                    }
                    self.outcome.ended = ToolOutcome::Exited(0);
                }
                Err(error) => {
                    writeln!(io::stdout(), "tslp: {name}: {error}")?;
                    self.outcome.ended = ToolOutcome::Exited(STATUS_NOT_FOUND);
                }
            }
        }
        // The pipes to the programs are theirs alone from here on: the last reader's end ends the writers.
        drop(input);
        let last = waited.last().copied();
        while !waited.is_empty() {
            let reaped = system::wait_for_any()?;
            let pid = reaped.pid.unsigned_abs();
            self.outcome.cpu += reaped.cpu;
            self.outcome.rss_bytes_max = self.outcome.rss_bytes_max.max(reaped.rss_bytes_max);
            // Orphans come to pid 1 as well.
            waited.retain(|it| *it != pid);
            if last == Some(pid) && self.outcome.ended == ToolOutcome::Exited(0) {
                self.outcome.ended = match reaped.status {
                    Ok(status) => ToolOutcome::Exited(status),
                    Err(signal) => ToolOutcome::Signalled(signal),
                };
            }
        }
        Ok(())
    }
}

/// The position in git's words at which options stand of a subcommand that shows changes by programs that the configuration names.
fn options_of_changes(words: &[&str]) -> Option<usize> {
    let mut at = 0;
    while words.get(at)?.starts_with('-') {
        at += if words[at] == "-C" { 2 } else { 1 };
    }
    let shows = matches!(
        words[at],
        "diff" | "log" | "show" | "whatchanged" | "blame" | "annotate" | "range-diff" | "reflog"
    );
    shows.then_some(at + 1)
}

/// The pipe that programs print to, errors included.
fn output_pipe() -> io::Result<OwnedFd> {
    io::stdout().as_fd().try_clone_to_owned()
}

/// A program's whole environment.
fn program_environment(plan: &SandboxPlan) -> impl Iterator<Item = (&'static str, String)> {
    let folders = programs::program_folders(&plan.toolchains);
    let folders: Vec<String> = folders
        .map(|it| it.to_string_lossy().into_owned())
        .collect();
    let fixed = FIXED
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()));
    std::iter::once(("PATH", folders.join(":"))).chain(fixed)
}

const FIXED: &[(&str, &str)] = &[
    ("HOME", "/tmp"),
    ("TMPDIR", "/tmp"),
    ("USER", "tool"),
    ("LANG", "C.UTF-8"),
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    // Over the workspace's own configuration, whose programs nobody granted.
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_1", "/dev/null"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("CARGO_NET_OFFLINE", "true"),
    ("PIP_NO_INDEX", "1"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
];
