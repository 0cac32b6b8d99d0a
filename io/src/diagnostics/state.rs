//! `/state`: everything that is true, and what disk says of it; no history, and nothing inferred (spec §14.3, §15.7).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::ControlFlow;

use comfy_table::{Table, presets};
use serde_json::{Value, json};
use tslp_core::ids::{Seq, UnixMillis};
use tslp_projections::table::Value as Cell;
use tslp_projections::{AUDITS, DISK, STALE, STATE_MAP};

use crate::out::visible_text;

use super::{DiagnosedSubject, TableRow, entity_name, utc_moment};
use crate::channel::StateQuery;
use tslp_store::ledger::LedgerError;

/// One entity of the State Map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityState {
    /// `path::symbol`, or the path.
    pub entity: String,
    /// Hash of the authoritative version.
    pub artifact: String,
    /// Vault address of the bytes that hold it.
    pub source: String,
    /// Who supplied it.
    pub origin: String,
    /// The time at which it became true.
    pub last_updated: String,
    /// What disk holds: `same`, `missing`, `acknowledged` (something else, which the user knew of), `superseded`, `unknown`,
    /// `unreadable`, or `not_checked`.
    pub disk: String,
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
        matches!(self.disk.as_str(), "superseded" | "unknown")
    }

    fn json_object(&self) -> Value {
        let mut value = json!({
            "artifact": self.artifact,
            "disk": self.disk,
            "last_updated": self.last_updated,
            "looked_at": self.looked_at,
            "origin": self.origin,
            "source": self.source,
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
        let word = if self.is_stale() {
            format!("STALE ({})", self.disk)
        } else {
            self.disk.clone()
        };
        match &self.looked_at {
            Some(moment) => format!("{word} as of {moment}"),
            None => word,
        }
    }
}

/// Bytes after which `/state` ends and says where to go on.
const PAGE_BYTES_MAX: usize = 32 << 20;

/// The rows of a projection's table, one by one.
type TableRows<'r, E> =
    &'r dyn Fn(usize, &mut dyn FnMut(&[Cell]) -> ControlFlow<()>) -> Result<(), E>;

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
    let rows: TableRows<'_, LedgerError> = &|table, visit| reader.read_table(table, visit);
    let at = |seq| reader.recorded_at(seq).ok().flatten();
    let changed = subject.changed_on_disk(&reader, &wanted.path)?;
    visit_entities(rows, &at, &wanted.path, &mut |mut entity| {
        if let Some(word) = changed.entities.get(&entity.entity) {
            entity.disk = (*word).to_owned();
            entity.looked_at = None;
        }
        if !is_after {
            is_after = wanted.after.as_ref() == Some(&entity.entity);
            return ControlFlow::Continue(());
        }
        if Some(written) == wanted.limit || text.len() >= PAGE_BYTES_MAX {
            next = Some(std::mem::take(&mut last));
            return ControlFlow::Break(());
        }
        if written > 0 {
            text.push(',');
        }
        let name = Value::from(entity.entity.as_str());
        // Writing to a string can't fail.
        let _ = write!(text, "{name}:{}", entity.json_object());
        written += 1;
        last = entity.entity;
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

/// The State Map out of the rows of projections' tables, wherever they come from.
pub(crate) fn from_rows<E>(
    rows: impl Fn(usize) -> Result<Vec<Vec<Cell>>, E>,
    at: RecordedAt<'_>,
    path_begins: &str,
) -> Result<Vec<EntityState>, E> {
    let mut entities = Vec::new();
    let rows: TableRows<'_, E> = &|table, visit| {
        let _ = rows(table)?.iter().try_for_each(|row| visit(row));
        Ok(())
    };
    visit_entities(rows, at, path_begins, &mut |entity| {
        entities.push(entity);
        ControlFlow::Continue(())
    })?;
    Ok(entities)
}

/// Every entity whose path begins so, in the order of path and symbol.
fn visit_entities<E>(
    rows: TableRows<'_, E>,
    at: RecordedAt<'_>,
    path_begins: &str,
    visit: &mut dyn FnMut(EntityState) -> ControlFlow<()>,
) -> Result<(), E> {
    let is_wanted = |row: &[Cell]| {
        row.optional_text_at(0)
            .is_some_and(|path| path.starts_with(path_begins))
    };
    let mut differing = BTreeMap::new();
    let mut seen = BTreeMap::new();
    let mut contested = BTreeSet::new();
    rows(STALE, &mut |row| {
        if is_wanted(row) {
            let key = [0, 1].map(|column| Box::<str>::from(row.text_at(column)));
            differing.insert(key, Box::<str>::from(row.text_at(2)));
        }
        ControlFlow::Continue(())
    })?;
    rows(DISK, &mut |row| {
        if is_wanted(row) {
            // Most are files, which need no word.
            let word = row.optional_text_at(1).filter(|word| *word != "file");
            let seq = Seq(u64::try_from(row.number_at(4)).unwrap_or_default());
            seen.insert(
                Box::<str>::from(row.text_at(0)),
                (word.map(Box::<str>::from), seq),
            );
        }
        ControlFlow::Continue(())
    })?;
    rows(AUDITS, &mut |row| {
        if row.number_at(5) != 0 {
            contested.insert(row.number_at(1));
        }
        ControlFlow::Continue(())
    })?;
    let mut last: Option<(Seq, Option<UnixMillis>)> = None;
    rows(STATE_MAP, &mut |row| {
        if !is_wanted(row) {
            return ControlFlow::Continue(());
        }
        let (path, symbol) = (row.text_at(0), row.text_at(1));
        let (seen_word, looked_at) = match seen.get(path) {
            None => ("not_checked", None),
            Some((word, seq)) => {
                // The entities of a file follow one another.
                let known = last.filter(|(of, _)| of == seq);
                let (_, moment) = *last.insert(known.unwrap_or_else(|| (*seq, at(*seq))));
                (word.as_deref().unwrap_or("same"), moment)
            }
        };
        let key = [path, symbol].map(Box::<str>::from);
        visit(EntityState {
            entity: entity_name(path, symbol),
            artifact: row.hash_at(2),
            source: row.hash_at(4),
            origin: row.text_at(8).to_owned(),
            last_updated: utc_moment(row.number_at(11)),
            disk: differing
                .get(&key)
                .map_or(seen_word, AsRef::as_ref)
                .to_owned(),
            looked_at: looked_at.map(|at| utc_moment(at.0)),
            contested: contested.contains(&row.number_at(3)),
        })
    })
}

/// The page.
#[must_use]
pub fn state_json(entities: &[EntityState], unread: &[String]) -> Value {
    let map: serde_json::Map<String, Value> = entities
        .iter()
        .map(|entity| (entity.entity.clone(), entity.json_object()))
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
        let origin = if entity.contested {
            format!("{} (contested)", entity.origin)
        } else {
            entity.origin.clone()
        };
        table.add_row([
            // The table breaks cells at line feeds.
            &visible_text(&entity.entity),
            entity.artifact.get(..12).unwrap_or_default(),
            &origin,
            &entity.last_updated,
            &disk,
        ]);
    }
    let lines = table.trim_fmt();
    lines.lines().map(str::to_owned).chain(unread).collect()
}
