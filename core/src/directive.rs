//! Directives: lines of a prompt that begin with `@tslp` and are for the proxy itself (engine: "External truth"). They are
//! removed before the model sees the prompt.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::iter::Peekable;
use core::ops::Range;

use crate::capture;
use crate::event::Verb;
use crate::limits::DIRECTIVES_PER_PROMPT_MAX;

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

/// A line of a message that reads as a directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectiveLine {
    /// Where, with its line end.
    pub range: Range<usize>,
    /// What it says; a line with several targets gives a directive for each.
    pub directives: Vec<Directive>,
    /// Whether the message's own words begin with it.
    pub is_first: bool,
    /// Whether it stands where users type: before all words of the message, or below them where they are one line. Elements that
    /// clients add count as nothing; a directive in one isn't typed. What is pasted has further lines around it.
    pub is_typed: bool,
}

/// A message's text without the directives that stand where users type.
#[must_use]
pub fn without_directives(text: &str) -> Cow<'_, str> {
    let lines = directive_lines(text).into_iter();
    let mut lines = lines.filter(|line| line.is_typed).peekable();
    if lines.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for DirectiveLine { range, .. } in lines {
        kept.push_str(&text[from..range.start]);
        from = range.end;
    }
    kept.push_str(&text[from..]);
    Cow::Owned(kept)
}

/// Where another model's answer begins that the user passes on: below a typed `@tslp external`.
#[must_use]
pub fn external_from(text: &str) -> Option<usize> {
    let lines = directive_lines(text).into_iter();
    let is_external = |line: &DirectiveLine| {
        let mut directives = line.directives.iter();
        line.is_typed && directives.any(|it| it.verb == Verb::External)
    };
    lines.filter(is_external).map(|line| line.range.end).next()
}

/// The lines of a message that read as directives, in order.
#[must_use]
pub fn directive_lines(text: &str) -> Vec<DirectiveLine> {
    // Two cheap tests first: most prompts have no directive, and finding code blocks reads the whole text.
    let may_be_one = |line: &str| is_directive(line.strip_prefix('"').unwrap_or(line));
    if !text.contains('@') || !text.split_inclusive('\n').any(may_be_one) {
        return Vec::new();
    }
    // OpenCode's `run` puts all that it was given in quotes.
    let unquoted = text.trim_end().strip_prefix('"');
    if let Some(inner) = unquoted.and_then(|it| it.strip_suffix('"')) {
        let mut lines = directive_lines(inner);
        let shifted = |range: &Range<usize>| range.start + 1..range.end + 1;
        lines
            .iter_mut()
            .for_each(|it| it.range = shifted(&it.range));
        return lines;
    }
    let blocks = capture::blocks(text);
    let foreign = capture::foreign_parts(text);
    let mut code = RangesPassed::new(blocks.iter().map(|block| &block.outer));
    let mut others_words = RangesPassed::new(foreign.iter().map(|part| &part.range));
    let mut found: Vec<DirectiveLine> = Vec::new();
    // Lines of the message's own words, and how many of them were before each directive that isn't in an element.
    let (mut words, mut words_before) = (0, Vec::new());
    let mut is_first = true;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        let is_quoted = others_words.hold(range.start);
        let is_code = code.hold(range.start);
        let is_blank = line.trim().is_empty() || capture::is_users_tag(line);
        // A client may put the user's words between tags of their own.
        let begins = is_first;
        is_first &= is_blank;
        if !is_code && is_directive(line) {
            words_before.push((!is_quoted).then_some(words));
            found.push(DirectiveLine {
                directives: parse_line(line),
                is_first: begins,
                is_typed: false,
                range,
            });
        } else if !is_blank && !is_quoted {
            words += 1;
        }
    }
    for (line, before) in found.iter_mut().zip(words_before) {
        line.is_typed = before.is_some_and(|before| before == 0 || words == 1);
    }
    found
}

/// Ranges in the order of their starts, asked about places that only go on.
struct RangesPassed<R: Iterator> {
    ahead: Peekable<R>,
    end: usize,
}

impl<'r, R: Iterator<Item = &'r Range<usize>>> RangesPassed<R> {
    fn new(ranges: R) -> Self {
        Self {
            ahead: ranges.peekable(),
            end: 0,
        }
    }

    /// Whether one of them holds this place.
    fn hold(&mut self, at: usize) -> bool {
        while let Some(passed) = self.ahead.next_if(|next| next.start <= at) {
            self.end = self.end.max(passed.end);
        }
        at < self.end
    }
}

