//! What a container yields, and the blocks that its payload makes.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::block::{Authorship, Closing, CodeBlock, StatedExtent};
use super::path_hint::PathHint;
use super::payload::{self, PayloadKind, ReadPayload, numbered};
use crate::edit::Edit;
use crate::event::PathEvidence;

/// A text of a message that something encloses, and what that says of it.
pub(super) struct Container<'t> {
    /// The whole construct.
    pub(super) outer: Range<usize>,
    /// The range of the piece's lines in the message.
    pub(super) raw: Range<usize>,
    /// The piece, without the indentation and line numbers that it may have there.
    pub(super) piece: Cow<'t, str>,
    /// What the piece is.
    pub(super) kind: PayloadKind,
    /// The language that the construct names.
    pub(super) language: Option<String>,
    /// The path that the construct names.
    pub(super) hint: Option<PathHint>,
    /// Whether the construct was closed.
    pub(super) closing: Closing,
}

impl<'t> Container<'t> {
    /// A closed one that holds a range of the message as it is.
    pub(super) fn around(
        text: &'t str,
        outer: Range<usize>,
        raw: Range<usize>,
        kind: PayloadKind,
    ) -> Self {
        Self {
            outer,
            piece: Cow::Borrowed(&text[raw.clone()]),
            raw,
            kind,
            language: None,
            hint: None,
            closing: Closing::Closed,
        }
    }

    /// A file's text that a tool quotes, without its line numbers.
    pub(super) fn quoting(
        text: &'t str,
        outer: Range<usize>,
        raw: Range<usize>,
        path: Option<&str>,
    ) -> Self {
        let kind = PayloadKind::FileText(Authorship::Quoted);
        let mut quote = Self::around(text, outer, raw, kind);
        let stated_extent = quote.strip_line_numbers().unwrap_or(StatedExtent::Unstated);
        quote.hint = path.map(|path| PathHint {
            stated_extent,
            ..PathHint::header(path.to_string())
        });
        quote
    }

    /// Takes the numbers away, if all lines have one; returns the share of the file that they show.
    pub(super) fn strip_line_numbers(&mut self) -> Option<StatedExtent> {
        let numbered = numbered::read_numbered_lines(&self.piece)?;
        self.piece = Cow::Owned(numbered.code);
        Some(numbered.stated_extent)
    }

    /// A block for each file of the payload. Together they cover the construct.
    pub(super) fn into_blocks(mut self, text: &str) -> Vec<CodeBlock<'t>> {
        let kind = core::mem::replace(&mut self.kind, PayloadKind::Unstated);
        let payload = payload::read(kind, &self.piece, self.language.as_deref(), self.closing);
        let (format, authorship, sections) = match payload {
            ReadPayload::Nothing => return Vec::new(),
            ReadPayload::Code(format, authorship) => (format, authorship, vec![(0, None, None)]),
            ReadPayload::Edits(edits) => {
                let sections = edits.sections.into_iter();
                let sections = sections.map(|it| (it.start, it.hint, Some(it.edit)));
                (edits.format, Authorship::Own, sections.collect())
            }
        };
        let mut starts: Vec<usize> = sections.iter().map(|(start, ..)| *start).collect();
        starts[0] = 0;
        let mut outers = self.line_starts_in_message(text, &starts);
        outers[0] = self.outer.start;
        outers.push(self.outer.end);
        starts.push(self.piece.len());
        let sections = sections.into_iter().enumerate();
        sections
            .map(|(index, (_, hint, edit))| {
                let hint = hint.or_else(|| self.hint.clone());
                let (code, verbatim) = self.section_code(starts[index]..starts[index + 1]);
                CodeBlock {
                    format,
                    outer: outers[index]..outers[index + 1],
                    verbatim,
                    code,
                    stated_extent: match (&edit, &hint) {
                        (None, Some(hint)) => hint.stated_extent,
                        (Some(Ok(Edit::Create(_))), _) => StatedExtent::Whole,
                        _ => StatedExtent::Unstated,
                    },
                    edit,
                    language: self.language.clone(),
                    evidence: hint.as_ref().map_or(PathEvidence::None, |it| it.evidence),
                    symbol: hint.as_ref().and_then(|hint| hint.symbol.clone()),
                    path: hint.and_then(|hint| hint.path),
                    authorship,
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
