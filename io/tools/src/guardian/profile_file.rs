//! Reads a policy profile from its TOML file.

use std::ops::Range;

use thiserror::Error;
use toml::de::{DeTable, DeValue};
use tslp_core::guardian::{ACTION_MINUTES, Capability, ToolProfile};

/// An error in a profile, and its line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct ProfileError {
    /// From 1.
    pub line: usize,
    /// In words.
    pub problem: String,
}

/// Longest that a profile can let a build run, in seconds.
const BUILD_SECONDS_MAX: u32 = 60 * 60;

/// Most builds that a profile can allow at one go.
const BUILDS_MAX: u32 = 10_000;

/// Reads a profile. Every key must be known and of its type.
///
/// # Errors
/// The first thing that is wrong.
pub fn parse_profile(text: &str) -> Result<ToolProfile, ProfileError> {
    let file = ProfileFile { text };
    let table =
        DeTable::parse(text).map_err(|error| file.error_at(error.span(), error.message()))?;
    let mut profile = ToolProfile {
        id: String::new(),
        ..ToolProfile::built_in()
    };
    for (key, value) in table.get_ref() {
        let at = value.span();
        match (&**key.get_ref(), value.get_ref()) {
            ("profile_id", value) => profile.id = file.read_text(value, at)?,
            ("name", value) => profile.name = file.read_text(value, at)?,
            ("programs", DeValue::Array(programs)) => {
                let programs = programs.iter();
                let texts = programs.map(|it| file.read_text(it.get_ref(), it.span()));
                profile.programs = texts.collect::<Result<_, _>>()?;
            }
            ("grants", DeValue::Table(grants)) => profile.grants = file.read_grants(grants)?,
            ("builds", value) => profile.builds = file.read_count(value, at, BUILDS_MAX)?.into(),
            ("build_seconds", value) => {
                profile.build_seconds = file.read_count(value, at, BUILD_SECONDS_MAX)?.into();
            }
            ("read_seconds", value) => {
                profile.read_seconds = file.read_count(value, at, BUILD_SECONDS_MAX)?.into();
            }
            ("rule" | "risks" | "budget", _) => {
                let problem = "conditions, risks and budgets of tools are no longer read: name `programs`, `builds`, `build_seconds` and `grants`";
                return Err(file.error_at(Some(at), problem));
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

    fn read_count(&self, value: &DeValue<'_>, at: Span, most: u32) -> Result<u32, ProfileError> {
        let number = match value {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        let count = number.and_then(|number| u32::try_from(number).ok());
        let problem = || format!("must be a whole number, {most} at most");
        count
            .filter(|count| *count <= most)
            .ok_or_else(|| self.error_at(Some(at), &problem()))
    }

    fn read_grants(&self, table: &DeTable<'_>) -> Result<Vec<(Capability, u32)>, ProfileError> {
        let mut grants = Vec::new();
        for (key, value) in table {
            let capability = Capability::of_word(key.get_ref());
            let (Some(capability), DeValue::Table(limits)) = (capability, value.get_ref()) else {
                return Err(self.unknown_key(key.get_ref(), value.span()));
            };
            for (key, value) in limits {
                let (one, at) = (value.get_ref(), value.span());
                match &**key.get_ref() {
                    "minutes" => {
                        grants.push((capability, self.read_count(one, at, ACTION_MINUTES)?));
                    }
                    key => return Err(self.unknown_key(key, at)),
                }
            }
        }
        Ok(grants)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = r#"
profile_id = "strict-tests"
name = "Tests only"
programs = ["cargo", "grep"]
builds = 3
build_seconds = 60

[grants.BUILD_EXEC]
minutes = 5
"#;

    #[test]
    fn sound_profile() {
        let expected = ToolProfile {
            id: "strict-tests".into(),
            name: "Tests only".into(),
            programs: vec!["cargo".into(), "grep".into()],
            grants: vec![(Capability::BuildExec, 5)],
            builds: 3,
            build_seconds: 60,
            read_seconds: 30,
        };
        assert_eq!(parse_profile(SOUND), Ok(expected));
    }

    #[test]
    fn flaws_by_line() {
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
            "BUILD_EXEC",
            "FS_WRITE",
            "line 8: `FS_WRITE` isn't known here, or has another type",
        );
        check(
            "minutes = 5",
            "minutes = 16",
            "line 9: must be a whole number, 15 at most",
        );
        check(
            "builds = 3",
            "builds = -3",
            "line 5: must be a whole number, 10000 at most",
        );
        check(
            "builds = 3",
            "budget = { calls = 1 }",
            "line 5: conditions, risks and budgets of tools are no longer read: name `programs`, `builds`, `build_seconds` and `grants`",
        );
    }
}
