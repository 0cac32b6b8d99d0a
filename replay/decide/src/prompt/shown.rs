//! Reading acknowledges: what a conversation was shown of a file as disk holds it becomes true (spec §15.2, §15.5).
//!
//! STALE is for code whose true form a conversation hasn't been shown. One thing never becomes true by being read: code of the
//! model's that was refused.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use tslp_projections::state::StateView;

use crate::code_reader::CodeReader;
use crate::judge::found_code::FoundCode;
use crate::observe;
use crate::scope::place::{self, Standpoint};
use tslp_core::artifact::Origin;
use tslp_core::capture::{self, json_text};
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, History};
use tslp_core::ids::SessionId;
use tslp_core::measure;
use tslp_core::message::{Role, Tools};
use tslp_core::path::RelPath;
use tslp_core::read_message::ReadMessage;
use tslp_core::redact;
use tslp_core::request::Request;
use tslp_core::slice;
use tslp_projections::stale::Divergence;

/// The messages after the last reply.
pub(crate) fn newest_messages(request: &Request) -> impl Iterator<Item = &ReadMessage> {
    let messages = &request.messages;
    let last_reply = messages.iter().rposition(|it| it.role == Role::Assistant);
    let newest = &messages[last_reply.map_or(0, |at| at + 1)..];
    let newest = newest.iter().map(|message| &**message);
    newest.filter(|it| it.role != Role::System)
}

/// Their texts.
pub(crate) fn newest_texts(request: &Request) -> impl Iterator<Item = &str> {
    newest_messages(request).flat_map(|message| message.texts())
}

/// What of a file on disk becomes true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenFromDisk {
    /// The definitions; the file itself if all of it does, which means that what it lacks is gone.
    pub entities: BTreeSet<EntityId>,
}

