//! The State Map: exactly one authoritative version for each entity (spec §3.3).
//!
//! Built for many entities in little memory: entries lie in one slab, and the look-up tables hold four bytes for each.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use tslp_core::artifact::{Origin, Transition};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{Event, Recorded, Transitioned};
use tslp_core::extract::Proof;
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::{EpisodeId, Seq, UnixMillis, VersionId};
use tslp_core::limits::SUPERSEDED_KEPT;
use tslp_core::name_hash::{NameHash, NamedPath, basename_hash, name_hash};
use tslp_core::path::RelPath;
use tslp_core::slice::{Figures, Span};

use crate::changes::Changes;
use crate::proposals::{Proposals, ProposedVersion};
use crate::row::{EventAt, Keeps, Key as _, UnfitRow, spans_text};
use crate::sources::Sources;
use crate::symbol_words::SymbolWords;
use crate::table::Value;

row! {
    /// `state_map`: one row for each entity.
    pub struct StateMapRow in table "state_map", version 2;
    key {
        /// The entity.
        entity: EntityId,
    }
    values {
        /// Its slice's hash, which is the artifact to users (spec §3.3).
        artifact: SliceHash,
        /// The authoritative version.
        version: VersionId,
        /// The captured bytes that hold it.
        source: ArtifactHash,
        /// Its place in them.
        spans: Vec<Span>,
        /// Nodes of its syntax tree.
        nodes: u32,
        /// Its tokens.
        tokens: u32,
        /// Its origin.
        origin: Origin,
        /// The episode in which it became authoritative.
        episode: EpisodeId,
        /// The event by which it did.
        seq: Seq,
        /// The time at which it did.
        updated_at_ms: UnixMillis,
        /// The proof of its definition.
        proof: Proof,
    }
}

row! {
    /// `former_versions`: the last versions of each entity that were authoritative and no longer are.
    pub struct FormerVersionRow in table "former_versions", version 2;
    key {
        /// The entity.
        entity: EntityId,
        /// The version's place among them, the latest last.
        position: u64,
    }
    values {
        /// Its slice's hash.
        artifact: SliceHash,
        /// The captured bytes that hold it.
        source: ArtifactHash,
        /// Its place in them.
        spans: Vec<Span>,
        /// Its origin.
        origin: Origin,
        /// Its episode.
        episode: EpisodeId,
    }
}

/// Spans of one definition; nearly all have one.
#[derive(Clone)]
enum EntrySpans {
    One(Span),
    Many(alloc::boxed::Box<[Span]>),
}

impl EntrySpans {
    fn new(spans: &[Span]) -> Self {
        match spans {
            [span] => Self::One(*span),
            spans => Self::Many(spans.into()),
        }
    }

    fn as_slice(&self) -> &[Span] {
        match self {
            Self::One(span) => core::slice::from_ref(span),
            Self::Many(spans) => spans,
        }
    }
}

/// The index of the oldest version that may be forgotten: the user's last version is kept, because gate A compares the
/// model's changes with it.
fn oldest_to_forget(versions: &[FormerVersion]) -> usize {
    let last_of_user = versions
        .iter()
        .rposition(|version| version.origin == Origin::User);
    usize::from(last_of_user == Some(0))
}

struct MapEntry {
    path: u32,
    symbol: Option<Symbol>,
    slice: SliceHash,
    source: u32,
    spans: EntrySpans,
    figures: Figures,
    origin: Origin,
    proof: Proof,
    version: VersionId,
    episode: EpisodeId,
    seq: Seq,
    at: UnixMillis,
    /// The next older entry whose symbol has the same last component.
    namesake: Option<u32>,
}

/// A file with everything authoritative in it.
struct TrackedFile {
    path: RelPath,
    /// The symbols, in the order of their names.
    entries: Vec<u32>,
    /// The file as a whole.
    whole: Option<u32>,
}

