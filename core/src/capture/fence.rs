//! Fenced code blocks, also in lists, and tags that are used like fences.

use alloc::borrow::Cow;
use alloc::string::String;
use core::ops::Range;

use super::block::{Closing, FenceContent, ToolFence};
use super::container::Container;
use super::ends::{ClosingTags, TagPosition};
use super::line::{LineBefore, line_at, lines_from};
use super::path_hint::{self, PathHint};
use super::payload::{PayloadKind, ends_block, opens_block};
use super::vocabulary::FENCE_TAGS;
use crate::opening_fence::{OpeningFence, OutsideFences};

/// The info string of a fence that shows what a tool gave.
pub const RESULT_FENCE: &str = "tool-result";

/// Reads the fence that a line opens.
pub(super) fn read<'t>(
    text: &'t str,
    opening: &Range<usize>,
    fence: &OpeningFence<'_>,
    line_before: &LineBefore,
) -> Container<'t> {
    let (code_end, outer_end, closing) = fence.find_end(text, opening.end);
    let raw = opening.end..code_end;
    let piece = without_indentation(&text[raw.clone()], fence.indent);
    let info = path_hint::info_string(fence.info);
    let hint = info.hint.or_else(|| hint_around(&piece, text, line_before));
    Container {
        outer: opening.start..outer_end,
        raw,
        piece,
        kind: PayloadKind::Unstated,
        language: info.language,
        hint,
        closing,
    }
}

/// Reads a fence as that of a tool's call or result, or of records, if it is one. Opaque: only the matching fence ends it, and no
/// code is looked for in it.
pub(super) fn read_tool(
    text: &str,
    opening: &Range<usize>,
    fence: &OpeningFence<'_>,
) -> Option<ToolFence> {
    let holds = match fence.info.split_whitespace().next()? {
        "tool" => FenceContent::Call,
        RESULT_FENCE => FenceContent::Result,
        "record" => FenceContent::Records,
        _ => return None,
    };
    let mut lines = lines_from(text, opening.end);
    let closing = lines.find(|(_, line)| fence.is_closed_by(line));
    let (body_end, end) =
        closing.map_or((text.len(), text.len()), |(at, line)| (at, at + line.len()));
    Some(ToolFence {
        holds,
        outer: opening.start..end,
        body: opening.end..body_end,
        closing: Closing::when(closing.is_some()),
    })
}

/// Reads the pair of tags that a line opens, if it does. An unclosed one is a block only below a path, because prose may also
/// name such a tag.
pub(super) fn read_tags<'t>(
    text: &'t str,
    opening: &Range<usize>,
    line_before: &LineBefore,
    ends: &mut ClosingTags,
) -> Option<Container<'t>> {
    let word = text[opening.clone()].trim();
    let word = word.strip_prefix('<')?.strip_suffix('>')?;
    let name = FENCE_TAGS.iter().find(|name| **name == word)?;
    let end = ends.next(text, name, TagPosition::Alone, opening.end);
    let (line, blanks) = line_before.read(text);
    if end.is_none() && path_hint::line_before(line, blanks).is_none() {
        return None;
    }
    let closing_line = end.map_or(text.len()..text.len(), |at| {
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        start..line_at(text, at).end
    });
    let outer = opening.start..closing_line.end;
    let raw = opening.end..closing_line.start;
    Some(Container {
        hint: hint_around(&text[raw.clone()], text, line_before),
        closing: Closing::when(end.is_some()),
        ..Container::around(text, outer, raw, PayloadKind::Unstated)
    })
}

/// The range of the code in a text that is one fence and nothing else: models also fence code that is already in a tag.
pub(super) fn content_of_sole_fence(text: &str) -> Option<Range<usize>> {
    let first = line_at(text, 0);
    let fence = OutsideFences::default().read(&text[first.clone()])?;
    let (code_end, outer_end, closing) = fence.find_end(text, first.end);
    let only = text[outer_end..].trim().is_empty();
    (only && closing == Closing::Closed).then_some(first.end..code_end)
}

