//! The STALE set: entities whose file on disk contradicts the State Map (spec §15.4).
//!
//! Derived from recorded observations alone, so replay without a disk gives the same set. What disk held when a version became
//! true is no contradiction until disk changes again: the user's decision overrules it (spec §15.2), and a model's accepted change
//! isn't saved yet.

use alloc::vec::Vec;

use tslp_core::artifact::{Origin, Transition};
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, NoticeIssued, Recorded};
use tslp_core::gate::GateReport;
use tslp_core::hash::SliceHash;
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_core::words;

use crate::disk::LastFinding;
use crate::proposals::Proposals;
use crate::row_map::RowMap;
use crate::state_map::StateMap;
use crate::symbol_words::SymbolWords;

row! {
    /// `stale`: entities of which disk holds another version than the true one, and the kind of difference. All but the
    /// acknowledged and the unsaved ones are withheld.
    pub struct StaleRow in table "stale", version 4;
    key {
        /// The entity.
        entity: EntityId,
    }
    values {
        /// What disk holds.
        disk_holds: DiskDifference,
    }
}

row! {
    /// `acknowledged`: the slice of an entity on disk when another one became true, by the user's word or by a change that is yet
    /// to be saved. The row goes once disk holds what is true: from then on the older slice is news.
    pub struct AcknowledgedRow in table "acknowledged", version 2;
    key {
        /// The entity.
        entity: EntityId,
    }
    values {
        /// The slice; `None` if the file didn't define the entity.
        disk_held: Option<SliceHash>,
    }
}

/// The slice of one entity on disk; `None` if the file doesn't define it.
type OnDisk = Option<SliceHash>;

words! {
    /// The way in which disk differs from the true version.
    DiskDifference, "difference of disk" {
        /// The user knew of it when they decided; nothing is withheld.
        Acknowledged = "acknowledged",
        /// [`Divergence::Unknown`]: the entity is withheld, as with the next ones.
        Unknown = "unknown",
        /// [`Divergence::Superseded`].
        Superseded = "superseded",
        /// [`Divergence::Unreadable`].
        Unreadable = "unreadable",
        /// The model's change is accepted and not saved yet: disk holds what it replaced. Nothing is withheld.
        Unsaved = "not_saved",
        /// [`Divergence::Refused`].
        Refused = "refused",
        /// [`Divergence::Gone`].
        Gone = "missing",
        /// [`Divergence::Contradicted`].
        Contradicted = "contradicted",
    }
}

crate::word_cells!(DiskDifference);

impl DiskDifference {
    /// Whether it is between two versions of the code, and not about the file itself.
    const fn is_of_code(self) -> bool {
        !matches!(self, Self::Unreadable | Self::Gone | Self::Contradicted)
    }
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
    /// Disk holds a change of the model's that was refused, or lacks what that change left out.
    Refused,
    /// The file was there once, and isn't any more.
    Gone,
    /// Whatever disk holds: the user has supplied another version, of which too little could be read to be true.
    Contradicted,
}

/// The projections that a comparison with disk reads.
#[derive(Clone, Copy)]
pub struct HeldCode<'h> {
    /// What is true, and what is on disk.
    pub state_map: &'h StateMap,
    /// What was refused.
    pub proposals: &'h Proposals,
}

/// Diverged entities.
#[derive(Default)]
pub struct Stale {
    pub(crate) differing: RowMap<StaleRow>,
    /// The symbols among them.
    differing_words: SymbolWords,
    /// The slice on disk when another one became true.
    pub(crate) acknowledged: RowMap<AcknowledgedRow>,
}

