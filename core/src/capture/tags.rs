//! Files and edits in tags: Cline's and Roo's tools as text, and files that a client or a person put tags around.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::ends::{self, ClosingTags, TagPosition};
use super::line::without_first_end;
use super::path_hint::PathHint;
use super::scan::ReadConstruct;
use super::search_replace::{self, SearchReplaceDialect};
use super::section::{BlockFrame, FileSection, ParsedEdits};
use super::{Authorship, Closing, CodeBlock, StatedExtent, fence, leaked, quoted};
use crate::edit::{Edit, Hunk, Malformed};
use crate::event::Format;
use crate::limits::PATH_BYTES_MAX;

/// A tag's meaning.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TagKind {
    /// `<write_to_file>`: a path and all of a file.
    Write,
    /// `<replace_in_file>`, `<apply_diff>`: a path and SEARCH/REPLACE blocks.
    Replace(SearchReplaceDialect),
    /// `<file_content path="…">`: a file that the client attached.
    Content,
    /// `<final_file_content path="…">`: a file as the client's tool wrote it to disk.
    Written,
    /// `<file path="…">`, `<file><path>…`, `<document><source>…`.
    File,
}

const TAGS: [(&str, &str, TagKind); 7] = [
    ("write_to_file", "</write_to_file>", TagKind::Write),
    (
        "replace_in_file",
        "</replace_in_file>",
        TagKind::Replace(SearchReplaceDialect::Cline),
    ),
    (
        "apply_diff",
        "</apply_diff>",
        TagKind::Replace(SearchReplaceDialect::Roo),
    ),
    ("file_content", "</file_content>", TagKind::Content),
    (
        "final_file_content",
        "</final_file_content>",
        TagKind::Written,
    ),
    ("file", "</file>", TagKind::File),
    ("document", "</document>", TagKind::File),
];

/// Reads the element that a line opens, if it names a file.
pub(super) fn read<'t>(
    text: &'t str,
    line: &Range<usize>,
    ends: &mut ClosingTags,
) -> Option<ReadConstruct<'t>> {
    let start = line.end - text[line.clone()].trim_start().len();
    let opener = OpeningTag::at(text, start)?;
    let (_, closer, kind) = TAGS.iter().find(|(name, ..)| *name == opener.name)?;
    if !is_construct(text, &opener, *kind) {
        return None;
    }
    let end = ends.next(text, closer, TagPosition::Edge, opener.end);
    let element = TagElement {
        outer: line.start..end.map_or(text.len(), |at| over_blanks(text, at + closer.len())),
        body: opener.end..end.unwrap_or(text.len()),
        opener,
        closing: match end {
            Some(_) => Closing::Closed,
            None => Closing::Unclosed,
        },
    };
    let blocks = match kind {
        TagKind::Write => [element.written_file_block(text)].into(),
        TagKind::Replace(dialect) => element.edit_blocks(text, *dialect),
        TagKind::Content | TagKind::Written | TagKind::File => {
            [element.file_block(text, *kind)?].into()
        }
    };
    Some(ReadConstruct {
        blocks,
        end: element.outer.end,
    })
}

/// Reads a fence that holds nothing but a tool's tag or a leaked tool call.
pub(super) fn in_fence<'t>(text: &'t str, frame: &BlockFrame<'t>) -> Option<Vec<CodeBlock<'t>>> {
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
    // The fence is read as a prefix of the whole text, so that ranges are those of the message.
    let inside = &text[..frame.raw.end];
    let line = super::line::line_at(inside, frame.raw.start + start);
    let mut ends = ClosingTags::default();
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

/// Whether the text after an opening tag shows that it is one, and not mentioned in prose.
fn is_construct(text: &str, opener: &OpeningTag<'_>, kind: TagKind) -> bool {
    let below = |children: &[&str]| {
        let next = text[opener.end..].trim_start();
        children.iter().any(|child| next.starts_with(child))
    };
    match kind {
        TagKind::Write => below(&["<path>", "<file_path>", "<content>"]),
        TagKind::Replace(_) => below(&["<path>", "<file_path>", "<diff>", "<args>"]),
        TagKind::Content | TagKind::Written => opener.path().is_some(),
        TagKind::File if opener.name == "document" => {
            after_child(text, opener.end, "<source>", "</source>")
                .is_some_and(|rest| rest.starts_with("<document_content>"))
        }
        TagKind::File => {
            opener.path().is_some()
                || below(&["00001| "])
                || after_child(text, opener.end, "<path>", "</path>")
                    .is_some_and(|rest| rest.starts_with("<content"))
        }
    }
}

/// The text after a first child that is on one line.
fn after_child<'t>(text: &'t str, at: usize, opener: &str, closer: &str) -> Option<&'t str> {
    let inside = text[at..].trim_start().strip_prefix(opener)?;
    let (value, _) = inside.lines().next()?.split_once(closer)?;
    Some(inside[value.len() + closer.len()..].trim_start())
}

