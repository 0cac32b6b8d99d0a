//! The configuration of decisions; every value in force is recorded with the decisions that it shaped.

use alloc::string::{String, ToString};

use serde::{Deserialize, Serialize};

use crate::budget::{Budget, Prices};
use crate::code_spec::CodeSpec;
use crate::gate::{GateProfile, Thresholds};
use crate::limits::{HYDRATION_TOKENS_DEFAULT, TOMBSTONE_EPISODES_DEFAULT};
use crate::stored::stored_words;

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

stored_words! {
    /// What becomes of an entity of which disk holds something that the ledger can't explain (spec §15.4).
    #[derive(Default)]
    OnStale, "treatment of STALE code" {
        /// It is withheld until the user decides.
        #[default]
        Ask = "ask",
        /// The user's standing word: what disk holds counts as accepted.
        Follow = "follow",
    }
}

stored_words! {
    /// What the Guardian does with calls of the client's own tools, which the client runs.
    #[derive(Default)]
    ClientTools, "choice about client tools" {
        /// Nothing.
        Off = "off",
        /// It records a verdict on each call.
        Observe = "observe",
        /// Besides, what no agent should do doesn't reach the client.
        #[default]
        Hold = "hold",
        /// Nothing reaches the client that it denies, or that nobody can read; and an agent that goes round in circles is stopped.
        Strict = "strict",
    }
}

stored_words! {
    /// What is done about a call of the client's tools that misses its file, loses code, or is written as text.
    #[derive(Default)]
    Repair, "choice of repair" {
        /// Nothing but what the client and the notice of the edit say.
        Off = "off",
        /// The model is told, with its next prompt, the lines that it must have meant and the code that it left out.
        Tell = "tell",
        /// A call is looked at before the client has it: it is given the file's own text where exactly one place can be meant, and
        /// asked for once more where it would lose code.
        #[default]
        Fix = "fix",
    }
}

stored_words! {
    /// What decisions without evidence do to a clear (spec 003: `grounding_enforcement`).
    #[derive(Default)]
    Grounding, "enforcement of grounding" {
        /// They keep it back.
        #[default]
        Strict = "strict",
        /// They are told.
        Warn = "warn",
        /// Nothing.
        Disabled = "disabled",
    }
}

/// The settings that the decisions of this crate read. They are on record in `rules_in_force`, so deep verification can tell
/// what another value has changed. What changes only what is observed is a setting of the binary's alone.
///
/// On record by the name in the configuration: one that a ledger doesn't hold, because it is younger, has its default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[serde(default)]
pub struct Policy {
    /// The workspace's absolute path, `/`-separated.
    pub workspace_root: String,
    /// Gate B's strictness.
    pub profile: GateProfile,
    /// Thresholds of the guards: constants of a rules' version, and so not on record.
    #[serde(skip)]
    #[cfg_attr(feature = "arbitrary", arbitrary(default))]
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
    /// What becomes of STALE code.
    #[serde(rename = "etv.on_stale")]
    pub on_stale: OnStale,
    /// What the Guardian does with calls of the client's own tools.
    #[serde(rename = "guardian.client_tools")]
    pub client_tools: ClientTools,
    /// What is done about calls that miss their file or lose code.
    pub repair: Repair,
    /// The project's rules for code that models write.
    pub code_spec: CodeSpec,
    /// What decisions without evidence do to a clear.
    #[serde(rename = "clear.grounding")]
    pub grounding: Grounding,
    /// What may be done in one conversation, until the Operator resumes it.
    #[serde(rename = "budget.conversation")]
    pub budget_conversation: Budget,
    /// What may be done in one day (UTC), in all conversations.
    #[serde(rename = "budget.day")]
    pub budget_day: Budget,
    /// What one prompt may take.
    #[serde(rename = "budget.prompt")]
    pub budget_prompt: Budget,
    /// What models' tokens cost.
    #[serde(rename = "price")]
    pub prices: Prices,
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
            on_stale: OnStale::default(),
            client_tools: ClientTools::default(),
            repair: Repair::default(),
            code_spec: CodeSpec::default(),
            grounding: Grounding::default(),
            budget_conversation: Budget::default(),
            budget_day: Budget::default(),
            budget_prompt: Budget::default(),
            prices: Prices::default(),
        }
    }
}

impl Policy {
    /// Whether code that a conversation was shown as disk holds it counts as acknowledged. To the law's letter (spec §15.5) only the
    /// user's own act resolves what is STALE.
    #[must_use]
    pub fn reading_acknowledges(&self) -> bool {
        self.profile != GateProfile::Strict
    }
}

/// Each setting's name in the configuration and its field.
macro_rules! settings {
    ($($name:literal: $($field:ident).+,)+) => {
        impl Policy {
            /// Every setting's name in the configuration and its value, in a fixed order. Two policies are the same where these are.
            #[must_use]
            pub fn settings(&self) -> [(&'static str, String); [$($name),+].len()] {
                [$(($name, self.$($field).+.to_string()),)+]
            }

            /// This policy with one setting of another one.
            ///
            /// # Panics
            /// If no setting has that name.
            #[must_use]
            pub fn with_setting_of(&self, other: &Self, name: &str) -> Self {
                let mut mixed = self.clone();
                match name {
                    $($name => mixed.$($field).+.clone_from(&other.$($field).+),)+
                    other => unreachable!("`{other}` is no setting that decisions read"),
                }
                mixed
            }
        }
    };
}

settings! {
    "workspace": workspace_root,
    "profile": profile,
    "audit": audit,
    "history": history,
    "placement": placement,
    "budget_tokens": budget_tokens,
    "tombstone_episodes": tombstone_episodes,
    "etv.on_stale": on_stale,
    "guardian.client_tools": client_tools,
    "repair": repair,
    "spec.file": code_spec,
    "clear.grounding": grounding,
    "budget.conversation": budget_conversation,
    "budget.day": budget_day,
    "budget.prompt": budget_prompt,
    "price": prices,
}
