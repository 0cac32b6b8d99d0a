//! Blocks of code, as they are found in messages.

use alloc::borrow::Cow;
use alloc::string::String;
use core::ops::Range;

use crate::edit::{Edit, Malformed};
use crate::event::{Format, PathEvidence};

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
    pub stated_extent: StatedExtent,
    /// The definition that was named with the path: `src/a.py::A.f`.
    pub symbol: Option<String>,
    /// Whether its writer wrote it or quotes a file.
    pub authorship: Authorship,
    /// Whether the block was closed.
    pub closing: Closing,
}

/// The share of its file that a block says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedExtent {
    /// It doesn't say.
    Unstated,
    /// A range of lines.
    Range,
    /// All of the file.
    Whole,
}

/// Whether the writer of a message wrote a block of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authorship {
    /// The writer's own code.
    Own,
    /// A file's text that a client's tool read from disk: evidence, nobody's decision.
    Quoted,
}

/// What is in a [`ToolFence`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceContent {
    /// A tool's call.
    Call,
    /// What a tool gave.
    Result,
    /// Statements to be kept for the project.
    Records,
}

/// Whether a block's end is in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The closing delimiter was found.
    Closed,
    /// The message ended first.
    Unclosed,
}

impl Closing {
    pub(super) const fn when(is_closed: bool) -> Self {
        if is_closed {
            Self::Closed
        } else {
            Self::Unclosed
        }
    }
}

/// A fence that is for the proxy, or of its making: never code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFence {
    /// What is in it.
    pub holds: FenceContent,
    /// Its range in the message, delimiters included.
    pub outer: Range<usize>,
    /// What is in it.
    pub body: Range<usize>,
    /// Whether it was closed.
    pub closing: Closing,
}
