//! The project's rules for code that models write, as the user's `CodeSpec.md` gives them (docs/repair.md).

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::extract::{CodePart, CodePartKind};
use crate::hash::ArtifactHash;
use crate::path::RelPath;

/// The text of a file of rules: a Markdown list, one rule an item. Empty if there are none. It is on record as it was read; a rule
/// there that isn't known any more judges nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[serde(transparent)]
pub struct CodeSpec(String);

const KNOWN_RULES: &str = "`one block`, `file: PATH`, `order: imports, constants, types, functions`, `names: STYLE`, `type names: STYLE`, `constant names: STYLE` (snake_case, camelCase, PascalCase or UPPER_CASE), `allow import: NAMES`, `deny import: NAMES` and `forbid call: NAMES`, each after `- `; headings and empty lines are skipped";

/// Longest file of rules, in bytes: its text is part of each `rules_in_force`.
const SPEC_BYTES_MAX: usize = 16 << 10;

enum SpecRule<'t> {
    OneBlock,
    File(&'t str),
    Order(Vec<CodePartKind>),
    Names(CodePartKind, &'t str),
    AllowImport(Vec<&'t str>),
    DenyImport(Vec<&'t str>),
    ForbidCall(Vec<&'t str>),
}

impl<'t> SpecRule<'t> {
    fn parse(line: &'t str) -> Option<Self> {
        let rule = line.strip_prefix("- ").or(line.strip_prefix("* "))?.trim();
        let (name, value) = rule.split_once(':').unwrap_or((rule, ""));
        let items = value.split(',').map(|it| it.trim().trim_matches('`'));
        let items: Vec<&str> = items.collect();
        let kinds = || {
            items
                .iter()
                .copied()
                .map(CodePartKind::of_word)
                .collect::<Option<_>>()
        };
        Some(match (name, &items[..]) {
            ("one block", _) if rule == name => Self::OneBlock,
            ("order", _) => Self::Order(kinds()?),
            (_, items) if items.contains(&"") => return None,
            ("file", [path]) if RelPath::read(path).is_ok() => Self::File(path),
            ("allow import", _) => Self::AllowImport(items),
            ("deny import", _) => Self::DenyImport(items),
            ("forbid call", _) => Self::ForbidCall(items),
            (_, [style @ ("snake_case" | "camelCase" | "PascalCase" | "UPPER_CASE")]) => {
                let kind = match name {
                    "names" => CodePartKind::Function,
                    "type names" => CodePartKind::Type,
                    "constant names" => CodePartKind::Constant,
                    _ => return None,
                };
                Self::Names(kind, style)
            }
            _ => return None,
        })
    }
}

/// A rule that a text breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecBreach {
    /// The line of the text, from 1; 0 of all of it.
    pub line: usize,
    /// What it does there and the rule against it, as the end of a sentence: the same of every text that does that.
    pub what: String,
}

impl CodeSpec {
    /// Reads a file of rules.
    ///
    /// # Errors
    /// If it is too long, or a line is no rule: the end of a sentence that names the line and what is known.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > SPEC_BYTES_MAX {
            return Err(format!("is longer than {SPEC_BYTES_MAX} bytes"));
        }
        match lines(text).find(|(_, line)| SpecRule::parse(line).is_none()) {
            Some((at, line)) => Err(format!(
                "has no rule in line {at}, `{line}`: known are {KNOWN_RULES}"
            )),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// Whether there is no rule.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a reply may hold one block of code alone.
    #[must_use]
    pub fn allows_one_block(&self) -> bool {
        self.rules().any(|(_, it)| matches!(it, SpecRule::OneBlock))
    }

    fn rules(&self) -> impl Iterator<Item = (&str, SpecRule<'_>)> {
        lines(&self.0).filter_map(|(_, line)| Some((line, SpecRule::parse(line)?)))
    }

    /// What a text of a file breaks, by line. `parts` are the text's: none where no grammar reads it. `blocks` are its reply's.
    #[must_use]
    pub fn breaches(&self, path: &RelPath, parts: &[CodePart], blocks: u32) -> Vec<SpecBreach> {
        let of_kind = |kind| parts.iter().filter(move |part| part.kind == kind);
        let imports = of_kind(CodePartKind::Import);
        let imports =
            imports.flat_map(|part| modules(&part.name).into_iter().map(|it| (part.line, it)));
        let imports: Vec<(usize, Vec<&str>)> = imports.collect();
        let mut allowed: Vec<&str> = Vec::new();
        let mut breaches: Vec<SpecBreach> = Vec::new();
        for (rule, meaning) in self.rules() {
            let rule = rule.trim_start_matches(['-', '*', ' ']);
            let mut breach = |line: usize, what: String| {
                let what = format!("{what} (rule: {rule})");
                breaches.push(SpecBreach { line, what });
            };
            match meaning {
                SpecRule::OneBlock if blocks > 1 => breach(0, format!("is one of {blocks} blocks")),
                SpecRule::File(file) if path.as_str() != file => breach(0, format!("is {path}")),
                SpecRule::OneBlock | SpecRule::File(_) => {}
                SpecRule::Order(kinds) => {
                    let mut last = 0;
                    for part in parts.iter().filter(|part| part.top_level) {
                        match kinds.iter().position(|it| *it == part.kind) {
                            Some(place) if place < last => breach(
                                part.line,
                                format!("is one of the {} after {}", part.kind, kinds[last]),
                            ),
                            place => last = place.unwrap_or(last),
                        }
                    }
                }
                SpecRule::Names(kind, style) => of_kind(kind)
                    .filter(|part| !is_in_style(&part.name, style))
                    .for_each(|part| breach(part.line, format!("names `{}`", part.name))),
                SpecRule::AllowImport(names) => allowed.extend(names),
                SpecRule::DenyImport(names) => {
                    for (line, module) in &imports {
                        let denied = names.iter().filter(|name| is_of(module, name));
                        denied.for_each(|name| breach(*line, format!("imports `{name}`")));
                    }
                }
                SpecRule::ForbidCall(names) => of_kind(CodePartKind::Call)
                    .filter(|part| names.iter().any(|name| calls(&part.name, name, &imports)))
                    .for_each(|part| breach(part.line, format!("calls `{}`", part.name))),
            }
        }
        let is_allowed = |module: &[&str]| allowed.iter().any(|name| is_of(module, name));
        let others = imports
            .iter()
            .filter(|(_, module)| !allowed.is_empty() && !is_allowed(module));
        breaches.extend(others.map(|(line, module)| SpecBreach {
            line: *line,
            what: format!(
                "imports `{}` (rule: allow import: {})",
                module[0],
                allowed.join(", ")
            ),
        }));
        breaches.sort_by_key(|it| it.line);
        breaches.dedup();
        breaches
    }
}

/// By the hash of its text.
impl fmt::Display for CodeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_empty() {
            true => Ok(()),
            false => write!(f, "{}", ArtifactHash::of(self.0.as_bytes())),
        }
    }
}

/// The lines that have to be rules, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// The parts of a name, whichever marks its language has between them.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let words = name.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '@'));
    words.filter(|word| !word.is_empty())
}

