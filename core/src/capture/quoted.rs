//! Files that clients' tools read and quote: numbered lines, text below a tool's heading. They are recognised so that nothing
//! in them is taken for the writer's own code.

use core::ops::Range;

use super::block::Closing;
use super::container::Container;
use super::ends::{ClosingTags, TagPosition};
use super::line::{line_at, lines_from};
use super::payload::numbered::LineNumber;
use super::payload::{PayloadKind, ReadPayload};
use super::vocabulary::{AFTER_RESULT_TAGS, ANSWER_TOOLS, FILE_TOOLS};
use crate::opening_fence::OutsideFences;

/// Reads what a line opens: a tool's result, or lines with numbers.
pub(super) fn read<'t>(text: &'t str, line: &Range<usize>) -> Option<Container<'t>> {
    let word = text[line.clone()].trim();
    if word.ends_with("] Result:")
        && let Some(heading) = ResultHeading::of(word)
    {
        return Some(read_result(text, line, &heading));
    }
    if line.start == 0
        && let Some(path) = whole_file_heading(text, word, line.end)
    {
        return Some(quoted_text(text, line, text.len(), Some(path)));
    }
    read_numbered_run(text, line)
}

/// `[read_file for 'src/a.c'] Result:`, `[new_task completed] Result: Done.`
pub(super) struct ResultHeading<'t> {
    path: Option<&'t str>,
    reads: bool,
}

impl<'t> ResultHeading<'t> {
    /// The heading in a line. Tools whose result is the user's own answer have none.
    pub(super) fn of(line: &'t str) -> Option<Self> {
        let (inside, _) = line.strip_prefix('[')?.split_once("] Result:")?;
        let name = inside.split_whitespace().next()?;
        let is_name = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        let is_answer = ANSWER_TOOLS.contains(&name) && !inside.ends_with(" completed");
        if !is_name || is_answer {
            return None;
        }
        let argument = inside
            .split_once(" for '")
            .and_then(|(_, rest)| rest.split('\'').next());
        let of_file = FILE_TOOLS.iter().any(|part| name.contains(part));
        Some(Self {
            path: argument.filter(|path| of_file && !path.is_empty()),
            reads: name.contains("read"),
        })
    }

    /// Whether a line ends the quote: another heading, the client's own remarks, the user's text. Below a tool that reads, tags
    /// may be part of the file, so they end nothing.
    fn ends_at(&self, line: &str) -> bool {
        let line = line.trim();
        line == "<environment_details>"
            || ResultHeading::of(line).is_some()
            || !self.reads && AFTER_RESULT_TAGS.iter().any(|tag| line.starts_with(tag))
    }
}

fn read_result<'t>(
    text: &'t str,
    line: &Range<usize>,
    heading: &ResultHeading<'_>,
) -> Container<'t> {
    let end = lines_from(text, line.end)
        .find(|(_, line)| heading.ends_at(line))
        .map_or(text.len(), |(at, _)| at);
    quoted_text(text, line, end, heading.path)
}

/// `Content of /w/src/a.c:` on a message's first line, with the file below it.
fn whole_file_heading<'t>(text: &str, line: &'t str, next: usize) -> Option<&'t str> {
    let path = line.strip_prefix("Content of ")?.strip_suffix(':')?;
    let is_absolute = path.starts_with('/') || path.get(1..3) == Some(":\\");
    let below = &text[line_at(text, next)];
    let is_text = !below.trim().is_empty() && OutsideFences::default().read(below).is_none();
    (is_absolute && is_text).then_some(path)
}

/// The text below a heading.
fn quoted_text<'t>(
    text: &'t str,
    heading: &Range<usize>,
    end: usize,
    path: Option<&str>,
) -> Container<'t> {
    let raw = heading.end..end;
    let is_blank = text[raw.clone()].trim().is_empty();
    let mut quote = Container::quoting(text, heading.start..end, raw, path);
    if is_blank {
        quote.kind = PayloadKind::Read(ReadPayload::Nothing);
    }
    quote
}

