//! The State Map: exactly one authoritative version for each entity (spec §3.3).
//!
//! Built for many entities in little memory: those of a file lie packed in its row, which stays in the store until somebody asks for one
//! of them, and what disk was seen to hold is kept only where it differs. In memory for good are an index of names, and the files.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::{Cell, OnceCell, RefCell};

use hashbrown::HashTable;
use rkyv::{Archive, Deserialize as Load, Serialize as Store};
use tslp_core::artifact::{Origin, Transition};
use tslp_core::entity::{EntityId, Symbol, last_component};
use tslp_core::event::{
    DiskFinding, DiskObserved, DiskSlice, Event, FileAuthor, Recorded, Transitioned,
};
use tslp_core::hash::{ArtifactHash, SliceHash, quick_hash};
use tslp_core::ids::{EpisodeId, Seq, VersionId};
use tslp_core::limits::SUPERSEDED_KEPT;
use tslp_core::name_hash::{NameHash, NamedPath, basename_hash, name_hash};
use tslp_core::path::RelPath;
use tslp_core::slice::Span;

use crate::changes::Touched;
use crate::disk::{Disk, DiskRow, LastFinding};
use crate::file_code::{Entry, FileCode, PackedVersions, TrackedFileRow, TrueEntity};
use crate::packed::PackedMap;
use crate::proposals::{Proposal, Proposals};
use crate::row::{EventAt, Keeps, UnfitRow};
use crate::row_map::RowMap;
use crate::sources::Sources;
use crate::symbol_words::SymbolWords;

row! {
    /// `former_versions`: the last versions of each entity that were authoritative and no longer are.
    pub struct FormerVersionsRow in table "former_versions", version 3;
    key {
        /// The entity.
        entity: EntityId,
    }
    values {
        /// The versions, the latest last.
        versions: Vec<FormerVersion>,
    }
}

crate::stored_cells!(Vec<FormerVersion>);

/// The index of the oldest version that may be forgotten: the user's last version is kept, because gate A compares the
/// model's changes with it.
fn oldest_to_forget(versions: &[FormerVersion]) -> usize {
    let last_of_user = versions
        .iter()
        .rposition(|version| version.origin == Origin::User);
    usize::from(last_of_user == Some(0))
}

/// Bytes of an entity's packed version, usually.
const ENTRY_BYTES_USUAL: usize = 80;

/// The rows of files whose code isn't in memory.
pub trait StoredFiles {
    /// The row of a file; `None` if it has none, or it can't be read.
    fn tracked_file(&self, path: &RelPath) -> Option<TrackedFileRow>;

    /// Takes the row of a file whose code leaves memory. Returns whether it has it from now on, as a table has whose rows are durable.
    fn keep(&self, row: &TrackedFileRow) -> bool {
        let _ = row;
        true
    }
}

/// A file of which something is or was authoritative.
struct TrackedFile {
    path: RelPath,
    /// The number of its authoritative versions.
    entities: u32,
    /// The last event since the start that changed them.
    changed: Seq,
    /// The hash of its row's versions, while the store alone has them.
    stored: u64,
    /// Its authoritative versions, once somebody has asked for one.
    code: OnceCell<Box<FileCode>>,
}

/// A version of an entity that was authoritative once.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load)]
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
    /// The episode in which it ceased to be true.
    pub ended: EpisodeId,
    /// Whose change ended it.
    pub ended_by: Origin,
}