/// The authoritative version of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentVersion {
    /// The version.
    pub version: VersionId,
    /// Hash of its canonical form: the State Map's artifact hash.
    pub slice: SliceHash,
    /// The captured bytes that hold it.
    pub artifact: ArtifactHash,
    /// Its ranges in those bytes.
    pub spans: Vec<Span>,
    /// Its structure.
    pub figures: Figures,
    /// The proof of its definition.
    pub proof: Proof,
    /// Its origin.
    pub origin: Origin,
    /// The episode in which it became true.
    pub episode: EpisodeId,
}

/// A version of an entity that was authoritative once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerVersion {
    /// Hash of its canonical form.
    pub slice: SliceHash,
    /// The captured bytes that hold it.
    pub artifact: ArtifactHash,
    /// Its ranges in those bytes.
    pub spans: Vec<Span>,
    /// Its origin.
    pub origin: Origin,
    /// The episode in which it became true.
    pub episode: EpisodeId,
}

/// All authoritative versions.
#[derive(Default)]
pub struct StateMap {
    entries: Vec<Option<MapEntry>>,
    free: Vec<u32>,
    files: Vec<TrackedFile>,
    /// The tables of artifacts are its own.
    pub(crate) sources: Sources,
    by_entity: HashTable<u32>,
    by_name: HashTable<u32>,
    by_path: HashTable<u32>,
    /// Files by the hash of their base names, upper and lower case alike, in the order of their paths.
    by_basename: BTreeMap<NameHash, Vec<u32>>,
    /// Versions that were authoritative, the latest last.
    superseded: BTreeMap<EntityId, Vec<FormerVersion>>,
    /// The symbols among them.
    superseded_words: SymbolWords,
    hasher: DefaultHashBuilder,
    count: usize,
}

impl StateMap {
    /// Folds one event in; `proposals` must still hold the version that moves. Returns false if the event contradicts the
    /// state, which happens only in a damaged ledger.
    pub fn apply(
        &mut self,
        recorded: &Recorded,
        proposals: &Proposals,
        changes: &mut Changes,
    ) -> bool {
        let Event::Transitioned(transitioned) = &recorded.event else {
            return true;
        };
        match transitioned.transition {
            Transition::Promote => match proposals.get(transitioned.version) {
                Some(proposed) => self.promote(recorded, proposed, changes),
                None => false,
            },
            Transition::Supersede | Transition::Remove => {
                self.retire(recorded.seq, transitioned, changes)
            }
            Transition::Discard => true,
        }
    }

    fn promote(
        &mut self,
        recorded: &Recorded,
        proposed: &ProposedVersion,
        changes: &mut Changes,
    ) -> bool {
        let entity = &proposed.version.entity;
        let file = self.file_id(&entity.path);
        let source = self.sources.version_promoted(proposed.source, changes);
        let entry = MapEntry {
            path: file,
            symbol: entity.symbol.clone(),
            slice: proposed.version.slice,
            source,
            spans: EntrySpans::new(&proposed.version.spans),
            figures: proposed.version.figures,
            origin: proposed.origin,
            proof: proposed.proof,
            version: proposed.version.id,
            episode: recorded.episode,
            seq: recorded.seq,
            at: recorded.at,
            namesake: None,
        };
        // Decisions supersede the older version first. A ledger in which they didn't is damaged; the newer one wins, and the
        // caller notes the anomaly.
        let held = self.find_id(entity);
        if let Some(id) = held {
            self.remove_entry(id, recorded.seq, changes);
        }
        let id = self.insert(entry);
        debug_assert_eq!(self.find_id(entity), Some(id), "what was promoted is found");
        self.link_name(id);
        changes.touch::<StateMapRow, _>(|| (entity.clone(),), held.is_some());
        held.is_none()
    }

