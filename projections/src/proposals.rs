//! Versions that are PROPOSED: captured, resolved, not yet true (spec §5).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use tslp_core::artifact::{Level, Origin, Transition};
use tslp_core::entity::EntityId;
use tslp_core::event::{ArtifactCaptured, Event, Recorded};
use tslp_core::extract::Proof;
use tslp_core::gate::GateReport;
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::{EpisodeId, Seq, SessionId, VersionId};
use tslp_core::limits::PROPOSALS_PER_ENTITY_MAX;
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_core::slice::{Figures, Span};

use crate::row_map::RowMap;
use crate::sessions::Sessions;

row! {
    /// `proposals`: the versions that are PROPOSED and wait for promotion, the newest [`PROPOSALS_PER_ENTITY_MAX`] of an entity, and
    /// the newest of those that ended and are remembered.
    pub struct Proposal in table "proposals", version 6;
    key {
        /// The version.
        version: VersionId,
    }
    values {
        /// Its entity.
        entity: EntityId,
        /// Hash of its canonical form, which is the artifact to users.
        slice: SliceHash,
        /// The captured bytes that hold it.
        artifact: ArtifactHash,
        /// Its ranges in those bytes.
        spans: Vec<Span>,
        /// Its structure.
        figures: Figures,
        /// The certainty of its entity.
        level: Level,
        /// The proof of its definition.
        proof: Proof,
        /// Its origin.
        origin: Origin,
        /// The episode of the reply that proposed it.
        episode: EpisodeId,
        /// That episode's session.
        session: SessionId,
        /// Both gates' verdicts, once it was judged.
        report: Option<GateReport>,
        /// The known entity that it is suspected to rename.
        rename_of: Option<EntityId>,
        /// The event that holds both.
        refused_at: Option<Seq>,
        /// Whether disk has contradicted its base since, or the user has given the same code: conversations still show it.
        is_ended: bool,
    }
}

crate::stored_cells!(GateReport);

impl Proposal {
    /// The reason that kept it out, if it was judged.
    #[must_use]
    pub fn refused_for(&self) -> Option<Reason> {
        self.report.as_ref()?.conclusion
    }
}

/// Proposals that ended and are remembered: as many as the conversations that go on show.
const ENDED_KEPT: usize = 256;

/// All open proposals.
#[derive(Default)]
pub struct Proposals {
    /// With those that ended.
    pub(crate) rows: RowMap<Proposal>,
    open: BTreeSet<(EntityId, VersionId)>,
    ended: BTreeSet<VersionId>,
    capture: Option<ArtifactCaptured>,
}

