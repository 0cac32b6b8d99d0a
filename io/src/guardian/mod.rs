//! A command line on its way to the sandbox: split, judged command by command, resolved to programs, run.

pub mod profile_file;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tslp_core::guardian::{
    Action, Amounts, Capability, Class, CommandTable, Decision, Door, Goal, Jail, Join, Mode,
    Profile, Report, Risk, SimpleCommand, Spend, State, Token, Unsplit, absolute, evaluate,
};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::UnixMillis;
use tslp_grammars::shell;

use crate::sandbox::{
    Layer, Pipeline, Plan, Program, ProgramError, SYSTEM_FOLDERS, SandboxLimits, Task, When,
    find_program,
};

/// What tools may name besides the workspace: what the sandbox shows of the system.
const VISIBLE: &[&str] = &["/tmp", "/dev/null", "/dev/zero", "/dev/stdin", "/proc/self"];

/// Where tools work, and with what.
#[derive(Clone, Debug)]
pub struct ToolScope {
    /// The workspace: absolute, without symbolic links.
    pub workspace: PathBuf,
    /// What no tool may see: data and configuration.
    pub hidden: Vec<PathBuf>,
    /// Folders with programs besides the system's.
    pub toolchains: Vec<PathBuf>,
}

/// By what a line is judged.
#[derive(Clone, Debug)]
pub struct JudgeInputs {
    /// The rules.
    pub profile: Profile,
    /// Who asks.
    pub door: Door,
    /// What tslp is able to do.
    pub mode: Mode,
    /// The time.
    pub now: UnixMillis,
    /// What the Operator granted.
    pub granted: Vec<Capability>,
}

/// One command of a line with its verdict.
#[derive(Clone, Debug)]
pub struct Judged {
    /// As it is run.
    pub command: SimpleCommand,
    /// What it would do.
    pub action: Action,
    /// What comes of it.
    pub report: Report,
}

/// A line whose commands were judged, in order.
#[derive(Clone, Debug)]
pub struct JudgedLine {
    /// Its commands.
    pub commands: Vec<Judged>,
    /// Where the programs start: `cd` in front of all others is followed.
    cwd: String,
    /// Commands in front that only change the folder.
    moves: usize,
}

impl JudgedLine {
    /// Whether every command is allowed: a line runs as a whole or not at all.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        let mut reports = self.commands.iter().map(|judged| &judged.report);
        reports.all(|report| report.decision != Decision::Deny)
    }

    /// Its gravest class.
    #[must_use]
    pub fn class(&self) -> Class {
        let classes = self.commands.iter().map(|judged| judged.action.class);
        classes.max().unwrap_or(Class::Unknown)
    }

    /// How it sees the workspace.
    #[must_use]
    pub fn layer(&self) -> Layer {
        match self.class() {
            Class::Read => Layer::ReadOnly,
            _ => Layer::Scratch,
        }
    }

    /// How long it may take.
    #[must_use]
    pub fn time(&self) -> Duration {
        let limits = self.commands.iter().map(|judged| judged.report.limits);
        let least = limits.filter_map(|limits| limits.timeout_seconds).min();
        least.map_or(SandboxLimits::default().time, Duration::from_secs)
    }

    /// What the sandbox is to run.
    ///
    /// # Errors
    /// If a program isn't there, or can't be trusted.
    pub fn plan(&self, scope: &ToolScope) -> Result<Plan, ProgramError> {
        let mut pipelines: Vec<Pipeline> = Vec::new();
        for Judged { command, .. } in &self.commands[self.moves..] {
            let program = Program {
                path: find_program(command.program(), &scope.toolchains)?,
                words: command.words.clone(),
            };
            let when = match command.join {
                Join::Pipe => None,
                Join::First | Join::Then => Some(When::Always),
                Join::And => Some(When::Succeeded),
                Join::Or => Some(When::Failed),
            };
            match (when, pipelines.last_mut()) {
                (None, Some(pipeline)) => pipeline.programs.push(program),
                (when, _) => pipelines.push(Pipeline {
                    when: when.unwrap_or(When::Always),
                    programs: vec![program],
                }),
            }
        }
        Ok(Plan {
            cwd: PathBuf::from(&self.cwd),
            layer: self.layer(),
            task: Task::Run(pipelines),
            limits: SandboxLimits {
                time: self.time(),
                ..SandboxLimits::default()
            },
            ..scope.probe(self.layer())
        })
    }
}