    fn insert(&mut self, entry: MapEntry) -> u32 {
        let file = entry.path as usize;
        let is_whole = entry.symbol.is_none();
        let id = match self.free.pop() {
            Some(id) => {
                self.entries[id as usize] = Some(entry);
                id
            }
            None => {
                self.entries.push(Some(entry));
                u32::try_from(self.entries.len() - 1)
                    .expect("memory holds fewer than 2^32 entities")
            }
        };
        self.count += 1;
        debug_assert_eq!(
            self.count + self.free.len(),
            self.entries.len(),
            "an entry is used or free"
        );
        if is_whole {
            self.files[file].whole = Some(id);
        } else {
            let at = self.files[file]
                .entries
                .partition_point(|other| self.symbol_of(*other) < self.symbol_of(id));
            self.files[file].entries.insert(at, id);
        }
        let hash = self.entity_hash_of(id);
        let Self {
            by_entity,
            entries,
            files,
            hasher,
            ..
        } = self;
        by_entity.insert_unique(hash, id, |id| entity_hash(hasher, entries, files, *id));
        id
    }

    fn retire(&mut self, seq: Seq, transitioned: &Transitioned, changes: &mut Changes) -> bool {
        let entity = &transitioned.entity;
        let Some(entry) = self.remove_current(seq, transitioned, changes) else {
            return false;
        };
        let mut former = FormerVersion {
            slice: entry.slice,
            artifact: self.sources.artifact(entry.source),
            spans: entry.spans.as_slice().to_vec(),
            origin: entry.origin,
            episode: entry.episode,
        };
        changes.touch::<FormerVersionRow, _>(|| (entity.clone(),), true);
        self.superseded_words.add(entity);
        let versions = self.superseded.entry(entity.clone()).or_default();
        // A version that the user once supplied remains theirs when the model repeats it.
        let is_users =
            |known: &FormerVersion| known.slice == former.slice && known.origin == Origin::User;
        if versions.iter().any(is_users) {
            former.origin = Origin::User;
        }
        // The same code again is the latest former version: look-ups go by how late it was superseded.
        versions.retain(|known| known.slice != former.slice);
        versions.push(former);
        if versions.len() > SUPERSEDED_KEPT {
            versions.remove(oldest_to_forget(versions));
        }
        debug_assert!(
            versions.len() <= SUPERSEDED_KEPT,
            "former versions are bounded"
        );
        true
    }

    /// Removes the version that the event names, if it is the authoritative one.
    fn remove_current(
        &mut self,
        seq: Seq,
        transitioned: &Transitioned,
        changes: &mut Changes,
    ) -> Option<MapEntry> {
        let id = self.find_id(&transitioned.entity)?;
        if self.entry(id)?.version != transitioned.version {
            return None;
        }
        changes.touch::<StateMapRow, _>(|| (transitioned.entity.clone(),), true);
        self.remove_entry(id, seq, changes)
    }

    fn remove_entry(&mut self, id: u32, seq: Seq, changes: &mut Changes) -> Option<MapEntry> {
        debug_assert!(self.entry(id).is_some(), "only an entry in use is removed");
        // Both look-ups find the entry by what it holds, so they let go of it first.
        let hash = self.entity_hash_of(id);
        if let Ok(slot) = self.by_entity.find_entry(hash, |other| *other == id) {
            slot.remove();
        }
        self.unlink_name(id);
        let entry = self.entries[id as usize].take()?;
        self.sources.version_left(entry.source, seq, changes);
        let file = &mut self.files[entry.path as usize];
        if entry.symbol.is_none() {
            file.whole = None;
        } else {
            file.entries.retain(|other| *other != id);
        }
        self.free.push(id);
        self.count -= 1;
        Some(entry)
    }

    fn file_id(&mut self, path: &RelPath) -> u32 {
        if let Some(id) = self.find_file(path) {
            return id;
        }
        let id = u32::try_from(self.files.len()).expect("memory holds fewer than 2^32 files");
        // Files keep their numbers for good: a path without entities costs its name alone.
        self.files.push(TrackedFile {
            path: path.clone(),
            entries: Vec::new(),
            whole: None,
        });
        let Self {
            by_basename, files, ..
        } = self;
        let alike = by_basename.entry(basename_hash(path)).or_default();
        let at = alike.partition_point(|other| files[*other as usize].path < *path);
        alike.insert(at, id);
        let Self { by_path, files, .. } = self;
        by_path.insert_unique(name_hash(path.as_str()), id, |id| {
            name_hash(files[*id as usize].path.as_str())
        });
        id
    }

