//! Files and edits in tags: Cline's and Roo's tools as text, and files that a client or a person put tags around.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::ends::{self, Ends, Place};
use super::line::without_first_end;
use super::path_hint::Hint;
use super::scan::Found;
use super::search_replace::{self, Dialect};
use super::section::{Edits, Frame, Section};
use super::{Block, Closing, Part, Standing, fence, leaked, quoted};
use crate::edit::{Edit, Hunk, Malformed};
use crate::event::Format;
use crate::limits::PATH_BYTES_MAX;

/// What a tag holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `<write_to_file>`: a path and all of a file.
    Write,
    /// `<replace_in_file>`, `<apply_diff>`: a path and SEARCH/REPLACE blocks.
    Replace(Dialect),
    /// `<file_content path="…">`: a file as the client put it there.
    Content,
    /// `<final_file_content path="…">`: a file as the client's tool wrote it.
    Written,
    /// `<file path="…">`, `<file><path>…`, `<document><source>…`.
    File,
}

const TAGS: [(&str, &str, Kind); 7] = [
    ("write_to_file", "</write_to_file>", Kind::Write),
    (
        "replace_in_file",
        "</replace_in_file>",
        Kind::Replace(Dialect::Cline),
    ),
    ("apply_diff", "</apply_diff>", Kind::Replace(Dialect::Roo)),
    ("file_content", "</file_content>", Kind::Content),
    ("final_file_content", "</final_file_content>", Kind::Written),
    ("file", "</file>", Kind::File),
    ("document", "</document>", Kind::File),
];

/// Reads the element that a line opens, if it names a file.
pub(super) fn read<'t>(text: &'t str, line: &Range<usize>, ends: &mut Ends) -> Option<Found<'t>> {
    let start = line.end - text[line.clone()].trim_start().len();
    let opener = Opener::at(text, start)?;
    let (_, closer, kind) = TAGS.iter().find(|(name, ..)| *name == opener.name)?;
    if !opens(text, &opener, *kind) {
        return None;
    }
    let end = ends.next(text, closer, Place::Edge, opener.end);
    let element = Element {
        outer: line.start..end.map_or(text.len(), |at| over_blanks(text, at + closer.len())),
        body: opener.end..end.unwrap_or(text.len()),
        opener,
        closing: match end {
            Some(_) => Closing::Closed,
            None => Closing::Unclosed,
        },
    };
    let blocks = match kind {
        Kind::Write => [element.write(text)].into(),
        Kind::Replace(dialect) => element.replace(text, *dialect),
        Kind::Content | Kind::Written | Kind::File => [element.file(text, *kind)?].into(),
    };
    Some(Found {
        blocks,
        end: element.outer.end,
    })
}

/// Reads a fence that holds nothing but a tool's tag or a leaked tool call.
pub(super) fn in_fence<'t>(text: &'t str, frame: &Frame<'t>) -> Option<Vec<Block<'t>>> {
    const TOOLS: [&str; 5] = [
        "<write_to_file>",
        "<replace_in_file>",
        "<apply_diff>",
        "<tool_call>",
        "<function=",
    ];
    let Cow::Borrowed(piece) = frame.piece else {
        return None;
    };
    let start = piece.len() - piece.trim_start().len();
    if !TOOLS.iter().any(|tool| piece[start..].starts_with(tool)) {
        return None;
    }
    // Read within the whole text, so that places are the message's; the fence's end ends it.
    let inside = &text[..frame.raw.end];
    let line = super::line::line_at(inside, frame.raw.start + start);
    let mut ends = Ends::default();
    let found =
        read(inside, &line, &mut ends).or_else(|| leaked::read(inside, &line, &mut ends))?;
    if !inside[found.end..].trim().is_empty() {
        return None;
    }
    let mut blocks = found.blocks;
    blocks.first_mut()?.outer.start = frame.outer.start;
    blocks.last_mut()?.outer.end = frame.outer.end;
    Some(blocks)
}