impl TakenFromDisk {
    /// Of everything in a file, what isn't as it is true, as far as it is `shown` (`None`: all of it) and no refusal keeps it out. A client with tools
    /// that shows what an unsaved change replaces didn't apply the change.
    #[must_use]
    pub fn of(
        reader: CodeReader<'_>,
        session: SessionId,
        found: &FoundCode,
        tools: Tools,
        shown: Option<&dyn Fn(&str) -> bool>,
    ) -> Option<Self> {
        let view = reader.view;
        let path = found.usable_path()?;
        let Ok(extraction) = &found.extraction else {
            return None;
        };
        let is_shown = |text: &str| shown.is_none_or(|is_shown| is_shown(text));
        let code = &*found.code;
        let text_of = |entity: &EntityId| {
            let own = extraction.definitions.iter();
            let own = own.filter(|definition| Some(&definition.symbol) == entity.symbol.as_ref());
            own.filter_map(|definition| code.get(definition.span.range()))
                .collect::<Vec<&str>>()
        };
        let may_be_saved =
            |entity: &EntityId| !tools.read_files() && is_to_be_saved(view, session, entity);
        let is_users = view.disk_author(path).origin == Origin::User;
        let differs = |entity: &EntityId| match view.divergence(entity) {
            Some(Divergence::Refused | Divergence::Unreadable | Divergence::Gone) => false,
            // What no word of the user's has put there is judged.
            Some(_) if !is_users => false,
            Some(Divergence::Unknown | Divergence::Superseded | Divergence::Contradicted) => true,
            None if view.current_version(entity).is_none() => is_users,
            None => view.state.stale().is_unsaved(entity) && !may_be_saved(entity),
        };
        let file = EntityId::file(path.clone());
        let mut all = view.state.state_map().entities_in(path);
        // Most files are as they are true.
        if !all
            .iter()
            .chain([&file])
            .any(|entity| view.current_version(entity).is_some() && differs(entity))
        {
            return None;
        }
        let is_refused = |entity: &EntityId| view.divergence(entity) == Some(Divergence::Refused);
        // What isn't saved yet isn't gone, unless a client with tools hasn't applied it.
        let keeps_out = |entity: &EntityId| {
            is_refused(entity) || may_be_saved(entity) || observe::is_of_others(view, entity)
        };
        let is_free = !all.iter().chain([&file]).any(keeps_out);
        let truth_of = |entity: &EntityId| {
            let current = view.current_version(entity)?;
            let truth = view.artifact_slices(current.artifact, &current.spans)?;
            String::from_utf8(truth).ok()
        };
        let language = reader.grammars.language_of_path(path);
        let bare = |text: &str| {
            let read = language.and_then(|it| reader.grammars.extract(it, text.as_bytes()).ok());
            // A string that is a statement is code, since programs read it: a docstring.
            let is_string = |c: char| c.is_alphanumeric() || matches!(c, '"' | '\'' | '`');
            let remarks = read.iter().flat_map(|it| &it.remarks);
            let comments = remarks.filter(|span| !text[span.range()].starts_with(is_string));
            measure::blanked(text, comments).into_owned()
        };
        // What a formatter has changed, or a comment, is news for nobody.
        let is_the_same_code = |entity: &EntityId, texts: &[&str]| {
            let on_disk = bare(&texts.join("\n"));
            let is_same = |it: String| {
                slice::differ_in_layout_alone(bare(&it).as_bytes(), on_disk.as_bytes())
            };
            truth_of(entity).is_some_and(is_same)
        };
        // Who is shown what the file lacks isn't shown the file. A broken file may hold it.
        let shows_lost = |entity: &EntityId| {
            let is_told = |truth: String| shown.is_some_and(|is_shown| is_shown(&truth));
            extraction.clean && text_of(entity).is_empty() && truth_of(entity).is_some_and(is_told)
        };
        // What can't be parsed of a file goes along with it; what a whole file lacks is gone only where all of it can be.
        let is_left =
            |entity: &EntityId| tools.read_files() && was_not_saved(view, session, entity);
        let is_whole = is_free
            && (is_shown(code) || is_the_same_code(&file, &[code]) || is_left(&file))
            && !all.iter().any(shows_lost);
        if is_whole {
            let defined = found.symbols().into_iter();
            let defined = defined.map(|symbol| EntityId::symbol(path.clone(), symbol));
            let new: Vec<EntityId> = defined.filter(|it| !all.contains(it)).collect();
            all.extend(new);
            all.push(file);
        }
        let is_taken = |entity: &EntityId| {
            differs(entity)
                && (is_whole || {
                    let texts = text_of(entity);
                    !texts.is_empty()
                        && (texts.iter().all(|text| is_shown(text))
                            || is_the_same_code(entity, &texts)
                            || is_left(entity))
                })
        };
        let entities: BTreeSet<EntityId> = all.into_iter().filter(is_taken).collect();
        (!entities.is_empty()).then_some(Self { entities })
    }
}

/// Whether the entity's version is an accepted change of this conversation that its user may still save. Another conversation that
/// shows the file as it was before comes after an undo.
pub(crate) fn is_to_be_saved(view: &StateView<'_>, session: SessionId, entity: &EntityId) -> bool {
    view.state.stale().is_unsaved(entity)
        && view.current_version(entity).is_some_and(|current| {
            let sessions = view.state.sessions();
            sessions.reply_position(session, current.episode).is_some()
        })
}

/// Whether the session's client has carried out the reply that changed the entity, and disk holds it as it was before.
pub(crate) fn was_not_saved(view: &StateView<'_>, session: SessionId, entity: &EntityId) -> bool {
    view.state.stale().is_unsaved(entity)
        && view.current_version(entity).is_some_and(|current| {
            view.state.sessions().reply_carried_out(session) == Some(current.episode)
        })
}

/// The strings of texts, line by line, without blank lines: what tools show of files.
#[derive(Default)]
pub struct ShownLines {
    strings: Vec<Vec<String>>,
}

/// The lines of a text that aren't blank, without indentation and the blanks at their ends.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

