//! SEARCH/REPLACE blocks: aider's, fenced or bare, and the variants of Cline and Roo.

use alloc::string::String;
use alloc::vec::Vec;

use super::line::{lines_from, without_end};
use super::path_hint::{self, Hint};
use super::section::{Edits, Section};
use crate::edit::{Edit, Hunk, Malformed, Place, Unit};
use crate::event::Format;

/// Whose rules hold where they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// aider's: an empty SEARCH appends.
    Plain,
    /// Cline's: an empty SEARCH makes a file.
    Cline,
    /// Roo's: line numbers after SEARCH, markers in code escaped by a backslash, no empty SEARCH.
    Roo,
}

/// A line that is a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marker {
    Search { dashed: bool },
    Divider,
    Replace,
}

fn marker(line: &str) -> Option<Marker> {
    let line = line.trim_end();
    let first = line.chars().next()?;
    let mark = line.len() - line.trim_start_matches(first).len();
    if !(5..=9).contains(&mark) {
        return None;
    }
    match (first, &line[mark..]) {
        ('<' | '-', " SEARCH" | " SEARCH>") => Some(Marker::Search {
            dashed: first == '-',
        }),
        ('=', "") => Some(Marker::Divider),
        ('>' | '+', " REPLACE" | " REPLACE>") => Some(Marker::Replace),
        _ => None,
    }
}

/// Whether a line opens a block.
pub(super) fn opens(line: &str) -> bool {
    matches!(marker(line.trim_start()), Some(Marker::Search { .. }))
}

/// Whether a line ends a block.
pub(super) fn ends(line: &str) -> bool {
    marker(line.trim_start()) == Some(Marker::Replace)
}

/// Whether a line has the mark of a block, be it well written or not.
pub(super) fn marks(line: &str) -> bool {
    let line = line.trim();
    let words = line.trim_start_matches(['<', '-', '>', '+']);
    let mark = line.len() - words.len();
    (5..=9).contains(&mark)
        && words
            .strip_prefix(' ')
            .is_some_and(|rest| rest.starts_with("SEARCH") || rest.starts_with("REPLACE"))
}

/// Where a bare block ends that starts at `at`: behind its REPLACE marker, or where it breaks off. The flag says whether
/// it came to its end.
pub(super) fn extent(text: &str, at: usize) -> (usize, bool) {
    for (start, line) in lines_from(text, at).skip(1) {
        if opens(line) {
            return (start, false);
        }
        if ends(line) {
            return (start + line.len(), true);
        }
    }
    (text.len(), false)
}

/// Reads a piece of text that is nothing but such blocks, with lines that name their files between them.
pub(super) fn read(piece: &str, dialect: Dialect) -> Edits {
    let mut reader = Reader {
        dialect,
        state: State::Between,
        path: None,
        path_start: None,
        sections: Vec::new(),
    };
    let sound = lines_from(piece, 0).try_for_each(|(at, line)| reader.pass(at, line));
    let sound = sound.is_ok() && matches!(reader.state, State::Between);
    let hint = reader.path.clone();
    let mut edits = Edits {
        format: Format::SearchReplace,
        sections: reader.sections,
    };
    if edits.sections.is_empty() {
        edits = Edits::malformed(Format::SearchReplace);
        edits.sections[0].hint = hint;
    }
    if sound { edits } else { edits.spoiled() }
}

struct Reader {
    dialect: Dialect,
    state: State,
    /// What the last line that names a file said.
    path: Option<Hint>,
    /// Where that line starts, until a block follows it.
    path_start: Option<usize>,
    sections: Vec<Section>,
}

enum State {
    Between,
    Search {
        start: usize,
        dashed: bool,
        /// Whether Roo's line numbers may still come.
        heading: bool,
        old: String,
    },
    Replace {
        start: usize,
        dashed: bool,
        old: String,
        new: String,
    },
}

impl Reader {
    /// Goes on over a line.
    fn pass(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        let marker = marker(line);
        match &mut self.state {
            State::Between => return self.between(at, line, marker),
            State::Search {
                start,
                dashed,
                heading,
                old,
            } => match marker {
                Some(Marker::Divider) => {
                    self.state = State::Replace {
                        start: *start,
                        dashed: *dashed,
                        old: core::mem::take(old),
                        new: String::new(),
                    };
                }
                Some(_) => return Err(Malformed),
                None if *heading && is_heading(line) => {
                    *heading = !line.trim_end().bytes().all(|byte| byte == b'-');
                }
                None => {
                    *heading = false;
                    self.dialect.push(old, line);
                }
            },
            State::Replace {
                start,
                dashed,
                old,
                new,
            } => match marker {
                Some(Marker::Replace) => {
                    let (start, dashed) = (*start, *dashed);
                    let (old, new) = (core::mem::take(old), core::mem::take(new));
                    self.state = State::Between;
                    return self.finish(start, dashed, old, new);
                }
                Some(_) => return Err(Malformed),
                None => self.dialect.push(new, line),
            },
        }
        Ok(())
    }

