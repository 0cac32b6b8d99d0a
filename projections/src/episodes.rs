//! The last episodes, for people: the events and the outcome of each (spec §14.3, `/recent`).

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use tslp_core::artifact::{ArtifactState, Level, Origin};
use tslp_core::entity::EntityId;
use tslp_core::event::{
    AuditStatus, Event, History, PromptCost, PromptMeasured, Recorded, ReplyOutcome, ServerUsage,
};
use tslp_core::gate::Completeness;
use tslp_core::ids::{EpisodeId, SessionId, UnixMillis};
use tslp_core::limits::RECENT_EPISODES_KEPT;
use tslp_core::reason::Reason;

use crate::table::{
    Changes, Column, ColumnType, Keep, LateRows, RowCells, Table, UnfitRow, Value, column, nullable,
};

const COLUMNS: &[Column] = &[
    column("episode", ColumnType::Integer),
    column("session", ColumnType::Integer),
    column("at_ms", ColumnType::Integer),
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
/// transitions that follow a look at the disk between prompts. Its time is that of the last of them.
pub const TABLE: Table = Table {
    name: "episodes",
    version: 3,
    columns: COLUMNS,
    key: 1,
    keep: Keep::Latest,
};

const ENTRY_COLUMNS: &[Column] = &[
    column("episode", ColumnType::Integer),
    column("position", ColumnType::Integer),
    column("what", ColumnType::Text),
    nullable("path", ColumnType::Text),
    nullable("symbol", ColumnType::Text),
    column("reason", ColumnType::Text),
];

/// `episode_entries`: the entries of the episodes, in order.
pub const ENTRIES_TABLE: Table = Table {
    name: "episode_entries",
    version: 3,
    columns: ENTRY_COLUMNS,
    key: 2,
    keep: Keep::Latest,
};

/// Most entries kept of one episode; the rest is in the ledger.
const ENTRIES_PER_EPISODE: usize = 64;

/// One prompt and its reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Episode {
    /// Its session.
    pub session: SessionId,
    /// The time of its prompt.
    pub at: UnixMillis,
    /// The model that was asked for.
    pub model: String,
    /// The outcome of its reply, if that has ended.
    pub outcome: Option<ReplyOutcome>,
    /// The treatment of the conversation's history, once the prompt was composed.
    pub history: Option<History>,
    /// The cost of the prompt at the model server, once its reply has ended.
    pub price: Option<PromptMeasured>,
    /// Its entries.
    pub entries: VecDeque<EpisodeEntry>,
    /// The position of the first entry.
    pub first: u64,
}

/// One event of an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeEntry {
    /// The kind of event, one of [`WORDS`].
    pub what: &'static str,
    /// The entity concerned.
    pub entity: Option<EntityId>,
    /// The reason.
    pub reason: Reason,
}

/// All values of an entry's `what`.
pub const WORDS: &[&str] = &[
    "hydrated",
    "withheld",
    "audit",
    "notice",
    Level::Unresolved.as_str(),
    Level::Inferred.as_str(),
    Level::Confirmed.as_str(),
    ArtifactState::Proposed.as_str(),
    ArtifactState::Authoritative.as_str(),
    ArtifactState::Superseded.as_str(),
    ArtifactState::Tombstoned.as_str(),
];

/// The last [`RECENT_EPISODES_KEPT`] episodes.
#[derive(Default)]
pub struct Episodes {
    episodes: BTreeMap<EpisodeId, Episode>,
    /// The episode and the file of the last captured block.
    captured: Option<CapturedBlock>,
}

/// A captured block whose resolution comes next.
struct CapturedBlock {
    episode: EpisodeId,
    /// The file, if a usable path was named.
    file: Option<EntityId>,
    /// The reason why none of it becomes true, if the text alone shows it: such code of the user's is never judged.
    not_whole: Option<Reason>,
}

