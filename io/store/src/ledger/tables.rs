//! Projection tables in SQLite, made from their descriptions: created, filled, changed and read, all generically.
//!
//! They are plain tables for anyone with a `sqlite3` shell. `meta` has the tables with their versions as `tables`, the position of the last
//! event whose rows are written as `applied_seq`, the hash of all rows up to there as `rows_hash`, and the version of tslp that folded them as
//! `folded_by`; the log writes them in the transaction of the rows. Archives aren't in the hash: they grow with history, so no
//! start reads them.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params_from_iter};
use tslp_core::ids::Seq;
use tslp_projections::changes::{Change, RowChange};
use tslp_projections::row::Cell as _;
use tslp_projections::table::{Column, ColumnType, Keep, RowsHash, Table, Value};

use super::connection::{meta_value, set_meta, to_sql};
use super::error::TableError;

/// The version of tslp, which says who folded the tables.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The `meta` key of the last folded position.
pub(crate) const APPLIED_SEQ: &str = "applied_seq";

/// The `meta` key of the program that folded the tables last.
const FOLDED_BY: &str = "folded_by";

/// The `meta` key of the hash of all rows but the archives'.
const ROWS_HASH: &str = "rows_hash";

/// Most events of a tail. The engine has rows written long before; a longer tail has another cause, such as a copy.
const TAIL_EVENTS_MAX: u64 = 16_384;

/// The `meta` key of the tables' names, each with its version.
const TABLES_KEPT: &str = "tables";

/// Whether stored tables can be used as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TablesState {
    /// All of them have the current version and hold what the events up to here say. Later events are the *tail*, which whoever
    /// reads them folds.
    UpTo(Seq),
    /// They must be rebuilt from the ledger.
    Rebuild {
        /// The reason, for the log.
        reason: String,
    },
}

/// All projection tables with their statements.
#[derive(Clone, Debug)]
pub struct ProjectionTables {
    /// In the order of the descriptions.
    pub(super) tables: Vec<TableStatements>,
    /// `NAME:VERSION` of each.
    versions: String,
}

#[derive(Clone, Debug)]
pub(super) struct TableStatements {
    table: &'static Table,
    drop: String,
    /// The table, as SQLite keeps it in its schema.
    create: String,
    put: String,
    remove: String,
    read: String,
    find: String,
    /// The rows from a value of the key's first column on.
    read_from: String,
}

impl ProjectionTables {
    /// Writes the statements.
    #[must_use]
    pub fn new(tables: &'static [Table]) -> Self {
        let versions = tables
            .iter()
            .map(|it| format!("{}:{}", it.name, it.version));
        Self {
            tables: tables.iter().map(TableStatements::new).collect(),
            versions: versions.collect::<Vec<_>>().join(" "),
        }
    }

