//! Paths that name a block's file: in its info string, the line before it, a comment on its first line.

use alloc::string::{String, ToString};

use super::block::StatedExtent;
use crate::event::PathEvidence;
use crate::limits::PATH_BYTES_MAX;

/// A path as it was written, and how it was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathHint {
    /// The path.
    pub path: Option<String>,
    /// How it was named.
    pub evidence: PathEvidence,
    /// Whether a range of lines is named.
    pub stated_extent: StatedExtent,
    /// The definition that is named with the path.
    pub symbol: Option<String>,
}

impl PathHint {
    /// The hint for a path in an edit format's header or a tool call's argument.
    #[must_use]
    pub fn header(path: String) -> Self {
        Self {
            path: Some(path),
            evidence: PathEvidence::Header,
            stated_extent: StatedExtent::Unstated,
            symbol: None,
        }
    }

    fn of(reference: PathReference<'_>, evidence: PathEvidence) -> Self {
        Self {
            path: Some(reference.path.to_string()),
            evidence,
            stated_extent: reference.stated_extent,
            symbol: reference.symbol.map(ToString::to_string),
        }
    }
}

/// The contents of a fence's info string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FenceInfo {
    /// The language.
    pub language: Option<String>,
    /// The path, if it names one.
    pub hint: Option<PathHint>,
}

/// Reads an info string: `cpp`, `cpp:src/a.cpp`, `cpp src/a.cpp (10-20)`, `src/a.cpp`, `c title="src/a.c"`.
#[must_use]
pub fn info_string(info: &str) -> FenceInfo {
    let first = info.split_whitespace().next().unwrap_or_default();
    let rest = info.trim_start()[first.len()..].trim();
    let (language, joined) = language_and_path(first);
    let spaced = match rest.split_once(" (") {
        Some((path, _)) => path.trim_end(),
        None => rest,
    };
    let spaced = path_reference(spaced)
        .filter(|it| it.path.contains(['/', '\\']) && is_spaced_path(it.path) || is_path(it.path));
    let attribute = attribute_path(info).map(|path| PathReference {
        path,
        stated_extent: StatedExtent::Unstated,
        symbol: None,
    });
    let named = attribute.or(joined).or(spaced);
    let mut hint = named.map(|named| PathHint::of(named, PathEvidence::InfoString));
    let range = rest.rsplit_once('(');
    if let Some(hint) = hint.as_mut()
        && range.is_some_and(|(_, range)| is_line_range(range))
    {
        hint.stated_extent = StatedExtent::Range;
    }
    FenceInfo {
        language: language_word(language),
        hint,
    }
}

/// `cpp:src/a.cpp`, `:src/a.cpp`, `src/a.cpp`, `src/a.cpp:10-20`, `cpp`.
fn language_and_path(word: &str) -> (&str, Option<PathReference<'_>>) {
    let whole = path_reference(word).filter(|whole| is_path(whole.path));
    match word.split_once([':', '：']) {
        Some((language, path)) if !path.is_empty() => match whole {
            Some(whole) if whole.stated_extent == StatedExtent::Range && is_path(language) => {
                ("", Some(whole))
            }
            _ => (language, path_reference(path)),
        },
        _ => match whole {
            Some(whole) => ("", Some(whole)),
            None => (word, None),
        },
    }
}

/// The path in `title="…"`, `file=…`, `filename=…`, `path=…`.
fn attribute_path(info: &str) -> Option<&str> {
    ["title=", "filename=", "file=", "filepath=", "path="]
        .iter()
        .find_map(|name| {
            let at = info.find(name)?;
            let value = &info[at + name.len()..];
            let quoted = ['"', '\''].iter().find_map(|quote| {
                let (inside, _) = value.strip_prefix(*quote)?.split_once(*quote)?;
                Some(inside)
            });
            let value = quoted.or_else(|| value.split_whitespace().next())?;
            (is_path(value) || is_spaced_path(value)).then_some(value)
        })
}

fn language_word(word: &str) -> Option<String> {
    let word = word.trim_start_matches(['{', '.']).trim_end_matches('}');
    (!word.is_empty()).then(|| word.to_ascii_lowercase())
}

/// `10-20)` or `10)`.
fn is_line_range(text: &str) -> bool {
    text.strip_suffix(')').is_some_and(|range| {
        range
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
            && range.bytes().any(|byte| byte.is_ascii_digit())
    })
}

