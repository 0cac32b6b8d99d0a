//! The STALE set: entities whose file on disk contradicts the State Map (spec §15.4).
//!
//! Derived from recorded observations alone, so replay without a disk gives the same set. The state of disk at the time when
//! the user last decided about an entity is acknowledged: the user's decision overrules the disk (spec §15.2) until disk
//! changes again.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use tslp_core::artifact::{Origin, Transition};
use tslp_core::entity::EntityId;
use tslp_core::event::{DiskFinding, Event, Recorded};
use tslp_core::hash::SliceHash;
use tslp_core::path::RelPath;

use crate::disk::Disk;
use crate::state_map::StateMap;
use crate::symbol_words::SymbolWords;
use crate::table::{
    self, Changes, Column, ColumnType, Keep, RowCells, Table, UnfitRow, Value, column, nullable,
};

const COLUMNS: &[Column] = &[
    column("path", ColumnType::Text),
    column("symbol", ColumnType::Text),
    column("disk_holds", ColumnType::Text),
];

/// `stale`: entities of which disk holds another version than the true one, and the kind of difference. All but the
/// acknowledged ones are withheld.
pub const TABLE: Table = Table {
    name: "stale",
    version: 2,
    columns: COLUMNS,
    key: 2,
    keep: Keep::Latest,
};

const ACKNOWLEDGED_COLUMNS: &[Column] = &[
    column("path", ColumnType::Text),
    column("symbol", ColumnType::Text),
    nullable("disk_held", ColumnType::Hash),
];

/// `acknowledged`: the slice of an entity on disk when the user decided for another one; empty if the file didn't define the
/// entity.
pub const ACKNOWLEDGED_TABLE: Table = Table {
    name: "acknowledged",
    version: 1,
    columns: ACKNOWLEDGED_COLUMNS,
    key: 2,
    keep: Keep::Latest,
};

/// The slice of one entity on disk; `None` if the file doesn't define it.
type OnDisk = Option<SliceHash>;

/// The way in which disk differs from the true version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DiskDifference {
    /// The user knew of it when they decided; nothing is withheld.
    Acknowledged,
    /// The entity is withheld.
    Diverged(Divergence),
}

/// The way in which disk contradicts an entity, which is STALE then, or may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divergence {
    /// Disk holds something that was never authoritative here, or no longer holds the symbol.
    Unknown,
    /// Disk holds an earlier authoritative version.
    Superseded,
    /// The file can't be read.
    Unreadable,
}

/// Diverged entities.
#[derive(Default)]
pub struct Stale {
    differing: BTreeMap<EntityId, DiskDifference>,
    /// The symbols among them.
    differing_words: SymbolWords,
    /// The slice on disk when the user decided for another one.
    acknowledged: BTreeMap<EntityId, OnDisk>,
}

impl Stale {
    /// Folds one event in; the State Map and the disk already reflect it.
    pub fn apply(
        &mut self,
        recorded: &Recorded,
        state_map: &StateMap,
        disk: &Disk,
        changes: &mut Changes,
    ) {
        match &recorded.event {
            Event::DiskObserved(observed) => {
                for entity in entities_of(state_map, &observed.path) {
                    self.compare_with_disk(&entity, state_map, disk, changes);
                }
            }
            Event::Transitioned(transitioned) => {
                let entity = &transitioned.entity;
                match (transitioned.transition, transitioned.origin) {
                    (Transition::Promote, Origin::User) => {
                        self.acknowledge(entity, state_map, disk, changes);
                    }
                    (Transition::Promote | Transition::Remove, _) => {
                        self.acknowledge_nothing(entity, changes);
                    }
                    (Transition::Supersede, _) => {}
                    (Transition::Discard, _) => return,
                }
                self.compare_with_disk(entity, state_map, disk, changes);
            }
            _ => {}
        }
    }

    fn acknowledge(
        &mut self,
        entity: &EntityId,
        state_map: &StateMap,
        disk: &Disk,
        changes: &mut Changes,
    ) {
        match on_disk(disk, entity) {
            Some(seen) if seen != state_map.slice(entity) => {
                changes.put(crate::ACKNOWLEDGED, || acknowledged_row(entity, seen));
                self.acknowledged.insert(entity.clone(), seen);
            }
            _ => self.acknowledge_nothing(entity, changes),
        }
    }

    fn acknowledge_nothing(&mut self, entity: &EntityId, changes: &mut Changes) {
        if self.acknowledged.remove(entity).is_some() {
            changes.remove(crate::ACKNOWLEDGED, || table::entity_key(entity).into());
        }
    }

    fn compare_with_disk(
        &mut self,
        entity: &EntityId,
        state_map: &StateMap,
        disk: &Disk,
        changes: &mut Changes,
    ) {
        match self.difference_now(entity, state_map, disk) {
            Some(difference) => {
                self.differing_words.add(entity);
                if self.differing.insert(entity.clone(), difference) != Some(difference) {
                    changes.put(crate::STALE, || row(entity, difference));
                }
            }
            None => {
                if self.differing.remove(entity).is_some() {
                    self.differing_words.remove(entity);
                    changes.remove(crate::STALE, || table::entity_key(entity).into());
                }
            }
        }
    }

