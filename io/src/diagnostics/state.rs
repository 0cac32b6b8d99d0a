//! `/state`: everything that is true, and what disk says of it; no history, and nothing inferred (spec §14.3, §15.7).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::ControlFlow;

use comfy_table::{Table, presets};
use serde_json::{Value, json};
use tslp_core::ids::{Seq, UnixMillis};
use tslp_core::path::RelPath;
use tslp_projections::audits::AuditRow;
use tslp_projections::disk::{DiskRow, PathFinding};
use tslp_projections::stale::StaleRow;
use tslp_projections::state_map::StateMapRow;
use tslp_store::ledger::LedgerError;

use crate::out::visible_text;

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

/// Bytes after which `/state` ends and says where to go on.
const PAGE_BYTES_MAX: usize = 32 << 20;

/// The time at which an event was recorded.
pub(crate) type RecordedAt<'r> = &'r dyn Fn(Seq) -> Option<UnixMillis>;

/// Writes the page piece by piece: never more of the State Map than its text is in memory. It ends early at
/// [`PAGE_BYTES_MAX`] or the wanted limit, and says then where to go on. `None` if what it is to come after isn't there.
///
/// # Errors
/// When the ledger can't be read.
pub fn state_page(
    subject: &DiagnosedSubject,
    wanted: &StateQuery,
    unverified: Option<&str>,
) -> Result<Option<Vec<u8>>, LedgerError> {
    let reader = subject.readers.open()?;
    let mut text = String::from("{\"entities\":{");
    let (mut written, mut last, mut next) = (0, String::new(), None);
    let mut is_after = wanted.after.is_none();
    let rows = RowSource::Stored(&reader);
    let at = |seq| reader.recorded_at(seq).ok().flatten();
    let changed = subject.changed_on_disk(&reader, &wanted.path)?;
    visit_entities(rows, &at, &wanted.path, &mut |mut entity| {
        if let Some(word) = changed.entities.get(&entity.row.entity) {
            entity.disk = word;
            entity.looked_at = None;
        }
        let name = entity.name();
        if !is_after {
            is_after = wanted.after.as_ref() == Some(&name);
            return ControlFlow::Continue(());
        }
        if Some(written) == wanted.limit || text.len() >= PAGE_BYTES_MAX {
            next = Some(std::mem::take(&mut last));
            return ControlFlow::Break(());
        }
        if written > 0 {
            text.push(',');
        }
        // Writing to a string can't fail.
        let _ = write!(text, "{}:{}", Value::from(&*name), entity.json_object());
        written += 1;
        last = name;
        ControlFlow::Continue(())
    })?;
    if !is_after {
        return Ok(None);
    }
    text.push('}');
    for (name, value) in [("next", next.as_deref()), ("unverified", unverified)] {
        if let Some(value) = value {
            // Writing to a string can't fail.
            let _ = write!(text, ",\"{name}\":{}", Value::from(value));
        }
    }
    text.push('}');
    Ok(Some(text.into_bytes()))
}

/// The State Map out of the rows of projections' tables.
pub(crate) fn from_rows(
    rows: RowSource<'_>,
    at: RecordedAt<'_>,
    path_begins: &str,
) -> Result<Vec<EntityState>, LedgerError> {
    let mut entities = Vec::new();
    visit_entities(rows, at, path_begins, &mut |entity| {
        entities.push(entity);
        ControlFlow::Continue(())
    })?;
    Ok(entities)
}

/// Every entity whose path begins so, in the order of path and symbol.
fn visit_entities(
    rows: RowSource<'_>,
    at: RecordedAt<'_>,
    path_begins: &str,
    visit: &mut dyn FnMut(EntityState) -> ControlFlow<()>,
) -> Result<(), LedgerError> {
    let is_wanted = |path: &RelPath| path.as_str().starts_with(path_begins);
    let mut differing = BTreeMap::new();
    let mut seen = BTreeMap::new();
    let mut contested = BTreeSet::new();
    rows.visit(&mut |row: StaleRow| {
        if is_wanted(&row.entity.path) {
            differing.insert(row.entity, row.disk_holds);
        }
        ControlFlow::Continue(())
    })?;
    rows.visit(&mut |row: DiskRow| {
        if is_wanted(&row.path) {
            seen.insert(row.path, (row.finding, row.seq));
        }
        ControlFlow::Continue(())
    })?;
    rows.visit(&mut |row: AuditRow| {
        if row.status.is_contested() {
            contested.insert(row.version);
        }
        ControlFlow::Continue(())
    })?;
    let mut last: Option<(Seq, Option<UnixMillis>)> = None;
    rows.visit(&mut |row: StateMapRow| {
        if !is_wanted(&row.entity.path) {
            return ControlFlow::Continue(());
        }
        let (seen_word, looked_at) = match seen.get(&row.entity.path) {
            None => ("not_checked", None),
            Some((finding, seq)) => {
                // The entities of a file follow one another.
                let known = last.filter(|(of, _)| of == seq);
                let (_, moment) = *last.insert(known.unwrap_or_else(|| (*seq, at(*seq))));
                let word = match finding {
                    PathFinding::File => "same",
                    finding => finding.as_str(),
                };
                (word, moment)
            }
        };
        visit(EntityState {
            disk: differing
                .get(&row.entity)
                .map_or(seen_word, |difference| difference.as_str()),
            looked_at: looked_at.map(|at| utc_moment(at.0)),
            contested: contested.contains(&row.version),
            row,
        })
    })
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
pub fn state_lines(entities: &[EntityState], unread: &[String]) -> Vec<String> {
    let unread = unread.iter();
    let unread = unread.map(|file| format!("not read, and so never true: {file}"));
    if entities.is_empty() {
        let nothing =
            "Nothing is true yet: paste code with its path into a prompt, and it will be.";
        return std::iter::once(nothing.into()).chain(unread).collect();
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
