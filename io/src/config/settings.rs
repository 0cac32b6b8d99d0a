//! The settings, with their defaults. Each field is read by serde under the name of its key ([`super::table`]).

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use tslp_core::code_spec::CodeSpec;
use tslp_core::guardian;
use tslp_core::message::Tools;
use tslp_core::policy::Policy;
use tslp_core::words;
use tslp_store::project;
use tslp_workspace::observer::EtvConfig;

use super::environment::Environment;
use super::error::ConfigError;
use super::http::{Limits, Timeouts, milliseconds};
use super::network::{Allowed, parse_address, parse_credential, parse_token};
use super::secret::Secret;
use super::upstream::{NamedServers, ServerConfig, UpstreamSetting, UpstreamUrl};
use super::workspace::canonical_folder;
use crate::{logging, probe};

/// All settings: read wholly, from every layer, before anything is bound or created, and then shared and read where they are used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The address for clients.
    #[serde(deserialize_with = "address")]
    pub listen: SocketAddr,
    /// The project folder: once it is settled absolute, symbolic links resolved, a folder that could be read.
    pub workspace: PathBuf,
    /// The ledger's folder, outside of the workspace; computed from it if nothing is set. It may not exist yet (see
    /// [`tslp_store::project::prepare`]).
    pub data_dir: PathBuf,
    /// Whether `/debug/last-prompt` exists.
    pub debug: bool,
    /// The model servers.
    #[serde(flatten)]
    pub upstream: UpstreamSettings,
    /// Permitted callers.
    #[serde(flatten)]
    pub access: AccessConfig,
    /// Settings that decisions read. Root and budget are filled in when they are known.
    #[serde(flatten)]
    pub policy: Policy,
    /// Tokens of code in one prompt.
    #[serde(rename = "budget_tokens")]
    pub budget: TokenBudget,
    /// Which replies end with a line for the user.
    #[serde(rename = "notices.in_reply")]
    pub notices_in_reply: NoticesInReply,
    /// What is done about prompts that are too long for their model.
    #[serde(rename = "window.guard")]
    pub window_guard: WindowGuard,
    /// Whether Claude Code's checksum is held still.
    #[serde(rename = "window.hold_checksum")]
    pub holds_checksum: bool,
    /// The file with the project's rules for code, which are part of the policy.
    #[serde(rename = "spec.file")]
    pub spec_file: Option<PathBuf>,
    /// Longest wait for the workspace's file system in front of a prompt.
    #[serde(rename = "etv.timeout_ms", with = "milliseconds")]
    pub look_timeout: Duration,
    /// Whether files that somebody names, and of which nothing is known, are taken as they are.
    #[serde(rename = "adopt.on_touch")]
    pub adopt_on_touch: bool,
    /// Tools that replies ask for.
    #[serde(flatten)]
    pub tools: ToolsConfig,
    /// Bounds of HTTP on sizes and counts.
    #[serde(flatten)]
    pub limits: Limits,
    /// Bounds of HTTP on waiting.
    #[serde(flatten)]
    pub timeouts: Timeouts,
    /// What is logged: a level, or levels by target.
    #[serde(deserialize_with = "log_level")]
    pub log_level: String,
    /// Whether no line is printed for each reply.
    #[serde(skip)]
    pub is_quiet: bool,
    /// Whether the proxy ends when no client holds it any more (`tslp run`).
    #[serde(skip)]
    pub until_unused: bool,
}

/// The model servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpstreamSettings {
    /// The servers by name.
    #[serde(rename = "upstream")]
    pub named: NamedServers,
    /// Sent as a bearer token in place of the client's own authorisation.
    #[serde(rename = "upstream_api_key", deserialize_with = "credential")]
    pub api_key: Option<Secret>,
    /// Certificates to trust in addition to the system's, PEM.
    #[serde(rename = "upstream_ca_file")]
    pub ca_file: Option<PathBuf>,
}

/// Permitted callers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AccessConfig {
    /// Those that may call besides this user's own programs on this machine.
    #[serde(rename = "allow")]
    pub allowed: Allowed,
    /// The bearer token that every request must carry.
    #[serde(deserialize_with = "token")]
    pub token: Option<Secret>,
}

/// Tokens of hydrated code in one prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Value", into = "Value")]
pub enum TokenBudget {
    /// Half of the model's context where the upstream reports its size, else the default of the core's limits.
    #[default]
    Auto,
    /// As many as this.
    Tokens(u32),
}

