//! The bytes that authoritative versions were promoted out of, and those of which nothing is authoritative any more.
//!
//! In memory is what is true now; the table of the others is an archive.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::Seq;

use crate::table::{
    Cell, Cells, Changes, Column, ColumnType, Keep, Late, Table, Unfit, Value, column,
};

const COLUMNS: &[Column] = &[
    column("artifact", ColumnType::Hash),
    column("seq", ColumnType::Integer),
];

/// `outdated`: by the event `seq` nothing that was promoted out of this artifact was authoritative any more. It may
/// have become so again; the State Map tells.
pub const TABLE: Table = Table {
    name: "outdated",
    version: 1,
    columns: COLUMNS,
    key: 1,
    keep: Keep::First { seq: 1 },
};

const PARTLY_TRUE_COLUMNS: &[Column] = &[
    column("artifact", ColumnType::Hash),
    column("promoted", ColumnType::Integer),
];

/// `partly_true`: artifacts of which something is authoritative, and not all that was promoted out of them; with how many
/// versions were. Of all others in the State Map everything is.
pub const PARTLY_TRUE_TABLE: Table = Table {
    name: "partly_true",
    version: 1,
    columns: PARTLY_TRUE_COLUMNS,
    key: 1,
    keep: Keep::Latest,
};

/// Bytes that something authoritative stands in.
struct Source {
    artifact: ArtifactHash,
    /// Versions promoted out of it since something of it is authoritative.
    promoted: u32,
    /// Those of them that are.
    live: u32,
}

impl Source {
    const fn is_partly_true(&self) -> bool {
        self.promoted != self.live
    }

    fn row(&self) -> Vec<Value> {
        Vec::from([Value::from(&self.artifact.0), Value::from(self.promoted)])
    }
}

/// All sources of current truth, and those that have just ceased to be one.
#[derive(Default)]
pub struct Sources {
    slots: Vec<Source>,
    free: Vec<u32>,
    by_artifact: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// Not settled.
    outdated: BTreeMap<ArtifactHash, Seq>,
}

impl Sources {
    /// A version was promoted out of these bytes. Returns a number for [`Sources::artifact`] and [`Sources::leave`].
    pub fn promote(&mut self, artifact: ArtifactHash, changes: &mut Changes) -> u32 {
        let id = match self.find(artifact) {
            Some(id) => id,
            None => self.add(artifact),
        };
        let source = &mut self.slots[id as usize];
        if source.is_partly_true() {
            changes.touch(|| Late::Source(artifact), true);
        }
        source.promoted += 1;
        source.live += 1;
        id
    }

    fn add(&mut self, artifact: ArtifactHash) -> u32 {
        let source = Source {
            artifact,
            promoted: 0,
            live: 0,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = source;
                id
            }
            None => {
                self.slots.push(source);
                u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
            }
        };
        let Self {
            slots,
            by_artifact,
            hasher,
            ..
        } = self;
        by_artifact.insert_unique(hasher.hash_one(artifact), id, |id| {
            hasher.hash_one(slots[*id as usize].artifact)
        });
        id
    }

    /// By the event at `seq` a version that was promoted out of it is no longer authoritative.
    pub fn leave(&mut self, id: u32, seq: Seq, changes: &mut Changes) {
        let source = &mut self.slots[id as usize];
        let artifact = source.artifact;
        changes.touch(|| Late::Source(artifact), source.is_partly_true());
        source.live = source.live.saturating_sub(1);
        if source.live > 0 {
            return;
        }
        let hash = self.hasher.hash_one(artifact);
        if let Ok(slot) = self.by_artifact.find_entry(hash, |other| *other == id) {
            slot.remove();
            self.free.push(id);
        }
        if let alloc::collections::btree_map::Entry::Vacant(free) = self.outdated.entry(artifact) {
            free.insert(seq);
            changes.put(crate::OUTDATED, || row(artifact, seq));
        }
    }

    /// Lets go of what the store gives from now on.
    pub fn settled(&mut self, durable: Seq) {
        self.outdated.retain(|_, seq| *seq > durable);
    }

    /// The bytes with this number.
    #[must_use]
    pub fn artifact(&self, id: u32) -> ArtifactHash {
        self.slots[id as usize].artifact
    }

    /// Whether all that was promoted out of these bytes, since something of them is authoritative, still is; false where
    /// nothing is any more. `None` if nothing ever was, or if that nothing is is settled.
    #[must_use]
    pub fn is_current(&self, artifact: ArtifactHash) -> Option<bool> {
        match self.find(artifact) {
            Some(id) => {
                let source = &self.slots[id as usize];
                Some(source.live == source.promoted)
            }
            None => self.outdated.contains_key(&artifact).then_some(false),
        }
    }

    fn find(&self, artifact: ArtifactHash) -> Option<u32> {
        self.by_artifact
            .find(self.hasher.hash_one(artifact), |id| {
                self.slots[*id as usize].artifact == artifact
            })
            .copied()
    }

    /// The row of [`PARTLY_TRUE_TABLE`] of an artifact, if it has one.
    #[must_use]
    pub fn partly_true_row(&self, artifact: ArtifactHash) -> Option<Vec<Value>> {
        let source = &self.slots[self.find(artifact)? as usize];
        source.is_partly_true().then(|| source.row())
    }

    /// All rows of [`PARTLY_TRUE_TABLE`], by key.
    pub fn partly_true_rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        let sources = self.by_artifact.iter().map(|id| &self.slots[*id as usize]);
        let mut partly: Vec<_> = sources.filter(|source| source.is_partly_true()).collect();
        partly.sort_unstable_by_key(|source| source.artifact);
        partly.into_iter().map(Source::row).for_each(visit);
    }

    /// Takes back a row of [`PARTLY_TRUE_TABLE`], once every version that is authoritative was promoted.
    ///
    /// # Errors
    /// When no fold writes it.
    pub fn restore(&mut self, row: &[Value]) -> Result<(), Unfit> {
        let mut cells = Cells::of(row);
        let id = self.find(cells.next()?);
        let id = id.ok_or(Unfit("nothing is true of what is partly true"))?;
        let source = &mut self.slots[id as usize];
        source.promoted = cells.next()?;
        if source.promoted > source.live {
            Ok(())
        } else {
            Err(Unfit("more is true than was promoted"))
        }
    }

    /// The rows of [`TABLE`] that aren't settled, by key.
    pub fn outdated_rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        self.outdated
            .iter()
            .map(|(artifact, seq)| row(*artifact, *seq))
            .for_each(visit);
    }
}