    /// Whether the stored tables can be used with a ledger that ends at `head`.
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn state(&self, connection: &Connection, head: Seq) -> Result<TablesState, TableError> {
        let rebuild = |reason: String| Ok(TablesState::Rebuild { reason });
        let versions: Option<String> = meta_value(connection, TABLES_KEPT)?;
        if versions.as_deref() != Some(&self.versions) {
            return rebuild("there are tables of other versions".to_owned());
        }
        for statements in &self.tables {
            let table = statements.table;
            let stored: Vec<String> = connection
                .prepare_cached(
                    "SELECT sql FROM sqlite_schema WHERE tbl_name = ?1 AND sql IS NOT NULL ORDER BY rowid",
                )?
                .query_map([table.name], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            if !stored.iter().eq([&statements.create]) {
                return rebuild(format!("table {} is missing or was altered", table.name));
            }
        }
        let by: Option<String> = meta_value(connection, FOLDED_BY)?;
        if by.as_deref() != Some(VERSION) {
            let by = by.as_deref().unwrap_or("of an unknown version");
            return rebuild(format!(
                "tslp {by} folded the tables, and this is {VERSION}"
            ));
        }
        match self.applied(connection)? {
            Some(applied) if applied > head || head.0 - applied.0 > TAIL_EVENTS_MAX => {
                rebuild(format!("tables stand at {applied}, the ledger at {head}"))
            }
            Some(_) if self.rows_hash(connection)?.is_none() => {
                rebuild("the tables have no hash that this tslp can read".to_owned())
            }
            Some(applied) => Ok(TablesState::UpTo(applied)),
            None => rebuild("the tables were found wrong, or never filled".to_owned()),
        }
    }

    /// The last event whose rows are written; `None` if the tables must be rebuilt.
    pub(super) fn applied(&self, connection: &Connection) -> rusqlite::Result<Option<Seq>> {
        let applied: Option<i64> = meta_value(connection, APPLIED_SEQ)?;
        Ok(applied.map(|applied| Seq(applied.unsigned_abs())))
    }

    /// Drops a table and makes it anew, empty. Call it in a transaction, while no row of any table is being read.
    ///
    /// # Errors
    /// When SQLite fails.
    pub fn recreate_table(&self, connection: &Connection, table: usize) -> Result<(), TableError> {
        let statements = &self.tables[table];
        connection.execute_batch(&statements.drop)?;
        connection.execute_batch(&statements.create)?;
        Ok(())
    }

    /// Drops every table, including those of projections that no longer exist, and makes the current ones, empty. Call it in a
    /// transaction.
    ///
    /// # Errors
    /// When SQLite fails.
    pub fn make_anew(&self, connection: &Connection) -> Result<(), TableError> {
        let kept: Option<String> = meta_value(connection, TABLES_KEPT)?;
        for (name, _) in kept
            .iter()
            .flat_map(|it| it.split(' '))
            .filter_map(|it| it.rsplit_once(':'))
        {
            // The name comes from the file, so it is quoted as what it is: anything.
            let quoted = name.replace('"', "\"\"");
            connection.execute_batch(&format!("DROP TABLE IF EXISTS \"{quoted}\""))?;
        }
        (0..self.tables.len()).try_for_each(|table| self.recreate_table(connection, table))?;
        set_meta(connection, TABLES_KEPT, self.versions.as_str())?;
        Ok(())
    }

    /// The stored hash of all rows but the archives'. `None` if it is missing or of another version.
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn rows_hash(&self, connection: &Connection) -> Result<Option<RowsHash>, TableError> {
        let bytes: Option<Vec<u8>> = meta_value(connection, ROWS_HASH)?;
        Ok(bytes.and_then(|bytes| RowsHash::from_bytes(&bytes)))
    }

    /// Records that this program has folded the tables up to this position, where their rows have this hash.
    ///
    /// # Errors
    /// When SQLite fails.
    pub fn set_applied(
        &self,
        connection: &Connection,
        applied: Seq,
        hash: RowsHash,
    ) -> Result<(), TableError> {
        set_meta(connection, APPLIED_SEQ, to_sql(applied))?;
        set_meta(connection, ROWS_HASH, hash.to_bytes())?;
        set_meta(connection, FOLDED_BY, VERSION)?;
        Ok(())
    }

    /// Makes changes one after the other, and has the hash of all rows follow them.
    ///
    /// # Errors
    /// When a row doesn't fit, it is to be taken out of an archive, or SQLite fails.
    pub fn apply_changes(
        &self,
        connection: &Connection,
        changes: &[RowChange],
        hash: &mut RowsHash,
    ) -> Result<(), TableError> {
        for change in changes {
            let statements = &self.tables[change.table];
            match &change.change {
                Change::Put(row) => statements.put_row(connection, row, hash)?,
                Change::Remove(key) => statements.remove(connection, key, hash)?,
            }
        }
        Ok(())
    }
}

impl TableStatements {
    fn new(table: &'static Table) -> Self {
        let names: Vec<String> = table
            .columns
            .iter()
            .map(|column| format!("\"{}\"", column.name))
            .collect();
        let (key, _) = names.split_at(table.key);
        let name = format!("\"{}\"", table.name);
        let all = names.join(", ");
        let places = vec!["?"; names.len()].join(", ");
        // An archive's row stays as it is.
        let otherwise = if table.is_archive() {
            "IGNORE"
        } else {
            "REPLACE"
        };
        let is_key = key
            .iter()
            .zip(1..)
            .map(|(column, number)| format!("{column} = ?{number}"));
        let is_key = is_key.collect::<Vec<_>>().join(" AND ");
        Self {
            table,
            drop: format!("DROP TABLE IF EXISTS {name}"),
            create: create_statement(table),
            put: format!("INSERT OR {otherwise} INTO {name} ({all}) VALUES ({places})"),
            remove: format!("DELETE FROM {name} WHERE {is_key}"),
            read: format!("SELECT {all} FROM {name} ORDER BY {}", key.join(", ")),
            find: format!("SELECT {all} FROM {name} WHERE {is_key}"),
            read_from: format!(
                "SELECT {all} FROM {name} WHERE {} >= ?1 ORDER BY {}",
                key[0],
                key.join(", ")
            ),
        }
    }

