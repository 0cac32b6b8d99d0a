//! The last episodes, for people: the prompt of each and the outcome of its reply (spec §14.3, `/recent`). What happened in them
//! is read from the ledger: see [`crate::episode_entries`].

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use tslp_core::event::{
    Event, History, PromptCost, PromptMeasured, Recorded, ReplyOutcome, ServerUsage,
};
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_core::limits::RECENT_EPISODES_KEPT;

use crate::table::{
    Changes, Column, ColumnType, Keep, LateRows, RowCells, Table, UnfitRow, Value, column, nullable,
};

const COLUMNS: &[Column] = &[
    column("episode", ColumnType::Integer),
    column("session", ColumnType::Integer),
    column("at_ms", ColumnType::Integer),
    column("seq", ColumnType::Integer),
    column("model", ColumnType::Text),
    nullable("outcome", ColumnType::Text),
    nullable("history", ColumnType::Text),
    nullable("client_chars", ColumnType::Integer),
    nullable("client_chars_anew", ColumnType::Integer),
    nullable("sent_chars", ColumnType::Integer),
    nullable("sent_chars_anew", ColumnType::Integer),
    nullable("prompt_tokens", ColumnType::Integer),
    nullable("cached_tokens", ColumnType::Integer),
    nullable("evaluated_tokens", ColumnType::Integer),
];

/// `episodes`: the last episodes. Episode 0 holds everything outside of conversations: commands of the command line, and
/// transitions that follow a look at the disk between prompts. Its time and position are those of the last of them.
pub const TABLE: Table = Table {
    name: "episodes",
    version: 4,
    columns: COLUMNS,
    key: 1,
    keep: Keep::Latest,
};

/// One prompt and its reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Episode {
    /// Its session.
    pub session: SessionId,
    /// The time of its prompt.
    pub at: UnixMillis,
    /// The position of its prompt.
    pub seq: Seq,
    /// The model that was asked for.
    pub model: String,
    /// The outcome of its reply, if that has ended.
    pub outcome: Option<ReplyOutcome>,
    /// The treatment of the conversation's history, once the prompt was composed.
    pub history: Option<History>,
    /// The cost of the prompt at the model server, once its reply has ended.
    pub price: Option<PromptMeasured>,
}

/// The last [`RECENT_EPISODES_KEPT`] episodes.
#[derive(Default)]
pub struct Episodes {
    episodes: BTreeMap<EpisodeId, Episode>,
}

impl Episodes {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        if is_outside(&recorded.event) {
            self.touch_outside(recorded, changes);
        }
        match &recorded.event {
            Event::PromptReceived(prompt) => {
                let episode = Episode::begin(prompt.session, recorded, prompt.model.clone());
                let known = self.episodes.insert(prompt.episode, episode).is_some();
                changes.touch(|| LateRows::Episode(prompt.episode), known);
                self.evict_oldest(changes);
            }
            Event::ReplyEnded(ended) => self.update_episode(ended.episode, changes, |episode| {
                episode.outcome = Some(ended.outcome);
            }),
            Event::PromptMeasured(measured) => {
                self.update_episode(measured.episode, changes, |episode| {
                    // Figures that a server didn't give are the same as none.
                    let server = measured
                        .server
                        .filter(|server| *server != ServerUsage::default());
                    episode.price = Some(PromptMeasured {
                        server,
                        ..*measured
                    });
                })
            }
            Event::PromptComposed(composed) => {
                self.update_episode(composed.episode, changes, |episode| {
                    episode.history = Some(composed.history);
                });
            }
            _ => {}
        }
    }

    fn update_episode(
        &mut self,
        id: EpisodeId,
        changes: &mut Changes,
        change: impl FnOnce(&mut Episode),
    ) {
        if let Some(episode) = self.episodes.get_mut(&id) {
            change(episode);
            changes.touch(|| LateRows::Episode(id), true);
        }
    }

    /// Records the time and the position of an event outside of any conversation.
    fn touch_outside(&mut self, recorded: &Recorded, changes: &mut Changes) {
        let id = EpisodeId::OUTSIDE;
        let episode = Episode::begin(SessionId::default(), recorded, String::new());
        let known = self.episodes.insert(id, episode).is_some();
        changes.touch(|| LateRows::Episode(id), known);
    }

    fn evict_oldest(&mut self, changes: &mut Changes) {
        if self.episodes.len() <= RECENT_EPISODES_KEPT {
            return;
        }
        let oldest = self
            .episodes
            .keys()
            .find(|id| **id != EpisodeId::OUTSIDE)
            .copied();
        let (id, _) = oldest
            .and_then(|id| self.episodes.remove_entry(&id))
            .expect("of more than one episode one isn't the outside");
        changes.touch(|| LateRows::Episode(id), true);
    }

    /// The row of an episode in `episodes`.
    #[must_use]
    pub fn row(&self, id: EpisodeId) -> Option<Vec<Value>> {
        self.episodes.get(&id).map(|episode| row(id, episode))
    }

    /// All rows of `episodes`, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        self.episodes
            .iter()
            .map(|(id, episode)| row(*id, episode))
            .for_each(visit);
    }

    /// Restores a row of `episodes`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let id = cells.next()?;
        let mut episode = Episode {
            session: cells.next()?,
            at: cells.next()?,
            seq: cells.next()?,
            model: cells.next()?,
            outcome: None,
            history: None,
            price: None,
        };
        let outcome: Option<&str> = cells.next()?;
        episode.outcome = outcome.map(parse_outcome).transpose()?;
        let history: Option<&str> = cells.clone().next()?;
        episode.history = match history {
            None => cells.next::<Option<&str>>()?.and(None),
            Some(_) => Some(cells.word(&[History::Window, History::Client], history_code)?),
        };
        let mut cost = || -> Result<Option<PromptCost>, UnfitRow> {
            let (total, anew) = (cells.next::<Option<_>>()?, cells.next::<Option<_>>()?);
            let cost = total.zip(anew);
            Ok(cost.map(|(chars_total, chars_anew)| PromptCost {
                chars_total,
                chars_anew,
            }))
        };
        let (client, sent) = (cost()?, cost()?);
        let server = ServerUsage {
            prompt_tokens: cells.next()?,
            cached_tokens: cells.next()?,
            evaluated_tokens: cells.next()?,
        };
        episode.price = client.zip(sent).map(|(client, sent)| PromptMeasured {
            episode: id,
            client,
            sent,
            server: Some(server).filter(|server| *server != ServerUsage::default()),
        });
        self.episodes.insert(id, episode);
        Ok(())
    }
}

