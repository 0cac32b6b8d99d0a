//! A plan of a sandbox's run, as the helpers read it.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One run: a sandbox and what happens in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SandboxPlan {
    /// The workspace; it has the same path inside.
    pub workspace: PathBuf,
    /// Whether it can be written to.
    pub layer: WorkspaceLayer,
    /// Paths that aren't visible, even within the workspace: tslp's data and configuration.
    pub hidden: Vec<PathBuf>,
    /// Folders that are visible, read-only, in addition to the system's.
    pub toolchains: Vec<PathBuf>,
    /// The programs' working folder.
    pub cwd: PathBuf,
    /// The task.
    pub task: SandboxTask,
    /// Its limits.
    pub limits: SandboxLimits,
}

/// Whether the workspace can be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkspaceLayer {
    /// It can only be read.
    ReadOnly,
    /// Writes go to a layer that is thrown away.
    Scratch,
}

/// The sandbox's task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum SandboxTask {
    /// Programs run.
    Run(Vec<Pipeline>),
    /// The self-test.
    Probe,
}

/// Programs of which each reads what the one before prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pipeline {
    /// Whether it runs, by the status of the last one that ran.
    pub when: RunCondition,
    /// The programs.
    pub programs: Vec<PlannedProgram>,
}

/// When a pipeline runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunCondition {
    /// In any case.
    Always,
    /// If the last one succeeded.
    Succeeded,
    /// If the last one failed.
    Failed,
}

/// A program and its words.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlannedProgram {
    /// Its file.
    pub path: PathBuf,
    /// Its words; the first is its own name.
    pub words: Vec<String>,
}

/// A run's limits, for all of its processes together unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxLimits {
    /// Until its end.
    pub time: Duration,
    /// Memory of its processes' own.
    pub memory_bytes: u64,
    /// Addresses of one process; some runtimes reserve much and use little.
    pub address_bytes: u64,
    /// Processes and threads at one time.
    pub processes: u64,
    /// What the scratch layer holds, and what `/tmp` does, each.
    pub scratch_bytes: u64,
    /// Open files of one process.
    pub open_files: u64,
    /// Output that is kept, half from its beginning and half from its end.
    pub output_bytes_kept: usize,
    /// Output after which the run is ended.
    pub output_bytes_max: u64,
}

impl Default for SandboxLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(300),
            memory_bytes: 2 << 30,
            address_bytes: 16 << 30,
            processes: 512,
            scratch_bytes: 1 << 30,
            open_files: 1_024,
            output_bytes_kept: 64 << 10,
            output_bytes_max: 64 << 20,
        }
    }
}
