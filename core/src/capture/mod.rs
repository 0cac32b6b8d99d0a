//! Finds code in messages and the paths that it belongs to, in two steps: a container (a fence, a tag, a call) yields a path, a text
//! and whether it was closed; [`payload`] reads the code or the edit in that text. Each accepts any text and takes linear time.

mod block;
pub mod path_hint;

mod payload;

mod container;
mod fence;
mod foreign;
mod leaked;
mod quoted;
mod tags;
mod tool_call;

mod scan;

pub mod json_text;
mod transcript;
pub mod vocabulary;

mod element;
mod enclosed;
mod ends;
mod line;

pub use block::{Authorship, Closing, CodeBlock, FenceContent, StatedExtent, ToolFence};
pub use fence::RESULT_FENCE;
pub use foreign::{ForeignPart, begins_with_summary, foreign_parts, is_users_tag};
pub use tool_call::{path_begun, short_strings, tool_call};
pub use transcript::{asks_about_a_conversation, quotes_a_conversation};

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::event::Format;
use crate::limits::BLOCKS_PER_MESSAGE_MAX;
use crate::message::Message;

/// All blocks of a message, in order, at most [`BLOCKS_PER_MESSAGE_MAX`].
#[must_use]
pub fn blocks(text: &str) -> Vec<CodeBlock<'_>> {
    scan::BlockScanner::new(text)
        .take(BLOCKS_PER_MESSAGE_MAX)
        .collect()
}

/// What a reply says of tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolText {
    /// All fences of tools, in order.
    pub fences: Vec<ToolFence>,
    /// What is in the fences that ask for a tool on the text's own level: at the beginning of a line, in no element, no comment.
    pub calls: Vec<Range<usize>>,
    /// What is in closed fences of shell commands that name no file, on the same level, in order.
    pub shell: Vec<Range<usize>>,
    /// What is in closed fences of records, on the same level, in order.
    pub records: Vec<Range<usize>>,
    /// Whether the text ends in the middle of a fence or an edit.
    pub is_cut: bool,
}

/// What a fence may ask for.
#[derive(Clone, Copy)]
enum Asking {
    Tool,
    Shell,
    Record,
}

/// All fences of tools that stand in no other fence, edit or quotation, and what a reply may run.
#[must_use]
pub fn tool_text(text: &str) -> ToolText {
    let mut scan = scan::BlockScanner::new(text);
    let mut found = ToolText::default();
    let mut code = Vec::new();
    // Where fences begin that might ask for something, and what is in them.
    let mut asking = Vec::new();
    for block in scan.by_ref() {
        found.is_cut |= block.closing == Closing::Unclosed;
        let is_shell = block.format == Format::Fence
            && block.path.is_none()
            && block.closing == Closing::Closed
            && matches!(block.language.as_deref(), Some("bash" | "sh"));
        asking.extend(
            block
                .verbatim
                .filter(|_| is_shell)
                .map(|body| (block.outer.start, body, Asking::Shell)),
        );
        // Code's own tags are code.
        if !text[block.outer.clone()]
            .trim_start()
            .starts_with(['<', '['])
        {
            code.push(block.outer);
        }
    }
    found.fences = scan.tool_fences;
    code.extend(found.fences.iter().map(|fence| fence.outer.clone()));
    code.sort_by_key(|block| block.start);
    let fences = found.fences.iter();
    asking.extend(fences.filter_map(|fence| {
        let kind = match fence.holds {
            FenceContent::Call => Asking::Tool,
            FenceContent::Records if fence.closing == Closing::Closed => Asking::Record,
            _ => return None,
        };
        Some((fence.outer.start, fence.body.clone(), kind))
    }));
    asking.retain(|(start, ..)| text[*start..].starts_with(['`', '~']));
    asking.sort_by_key(|(start, ..)| *start);
    let starts: Vec<usize> = asking.iter().map(|(start, ..)| *start).collect();
    let outside = enclosed::outside(text, &code, &starts);
    for ((_, body, kind), _) in asking
        .into_iter()
        .zip(outside)
        .filter(|(_, outside)| *outside)
    {
        let kind = match kind {
            Asking::Tool => &mut found.calls,
            Asking::Shell => &mut found.shell,
            Asking::Record => &mut found.records,
        };
        kind.push(body);
    }
    let fences = found.fences.iter();
    found.is_cut |= fences
        .last()
        .is_some_and(|fence| fence.closing == Closing::Unclosed);
    found
}

/// The fences of records in a reply's own text.
#[must_use]
pub fn record_fences(text: &str) -> Vec<&str> {
    if !text.contains("record") {
        return Vec::new();
    }
    let fences = tool_text(text).records.into_iter();
    fences.map(|body| &text[body]).collect()
}

/// The text without its fences of tools: what is left is the speaker's own.
#[must_use]
pub fn without_tool_fences(text: &str) -> Cow<'_, str> {
    if !text.contains("tool") {
        return Cow::Borrowed(text);
    }
    let mut fences = tool_text(text).fences;
    fences.retain(|fence| fence.holds != FenceContent::Records);
    if fences.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut left = String::with_capacity(text.len());
    let mut from = 0;
    for fence in fences {
        left.push_str(&text[from..fence.outer.start]);
        from = fence.outer.end;
    }
    left.push_str(&text[from..]);
    Cow::Owned(left)
}

/// Whether a client says in a message that its examples are over: they are of another code base (aider).
pub fn ends_examples(message: &Message) -> bool {
    let mut parts = message.parts.iter();
    parts.any(|part| {
        let mut ends = vocabulary::EXAMPLES_END.iter();
        ends.any(|end| part.trim_start().starts_with(end))
    })
}

#[cfg(test)]
mod tests;