/// Whether this event belongs to no conversation, and is a directive or a transition.
const fn is_outside(event: &Event) -> bool {
    let episode = match event {
        Event::DirectiveGiven(given) => given.episode,
        Event::Transitioned(moved) => moved.episode,
        _ => return false,
    };
    episode.0 == EpisodeId::OUTSIDE.0
}

impl Episode {
    const fn begin(session: SessionId, recorded: &Recorded, model: String) -> Self {
        Self {
            session,
            at: recorded.envelope.at,
            seq: recorded.envelope.seq,
            model,
            outcome: None,
            history: None,
            price: None,
        }
    }
}

fn row(id: EpisodeId, episode: &Episode) -> Vec<Value> {
    let price = episode.price.as_ref();
    let cost = |cost: Option<PromptCost>| {
        let chars = cost.map(|cost| (cost.chars_total, cost.chars_anew));
        let (chars_total, chars_anew) = chars.unzip();
        [Value::from(chars_total), Value::from(chars_anew)]
    };
    let server = price.and_then(|price| price.server).unwrap_or_default();
    let mut row = Vec::from([
        Value::from(id.0),
        Value::from(episode.session.0),
        Value::from(episode.at.0),
        Value::from(episode.seq.0),
        Value::text(&episode.model),
        Value::from(episode.outcome.map(outcome_text)),
        Value::from(episode.history.map(history_code)),
    ]);
    row.extend(cost(price.map(|price| price.client)));
    row.extend(cost(price.map(|price| price.sent)));
    row.extend([
        Value::from(server.prompt_tokens),
        Value::from(server.cached_tokens),
        Value::from(server.evaluated_tokens),
    ]);
    row
}

const fn history_code(history: History) -> &'static str {
    match history {
        History::Window => "window",
        History::Client => "client",
    }
}

fn outcome_text(outcome: ReplyOutcome) -> Cow<'static, str> {
    match outcome {
        ReplyOutcome::Completed => "completed".into(),
        ReplyOutcome::ClientGone => "client_gone".into(),
        ReplyOutcome::UpstreamBroken => "upstream_broken".into(),
        ReplyOutcome::UpstreamRefused(status) => alloc::format!("upstream_refused_{status}").into(),
        ReplyOutcome::UpstreamUnreachable => "upstream_unreachable".into(),
        ReplyOutcome::Interrupted => "interrupted".into(),
    }
}

fn parse_outcome(text: &str) -> Result<ReplyOutcome, UnfitRow> {
    let plain = [
        ReplyOutcome::Completed,
        ReplyOutcome::ClientGone,
        ReplyOutcome::UpstreamBroken,
        ReplyOutcome::UpstreamUnreachable,
        ReplyOutcome::Interrupted,
    ];
    let status = text.strip_prefix("upstream_refused_");
    let refused = status.and_then(|status| status.parse().ok());
    let mut plain = plain.into_iter();
    let known = plain.find(|outcome| outcome_text(*outcome) == text);
    known
        .or(refused.map(ReplyOutcome::UpstreamRefused))
        .ok_or(UnfitRow("an outcome isn't known"))
}

impl fmt::Display for Episodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, episode) in &self.episodes {
            let outcome = episode.outcome.map_or_else(|| "open".into(), outcome_text);
            writeln!(
                f,
                "{id} {} {outcome} {}",
                episode.session,
                episode.history.map_or("-", history_code)
            )?;
            if let Some(price) = &episode.price {
                let (sent, client) = (price.sent.chars_anew, price.client.chars_anew);
                writeln!(f, "  read anew {sent}, directly {client}")?;
            }
        }
        Ok(())
    }
}
