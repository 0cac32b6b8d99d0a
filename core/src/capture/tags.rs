//! Files and edits in tags: Cline's and Roo's tools as text, and files that a client or a person put tags around.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use core::ops::Range;

use super::block::{Authorship, Closing, StatedExtent};
use super::container::Container;
use super::element::{
    ChildElement, OpeningTag, begins_with_path, child_from, first_child, long_child, path_child,
    trimmed_content,
};
use super::ends::{ClosingTags, TagPosition, find_tag};
use super::fence;
use super::line::over_blanks;
use super::path_hint::PathHint;
use super::payload::{EditFormat, PayloadKind, SearchReplaceDialect, numbered};
use super::vocabulary::{
    ATTACHED_FILE_TAGS, CLINE_DIFF_TAGS, FILE_TAGS, PATH_TAGS, ROO_DIFF_TAGS, WRITE_TAGS,
    WRITTEN_FILE_TAGS,
};
use crate::event::PathEvidence;

/// A tag's meaning.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TagKind {
    /// `<write_to_file>`: a path, as a child or an attribute, and all of a file.
    Write,
    /// `<replace_in_file>`, `<apply_diff>`: a path, likewise, and SEARCH/REPLACE blocks.
    Replace(SearchReplaceDialect),
    /// `<file_content path="…">`: a file that the client attached.
    Content,
    /// `<final_file_content path="…">`: a file as the client's tool wrote it to disk.
    Written,
    /// `<file path="…">`, `<file><path>…`, `<document><source>…`.
    File,
}

/// The tag of this name, and its meaning.
fn known_tag(name: &str) -> Option<(&'static str, TagKind)> {
    let kinds = [
        (WRITE_TAGS, TagKind::Write),
        (
            CLINE_DIFF_TAGS,
            TagKind::Replace(SearchReplaceDialect::Cline),
        ),
        (ROO_DIFF_TAGS, TagKind::Replace(SearchReplaceDialect::Roo)),
        (ATTACHED_FILE_TAGS, TagKind::Content),
        (WRITTEN_FILE_TAGS, TagKind::Written),
        (FILE_TAGS, TagKind::File),
    ];
    kinds.into_iter().find_map(|(names, kind)| {
        let known = names.iter().find(|known| **known == name)?;
        Some((*known, kind))
    })
}

/// Whether a text begins with the tag of a tool that changes files.
pub(super) fn begins_with_tool(text: &str) -> bool {
    let opener = OpeningTag::at(text, 0);
    let kind = opener.and_then(|opener| known_tag(opener.name));
    matches!(kind, Some((_, TagKind::Write | TagKind::Replace(_))))
}

/// Reads the element that a line opens, if it names a file.
pub(super) fn read<'t>(
    text: &'t str,
    line: &Range<usize>,
    ends: &mut ClosingTags,
) -> Option<Container<'t>> {
    let start = line.end - text[line.clone()].trim_start().len();
    let opener = OpeningTag::at(text, start)?;
    let (name, kind) = known_tag(opener.name)?;
    if !opens_element(text, &opener, kind) {
        return None;
    }
    let end = ends.next(text, name, TagPosition::Edge, opener.end);
    let after_closer = |at| over_blanks(text, at + "</>".len() + name.len());
    let element = TagElement {
        text,
        outer: line.start..end.map_or(text.len(), after_closer),
        body: opener.end..end.unwrap_or(text.len()),
        opener,
        is_closed: end.is_some(),
    };
    match kind {
        TagKind::Write => Some(element.written_file()),
        TagKind::Replace(dialect) => Some(element.edit(dialect)),
        TagKind::Content | TagKind::Written | TagKind::File => element.file(kind),
    }
}

/// Whether the text after an opening tag shows that it is one, and not mentioned in prose.
fn opens_element(text: &str, opener: &OpeningTag<'_>, kind: TagKind) -> bool {
    let body = &text[opener.end..];
    let begins_with = |child: &str| body.trim_start().starts_with(child);
    let names_path = opener.path().is_some();
    match kind {
        TagKind::Write => names_path || begins_with_path(body) || begins_with("<content>"),
        TagKind::Replace(_) => {
            let begins_edit = begins_with("<diff>") || begins_with("<args>");
            names_path || begins_with_path(body) || begins_edit
        }
        TagKind::Content | TagKind::Written => names_path,
        TagKind::File if opener.name == "document" => first_child(body, "source")
            .is_some_and(|(_, rest)| rest.starts_with("<document_content>")),
        TagKind::File => {
            names_path
                || begins_with("00001| ")
                || first_child(body, "path").is_some_and(|(_, rest)| rest.starts_with("<content"))
        }
    }
}

/// An element: its tag and the range of its content.
struct TagElement<'t> {
    text: &'t str,
    outer: Range<usize>,
    opener: OpeningTag<'t>,
    body: Range<usize>,
    is_closed: bool,
}

impl<'t> TagElement<'t> {
    /// The path that the tag's first child or an attribute names.
    fn stated_path(&self) -> Option<String> {
        let child = path_child(&self.text[self.body.clone()], PATH_TAGS);
        child.or_else(|| self.opener.path().map(ToString::to_string))
    }