/// An opening tag.
struct OpeningTag<'t> {
    name: &'t str,
    attributes: &'t str,
    end: usize,
}

impl<'t> OpeningTag<'t> {
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

/// An element: its tag and the range of its content.
struct TagElement<'t> {
    outer: Range<usize>,
    opener: OpeningTag<'t>,
    body: Range<usize>,
    closing: Closing,
}

impl<'t> TagElement<'t> {
    fn written_file_block(&self, text: &'t str) -> CodeBlock<'t> {
        let path = path_child(text, &self.body);
        let (content, closed) = long_child(text, &self.body, "<content>", "</content>")
            .unwrap_or((self.body.end..self.body.end, false));
        // A second tool inside means that the first one was never closed.
        let runs_over = ends::find_closing_tag(
            &text[content.clone()],
            "<write_to_file>",
            TagPosition::Edge,
            0,
        )
        .is_some();
        let content = without_wrapping(text, content, path.as_deref());
        let numbered = quoted::read_numbered_lines(&text[content.clone()]);
        let closing = if closed && !runs_over {
            self.closing
        } else {
            Closing::Unclosed
        };
        let mut frame = self.frame(text, content, path, closing);
        if let Some(numbered) = numbered {
            frame.piece = Cow::Owned(numbered.code);
        }
        CodeBlock {
            part: StatedExtent::Whole,
            ..frame.into_code_block(Format::Tags, Authorship::Said)
        }
    }

    fn file_block(&self, text: &'t str, kind: TagKind) -> Option<CodeBlock<'t>> {
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
            child.unwrap_or_else(|| (trimmed_content(text, self.body.clone()), true, false));
        let path = path.or(attribute);
        let piece = &text[content.clone()];
        let numbered = quoted::read_numbered_lines(piece);
        if path.is_none() && numbered.is_none() {
            return None;
        }
        let partial = lines || self.opener.attribute("lines").is_some() || is_partial(piece);
        let quoted =
            kind == TagKind::Written || numbered.is_some() || is_error(piece) || is_partial(piece);
        let content = match kind {
            TagKind::File if numbered.is_none() => without_wrapping(text, content, path.as_deref()),
            _ => content,
        };
        let closing = if closed {
            self.closing
        } else {
            Closing::Unclosed
        };
        let mut frame = self.frame(text, content, path, closing);
        let mut part = if partial {
            StatedExtent::Range
        } else {
            StatedExtent::Whole
        };
        if let Some(numbered) = numbered {
            frame.piece = Cow::Owned(numbered.code);
            part = numbered.part;
        }
        let standing = if quoted {
            Authorship::Quoted
        } else {
            Authorship::Said
        };
        Some(CodeBlock {
            part,
            ..frame.into_code_block(Format::Tags, standing)
        })
    }

    fn edit_blocks(&self, text: &'t str, dialect: SearchReplaceDialect) -> Vec<CodeBlock<'t>> {
        let diff = long_child(text, &self.body, "<diff>", "</diff>");
        let args = text[self.body.clone()].trim_start().starts_with("<args>");
        let Some((diff, closed)) = diff.filter(|_| !args) else {
            return self.edit_blocks_of_files(text, dialect);
        };
        let edits = read_diff(&text[diff.clone()], dialect);
        let edits = if closed && self.closing == Closing::Closed
            || edits.sections.iter().all(|section| section.edit.is_err())
        {
            edits
        } else {
            edits.all_malformed()
        };
        let path = path_child(text, &self.body);
        let closing = if closed {
            self.closing
        } else {
            Closing::Unclosed
        };
        self.frame(text, diff, path, closing)
            .into_edit_blocks(text, edits)
    }

    /// Roo's `<args>` with several files, each with several diffs.
    fn edit_blocks_of_files(
        &self,
        text: &'t str,
        dialect: SearchReplaceDialect,
    ) -> Vec<CodeBlock<'t>> {
        const FILE: &str = "<file>";
        const FILE_END: &str = "</file>";
        let body = &text[self.body.clone()];
        let mut sections = Vec::new();
        let mut at = 0;
        while let Some(start) = ends::find_closing_tag(body, FILE, TagPosition::Edge, at) {
            let end = ends::find_closing_tag(body, FILE_END, TagPosition::Edge, start)
                .unwrap_or(body.len());
            let file = start + FILE.len()..end.max(start + FILE.len());
            sections.push(FileSection {
                start,
                hint: path_child(body, &file).map(PathHint::header),
                edit: diffs_of(&body[file.clone()], dialect),
            });
            at = file.end;
        }
        let mut edits = ParsedEdits::malformed(Format::SearchReplace);
        if !sections.is_empty() {
            edits.sections = sections;
        }
        if self.closing == Closing::Unclosed {
            edits = edits.all_malformed();
        }
        self.frame(text, self.body.clone(), None, self.closing)
            .into_edit_blocks(text, edits)
    }

    fn frame(
        &self,
        text: &'t str,
        raw: Range<usize>,
        path: Option<String>,
        closing: Closing,
    ) -> BlockFrame<'t> {
        BlockFrame {
            outer: self.outer.clone(),
            piece: Cow::Borrowed(&text[raw.clone()]),
            raw,
            language: None,
            hint: path.map(PathHint::header),
            closing,
        }
    }
}

/// Reads a diff whose file is named outside; if it names a file itself, it is malformed.
fn read_diff(diff: &str, dialect: SearchReplaceDialect) -> ParsedEdits {
    let mut edits = search_replace::read(diff, dialect);
    if edits.sections.iter().any(|section| section.hint.is_some()) {
        edits = edits.all_malformed();
        edits.sections.truncate(1);
        edits.sections[0].hint = None;
    }
    edits
}

/// All diffs of one file as one edit.
fn diffs_of(file: &str, dialect: SearchReplaceDialect) -> Result<Edit, Malformed> {
    const DIFF: &str = "<diff>";
    const DIFF_END: &str = "</diff>";
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut at = 0;
    while let Some(start) = ends::find_closing_tag(file, DIFF, TagPosition::Edge, at) {
        let end =
            ends::find_closing_tag(file, DIFF_END, TagPosition::Edge, start).ok_or(Malformed)?;
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

/// The text of a first child that is on one line.
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

/// The range of a child's text that may itself contain tags: from the first opening tag to the last closing one. The flag is
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
    Some((trimmed_content(text, range), end.is_some()))
}

/// The range of `<content>` or `<content lines="1-9">` after the path, whether it was closed, and whether lines are named.
fn content_child(text: &str, body: &Range<usize>) -> Option<(Range<usize>, bool, bool)> {
    let inside = &text[body.clone()];
    let rest = inside.trim_start();
    let rest = match rest.strip_prefix("<path>") {
        Some(path) => path.split_once("</path>")?.1.trim_start(),
        None => rest,
    };
    let opener = OpeningTag::at(rest, 0).filter(|opener| opener.name == "content")?;
    let start = body.end - rest.len() + opener.end;
    let end = memchr::memmem::rfind(&text.as_bytes()[start..body.end], b"</content>");
    let range = start..end.map_or(body.end, |end| start + end);
    Some((
        trimmed_content(text, range),
        end.is_some(),
        opener.attribute("lines").is_some(),
    ))
}

/// A range without the line end after its opening tag and the indentation of its closing tag.
fn trimmed_content(text: &str, range: Range<usize>) -> Range<usize> {
    let start = range.end - without_first_end(&text[range.clone()]).len();
    let inside = &text[start..range.end];
    let last_line = inside.rfind('\n').map_or(0, |newline| newline + 1);
    let end = if inside[last_line..].trim().is_empty() {
        start + last_line
    } else {
        range.end
    };
    start..end
}

/// The range without a fence around all of it, except in Markdown files, which may be just a fence.
fn without_wrapping(text: &str, range: Range<usize>, path: Option<&str>) -> Range<usize> {
    if path.is_some_and(|path| path.ends_with(".md") || path.ends_with(".mdx")) {
        return range;
    }
    match fence::content_of_sole_fence(&text[range.clone()]) {
        Some(inside) => range.start + inside.start..range.start + inside.end,
        None => range,
    }
}

/// The position after the line's end, if only whitespace follows on it.
fn over_blanks(text: &str, at: usize) -> usize {
    let line = super::line::line_at(text, at);
    if text[line.clone()].trim().is_empty() {
        line.end
    } else {
        at
    }
}

/// Whether the client reports that it couldn't read the file.
fn is_error(content: &str) -> bool {
    content.trim_start().starts_with("Error fetching content:")
}

/// Whether a tool remarks that these are only some of the file's lines.
fn is_partial(content: &str) -> bool {
    let mut lines = content.trim().lines();
    lines.next().is_some_and(quoted::is_remark) || lines.next_back().is_some_and(quoted::is_remark)
}

#[cfg(test)]
mod tests;
