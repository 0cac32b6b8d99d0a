//! The tool loop (spec §8.5): calls in a reply, their results, and the thread that runs tools.

pub mod calls;
pub mod results;
pub mod worker;

use std::path::PathBuf;

use tslp_core::guardian::Mode;
use tslp_core::policy::ClientTools;
use tslp_tools::guardian::ToolScope;
use tslp_tools::sandbox::{Sandbox, WorkspaceLayer};

use crate::config::settings::{Settings, ToolsChoice};

/// Longest request body that a reply of several rounds goes on from: it is kept while its reply is under way.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// The most of an output that the model and the client get; the Vault has all that is kept.
pub const SHOWN_BYTES_MAX: usize = 8 << 10;

/// The most that is recorded of a call that can't be read.
pub(crate) const FLAWED_BYTES_MAX: usize = 4 << 10;

/// Why tools don't run where the user wants none.
pub const TOOLS_OFF: &str = "tools are off (`tools.run`)";

/// What tslp is able to do, and why, in the words of `/health`, `tslp doctor` and `tslp status guard`. `tested` is the last test of what
/// holds tools; `None` while there was none.
#[must_use]
pub fn mode_and_reason(is_breached: bool, tested: Option<Result<(), String>>) -> (Mode, String) {
    let (mode, why) = match tested {
        _ if is_breached => (
            Mode::OpPreserve,
            "a tool tried to get out of the sandbox; `tslp resume --breach` in a terminal lifts that",
        ),
        None => (Mode::Attest, "the sandbox is being tested"),
        Some(Ok(())) => (Mode::Ready, "the kernel holds tools in their sandbox"),
        Some(Err(why)) => return (Mode::SafeMode, why),
    };
    (mode, why.to_owned())
}

/// The start of a character, at this byte or shortly before it.
pub(crate) fn boundary_before(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The folders that tools of replies and the check work with; `None` if tools are neither run nor judged.
#[must_use]
pub fn scope_of_replies(config: &Settings) -> Option<ToolScope> {
    let tools = &config.tools;
    let is_judged = config.policy.client_tools != ClientTools::Off;
    if tools.run == ToolsChoice::Off && !is_judged && tools.check.is_empty() {
        return None;
    }
    let there = tools.toolchains.iter().filter_map(|folder| {
        let found = folder.canonicalize();
        if let Err(error) = &found {
            tracing::warn!(folder = %folder.display(), %error, "a toolchain isn't there; tools do without it");
        }
        found.ok()
    });
    Some(ToolScope {
        toolchains: there.collect(),
        home: std::env::home_dir(),
        ..tool_scope(config, None)
    })
}

/// The folders that tools work with; none may see the configuration in these files.
pub(crate) fn tool_scope(config: &Settings, files: impl IntoIterator<Item = PathBuf>) -> ToolScope {
    ToolScope {
        workspace: config.workspace.clone(),
        hidden: std::iter::once(config.data_dir.clone())
            .chain(files)
            .collect(),
        toolchains: Vec::new(),
        home: None,
    }
}

/// Tests the sandbox with each layer, and returns what the kernel enforces, in words.
///
/// # Errors
/// The reason why tools can't run.
pub fn test_enforcement(scope: &ToolScope) -> Result<String, String> {
    let sandbox = Sandbox::default();
    for layer in [WorkspaceLayer::ReadOnly, WorkspaceLayer::Scratch] {
        sandbox.self_test(&scope.self_test_plan(layer))?;
    }
    Ok("the kernel enforces namespaces, read-only mounts, Landlock and seccomp: no try to get out succeeded".to_owned())
}
