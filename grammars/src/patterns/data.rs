//! `symbols.json` as stored, and as compiled.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::stub::Stubs;

/// The patterns that are in force.
pub(super) const SYMBOLS: &str = include_str!("../../symbols.json");

/// The only layout of the file that is read.
const FORMAT: u64 = 2;

/// `symbols.json` as stored. docs/languages.md documents the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Symbols {
    pub(super) format: u64,
    pub(super) languages: Vec<LanguageData>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LanguageData {
    pub(super) name: String,
    pub(super) tags: Vec<String>,
    pub(super) extensions: Vec<String>,
    #[serde(default)]
    pub(super) file_names: Vec<String>,
    pub(super) separator: String,
    pub(super) comments: Vec<String>,
    pub(super) block_comment: Option<(String, String)>,
    pub(super) closes: Option<String>,
    #[serde(default)]
    pub(super) bodies: Vec<String>,
    #[serde(default)]
    pub(super) paragraphs: bool,
    #[serde(default)]
    pub(super) ignores_case: bool,
    pub(super) directive: Option<String>,
    pub(super) annotation: Option<String>,
    pub(super) reject: Option<String>,
    pub(super) preamble: Option<String>,
    pub(super) words: BTreeMap<String, String>,
    pub(super) definitions: Vec<RuleData>,
    pub(super) stubs: Vec<String>,
    pub(super) stubs_with_remark: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleData {
    pub(super) kind: RuleKind,
    pub(super) pattern: String,
    pub(super) within: Option<RuleScope>,
    pub(super) symbol: Option<String>,
    pub(super) separator: Option<String>,
    pub(super) inside_separator: Option<String>,
    pub(super) until: Option<String>,
    #[serde(default)]
    pub(super) adds_scope: bool,
    #[serde(default)]
    pub(super) several: bool,
    #[serde(default)]
    pub(super) bodiless: bool,
    #[serde(default)]
    pub(super) named_like_scope: bool,
}

/// The kind of definition that a rule finds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum RuleKind {
    Function,
    /// A type whose members are searched for definitions.
    Type,
    /// A type whose members belong to it.
    Leaf,
    Value,
    /// Defines nothing; its content is searched for definitions.
    Block,
}

/// The scope in which a rule applies; by default everywhere except in functions.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum RuleScope {
    Top,
    Type,
}

/// A language, compiled at its first use.
#[derive(Debug)]
pub(super) struct PatternLanguage {
    pub(super) data: LanguageData,
    pub(super) ready: OnceLock<CompiledLanguage>,
}

#[derive(Debug)]
pub(super) struct CompiledLanguage {
    pub(super) closes: Option<Regex>,
    pub(super) directive: Option<Regex>,
    pub(super) annotation: Option<Regex>,
    pub(super) reject: Option<Regex>,
    pub(super) preamble: Option<Regex>,
    pub(super) rules: Vec<CompiledRule>,
    pub(super) stubs: Stubs,
}

#[derive(Debug)]
pub(super) struct CompiledRule {
    pub(super) data: RuleData,
    pub(super) pattern: Regex,
    pub(super) until: Option<Regex>,
}

pub(super) fn read() -> Result<Vec<LanguageData>, String> {
    let symbols: Symbols = serde_json::from_str(SYMBOLS).map_err(|error| error.to_string())?;
    match symbols.format {
        FORMAT => Ok(symbols.languages),
        other => Err(format!("format {other} isn't read here")),
    }
}

impl CompiledLanguage {
    pub(super) fn new(data: &LanguageData) -> Result<Self, String> {
        let compiled = |pattern: &str| -> Result<Regex, String> {
            let words = data.words.iter();
            // A word may be made of those before it, which the order of their names decides: twice is enough.
            let filled = words
                .clone()
                .chain(words)
                .fold(pattern.to_owned(), |text, (word, value)| {
                    text.replace(&format!("{{{word}}}"), value)
                });
            RegexBuilder::new(&format!("^(?:{filled})"))
                .unicode(false)
                .case_insensitive(data.ignores_case)
                .build()
                .map_err(|error| format!("{}: {error}", data.name))
        };
        let optional = |pattern: &Option<String>| pattern.as_deref().map(compiled).transpose();
        let rule = |rule: &RuleData| {
            Ok(CompiledRule {
                pattern: compiled(&rule.pattern)?,
                until: optional(&rule.until)?,
                data: rule.clone(),
            })
        };
        Ok(Self {
            closes: optional(&data.closes)?,
            directive: optional(&data.directive)?,
            annotation: optional(&data.annotation)?,
            reject: optional(&data.reject)?,
            preamble: optional(&data.preamble)?,
            rules: data
                .definitions
                .iter()
                .map(rule)
                .collect::<Result<_, String>>()?,
            stubs: Stubs::new(&data.stubs, &data.stubs_with_remark)
                .map_err(|error| error.to_string())?,
        })
    }
}
