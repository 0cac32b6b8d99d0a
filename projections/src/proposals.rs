//! Versions that are PROPOSED: captured, resolved, not yet true (spec §5).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::fmt;

use tslp_core::artifact::{Level, Origin, Version};
use tslp_core::entity::EntityId;
use tslp_core::event::{ArtifactCaptured, Event, Recorded};
use tslp_core::extract::{GrammarTag, Proof};
use tslp_core::gate::GateReport;
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::{EpisodeId, Seq, SessionId, VersionId};
use tslp_core::limits::PROPOSALS_PER_ENTITY_MAX;
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_core::slice::{Figures, Span};

use crate::EventAt;
use crate::sessions::Sessions;
use crate::table::{
    self, Changes, Column, ColumnType, Keep, LateRows, RowCells, Table, UnfitRow, Value, column,
    nullable,
};

const COLUMNS: &[Column] = &[
    column("version", ColumnType::Integer),
    column("path", ColumnType::Text),
    column("symbol", ColumnType::Text),
    column("artifact", ColumnType::Hash),
    column("source", ColumnType::Hash),
    column("level", ColumnType::Text),
    column("origin", ColumnType::Text),
    column("episode", ColumnType::Integer),
    column("session", ColumnType::Integer),
    nullable("refused_for", ColumnType::Text),
    column("spans", ColumnType::Text),
    column("nodes", ColumnType::Integer),
    column("tokens", ColumnType::Integer),
    column("proof", ColumnType::Text),
    nullable("refused_at", ColumnType::Integer),
];

/// `proposals`: one row for each version that is PROPOSED, the newest [`PROPOSALS_PER_ENTITY_MAX`] of an entity. The verdicts of
/// both gates are in the event `refused_at`.
pub const TABLE: Table = Table {
    name: "proposals",
    version: 3,
    columns: COLUMNS,
    key: 1,
    keep: Keep::Latest,
};

/// A version that is PROPOSED.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedVersion {
    /// The version.
    pub version: Version,
    /// The captured bytes that hold it.
    pub source: ArtifactHash,
    /// The certainty of its entity.
    pub level: Level,
    /// The proof of its definition.
    pub proof: Proof,
    /// Its origin.
    pub origin: Origin,
    /// Its episode.
    pub episode: EpisodeId,
    /// Its session.
    pub session: SessionId,
    /// Both gates' verdicts, once it was judged.
    pub report: Option<GateReport>,
    /// The known entity that it is suspected to rename.
    pub rename_of: Option<EntityId>,
    /// The event that holds both.
    pub refused_at: Option<Seq>,
}

impl ProposedVersion {
    /// The reason that kept it out, if it was judged.
    #[must_use]
    pub fn refused_for(&self) -> Option<Reason> {
        self.report.as_ref()?.conclusion
    }
}

/// A version that waits for promotion.
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
    /// The episode of the reply that proposed it.
    pub episode: EpisodeId,
    /// That episode's session.
    pub session: SessionId,
    /// Both gates' verdicts, once it was judged.
    pub report: Option<GateReport>,
    /// The known entity that it is suspected to rename.
    pub rename_of: Option<EntityId>,
    /// Its origin.
    pub origin: Origin,
}

impl Proposal {
    /// The reason that kept it out, if it was judged.
    #[must_use]
    pub fn refused_for(&self) -> Option<Reason> {
        self.report.as_ref()?.conclusion
    }
}