    /// All that is between the tags.
    fn whole_body(&self) -> ChildElement {
        ChildElement {
            content: trimmed_content(self.text, self.body.clone()),
            is_closed: true,
        }
    }

    fn written_file(&self) -> Container<'t> {
        let path = self.stated_path();
        let child = long_child(self.text, &self.body, "content");
        let mut child = child.unwrap_or_else(|| match self.opener.path() {
            Some(_) => self.whole_body(),
            None => ChildElement {
                content: self.body.end..self.body.end,
                is_closed: false,
            },
        });
        // A second tool inside means that the first one was never closed.
        let opener = format!("<{}>", self.opener.name);
        let content = &self.text[child.content.clone()];
        child.is_closed &= find_tag(content, &opener, TagPosition::Edge, 0).is_none();
        child.content = without_wrapping(self.text, child.content, path.as_deref());
        let kind = PayloadKind::FileText(Authorship::Own);
        let mut container = self.holding(child, kind, path, StatedExtent::Whole);
        // The model may have copied the numbers of a file that it read; the file is whole all the same.
        container.strip_line_numbers();
        container
    }

    fn file(&self, kind: TagKind) -> Option<Container<'t>> {
        let body = &self.text[self.body.clone()];
        let attribute = self.opener.path().map(ToString::to_string);
        let (path, child, names_lines) = if self.opener.name == "document" {
            let child = long_child(self.text, &self.body, "document_content");
            (path_child(body, &["source"]), child, false)
        } else {
            let path = path_child(body, PATH_TAGS).filter(|_| attribute.is_none());
            let (child, names_lines) = self.content_child().unzip();
            (path, child, names_lines.unwrap_or_default())
        };
        let mut child = child.unwrap_or_else(|| self.whole_body());
        let path = path.or(attribute);
        let piece = &self.text[child.content.clone()];
        let numbered = numbered::read_numbered_lines(piece);
        if path.is_none() && numbered.is_none() {
            return None;
        }
        let is_partial = is_partial(piece);
        let part = match &numbered {
            Some(numbered) => numbered.stated_extent,
            None if names_lines || is_partial || self.opener.attribute("lines").is_some() => {
                StatedExtent::Range
            }
            None => StatedExtent::Whole,
        };
        let is_quoted =
            kind == TagKind::Written || numbered.is_some() || is_partial || is_error(piece);
        let authorship = if is_quoted {
            Authorship::Quoted
        } else {
            Authorship::Own
        };
        if kind == TagKind::File && numbered.is_none() {
            child.content = without_wrapping(self.text, child.content, path.as_deref());
        }
        let mut container = self.holding(child, PayloadKind::FileText(authorship), path, part);
        if let Some(numbered) = numbered {
            container.piece = Cow::Owned(numbered.code);
        }
        Some(container)
    }

    /// `<content>` or `<content lines="1-9">` after the path, and whether lines are named.
    fn content_child(&self) -> Option<(ChildElement, bool)> {
        let rest = self.text[self.body.clone()].trim_start();
        let rest = match rest.strip_prefix("<path>") {
            Some(path) => path.split_once("</path>")?.1.trim_start(),
            None => rest,
        };
        let opener = OpeningTag::at(rest, 0).filter(|opener| opener.name == "content")?;
        let content = self.body.end - rest.len() + opener.end..self.body.end;
        let child = child_from(self.text, content, "content");
        Some((child, opener.attribute("lines").is_some()))
    }

    fn edit(&self, dialect: SearchReplaceDialect) -> Container<'t> {
        let body = &self.text[self.body.clone()];
        let holds_files = body.trim_start().starts_with("<args>");
        let diff = long_child(self.text, &self.body, "diff").filter(|_| !holds_files);
        let (child, format, path) = match diff {
            Some(diff) => (diff, EditFormat::OneFileDiff(dialect), self.stated_path()),
            None if self.opener.path().is_some() => {
                let all = self.whole_body();
                (all, EditFormat::OneFileDiff(dialect), self.stated_path())
            }
            None => {
                let all = ChildElement {
                    content: self.body.clone(),
                    is_closed: true,
                };
                (all, EditFormat::FileDiffs(dialect), None)
            }
        };
        self.holding(
            child,
            PayloadKind::Edit(format),
            path,
            StatedExtent::Unstated,
        )
    }

    fn holding(
        &self,
        child: ChildElement,
        kind: PayloadKind,
        path: Option<String>,
        stated_extent: StatedExtent,
    ) -> Container<'t> {
        let evidence = match path {
            Some(_) => PathEvidence::Header,
            None => PathEvidence::None,
        };
        Container {
            hint: Some(PathHint {
                path,
                evidence,
                stated_extent,
                symbol: None,
            }),
            closing: Closing::when(child.is_closed && self.is_closed),
            ..Container::around(self.text, self.outer.clone(), child.content, kind)
        }
    }
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

/// Whether the client reports that it couldn't read the file.
fn is_error(content: &str) -> bool {
    content.trim_start().starts_with("Error fetching content:")
}

/// Whether a tool remarks that these are only some of the file's lines.
fn is_partial(content: &str) -> bool {
    let mut lines = content.trim().lines();
    lines.next().is_some_and(numbered::is_remark)
        || lines.next_back().is_some_and(numbered::is_remark)
}

#[cfg(test)]
mod tests;