/// Tools that replies ask for (spec §8.5).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolsConfig {
    /// Whether any is run.
    #[serde(rename = "tools.run")]
    pub run: ToolsChoice,
    /// Whether fences of shell commands are calls, too.
    #[serde(rename = "tools.shell_fences")]
    pub shell_fences: bool,
    /// Folders with programs, in addition to the system's.
    #[serde(rename = "tools.toolchains", deserialize_with = "whole_paths")]
    pub toolchains: Vec<PathBuf>,
    /// The user's check; empty if there is none.
    #[serde(rename = "check.command", deserialize_with = "command_line")]
    pub check: String,
}

words! {
    /// Which replies end with what was withheld or refused.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
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
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
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
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    ToolsChoice, "choice of tools" {
        /// Never.
        Off = "off",
        /// Where the Guardian allows it.
        #[default]
        On = "on",
    }
}

impl ToolsConfig {
    /// Whether replies may ask for tools.
    #[must_use]
    pub fn runs(&self) -> bool {
        self.run == ToolsChoice::On
    }
}

impl Settings {
    /// The defaults, for this model server.
    #[must_use]
    pub fn for_upstream(url: UpstreamUrl) -> Self {
        let mut settings = Self::default();
        settings.upstream.named.place = UpstreamSetting::Url(url);
        settings
    }

    /// Each setting under the name of its key, credentials masked.
    pub(super) fn shown(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(shown)) => shown,
            other => unreachable!("settings are a map: {other:?}"),
        }
    }

    /// How the workspace's files are looked at.
    #[must_use]
    pub fn etv(&self) -> EtvConfig {
        EtvConfig {
            timeout: self.look_timeout,
            adopt_on_touch: self.adopt_on_touch,
            ..EtvConfig::default()
        }
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
            look_timeout: EtvConfig::default().timeout,
            adopt_on_touch: EtvConfig::default().adopt_on_touch,
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
        let url = match &self.named.place {
            UpstreamSetting::Url(url) => url.clone(),
            UpstreamSetting::Auto | UpstreamSetting::Demo => probe::usual_place(),
        };
        let first = ServerConfig {
            url,
            is_missing: self.named.place == UpstreamSetting::Auto,
            api_key: self.api_key.clone(),
            ca_file: self.ca_file.clone(),
        };
        // A key is for the one server that it was given for.
        let others = self.named.by_model.iter().map(|server| ServerConfig {
            ca_file: self.ca_file.clone(),
            ..ServerConfig::new(server.url.clone())
        });
        std::iter::once(first).chain(others).collect()
    }
}

impl From<Value> for TokenBudget {
    fn from(written: Value) -> Self {
        let tokens = written.as_u64().and_then(|it| u32::try_from(it).ok());
        tokens.map_or(Self::Auto, Self::Tokens)
    }
}

impl From<TokenBudget> for Value {
    fn from(budget: TokenBudget) -> Self {
        match budget {
            TokenBudget::Auto => "auto".into(),
            TokenBudget::Tokens(tokens) => tokens.into(),
        }
    }
}

/// The rules for code in a file.
///
/// # Errors
/// If there are none; the text says what is allowed, as the end of a sentence.
pub(super) fn read_code_spec(path: &Path) -> Result<CodeSpec, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|cause| format!("must name a file that can be read ({shown}: {cause})"))?;
    CodeSpec::parse(&text).map_err(|problem| format!("names {shown}, which {problem}"))
}

/// Readers of texts that have rules of their own, for serde.
macro_rules! readers {
    ($($name:ident -> $value:ty = |$text:ident| $read:expr;)+) => {$(
        fn $name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$value, D::Error> {
            let $text = String::deserialize(deserializer)?;
            $read.map_err(D::Error::custom)
        }
    )+};
}

readers! {
    address -> SocketAddr = |text| parse_address(&text);
    token -> Option<Secret> = |text| parse_token(&text).map(Some);
    credential -> Option<Secret> = |text| parse_credential(&text).map(Some);
    log_level -> String = |text| logging::check_level(&text);
    command_line -> String = |text| match guardian::split(text.trim()) {
        Err(reason) if !text.trim().is_empty() => {
            Err(format!("must be a plain command line ({reason})"))
        }
        _ => Ok(text.trim().to_owned()),
    };
}

fn whole_paths<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
    let folders: Vec<PathBuf> = Vec::deserialize(deserializer)?;
    match folders.iter().all(|folder| folder.is_absolute()) {
        true => Ok(folders),
        false => Err(D::Error::custom("must name folders by their whole paths")),
    }
}
