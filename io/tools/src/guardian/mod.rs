//! A command line on its way to the sandbox: split, judged command by command, resolved to programs, run.

pub mod profile_file;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tslp_core::guardian::{
    self, Capability, Class, Door, GrantToken, Jail, Join, JudgedCommand, JudgedLine, LineContext,
    Mode, SimpleCommand, SplitError, ToolProfile, judge_line,
};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::UnixMillis;

use crate::sandbox::{
    Pipeline, PlannedProgram, ProgramError, RunCondition, SYSTEM_FOLDERS, SandboxLimits,
    SandboxPlan, SandboxTask, WorkspaceLayer, find_program,
};

/// Paths that tools may name outside of the workspace; the sandbox shows them.
const VISIBLE: &[&str] = &["/tmp", "/dev/null", "/dev/zero", "/dev/stdin", "/proc/self"];

/// The folders that tools work with.
#[derive(Clone, Debug)]
pub struct ToolScope {
    /// The workspace: absolute, without symbolic links.
    pub workspace: PathBuf,
    /// Paths that no tool may see: data and configuration.
    pub hidden: Vec<PathBuf>,
    /// Folders with programs, in addition to the system's.
    pub toolchains: Vec<PathBuf>,
    /// The user's home folder.
    pub home: Option<PathBuf>,
}

/// The inputs by which a line is judged.
#[derive(Clone, Debug)]
pub struct JudgeInputs {
    /// The rules.
    pub profile: ToolProfile,
    /// The asker.
    pub door: Door,
    /// What tslp can enforce now.
    pub mode: Mode,
    /// The time.
    pub now: UnixMillis,
    /// The Operator's grants.
    pub granted: Vec<Capability>,
}

impl ToolScope {
    /// The self-test's plan.
    #[must_use]
    pub fn self_test_plan(&self, layer: WorkspaceLayer) -> SandboxPlan {
        SandboxPlan {
            workspace: self.workspace.clone(),
            layer,
            hidden: self.hidden.clone(),
            toolchains: self.toolchains.clone(),
            cwd: self.workspace.clone(),
            task: SandboxTask::Probe,
            limits: SandboxLimits::default(),
        }
    }

    /// The paths that tools may see.
    #[must_use]
    pub fn tool_jail(&self) -> Jail {
        let root = self.workspace.to_string_lossy().into_owned();
        let shown = |path: &PathBuf| path.to_string_lossy().into_owned();
        let system = SYSTEM_FOLDERS.iter().chain(VISIBLE);
        let visible = system.map(|path| (*path).to_owned());
        let mut protected = vec![format!("{root}/.git/hooks")];
        protected.extend(self.hidden.iter().map(shown));
        Jail {
            visible: visible.chain(self.toolchains.iter().map(shown)).collect(),
            protected,
            home: self.home.as_ref().map(shown).unwrap_or_default(),
            locked: Vec::new(),
            root,
        }
    }

    /// Splits a line and judges each of its commands.
    ///
    /// # Errors
    /// The reason why the line can't be split without a shell.
    pub fn judge_line(&self, line: &str, inputs: &JudgeInputs) -> Result<JudgedLine, SplitError> {
        Ok(self.judge_commands(guardian::split(line)?, inputs))
    }

    /// Judges commands that are split already.
    #[must_use]
    pub fn judge_commands(&self, commands: Vec<SimpleCommand>, inputs: &JudgeInputs) -> JudgedLine {
        let jail = self.tool_jail();
        let scope_root = ArtifactHash::of(jail.root.as_bytes());
        let granted = inputs.granted.iter();
        let grants: Vec<GrantToken> = granted
            .map(|it| GrantToken::issue_for_session(*it, scope_root, inputs.now))
            .collect();
        let context = LineContext {
            profile: &inputs.profile,
            door: inputs.door,
            mode: inputs.mode,
            now: inputs.now,
            goal: None,
            grants: &grants,
            builds: 0,
            jail: &jail,
            leads_to: &beyond_links,
        };
        judge_line(commands, &context)
    }

    /// The sandbox's plan for an allowed line.
    ///
    /// # Errors
    /// If a program isn't there, or can't be trusted.
    pub fn plan_line(&self, line: &JudgedLine) -> Result<SandboxPlan, ProgramError> {
        let mut pipelines: Vec<Pipeline> = Vec::new();
        for JudgedCommand { command, .. } in &line.commands[line.moves..] {
            let program = PlannedProgram {
                path: find_program(command.program_name(), &self.toolchains)?,
                words: command.words.clone(),
            };
            let when = match command.join {
                Join::Pipe => None,
                Join::First | Join::Then => Some(RunCondition::Always),
                Join::And => Some(RunCondition::Succeeded),
                Join::Or => Some(RunCondition::Failed),
            };
            match (when, pipelines.last_mut()) {
                (None, Some(pipeline)) => pipeline.programs.push(program),
                (when, _) => pipelines.push(Pipeline {
                    when: when.unwrap_or(RunCondition::Always),
                    programs: vec![program],
                }),
            }
        }
        Ok(SandboxPlan {
            cwd: PathBuf::from(&line.cwd),
            layer: layer_of(line),
            task: SandboxTask::Run(pipelines),
            limits: SandboxLimits {
                time: time_of(line),
                ..SandboxLimits::default()
            },
            ..self.self_test_plan(layer_of(line))
        })
    }
}

/// A line's access to the workspace.
#[must_use]
pub fn layer_of(line: &JudgedLine) -> WorkspaceLayer {
    match line.gravest_class() {
        Class::Read => WorkspaceLayer::ReadOnly,
        _ => WorkspaceLayer::Scratch,
    }
}

/// A line's time limit.
#[must_use]
pub fn time_of(line: &JudgedLine) -> Duration {
    line.timeout_seconds()
        .map_or(SandboxLimits::default().time, Duration::from_secs)
}

/// A path's target, if symbolic links lead elsewhere. The kernel decides in the end: links can change until then.
#[must_use]
pub fn beyond_links(path: &str) -> Option<String> {
    let real = fs::canonicalize(Path::new(path)).ok()?;
    let real = real.to_string_lossy().into_owned();
    (real != path).then_some(real)
}
