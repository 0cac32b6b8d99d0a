//! SEARCH/REPLACE blocks: aider's, fenced or bare, and the variants of Cline and Roo.

use alloc::string::String;
use alloc::vec::Vec;

use super::sections::{FileSection, ParsedEdits};
use crate::capture::line::lines_from;
use crate::capture::path_hint::{self, PathHint};
use crate::edit::{Edit, EditPosition, Hunk, Malformed, MatchUnit};
use crate::event::Format;
use crate::opening_fence::OutsideFences;

/// The rules in which clients differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture) enum SearchReplaceDialect {
    /// aider's: an empty SEARCH appends.
    Plain,
    /// Cline's: an empty SEARCH makes a file.
    Cline,
    /// Roo's: line numbers after SEARCH, markers in code escaped by a backslash, no empty SEARCH.
    Roo,
}

/// A line that is a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkerLine {
    Search { dashed: bool },
    Divider,
    Replace,
}

fn marker_line(line: &str) -> Option<MarkerLine> {
    let line = line.trim_end();
    let first = line.chars().next()?;
    let mark = line.len() - line.trim_start_matches(first).len();
    if !(5..=9).contains(&mark) {
        return None;
    }
    match (first, &line[mark..]) {
        ('<' | '-', " SEARCH" | " SEARCH>") => Some(MarkerLine::Search {
            dashed: first == '-',
        }),
        ('=', "") => Some(MarkerLine::Divider),
        ('>' | '+', " REPLACE" | " REPLACE>") => Some(MarkerLine::Replace),
        _ => None,
    }
}

/// Whether a line opens a block.
pub(in crate::capture) fn opens_block(line: &str) -> bool {
    matches!(
        marker_line(line.trim_start()),
        Some(MarkerLine::Search { .. })
    )
}

/// Whether a line ends a block.
pub(in crate::capture) fn ends_block(line: &str) -> bool {
    marker_line(line.trim_start()) == Some(MarkerLine::Replace)
}

/// Whether a line has the mark of a block, even a malformed one.
pub(super) fn has_marker(line: &str) -> bool {
    let line = line.trim();
    let words = line.trim_start_matches(['<', '-', '>', '+']);
    let mark = line.len() - words.len();
    (5..=9).contains(&mark)
        && words
            .strip_prefix(' ')
            .is_some_and(|rest| rest.starts_with("SEARCH") || rest.starts_with("REPLACE"))
}

/// The end of a bare block that starts at `at`: after its REPLACE marker, or where it breaks off. The flag is whether it has
/// that marker.
pub(super) fn bare_block_end(text: &str, at: usize) -> (usize, bool) {
    for (start, line) in lines_from(text, at).skip(1) {
        if opens_block(line) {
            return (start, false);
        }
        if ends_block(line) {
            return (start + line.len(), true);
        }
    }
    (text.len(), false)
}

/// Reads a piece of text that is nothing but such blocks, with lines that name their files between them.
pub(super) fn read(piece: &str, dialect: SearchReplaceDialect) -> ParsedEdits {
    let mut reader = SearchReplaceReader {
        dialect,
        block: None,
        path: None,
        path_start: None,
        sections: Vec::new(),
    };
    let is_read = lines_from(piece, 0).try_for_each(|(at, line)| reader.read_line(at, line));
    let is_sound = is_read.is_ok() && reader.block.is_none();
    let named = reader.path.filter(|_| reader.sections.is_empty());
    let mut edits = ParsedEdits::new(Format::SearchReplace, reader.sections, is_sound);
    if named.is_some() {
        edits.sections[0].hint = named;
    }
    edits
}

struct SearchReplaceReader {
    dialect: SearchReplaceDialect,
    block: Option<OpenBlock>,
    /// The path that the last line with a path named.
    path: Option<PathHint>,
    /// Where that line starts, until a block follows it.
    path_start: Option<usize>,
    sections: Vec<FileSection>,
}

/// A block whose REPLACE marker is still to come.
struct OpenBlock {
    start: usize,
    dashed: bool,
    /// Whether Roo's line numbers may still follow.
    heading: bool,
    is_divided: bool,
    old: String,
    new: String,
}

