//! The row changes of fold steps, as any store can make them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use tslp_core::ids::Seq;

use crate::table::Value;

/// A change to one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Insert the row; if its key is taken, [`Table::keep`](crate::table::Table::keep) decides which row is kept.
    Put(Vec<Value>),
    /// Remove the row with this key; only the key's values are given.
    Remove(Vec<Value>),
}

/// A change and the table that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowChange {
    /// Index into [`crate::TABLES`].
    pub table: usize,
    /// The change.
    pub change: Change,
}

/// Changes of rows that a store makes at once: those since the last such changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsUpTo {
    /// The event after which the rows are so.
    pub seq: Seq,
    /// The changes, in order.
    pub changes: Vec<RowChange>,
}

/// The keys of the rows that have changed since a store was told, each with whether the store has its row. Nothing is noted before
/// somebody [follows](Self::follow): most folds are for no store.
pub struct Touched<K>(Option<BTreeMap<K, bool>>);

impl<K> Default for Touched<K> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: Ord> Touched<K> {
    /// Notes what changes from now on, or no longer does. What was noted before stays noted.
    pub(crate) fn follow(&mut self, follows: bool) {
        let noted = self.0.take().filter(|_| follows);
        self.0 = noted.or_else(|| follows.then(BTreeMap::new));
    }

    /// A row changes, appears or vanishes; `was_present`: whether it was there just before.
    pub(crate) fn note(&mut self, key: impl FnOnce() -> K, was_present: bool) {
        if let Some(touched) = &mut self.0 {
            // Only the first change knows whether the store has the row.
            touched.entry(key()).or_insert(was_present);
        }
    }

    /// Those noted since the last call.
    pub(crate) fn take(&mut self) -> BTreeMap<K, bool> {
        self.0.as_mut().map(core::mem::take).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::{CounterName, CounterRow};
    use crate::row::{Keeps as _, Row as _};
    use crate::row_map::RowMap;

    const ROW: CounterRow = CounterRow {
        name: CounterName::Version,
        value: 7,
    };

    fn taken(rows: &mut RowMap<CounterRow>) -> Vec<Change> {
        let mut changes = Vec::new();
        rows.take_changes(&mut changes);
        changes.into_iter().map(|it| it.change).collect()
    }

    /// A row is written once, with its last values, and one that comes and goes never.
    #[test]
    fn written_once() {
        let mut rows = RowMap::default();
        rows.put(ROW);
        assert_eq!(taken(&mut rows), [], "nobody follows");
        rows.touched().follow(true);
        rows.put(CounterRow { value: 6, ..ROW });
        rows.put(ROW);
        assert_eq!(taken(&mut rows), [Change::Put(ROW.into_cells())]);
        assert_eq!(taken(&mut rows), []);
        rows.remove(&ROW.key());
        let removed = Change::Remove(Vec::from(["version".into()]));
        assert_eq!(taken(&mut rows), [removed]);
        rows.put(ROW);
        rows.remove(&ROW.key());
        assert_eq!(taken(&mut rows), []);
    }
}
