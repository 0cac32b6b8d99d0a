//! The last episodes, for people: the prompt of each and the outcome of its reply (spec §14.3, `/recent`). What happened in them
//! is read from the ledger.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::event::{Event, History, PromptMeasured, Recorded, ReplyOutcome};
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_core::limits::RECENT_EPISODES_KEPT;

use crate::changes::Changes;
use crate::row::{EventAt, Keeps, Key as _, UnfitRow};
use crate::table::Value;

row! {
    /// `episodes`: the last episodes. Episode 0 holds everything outside of conversations: commands of the command line, and
    /// transitions that follow a look at the disk between prompts. Its time and position are those of the last of them.
    pub struct EpisodeRow in table "episodes", version 5;
    key {
        /// The episode.
        episode: EpisodeId,
    }
    values {
        /// Its session.
        session: SessionId,
        /// The time of its prompt.
        at_ms: UnixMillis,
        /// The position of its prompt.
        seq: Seq,
        /// The model that was asked for.
        model: String,
        /// The outcome of its reply, if that has ended.
        outcome: Option<ReplyOutcome>,
        /// Where the last that is known of it happened: its prompt, a sent prompt, its reply's end or an audit. What was concluded from
        /// that comes right after it.
        until: Seq,
        /// How its client calls itself; empty if it doesn't, or until its reply has ended.
        user_agent: String,
        /// Microseconds for which the prompt was kept, once its reply has ended.
        added_micros: Option<u32>,
        /// Tokens that the model reads at once, if the server says so.
        window: Option<u32>,
        /// The treatment of the conversation's history, once the prompt was composed.
        history: Option<History>,
        /// Characters of the prompt as the client wrote it, once its reply has ended.
        client_chars: Option<u32>,
        /// Those of them that the model server would have read anew.
        client_chars_anew: Option<u32>,
        /// Characters of the prompt as it was sent.
        sent_chars: Option<u32>,
        /// Those of them that the model server read anew.
        sent_chars_anew: Option<u32>,
        /// Tokens of the prompt, if the server says so, as with the next ones.
        prompt_tokens: Option<u32>,
        /// Tokens from its cache.
        cached_tokens: Option<u32>,
        /// Tokens that it read.
        evaluated_tokens: Option<u32>,
    }
}

/// The last [`RECENT_EPISODES_KEPT`] episodes.
#[derive(Default)]
pub struct Episodes {
    episodes: BTreeMap<EpisodeId, EpisodeRow>,
}

impl Episodes {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        if is_outside(recorded) {
            self.touch_outside(recorded, changes);
        }
        match &recorded.event {
            Event::PromptReceived(prompt) => {
                let episode = EpisodeRow::begin(recorded, &prompt.model);
                let known = self.episodes.insert(recorded.episode, episode).is_some();
                changes.touch::<EpisodeRow, _>(|| (recorded.episode,), known);
                self.evict_oldest(changes);
            }
            Event::ReplyEnded(ended) => self.update_episode(recorded.episode, changes, |episode| {
                episode.outcome = Some(ended.outcome);
                episode.until = recorded.seq;
            }),
            Event::PromptSent(_) | Event::AuditAnswered(_) => {
                self.update_episode(recorded.episode, changes, |episode| {
                    episode.until = recorded.seq;
                });
            }
            Event::PromptMeasured(measured) => {
                self.update_episode(recorded.episode, changes, |episode| {
                    episode.set_price(measured);
                });
            }
            Event::PromptComposed(composed) => {
                self.update_episode(recorded.episode, changes, |episode| {
                    episode.history = Some(composed.history);
                });
            }
            _ => {}
        }
    }

    /// The episodes that are kept, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &EpisodeRow> {
        self.episodes.values()
    }

    /// The model that an episode's prompt asked for, while the episode is kept.
    #[must_use]
    pub fn model_of(&self, episode: EpisodeId) -> Option<&str> {
        self.episodes.get(&episode).map(|row| &*row.model)
    }

    fn update_episode(
        &mut self,
        id: EpisodeId,
        changes: &mut Changes,
        change: impl FnOnce(&mut EpisodeRow),
    ) {
        if let Some(episode) = self.episodes.get_mut(&id) {
            change(episode);
            changes.touch::<EpisodeRow, _>(|| (id,), true);
        }
    }

    /// Records the time and the position of an event outside of any conversation.
    fn touch_outside(&mut self, recorded: &Recorded, changes: &mut Changes) {
        let id = EpisodeId::OUTSIDE;
        let episode = EpisodeRow::begin(recorded, "");
        let known = self.episodes.insert(id, episode).is_some();
        changes.touch::<EpisodeRow, _>(|| (id,), known);
    }

    fn evict_oldest(&mut self, changes: &mut Changes) {
        if self.episodes.len() <= RECENT_EPISODES_KEPT {
            return;
        }
        // Episode 0 is nobody's prompt, so it is never the oldest.
        let oldest = self
            .episodes
            .keys()
            .find(|id| **id != EpisodeId::OUTSIDE)
            .copied();
        let (id, _) = oldest
            .and_then(|id| self.episodes.remove_entry(&id))
            .expect("of more than one episode one isn't the outside");
        changes.touch::<EpisodeRow, _>(|| (id,), true);
    }
}

impl Keeps<EpisodeRow> for Episodes {
    fn visit_rows(&self, visit: &mut dyn FnMut(EpisodeRow)) {
        self.episodes.values().cloned().for_each(visit);
    }

    fn restore_row(&mut self, row: EpisodeRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        self.episodes.insert(row.episode, row);
        Ok(())
    }

    fn rows_beginning(&self, key: &[Value]) -> Vec<EpisodeRow> {
        let (episode,) = <(EpisodeId,)>::from_touched(key);
        self.episodes.get(&episode).cloned().into_iter().collect()
    }
}

/// Whether this event belongs to no conversation, and is a directive or a transition.
fn is_outside(recorded: &Recorded) -> bool {
    recorded.episode == EpisodeId::OUTSIDE
        && matches!(
            recorded.event,
            Event::DirectiveGiven(_) | Event::Transitioned(_) | Event::VersionsPromoted(_)
        )
}

impl EpisodeRow {
    fn begin(recorded: &Recorded, model: &str) -> Self {
        Self {
            episode: recorded.episode,
            session: recorded.session,
            at_ms: recorded.at,
            seq: recorded.seq,
            model: model.into(),
            outcome: None,
            until: recorded.seq,
            user_agent: String::new(),
            added_micros: None,
            window: None,
            history: None,
            client_chars: None,
            client_chars_anew: None,
            sent_chars: None,
            sent_chars_anew: None,
            prompt_tokens: None,
            cached_tokens: None,
            evaluated_tokens: None,
        }
    }

    fn set_price(&mut self, measured: &PromptMeasured) {
        let PromptMeasured {
            client,
            sent,
            server,
            reply_bytes: _,
            user_agent,
            added_micros,
            window,
        } = measured;
        self.user_agent.clone_from(user_agent);
        self.added_micros = *added_micros;
        self.window = *window;
        self.client_chars = Some(client.chars_total);
        self.client_chars_anew = Some(client.chars_anew);
        self.sent_chars = Some(sent.chars_total);
        self.sent_chars_anew = Some(sent.chars_anew);
        self.prompt_tokens = server.and_then(|server| server.prompt_tokens);
        self.cached_tokens = server.and_then(|server| server.cached_tokens);
        self.evaluated_tokens = server.and_then(|server| server.evaluated_tokens);
    }
}
