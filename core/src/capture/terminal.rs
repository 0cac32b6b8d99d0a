//! What a terminal or a searching tool printed: where one file's text ends and another's begins.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::line::{line_at, without_end};
use super::{path_hint, shell};
use crate::limits::{BLOCKS_PER_MESSAGE_MAX, PATH_BYTES_MAX};

mod prompt;

use prompt::prompt;

/// A part of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part<'t> {
    /// Its lines, headings left out.
    pub(super) lines: Range<usize>,
    /// The lines without what stands in front of each.
    pub(super) code: Cow<'t, str>,
    /// What it may show.
    pub(super) of: Of,
    /// Whether it is lines that were searched for, or what stands between such lines. The latter comes behind them, and its
    /// lines are theirs, too.
    pub(super) is_search: bool,
}

/// What a part of an output is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// Nothing announced it.
    Unsaid,
    /// One file.
    File(String),
    /// A command's output; the words of the command that name files.
    Command(Vec<String>),
}

/// What else than commands and `head`'s headings tells parts from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Headings {
    /// Nothing: people write much that looks like a heading.
    Sure,
    /// Other tools' headings, and what searching tools put in front of each line.
    Any,
}

/// The parts of an output, in order; none if nothing tells where one begins.
pub(super) fn parts(text: &str, headings: Headings) -> Vec<Part<'_>> {
    let mut reader = Reader {
        text,
        headings,
        at: 0,
        parts: Vec::new(),
        open: Open {
            start: 0,
            of: Of::Unsaid,
            found: Vec::new(),
        },
        is_divided: false,
        before: "",
    };
    while reader.at < text.len() && reader.parts.len() < BLOCKS_PER_MESSAGE_MAX {
        reader.line();
    }
    reader.close(text.len());
    match reader.is_divided {
        true => reader.parts,
        false => Vec::new(),
    }
}

/// The part under way.
struct Open {
    start: usize,
    of: Of,
    /// Lines of it that were searched for.
    found: Vec<Range<usize>>,
}

struct Reader<'t> {
    text: &'t str,
    headings: Headings,
    at: usize,
    parts: Vec<Part<'t>>,
    open: Open,
    is_divided: bool,
    /// The last line that isn't blank.
    before: &'t str,
}

impl<'t> Reader<'t> {
    fn line(&mut self) {
        let range = line_at(self.text, self.at);
        let line = without_end(&self.text[range.clone()]);
        if let Some(command) = prompt(line) {
            self.begin(&range, of_command(command));
            self.continued(command);
        } else if let Some(path) = self.heading(line) {
            self.begin(&range, Of::File(path.to_string()));
        } else if self.headings == Headings::Sure || !self.found(&range) {
            self.at = range.end;
        }
        if !line.trim().is_empty() && !line.starts_with('│') {
            self.before = line;
        }
    }

    fn heading(&self, line: &'t str) -> Option<&'t str> {
        let path = path_hint::heading(line)?;
        let is_sure = line.starts_with("==> ") && line.ends_with(" <==");
        (is_sure || self.headings == Headings::Any).then_some(path)
    }

    /// A heading, or a command: what was under way ends.
    fn begin(&mut self, line: &Range<usize>, of: Of) {
        self.close(line.start);
        self.open = Open {
            start: line.end,
            of,
            found: Vec::new(),
        };
        self.at = line.end;
        self.is_divided = true;
    }

    fn close(&mut self, end: usize) {
        let lines = self.open.start.min(end)..end;
        // A blank line below a heading is the tool's.
        let said = self.text[lines.clone()].trim_start_matches(['\n', '\r']);
        let lines = end - said.len()..end;
        let found = core::mem::take(&mut self.open.found);
        let is_search = !found.is_empty();
        let code = match is_search {
            false => Cow::Borrowed(&self.text[lines.clone()]),
            true => {
                let mut between = String::new();
                let mut at = lines.start;
                for found in found {
                    between.push_str(&self.text[at..found.start]);
                    at = found.end;
                }
                between.push_str(&self.text[at..end]);
                Cow::Owned(between)
            }
        };
        if !code.trim().is_empty() {
            self.parts.push(Part {
                lines,
                code,
                of: self.open.of.clone(),
                is_search,
            });
        }
    }

    /// The lines of a here-document as a terminal shows them while it is typed: `> int x;`.
    fn continued(&mut self, command: &str) {
        let Some(path) = shell::here_document_of(command) else {
            return;
        };
        let typed = |line: &'t str| {
            line.strip_prefix("> ").or(match without_end(line) {
                ">" => Some(&line[1..]),
                _ => None,
            })
        };
        if let Some((lines, code)) = self.run(typed) {
            self.at = lines.end;
            self.open.start = lines.end;
            self.parts.push(Part {
                lines,
                code: Cow::Owned(code),
                of: path.map_or_else(|| Of::Command(Vec::new()), Of::File),
                is_search: false,
            });
        }
    }