impl SearchReplaceReader {
    /// Reads one line.
    fn read_line(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        let marker = marker_line(line);
        let Some(block) = &mut self.block else {
            return self.read_between_blocks(at, line, marker);
        };
        match (marker, block.is_divided) {
            (Some(MarkerLine::Divider), false) => block.is_divided = true,
            (Some(MarkerLine::Replace), true) => return self.end_block(),
            (Some(_), _) => return Err(Malformed),
            (None, true) => self.dialect.push_code_line(&mut block.new, line),
            (None, false) if block.heading && is_heading(line) => {
                block.heading = !line.trim_end().bytes().all(|byte| byte == b'-');
            }
            (None, false) => {
                block.heading = false;
                self.dialect.push_code_line(&mut block.old, line);
            }
        }
        Ok(())
    }

    fn read_between_blocks(
        &mut self,
        at: usize,
        line: &str,
        marker: Option<MarkerLine>,
    ) -> Result<(), Malformed> {
        if let Some(MarkerLine::Search { dashed }) = marker {
            self.block = Some(OpenBlock {
                start: self.path_start.take().unwrap_or(at),
                dashed,
                heading: true,
                is_divided: false,
                old: String::new(),
                new: String::new(),
            });
            return Ok(());
        }
        if marker.is_some() || has_marker(line) {
            return Err(Malformed);
        }
        if line.trim().is_empty() {
            return Ok(());
        }
        let hint = match OutsideFences::default().read(line) {
            Some(fence) if fence.info.is_empty() => return Ok(()),
            Some(fence) => path_hint::info_string(fence.info).hint,
            None => Some(
                path_hint::line_before(line, 0)
                    .or_else(|| path_hint::first_line_comment(line))
                    .ok_or(Malformed)?,
            ),
        };
        if hint.is_some() {
            self.path = hint;
            self.path_start = Some(at);
        }
        Ok(())
    }

    /// Adds the open block's hunk, to the section before it if that is of the same file.
    fn end_block(&mut self) -> Result<(), Malformed> {
        let Some(block) = self.block.take() else {
            return Err(Malformed);
        };
        let (old, new) = (block.old, block.new);
        let last = self.sections.last_mut();
        if old.is_empty() && (block.dashed || self.dialect != SearchReplaceDialect::Plain) {
            let goes_on = last.is_some_and(|last| last.hint == self.path);
            if goes_on || self.dialect == SearchReplaceDialect::Roo {
                return Err(Malformed);
            }
            self.sections.push(FileSection {
                start: block.start,
                hint: self.path.clone(),
                edit: Ok(Edit::Create(new)),
            });
            return Ok(());
        }
        let hunk = if old.is_empty() {
            Hunk::Append(new)
        } else {
            Hunk::Replace {
                old,
                new,
                place: EditPosition::Once,
                unit: MatchUnit::Lines,
            }
        };
        match last {
            Some(FileSection { hint, edit, .. }) if *hint == self.path => match edit {
                Ok(Edit::Change(hunks)) => hunks.push(hunk),
                _ => return Err(Malformed),
            },
            _ => self.sections.push(FileSection {
                start: block.start,
                hint: self.path.clone(),
                edit: Ok(Edit::Change([hunk].into())),
            }),
        }
        Ok(())
    }
}

impl SearchReplaceDialect {
    /// Adds a line of code, always with a line end.
    fn push_code_line(self, code: &mut String, line: &str) {
        const MARKERS: [&str; 6] = [
            "<<<<<<<",
            "=======",
            ">>>>>>>",
            "-------",
            ":start_line:",
            ":end_line:",
        ];
        let escaped = line.strip_prefix('\\').filter(|rest| {
            self == Self::Roo && MARKERS.iter().any(|marker| rest.starts_with(marker))
        });
        code.push_str(escaped.unwrap_or(line));
        if !line.ends_with('\n') {
            code.push('\n');
        }
    }
}

