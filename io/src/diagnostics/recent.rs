//! `/recent`: what the last episodes were about and what became of their code, without any content (spec §14.3).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tslp_core::artifact::ArtifactState;
use tslp_core::ids::{EpisodeId, Seq};
use tslp_core::reason::Reason;
use tslp_projections::episode_entries::{EpisodeEntries, EpisodeEntry};
use tslp_projections::table::Value as Cell;
use tslp_projections::{AUDITS, EPISODES};

use super::missing::{self, MissingCode};
use super::price::PromptPrice;
use super::{DiagnosedSubject, TableRow, entity_name, utc_moment};
use crate::channel::{MissingLines, RecentQuery};
use tslp_store::ledger::{LedgerError, LedgerReader};

/// One episode, or everything outside of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeReport {
    /// Its number; 0 is for everything outside of prompts, mostly on the command line.
    pub id: i64,
    /// Its session's number.
    pub session: i64,
    /// When its prompt came in, or the last act outside happened.
    pub at: String,
    /// The model that was asked for.
    pub model: String,
    /// Its reply's end; `None` while it hasn't ended.
    pub outcome: Option<String>,
    /// The treatment of older messages.
    pub history: Option<String>,
    /// Its prompt's cost to the model server; `None` until its reply has ended.
    pub price: Option<PromptPrice>,
    /// The episode's entries, in order.
    pub entries: Vec<EntryReport>,
    /// The shadow audits of its reply.
    pub audits: Vec<AuditReport>,
}

/// One entity's shadow audit (spec §10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// The audited entity.
    pub entity: String,
    /// What the model said, or why it said nothing: `completed`, `partial`, `discussion`, `awaited`, `no_answer`,
    /// `cancelled` or `failed`.
    pub status: String,
}

/// The number of the entry for what happened outside of prompts.
const OUTSIDE: i64 = 0;

/// Events before the last one outside of prompts that are looked at for others of their kind, at least.
const OUTSIDE_EVENTS_MIN: u64 = 1024;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryReport {
    /// An artifact state, or `hydrated`, `withheld`, `notice`.
    pub what: String,
    /// The entity concerned.
    pub entity: Option<String>,
    /// The reason code.
    pub reason: String,
    /// The code that a refused proposal lacks.
    pub missing: Option<MissingCode>,
}

/// The kind of version that an entry's TOMBSTONED ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TombstonedKind {
    /// Something that was true.
    Truth,
    /// Something that was only proposed.
    Proposal,
}

impl EntryReport {
    fn new(entry: &EpisodeEntry) -> Self {
        let entity = entry.entity.as_ref();
        Self {
            what: entry.what.to_owned(),
            entity: entity.map(ToString::to_string),
            reason: entry.reason.code().to_owned(),
            missing: None,
        }
    }

    fn tombstoned_kind(&self) -> Option<TombstonedKind> {
        if self.what != ArtifactState::Tombstoned.as_str() {
            return None;
        }
        let removals = [Reason::OmittedByUpdate, Reason::UserConfirmed];
        Some(match Reason::from_code(&self.reason) {
            Some(reason) if removals.contains(&reason) => TombstonedKind::Truth,
            _ => TombstonedKind::Proposal,
        })
    }
}

/// The last episodes, newest first; everything outside of them is one entry, at the time of its last act.
///
/// # Errors
/// When the ledger can't be read.
pub fn read_recent(
    subject: &DiagnosedSubject,
    wanted: RecentQuery,
) -> Result<Vec<EpisodeReport>, LedgerError> {
    let reader = subject.readers.open()?;
    let rows = |table| reader.rows(table);
    let limit = wanted.limit.unwrap_or(subject.recent_episodes);
    let at_damage = match subject.safe_mode_reason() {
        Some(_) => AtDamage::End,
        None => AtDamage::Fail,
    };
    let entries = |from| entries_since(&reader, from, at_damage);
    let mut episodes = from_rows(rows, entries, limit)?;
    if wanted.missing_lines == MissingLines::Shown {
        missing::add_missing_lines(&mut episodes, rows, |artifact| {
            reader.artifact(artifact).ok().flatten()
        })?;
    }
    Ok(episodes)
}

