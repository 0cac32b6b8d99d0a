//! Files that clients' tools read and quote: numbered lines, text below a tool's heading. They are recognised so that nothing
//! in them is taken for the writer's own code.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use core::ops::Range;

use super::ends::{ClosingTags, TagPosition};
use super::line::{line_at, lines_from, without_end};
use super::path_hint::PathHint;
use super::scan::ReadConstruct;
use super::section::BlockFrame;
use super::{Authorship, Closing, StatedExtent};
use crate::event::Format;

/// A text in which each line begins with its number.
pub(super) struct NumberedLines {
    /// The lines without their numbers.
    pub(super) code: String,
    /// All of the file, or some lines of it.
    pub(super) part: StatedExtent,
    /// The number of lines.
    lines: u32,
}

/// Reads ` 4 | int x;`, `4: int x;`, `4<TAB>int x;`, `4→int x;`, with remarks of the tool's before and after.
pub(super) fn read_numbered_lines(text: &str) -> Option<NumberedLines> {
    let mut read = NumberedLines {
        code: String::new(),
        part: StatedExtent::Range,
        lines: 0,
    };
    let mut last: Option<LineNumber<'_>> = None;
    let mut remarks_end = false;
    let mut whole = false;
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            continue;
        }
        if is_remark(line) {
            remarks_end = last.is_some();
            whole |= line.trim_start().starts_with("(End of file");
            continue;
        }
        let number =
            LineNumber::of(line).filter(|number| !remarks_end && number.follows(last.as_ref()))?;
        whole &= last.is_some() || number.value == 1;
        if last.is_none() && number.value == 1 {
            read.part = StatedExtent::Whole;
        }
        read.code.push_str(number.rest);
        if !number.rest.ends_with('\n') {
            read.code.push('\n');
        }
        read.lines += 1;
        last = Some(number);
    }
    last?;
    // Lines from 1 on may still be an excerpt: only a remark about the file's end proves that this is all of it.
    if !(whole && read.part == StatedExtent::Whole) {
        read.part = StatedExtent::Range;
    }
    Some(read)
}

/// Whether a fence's content is two or more numbered lines.
pub(super) fn is_numbered(code: &str) -> bool {
    code.lines()
        .next()
        .is_some_and(|line| LineNumber::of(line).is_some() || is_remark(line))
        && read_numbered_lines(code).is_some_and(|numbered| numbered.lines > 1)
}

/// `[Showing lines 1-200 of 900]`, `(End of file - total 9 lines)`.
pub(super) fn is_remark(line: &str) -> bool {
    const REMARKS: [&str; 5] = [
        "[Showing lines ",
        "(Showing lines ",
        "(End of file",
        "(File has more lines",
        "(Output capped",
    ];
    REMARKS
        .iter()
        .any(|remark| line.trim_start().starts_with(remark))
}

/// A line's number, the divider after it, and the line itself.
struct LineNumber<'t> {
    value: u32,
    divider: char,
    rest: &'t str,
}

impl<'t> LineNumber<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let unindented = line.trim_start_matches(' ');
        let digits = unindented.bytes().take_while(u8::is_ascii_digit).count();
        if !(1..=7).contains(&digits) {
            return None;
        }
        let value = unindented[..digits].parse().ok()?;
        let rest = &unindented[digits..];
        let mut after = rest
            .strip_prefix(' ')
            .filter(|rest| rest.starts_with('|'))
            .unwrap_or(rest)
            .chars();
        let divider = after
            .next()
            .filter(|c| matches!(c, '|' | ':' | '\t' | '→'))?;
        let rest = after.as_str();
        let rest = match (divider, rest.strip_prefix(' ')) {
            ('|' | ':', Some(rest)) => rest,
            (':', None) if !without_end(rest).is_empty() => return None,
            _ => rest,
        };
        Some(Self {
            value,
            divider,
            rest,
        })
    }

    fn follows(&self, last: Option<&Self>) -> bool {
        last.is_none_or(|last| last.divider == self.divider && last.value + 1 == self.value)
    }
}

/// Reads what a line opens: a tool's result, or lines with numbers.
pub(super) fn read<'t>(text: &'t str, line: &Range<usize>) -> Option<ReadConstruct<'t>> {
    let word = text[line.clone()].trim();
    if let Some(heading) = ResultHeading::of(word) {
        return Some(read_result(text, line, &heading));
    }
    if line.start == 0
        && let Some(path) = whole_file_heading(text, word, line.end)
    {
        let heading = ResultHeading {
            path: Some(path),
            reads: true,
        };
        return Some(quoted_text(
            text,
            line.start,
            line.end..text.len(),
            &heading,
        ));
    }
    read_numbered_run(text, line)
}

/// `[read_file for 'src/a.c'] Result:`.
struct ResultHeading<'t> {
    path: Option<&'t str>,
    reads: bool,
}

