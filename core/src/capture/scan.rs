//! Goes through a message line by line and hands each line that opens something to the family that it belongs to.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;

use super::ends::Ends;
use super::line::{Lead, line_at};
use super::path_hint::{self, Hint};
use super::section::{Edits, Frame};
use super::{
    Block, Closing, ToolFence, apply_patch, fence, leaked, quoted, search_replace, tags,
    unified_diff,
};
use crate::event::Format;

/// What a line opened: its blocks, of which there may be none, and where the construct ends.
pub(super) struct Found<'t> {
    pub(super) blocks: Vec<Block<'t>>,
    pub(super) end: usize,
}

impl<'t> Found<'t> {
    /// Blocks that reach to the construct's end; none is no construct.
    fn of(blocks: Vec<Block<'t>>) -> Option<Self> {
        let end = blocks.last()?.outer.end;
        Some(Self { blocks, end })
    }
}

/// All blocks of a text, in order. Each construct is read once, and what follows it goes on behind it.
pub(super) struct Scan<'t> {
    text: &'t str,
    at: usize,
    before: Lead,
    ends: Ends,
    /// The file of the last SEARCH/REPLACE block, for one that names none.
    last_file: Option<Hint>,
    ready: VecDeque<Block<'t>>,
    /// Fences of tools so far.
    pub(super) tool_fences: Vec<ToolFence>,
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            before: Lead::default(),
            ends: Ends::default(),
            last_file: None,
            ready: VecDeque::new(),
            tool_fences: Vec::new(),
        }
    }

    /// What the line opens, if anything.
    fn open(&mut self, line: &Range<usize>) -> Option<Found<'t>> {
        let word = self.text[line.clone()].trim_start();
        let first = word.bytes().next()?;
        let found = match first {
            b'`' | b'~' => self.tool_fence(line).or_else(|| self.fence(line)),
            b'<' => self.search_replace(line).or_else(|| self.tags(line)),
            b'-' => self
                .search_replace(line)
                .or_else(|| self.unified_diff(line)),
            b'd' => self.unified_diff(line),
            b'*' if apply_patch::begins(word) => Some(self.apply_patch(line)),
            b'[' | b'C' | b'0'..=b'9' => quoted::read(self.text, line),
            _ => None,
        };
        found
            .or_else(|| {
                let next = line_at(self.text, line.end);
                apply_patch::opens_heredoc(word, &self.text[next]).then(|| self.apply_patch(line))
            })
            .or_else(|| leaked::read(self.text, line, &mut self.ends))
    }

    fn tool_fence(&mut self, line: &Range<usize>) -> Option<Found<'t>> {
        let fence = fence::read_tool(self.text, line)?;
        let end = fence.outer.end;
        self.tool_fences.push(fence);
        Some(Found {
            blocks: Vec::new(),
            end,
        })
    }

    fn fence(&self, line: &Range<usize>) -> Option<Found<'t>> {
        fence::read(self.text, line, &self.before).and_then(Found::of)
    }

    fn tags(&mut self, line: &Range<usize>) -> Option<Found<'t>> {
        fence::read_tags(self.text, line, &self.before, &mut self.ends)
            .and_then(Found::of)
            .or_else(|| quoted::read_opencode(self.text, line, &mut self.ends))
            .or_else(|| tags::read(self.text, line, &mut self.ends))
    }

    fn search_replace(&mut self, line: &Range<usize>) -> Option<Found<'t>> {
        if !search_replace::opens(&self.text[line.clone()]) {
            return None;
        }
        let (end, closed) = search_replace::extent(self.text, line.start);
        let (path, blanks) = self.before.read(self.text);
        let edits =
            search_replace::read(&self.text[line.start..end], search_replace::Dialect::Plain);
        let hint = path_hint::line_before(path, blanks);
        Some(self.bare(line.start..end, closed, hint, edits))
    }

    fn apply_patch(&mut self, line: &Range<usize>) -> Found<'t> {
        let (end, closed) = apply_patch::extent(self.text, line.start);
        let edits = apply_patch::read(&self.text[line.start..end]);
        self.bare(line.start..end, closed, None, edits)
    }

    fn unified_diff(&mut self, line: &Range<usize>) -> Option<Found<'t>> {
        if !unified_diff::opens(self.text, line.start) {
            return None;
        }
        let (edits, end) = unified_diff::read_bare(self.text, line.start);
        Some(self.bare(line.start..end, true, None, edits))
    }

    /// Blocks of an edit that has no fence around it.
    fn bare(
        &self,
        range: Range<usize>,
        closed: bool,
        hint: Option<Hint>,
        edits: Edits,
    ) -> Found<'t> {
        let frame = Frame {
            outer: range.clone(),
            raw: range.clone(),
            piece: Cow::Borrowed(&self.text[range.clone()]),
            language: None,
            hint,
            closing: match closed {
                true => Closing::Closed,
                false => Closing::Unclosed,
            },
        };
        Found {
            blocks: frame.split(self.text, edits),
            end: range.end,
        }
    }

    /// A SEARCH/REPLACE block that names no file is of the file before.
    fn inherit(&mut self, block: &mut Block<'t>) {
        if block.format != Format::SearchReplace {
            return;
        }
        match (&block.path, &self.last_file) {
            (None, Some(last)) => {
                block.path.clone_from(&last.path);
                block.evidence = last.evidence;
            }
            (Some(_), _) => {
                self.last_file = Some(Hint {
                    path: block.path.clone(),
                    evidence: block.evidence,
                    part: block.part,
                });
            }
            (None, None) => {}
        }
    }
}

impl<'t> Iterator for Scan<'t> {
    type Item = Block<'t>;

    fn next(&mut self) -> Option<Block<'t>> {
        while self.ready.is_empty() && self.at < self.text.len() {
            let line = line_at(self.text, self.at);
            match self.open(&line) {
                Some(found) => {
                    debug_assert!(found.end > self.at, "a construct has a length");
                    self.at = found.end.max(self.at);
                    self.before = Lead::default();
                    self.ready.extend(found.blocks);
                }
                None => {
                    self.before.pass(self.text, &line);
                    self.at = line.end;
                }
            }
        }
        let mut block = self.ready.pop_front()?;
        self.inherit(&mut block);
        Some(block)
    }
}
