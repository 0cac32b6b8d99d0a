//! Goes through a message line by line, and lets the format that a line opens read the construct.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;

use super::block::{Closing, CodeBlock, ToolFence};
use super::container::Container;
use super::ends::ClosingTags;
use super::line::{LineBefore, line_at};
use super::path_hint::{self, PathHint};
use super::payload::{self, EditFormat, PayloadKind};
use super::{fence, leaked, quoted, tags};
use crate::event::Format;
use crate::opening_fence::OutsideFences;

/// The construct that a line opened: its blocks, of which there may be none, and its end in the message.
struct ReadConstruct<'t> {
    blocks: Vec<CodeBlock<'t>>,
    end: usize,
}

impl<'t> ReadConstruct<'t> {
    fn of(container: Container<'t>, text: &str) -> Self {
        let end = container.outer.end;
        let blocks = container.into_blocks(text);
        Self { blocks, end }
    }

    fn of_possible_call(container: Container<'t>, text: &'t str) -> Self {
        call_in_fence(text, &container).unwrap_or_else(|| Self::of(container, text))
    }
}

/// All blocks of a text, in order. Each construct is read once, and the scan continues after it.
pub(super) struct BlockScanner<'t> {
    text: &'t str,
    at: usize,
    before: LineBefore,
    outside: OutsideFences,
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
            outside: OutsideFences::default(),
            ends: ClosingTags::default(),
            last_file: None,
            ready: VecDeque::new(),
            tool_fences: Vec::new(),
        }
    }

    /// Reads the construct that the line opens, if it opens one.
    fn open_construct(&mut self, line: &Range<usize>) -> Option<ReadConstruct<'t>> {
        let text = self.text;
        if let Some(opened) = self.outside.read(&text[line.clone()]) {
            // Tools first: a result may quote code in any format, and none of it is anybody's proposal.
            if let Some(fence) = fence::read_tool(text, line, &opened) {
                let (blocks, end) = (Vec::new(), fence.outer.end);
                self.tool_fences.push(fence);
                return Some(ReadConstruct { blocks, end });
            }
            let container = fence::read(text, line, &opened, &self.before);
            return Some(ReadConstruct::of_possible_call(container, text));
        }
        let container = match text[line.clone()].trim_start().bytes().next()? {
            b'<' => fence::read_tags(text, line, &self.before, &mut self.ends)
                .or_else(|| quoted::read_opencode(text, line, &mut self.ends))
                .or_else(|| tags::read(text, line, &mut self.ends)),
            b'[' | b'C' | b'0'..=b'9' => quoted::read(text, line),
            _ => None,
        };
        match container.or_else(|| self.bare_edit(line)) {
            Some(container) => Some(ReadConstruct::of_possible_call(container, text)),
            None => read_leaked_call(text, line, &mut self.ends),
        }
    }

    /// An edit without a container.
    fn bare_edit(&self, line: &Range<usize>) -> Option<Container<'t>> {
        let (format, end, is_closed) = payload::bare_edit(self.text, line)?;
        let range = line.start..end;
        let (path, blanks) = self.before.read(self.text);
        let hint = match format {
            EditFormat::SearchReplace(_) => path_hint::line_before(path, blanks),
            _ => None,
        };
        Some(Container {
            hint,
            closing: Closing::when(is_closed),
            ..Container::around(self.text, range.clone(), range, PayloadKind::Edit(format))
        })
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
                    stated_extent: block.stated_extent,
                    symbol: None,
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
                    // A path before one block isn't the path of the next.
                    self.before = LineBefore::default();
                    debug_assert!(
                        found.blocks.is_sorted_by_key(|block| block.outer.start),
                        "blocks come in the order of the text"
                    );
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

fn read_leaked_call<'t>(
    text: &'t str,
    line: &Range<usize>,
    ends: &mut ClosingTags,
) -> Option<ReadConstruct<'t>> {
    let call = leaked::read(text, line, ends)?;
    let end = call.outer.end;
    let blocks = call.into_blocks(text);
    Some(ReadConstruct { blocks, end })
}

/// Reads a fence without a path that holds nothing but a tool's tag or a leaked tool call.
fn call_in_fence<'t>(text: &'t str, fence: &Container<'t>) -> Option<ReadConstruct<'t>> {
    let (PayloadKind::Unstated, None, Cow::Borrowed(piece)) =
        (&fence.kind, &fence.hint, &fence.piece)
    else {
        return None;
    };
    let call = piece.trim_start();
    if !tags::begins_with_tool(call) && !leaked::begins_with_call(call) {
        return None;
    }
    // The fence is read as a prefix of the whole text, so that ranges are those of the message.
    let inside = &text[..fence.raw.end];
    let line = line_at(inside, fence.raw.end - call.len());
    let mut ends = ClosingTags::default();
    let mut found = tags::read(inside, &line, &mut ends)
        .map(|container| ReadConstruct::of(container, inside))
        .or_else(|| read_leaked_call(inside, &line, &mut ends))?;
    if !inside[found.end..].trim().is_empty() {
        return None;
    }
    found.blocks.first_mut()?.outer.start = fence.outer.start;
    found.blocks.last_mut()?.outer.end = fence.outer.end;
    found.end = fence.outer.end;
    Some(found)
}