    fn difference_now(
        &self,
        entity: &EntityId,
        state_map: &StateMap,
        disk: &Disk,
    ) -> Option<DiskDifference> {
        let truth = state_map.slice(entity)?;
        let divergence = match disk.finding(&entity.path)? {
            DiskFinding::Missing => return None,
            DiskFinding::Unreadable(_) => Divergence::Unreadable,
            DiskFinding::File(_) => match on_disk(disk, entity)? {
                seen if seen == Some(truth) => return None,
                seen if self.acknowledged.get(entity) == Some(&seen) => {
                    return Some(DiskDifference::Acknowledged);
                }
                Some(slice) if state_map.was_true(entity, slice) => Divergence::Superseded,
                None if state_map.origin(entity) == Some(Origin::Model) => Divergence::Superseded,
                _ => Divergence::Unknown,
            },
        };
        Some(DiskDifference::Diverged(divergence))
    }

    /// The divergence of disk from the entity, if there is one that isn't acknowledged.
    #[must_use]
    pub fn divergence(&self, entity: &EntityId) -> Option<Divergence> {
        self.differing.get(entity)?.divergence()
    }

    /// All entities that are withheld.
    pub fn iter(&self) -> impl Iterator<Item = (&EntityId, Divergence)> {
        self.differing
            .iter()
            .filter_map(|(entity, difference)| Some((entity, difference.divergence()?)))
    }

    /// The symbols of which disk holds another version than the true one, acknowledged ones included.
    #[must_use]
    pub const fn differing_words(&self) -> &SymbolWords {
        &self.differing_words
    }

    /// All rows of `stale`, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        self.differing
            .iter()
            .map(|(entity, difference)| row(entity, *difference))
            .for_each(visit);
    }

    /// All rows of `acknowledged`, by key.
    pub fn acknowledged_rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        self.acknowledged
            .iter()
            .map(|(entity, seen)| acknowledged_row(entity, *seen))
            .for_each(visit);
    }

    /// Restores a row of `stale`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let entity = cells.entity()?;
        let difference = cells.word(DiskDifference::ALL, DiskDifference::code)?;
        self.differing_words.add(&entity);
        self.differing.insert(entity, difference);
        Ok(())
    }

    /// Restores a row of `acknowledged`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore_acknowledged(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        self.acknowledged.insert(cells.entity()?, cells.next()?);
        Ok(())
    }
}

fn entities_of(state_map: &StateMap, path: &RelPath) -> Vec<EntityId> {
    let mut entities: Vec<EntityId> = state_map
        .symbols_of(path)
        .into_iter()
        .map(|symbol| EntityId::symbol(path.clone(), symbol))
        .collect();
    entities.push(EntityId::file(path.clone()));
    entities
}

/// The entity's state on disk: for a symbol its slice, or the whole file's if the file couldn't be parsed. `None` if the last
/// observation didn't look for this symbol, so that nothing is known.
fn on_disk(disk: &Disk, entity: &EntityId) -> Option<OnDisk> {
    let DiskFinding::File(file) = disk.finding(&entity.path)? else {
        return None;
    };
    match &entity.symbol {
        Some(symbol) if file.grammar.is_some() => {
            let at = file
                .slices
                .binary_search_by(|slice| slice.symbol.cmp(symbol))
                .ok()?;
            Some(file.slices[at].slice)
        }
        _ => Some(Some(file.whole)),
    }
}

fn acknowledged_row(entity: &EntityId, seen: OnDisk) -> Vec<Value> {
    let [path, symbol] = table::entity_key(entity);
    let seen = seen.as_ref().map(|slice| &slice.0);
    Vec::from([path, symbol, Value::from(seen)])
}

fn row(entity: &EntityId, difference: DiskDifference) -> Vec<Value> {
    let [path, symbol] = table::entity_key(entity);
    Vec::from([path, symbol, Value::from(difference.code())])
}

impl DiskDifference {
    const ALL: &[Self] = &[
        Self::Acknowledged,
        Self::Diverged(Divergence::Unknown),
        Self::Diverged(Divergence::Superseded),
        Self::Diverged(Divergence::Unreadable),
    ];

    const fn divergence(self) -> Option<Divergence> {
        match self {
            Self::Acknowledged => None,
            Self::Diverged(divergence) => Some(divergence),
        }
    }

    const fn code(self) -> &'static str {
        match self {
            Self::Acknowledged => "acknowledged",
            Self::Diverged(Divergence::Unknown) => "unknown",
            Self::Diverged(Divergence::Superseded) => "superseded",
            Self::Diverged(Divergence::Unreadable) => "unreadable",
        }
    }
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (entity, difference) in &self.differing {
            writeln!(f, "{entity} {}", difference.code())?;
        }
        Ok(())
    }
}