    /// Puts a row. If the same row is there already, nothing is written.
    pub(super) fn put_row(
        &self,
        connection: &Connection,
        row: &[Value],
        hash: &mut RowsHash,
    ) -> Result<(), TableError> {
        self.check_values(row, self.table.columns.len())?;
        if self.table.is_archive() {
            return self.execute_with(connection, &self.put, row);
        }
        let known = self.find_row(connection, &row[..self.table.key])?;
        if known.as_deref() != Some(row) {
            self.execute_with(connection, &self.put, row)?;
            known
                .iter()
                .for_each(|known| hash.remove(self.table, known));
            hash.add(self.table, row);
        }
        Ok(())
    }

    fn remove(
        &self,
        connection: &Connection,
        key: &[Value],
        hash: &mut RowsHash,
    ) -> Result<(), TableError> {
        assert!(!self.table.is_archive(), "an archive's rows stay");
        let known = self.find_row(connection, key)?;
        self.execute_with(connection, &self.remove, key)?;
        known
            .iter()
            .for_each(|known| hash.remove(self.table, known));
        Ok(())
    }

    fn execute_with(
        &self,
        connection: &Connection,
        sql: &str,
        values: &[Value],
    ) -> Result<(), TableError> {
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute(params_from_iter(values.iter().map(SqlValue)))?;
        Ok(())
    }

