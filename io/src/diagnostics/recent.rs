//! `/recent`: what the last episodes were about and what became of their code, without any content (spec §14.3).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tslp_core::artifact::{ArtifactState, Transition};
use tslp_core::event::History;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq};
use tslp_projections::audits::AuditRow;
use tslp_projections::episodes::EpisodeRow;
use tslp_projections::row::outcome_word;

use super::DiagnosedSubject;
use super::missing::{self, MissingCode, RefusedProposal};
use super::price::PromptPrice;
use super::row_source::RowSource;
use crate::channel::{MissingLines, RecentQuery};
use crate::evidence::describe::entries::{EpisodeEntries, EpisodeEntry};
use crate::evidence::moments::utc_moment;
use tslp_store::ledger::{LedgerError, LedgerReader};

/// One episode, or everything outside of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeReport {
    /// What is known of it. Episode 0 is for everything outside of prompts, mostly on the command line.
    pub row: EpisodeRow,
    /// The episode's entries, in order.
    pub entries: Vec<EntryReport>,
    /// The shadow audits of its reply (spec §10).
    pub audits: Vec<AuditRow>,
}

/// Events before the last one outside of prompts that are looked at for others of their kind, at least.
const OUTSIDE_EVENTS_MIN: u64 = 1024;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryReport {
    /// What an event says.
    pub entry: EpisodeEntry,
    /// The code that a refused proposal lacks.
    pub missing: Option<MissingCode>,
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
    let rows = RowSource::Stored(&reader);
    let limit = wanted.limit.unwrap_or(subject.recent_episodes);
    let at_damage = match subject.safe_mode_reason() {
        Some(_) => AtDamage::End,
        None => AtDamage::Fail,
    };
    let entries = |from| entries_since(&reader, from, at_damage);
    let mut episodes = from_rows(rows, entries, limit)?;
    if wanted.missing_lines == MissingLines::Shown {
        add_missing_lines(&mut episodes, rows, |artifact| {
            reader.artifact(artifact).ok().flatten()
        })?;
    }
    Ok(episodes)
}

/// Adds the missing lines to refusals for missing code.
///
/// # Errors
/// When the rows can't be read.
pub(crate) fn add_missing_lines(
    episodes: &mut [EpisodeReport],
    rows: RowSource<'_>,
    artifact: impl Fn(ArtifactHash) -> Option<Vec<u8>>,
) -> Result<(), LedgerError> {
    missing::find_missing_lines(refused_proposals(episodes), rows, artifact)
}

/// The proposals that were refused for missing code.
fn refused_proposals(episodes: &mut [EpisodeReport]) -> Vec<RefusedProposal<'_>> {
    let is_refused = |EntryReport { entry, .. }: &EntryReport| {
        entry.what == ArtifactState::Proposed.as_str() && entry.reason.is_lost_code()
    };
    let mut refused = Vec::new();
    for EpisodeReport { row, entries, .. } in episodes {
        let lacking = entries.iter_mut().filter(|it| is_refused(it));
        refused.extend(lacking.filter_map(|EntryReport { entry, missing }| {
            Some(RefusedProposal {
                episode: row.episode,
                entity: entry.entity.clone()?,
                missing,
            })
        }));
    }
    refused
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
    let read = reader.read_without_contents(from, &mut |recorded| entries.apply(recorded));
    match (read, at_damage) {
        (Err(error), AtDamage::Fail) => Err(error),
        (Ok(()), _) | (Err(_), AtDamage::End) => Ok(entries),
    }
}

/// The episodes out of the rows of projections' tables, with the entries from a position on.
pub(crate) fn from_rows(
    rows: RowSource<'_>,
    entries_since: impl Fn(Seq) -> Result<EpisodeEntries, LedgerError>,
    limit: usize,
) -> Result<Vec<EpisodeReport>, LedgerError> {
    let mut audits: BTreeMap<EpisodeId, Vec<AuditRow>> = BTreeMap::new();
    for row in rows.rows::<AuditRow>()? {
        audits.entry(row.episode).or_default().push(row);
    }
    let mut episodes = rows.rows::<EpisodeRow>()?;
    // It has number 0, so it is the first row; it is shown at the time of its last act.
    if episodes.first().is_some_and(is_outside) {
        let outside = episodes.remove(0);
        let place = episodes.partition_point(|row| row.at_ms <= outside.at_ms);
        episodes.insert(place, outside);
    }
    let surplus = episodes.len().saturating_sub(limit);
    episodes.drain(..surplus);
    let first_event = |row: &EpisodeRow| {
        let before = if is_outside(row) {
            OUTSIDE_EVENTS_MIN
        } else {
            0
        };
        row.seq.0.saturating_sub(before)
    };
    let entries = match episodes.iter().map(first_event).min() {
        Some(from) => entries_since(Seq(from.max(1)))?,
        None => EpisodeEntries::default(),
    };
    let episodes = episodes.into_iter().rev().map(|row| EpisodeReport {
        entries: entries
            .of_episode(row.episode)
            .map(|entry| EntryReport {
                entry: entry.clone(),
                missing: None,
            })
            .collect(),
        audits: audits.remove(&row.episode).unwrap_or_default(),
        row,
    });
    Ok(episodes.collect())
}