/// All authoritative versions.
#[derive(Default)]
pub struct StateMap {
    files: Vec<TrackedFile>,
    /// The store of what isn't in memory; without one everything is.
    stored: Option<Box<dyn StoredFiles + Send>>,
    /// Bytes of code that stays in memory though the store has it, for files that are looked at again and again.
    bytes_kept: usize,
    /// Files whose code is in memory, in the order in which it came there.
    in_memory: RefCell<Vec<u32>>,
    /// Bytes of it, about.
    in_memory_bytes: Cell<usize>,
    /// The tables of artifacts are its own.
    pub(crate) sources: Sources,
    /// What disk was seen to hold, but for the slices that are true: their entries say so.
    disk: Disk,
    by_path: HashTable<u32>,
    /// By the hash of their base names, upper and lower case alike.
    by_basename: HashTable<u32>,
    /// [`name_key`] of every symbol, unless nobody asks for names.
    by_name: PackedMap,
    is_without_names: bool,
    /// Those of the rows that were restored, in no order, until all are. As numbers, which are compared at once.
    restored_names: Vec<u128>,
    /// Versions that were authoritative, the latest last.
    pub(crate) superseded: RowMap<FormerVersionsRow>,
    /// The symbols among them.
    superseded_words: SymbolWords,
    count: usize,
    /// Rows of files of which something is true.
    touched_files: Touched<(RelPath,)>,
    /// Rows of last looks.
    touched_looks: Touched<(RelPath,)>,
}

impl StateMap {
    /// Folds one event in; `proposals` must still hold the version that moves. Returns false if the event contradicts the
    /// state, which happens only in a damaged ledger.
    pub fn apply(&mut self, recorded: &Recorded, proposals: &Proposals) -> bool {
        let transitioned = match &recorded.event {
            Event::DiskObserved(observed) => {
                self.observe(observed, recorded.seq);
                return true;
            }
            Event::Transitioned(transitioned) => transitioned,
            _ => return true,
        };
        match transitioned.transition {
            Transition::Promote => match proposals.get(transitioned.version) {
                Some(proposed) => self.promote(recorded, proposed),
                None => false,
            },
            Transition::Supersede | Transition::Remove => self.retire(recorded, transitioned),
            Transition::Discard => true,
        }
    }

    fn promote(&mut self, recorded: &Recorded, proposed: &Proposal) -> bool {
        let entity = TrueEntity {
            entity: proposed.entity.clone(),
            version: proposed.version,
            slice: proposed.slice,
            artifact: proposed.artifact,
            spans: proposed.spans.clone(),
            figures: proposed.figures,
            origin: proposed.origin,
            episode: recorded.episode,
            seq: recorded.seq,
            updated_at_ms: recorded.at,
            proof: proposed.proof,
        };
        self.sources.version_promoted(entity.artifact);
        // Decisions supersede the older version first. A ledger in which they didn't is damaged; the newer one wins, and the
        // caller notes the anomaly.
        let held = self.remove_entry(&entity.entity, recorded.seq);
        self.insert(&entity, recorded.seq);
        held.is_none()
    }

    /// Adds the version of an entity that has none.
    fn insert(&mut self, entity: &TrueEntity, seq: Seq) {
        let path = &entity.entity.path;
        let id = self.file_id(path);
        let symbol = entity.entity.symbol.as_ref();
        let on_disk = symbol.is_some_and(|symbol| self.take_slice(id, symbol, entity.slice));
        let file = self.changing(id, seq);
        file.entities += 1;
        file.code_mut().insert(entity, on_disk);
        self.count += 1;
        *self.in_memory_bytes.get_mut() += ENTRY_BYTES_USUAL;
        if let Some(symbol) = symbol.filter(|_| !self.is_without_names) {
            let key = name_key(symbol.last_component(), entity.version, id);
            self.by_name.put(&key, &[]);
        }
    }

    /// A file whose code is about to be changed by an event.
    fn changing(&mut self, id: u32, seq: Seq) -> &mut TrackedFile {
        self.code(id);
        let file = &mut self.files[id as usize];
        file.changed = seq;
        self.touched_files
            .note(|| (file.path.clone(),), file.is_tracked());
        file
    }