/// Reads three or more numbered lines that count up and are in no other construct.
fn read_numbered_run<'t>(text: &'t str, line: &Range<usize>) -> Option<Container<'t>> {
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
    Some(Container::quoting(text, range.clone(), range, None))
}

/// Reads OpenCode's `<path>…</path><type>file</type><content>`.
pub(super) fn read_opencode<'t>(
    text: &'t str,
    line: &Range<usize>,
    ends: &mut ClosingTags,
) -> Option<Container<'t>> {
    let path = text[line.clone()]
        .trim()
        .strip_prefix("<path>")?
        .strip_suffix("</path>")?;
    let kind = line_at(text, line.end);
    let opener = line_at(text, kind.end);
    if text[kind].trim() != "<type>file</type>" || text[opener.clone()].trim() != "<content>" {
        return None;
    }
    let closer = ends.next(text, "content", TagPosition::Alone, opener.end);
    let raw = opener.end..closer.unwrap_or(text.len());
    let end = closer.map_or(text.len(), |at| line_at(text, at).end);
    Some(Container {
        closing: Closing::when(closer.is_some()),
        ..Container::quoting(text, line.start..end, raw, Some(path.trim()))
    })
}

#[cfg(test)]
mod tests {
    use crate::capture;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    /// One line a block: authorship, path, part, code.
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = capture::blocks(text)
            .into_iter()
            .map(|block| {
                let path = block.path.as_deref().unwrap_or("-");
                format!(
                    "{:?} {path} {:?} {:?}",
                    block.authorship, block.stated_extent, block.code
                )
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn numbered_fence() {
        check(
            "```c\n1 | int a;\n2 | b\n```",
            &["Quoted - Unstated \"1 | int a;\\n2 | b\\n\""],
        );
        check(
            "```c\n1 | int a;\n```",
            &["Own - Unstated \"1 | int a;\\n\""],
        );
    }

    #[test]
    fn tool_results() {
        check(
            "[read_file for 'src/a.c'] Result:\n1 | ```c\n2 | x\n3 | ```\n<environment_details>\n```c\ny\n```\n",
            &[
                "Quoted src/a.c Range \"```c\\nx\\n```\\n\"",
                "Own - Unstated \"y\\n\"",
            ],
        );
        check(
            "[read_file for 'a.md'] Result:\n```c\nx\n```\n<feedback>\n[read_file for 'b.c'] Result:\ny\n",
            &[
                "Quoted a.md Unstated \"```c\\nx\\n```\\n<feedback>\\n\"",
                "Quoted b.c Unstated \"y\\n\"",
            ],
        );
        check(
            "[execute_command for 'cat a.c'] Result:\n```c\nx\n```\n<feedback>\n```c\ny\n```\n",
            &[
                "Quoted - Unstated \"```c\\nx\\n```\\n\"",
                "Own - Unstated \"y\\n\"",
            ],
        );
        check(
            "[ask_followup_question for 'q'] Result:\n```c\ny\n```\n",
            &["Own - Unstated \"y\\n\""],
        );
        check("[read_file for 'a.c'] Result:\n\n", &[]);
        check(
            "Content of /w/a.c:\nint x;\n",
            &["Quoted /w/a.c Unstated \"int x;\\n\""],
        );
        check(
            "Content of /w/a.c:\n```c\nint x;\n```\n",
            &["Own /w/a.c Unstated \"int x;\\n\""],
        );
    }

    #[test]
    fn opencode_files() {
        check(
            "<path>/w/a.c</path>\n<type>file</type>\n<content>\n1: </content>\n2: y\n\n(End of file - total 2 lines)\n</content>\n",
            &["Quoted /w/a.c Whole \"</content>\\ny\\n\""],
        );
        check("<path>/w/a.c</path>\n<type>directory</type>\n", &[]);
    }

    #[test]
    fn bare_numbered_lines() {
        check(
            "text\n1\tint a;\n2\tb\n3\tc\ntext\n",
            &["Quoted - Unstated \"int a;\\nb\\nc\\n\""],
        );
        check("1. one\n2. two\n3. three\n", &[]);
        check("1: one\n2: two\n3: three\n", &[]);
    }
}