fn is_outside(row: &EpisodeRow) -> bool {
    row.episode == EpisodeId::OUTSIDE
}

/// The page.
#[must_use]
pub fn recent_json(episodes: &[EpisodeReport]) -> Value {
    let episodes: Vec<Value> = episodes.iter().map(episode_json).collect();
    json!({ "episodes": episodes })
}

fn episode_json(episode: &EpisodeReport) -> Value {
    let EpisodeReport {
        row,
        entries,
        audits,
    } = episode;
    let named = entries.iter().filter_map(|it| entity_name(&it.entry));
    let entities: BTreeSet<String> = named.collect();
    let of = |what: &str| -> Vec<Value> {
        let entries = entries.iter().map(|it| &it.entry);
        entries
            .filter(|entry| entry.what == what)
            .map(|entry| json!({ "entity": entity_name(entry), "reason": entry.reason.code() }))
            .collect()
    };
    let is_state = |what: &str| what.chars().all(|c| c.is_ascii_uppercase());
    let states = entries.iter().filter(|it| is_state(it.entry.what));
    let audits = audits.iter();
    let audits: Vec<Value> = audits
        .map(|audit| json!({ "entity": audit.entity.to_string(), "status": audit.status.as_str() }))
        .collect();
    json!({
        "artifact_states": states.map(state_json).collect::<Vec<_>>(),
        "at": utc_moment(row.at_ms.0),
        "audits": audits,
        "entities": entities,
        "episode_id": row.episode.0,
        "from": if is_outside(row) { "command line" } else { "prompt" },
        "history": row.history.map(History::as_str),
        "hydrated": of("hydrated"),
        "model": row.model,
        "notices": of("notice"),
        "outcome": row.outcome.map(|outcome| outcome_word(outcome).to_string()),
        "price": PromptPrice::of_row(row).map(|price| price.json_object()),
        "session_id": row.session.0,
        "withheld": of("withheld"),
    })
}

fn entity_name(entry: &EpisodeEntry) -> Option<String> {
    entry.entity.as_ref().map(ToString::to_string)
}

fn state_json(EntryReport { entry, missing }: &EntryReport) -> Value {
    let mut json = json!({
        "entity": entity_name(entry),
        "reason": entry.reason.code(),
        "state": entry.what,
    });
    if let Some(missing) = missing {
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
    for EpisodeReport {
        row,
        entries,
        audits,
    } in episodes
    {
        let at = utc_moment(row.at_ms.0);
        lines.push(if is_outside(row) {
            format!("command line, last at {at}")
        } else {
            let outcome = row.outcome.map_or_else(|| "open".into(), outcome_word);
            format!(
                "episode {} of session {}, {at}, model {}: {}",
                row.episode.0, row.session.0, row.model, &*outcome
            )
        });
        if let Some(price) = PromptPrice::of_row(row) {
            lines.push(format!("  {:<13} {}", "price", price.text_line()));
        }
        for EntryReport { entry, missing } in entries {
            lines.push(entry_line(entry));
            if let Some(missing) = missing {
                let gone = missing.lines.iter();
                lines.extend(gone.map(|line| format!("  {:<13} - {line}", "")));
                if missing.more > 0 {
                    lines.push(format!("  {:<13} and {} more lines", "", missing.more));
                }
            }
        }
        for audit in audits {
            lines.push(format!(
                "  {:<13} {}  ({})",
                "audit",
                audit.entity,
                audit.status.as_str()
            ));
        }
    }
    lines
}

fn entry_line(entry: &EpisodeEntry) -> String {
    let (what, of) = match entry.transition {
        Some(Transition::Discard) => ("dropped", "the proposal for "),
        Some(Transition::Remove) => ("removed", ""),
        _ => (entry.what, ""),
    };
    let entity = entity_name(entry);
    let entity = entity.as_deref().unwrap_or("-");
    format!("  {what:<13} {of}{entity}  ({})", entry.reason)
}

#[cfg(test)]
mod tests {
    use tslp_core::entity::{EntityId, Symbol};
    use tslp_core::path::RelPath;
    use tslp_core::reason::Reason;

    use super::*;

    #[test]
    fn what_was_only_proposed_is_dropped_and_what_was_true_is_removed() {
        let check = |transition: Transition, reason, expected: &str| {
            let path = RelPath::from_normalised("src/a.c");
            let entry = EpisodeEntry {
                what: transition.to().as_str(),
                transition: Some(transition),
                entity: Some(EntityId::symbol(path, Symbol::new("f"))),
                reason,
            };
            assert_eq!(entry_line(&entry), expected);
        };
        let dropped = "  dropped       the proposal for src/a.c::f  (stale)";
        check(Transition::Discard, Reason::Stale, dropped);
        let removed = "  removed       src/a.c::f  (omitted_by_update)";
        check(Transition::Remove, Reason::OmittedByUpdate, removed);
        let promoted = "  AUTHORITATIVE src/a.c::f  (replaced)";
        check(Transition::Promote, Reason::Replaced, promoted);
    }
}
