//! A recorded prompt's relation to the conversations before it, as [`receive`] determined it when the prompt came in.

use alloc::vec::Vec;

use tslp_core::event::{Event, MessageRef, PromptReceived, Recorded};
use tslp_core::extract::Grammars;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::SessionId;
use tslp_core::message::{Attempt, Role};
use tslp_decide::prompt::receive::{self, PromptRepetition};
use tslp_projections::sessions::SessionPosition;

use super::Engine;
use tslp_projections::store::Store;

/// A prompt's relation to the conversations on record.
pub(crate) struct PromptStanding {
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
            return PromptStanding {
                repetition: PromptRepetition::Answered,
                new_user_messages: Vec::new(),
            };
        }
        let is_new = |content: ArtifactHash| {
            let mut events = step.iter().map(|recorded| &recorded.event);
            events.any(|event| matches!(event, Event::Content(new) if new.hash == content))
        };
        let behind = if older == 0 { None } else { behind() };
        let repetition = self.repetition(session, prompt, current, is_new, behind);
        let messages = prompt.messages.iter().enumerate();
        let users = messages.filter(|(_, message)| message.role == Role::User);
        let acts = |index: usize, content| {
            index < prompt.messages.older_count()
                || repetition != PromptRepetition::Answered
                || is_new(content)
        };
        PromptStanding {
            repetition,
            new_user_messages: users
                .filter(|(index, message)| acts(*index, message.content))
                .map(|(index, _)| index)
                .collect(),
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
