//! Versions that are PROPOSED: captured, resolved, not yet true (spec §5).

use alloc::collections::{BTreeMap, BTreeSet};
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

use crate::changes::Changes;
use crate::row::{EventAt, Keeps, Key as _, UnfitRow};
use crate::sessions::Sessions;
use crate::table::Value;

row! {
    /// `proposals`: one row for each version that is PROPOSED, the newest [`PROPOSALS_PER_ENTITY_MAX`] of an entity, and for the
    /// newest of those that ended and are remembered. The verdicts of both gates are in the event `refused_at`.
    pub struct ProposalRow in table "proposals", version 5;
    key {
        /// The version.
        version: VersionId,
    }
    values {
        /// Its entity.
        entity: EntityId,
        /// Its slice's hash, which is the artifact to users.
        artifact: SliceHash,
        /// The captured bytes that hold it.
        source: ArtifactHash,
        /// The certainty of its entity.
        level: Level,
        /// Its origin.
        origin: Origin,
        /// Its episode.
        episode: EpisodeId,
        /// Its session.
        session: SessionId,
        /// The reason that kept it out, if it was judged.
        refused_for: Option<Reason>,
        /// Its place in the captured bytes.
        spans: Vec<Span>,
        /// Nodes of its syntax tree.
        nodes: u32,
        /// Its tokens.
        tokens: u32,
        /// The proof of its definition.
        proof: Proof,
        /// The event that refused it.
        refused_at: Option<Seq>,
        /// Whether disk has contradicted its base since, or the user has given the same code.
        is_ended: bool,
    }
}

/// A version that is PROPOSED: it waits for promotion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The version.
    pub version: VersionId,
    /// Its entity.
    pub entity: EntityId,
    /// Hash of its canonical form.
    pub slice: SliceHash,
    /// The captured bytes that hold it.
    pub artifact: ArtifactHash,
    /// Its ranges in those bytes.
    pub spans: Vec<Span>,
    /// Its structure.
    pub figures: Figures,
    /// The certainty of its entity.
    pub level: Level,
    /// The proof of its definition.
    pub proof: Proof,
    /// Its origin.
    pub origin: Origin,
    /// The episode of the reply that proposed it.
    pub episode: EpisodeId,
    /// That episode's session.
    pub session: SessionId,
    /// Both gates' verdicts, once it was judged.
    pub report: Option<GateReport>,
    /// The known entity that it is suspected to rename.
    pub rename_of: Option<EntityId>,
    /// The event that holds both.
    pub refused_at: Option<Seq>,
}

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
    by_version: BTreeMap<VersionId, Proposal>,
    by_entity: BTreeMap<EntityId, BTreeSet<VersionId>>,
    /// Discarded because disk contradicted their base, or because the user gave the same code as theirs: conversations still show
    /// them.
    ended: BTreeMap<VersionId, Proposal>,
    capture: Option<ArtifactCaptured>,
}

