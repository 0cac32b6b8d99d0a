//! The authoritative versions of one file, packed: a row of `state_map`.
//!
//! A big project has a million of them, most of which are never asked for. So a start reads a file's versions without taking them into
//! memory, and a commit writes them whole.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use tslp_core::artifact::Origin;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::extract::Proof;
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::{EpisodeId, Seq, UnixMillis, VersionId};
use tslp_core::path::RelPath;
use tslp_core::slice::{Figures, Span};

use crate::packed::{PackedMap, items_in, put_number, take_number, try_number};
use crate::row::UnfitRow;

row! {
    /// `state_map`: one row for each file of which something is true.
    pub struct TrackedFileRow in table "state_map", version 3;
    key {
        /// The file.
        path: RelPath,
    }
    values {
        /// The number of its authoritative versions: its symbols', and its own if it is true as a whole.
        entities: u32,
        /// The versions, packed: [`TrackedFileRow::true_entities`].
        versions: Arc<[u8]>,
    }
}

/// What is true of one entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrueEntity {
    /// The entity.
    pub entity: EntityId,
    /// The authoritative version.
    pub version: VersionId,
    /// Hash of its canonical form, which is the artifact to users (spec §3.3).
    pub slice: SliceHash,
    /// The captured bytes that hold it.
    pub artifact: ArtifactHash,
    /// Its ranges in those bytes.
    pub spans: Vec<Span>,
    /// Its structure.
    pub figures: Figures,
    /// Its origin.
    pub origin: Origin,
    /// The episode in which it became authoritative.
    pub episode: EpisodeId,
    /// The event by which it did.
    pub seq: Seq,
    /// The time at which it did.
    pub updated_at_ms: UnixMillis,
    /// The proof of its definition.
    pub proof: Proof,
}

impl TrueEntity {
    /// Whether it stands inside of another one, or is that, in the text that made both true.
    #[must_use]
    pub fn is_within(&self, outer: &Self) -> bool {
        let mut spans = self.spans.iter();
        self.artifact == outer.artifact && spans.all(|span| span.is_in(&outer.spans))
    }
}

impl TrackedFileRow {
    /// The row of a file in which this is true, and nothing else.
    ///
    /// # Panics
    /// When an entity is there twice.
    #[must_use]
    pub fn of_entities(path: RelPath, entities: &[TrueEntity]) -> Self {
        let mut code = FileCode::default();
        for entity in entities {
            code.insert(entity, false);
        }
        code.row(path)
    }

    /// What is true in the file, in the order of the symbols; the file as a whole comes first.
    ///
    /// # Errors
    /// When no fold packs such versions.
    pub fn true_entities(&self) -> Result<Vec<TrueEntity>, UnfitRow> {
        let code = FileCode::unpack(&self.versions)?;
        let entries = code.entries();
        Ok(entries.map(|it| code.true_entity(&self.path, it)).collect())
    }

    /// The symbols of which something is true, in order; that of the file as a whole is empty.
    ///
    /// # Errors
    /// When no fold packs such versions.
    pub fn symbols(&self) -> Result<Vec<&str>, UnfitRow> {
        let entries = PackedVersions::read(&self.versions)?.into_entries();
        entries.map(|entry| Ok(entry?.symbol)).collect()
    }
}

/// The authoritative versions of a file.
#[derive(Default)]
pub(crate) struct FileCode {
    sources: Vec<Source>,
    since: FirstVersion,
    /// [`Entry`], by symbol; the file as a whole has the empty one.
    entries: PackedMap,
}

/// Captured bytes that hold versions of the file. Their place among the others stays the same; a free one has no users.
struct Source {
    artifact: ArtifactHash,
    /// The versions that they hold.
    users: u32,
}

/// The first version since there was none: later ones differ from it by small numbers.
#[derive(Clone, Copy, Default)]
struct FirstVersion {
    seq: Seq,
    version: VersionId,
    episode: EpisodeId,
    at: UnixMillis,
}

