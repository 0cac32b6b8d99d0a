//! The last episodes, for people: the prompt of each and the outcome of its reply (spec §14.3, `/recent`). What happened in them
//! is read from the ledger.

use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::event::{Event, History, PromptMeasured, Recorded, ReplyOutcome};
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_core::limits::RECENT_EPISODES_KEPT;

use crate::row_map::RowMap;

row! {
    /// `episodes`: the last episodes. Episode 0 holds everything outside of conversations: commands of the command line, and
    /// transitions that follow a look at the disk between prompts. Its time and position are those of the last of them.
    pub struct EpisodeRow in table "episodes", version 7;
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
        /// Times that its prompt was sent and whose reply hasn't ended: a retry sends it again, and a session may go on before its last
        /// reply is over.
        attempts: u32,
        /// The outcome of its reply, if that has ended.
        outcome: Option<ReplyOutcome>,
        /// Where the last that is known of it happened: its prompt, a sent prompt, its reply's end or an audit. What was concluded from
        /// that comes right after it.
        until: Seq,
        /// The treatment of the conversation's history, once the prompt was composed.
        history: Option<History>,
        /// What it cost, once its reply has ended.
        measured: Option<PromptMeasured>,
    }
}

crate::stored_cells!(PromptMeasured);

/// The last [`RECENT_EPISODES_KEPT`] episodes.
#[derive(Default)]
pub struct Episodes {
    pub(crate) rows: RowMap<EpisodeRow>,
}

impl Episodes {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        if is_outside(recorded) {
            // Of what is outside of any conversation the time and the position are those of the last.
            self.rows.put(EpisodeRow::begin(recorded, ""));
        }
        match &recorded.event {
            Event::PromptReceived(prompt) => {
                self.rows.put(EpisodeRow::begin(recorded, &prompt.model));
                self.evict_oldest();
            }
            Event::ReplyEnded(ended) => self.update_episode(recorded.episode, |episode| {
                // An interrupted reply ends all attempts, because the process has stopped.
                episode.attempts = match ended.outcome {
                    ReplyOutcome::Interrupted => 0,
                    _ => episode.attempts.saturating_sub(1),
                };
                episode.outcome = Some(ended.outcome);
                episode.until = recorded.seq;
            }),
            Event::PromptSent(_) | Event::AuditAnswered(_) => {
                self.update_episode(recorded.episode, |episode| {
                    episode.until = recorded.seq;
                });
            }
            Event::PromptMeasured(measured) => {
                self.update_episode(recorded.episode, |episode| {
                    episode.measured = Some(measured.clone());
                });
            }
            Event::PromptComposed(composed) => {
                self.update_episode(recorded.episode, |episode| {
                    episode.attempts += 1;
                    episode.history = Some(composed.history);
                });
            }
            _ => {}
        }
    }

    /// The episodes that are kept, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &EpisodeRow> {
        self.rows.values()
    }

    /// Each prompt that is kept, with its session.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = (EpisodeId, SessionId)> {
        self.prompts().map(|row| (row.episode, row.session))
    }

    /// Episodes whose reply is still under way.
    #[must_use]
    pub fn in_flight(&self) -> Vec<EpisodeId> {
        let under_way = self.prompts().filter(|row| row.attempts > 0);
        under_way.map(|row| row.episode).collect()
    }

    fn prompts(&self) -> impl DoubleEndedIterator<Item = &EpisodeRow> {
        // Episode 0 is nobody's.
        let rows = self.rows.values();
        rows.filter(|row| row.episode != EpisodeId::OUTSIDE)
    }

    /// The model that an episode's prompt asked for, while the episode is kept.
    #[must_use]
    pub fn model_of(&self, episode: EpisodeId) -> Option<&str> {
        self.rows.get(&(episode,)).map(|row| &*row.model)
    }

    fn update_episode(&mut self, id: EpisodeId, change: impl FnOnce(&mut EpisodeRow)) {
        self.rows.get_mut(&(id,)).map(change);
    }

    fn evict_oldest(&mut self) {
        let oldest = self.prompts().nth_back(RECENT_EPISODES_KEPT);
        if let Some(oldest) = oldest.map(|row| row.episode) {
            self.rows.remove(&(oldest,));
        }
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
            attempts: 0,
            outcome: None,
            until: recorded.seq,
            history: None,
            measured: None,
        }
    }
}
