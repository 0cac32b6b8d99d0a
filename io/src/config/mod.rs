//! Configuration: read wholly, from every layer, before anything is bound or created.
//!
//! [`table`] names every key once; [`layers`] puts defaults, file, environment and flags over each other;
//! [`ServeConfig`] is the outcome, held against this machine.

pub mod environment;
pub mod error;
pub mod key;
pub mod layers;
pub mod page;
pub mod secret;
pub mod settings;
pub mod table;
pub mod upstream;
pub mod written;

pub mod network;

mod file;
mod workspace;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tslp_core::limits::HYDRATION_TOKENS_DEFAULT;
use tslp_core::policy::Policy;

use environment::Environment;
use error::ConfigError;
use layers::{ConfigLayers, WrittenFlags};
use settings::{AccessConfig, Settings, TokenBudget, ToolsConfig, UpstreamConfig};
use tslp_store::project;

/// Everything that a running proxy, or a command on its data, needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeConfig {
    /// The address for clients.
    pub listen: SocketAddr,
    /// The project folder: absolute, symbolic links resolved, a folder that could be read.
    pub workspace: PathBuf,
    /// The ledger's folder: absolute, outside the workspace; may not exist yet (see [`project::prepare`]).
    pub data_dir: PathBuf,
    /// Whether `/debug/last-prompt` exists.
    pub debug: bool,
    /// The model servers.
    pub upstream: UpstreamConfig,
    /// Permitted callers.
    pub access: AccessConfig,
    /// Settings that decisions depend on; the token budget is the fixed one, or the default while `budget` is `Auto`.
    pub policy: Policy,
    /// Tokens of code in one prompt.
    pub budget: TokenBudget,
    /// Which replies end with a line for the user.
    pub notices_in_reply: settings::NoticesInReply,
    /// What is done about calls that a model writes as text.
    pub call_repair: settings::CallRepair,
    /// What is done about prompts that are too long for their model.
    pub window_guard: settings::WindowGuard,
    /// Which replies are asked for once more where gate A refuses their code.
    pub code_repair: settings::CodeRepair,
    /// Whether Claude Code's checksum is held still.
    pub holds_checksum: bool,
    /// Looking at the workspace's files.
    pub etv: tslp_workspace::observer::EtvConfig,
    /// Tools that replies ask for.
    pub tools: ToolsConfig,
    /// Bytes of a chat request's body.
    pub request_body_bytes_max: usize,
    /// Level and format of the log.
    pub log_level: String,
    /// Whether replies are reported on standard output.
    pub reports: ReplyReports,
    /// Whether the proxy ends when nobody holds it any more (`tslp run`).
    pub until_unused: bool,
}

/// Whether what became of each reply is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplyReports {
    /// A line for each.
    #[default]
    Printed,
    /// Nothing.
    Quiet,
}

impl ServeConfig {
    /// Reads every layer and checks the settings on this machine. The layers are returned for [`page`], with the
    /// computed paths filled in.
    ///
    /// # Errors
    /// If anything at all is wrong; nothing has been created then.
    pub fn load(
        flags: &WrittenFlags,
        environment: &Environment,
    ) -> Result<(Self, ConfigLayers), ConfigError> {
        Self::of_layers(ConfigLayers::read(flags, environment)?, environment)
    }

    /// As [`Self::load`], for a command that is given somewhere in a project: where no workspace is named, it is the project's
    /// root. `counts` says whether the ledger in a data directory makes its folder one.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_from_within(
        flags: &WrittenFlags,
        environment: &Environment,
        counts: impl Fn(&Path) -> bool,
    ) -> Result<(Self, ConfigLayers), ConfigError> {
        let mut layers = ConfigLayers::read(flags, environment)?;
        let settings = &mut layers.settings;
        if settings.workspace.as_os_str().is_empty() && settings.data_dir.is_none() {
            let user_data = environment.data_dir.as_deref();
            let data_dir_of = |folder: &Path| project::data_dir_of(folder, None, user_data).ok();
            let root = workspace::project_root(&environment.current_dir, data_dir_of, counts);
            settings.workspace = root.unwrap_or_default();
        }
        Self::of_layers(layers, environment)
    }

    fn of_layers(
        mut layers: ConfigLayers,
        environment: &Environment,
    ) -> Result<(Self, ConfigLayers), ConfigError> {
        let config = Self::from_settings(layers.settings.clone(), environment)?;
        layers.settings.workspace.clone_from(&config.workspace);
        layers.settings.data_dir = Some(config.data_dir.clone());
        Ok((config, layers))
    }

    /// Holds settings against this machine.
    ///
    /// # Errors
    /// If the workspace can't be read, the data directory has no place, or a reachable proxy has no token.
    pub fn from_settings(
        settings: Settings,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let listen = settings.listen;
        if !listen.ip().to_canonical().is_loopback() && settings.access.token.is_none() {
            return Err(ConfigError::TokenNeeded { listen });
        }
        let written = environment.current_dir.join(&settings.workspace);
        let (workspace, workspace_root) = workspace::canonical_folder(&written)?;
        let data_dir = project::data_dir_of(
            &workspace,
            settings.data_dir.as_deref(),
            environment.data_dir.as_deref(),
        )?;
        Ok(Self {
            listen,
            workspace,
            data_dir,
            debug: settings.debug,
            upstream: settings.upstream,
            access: settings.access,
            policy: Policy {
                workspace_root,
                budget_tokens: match settings.budget {
                    TokenBudget::Auto => HYDRATION_TOKENS_DEFAULT,
                    TokenBudget::Tokens(tokens) => tokens,
                },
                ..settings.policy
            },
            budget: settings.budget,
            notices_in_reply: settings.notices_in_reply,
            call_repair: settings.call_repair,
            window_guard: settings.window_guard,
            code_repair: settings.code_repair,
            holds_checksum: settings.holds_checksum,
            etv: settings.etv,
            tools: settings.tools,
            request_body_bytes_max: settings.request_body_bytes_max,
            log_level: settings.log_level,
            reports: ReplyReports::default(),
            until_unused: false,
        })
    }
}