    fn retire(&mut self, recorded: &Recorded, transitioned: &Transitioned) -> bool {
        let entity = &transitioned.entity;
        // Only the version that the event names leaves.
        let current = self.current(entity).map(|current| current.version);
        if current != Some(transitioned.version) {
            return false;
        }
        let Some(removed) = self.remove_entry(entity, recorded.seq) else {
            return false;
        };
        let mut former = FormerVersion {
            slice: removed.slice,
            artifact: removed.artifact,
            spans: removed.spans,
            origin: removed.origin,
            episode: removed.episode,
            ended: recorded.episode,
            ended_by: transitioned.origin,
        };
        self.superseded_words.add(entity);
        let mut row = FormerVersionsRow {
            entity: entity.clone(),
            versions: self.former_versions(entity).to_vec(),
        };
        let versions = &mut row.versions;
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
        self.superseded.put(row);
        true
    }

    fn remove_entry(&mut self, entity: &EntityId, seq: Seq) -> Option<TrueEntity> {
        let (id, _) = self.find(entity)?;
        let file = self.changing(id, seq);
        let (removed, on_disk) = file.code_mut().remove(entity)?;
        file.entities -= 1;
        self.count -= 1;
        self.sources.version_left(removed.artifact, seq);
        if let Some(symbol) = &entity.symbol {
            let key = name_key(symbol.last_component(), removed.version, id);
            self.by_name.remove(&key);
            if on_disk && let Some(slices) = self.disk.slices_mut(id) {
                slices.insert(symbol.clone(), Some(removed.slice));
                self.touch_look(id, true);
            }
        }
        Some(removed)
    }