impl<'t> ResultHeading<'t> {
    /// The heading in a line. Tools whose result is the user's own answer have none.
    fn of(line: &'t str) -> Option<Self> {
        const TALK: [&str; 4] = [
            "ask_followup_question",
            "attempt_completion",
            "plan_mode_respond",
            "new_task",
        ];
        let inside = line.strip_prefix('[')?.strip_suffix("] Result:")?;
        let name = inside.split_whitespace().next()?;
        let is_name = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        if !is_name || TALK.contains(&name) {
            return None;
        }
        let argument = inside
            .split_once(" for '")
            .and_then(|(_, rest)| rest.split('\'').next());
        let of_file = ["read", "write", "replace", "diff", "file"]
            .iter()
            .any(|part| name.contains(part));
        Some(Self {
            path: argument.filter(|path| of_file && !path.is_empty()),
            reads: name.contains("read"),
        })
    }

    /// Whether a line ends the quote: another heading, the client's own remarks, the user's text. Below a tool that reads, tags
    /// may be part of the file, so they end nothing.
    fn ends_at(&self, line: &str) -> bool {
        const OWN: [&str; 6] = [
            "<feedback>",
            "<user_message>",
            "<answer>",
            "<task>",
            "<final_file_content ",
            "<file_content ",
        ];
        let line = line.trim();
        line == "<environment_details>"
            || ResultHeading::of(line).is_some()
            || !self.reads && OWN.iter().any(|own| line.starts_with(own))
    }
}

fn read_result<'t>(
    text: &'t str,
    line: &Range<usize>,
    heading: &ResultHeading<'_>,
) -> ReadConstruct<'t> {
    let end = lines_from(text, line.end)
        .find(|(_, line)| heading.ends_at(line))
        .map_or(text.len(), |(at, _)| at);
    quoted_text(text, line.start, line.end..end, heading)
}

/// `Content of /w/src/a.c:` on a message's first line, with the file below it.
fn whole_file_heading<'t>(text: &str, line: &'t str, next: usize) -> Option<&'t str> {
    let path = line.strip_prefix("Content of ")?.strip_suffix(':')?;
    let is_absolute = path.starts_with('/') || path.get(1..3) == Some(":\\");
    let below = text[line_at(text, next)].trim();
    (is_absolute && !below.is_empty() && !below.starts_with("```")).then_some(path)
}

fn quoted_text<'t>(
    text: &'t str,
    start: usize,
    raw: Range<usize>,
    heading: &ResultHeading<'_>,
) -> ReadConstruct<'t> {
    let end = raw.end;
    let hint = heading.path.map(|path| PathHint::header(path.to_string()));
    let block = (!text[raw.clone()].trim().is_empty()).then(|| {
        quoted_frame(text, start..end, raw, hint, Closing::Closed)
            .into_code_block(Format::Tags, Authorship::Quoted)
    });
    ReadConstruct {
        blocks: block.into_iter().collect(),
        end,
    }
}

fn quoted_frame<'t>(
    text: &'t str,
    outer: Range<usize>,
    raw: Range<usize>,
    hint: Option<PathHint>,
    closing: Closing,
) -> BlockFrame<'t> {
    let piece = &text[raw.clone()];
    let numbered = read_numbered_lines(piece);
    let part = numbered.as_ref().map(|numbered| numbered.part);
    BlockFrame {
        outer,
        raw,
        piece: numbered.map_or(Cow::Borrowed(piece), |numbered| Cow::Owned(numbered.code)),
        language: None,
        hint: hint.map(|hint| PathHint {
            part: part.unwrap_or(hint.part),
            ..hint
        }),
        closing,
    }
}

/// Reads three or more numbered lines that count up and are in no other construct.
fn read_numbered_run<'t>(text: &'t str, line: &Range<usize>) -> Option<ReadConstruct<'t>> {
    let mut last: Option<LineNumber<'_>> = None;
    let mut count = 0;
    let mut end = line.start;
    for (at, line) in lines_from(text, line.start) {
        let number = LineNumber::of(line)
            .filter(|number| number.divider != ':' && number.follows(last.as_ref()));
        let Some(number) = number else {
            break;
        };
        last = Some(number);
        count += 1;
        end = at + line.len();
    }
    if count < 3 {
        return None;
    }
    let range = line.start..end;
    let block = quoted_frame(text, range.clone(), range, None, Closing::Closed)
        .into_code_block(Format::Tags, Authorship::Quoted);
    Some(ReadConstruct {
        blocks: [block].into(),
        end,
    })
}

