//! Directives: lines of a prompt that begin with `@tslp` and are for the proxy itself (engine: "External truth"). They are
//! removed before the model sees the prompt.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use crate::capture;
use crate::event::Verb;

/// The beginning of a directive's line.
const MARK: &str = "@tslp";

/// One directive as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// The action.
    pub verb: Verb,
    /// Its target as written: a path or `path::symbol`; for a directive about tools, all that follows the verb.
    pub target: String,
}

/// All directives of a prompt, in order; a line with several targets gives one for each. Lines inside of code
/// blocks are code.
#[must_use]
pub fn directives_in(text: &str) -> Vec<Directive> {
    directive_lines(text)
        .into_iter()
        .flat_map(|line| parse_line(&text[line]))
        .collect()
}

/// The text without its directives.
#[must_use]
pub fn without_directives(text: &str) -> Cow<'_, str> {
    let lines = directive_lines(text);
    if lines.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for line in lines {
        kept.push_str(&text[from..line.start]);
        from = line.end;
    }
    kept.push_str(&text[from..]);
    Cow::Owned(kept)
}

/// Byte ranges of the directives' lines, with their line ends.
fn directive_lines(text: &str) -> Vec<Range<usize>> {
    // Two cheap tests first: most prompts have no directive, and finding code blocks reads the whole text.
    if !text.contains('@') || !text.split_inclusive('\n').any(is_directive) {
        return Vec::new();
    }
    let blocks = capture::blocks(text);
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        let is_code = blocks
            .iter()
            .any(|block| block.outer.contains(&range.start));
        if is_directive(line) && !is_code {
            found.push(range);
        }
    }
    found
}

/// Most spaces before the mark; with more, Markdown treats the line as code.
const BLANKS_MAX: usize = 3;

fn is_directive(line: &str) -> bool {
    let mark_on = line.trim_start_matches(' ');
    if line.len() - mark_on.len() > BLANKS_MAX {
        return false;
    }
    let Some((mark, rest)) = mark_on.split_at_checked(MARK.len()) else {
        return false;
    };
    mark.eq_ignore_ascii_case(MARK) && (rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// The directives of one line, one for each target.
fn parse_line(line: &str) -> Vec<Directive> {
    let rest = line.trim_start()[MARK.len()..].trim();
    let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let verb = Verb::of_word(&word.to_ascii_lowercase()).unwrap_or(Verb::Unknown);
    if verb.is_about_tools() {
        let target = rest.trim().trim_end_matches(['.', '!']).to_string();
        return Vec::from([Directive { verb, target }]);
    }
    let mut named = parse_targets(rest);
    if named.is_empty() {
        named.push(String::new());
    }
    named
        .into_iter()
        .take(TARGETS_MAX)
        .map(|target| Directive { verb, target })
        .collect()
}

/// Most targets of one line.
const TARGETS_MAX: usize = 64;

/// The words of a text, without the punctuation of prose around them; text in backticks or quotes is one word.
fn parse_targets(text: &str) -> Vec<String> {
    let mut targets = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let quoted = matches!(first, '`' | '"' | '\'')
            .then(|| rest[1..].split_once(first))
            .flatten();
        let (target, after) = match quoted {
            Some((inside, after)) => (inside, after),
            None => {
                let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                (word.trim_end_matches(['.', ',', ';', '!']), after)
            }
        };
        if !matches!(target, "" | "and") {
            targets.push(target.to_string());
        }
        rest = after.trim_start_matches(['.', ',', ';', '!']).trim_start();
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(Verb, &str)], rest: &str) {
        let found = directives_in(text);
        let found: Vec<(Verb, &str)> = found
            .iter()
            .map(|directive| (directive.verb, directive.target.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
        assert_eq!(without_directives(text), rest, "{text}");
    }

    #[test]
    fn directives_are_whole_lines_of_prose() {
        check(
            "@tslp accept src/a.c\nGo on.",
            &[(Verb::Accept, "src/a.c")],
            "Go on.",
        );
        check(
            "a\n@tslp confirm `src/a.c::f`\nb",
            &[(Verb::Confirm, "src/a.c::f")],
            "a\nb",
        );
        check(
            "@tslp reject src/a.c::f",
            &[(Verb::Reject, "src/a.c::f")],
            "",
        );
        check("@tslp frobnicate x", &[(Verb::Unknown, "x")], "");
        check(
            "@tslp allow BUILD_EXEC for 15m.\n@tslp stop",
            &[(Verb::Allow, "BUILD_EXEC for 15m"), (Verb::Stop, "")],
            "",
        );
        check("@tslp", &[(Verb::Unknown, "")], "");
        check("   @tslp accept x\ny", &[(Verb::Accept, "x")], "y");
        check(
            "@TSLP Accept src/a.c, `src/my file.c` and lib/b.c::f.\n",
            &[
                (Verb::Accept, "src/a.c"),
                (Verb::Accept, "src/my file.c"),
                (Verb::Accept, "lib/b.c::f"),
            ],
            "",
        );
    }

    #[test]
    fn mentions_and_code_are_none() {
        for text in [
            "ask @tslp accept x",
            "@tslpaccept x",
            "```\n@tslp accept x\n```\n",
            "    @tslp accept x",
            "\t@tslp accept x",
        ] {
            check(text, &[], text);
        }
    }
}
