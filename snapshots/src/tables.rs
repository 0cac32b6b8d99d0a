//! Tables in memory, maintained by row changes alone, to be compared with the fold's rows.

use std::collections::BTreeMap;

use tslp_projections::TABLES;
use tslp_projections::changes::{Change, RowChange};
use tslp_projections::table::{Table, Value};

/// The tables that hold the whole state, all but the archives, with their indices.
pub fn state_tables() -> impl Iterator<Item = (usize, &'static Table)> {
    let tables = TABLES.iter().enumerate();
    tables.filter(|(_, table)| !table.is_archive())
}

/// One map for each table: key values to the whole row.
#[derive(Clone)]
pub struct Tables(Vec<BTreeMap<Vec<Value>, Vec<Value>>>);

impl Default for Tables {
    fn default() -> Self {
        Self(TABLES.iter().map(|_| BTreeMap::new()).collect())
    }
}

impl Tables {
    /// Applies changes as a store would.
    ///
    /// # Panics
    /// When a change doesn't fit its table's description.
    pub fn apply(&mut self, changes: Vec<RowChange>) {
        for RowChange { table, change } in changes {
            let description = &TABLES[table];
            match change {
                Change::Put(row) => self.put_row(table, row),
                Change::Remove(key) => {
                    assert_eq!(key.len(), description.key, "{}", description.name);
                    assert!(!description.is_archive(), "{}", description.name);
                    self.0[table].remove(&key);
                }
            }
        }
    }

    fn put_row(&mut self, table: usize, row: Vec<Value>) {
        let description = &TABLES[table];
        assert_eq!(row.len(), description.columns.len(), "{}", description.name);
        for (value, column) in row.iter().zip(description.columns) {
            assert!(
                *value != Value::Null || column.nullable,
                "{}.{}",
                description.name,
                column.name
            );
        }
        let key = row[..description.key].to_vec();
        if description.is_archive() {
            self.0[table].entry(key).or_insert(row);
        } else {
            self.0[table].insert(key, row);
        }
    }

    /// The row with this key.
    pub fn row(&self, table: usize, key: &[Value]) -> Option<&Vec<Value>> {
        self.0[table].get(key)
    }

    /// The last row whose key isn't greater than this one, and differs from it at most in the key's last value.
    pub fn row_until(&self, table: usize, key: &[Value]) -> Option<&Vec<Value>> {
        let shared = key.len().saturating_sub(1);
        let (found, row) = self.0[table].range(..=key.to_vec()).next_back()?;
        (found[..shared] == key[..shared]).then_some(row)
    }

    /// All rows of one table, by key.
    pub fn rows(&self, table: usize) -> Vec<Vec<Value>> {
        self.0[table].values().cloned().collect()
    }
}