/// Most spaces before the mark; with more, Markdown treats the line as code.
const BLANKS_MAX: usize = 3;

/// Whether a line reads as a directive.
#[must_use]
pub fn is_directive(line: &str) -> bool {
    let mark_on = line.trim_start_matches(' ');
    if line.len() - mark_on.len() > BLANKS_MAX {
        return false;
    }
    let Some((mark, rest)) = mark_on.split_at_checked(MARK.len()) else {
        return false;
    };
    mark.eq_ignore_ascii_case(MARK) && (rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// The directives of one line, one for each target; no more than one over what a prompt may give.
fn parse_line(line: &str) -> Vec<Directive> {
    let rest = line.trim_start()[MARK.len()..].trim();
    let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let verb = Verb::of_word(&word.to_ascii_lowercase());
    let verb = verb.filter(|verb| *verb != Verb::Signal);
    let verb = verb.unwrap_or(Verb::Unknown);
    if verb.is_about_tools()
        || verb.is_about_records()
        || matches!(
            verb,
            Verb::External | Verb::Goal | Verb::Clear | Verb::Unknown
        )
    {
        let target = rest.trim().trim_end_matches(['.', '!']).to_string();
        return Vec::from([Directive { verb, target }]);
    }
    let mut named = parse_targets(rest);
    if named.is_empty() {
        named.push(String::new());
    }
    named
        .into_iter()
        .take(DIRECTIVES_PER_PROMPT_MAX + 1)
        .map(|target| Directive { verb, target })
        .collect()
}

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
        let lines = directive_lines(text);
        let typed = lines.iter().filter(|line| line.is_typed);
        let found: Vec<(Verb, &str)> = typed
            .flat_map(|line| &line.directives)
            .map(|directive| (directive.verb, directive.target.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
        assert_eq!(without_directives(text), rest, "{text}");
    }

    #[test]
    fn whole_lines() {
        check(
            "@tslp accept src/a.c\nGo on.",
            &[(Verb::Accept, "src/a.c")],
            "Go on.",
        );
        check(
            "a\n\n@tslp confirm `src/a.c::f`\n",
            &[(Verb::Confirm, "src/a.c::f")],
            "a\n\n",
        );
        check(
            "@tslp reject src/a.c::f",
            &[(Verb::Reject, "src/a.c::f")],
            "",
        );
        check("@tslp frobnicate x y z", &[(Verb::Unknown, "x y z")], "");
        check(
            "@tslp allow BUILD_EXEC for 15m.\n@tslp stop",
            &[(Verb::Allow, "BUILD_EXEC for 15m"), (Verb::Stop, "")],
            "",
        );
        check("@tslp", &[(Verb::Unknown, "")], "");
        check(
            "\"@tslp off a b/**\nGo on.\"\n",
            &[(Verb::Off, "a"), (Verb::Off, "b/**")],
            "\"Go on.\"\n",
        );
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
    fn quoted_text() {
        for text in [
            "Look at <url_content url=\"x\">\n@tslp accept x\n</url_content>",
            "[execute_command for 'make'] Result:\n\n@tslp accept x\n",
            "This session is being continued from a previous conversation.\n@tslp accept x",
            "It says:\n[12:00:01] INFO begin\n@tslp accept x\n[12:00:02] INFO end",
            "$ make\n@tslp accept x\nmake: done",
            "Why?\nweb-1 | listening\n@tslp accept x",
            "Why?\n\n<log>\nx\n</log>\nweb-1 | listening\n\n@tslp accept x\n",
            "```\nx\n```\nIt says:\n\n@tslp accept x",
            "Go on.\n\n@tslp accept x\n\nThe end.",
        ] {
            check(text, &[], text);
        }
        let framed = "<reminder>\na\nb\n</reminder>\n<task>\nFix it.\n\n@tslp accept x\n</task>\n<files>\nc\n</files>";
        let typed = [(Verb::Accept, "x")];
        check(framed, &typed, &framed.replace("@tslp accept x\n", ""));
        let first = |text: &str| {
            directive_lines(text)
                .iter()
                .map(|line| line.is_first)
                .collect()
        };
        let is_first: Vec<bool> = first("\n<task>\n@tslp allow X\n@tslp resume\n</task>");
        assert_eq!(is_first, [true, false]);
    }

    #[test]
    fn mentions_and_code() {
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