impl Proposals {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, sessions: &Sessions) {
        match &recorded.event {
            Event::ArtifactCaptured(captured) => self.capture = Some(captured.clone()),
            Event::ArtifactResolved(resolved) => {
                let Some(captured) = self
                    .capture
                    .take()
                    .filter(|captured| captured.capture == resolved.capture)
                else {
                    return;
                };
                for version in &resolved.versions {
                    let proposed = Proposal {
                        version: version.id,
                        entity: version.entity.clone(),
                        slice: version.slice,
                        artifact: captured.artifact,
                        spans: version.spans.clone(),
                        figures: version.figures,
                        level: resolved.level,
                        proof: match &resolved.grammar {
                            Some(grammar) => grammar.proof(),
                            None => Proof::Exact,
                        },
                        origin: captured.origin,
                        episode: recorded.episode,
                        // Nobody's conversation: the command line, or an episode so old that no reply was expected.
                        session: sessions.of(recorded.episode).unwrap_or(SessionId(0)),
                        report: None,
                        rename_of: None,
                        refused_at: None,
                        is_ended: false,
                    };
                    self.insert(proposed);
                }
            }
            Event::PromotionRefused(refused) => {
                if self.get(refused.version).is_some()
                    && let Some(proposed) = self.rows.get_mut(&(refused.version,))
                {
                    proposed.report = Some(refused.report.clone());
                    proposed.rename_of.clone_from(&refused.rename_of);
                    proposed.refused_at = Some(recorded.seq);
                }
            }
            Event::Transitioned(moved) => {
                let removed = self.remove(moved.version);
                let ended = removed.filter(|proposed| {
                    moved.transition == Transition::Discard
                        && match moved.cause {
                            Reason::Stale => true,
                            Reason::ProposalOverruled => self.is_taken_over(proposed),
                            _ => false,
                        }
                });
                if let Some(mut ended) = ended {
                    ended.is_ended = true;
                    self.rows.put(ended);
                    self.ended.insert(moved.version);
                    if self.ended.len() > ENDED_KEPT
                        && let Some(oldest) = self.ended.pop_first()
                    {
                        self.rows.remove(&(oldest,));
                    }
                }
            }
            _ => {}
        }
    }

    fn insert(&mut self, proposed: Proposal) {
        let version = proposed.version;
        // In a damaged ledger a number may have been another version's.
        self.remove(version);
        self.ended.remove(&version);
        self.open.insert((proposed.entity.clone(), version));
        let open = self.versions_of(&proposed.entity);
        let surplus = open.clone().count() > PROPOSALS_PER_ENTITY_MAX;
        let oldest = open.take(surplus.into()).next();
        self.rows.put(proposed);
        oldest.and_then(|oldest| self.remove(oldest));
    }

    fn versions_of(&self, entity: &EntityId) -> impl Iterator<Item = VersionId> + Clone + use<'_> {
        let from = (entity.clone(), VersionId(0));
        let until = (entity.clone(), VersionId(u64::MAX));
        self.open.range(from..=until).map(|(_, version)| *version)
    }

    /// Removes an open one.
    fn remove(&mut self, version: VersionId) -> Option<Proposal> {
        self.get(version)?;
        let proposed = self.rows.remove(&(version,))?;
        self.open.remove(&(proposed.entity.clone(), version));
        Some(proposed)
    }

    pub(crate) fn finish_restoring(&mut self) {
        for row in self.rows.values() {
            if row.is_ended {
                self.ended.insert(row.version);
            } else {
                self.open.insert((row.entity.clone(), row.version));
            }
        }
    }

    /// Those proposals for one entity that disk has ended, or the user with the same code, oldest first.
    pub fn ended_for<'p>(&'p self, entity: &'p EntityId) -> impl Iterator<Item = &'p Proposal> {
        let ended = self.ended.iter();
        let ended = ended.filter_map(|version| self.rows.get(&(*version,)));
        ended.filter(move |proposed| proposed.entity == *entity)
    }

    /// Whether the user gives the same code as theirs.
    fn is_taken_over(&self, proposed: &Proposal) -> bool {
        let mut open = self.for_entity(&proposed.entity);
        proposed.origin != Origin::User
            && open.any(|it| it.origin == Origin::User && it.slice == proposed.slice)
    }

    /// The open proposal with this version.
    #[must_use]
    pub fn get(&self, version: VersionId) -> Option<&Proposal> {
        self.rows.get(&(version,)).filter(|row| !row.is_ended)
    }

    /// Open proposals, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Proposal> {
        self.rows.values().filter(|row| !row.is_ended)
    }

    /// Open proposals for one entity, oldest first.
    pub fn for_entity<'p>(
        &'p self,
        entity: &EntityId,
    ) -> impl Iterator<Item = &'p Proposal> + use<'p> {
        self.versions_of(entity)
            .filter_map(|version| self.get(version))
    }

    /// Whether the model proposed this slice of the entity and was refused for what the slice is, or, where there is none, left the
    /// entity out of a file that was refused for that.
    #[must_use]
    pub fn refused_as(&self, entity: &EntityId, slice: Option<SliceHash>) -> bool {
        let file = EntityId::file(entity.path.clone());
        let is_of_whole_file = |proposed: &Proposal| {
            let mut wholes = self.for_entity(&file);
            wholes.any(|whole| whole.artifact == proposed.artifact)
        };
        let is_refused = |proposed: &&Proposal| {
            let judged = proposed.report.iter().filter(|report| report.refuses());
            let own = judged.flat_map(GateReport::own_failures);
            proposed.origin != Origin::User
                && own.into_iter().any(|rule| match rule {
                    // These say when the change came, not what it is.
                    Reason::BaseUnmoved | Reason::DiskAgrees => false,
                    // Each definition of a whole file fails for those that the file lacks.
                    Reason::SymbolsKept => entity.symbol.is_none() || !is_of_whole_file(proposed),
                    _ => true,
                })
        };
        let lacks_symbols = |proposed: &Proposal| {
            let mut own = proposed.report.iter().flat_map(GateReport::own_failures);
            own.any(|rule| rule == Reason::SymbolsKept)
        };
        match slice {
            Some(slice) => self
                .for_entity(entity)
                .filter(|proposed| proposed.slice == slice)
                .any(|proposed| is_refused(&proposed)),
            None => self.for_entity(&file).any(lacks_symbols),
        }
    }

    /// Open proposals for anything in a file.
    pub fn under_path<'p>(
        &'p self,
        path: &RelPath,
    ) -> impl Iterator<Item = &'p Proposal> + use<'p> {
        let path = path.clone();
        self.open
            .range((EntityId::file(path.clone()), VersionId(0))..)
            .take_while(move |(entity, _)| entity.path == path)
            .filter_map(|(_, version)| self.get(*version))
    }
}
