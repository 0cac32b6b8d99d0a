//! Shadow audits: the questions to the model about its own replies, and its answers (spec §10).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use tslp_core::entity::EntityId;
use tslp_core::event::{
    AuditAnswered, AuditAsked, AuditOutcome, AuditStatus, Audited, Event, Recorded,
};
use tslp_core::ids::{EpisodeId, VersionId};
use tslp_core::limits::RECENT_EPISODES_KEPT;

use crate::row::Cell;
use crate::row_map::RowMap;
use crate::table::{ColumnType, Value};

row! {
    /// `audits`: one row for each version in one of the last audits.
    pub struct AuditRow in table "audits", version 2;
    key {
        /// The audited reply's episode.
        episode: EpisodeId,
        /// The version.
        version: VersionId,
    }
    values {
        /// Its entity.
        entity: EntityId,
        /// The answer about it.
        status: AuditAnswer,
    }
}

/// An audit's answer about one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditAnswer {
    /// Not answered yet.
    Awaited,
    /// The answer's status for the version.
    Given(AuditStatus),
    /// The audit ended with this outcome and no status for the version.
    None(AuditOutcome),
}

impl AuditAnswer {
    const ALL: &[Self] = &[
        Self::Awaited,
        Self::Given(AuditStatus::Completed),
        Self::Given(AuditStatus::Partial),
        Self::Given(AuditStatus::Discussion),
        Self::None(AuditOutcome::Answered),
        Self::None(AuditOutcome::NoAnswer),
        Self::None(AuditOutcome::Cancelled),
        Self::None(AuditOutcome::Failed),
    ];

    /// The word for it in rows and on pages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Awaited => "awaited",
            Self::Given(status) => status.as_str(),
            Self::None(outcome) => outcome.as_str(),
        }
    }

    /// Whether the model says that its version isn't complete.
    #[must_use]
    pub const fn is_contested(self) -> bool {
        matches!(
            self,
            Self::Given(AuditStatus::Partial | AuditStatus::Discussion)
        )
    }
}

impl Cell for AuditAnswer {
    const KIND: ColumnType = ColumnType::Text;

    fn into_value(self) -> Value {
        self.as_str().into()
    }

    fn from_value(value: &Value) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|answer| *value == answer.as_str().into())
    }
}

/// The audits of the last [`RECENT_EPISODES_KEPT`] audited episodes.
#[derive(Default)]
pub struct Audits {
    pub(crate) rows: RowMap<AuditRow>,
}

impl Audits {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::AuditAsked(asked) => self.record_question(recorded.episode, asked),
            Event::AuditAnswered(answered) => self.record_answer(recorded.episode, answered),
            _ => {}
        }
    }

    fn record_question(&mut self, episode: EpisodeId, asked: &AuditAsked) {
        for audited in &asked.about {
            let audit = AuditRow {
                episode,
                version: audited.version,
                entity: audited.entity.clone(),
                status: AuditAnswer::Awaited,
            };
            self.rows.put(audit);
        }
        let episodes: BTreeSet<EpisodeId> = self.rows.values().map(|row| row.episode).collect();
        if episodes.len() > RECENT_EPISODES_KEPT {
            self.rows
                .forget(|row| Some(&row.episode) == episodes.first());
        }
    }

    fn record_answer(&mut self, episode: EpisodeId, answered: &AuditAnswered) {
        let audits: Vec<AuditRow> = self.of(episode).cloned().collect();
        for mut audit in audits {
            let mut verdicts = answered.verdicts.iter();
            audit.status = verdicts
                .find(|verdict| verdict.version == audit.version)
                .map_or(AuditAnswer::None(answered.outcome), |verdict| {
                    AuditAnswer::Given(verdict.status)
                });
            self.rows.put(audit);
        }
    }

    fn of(&self, episode: EpisodeId) -> impl Iterator<Item = &AuditRow> {
        let from = self.rows.range((episode, VersionId::default())..);
        let own = from.take_while(move |((of, _), _)| *of == episode);
        own.map(|(_, row)| row)
    }

    /// The versions of an audit whose answer is awaited; `None` if there is no such audit.
    #[must_use]
    pub fn under_way(&self, episode: EpisodeId) -> Option<Vec<Audited>> {
        let awaited = self.of(episode);
        let awaited = awaited.filter(|audit| audit.status == AuditAnswer::Awaited);
        let awaited = awaited.map(|audit| Audited {
            version: audit.version,
            entity: audit.entity.clone(),
        });
        let awaited: Vec<Audited> = awaited.collect();
        (!awaited.is_empty()).then_some(awaited)
    }

    /// Episodes whose audit has no answer.
    #[must_use]
    pub fn awaited_episodes(&self) -> Vec<EpisodeId> {
        let rows = self.rows.values();
        let awaited = rows.filter(|row| row.status == AuditAnswer::Awaited);
        let mut episodes: Vec<EpisodeId> = awaited.map(|row| row.episode).collect();
        episodes.dedup();
        episodes
    }
}
