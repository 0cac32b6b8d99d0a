//! Reads a policy profile from its TOML file.

use std::ops::Range;

use thiserror::Error;
use toml::de::{DeTable, DeValue};
use tslp_core::guardian::{
    ACTION_MINUTES, ActionLimits, BudgetAmounts, BudgetItem, Capability, Class, Condition,
    GrantLimit, PolicyRule, RULES_MAX, Risk, RuleEffect, ToolProfile,
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
    let file = ProfileFile { text };
    let table =
        DeTable::parse(text).map_err(|error| file.error_at(error.span(), error.message()))?;
    let mut profile = ToolProfile {
        rules: Vec::new(),
        id: String::new(),
        ..ToolProfile::built_in()
    };
    for (key, value) in table.get_ref() {
        let at = value.span();
        match (&**key.get_ref(), value.get_ref()) {
            ("profile_id", value) => profile.id = file.read_text(value, at)?,
            ("name", value) => profile.name = file.read_text(value, at)?,
            ("description", value) => profile.description = file.read_text(value, at)?,
            ("created_at", value) => profile.created_at = file.read_text(value, at)?,
            ("programs", DeValue::Array(programs)) => {
                let programs = programs.iter();
                let texts = programs.map(|it| file.read_text(it.get_ref(), it.span()));
                profile.programs = texts.collect::<Result<_, _>>()?;
            }
            ("risks", DeValue::Table(risks)) => profile.risks = file.read_risks(risks)?,
            ("grants", DeValue::Table(grants)) => profile.grants = file.read_grants(grants)?,
            ("budget", DeValue::Table(budget)) => profile.budget = file.read_budget(budget)?,
            ("rule", DeValue::Array(rules)) => {
                if rules.len() > RULES_MAX {
                    return Err(file.error_at(Some(at), &format!("more than {RULES_MAX} rules")));
                }
                for rule in rules.iter() {
                    let read = file.read_rule(rule.get_ref(), rule.span())?;
                    if profile.rules.iter().any(|it| it.id == read.id) {
                        let problem = format!("there are two rules `{}`", read.id);
                        return Err(file.error_at(Some(rule.span()), &problem));
                    }
                    profile.rules.push(read);
                }
            }
            (key, _) => return Err(file.unknown_key(key, at)),
        }
    }
    if profile.id.is_empty() {
        Err(file.error_at(None, "`profile_id` is missing"))
    } else {
        Ok(profile)
    }
}

struct ProfileFile<'t> {
    text: &'t str,
}

type Span = Range<usize>;