/// What to do about an event that can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtDamage {
    /// Show nothing.
    Fail,
    /// Show what happened before it: somebody else says that the ledger is damaged.
    End,
}

/// What happened in episodes from this position on.
///
/// # Errors
/// When an event can't be read, and nobody else says so.
pub(crate) fn entries_since(
    reader: &LedgerReader,
    from: Seq,
    at_damage: AtDamage,
) -> Result<EpisodeEntries, LedgerError> {
    let mut entries = EpisodeEntries::default();
    let read = reader.read_without_contents(from, &mut |event| entries.apply(event));
    match (read, at_damage) {
        (Err(error), AtDamage::Fail) => Err(error),
        (Ok(()), _) | (Err(_), AtDamage::End) => Ok(entries),
    }
}

/// The episodes out of the rows of projections' tables, wherever they come from, with the entries from a position on.
pub(crate) fn from_rows<E>(
    rows: impl Fn(usize) -> Result<Vec<Vec<Cell>>, E>,
    entries_since: impl Fn(Seq) -> Result<EpisodeEntries, E>,
    limit: usize,
) -> Result<Vec<EpisodeReport>, E> {
    let mut audits: BTreeMap<i64, Vec<AuditReport>> = BTreeMap::new();
    for row in rows(AUDITS)? {
        audits
            .entry(row.number_at(0))
            .or_default()
            .push(AuditReport {
                entity: entity_name(row.text_at(2), row.text_at(3)),
                status: row.text_at(4).to_owned(),
            });
    }
    let mut episodes = rows(EPISODES)?;
    if episodes
        .first()
        .is_some_and(|row| row.number_at(0) == OUTSIDE)
    {
        let outside = episodes.remove(0);
        let place = episodes.partition_point(|row| row.number_at(2) <= outside.number_at(2));
        episodes.insert(place, outside);
    }
    let surplus = episodes.len().saturating_sub(limit);
    episodes.drain(..surplus);
    let first_event = |row: &Vec<Cell>| {
        let seq = row.get(3)?.as_u64()?;
        let is_outside = row.number_at(0) == OUTSIDE;
        let before = if is_outside { OUTSIDE_EVENTS_MIN } else { 0 };
        Some(seq.saturating_sub(before))
    };
    let entries = match episodes.iter().filter_map(first_event).min() {
        Some(from) => entries_since(Seq(from.max(1)))?,
        None => EpisodeEntries::default(),
    };
    let entries_of = |id: i64| {
        let id = EpisodeId(id.cast_unsigned());
        entries.of_episode(id).map(EntryReport::new).collect()
    };
    let episodes = episodes.iter().rev().map(|row| EpisodeReport {
        id: row.number_at(0),
        session: row.number_at(1),
        at: utc_moment(row.number_at(2)),
        model: row.text_at(4).to_owned(),
        outcome: row.optional_text_at(5).map(str::to_owned),
        history: row.optional_text_at(6).map(str::to_owned),
        price: PromptPrice::of_row(row),
        entries: entries_of(row.number_at(0)),
        audits: audits.remove(&row.number_at(0)).unwrap_or_default(),
    });
    Ok(episodes.collect())
}

/// The page.
#[must_use]
pub fn recent_json(episodes: &[EpisodeReport]) -> Value {
    let episodes: Vec<Value> = episodes.iter().map(episode_json).collect();
    json!({ "episodes": episodes })
}

