//! What stands in a message: code, directives, names.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::ControlFlow;

use tslp_core::capture;
use tslp_core::decide::direct::ResolvedDirective;
use tslp_core::decide::found_code::{self, FoundCode, MessageEnd};
use tslp_core::decide::hydrate;
use tslp_core::decide::promote::MessagePieces;
use tslp_core::decide::receive::{self, PromptRepetition, ReceivedPrompt};
use tslp_core::decide::reply::Reply;
use tslp_core::decide::touch;
use tslp_core::decide::unfenced;
use tslp_core::decide::write_head::CodeSource;
use tslp_core::directive;
use tslp_core::entity::EntityId;
use tslp_core::event::{History, ReplyOutcome};
use tslp_core::extract::Grammars;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, SessionId, UnixMillis};
use tslp_core::limits::OLDER_FILES_LOOKED_AT_MAX;
use tslp_core::mention::{self, Mentions};
use tslp_core::message::{Request, Role, ToolCall, Tools};
use tslp_core::path::RelPath;
use tslp_core::slice;
use tslp_core::view::View;

use super::Engine;
use crate::pending::{Checks, DiskCheck, Examined, Paste, PendingReply, Work};
use crate::store::Store;

impl<G: Grammars, S: Store> Engine<G, S> {
    /// Finds the code, the directives and the names in a prompt that is recorded, and says what to look at.
    pub(super) fn examine(
        &mut self,
        at: UnixMillis,
        request: &Request,
        received: &ReceivedPrompt,
        work: &mut Work,
    ) -> (ToLookAt, Examined) {
        let pastes = self.pastes(request, received);
        let orders = self.orders(at, request, received, work);
        let prompt = prompt_text(request);
        let repeated = self.repeated(request, received);
        let lately = self.shown_lately(received.session);
        let mentions = self.mentions(&prompt, request.tools, (&pastes, &repeated), &lately);
        let mut checks = Checks::default();
        for paste in &pastes {
            checks.add_code(&self.view(), &paste.found);
        }
        let candidates =
            hydrate::hydration_candidates(&self.view(), received.session, &mentions, request.tools);
        for (entity, _) in candidates {
            checks.add(&self.view(), &entity.path);
        }
        for path in self.files_in_messages(request, received) {
            checks.add(&self.view(), &path);
        }
        let reads: Vec<RelPath> = accepted(&orders).cloned().collect();
        for path in &reads {
            checks.add(&self.view(), path);
        }
        // What disk holds when the user decides is what they decide over.
        for entity in orders.iter().filter_map(|order| order.entity.as_ref().ok()) {
            checks.add(&self.view(), &entity.path);
        }
        let mut touches = match received.repetition {
            // What the user said before was looked at then; since then the model may have changed it.
            PromptRepetition::Answered => Vec::new(),
            PromptRepetition::First
            | PromptRepetition::Regenerated
            | PromptRepetition::Ambiguous => touch::by_prompt(self.reading(&self.view()), &prompt),
        };
        touches.retain(|path| !reads.contains(path));
        let aftermath = match request.tools {
            Tools::Offered => self.view().refused_files(received.session),
            Tools::None => Vec::new(),
        };
        for path in &aftermath {
            checks.add(&self.view(), path);
        }
        let to_look_at = ToLookAt {
            checks: checks.into_vec(),
            reads,
            touches,
            aftermath,
        };
        let examined = Examined {
            is_without_path: self.is_without_path(request, received, &pastes),
            prompt,
            pastes,
            repeated,
            orders,
        };
        (to_look_at, examined)
    }

    /// The files that the client's messages name, the newest first: disk decides whether what they show is still so.
    fn files_in_messages(&self, request: &Request, received: &ReceivedPrompt) -> BTreeSet<RelPath> {
        let view = self.view();
        let mut index = self.index.borrow_mut();
        let mut files = BTreeSet::new();
        let mut add = |hash: ArtifactHash, text: &str| {
            let facts = index.facts(hash, text);
            let paths = facts.paths();
            for path in paths.filter_map(|named| view.file_meant(named)) {
                if files.len() == OLDER_FILES_LOOKED_AT_MAX {
                    return ControlFlow::Break(());
                }
                files.insert(path);
            }
            ControlFlow::Continue(())
        };
        let mut add_all = || {
            if receive::history_mode(&self.policy, request.tools, received.is_own)
                == History::Window
            {
                for exchange in view.recent(received.session).iter().rev() {
                    for piece in exchange.assistant.iter().chain(&exchange.user).rev() {
                        let text = view.content(*piece).unwrap_or_default();
                        add(*piece, &String::from_utf8_lossy(&text))?;
                    }
                }
                let system = receive::system_text(request);
                return add(ArtifactHash::of(system.as_bytes()), &system);
            }
            for message in request.messages.iter().rev() {
                for (text, hash) in message.texts().zip(message.text_hashes()) {
                    add(*hash, text)?;
                }
            }
            ControlFlow::Continue(())
        };
        // Files that are named in front of so many others aren't looked at.
        let _ = add_all();
        files
    }

