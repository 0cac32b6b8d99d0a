//! The settings as they were written, one typed struct per subsystem, with their defaults.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use tslp_core::message::Tools;
use tslp_core::policy::Policy;
use tslp_core::words;
use tslp_workspace::observer::EtvConfig;

use super::network::Allowed;
use super::secret::Secret;
use super::upstream::{ServerForModels, UpstreamSetting};
use super::written::WrittenValue;

/// All settings, before they are checked on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The address for clients.
    pub listen: SocketAddr,
    /// The project folder.
    pub workspace: PathBuf,
    /// The ledger's folder; computed from the workspace if nothing is set.
    pub data_dir: Option<PathBuf>,
    /// Whether `/debug/last-prompt` exists.
    pub debug: bool,
    /// The model servers.
    pub upstream: UpstreamConfig,
    /// Permitted callers.
    pub access: AccessConfig,
    /// Settings that decisions read. Root and budget are filled in when they are known.
    pub policy: Policy,
    /// Tokens of code in one prompt.
    pub budget: TokenBudget,
    /// Which replies end with a line for the user.
    pub notices_in_reply: NoticesInReply,
    /// What is done about calls that a model writes as text.
    pub call_repair: CallRepair,
    /// What is done about prompts that are too long for their model.
    pub window_guard: WindowGuard,
    /// Which replies are asked for once more where gate A refuses their code.
    pub code_repair: CodeRepair,
    /// Whether Claude Code's checksum is held still.
    pub holds_checksum: bool,
    /// The file with the project's rules for code, which are part of the policy.
    pub spec_file: Option<PathBuf>,
    /// Looking at the workspace's files.
    pub etv: EtvConfig,
    /// Tools that replies ask for.
    pub tools: ToolsConfig,
    /// Bytes of a chat request's body.
    pub request_body_bytes_max: usize,
    /// What is logged: a level, or levels by target.
    pub log_level: String,
}

/// The model servers and their timeouts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamConfig {
    /// The server.
    pub place: UpstreamSetting,
    /// Servers for some models.
    pub by_model: Vec<ServerForModels>,
    /// Sent as a bearer token in place of the client's own authorisation.
    pub api_key: Option<Secret>,
    /// Certificates to trust in addition to the system's, PEM.
    pub ca_file: Option<PathBuf>,
    /// Longest wait for a response's first byte; a cold model may take minutes.
    pub first_byte: Duration,
    /// Longest silence in the middle of a response.
    pub idle: Duration,
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

words! {
    /// What is done about calls of the client's tools that a model writes as text.
    #[derive(Default)]
    CallRepair, "repair of calls" {
        /// Nothing.
        Off = "off",
        /// The client gets them as calls; where they can't be read, the model is asked once more.
        #[default]
        On = "on",
    }
}

words! {
    /// Which replies are held until their code was judged, and asked for once more where gate A refuses it.
    #[derive(Default)]
    CodeRepair, "choice of replies that are asked for once more" {
        /// None.
        #[default]
        Off = "off",
        /// Those to clients that offer no tools.
        Chats = "chats",
        /// Those to agents too, where the Guardian holds their calls.
        Writes = "writes",
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

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 4141)),
            workspace: PathBuf::new(),
            data_dir: None,
            debug: false,
            upstream: UpstreamConfig::default(),
            access: AccessConfig::default(),
            policy: Policy::default(),
            budget: TokenBudget::default(),
            notices_in_reply: NoticesInReply::default(),
            call_repair: CallRepair::default(),
            window_guard: WindowGuard::default(),
            code_repair: CodeRepair::default(),
            holds_checksum: false,
            spec_file: None,
            etv: EtvConfig::default(),
            tools: ToolsConfig::default(),
            request_body_bytes_max: 6 << 20,
            log_level: "info".into(),
        }
    }
}

impl UpstreamConfig {
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

impl Default for UpstreamConfig {
    fn default() -> Self {
        Self {
            place: UpstreamSetting::default(),
            by_model: Vec::new(),
            api_key: None,
            ca_file: None,
            first_byte: Duration::from_secs(600),
            idle: Duration::from_secs(300),
        }
    }
}