impl ProfileFile<'_> {
    fn error_at(&self, span: Option<Span>, problem: &str) -> ProfileError {
        let start = span.map_or(0, |span| span.start.min(self.text.len()));
        let before = &self.text.as_bytes()[..start];
        ProfileError {
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
            problem: problem.to_owned(),
        }
    }

    fn unknown_key(&self, key: &str, at: Span) -> ProfileError {
        self.error_at(
            Some(at),
            &format!("`{key}` isn't known here, or has another type"),
        )
    }

    fn read_text(&self, value: &DeValue<'_>, at: Span) -> Result<String, ProfileError> {
        let text = value.as_str().map(str::to_owned);
        text.ok_or_else(|| self.error_at(Some(at), "must be a text in quotes"))
    }

    fn read_number(&self, value: &DeValue<'_>, at: Span) -> Result<u64, ProfileError> {
        let number = match value {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        number.ok_or_else(|| self.error_at(Some(at), "must be a whole number"))
    }

    fn read_count(&self, value: &DeValue<'_>, at: Span, most: u32) -> Result<u32, ProfileError> {
        let number = self.read_number(value, at.clone())?;
        let count = u32::try_from(number).ok().filter(|count| *count <= most);
        count.ok_or_else(|| self.error_at(Some(at), &format!("must be {most} at most")))
    }

    fn read_risks(&self, table: &DeTable<'_>) -> Result<Vec<(Class, Risk)>, ProfileError> {
        let risk = |(key, value): (&_, &toml::Spanned<DeValue<'_>>)| {
            let key: &toml::Spanned<std::borrow::Cow<'_, str>> = key;
            let word = self.read_text(value.get_ref(), value.span())?;
            let both = Class::of_word(key.get_ref()).zip(Risk::of_word(&word));
            both.ok_or_else(|| {
                self.unknown_key(&format!("{} = \"{word}\"", key.get_ref()), value.span())
            })
        };
        table.iter().map(risk).collect()
    }

    fn read_grants(
        &self,
        table: &DeTable<'_>,
    ) -> Result<Vec<(Capability, GrantLimit)>, ProfileError> {
        let mut grants = Vec::new();
        for (key, value) in table {
            let capability = Capability::of_word(key.get_ref());
            let (Some(capability), DeValue::Table(limits)) = (capability, value.get_ref()) else {
                return Err(self.unknown_key(key.get_ref(), value.span()));
            };
            let mut limit = GrantLimit::default();
            for (key, value) in limits {
                let (one, at) = (value.get_ref(), value.span());
                match &**key.get_ref() {
                    "minutes" => limit.minutes = self.read_count(one, at, ACTION_MINUTES)?,
                    "renewals" => {
                        limit.renewals =
                            self.read_count(one, at, GrantLimit::default().renewals)?;
                    }
                    key => return Err(self.unknown_key(key, at)),
                }
            }
            grants.push((capability, limit));
        }
        Ok(grants)
    }

    fn read_budget(&self, table: &DeTable<'_>) -> Result<BudgetAmounts, ProfileError> {
        let mut budget = BudgetAmounts::DEFAULT_MAX;
        for (key, value) in table {
            let spend = BudgetItem::of_word(key.get_ref());
            let spend = spend.ok_or_else(|| self.unknown_key(key.get_ref(), value.span()))?;
            budget = budget.with_amount(spend, self.read_number(value.get_ref(), value.span())?);
        }
        Ok(budget)
    }

    fn read_rule(&self, value: &DeValue<'_>, at: Span) -> Result<PolicyRule, ProfileError> {
        let DeValue::Table(table) = value else {
            return Err(self.error_at(Some(at), "must be a table: [[rule]]"));
        };
        let (mut id, mut when, mut effect) = (None, None, None);
        let mut description = String::new();
        let mut limits = ActionLimits::default();
        for (key, value) in table {
            let (one, place) = (value.get_ref(), value.span());
            match (&**key.get_ref(), one) {
                ("id", one) => id = Some(self.read_text(one, place)?),
                ("description", one) => description = self.read_text(one, place)?,
                ("when", one) => {
                    let condition = Condition::parse(&self.read_text(one, place.clone())?);
                    let problem = |error| self.error_at(Some(place), &format!("when: {error}"));
                    when = Some(condition.map_err(problem)?);
                }
                ("effect", one) => effect = Some((self.read_text(one, place.clone())?, place)),
                ("limits", DeValue::Table(table)) => limits = self.read_limits(table)?,
                (key, _) => return Err(self.unknown_key(key, place)),
            }
        }
        let missing =
            |key: &str| self.error_at(Some(at.clone()), &format!("a rule has no `{key}`"));
        let (effect, place) = effect.ok_or_else(|| missing("effect"))?;
        let has_limits = limits != ActionLimits::default();
        let effect = match effect.as_str() {
            "DENY" if !has_limits => RuleEffect::Deny,
            "ALLOW" if !has_limits => RuleEffect::Allow(limits),
            "ALLOW_WITH_LIMITS" if has_limits => RuleEffect::Allow(limits),
            "ALLOW_WITH_LIMITS" => return Err(missing("limits")),
            "ALLOW" | "DENY" => {
                let problem = "limits go with ALLOW_WITH_LIMITS alone";
                return Err(self.error_at(Some(place), problem));
            }
            other => return Err(self.unknown_key(other, place)),
        };
        Ok(PolicyRule {
            id: id
                .filter(|id| !id.is_empty())
                .ok_or_else(|| missing("id"))?,
            description,
            when: when.ok_or_else(|| missing("when"))?,
            effect,
        })
    }

    fn read_limits(&self, table: &DeTable<'_>) -> Result<ActionLimits, ProfileError> {
        let mut limits = ActionLimits::default();
        for (key, value) in table {
            let (one, at) = (value.get_ref(), value.span());
            match (&**key.get_ref(), one) {
                ("max_files", one) => limits.files = Some(self.read_number(one, at)?),
                ("max_lines", one) => limits.lines = Some(self.read_number(one, at)?),
                ("timeout_seconds", one) => {
                    limits.timeout_seconds = Some(self.read_number(one, at)?)
                }
                // There is none; a profile may say so.
                ("network", DeValue::Boolean(false)) => {}
                ("network", _) => {
                    return Err(
                        self.error_at(Some(at), "tools have no network, whatever a profile says")
                    );
                }
                (key, _) => return Err(self.unknown_key(key, at)),
            }
        }
        Ok(limits)
    }
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
        let check = |from: &str, to: &str, expected: &str| {
            assert!(SOUND.contains(from), "{from}");
            let error = parse_profile(&SOUND.replace(from, to)).unwrap_err();
            assert_eq!(error.to_string(), expected, "{to}");
        };
        check(
            "profile_id = \"strict-tests\"",
            "",
            "line 1: `profile_id` is missing",
        );
        check(
            "name =",
            "nmae =",
            "line 3: `nmae` isn't known here, or has another type",
        );
        check(
            "\"MEDIUM\"",
            "\"MIDDLE\"",
            "line 8: `READ = \"MIDDLE\"` isn't known here, or has another type",
        );
        check(
            "BUILD_EXEC",
            "FS_WRITE",
            "line 10: `FS_WRITE` isn't known here, or has another type",
        );
        check("minutes = 5", "minutes = 16", "line 11: must be 15 at most");
        check(
            "builds = 3",
            "builds = -3",
            "line 15: must be a whole number",
        );
        check(
            "action.cwd",
            "action.cdw",
            "line 20: when: there is no `action.cdw`",
        );
        check(
            "network = false",
            "network = true",
            "line 22: tools have no network, whatever a profile says",
        );
        check(
            "\"DENY\"",
            "\"MAYBE\"",
            "line 27: `MAYBE` isn't known here, or has another type",
        );
        check(
            "\"ALLOW_WITH_LIMITS\"",
            "\"ALLOW\"",
            "line 21: limits go with ALLOW_WITH_LIMITS alone",
        );
        check(
            "id = \"no-secrets\"",
            "id = \"tests\"",
            "line 24: there are two rules `tests`",
        );
        check(
            "when = 'PathMatch(action.targets, \"secrets/**\")'",
            "",
            "line 24: a rule has no `when`",
        );
    }
}