impl ShownLines {
    /// Of the messages after the last reply; where the client has no tools, and so sends its files in front of the history, of all
    /// that no model wrote.
    #[must_use]
    pub fn of_request(request: &Request, history: History) -> Self {
        let mut shown = Self::default();
        let is_read = |message: &&Arc<ReadMessage>| {
            matches!(message.role, Role::User | Role::Tool)
                && (request.tools.read_files(), history) == (false, History::Client)
        };
        let all = request.messages.iter().filter(is_read);
        for text in newest_texts(request).chain(all.flat_map(|message| message.texts())) {
            shown.add(text);
        }
        shown
    }

    /// Adds a text; of JSON each of its strings.
    fn add(&mut self, text: &str) {
        json_text::change_strings(text, &mut |string| {
            let string = redact::without_credentials(string);
            self.strings
                .push(lines_of(&string).map(String::from).collect());
            None
        });
    }

    /// Whether one of the texts shows all lines of the code, one after the other. Each may have a line number or another mark in front
    /// of it, as tools print them.
    #[must_use]
    pub fn show(&self, code: &str) -> bool {
        let mut wanted = lines_of(code);
        let Some(first) = wanted.next() else {
            return false;
        };
        let rest: Vec<&str> = wanted.collect();
        self.strings.iter().any(|lines| {
            let begins = (0..lines.len()).filter(|at| lines[*at].ends_with(first));
            begins.into_iter().any(|at| follow(&lines[at + 1..], &rest))
        })
    }
}

/// What the results of a conversation's last calls teach of its client's root: they show a tracked file whole.
#[must_use]
pub fn resolve_shown(view: &StateView<'_>, at: Standpoint<'_>) -> Vec<Event> {
    let calls = view.state.at_hand().calls().rev();
    let mut own = calls.filter(|call| call.session == at.session).peekable();
    let last = own.peek().map(|call| call.seq);
    let shown = own.take_while(|call| Some(call.seq) == last);
    let resolved = shown.filter_map(|call| {
        let written = capture::path_begun(&view.text(call.arguments)?)?;
        place::foreign(view, at, &written)?;
        let mut shown = ShownLines::default();
        shown.add(&view.text(call.result?)?);
        let is_shown = |file: &RelPath| {
            let current = view.current_version(&EntityId::file(file.clone()));
            let text = current.and_then(|it| view.text(it.artifact));
            text.is_some_and(|text| shown.show(&text))
        };
        let file = place::recognised(view, at, &written, is_shown)?;
        place::taught(view, at, &written, &file)
    });
    resolved.map(Event::PathResolved).collect()
}

/// Whether the lines are those wanted, apart from the numbers of blank ones between them.
fn follow(lines: &[String], wanted: &[&str]) -> bool {
    let mut lines = lines.iter();
    wanted.iter().all(|wanted| {
        let next =
            lines.find(|line| line.ends_with(wanted) || line.chars().any(char::is_alphabetic));
        next.is_some_and(|line| line.ends_with(wanted))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: &str, expected: bool) {
        let mut shown = ShownLines::default();
        shown.add(text);
        assert_eq!(shown.show(code), expected, "{text}");
    }

    #[test]
    fn printed_by_tools() {
        let code = "int f(void) {\n\n    return 1;\n}\n";
        check("int f(void) {\n\n    return 1;\n}", code, true);
        check(
            "  4\u{2192}int f(void) {\n  5\u{2192}\n  6\u{2192}    return 1;\n  7\u{2192}}",
            code,
            true,
        );
        check(
            "{\"content\": \"1: int f(void) {\\n2: \\n3:     return 1;\\n4: }\"}",
            code,
            true,
        );
        check("int f(void) {\n    return 2;\n}", code, false);
        check("int f(void) {\n    g();\n    return 1;\n}", code, false);
        check("int f(void) {\n    return 1;", code, false);
        check("", "", false);
    }
}
