//! Edits of code: what they are, and their exact application in memory. An edit applies as a whole or not at all.

mod apply;
mod search;

pub use apply::{Bases, apply};

use alloc::string::String;
use alloc::vec::Vec;

/// What a block does to its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Changes places in a file that exists.
    Change(Vec<Hunk>),
    /// Makes a file that must not exist yet, with this text.
    Create(String),
    /// Removes the file.
    Delete,
    /// Gives the file another path, and changes places in it.
    Move {
        /// The new path as it was written.
        to: String,
        /// The changes.
        hunks: Vec<Hunk>,
    },
}

/// One place of a file that an edit changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hunk {
    /// Puts `new` in the place of `old`, which isn't empty.
    Replace {
        /// The text that must be there.
        old: String,
        /// The text that takes its place.
        new: String,
        /// Where to look for it.
        place: EditPosition,
        /// What may stand beside it.
        unit: MatchUnit,
    },
    /// Puts text after this many lines of the whole file; 0 is its beginning.
    Insert {
        /// How many lines stand before it.
        after_lines: u32,
        /// The text.
        text: String,
    },
    /// Puts text at the end of the whole file; makes the file if there is none.
    Append(String),
}

/// Where a replaced text must stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditPosition {
    /// Exactly once in the base.
    Once,
    /// Anywhere, each occurrence, at least one.
    Everywhere,
    /// At its first occurrence after the one line that is this (`@@ context` of apply_patch), leading and trailing
    /// blanks aside.
    After(String),
    /// At the very end of the file.
    End,
}

/// What a replaced text is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchUnit {
    /// Whole lines: it begins where a line begins and ends where one ends, so that `x = 1` isn't found in `xx = 1`. Each
    /// line ends with its newline; without one, the last is the file's last line, which has none.
    Lines,
    /// Any text.
    Text,
}

/// Why an edit that was recognised can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Why an edit doesn't apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditError {
    /// There is no base to apply it to.
    NoBase,
    /// A text that must be there isn't.
    NotFound,
    /// A text that must be there once is there several times.
    NotUnique,
    /// It names a line, and the base isn't the whole file.
    NeedsWholeFile,
    /// It would take too much work (see [`crate::limits::EDIT_WORK_BYTES_MAX`]).
    TooLarge,
}
