//! The State Map: exactly one authoritative version for each entity (spec §3.3).
//!
//! Built for many entities in little memory: those of a file lie packed in its pages, and what disk was seen to hold of them is kept
//! only where it differs.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use hashbrown::HashTable;
use tslp_core::artifact::{Origin, Transition};
use tslp_core::entity::{EntityId, Symbol, last_component};
use tslp_core::event::{DiskFinding, DiskSlice, Event, Recorded, Transitioned};
use tslp_core::extract::Proof;
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::{EpisodeId, Seq, UnixMillis, VersionId};
use tslp_core::limits::SUPERSEDED_KEPT;
use tslp_core::name_hash::{NameHash, NamedPath, basename_hash, name_hash};
use tslp_core::path::RelPath;
use tslp_core::slice::{Figures, Span};

use crate::changes::Changes;
use crate::disk::{Disk, DiskRow};
use crate::packed::{PackedMap, put_number, take_number};
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

/// The index of the oldest version that may be forgotten: the user's last version is kept, because gate A compares the
/// model's changes with it.
fn oldest_to_forget(versions: &[FormerVersion]) -> usize {
    let last_of_user = versions
        .iter()
        .rposition(|version| version.origin == Origin::User);
    usize::from(last_of_user == Some(0))
}

/// A file with everything authoritative in it.
struct TrackedFile {
    path: RelPath,
    /// [`PackedEntry`], by symbol; the file as a whole has the empty one.
    entries: PackedMap,
    /// When the first of these entries became true.
    since: UnixMillis,
}

/// The authoritative version of an entity where it lies; what is asked for most often is read already.
#[derive(Clone, Copy)]
struct PackedEntry<'p> {
    /// Empty for the file as a whole.
    symbol: &'p str,
    /// Whether disk held this slice when it was last looked at.
    on_disk: bool,
    origin: Origin,
    proof: Proof,
    slice: SliceHash,
    seq: Seq,
    /// Its number in [`Sources`].
    source: u32,
    rest: &'p [u8],
}

const PROOFS: [Proof; 4] = [
    Proof::PartialPattern,
    Proof::Pattern,
    Proof::Ast,
    Proof::Exact,
];

/// The bit of an entry's first byte that says that disk holds it.
const ON_DISK: u8 = 8;

fn pack(row: &StateMapRow, source: u32, on_disk: bool, since: UnixMillis) -> Vec<u8> {
    let is_users = row.origin == Origin::User;
    let mut packed = Vec::new();
    packed.push(row.proof as u8 | u8::from(is_users) << 2 | if on_disk { ON_DISK } else { 0 });
    packed.extend_from_slice(&row.artifact.0);
    let numbers = [
        row.seq.0,
        source.into(),
        row.nodes.into(),
        row.tokens.into(),
        row.version.0,
        row.episode.0,
        // Nearly all of a file's are the same.
        row.updated_at_ms.0.wrapping_sub(since.0).cast_unsigned(),
    ];
    let spans = row.spans.iter();
    let spans = spans.flat_map(|span| [span.start.into(), span.len().into()]);
    let numbers = numbers.into_iter().chain(spans);
    numbers.for_each(|number| put_number(&mut packed, number));
    packed
}

impl<'p> PackedEntry<'p> {
    fn read((symbol, value): (&'p [u8], &'p [u8])) -> Self {
        let (flags, value) = value.split_at(1);
        let (slice, mut rest) = value.split_at(32);
        Self {
            symbol: core::str::from_utf8(symbol).expect("it was packed as a text"),
            on_disk: flags[0] & ON_DISK != 0,
            origin: [Origin::Model, Origin::User][usize::from(flags[0] >> 2 & 1)],
            proof: PROOFS[usize::from(flags[0] & 3)],
            slice: SliceHash(slice.try_into().expect("it was packed as a hash")),
            seq: Seq(take_number(&mut rest)),
            source: small(take_number(&mut rest)),
            rest,
        }
    }

