//! `/state`: everything that is true, and what disk says of it; no history, and nothing inferred (spec §14.3, §15.7).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use comfy_table::{Table, presets};
use serde_json::{Value, json};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::ids::{Seq, UnixMillis, VersionId};
use tslp_core::path::RelPath;
use tslp_projections::audits::AuditRow;
use tslp_projections::disk::{DiskRow, PathFinding};
use tslp_projections::stale::{DiskDifference, StaleRow};
use tslp_projections::state_map::StateMapRow;
use tslp_store::ledger::{LedgerError, LedgerReader};

use crate::out::{visible_json, visible_text};

use super::DiagnosedSubject;
use super::row_source::RowSource;
use crate::channel::StateQuery;
use crate::evidence::moments::utc_moment;

/// One entity of the State Map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityState {
    /// Its authoritative version.
    pub row: StateMapRow,
    /// What disk holds: `same`, `missing`, `acknowledged` (something else, which the user knew of), `not_saved` (what the model's
    /// accepted change replaces), `refused` (the model's refused change), `superseded`, `unknown`, `unreadable`, or `not_checked`.
    pub disk: &'static str,
    /// When a look last found something else at the path than the look before; looks that find the same leave no record.
    /// What `disk` says was so then, and may have changed since the last look. `None` on a page that looked itself and found
    /// something else: that is recorded with the next prompt.
    pub looked_at: Option<String>,
    /// Whether a shadow audit doubts that it is complete (spec §10).
    pub contested: bool,
}

impl EntityState {
    /// Whether the entity is STALE (spec §15.4). A file that can't be read is withheld, too, but not known to differ.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        matches!(self.disk, "superseded" | "unknown" | "refused")
    }

    /// `path::symbol`, or the path.
    #[must_use]
    pub fn name(&self) -> String {
        self.row.entity.to_string()
    }

    /// The page's object.
    #[must_use]
    pub fn json_object(&self) -> Value {
        let mut value = json!({
            "artifact": self.row.artifact.to_string(),
            "disk": self.disk,
            "last_updated": utc_moment(self.row.updated_at_ms.0),
            "looked_at": self.looked_at,
            "origin": self.row.origin.as_str(),
            "source": self.row.source.to_string(),
            "stale": self.is_stale(),
        });
        if self.contested {
            value["contested"] = true.into();
        }
        value
    }

    /// What disk holds, in words, with the moment of which it is said.
    #[must_use]
    pub fn disk_as_of(&self) -> String {
        let word = match self.disk {
            "refused" => "STALE (the model's refused change)".into(),
            stale if self.is_stale() => format!("STALE ({stale})"),
            "not_saved" => "not saved yet".into(),
            word => word.to_owned(),
        };
        match &self.looked_at {
            Some(moment) => format!("{word} as of {moment}"),
            None => word,
        }
    }
}

/// Entities of one `/state`, which says where to go on.
const PAGE_ENTITIES_MAX: usize = 2000;

/// The time at which an event was recorded.
pub(crate) type RecordedAt<'r> = &'r dyn Fn(Seq) -> Option<UnixMillis>;

/// The page: by index, only what it shows is read, and only the files that it names are looked at. It ends at
/// [`PAGE_ENTITIES_MAX`] or the wanted limit, and says then where to go on. `None` if what it is to come after isn't there.
///
/// # Errors
/// When the ledger can't be read.
pub fn state_page(
    subject: &DiagnosedSubject,
    wanted: &StateQuery,
    unverified: Option<&str>,
) -> Result<Option<Vec<u8>>, LedgerError> {
    let reader = subject.readers.open()?;
    let after = match &wanted.after {
        None => None,
        Some(name) => match true_entity_named(&reader, name)? {
            Some(entity) if entity.path.as_str().starts_with(&*wanted.path) => Some(entity),
            _ => return Ok(None),
        },
    };
    let limit = wanted
        .limit
        .map_or(PAGE_ENTITIES_MAX, |limit| limit.min(PAGE_ENTITIES_MAX));
    let (mut shown, mut has_more) = (Vec::new(), false);
    let first = after
        .as_ref()
        .map_or(&*wanted.path, |after| after.path.as_str());
    reader.visit_rows_from(first, &mut |row: StateMapRow| {
        // A path that begins otherwise comes after all that begin so.
        if !row.entity.path.as_str().starts_with(&*wanted.path) {
            return ControlFlow::Break(());
        }
        if after.as_ref().is_none_or(|after| row.entity > *after) {
            has_more = shown.len() == limit;
            if has_more {
                return ControlFlow::Break(());
            }
            shown.push(row);
        }
        ControlFlow::Continue(())
    })?;
    let next = shown
        .last()
        .filter(|_| has_more)
        .map(|row| row.entity.to_string());
    let files: BTreeSet<RelPath> = shown.iter().map(|row| row.entity.path.clone()).collect();
    let mut looks = LastLooks::default();
    for path in &files {
        looks.seen.extend(
            reader
                .find_row::<DiskRow>((path.clone(),))?
                .map(LastLooks::entry),
        );
    }
    for row in &shown {
        let differing = reader.find_row::<StaleRow>((row.entity.clone(),))?;
        looks
            .differing
            .extend(differing.map(|row| (row.entity, row.disk_holds)));
    }
    looks.add_contested(RowSource::Stored(&reader))?;
    let changed = subject.changed_on_disk(&reader, &files)?;
    let at = |seq| reader.recorded_at(seq).ok().flatten();
    let entities = shown.into_iter().map(|row| {
        let mut entity = looks.describe(row, &at);
        if let Some(word) = changed.entities.get(&entity.row.entity) {
            entity.disk = word;
            entity.looked_at = None;
        }
        (entity.name(), entity.json_object())
    });
    let map: serde_json::Map<String, Value> = entities.collect();
    let mut page = json!({ "entities": map });
    for (name, value) in [("next", next.as_deref()), ("unverified", unverified)] {
        if let Some(value) = value {
            page[name] = value.into();
        }
    }
    Ok(Some(visible_json(&page.to_string()).into_bytes()))
}