/// Whether what follows the opening tag makes it one, and not a word in prose.
fn opens(text: &str, opener: &Opener<'_>, kind: Kind) -> bool {
    let below = |children: &[&str]| {
        let next = text[opener.end..].trim_start();
        children.iter().any(|child| next.starts_with(child))
    };
    match kind {
        Kind::Write => below(&["<path>", "<file_path>", "<content>"]),
        Kind::Replace(_) => below(&["<path>", "<file_path>", "<diff>", "<args>"]),
        Kind::Content | Kind::Written => opener.path().is_some(),
        Kind::File if opener.name == "document" => {
            after_child(text, opener.end, "<source>", "</source>")
                .is_some_and(|rest| rest.starts_with("<document_content>"))
        }
        Kind::File => {
            opener.path().is_some()
                || below(&["00001| "])
                || after_child(text, opener.end, "<path>", "</path>")
                    .is_some_and(|rest| rest.starts_with("<content"))
        }
    }
}

/// What follows a child that stands on one line, which comes first.
fn after_child<'t>(text: &'t str, at: usize, opener: &str, closer: &str) -> Option<&'t str> {
    let inside = text[at..].trim_start().strip_prefix(opener)?;
    let (value, _) = inside.lines().next()?.split_once(closer)?;
    Some(inside[value.len() + closer.len()..].trim_start())
}

/// An opening tag.
struct Opener<'t> {
    name: &'t str,
    attributes: &'t str,
    end: usize,
}

impl<'t> Opener<'t> {
    fn at(text: &'t str, start: usize) -> Option<Self> {
        let inside = text[start..].strip_prefix('<')?;
        let line = inside.lines().next()?;
        let length = line.find('>')?;
        let inside = &line[..length];
        let end = inside.find(char::is_whitespace).unwrap_or(inside.len());
        let (name, attributes) = inside.split_at(end);
        (!inside.ends_with('/')).then_some(Self {
            name,
            attributes,
            end: start + 1 + length + 1,
        })
    }

    fn path(&self) -> Option<&'t str> {
        ["path", "name", "filename", "filepath", "file_path"]
            .iter()
            .find_map(|name| self.attribute(name))
    }

    fn attribute(&self, name: &str) -> Option<&'t str> {
        let mut rest = self.attributes;
        while let Some((key, value)) = rest.split_once('=') {
            let value = value.trim_start();
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
            let (value, after) = match quote {
                Some(quote) => value[1..].split_once(quote)?,
                None => value.split_once(' ').unwrap_or((value, "")),
            };
            if key.trim() == name {
                return Some(value).filter(|value| !value.is_empty());
            }
            rest = after;
        }
        None
    }
}

/// A tag with what it holds.
struct Element<'t> {
    outer: Range<usize>,
    opener: Opener<'t>,
    body: Range<usize>,
    closing: Closing,
}