    /// Finds the code in a reply that is recorded, and says what to look at.
    pub(super) fn read_reply(
        &self,
        at: UnixMillis,
        episode: EpisodeId,
        reply: Reply,
        outcome: ReplyOutcome,
        work: Work,
    ) -> PendingReply {
        let cut = if reply.finish_reason.as_deref() == Some("length") {
            MessageEnd::CutShort
        } else {
            MessageEnd::Whole
        };
        // The reply to a request beside the conversations is nobody's proposal.
        let is_of_session = self.view().session_of(episode).is_some();
        let is_judged = outcome == ReplyOutcome::Completed && is_of_session;
        let (found, touches) = if is_judged {
            let found = self.find(&reply.text, &reply.tool_calls, cut);
            let view = self.view();
            let touches =
                touch::by_reply(self.reading(&view), &reply.text, &reply.tool_calls, &found);
            (found, touches)
        } else {
            (Vec::new(), Vec::new())
        };
        let mut checks = Checks::default();
        for found in &found {
            checks.add_code(&self.view(), found);
        }
        PendingReply {
            checks: checks.into_vec(),
            touches,
            measured: None,
            at,
            episode,
            text: match is_judged {
                true => reply.text,
                false => String::new(),
            },
            found,
            containers: MessagePieces::new(reply.segments),
            work,
        }
    }

    /// What the user said in the session's last complete turn.
    pub(super) fn asked(&self, session: SessionId) -> String {
        let view = self.view();
        let exchange = view.recent(session).pop().unwrap_or_default();
        let texts: Vec<String> = exchange
            .user
            .iter()
            .filter_map(|content| String::from_utf8(view.content(*content)?).ok())
            .collect();
        directive::without_directives(&texts.join("\n")).into_owned()
    }

    /// What the user's words say around the code in them.
    pub(super) fn words_around_code(&self, text: &str) -> String {
        let view = self.view();
        found_code::text_around_code(self.reading(&view), text)
    }

    fn find(&self, text: &str, tool_calls: &[ToolCall], end: MessageEnd) -> Vec<FoundCode> {
        let view = self.view();
        found_code::find_code(self.reading(&view), text, tool_calls, end)
    }

    fn find_users(&self, text: &str) -> Vec<FoundCode> {
        let view = self.view();
        found_code::find_users_code(self.reading(&view), text)
    }

    /// Whether the current prompt's words hold code of which nothing names the file, and which nobody has heard of.
    fn is_without_path(
        &self,
        request: &Request,
        received: &ReceivedPrompt,
        pastes: &[Paste],
    ) -> bool {
        let is_told = |paste: &Paste| paste.found.path.is_none() && paste.found.claims_an_entity();
        let at = request.current_from();
        let words = request.messages.get(at).filter(|message| {
            message.role == Role::User && !capture::quotes_a_conversation(message.recorded())
        });
        received.repetition != PromptRepetition::Answered
            && !pastes.iter().any(is_told)
            && words.is_some_and(|words| {
                let said = prose(words.recorded(), pastes);
                unfenced::is_without_path(&self.grammars, &said)
            })
    }

    fn pastes(&self, request: &Request, received: &ReceivedPrompt) -> Vec<Paste> {
        let examples = capture::examples(&request.messages);
        let current_from = request.current_from();
        let mut pastes = Vec::new();
        for index in received
            .new_user_messages
            .iter()
            .copied()
            .filter(|index| *index >= examples)
        {
            let message = &request.messages[index];
            let text = message.recorded();
            if capture::quotes_a_conversation(text) {
                continue;
            }
            let containers = MessagePieces::new([(message.content(), text.len())]);
            let place = match received.repetition {
                PromptRepetition::First if index >= current_from => CodeSource::CurrentPrompt,
                PromptRepetition::Regenerated | PromptRepetition::Ambiguous
                    if index >= current_from =>
                {
                    CodeSource::RepeatedPrompt
                }
                _ => CodeSource::Context,
            };
            pastes.extend(self.find_users(text).into_iter().map(|found| Paste {
                found,
                containers: containers.clone(),
                place: place.clone(),
            }));
        }
        pastes
    }