/// The entity of this name of which something is true. A file's name may itself contain `::`.
fn true_entity_named(reader: &LedgerReader, name: &str) -> Result<Option<EntityId>, LedgerError> {
    let splits = name.match_indices("::");
    let splits = splits.map(|(at, mark)| (&name[..at], Some(&name[at + mark.len()..])));
    for (path, symbol) in core::iter::once((name, None)).chain(splits) {
        let entity = EntityId {
            path: RelPath::from_normalised(path),
            symbol: symbol.map(Symbol::new),
        };
        if reader.find_row::<StateMapRow>((entity.clone(),))?.is_some() {
            return Ok(Some(entity));
        }
    }
    Ok(None)
}

/// The State Map out of the rows of projections' tables: every entity whose path begins so, in the order of path and symbol.
pub(crate) fn from_rows(
    rows: RowSource<'_>,
    at: RecordedAt<'_>,
    path_begins: &str,
) -> Result<Vec<EntityState>, LedgerError> {
    let is_wanted = |path: &RelPath| path.as_str().starts_with(path_begins);
    let mut looks = LastLooks::default();
    rows.visit(&mut |row: StaleRow| {
        if is_wanted(&row.entity.path) {
            looks.differing.insert(row.entity, row.disk_holds);
        }
        ControlFlow::Continue(())
    })?;
    rows.visit(&mut |row: DiskRow| {
        if is_wanted(&row.path) {
            looks.seen.extend([LastLooks::entry(row)]);
        }
        ControlFlow::Continue(())
    })?;
    looks.add_contested(rows)?;
    let mut entities = Vec::new();
    rows.visit(&mut |row: StateMapRow| {
        if is_wanted(&row.entity.path) {
            entities.push(looks.describe(row, at));
        }
        ControlFlow::Continue(())
    })?;
    Ok(entities)
}

/// What the last looks on record say of entities, and what audits do.
#[derive(Default)]
struct LastLooks {
    differing: BTreeMap<EntityId, DiskDifference>,
    seen: BTreeMap<RelPath, (PathFinding, Seq)>,
    contested: BTreeSet<VersionId>,
    /// The moment of the look that was asked for last: the entities of a file follow one another.
    last: Option<(Seq, Option<UnixMillis>)>,
}

impl LastLooks {
    fn entry(row: DiskRow) -> (RelPath, (PathFinding, Seq)) {
        (row.path, (row.finding, row.seq))
    }

    fn add_contested(&mut self, rows: RowSource<'_>) -> Result<(), LedgerError> {
        rows.visit(&mut |row: AuditRow| {
            if row.status.is_contested() {
                self.contested.insert(row.version);
            }
            ControlFlow::Continue(())
        })
    }

    fn describe(&mut self, row: StateMapRow, at: RecordedAt<'_>) -> EntityState {
        let (seen_word, looked_at) = match self.seen.get(&row.entity.path) {
            None => ("not_checked", None),
            Some((finding, seq)) => {
                let known = self.last.filter(|(of, _)| of == seq);
                let (_, moment) = *self.last.insert(known.unwrap_or_else(|| (*seq, at(*seq))));
                let word = match finding {
                    PathFinding::File => "same",
                    finding => finding.as_str(),
                };
                (word, moment)
            }
        };
        let differing = self.differing.get(&row.entity);
        EntityState {
            disk: differing.map_or(seen_word, |difference| difference.as_str()),
            looked_at: looked_at.map(|at| utc_moment(at.0)),
            contested: self.contested.contains(&row.version),
            row,
        }
    }
}

/// The page.
#[must_use]
pub fn state_json(entities: &[EntityState], unread: &[String]) -> Value {
    let map: serde_json::Map<String, Value> = entities
        .iter()
        .map(|entity| (entity.name(), entity.json_object()))
        .collect();
    let mut page = json!({ "entities": map });
    if !unread.is_empty() {
        page["unread"] = unread.into();
    }
    page
}

/// The page for people.
#[must_use]
pub fn state_lines(path_begins: &str, entities: &[EntityState], unread: &[String]) -> Vec<String> {
    let unread = unread.iter();
    let unread = unread.map(|file| format!("not read, and so never true: {file}"));
    if entities.is_empty() {
        let nothing = if path_begins.is_empty() {
            "Nothing is true yet: paste code with its path into a prompt, and it will be."
                .to_owned()
        } else {
            format!(
                "Nothing is true of paths that begin with `{path_begins}`; `tslp state` shows all that is."
            )
        };
        return std::iter::once(nothing).chain(unread).collect();
    }
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(["entity", "artifact", "from", "since", "on disk"]);
    for entity in entities {
        let disk = entity.disk_as_of();
        let origin = entity.row.origin;
        let origin = if entity.contested {
            format!("{origin} (contested)")
        } else {
            origin.to_string()
        };
        table.add_row([
            // The table breaks cells at line feeds.
            &visible_text(&entity.name()),
            &format!("{:.12}", entity.row.artifact),
            &origin,
            &utc_moment(entity.row.updated_at_ms.0),
            &disk,
        ]);
    }
    let lines = table.trim_fmt();
    lines.lines().map(str::to_owned).chain(unread).collect()
}
