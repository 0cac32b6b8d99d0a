//! The schema version of a database: read from its header, and checked against the statements of its tables.

use std::collections::BTreeSet;

use rusqlite::Connection;
use tslp_migrations::schema::{Ladder, NewerSchema};

use super::connection::{Database, pragma_number};
use super::error::LedgerError;
use super::tables::VERSION_PREFIX;

/// An entry of a schema that has a statement: table, name, statement.
type SchemaEntry = (String, String, String);

struct LadderSchemas {
    /// Each version with its entries, lowest first.
    versions: Vec<(i64, BTreeSet<SchemaEntry>)>,
    /// The tables that any version has.
    tables: BTreeSet<String>,
}

/// The schema version of a database, which must be one of the ladder's, with a schema that matches it.
///
/// # Errors
/// [`LedgerError::NewerSchema`] when a newer program wrote it; [`LedgerError::Corrupt`] when header and schema contradict
/// each other.
pub(super) fn check_schema(
    connection: &Connection,
    database: &Database,
    ladder: Ladder,
) -> Result<i64, LedgerError> {
    let failed = database.sqlite_error("read");
    let version: i64 = pragma_number(connection, "user_version").map_err(&failed)?;
    let schemas = LadderSchemas::of_ladder(ladder).map_err(&failed)?;
    let entries = schema_entries(connection).map_err(&failed)?;
    let own = schemas.own_entries(&entries);
    if schemas.has_version(version, &own) {
        return Ok(version);
    }
    // Every step changes the schema, so a newer program's isn't one that is known. A flipped bit in the header leaves one
    // that is.
    let is_known = schemas.versions.iter().any(|(_, known)| *known == own)
        && !schemas
            .has_other_tables(connection, &entries)
            .map_err(&failed)?;
    if version > i64::from(ladder.current()) && !is_known {
        return Err(LedgerError::NewerSchema {
            path: database.path.clone(),
            source: NewerSchema {
                found: version,
                known: ladder.current(),
            },
        });
    }
    Err(LedgerError::Corrupt {
        path: database.path.clone(),
        detail: format!("its schema isn't that of version {version}, which its header names"),
    })
}

/// Refuses a newer program's database; other flaws are left to later checks.
pub(super) fn refuse_newer(
    connection: &Connection,
    database: &Database,
    ladder: Ladder,
) -> Result<(), LedgerError> {
    let version = pragma_number::<i64>(connection, "user_version");
    if !version.is_ok_and(|version| version > i64::from(ladder.current())) {
        return Ok(());
    }
    match check_schema(connection, database, ladder) {
        Err(error @ LedgerError::NewerSchema { .. }) => Err(error),
        _ => Ok(()),
    }
}

/// Whether a database has the schema at the top of the ladder.
pub(super) fn is_at_the_top(connection: &Connection, ladder: Ladder) -> rusqlite::Result<bool> {
    let schemas = LadderSchemas::of_ladder(ladder)?;
    let own = schemas.own_entries(&schema_entries(connection)?);
    Ok(schemas.has_version(ladder.current().into(), &own)
        && pragma_number::<i64>(connection, "user_version")? == i64::from(ladder.current()))
}

impl LadderSchemas {
    fn of_ladder(ladder: Ladder) -> rusqlite::Result<Self> {
        let made = Connection::open_in_memory()?;
        let versions = ladder
            .steps()
            .iter()
            .map(|step| {
                made.execute_batch(step.sql)?;
                Ok((step.version.into(), schema_entries(&made)?))
            })
            .collect::<rusqlite::Result<Vec<(i64, BTreeSet<SchemaEntry>)>>>()?;
        let all = versions.iter().flat_map(|(_, entries)| entries);
        let tables = all.map(|(table, ..)| table.clone()).collect();
        Ok(Self { versions, tables })
    }

    /// The entries that don't belong to projections.
    fn own_entries(&self, entries: &BTreeSet<SchemaEntry>) -> BTreeSet<SchemaEntry> {
        let own = |(table, ..): &&SchemaEntry| self.tables.contains(table);
        entries.iter().filter(own).cloned().collect()
    }

    fn has_version(&self, version: i64, own: &BTreeSet<SchemaEntry>) -> bool {
        let found = self.versions.iter().find(|(known, _)| *known == version);
        found.is_some_and(|(_, schema)| schema == own)
    }

    /// Whether there are tables that neither this ladder nor a projection made.
    fn has_other_tables(
        &self,
        connection: &Connection,
        entries: &BTreeSet<SchemaEntry>,
    ) -> rusqlite::Result<bool> {
        let projections: BTreeSet<String> = connection
            .prepare("SELECT substr(key, length(?1) + 1) FROM meta WHERE key LIKE ?1 || '%'")?
            .query_map([VERSION_PREFIX], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let is_other = |(table, ..): &SchemaEntry| {
            !self.tables.contains(table)
                && !projections.contains(table)
                && !table.starts_with("sqlite_")
        };
        Ok(entries.iter().any(is_other))
    }
}

fn schema_entries(connection: &Connection) -> rusqlite::Result<BTreeSet<SchemaEntry>> {
    connection
        .prepare("SELECT tbl_name, name, sql FROM sqlite_schema WHERE sql IS NOT NULL")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect()
}
