//! Versions that are PROPOSED: captured, resolved, not yet true (spec §5).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use core::ops::ControlFlow;

use tslp_core::artifact::{Level, Origin, Version};
use tslp_core::entity::EntityId;
use tslp_core::event::{ArtifactCaptured, Event, Recorded};
use tslp_core::extract::{GrammarTag, Proof};
use tslp_core::gate::GateReport;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{CaptureId, EpisodeId, SessionId, VersionId};
use tslp_core::limits::PROPOSALS_PER_ENTITY_MAX;
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;

use crate::part::{self, Part, Unfit, Visit};
use crate::sessions::Sessions;
use crate::table::{self, Changes, Column, ColumnType, Keep, Late, Table, Value, column, nullable};

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
];

/// `proposals`: one row for each version that is PROPOSED.
pub const TABLE: Table = Table {
    name: "proposals",
    version: 2,
    columns: COLUMNS,
    key: 1,
    keep: Keep::Latest,
};

/// A version that is PROPOSED.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// The version.
    pub version: Version,
    /// The captured bytes that hold it.
    pub source: ArtifactHash,
    /// How sure its entity is.
    pub level: Level,
    /// How it was read.
    pub proof: Proof,
    /// Who supplied it.
    pub origin: Origin,
    /// Its episode.
    pub episode: EpisodeId,
    /// Its session.
    pub session: SessionId,
    /// Both gates' verdicts, once it was judged.
    pub report: Option<GateReport>,
    /// The known entity that it may be under another name.
    pub rename_of: Option<EntityId>,
}

impl Proposed {
    /// Why it was kept out, once it was judged.
    #[must_use]
    pub fn refused_for(&self) -> Option<Reason> {
        self.report.as_ref()?.conclusion
    }
}

/// All open proposals.
#[derive(Default)]
pub struct Proposals {
    by_version: BTreeMap<VersionId, Proposed>,
    by_entity: BTreeMap<EntityId, Vec<VersionId>>,
    capture: Option<ArtifactCaptured>,
    last_capture: CaptureId,
    last_version: VersionId,
}