/// Reads OpenCode's `<path>…</path><type>file</type><content>`.
pub(super) fn read_opencode<'t>(
    text: &'t str,
    line: &Range<usize>,
    ends: &mut ClosingTags,
) -> Option<ReadConstruct<'t>> {
    const CLOSER: &str = "</content>";
    let path = text[line.clone()]
        .trim()
        .strip_prefix("<path>")?
        .strip_suffix("</path>")?;
    let kind = line_at(text, line.end);
    let opener = line_at(text, kind.end);
    if text[kind].trim() != "<type>file</type>" || text[opener.clone()].trim() != "<content>" {
        return None;
    }
    let closer = ends.next(text, CLOSER, TagPosition::Alone, opener.end);
    let raw = opener.end..closer.unwrap_or(text.len());
    let end = closer.map_or(text.len(), |at| line_at(text, at).end);
    let closing = match closer {
        Some(_) => Closing::Closed,
        None => Closing::Unclosed,
    };
    let hint = PathHint::header(path.trim().to_string());
    let block = quoted_frame(text, line.start..end, raw, Some(hint), closing)
        .into_code_block(Format::Tags, Authorship::Quoted);
    Some(ReadConstruct {
        blocks: [block].into(),
        end,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture;
    use alloc::format;
    use alloc::vec::Vec;

    /// One line a block: standing, path, part, code.
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = capture::blocks(text)
            .into_iter()
            .map(|block| {
                let path = block.path.as_deref().unwrap_or("-");
                format!(
                    "{:?} {path} {:?} {:?}",
                    block.standing, block.part, block.code
                )
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn numbers_are_taken_off() {
        for text in [
            " 9 | int a;\n10 |\n11 |   b\n",
            "9: int a;\n10:\n11:   b\n",
            "[Showing lines 9-11 of 40]\n9\tint a;\n10\t\n11\t  b\n",
            "    9→int a;\n   10→\n   11→  b\n(File has more lines)",
        ] {
            let read = read_numbered_lines(text).expect(text);
            assert_eq!(read.code, "int a;\n\n  b\n", "{text}");
            assert_eq!(read.part, StatedExtent::Range);
        }
        for text in [
            "1 | a\n3 | b\n",
            "1 | a\nx\n",
            "1 | a\n2: b\n",
            "",
            "\n",
            "int x;",
            "1:a\n2:b\n",
        ] {
            assert!(read_numbered_lines(text).is_none(), "{text}");
        }
        let whole = read_numbered_lines("1: a\n2: b\n(End of file - total 2 lines)\n");
        assert_eq!(whole.expect("numbered").part, StatedExtent::Whole);
    }

    #[test]
    fn fences_of_numbered_lines_are_quoted() {
        check(
            "```c\n1 | int a;\n2 | b\n```",
            &["Quoted - Unsaid \"1 | int a;\\n2 | b\\n\""],
        );
        check(
            "```c\n1 | int a;\n```",
            &["Said - Unsaid \"1 | int a;\\n\""],
        );
    }

    #[test]
    fn tool_results_are_quoted() {
        check(
            "[read_file for 'src/a.c'] Result:\n1 | ```c\n2 | x\n3 | ```\n<environment_details>\n```c\ny\n```\n",
            &[
                "Quoted src/a.c Range \"```c\\nx\\n```\\n\"",
                "Said - Unsaid \"y\\n\"",
            ],
        );
        check(
            "[read_file for 'a.md'] Result:\n```c\nx\n```\n<feedback>\n[read_file for 'b.c'] Result:\ny\n",
            &[
                "Quoted a.md Unsaid \"```c\\nx\\n```\\n<feedback>\\n\"",
                "Quoted b.c Unsaid \"y\\n\"",
            ],
        );
        check(
            "[execute_command for 'cat a.c'] Result:\n```c\nx\n```\n<feedback>\n```c\ny\n```\n",
            &[
                "Quoted - Unsaid \"```c\\nx\\n```\\n\"",
                "Said - Unsaid \"y\\n\"",
            ],
        );
        check(
            "[ask_followup_question for 'q'] Result:\n```c\ny\n```\n",
            &["Said - Unsaid \"y\\n\""],
        );
        check("[read_file for 'a.c'] Result:\n\n", &[]);
        check(
            "Content of /w/a.c:\nint x;\n",
            &["Quoted /w/a.c Unsaid \"int x;\\n\""],
        );
        check(
            "Content of /w/a.c:\n```c\nint x;\n```\n",
            &["Said /w/a.c Unsaid \"int x;\\n\""],
        );
    }

    #[test]
    fn opencodes_files_are_quoted() {
        check(
            "<path>/w/a.c</path>\n<type>file</type>\n<content>\n1: </content>\n2: y\n\n(End of file - total 2 lines)\n</content>\n",
            &["Quoted /w/a.c Whole \"</content>\\ny\\n\""],
        );
        check("<path>/w/a.c</path>\n<type>directory</type>\n", &[]);
    }

    #[test]
    fn bare_runs_of_numbered_lines_are_quoted() {
        check(
            "text\n1\tint a;\n2\tb\n3\tc\ntext\n",
            &["Quoted - Unsaid \"int a;\\nb\\nc\\n\""],
        );
        check("1. one\n2. two\n3. three\n", &[]);
        check("1: one\n2: two\n3: three\n", &[]);
    }
}
