//! Directives: what the user tells the proxy itself, in lines of a prompt that begin with `@tslp` (engine: "External
//! truth"). They are stripped before the model sees the prompt.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use crate::capture;
use crate::event::Verb;

/// How a directive's line begins.
const MARK: &str = "@tslp";

/// One directive as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// What to do.
    pub verb: Verb,
    /// What to do it to: a path or `path::symbol`; of tools, all that follows the verb.
    pub target: String,
}

/// All directives of a prompt, in order; a line that names several things gives one for each. Lines inside of code
/// blocks are code.
#[must_use]
pub fn directives(text: &str) -> Vec<Directive> {
    lines(text)
        .into_iter()
        .flat_map(|line| read(&text[line]))
        .collect()
}

/// The text without its directives.
#[must_use]
pub fn stripped(text: &str) -> Cow<'_, str> {
    let lines = lines(text);
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
fn lines(text: &str) -> Vec<Range<usize>> {
    if !text.contains('@') {
        return Vec::new();
    }
    if !text.split_inclusive('\n').any(is_directive) {
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

/// Blanks that may stand before the mark; with more, Markdown takes a line for code.
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

/// A directive for each thing that the line names.
fn read(line: &str) -> Vec<Directive> {
    let rest = line.trim_start()[MARK.len()..].trim();
    let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let verb = match word.to_ascii_lowercase().as_str() {
        "accept" => Verb::Accept,
        "reject" => Verb::Reject,
        "confirm" => Verb::Confirm,
        "allow" => Verb::Allow,
        "revoke" => Verb::Revoke,
        "stop" => Verb::Stop,
        "resume" => Verb::Resume,
        _ => Verb::Unknown,
    };
    if verb.is_about_tools() {
        let target = rest.trim().trim_end_matches(['.', '!']).to_string();
        return Vec::from([Directive { verb, target }]);
    }
    let mut named = targets(rest);
    if named.is_empty() {
        named.push(String::new());
    }
    named
        .into_iter()
        .take(TARGETS_MAX)
        .map(|target| Directive { verb, target })
        .collect()
}

/// Things that one line may name.
const TARGETS_MAX: usize = 64;

/// Words, without the punctuation of prose around them; what stands in backticks or quotes is one word.
fn targets(text: &str) -> Vec<String> {
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
        let found = directives(text);
        let found: Vec<(Verb, &str)> = found
            .iter()
            .map(|directive| (directive.verb, directive.target.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
        assert_eq!(stripped(text), rest, "{text}");
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
