//! SEARCH/REPLACE blocks whose files tags name: Cline's one diff, and Roo's `<args>` with several files, each with several.

use alloc::vec::Vec;

use super::search_replace::{self, SearchReplaceDialect};
use super::sections::{FileSection, ParsedEdits};
use crate::capture::element::{elements, long_child, path_child};
use crate::capture::line::without_first_end;
use crate::capture::path_hint::PathHint;
use crate::capture::vocabulary::PATH_TAGS;
use crate::edit::{Edit, Hunk, Malformed};
use crate::event::Format;

/// Reads a diff whose file is named outside; if it names a file itself, it is malformed.
pub(super) fn read_one(diff: &str, dialect: SearchReplaceDialect) -> ParsedEdits {
    let edits = search_replace::read(diff, dialect);
    if edits.sections.iter().any(|section| section.hint.is_some()) {
        return ParsedEdits::one(Format::SearchReplace, Err(Malformed));
    }
    edits
}

/// Reads all `<file>` elements, each with its path and its `<diff>` elements.
pub(super) fn read(body: &str, dialect: SearchReplaceDialect) -> ParsedEdits {
    let sections = elements(body, "file").map(|(start, file)| {
        let file = &body[file.content];
        FileSection {
            start,
            hint: path_child(file, PATH_TAGS).map(PathHint::header),
            edit: diffs_of(file, dialect),
        }
    });
    ParsedEdits::new(Format::SearchReplace, sections.collect(), true)
}

/// All diffs of one file as one edit.
fn diffs_of(file: &str, dialect: SearchReplaceDialect) -> Result<Edit, Malformed> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for (_, diff) in elements(file, "diff") {
        if !diff.is_closed {
            return Err(Malformed);
        }
        let content = long_child(file, &diff.content, "content");
        let piece = file[content.map_or(diff.content, |child| child.content)].trim();
        let piece = piece.strip_prefix("<![CDATA[").unwrap_or(piece);
        let piece = without_first_end(piece.strip_suffix("]]>").unwrap_or(piece));
        let section = read_one(piece, dialect).sections.pop();
        match section.map(|section| section.edit) {
            Some(Ok(Edit::Change(more))) => hunks.extend(more),
            _ => return Err(Malformed),
        }
    }
    if hunks.is_empty() {
        return Err(Malformed);
    }
    Ok(Edit::Change(hunks))
}