impl Episodes {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        if is_outside(&recorded.event) {
            self.touch_outside(recorded.at, changes);
        }
        match &recorded.event {
            Event::PromptReceived(prompt) => {
                let episode = Episode::new(prompt.session, recorded.at, prompt.model.clone());
                let known = self.episodes.contains_key(&prompt.episode);
                changes.touch(|| LateRows::Episode(prompt.episode), known);
                if let Some(old) = self.episodes.insert(prompt.episode, episode) {
                    remove_entries(prompt.episode, &old, changes);
                }
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
                for hydrated in &composed.hydrated {
                    self.add_entry(
                        composed.episode,
                        "hydrated",
                        Some(&hydrated.entity),
                        hydrated.reason,
                        changes,
                    );
                }
                for dropped in &composed.dropped {
                    self.add_entry(
                        composed.episode,
                        "withheld",
                        Some(&dropped.entity),
                        dropped.reason,
                        changes,
                    );
                }
            }
            Event::PromptAmended(amended) => {
                for withheld in &amended.withheld {
                    self.add_entry(
                        amended.episode,
                        "withheld",
                        Some(&withheld.entity),
                        Reason::NoLongerCurrent,
                        changes,
                    );
                }
            }
            Event::ArtifactCaptured(captured) => {
                let file = captured.path.clone().map(EntityId::file);
                self.captured = Some(CapturedBlock {
                    episode: captured.episode,
                    file,
                    not_whole: match (captured.origin, captured.completeness) {
                        (Origin::User, Completeness::Elided) => Some(Reason::Elided),
                        (Origin::User, Completeness::Truncated) => Some(Reason::Truncated),
                        (Origin::User, Completeness::Full) | (Origin::Model, _) => None,
                    },
                });
            }
            Event::ArtifactResolved(resolved) => {
                let Some(captured) = self.captured.take() else {
                    return;
                };
                let (episode, file) = (captured.episode, captured.file.as_ref());
                if resolved.level != Level::Confirmed {
                    let level = resolved.level.as_str();
                    self.add_entry(episode, level, file, resolved.reason, changes);
                } else if let Some(reason) = captured.not_whole {
                    for version in &resolved.versions {
                        let entity = Some(&version.entity);
                        self.add_entry(episode, "PROPOSED", entity, reason, changes);
                    }
                }
            }
            Event::Transitioned(moved) => {
                let state = moved.transition.to().as_str();
                self.add_entry(
                    moved.episode,
                    state,
                    Some(&moved.entity),
                    moved.cause,
                    changes,
                );
            }
            Event::PromotionRefused(refused) => {
                let reason = refused.report.conclusion.unwrap_or(Reason::GrantMissing);
                self.add_entry(
                    refused.episode,
                    "PROPOSED",
                    Some(&refused.entity),
                    reason,
                    changes,
                );
            }
            Event::AuditAnswered(answered) => {
                for verdict in &answered.verdicts {
                    self.add_entry(
                        answered.episode,
                        "audit",
                        Some(&verdict.entity),
                        audit_reason(verdict.status),
                        changes,
                    );
                }
            }
            Event::NoticeIssued(notice) => {
                self.add_entry(
                    notice.episode,
                    "notice",
                    notice.entity.as_ref(),
                    notice.reason,
                    changes,
                );
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

    fn add_entry(
        &mut self,
        id: EpisodeId,
        what: &'static str,
        entity: Option<&EntityId>,
        reason: Reason,
        changes: &mut Changes,
    ) {
        let Some(episode) = self.episodes.get_mut(&id) else {
            return;
        };
        if episode.entries.len() >= ENTRIES_PER_EPISODE {
            // The first entries of an episode say most about it. Episode 0 has no end, so there the last ones are kept.
            if id != EpisodeId::OUTSIDE {
                return;
            }
            changes.touch(|| LateRows::Entry(id, episode.first), true);
            episode.entries.pop_front();
            episode.first += 1;
        }
        let entry = EpisodeEntry {
            what,
            entity: entity.cloned(),
            reason,
        };
        let position = episode.first + episode.entries.len() as u64;
        changes.touch(|| LateRows::Entry(id, position), false);
        episode.entries.push_back(entry);
    }

    /// Records the time of an event outside of any conversation.
    fn touch_outside(&mut self, at: UnixMillis, changes: &mut Changes) {
        let id = EpisodeId::OUTSIDE;
        changes.touch(|| LateRows::Episode(id), self.episodes.contains_key(&id));
        self.episodes
            .entry(id)
            .or_insert_with(|| Episode::new(SessionId::default(), at, String::new()))
            .at = at;
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
        let (id, episode) = oldest
            .and_then(|id| self.episodes.remove_entry(&id))
            .expect("of more than one episode one isn't the outside");
        changes.touch(|| LateRows::Episode(id), true);
        remove_entries(id, &episode, changes);
    }

    /// The row of an episode in `episodes`.
    #[must_use]
    pub fn row(&self, id: EpisodeId) -> Option<Vec<Value>> {
        self.episodes.get(&id).map(|episode| row(id, episode))
    }

    /// The row of an episode's entry in `episode_entries`.
    #[must_use]
    pub fn entry_row(&self, id: EpisodeId, position: u64) -> Option<Vec<Value>> {
        let episode = self.episodes.get(&id)?;
        let at = usize::try_from(position.checked_sub(episode.first)?).ok()?;
        let entry = episode.entries.get(at)?;
        Some(entry_row(id, position, entry))
    }

    /// All rows of `episodes`, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        self.episodes
            .iter()
            .map(|(id, episode)| row(*id, episode))
            .for_each(visit);
    }

    /// All rows of `episode_entries`, by key.
    pub fn entry_rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        for (id, episode) in &self.episodes {
            for (position, entry) in (episode.first..).zip(&episode.entries) {
                visit(entry_row(*id, position, entry));
            }
        }
    }