/// The modules of a statement that imports, in the forms of all languages: each one's words from its outermost name on, with what is
/// taken from it. None of the project's own files beside it.
fn modules(statement: &str) -> Vec<Vec<&str>> {
    let is_quote = |c: char| {
        matches!(c, '"' | '\'' | '`') || statement.starts_with('#') && matches!(c, '<' | '>')
    };
    let pieces: Vec<&str> = statement.split(is_quote).collect();
    let keywords = [
        "import", "static", "use", "pub", "extern", "crate", "from", "export",
    ];
    let named = |text| words(text).filter(|word| !keywords.contains(word));
    let modules: Vec<Vec<&str>> = match pieces.len() {
        // `from x import a, b`, `use x::{a, b}`, `import x, y`
        1 if statement.starts_with("from .") => Vec::new(),
        1 if statement.starts_with("from ") => {
            let (module, names) = statement[5..].split_once(" import").unwrap_or_default();
            let names = names
                .split(',')
                .filter(|it| !it.trim_matches([' ', ')']).is_empty());
            names
                .map(|it| words(module).chain(named(it)).collect())
                .collect()
        }
        1 if statement.contains('{') => Vec::from([named(statement).collect()]),
        1 => statement.split(',').map(|it| named(it).collect()).collect(),
        // `import {a, b} from "x"`, `"x"`, `a "x"`
        _ => {
            let pairs = pieces.chunks_exact(2).filter(|it| !it[1].starts_with('.'));
            let modules = pairs.map(|it| {
                let mut names: Vec<&str> = named(it[0]).collect();
                if names.len() == 1 && !it[0].contains('{') {
                    names.insert(0, "as");
                }
                let module = words(it[1].trim_start_matches("node:"));
                module.chain(names).collect()
            });
            modules.collect()
        }
    };
    modules.into_iter().filter(|it| !it.is_empty()).collect()
}

