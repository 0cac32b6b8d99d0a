//! Finds code in messages and says what names its file. One module per family of formats; each is total and linear.

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
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::edit::{Edit, Malformed};
use crate::event::{Format, PathEvidence};
use crate::limits::BLOCKS_PER_MESSAGE_MAX;
use crate::message::Message;
use crate::read_message::ReadMessage;

/// A block of code in a message: code as such, or an edit of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block<'t> {
    /// The family that it is written in.
    pub format: Format,
    /// Where the block stands in the message, delimiters included.
    pub outer: Range<usize>,
    /// The code's bytes in the message, if they are the code verbatim; an indented fence's are not.
    pub verbatim: Option<Range<usize>>,
    /// The code; of an edit its own text, as it was written.
    pub code: Cow<'t, str>,
    /// What the block does to its file, if it is an edit and not the code itself. An error says why an edit that was
    /// recognised can't be read.
    pub edit: Option<Result<Edit, Malformed>>,
    /// The language that the block names.
    pub language: Option<String>,
    /// The path as it was written.
    pub path: Option<String>,
    /// What named the path.
    pub evidence: PathEvidence,
    /// What the block says of its share of the file.
    pub part: Part,
    /// Whose word it is.
    pub standing: Standing,
    /// Whether the block was closed.
    pub closing: Closing,
}

/// What a block says of its share of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Nothing.
    Unsaid,
    /// It is a range of lines, so a part of its file.
    Range,
    /// It is all of the file.
    Whole,
}

/// Whose word a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its writer's own.
    Said,
    /// What a client's tool read from disk: evidence, nobody's word.
    Quoted,
}

/// Whether a block came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// Closed as it was opened.
    Closed,
    /// The message ended first.
    Unclosed,
}

/// All blocks of a message, in order, at most [`BLOCKS_PER_MESSAGE_MAX`].
#[must_use]
pub fn blocks(text: &str) -> Vec<Block<'_>> {
    scan::Scan::new(text).take(BLOCKS_PER_MESSAGE_MAX).collect()
}

/// How the user message begins that ends a client's few-shot examples: what stands before is another code base's
/// (aider).
const EXAMPLES_END: &str = "I switched to a new code base";

/// How many of the first messages are a client's examples and never captured.
#[must_use]
pub fn examples(messages: &[Arc<ReadMessage>]) -> usize {
    let last = messages.iter().rposition(|message| message.ends_examples());
    last.map_or(0, |at| at + 1)
}

/// Whether a client says in a message that its examples are over.
pub(crate) fn ends_examples(message: &Message) -> bool {
    let mut parts = message.parts.iter();
    parts.any(|part| part.trim_start().starts_with(EXAMPLES_END))
}

#[cfg(test)]
mod samples;
