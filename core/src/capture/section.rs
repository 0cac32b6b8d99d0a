//! Edits in a piece of text, such as a fence's content: one section for each file.

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

use super::path_hint::PathHint;
use super::{
    Authorship, Closing, CodeBlock, StatedExtent, apply_patch, search_replace, unified_diff,
};
use crate::edit::{Edit, Malformed};
use crate::event::Format;

/// An edit of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileSection {
    /// Its start in the piece; it ends where the next one starts.
    pub(super) start: usize,
    /// The path that the section itself names.
    pub(super) hint: Option<PathHint>,
    /// The edit.
    pub(super) edit: Result<Edit, Malformed>,
}

/// The edits of a piece: at least one section, all in one format.
pub(super) struct ParsedEdits {
    /// The format.
    pub(super) format: Format,
    /// The sections.
    pub(super) sections: Vec<FileSection>,
}

impl ParsedEdits {
    /// A text that has an edit's marks and can't be read as one.
    pub(super) fn malformed(format: Format) -> Self {
        let section = FileSection {
            start: 0,
            hint: None,
            edit: Err(Malformed),
        };
        Self {
            format,
            sections: [section].into(),
        }
    }

    /// Makes all sections malformed: if one can't be read, none is applied.
    pub(super) fn all_malformed(mut self) -> Self {
        for section in &mut self.sections {
            section.edit = Err(Malformed);
        }
        self
    }
}

/// Reads a fence's content as edits, if it has a mark of any edit format on a line of its own. The first mark decides.
pub(super) fn edits_in(piece: &str, language: Option<&str>) -> Option<ParsedEdits> {
    let is_diff = matches!(language, Some("diff" | "patch" | "udiff"));
    let mut lines = piece.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        if apply_patch::has_patch_mark(line) {
            return Some(apply_patch::read(piece));
        }
        if search_replace::has_marker(line) {
            return Some(search_replace::read(
                piece,
                search_replace::SearchReplaceDialect::Plain,
            ));
        }
        if unified_diff::has_diff_mark(line, next) {
            return Some(unified_diff::read_fenced(piece, is_diff));
        }
    }
    is_diff.then(|| unified_diff::read_fenced(piece, true))
}

/// A piece of text with its surroundings in the message.
pub(super) struct BlockFrame<'t> {
    /// The whole construct.
    pub(super) outer: Range<usize>,
    /// The range of the piece's lines in the message.
    pub(super) raw: Range<usize>,
    /// The piece, without the indentation that it may have there.
    pub(super) piece: Cow<'t, str>,
    /// The language that the construct names.
    pub(super) language: Option<alloc::string::String>,
    /// The path that the construct names.
    pub(super) hint: Option<PathHint>,
    /// Whether the construct was closed.
    pub(super) closing: Closing,
}

impl<'t> BlockFrame<'t> {
    /// One block for the piece as it is.
    pub(super) fn into_code_block(self, format: Format, standing: Authorship) -> CodeBlock<'t> {
        let verbatim = matches!(self.piece, Cow::Borrowed(_)).then(|| self.raw.clone());
        CodeBlock {
            format,
            outer: self.outer,
            verbatim,
            code: self.piece,
            edit: None,
            language: self.language,
            part: part_of(self.hint.as_ref()),
            evidence: evidence_of(self.hint.as_ref()),
            path: self.hint.and_then(|hint| hint.path),
            standing,
            closing: self.closing,
        }
    }

    /// A block for each section. Together they cover the construct.
    pub(super) fn into_edit_blocks(self, text: &str, edits: ParsedEdits) -> Vec<CodeBlock<'t>> {
        let format = edits.format;
        let mut starts: Vec<usize> = edits.sections.iter().map(|section| section.start).collect();
        starts[0] = 0;
        let outers = self.line_starts_in_message(text, &starts);
        let last = starts.len() - 1;
        edits
            .sections
            .into_iter()
            .enumerate()
            .map(|(index, section)| {
                let end = starts.get(index + 1).copied().unwrap_or(self.piece.len());
                let inside = starts[index]..end;
                let hint = section.hint.or_else(|| self.hint.clone());
                let (code, verbatim) = self.section_code(inside);
                CodeBlock {
                    format,
                    outer: match index {
                        0 => self.outer.start,
                        _ => outers[index],
                    }..if index == last {
                        self.outer.end
                    } else {
                        outers[index + 1]
                    },
                    verbatim,
                    code,
                    part: match section.edit {
                        Ok(Edit::Create(_)) => StatedExtent::Whole,
                        _ => StatedExtent::Unsaid,
                    },
                    edit: Some(section.edit),
                    language: self.language.clone(),
                    evidence: evidence_of(hint.as_ref()),
                    path: hint.and_then(|hint| hint.path),
                    standing: Authorship::Said,
                    closing: self.closing,
                }
            })
            .collect()
    }

    fn section_code(&self, inside: Range<usize>) -> (Cow<'t, str>, Option<Range<usize>>) {
        match &self.piece {
            Cow::Borrowed(piece) => {
                let verbatim = self.raw.start + inside.start..self.raw.start + inside.end;
                (Cow::Borrowed(&piece[inside]), Some(verbatim))
            }
            Cow::Owned(piece) => (Cow::Owned(piece[inside].to_string()), None),
        }
    }

    /// The message positions of lines of the piece, given by their starts in the piece.
    fn line_starts_in_message(&self, text: &str, starts: &[usize]) -> Vec<usize> {
        if matches!(self.piece, Cow::Borrowed(_)) {
            return starts.iter().map(|start| self.raw.start + start).collect();
        }
        let mut places = Vec::with_capacity(starts.len());
        let (mut in_piece, mut in_text) = (0, self.raw.start);
        let mut lines = self
            .piece
            .split_inclusive('\n')
            .zip(text[self.raw.clone()].split_inclusive('\n'));
        for start in starts {
            while in_piece < *start {
                let Some((line, raw)) = lines.next() else {
                    break;
                };
                in_piece += line.len();
                in_text += raw.len();
            }
            places.push(in_text);
        }
        places
    }
}

fn part_of(hint: Option<&PathHint>) -> StatedExtent {
    hint.map_or(StatedExtent::Unsaid, |hint| hint.part)
}

fn evidence_of(hint: Option<&PathHint>) -> crate::event::PathEvidence {
    hint.map_or(crate::event::PathEvidence::None, |hint| hint.evidence)
}
