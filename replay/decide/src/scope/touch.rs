//! Files that are about to be used: a prompt names them, or the model is about to read or change them. If such a file is
//! unknown, its text on disk *before* the change is taken as the user's, so that a first edit has a base.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use crate::code_reader::CodeReader;
use crate::judge::found_code::FoundCode;
use crate::prompt::mention;
use crate::scope::place;
use tslp_core::capture;
use tslp_core::guardian::{self, CallPart};
use tslp_core::ids::UnixMillis;
use tslp_core::limits::TOUCHED_FILES_MAX;
use tslp_core::message::{Role, ToolCall};
use tslp_core::path::RelPath;
use tslp_core::request::Request;

/// Unknown files that a prompt names.
#[must_use]
pub fn by_prompt(reader: CodeReader<'_>, prompt: &str) -> Vec<RelPath> {
    let mut touched = TouchedFiles::new(reader);
    touched.add_paths_in(prompt);
    touched.files
}

/// Unknown files that the calls of a conversation were to write and that this prompt answers.
#[must_use]
pub fn by_answered_calls(reader: CodeReader<'_>, at: UnixMillis) -> Vec<RelPath> {
    let mut touched = TouchedFiles::new(reader);
    let calls = reader.view.state.at_hand().calls();
    for call in calls.filter(|it| it.session == reader.at.session && it.answered_at == Some(at)) {
        let arguments = reader.view.text(call.arguments).unwrap_or_default();
        let parts = guardian::call_parts(&call.name, &arguments).into_iter();
        for (_, written) in parts.filter(|(part, _)| *part == CallPart::Write) {
            if let Ok(path) = place::exactly(reader.view, reader.at, &written) {
                touched.add_if_unknown(path);
            }
        }
    }
    touched.files
}

/// Unknown files that a reply [names](paths_in_reply), has code of, or may mean by other paths: `candidates`. The client acts on a reply only
/// once it has its end, so the files are still as they were before.
#[must_use]
pub fn by_reply(
    reader: CodeReader<'_>,
    named: &[String],
    found: &[FoundCode],
    candidates: &[RelPath],
) -> Vec<RelPath> {
    let mut touched = TouchedFiles::new(reader);
    let meant = found.iter().filter_map(FoundCode::usable_path);
    for path in meant.chain(candidates) {
        touched.add_if_unknown(path.clone());
    }
    touched.add_paths(named.iter().map(String::as_str));
    touched.files
}

/// Known files among those that a reply names: what they hold before its calls are carried out shows what the calls make of them.
pub fn known_files<'r>(
    reader: CodeReader<'r>,
    named: &'r [String],
) -> impl Iterator<Item = RelPath> + 'r {
    let files = named
        .iter()
        .filter_map(move |it| place::exactly(reader.view, reader.at, it).ok());
    let known = files.filter(move |it| reader.view.state.state_map().tracks(it));
    known.take(TOUCHED_FILES_MAX)
}

/// Whether a file's text may be taken as the user's: no model proposed it, or it was true of another file, of which this is the new
/// place or a copy.
#[must_use]
pub fn was_not_proposed(reader: CodeReader<'_>, found: &FoundCode) -> bool {
    let view = reader.view;
    !view.vault_holds(found.artifact)
        || view.vault_holds_message(found.artifact)
        || view.artifact_is_current(found.artifact).is_some()
}

/// The paths that a prompt's new messages name.
#[must_use]
pub fn paths_in_prompt(request: &Request) -> Vec<String> {
    let from = request.current_from();
    let messages = request.messages[from..].iter();
    let said = messages.filter(|message| message.role != Role::Tool);
    let texts: Vec<&str> = said.flat_map(|message| message.texts()).collect();
    let words = texts.into_iter().flat_map(mention::path_words);
    words
        .map(|word| String::from(mention::path_in(word)))
        .collect()
}

/// The paths that a reply names: as a call's, in a command, as those of its code, or in the model's own prose.
#[must_use]
pub fn paths_in_reply(text: &str, tool_calls: &[ToolCall]) -> Vec<String> {
    let calls = tool_calls.iter();
    let mut texts: Vec<String> = calls
        .flat_map(|call| capture::short_strings(&call.arguments))
        .collect();
    texts.push(capture::without_tool_fences(text).into_owned());
    let words = texts.iter().flat_map(|text| mention::path_words(text));
    let words = words.map(|word| String::from(mention::path_in(word)));
    let blocks = tool_calls
        .iter()
        .flat_map(|it| capture::tool_call(&it.name, &it.arguments));
    let blocks = blocks.filter_map(|block| block.path);
    blocks.chain(words).collect()
}

struct TouchedFiles<'r> {
    reader: CodeReader<'r>,
    seen: BTreeSet<RelPath>,
    files: Vec<RelPath>,
}

impl<'r> TouchedFiles<'r> {
    const fn new(reader: CodeReader<'r>) -> Self {
        Self {
            reader,
            seen: BTreeSet::new(),
            files: Vec::new(),
        }
    }

    fn add_paths_in(&mut self, text: &str) {
        self.add_paths(mention::path_words(text).map(mention::path_in));
    }

    fn add_paths<'t>(&mut self, mut written: impl Iterator<Item = &'t str>) {
        let CodeReader { view, at, .. } = self.reader;
        while self.files.len() < TOUCHED_FILES_MAX
            && let Some(written) = written.next()
        {
            if let Ok(path) = place::exactly(view, at, written) {
                self.add_if_unknown(path);
            }
        }
    }

    fn add_if_unknown(&mut self, path: RelPath) {
        let CodeReader { view, grammars, .. } = self.reader;
        if self.files.len() == TOUCHED_FILES_MAX || !self.seen.insert(path.clone()) {
            return;
        }
        let is_unknown = grammars.language_of_path(&path).is_some()
            && !view.state.state_map().tracks(&path)
            && view.state.state_map().case_twin(&path).is_none()
            && view.proposals_under(&path).is_empty();
        if is_unknown {
            self.files.push(path);
        }
    }
}
