//! The row changes of fold steps, as any store can make them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::row::{Key, StoredRow};
use crate::table::{Table, Value};

/// A change to one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Insert the row; if its key is taken, [`Table::keep`](crate::table::Table::keep) decides which row is kept.
    Put(Vec<Value>),
    /// Remove the row with this key; only the key's values are given.
    Remove(Vec<Value>),
    /// Replace all rows whose keys begin with these values by the given ones, each with its whole key.
    Replace(Vec<Value>, Vec<Vec<Value>>),
}

/// A change and the table that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowChange {
    /// Index into [`crate::TABLES`].
    pub table: usize,
    /// The change.
    pub change: Change,
}

impl RowChange {
    /// The index of the table among these, and the key of the row that changes.
    #[must_use]
    pub fn table_and_key(&self, tables: &[Table]) -> (usize, &[Value]) {
        let key = match &self.change {
            Change::Put(row) => &row[..tables[self.table].key],
            Change::Remove(key) | Change::Replace(key, _) => key,
        };
        (self.table, key)
    }
}

/// Rows that may change many times while a batch is folded, or appear and vanish within it, so that their values are read from
/// the state only at its end: one row, or those whose keys begin alike and whose positions shift.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LateRows {
    /// Index into [`crate::TABLES`].
    table: usize,
    /// The key's leading cells.
    key: Vec<Value>,
    /// Whether that is the whole key, and so one row.
    is_one: bool,
}

impl LateRows {
    /// The change since the start of the batch, if there is one. `was_present`: whether any of the rows was there then.
    fn change(self, was_present: bool, mut rows: Vec<Vec<Value>>) -> Option<RowChange> {
        debug_assert!(!self.is_one || rows.len() <= 1, "{self:?} is one row");
        let change = match (self.is_one, rows.is_empty()) {
            // It came and went within the batch: no store has heard of it.
            (_, true) if !was_present => return None,
            (true, true) => Change::Remove(self.key),
            (true, false) => Change::Put(rows.remove(0)),
            (false, _) => Change::Replace(self.key, rows),
        };
        Some(RowChange {
            table: self.table,
            change,
        })
    }
}

/// Collects the row changes of fold steps, or discards them if no table follows the fold.
#[derive(Debug, Default)]
pub struct Changes {
    wanted: WantedChanges,
    collected: Vec<RowChange>,
    /// Rows to read from the state at the end, and whether any was there before the first change.
    late: BTreeMap<LateRows, bool>,
}

#[derive(Clone, Copy, Debug, Default)]
enum WantedChanges {
    #[default]
    All,
    Archives,
    Nothing,
}

impl Changes {
    /// Keeps every change.
    #[must_use]
    pub const fn collecting() -> Self {
        Self::wanting(WantedChanges::All)
    }

    /// Keeps only the changes of archives.
    #[must_use]
    pub const fn of_archives() -> Self {
        Self::wanting(WantedChanges::Archives)
    }

    /// Keeps nothing; rows are not even built.
    #[must_use]
    pub const fn discarding() -> Self {
        Self::wanting(WantedChanges::Nothing)
    }

    const fn wanting(wanted: WantedChanges) -> Self {
        Self {
            wanted,
            collected: Vec::new(),
            late: BTreeMap::new(),
        }
    }

    /// Records that the rows whose keys begin so change, appear or vanish; `was_present`: whether any of them was in its table
    /// just before.
    pub fn touch<R: StoredRow, K: Key>(&mut self, key: impl FnOnce() -> K, was_present: bool) {
        if matches!(self.wanted, WantedChanges::All) {
            let key = key().into_cells();
            debug_assert!(
                !R::TABLE.is_archive(),
                "rows of an archive are put at once and stay"
            );
            debug_assert!(
                key.len() <= R::TABLE.key,
                "a key has no more cells than its table's"
            );
            let late = LateRows {
                table: R::INDEX,
                is_one: key.len() == R::TABLE.key,
                key,
            };
            // Only the first change knows whether the row was there when the batch began.
            self.late.entry(late).or_insert(was_present);
        }
    }

    /// Records that a row was put.
    pub fn put<R: StoredRow>(&mut self, row: impl FnOnce() -> R) {
        if self.wants::<R>() {
            self.collected.push(RowChange {
                table: R::INDEX,
                change: Change::Put(row().into_cells()),
            });
        }
    }

    /// Records that the row with this key was removed.
    pub fn remove<R: StoredRow>(&mut self, key: impl FnOnce() -> R::Key) {
        debug_assert!(!R::TABLE.is_archive(), "an archive loses no row");
        if self.wants::<R>() {
            self.collected.push(RowChange {
                table: R::INDEX,
                change: Change::Remove(key().into_cells()),
            });
        }
    }

    fn wants<R: StoredRow>(&self) -> bool {
        match self.wanted {
            WantedChanges::All => true,
            WantedChanges::Archives => R::TABLE.is_archive(),
            WantedChanges::Nothing => false,
        }
    }

    /// Removes and returns the changes kept since the last call, in the order in which they were made, without late rows.
    pub fn drain(&mut self) -> impl Iterator<Item = RowChange> + '_ {
        self.collected.drain(..)
    }

    /// All changes kept, in the order in which they were made, then those of late rows; `rows_of` returns the rows of a table
    /// whose keys begin so, as they are now.
    #[must_use]
    pub fn into_row_changes(
        self,
        rows_of: impl Fn(usize, &[Value]) -> Vec<Vec<Value>>,
    ) -> Vec<RowChange> {
        let mut changes = self.collected;
        changes.extend(self.late.into_iter().filter_map(|(late, was_present)| {
            let rows = rows_of(late.table, &late.key);
            late.change(was_present, rows)
        }));
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::CounterRow;
    use crate::row::Row as _;

    const NAME: &str = "version";

    fn finished(was_present: bool, row: Option<CounterRow>) -> Vec<RowChange> {
        let mut changes = Changes::collecting();
        let key = || (crate::table::Text::Word(NAME),);
        changes.touch::<CounterRow, _>(key, was_present);
        // Only the first change says whether the row was present when the batch began.
        changes.touch::<CounterRow, _>(key, true);
        changes.into_row_changes(|table, key| {
            assert_eq!((table, key), (CounterRow::INDEX, &[NAME.into()][..]));
            row.clone()
                .map(CounterRow::into_cells)
                .into_iter()
                .collect()
        })
    }

    /// A row is written once, with its last values.
    #[test]
    fn written_once() {
        let row = CounterRow {
            name: NAME.into(),
            value: 7,
        };
        let table = CounterRow::INDEX;
        for was_present in [false, true] {
            let change = Change::Put(row.clone().into_cells());
            assert_eq!(
                finished(was_present, Some(row.clone())),
                [RowChange { table, change }]
            );
        }
        let change = Change::Remove(Vec::from([NAME.into()]));
        assert_eq!(finished(true, None), [RowChange { table, change }]);
    }

    /// A row that comes and goes is never written.
    #[test]
    fn short_lived_row() {
        assert_eq!(finished(false, None), []);
    }

    #[test]
    fn late_rows_skipped() {
        let mut changes = Changes::of_archives();
        let key = || -> (crate::table::Text,) { unreachable!("it isn't wanted") };
        changes.touch::<CounterRow, _>(key, true);
        assert_eq!(changes.drain().count(), 0);
        assert_eq!(
            changes.into_row_changes(|_, _| unreachable!("there is none")),
            []
        );
    }
}