/// Reads since when it is outdated from a row of [`TABLE`]; `None` if no fold writes such a row.
#[must_use]
pub fn since_of_row(row: &[Value]) -> Option<Seq> {
    Seq::read(row.get(1)?)
}

fn row(artifact: ArtifactHash, seq: Seq) -> Vec<Value> {
    Vec::from([Value::from(&artifact.0), Value::from(seq.0)])
}

impl fmt::Display for Sources {
    /// What is outdated and isn't settled, in the order of the ledger.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut outdated: Vec<_> = self.outdated.iter().collect();
        outdated.sort_unstable_by_key(|(artifact, seq)| (**seq, **artifact));
        for (artifact, seq) in outdated {
            writeln!(f, "{artifact:.8} {seq}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: ArtifactHash = ArtifactHash([1; 32]);
    const NEW: ArtifactHash = ArtifactHash([2; 32]);

    /// How many rows of the archive come of it.
    fn leave(sources: &mut Sources, id: u32, seq: u64) -> usize {
        let mut changes = Changes::of_archives();
        sources.leave(id, Seq(seq), &mut changes);
        changes.finish(|_| Vec::new()).len()
    }

    fn promote(sources: &mut Sources, artifact: ArtifactHash) -> u32 {
        sources.promote(artifact, &mut Changes::discarding())
    }

    #[test]
    fn bytes_are_current_while_all_that_came_out_of_them_is_true() {
        let mut sources = Sources::default();
        let id = promote(&mut sources, OLD);
        assert_eq!(promote(&mut sources, OLD), id);
        assert_eq!(sources.is_current(OLD), Some(true));
        assert_eq!(leave(&mut sources, id, 5), 0);
        assert_eq!(sources.is_current(OLD), Some(false));
        assert_eq!(leave(&mut sources, id, 6), 1);
        assert_eq!(sources.is_current(OLD), Some(false));
        assert_eq!(sources.is_current(NEW), None);
    }

    #[test]
    fn bytes_that_become_true_again_are_current_again() {
        let mut sources = Sources::default();
        let id = promote(&mut sources, OLD);
        leave(&mut sources, id, 5);
        // Its number is free for others.
        assert_eq!(promote(&mut sources, NEW), id);
        let again = promote(&mut sources, OLD);
        assert_eq!(sources.artifact(again), OLD);
        assert_eq!(sources.is_current(OLD), Some(true));
        leave(&mut sources, again, 9);
        assert_eq!(sources.is_current(OLD), Some(false));
    }

    #[test]
    fn what_is_settled_is_the_stores_to_tell() {
        let mut sources = Sources::default();
        let old = promote(&mut sources, OLD);
        let new = promote(&mut sources, NEW);
        leave(&mut sources, old, 5);
        leave(&mut sources, new, 6);
        sources.settled(Seq(5));
        assert_eq!(sources.is_current(OLD), None);
        assert_eq!(sources.is_current(NEW), Some(false));
    }
}
