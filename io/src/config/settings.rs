//! The settings as they were written, one typed struct per subsystem, with their defaults.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use tslp_core::message::Tools;
use tslp_core::policy::Policy;
use tslp_core::words;
use tslp_store::project;
use tslp_workspace::observer::EtvConfig;

use super::environment::Environment;
use super::error::ConfigError;
use super::http::{Limits, Timeouts};
use super::network::Allowed;
use super::secret::Secret;
use super::upstream::{ServerConfig, ServerForModels, UpstreamSetting, UpstreamUrl};
use super::workspace::canonical_folder;
use super::written::WrittenValue;
use crate::probe;

/// All settings: read wholly, from every layer, before anything is bound or created, and then shared and read where they are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The address for clients.
    pub listen: SocketAddr,
    /// The project folder: once it is settled absolute, symbolic links resolved, a folder that could be read.
    pub workspace: PathBuf,
    /// The ledger's folder, outside of the workspace; computed from it if nothing is set. It may not exist yet (see
    /// [`tslp_store::project::prepare`]).
    pub data_dir: PathBuf,
    /// Whether `/debug/last-prompt` exists.
    pub debug: bool,
    /// The model servers.
    pub upstream: UpstreamSettings,
    /// Permitted callers.
    pub access: AccessConfig,
    /// Settings that decisions read. Root and budget are filled in when they are known.
    pub policy: Policy,
    /// Tokens of code in one prompt.
    pub budget: TokenBudget,
    /// Which replies end with a line for the user.
    pub notices_in_reply: NoticesInReply,
    /// What is done about prompts that are too long for their model.
    pub window_guard: WindowGuard,
    /// Whether Claude Code's checksum is held still.
    pub holds_checksum: bool,
    /// The file with the project's rules for code, which are part of the policy.
    pub spec_file: Option<PathBuf>,
    /// Looking at the workspace's files.
    pub etv: EtvConfig,
    /// Tools that replies ask for.
    pub tools: ToolsConfig,
    /// Bounds of HTTP on sizes and counts.
    pub limits: Limits,
    /// Bounds of HTTP on waiting.
    pub timeouts: Timeouts,
    /// What is logged: a level, or levels by target.
    pub log_level: String,
    /// Whether no line is printed for each reply.
    pub is_quiet: bool,
    /// Whether the proxy ends when no client holds it any more (`tslp run`).
    pub until_unused: bool,
}

/// The model servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpstreamSettings {
    /// The server.
    pub place: UpstreamSetting,
    /// Servers for some models.
    pub by_model: Vec<ServerForModels>,
    /// Sent as a bearer token in place of the client's own authorisation.
    pub api_key: Option<Secret>,
    /// Certificates to trust in addition to the system's, PEM.
    pub ca_file: Option<PathBuf>,
}

/// Permitted callers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessConfig {
    /// Those that may call besides this user's own programs on this machine.
    pub allowed: Allowed,
    /// The bearer token that every request must carry.
    pub token: Option<Secret>,
}

/// Tokens of hydrated code in one prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenBudget {
    /// Half of the model's context where the upstream reports its size, else the default of the core's limits.
    #[default]
    Auto,
    /// As many as this.
    Tokens(u32),
}

/// Tools that replies ask for (spec §8.5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolsConfig {
    /// Whether any is run.
    pub run: ToolsChoice,
    /// Whether fences of shell commands are calls, too.
    pub shell_fences: bool,
    /// Folders with programs, in addition to the system's.
    pub toolchains: Vec<PathBuf>,
    /// The user's check; empty if there is none.
    pub check: String,
}

words! {
    /// Which replies end with what was withheld or refused.
    #[derive(Default)]
    NoticesInReply, "choice of notices in replies" {
        /// Those of chats, and the last one of an agent's turn.
        #[default]
        Always = "always",
        /// Those to clients that offer no tools.
        Chats = "chats",
        /// None.
        Never = "never",
    }
}

