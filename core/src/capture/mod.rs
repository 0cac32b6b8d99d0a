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
mod ends;
mod line;

pub use block::{Authorship, Closing, CodeBlock, StatedExtent, ToolFence};
pub use fence::RESULT_FENCE;
pub use foreign::{ForeignPart, foreign_parts, opens_users_words};
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
    /// Closed fences of shell commands that name no file, in order.
    pub shell: Vec<Range<usize>>,
    /// Whether the text ends in the middle of a fence or an edit.
    pub is_cut: bool,
}

/// All fences of tools that stand in no other fence, edit or quotation, and what else a reply may run.
#[must_use]
pub fn tool_text(text: &str) -> ToolText {
    let mut scan = scan::BlockScanner::new(text);
    let mut found = ToolText::default();
    for block in scan.by_ref() {
        found.is_cut |= block.closing == Closing::Unclosed;
        let is_shell = block.format == Format::Fence
            && block.path.is_none()
            && block.closing == Closing::Closed
            && matches!(block.language.as_deref(), Some("bash" | "sh"));
        found.shell.extend(block.verbatim.filter(|_| is_shell));
    }
    found.fences = scan.tool_fences;
    let fences = found.fences.iter();
    found.is_cut |= fences
        .last()
        .is_some_and(|fence| fence.closing == Closing::Unclosed);
    found
}

/// The text without its fences of tools: what is left is the speaker's own.
#[must_use]
pub fn without_tool_fences(text: &str) -> Cow<'_, str> {
    if !text.contains("tool") {
        return Cow::Borrowed(text);
    }
    let fences = tool_text(text).fences;
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
mod samples;
#[cfg(test)]
mod shown;