    /// The lines from here on that have a mark, and what stands behind it.
    fn run(
        &self,
        mut mark: impl FnMut(&'t str) -> Option<&'t str>,
    ) -> Option<(Range<usize>, String)> {
        let mut end = self.at;
        let mut code = String::new();
        while end < self.text.len() {
            let line = line_at(self.text, end);
            let Some(rest) = mark(&self.text[line.clone()]) else {
                break;
            };
            code.push_str(rest);
            end = line.end;
        }
        (end > self.at).then_some((self.at..end, code))
    }

    /// Whether lines that a searching tool prints begin here.
    fn found(&mut self, line: &Range<usize>) -> bool {
        let text = &self.text[line.clone()];
        let found = match text.as_bytes().first() {
            Some(b' ') => self.labelled(),
            None | Some(b'\t' | b'\r' | b'\n') => None,
            Some(0xE2) => self.boxed(),
            Some(b'0'..=b'9') => self.numbered(),
            _ => self.searched(text),
        };
        let Some((lines, code, of)) = found.filter(|(_, code, _)| may_define(code)) else {
            return false;
        };
        self.at = lines.end;
        self.open.found.push(lines.clone());
        self.is_divided = true;
        self.parts.push(Part {
            lines,
            code: Cow::Owned(code),
            of,
            is_search: true,
        });
        true
    }

    /// `│int x;` below a path.
    fn boxed(&self) -> Option<(Range<usize>, String, Of)> {
        let (lines, code) = self.run(|line| {
            let rest = line.strip_prefix('│')?;
            (!without_end(rest).ends_with("----")).then_some(rest)
        })?;
        Some((lines, code, self.file_before()))
    }

    /// `12:int x;` and `13-int y;`, of one file.
    fn numbered(&self) -> Option<(Range<usize>, String, Of)> {
        let mut last = None;
        let mut divided = 0_u32;
        let (lines, code) = self.run(|line| {
            let (number, divider, rest) = numbered_line(line)?;
            let follows = last.is_none_or(|last: u32| last.checked_add(1) == Some(number));
            last = Some(number);
            divided += u32::from(divider == b':');
            follows.then_some(rest)
        })?;
        let is_match = divided > 0 || self.text[lines.clone()].lines().nth(1).is_some();
        is_match.then(|| (lines, code, self.file_before()))
    }

    /// `  Line 12: int x;` below a path.
    fn labelled(&self) -> Option<(Range<usize>, String, Of)> {
        let mut last = None;
        let (lines, code) = self.run(|line| {
            let (number, divider, rest) = numbered_line(line.strip_prefix("  Line ")?)?;
            let follows = last.is_none_or(|last: u32| last.checked_add(1) == Some(number));
            last = Some(number);
            let rest = rest.strip_prefix(' ').unwrap_or(rest);
            (follows && divider == b':').then_some(rest)
        })?;
        Some((lines, code, self.open.of.clone()))
    }

    fn file_before(&self) -> Of {
        let path = self.before.trim();
        match path_hint::names_file(path) {
            true => Of::File(path.to_string()),
            false => self.open.of.clone(),
        }
    }

    /// `src/a.c:12:int x;` and `src/a.c-13-int y;`, or the same without numbers.
    fn searched(&self, first: &'t str) -> Option<(Range<usize>, String, Of)> {
        let (path, is_numbered) = path_in_front(first)?;
        let mut last = None;
        let (lines, code) = self.run(|line| {
            let rest = line.strip_prefix(path)?;
            if !is_numbered {
                return rest.strip_prefix([':', '-']);
            }
            let divider = *rest.as_bytes().first()?;
            let (number, again, rest) = numbered_line(rest.get(1..)?)?;
            let follows = last.is_none_or(|last: u32| last.checked_add(1) == Some(number));
            last = Some(number);
            (follows && divider == again).then_some(rest)
        })?;
        Some((lines, code, Of::File(path.to_string())))
    }
}

/// Whether lines that were searched for may define anything. A line alone must say more than a compiler does, and it has no
/// column in front.
fn may_define(code: &str) -> bool {
    let mut lines = code.lines();
    let first = lines.next().unwrap_or_default();
    let column = first.bytes().take_while(u8::is_ascii_digit).count();
    let has_column = column > 0 && first[column..].starts_with(':');
    lines.next().is_some()
        || !has_column && (first.contains(['{', '=']) || first.contains("#define"))
}

/// `12:int x;` or `12-int x;`, in parts.
fn numbered_line(line: &str) -> Option<(u32, u8, &str)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let divider = *line.as_bytes().get(digits)?;
    let number = line.get(..digits).filter(|_| (1..=7).contains(&digits))?;
    let rest = line.get(digits + 1..)?;
    matches!(divider, b':' | b'-').then_some((number.parse().ok()?, divider, rest))
}