    /// Restores a row of `episodes`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let id = cells.next()?;
        let mut episode = Episode::new(cells.next()?, cells.next()?, cells.next()?);
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

    /// Restores a row of `episode_entries`, in the order of their keys, after all rows of `episodes`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore_entry(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let episode = self.episodes.get_mut(&cells.next()?);
        let episode = episode.ok_or(UnfitRow("an entry belongs to no episode"))?;
        let position = cells.next()?;
        if episode.entries.is_empty() {
            episode.first = position;
        }
        let what = cells.word(WORDS, |word| word)?;
        let (path, symbol) = (cells.next::<Option<_>>()?, cells.next()?);
        let reason: &str = cells.next()?;
        episode.entries.push_back(EpisodeEntry {
            what,
            entity: path.map(|path| EntityId { path, symbol }),
            reason: Reason::from_code(reason).ok_or(UnfitRow("a reason isn't known"))?,
        });
        Ok(())
    }
}

const fn audit_reason(status: AuditStatus) -> Reason {
    match status {
        AuditStatus::Completed => Reason::ShadowAudit,
        AuditStatus::Partial | AuditStatus::Discussion => Reason::AuditContested,
    }
}

fn remove_entries(id: EpisodeId, episode: &Episode, changes: &mut Changes) {
    for (position, _) in (episode.first..).zip(&episode.entries) {
        changes.touch(|| LateRows::Entry(id, position), true);
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
    const fn new(session: SessionId, at: UnixMillis, model: String) -> Self {
        Self {
            session,
            at,
            model,
            outcome: None,
            history: None,
            price: None,
            entries: VecDeque::new(),
            first: 0,
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

fn entry_row(id: EpisodeId, position: u64, entry: &EpisodeEntry) -> Vec<Value> {
    let entity = entry.entity.as_ref();
    Vec::from([
        Value::from(id.0),
        Value::from(position),
        Value::from(entry.what),
        Value::from(entity.map(|entity| &entity.path)),
        Value::from(entity.and_then(|entity| entity.symbol.as_ref())),
        Value::from(entry.reason.code()),
    ])
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
            for entry in &episode.entries {
                match &entry.entity {
                    Some(entity) => writeln!(f, "  {} {entity} {}", entry.what, entry.reason)?,
                    None => writeln!(f, "  {} {}", entry.what, entry.reason)?,
                }
            }
        }
        Ok(())
    }
}
