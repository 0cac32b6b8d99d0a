//! `tslp why`: what made an entity what it is, in sentences, and what is true of it now.

use std::ops::ControlFlow;

use serde_json::{Map, Value, json};
use tslp_core::entity::EntityId;
use tslp_core::event::{DiskFinding, DiskObserved, Event, EventKind};
use tslp_core::ids::{EpisodeId, Seq};
use tslp_core::path::RelPath;
use tslp_projections::file_mentions::FileMentionRow;
use tslp_projections::state_map::{FormerVersion, FormerVersionsRow};
use tslp_projections::tombstones::TombstoneRow;
use tslp_replay::log::Stored;
use tslp_store::evidence::line::event_line;
use tslp_store::ledger::{LedgerError, LedgerReader};
use tslp_store::startup::StartError;

use super::DiagnosedSubject;
use super::coloured::coloured;
use super::state::{self, EntityState};
use super::vouched::{self, VouchedPage};

use crate::evidence::describe::reason_words;
use crate::evidence::log::{self, filter};
use crate::evidence::missing;
use crate::evidence::moments::utc_moment;
use crate::evidence::story::entries_of;

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

/// Kinds of events that are about no entity, or change nothing about one: nearly all bytes of a ledger are theirs.
const LEFT_OUT: &[EventKind] = &[
    EventKind::Content,
    EventKind::PromptReceived,
    EventKind::PromptComposed,
    EventKind::PromptAmended,
    EventKind::PromptSent,
    EventKind::ReplySegment,
    EventKind::ReplyPart,
];

/// Collects the entity's history, up to the flaw if there is one, which is returned as well: each
/// event that is shown is held against the one before it.
///
/// # Errors
/// When the tables can't be read.
pub fn entity_history(
    subject: &DiagnosedSubject,
    entity: &EntityId,
) -> Result<VouchedPage<EntityHistory>, StartError> {
    let reader = subject.readers.open()?;
    let mut flaw = vouched::flaw_of_tables(subject, &reader)?;
    let mut events: Vec<(Stored, Event)> = Vec::new();
    let read = read_events(&reader, entity, &mut events);
    flaw = flaw.or(read.err().map(|error| error.to_string()));
    for at in 0..events.len() {
        let seq = events[at].0.seq;
        if !reader.is_linked(&events[at].0)? {
            events.truncate(at);
            flaw.get_or_insert_with(|| format!("event {seq} doesn't fit the hash chain"));
            break;
        }
    }
    let mut now = state::of_file(subject, &reader, &entity.path)?;
    now.retain(|now| entity.symbol.is_none() || now.row.entity.symbol == entity.symbol);
    let mut rows = now.iter();
    flaw = flaw.or_else(|| rows.find_map(|now| vouched::flaw_of_row(&reader, &now.row)));
    let tombstone = reader.find_row::<TombstoneRow>((entity.clone(),))?;
    Ok(VouchedPage {
        page: EntityHistory {
            entity: entity.clone(),
            events,
            now,
            is_tombstoned: tombstone.is_some(),
        },
        flaw,
    })
}