fn episode_json(episode: &EpisodeReport) -> Value {
    let entities: BTreeSet<&String> = episode
        .entries
        .iter()
        .filter_map(|entry| entry.entity.as_ref())
        .collect();
    let of = |wanted: &dyn Fn(&str) -> bool, name: &str| -> Vec<Value> {
        let entries = episode.entries.iter().filter(|entry| wanted(&entry.what));
        entries
            .map(|entry| match name {
                "state" => state_json(entry),
                _ => json!({ "entity": entry.entity, "reason": entry.reason }),
            })
            .collect()
    };
    let audits = episode.audits.iter();
    let audits: Vec<Value> = audits
        .map(|audit| json!({ "entity": audit.entity, "status": audit.status }))
        .collect();
    let is_state = |what: &str| what.chars().all(|c| c.is_ascii_uppercase());
    json!({
        "artifact_states": of(&is_state, "state"),
        "at": episode.at,
        "audits": audits,
        "entities": entities,
        "episode_id": episode.id,
        "from": if episode.id == OUTSIDE { "command line" } else { "prompt" },
        "history": episode.history,
        "hydrated": of(&|what| what == "hydrated", ""),
        "model": episode.model,
        "notices": of(&|what| what == "notice", ""),
        "outcome": episode.outcome,
        "price": episode.price.as_ref().map(PromptPrice::json_object),
        "session_id": episode.session,
        "withheld": of(&|what| what == "withheld", ""),
    })
}

fn state_json(entry: &EntryReport) -> Value {
    let mut json = json!({ "entity": entry.entity, "reason": entry.reason, "state": entry.what });
    if let Some(missing) = &entry.missing {
        json["missing_lines"] = json!({ "lines": missing.lines, "more": missing.more });
    }
    json
}

/// The page for people.
#[must_use]
pub fn recent_lines(episodes: &[EpisodeReport]) -> Vec<String> {
    if episodes.is_empty() {
        return vec!["Nothing has happened yet.".into()];
    }
    let mut lines = Vec::new();
    for episode in episodes {
        let outcome = episode.outcome.as_deref().unwrap_or("open");
        lines.push(if episode.id == OUTSIDE {
            format!("command line, last at {}", episode.at)
        } else {
            format!(
                "episode {} of session {}, {}, model {}: {outcome}",
                episode.id, episode.session, episode.at, episode.model
            )
        });
        if let Some(price) = &episode.price {
            lines.push(format!("  {:<13} {}", "price", price.text_line()));
        }
        for entry in &episode.entries {
            let entity = entry.entity.as_deref().unwrap_or("-");
            let (what, of) = match entry.tombstoned_kind() {
                Some(TombstonedKind::Proposal) => ("dropped", "the proposal for "),
                Some(TombstonedKind::Truth) => ("removed", ""),
                None => (entry.what.as_str(), ""),
            };
            lines.push(format!("  {what:<13} {of}{entity}  ({})", entry.reason));
            if let Some(missing) = &entry.missing {
                let gone = missing.lines.iter();
                lines.extend(gone.map(|line| format!("  {:<13} - {line}", "")));
                if missing.more > 0 {
                    lines.push(format!("  {:<13} and {} more lines", "", missing.more));
                }
            }
        }
        for audit in &episode.audits {
            lines.push(format!(
                "  {:<13} {}  ({})",
                "audit", audit.entity, audit.status
            ));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_only_proposed_is_dropped_and_what_was_true_is_removed() {
        let check = |what: &str, reason: Reason, expected: &str| {
            let entry = EntryReport {
                what: what.to_owned(),
                entity: Some("src/a.c::f".to_owned()),
                reason: reason.code().to_owned(),
                missing: None,
            };
            let episode = EpisodeReport {
                id: 1,
                session: 1,
                at: String::new(),
                model: String::new(),
                outcome: None,
                history: None,
                price: None,
                entries: vec![entry],
                audits: Vec::new(),
            };
            assert_eq!(recent_lines(&[episode])[1], expected);
        };
        let dropped = "  dropped       the proposal for src/a.c::f  (stale)";
        check("TOMBSTONED", Reason::Stale, dropped);
        let removed = "  removed       src/a.c::f  (omitted_by_update)";
        check("TOMBSTONED", Reason::OmittedByUpdate, removed);
        let promoted = "  AUTHORITATIVE src/a.c::f  (replaced)";
        check("AUTHORITATIVE", Reason::Replaced, promoted);
    }
}
