//! Directives: what the user tells the proxy itself, in lines of a prompt that begin with `@tslp` (engine: "External
//! truth"). They are stripped before the model sees the prompt.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use crate::capture;

/// How a directive's line begins.
const MARK: &str = "@tslp";

/// What a user can tell the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Take what disk holds as the write-head's word.
    Accept,
    /// Drop the proposals for an entity.
    Reject,
    /// Promote a proposal that passed gate A, also over STALE.
    Confirm,
    /// Anything else: answered with a notice.
    Unknown,
}

impl Verb {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Reject => "reject",
            Self::Confirm => "confirm",
            Self::Unknown => "unknown",
        }
    }
}

/// One directive as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// What to do.
    pub verb: Verb,
    /// What to do it to: a path or `path::symbol`.
    pub target: String,
}

/// All directives of a prompt, in order. Lines inside of code blocks are code.
#[must_use]
pub fn directives(text: &str) -> Vec<Directive> {
    lines(text)
        .into_iter()
        .map(|line| read(&text[line]))
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
    if !text.contains(MARK) {
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

fn is_directive(line: &str) -> bool {
    line.strip_prefix(MARK)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

fn read(line: &str) -> Directive {
    let mut words = line.split_whitespace().skip(1);
    let verb = match words.next() {
        Some("accept") => Verb::Accept,
        Some("reject") => Verb::Reject,
        Some("confirm") => Verb::Confirm,
        _ => Verb::Unknown,
    };
    let target = words
        .next()
        .unwrap_or_default()
        .trim_matches('`')
        .to_string();
    Directive { verb, target }
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
        check("@tslp", &[(Verb::Unknown, "")], "");
    }

    #[test]
    fn mentions_and_code_are_none() {
        for text in [
            "ask @tslp accept x",
            "@tslpaccept x",
            "```\n@tslp accept x\n```\n",
            " @tslp accept x",
        ] {
            check(text, &[], text);
        }
    }
}