    fn symbol(&self) -> Option<Symbol> {
        (!self.symbol.is_empty()).then(|| Symbol::new(self.symbol))
    }
}

fn small(number: u64) -> u32 {
    u32::try_from(number).expect("it was packed as a small number")
}

fn key_of(symbol: Option<&Symbol>) -> &[u8] {
    symbol.map_or("", Symbol::as_str).as_bytes()
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
    files: Vec<TrackedFile>,
    /// The tables of artifacts are its own.
    pub(crate) sources: Sources,
    /// What disk was seen to hold, but for the slices that are true: their entries say so.
    pub(crate) disk: Disk,
    by_path: HashTable<u32>,
    /// Files by the hash of their base names, upper and lower case alike, in the order of their paths.
    by_basename: BTreeMap<NameHash, Vec<u32>>,
    /// [`name_key`] of every symbol.
    by_name: PackedMap,
    /// Those of the rows that were restored, in no order, until all are.
    restored_names: Vec<NameKey>,
    /// Versions that were authoritative, the latest last.
    superseded: BTreeMap<EntityId, Vec<FormerVersion>>,
    /// The symbols among them.
    superseded_words: SymbolWords,
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
        let transitioned = match &recorded.event {
            Event::DiskObserved(observed) => {
                self.disk.observed(observed, recorded.seq, changes);
                self.share_slices(&observed.path);
                return true;
            }
            Event::Transitioned(transitioned) => transitioned,
            _ => return true,
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
        let version = &proposed.version;
        let row = StateMapRow {
            entity: version.entity.clone(),
            artifact: version.slice,
            version: version.id,
            source: proposed.source,
            spans: version.spans.clone(),
            nodes: version.figures.nodes,
            tokens: version.figures.tokens,
            origin: proposed.origin,
            episode: recorded.episode,
            seq: recorded.seq,
            updated_at_ms: recorded.at,
            proof: proposed.proof,
        };
        let source = self.sources.version_promoted(row.source, changes);
        // Decisions supersede the older version first. A ledger in which they didn't is damaged; the newer one wins, and the
        // caller notes the anomaly.
        let held = self.remove_entry(&row.entity, recorded.seq, changes);
        let (name, _) = self.insert(&row, source);
        name.into_iter().for_each(|key| {
            self.by_name.put(&key, &[]);
        });
        changes.touch::<StateMapRow, _>(|| (row.entity,), held.is_some());
        held.is_none()
    }

    /// Adds the version of an entity that has none, but for its name's key, which it returns, with whether there was none.
    fn insert(&mut self, row: &StateMapRow, source: u32) -> (Option<NameKey>, bool) {
        let id = self.file_id(&row.entity.path);
        let symbol = row.entity.symbol.as_ref();
        let on_disk = symbol
            .is_some_and(|symbol| self.disk.take_slice(&row.entity.path, symbol, row.artifact));
        let file = &mut self.files[id as usize];
        if file.entries.is_empty() {
            file.since = row.updated_at_ms;
        }
        let packed = pack(row, source, on_disk, file.since);
        let is_new = file.entries.put(key_of(symbol), &packed);
        self.count += 1;
        let name = symbol.map(|symbol| name_key(symbol.last_component(), row.seq, id));
        (name, is_new)
    }

    fn retire(&mut self, seq: Seq, transitioned: &Transitioned, changes: &mut Changes) -> bool {
        let entity = &transitioned.entity;
        // Only the version that the event names leaves.
        let current = self.current(entity).map(|current| current.version);
        if current != Some(transitioned.version) {
            return false;
        }
        changes.touch::<StateMapRow, _>(|| (entity.clone(),), true);
        let Some(row) = self.remove_entry(entity, seq, changes) else {
            return false;
        };
        let mut former = FormerVersion {
            slice: row.artifact,
            artifact: row.source,
            spans: row.spans,
            origin: row.origin,
            episode: row.episode,
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

    fn remove_entry(
        &mut self,
        entity: &EntityId,
        seq: Seq,
        changes: &mut Changes,
    ) -> Option<StateMapRow> {
        let (id, entry) = self.find(entity)?;
        let row = self.row_of(&self.files[id as usize], entry);
        let (source, on_disk) = (entry.source, entry.on_disk);
        let file = &mut self.files[id as usize];
        file.entries.remove(key_of(entity.symbol.as_ref()));
        self.count -= 1;
        self.sources.version_left(source, seq, changes);
        if let Some(symbol) = &entity.symbol {
            let key = name_key(symbol.last_component(), row.seq, id);
            self.by_name.remove(&key);
            if on_disk {
                self.disk.put_slice(&entity.path, symbol, row.artifact);
            }
        }
        Some(row)
    }

    /// Makes the index of names, after all rows were restored: that is faster than to put each name into it.
    pub(crate) fn finish_names(&mut self) -> Result<(), UnfitRow> {
        let mut names = core::mem::take(&mut self.restored_names);
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(UnfitRow("an event made two entities true"));
        }
        self.by_name = PackedMap::of_sorted(names.iter());
        Ok(())
    }

    /// Has the entries of a file say which of them disk holds, after a look at it.
    fn share_slices(&mut self, path: &RelPath) {
        let (Some(id), Some(slices)) = (self.find_file(path), self.disk.slices_mut(path)) else {
            return;
        };
        // Both are in the order of the symbols.
        let mut seen = core::mem::take(slices).into_iter().peekable();
        let entries = &mut self.files[id as usize].entries;
        entries.mark_values(|symbol, value| {
            let entry = PackedEntry::read((symbol, value));
            while let Some(other) = seen.next_if(|(other, _)| other.as_str() < entry.symbol) {
                slices.extend([other]);
            }
            let is_same = |(other, slice): &(Symbol, Option<SliceHash>)| {
                other.as_str() == entry.symbol && *slice == Some(entry.slice)
            };
            let on_disk = seen.next_if(is_same).is_some();
            value[0] & !ON_DISK | if on_disk { ON_DISK } else { 0 }
        });
        slices.extend(seen);
    }

    fn file_id(&mut self, path: &RelPath) -> u32 {
        if let Some(id) = self.find_file(path) {
            return id;
        }
        let id = u32::try_from(self.files.len()).expect("memory holds fewer than 2^32 files");
        // Files keep their numbers for good: a path without entities costs its name alone.
        self.files.push(TrackedFile {
            path: path.clone(),
            entries: PackedMap::default(),
            since: UnixMillis(0),
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
        // Most often asked for while a file's entities are restored or adopted, one after the other.
        if self.files.last().is_some_and(|last| last.path == *path) {
            return u32::try_from(self.files.len() - 1).ok();
        }
        self.by_path
            .find(name_hash(path.as_str()), |id| {
                self.files[*id as usize].path == *path
            })
            .copied()
    }

    fn find(&self, entity: &EntityId) -> Option<(u32, PackedEntry<'_>)> {
        let id = self.find_file(&entity.path)?;
        let entry = self.files[id as usize].find(entity.symbol.as_ref())?;
        Some((id, entry))
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
        let (id, entry) = self.find(entity)?;
        let row = self.row_of(&self.files[id as usize], entry);
        Some(CurrentVersion {
            version: row.version,
            slice: row.artifact,
            artifact: row.source,
            spans: row.spans,
            figures: Figures {
                nodes: row.nodes,
                tokens: row.tokens,
            },
            proof: row.proof,
            origin: row.origin,
            episode: row.episode,
        })
    }

    /// The hash of an entity's authoritative version alone.
    #[must_use]
    pub fn slice(&self, entity: &EntityId) -> Option<SliceHash> {
        Some(self.find(entity)?.1.slice)
    }

    /// The origin of an entity's authoritative version.
    #[must_use]
    pub fn origin(&self, entity: &EntityId) -> Option<Origin> {
        Some(self.find(entity)?.1.origin)
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
        let entries = self.files[file as usize].entries();
        entries.filter_map(|entry| entry.symbol()).collect()
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
        let first = name_key(name, Seq(0), 0);
        let alike = self.by_name.from(&first).map(|(key, _)| key);
        let alike = alike.take_while(|key| key[..NAME_BYTES] == first[..NAME_BYTES]);
        let alike: Vec<_> = alike.collect();
        let found = alike.into_iter().rev().filter_map(|key| {
            let (_, id) = key.split_last_chunk()?;
            let id = u32::from_be_bytes(*id);
            let file = &self.files[id as usize];
            let mut entries = file.entries();
            let is_it = |it: &PackedEntry<'_>| {
                last_component(it.symbol) == name && name_key(name, it.seq, id) == *key
            };
            Some(file.entity_of(&entries.find(is_it)?))
        });
        found.take(limit).collect()
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

    /// What a file held when it was last looked at, without the slices of its symbols: [`Self::slice_on_disk`].
    #[must_use]
    pub fn disk_finding(&self, path: &RelPath) -> Option<&DiskFinding> {
        self.disk.finding(path)
    }

    /// The same with its slices.
    #[must_use]
    pub fn disk_finding_in_full(&self, path: &RelPath) -> Option<DiskFinding> {
        let mut finding = self.disk.finding(path)?.clone();
        if let DiskFinding::File(file) = &mut finding {
            let others = self.disk.slices(path);
            file.slices.extend(others.map(|(symbol, slice)| DiskSlice {
                symbol: symbol.clone(),
                slice: *slice,
            }));
            let tracked = self.find_file(path).map(|id| &self.files[id as usize]);
            let entries = tracked.into_iter().flat_map(TrackedFile::entries);
            let same = entries.filter(|entry| entry.on_disk);
            file.slices.extend(same.filter_map(|entry| {
                Some(DiskSlice {
                    symbol: entry.symbol()?,
                    slice: Some(entry.slice),
                })
            }));
            file.slices.sort_unstable();
        }
        Some(finding)
    }

    /// The slice of a symbol on disk when its file was last looked at: `Some(None)` if the file didn't define it, `None` if it
    /// wasn't looked for.
    #[must_use]
    pub fn slice_on_disk(&self, path: &RelPath, symbol: &Symbol) -> Option<Option<SliceHash>> {
        if let Some(other) = self.disk.slice(path, symbol) {
            return Some(other);
        }
        let entry = self.files[self.find_file(path)? as usize].find(Some(symbol))?;
        entry.on_disk.then_some(Some(entry.slice))
    }

    /// Whether disk held each of these slices when the file was last looked at. Slices in the order of their symbols are looked for in one walk.
    #[must_use]
    pub fn held_on_disk(&self, path: &RelPath, slices: &[DiskSlice]) -> bool {
        let file = self.find_file(path).map(|id| &self.files[id as usize]);
        let mut entries = file.into_iter().flat_map(TrackedFile::entries).peekable();
        slices.iter().all(|seen| {
            let symbol = seen.symbol.as_str();
            while entries.next_if(|entry| entry.symbol < symbol).is_some() {}
            let is_true = |entry: &PackedEntry<'_>| {
                entry.symbol == symbol && entry.on_disk && Some(entry.slice) == seen.slice
            };
            entries.peek().is_some_and(is_true)
                || self.slice_on_disk(path, &seen.symbol) == Some(seen.slice)
        })
    }

    fn rows(&self) -> impl Iterator<Item = StateMapRow> {
        let mut files: Vec<_> = self.files.iter().collect();
        files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        let files = files.into_iter();
        files.flat_map(|file| file.entries().map(|entry| self.row_of(file, entry)))
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
        let (_, entry) = self.find(entity)?;
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

    fn row_of(&self, file: &TrackedFile, entry: PackedEntry<'_>) -> StateMapRow {
        let mut rest = entry.rest;
        let mut next = || take_number(&mut rest);
        let (nodes, tokens) = (small(next()), small(next()));
        let (version, episode) = (VersionId(next()), EpisodeId(next()));
        let after = next().cast_signed();
        let mut spans = Vec::new();
        while !rest.is_empty() {
            let start = small(take_number(&mut rest));
            let end = start + small(take_number(&mut rest));
            spans.push(Span { start, end });
        }
        StateMapRow {
            entity: file.entity_of(&entry),
            artifact: entry.slice,
            version,
            source: self.sources.artifact(entry.source),
            spans,
            nodes,
            tokens,
            origin: entry.origin,
            episode,
            seq: entry.seq,
            updated_at_ms: UnixMillis(file.since.0.wrapping_add(after)),
            proof: entry.proof,
        }
    }
}

impl Keeps<StateMapRow> for StateMap {
    fn visit_rows(&self, visit: &mut dyn FnMut(StateMapRow)) {
        self.rows().for_each(visit);
    }

    fn restore_row(&mut self, row: StateMapRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        // Counts each version as promoted; the rows of `partly_true`, which come after these, put the numbers right.
        let source = self
            .sources
            .version_promoted(row.source, &mut Changes::discarding());
        let (name, is_new) = self.insert(&row, source);
        self.restored_names.extend(name);
        match is_new {
            true => Ok(()),
            false => Err(UnfitRow("an entity is true twice")),
        }
    }

    fn rows_beginning(&self, key: &[Value]) -> Vec<StateMapRow> {
        let (entity,) = <(EntityId,)>::from_touched(key);
        let found = self.find(&entity);
        let row = found.map(|(id, entry)| self.row_of(&self.files[id as usize], entry));
        row.into_iter().collect()
    }
}

/// After all rows of `state_map`.
impl Keeps<DiskRow> for StateMap {
    fn visit_rows(&self, visit: &mut dyn FnMut(DiskRow)) {
        self.disk.visit_rows(visit);
    }

    fn restore_row(&mut self, row: DiskRow, event: EventAt<'_>) -> Result<(), UnfitRow> {
        let path = row.path.clone();
        self.disk.restore_row(row, event)?;
        self.share_slices(&path);
        Ok(())
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
    const fn is_tracked(&self) -> bool {
        !self.entries.is_empty()
    }

    fn find(&self, symbol: Option<&Symbol>) -> Option<PackedEntry<'_>> {
        let key = key_of(symbol);
        let (found, value) = self.entries.from(key).next()?;
        (found == key).then(|| PackedEntry::read((found, value)))
    }

    fn entries(&self) -> impl Iterator<Item = PackedEntry<'_>> {
        self.entries.from(&[]).map(PackedEntry::read)
    }

    fn entity_of(&self, entry: &PackedEntry<'_>) -> EntityId {
        EntityId {
            path: self.path.clone(),
            symbol: entry.symbol(),
        }
    }
}

/// A key of the index of names.
type NameKey = [u8; 14];

/// Bytes of a name's hash at the beginning of its keys.
const NAME_BYTES: usize = 4;

/// The key of a symbol by its last component: of that one the hash, of the event by which it became true six bytes, so that the
/// latest comes last, and its file.
fn name_key(name: &str, seq: Seq, file: u32) -> NameKey {
    let hash = name_hash(name).to_be_bytes();
    // No disk holds as many events.
    let seq = seq.0.min((1 << 48) - 1).to_be_bytes();
    let mut key = [0; 14];
    key[..NAME_BYTES].copy_from_slice(&hash[..NAME_BYTES]);
    key[NAME_BYTES..10].copy_from_slice(&seq[2..]);
    key[10..].copy_from_slice(&file.to_be_bytes());
    key
}

impl fmt::Display for StateMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in self.rows() {
            let (entity, version, slice) = (row.entity, row.version, row.artifact);
            let (origin, spans) = (row.origin, spans_text(&row.spans));
            writeln!(f, "{entity} {version} {slice:.8} {origin} {spans}")?;
        }
        Ok(())
    }
}