    fn find_file(&self, path: &RelPath) -> Option<u32> {
        self.by_path
            .find(name_hash(path.as_str()), |id| {
                self.files[*id as usize].path == *path
            })
            .copied()
    }

    fn find_id(&self, entity: &EntityId) -> Option<u32> {
        let hash = self
            .hasher
            .hash_one((entity.path.as_str(), entity.symbol_str()));
        self.by_entity
            .find(hash, |id| {
                self.entry(*id).is_some_and(|entry| {
                    entry.symbol == entity.symbol
                        && self.files[entry.path as usize].path == entity.path
                })
            })
            .copied()
    }

    fn entry(&self, id: u32) -> Option<&MapEntry> {
        self.entries[id as usize].as_ref()
    }

    fn entity_hash_of(&self, id: u32) -> u64 {
        entity_hash(&self.hasher, &self.entries, &self.files, id)
    }

    fn link_name(&mut self, id: u32) {
        let Some(name) = self.name_of(id) else { return };
        let hash = self.hasher.hash_one(name);
        let head = self.latest_named(hash, name);
        // Sorted by age, because a look-up with a limit must not depend on whether the state was folded or restored.
        let mut before = None;
        let mut next = head;
        while let Some(other) = next.filter(|other| self.is_older(id, *other)) {
            before = Some(other);
            next = self.entry(other).and_then(|entry| entry.namesake);
        }
        if let Some(entry) = &mut self.entries[id as usize] {
            entry.namesake = next;
        }
        match (before, head) {
            (Some(before), _) => {
                if let Some(entry) = &mut self.entries[before as usize] {
                    entry.namesake = Some(id);
                }
            }
            (None, Some(head)) => {
                if let Ok(mut slot) = self.by_name.find_entry(hash, |other| *other == head) {
                    *slot.get_mut() = id;
                }
            }
            (None, None) => {
                let Self {
                    by_name,
                    entries,
                    hasher,
                    ..
                } = self;
                by_name.insert_unique(hash, id, |id| last_component_hash(hasher, entries, *id));
            }
        }
    }

    /// Whether one entry became true before another; in a sound ledger no two did so at once.
    fn is_older(&self, id: u32, other: u32) -> bool {
        let age = |id| self.entry(id).map(|entry| entry.seq);
        (age(id), self.sort_key(other)) < (age(other), self.sort_key(id))
    }

    /// The latest entry whose symbol has this last component.
    fn latest_named(&self, hash: u64, name: &str) -> Option<u32> {
        self.by_name
            .find(hash, |id| self.name_of(*id) == Some(name))
            .copied()
    }

    fn unlink_name(&mut self, id: u32) {
        let Some(name) = self.name_of(id) else { return };
        let hash = self.hasher.hash_one(name);
        let Some(head) = self.latest_named(hash, name) else {
            return;
        };
        let next = self.entry(id).and_then(|entry| entry.namesake);
        if head == id {
            match (self.by_name.find_entry(hash, |other| *other == id), next) {
                (Ok(mut slot), Some(next)) => *slot.get_mut() = next,
                (Ok(slot), None) => {
                    slot.remove();
                }
                (Err(_), _) => {}
            }
            return;
        }
        let mut at = head;
        while let Some(following) = self.entry(at).and_then(|entry| entry.namesake) {
            if following == id {
                if let Some(entry) = &mut self.entries[at as usize] {
                    entry.namesake = next;
                }
                return;
            }
            at = following;
        }
    }

    fn symbol_of(&self, id: u32) -> Option<&Symbol> {
        self.entry(id)?.symbol.as_ref()
    }

    fn name_of(&self, id: u32) -> Option<&str> {
        self.symbol_of(id).map(Symbol::last_component)
    }

    fn entity_of(&self, entry: &MapEntry) -> EntityId {
        EntityId {
            path: self.files[entry.path as usize].path.clone(),
            symbol: entry.symbol.clone(),
        }
    }