/// An authoritative version where it lies; what is asked for most often is read already.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'p> {
    /// Empty for the file as a whole.
    pub(crate) symbol: &'p str,
    /// Whether disk held this slice when it was last looked at.
    pub(crate) on_disk: bool,
    pub(crate) origin: Origin,
    pub(crate) slice: SliceHash,
    pub(crate) seq: Seq,
    pub(crate) version: VersionId,
    proof: Proof,
    /// Its place in [`FileCode::sources`].
    pub(crate) source: usize,
    rest: &'p [u8],
}

/// The bit of an entry's first byte that says that disk holds it.
const ON_DISK: u8 = 4;

/// Origins, by the number in the upper bits of an entry's first byte.
const ORIGINS: [Origin; 3] = [Origin::Model, Origin::User, Origin::Unattributed];
const ORIGIN_SHIFT: u32 = 3;

/// Numbers of an entry after its version, before its spans.
const NUMBERS: usize = 4;

impl<'p> Entry<'p> {
    fn read((symbol, value): (&'p [u8], &'p [u8]), since: FirstVersion) -> Self {
        Self::try_read((symbol, value), since).expect("it was packed as one")
    }

    fn try_read((symbol, value): (&'p [u8], &'p [u8]), since: FirstVersion) -> Option<Self> {
        let (&[flags], value) = value.split_first_chunk()?;
        let (slice, mut rest) = value.split_first_chunk()?;
        Some(Self {
            symbol: core::str::from_utf8(symbol).ok()?,
            on_disk: flags & ON_DISK != 0,
            origin: *ORIGINS.get(usize::from(flags >> ORIGIN_SHIFT))?,
            proof: Proof::ALL[usize::from(flags & 3)],
            slice: SliceHash(*slice),
            seq: Seq(since.seq.0.wrapping_add(try_number(&mut rest)?)),
            source: usize::try_from(try_number(&mut rest)?).ok()?,
            version: VersionId(since.version.0.wrapping_add(try_number(&mut rest)?)),
            rest,
        })
    }

    /// Whether the rest is what it should be.
    fn is_whole(&self) -> bool {
        let mut rest = self.rest;
        let mut next = || try_number(&mut rest);
        let is_small = |number: Option<u64>| number.is_some_and(|it| u32::try_from(it).is_ok());
        let mut is_fit = is_small(next()) && is_small(next());
        for _ in 2..NUMBERS {
            is_fit &= next().is_some();
        }
        while is_fit && !rest.is_empty() {
            let end = try_number(&mut rest).zip(try_number(&mut rest));
            is_fit = is_small(end.and_then(|(start, length)| start.checked_add(length)));
        }
        is_fit
    }

    pub(crate) fn symbol(&self) -> Option<Symbol> {
        (!self.symbol.is_empty()).then(|| Symbol::new(self.symbol))
    }

    pub(crate) fn entity_in(&self, path: &RelPath) -> EntityId {
        EntityId {
            path: path.clone(),
            symbol: self.symbol(),
        }
    }
}

fn key_of(symbol: Option<&Symbol>) -> &[u8] {
    symbol.map_or("", Symbol::as_str).as_bytes()
}

fn small(number: u64) -> u32 {
    u32::try_from(number).expect("it was packed as a small number")
}