impl Proposals {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, sessions: &Sessions, changes: &mut Changes) {
        match &recorded.event {
            Event::ArtifactCaptured(captured) => {
                self.last_capture = self.last_capture.max(captured.capture);
                self.capture = Some(captured.clone());
            }
            Event::ArtifactResolved(resolved) => {
                let Some(captured) = self
                    .capture
                    .take()
                    .filter(|captured| captured.capture == resolved.capture)
                else {
                    return;
                };
                for version in &resolved.versions {
                    let proposed = Proposed {
                        version: version.clone(),
                        source: captured.artifact,
                        level: resolved.level,
                        proof: resolved
                            .grammar
                            .as_ref()
                            .map_or(Proof::Ast, GrammarTag::means),
                        origin: captured.origin,
                        episode: captured.episode,
                        session: sessions.of(captured.episode).unwrap_or_default(),
                        report: None,
                        rename_of: None,
                    };
                    self.insert(proposed, changes);
                }
            }
            Event::PromotionRefused(refused) => {
                if let Some(proposed) = self.by_version.get_mut(&refused.version) {
                    proposed.report = Some(refused.report.clone());
                    proposed.rename_of.clone_from(&refused.rename_of);
                    changes.touch(|| Late::Proposal(refused.version), true);
                }
            }
            Event::Transitioned(transitioned) => self.remove(transitioned.version, changes),
            _ => {}
        }
    }

    fn insert(&mut self, proposed: Proposed, changes: &mut Changes) {
        self.last_version = self.last_version.max(proposed.version.id);
        let version = proposed.version.id;
        let known = self.by_version.contains_key(&version);
        changes.touch(|| Late::Proposal(version), known);
        let open = self
            .by_entity
            .entry(proposed.version.entity.clone())
            .or_default();
        open.push(version);
        let oldest = (open.len() > PROPOSALS_PER_ENTITY_MAX).then(|| open[0]);
        self.by_version.insert(version, proposed);
        if let Some(oldest) = oldest {
            self.remove(oldest, changes);
        }
    }

    fn remove(&mut self, version: VersionId, changes: &mut Changes) {
        let Some(proposed) = self.by_version.remove(&version) else {
            return;
        };
        changes.touch(|| Late::Proposal(version), true);
        if let Some(open) = self.by_entity.get_mut(&proposed.version.entity) {
            open.retain(|other| *other != version);
            if open.is_empty() {
                self.by_entity.remove(&proposed.version.entity);
            }
        }
    }

    /// The proposal with this version.
    #[must_use]
    pub fn get(&self, version: VersionId) -> Option<&Proposed> {
        self.by_version.get(&version)
    }

    /// Open proposals, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Proposed> {
        self.by_version.values()
    }

    /// Open proposals for one entity, oldest first.
    pub fn of<'p>(&'p self, entity: &EntityId) -> impl Iterator<Item = &'p Proposed> + use<'p> {
        let open = self
            .by_entity
            .get(entity)
            .map(Vec::as_slice)
            .unwrap_or_default();
        open.iter()
            .filter_map(|version| self.by_version.get(version))
    }

    /// Open proposals for anything in a file.
    pub fn under<'p>(&'p self, path: &RelPath) -> impl Iterator<Item = &'p Proposed> + use<'p> {
        let path = path.clone();
        self.by_entity
            .range(EntityId::file(path.clone())..)
            .take_while(move |(entity, _)| entity.path == path)
            .flat_map(|(_, open)| open)
            .filter_map(|version| self.by_version.get(version))
    }

    /// The last capture that was recorded.
    #[must_use]
    pub const fn last_capture(&self) -> CaptureId {
        self.last_capture
    }

    /// The last version that was recorded.
    #[must_use]
    pub const fn last_version(&self) -> VersionId {
        self.last_version
    }

    /// Whether no block was captured that isn't resolved yet.
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        self.capture.is_none()
    }

    /// All of it as plain data, once it is settled.
    pub fn parts(&self, visit: Visit<'_>) -> ControlFlow<()> {
        visit(Part::ProposalIds(self.last_capture, self.last_version))?;
        let proposed = self.by_version.values().cloned();
        part::emit(
            proposed,
            |proposed| proposed.version.spans.len(),
            Part::Proposals,
            visit,
        )?;
        let order = self.by_entity.iter();
        let order = order.map(|(entity, open)| (entity.clone(), open.clone()));
        part::emit(order, |(_, open)| open.len(), Part::ProposalOrder, visit)
    }

    /// Takes back a part.
    ///
    /// # Errors
    /// When a version stands in it twice.
    pub fn restore(&mut self, proposals: Vec<Proposed>) -> Result<(), Unfit> {
        let proposals = proposals.into_iter();
        part::fill(
            &mut self.by_version,
            proposals.map(|proposed| (proposed.version.id, proposed)),
            "a version is proposed twice",
        )
    }

    /// Takes back a part.
    ///
    /// # Errors
    /// When an entity stands in it twice.
    pub fn restore_order(&mut self, order: Vec<(EntityId, Vec<VersionId>)>) -> Result<(), Unfit> {
        part::fill(
            &mut self.by_entity,
            order,
            "an entity's proposals are listed twice",
        )
    }

    /// Takes back a part.
    pub const fn restore_ids(&mut self, capture: CaptureId, version: VersionId) {
        self.last_capture = capture;
        self.last_version = version;
    }

    /// The row of a version, if that is open.
    #[must_use]
    pub fn row(&self, version: VersionId) -> Option<Vec<Value>> {
        self.by_version.get(&version).map(row)
    }

    /// All rows, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        self.by_version.values().map(row).for_each(visit);
    }
}

fn row(proposed: &Proposed) -> Vec<Value> {
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