words! {
    /// What is done about a prompt that is longer than what its model reads at once.
    #[derive(Default)]
    WindowGuard, "choice of what is done about prompts that are too long" {
        /// Nothing.
        Off = "off",
        /// It is said to the user.
        #[default]
        Warn = "warn",
        /// It isn't sent.
        Refuse = "refuse",
    }
}

impl NoticesInReply {
    /// Whether replies to a client with these tools end with the line.
    #[must_use]
    pub fn reaches(self, tools: Tools) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::Chats => tools == Tools::None,
        }
    }
}

words! {
    /// Whether tools that replies ask for are run.
    #[derive(Default)]
    ToolsChoice, "choice of tools" {
        /// Never.
        Off = "off",
        /// Where the Guardian allows it.
        #[default]
        On = "on",
    }
}

impl Settings {
    /// The defaults, for this model server.
    #[must_use]
    pub fn for_upstream(url: UpstreamUrl) -> Self {
        let mut settings = Self::default();
        settings.upstream.place = UpstreamSetting::Url(url);
        settings
    }

    /// Holds them against this machine, and fills in the paths that are computed.
    ///
    /// # Errors
    /// If the workspace can't be read, the data directory has no place, or a reachable proxy has no token.
    pub fn settle(&mut self, environment: &Environment) -> Result<(), ConfigError> {
        let listen = self.listen;
        if !listen.ip().to_canonical().is_loopback() && self.access.token.is_none() {
            return Err(ConfigError::TokenNeeded { listen });
        }
        let written = environment.current_dir.join(&self.workspace);
        let (workspace, root) = canonical_folder(&written)?;
        let named = Some(self.data_dir.as_path()).filter(|path| !path.as_os_str().is_empty());
        self.data_dir = project::data_dir_of(&workspace, named, environment.data_dir.as_deref())?;
        self.workspace = workspace;
        self.policy.workspace_root = root;
        if let TokenBudget::Tokens(tokens) = self.budget {
            self.policy.budget_tokens = tokens;
        }
        Ok(())
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 4141)),
            workspace: PathBuf::new(),
            data_dir: PathBuf::new(),
            debug: false,
            upstream: UpstreamSettings::default(),
            access: AccessConfig::default(),
            policy: Policy::default(),
            budget: TokenBudget::default(),
            notices_in_reply: NoticesInReply::default(),
            window_guard: WindowGuard::default(),
            holds_checksum: false,
            spec_file: None,
            etv: EtvConfig::default(),
            tools: ToolsConfig::default(),
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            log_level: "warn".into(),
            is_quiet: false,
            until_unused: false,
        }
    }
}

impl UpstreamSettings {
    /// All servers: the one for requests that match no other, and those for some models.
    #[must_use]
    pub fn servers(&self) -> Vec<ServerConfig> {
        let url = match &self.place {
            UpstreamSetting::Url(url) => url.clone(),
            UpstreamSetting::Auto | UpstreamSetting::Demo => probe::usual_place(),
        };
        let first = ServerConfig {
            url,
            is_missing: self.place == UpstreamSetting::Auto,
            api_key: self.api_key.clone(),
            ca_file: self.ca_file.clone(),
        };
        // A key is for the one server that it was given for.
        let others = self.by_model.iter().map(|server| ServerConfig {
            ca_file: self.ca_file.clone(),
            ..ServerConfig::new(server.url.clone())
        });
        std::iter::once(first).chain(others).collect()
    }

    /// Takes servers as they are written: one for all models, and others for some.
    ///
    /// # Errors
    /// If they can't be read; the text says what is allowed, as the end of a sentence.
    pub fn set_servers(&mut self, written: &WrittenValue<'_>) -> Result<(), String> {
        written.nonempty_text()?;
        let mut place = None;
        self.by_model.clear();
        for text in written.list() {
            match ServerForModels::parse(text) {
                Some(server) => self.by_model.push(server?),
                None if place.is_none() => place = Some(UpstreamSetting::parse(text)?),
                None => {
                    return Err("must name one server for all models; others stand for some, as in qwen*=URL".into());
                }
            }
        }
        self.place = place.unwrap_or(UpstreamSetting::Auto);
        Ok(())
    }
}
