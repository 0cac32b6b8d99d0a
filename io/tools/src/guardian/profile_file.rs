//! Reads a policy profile from its TOML file.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use thiserror::Error;
use toml::Spanned;
use tslp_core::guardian::{
    ActionLimits, BudgetAmounts, BudgetItem, Capability, Class, Condition, GrantLimit, PolicyRule,
    RULES_MAX, Risk, RuleEffect, ToolProfile,
};

/// An error in a profile, and its line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct ProfileError {
    /// From 1.
    pub line: usize,
    /// In words.
    pub problem: String,
}

/// Reads a profile. Every key must be known and of its type, and every condition sound.
///
/// # Errors
/// The first thing that is wrong.
pub fn parse_profile(text: &str) -> Result<ToolProfile, ProfileError> {
    let error_at = |span: Option<Range<usize>>, problem: &str| {
        let before = text.get(..span.map_or(0, |span| span.start));
        ProfileError {
            line: 1 + before.unwrap_or_default().matches('\n').count(),
            problem: problem.trim_end().to_owned(),
        }
    };
    let file: ProfileFile =
        toml::from_str(text).map_err(|error| error_at(error.span(), error.message()))?;
    let mut rules: Vec<PolicyRule> = Vec::new();
    for (at, rule) in file.rule.into_iter().enumerate() {
        let (span, rule) = (rule.span(), rule.into_inner());
        let id = &rule.id;
        let flaw = if at == RULES_MAX {
            Some(format!("more than {RULES_MAX} rules"))
        } else if rules.iter().any(|it| it.id == *id) {
            Some(format!("there are two rules `{id}`"))
        } else {
            None
        };
        let rule = flaw.map_or_else(|| rule.checked(), Err);
        rules.push(rule.map_err(|flaw| error_at(Some(span), &flaw))?);
    }
    let most = GrantLimit::default();
    let mut grants = Vec::new();
    for (capability, limit) in file.grants {
        let (span, limit) = (limit.span(), limit.into_inner());
        if limit.minutes > most.minutes || limit.renewals > most.renewals {
            let flaw = format!(
                "at most {} minutes and {} renewals",
                most.minutes, most.renewals
            );
            return Err(error_at(Some(span), &flaw));
        }
        grants.push((capability, limit));
    }
    let mut budget = BudgetAmounts::DEFAULT_MAX;
    for (item, amount) in file.budget {
        budget = budget.with_amount(item, amount);
    }
    Ok(ToolProfile {
        id: file.profile_id,
        name: file.name,
        description: file.description,
        created_at: file.created_at,
        rules,
        programs: file.programs,
        risks: file.risks.into_iter().collect(),
        grants,
        budget,
    })
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    #[serde(deserialize_with = "read_id")]
    profile_id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    created_at: String,
    #[serde(default)]
    programs: Vec<String>,
    #[serde(default)]
    risks: BTreeMap<Class, Risk>,
    #[serde(default)]
    grants: BTreeMap<Capability, Spanned<GrantLimit>>,
    #[serde(default)]
    budget: BTreeMap<BudgetItem, u64>,
    #[serde(default)]
    rule: Vec<Spanned<RuleTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleTable {
    #[serde(deserialize_with = "read_id")]
    id: String,
    #[serde(default)]
    description: String,
    #[serde(deserialize_with = "read_condition")]
    when: Condition,
    effect: EffectWord,
    #[serde(default)]
    limits: LimitsTable,
}

impl RuleTable {
    fn checked(self) -> Result<PolicyRule, String> {
        let limits = ActionLimits {
            files: self.limits.max_files,
            lines: self.limits.max_lines,
            timeout_seconds: self.limits.timeout_seconds,
        };
        let has_limits = limits != ActionLimits::default();
        if self.limits.network {
            return Err("tools have no network, whatever a profile says".to_owned());
        } else if has_limits != (self.effect == EffectWord::AllowWithLimits) {
            return Err("limits and ALLOW_WITH_LIMITS go together".to_owned());
        }
        Ok(PolicyRule {
            id: self.id,
            description: self.description,
            when: self.when,
            effect: match self.effect {
                EffectWord::Deny => RuleEffect::Deny,
                _ => RuleEffect::Allow(limits),
            },
        })
    }
}

#[derive(PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum EffectWord {
    Allow,
    AllowWithLimits,
    Deny,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LimitsTable {
    max_files: Option<u64>,
    max_lines: Option<u64>,
    timeout_seconds: Option<u64>,
    /// There is none; a profile may say so.
    network: bool,
}

fn read_id<'de, D: Deserializer<'de>>(text: D) -> Result<String, D::Error> {
    let id = String::deserialize(text)?;
    let is_id = !id.is_empty();
    is_id
        .then_some(id)
        .ok_or_else(|| D::Error::custom("an id is missing"))
}

fn read_condition<'de, D: Deserializer<'de>>(text: D) -> Result<Condition, D::Error> {
    let condition = Condition::parse(&String::deserialize(text)?);
    condition.map_err(|error| D::Error::custom(format!("when: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = r#"
profile_id = "strict-tests"
name = "Tests only"
created_at = "2026-11-23"
programs = ["cargo", "grep"]

[risks]
READ = "MEDIUM"

[grants.BUILD_EXEC]
minutes = 5
renewals = 2

[budget]
builds = 3

[[rule]]
id = "tests"
description = "only tests"
when = 'action.class == "BUILD" AND PathMatch(action.cwd, "tests/**")'
effect = "ALLOW_WITH_LIMITS"
limits = { timeout_seconds = 60, network = false }

[[rule]]
id = "no-secrets"
when = 'PathMatch(action.targets, "secrets/**")'
effect = "DENY"
"#;

    #[test]
    fn a_sound_profile_is_read_whole() {
        let profile = parse_profile(SOUND).unwrap();
        assert_eq!(
            (&*profile.id, &*profile.name),
            ("strict-tests", "Tests only")
        );
        assert_eq!(profile.programs, ["cargo", "grep"]);
        assert_eq!(profile.risk_of(Class::Read), Risk::Medium);
        let limit = profile.grant_limit(Capability::BuildExec);
        assert_eq!((limit.minutes, limit.renewals), (5, 2));
        assert_eq!(profile.budget.amount_of(BudgetItem::Builds), 3);
        assert_eq!(profile.budget.amount_of(BudgetItem::Calls), 8);
        assert_eq!(profile.rules.len(), 2);
        assert_eq!(profile.rules[1].effect, RuleEffect::Deny);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let check = |from: &str, to: &str, line: usize, told: &str| {
            assert!(SOUND.contains(from), "{from}");
            let error = parse_profile(&SOUND.replace(from, to)).unwrap_err();
            assert!(error.problem.contains(told), "{to}: {error}");
            assert_eq!(error.line, line, "{to}: {error}");
        };
        check("profile_id = \"strict-tests\"", "", 1, "profile_id");
        check("\"strict-tests\"", "\"\"", 2, "an id is missing");
        check("name =", "nmae =", 3, "`nmae`");
        check("\"MEDIUM\"", "\"MIDDLE\"", 8, "MIDDLE");
        check("BUILD_EXEC", "FS_WRITE", 10, "FS_WRITE");
        check("minutes = 5", "minutes = 16", 10, "at most 15 minutes");
        check("builds = 3", "builds = -3", 15, "-3");
        check("builds = 3", "bulids = 3", 15, "bulids");
        check("action.cwd", "action.cdw", 20, "there is no `action.cdw`");
        check("network = false", "network = true", 17, "no network");
        check("\"DENY\"", "\"MAYBE\"", 27, "`MAYBE`");
        check("\"ALLOW_WITH_LIMITS\"", "\"ALLOW\"", 17, "go together");
        check("\"DENY\"", "\"ALLOW_WITH_LIMITS\"", 24, "go together");
        check(
            "id = \"no-secrets\"",
            "id = \"tests\"",
            24,
            "two rules `tests`",
        );
        let without_when = "when = 'PathMatch(action.targets, \"secrets/**\")'";
        check(without_when, "", 24, "when");
    }
}