/// Whether a rule's name is a module's, or that of something in it.
fn is_of(module: &[&str], name: &str) -> bool {
    let mut rest = module.iter();
    words(name).next() == module.first().copied()
        && words(name).all(|word| rest.any(|it| *it == word))
}

/// Whether a call is of what a rule names: by its whole name, by the end of it where a path or an import says of what, and `.name` as
/// a method of anything.
fn calls(callee: &str, name: &str, imports: &[(usize, Vec<&str>)]) -> bool {
    let callee = callee.split('<').next().unwrap_or(callee);
    let (mut called, rule): (Vec<&str>, Vec<&str>) =
        (words(callee).collect(), words(name).collect());
    if name.starts_with('.') {
        return called.len() > rule.len() && called.ends_with(&rule);
    }
    let mut imported = imports.iter().map(|(_, module)| module);
    let module = imported.find(|it| called.first().is_some_and(|first| it.contains(first)));
    if let (Some(module), Some(first)) = (module, called.first_mut())
        && let Some(at) = module.iter().position(|it| it == first)
        && at >= 2
        && module[at - 1] == "as"
    {
        *first = module[at - 2];
    }
    let is_within =
        |outer: &[&str]| module.is_some_and(|it| outer.iter().all(|word| it.contains(word)));
    let is_path = module.is_some() || callee.contains("::");
    match rule.strip_suffix(&*called) {
        Some(outer) => outer.is_empty() || is_within(outer),
        None => is_path && called.ends_with(&rule),
    }
}

/// Whether a name is written in a style. What isn't letters, digits and underscores alone, and what a language gives (`__init__`), is.
fn is_in_style(name: &str, style: &str) -> bool {
    let plain = name.trim_matches('_');
    let is_plain = |c: char| c.is_alphanumeric() || c == '_';
    if !plain.chars().all(is_plain) || name.starts_with("__") && name.ends_with("__") {
        return true;
    }
    match style {
        "snake_case" => !plain.contains(char::is_uppercase),
        "UPPER_CASE" => !plain.contains(char::is_lowercase),
        "camelCase" => !plain.contains('_') && !plain.starts_with(char::is_uppercase),
        _ => !plain.contains('_') && !plain.starts_with(char::is_lowercase),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn strict_parsing() {
        let text = "# Rules\n\n- one block\n* file: `src/solver.py`\n- order: imports, functions\n- names: snake_case\n- type names: PascalCase\n- constant names: UPPER_CASE\n- allow import: math, os.path\n- deny import: os\n- forbid call: eval, .unwrap, panic!\n";
        let spec = CodeSpec::parse(text).unwrap();
        assert_eq!(spec.rules().count(), 9);
        assert!(spec.allows_one_block());
        let path = RelPath::from_normalised("src/other.py");
        let said = |blocks| {
            let breaches = spec.breaches(&path, &[], blocks).into_iter();
            let said: Vec<String> = breaches.map(|it| it.what).collect();
            said.join("; ")
        };
        assert_eq!(said(1), "is src/other.py (rule: file: `src/solver.py`)");
        assert!(said(3).starts_with("is one of 3 blocks (rule: one block); is "));
        for (line, text) in [
            (1, "Write clean code."),
            (1, "- deny imports: os"),
            (1, "- deny import: os,, re"),
            (1, "- deny import"),
            (2, "- one block\n- one block: yes"),
            (1, "- names: kebab-case"),
            (1, "- order: imports, classes"),
            (1, "- file: a.py, b.py"),
            (1, "- file: ../a.py"),
            (1, "one block"),
        ] {
            let error = CodeSpec::parse(text).unwrap_err();
            let begins = alloc::format!("has no rule in line {line}, `");
            assert!(error.starts_with(&begins), "{text}: {error}");
            assert!(error.contains("known are `one block`"), "{error}");
        }
        assert!(CodeSpec::parse(&"#\n".repeat(1 << 14)).is_err());
        assert!(CodeSpec::parse("").unwrap().is_empty());
    }

    /// Rules are stored as their text and shown by their hash.
    #[test]
    fn stored_form() {
        let spec = CodeSpec::parse("- one block\n").unwrap();
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(json, r#""- one block\n""#);
        assert_eq!(serde_json::from_str::<CodeSpec>(&json).unwrap(), spec);
        // What is on record is read whatever it says.
        let later: CodeSpec = serde_json::from_str(r#""- a rule of later\n- one block""#).unwrap();
        assert!(later.allows_one_block());
        assert_eq!(spec.to_string().len(), 64);
        assert_eq!(CodeSpec::default().to_string(), "");
    }
}