    /// Hands the rows to `visit`, in the order of their keys; given a value of the key's first column, those from it on.
    pub(super) fn read(
        &self,
        connection: &Connection,
        from: Option<&Value>,
        visit: &mut dyn FnMut(&[Value]) -> ControlFlow<()>,
    ) -> Result<(), TableError> {
        let sql = from.map_or(&self.read, |_| &self.read_from);
        let mut prepared = connection.prepare_cached(sql)?;
        let mut rows = prepared.query(params_from_iter(from.map(SqlValue)))?;
        let mut values = Vec::new();
        while let Some(row) = rows.next()? {
            self.read_row(row, &mut values)?;
            if visit(&values).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The hash of its rows; of an archive's, those that events up to `until` have put.
    pub(super) fn rows_hash_until(
        &self,
        connection: &Connection,
        until: Seq,
    ) -> Result<RowsHash, TableError> {
        let is_later = |row: &[Value]| match self.table.keep {
            Keep::First { seq } => Seq::from_value(&row[seq]).is_none_or(|seq| seq > until),
            Keep::Latest => false,
        };
        let mut hash = RowsHash::default();
        self.read(connection, None, &mut |row| {
            if !is_later(row) {
                hash.add(self.table, row);
            }
            ControlFlow::Continue(())
        })?;
        Ok(hash)
    }

    /// The row with this key.
    pub(super) fn find_row(
        &self,
        connection: &Connection,
        key: &[Value],
    ) -> Result<Option<Vec<Value>>, TableError> {
        self.check_values(key, self.table.key)?;
        connection
            .prepare_cached(&self.find)?
            .query_row(params_from_iter(key.iter().map(SqlValue)), |row| {
                let mut values = Vec::new();
                Ok(self.read_row(row, &mut values).map(|()| values))
            })
            .optional()?
            .transpose()
    }

    /// Refuses values that don't fit the leading columns.
    fn check_values(&self, values: &[Value], expected: usize) -> Result<(), TableError> {
        if values.len() != expected {
            return Err(self.misfit(format!("{expected} values wanted, {} given", values.len())));
        }
        let mut columns = values.iter().zip(self.table.columns);
        columns.try_for_each(|(value, column)| self.check_value(value, column))
    }

    fn check_value(&self, value: &Value, column: &Column) -> Result<(), TableError> {
        let fits = match value {
            Value::Null => column.nullable,
            Value::Integer(_) => column.kind == ColumnType::Integer,
            Value::Text(_) => column.kind == ColumnType::Text,
            Value::Hash(_) => column.kind == ColumnType::Hash,
            Value::Bytes(_) => column.kind == ColumnType::Bytes,
        };
        if fits {
            Ok(())
        } else {
            Err(self.misfit(format!("{value:?} doesn't fit column {}", column.name)))
        }
    }

    /// Reads a row in the place of the one before it. A text that is the same in both stays shared: neighbours in the order of
    /// their keys have most of theirs in common, and a start reads every row.
    fn read_row(&self, row: &Row<'_>, values: &mut Vec<Value>) -> Result<(), TableError> {
        values.resize(self.table.columns.len(), Value::Null);
        for ((index, column), value) in self.table.columns.iter().enumerate().zip(values) {
            match row.get_ref(index)? {
                ValueRef::Text(text) if matches!(value, Value::Text(it) if it.as_bytes() == text) =>
                {
                    continue;
                }
                ValueRef::Null => *value = Value::Null,
                ValueRef::Integer(number) => *value = Value::Integer(number),
                ValueRef::Text(text) => {
                    let text = std::str::from_utf8(text);
                    *value = Value::text(
                        text.map_err(|_| self.misfit("a text is not UTF-8".to_owned()))?,
                    );
                }
                ValueRef::Blob(bytes) if column.kind == ColumnType::Bytes => {
                    *value = Value::Bytes(bytes.into());
                }
                ValueRef::Blob(bytes) => {
                    let hash = bytes.try_into();
                    *value =
                        Value::Hash(hash.map_err(|_| {
                            self.misfit(format!("{} bytes are no hash", bytes.len()))
                        })?);
                }
                ValueRef::Real(number) => {
                    return Err(self.misfit(format!("{number} is no whole number")));
                }
            }
            self.check_value(value, column)?;
        }
        Ok(())
    }

    fn misfit(&self, detail: String) -> TableError {
        TableError::Shape {
            table: self.table.name,
            detail,
        }
    }
}

/// The statement that makes the table. A key of one whole number is SQLite's own row number; other tables are
/// stored in the order of their key, unless rows are so long that a tree of keys would keep most of each in pages of its own.
fn create_statement(table: &Table) -> String {
    let by_number = table.key == 1 && table.columns[0].kind == ColumnType::Integer;
    let has_long_rows = table.columns.iter().any(|it| it.kind == ColumnType::Bytes);
    let mut sql = format!("CREATE TABLE \"{}\" (", table.name);
    for column in table.columns {
        let kind = match column.kind {
            ColumnType::Integer => "INTEGER",
            ColumnType::Text => "TEXT",
            ColumnType::Hash | ColumnType::Bytes => "BLOB",
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
    if !(by_number || has_long_rows) {
        sql.push_str(", WITHOUT ROWID");
    }
    sql
}

/// A value as SQLite takes it, without a copy.
struct SqlValue<'a>(&'a Value);

impl ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Integer(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Hash(hash) => ValueRef::Blob(hash),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
