//! The rows of a table in memory, for projections that are no more than their rows.

use alloc::collections::BTreeMap;
use core::ops::Deref;

use tslp_core::ids::Seq;

use crate::changes::Touched;
use crate::row::{EventAt, Keeps, StoredRow, UnfitRow};

/// Rows by their keys.
pub struct RowMap<R: StoredRow> {
    rows: BTreeMap<R::Key, R>,
    touched: Touched<R::Key>,
}

impl<R: StoredRow> Default for RowMap<R> {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
            touched: Touched::default(),
        }
    }
}

impl<R: StoredRow> Deref for RowMap<R> {
    type Target = BTreeMap<R::Key, R>;

    fn deref(&self) -> &Self::Target {
        &self.rows
    }
}

impl<R: StoredRow + Clone> RowMap<R> {
    /// Adds a row, or puts it in the place of the one of its key, which it returns.
    pub fn put(&mut self, row: R) -> Option<R> {
        let key = row.key();
        let before = self.rows.insert(key.clone(), row);
        self.touched.note(|| key, before.is_some());
        before
    }

    /// Adds a row, unless there is one with its key: as an archive does.
    pub fn put_first(&mut self, row: R) {
        if !self.rows.contains_key(&row.key()) {
            self.put(row);
        }
    }

    /// The row of a key, to be changed, but for its key.
    pub fn get_mut(&mut self, key: &R::Key) -> Option<&mut R> {
        let row = self.rows.get_mut(key)?;
        self.touched.note(|| key.clone(), true);
        Some(row)
    }

    /// Removes the row of a key, if there is one.
    pub fn remove(&mut self, key: &R::Key) -> Option<R> {
        let removed = self.rows.remove(key)?;
        self.touched.note(|| key.clone(), true);
        Some(removed)
    }

    /// Removes rows.
    pub fn forget(&mut self, is_over: impl Fn(&R) -> bool) {
        let touched = &mut self.touched;
        self.rows.retain(|key, row| {
            let is_over = is_over(row);
            if is_over {
                touched.note(|| key.clone(), true);
            }
            !is_over
        });
    }

    /// Removes all but the last so many.
    pub fn keep_last(&mut self, count: usize) {
        while self.rows.len() > count
            && let Some(first) = self.rows.keys().next().cloned()
        {
            self.remove(&first);
        }
    }

    /// Lets go of an archive's rows up to `durable`, which the store returns from now on.
    pub(crate) fn forget_durable(&mut self, durable: Seq, seq: impl Fn(&R) -> Seq) {
        self.rows.retain(|_, row| seq(row) > durable);
    }
}

impl<R: StoredRow + Clone> Keeps<R> for RowMap<R> {
    fn visit_rows(&self, visit: &mut dyn FnMut(R)) {
        self.rows.values().cloned().for_each(visit);
    }

    fn restore_row(&mut self, row: R, _: EventAt<'_>) -> Result<(), UnfitRow> {
        self.rows.insert(row.key(), row);
        Ok(())
    }

    fn row(&self, key: &R::Key) -> Option<R> {
        self.rows.get(key).cloned()
    }

    fn touched(&mut self) -> &mut Touched<R::Key> {
        &mut self.touched
    }
}