/// Roo's lines between SEARCH and the code: `:start_line:10`, `:end_line:12`, `-------`.
fn is_heading(line: &str) -> bool {
    let line = line.trim_end();
    let numbered = [":start_line:", ":end_line:"].iter().any(|label| {
        line.strip_prefix(label).is_some_and(|number| {
            !number.is_empty() && number.trim().bytes().all(|byte| byte.is_ascii_digit())
        })
    });
    numbered || line == "-------"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::tests::shown;
    use alloc::format;

    /// One line a section: its path, then its hunks.
    fn check(dialect: SearchReplaceDialect, piece: &str, expected: &[&str]) {
        assert_eq!(shown::files(&read(piece, dialect)), expected, "{piece}");
    }

    #[test]
    fn aider_blocks() {
        check(
            SearchReplaceDialect::Plain,
            "src/a.c\n<<<<<<< SEARCH\nint a;\n=======\nint b;\n>>>>>>> REPLACE\n",
            &["src/a.c \"int a;\\n\">\"int b;\\n\""],
        );
        check(
            SearchReplaceDialect::Plain,
            "<<<<<<< SEARCH\r\na\r\n=======\r\n>>>>>>> REPLACE",
            &["- \"a\\r\\n\">\"\""],
        );
        check(
            SearchReplaceDialect::Plain,
            "<<<<< SEARCH>\n=====\nnew\n>>>>>>>>> REPLACE  \n",
            &["- Append(\"new\\n\")"],
        );
    }

    #[test]
    fn same_file_blocks() {
        let block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
        check(
            SearchReplaceDialect::Plain,
            &format!("a.c\n{block}\n{block}b.c\n{block}```\n\n**c.c**\n```c\n{block}"),
            &[
                "a.c \"a\\n\">\"b\\n\" \"a\\n\">\"b\\n\"",
                "b.c \"a\\n\">\"b\\n\"",
                "c.c \"a\\n\">\"b\\n\"",
            ],
        );
    }

    #[test]
    fn cline_and_roo() {
        check(
            SearchReplaceDialect::Cline,
            "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n",
            &["- \"a\\n\">\"b\\n\""],
        );
        check(
            SearchReplaceDialect::Cline,
            "------- SEARCH\n=======\nb\n+++++++ REPLACE\n",
            &["- Create(\"b\\n\")"],
        );
        check(
            SearchReplaceDialect::Roo,
            "<<<<<<< SEARCH\n:start_line:3\n:end_line:4\n-------\na\n\\=======\n=======\nb\n\\>>>>>>> REPLACE\n>>>>>>> REPLACE\n",
            &["- \"a\\n=======\\n\">\"b\\n>>>>>>> REPLACE\\n\""],
        );
        check(
            SearchReplaceDialect::Roo,
            "<<<<<<< SEARCH\n-------\n=======\nb\n>>>>>>> REPLACE\n",
            &["- malformed"],
        );
    }

    #[test]
    fn out_of_order() {
        for piece in [
            "<<<<<<< SEARCH\na\n",
            "<<<<<<< SEARCH\na\n=======\nb\n",
            "<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n",
            "<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE\n",
            "<<<<<<< SEARCH\na\n<<<<<<< SEARCH\n=======\nc\n>>>>>>> REPLACE\n",
            ">>>>>>> REPLACE\n",
            "int x;\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
            "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\nint main(void) {}\n",
            "    <<<<<<< SEARCH\n    a\n    =======\n    b\n    >>>>>>> REPLACE\n",
            "<<<<<<< SEARCH src/a.c\na\n=======\nb\n>>>>>>> REPLACE\n",
        ] {
            check(SearchReplaceDialect::Plain, piece, &["- malformed"]);
        }
    }

    #[test]
    fn whole_line_markers() {
        for line in [
            "<<<<<<< SEARCH\n",
            "------- SEARCH\n",
            "  >>>>>>> REPLACE",
            "<<<<<<< SEARCH a.c",
        ] {
            assert!(has_marker(line), "{line}");
        }
        for line in [
            "<<<<<<< HEAD\n",
            "\"<<<<<<< SEARCH\\n\"\n",
            "<< SEARCH",
            "=======\n",
            "// <<<<<<< SEARCH",
        ] {
            assert!(!has_marker(line), "{line}");
        }
    }
}
