//! Scope: patterns of the files that the user lets a model see, and of those that they don't (docs/scope.md).

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::delimiter;
use crate::path;
use crate::reason::Reason;
use crate::stored::stored_words;

/// Longest pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 256;

/// Most rules that are kept.
pub const RULES_MAX: usize = 1000;

stored_words! {
    /// What the user says of files.
    ScopeChange, "change of scope" {
        /// They go to no model.
        Off = "off",
        /// They may go to a model, though a rule before says that they don't.
        On = "on",
        /// They are shown whole, and nothing else is by us.
        Lock = "lock",
        /// They are no longer locked; without a pattern none is.
        Unlock = "unlock",
    }
}

/// The rules by which files are off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffRules {
    /// In the order in which they were said.
    rules: Vec<OffRule>,
    /// Other names of files and folders, each with the place that it is: a rule that means one name means the file.
    aliases: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct OffRule {
    is_off: bool,
    pattern: String,
    /// What [`pairs_of`] gives for the pattern.
    pairs: u64,
}

impl FromIterator<(ScopeChange, String)> for OffRules {
    fn from_iter<T: IntoIterator<Item = (ScopeChange, String)>>(rules: T) -> Self {
        let mut all = Self::default();
        all.extend(rules);
        all
    }
}

impl Extend<(ScopeChange, String)> for OffRules {
    fn extend<T: IntoIterator<Item = (ScopeChange, String)>>(&mut self, rules: T) {
        self.rules
            .extend(rules.into_iter().map(|(rule, pattern)| OffRule {
                is_off: rule == ScopeChange::Off,
                pairs: pairs_of(&pattern),
                pattern,
            }));
    }
}

impl OffRules {
    /// These rules, in order, and other names of files and folders with the places that they are.
    pub fn new(
        rules: impl Iterator<Item = (ScopeChange, String)>,
        aliases: Vec<(String, String)>,
    ) -> Self {
        Self {
            aliases,
            ..rules.collect()
        }
    }

    /// The pattern by which a file is off, under its own or another name: of the rules that mean a name the last one counts.
    #[must_use]
    pub fn pattern_for(&self, path: &str) -> Option<&str> {
        if self.rules.is_empty() {
            return None;
        }
        let by_name = self.pattern_for_name(path);
        let aliases = self.aliases.iter();
        let place = aliases
            .clone()
            .find_map(|(alias, place)| path::moved(path, alias, place));
        let place = place.as_deref().unwrap_or(path);
        let mut others = aliases.filter_map(|(alias, it)| path::moved(place, it, alias));
        by_name
            .or_else(|| self.pattern_for_name(place))
            .or_else(|| others.find_map(|other| self.pattern_for_name(&other)))
    }

    fn pattern_for_name(&self, path: &str) -> Option<&str> {
        let pairs = pairs_of(path);
        let rules = self.rules.iter().rev();
        let mut rules = rules.filter(|rule| rule.pairs & !pairs == 0);
        let last = rules.find(|rule| is_meant(&rule.pattern, path))?;
        last.is_off.then_some(&last.pattern)
    }

    /// Whether a file is off.
    #[must_use]
    pub fn is_off(&self, path: &str) -> bool {
        self.pattern_for(path).is_some()
    }

    /// The patterns of files that are off.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        let off = self.rules.iter().filter(|rule| rule.is_off);
        off.map(|rule| rule.pattern.as_str())
    }

    /// Other names of files that are off, and those names of theirs that are.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        let sides = self.aliases.iter();
        let sides = sides.flat_map(|(alias, place)| [alias.as_str(), place]);
        sides.filter(|name| !name.is_empty())
    }
}

/// Which pairs of neighbouring characters a text has, as bits: a path lacks none of those that a pattern asks for that means it. So
/// most patterns are passed over without being tried.
fn pairs_of(text: &str) -> u64 {
    let pairs = text.as_bytes().windows(2);
    let pairs = pairs.filter(|pair| !pair.iter().any(|byte| matches!(byte, b'*' | b'?' | b'/')));
    pairs.fold(0, |all, pair| {
        let hash = u64::from(pair[0])
            .wrapping_mul(31)
            .wrapping_add(u64::from(pair[1]));
        all | 1 << (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
    })
}

/// The folder or file below which all files are that a pattern means; empty if that is the workspace.
#[must_use]
pub fn folder_of(pattern: &str) -> &str {
    let Some(wild) = pattern.find(['*', '?']) else {
        return pattern;
    };
    pattern[..wild]
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder)
}

/// Reads a pattern as a person writes it: relative to the workspace, with `*` and `?` in a name, and `**` for any folders. One
/// without a slash is meant in every folder, as in a .gitignore; `./` in front says that it isn't. A folder stands for all in it.
///
/// # Errors
/// [`Reason::TargetMissing`] for an empty one, [`Reason::TargetOutside`] for what leads out of the workspace,
/// [`Reason::TargetNotUsable`] for overlong ones and those with characters that no file name should have.
pub fn parse_pattern(written: &str) -> Result<String, Reason> {
    let written = written.trim().replace('\\', "/");
    if written.is_empty() {
        return Err(Reason::TargetMissing);
    }
    let is_usable = written.len() <= PATTERN_BYTES_MAX
        && !written.chars().any(path::is_unusable)
        && !delimiter::quoted_in(&written);
    if !is_usable {
        return Err(Reason::TargetNotUsable);
    }
    if path::is_absolute(&written) || written.starts_with('~') {
        return Err(Reason::TargetOutside);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => return Err(Reason::TargetOutside),
            "**" if parts.last() == Some(&"**") => {}
            part => parts.push(part),
        }
    }
    if parts.is_empty() {
        return Ok("**".to_string());
    }
    if !written.trim_end_matches('/').contains('/') && parts[0] != "**" {
        parts.insert(0, "**");
    }
    Ok(parts.join("/"))
}