impl<'t> Element<'t> {
    fn write(&self, text: &'t str) -> Block<'t> {
        let path = path_child(text, &self.body);
        let (content, closed) = long_child(text, &self.body, "<content>", "</content>")
            .unwrap_or((self.body.end..self.body.end, false));
        // A second tool in it means that the first was never closed.
        let runs_over =
            ends::find(&text[content.clone()], "<write_to_file>", Place::Edge, 0).is_some();
        let content = without_wrapping(text, content, path.as_deref());
        let numbered = quoted::numbered(&text[content.clone()]);
        let closing = match closed && !runs_over {
            true => self.closing,
            false => Closing::Unclosed,
        };
        let mut frame = self.frame(text, content, path, closing);
        if let Some(numbered) = numbered {
            frame.piece = Cow::Owned(numbered.code);
        }
        Block {
            part: Part::Whole,
            ..frame.whole(Format::Tags, Standing::Said)
        }
    }

    fn file(&self, text: &'t str, kind: Kind) -> Option<Block<'t>> {
        let attribute = self.opener.path().map(ToString::to_string);
        let (path, child) = match self.opener.name {
            "document" => (
                short_child(text, &self.body, "<source>", "</source>"),
                long_child(
                    text,
                    &self.body,
                    "<document_content>",
                    "</document_content>",
                )
                .map(|(content, closed)| (content, closed, false)),
            ),
            _ => (
                path_child(text, &self.body).filter(|_| attribute.is_none()),
                content_child(text, &self.body),
            ),
        };
        let (content, closed, lines) =
            child.unwrap_or_else(|| (inner(text, self.body.clone()), true, false));
        let path = path.or(attribute);
        let piece = &text[content.clone()];
        let numbered = quoted::numbered(piece);
        if path.is_none() && numbered.is_none() {
            return None;
        }
        let partial = lines || self.opener.attribute("lines").is_some() || is_partial(piece);
        let quoted =
            kind == Kind::Written || numbered.is_some() || is_error(piece) || is_partial(piece);
        let content = match kind {
            Kind::File if numbered.is_none() => without_wrapping(text, content, path.as_deref()),
            _ => content,
        };
        let closing = if closed {
            self.closing
        } else {
            Closing::Unclosed
        };
        let mut frame = self.frame(text, content, path, closing);
        let mut part = if partial { Part::Range } else { Part::Whole };
        if let Some(numbered) = numbered {
            frame.piece = Cow::Owned(numbered.code);
            part = numbered.part;
        }
        let standing = if quoted {
            Standing::Quoted
        } else {
            Standing::Said
        };
        Some(Block {
            part,
            ..frame.whole(Format::Tags, standing)
        })
    }

    fn replace(&self, text: &'t str, dialect: Dialect) -> Vec<Block<'t>> {
        let diff = long_child(text, &self.body, "<diff>", "</diff>");
        let args = text[self.body.clone()].trim_start().starts_with("<args>");
        let Some((diff, closed)) = diff.filter(|_| !args) else {
            return self.replace_in_files(text, dialect);
        };
        let edits = read_diff(&text[diff.clone()], dialect);
        let edits = match closed && self.closing == Closing::Closed
            || edits.sections.iter().all(|section| section.edit.is_err())
        {
            true => edits,
            false => edits.spoiled(),
        };
        let path = path_child(text, &self.body);
        let closing = if closed {
            self.closing
        } else {
            Closing::Unclosed
        };
        self.frame(text, diff, path, closing).split(text, edits)
    }

    /// Roo's `<args>` with several files, each with several diffs.
    fn replace_in_files(&self, text: &'t str, dialect: Dialect) -> Vec<Block<'t>> {
        const FILE: &str = "<file>";
        const FILE_END: &str = "</file>";
        let body = &text[self.body.clone()];
        let mut sections = Vec::new();
        let mut at = 0;
        while let Some(start) = ends::find(body, FILE, Place::Edge, at) {
            let end = ends::find(body, FILE_END, Place::Edge, start).unwrap_or(body.len());
            let file = start + FILE.len()..end.max(start + FILE.len());
            sections.push(Section {
                start,
                hint: path_child(body, &file).map(Hint::header),
                edit: diffs_of(&body[file.clone()], dialect),
            });
            at = file.end;
        }
        let mut edits = Edits::malformed(Format::SearchReplace);
        if !sections.is_empty() {
            edits.sections = sections;
        }
        if self.closing == Closing::Unclosed {
            edits = edits.spoiled();
        }
        self.frame(text, self.body.clone(), None, self.closing)
            .split(text, edits)
    }

    fn frame(
        &self,
        text: &'t str,
        raw: Range<usize>,
        path: Option<String>,
        closing: Closing,
    ) -> Frame<'t> {
        Frame {
            outer: self.outer.clone(),
            piece: Cow::Borrowed(&text[raw.clone()]),
            raw,
            language: None,
            hint: path.map(Hint::header),
            closing,
        }
    }
}

/// A diff whose file is named outside of it; a file named inside as well is one too many.
fn read_diff(diff: &str, dialect: Dialect) -> Edits {
    let mut edits = search_replace::read(diff, dialect);
    if edits.sections.iter().any(|section| section.hint.is_some()) {
        edits = edits.spoiled();
        edits.sections.truncate(1);
        edits.sections[0].hint = None;
    }
    edits
}

/// All diffs of one file as one edit.
fn diffs_of(file: &str, dialect: Dialect) -> Result<Edit, Malformed> {
    const DIFF: &str = "<diff>";
    const DIFF_END: &str = "</diff>";
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut at = 0;
    while let Some(start) = ends::find(file, DIFF, Place::Edge, at) {
        let end = ends::find(file, DIFF_END, Place::Edge, start).ok_or(Malformed)?;
        let diff = start + DIFF.len()..end.max(start + DIFF.len());
        let content = long_child(file, &diff, "<content>", "</content>");
        let inside = content.map_or(diff.clone(), |(content, _)| content);
        let piece = file[inside].trim();
        let piece = piece.strip_prefix("<![CDATA[").unwrap_or(piece);
        let piece = piece.strip_suffix("]]>").unwrap_or(piece);
        match read_diff(without_first_end(piece), dialect)
            .sections
            .pop()
            .map(|section| section.edit)
        {
            Some(Ok(Edit::Change(more))) => hunks.extend(more),
            _ => return Err(Malformed),
        }
        at = diff.end;
    }
    if hunks.is_empty() {
        Err(Malformed)
    } else {
        Ok(Edit::Change(hunks))
    }
}

/// The text of a child that stands on one line.
fn short_child(text: &str, body: &Range<usize>, opener: &str, closer: &str) -> Option<String> {
    let inside = text[body.clone()].trim_start();
    let value = inside.strip_prefix(opener)?.lines().next()?;
    let (value, _) = value.split_once(closer)?;
    let value = value.trim();
    (!value.is_empty() && value.len() <= 4 * PATH_BYTES_MAX).then(|| value.to_string())
}

fn path_child(text: &str, body: &Range<usize>) -> Option<String> {
    let skipped = text[body.clone()].trim_start();
    let body = match skipped.strip_prefix("<args>") {
        Some(rest) => body.end - rest.len()..body.end,
        None => body.clone(),
    };
    short_child(text, &body, "<path>", "</path>")
        .or_else(|| short_child(text, &body, "<file_path>", "</file_path>"))
}

/// Where a child's text stands that may hold anything: from the first opening tag to the last closing one. The flag says
/// whether it was closed.
fn long_child(
    text: &str,
    body: &Range<usize>,
    opener: &str,
    closer: &str,
) -> Option<(Range<usize>, bool)> {
    let inside = &text[body.clone()];
    let start = body.start + inside.find(opener)? + opener.len();
    let end = memchr::memmem::rfind(&text.as_bytes()[start..body.end], closer.as_bytes());
    let range = start..end.map_or(body.end, |end| start + end);
    Some((inner(text, range), end.is_some()))
}

/// `<content>` or `<content lines="1-9">` behind the path; the last flag says whether lines are named.
fn content_child(text: &str, body: &Range<usize>) -> Option<(Range<usize>, bool, bool)> {
    let inside = &text[body.clone()];
    let rest = inside.trim_start();
    let rest = match rest.strip_prefix("<path>") {
        Some(path) => path.split_once("</path>")?.1.trim_start(),
        None => rest,
    };
    let opener = Opener::at(rest, 0).filter(|opener| opener.name == "content")?;
    let start = body.end - rest.len() + opener.end;
    let end = memchr::memmem::rfind(&text.as_bytes()[start..body.end], b"</content>");
    let range = start..end.map_or(body.end, |end| start + end);
    Some((
        inner(text, range),
        end.is_some(),
        opener.attribute("lines").is_some(),
    ))
}

/// A range without the line end after its opening tag and the indentation of its closing tag.
fn inner(text: &str, range: Range<usize>) -> Range<usize> {
    let start = range.end - without_first_end(&text[range.clone()]).len();
    let inside = &text[start..range.end];
    let last_line = inside.rfind('\n').map_or(0, |newline| newline + 1);
    let end = match inside[last_line..].trim().is_empty() {
        true => start + last_line,
        false => range.end,
    };
    start..end
}

/// A range without a fence that is all it holds; a Markdown file may be just that.
fn without_wrapping(text: &str, range: Range<usize>, path: Option<&str>) -> Range<usize> {
    if path.is_some_and(|path| path.ends_with(".md") || path.ends_with(".mdx")) {
        return range;
    }
    match fence::unwrapped(&text[range.clone()]) {
        Some(inside) => range.start + inside.start..range.start + inside.end,
        None => range,
    }
}

/// Behind the blanks of a line and its end, if nothing else follows on it.
fn over_blanks(text: &str, at: usize) -> usize {
    let line = super::line::line_at(text, at);
    if text[line.clone()].trim().is_empty() {
        line.end
    } else {
        at
    }
}

/// A file that the client couldn't read.
fn is_error(content: &str) -> bool {
    content.trim_start().starts_with("Error fetching content:")
}

/// A tool's remark that these are some of the file's lines.
fn is_partial(content: &str) -> bool {
    let mut lines = content.trim().lines();
    lines.next().is_some_and(quoted::is_remark) || lines.next_back().is_some_and(quoted::is_remark)
}

#[cfg(test)]
mod tests;