impl OpeningFence<'_> {
    /// The end of the code, the end of the fence, and whether it was closed.
    ///
    /// Fences in the code of a SEARCH/REPLACE block are part of that block, provided that it has an end. The search for that
    /// end stops at the next block, so that one unfinished block doesn't swallow all code after it.
    fn find_end(&self, text: &str, start: usize) -> (usize, usize, Closing) {
        let mut in_block = false;
        let mut closed_in_block = None;
        for (at, line) in lines_from(text, start) {
            if opens_block(line) {
                if closed_in_block.is_some() {
                    break;
                }
                in_block = true;
            } else if in_block && ends_block(line) {
                in_block = false;
                closed_in_block = None;
            } else if self.is_closed_by(line) {
                let end = (at, at + line.len(), Closing::Closed);
                if !in_block {
                    return end;
                }
                closed_in_block = closed_in_block.or(Some(end));
            }
        }
        closed_in_block.unwrap_or((text.len(), text.len(), Closing::Unclosed))
    }
}

/// The path named by the lines around the opening.
fn hint_around(code: &str, text: &str, line_before: &LineBefore) -> Option<PathHint> {
    let (line, blanks) = line_before.read(text);
    path_hint::line_before(line, blanks)
        .or_else(|| path_hint::first_line_comment(code))
        .or_else(|| path_hint::sentence_before(line, blanks))
}

/// The lines without their fence's indentation; lines with less indentation lose all of it.
fn without_indentation(raw: &str, indent: usize) -> Cow<'_, str> {
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

#[cfg(test)]
mod tests {
    use crate::capture;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    /// One line a block: evidence, path, language, closing, code.
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = capture::blocks(text)
            .into_iter()
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
    fn info_string_paths() {
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
    fn line_before_paths() {
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
            "src/a.c has more of that.\n```c\nx\n```",
            &["SentenceBefore src/a.c c Closed \"x\\n\""],
        );
        for leading in [
            "Here is src/a.c as it stands:",
            "### Updated `src/a.c`",
            "Entity: src/a.c::f\nArtifact: 0123\nSource: Confirmed via AST\n",
            "**src/a.c::f**",
        ] {
            check(
                &format!("{leading}\n```c\nx\n```"),
                &["LineBefore src/a.c c Closed \"x\\n\""],
            );
        }
        check(
            "Here is the code:\n```c\nx\n```",
            &["None - c Closed \"x\\n\""],
        );
    }

    #[test]
    fn comment_paths() {
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

    /// Fences nest by their length, and the last one may stay open.
    #[test]
    fn nested_and_open() {
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

    /// A docstring's fence ended the block: of humanize's seven files, sent whole by aider, one was captured.
    #[test]
    fn indented_fences() {
        let docstring = "```python\ndef f():\n    ```pycon\n    >>> f()\n    ```\n   x\n```\n";
        check(
            docstring,
            &["None - python Closed \"def f():\\n    ```pycon\\n    >>> f()\\n    ```\\n   x\\n\""],
        );
        check("def f():\n    ```pycon\n    >>> f()\n    ```\n", &[]);
        check(
            "```\n\t```\n```x\n````\n",
            &["None - - Closed \"\\t```\\n```x\\n\""],
        );
        for lead in [
            "- item\n  ",
            "1. item\n   - part\n     ",
            "10) item\n\n    ",
            "- item\n  text\n     ",
            "* a\n  * b\n  text\n   ",
            "   ",
        ] {
            let text = format!("{lead}```c\nint x;\n").replace("\nint", "\n         int");
            let close = lead.rsplit('\n').next().unwrap_or_default();
            let code = &" ".repeat(9 - close.len())[..];
            check(
                &format!("{text}         ```\n{close}```\n"),
                &[&*format!("None - c Closed \"{code}int x;\\n{code}```\\n\"")],
            );
        }
        check("- item\n\nNo item.\n\n    ```c\n    x\n    ```\n", &[]);
    }

    #[test]
    fn verbatim_ranges() {
        let text = "a\n```c\nint x;\n```\n";
        let block = capture::blocks(text).pop().expect("one block");
        assert_eq!(&text[block.verbatim.expect("verbatim")], "int x;\n");
        assert_eq!(&text[block.outer], "```c\nint x;\n```\n");
        assert!(
            capture::blocks(" ```\n x\n ```")
                .pop()
                .expect("one block")
                .verbatim
                .is_none()
        );
    }
}