    /// The number of entities.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether nothing is authoritative.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The authoritative version of an entity.
    #[must_use]
    pub fn current(&self, entity: &EntityId) -> Option<CurrentVersion> {
        let entry = self.entry(self.find_id(entity)?)?;
        Some(CurrentVersion {
            version: entry.version,
            slice: entry.slice,
            artifact: self.sources.artifact(entry.source),
            spans: entry.spans.as_slice().to_vec(),
            figures: entry.figures,
            proof: entry.proof,
            origin: entry.origin,
            episode: entry.episode,
        })
    }

    /// The hash of an entity's authoritative version alone.
    #[must_use]
    pub fn slice(&self, entity: &EntityId) -> Option<SliceHash> {
        Some(self.entry(self.find_id(entity)?)?.slice)
    }

    /// The origin of an entity's authoritative version.
    #[must_use]
    pub fn origin(&self, entity: &EntityId) -> Option<Origin> {
        Some(self.entry(self.find_id(entity)?)?.origin)
    }

    /// Whether an earlier version of the entity had this hash.
    #[must_use]
    pub fn was_true(&self, entity: &EntityId, slice: SliceHash) -> bool {
        self.superseded
            .get(entity)
            .is_some_and(|versions| versions.iter().any(|former| former.slice == slice))
    }

    /// All symbols of a file, sorted.
    #[must_use]
    pub fn symbols_of(&self, path: &RelPath) -> Vec<Symbol> {
        let Some(file) = self.find_file(path) else {
            return Vec::new();
        };
        self.files[file as usize]
            .entries
            .iter()
            .filter_map(|id| self.symbol_of(*id).cloned())
            .collect()
    }

    /// Whether the file or any symbol of it is authoritative. A file that isn't is adopted from disk as soon as a prompt names it
    /// or a tool call concerns it.
    #[must_use]
    pub fn tracks(&self, path: &RelPath) -> bool {
        self.find_file(path)
            .is_some_and(|id| self.files[id as usize].is_tracked())
    }