impl Stale {
    /// Folds one event in; everything else that is `held` already reflects it.
    pub fn apply(&mut self, recorded: &Recorded, held: HeldCode<'_>) {
        match &recorded.event {
            Event::DiskObserved(observed) => {
                self.compare_file(&observed.path, held);
            }
            // What a refusal of a whole file left out concerns all of its symbols.
            Event::PromotionRefused(refused) if refused.entity.symbol.is_none() => {
                self.compare_file(&refused.entity.path, held);
            }
            Event::PromotionRefused(refused) => {
                self.compare_with_disk(&refused.entity, held);
            }
            Event::NoticeIssued(NoticeIssued {
                reason,
                entity: Some(entity),
                ..
            }) => match reason {
                Reason::Contradicted if held.state_map.slice(entity).is_some() => {
                    self.note(entity, DiskDifference::Contradicted);
                }
                Reason::UserRejected => {
                    let parts = entities_of(held.state_map, &entity.path).into_iter();
                    let is_meant = |it: &EntityId| entity.symbol.is_none() || it == entity;
                    for entity in parts.filter(is_meant) {
                        self.settle(&entity);
                        self.compare_with_disk(&entity, held);
                    }
                }
                _ => {}
            },
            Event::Transitioned(transitioned) => {
                let entity = &transitioned.entity;
                if transitioned.transition != Transition::Discard {
                    self.settle(entity);
                }
                match transitioned.transition {
                    // The gates let a model's version pass only where disk agrees with what it replaces, but for what is around that.
                    Transition::Promote => {
                        let report = transitioned.report.as_ref();
                        if !report.is_some_and(GateReport::leaves_disk_news) {
                            self.acknowledge(entity, held);
                        }
                    }
                    Transition::Remove => self.forget_acknowledged(entity),
                    // The promotion that follows decides.
                    Transition::Supersede | Transition::Discard => {}
                }
                match (transitioned.transition, &entity.symbol) {
                    // The refusal that it may have been is forgotten.
                    (Transition::Discard, None) => self.compare_file(&entity.path, held),
                    _ => self.compare_with_disk(entity, held),
                }
            }
            _ => {}
        }
    }

    /// Whether a notice with this reason says what the user's own words have made of an entity.
    pub(crate) const fn is_changed_by(reason: Reason) -> bool {
        matches!(reason, Reason::Contradicted | Reason::UserRejected)
    }

    /// What is true there, not what disk defines: a symbol that is gone from disk differs as well.
    fn compare_file(&mut self, path: &RelPath, held: HeldCode<'_>) {
        let finding = held.state_map.disk_finding(path);
        let is_file = matches!(finding, Some(LastFinding::File(_)));
        for entity in entities_of(held.state_map, path) {
            let is_hidden = is_file && on_disk(held.state_map, &entity).is_none();
            let last = self.difference(&entity).filter(|_| is_hidden);
            // What a broken file hides is as it was seen last.
            if !last.is_some_and(|it| it.is_of_code()) {
                self.compare_with_disk(&entity, held);
            }
        }
    }

    fn acknowledge(&mut self, entity: &EntityId, held: HeldCode<'_>) {
        match on_disk(held.state_map, entity) {
            Some(seen) if seen != held.state_map.slice(entity) => {
                self.acknowledged.put(AcknowledgedRow {
                    entity: entity.clone(),
                    disk_held: seen,
                });
            }
            _ => self.forget_acknowledged(entity),
        }
    }

    fn forget_acknowledged(&mut self, entity: &EntityId) {
        self.acknowledged.remove(&(entity.clone(),));
    }

    /// What contradicted the entity no longer does.
    fn settle(&mut self, entity: &EntityId) {
        if self.is_contradicted(entity) {
            self.forget(entity);
        }
    }

    fn is_contradicted(&self, entity: &EntityId) -> bool {
        self.difference(entity) == Some(DiskDifference::Contradicted)
    }

    fn note(&mut self, entity: &EntityId, disk_holds: DiskDifference) {
        self.differing_words.add(entity);
        self.differing.put(StaleRow {
            entity: entity.clone(),
            disk_holds,
        });
    }

    fn forget(&mut self, entity: &EntityId) {
        if self.differing.remove(&(entity.clone(),)).is_some() {
            self.differing_words.remove(entity);
        }
    }

    pub(crate) fn finish_restoring(&mut self) {
        let differing = self.differing.values();
        differing.for_each(|row| self.differing_words.add(&row.entity));
    }

    fn difference(&self, entity: &EntityId) -> Option<DiskDifference> {
        let row = self.differing.get(&(entity.clone(),))?;
        Some(row.disk_holds)
    }

