//! What a prompt says: the code that the user pastes, the entities that it names, and the directives in it. Which words are the
//! user's own, and which of them act, is decided here (spec §8.1, §9.1).

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::ControlFlow;
use tslp_projections::state::StateView;

use crate::code_reader::CodeReader;
use crate::judge::found_code::{self, FoundCode};
use crate::judge::promote::MessagePieces;
use crate::prompt::authorship::MessageAuthors;
use crate::prompt::last_turn;
pub use crate::prompt::last_turn::shown_before;
use crate::prompt::mention::{self, Mentions};
use crate::prompt::receive::{self, PromptRepetition, ReceivedPrompt};
use crate::prompt::text_index::TextIndex;
use crate::prompt::unfenced;
use crate::user::write_head::CodeSource;
use tslp_core::capture;
use tslp_core::directive::{self, Directive};
use tslp_core::entity::EntityId;
use tslp_core::event::{AuthorFound, History};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::SessionId;
use tslp_core::limits::{DIRECTIVES_PER_PROMPT_MAX, OLDER_FILES_LOOKED_AT_MAX};
use tslp_core::message::{Role, Tools};
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::read_message::ReadMessage;
use tslp_core::reason::Reason;
use tslp_core::request::Request;
use tslp_core::slice;

/// Code in the user's own messages.
#[derive(Clone, Debug)]
pub struct PastedCode {
    /// The code.
    pub found: FoundCode,
    /// The message that holds it.
    pub pieces: MessagePieces,
    /// Which message of the request that is.
    pub source: CodeSource,
}

/// A prompt on record, and what it is read with.
#[derive(Clone, Copy)]
pub struct PromptReader<'r> {
    /// The state and the parsers.
    pub code: CodeReader<'r>,
    /// The request.
    pub request: &'r Request,
    /// What is on record of it.
    pub received: &'r ReceivedPrompt,
    /// Who wrote the user's messages that weren't acted on before, by their index in the request.
    pub authors: &'r BTreeMap<usize, MessageAuthors>,
}

/// What a prompt's directives are, and the answers to those that don't count.
#[derive(Clone, Debug, Default)]
pub struct PromptDirectives {
    /// Those that the user typed, in order.
    pub typed: Vec<Directive>,
    /// Why others did nothing, each reason once, with the first directive.
    pub refused: Vec<(Reason, Directive)>,
}