    /// All tracked files, in no order.
    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.files
            .iter()
            .filter(|file| file.is_tracked())
            .map(|file| &file.path)
    }

    /// Tracked files with this base name, in the order of their paths, at most `limit`.
    #[must_use]
    pub fn files_named(&self, basename: &str, limit: usize) -> Vec<RelPath> {
        self.files_called(basename)
            .filter(|path| path.basename() == basename)
            .take(limit)
            .cloned()
            .collect()
    }

    /// The tracked file that a path in a text means: the file at the path, or the only one with that name.
    #[must_use]
    pub fn file_meant(&self, named: NamedPath) -> Option<RelPath> {
        let has_path = |id: &u32| {
            let file = &self.files[*id as usize];
            file.is_tracked() && name_hash(file.path.as_str()) == named.path
        };
        if let Some(id) = self.by_path.find(named.path, has_path) {
            return Some(self.files[*id as usize].path.clone());
        }
        if !named.is_bare {
            return None;
        }
        let alike = self.files_with_basename(named.basename);
        let mut same = alike.filter(|path| name_hash(path.basename()) == named.path);
        let only = same.next()?;
        same.next().is_none().then(|| only.clone())
    }

    /// The first tracked file whose path differs from this one in upper and lower case alone.
    #[must_use]
    pub fn case_twin(&self, path: &RelPath) -> Option<RelPath> {
        self.files_called(path.basename())
            .find(|known| *known != path && known.as_str().eq_ignore_ascii_case(path.as_str()))
            .cloned()
    }

    /// Tracked files with this base name, upper and lower case alike.
    fn files_called(&self, basename: &str) -> impl Iterator<Item = &RelPath> {
        let basename = basename.to_ascii_lowercase();
        self.files_with_basename(name_hash(&basename))
            .filter(move |path| path.basename().eq_ignore_ascii_case(&basename))
    }

    /// Tracked files with this hash of their base name.
    fn files_with_basename(&self, basename: NameHash) -> impl Iterator<Item = &RelPath> {
        let ids = self.by_basename.get(&basename);
        let ids = ids.map(Vec::as_slice).unwrap_or_default();
        ids.iter()
            .map(|id| &self.files[*id as usize])
            .filter(|file| file.is_tracked())
            .map(|file| &file.path)
    }

    /// Entities whose symbol's last component is `name`, the latest first, at most `limit`.
    #[must_use]
    pub fn entities_named(&self, name: &str, limit: usize) -> Vec<EntityId> {
        let hash = self.hasher.hash_one(name);
        let mut next = self.latest_named(hash, name);
        let mut found = Vec::new();
        while let Some(entry) = next.and_then(|id| self.entry(id)) {
            if found.len() == limit {
                break;
            }
            found.push(self.entity_of(entry));
            next = entry.namesake;
        }
        found
    }

    /// The artifacts that hold authoritative versions.
    #[must_use]
    pub const fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Forgets archive rows up to `durable`, which the store returns from now on.
    pub fn forget_durable(&mut self, durable: Seq) {
        self.sources.forget_durable(durable);
    }

    fn ids(&self) -> Vec<u32> {
        (0..)
            .zip(&self.entries)
            .filter_map(|(id, entry)| entry.as_ref().map(|_| id))
            .collect()
    }

    fn sorted_ids(&self) -> Vec<u32> {
        let mut ids = self.ids();
        ids.sort_unstable_by(|a, b| self.sort_key(*a).cmp(&self.sort_key(*b)));
        ids
    }

    fn sort_key(&self, id: u32) -> (&str, &str) {
        self.entry(id).map_or(("", ""), |entry| {
            let symbol = entry.symbol.as_ref().map_or("", Symbol::as_str);
            (self.files[entry.path as usize].path.as_str(), symbol)
        })
    }

    /// The index of a version among the former versions of its entity, the latest last.
    #[must_use]
    pub fn place_superseded(&self, entity: &EntityId, slice: SliceHash) -> Option<usize> {
        let superseded = self.superseded.get(entity)?;
        superseded.iter().position(|known| known.slice == slice)
    }

    /// Former authoritative versions of an entity, the latest last.
    #[must_use]
    pub fn former_versions(&self, entity: &EntityId) -> &[FormerVersion] {
        self.superseded.get(entity).map_or(&[], Vec::as_slice)
    }

    /// The symbols that have former versions.
    #[must_use]
    pub const fn superseded_words(&self) -> &SymbolWords {
        &self.superseded_words
    }

    /// The event by which the user made an entity's version authoritative; `None` if the model did.
    #[must_use]
    pub fn decided_by_user(&self, entity: &EntityId) -> Option<Seq> {
        let entry = self.entry(self.find_id(entity)?)?;
        (entry.origin == Origin::User).then_some(entry.seq)
    }

    /// The rows of an entity's former versions, by key.
    fn former_rows_of(&self, entity: &EntityId) -> impl Iterator<Item = FormerVersionRow> {
        let versions = (0..).zip(self.former_versions(entity));
        versions.map(|(position, former)| FormerVersionRow {
            entity: entity.clone(),
            position,
            artifact: former.slice,
            source: former.artifact,
            spans: former.spans.clone(),
            origin: former.origin,
            episode: former.episode,
        })
    }

    /// Links namesakes after all rows were restored.
    pub fn restored(&mut self) {
        let mut ids = self.ids();
        // Oldest first, because each is linked before its older namesakes, which is then a constant step.
        ids.sort_by_cached_key(|id| self.entry(*id).map(|entry| entry.seq));
        for id in ids {
            self.link_name(id);
        }
    }

    fn row_of(&self, entry: &MapEntry) -> StateMapRow {
        StateMapRow {
            entity: self.entity_of(entry),
            artifact: entry.slice,
            version: entry.version,
            source: self.sources.artifact(entry.source),
            spans: entry.spans.as_slice().to_vec(),
            nodes: entry.figures.nodes,
            tokens: entry.figures.tokens,
            origin: entry.origin,
            episode: entry.episode,
            seq: entry.seq,
            updated_at_ms: entry.at,
            proof: entry.proof,
        }
    }
}

