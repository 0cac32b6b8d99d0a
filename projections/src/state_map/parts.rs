//! The State Map as plain data and back.

use alloc::vec::Vec;
use core::ops::ControlFlow;

use tslp_core::artifact::Origin;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::extract::Proof;
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::{EpisodeId, Seq, UnixMillis, VersionId};
use tslp_core::path::RelPath;
use tslp_core::slice::{Figures, Span};
use tslp_core::view::FormerVersion;

use super::{Entry, Spans, StateMap};
use crate::part::{self, Part, Unfit, Visit};

/// Everything authoritative in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTruths {
    /// The file.
    pub path: RelPath,
    /// The file as a whole first, if it is true, then its symbols in the order of their names.
    pub truths: Vec<Truth>,
}

/// The authoritative version of one entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    /// The definition; `None` is the whole file.
    pub symbol: Option<Symbol>,
    /// Its artifact hash.
    pub slice: SliceHash,
    /// The captured bytes that hold it.
    pub source: ArtifactHash,
    /// Where it stands in them.
    pub spans: Vec<Span>,
    /// Its size.
    pub figures: Figures,
    /// Who supplied it.
    pub origin: Origin,
    /// How it was read.
    pub proof: Proof,
    /// The version.
    pub version: VersionId,
    /// The episode in which it became true.
    pub episode: EpisodeId,
    /// The event by which it did.
    pub seq: Seq,
    /// When that was.
    pub at: UnixMillis,
}

impl StateMap {
    /// All of it as plain data.
    pub fn parts(&self, visit: Visit<'_>) -> ControlFlow<()> {
        let sources = self.sources.promoted();
        part::emit(sources, part::plain, Part::Sources, visit)?;
        let mut tracked: Vec<_> = self.files.iter().filter(|file| file.is_tracked()).collect();
        tracked.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        let truths = tracked.into_iter().map(|file| FileTruths {
            path: file.path.clone(),
            truths: (file.whole.iter().chain(&file.entries))
                .filter_map(|id| self.truth(*id))
                .collect(),
        });
        part::emit(truths, |file| file.truths.len(), Part::Truths, visit)?;
        let superseded = self.superseded.iter();
        let superseded = superseded.map(|(entity, slices)| (entity.clone(), slices.clone()));
        part::emit(superseded, part::plain, Part::Superseded, visit)
    }

    fn truth(&self, id: u32) -> Option<Truth> {
        let entry = self.entry(id)?;
        Some(Truth {
            symbol: entry.symbol.clone(),
            slice: entry.slice,
            source: self.sources.artifact(entry.source),
            spans: entry.spans.as_slice().to_vec(),
            figures: entry.figures,
            origin: entry.origin,
            proof: entry.proof,
            version: entry.version,
            episode: entry.episode,
            seq: entry.seq,
            at: entry.at,
        })
    }

    /// Takes back a part, before any truth.
    ///
    /// # Errors
    /// When bytes stand in it twice.
    pub fn restore_sources(&mut self, sources: Vec<(ArtifactHash, u32)>) -> Result<(), Unfit> {
        self.sources.restore(sources)
    }

    /// Takes back a part; [`Self::restored`] has to follow the last one.
    ///
    /// # Errors
    /// When an entity stands in it twice, or its bytes aren't known.
    pub fn restore_truths(&mut self, files: Vec<FileTruths>) -> Result<(), Unfit> {
        for FileTruths { path, truths } in files {
            let file = self.file_id(&path);
            for truth in truths {
                self.restore_truth(&path, file, truth)?;
            }
        }
        Ok(())
    }

    fn restore_truth(&mut self, path: &RelPath, file: u32, truth: Truth) -> Result<(), Unfit> {
        let entity = EntityId {
            path: path.clone(),
            symbol: truth.symbol,
        };
        if self.find(&entity).is_some() {
            return Err(Unfit("an entity is true twice"));
        }
        let source = self.sources.restore_live(truth.source)?;
        self.insert(Entry {
            path: file,
            symbol: entity.symbol,
            slice: truth.slice,
            source,
            spans: Spans::new(&truth.spans),
            figures: truth.figures,
            origin: truth.origin,
            proof: truth.proof,
            version: truth.version,
            episode: truth.episode,
            seq: truth.seq,
            at: truth.at,
            namesake: None,
        });
        Ok(())
    }

    /// Takes back a part.
    ///
    /// # Errors
    /// When an entity stands in it twice.
    pub fn restore_superseded(
        &mut self,
        superseded: Vec<(EntityId, Vec<FormerVersion>)>,
    ) -> Result<(), Unfit> {
        for (entity, _) in &superseded {
            self.superseded_words.add(entity);
        }
        part::fill(
            &mut self.superseded,
            superseded,
            "an entity's earlier versions stand there twice",
        )
    }

    /// All parts are there.
    ///
    /// # Errors
    /// When one is missing.
    pub fn restored(&mut self) -> Result<(), Unfit> {
        self.sources.restored()?;
        let mut ids: Vec<u32> =
            (0..u32::try_from(self.entries.len()).unwrap_or(u32::MAX)).collect();
        // Oldest first: each goes to the front of its namesakes.
        ids.sort_by_cached_key(|id| self.entry(*id).map(|entry| entry.seq));
        for id in ids {
            self.link_name(id);
        }
        Ok(())
    }
}