impl<'r> PromptReader<'r> {
    /// The user's text in the current prompt, without directives.
    #[must_use]
    pub fn text(&self) -> String {
        let current = self.request.messages.iter().skip(self.current_from());
        let users = current.filter(|message| message.role == Role::User);
        let texts = users.map(|message| directive::without_directives(message.recorded()));
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The user's own words in the current prompt, without directives and without what it repeats or quotes of others.
    #[must_use]
    pub fn own_text(&self) -> String {
        let messages = self.request.messages.iter().enumerate();
        let current = messages.skip(self.current_from());
        let users = current.filter(|(_, message)| message.role == Role::User);
        let texts = users.map(|(index, message)| match self.authors.get(&index) {
            Some(authors) => Cow::Owned(authors.own_text(message.recorded())),
            None => {
                let text = message.recorded();
                let own = directive::external_from(text).map_or(text, |from| &text[..from]);
                directive::without_directives(own)
            }
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Whose words the messages repeat, as far as that isn't on record.
    #[must_use]
    pub fn authors_found(&self) -> Vec<AuthorFound> {
        let found = self.authors.iter().filter_map(|(index, authors)| {
            let message = self.request.messages[*index].content();
            authors.finding(message, self.received.opens_with(self.request, *index))
        });
        found.collect()
    }

    /// The code in the user's messages that weren't acted on before. A client's examples and quoted conversations aren't the
    /// user's words.
    #[must_use]
    pub fn pasted_code(&self) -> Vec<PastedCode> {
        let examples = self.request.example_count();
        let mut pasted = Vec::new();
        for (index, message) in self.new_user_messages() {
            if index < examples {
                continue;
            }
            let text = message.recorded();
            let pieces = MessagePieces::new([(message.content(), text.len())]);
            let source = match self.received.repetition {
                _ if index < self.current_from() => CodeSource::Context,
                PromptRepetition::First => CodeSource::CurrentPrompt,
                PromptRepetition::Regenerated | PromptRepetition::Ambiguous => {
                    CodeSource::RepeatedPrompt
                }
                PromptRepetition::Answered => CodeSource::Context,
            };
            let authors = self.authors.get(&index);
            let is_passed_on = directive::external_from(text).is_some();
            let found = found_code::find_users_code(self.code, text).into_iter();
            pasted.extend(found.map(|found| PastedCode {
                source: match authors {
                    _ if is_passed_on && source == CodeSource::CurrentPrompt => {
                        CodeSource::PassedOn
                    }
                    _ if is_passed_on => CodeSource::Another,
                    Some(authors) if authors.wrote_another(text, &found) => CodeSource::Another,
                    _ => source.clone(),
                },
                found,
                pieces: pieces.clone(),
            }));
        }
        pasted
    }

    /// The code in the current prompt, if it was sent before: it may not be true any more.
    #[must_use]
    pub fn repeated_code(&self) -> Vec<FoundCode> {
        let is_repeated = self.received.repetition != PromptRepetition::First;
        let message = self.current_message().filter(|_| is_repeated);
        message.map_or_else(Vec::new, |message| {
            found_code::find_users_code(self.code, message.recorded())
        })
    }

    /// The current prompt's directives; none if they took effect before.
    #[must_use]
    pub fn directives(&self) -> PromptDirectives {
        let mut directives = PromptDirectives::default();
        if self.received.repetition == PromptRepetition::Answered {
            return directives;
        }
        let messages = self.new_user_messages();
        // Those that stand elsewhere take nothing from those that are typed.
        let mut looked_at = 0;
        for (index, message) in messages.filter(|(index, _)| *index >= self.current_from()) {
            let authors = self.authors.get(&index);
            for line in directive::directive_lines(message.recorded()) {
                let is_over = looked_at >= DIRECTIVES_PER_PROMPT_MAX;
                let is_anothers =
                    !is_over && authors.is_some_and(|authors| authors.repeats(&line.range));
                for directive in line.directives {
                    looked_at += usize::from(line.is_typed);
                    let refusal = if line.is_typed && looked_at > DIRECTIVES_PER_PROMPT_MAX {
                        Some(Reason::TooManyDirectives)
                    } else if !line.is_typed || is_anothers {
                        Some(Reason::DirectiveNotTyped)
                    } else if directive.verb.grants() && !line.is_first {
                        Some(Reason::GrantNotFirst)
                    } else {
                        None
                    };
                    match refusal {
                        None => directives.typed.push(directive),
                        Some(reason) if directives.refused.iter().all(|(it, _)| *it != reason) => {
                            directives.refused.push((reason, directive));
                        }
                        Some(_) => {}
                    }
                }
            }
        }
        directives
    }

    /// Whether the current prompt holds code whose file nothing names, and which isn't pasted as an entity that is known.
    #[must_use]
    pub fn has_pathless_code(&self, pasted: &[PastedCode]) -> bool {
        let is_linked =
            |pasted: &PastedCode| pasted.found.path.is_none() && pasted.found.claims_an_entity();
        self.received.repetition != PromptRepetition::Answered
            && !pasted.iter().any(is_linked)
            && self.current_message().is_some_and(|message| {
                let prose = text_outside(message.recorded(), pasted);
                unfenced::has_pathless_code(self.code.grammars, &prose)
            })
    }

    /// The files that the client's messages name, at most [`OLDER_FILES_LOOKED_AT_MAX`], those of the newest messages first:
    /// what disk holds decides whether the code that the messages show is still true.
    #[must_use]
    pub fn files_in_messages(
        &self,
        view: &StateView<'_>,
        policy: &Policy,
        index: &mut TextIndex,
    ) -> BTreeSet<RelPath> {
        let code = self.code.view;
        let mut files = BTreeSet::new();
        let mut add_files = |hash: ArtifactHash, text: &str| {
            let facts = index.facts(hash, text);
            let paths = facts.paths();
            for path in paths.filter_map(|named| code.state.state_map().file_meant(named)) {
                if files.len() == OLDER_FILES_LOOKED_AT_MAX {
                    return ControlFlow::Break(());
                }
                files.insert(path);
            }
            ControlFlow::Continue(())
        };
        let mut add_all = || {
            let sessions = view.state.sessions();
            let mut exchanges = sessions.recent_exchanges(self.received.session);
            let shown_from = match receive::history_mode(policy) {
                History::Window if !exchanges.is_empty() => self.current_from(),
                _ => {
                    exchanges.clear();
                    0
                }
            };
            for message in self.request.messages.iter().skip(shown_from).rev() {
                for (text, hash) in message.texts().zip(message.text_hashes()) {
                    add_files(*hash, text)?;
                }
            }
            for exchange in exchanges.iter().rev() {
                for piece in exchange.assistant.iter().chain(&exchange.user).rev() {
                    if let Some(text) = code.artifact_content(*piece) {
                        add_files(*piece, &String::from_utf8_lossy(&text))?;
                    }
                }
            }
            if shown_from > 0 {
                let system = self.request.system_text();
                add_files(ArtifactHash::of(system.as_bytes()), &system)?;
            }
            ControlFlow::Continue(())
        };
        // A break says that there are enough.
        let _ = add_all();
        files
    }

    fn current_from(&self) -> usize {
        self.request.current_from()
    }

    /// The user's messages that weren't acted on before, with their index in the request.
    fn new_user_messages(&self) -> impl Iterator<Item = (usize, &'r ReadMessage)> {
        let messages = &self.request.messages;
        let new = self.received.new_user_messages.iter();
        let new = new.map(|index| (*index, &*messages[*index]));
        new.filter(|(_, message)| !capture::quotes_a_conversation(message.recorded()))
    }

    /// The message that the current prompt begins with, if it is the user's own.
    fn current_message(&self) -> Option<&'r ReadMessage> {
        let message = self.request.messages.get(self.current_from())?;
        let is_users =
            message.role == Role::User && !capture::quotes_a_conversation(message.recorded());
        is_users.then_some(&**message)
    }
}

/// The entities that a prompt names. A path that only says where pasted code belongs doesn't ask for the rest of the file;
/// code that is repeated asks for what is true of it now, and a prompt of a chat that names nothing for what the last one showed. Names in pasted code are left to the client's tools, if it has any.
#[must_use]
pub fn mentions(
    code: CodeReader<'_>,
    (text, tools): (&str, Tools),
    (pasted, repeated): (&[PastedCode], &[FoundCode]),
    shown_before: &[EntityId],
) -> Mentions {
    let text = match tools.read_files() {
        true => mention::outside_of_code(text),
        false => Cow::Borrowed(text),
    };
    let mut mentions = mention::scan(&text, code.at, code.view, shown_before);
    let pasted = pasted.iter().map(|pasted| &pasted.found);
    let places: BTreeSet<&RelPath> = pasted
        .chain(repeated)
        .filter_map(FoundCode::usable_path)
        .collect();
    // In a chat a name says which part of its file is meant. Agents are left the file.
    let has_part = |path: &RelPath| mentions.symbols.iter().any(|named| named.path == *path);
    let is_narrowed = |path: &RelPath| !tools.read_files() && has_part(path);
    (mentions.files).retain(|path| !places.contains(path) && !is_narrowed(path));
    for found in repeated {
        if let Some(path) = found.usable_path() {
            let symbols = found.symbols().into_iter();
            let entities = symbols.map(|symbol| EntityId::symbol(path.clone(), symbol.clone()));
            mentions.symbols.extend(entities);
        }
    }
    // "Now make it log" goes on about what was named last. Agents read again what they need.
    let is_unnamed = places.is_empty() && mentions == Mentions::default();
    if !tools.read_files() && is_unnamed && !text.trim().is_empty() {
        mentions.followed_up = shown_before.to_vec();
    }
    mentions
}

/// The user's own words in the session's last complete turn, without directives.
#[must_use]
pub fn last_own_words(view: &StateView<'_>, index: &mut TextIndex, session: SessionId) -> String {
    let texts = last_turn::last_texts(view, session).into_iter();
    let own = texts.map(|text| MessageAuthors::of(view, index, &text).own_text(&text));
    own.collect::<Vec<_>>().join("\n")
}

/// A prompt's text without the pasted code that names its file.
fn text_outside(text: &str, pasted: &[PastedCode]) -> String {
    let named = pasted.iter().filter(|pasted| pasted.found.path.is_some());
    let ranges = named.filter_map(|pasted| {
        let (range, code) = (pasted.found.verbatim.clone()?, &pasted.found.code);
        (text.get(range.clone()) == Some(code)).then_some(range)
    });
    slice::text_outside(text, ranges)
}
