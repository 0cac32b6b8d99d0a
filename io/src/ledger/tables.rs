//! Projection tables in SQLite, made from their descriptions: created, filled, changed and read, all generically.
//!
//! They are plain tables for anyone with a `sqlite3` shell. Each table's version stands in `meta` as `table:NAME`,
//! the last folded position as `applied_seq`; the log writes both in the transaction of the rows.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, Row, ToSql, params_from_iter};
use tslp_core::ids::Seq;
use tslp_projections::table::{Change, Column, ColumnType, RowChange, Table, Value};

use super::connection::{meta, set_meta, to_sql};

/// The `meta` key of the last folded position.
pub(crate) const APPLIED_SEQ: &str = "applied_seq";

/// What stands before a table's name in the `meta` key of its version.
pub(super) const VERSION_PREFIX: &str = "table:";

/// An error while reading or writing a table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// SQLite's error.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// A row, or a request for one, doesn't fit the table's description.
    #[error("{detail}")]
    Shape {
        /// The table.
        table: &'static str,
        /// What doesn't fit.
        detail: String,
    },
}

/// Whether stored tables can be used as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TablesState {
    /// All of them are of today's version and hold everything up to the ledger's head.
    Current,
    /// They must be rebuilt from the ledger.
    Rebuild {
        /// Why, for the log.
        reason: String,
    },
}

/// All projection tables with their statements.
#[derive(Clone, Debug)]
pub struct Tables {
    tables: Vec<Statements>,
}

#[derive(Clone, Debug)]
struct Statements {
    table: &'static Table,
    drop: String,
    /// The table, then its triggers, each as SQLite keeps it in its schema.
    create: Vec<String>,
    put: String,
    remove: String,
    read: String,
}

impl Tables {
    /// Prepares the statements. Tables in `append_only` refuse any change or removal of a row.
    #[must_use]
    pub fn new(tables: &'static [Table], append_only: &[&str]) -> Self {
        Self {
            tables: tables
                .iter()
                .map(|table| Statements::new(table, append_only.contains(&table.name)))
                .collect(),
        }
    }

    /// The descriptions.
    pub fn descriptions(&self) -> impl Iterator<Item = &'static Table> + '_ {
        self.tables.iter().map(|statements| statements.table)
    }