impl FileCode {
    pub(crate) fn find(&self, symbol: Option<&Symbol>) -> Option<Entry<'_>> {
        let key = key_of(symbol);
        let (found, value) = self.entries.from(key).next()?;
        (found == key).then(|| Entry::read((found, value), self.since))
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let items = self.entries.from(&[]);
        items.map(|item| Entry::read(item, self.since))
    }

    /// Adds the version of an entity that has none.
    pub(crate) fn insert(&mut self, entity: &TrueEntity, on_disk: bool) {
        if self.entries.is_empty() {
            self.since = FirstVersion {
                seq: entity.seq,
                version: entity.version,
                episode: entity.episode,
                at: entity.updated_at_ms,
            };
        }
        let source = self.use_source(entity.artifact);
        let packed = pack(entity, source, on_disk, self.since);
        let is_new = self
            .entries
            .put(key_of(entity.entity.symbol.as_ref()), &packed);
        assert!(is_new, "an entity has one version");
    }

    /// Removes the version of an entity, and returns it with whether disk held it.
    pub(crate) fn remove(&mut self, entity: &EntityId) -> Option<(TrueEntity, bool)> {
        let entry = self.find(entity.symbol.as_ref())?;
        let (source, on_disk) = (entry.source, entry.on_disk);
        let removed = self.true_entity(&entity.path, entry);
        self.entries.remove(key_of(entity.symbol.as_ref()));
        self.sources[source].users -= 1;
        while self.sources.pop_if(|source| source.users == 0).is_some() {}
        Some((removed, on_disk))
    }

    /// Says anew of each version whether disk holds it, in the order of the symbols. Returns whether any was said to be otherwise.
    pub(crate) fn mark_on_disk(&mut self, mut is_held: impl FnMut(Entry<'_>) -> bool) -> bool {
        let since = self.since;
        self.entries.mark_values(|symbol, value| {
            let on_disk = is_held(Entry::read((symbol, value), since));
            value[0] & !ON_DISK | if on_disk { ON_DISK } else { 0 }
        })
    }

    fn use_source(&mut self, artifact: ArtifactHash) -> usize {
        let is_it = |source: &Source| source.users > 0 && source.artifact == artifact;
        // Nearly always there is one.
        let at = self.sources.iter().position(is_it).unwrap_or_else(|| {
            let source = Source { artifact, users: 0 };
            let free = self.sources.iter().position(|source| source.users == 0);
            match free {
                Some(free) => self.sources[free] = source,
                None => self.sources.push(source),
            }
            free.unwrap_or(self.sources.len() - 1)
        });
        self.sources[at].users += 1;
        at
    }

    pub(crate) fn true_entity(&self, path: &RelPath, entry: Entry<'_>) -> TrueEntity {
        let mut rest = entry.rest;
        let mut next = || take_number(&mut rest);
        let (nodes, tokens) = (small(next()), small(next()));
        let episode = EpisodeId(self.since.episode.0.wrapping_add(next()));
        let after = next().cast_signed();
        let mut spans = Vec::new();
        while !rest.is_empty() {
            let start = small(take_number(&mut rest));
            let end = start + small(take_number(&mut rest));
            spans.push(Span { start, end });
        }
        TrueEntity {
            entity: entry.entity_in(path),
            version: entry.version,
            slice: entry.slice,
            artifact: self.sources[entry.source].artifact,
            spans,
            figures: Figures { nodes, tokens },
            origin: entry.origin,
            episode,
            seq: entry.seq,
            updated_at_ms: UnixMillis(self.since.at.0.wrapping_add(after)),
            proof: entry.proof,
        }
    }

    /// The row of a file that holds it.
    pub(crate) fn row(&self, path: RelPath) -> TrackedFileRow {
        TrackedFileRow {
            path,
            entities: self.sources.iter().map(|source| source.users).sum(),
            versions: self.pack(),
        }
    }

    /// The bytes of a row.
    pub(crate) fn pack(&self) -> Arc<[u8]> {
        let mut packed = Vec::new();
        put_number(&mut packed, self.sources.len() as u64);
        for source in &self.sources {
            let is_free = source.users == 0;
            packed.extend_from_slice(if is_free {
                &[0; 32]
            } else {
                &source.artifact.0
            });
        }
        let FirstVersion {
            seq,
            version,
            episode,
            at,
        } = self.since;
        let since = [seq.0, version.0, episode.0, at.0.cast_unsigned()];
        since
            .into_iter()
            .for_each(|number| put_number(&mut packed, number));
        self.entries
            .bytes()
            .for_each(|page| packed.extend_from_slice(page));
        packed.into()
    }

    /// Reads the bytes of a row.
    ///
    /// # Errors
    /// When no fold packs such.
    pub(crate) fn unpack(bytes: &[u8]) -> Result<Box<Self>, UnfitRow> {
        let packed = PackedVersions::read(bytes)?;
        let (since, items) = (packed.since, packed.items);
        let sources = packed.sources.iter();
        let mut sources: Vec<_> = sources
            .map(|artifact| Source {
                artifact: ArtifactHash(*artifact),
                users: 0,
            })
            .collect();
        for entry in packed.into_entries() {
            sources[entry?.source].users += 1;
        }
        Ok(Box::new(Self {
            sources,
            since,
            entries: PackedMap::of_items(items),
        }))
    }

    /// Bytes that it takes.
    pub(crate) fn size(&self) -> usize {
        let entries: usize = self.entries.bytes().map(<[u8]>::len).sum();
        size_of::<Self>() + self.sources.len() * size_of::<Source>() + entries
    }
}