    /// The code in the current prompt's words, if they were said before: it may not be true any more.
    fn repeated(&self, request: &Request, received: &ReceivedPrompt) -> Vec<FoundCode> {
        let at = request.current_from();
        let words = request.messages.get(at).filter(|message| {
            message.role == Role::User
                && received.repetition != PromptRepetition::First
                && !capture::quotes_a_conversation(message.recorded())
        });
        words.map_or_else(Vec::new, |words| self.find_users(words.recorded()))
    }

    /// What the session's prompt before showed.
    pub(super) fn shown_lately(&self, session: SessionId) -> Vec<EntityId> {
        let before = self.view().turn_before(session);
        before.map(|turn| turn.shown).unwrap_or_default()
    }

    /// What the current prompt names. A path that only says where pasted code belongs doesn't ask for the rest of the
    /// file; code that is repeated asks for what is true of it by now. What pasted code calls is left to the client's tools,
    /// if it has any.
    pub(super) fn mentions(
        &self,
        prompt: &str,
        tools: Tools,
        (pastes, repeated): (&[Paste], &[FoundCode]),
        lately: &[EntityId],
    ) -> Mentions {
        let words = match tools {
            Tools::Offered => mention::outside_of_code(prompt),
            Tools::None => Cow::Borrowed(prompt),
        };
        let mut mentions = mention::scan(&words, &self.policy.workspace_root, &self.view(), lately);
        let pasted = pastes.iter().map(|paste| &paste.found);
        let places: BTreeSet<&RelPath> = pasted
            .chain(repeated)
            .filter_map(FoundCode::usable_path)
            .collect();
        mentions.files.retain(|path| !places.contains(path));
        for found in repeated {
            let Some(path) = found.usable_path() else {
                continue;
            };
            let symbols = found.symbols().into_iter();
            let entities = symbols.map(|symbol| EntityId::symbol(path.clone(), symbol.clone()));
            mentions.symbols.extend(entities);
        }
        mentions
    }

    /// Records the current prompt's directives and says what they are about.
    fn orders(
        &mut self,
        at: UnixMillis,
        request: &Request,
        received: &ReceivedPrompt,
        work: &mut Work,
    ) -> Vec<ResolvedDirective> {
        let current_from = request.current_from();
        let mut orders = Vec::new();
        if received.repetition == PromptRepetition::Answered {
            return orders;
        }
        for index in received
            .new_user_messages
            .iter()
            .filter(|index| **index >= current_from)
        {
            let text = request.messages[*index].recorded();
            if capture::quotes_a_conversation(text) {
                continue;
            }
            for directive in directive::directives_in(text) {
                orders.push(self.order(at, received.episode, directive, received.repetition, work));
            }
        }
        orders
    }
}

/// What to look at before a prompt goes on.
pub(super) struct ToLookAt {
    pub(super) checks: Vec<DiskCheck>,
    pub(super) reads: Vec<RelPath>,
    pub(super) touches: Vec<RelPath>,
    pub(super) aftermath: Vec<RelPath>,
}

/// What the user says in the current prompt, without directives.
fn prompt_text(request: &Request) -> String {
    let current = request.messages.iter().skip(request.current_from());
    let said: Vec<&str> = current
        .filter(|message| message.role == Role::User)
        .map(|message| message.recorded())
        .collect();
    directive::without_directives(&said.join("\n")).into_owned()
}

/// A prompt's words without the code that names its file.
fn prose(text: &str, pastes: &[Paste]) -> String {
    let named = pastes.iter().filter(|paste| paste.found.path.is_some());
    let found = named.filter_map(|paste| {
        let (range, code) = (paste.found.verbatim.clone()?, &paste.found.code);
        (text.get(range.clone()) == Some(code)).then_some(range)
    });
    slice::text_outside(text, found)
}

/// The files that the user accepts, in order.
fn accepted(orders: &[ResolvedDirective]) -> impl Iterator<Item = &RelPath> {
    orders.iter().filter_map(ResolvedDirective::accepts)
}
