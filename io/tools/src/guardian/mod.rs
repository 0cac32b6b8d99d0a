//! A command line on its way to the sandbox: split, judged command by command, resolved to programs, run.

pub mod profile_file;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tslp_core::guardian::{Class, Jail, Join, JudgedCommand, JudgedLine};

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
    line.timeout_seconds
        .map_or(SandboxLimits::default().time, Duration::from_secs)
}

/// A path's target, if symbolic links lead elsewhere. The kernel decides in the end: links can change until then.
#[must_use]
pub fn beyond_links(path: &str) -> Option<String> {
    let real = fs::canonicalize(Path::new(path)).ok()?;
    let real = real.to_string_lossy().into_owned();
    (real != path).then_some(real)
}
