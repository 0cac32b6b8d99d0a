//! Fenced code blocks: backticks or tildes of any length, closed by CommonMark's rule, also indented in lists.

use alloc::borrow::Cow;
use alloc::string::String;
use core::ops::Range;

use super::path_hint::{self, Hint};
use super::{Block, Closing, Part, Standing};
use crate::event::{Format, PathEvidence};

/// All fenced blocks of `text`, in order. One pass over the lines.
pub fn scan(text: &str) -> impl Iterator<Item = Block<'_>> {
    let mut at = 0;
    let mut before = Lead::default();
    core::iter::from_fn(move || {
        while at < text.len() {
            let line = line_at(text, at);
            let Some(fence) = Fence::opened_by(&text[line.clone()]) else {
                before.pass(text, &line);
                at = line.end;
                continue;
            };
            let block = read_block(text, &line, &fence, &before);
            at = block.outer.end;
            before = Lead::default();
            return Some(block);
        }
        None
    })
}

/// The last line with text before a fence, and how many blank lines follow it.
#[derive(Clone, Default)]
struct Lead {
    line: Range<usize>,
    blanks: u32,
}

impl Lead {
    fn pass(&mut self, text: &str, line: &Range<usize>) {
        if text[line.clone()].trim().is_empty() {
            self.blanks += 1;
        } else {
            *self = Self {
                line: line.clone(),
                blanks: 0,
            };
        }
    }
}

/// An opening fence.
struct Fence<'t> {
    mark: char,
    length: usize,
    indent: usize,
    info: &'t str,
}

impl<'t> Fence<'t> {
    fn opened_by(line: &'t str) -> Option<Self> {
        let unindented = line.trim_start_matches([' ', '\t']);
        let mark = unindented
            .chars()
            .next()
            .filter(|c| matches!(c, '`' | '~'))?;
        let length = unindented.chars().take_while(|c| *c == mark).count();
        let info = unindented[length..].trim();
        let inline_code = mark == '`' && info.contains('`');
        (length >= 3 && !inline_code).then_some(Self {
            mark,
            length,
            indent: line.len() - unindented.len(),
            info,
        })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let word = line.trim();
        word.len() >= self.length && word.chars().all(|c| c == self.mark)
    }
}

fn line_at(text: &str, at: usize) -> Range<usize> {
    let end = text[at..]
        .find('\n')
        .map_or(text.len(), |newline| at + newline + 1);
    at..end
}

fn read_block<'t>(
    text: &'t str,
    opening: &Range<usize>,
    fence: &Fence<'t>,
    before: &Lead,
) -> Block<'t> {
    let start = opening.end;
    let mut at = start;
    let mut closing = Closing::Unclosed;
    let mut code_end = text.len();
    let mut outer_end = text.len();
    while at < text.len() {
        let line = line_at(text, at);
        if fence.is_closed_by(&text[line.clone()]) {
            closing = Closing::Closed;
            code_end = line.start;
            outer_end = line.end;
            break;
        }
        at = line.end;
    }
    let raw = &text[start..code_end];
    let code = unindented(raw, fence.indent);
    let verbatim = matches!(code, Cow::Borrowed(_)).then_some(start..code_end);
    let info = path_hint::info_string(fence.info);
    let hint = strongest_hint(&info, &code, text, before);
    Block {
        format: Format::Fence,
        edit: None,
        standing: Standing::Said,
        outer: opening.start..outer_end,
        verbatim,
        code,
        language: info.language,
        path: hint.path,
        evidence: hint.evidence,
        part: info.part,
        closing,
    }
}

fn strongest_hint(info: &path_hint::Info, code: &str, text: &str, before: &Lead) -> Hint {
    if let Some(path) = &info.path {
        return Hint {
            path: Some(path.clone()),
            evidence: PathEvidence::InfoString,
        };
    }
    let lead = &text[before.line.clone()];
    path_hint::line_before(lead, before.blanks)
        .or_else(|| path_hint::first_line_comment(code))
        .or_else(|| path_hint::sentence_before(lead, before.blanks))
        .unwrap_or(Hint {
            path: None,
            evidence: PathEvidence::None,
        })
}

