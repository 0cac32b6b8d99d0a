//! What people asked for last, and the calls that clients were asked for, with what came back: where the work stands is read from it.

use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::event::{Event, Recorded};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_core::message::Role;

use crate::row_map::RowMap;

/// Texts that are kept, the newest.
const TEXTS_KEPT: usize = 64;

/// Calls that are kept, the newest: enough for the last build and the last test run of an agent at work.
const CALLS_KEPT: usize = 256;

row! {
    /// `client_calls`: the last calls that replies asked their clients for.
    pub struct ClientCallRow in table "client_calls", version 2;
    key {
        /// The reply's end.
        seq: Seq,
        /// The call's place in the reply.
        place: u64,
    }
    values {
        /// The conversation.
        session: SessionId,
        /// The reply.
        episode: EpisodeId,
        /// The tool.
        name: String,
        /// Its arguments, in the Vault.
        arguments: ArtifactHash,
        /// When it was asked for.
        asked_at: UnixMillis,
        /// When the conversation's next request came; `None` as long as it is waited for.
        answered_at: Option<UnixMillis>,
        /// What came back, in the Vault, where it is known which result is whose.
        result: Option<ArtifactHash>,
    }
}

row! {
    /// `asked`: the texts of the last prompts that people wrote, those of the model's subagents left out.
    pub struct AskedRow in table "asked", version 1;
    key {
        /// The prompt.
        seq: Seq,
        /// The text's place in it.
        place: u64,
    }
    values {
        /// The conversation.
        session: SessionId,
        /// The episode.
        episode: EpisodeId,
        /// The text, in the Vault.
        text: ArtifactHash,
        /// When it was said.
        at_ms: UnixMillis,
    }
}

/// The last requests and calls.
#[derive(Default)]
pub struct AtHand {
    pub(crate) calls: RowMap<ClientCallRow>,
    pub(crate) asked: RowMap<AskedRow>,
}

impl AtHand {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        let (seq, session, at_ms) = (recorded.seq, recorded.session, recorded.at);
        match &recorded.event {
            Event::PromptReceived(prompt) => {
                let current = prompt.messages.current();
                let users = current.iter().filter(|it| it.role == Role::User);
                for (place, message) in (0..).zip(users) {
                    let row = AskedRow {
                        seq,
                        place,
                        session,
                        episode: recorded.episode,
                        text: message.content,
                        at_ms,
                    };
                    self.asked.put(row);
                }
                self.asked.keep_last(TEXTS_KEPT);
                let results = current.iter().rev();
                let results = results.take_while(|it| it.role == Role::Tool);
                let results: Vec<ArtifactHash> = results.map(|it| it.content).collect();
                self.answer_waiting(session, at_ms, &results);
            }
            Event::AuthorFound(found) if found.opens_subagent => {
                self.asked.forget(|row| row.session == session);
            }
            Event::ReplyEnded(ended) => {
                self.answer_waiting(session, at_ms, &[]);
                for (place, call) in (0..).zip(&ended.tool_calls) {
                    let row = ClientCallRow {
                        seq,
                        place,
                        session,
                        episode: recorded.episode,
                        name: call.name.clone(),
                        arguments: call.arguments,
                        asked_at: at_ms,
                        answered_at: None,
                        result: None,
                    };
                    self.calls.put(row);
                }
                self.calls.keep_last(CALLS_KEPT);
            }
            _ => {}
        }
    }

    fn waiting(&self, session: SessionId) -> impl Iterator<Item = &ClientCallRow> {
        let own = self.calls.values().filter(move |it| it.session == session);
        own.filter(|it| it.answered_at.is_none())
    }

    /// The conversation goes on; of its results the newest comes first.
    fn answer_waiting(&mut self, session: SessionId, at: UnixMillis, results: &[ArtifactHash]) {
        let waiting: Vec<ClientCallRow> = self.waiting(session).cloned().collect();
        // Which result is whose follows from their order, so only if there is one for each call.
        let is_paired = waiting.len() == results.len();
        for (place, mut call) in waiting.into_iter().rev().enumerate() {
            call.answered_at = Some(at);
            call.result = is_paired.then(|| results[place]);
            self.calls.put(call);
        }
    }

    /// Whether a conversation's last reply asks for tools whose results haven't come.
    #[must_use]
    pub fn awaits(&self, session: SessionId) -> bool {
        self.waiting(session).next().is_some()
    }

    /// The calls, newest last.
    pub fn calls(&self) -> impl DoubleEndedIterator<Item = &ClientCallRow> {
        self.calls.values()
    }

    /// What was asked, newest last.
    pub fn asked(&self) -> impl DoubleEndedIterator<Item = &AskedRow> {
        self.asked.values()
    }
}