/// A line that is a path and nothing else, after the decorations that models put around it (aider's rule). One blank
/// line may follow it.
#[must_use]
pub fn line_before(line: &str, blanks: u32) -> Option<PathHint> {
    if blanks > 1 || line.len() > 4 * PATH_BYTES_MAX {
        return None;
    }
    let word = line
        .trim()
        .trim_start_matches(['#', '*', '-', '>'])
        .trim()
        .trim_end_matches('*')
        .trim_end_matches([':', '：'])
        .trim_matches(['*', '`', '"'])
        .trim_end_matches([':', '：']);
    let word = strip_label(word).trim_matches(['*', '`', ' ']);
    let named = path_reference(word)?;
    (is_file(named.path) || is_spaced_path(named.path))
        .then(|| PathHint::of(named, PathEvidence::LineBefore))
}

/// `File: src/a.c` and `filepath: src/a.c` name a path as plainly as the path alone.
fn strip_label(line: &str) -> &str {
    match line.split_once([':', '：']) {
        Some((label, path)) if is_label(label) => path.trim(),
        _ => line,
    }
}

fn is_label(word: &str) -> bool {
    ["file", "filepath", "filename", "path", "entity"]
        .iter()
        .any(|label| {
            word.trim()
                .trim_matches(['*', '`'])
                .eq_ignore_ascii_case(label)
        })
}

/// The path in the sentence before the block, if it names exactly one.
#[must_use]
pub fn sentence_before(line: &str, blanks: u32) -> Option<PathHint> {
    if blanks > 1 || line.len() > 4 * PATH_BYTES_MAX {
        return None;
    }
    let quoted = line.split('`').skip(1).step_by(2);
    if let Some(spaced) = quoted
        .filter_map(path_reference)
        .find(|it| is_spaced_path(it.path))
    {
        return Some(PathHint::of(spaced, PathEvidence::SentenceBefore));
    }
    let mut named = line
        .split(|c: char| {
            c.is_whitespace()
                || matches!(
                    c,
                    '`' | '"' | '\'' | '(' | ')' | ',' | '（' | '）' | '，' | '。'
                )
        })
        .map(|word| word.trim_matches(['*', ':', '.', ';', '!', '?', '：']))
        .filter_map(path_reference)
        .filter(|word| is_path(word.path) && has_extension(word.path));
    let first = named.next()?;
    let line = line.trim();
    // A heading, and a sentence that leads to what follows it, say whose code that is.
    let introduces = line.starts_with('#') || line.trim_end_matches('*').ends_with([':', '：']);
    let evidence = match introduces {
        true => PathEvidence::LineBefore,
        false => PathEvidence::SentenceBefore,
    };
    named
        .all(|other| other.path == first.path)
        .then(|| PathHint::of(first, evidence))
}

/// `// filepath: src/a.c`, `# filepath: …`, `<!-- filepath: … -->`, or a path alone in a comment on the first line.
#[must_use]
pub fn first_line_comment(code: &str) -> Option<PathHint> {
    let named = named_in_comment(code.lines().next()?)?;
    Some(PathHint::of(named, PathEvidence::FirstLineComment))
}

/// The file that a comment names, if that is all that it says.
#[must_use]
pub fn file_comment(comment: &str) -> Option<&str> {
    let comment = comment.trim();
    let named = named_in_comment(comment).filter(|_| !comment.contains('\n'));
    named.map(|named| named.path)
}

/// How comments begin, longer marks first, and how they end.
const COMMENTS: [(&str, &str); 11] = [
    ("///", ""),
    ("//!", ""),
    ("//", ""),
    ("/*", "*/"),
    ("<!--", "-->"),
    ("(*", "*)"),
    ("{-", "-}"),
    ("#", ""),
    ("--", ""),
    (";", ""),
    ("%", ""),
];

fn named_in_comment(line: &str) -> Option<PathReference<'_>> {
    let line = line.trim();
    if line.len() > 4 * PATH_BYTES_MAX {
        return None;
    }
    let inside = COMMENTS.iter().find_map(|(opening, end)| {
        let inside = line.strip_prefix(opening)?;
        Some(inside.strip_suffix(end).unwrap_or(inside))
    })?;
    // `# ---- src/a.py ----`, `// **src/a.c**:`, `# src/a.py (changed)`.
    let inside = inside.trim_matches(|c| "=*~`\"#: \t".contains(c));
    let inside = match inside.starts_with("--") {
        true => inside.trim_matches(['-', ' ']),
        false => inside,
    };
    let remark = inside
        .rsplit_once(" (")
        .filter(|(_, remark)| remark.ends_with(')') && !is_line_range(remark));
    let inside = remark.map_or(inside, |(path, _)| path);
    let labelled = inside
        .split_once([':', '：'])
        .filter(|(label, _)| is_label(label))
        .map(|(_, path)| path.trim());
    let named = path_reference(labelled.unwrap_or(inside))?;
    let is_name = match labelled {
        Some(_) => is_path(named.path) || is_spaced_path(named.path),
        None => has_extension(named.path) && is_path(named.path),
    };
    is_name.then_some(named)
}