    /// Whether the stored tables can be used with a ledger that ends at `head`.
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn state(&self, connection: &Connection, head: Seq) -> Result<TablesState, TableError> {
        let rebuild = |reason: String| Ok(TablesState::Rebuild { reason });
        for Statements { table, create, .. } in &self.tables {
            let version: Option<i64> = meta(connection, &version_key(table.name))?;
            if version != Some(table.version.into()) {
                let found = version.map_or("none".to_owned(), |version| version.to_string());
                let (name, wanted) = (table.name, table.version);
                return rebuild(format!(
                    "table {name} should have version {wanted}, there is {found}"
                ));
            }
            let stored: Vec<String> = connection
                .prepare_cached(
                    "SELECT sql FROM sqlite_schema WHERE tbl_name = ?1 AND sql IS NOT NULL ORDER BY rowid",
                )?
                .query_map([table.name], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            if stored != *create {
                return rebuild(format!("table {} is missing or was altered", table.name));
            }
        }
        let applied: Option<i64> = meta(connection, APPLIED_SEQ)?;
        match applied {
            Some(applied) if applied == to_sql(head) => Ok(TablesState::Current),
            Some(applied) => rebuild(format!("tables stand at #{applied}, the ledger at {head}")),
            None => rebuild("tables were never filled".to_owned()),
        }
    }

    /// Drops a table, makes it anew and fills it. Call it in a transaction.
    ///
    /// # Errors
    /// When a row doesn't fit, or SQLite fails.
    pub fn recreate(
        &self,
        connection: &Connection,
        table: usize,
        rows: impl IntoIterator<Item = Vec<Value>>,
    ) -> Result<u64, TableError> {
        let statements = self.statements(table)?;
        connection.execute_batch(&statements.drop)?;
        for create in &statements.create {
            connection.execute_batch(create)?;
        }
        let mut put = connection.prepare(&statements.put)?;
        let mut count = 0;
        for row in rows {
            statements.check(&row, statements.table.columns.len())?;
            put.execute(params_from_iter(row.iter().map(Sql)))?;
            count += 1;
        }
        let version = i64::from(statements.table.version);
        set_meta(connection, &version_key(statements.table.name), version)?;
        Ok(count)
    }

    /// Drops tables of projections that are no more. Call it in a transaction.
    ///
    /// # Errors
    /// When SQLite fails.
    pub fn drop_unknown(&self, connection: &Connection) -> Result<(), TableError> {
        let names: Vec<String> = connection
            .prepare("SELECT substr(key, length(?1) + 1) FROM meta WHERE key LIKE ?1 || '%'")?
            .query_map([VERSION_PREFIX], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for name in names {
            if self.descriptions().all(|table| table.name != name) {
                let quoted = name.replace('"', "\"\"");
                connection.execute_batch(&format!("DROP TABLE IF EXISTS \"{quoted}\""))?;
                connection.execute("DELETE FROM meta WHERE key = ?1", [version_key(&name)])?;
            }
        }
        Ok(())
    }

    /// Makes changes one after the other. A statement stays at hand as long as the next change takes the same.
    ///
    /// # Errors
    /// When a row doesn't fit, a table is append-only and the change isn't, or SQLite fails.
    pub fn apply(&self, connection: &Connection, changes: &[RowChange]) -> Result<(), TableError> {
        let mut at_hand: Option<(&str, CachedStatement<'_>)> = None;
        for change in changes {
            let statements = self.statements(change.table)?;
            let (sql, values, expected) = match &change.change {
                Change::Put(row) => (&statements.put, row, statements.table.columns.len()),
                Change::Remove(key) => (&statements.remove, key, statements.table.key),
            };
            statements.check(values, expected)?;
            let statement = match at_hand.take() {
                Some((known, statement)) if core::ptr::eq(known, sql.as_str()) => statement,
                _ => connection.prepare_cached(sql)?,
            };
            let (_, statement) = at_hand.insert((sql, statement));
            statement.execute(params_from_iter(values.iter().map(Sql)))?;
        }
        Ok(())
    }

    /// Hands every row of a table to `visit`, in the order of its key.
    ///
    /// # Errors
    /// When the table is missing, holds what it can't, or SQLite fails.
    pub fn read_all(
        &self,
        connection: &Connection,
        table: usize,
        visit: &mut dyn FnMut(Vec<Value>) -> ControlFlow<()>,
    ) -> Result<(), TableError> {
        let statements = self.statements(table)?;
        let mut prepared = connection.prepare_cached(&statements.read)?;
        let mut rows = prepared.query([])?;
        while let Some(row) = rows.next()? {
            if visit(statements.row(row)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn statements(&self, table: usize) -> Result<&Statements, TableError> {
        self.tables.get(table).ok_or_else(|| TableError::Shape {
            table: "?",
            detail: format!(
                "there is no table number {table}, only {}",
                self.tables.len()
            ),
        })
    }
}

impl Statements {
    fn new(table: &'static Table, append_only: bool) -> Self {
        let names: Vec<String> = table
            .columns
            .iter()
            .map(|column| format!("\"{}\"", column.name))
            .collect();
        let (key, rest) = names.split_at(table.key);
        let name = format!("\"{}\"", table.name);
        let differs = rest
            .iter()
            .map(|column| format!("{name}.{column} IS NOT excluded.{column}"))
            .collect::<Vec<_>>()
            .join(" OR ");
        // A row that is put as it is costs no write, and is no change in an append-only table.
        let on_conflict = if rest.is_empty() {
            "DO NOTHING".to_owned()
        } else {
            let set = rest
                .iter()
                .map(|column| format!("{column} = excluded.{column}"))
                .collect::<Vec<_>>()
                .join(", ");
            format!("DO UPDATE SET {set} WHERE {differs}")
        };
        let places = (1..=names.len())
            .map(|number| format!("?{number}"))
            .collect::<Vec<_>>()
            .join(", ");
        let is_key = key
            .iter()
            .zip(1..)
            .map(|(column, number)| format!("{column} = ?{number}"))
            .collect::<Vec<_>>()
            .join(" AND ");
        let (all, key) = (names.join(", "), key.join(", "));
        let mut create = vec![create(table)];
        if append_only {
            create.extend(refusals(table));
        }
        Self {
            table,
            drop: format!("DROP TABLE IF EXISTS {name}"),
            create,
            put: format!(
                "INSERT INTO {name} ({all}) VALUES ({places}) ON CONFLICT ({key}) {on_conflict}"
            ),
            remove: format!("DELETE FROM {name} WHERE {is_key}"),
            read: format!("SELECT {all} FROM {name} ORDER BY {key}"),
        }
    }

    /// Refuses values that don't fit the leading columns.
    fn check(&self, values: &[Value], expected: usize) -> Result<(), TableError> {
        if values.len() != expected {
            return Err(self.shape(format!("{expected} values wanted, {} given", values.len())));
        }
        for (value, column) in values.iter().zip(self.table.columns) {
            let fits = match value {
                Value::Null => column.nullable,
                Value::Integer(_) => column.kind == ColumnType::Integer,
                Value::Text(_) => column.kind == ColumnType::Text,
                Value::Blob(_) => column.kind == ColumnType::Blob,
            };
            if !fits {
                return Err(self.shape(format!("{value:?} doesn't fit column {}", column.name)));
            }
        }
        Ok(())
    }

    fn row(&self, row: &Row<'_>) -> Result<Vec<Value>, TableError> {
        let values = (0..self.table.columns.len())
            .map(|column| {
                Ok(match row.get_ref(column)? {
                    ValueRef::Null => Value::Null,
                    ValueRef::Integer(number) => Value::Integer(number),
                    ValueRef::Text(text) => Value::Text(
                        String::from_utf8(text.to_vec())
                            .map_err(|_| self.shape("a text is not UTF-8".to_owned()))?,
                    ),
                    ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
                    ValueRef::Real(number) => {
                        return Err(self.shape(format!("{number} is no whole number")));
                    }
                })
            })
            .collect::<Result<Vec<_>, TableError>>()?;
        self.check(&values, self.table.columns.len())?;
        Ok(values)
    }

    fn shape(&self, detail: String) -> TableError {
        TableError::Shape {
            table: self.table.name,
            detail,
        }
    }
}

/// The statement that makes the table. A key of one whole number is SQLite's own row number; other tables are
/// stored in the order of their key.
fn create(table: &Table) -> String {
    let by_number = table.key == 1 && table.columns[0].kind == ColumnType::Integer;
    let mut sql = format!("CREATE TABLE \"{}\" (", table.name);
    for column in table.columns {
        let kind = match column.kind {
            ColumnType::Integer => "INTEGER",
            ColumnType::Text => "TEXT",
            ColumnType::Blob => "BLOB",
        };
        let null = if column.nullable { "" } else { " NOT NULL" };
        // Writing to a string can't fail.
        let _ = write!(sql, "\"{}\" {kind}{null}, ", column.name);
    }
    let key: Vec<String> = table.columns[..table.key]
        .iter()
        .map(|column| format!("\"{}\"", column.name))
        .collect();
    let _ = write!(sql, "PRIMARY KEY ({})) STRICT", key.join(", "));
    if !by_number {
        sql.push_str(", WITHOUT ROWID");
    }
    sql
}

/// Triggers that refuse whatever isn't a new row. `INSERT OR REPLACE` fires no delete trigger, so it needs its own.
fn refusals(table: &Table) -> Vec<String> {
    let name = table.name;
    let condition = |columns: &[Column], operator: &str, link: &str| {
        columns
            .iter()
            .map(|column| format!("\"{0}\" {operator} NEW.\"{0}\"", column.name))
            .collect::<Vec<_>>()
            .join(link)
    };
    let refuse = |verb: &str, event: &str, when: &str| {
        format!(
            "CREATE TRIGGER \"{name}_refuses_{verb}\" BEFORE {event} ON \"{name}\" {when}\
             BEGIN SELECT RAISE(ABORT, '{name} is append-only'); END"
        )
    };
    let (key, rest) = table.columns.split_at(table.key);
    let mut triggers = vec![
        refuse("update", "UPDATE", ""),
        refuse("delete", "DELETE", ""),
    ];
    if !rest.is_empty() {
        let (same, other) = (
            condition(key, "IS", " AND "),
            condition(rest, "IS NOT", " OR "),
        );
        let when = format!("WHEN EXISTS (SELECT 1 FROM \"{name}\" WHERE {same} AND ({other})) ");
        triggers.push(refuse("replace", "INSERT", &when));
    }
    triggers
}

fn version_key(name: &str) -> String {
    format!("{VERSION_PREFIX}{name}")
}

/// A value as SQLite takes it, without a copy.
struct Sql<'a>(&'a Value);

impl ToSql for Sql<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Integer(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
