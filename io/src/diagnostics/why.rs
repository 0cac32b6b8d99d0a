//! `tslp why`: the events that made an entity what it is, as `tslp log` prints them, and what is true of it now.

use serde_json::{Map, Value, json};
use tslp_core::entity::EntityId;
use tslp_core::event::Event;
use tslp_projections::state::State;
use tslp_replay::log::Stored;
use tslp_store::evidence::line::event_line;
use tslp_store::evidence::scan::LedgerScan;
use tslp_store::startup::StartError;

use super::row_source::RowSource;
use super::state::{self, EntityState};

use crate::evidence::log::{filter, log_line};
use crate::evidence::moments::utc_moment;

/// An entity's history and present state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityHistory {
    /// The entity; a path alone means everything in the file.
    entity: EntityId,
    events: Vec<(Stored, Event)>,
    /// What is true of it.
    now: Vec<EntityState>,
    /// Whether it has a tombstone: an update removed it recently.
    is_tombstoned: bool,
}

/// Folds the ledger and collects the entity's history, up to the flaw if there is one, which is returned as well.
pub fn entity_history(
    scan: &mut LedgerScan,
    entity: &EntityId,
) -> (EntityHistory, Option<StartError>) {
    let mut events = Vec::new();
    let mut captured = None;
    let mut state = State::default();
    let folded = scan.fold_rest(&mut state, |stored, event| match &event {
        // A capture doesn't name its entities: its resolution, which comes next, does.
        Event::ArtifactCaptured(_) => captured = Some((stored, event)),
        Event::ArtifactResolved(_) => {
            let captured = captured.take();
            let names_file = captured
                .as_ref()
                .is_some_and(|(_, captured)| filter::is_about(captured, entity));
            if names_file || filter::is_about(&event, entity) {
                events.extend(captured);
                events.push((stored, event));
            }
        }
        // What prompts show changes nothing, and there are many of them.
        Event::PromptComposed(_) | Event::PromptAmended(_) => {}
        _ if filter::is_about(&event, entity) => events.push((stored, event)),
        _ => {}
    });
    let recorded_at = |seq| scan.reader().recorded_at(seq).ok().flatten();
    let path = entity.path.as_str();
    let mut now = state::from_rows(RowSource::Folded(&state), &recorded_at, path)
        .expect("a state's rows are in memory");
    now.retain(|now| {
        let of = &now.row.entity;
        of.path == entity.path && (entity.symbol.is_none() || of.symbol == entity.symbol)
    });
    let history = EntityHistory {
        entity: entity.clone(),
        events,
        now,
        is_tombstoned: state.tombstones().contains(entity),
    };
    (history, folded.err())
}

impl EntityHistory {
    /// For people.
    #[must_use]
    pub fn text_lines(&self) -> Vec<String> {
        let events = self.events.iter();
        let mut lines: Vec<String> = events
            .map(|(stored, event)| log_line(stored, event))
            .collect();
        lines.extend(self.now.iter().map(now_line));
        if self.now.is_empty() {
            let why = if self.is_tombstoned {
                ": an update removed it a short while ago"
            } else {
                ""
            };
            let entity = &self.entity;
            lines.push(format!("now nothing of {entity} is AUTHORITATIVE{why}"));
        }
        lines
    }

    /// For programs: the events as `tslp log --json` prints them, and what `tslp state --json` says.
    #[must_use]
    pub fn json(&self) -> Value {
        let events = self.events.iter().map(|(stored, event)| -> Value {
            serde_json::from_str(&event_line(stored, event)).expect("an event's line is JSON")
        });
        let now = self.now.iter();
        let now: Map<String, Value> = now.map(|now| (now.name(), now.json_object())).collect();
        json!({
            "entity": self.entity.to_string(),
            "events": events.collect::<Vec<_>>(),
            "now": now,
            "tombstoned": self.is_tombstoned,
        })
    }
}

fn now_line(now: &EntityState) -> String {
    let contested = if now.contested {
        "; contested by a shadow audit"
    } else {
        ""
    };
    format!(
        "now {} is AUTHORITATIVE in {}, artifact {:.12}, from the {}, since {}; on disk: {}{contested}",
        now.name(),
        now.row.version,
        now.row.artifact,
        now.row.origin,
        utc_moment(now.row.updated_at_ms.0),
        now.disk_as_of()
    )
}
