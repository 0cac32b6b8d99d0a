//! Tables in memory, kept by row changes alone, to be compared with what the fold says.

use std::collections::BTreeMap;

use tslp_projections::TABLES;
use tslp_projections::table::{Change, RowChange, Value};

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
                Change::Put(row) => {
                    assert_eq!(row.len(), description.columns.len(), "{}", description.name);
                    for (value, column) in row.iter().zip(description.columns) {
                        assert!(
                            *value != Value::Null || column.nullable,
                            "{}.{}",
                            description.name,
                            column.name
                        );
                    }
                    self.0[table].insert(row[..description.key].to_vec(), row);
                }
                Change::Remove(key) => {
                    assert_eq!(key.len(), description.key, "{}", description.name);
                    self.0[table].remove(&key);
                }
            }
        }
    }

    /// All rows of one table, by key.
    pub fn rows(&self, table: usize) -> Vec<Vec<Value>> {
        self.0[table].values().cloned().collect()
    }
}
