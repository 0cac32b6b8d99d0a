//! Finds code in messages and the paths that it belongs to. One module per family of formats; each accepts any text and takes
//! linear time.

pub mod path_hint;

mod scan;

mod apply_patch;
mod fence;
mod leaked;
mod quoted;
mod search_replace;
mod tags;
mod tool_call;
mod unified_diff;

pub(crate) mod json_text;
mod transcript;

mod ends;
mod line;
mod section;

pub use tool_call::{path_begun, path_of_call, short_strings, tool_call};
pub use transcript::{asks_about_a_conversation, quotes_a_conversation};

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::edit::{Edit, Malformed};
use crate::event::{Format, PathEvidence};
use crate::limits::BLOCKS_PER_MESSAGE_MAX;
use crate::message::Message;

/// A block of code in a message: code as such, or an edit of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBlock<'t> {
    /// The format that it is written in.
    pub format: Format,
    /// The block's range in the message, delimiters included.
    pub outer: Range<usize>,
    /// The code's bytes in the message, if they are the code verbatim; an indented fence's are not.
    pub verbatim: Option<Range<usize>>,
    /// The code; for an edit the text of the edit, as it was written.
    pub code: Cow<'t, str>,
    /// The edit, if the block is one and not the code itself; an error if its text has the marks of an edit and can't be
    /// read as one.
    pub edit: Option<Result<Edit, Malformed>>,
    /// The language that the block names.
    pub language: Option<String>,
    /// The path as it was written.
    pub path: Option<String>,
    /// How the path was named.
    pub evidence: PathEvidence,
    /// The share of the file that the block says it is.
    pub part: StatedExtent,
    /// Whether its writer wrote it or quotes a file.
    pub standing: Authorship,
    /// Whether the block was closed.
    pub closing: Closing,
}

/// The share of its file that a block says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedExtent {
    /// It doesn't say.
    Unsaid,
    /// A range of lines.
    Range,
    /// All of the file.
    Whole,
}

/// Whether the writer of a message wrote a block of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authorship {
    /// The writer's own code.
    Said,
    /// A file's text that a client's tool read from disk: evidence, nobody's decision.
    Quoted,
}

/// Whether a block's end is in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The closing delimiter was found.
    Closed,
    /// The message ended first.
    Unclosed,
}

/// All blocks of a message, in order, at most [`BLOCKS_PER_MESSAGE_MAX`].
#[must_use]
pub fn blocks(text: &str) -> Vec<CodeBlock<'_>> {
    scan::BlockScanner::new(text)
        .take(BLOCKS_PER_MESSAGE_MAX)
        .collect()
}

/// A fence that asks for a tool, or shows what one gave: evidence, never code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFence {
    /// Whether it shows a result.
    pub is_result: bool,
    /// Where it stands in the message, delimiters included.
    pub outer: Range<usize>,
    /// What is in it.
    pub body: Range<usize>,
    /// Whether it was closed.
    pub closing: Closing,
}

/// What a reply says of tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolTalk {
    /// All fences of tools, in order.
    pub fences: Vec<ToolFence>,
    /// Closed fences of shell commands that name no file, in order.
    pub shell: Vec<Range<usize>>,
    /// Whether the text ends in the middle of a fence or an edit.
    pub is_cut: bool,
}

/// All fences of tools that stand in no other fence, edit or quotation, and what else a reply may run.
#[must_use]
pub fn tool_talk(text: &str) -> ToolTalk {
    let mut scan = scan::BlockScanner::new(text);
    let mut talk = ToolTalk::default();
    for block in scan.by_ref() {
        talk.is_cut |= block.closing == Closing::Unclosed;
        let is_shell = block.format == Format::Fence
            && block.path.is_none()
            && block.closing == Closing::Closed
            && matches!(block.language.as_deref(), Some("bash" | "sh"));
        talk.shell.extend(block.verbatim.filter(|_| is_shell));
    }
    talk.fences = scan.tool_fences;
    let fences = talk.fences.iter();
    talk.is_cut |= fences
        .last()
        .is_some_and(|fence| fence.closing == Closing::Unclosed);
    talk
}

/// The text without its fences of tools: what is left is the speaker's own.
#[must_use]
pub fn without_tool_fences(text: &str) -> Cow<'_, str> {
    if !text.contains("tool") {
        return Cow::Borrowed(text);
    }
    let fences = tool_talk(text).fences;
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

/// How the user message begins that ends a client's few-shot examples: what stands before is another code base's
/// (aider).
const EXAMPLES_END: &str = "I switched to a new code base";

/// Whether a client says in a message that its examples are over.
pub(crate) fn ends_examples(message: &Message) -> bool {
    let mut parts = message.parts.iter();
    parts.any(|part| part.trim_start().starts_with(EXAMPLES_END))
}

#[cfg(test)]
mod samples;
