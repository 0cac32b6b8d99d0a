//! A policy profile: the Operator's rules, read from a file outside of the workspace.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::budget::BudgetAmounts;
use super::class::{Capability, Class, Risk};
use super::condition::{Condition, ConditionError};
use super::grant::GrantLimit;

/// Most rules of a profile.
pub const RULES_MAX: usize = 1_000;

/// Everything that the Operator can decide beforehand. What no rule can lift (the jail, the classes that no tool may have,
/// capabilities, the sandbox) isn't expressible.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolProfile {
    /// Its id, by which events name it.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Its purpose, for people.
    pub description: String,
    /// When it was written, by its author's word.
    pub created_at: String,
    /// The rules, in order.
    pub rules: Vec<PolicyRule>,
    /// The only programs that may run; empty: any that the table of commands knows.
    pub programs: Vec<String>,
    /// Risk of classes, where it is higher than what the class needs.
    pub risks: Vec<(Class, Risk)>,
    /// How long grants live.
    pub grants: Vec<(Capability, GrantLimit)>,
    /// How much may be spent.
    pub budget: BudgetAmounts,
}

/// One rule.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyRule {
    /// Its id, by which verdicts name it.
    pub id: String,
    /// Its purpose, for people.
    pub description: String,
    /// The condition under which it applies.
    pub when: Condition,
    /// Whether it denies or allows.
    pub effect: RuleEffect,
}

/// Whether a rule denies or allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleEffect {
    /// No, whatever other rules say.
    Deny,
    /// Yes, within limits; [`ActionLimits::default`] has none.
    Allow(ActionLimits),
}

/// Bounds of an allowed action; of several rules' the strictest count. There is no network to be limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActionLimits {
    /// Most files that it may concern.
    pub files: Option<u64>,
    /// Most lines that it may change.
    pub lines: Option<u64>,
    /// Longest run.
    pub timeout_seconds: Option<u64>,
}

impl ActionLimits {
    /// The strictest of both.
    #[must_use]
    pub fn strictest_with(self, other: Self) -> Self {
        let least = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self {
            files: least(self.files, other.files),
            lines: least(self.lines, other.lines),
            timeout_seconds: least(self.timeout_seconds, other.timeout_seconds),
        }
    }
}

impl ToolProfile {
    /// The profile in force until the Operator approves another one: reading as it is, builds and interpreters for five
    /// minutes, where they are granted.
    ///
    /// # Panics
    /// Never: a test reads its conditions.
    #[must_use]
    pub fn built_in() -> Self {
        let limited = ActionLimits {
            timeout_seconds: Some(300),
            ..ActionLimits::default()
        };
        let rule = |id: &str, description: &str, when: &str, effect| {
            Ok::<_, ConditionError>(PolicyRule {
                id: id.into(),
                description: description.into(),
                when: Condition::parse(when)?,
                effect,
            })
        };
        let rules = || -> Result<_, ConditionError> {
            let reading = r#"action.class == "READ""#;
            let building = r#"action.class == "BUILD" OR action.class == "SHELL""#;
            Ok(vec![
                rule(
                    "read",
                    "looking is harmless",
                    reading,
                    RuleEffect::Allow(ActionLimits::default()),
                )?,
                rule(
                    "build",
                    "five minutes in a scratch layer",
                    building,
                    RuleEffect::Allow(limited),
                )?,
            ])
        };
        Self {
            id: "built-in".into(),
            name: "Default".into(),
            description: "reading, and what the Operator grants".into(),
            created_at: String::new(),
            rules: rules().expect("the built-in conditions are sound"),
            programs: Vec::new(),
            risks: Vec::new(),
            grants: Vec::new(),
            budget: BudgetAmounts::DEFAULT_MAX,
        }
    }

    /// How long grants of a capability live.
    #[must_use]
    pub fn grant_limit(&self, capability: Capability) -> GrantLimit {
        let mut limits = self.grants.iter();
        let found = limits.find(|(of, _)| *of == capability);
        found.map(|(_, limit)| *limit).unwrap_or_default()
    }

    /// The risk of an action of a class: what its capability has, or what the profile says if that is more.
    #[must_use]
    pub fn risk_of(&self, class: Class) -> Risk {
        let own = class
            .needed_capability()
            .map_or(Risk::Critical, Capability::least_risk);
        let raised = self.risks.iter().filter(|(of, _)| *of == class);
        raised.map(|(_, risk)| *risk).fold(own, Risk::max)
    }
}