impl Keeps<StateMapRow> for StateMap {
    fn visit_rows(&self, visit: &mut dyn FnMut(StateMapRow)) {
        self.sorted_ids()
            .into_iter()
            .filter_map(|id| self.entry(id))
            .map(|entry| self.row_of(entry))
            .for_each(visit);
    }

    /// [`StateMap::restored`] has to follow the last row.
    fn restore_row(&mut self, row: StateMapRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        if self.find_id(&row.entity).is_some() {
            return Err(UnfitRow("an entity is true twice"));
        }
        // Counts each version as promoted; the rows of `partly_true`, which come after these, put the numbers right.
        let entry = MapEntry {
            path: self.file_id(&row.entity.path),
            symbol: row.entity.symbol,
            slice: row.artifact,
            source: self
                .sources
                .version_promoted(row.source, &mut Changes::discarding()),
            spans: EntrySpans::new(&row.spans),
            figures: Figures {
                nodes: row.nodes,
                tokens: row.tokens,
            },
            origin: row.origin,
            proof: row.proof,
            version: row.version,
            episode: row.episode,
            seq: row.seq,
            at: row.updated_at_ms,
            namesake: None,
        };
        self.insert(entry);
        Ok(())
    }

    fn rows_beginning(&self, key: &[Value]) -> Vec<StateMapRow> {
        let (entity,) = <(EntityId,)>::from_touched(key);
        let entry = self.find_id(&entity).and_then(|id| self.entry(id));
        entry.map(|entry| self.row_of(entry)).into_iter().collect()
    }
}

impl Keeps<FormerVersionRow> for StateMap {
    fn visit_rows(&self, visit: &mut dyn FnMut(FormerVersionRow)) {
        let entities = self.superseded.keys();
        entities
            .flat_map(|entity| self.former_rows_of(entity))
            .for_each(visit);
    }

    fn restore_row(&mut self, row: FormerVersionRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        let former = FormerVersion {
            slice: row.artifact,
            artifact: row.source,
            spans: row.spans,
            origin: row.origin,
            episode: row.episode,
        };
        self.superseded_words.add(&row.entity);
        let versions = self.superseded.entry(row.entity).or_default();
        // Gate A compares with the latest, so a missing one would change decisions.
        if row.position != versions.len() as u64 {
            return Err(UnfitRow("a former version is missing"));
        }
        versions.push(former);
        Ok(())
    }

    fn rows_beginning(&self, key: &[Value]) -> Vec<FormerVersionRow> {
        let (entity,) = <(EntityId,)>::from_touched(key);
        self.former_rows_of(&entity).collect()
    }
}

impl TrackedFile {
    fn is_tracked(&self) -> bool {
        self.whole.is_some() || !self.entries.is_empty()
    }
}

fn entity_hash(
    hasher: &DefaultHashBuilder,
    entries: &[Option<MapEntry>],
    files: &[TrackedFile],
    id: u32,
) -> u64 {
    entries[id as usize].as_ref().map_or(0, |entry| {
        let symbol = entry.symbol.as_ref().map(Symbol::as_str);
        hasher.hash_one((files[entry.path as usize].path.as_str(), symbol))
    })
}

fn last_component_hash(hasher: &DefaultHashBuilder, entries: &[Option<MapEntry>], id: u32) -> u64 {
    let symbol = entries[id as usize]
        .as_ref()
        .and_then(|entry| entry.symbol.as_ref());
    symbol.map_or(0, |symbol| hasher.hash_one(symbol.last_component()))
}

impl fmt::Display for StateMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for id in self.sorted_ids() {
            let entry = self.entry(id).expect("sorted ids are those of entries");
            let spans = spans_text(entry.spans.as_slice());
            let origin = entry.origin;
            writeln!(
                f,
                "{} {} {:.8} {origin} {spans}",
                self.entity_of(entry),
                entry.version,
                entry.slice
            )?;
        }
        Ok(())
    }
}
