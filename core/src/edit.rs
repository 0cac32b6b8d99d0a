//! Edits of code, and their exact application in memory. An edit applies as a whole or not at all.

mod apply;
mod search;

pub use apply::{BaseTexts, apply};

use alloc::string::String;
use alloc::vec::Vec;

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Changes an existing file.
    Change(Vec<Hunk>),
    /// Makes a file that must not exist yet, with this text.
    Create(String),
    /// Removes the file.
    Delete,
    /// Gives the file another path, and changes it.
    Move {
        /// The new path as it was written.
        to: String,
        /// The changes.
        hunks: Vec<Hunk>,
    },
}

/// A change at one position of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hunk {
    /// Replaces `old`, which isn't empty, by `new`.
    Replace {
        /// The text that must be there.
        old: String,
        /// The text that replaces it.
        new: String,
        /// The position at which it must be.
        place: EditPosition,
        /// Whether it is whole lines.
        unit: MatchUnit,
    },
    /// Puts text after this many lines of the whole file; 0 is its beginning.
    Insert {
        /// The number of lines before it.
        after_lines: u32,
        /// The text.
        text: String,
    },
    /// Puts text at the end of the whole file; makes the file if there is none.
    Append(String),
}

impl Hunk {
    /// The text that it puts in.
    #[must_use]
    pub fn new_text(&self) -> &str {
        match self {
            Self::Replace { new: text, .. } | Self::Insert { text, .. } | Self::Append(text) => {
                text
            }
        }
    }
}

/// The position at which a replaced text must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditPosition {
    /// Exactly once in the base.
    Once,
    /// At least once; each occurrence is replaced.
    Everywhere,
    /// At its first occurrence after the only line equal to this one (`@@ context` of apply_patch), ignoring whitespace at
    /// its ends.
    After(String),
    /// At the very end of the file.
    End,
}

/// Whether a replaced text is whole lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchUnit {
    /// Whole lines: it begins and ends at line boundaries, so that `x = 1` isn't found in `xx = 1`. Each line ends with its
    /// newline; a last line without one matches only the file's last line without one.
    Lines,
    /// Any text.
    Text,
}

/// A text has the marks of an edit and can't be read as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The reason why an edit doesn't apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditError {
    /// There is no base to apply it to.
    NoBase,
    /// A text to be replaced isn't there.
    NotFound,
    /// A text that must be there exactly once is there several times.
    NotUnique,
    /// It names a line number or the file's end, and the base isn't the whole file.
    NeedsWholeFile,
    /// It would take too much work (see [`crate::limits::EDIT_WORK_BYTES_MAX`]).
    TooLarge,
}
