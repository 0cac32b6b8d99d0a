//! What containers hold: code, or an edit in one of these formats. Each format is read in one place, whatever holds it.

mod apply_patch;
pub(super) mod call;
mod file_diffs;
pub(super) mod numbered;
mod search_replace;
pub(super) mod sections;
mod unified_diff;

pub(super) use search_replace::{SearchReplaceDialect, ends_block, opens_block};

use core::ops::Range;

use sections::ParsedEdits;

use super::block::{Authorship, Closing};
use super::line::line_at;
use crate::event::Format;

/// What a container says of its text.
pub(super) enum PayloadKind {
    /// Nothing: the first mark of an edit format decides, and without one it is code.
    Unstated,
    /// It is a file's text.
    FileText(Authorship),
    /// It is an edit, malformed if its container breaks off.
    Edit(EditFormat),
    /// It was read with the container, as a call's arguments are.
    Read(ReadPayload),
}

/// A format of edits.
#[derive(Clone, Copy)]
pub(super) enum EditFormat {
    /// SEARCH/REPLACE blocks, with lines between them that name their files.
    SearchReplace(SearchReplaceDialect),
    /// SEARCH/REPLACE blocks of the file that the container names.
    OneFileDiff(SearchReplaceDialect),
    /// Several files in tags, each with several diffs.
    FileDiffs(SearchReplaceDialect),
    /// A unified diff; prose may come before it in a text that says it is one.
    UnifiedDiff { is_declared: bool },
    /// An `apply_patch` envelope.
    ApplyPatch,
}

/// A payload as it was read.
pub(super) enum ReadPayload {
    Nothing,
    Code(Format, Authorship),
    Edits(ParsedEdits),
}

/// Reads a container's text.
pub(super) fn read(
    kind: PayloadKind,
    piece: &str,
    language: Option<&str>,
    closing: Closing,
) -> ReadPayload {
    let format = match kind {
        PayloadKind::Read(payload) => return payload,
        PayloadKind::FileText(authorship) => return ReadPayload::Code(Format::Tags, authorship),
        PayloadKind::Edit(format) if closing == Closing::Unclosed => {
            return ReadPayload::Edits(format.read(piece).all_malformed());
        }
        PayloadKind::Edit(format) => Some(format),
        PayloadKind::Unstated => marked_format(piece, language),
    };
    match format {
        Some(format) => ReadPayload::Edits(format.read(piece)),
        None if numbered::is_numbered(piece) => {
            ReadPayload::Code(Format::Fence, Authorship::Quoted)
        }
        None => ReadPayload::Code(Format::Fence, Authorship::Own),
    }
}

impl EditFormat {
    fn read(self, piece: &str) -> ParsedEdits {
        match self {
            Self::SearchReplace(dialect) => search_replace::read(piece, dialect),
            Self::OneFileDiff(dialect) => file_diffs::read_one(piece, dialect),
            Self::FileDiffs(dialect) => file_diffs::read(piece, dialect),
            Self::UnifiedDiff { is_declared } => unified_diff::read(piece, is_declared),
            Self::ApplyPatch => apply_patch::read(piece),
        }
    }
}

/// The format whose mark comes first on a line of its own.
fn marked_format(piece: &str, language: Option<&str>) -> Option<EditFormat> {
    let is_declared = matches!(language, Some("diff" | "patch" | "udiff"));
    let mut lines = piece.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        if apply_patch::has_patch_mark(line) {
            return Some(EditFormat::ApplyPatch);
        }
        if search_replace::has_marker(line) {
            return Some(EditFormat::SearchReplace(SearchReplaceDialect::Plain));
        }
        if unified_diff::has_diff_mark(line, next) {
            return Some(EditFormat::UnifiedDiff { is_declared });
        }
    }
    is_declared.then_some(EditFormat::UnifiedDiff { is_declared })
}

/// The format of an edit that begins at a line of a message, its end, and whether its end marker is there.
pub(super) fn bare_edit(text: &str, line: &Range<usize>) -> Option<(EditFormat, usize, bool)> {
    let shown = &text[line.clone()];
    let next = || &text[line_at(text, line.end)];
    if search_replace::opens_block(shown) {
        let (end, is_closed) = search_replace::bare_block_end(text, line.start);
        let format = EditFormat::SearchReplace(SearchReplaceDialect::Plain);
        return Some((format, end, is_closed));
    }
    if apply_patch::begins_patch(shown) || apply_patch::opens_heredoc(shown, next()) {
        let (end, is_closed) = apply_patch::bare_patch_end(text, line.start);
        return Some((EditFormat::ApplyPatch, end, is_closed));
    }
    let end = unified_diff::bare_diff_end(text, line.start)?;
    let is_declared = false;
    Some((EditFormat::UnifiedDiff { is_declared }, end, true))
}