/// Whether a pattern that was [read](parse_pattern) means a path or a folder above it. Takes at most as many steps as the product of
/// their parts.
#[must_use]
pub fn is_meant(mut pattern: &str, mut path: &str) -> bool {
    fn split(text: &str) -> (&str, Option<&str>) {
        match text.split_once('/') {
            Some((first, rest)) => (first, Some(rest)),
            None => (text, None),
        }
    }
    // Where to go on after a `**`, if what follows doesn't fit here.
    let mut again = None;
    loop {
        let (part, rest) = split(pattern);
        if part == "**" {
            let Some(rest) = rest else {
                return true;
            };
            again = Some((rest, path));
            pattern = rest;
            continue;
        }
        let (name, below) = split(path);
        match (rest, below) {
            _ if !is_name_meant(part.as_bytes(), name.as_bytes()) => {}
            (None, _) => return true,
            (Some(rest), Some(below)) => {
                (pattern, path) = (rest, below);
                continue;
            }
            (Some(_), None) => {}
        }
        let Some((after, from)) = again else {
            return false;
        };
        let (_, Some(below)) = split(from) else {
            return false;
        };
        again = Some((after, below));
        (pattern, path) = (after, below);
    }
}

/// Whether a pattern's part means a name: `*` any characters, `?` one.
fn is_name_meant(pattern: &[u8], name: &[u8]) -> bool {
    let is_inside = |byte: &u8| byte & 0xc0 == 0x80;
    let (mut at, mut seen) = (0, 0);
    let mut again = None;
    while seen < name.len() || at < pattern.len() {
        match pattern.get(at) {
            Some(b'*') => {
                again = Some((at + 1, seen));
                at += 1;
                continue;
            }
            Some(b'?') if seen < name.len() => {
                let more = name[seen + 1..].iter().take_while(|it| is_inside(it));
                seen += 1 + more.count();
                at += 1;
                continue;
            }
            Some(byte) if name.get(seen) == Some(byte) => {
                (at, seen) = (at + 1, seen + 1);
                continue;
            }
            _ => {}
        }
        match again {
            Some((after, from)) if from < name.len() => {
                again = Some((after, from + 1));
                (at, seen) = (after, from + 1);
            }
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, meant: &[&str], others: &[&str]) {
        let read = parse_pattern(pattern).unwrap();
        for path in meant {
            assert!(is_meant(&read, path), "{pattern} means {path}");
        }
        for path in others {
            assert!(!is_meant(&read, path), "{pattern} doesn't mean {path}");
        }
    }

    #[test]
    fn like_gitignore() {
        check(
            "secrets/**",
            &["secrets/a", "secrets/b/c.txt"],
            &["secrets", "a/secrets/b", "secretsx/a"],
        );
        check(
            "secrets/",
            &["secrets/a", "lib/secrets/b/c"],
            &["secret/a", "a/secrets.c"],
        );
        check("./secrets", &["secrets/a", "secrets"], &["lib/secrets/b"]);
        check("*.env", &[".env", "a/b/prod.env"], &["env", "a.env.c"]);
        check("src/*.c", &["src/a.c"], &["src/b/a.c", "a.c", "src/a.h"]);
        check(
            "src/**/test_*.py",
            &["src/test_a.py", "src/a/b/test_.py"],
            &["test_a.py", "src/a/atest_a.py"],
        );
        check("**/a/**/b", &["a/b", "x/a/y/z/b/c"], &["a", "b", "a/c"]);
        check("a?c", &["abc", "x/aäc"], &["ac", "abbc"]);
        check("pages/[id].tsx", &["pages/[id].tsx"], &["pages/i.tsx"]);
        check("*a*b*", &["aab", "x/cabd"], &["ba"]);
        check(".", &["a", "b/c"], &[]);
        check("**", &["a", "b/c"], &[]);
    }

    #[test]
    fn refused_patterns() {
        let long = "a".repeat(300);
        for (pattern, reason) in [
            ("", Reason::TargetMissing),
            ("/etc/**", Reason::TargetOutside),
            ("C:\\x", Reason::TargetOutside),
            ("~/x", Reason::TargetOutside),
            ("../x", Reason::TargetOutside),
            ("a/../b", Reason::TargetOutside),
            ("a\u{202e}b", Reason::TargetNotUsable),
            ("a\nb", Reason::TargetNotUsable),
            (&long, Reason::TargetNotUsable),
        ] {
            assert_eq!(parse_pattern(pattern), Err(reason), "{pattern:?}");
        }
    }

    /// A hostile pattern takes no more steps than it has parts.
    #[test]
    fn hostile_pattern() {
        let pattern = parse_pattern(&"**/a*a*c/".repeat(28)).unwrap();
        assert!(!is_meant(&pattern, &"aaaaaaaaaaaaaaaaaab/".repeat(200)));
    }
}
