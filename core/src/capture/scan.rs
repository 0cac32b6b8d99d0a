//! Goes through a message line by line, and lets the format that a line opens read the construct.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;

use super::ends::ClosingTags;
use super::line::{LineBefore, line_at};
use super::path_hint::{self, PathHint};
use super::section::{BlockFrame, ParsedEdits};
use super::{
    Closing, CodeBlock, ToolFence, apply_patch, fence, leaked, quoted, search_replace, tags,
    unified_diff,
};
use crate::event::Format;

/// The construct that a line opened: its blocks, of which there may be none, and its end in the message.
pub(super) struct ReadConstruct<'t> {
    pub(super) blocks: Vec<CodeBlock<'t>>,
    pub(super) end: usize,
}

impl<'t> ReadConstruct<'t> {
    /// A construct that ends with the last of these blocks; `None` without blocks.
    fn of(blocks: Vec<CodeBlock<'t>>) -> Option<Self> {
        let end = blocks.last()?.outer.end;
        Some(Self { blocks, end })
    }
}

/// All blocks of a text, in order. Each construct is read once, and the scan continues after it.
pub(super) struct BlockScanner<'t> {
    text: &'t str,
    at: usize,
    before: LineBefore,
    ends: ClosingTags,
    /// The file of the last SEARCH/REPLACE block, for one that names none.
    last_file: Option<PathHint>,
    ready: VecDeque<CodeBlock<'t>>,
    /// Fences of tools so far.
    pub(super) tool_fences: Vec<ToolFence>,
}

impl<'t> BlockScanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            before: LineBefore::default(),
            ends: ClosingTags::default(),
            last_file: None,
            ready: VecDeque::new(),
            tool_fences: Vec::new(),
        }
    }

    /// Reads the construct that the line opens, if it opens one.
    fn open_construct(&mut self, line: &Range<usize>) -> Option<ReadConstruct<'t>> {
        let word = self.text[line.clone()].trim_start();
        let first = word.bytes().next()?;
        let found = match first {
            b'`' | b'~' => self.tool_fence(line).or_else(|| self.fence(line)),
            b'<' => self.search_replace(line).or_else(|| self.tags(line)),
            b'-' => self
                .search_replace(line)
                .or_else(|| self.unified_diff(line)),
            b'd' => self.unified_diff(line),
            b'*' if apply_patch::begins_patch(word) => Some(self.apply_patch(line)),
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

    fn tool_fence(&mut self, line: &Range<usize>) -> Option<ReadConstruct<'t>> {
        let fence = fence::read_tool(self.text, line)?;
        let end = fence.outer.end;
        self.tool_fences.push(fence);
        Some(ReadConstruct {
            blocks: Vec::new(),
            end,
        })
    }

    fn fence(&self, line: &Range<usize>) -> Option<ReadConstruct<'t>> {
        fence::read(self.text, line, &self.before).and_then(ReadConstruct::of)
    }

    fn tags(&mut self, line: &Range<usize>) -> Option<ReadConstruct<'t>> {
        fence::read_tags(self.text, line, &self.before, &mut self.ends)
            .and_then(ReadConstruct::of)
            .or_else(|| quoted::read_opencode(self.text, line, &mut self.ends))
            .or_else(|| tags::read(self.text, line, &mut self.ends))
    }

    fn search_replace(&mut self, line: &Range<usize>) -> Option<ReadConstruct<'t>> {
        if !search_replace::opens_block(&self.text[line.clone()]) {
            return None;
        }
        let (end, closed) = search_replace::bare_block_end(self.text, line.start);
        let (path, blanks) = self.before.read(self.text);
        let edits = search_replace::read(
            &self.text[line.start..end],
            search_replace::SearchReplaceDialect::Plain,
        );
        let hint = path_hint::line_before(path, blanks);
        Some(self.bare_edit(line.start..end, closed, hint, edits))
    }

    fn apply_patch(&mut self, line: &Range<usize>) -> ReadConstruct<'t> {
        let (end, closed) = apply_patch::bare_patch_end(self.text, line.start);
        let edits = apply_patch::read(&self.text[line.start..end]);
        self.bare_edit(line.start..end, closed, None, edits)
    }

    fn unified_diff(&mut self, line: &Range<usize>) -> Option<ReadConstruct<'t>> {
        if !unified_diff::opens_bare_diff(self.text, line.start) {
            return None;
        }
        let (edits, end) = unified_diff::read_bare(self.text, line.start);
        Some(self.bare_edit(line.start..end, true, None, edits))
    }

    /// The blocks of an edit without a fence.
    fn bare_edit(
        &self,
        range: Range<usize>,
        closed: bool,
        hint: Option<PathHint>,
        edits: ParsedEdits,
    ) -> ReadConstruct<'t> {
        let frame = BlockFrame {
            outer: range.clone(),
            raw: range.clone(),
            piece: Cow::Borrowed(&self.text[range.clone()]),
            language: None,
            hint,
            closing: if closed {
                Closing::Closed
            } else {
                Closing::Unclosed
            },
        };
        ReadConstruct {
            blocks: frame.into_edit_blocks(self.text, edits),
            end: range.end,
        }
    }

    /// Gives a SEARCH/REPLACE block without a path the file of the last one.
    fn inherit_last_file(&mut self, block: &mut CodeBlock<'t>) {
        if block.format != Format::SearchReplace {
            return;
        }
        match (&block.path, &self.last_file) {
            (None, Some(last)) => {
                block.path.clone_from(&last.path);
                block.evidence = last.evidence;
            }
            (Some(_), _) => {
                self.last_file = Some(PathHint {
                    path: block.path.clone(),
                    evidence: block.evidence,
                    part: block.part,
                });
            }
            (None, None) => {}
        }
    }
}

impl<'t> Iterator for BlockScanner<'t> {
    type Item = CodeBlock<'t>;

    fn next(&mut self) -> Option<CodeBlock<'t>> {
        while self.ready.is_empty() && self.at < self.text.len() {
            let line = line_at(self.text, self.at);
            match self.open_construct(&line) {
                Some(found) => {
                    debug_assert!(found.end > self.at, "a construct has a length");
                    self.at = found.end.max(self.at);
                    self.before = LineBefore::default();
                    self.ready.extend(found.blocks);
                }
                None => {
                    self.before.advance(self.text, &line);
                    self.at = line.end;
                }
            }
        }
        let mut block = self.ready.pop_front()?;
        self.inherit_last_file(&mut block);
        Some(block)
    }
}