/// A path with its line range, if one is named.
#[derive(Clone, Copy)]
struct PathReference<'t> {
    path: &'t str,
    stated_extent: StatedExtent,
    symbol: Option<&'t str>,
}

/// Reads `src/a.c`, `@src/a.c`, `src/a.c:10`, `src/a.c:10-20`, `src/a.c#L10-L20`. Whether the rest is a path isn't checked.
fn path_reference(word: &str) -> Option<PathReference<'_>> {
    let word = word.strip_prefix('@').unwrap_or(word);
    // An entity is named with its file.
    let entity = word
        .split_once("::")
        .filter(|(path, _)| has_extension(path));
    let word = entity.map_or(word, |(path, _)| path);
    let is_lines = |lines: &str| {
        let mut numbers = lines.split(['-', ':', ',']);
        let is_number = |number: &str| {
            let number = number.strip_prefix('L').unwrap_or(number);
            !number.is_empty()
                && number.len() <= 9
                && number.bytes().all(|byte| byte.is_ascii_digit())
        };
        numbers.clone().count() <= 2 && numbers.all(is_number)
    };
    let ranged = [word.rsplit_once('#'), word.split_once(':')]
        .into_iter()
        .flatten()
        .find(|(path, lines)| has_extension(path) && is_lines(lines));
    let (path, part) = match ranged {
        Some((path, _)) => (path, StatedExtent::Range),
        None => (word, StatedExtent::Unstated),
    };
    (!path.is_empty()).then_some(PathReference {
        path,
        stated_extent: part,
        symbol: entity.map(|(_, symbol)| symbol),
    })
}

/// Whether a word can be a path: no whitespace or odd characters, with a slash or an extension.
fn is_path(word: &str) -> bool {
    is_path_text(word)
        && !word.contains(char::is_whitespace)
        && (word.contains(['/', '\\']) || has_extension(word))
}

/// Whether words may be one path with blanks: the last alone ends in an extension. `Fix the bug in main.c` is prose; whether
/// `my file.c` is, only who knows the files can tell.
#[must_use]
pub fn is_spaced_path(words: &str) -> bool {
    const OF_PROSE: &str = " a add and at code create edit file fix for from here in is like of or see the this to update updated with write ";
    let is_plain = |word: &str| {
        let is_prose = OF_PROSE.contains(&*[" ", &word.to_ascii_lowercase(), " "].concat());
        let is_edged = word.starts_with('-') || word.ends_with(['.', ':', '!', '?']);
        !word.is_empty() && !is_edged && !is_prose && !has_extension(word)
    };
    words.rsplit_once(' ').is_some_and(|(before, last)| {
        let begins_with_folder = before
            .split(' ')
            .next()
            .is_some_and(|it| it.contains(['/', '\\']));
        is_path_text(words)
            && !words.contains(['\t', ',', '`', '\''])
            && (begins_with_folder || !words.contains(['/', '\\']))
            && has_extension(last)
            && before.split(' ').all(is_plain)
    })
}

/// Whether a word alone on its line can be a file's name; names without an extension only if they are well known.
fn is_file(word: &str) -> bool {
    const WITHOUT_EXTENSION: [&str; 7] = [
        "Makefile",
        "Dockerfile",
        "Rakefile",
        "Gemfile",
        "Jenkinsfile",
        "Justfile",
        "BUILD",
    ];
    is_path(word) || WITHOUT_EXTENSION.contains(&word)
}

