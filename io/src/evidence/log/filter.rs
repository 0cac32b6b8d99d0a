//! Filters events by episode, session, entity, kind, reason and time.

use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{DiskFinding, DiskObserved, Envelope, Event, EventKind};
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;

use crate::evidence::describe::unmet_verdicts;

/// Conditions that an event must all meet; one that is empty or `None` is always met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Belong to this episode.
    pub episode: Option<EpisodeId>,
    /// Belong to this session.
    pub session: Option<SessionId>,
    /// Be about this entity; a path alone means all of the file.
    pub entity: Option<EntityId>,
    /// Be of one of these kinds.
    pub kinds: Vec<EventKind>,
    /// Say one of these reasons.
    pub reasons: Vec<Reason>,
    /// Not have happened before.
    pub since: Option<i64>,
    /// Not have happened after.
    pub until: Option<i64>,
}

impl EventFilter {
    /// Whether nothing is asked of events.
    #[must_use]
    pub fn passes_all(&self) -> bool {
        *self == Self::default()
    }

    /// Whether an event meets all conditions.
    #[must_use]
    pub fn passes(&self, envelope: &Envelope, event: &Event) -> bool {
        let at = envelope.at;
        // Some events speak about a session, which need not be that of their episode.
        let about = match event {
            Event::NoticeIssued(notice) => notice.session,
            Event::CapabilityChanged(changed) => changed.session,
            _ => envelope.session,
        };
        let among_reasons = || {
            event_reasons(event)
                .iter()
                .any(|it| self.reasons.contains(it))
        };
        self.episode.is_none_or(|wanted| envelope.episode == wanted)
            && self.session.is_none_or(|wanted| about == wanted)
            && (self.kinds.is_empty() || self.kinds.contains(&event.kind()))
            && self.since.is_none_or(|since| at.0 >= since)
            && self.until.is_none_or(|until| at.0 <= until)
            && (self.reasons.is_empty() || among_reasons())
            && self
                .entity
                .as_ref()
                .is_none_or(|wanted| is_about(event, wanted))
    }
}

/// The entity that a person names: `path` or `path::symbol`, the path from the workspace's root, or absolute.
///
/// # Errors
/// When the path can't be one of the workspace.
pub fn entity_named(written: &str, workspace: &str) -> Result<EntityId, String> {
    let (path, symbol) = match written.split_once("::") {
        Some((path, symbol)) if !symbol.is_empty() => (path, Some(Symbol::new(symbol))),
        _ => (written.trim_end_matches(':'), None),
    };
    let path = RelPath::parse(path, workspace).map_err(|reason| {
        format!("`{written}` is no entity: write PATH or PATH::SYMBOL, the path from the workspace's root ({reason})")
    })?;
    Ok(EntityId { path, symbol })
}

/// Whether an event is about an entity; a path without a symbol means all of the file.
#[must_use]
pub fn is_about(event: &Event, wanted: &EntityId) -> bool {
    let mut about = false;
    let Some(symbol) = &wanted.symbol else {
        event.visit_paths(&mut |path| about |= *path == wanted.path);
        return about;
    };
    match event {
        Event::DiskObserved(DiskObserved { path, finding, .. }) => {
            *path == wanted.path
                && match finding {
                    DiskFinding::File(file) if file.grammar.is_some() => {
                        file.slices.iter().any(|slice| slice.symbol == *symbol)
                    }
                    _ => true,
                }
        }
        Event::DirectiveGiven(directive) => {
            directive.target == wanted.to_string() || directive.target == wanted.path.as_str()
        }
        _ => {
            event.visit_entities(&mut |entity| about |= entity == wanted);
            about
        }
    }
}

/// Every reason that an event says: causes, conclusions, and rules that weren't met.
#[must_use]
pub fn event_reasons(event: &Event) -> Vec<Reason> {
    match event {
        Event::ArtifactResolved(resolved) => vec![resolved.reason],
        Event::Transitioned(transitioned) => vec![transitioned.cause],
        Event::VersionsPromoted(promoted) => vec![promoted.cause],
        Event::PromotionRefused(refused) => {
            let unmet = unmet_verdicts(&refused.report).map(|verdict| verdict.rule);
            refused.report.conclusion.into_iter().chain(unmet).collect()
        }
        Event::NoticeIssued(notice) => vec![notice.reason],
        Event::PromptComposed(composed) => {
            let shown = composed.hydrated.iter().map(|it| it.reason);
            let dropped = composed.dropped.iter().map(|it| it.reason);
            shown.chain(dropped).collect()
        }
        Event::DraftRefused(draft) => draft.refused.iter().map(|it| it.reason).collect(),
        Event::RecordChanged(changed) => vec![changed.cause],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use arbitrary::Unstructured;
    use serde_json::Value;

    use super::*;

    /// Every reason of a decision in an event's JSON: whatever a new kind of event holds is found there.
    fn collect(value: &Value, reasons: &mut Vec<Reason>) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    if matches!(name.as_str(), "reason" | "cause")
                        && let Ok(reason) = serde_json::from_value(member.clone())
                    {
                        reasons.push(reason);
                    }
                    collect(member, reasons);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, reasons)),
            _ => {}
        }
    }

    fn arbitrary_event(kind: EventKind, round: u32) -> Event {
        let mut bytes = [0; 4096];
        let mut noise = blake3::Hasher::new();
        noise
            .update(&round.to_le_bytes())
            .finalize_xof()
            .fill(&mut bytes);
        Event::arbitrary_of(kind, &mut Unstructured::new(&bytes)).unwrap()
    }

    #[test]
    fn reasons_of_every_kind_are_found() {
        let mut found = 0;
        for kind in EventKind::ALL {
            for round in 0..64_u32 {
                let event = arbitrary_event(*kind, round);
                let mut reasons = Vec::new();
                let json = serde_json::to_value(&event).unwrap();
                collect(&json["event"], &mut reasons);
                let said = event_reasons(&event);
                reasons
                    .iter()
                    .for_each(|it| assert!(said.contains(it), "{event:?}"));
                found += reasons.len();
            }
        }
        assert!(found > 100, "{found}");
    }

    #[test]
    fn a_file_is_found_in_every_event_about_it() {
        for kind in EventKind::ALL {
            for round in 0..64_u32 {
                let event = arbitrary_event(*kind, round);
                event.visit_paths(&mut |path| {
                    let file = EntityId::file(path.clone());
                    assert!(is_about(&event, &file), "{path}: {event:?}");
                });
            }
        }
    }
}