fn pack(entity: &TrueEntity, source: usize, on_disk: bool, since: FirstVersion) -> Vec<u8> {
    let on_disk = if on_disk { ON_DISK } else { 0 };
    let mut packed = Vec::new();
    packed.push(entity.proof as u8 | on_disk | (entity.origin as u8) << ORIGIN_SHIFT);
    packed.extend_from_slice(&entity.slice.0);
    let numbers = [
        entity.seq.0.wrapping_sub(since.seq.0),
        source as u64,
        entity.version.0.wrapping_sub(since.version.0),
        entity.figures.nodes.into(),
        entity.figures.tokens.into(),
        entity.episode.0.wrapping_sub(since.episode.0),
        entity
            .updated_at_ms
            .0
            .wrapping_sub(since.at.0)
            .cast_unsigned(),
    ];
    let spans = entity.spans.iter();
    let spans = spans.flat_map(|span| [span.start.into(), span.len().into()]);
    let numbers = numbers.into_iter().chain(spans);
    numbers.for_each(|number| put_number(&mut packed, number));
    packed
}

/// The bytes of a row, of which the head is read.
pub(crate) struct PackedVersions<'b> {
    pub(crate) sources: &'b [[u8; 32]],
    since: FirstVersion,
    items: &'b [u8],
}

impl<'b> PackedVersions<'b> {
    /// Reads the head.
    ///
    /// # Errors
    /// When no fold packs such.
    pub(crate) fn read(bytes: &'b [u8]) -> Result<Self, UnfitRow> {
        Self::try_read(bytes).ok_or(UNFIT)
    }

    fn try_read(mut bytes: &'b [u8]) -> Option<Self> {
        let sources = usize::try_from(try_number(&mut bytes)?).ok()?;
        let (sources, mut items) = bytes.split_at_checked(sources.checked_mul(32)?)?;
        let mut next = || try_number(&mut items);
        let since = FirstVersion {
            seq: Seq(next()?),
            version: VersionId(next()?),
            episode: EpisodeId(next()?),
            at: UnixMillis(next()?.cast_signed()),
        };
        Some(Self {
            sources: sources.as_chunks().0,
            since,
            items,
        })
    }

    /// The versions, each checked.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = Result<Entry<'b>, UnfitRow>> {
        let Self {
            sources,
            since,
            items,
        } = self;
        items_in(items).map(move |item| {
            let entry = item.and_then(|item| Entry::try_read(item, since));
            let is_fit = |entry: &Entry<'_>| entry.source < sources.len() && entry.is_whole();
            entry.filter(is_fit).ok_or(UNFIT)
        })
    }
}

const UNFIT: UnfitRow = UnfitRow("`versions` holds what no fold writes");