/// The path that a line begins with, and whether the line's number follows it.
fn path_in_front(line: &str) -> Option<(&str, bool)> {
    const DIVIDERS_MAX: usize = 8;
    let mut dividers = line
        .bytes()
        .take(PATH_BYTES_MAX)
        .enumerate()
        .filter(|(_, byte)| matches!(byte, b':' | b'-'))
        .map(|(at, _)| at)
        .take(DIVIDERS_MAX);
    let path = dividers.find_map(|at| {
        let path = &line[..at];
        path_hint::names_file(path).then_some(path)
    })?;
    let divider = line.as_bytes()[path.len()];
    let is_numbered =
        numbered_line(&line[path.len() + 1..]).is_some_and(|(_, again, _)| again == divider);
    // Without a number, a match tells the file; the lines around it alone could be anything.
    (is_numbered || divider == b':').then_some((path, is_numbered))
}

fn of_command(command: &str) -> Of {
    let shows = shell::shows(command);
    match shows.files.as_slice() {
        [file] => Of::File(file.clone()),
        _ => Of::Command(shows.named),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    /// One line a part: what it is of and what it says.
    fn check(text: &str, headings: Headings, expected: &[&str]) {
        let found: Vec<String> = parts(text, headings)
            .iter()
            .map(|part| {
                let of = match &part.of {
                    Of::Unsaid => "-".to_string(),
                    Of::File(path) => path.clone(),
                    Of::Command(named) => format!("[{}]", named.join(" ")),
                };
                format!("{of} {:?}", part.code)
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn commands_tell_parts() {
        for (before, after) in [
            ("$ ", "$"),
            ("me@box:~/w$ ", "me@box:~/w$ "),
            ("[me@box w]$ ", "[me@box w]$ "),
            ("(venv) root@box w # ", ""),
            ("me@mac w % ", "me@mac w % "),
            ("~/w$ ", "~/w$ "),
            ("bash-5.2$ ", ""),
            ("❯ ", "❯ "),
            ("PS C:\\w> ", "PS C:\\w> "),
        ] {
            check(
                &format!(
                    "I did:\n{before}cat src/a.c\nint a;\n{before}cat b.c c.c\nint b;\n{before}make\n\n{after}"
                ),
                Headings::Sure,
                &[
                    "- \"I did:\\n\"",
                    "src/a.c \"int a;\\n\"",
                    "[b.c c.c] \"int b;\\n\"",
                ],
            );
        }
        check(
            "$ cat > a.c <<EOF\n> int a;\n>\n> EOF\n$ ls\nb.c\n",
            Headings::Sure,
            &["a.c \"int a;\\n\\nEOF\\n\"", "[] \"b.c\\n\""],
        );
    }

    #[test]
    fn headings_tell_parts() {
        let text = "x\n==> src/a.c <==\nint a;\n\n==> b.c <==\nint b;\n";
        let expected = &[
            "- \"x\\n\"",
            "src/a.c \"int a;\\n\\n\"",
            "b.c \"int b;\\n\"",
        ];
        check(text, Headings::Sure, expected);
        check(text, Headings::Any, expected);
        let text = "--- src/a.c ---\n\nint a;\n=== b.c\nint b;\nc.c:\nint c;\n";
        check(text, Headings::Sure, &[]);
        check(
            text,
            Headings::Any,
            &[
                "src/a.c \"int a;\\n\"",
                "b.c \"int b;\\n\"",
                "c.c \"int c;\\n\"",
            ],
        );
    }

    #[test]
    fn searches_tell_parts() {
        let any = |text: &str, expected: &[&str]| check(text, Headings::Any, expected);
        any(
            "src/a-b.c-3-/* a */\nsrc/a-b.c:4:int a;\nsrc/a-b.c-5-\n--\nsrc/a-b.c:9:int b = 1;\nc.c:1:int c = 1;\nc.c:3:int d;\n",
            &[
                "src/a-b.c \"/* a */\\nint a;\\n\\n\"",
                "src/a-b.c \"int b = 1;\\n\"",
                "c.c \"int c = 1;\\n\"",
                "- \"--\\nc.c:3:int d;\\n\"",
            ],
        );
        any(
            "src/a.c:int a;\nsrc/a.c-int b;\nb.c:int c = 1;\n",
            &["src/a.c \"int a;\\nint b;\\n\"", "b.c \"int c = 1;\\n\""],
        );
        any(
            "src/a.c\n3:int a;\n4-int b;\n\nb.c\n1-int c;\n2:int d;\n",
            &[
                "src/a.c \"int a;\\nint b;\\n\"",
                "b.c \"int c;\\nint d;\\n\"",
                "- \"src/a.c\\n\\nb.c\\n\"",
            ],
        );
        any(
            "Found 1.\n/w/a.c:\n  Line 3: int a = 1;\n  Line 4: int b;\n\n",
            &["- \"Found 1.\\n\"", "/w/a.c \"int a = 1;\\nint b;\\n\""],
        );
        any(
            "Found 1.\n\nsrc/a.c\n│----\n│int a;\n│\n│----\n",
            &[
                "src/a.c \"int a;\\n\\n\"",
                "- \"Found 1.\\n\\nsrc/a.c\\n│----\\n│----\\n\"",
            ],
        );
    }

    #[test]
    fn what_tells_nothing() {
        for text in [
            "int a;\n@x # y\nint b;\n",
            "It costs $5 and 10% more.\n#include <a.h>\n# a comment\n% b\n> c\n",
            "a -> b.c\nif (a > b) {\n2024-01-01 x\nhttp://x.org/a.c:1\n",
            "src/a.c:3:5: error: x = {\nsrc/a.c:3:int a;\n",
            "",
        ] {
            check(text, Headings::Any, &[]);
        }
    }
}
