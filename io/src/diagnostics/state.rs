//! `/state`: everything that is true, and what disk says of it (spec §14.3, §15.7).

use std::collections::{BTreeMap, BTreeSet};

use comfy_table::{Table, presets};
use serde_json::{Value, json};
use tslp_projections::table::Value as Cell;
use tslp_projections::{AUDITS, DISK, STALE, STATE_MAP};

use super::{Row, Subject, entity_name, moment};
use crate::ledger::LedgerError;

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
    /// When it became true.
    pub last_updated: String,
    /// What disk holds: `same`, `missing`, `acknowledged` (something else, which the user knew of), `superseded`, `unknown`,
    /// `unreadable`, or `not_checked`.
    pub disk: String,
    /// Whether a shadow audit doubts that it is complete (spec §10).
    pub contested: bool,
}

impl EntityState {
    /// Whether the entity is STALE (spec §15.4). A file that can't be read is withheld, too, but not known to differ.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        matches!(self.disk.as_str(), "superseded" | "unknown")
    }
}

/// The whole State Map, sorted by entity.
///
/// # Errors
/// When the ledger can't be read.
pub fn read(subject: &Subject) -> Result<Vec<EntityState>, LedgerError> {
    let reader = subject.readers.open()?;
    from_rows(|table| reader.rows(table))
}

/// The State Map out of the rows of projections' tables, wherever they come from.
pub(crate) fn from_rows<E>(
    rows: impl Fn(usize) -> Result<Vec<Vec<Cell>>, E>,
) -> Result<Vec<EntityState>, E> {
    let mut differing = BTreeMap::new();
    for row in rows(STALE)? {
        let key = (
            row.text(0).unwrap_or_default().to_owned(),
            row.text(1).unwrap_or_default().to_owned(),
        );
        differing.insert(key, row.text(2).unwrap_or_default().to_owned());
    }
    let mut seen = BTreeMap::new();
    for row in rows(DISK)? {
        let word = if row.text(1) == Some("file") {
            "same"
        } else {
            row.text(1).unwrap_or_default()
        };
        seen.insert(row.text(0).unwrap_or_default().to_owned(), word.to_owned());
    }
    let contested: BTreeSet<i64> = rows(AUDITS)?
        .iter()
        .filter(|row| row.number(5) != 0)
        .map(|row| row.number(1))
        .collect();
    let entities = rows(STATE_MAP)?.into_iter().map(|row| {
        let path = row.text(0).unwrap_or_default().to_owned();
        let symbol = row.text(1).unwrap_or_default().to_owned();
        let entity = entity_name(&path, &symbol);
        let seen_word = seen
            .get(&path)
            .map_or("not_checked", String::as_str)
            .to_owned();
        EntityState {
            entity,
            artifact: row.hash(2),
            source: row.hash(4),
            origin: row.text(8).unwrap_or_default().to_owned(),
            last_updated: moment(row.number(11)),
            disk: differing.remove(&(path, symbol)).unwrap_or(seen_word),
            contested: contested.contains(&row.number(3)),
        }
    });
    Ok(entities.collect())
}

/// The page.
#[must_use]
pub fn json(entities: &[EntityState]) -> Value {
    let map: serde_json::Map<String, Value> = entities
        .iter()
        .map(|entity| {
            let mut value = json!({
                "artifact": entity.artifact,
                "disk": entity.disk,
                "last_updated": entity.last_updated,
                "origin": entity.origin,
                "source": entity.source,
                "stale": entity.is_stale(),
            });
            if entity.contested {
                value["contested"] = true.into();
            }
            (entity.entity.clone(), value)
        })
        .collect();
    json!({ "entities": map })
}

/// The page for people.
#[must_use]
pub fn human(entities: &[EntityState]) -> String {
    if entities.is_empty() {
        return "Nothing is true yet: paste code with its path into a prompt, and it will be."
            .into();
    }
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(["entity", "artifact", "from", "since", "on disk"]);
    for entity in entities {
        let disk = if entity.is_stale() {
            format!("STALE ({})", entity.disk)
        } else {
            entity.disk.clone()
        };
        let origin = if entity.contested {
            format!("{} (contested)", entity.origin)
        } else {
            entity.origin.clone()
        };
        table.add_row([
            entity.entity.as_str(),
            entity.artifact.get(..12).unwrap_or_default(),
            &origin,
            &entity.last_updated,
            &disk,
        ]);
    }
    table.trim_fmt()
}
