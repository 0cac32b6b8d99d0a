//! The configuration of decisions; every value in force is recorded with the decisions that it shaped.

use alloc::string::{String, ToString};

use serde::{Deserialize, Serialize};

use crate::gate::{GateProfile, Thresholds};
use crate::limits::{HYDRATION_TOKENS_DEFAULT, TOMBSTONE_EPISODES_DEFAULT};
use crate::stored::{Archive, Load, Store, stored_words};

stored_words! {
    /// How older messages are treated.
    #[derive(Default)]
    HistoryChoice, "choice of history" {
        /// The client's own messages: nothing says that they don't fit the model's window.
        #[default]
        Auto = "auto",
        /// Always the Recent Context window.
        Window = "window",
        /// Always the client's own messages.
        Client = "client",
    }
}

stored_words! {
    /// Where the proxy's text goes.
    #[derive(Default)]
    Placement, "placement" {
        /// Into the one system message.
        #[default]
        System = "system",
        /// In front of the current prompt, for models without a system role.
        User = "user",
    }
}

stored_words! {
    /// When a shadow audit is asked for (spec §10).
    #[derive(Default)]
    AuditChoice, "choice of audits" {
        /// Never.
        Off = "off",
        /// After each reply with code that a gate has judged.
        On = "on",
        /// Only where gate B has no other grant.
        #[default]
        Auto = "auto",
    }
}

/// The settings that the decisions of this crate read. They are on record in `rules_in_force`, so deep verification can tell
/// what another value has changed. What changes only what is observed is a setting of the binary's alone.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Policy {
    /// The workspace's absolute path, `/`-separated.
    pub workspace_root: String,
    /// Gate B's strictness.
    pub profile: GateProfile,
    /// Thresholds of the guards.
    #[serde(flatten)]
    pub thresholds: Thresholds,
    /// When a shadow audit is asked for.
    pub audit: AuditChoice,
    /// Treatment of older messages.
    pub history: HistoryChoice,
    /// Where hydrated code goes.
    pub placement: Placement,
    /// Tokens of hydrated code per prompt.
    pub budget_tokens: u32,
    /// Episodes for which a removed symbol is remembered as removed (spec §9.2).
    pub tombstone_episodes: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            workspace_root: String::new(),
            profile: GateProfile::default(),
            thresholds: Thresholds::default(),
            audit: AuditChoice::default(),
            history: HistoryChoice::default(),
            placement: Placement::default(),
            budget_tokens: HYDRATION_TOKENS_DEFAULT,
            tombstone_episodes: TOMBSTONE_EPISODES_DEFAULT,
        }
    }
}

impl Policy {
    /// Every setting's name in the configuration and its value, in a fixed order. Two policies are the same where these are.
    #[must_use]
    pub fn settings(&self) -> [(&'static str, String); 11] {
        let Self {
            workspace_root,
            profile,
            thresholds,
            audit,
            history,
            placement,
            budget_tokens,
            tombstone_episodes,
        } = self;
        let Thresholds {
            nodes_percent,
            tokens_percent,
            correlation_percent,
            rename_percent,
        } = thresholds;
        [
            ("workspace", workspace_root.clone()),
            ("profile", profile.as_str().into()),
            ("parity.nodes_percent", nodes_percent.to_string()),
            ("parity.tokens_percent", tokens_percent.to_string()),
            (
                "similarity.correlation_percent",
                correlation_percent.to_string(),
            ),
            ("similarity.rename_percent", rename_percent.to_string()),
            ("audit", audit.as_str().into()),
            ("history", history.as_str().into()),
            ("placement", placement.as_str().into()),
            ("budget_tokens", budget_tokens.to_string()),
            ("tombstone_episodes", tombstone_episodes.to_string()),
        ]
    }
}