    /// Makes the indices, after all rows were restored: that is faster than to put each name into them.
    pub(crate) fn finish_restoring(&mut self) -> Result<(), UnfitRow> {
        let superseded = self.superseded.values();
        superseded.for_each(|row| self.superseded_words.add(&row.entity));
        let mut names = core::mem::take(&mut self.restored_names);
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(UnfitRow("a version is true of two entities"));
        }
        self.by_name = PackedMap::of_sorted(names.into_iter().map(key_of_number));
        Ok(())
    }

    /// The row of a file's last look changes or appears.
    fn touch_look(&mut self, id: u32, was_present: bool) {
        let path = &self.files[id as usize].path;
        self.touched_looks.note(|| (path.clone(),), was_present);
    }

    /// Takes a symbol's slice from what disk held besides what is true, if it is this one: its entry says so from now on.
    fn take_slice(&mut self, id: u32, symbol: &Symbol, slice: SliceHash) -> bool {
        let slices = self.disk.slices_mut(id);
        let slices = slices.filter(|slices| slices.get(symbol) == Some(&Some(slice)));
        let is_taken = slices.is_some_and(|slices| slices.remove(symbol).is_some());
        if is_taken {
            self.touch_look(id, true);
        }
        is_taken
    }

    /// Takes what a look has found, and has the entries of the file say which of them disk holds.
    fn observe(&mut self, observed: &DiskObserved, seq: Seq) {
        let id = self.file_id(&observed.path);
        let was_present = self.disk.observed(id, observed, seq);
        self.touch_look(id, was_present);
        if !self.files[id as usize].is_tracked() {
            return;
        }
        self.code(id);
        let Some(slices) = self.disk.slices_mut(id) else {
            return;
        };
        // Both are in the order of the symbols.
        let mut seen = core::mem::take(slices).into_iter().peekable();
        let has_changed = self.files[id as usize].code_mut().mark_on_disk(|entry| {
            while let Some(other) = seen.next_if(|(other, _)| other.as_str() < entry.symbol) {
                slices.extend([other]);
            }
            let is_same = |(other, slice): &(Symbol, Option<SliceHash>)| {
                other.as_str() == entry.symbol && *slice == Some(entry.slice)
            };
            seen.next_if(is_same).is_some()
        });
        slices.extend(seen);
        if has_changed {
            self.changing(id, seq);
        }
    }

    fn file_id(&mut self, path: &RelPath) -> u32 {
        if let Some(id) = self.find_file(path) {
            return id;
        }
        let id = u32::try_from(self.files.len()).expect("memory holds fewer than 2^32 files");
        // Files keep their numbers for good: a path without entities costs its name alone.
        self.files.push(TrackedFile {
            path: path.clone(),
            entities: 0,
            changed: Seq(0),
            stored: 0,
            code: OnceCell::new(),
        });
        let Self {
            by_basename,
            by_path,
            files,
            ..
        } = self;
        by_basename.insert_unique(basename_hash(path), id, |id| {
            basename_hash(&files[*id as usize].path)
        });
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

    fn find(&self, entity: &EntityId) -> Option<(u32, Entry<'_>)> {
        let id = self.find_file(&entity.path)?;
        Some((id, self.code(id).find(entity.symbol.as_ref())?))
    }

    /// The authoritative versions of a file.
    fn code(&self, id: u32) -> &FileCode {
        let file = &self.files[id as usize];
        file.code.get_or_init(|| {
            let code: Box<FileCode> = match file.entities {
                0 => Box::default(),
                _ => FileCode::unpack(&self.stored_row(file).versions)
                    .expect("it was packed before it was stored"),
            };
            self.in_memory.borrow_mut().push(id);
            let bytes = self.in_memory_bytes.get() + code.size();
            self.in_memory_bytes.set(bytes);
            code
        })
    }

    /// The row of a file whose code isn't in memory.
    fn stored_row(&self, file: &TrackedFile) -> TrackedFileRow {
        let row = self
            .stored
            .as_ref()
            .and_then(|stored| stored.tracked_file(&file.path));
        let row = row.filter(|row| quick_hash(&row.versions) == file.stored);
        // What is true can't be guessed, and a start finds out what has happened to the table.
        row.unwrap_or_else(|| {
            panic!("the table `state_map` no longer holds what is true of {}: start tslp again, which reads everything", file.path)
        })
    }

    /// Keeps no index of names from now on: [`Self::entities_named`] finds nothing.
    pub(crate) const fn forgo_names(&mut self) {
        self.is_without_names = true;
    }

    /// As [`State::set_stored_files`](crate::state::State::set_stored_files).
    pub(crate) fn set_stored_files(
        &mut self,
        stored: Box<dyn StoredFiles + Send>,
        bytes_kept: usize,
    ) {
        self.stored = Some(stored);
        self.bytes_kept = bytes_kept;
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
    pub fn current(&self, entity: &EntityId) -> Option<TrueEntity> {
        let (id, entry) = self.find(entity)?;
        Some(self.code(id).true_entity(&entity.path, entry))
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
        self.place_superseded(entity, slice).is_some()
    }

    /// All symbols of a file, sorted.
    #[must_use]
    pub fn symbols_of(&self, path: &RelPath) -> Vec<Symbol> {
        self.entries(path).filter_map(|it| it.symbol()).collect()
    }

    /// The entities of a file's symbols, sorted, without that of the file.
    #[must_use]
    pub fn entities_in(&self, path: &RelPath) -> Vec<EntityId> {
        let entities = self.entries(path).map(|it| it.entity_in(path));
        entities.filter(|it| it.symbol.is_some()).collect()
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

    /// Tracked files with this hash of their base name, and few others, in the order of their paths.
    fn files_with_basename(&self, basename: NameHash) -> impl Iterator<Item = &RelPath> {
        let ids = self.by_basename.iter_hash(basename);
        let alike = ids.map(|id| &self.files[*id as usize]);
        let alike = alike.filter(|file| file.is_tracked());
        let mut paths: Vec<_> = alike.map(|file| &file.path).collect();
        paths.sort_unstable();
        paths.into_iter()
    }

    /// Entities whose symbol's last component is `name`, the latest first, at most `limit`.
    #[must_use]
    pub fn entities_named(&self, name: &str, limit: usize) -> Vec<EntityId> {
        let first = name_key(name, VersionId(0), 0);
        let alike = self.by_name.from(&first).map(|(key, _)| key);
        let alike = alike.take_while(|key| key[..NAME_BYTES] == first[..NAME_BYTES]);
        let alike: Vec<_> = alike.collect();
        let found = alike.into_iter().rev().filter_map(|key| {
            let (_, id) = key.split_last_chunk()?;
            let id = u32::from_be_bytes(*id);
            let mut entries = self.code(id).entries();
            let is_it = |it: &Entry<'_>| {
                last_component(it.symbol) == name && name_key(name, it.version, id) == *key
            };
            let entry = entries.find(is_it)?;
            Some(entry.entity_in(&self.files[id as usize].path))
        });
        found.take(limit).collect()
    }

    /// The artifacts that hold authoritative versions.
    #[must_use]
    pub const fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Forgets archive rows up to `durable`, and of the code of files what hasn't changed since, but for the latest: the store returns
    /// them from now on.
    pub fn forget_durable(&mut self, durable: Seq) {
        self.sources.outdated.forget_durable(durable, |row| row.seq);
        let Some(stored) = &self.stored else {
            return;
        };
        if self.in_memory_bytes.get() <= self.bytes_kept {
            return;
        }
        let in_memory = self.in_memory.get_mut();
        let sizes = in_memory.iter().map(|id| self.files[*id as usize].size());
        let mut size: usize = sizes.sum();
        // Half of it, so that this isn't done for each file.
        in_memory.retain(|id| {
            let file = &mut self.files[*id as usize];
            if size <= self.bytes_kept / 2 || file.changed > durable {
                return true;
            }
            let bytes = file.size();
            let Some(code) = file.code.get() else {
                return false;
            };
            let row = code.row(file.path.clone());
            let is_stored = stored.keep(&row);
            if is_stored {
                file.stored = quick_hash(&row.versions);
                file.code.take();
                size -= bytes;
            }
            !is_stored
        });
        self.in_memory_bytes.set(size);
    }

    /// What a file held when it was last looked at, without the slices of its symbols: [`Self::slice_on_disk`].
    #[must_use]
    pub fn disk_finding(&self, path: &RelPath) -> Option<LastFinding<'_>> {
        self.disk.finding(self.find_file(path)?)
    }

    /// Whether any look found a file at the path.
    #[must_use]
    pub fn was_there(&self, path: &RelPath) -> bool {
        self.find_file(path)
            .is_some_and(|id| self.disk.was_there(id))
    }

    /// The event of the last look at the path.
    #[must_use]
    pub fn seen_since(&self, path: &RelPath) -> Option<Seq> {
        self.disk.seen_since(self.find_file(path)?)
    }

    /// The same with its slices.
    #[must_use]
    pub fn disk_finding_in_full(&self, path: &RelPath) -> Option<DiskFinding> {
        let id = self.find_file(path)?;
        let mut finding = self.disk.finding(id)?.into();
        if let DiskFinding::File(file) = &mut finding {
            let others = self.disk.slices(id);
            file.slices.extend(others.map(|(symbol, slice)| DiskSlice {
                symbol: symbol.clone(),
                slice: *slice,
            }));
            let same = self.code(id).entries().filter(|entry| entry.on_disk);
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

    /// Who made a file what it was when it was last looked at; the user, of whom nothing else is known.
    #[must_use]
    pub fn disk_author(&self, path: &RelPath) -> FileAuthor {
        let id = self.find_file(path);
        let author = id.and_then(|id| self.disk.author(id));
        author.unwrap_or(FileAuthor::USER)
    }

    /// The slice of a symbol on disk when its file was last looked at: `Some(None)` if the file didn't define it, `None` if it
    /// wasn't looked for.
    #[must_use]
    pub fn slice_on_disk(&self, path: &RelPath, symbol: &Symbol) -> Option<Option<SliceHash>> {
        let id = self.find_file(path)?;
        if let Some(other) = self.disk.slice(id, symbol) {
            return Some(other);
        }
        let entry = self.code(id).find(Some(symbol))?;
        entry.on_disk.then_some(Some(entry.slice))
    }

    /// Whether disk held each of these slices when the file was last looked at. Slices in the order of their symbols are looked for in one walk.
    #[must_use]
    pub fn held_on_disk(&self, path: &RelPath, slices: &[DiskSlice]) -> bool {
        let mut entries = self.entries(path).peekable();
        slices.iter().all(|seen| {
            let symbol = seen.symbol.as_str();
            while entries.next_if(|entry| entry.symbol < symbol).is_some() {}
            let is_true = |entry: &Entry<'_>| {
                entry.symbol == symbol && entry.on_disk && Some(entry.slice) == seen.slice
            };
            entries.peek().is_some_and(is_true)
                || self.slice_on_disk(path, &seen.symbol) == Some(seen.slice)
        })
    }

    /// The entries of a file.
    fn entries(&self, path: &RelPath) -> impl Iterator<Item = Entry<'_>> {
        let code = self.find_file(path).map(|id| self.code(id));
        code.into_iter().flat_map(FileCode::entries)
    }

    /// Everything that is true, in the order of paths and symbols.
    pub fn true_entities(&self) -> impl Iterator<Item = TrueEntity> {
        self.sorted_files(TrackedFile::is_tracked).flat_map(|id| {
            let (path, code) = (&self.files[id as usize].path, self.code(id));
            let entries = code.entries();
            entries.map(|entry| code.true_entity(path, entry))
        })
    }

    fn sorted_files(&self, is_wanted: fn(&TrackedFile) -> bool) -> impl Iterator<Item = u32> {
        let mut ids: Vec<u32> = (0..).zip(&self.files).map(|(id, _)| id).collect();
        ids.retain(|id| is_wanted(&self.files[*id as usize]));
        ids.sort_unstable_by_key(|id| &self.files[*id as usize].path);
        ids.into_iter()
    }

    /// The row of a file of which something is true.
    fn row_of(&self, id: u32) -> TrackedFileRow {
        let file = &self.files[id as usize];
        match file.code.get() {
            Some(code) => code.row(file.path.clone()),
            None => self.stored_row(file),
        }
    }

    /// The index of a version among the former versions of its entity, the latest last.
    #[must_use]
    pub fn place_superseded(&self, entity: &EntityId, slice: SliceHash) -> Option<usize> {
        let mut superseded = self.former_versions(entity).iter();
        superseded.position(|known| known.slice == slice)
    }

    /// Former authoritative versions of an entity, the latest last.
    #[must_use]
    pub fn former_versions(&self, entity: &EntityId) -> &[FormerVersion] {
        let row = self.superseded.get(&(entity.clone(),));
        row.map_or(&[], |row| &row.versions)
    }

    /// Entities whose true version a model's change ended in these episodes or later, each with that version: the first that did.
    pub fn ended_by_model(
        &self,
        since: EpisodeId,
    ) -> impl Iterator<Item = (&EntityId, &FormerVersion)> {
        let is_wanted =
            move |it: &&FormerVersion| it.ended >= since && it.ended_by == Origin::Model;
        let all = self.superseded.values();
        all.filter_map(move |row| Some((&row.entity, row.versions.iter().find(is_wanted)?)))
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
}

impl Keeps<TrackedFileRow> for StateMap {
    fn visit_rows(&self, visit: &mut dyn FnMut(TrackedFileRow)) {
        let files = self.sorted_files(TrackedFile::is_tracked);
        files.map(|id| self.row_of(id)).for_each(visit);
    }

    fn restore_row(&mut self, row: TrackedFileRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        let id = self.file_id(&row.path);
        if self.files[id as usize].is_tracked() {
            return Err(UnfitRow("a file is tracked twice"));
        }
        let packed = PackedVersions::read(&row.versions)?;
        let (mut entities, mut users) = (0, alloc::vec![0; packed.sources.len()]);
        let sources = packed.sources;
        for entry in packed.into_entries() {
            let entry = entry?;
            users[entry.source] += 1;
            if !entry.symbol.is_empty() {
                let name = last_component(entry.symbol);
                self.restored_names
                    .push(number_of(name_key(name, entry.version, id)));
            }
            entities += 1;
        }
        if entities == 0 || entities != row.entities {
            return Err(UnfitRow("a file has another number of entities"));
        }
        self.count += entities as usize;
        // Each version counts as promoted; the rows of `partly_true`, which come after these, put the numbers right.
        for (artifact, users) in sources.iter().zip(users) {
            self.sources.restore(ArtifactHash(*artifact), users);
        }
        let file = &mut self.files[id as usize];
        file.entities = entities;
        if self.stored.is_some() {
            file.stored = quick_hash(&row.versions);
        } else {
            file.code = FileCode::unpack(&row.versions)?.into();
            self.in_memory.get_mut().push(id);
        }
        Ok(())
    }

    fn row(&self, (path,): &(RelPath,)) -> Option<TrackedFileRow> {
        let id = self.find_file(path)?;
        self.files[id as usize]
            .is_tracked()
            .then(|| self.row_of(id))
    }

    fn touched(&mut self) -> &mut Touched<(RelPath,)> {
        &mut self.touched_files
    }
}

/// After all rows of `state_map`.
impl Keeps<DiskRow> for StateMap {
    fn visit_rows(&self, visit: &mut dyn FnMut(DiskRow)) {
        let looks = self.sorted_files(|_| true);
        looks
            .filter_map(|id| self.disk.row(id, &self.files[id as usize].path))
            .for_each(visit);
    }

    fn restore_row(&mut self, row: DiskRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        let id = self.file_id(&row.path);
        self.disk.restore_row(id, row)
    }

    fn row(&self, (path,): &(RelPath,)) -> Option<DiskRow> {
        self.disk.row(self.find_file(path)?, path)
    }

    fn touched(&mut self) -> &mut Touched<(RelPath,)> {
        &mut self.touched_looks
    }
}

impl TrackedFile {
    const fn is_tracked(&self) -> bool {
        self.entities > 0
    }

    /// What is in memory, or is to be.
    fn code_mut(&mut self) -> &mut FileCode {
        self.code
            .get_mut()
            .expect("it was asked for before it is changed")
    }

    /// Bytes that its code takes in memory.
    fn size(&self) -> usize {
        self.code.get().map_or(0, |code| code.size())
    }
}

/// A key of the index of names.
type NameKey = [u8; 14];

/// Bytes of a name's hash at the beginning of its keys.
const NAME_BYTES: usize = 4;

/// The key of a symbol by its last component: of that one the hash, of its version six bytes, so that the latest comes last, and its
/// file.
fn name_key(name: &str, version: VersionId, file: u32) -> NameKey {
    let hash = name_hash(name).to_be_bytes();
    // No disk holds as many versions.
    let version = version.0.min((1 << 48) - 1).to_be_bytes();
    let mut key = [0; 14];
    key[..NAME_BYTES].copy_from_slice(&hash[..NAME_BYTES]);
    key[NAME_BYTES..10].copy_from_slice(&version[2..]);
    key[10..].copy_from_slice(&file.to_be_bytes());
    key
}

/// A key as a number, in the same order.
fn number_of(key: NameKey) -> u128 {
    let mut bytes = [0; 16];
    bytes[2..].copy_from_slice(&key);
    u128::from_be_bytes(bytes)
}

fn key_of_number(number: u128) -> NameKey {
    let bytes = number.to_be_bytes();
    bytes.last_chunk().copied().expect("a key is shorter")
}