fn is_path_text(word: &str) -> bool {
    !word.is_empty()
        && word.len() <= PATH_BYTES_MAX
        && !word.contains("://")
        && !word.contains("::")
        && !word.ends_with('/')
        && !word.chars().any(|c| {
            c.is_control()
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn shown(hint: Option<PathHint>) -> String {
        hint.map_or_else(
            || String::from("-"),
            |hint| {
                let path = hint.path.unwrap_or_default();
                match hint.stated_extent {
                    StatedExtent::Unstated => path,
                    part => format!("{path} {part:?}"),
                }
            },
        )
    }

    fn check_line(line: &str, expected: &str) {
        assert_eq!(shown(line_before(line, 0)), expected, "{line}");
    }

    #[test]
    fn path_alone() {
        for line in [
            "src/a.c",
            "**src/a.c**:",
            "#### `src/a.c`",
            "@src/a.c",
            "`@src/a.c`:",
            "File: src/a.c",
            "**File：`src/a.c`**",
            "src/a.c：",
            "> src/a.c",
        ] {
            check_line(line, "src/a.c");
        }
        for line in [
            "src/a.c:10-20",
            "`src/a.c#L10-L20`:",
            "@src/a.c:7",
            "src/a.c#L7",
        ] {
            check_line(line, "src/a.c Range");
        }
        for line in [
            "Here it is:",
            "e.g. this",
            "http://x.org/a.c",
            "a::b",
            "src/",
            "x = a.c",
            "",
        ] {
            check_line(line, "-");
        }
    }

    #[test]
    fn paths_with_blanks() {
        check_line("src/my file.c", "src/my file.c");
        check_line("**`./My Project (old)/a.c`**", "-");
        check_line("`src/my other/a file.c`:", "src/my other/a file.c");
        for line in [
            "See src/a.c",
            "src/a.c and src/b.c",
            "`cat src/a.c`",
            "./run -o a.c",
            "src/x, then a.c",
            "src/a.c is new",
            "1. a.c",
            "Fix the bug in a.c",
        ] {
            check_line(line, "-");
        }
        for line in [
            "my file.c",
            "### my file.c",
            "**my file.c**",
            "**my file.c:**",
            "File: my file.c",
            "**File:** `my file.c`",
            "`my file.c`",
            "my file.c:",
        ] {
            check_line(line, "my file.c");
        }
    }

    #[test]
    fn info_strings() {
        let check = |info: &str, language: &str, hint: &str| {
            let info_read = info_string(info);
            assert_eq!(
                info_read.language.as_deref().unwrap_or("-"),
                language,
                "{info}"
            );
            assert_eq!(shown(info_read.hint), hint, "{info}");
        };
        check("c", "c", "-");
        check("c:src/a.c", "c", "src/a.c");
        check("c：src/a.c", "c", "src/a.c");
        check(":src/a.c", "-", "src/a.c");
        check("c:src/a.c:10-20", "c", "src/a.c Range");
        check("src/a.c:10-20", "-", "src/a.c Range");
        check("src/a.c#L10-L20", "-", "src/a.c Range");
        check("c src/a.c (10-20)", "c", "src/a.c Range");
        check("c src/my file.c (10-20)", "c", "src/my file.c Range");
        check("c src/a.c", "c", "src/a.c");
        check("c @src/a.c", "c", "src/a.c");
        check("c title=\"src/a.c\"", "c", "src/a.c");
        check("{.python}", "python", "-");
        check("python run main.py", "python", "-");
    }

    #[test]
    fn path_in_sentence() {
        let check = |line: &str, expected: &str| {
            assert_eq!(shown(sentence_before(line, 0)), expected, "{line}");
        };
        check("Here is src/a.c:", "src/a.c");
        check("Look at @src/a.c, please.", "src/a.c");
        check("In `src/a.c:10-20` there is this:", "src/a.c Range");
        check("src/a.c includes src/a.c", "src/a.c");
        check("src/a.c includes src/b.h", "-");
        check("文件（src/a.c）：", "src/a.c");
    }

    #[test]
    fn path_in_first_line() {
        let check = |line: &str, expected: &str| {
            assert_eq!(shown(first_line_comment(line)), expected, "{line}");
        };
        check("// filepath: src/a.c\nx", "src/a.c");
        check("# src/a.py:1-20", "src/a.py Range");
        check("<!-- filepath: /w/a.html -->", "/w/a.html");
        check("# ==== src/a.py ====", "src/a.py");
        check("/** src/a.c */", "src/a.c");
        check("/// **src/a.c**:", "src/a.c");
        check("(* src/a.ml *)", "src/a.ml");
        check("-- src/a.sql (changed)", "src/a.sql");
        check("# ---- src/a.py ----", "src/a.py");
        check("# - src/a.py", "-");
        check("int x; // src/a.c", "-");
        check("// a comment", "-");
    }
}