/// All open proposals.
#[derive(Default)]
pub struct Proposals {
    by_version: BTreeMap<VersionId, ProposedVersion>,
    by_entity: BTreeMap<EntityId, BTreeSet<VersionId>>,
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
                    let proposed = ProposedVersion {
                        version: version.clone(),
                        source: captured.artifact,
                        level: resolved.level,
                        proof: resolved
                            .grammar
                            .as_ref()
                            .map_or(Proof::Ast, GrammarTag::proof),
                        origin: captured.origin,
                        episode: captured.episode,
                        session: sessions.of(captured.episode).unwrap_or_default(),
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
                    changes.touch(|| LateRows::Proposal(refused.version), true);
                }
            }
            Event::Transitioned(transitioned) => self.remove(transitioned.version, changes),
            _ => {}
        }
    }

    fn insert(&mut self, proposed: ProposedVersion, changes: &mut Changes) {
        let version = proposed.version.id;
        self.remove(version, changes);
        changes.touch(|| LateRows::Proposal(version), false);
        let entity = proposed.version.entity.clone();
        let open = self.by_entity.entry(entity).or_default();
        open.insert(version);
        let surplus = open.len() > PROPOSALS_PER_ENTITY_MAX;
        let oldest = surplus.then(|| open.first().copied()).flatten();
        self.by_version.insert(version, proposed);
        if let Some(oldest) = oldest {
            self.remove(oldest, changes);
        }
    }

    fn remove(&mut self, version: VersionId, changes: &mut Changes) {
        let Some(proposed) = self.by_version.remove(&version) else {
            return;
        };
        changes.touch(|| LateRows::Proposal(version), true);
        if let Some(open) = self.by_entity.get_mut(&proposed.version.entity) {
            open.remove(&version);
            if open.is_empty() {
                self.by_entity.remove(&proposed.version.entity);
            }
        }
    }

    /// The proposal with this version.
    #[must_use]
    pub fn get(&self, version: VersionId) -> Option<&ProposedVersion> {
        self.by_version.get(&version)
    }

    /// Open proposals, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &ProposedVersion> {
        self.by_version.values()
    }

    /// Open proposals for one entity, oldest first.
    pub fn for_entity<'p>(
        &'p self,
        entity: &EntityId,
    ) -> impl Iterator<Item = &'p ProposedVersion> + use<'p> {
        let open = self.by_entity.get(entity);
        open.into_iter()
            .flatten()
            .filter_map(|version| self.by_version.get(version))
    }

    /// Open proposals for anything in a file.
    pub fn under_path<'p>(
        &'p self,
        path: &RelPath,
    ) -> impl Iterator<Item = &'p ProposedVersion> + use<'p> {
        let path = path.clone();
        self.by_entity
            .range(EntityId::file(path.clone())..)
            .take_while(move |(entity, _)| entity.path == path)
            .flat_map(|(_, open)| open)
            .filter_map(|version| self.by_version.get(version))
    }

    /// The row of a version, if its proposal is open.
    #[must_use]
    pub fn row(&self, version: VersionId) -> Option<Vec<Value>> {
        self.by_version.get(&version).map(row)
    }

    /// All rows, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        self.by_version.values().map(row).for_each(visit);
    }

    /// Restores a row; `event` looks up the event that it names.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore(&mut self, row: &[Value], event: EventAt<'_>) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let (id, entity) = (cells.next()?, cells.entity()?);
        let (slice, source) = (cells.next()?, cells.next()?);
        let level = cells.word(&LEVELS, Level::as_str)?;
        let origin = cells.word(&crate::ORIGINS, crate::origin_code)?;
        let (episode, session) = (cells.next()?, cells.next()?);
        let _refused_for: Option<&str> = cells.next()?;
        let spans = cells.next()?;
        let figures = Figures {
            nodes: cells.next()?,
            tokens: cells.next()?,
        };
        let mut proposed = ProposedVersion {
            version: Version {
                id,
                entity: entity.clone(),
                slice,
                spans,
                figures,
            },
            source,
            level,
            proof: cells.word(&crate::PROOFS, crate::proof_code)?,
            origin,
            episode,
            session,
            report: None,
            rename_of: None,
            refused_at: cells.next()?,
        };
        if let Some(seq) = proposed.refused_at {
            let Some(Event::PromotionRefused(refused)) = event(seq).map(|it| it.event) else {
                return Err(UnfitRow("a proposal was refused by no event"));
            };
            proposed.report = Some(refused.report);
            proposed.rename_of = refused.rename_of;
        }
        self.by_entity.entry(entity).or_default().insert(id);
        self.by_version.insert(id, proposed);
        Ok(())
    }
}

const LEVELS: [Level; 3] = [Level::Unresolved, Level::Inferred, Level::Confirmed];

fn row(proposed: &ProposedVersion) -> Vec<Value> {
    let [path, symbol] = table::entity_key(&proposed.version.entity);
    Vec::from([
        Value::from(proposed.version.id.0),
        path,
        symbol,
        Value::from(&proposed.version.slice.0),
        Value::from(&proposed.source.0),
        Value::from(proposed.level.as_str()),
        Value::from(crate::origin_code(proposed.origin)),
        Value::from(proposed.episode.0),
        Value::from(proposed.session.0),
        Value::from(proposed.refused_for().map(Reason::code)),
        Value::text(&table::spans_text(&proposed.version.spans)),
        Value::from(proposed.version.figures.nodes),
        Value::from(proposed.version.figures.tokens),
        Value::from(crate::proof_code(proposed.proof)),
        Value::from(proposed.refused_at.map(|seq| seq.0)),
    ])
}

impl fmt::Display for Proposals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for proposed in self.by_version.values() {
            let reason = proposed.refused_for().map_or("open", Reason::code);
            let Version {
                id, entity, slice, ..
            } = &proposed.version;
            writeln!(
                f,
                "{id} {entity} {slice:.8} {} {reason}",
                proposed.level.as_str()
            )?;
        }
        Ok(())
    }
}