impl ToolScope {
    /// The self-test's plan.
    #[must_use]
    pub fn probe(&self, layer: Layer) -> Plan {
        Plan {
            workspace: self.workspace.clone(),
            layer,
            hidden: self.hidden.clone(),
            toolchains: self.toolchains.clone(),
            cwd: self.workspace.clone(),
            task: Task::Probe,
            limits: SandboxLimits::default(),
        }
    }

    /// Where tools may look.
    fn jail(&self) -> Jail {
        let root = self.workspace.to_string_lossy().into_owned();
        let shown = |path: &PathBuf| path.to_string_lossy().into_owned();
        let system = SYSTEM_FOLDERS.iter().chain(VISIBLE);
        let visible = system.map(|path| (*path).to_owned());
        let mut protected = vec![format!("{root}/.git/hooks")];
        protected.extend(self.hidden.iter().map(shown));
        Jail {
            visible: visible.chain(self.toolchains.iter().map(shown)).collect(),
            protected,
            root,
        }
    }

    /// Splits a line and judges each of its commands.
    ///
    /// # Errors
    /// Why only a shell could tell what the line does.
    pub fn judge(&self, line: &str, inputs: &JudgeInputs) -> Result<JudgedLine, Unsplit> {
        Ok(self.judge_commands(shell::split(line)?, inputs))
    }

    /// Judges commands that were told apart already.
    #[must_use]
    pub fn judge_commands(&self, commands: Vec<SimpleCommand>, inputs: &JudgeInputs) -> JudgedLine {
        let table = CommandTable::built_in();
        let jail = self.jail();
        let mut cwd = jail.root.clone();
        let scope_root = ArtifactHash::of(jail.root.as_bytes());
        let goal = Goal {
            id: None,
            // A grant by the Operator's own hand says what is at stake.
            risk: inputs
                .granted
                .iter()
                .map(|it| it.risk())
                .fold(Risk::Medium, Risk::max),
            scope_root,
        };
        let mut state = State {
            mode: inputs.mode,
            now: inputs.now,
            grants: inputs
                .granted
                .iter()
                .map(|it| Token::issued(0, *it, scope_root, inputs.now))
                .collect(),
            spent: Amounts::default(),
            jail,
        };
        let moves = moves_in_front(&commands);
        let mut judged = Vec::with_capacity(commands.len());
        for (at, command) in commands.into_iter().enumerate() {
            let mut action = Action::of(&command.words, &cwd, inputs.door, &table);
            if command.program() == "cd" && at < moves {
                cwd = absolute(command.words.get(1).map_or("", String::as_str), &cwd);
                action.cwd.clone_from(&cwd);
            } else if command.program() == "cd" {
                action.class = Class::Unknown;
                action.because = Some("cd not followed by &&, or not in front".to_owned());
            }
            let linked = action
                .targets
                .iter()
                .filter_map(|target| beyond_links(target));
            action.targets.extend(linked.collect::<Vec<_>>());
            let report = evaluate(&goal, &action, &state, &inputs.profile);
            let cost = action.cost();
            for spend in Spend::ALL {
                let sum = state.spent.of(*spend) + cost.of(*spend);
                // A line is one call, however many commands it has.
                if *spend != Spend::Calls {
                    state.spent = state.spent.with(*spend, sum);
                }
            }
            judged.push(Judged {
                command,
                action,
                report,
            });
        }
        JudgedLine {
            commands: judged,
            cwd,
            moves,
        }
    }
}

/// How many commands in front are `cd FOLDER &&`, or such at the end of a line.
fn moves_in_front(commands: &[SimpleCommand]) -> usize {
    let is_move = |at: usize| {
        let command = &commands[at];
        let next = commands.get(at + 1).map(|next| next.join);
        command.program() == "cd"
            && command.words.len() == 2
            && !command.words[1].starts_with('-')
            && matches!(next, None | Some(Join::And))
    };
    (0..commands.len()).take_while(|at| is_move(*at)).count()
}

/// Where a path leads, if symbolic links lead it elsewhere. The kernel has the last word: links can change until then.
fn beyond_links(path: &str) -> Option<String> {
    let real = fs::canonicalize(Path::new(path)).ok()?;
    let real = real.to_string_lossy().into_owned();
    (real != path).then_some(real)
}