/// The lines without the indentation that their fence has; lines with less lose what they have.
fn unindented(raw: &str, indent: usize) -> Cow<'_, str> {
    if indent == 0 {
        return Cow::Borrowed(raw);
    }
    let mut code = String::with_capacity(raw.len());
    for line in raw.split_inclusive('\n') {
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        code.push_str(&line[blanks.min(indent)..]);
    }
    Cow::Owned(code)
}

impl Part {
    pub(super) fn of_range(range: Option<&str>) -> Self {
        range.map_or(Self::Unsaid, |_| Self::Range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    /// One line a block: evidence, path, language, closing, code.
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = scan(text)
            .map(|block| {
                format!(
                    "{:?} {} {} {:?} {:?}",
                    block.evidence,
                    block.path.as_deref().unwrap_or("-"),
                    block.language.as_deref().unwrap_or("-"),
                    block.closing,
                    block.code
                )
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn paths_stand_in_info_strings() {
        check(
            "```c:src/a.c\nint x;\n```",
            &["InfoString src/a.c c Closed \"int x;\\n\""],
        );
        check(
            "```c src/a.c (10-20)\nx\n```",
            &["InfoString src/a.c c Closed \"x\\n\""],
        );
        check(
            "```src/a.c\nx\n```",
            &["InfoString src/a.c - Closed \"x\\n\""],
        );
        check(
            "```c title=\"src/a.c\"\nx\n```",
            &["InfoString src/a.c c Closed \"x\\n\""],
        );
        check("```c\nx\n```", &["None - c Closed \"x\\n\""]);
    }

    #[test]
    fn paths_stand_on_the_line_before() {
        check(
            "**src/a.c:**\n```c\nx\n```",
            &["LineBefore src/a.c c Closed \"x\\n\""],
        );
        check(
            "### `src/a.c`\n\n```\nx\n```",
            &["LineBefore src/a.c - Closed \"x\\n\""],
        );
        check(
            "Makefile\n```\nx\n```",
            &["LineBefore Makefile - Closed \"x\\n\""],
        );
        check(
            "Here is src/a.c as it stands:\n```c\nx\n```",
            &["SentenceBefore src/a.c c Closed \"x\\n\""],
        );
        check(
            "Here is the code:\n```c\nx\n```",
            &["None - c Closed \"x\\n\""],
        );
    }

    #[test]
    fn paths_stand_in_first_line_comments() {
        check(
            "```c\n// filepath: src/a.c\nx\n```",
            &["FirstLineComment src/a.c c Closed \"// filepath: src/a.c\\nx\\n\""],
        );
        check(
            "```c\n/* src/a.c */\nx\n```",
            &["FirstLineComment src/a.c c Closed \"/* src/a.c */\\nx\\n\""],
        );
        check(
            "```c\n// a comment\nx\n```",
            &["None - c Closed \"// a comment\\nx\\n\""],
        );
    }

    #[test]
    fn fences_nest_by_length_and_may_stay_open() {
        check(
            "````md\n```c\nx\n```\n````\n",
            &["None - md Closed \"```c\\nx\\n```\\n\""],
        );
        check("~~~c\n```\nx\n~~~", &["None - c Closed \"```\\nx\\n\""]);
        check("```c\nint x", &["None - c Unclosed \"int x\""]);
        check(
            "- item\n  ```c\n  int x;\n    y\n  ```",
            &["None - c Closed \"int x;\\n  y\\n\""],
        );
        check("```inline``` text", &[]);
    }

    #[test]
    fn verbatim_ranges_point_at_the_code() {
        let text = "a\n```c\nint x;\n```\n";
        let block = scan(text).next().expect("one block");
        assert_eq!(&text[block.verbatim.expect("verbatim")], "int x;\n");
        assert_eq!(&text[block.outer], "```c\nint x;\n```\n");
        assert!(
            scan(" ```\n x\n ```")
                .next()
                .expect("one block")
                .verbatim
                .is_none()
        );
    }
}
