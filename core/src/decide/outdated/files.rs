//! The files that code in older messages may be true of.

use alloc::collections::BTreeSet;

use super::{Code, Outdated};
use crate::capture;
use crate::capture::older::{self, Judge, Piece, Verdict};
use crate::decide::{compose, receive};
use crate::event::History;
use crate::hash::ArtifactHash;
use crate::ids::SessionId;
use crate::limits::{NAMESAKES_COMPARED_MAX, OLDER_FILES_LOOKED_AT_MAX};
use crate::message::{Message, Request, Role, ToolCall};
use crate::path::RelPath;
use crate::view::Exchange;

/// The files that code in older messages may be true of; disk decides whether it is, so it is asked first.
#[must_use]
pub fn files(
    outdated: &Outdated<'_>,
    (request, session): (&Request, SessionId),
    history: History,
) -> BTreeSet<RelPath> {
    let view = outdated.reading.view;
    let mut files = Files {
        outdated,
        found: BTreeSet::new(),
    };
    let messages = &request.messages;
    match history {
        History::Client => {
            let examples = capture::examples(messages);
            for index in (examples..request.current_from()).rev() {
                files.add_message(messages, index);
            }
        }
        History::Window => {
            for Exchange { user, assistant } in view.recent(session).iter().rev() {
                files.add_talk(&compose::recent_text(view, assistant));
                files.add_talk(&compose::recent_text(view, user));
            }
        }
    }
    files.add_talk(&receive::system_text(request));
    files.found
}

/// Files as they are found, as far as there is room.
struct Files<'o, 'r> {
    outdated: &'o Outdated<'r>,
    found: BTreeSet<RelPath>,
}

impl Files<'_, '_> {
    fn add_message(&mut self, messages: &[Message], index: usize) {
        let message = &messages[index];
        if message.role == Role::System {
            return;
        }
        for part in &message.parts {
            match message.role {
                Role::Tool => self.add_result(part, compose::call_of(messages, index)),
                _ => self.add_talk(part),
            }
        }
        for thought in &message.thoughts {
            self.add_talk(thought);
        }
        for call in &message.tool_calls {
            self.add_call(call);
        }
    }

    fn add_talk(&mut self, text: &str) {
        self.look(|judge| {
            older::talk(text, judge);
        });
    }

    fn add_result(&mut self, text: &str, call: Option<&ToolCall>) {
        self.look(|judge| {
            older::result(text, call, judge);
        });
    }

    fn add_call(&mut self, call: &ToolCall) {
        let written = capture::path_of_call(&call.arguments);
        if let Some(path) = self.outdated.path(written.as_deref())
            && self.outdated.reading.view.tracks(&path)
        {
            self.add(path);
            return;
        }
        self.look(|judge| {
            older::arguments(call, None, judge);
        });
    }

    /// Goes through a text of which everything stays.
    fn look(&mut self, through: impl FnOnce(&mut Judge<'_>)) {
        through(&mut |piece| {
            self.add_piece(piece);
            Verdict::Open
        });
    }

    fn add_piece(&mut self, piece: &Piece<'_>) {
        let outdated = self.outdated;
        let path = outdated.path(piece.path);
        if let Some(path) = path
            .as_ref()
            .filter(|path| outdated.reading.view.tracks(path))
        {
            self.add(path.clone());
            return;
        }
        let languages = match piece.block {
            Some(block) => [outdated.language_of_block(block, path.as_ref())].into(),
            None => outdated.languages(piece),
        };
        let artifact = ArtifactHash::of(piece.code.as_bytes());
        for language in languages {
            self.add_namesakes(&Code {
                text: piece.code,
                artifact,
                path: None,
                language,
            });
        }
    }

    /// The files that the code is true of.
    fn add_namesakes(&mut self, code: &Code<'_>) {
        let outdated = self.outdated;
        let definitions = outdated.definitions(code);
        for (symbol, slices) in definitions.all() {
            let view = outdated.reading.view;
            view.entities_named(symbol.last_component(), NAMESAKES_COMPARED_MAX)
                .into_iter()
                .filter(|entity| outdated.is_one_of(entity, slices))
                .for_each(|entity| self.add(entity.path));
        }
    }

    fn add(&mut self, path: RelPath) {
        if self.found.len() < OLDER_FILES_LOOKED_AT_MAX {
            self.found.insert(path);
        }
    }
}
