//! What a person may configure about decisions; every value in force is recorded with the decision it shaped.

use alloc::string::String;

use crate::gate::{Profile, Thresholds};
use crate::limits::HYDRATION_TOKENS_DEFAULT;

/// How older messages are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HistoryChoice {
    /// Window where nothing of the client's own would be lost, otherwise the client's messages.
    #[default]
    Auto,
    /// Always the Recent Context window.
    Window,
    /// Always the client's own messages.
    Client,
}

/// Where the proxy's text goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Into the one system message.
    #[default]
    System,
    /// In front of the current prompt, for models without a system role.
    User,
}

/// When a shadow audit is asked for (spec §10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditChoice {
    /// Never.
    Off,
    /// After each reply with code that a gate has judged.
    On,
    /// Only where gate B has no other grant.
    #[default]
    Auto,
}

/// Everything that steers decisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The workspace's absolute path, `/`-separated.
    pub workspace_root: String,
    /// Gate B's strictness.
    pub profile: Profile,
    /// Thresholds of the guards.
    pub thresholds: Thresholds,
    /// When a shadow audit is asked for.
    pub audit: AuditChoice,
    /// Treatment of older messages.
    pub history: HistoryChoice,
    /// Where hydrated code goes.
    pub placement: Placement,
    /// Tokens of hydrated code per prompt.
    pub budget_tokens: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            workspace_root: String::new(),
            profile: Profile::default(),
            thresholds: Thresholds::default(),
            audit: AuditChoice::default(),
            history: HistoryChoice::default(),
            placement: Placement::default(),
            budget_tokens: HYDRATION_TOKENS_DEFAULT,
        }
    }
}