    fn between(&mut self, at: usize, line: &str, marker: Option<Marker>) -> Result<(), Malformed> {
        if let Some(Marker::Search { dashed }) = marker {
            self.state = State::Search {
                start: self.path_start.take().unwrap_or(at),
                dashed,
                heading: true,
                old: String::new(),
            };
            return Ok(());
        }
        if marker.is_some() || marks(line) {
            return Err(Malformed);
        }
        if line.trim().is_empty() {
            return Ok(());
        }
        let hint = match fence_info(line) {
            Some("") => return Ok(()),
            Some(info) => path_hint::info_string(info).hint(),
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

    /// Adds a hunk, to the section before it if that is of the same file.
    fn finish(
        &mut self,
        start: usize,
        dashed: bool,
        old: String,
        new: String,
    ) -> Result<(), Malformed> {
        let last = self.sections.last_mut();
        if old.is_empty() && (dashed || self.dialect != Dialect::Plain) {
            let goes_on = last.is_some_and(|last| last.hint == self.path);
            if goes_on || self.dialect == Dialect::Roo {
                return Err(Malformed);
            }
            self.sections.push(Section {
                start,
                hint: self.path.clone(),
                edit: Ok(Edit::Create(new)),
            });
            return Ok(());
        }
        let hunk = match old.is_empty() {
            true => Hunk::Append(new),
            false => Hunk::Replace {
                old,
                new,
                place: Place::Once,
                unit: Unit::Lines,
            },
        };
        match last {
            Some(Section { hint, edit, .. }) if *hint == self.path => match edit {
                Ok(Edit::Change(hunks)) => hunks.push(hunk),
                _ => return Err(Malformed),
            },
            _ => self.sections.push(Section {
                start,
                hint: self.path.clone(),
                edit: Ok(Edit::Change([hunk].into())),
            }),
        }
        Ok(())
    }
}

impl Dialect {
    /// Adds a line of code, always with a line end.
    fn push(self, code: &mut String, line: &str) {
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

/// The info string of a line that is a fence.
fn fence_info(line: &str) -> Option<&str> {
    let line = without_end(line).trim();
    ["```", "~~~"]
        .iter()
        .find(|fence| line.starts_with(**fence))
        .map(|fence| line.trim_start_matches(&fence[..1]).trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;

    /// One line a section: its path, then its hunks.
    fn check(dialect: Dialect, piece: &str, expected: &[&str]) {
        let found: Vec<String> = read(piece, dialect)
            .sections
            .iter()
            .map(|section| {
                let path = section.hint.as_ref().and_then(|hint| hint.path.clone());
                let edit = match &section.edit {
                    Ok(Edit::Change(hunks)) => hunks.iter().map(shown).collect(),
                    Ok(edit) => format!(" {edit:?}"),
                    Err(Malformed) => " malformed".to_string(),
                };
                format!("{}{edit}", path.unwrap_or("-".to_string()))
            })
            .collect();
        assert_eq!(found, expected, "{piece}");
    }

    fn shown(hunk: &Hunk) -> String {
        match hunk {
            Hunk::Replace { old, new, .. } => format!(" {old:?}>{new:?}"),
            hunk => format!(" {hunk:?}"),
        }
    }

    #[test]
    fn aiders_blocks_are_read() {
        check(
            Dialect::Plain,
            "src/a.c\n<<<<<<< SEARCH\nint a;\n=======\nint b;\n>>>>>>> REPLACE\n",
            &["src/a.c \"int a;\\n\">\"int b;\\n\""],
        );
        check(
            Dialect::Plain,
            "<<<<<<< SEARCH\r\na\r\n=======\r\n>>>>>>> REPLACE",
            &["- \"a\\r\\n\">\"\""],
        );
        check(
            Dialect::Plain,
            "<<<<< SEARCH>\n=====\nnew\n>>>>>>>>> REPLACE  \n",
            &["- Append(\"new\\n\")"],
        );
    }

    #[test]
    fn blocks_of_one_file_are_one_edit() {
        let block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
        check(
            Dialect::Plain,
            &format!("a.c\n{block}\n{block}b.c\n{block}```\n\n**c.c**\n```c\n{block}"),
            &[
                "a.c \"a\\n\">\"b\\n\" \"a\\n\">\"b\\n\"",
                "b.c \"a\\n\">\"b\\n\"",
                "c.c \"a\\n\">\"b\\n\"",
            ],
        );
    }

    #[test]
    fn clines_and_roos_variants_are_read() {
        check(
            Dialect::Cline,
            "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n",
            &["- \"a\\n\">\"b\\n\""],
        );
        check(
            Dialect::Cline,
            "------- SEARCH\n=======\nb\n+++++++ REPLACE\n",
            &["- Create(\"b\\n\")"],
        );
        check(
            Dialect::Roo,
            "<<<<<<< SEARCH\n:start_line:3\n:end_line:4\n-------\na\n\\=======\n=======\nb\n\\>>>>>>> REPLACE\n>>>>>>> REPLACE\n",
            &["- \"a\\n=======\\n\">\"b\\n>>>>>>> REPLACE\\n\""],
        );
        check(
            Dialect::Roo,
            "<<<<<<< SEARCH\n-------\n=======\nb\n>>>>>>> REPLACE\n",
            &["- malformed"],
        );
    }

    #[test]
    fn what_is_out_of_order_is_malformed() {
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
            check(Dialect::Plain, piece, &["- malformed"]);
        }
    }

    #[test]
    fn markers_are_whole_lines() {
        for line in [
            "<<<<<<< SEARCH\n",
            "------- SEARCH\n",
            "  >>>>>>> REPLACE",
            "<<<<<<< SEARCH a.c",
        ] {
            assert!(marks(line), "{line}");
        }
        for line in [
            "<<<<<<< HEAD\n",
            "\"<<<<<<< SEARCH\\n\"\n",
            "<< SEARCH",
            "=======\n",
            "// <<<<<<< SEARCH",
        ] {
            assert!(!marks(line), "{line}");
        }
    }
}
