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

use crate::part::Unfit;
use crate::table::{Changes, Column, ColumnType, Keep, Table, Value, column};

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

/// Bytes that something authoritative stands in.
struct Source {
    artifact: ArtifactHash,
    /// Versions promoted out of it since something of it is authoritative.
    promoted: u32,
    /// Those of them that are.
    live: u32,
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
    pub fn promote(&mut self, artifact: ArtifactHash) -> u32 {
        let id = match self.find(artifact) {
            Some(id) => id,
            None => self.add(artifact),
        };
        let source = &mut self.slots[id as usize];
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

    /// What is true was promoted out of, with how many versions were, by their addresses.
    pub fn promoted(&self) -> impl Iterator<Item = (ArtifactHash, u32)> {
        let mut promoted: Vec<_> = self
            .by_artifact
            .iter()
            .map(|id| {
                let source = &self.slots[*id as usize];
                (source.artifact, source.promoted)
            })
            .collect();
        promoted.sort_unstable();
        promoted.into_iter()
    }

    /// Takes back what [`Self::promoted`] gave; [`Self::restore_live`] follows for each of them that is true.
    ///
    /// # Errors
    /// When bytes stand in it twice.
    pub fn restore(&mut self, promoted: Vec<(ArtifactHash, u32)>) -> Result<(), Unfit> {
        for (artifact, promoted) in promoted {
            if self.find(artifact).is_some() {
                return Err(Unfit("a source of versions stands there twice"));
            }
            let id = self.add(artifact);
            self.slots[id as usize].promoted = promoted;
        }
        Ok(())
    }

    /// A version that was promoted out of these bytes is true. Returns their number.
    ///
    /// # Errors
    /// When no such version was promoted.
    pub fn restore_live(&mut self, artifact: ArtifactHash) -> Result<u32, Unfit> {
        let id = self.find(artifact);
        let id = id.ok_or(Unfit("a version was made of unknown bytes"))?;
        let source = &mut self.slots[id as usize];
        source.live += 1;
        if source.live > source.promoted {
            return Err(Unfit("more versions are true than were promoted"));
        }
        Ok(id)
    }

    /// Everything was taken back.
    ///
    /// # Errors
    /// When nothing is true of some bytes.
    pub fn restored(&self) -> Result<(), Unfit> {
        let mut ids = self.by_artifact.iter();
        if ids.any(|id| self.slots[*id as usize].live == 0) {
            return Err(Unfit("nothing is true of what truth was promoted out of"));
        }
        Ok(())
    }

    /// By the event at `seq` a version that was promoted out of it is no longer authoritative.
    pub fn leave(&mut self, id: u32, seq: Seq, changes: &mut Changes) {
        let source = &mut self.slots[id as usize];
        source.live = source.live.saturating_sub(1);
        if source.live > 0 {
            return;
        }
        let artifact = source.artifact;
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
    Some(Seq(row.get(1)?.as_u64()?))
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

    fn leave(sources: &mut Sources, id: u32, seq: u64) -> Vec<crate::table::RowChange> {
        let mut changes = Changes::collecting();
        sources.leave(id, Seq(seq), &mut changes);
        changes.finish(|_| None)
    }

    #[test]
    fn bytes_are_current_while_all_that_came_out_of_them_is_true() {
        let mut sources = Sources::default();
        let id = sources.promote(OLD);
        assert_eq!(sources.promote(OLD), id);
        assert_eq!(sources.is_current(OLD), Some(true));
        assert_eq!(leave(&mut sources, id, 5), []);
        assert_eq!(sources.is_current(OLD), Some(false));
        assert_eq!(leave(&mut sources, id, 6).len(), 1);
        assert_eq!(sources.is_current(OLD), Some(false));
        assert_eq!(sources.is_current(NEW), None);
    }

    #[test]
    fn bytes_that_become_true_again_are_current_again() {
        let mut sources = Sources::default();
        let id = sources.promote(OLD);
        leave(&mut sources, id, 5);
        // Its number is free for others.
        assert_eq!(sources.promote(NEW), id);
        let again = sources.promote(OLD);
        assert_eq!(sources.artifact(again), OLD);
        assert_eq!(sources.is_current(OLD), Some(true));
        leave(&mut sources, again, 9);
        assert_eq!(sources.is_current(OLD), Some(false));
    }

    #[test]
    fn what_is_settled_is_the_stores_to_tell() {
        let mut sources = Sources::default();
        let old = sources.promote(OLD);
        let new = sources.promote(NEW);
        leave(&mut sources, old, 5);
        leave(&mut sources, new, 6);
        sources.settled(Seq(5));
        assert_eq!(sources.is_current(OLD), None);
        assert_eq!(sources.is_current(NEW), Some(false));
    }
}
