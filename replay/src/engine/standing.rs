//! A recorded prompt's relation to the conversations before it, as [`receive`] determined it when the prompt came in.

use alloc::vec::Vec;

use tslp_core::event::{Event, Fork, MessageRef, PromptReceived, Recorded};
use tslp_core::extract::Grammars;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::SessionId;
use tslp_core::message::{Attempt, Role};
use tslp_decide::receive::{self, PromptRepetition};
use tslp_projections::sessions::SessionPosition;

use super::Engine;
use tslp_projections::store::Store;

/// A prompt's relation to the conversations on record.
pub(crate) struct PromptStanding {
    /// Whether all of its older messages belong to its own session.
    pub(super) is_own: bool,
    /// Whether the user's message is new, sent again, or ambiguous.
    pub(super) repetition: PromptRepetition,
    /// Indices into the recorded messages: user messages whose code may be a new paste.
    pub(super) new_user_messages: Vec<usize>,
}

impl<G: Grammars, S: Store> Engine<G, S> {
    /// Determines a prompt's relation to the conversations. Must be called before the prompt is folded, because folding
    /// makes it part of them. `step` holds the recorded events of the prompt's step.
    pub(crate) fn prompt_standing(
        &self,
        session: SessionId,
        prompt: &PromptReceived,
        attempt: Attempt,
        step: &[Recorded],
    ) -> PromptStanding {
        let current = prompt.messages.current();
        let length = u32::try_from(current.len()).unwrap_or(u32::MAX);
        let older = prompt.length.saturating_sub(length);
        let behind = || {
            let keys = current.iter().map(|message| message.key);
            let sessions = self.state.sessions();
            let point = sessions.leading_to(prompt.transcript, older, keys)?;
            Some(point.place)
        };
        if attempt == Attempt::Retry {
            let is_plain = self.state.sessions().is_plain(session);
            return PromptStanding {
                is_own: is_plain && (older == 0 || behind().is_some()),
                repetition: PromptRepetition::Answered,
                new_user_messages: Vec::new(),
            };
        }
        let is_new = |content: ArtifactHash| {
            let mut events = step.iter().map(|recorded| &recorded.event);
            events.any(|event| matches!(event, Event::Content(new) if new.hash == content))
        };
        let behind = if older == 0 { None } else { behind() };
        let is_covered = older == 0 || behind.is_some();
        let repetition = self.repetition(session, prompt, current, is_new, behind);
        let messages = prompt.messages.iter().enumerate();
        let users = messages.filter(|(_, message)| message.role == Role::User);
        let acts = |index: usize, content| {
            index < prompt.messages.older_count()
                || repetition != PromptRepetition::Answered
                || is_new(content)
        };
        PromptStanding {
            is_own: repetition != PromptRepetition::Answered
                && self.is_own(session, prompt.fork, older, is_covered),
            repetition,
            new_user_messages: users
                .filter(|(index, message)| acts(*index, message.content))
                .map(|(index, _)| index)
                .collect(),
        }
    }

    fn is_own(&self, session: SessionId, fork: Option<Fork>, older: u32, is_covered: bool) -> bool {
        let sessions = self.state.sessions();
        match fork {
            Some(_) => false,
            None if !sessions.contains(session) => older == 0,
            None => sessions.is_plain(session) && is_covered,
        }
    }

    fn repetition(
        &self,
        session: SessionId,
        prompt: &PromptReceived,
        current: &[MessageRef],
        is_new: impl Fn(ArtifactHash) -> bool,
        behind: Option<SessionPosition>,
    ) -> PromptRepetition {
        let Some(words) = current.first().filter(|first| first.role == Role::User) else {
            return PromptRepetition::First;
        };
        let is_known = !is_new(words.content);
        let roles = current.iter().map(|message| message.role);
        if receive::is_answered(roles, is_known) {
            return PromptRepetition::Answered;
        }
        let was_said = is_known && self.view().vault_holds_message(words.content);
        let session = prompt.fork.map_or(session, |fork| fork.session);
        let sessions = self.state.sessions();
        let was_prompted = sessions.was_prompted(session, prompt.length, words.content);
        receive::repetition_at_position(was_said, behind, was_prompted)
    }
}
