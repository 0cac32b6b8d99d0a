//! What names the file of a fenced block: its info string, the line before it, a comment on its first line.

use alloc::string::{String, ToString};

use super::Part;
use crate::event::PathEvidence;
use crate::limits::PATH_BYTES_MAX;

/// A path as written and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The path.
    pub path: Option<String>,
    /// What named it.
    pub evidence: PathEvidence,
}

/// What a fence's info string says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// The language.
    pub language: Option<String>,
    /// The path.
    pub path: Option<String>,
    /// Whether a range of lines is named.
    pub part: Part,
}

/// Reads an info string: `cpp`, `cpp:src/a.cpp`, `cpp src/a.cpp (10-20)`, `src/a.cpp`, `c title="src/a.c"`.
#[must_use]
pub fn info_string(info: &str) -> Info {
    let mut words = info.split_whitespace();
    let first = words.next().unwrap_or_default();
    let rest = info[first.len()..].trim();
    let attribute = attribute_path(info);
    let (language, joined_path) = match first.split_once([':', '：']) {
        Some((language, path)) if !path.is_empty() => (language, Some(path)),
        _ if looks_like_path(first) && !first.contains('=') => ("", Some(first)),
        _ => (first, None),
    };
    let spaced = rest
        .split_once(" (")
        .map_or(rest, |(path, _)| path)
        .trim_end();
    let spaced_path =
        (!spaced.is_empty() && !spaced.contains('=') && looks_like_path(spaced)).then_some(spaced);
    let range = rest
        .rsplit_once('(')
        .and_then(|(_, range)| line_range(range));
    Info {
        language: language_word(language),
        path: attribute
            .or(joined_path)
            .or(spaced_path)
            .map(ToString::to_string),
        part: Part::of_range(range),
    }
}

/// The path in `title="…"`, `file=…`, `filename=…`, `path=…`.
fn attribute_path(info: &str) -> Option<&str> {
    ["title=", "filename=", "file=", "filepath=", "path="]
        .iter()
        .find_map(|name| {
            let at = info.find(name)?;
            let value = &info[at + name.len()..];
            let quoted = value
                .strip_prefix('"')
                .and_then(|rest| rest.split_once('"'))
                .or_else(|| {
                    value
                        .strip_prefix('\'')
                        .and_then(|rest| rest.split_once('\''))
                })
                .map(|(inside, _)| inside);
            let value = quoted.or_else(|| value.split_whitespace().next())?;
            looks_like_path(value).then_some(value)
        })
}

fn language_word(word: &str) -> Option<String> {
    let word = word.trim_start_matches(['{', '.']).trim_end_matches('}');
    (!word.is_empty()).then(|| word.to_ascii_lowercase())
}

/// `10-20)` or `10)`.
fn line_range(text: &str) -> Option<&str> {
    let range = text.strip_suffix(')')?;
    let digits = range
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'-');
    (digits && range.bytes().any(|byte| byte.is_ascii_digit())).then_some(range)
}

/// A line that is a path and nothing else, after the decorations that models put around it (aider's rule). One blank
/// line may follow it.
#[must_use]
pub fn line_before(line: &str, blanks: u32) -> Option<Hint> {
    let word = line
        .trim()
        .trim_start_matches(['#', '*', '-', '>'])
        .trim()
        .trim_end_matches('*')
        .trim_end_matches(':')
        .trim_matches(['*', '`', '"'])
        .trim_end_matches(':');
    let word = strip_label(word).trim_matches(['*', '`', ' ']);
    (blanks <= 1 && looks_like_file(word)).then(|| Hint {
        path: Some(word.to_string()),
        evidence: PathEvidence::LineBefore,
    })
}

/// `File: src/a.c` and `filepath: src/a.c` name a path as plainly as the path alone.
fn strip_label(line: &str) -> &str {
    match line.split_once(':') {
        Some((label, path)) if is_label(label) => path.trim(),
        _ => line,
    }
}

fn is_label(word: &str) -> bool {
    ["file", "filepath", "filename", "path"]
        .iter()
        .any(|label| {
            word.trim()
                .trim_matches(['*', '`'])
                .eq_ignore_ascii_case(label)
        })
}

/// The only path in the sentence before the block.
#[must_use]
pub fn sentence_before(line: &str, blanks: u32) -> Option<Hint> {
    if blanks > 1 || line.len() > 4 * PATH_BYTES_MAX {
        return None;
    }
    let mut paths = line
        .split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ','))
        .map(|word| word.trim_matches(['*', ':', '.', ';', '!', '?']))
        .filter(|word| looks_like_path(word) && word.rsplit('/').next().is_some_and(has_extension));
    let path = paths.next()?;
    paths.all(|other| other == path).then(|| Hint {
        path: Some(path.to_string()),
        evidence: PathEvidence::SentenceBefore,
    })
}

/// `// filepath: src/a.c`, `# filepath: …`, `<!-- filepath: … -->`, or a path alone in a comment on the first line.
#[must_use]
pub fn first_line_comment(code: &str) -> Option<Hint> {
    let line = code.lines().next()?.trim();
    let inside = ["//", "#", "--", ";", "/*", "<!--", "%"]
        .iter()
        .find_map(|opening| line.strip_prefix(opening))?;
    let inside = inside.trim_end_matches("*/").trim_end_matches("-->").trim();
    let labelled = inside
        .split_once(':')
        .filter(|(label, _)| is_label(label))
        .map(|(_, path)| path.trim());
    let path = labelled.unwrap_or(inside);
    let plain = labelled.is_some() || has_extension(path);
    (plain && looks_like_path(path)).then(|| Hint {
        path: Some(path.to_string()),
        evidence: PathEvidence::FirstLineComment,
    })
}

/// A word that can be a path: no blanks or odd characters, with a slash or an extension.
fn looks_like_path(word: &str) -> bool {
    is_path_text(word) && (word.contains(['/', '\\']) || has_extension(word))
}

/// A word that can be a file's name on a line of its own; names without an extension only where they are well known.
fn looks_like_file(word: &str) -> bool {
    const WITHOUT_EXTENSION: [&str; 7] = [
        "Makefile",
        "Dockerfile",
        "Rakefile",
        "Gemfile",
        "Jenkinsfile",
        "Justfile",
        "BUILD",
    ];
    looks_like_path(word) || WITHOUT_EXTENSION.contains(&word)
}

fn is_path_text(word: &str) -> bool {
    !word.is_empty()
        && word.len() <= PATH_BYTES_MAX
        && !word.contains("://")
        && !word.contains("::")
        && !word.ends_with('/')
        && !word.chars().any(|c| {
            c.is_whitespace()
                || matches!(
                    c,
                    '<' | '>' | '|' | '"' | '*' | '?' | ';' | '{' | '}' | '(' | ')' | '='
                )
        })
}

fn has_extension(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=10).contains(&extension.len())
            && extension
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'_'))
            && extension.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}
