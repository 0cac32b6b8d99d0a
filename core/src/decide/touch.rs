//! Files that somebody touches: a prompt names them, or the model is about to read or change them. Of those that nothing is
//! known of, what disk holds *before* that is taken as the user's, so that a first edit has a base.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::found_code::{FoundCode, Reading};
use crate::capture;
use crate::limits::TOUCHED_FILES_MAX;
use crate::mention;
use crate::message::ToolCall;
use crate::path::RelPath;

/// Files that nothing is known of and that a prompt names.
#[must_use]
pub fn by_prompt(reading: Reading<'_>, prompt: &str) -> Vec<RelPath> {
    let mut touched = Touched::new(reading);
    touched.add_words(prompt);
    touched.files
}

/// The file of a path that a tool call begins with, if nothing is known of it.
#[must_use]
pub fn by_path(reading: Reading<'_>, written: &str) -> Option<RelPath> {
    let mut touched = Touched::new(reading);
    touched.add(RelPath::parse(written, reading.root).ok()?);
    touched.files.pop()
}

/// Files that nothing is known of and that a reply names: with a call's path, in a command, as the path of its code, or in
/// words of the model's own. The client acts on a reply only once it has its end, so they are as they were before.
#[must_use]
pub fn by_reply(
    reading: Reading<'_>,
    text: &str,
    tool_calls: &[ToolCall],
    found: &[FoundCode],
) -> Vec<RelPath> {
    let mut touched = Touched::new(reading);
    for path in found.iter().filter_map(FoundCode::usable_path) {
        touched.add(path.clone());
    }
    for call in tool_calls {
        for string in capture::short_strings(&call.arguments) {
            touched.add_words(&string);
        }
    }
    touched.add_words(&capture::without_tool_fences(text));
    touched.files
}

/// Whether a file's text may be taken as the user's: it isn't what a model proposed.
#[must_use]
pub fn is_nobodys(reading: Reading<'_>, found: &FoundCode) -> bool {
    let view = reading.view;
    !view.holds(found.artifact) || view.was_said(found.artifact)
}

struct Touched<'r> {
    reading: Reading<'r>,
    seen: BTreeSet<RelPath>,
    files: Vec<RelPath>,
}

impl<'r> Touched<'r> {
    const fn new(reading: Reading<'r>) -> Self {
        Self {
            reading,
            seen: BTreeSet::new(),
            files: Vec::new(),
        }
    }

    fn add_words(&mut self, text: &str) {
        for word in mention::path_words(text) {
            if self.files.len() == TOUCHED_FILES_MAX {
                return;
            }
            if let Ok(path) = RelPath::parse(mention::path_in(word), self.reading.root) {
                self.add(path);
            }
        }
    }

    fn add(&mut self, path: RelPath) {
        let Reading { view, grammars, .. } = self.reading;
        if self.files.len() == TOUCHED_FILES_MAX || !self.seen.insert(path.clone()) {
            return;
        }
        let is_unknown = grammars.language_of_path(&path).is_some()
            && !view.tracks(&path)
            && view.case_twin(&path).is_none()
            && view.proposals_under(&path).is_empty();
        if is_unknown {
            self.files.push(path);
        }
    }
}
