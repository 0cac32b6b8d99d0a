//! `tslp why`: the story of one entity, from its first appearance to now.

mod story;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tslp_core::entity::EntityId;
use tslp_projections::state::State;
use tslp_store::evidence::scan::LedgerScan;
use tslp_store::startup::StartError;

use self::story::EntityStory;
pub use self::story::{ChapterKind, HistoryEntry, Occurrences};
use super::log::filter;
use crate::diagnostics::row_source::RowSource;
use crate::diagnostics::state::{self, EntityState};
use crate::diagnostics::utc_moment;

/// An entity's history and present state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityHistory {
    /// The entity.
    pub entity: EntityId,
    /// The events in its life, in order.
    pub chapters: Vec<HistoryEntry>,
    /// The prompts in which its code was shown to the model.
    pub shown: Occurrences,
    /// The prompts in which its code was withheld.
    pub withheld: Occurrences,
    /// Its true version; `None` if it has none.
    pub now: Option<EntityState>,
    /// Whether it has a tombstone: an update removed it recently.
    pub tombstoned: bool,
    /// For a file: its true definitions.
    pub definitions: Vec<String>,
}

/// Adds every entity of the ledger.
///
/// # Errors
/// When the ledger can't be read or believed to its end; those before the flaw are added.
pub fn collect_entities(
    scan: &mut LedgerScan,
    known: &mut BTreeSet<EntityId>,
) -> Result<(), StartError> {
    while let Some((_, event)) = scan.next_event()? {
        filter::visit_entities(&event, &mut |entity| {
            if !known.contains(entity) {
                known.insert(entity.clone());
            }
        });
    }
    Ok(())
}

/// The entity that a person means: by its full name, or by a bare one that only one entity bears.
#[must_use]
pub fn entity_meant(
    written: &str,
    workspace: &str,
    known: &BTreeSet<EntityId>,
) -> Option<EntityId> {
    let named = filter::entity_named(written, workspace).ok();
    if let Some(named) = named.filter(|named| known.contains(named)) {
        return Some(named);
    }
    let mut bearing = known.iter().filter(|entity| {
        entity
            .symbol
            .as_ref()
            .is_some_and(|symbol| symbol.as_str() == written || symbol.last_component() == written)
    });
    match (bearing.next(), bearing.next()) {
        (Some(only), None) => Some(only.clone()),
        _ => None,
    }
}

/// Folds the ledger and collects the entity's story, up to the flaw if there is one, which is returned as well.
pub fn entity_history(
    scan: &mut LedgerScan,
    entity: &EntityId,
) -> (EntityHistory, Option<StartError>) {
    let mut story = EntityStory::new(entity.clone());
    let mut state = State::default();
    let folded = scan.fold_rest(&mut state, |recorded, state| {
        story.add_event(recorded, state)
    });
    let recorded_at = |seq| scan.reader().recorded_at(seq).ok().flatten();
    let entities = state::from_rows(RowSource::Folded(&state), &recorded_at, "")
        .expect("a state's rows are in memory");
    let symbols = match entity.symbol {
        Some(_) => Vec::new(),
        None => state.state_map().symbols_of(&entity.path),
    };
    let known = EntityHistory {
        now: entities
            .into_iter()
            .find(|state| state.row.entity == *entity),
        definitions: symbols
            .iter()
            .map(|symbol| symbol.as_str().to_owned())
            .collect(),
        tombstoned: state.tombstones().contains(entity),
        entity: entity.clone(),
        shown: story.shown,
        withheld: story.withheld,
        chapters: story.chapters,
    };
    (known, folded.err())
}

impl EntityHistory {
    /// Its present state in words.
    fn words_for_now(&self) -> String {
        let Some(now) = &self.now else {
            if !self.definitions.is_empty() {
                let definitions = self.definitions.join(", ");
                return format!(
                    "true definition by definition, not as one piece: {definitions}; `tslp why {}::NAME` tells of each",
                    self.entity
                );
            }
            let why = if self.tombstoned {
                ": an update removed it a short while ago"
            } else {
                ""
            };
            return format!("not true: nothing of it is AUTHORITATIVE{why}");
        };
        let mut text = format!(
            "AUTHORITATIVE, artifact {:.12}, from the {}, since {}; disk at the last look{}: {}",
            now.row.artifact,
            now.row.origin,
            utc_moment(now.row.updated_at_ms.0),
            now.looked_at
                .as_ref()
                .map_or(String::new(), |at| format!(" ({at})")),
            disk_words(now.disk)
        );
        if now.is_stale() {
            text.push_str("; STALE, withheld from the model");
        }
        if now.contested {
            text.push_str("; contested by a shadow audit");
        }
        text
    }

    /// For people.
    #[must_use]
    pub fn text_lines(&self) -> Vec<String> {
        let mut lines = vec![self.entity.to_string()];
        lines.extend(self.chapters.iter().map(|chapter| {
            format!(
                "  {:>6}  {}  {}",
                chapter.seq,
                utc_moment(chapter.at),
                chapter.text
            )
        }));
        for (count, did) in [
            (&self.shown, "shown to the model"),
            (&self.withheld, "withheld"),
        ] {
            if count.times > 0 {
                let times = if count.times == 1 { "time" } else { "times" };
                lines.push(format!(
                    "  {did} {} {times}, last in episode {} ({})",
                    count.times, count.last_episode, count.last_reason
                ));
            }
        }
        lines.push(format!("now {}", self.words_for_now()));
        lines
    }

    /// For programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let chapters: Vec<Value> = self
            .chapters
            .iter()
            .map(|chapter| {
                json!({
                    "at": utc_moment(chapter.at),
                    "episode_id": chapter.episode,
                    "reason": chapter.reason,
                    "seq": chapter.seq,
                    "text": chapter.text,
                    "what": chapter.what.as_str(),
                })
            })
            .collect();
        let count = |count: &Occurrences| match count.times {
            0 => json!({ "times": 0 }),
            times => json!({
                "last_episode_id": count.last_episode,
                "last_reason": count.last_reason,
                "times": times,
            }),
        };
        let now = self.now.as_ref().map(EntityState::json_object);
        json!({
            "definitions": self.definitions,
            "entity": self.entity.to_string(),
            "now": now,
            "shown": count(&self.shown),
            "story": chapters,
            "tombstoned": self.tombstoned,
            "withheld": count(&self.withheld),
        })
    }
}

fn disk_words(word: &str) -> &str {
    match word {
        "same" => "holds the same",
        "missing" => "has no such file",
        "acknowledged" => "holds something else, which the user knew of",
        "superseded" => "holds an earlier version",
        "unknown" => "holds something that the ledger doesn't know",
        "unreadable" => "can't be read",
        "not_checked" => "not looked at yet",
        other => other,
    }
}
