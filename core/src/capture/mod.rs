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
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::edit::{Edit, Malformed};
use crate::event::{Format, PathEvidence};
use crate::limits::BLOCKS_PER_MESSAGE_MAX;
use crate::read_message::ReadMessage;

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

/// How the user message begins that ends a client's few-shot examples: what stands before is another code base's
/// (aider).
const EXAMPLES_END: &str = "I switched to a new code base";

/// How many of the first messages are a client's examples and never captured.
#[must_use]
pub fn examples(messages: &[Arc<ReadMessage>]) -> usize {
    messages
        .iter()
        .rposition(|message| {
            message
                .parts
                .iter()
                .any(|part| part.trim_start().starts_with(EXAMPLES_END))
        })
        .map_or(0, |at| at + 1)
}

#[cfg(test)]
mod samples;