/// Collects the events about an entity.
fn read_events(
    reader: &LedgerReader,
    entity: &EntityId,
    events: &mut Vec<(Stored, Event)>,
) -> Result<(), LedgerError> {
    let mut mentions = Vec::new();
    reader.visit_rows_from(entity.path.as_str(), &mut |row: FileMentionRow| {
        if row.path != entity.path {
            return ControlFlow::Break(());
        }
        mentions.push(row.events());
        ControlFlow::Continue(())
    })?;
    for between in mentions {
        let first = *between.start();
        let between = Seq(first.0.saturating_sub(1))..=*between.end();
        let mut captured = None;
        reader.read_between(LEFT_OUT, between, &mut |stored, event| {
            match &event {
                // A capture doesn't name its entities: its resolution, which comes next, does.
                Event::ArtifactCaptured(_) => captured = Some((stored, event)),
                _ if stored.seq < first => {}
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
                _ if filter::is_about(&event, entity) => events.push((stored, event)),
                _ => {}
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(())
}

impl EntityHistory {
    /// Whether nothing is on record about the entity.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.events.is_empty() && self.now.is_empty()
    }

    /// For people: the story in sentences. `tslp log` has all of it.
    #[must_use]
    pub fn text_lines(&self) -> Vec<String> {
        let events = self.events.iter();
        let told = events.filter(|(_, event)| is_told(event.kind()));
        let mut lines: Vec<String> = told
            .map(|(stored, event)| {
                let at = utc_moment(stored.at.0);
                let place = match stored.episode {
                    EpisodeId::OUTSIDE => "command line".to_owned(),
                    episode => episode.to_string(),
                };
                format!("{at}  {place:<4}  {}", told_of(event, &self.entity))
            })
            .collect();
        lines.extend(self.now.iter().map(now_line));
        if self.now.is_empty() {
            let why = if self.is_tombstoned {
                ": an update removed it a short while ago"
            } else {
                ""
            };
            let entity = &self.entity;
            lines.push(format!("nothing of {entity} is true now{why}"));
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

/// An entity for the page: what is true of it with its code, and its story.
///
/// # Errors
/// When the tables can't be read.
pub(super) fn entity_json(subject: &DiagnosedSubject, name: &str) -> Result<Value, StartError> {
    let reader = subject.readers.open()?;
    let entity = match reader.true_entity_named(name)? {
        Some(entity) => entity,
        None => filter::entity_named(name, &subject.settings.workspace.to_string_lossy())
            .unwrap_or_else(|_| EntityId::file(RelPath::from_normalised(name))),
    };
    let VouchedPage { page, flaw } = entity_history(subject, &entity)?;
    let story = page.events.iter().map(|(stored, event)| {
        json!({
            "at": utc_moment(stored.at.0),
            "episode": stored.episode.0,
            "kind": event.name(),
            "seq": stored.seq.0,
            "state": judged_state(stored.seq, event),
            "text": told_of(event, &entity),
        })
    });
    let story: Vec<Value> = story.collect();
    let now = page.now.iter().find(|now| now.row.entity == entity);
    let place = match now {
        Some(now) => Some((now.row.episode, now.row.artifact, now.row.spans.clone())),
        None => last_true(&reader, &entity)?.map(|was| (was.episode, was.artifact, was.spans)),
    };
    let code = place.as_ref().and_then(|(_, source, spans)| {
        let find = |artifact| reader.artifact(artifact).ok().flatten();
        missing::code_text(*source, spans, &find)
    });
    let on_disk = subject.disk_now.code_now(&entity);
    let lines = |text: &str| -> Vec<String> {
        let lines = text.trim_end().lines();
        lines.map(|line| line.trim_end().to_owned()).collect()
    };
    let differs = |held: &String| code.as_ref().is_some_and(|it| lines(it) != lines(held));
    let on_disk = on_disk.filter(differs);
    let mut json = json!({
        "code": code.map(|code| coloured(&entity.path, &code)),
        "entity": entity.to_string(),
        "episode": place.map(|(episode, ..)| episode.0),
        "now": now.map(EntityState::json_object),
        "on_disk": on_disk.map(|held| coloured(&entity.path, &held)),
        "story": story,
        "tombstoned": page.is_tombstoned,
    });
    super::mark_unverified(&mut json, flaw.as_deref());
    Ok(json)
}

/// Whether a story tells of such events: what is captured and told to models is told by what comes of it.
fn is_told(kind: EventKind) -> bool {
    !matches!(
        kind,
        EventKind::ArtifactCaptured | EventKind::ArtifactResolved | EventKind::NoticeIssued
    )
}

/// What an event says of an entity, in sentences.
fn told_of(event: &Event, wanted: &EntityId) -> String {
    match event {
        Event::DiskObserved(DiskObserved {
            path,
            finding: DiskFinding::File(_),
            ..
        }) => format!("{path} was looked at"),
        event => {
            let told = entries_of(Seq(0), event).into_iter();
            let told =
                told.filter(|it| wanted.symbol.is_none() || it.entity.as_ref() == Some(wanted));
            let told = told.map(|entry| entry.sentence(&reason_words(entry.reason)));
            let told: Vec<String> = told.collect();
            match told.is_empty() {
                true => log::sentence(event),
                false => told.join("; "),
            }
        }
    }
}

/// What an event made of a version, if it judged one.
fn judged_state(seq: Seq, event: &Event) -> Option<&'static str> {
    let mut entries = entries_of(seq, event).into_iter();
    let judged = entries.find(|it| it.told.is_judged())?;
    Some(judged.told.as_str())
}

/// The version that was true last of an entity of which nothing is true now.
fn last_true(
    reader: &LedgerReader,
    entity: &EntityId,
) -> Result<Option<FormerVersion>, LedgerError> {
    let row = reader.find_row::<FormerVersionsRow>((entity.clone(),))?;
    Ok(row.and_then(|mut row| row.versions.pop()))
}

fn now_line(now: &EntityState) -> String {
    let contested = if now.contested {
        "; contested by a shadow audit"
    } else {
        ""
    };
    format!(
        "true now: {}, from the {}, since {}; on disk: {}{contested}",
        now.name(),
        now.row.origin,
        utc_moment(now.row.updated_at_ms.0),
        now.disk_as_of()
    )
}
