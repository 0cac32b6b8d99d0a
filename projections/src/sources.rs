//! The artifacts that authoritative versions were promoted from, and those of which nothing is authoritative any more.
//!
//! Memory holds the former; the table of the latter is an archive.

use alloc::vec::Vec;

use hashbrown::HashMap;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::Seq;

use crate::changes::Touched;
use crate::row::{EventAt, Keeps, UnfitRow};
use crate::row_map::RowMap;

row! {
    #[derive(Copy)]
    /// `outdated`: since the event `seq` nothing that was promoted from this artifact is authoritative. It may have become so
    /// again; the State Map decides.
    pub struct OutdatedRow in archive "outdated", version 1;
    key {
        /// The captured bytes.
        artifact: ArtifactHash,
    }
    values {
        /// The event by which the last version left.
        seq: Seq,
    }
}

row! {
    /// `partly_true`: artifacts of which some promoted versions are authoritative and some no longer are, with the number of
    /// promoted versions. Of all other artifacts in the State Map all are authoritative.
    pub struct PartlyTrueRow in table "partly_true", version 1;
    key {
        /// The captured bytes.
        artifact: ArtifactHash,
    }
    values {
        /// Versions promoted from it since it last had no authoritative version.
        promoted: u32,
    }
}

/// The versions that were promoted from an artifact that holds an authoritative one.
#[derive(Clone, Copy, Default)]
struct SourceVersions {
    /// Those promoted since it last had no authoritative version.
    promoted: u32,
    /// Those of them that are authoritative.
    live: u32,
}

impl SourceVersions {
    const fn is_partly_true(self) -> bool {
        self.promoted != self.live
    }

    fn row(self, artifact: ArtifactHash) -> Option<PartlyTrueRow> {
        self.is_partly_true().then_some(PartlyTrueRow {
            artifact,
            promoted: self.promoted,
        })
    }
}

/// All artifacts with authoritative versions, and those that have just lost their last one.
#[derive(Default)]
pub struct Sources {
    live: HashMap<ArtifactHash, SourceVersions>,
    /// Artifacts without authoritative versions whose rows aren't durable.
    pub(crate) outdated: RowMap<OutdatedRow>,
    /// Rows of those that are partly true.
    touched: Touched<(ArtifactHash,)>,
}

impl Sources {
    /// Counts a version promoted from this artifact.
    pub fn version_promoted(&mut self, artifact: ArtifactHash) {
        let source = self.live.entry(artifact).or_default();
        // An artifact that is wholly true has no row, before and after.
        if source.is_partly_true() {
            self.touched.note(|| (artifact,), true);
        }
        source.promoted += 1;
        source.live += 1;
        debug_assert!(
            source.live <= source.promoted,
            "a version that is true was promoted"
        );
    }

    /// Counts versions that are authoritative as promoted from this artifact.
    pub(crate) fn restore(&mut self, artifact: ArtifactHash, versions: u32) {
        if versions > 0 {
            let source = self.live.entry(artifact).or_default();
            source.promoted += versions;
            source.live += versions;
        }
    }

    /// Counts a version from this artifact as no longer authoritative, since the event at `seq`.
    pub fn version_left(&mut self, artifact: ArtifactHash, seq: Seq) {
        let source = self.live.get_mut(&artifact);
        let source = source.expect("a version that leaves was counted when it was promoted");
        self.touched.note(|| (artifact,), source.is_partly_true());
        source.live -= 1;
        if source.live > 0 {
            return;
        }
        self.live.remove(&artifact);
        // The first time stays on record, whatever became true again since: an archive keeps its first row.
        self.outdated.put_first(OutdatedRow { artifact, seq });
    }

    /// Whether all versions promoted from this artifact, since it last had none that was authoritative, still are authoritative.
    /// `None` if it has none and isn't known to have had one; a durable row in the store may say so.
    #[must_use]
    pub fn is_current(&self, artifact: ArtifactHash) -> Option<bool> {
        match self.live.get(&artifact) {
            Some(source) => Some(!source.is_partly_true()),
            None => self.outdated.contains_key(&(artifact,)).then_some(false),
        }
    }
}

impl Keeps<PartlyTrueRow> for Sources {
    fn visit_rows(&self, visit: &mut dyn FnMut(PartlyTrueRow)) {
        let sources = self.live.iter();
        let rows = sources.filter_map(|(artifact, source)| source.row(*artifact));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_unstable_by_key(|row| row.artifact);
        rows.into_iter().for_each(visit);
    }

    /// After all rows of `state_map`.
    fn restore_row(&mut self, row: PartlyTrueRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        let source = self.live.get_mut(&row.artifact);
        let source = source.ok_or(UnfitRow("a partly true artifact holds no true version"))?;
        source.promoted = row.promoted;
        if source.promoted > source.live {
            Ok(())
        } else {
            Err(UnfitRow(
                "an artifact holds more true versions than were promoted from it",
            ))
        }
    }

    fn row(&self, (artifact,): &(ArtifactHash,)) -> Option<PartlyTrueRow> {
        self.live.get(artifact)?.row(*artifact)
    }

    fn touched(&mut self) -> &mut Touched<(ArtifactHash,)> {
        &mut self.touched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: ArtifactHash = ArtifactHash([1; 32]);
    const NEW: ArtifactHash = ArtifactHash([2; 32]);

    /// The number of archive rows that it adds.
    fn version_left(sources: &mut Sources, artifact: ArtifactHash, seq: u64) -> usize {
        let known = sources.outdated.len();
        sources.version_left(artifact, Seq(seq));
        sources.outdated.len() - known
    }

    fn promote(sources: &mut Sources, artifact: ArtifactHash) {
        sources.version_promoted(artifact);
    }

    /// Bytes are current while everything that came from them is true.
    #[test]
    fn current_bytes() {
        let mut sources = Sources::default();
        promote(&mut sources, OLD);
        promote(&mut sources, OLD);
        assert_eq!(sources.is_current(OLD), Some(true));
        assert_eq!(version_left(&mut sources, OLD, 5), 0);
        assert_eq!(sources.is_current(OLD), Some(false));
        assert_eq!(version_left(&mut sources, OLD, 6), 1);
        assert_eq!(sources.is_current(OLD), Some(false));
        assert_eq!(sources.is_current(NEW), None);
    }

    #[test]
    fn true_again() {
        let mut sources = Sources::default();
        promote(&mut sources, OLD);
        version_left(&mut sources, OLD, 5);
        promote(&mut sources, OLD);
        assert_eq!(sources.is_current(OLD), Some(true));
        version_left(&mut sources, OLD, 9);
        assert_eq!(sources.is_current(OLD), Some(false));
    }

    /// Rows that are durable are forgotten.
    #[test]
    fn durable_forgotten() {
        let mut sources = Sources::default();
        promote(&mut sources, OLD);
        promote(&mut sources, NEW);
        version_left(&mut sources, OLD, 5);
        version_left(&mut sources, NEW, 6);
        sources.outdated.forget_durable(Seq(5), |row| row.seq);
        assert_eq!(sources.is_current(OLD), None);
        assert_eq!(sources.is_current(NEW), Some(false));
    }
}
