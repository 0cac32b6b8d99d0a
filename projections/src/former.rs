//! Canonical forms that were true once: of each the entity whose version it was.
//!
//! The table is an archive. In memory is only what the store can't give yet.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use tslp_core::entity::{EntityId, Symbol};
use tslp_core::hash::SliceHash;
use tslp_core::ids::Seq;
use tslp_core::path::RelPath;

use crate::table::{self, Changes, Column, ColumnType, Keep, Table, Value, column};

const COLUMNS: &[Column] = &[
    column("slice", ColumnType::Hash),
    column("path", ColumnType::Text),
    column("symbol", ColumnType::Text),
    column("seq", ColumnType::Integer),
];

/// `former`: by the event `seq` a version with this canonical form was no longer authoritative, for the first time; the
/// symbol is empty for a whole file. It may have become true again; the State Map tells.
pub const TABLE: Table = Table {
    name: "former",
    version: 1,
    columns: COLUMNS,
    key: 1,
    keep: Keep::First { seq: 3 },
};

/// What was true once and isn't settled.
#[derive(Default)]
pub struct Former {
    unsettled: BTreeMap<SliceHash, (EntityId, Seq)>,
}

impl Former {
    /// By the event at `seq` the version of `entity` with this canonical form is no longer authoritative.
    pub fn leave(
        &mut self,
        slice: SliceHash,
        entity: impl FnOnce() -> EntityId,
        seq: Seq,
        changes: &mut Changes,
    ) {
        if let alloc::collections::btree_map::Entry::Vacant(free) = self.unsettled.entry(slice) {
            let (entity, _) = free.insert((entity(), seq));
            changes.put(crate::FORMER, || row(slice, entity, seq));
        }
    }

    /// Lets go of what the store gives from now on.
    pub fn settled(&mut self, durable: Seq) {
        self.unsettled.retain(|_, (_, seq)| *seq > durable);
    }

    /// The entity that it was a version of, if that isn't settled.
    #[must_use]
    pub fn entity(&self, slice: SliceHash) -> Option<&EntityId> {
        self.unsettled.get(&slice).map(|(entity, _)| entity)
    }

    /// The rows of [`TABLE`] that aren't settled, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        self.unsettled
            .iter()
            .map(|(slice, (entity, seq))| row(*slice, entity, *seq))
            .for_each(visit);
    }
}

/// Reads the entity, and since when, from a row of [`TABLE`]; `None` if no fold writes such a row.
#[must_use]
pub fn entity_of_row(row: &[Value]) -> Option<(EntityId, Seq)> {
    let [_, Value::Text(path), Value::Text(symbol), seq] = row else {
        return None;
    };
    let path = RelPath::from_normalised(path);
    let entity = match &**symbol {
        "" => EntityId::file(path),
        symbol => EntityId::symbol(path, Symbol::new(symbol)),
    };
    Some((entity, Seq(seq.as_u64()?)))
}

fn row(slice: SliceHash, entity: &EntityId, seq: Seq) -> Vec<Value> {
    let [path, symbol] = table::entity_key(entity);
    Vec::from([Value::from(&slice.0), path, symbol, Value::from(seq.0)])
}

impl fmt::Display for Former {
    /// What isn't settled, in the order of the ledger.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut former: Vec<_> = self.unsettled.iter().collect();
        former.sort_unstable_by_key(|(slice, (_, seq))| (*seq, **slice));
        for (slice, (entity, seq)) in former {
            writeln!(f, "{slice:.8} {entity} {seq}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_of_which_entity_it_was_a_version_and_the_first_stays() {
        let slice = SliceHash([1; 32]);
        let path = RelPath::from_normalised("src/a.c");
        let symbol = EntityId::symbol(path.clone(), Symbol::new("f"));
        let mut former = Former::default();
        let mut changes = Changes::collecting();
        former.leave(slice, || symbol.clone(), Seq(4), &mut changes);
        former.leave(slice, || EntityId::file(path), Seq(5), &mut changes);
        assert_eq!(changes.finish(|_| None).len(), 1);
        let mut rows = Vec::new();
        former.rows(&mut |row| rows.push(row));
        assert_eq!(entity_of_row(&rows[0]), Some((symbol.clone(), Seq(4))));
        assert_eq!(former.entity(slice), Some(&symbol));
        former.settled(Seq(4));
        assert_eq!(former.entity(slice), None);
    }
}
