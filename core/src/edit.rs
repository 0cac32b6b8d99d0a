//! Edits of code: what they are, and their exact application in memory. An edit applies as a whole or not at all.

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
        place: Place,
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
pub enum Place {
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

/// Why an edit that was recognised can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Why an edit doesn't apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditError {
    /// There is no base to apply it to.
    NoBase,
    /// It makes a file that is there already.
    Exists,
    /// A text that must be there isn't.
    NotFound,
    /// A text that must be there once is there several times.
    NotUnique,
    /// It names a line, and the base isn't the whole file.
    NeedsWholeFile,
    /// It would take too much work (see [`crate::limits::EDIT_WORK_BYTES_MAX`]).
    TooLarge,
}

/// What an edit is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bases<'b> {
    /// All of a file.
    Whole(&'b str),
    /// Some of its definitions, none inside another one.
    Slices(&'b [&'b str]),
}

/// Applies `hunks` in order, exactly or not at all. What comes back has one entry for each base: its new text, or
/// `None` if it stays as it is.
///
/// # Errors
/// Why the first hunk that doesn't apply doesn't.
pub fn apply(hunks: &[Hunk], bases: &Bases<'_>) -> Result<Vec<Option<String>>, EditError> {
    let texts: Vec<&str> = match bases {
        Bases::Whole(text) => Vec::from([*text]),
        Bases::Slices(texts) => texts.to_vec(),
    };
    let mut out: Vec<Option<String>> = texts.iter().map(|_| None).collect();
    for hunk in hunks {
        let Hunk::Replace { old, new, .. } = hunk else {
            return Err(EditError::NeedsWholeFile);
        };
        let mut at = None;
        for (index, text) in texts.iter().enumerate() {
            let text = out[index].as_deref().unwrap_or(text);
            match text.matches(old.as_str()).count() {
                0 => {}
                1 if at.is_none() => at = Some(index),
                _ => return Err(EditError::NotUnique),
            }
        }
        let index = at.ok_or(EditError::NotFound)?;
        let text = out[index].as_deref().unwrap_or(texts[index]);
        out[index] = Some(text.replacen(old.as_str(), new, 1));
    }
    Ok(out)
}