    fn compare_with_disk(&mut self, entity: &EntityId, held: HeldCode<'_>) {
        // No look at disk takes the user's word back.
        if self.is_contradicted(entity) && held.state_map.slice(entity).is_some() {
            return;
        }
        match self.difference_now(entity, held) {
            Some(difference) => {
                self.note(entity, difference);
            }
            None => {
                let truth = held.state_map.slice(entity);
                if truth.is_some() && on_disk(held.state_map, entity) == Some(truth) {
                    self.forget_acknowledged(entity);
                }
                self.forget(entity);
            }
        }
    }

    fn difference_now(&self, entity: &EntityId, held: HeldCode<'_>) -> Option<DiskDifference> {
        let truth = held.state_map.slice(entity)?;
        let finding = held.state_map.disk_finding(&entity.path)?;
        if matches!(finding, LastFinding::Unreadable(_)) {
            return Some(DiskDifference::Unreadable);
        }
        let difference = match on_disk(held.state_map, entity)? {
            seen if seen == Some(truth) => return None,
            seen if self.acknowledges(entity, seen) => match held.state_map.origin(entity) {
                Some(Origin::Model) => DiskDifference::Unsaved,
                _ => DiskDifference::Acknowledged,
            },
            _ if finding == LastFinding::Missing => DiskDifference::Gone,
            seen if held.proposals.refused_as(entity, seen) => DiskDifference::Refused,
            Some(slice) if held.state_map.was_true(entity, slice) => DiskDifference::Superseded,
            _ => DiskDifference::Unknown,
        };
        Some(difference)
    }

    fn acknowledges(&self, entity: &EntityId, seen: OnDisk) -> bool {
        let row = self.acknowledged.get(&(entity.clone(),));
        row.is_some_and(|row| row.disk_held == seen)
    }

    /// Whether the entity's version is the model's, accepted, and not saved yet.
    #[must_use]
    pub fn is_unsaved(&self, entity: &EntityId) -> bool {
        self.difference(entity) == Some(DiskDifference::Unsaved)
    }

    /// The divergence of disk from the entity, if there is one that isn't explained by what became true.
    #[must_use]
    pub fn divergence(&self, entity: &EntityId) -> Option<Divergence> {
        self.difference(entity)?.divergence()
    }

    /// All entities that are withheld.
    pub fn iter(&self) -> impl Iterator<Item = (&EntityId, Divergence)> {
        let rows = self.differing.values();
        rows.filter_map(|row| Some((&row.entity, row.disk_holds.divergence()?)))
    }

    /// The symbols of which disk holds another version than the true one, whatever the kind of difference.
    #[must_use]
    pub const fn differing_words(&self) -> &SymbolWords {
        &self.differing_words
    }
}

fn entities_of(state_map: &StateMap, path: &RelPath) -> Vec<EntityId> {
    let mut entities = state_map.entities_in(path);
    entities.push(EntityId::file(path.clone()));
    entities
}

/// The entity's state on disk: for a symbol its slice, or the whole file's if the file couldn't be parsed. `None` if the last
/// observation didn't look for this symbol, so that nothing is known.
fn on_disk(held: &StateMap, entity: &EntityId) -> Option<OnDisk> {
    let file = match held.disk_finding(&entity.path)? {
        LastFinding::File(file) => file,
        // A file that was never there contradicts nothing: its code lives in the conversation alone.
        LastFinding::Missing => return held.was_there(&entity.path).then_some(None),
        LastFinding::Unreadable(_) => return None,
    };
    match &entity.symbol {
        Some(symbol) if file.grammar.is_some() => held.slice_on_disk(&entity.path, symbol),
        // Where slices can't be cut, the whole file stands for each of its symbols.
        _ => Some(Some(file.whole)),
    }
}

impl DiskDifference {
    const fn divergence(self) -> Option<Divergence> {
        match self {
            Self::Acknowledged | Self::Unsaved => None,
            Self::Unknown => Some(Divergence::Unknown),
            Self::Superseded => Some(Divergence::Superseded),
            Self::Unreadable => Some(Divergence::Unreadable),
            Self::Refused => Some(Divergence::Refused),
            Self::Gone => Some(Divergence::Gone),
            Self::Contradicted => Some(Divergence::Contradicted),
        }
    }
}
