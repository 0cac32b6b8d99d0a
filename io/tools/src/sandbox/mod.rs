//! The kernel's boundary around a tool: it can look at the workspace, change nothing outside of a layer that is thrown
//! away, reach nobody, and outlive nothing.
//!
//! ```text
//! tslp ──plan──► enter: new namespaces ──► init: pid 1, mounts, limits, Landlock, seccomp ──► the tool's programs
//!      ◄──────────── output and one report ────────────┘
//! ```
//! `tslp` starts itself for both helpers, so that nothing happens between the fork and the exec of a process with threads.
//! When pid 1 ends, for whatever reason, the kernel ends everything in its namespace; it ends when its standard input
//! closes, so nothing outlives tslp either. Where the kernel doesn't enforce all of it, nothing is started.

mod outcome;
mod plan;
mod programs;

#[cfg(target_os = "linux")]
mod enter;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod init;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod restrict;
#[cfg(target_os = "linux")]
mod root;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod system;
#[cfg(target_os = "linux")]
mod watch;

use std::ffi::OsStr;
use std::io::PipeReader;
use std::path::PathBuf;
use std::process::ExitCode;

use tslp_core::event::ToolOutcome;

pub use outcome::{KeptOutput, RunOutcome};
pub use plan::{
    Pipeline, PlannedProgram, RunCondition, SandboxLimits, SandboxPlan, SandboxTask, WorkspaceLayer,
};
pub use programs::{ProgramError, SYSTEM_FOLDERS, find_program};

/// The first argument of a helper, which no person types.
#[cfg(target_os = "linux")]
const ENTER: &str = "sandbox-enter";
#[cfg(target_os = "linux")]
const INIT: &str = "sandbox-init";

/// Runs as a helper, if the first argument says so.
#[must_use]
pub fn run_as_helper(first_argument: Option<&OsStr>) -> Option<ExitCode> {
    let argument = first_argument?;
    #[cfg(target_os = "linux")]
    if argument == ENTER {
        return Some(enter::run_first_helper());
    } else if argument == INIT {
        init::run_init();
    }
    #[cfg(not(target_os = "linux"))]
    let _ = argument;
    None
}

/// Starts the helpers that run tools.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// The `tslp` executable, for the helpers.
    helper: PathBuf,
}

impl Default for Sandbox {
    /// Helped by this very executable, also if its file was replaced meanwhile.
    fn default() -> Self {
        Self::helped_by(PathBuf::from("/proc/self/exe"))
    }
}

impl Sandbox {
    /// A sandbox that another `tslp` executable helps.
    #[must_use]
    pub fn helped_by(helper: PathBuf) -> Self {
        Self { helper }
    }

    /// Carries a plan out and waits for its end; no process that it started is alive afterwards.
    #[must_use]
    pub fn run_plan(&self, plan: &SandboxPlan) -> RunOutcome {
        self.run_until(plan, None)
    }

    /// As [`run_plan`](Self::run_plan), and ends the run as soon as the other end of `stop` is closed.
    #[must_use]
    pub fn run_until(&self, plan: &SandboxPlan, stop: Option<&PipeReader>) -> RunOutcome {
        #[cfg(target_os = "linux")]
        {
            run::run_sandbox(&self.helper, plan, stop)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (&self.helper, plan, stop);
            RunOutcome::not_started(
                "tools run on Linux only: no other system has the boundary they need",
            )
        }
    }

    /// Tries to get out of the sandbox in every way that can be tried in a moment.
    ///
    /// # Errors
    /// Why tools can't run: what the kernel doesn't enforce, or which try succeeded.
    pub fn self_test(&self, plan: &SandboxPlan) -> Result<(), String> {
        let plan = SandboxPlan {
            task: SandboxTask::Probe,
            ..plan.clone()
        };
        match self.run_plan(&plan).ended {
            // The last try is one that ends the sandbox.
            ToolOutcome::Breach(what) if what == "unshare" => Ok(()),
            ToolOutcome::Breach(what) => Err(format!("a probe got out of the sandbox: {what}")),
            ToolOutcome::NotStarted(why) => Err(why),
            other => Err(format!("the self-test didn't end as it should: {other}")),
        }
    }
}
