//! Edits as they stand in a piece of text, such as a fence's content: one section for each file.

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

use super::path_hint::Hint;
use super::{Block, Closing, Part, Standing, apply_patch, search_replace, unified_diff};
use crate::edit::{Edit, Malformed};
use crate::event::Format;

/// An edit of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// Where it starts in the piece; it ends where the next one starts.
    pub(super) start: usize,
    /// What the section itself says of its file.
    pub(super) hint: Option<Hint>,
    /// The edit.
    pub(super) edit: Result<Edit, Malformed>,
}

/// All sections of a piece, at least one, in the format that they are written in.
pub(super) struct Edits {
    /// The format.
    pub(super) format: Format,
    /// The sections.
    pub(super) sections: Vec<Section>,
}

impl Edits {
    /// What can't be read as the edit that it has the marks of.
    pub(super) fn malformed(format: Format) -> Self {
        let section = Section {
            start: 0,
            hint: None,
            edit: Err(Malformed),
        };
        Self {
            format,
            sections: [section].into(),
        }
    }

    /// All or nothing: one section that can't be read spoils the others.
    pub(super) fn spoiled(mut self) -> Self {
        for section in &mut self.sections {
            section.edit = Err(Malformed);
        }
        self
    }
}

/// The edits that a fence's content is, if it has a mark of any format on a line of its own. The first mark says which.
pub(super) fn edits_in(piece: &str, language: Option<&str>) -> Option<Edits> {
    let is_diff = matches!(language, Some("diff" | "patch" | "udiff"));
    let mut lines = piece.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        if apply_patch::marks(line) {
            return Some(apply_patch::read(piece));
        }
        if search_replace::marks(line) {
            return Some(search_replace::read(piece, search_replace::Dialect::Plain));
        }
        if unified_diff::marks(line, next) {
            return Some(unified_diff::read_fenced(piece, is_diff));
        }
    }
    is_diff.then(|| unified_diff::read_fenced(piece, true))
}

/// What surrounds a piece of text in its message.
pub(super) struct Frame<'t> {
    /// The whole construct.
    pub(super) outer: Range<usize>,
    /// The piece's lines as they stand in the message.
    pub(super) raw: Range<usize>,
    /// The piece, which may be without the indentation that it has there.
    pub(super) piece: Cow<'t, str>,
    /// The language that the construct names.
    pub(super) language: Option<alloc::string::String>,
    /// What the construct says of the file.
    pub(super) hint: Option<Hint>,
    /// Whether the construct was closed.
    pub(super) closing: Closing,
}

impl<'t> Frame<'t> {
    /// One block for the piece as it is.
    pub(super) fn whole(self, format: Format, standing: Standing) -> Block<'t> {
        let verbatim = matches!(self.piece, Cow::Borrowed(_)).then(|| self.raw.clone());
        Block {
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
    pub(super) fn split(self, text: &str, edits: Edits) -> Vec<Block<'t>> {
        let format = edits.format;
        let mut starts: Vec<usize> = edits.sections.iter().map(|section| section.start).collect();
        starts[0] = 0;
        let outers = self.places(text, &starts);
        let last = starts.len() - 1;
        edits
            .sections
            .into_iter()
            .enumerate()
            .map(|(index, section)| {
                let end = starts.get(index + 1).copied().unwrap_or(self.piece.len());
                let inside = starts[index]..end;
                let hint = section.hint.or_else(|| self.hint.clone());
                let (code, verbatim) = self.part(inside);
                Block {
                    format,
                    outer: match index {
                        0 => self.outer.start,
                        _ => outers[index],
                    }..match index == last {
                        true => self.outer.end,
                        false => outers[index + 1],
                    },
                    verbatim,
                    code,
                    part: match section.edit {
                        Ok(Edit::Create(_)) => Part::Whole,
                        _ => Part::Unsaid,
                    },
                    edit: Some(section.edit),
                    language: self.language.clone(),
                    evidence: evidence_of(hint.as_ref()),
                    path: hint.and_then(|hint| hint.path),
                    standing: Standing::Said,
                    closing: self.closing,
                }
            })
            .collect()
    }

    fn part(&self, inside: Range<usize>) -> (Cow<'t, str>, Option<Range<usize>>) {
        match &self.piece {
            Cow::Borrowed(piece) => {
                let verbatim = self.raw.start + inside.start..self.raw.start + inside.end;
                (Cow::Borrowed(&piece[inside]), Some(verbatim))
            }
            Cow::Owned(piece) => (Cow::Owned(piece[inside].to_string()), None),
        }
    }

    /// Where lines of the piece start in the message.
    fn places(&self, text: &str, starts: &[usize]) -> Vec<usize> {
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

fn part_of(hint: Option<&Hint>) -> Part {
    hint.map_or(Part::Unsaid, |hint| hint.part)
}

fn evidence_of(hint: Option<&Hint>) -> crate::event::PathEvidence {
    hint.map_or(crate::event::PathEvidence::None, |hint| hint.evidence)
}
