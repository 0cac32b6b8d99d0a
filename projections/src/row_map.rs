//! The rows of a table in memory, for projections that are no more than their rows.

use alloc::collections::BTreeMap;
use core::ops::Deref;

use crate::changes::Changes;
use crate::row::{EventAt, Keeps, StoredRow, UnfitRow};

/// Rows by their keys.
pub struct RowMap<R: StoredRow>(BTreeMap<R::Key, R>);

impl<R: StoredRow> Default for RowMap<R> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<R: StoredRow> Deref for RowMap<R> {
    type Target = BTreeMap<R::Key, R>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<R: StoredRow + Clone> RowMap<R>
where
    R::Key: Ord + Clone,
{
    /// Adds a row, or puts it in the place of the one of its key.
    pub fn put(&mut self, row: R, changes: &mut Changes) {
        changes.put(|| row.clone());
        self.0.insert(row.key(), row);
    }

    /// Removes the row of a key, if there is one.
    pub fn remove(&mut self, key: &R::Key, changes: &mut Changes) {
        if self.0.remove(key).is_some() {
            changes.remove::<R>(|| key.clone());
        }
    }

    /// Removes rows.
    pub fn forget(&mut self, is_over: impl Fn(&R) -> bool, changes: &mut Changes) {
        self.0.retain(|key, row| {
            let is_over = is_over(row);
            if is_over {
                changes.remove::<R>(|| key.clone());
            }
            !is_over
        });
    }

    /// Removes all but the last so many.
    pub fn keep_last(&mut self, count: usize, changes: &mut Changes) {
        while self.0.len() > count
            && let Some((key, _)) = self.0.pop_first()
        {
            changes.remove::<R>(|| key);
        }
    }
}

impl<R: StoredRow + Clone> Keeps<R> for RowMap<R>
where
    R::Key: Ord,
{
    fn visit_rows(&self, visit: &mut dyn FnMut(R)) {
        self.0.values().cloned().for_each(visit);
    }

    fn restore_row(&mut self, row: R, _: EventAt<'_>) -> Result<(), UnfitRow> {
        self.0.insert(row.key(), row);
        Ok(())
    }
}