impl Proposals {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, sessions: &Sessions, changes: &mut Changes) {
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
                    };
                    self.insert(proposed, changes);
                }
            }
            Event::PromotionRefused(refused) => {
                if let Some(proposed) = self.by_version.get_mut(&refused.version) {
                    proposed.report = Some(refused.report.clone());
                    proposed.rename_of.clone_from(&refused.rename_of);
                    proposed.refused_at = Some(recorded.seq);
                    changes.touch::<ProposalRow, _>(|| (refused.version,), true);
                }
            }
            Event::Transitioned(moved) => {
                let removed = self.remove(moved.version, changes);
                let ended = removed.filter(|proposed| {
                    moved.transition == Transition::Discard
                        && match moved.cause {
                            Reason::Stale => true,
                            Reason::ProposalOverruled => self.is_taken_over(proposed),
                            _ => false,
                        }
                });
                if let Some(ended) = ended {
                    self.ended.insert(moved.version, ended);
                    if self.ended.len() > ENDED_KEPT
                        && let Some((oldest, _)) = self.ended.pop_first()
                    {
                        changes.touch::<ProposalRow, _>(|| (oldest,), true);
                    }
                }
            }
            _ => {}
        }
    }

    fn insert(&mut self, proposed: Proposal, changes: &mut Changes) {
        let version = proposed.version;
        self.remove(version, changes);
        // In a damaged ledger a number may have been another version's.
        let was_present = self.ended.remove(&version).is_some();
        changes.touch::<ProposalRow, _>(|| (version,), was_present);
        let entity = proposed.entity.clone();
        let open = self.by_entity.entry(entity).or_default();
        open.insert(version);
        let surplus = open.len() > PROPOSALS_PER_ENTITY_MAX;
        let oldest = surplus.then(|| open.first().copied()).flatten();
        self.by_version.insert(version, proposed);
        if let Some(oldest) = oldest {
            self.remove(oldest, changes);
        }
    }

    fn remove(&mut self, version: VersionId, changes: &mut Changes) -> Option<Proposal> {
        let proposed = self.by_version.remove(&version)?;
        changes.touch::<ProposalRow, _>(|| (version,), true);
        if let Some(open) = self.by_entity.get_mut(&proposed.entity) {
            open.remove(&version);
            if open.is_empty() {
                self.by_entity.remove(&proposed.entity);
            }
        }
        Some(proposed)
    }

    /// Those proposals for one entity that disk has ended, or the user with the same code, oldest first.
    pub fn ended_for<'p>(&'p self, entity: &'p EntityId) -> impl Iterator<Item = &'p Proposal> {
        let ended = self.ended.values();
        ended.filter(move |proposed| proposed.entity == *entity)
    }

    /// Whether the user gives the same code as theirs.
    fn is_taken_over(&self, proposed: &Proposal) -> bool {
        let mut open = self.for_entity(&proposed.entity);
        proposed.origin != Origin::User
            && open.any(|it| it.origin == Origin::User && it.slice == proposed.slice)
    }

    /// The proposal with this version.
    #[must_use]
    pub fn get(&self, version: VersionId) -> Option<&Proposal> {
        self.by_version.get(&version)
    }

    /// Open proposals, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Proposal> {
        self.by_version.values()
    }

    /// Open proposals for one entity, oldest first.
    pub fn for_entity<'p>(
        &'p self,
        entity: &EntityId,
    ) -> impl Iterator<Item = &'p Proposal> + use<'p> {
        let open = self.by_entity.get(entity);
        open.into_iter()
            .flatten()
            .filter_map(|version| self.by_version.get(version))
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
        self.by_entity
            .range(EntityId::file(path.clone())..)
            .take_while(move |(entity, _)| entity.path == path)
            .flat_map(|(_, open)| open)
            .filter_map(|version| self.by_version.get(version))
    }
}

impl Keeps<ProposalRow> for Proposals {
    fn visit_rows(&self, visit: &mut dyn FnMut(ProposalRow)) {
        let all = self.by_version.iter().chain(&self.ended);
        let all: BTreeMap<_, _> = all.collect();
        let rows = all.into_values().map(|proposed| self.row(proposed));
        rows.for_each(visit);
    }

    fn restore_row(&mut self, row: ProposalRow, event: EventAt<'_>) -> Result<(), UnfitRow> {
        let (report, rename_of) = match row.refused_at {
            None => (None, None),
            Some(seq) => match event(seq).map(|recorded| recorded.event) {
                Some(Event::PromotionRefused(refused)) => (Some(refused.report), refused.rename_of),
                _ => return Err(UnfitRow("a proposal was refused by no event")),
            },
        };
        let proposed = Proposal {
            version: row.version,
            entity: row.entity.clone(),
            slice: row.artifact,
            artifact: row.source,
            spans: row.spans,
            figures: Figures {
                nodes: row.nodes,
                tokens: row.tokens,
            },
            level: row.level,
            proof: row.proof,
            origin: row.origin,
            episode: row.episode,
            session: row.session,
            report,
            rename_of,
            refused_at: row.refused_at,
        };
        if row.is_ended {
            self.ended.insert(row.version, proposed);
            return Ok(());
        }
        let open = self.by_entity.entry(row.entity).or_default();
        open.insert(row.version);
        self.by_version.insert(row.version, proposed);
        Ok(())
    }

    fn rows_beginning(&self, key: &[Value]) -> Vec<ProposalRow> {
        let (version,) = <(VersionId,)>::from_touched(key);
        let known = self.get(version).or_else(|| self.ended.get(&version));
        known
            .map(|proposed| self.row(proposed))
            .into_iter()
            .collect()
    }
}

impl Proposals {
    fn row(&self, proposed: &Proposal) -> ProposalRow {
        ProposalRow {
            version: proposed.version,
            entity: proposed.entity.clone(),
            artifact: proposed.slice,
            source: proposed.artifact,
            level: proposed.level,
            origin: proposed.origin,
            episode: proposed.episode,
            session: proposed.session,
            refused_for: proposed.refused_for(),
            spans: proposed.spans.clone(),
            nodes: proposed.figures.nodes,
            tokens: proposed.figures.tokens,
            proof: proposed.proof,
            refused_at: proposed.refused_at,
            is_ended: self.ended.contains_key(&proposed.version),
        }
    }
}
