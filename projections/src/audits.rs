//! Shadow audits: the questions to the model about its own replies, and its answers (spec §10).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use tslp_core::entity::EntityId;
use tslp_core::event::{
    AuditAnswered, AuditAsked, AuditOutcome, AuditStatus, Audited, Event, Recorded,
};
use tslp_core::ids::{EpisodeId, VersionId};
use tslp_core::limits::RECENT_EPISODES_KEPT;

use crate::changes::Changes;
use crate::row::{Cell, EventAt, Keeps, UnfitRow};
use crate::table::{ColumnType, Text, Value};

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
    const KIND: ColumnType = Text::KIND;

    fn into_value(self) -> Value {
        self.as_str().into()
    }

    fn from_value(value: &Value) -> Option<Self> {
        let word = Text::from_value(value)?;
        let mut all = Self::ALL.iter().copied();
        all.find(|answer| answer.as_str() == &*word)
    }
}

/// The audits of the last [`RECENT_EPISODES_KEPT`] audited episodes.
#[derive(Default)]
pub struct Audits {
    episodes: BTreeMap<EpisodeId, BTreeMap<VersionId, AuditRow>>,
}

impl Audits {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        match &recorded.event {
            Event::AuditAsked(asked) => self.record_question(recorded.episode, asked, changes),
            Event::AuditAnswered(answered) => {
                self.record_answer(recorded.episode, answered, changes)
            }
            _ => {}
        }
    }

    fn record_question(&mut self, episode: EpisodeId, asked: &AuditAsked, changes: &mut Changes) {
        let audits = self.episodes.entry(episode).or_default();
        for audited in &asked.about {
            let audit = AuditRow {
                episode,
                version: audited.version,
                entity: audited.entity.clone(),
                status: AuditAnswer::Awaited,
            };
            changes.put(|| audit.clone());
            audits.insert(audited.version, audit);
        }
        if self.episodes.len() > RECENT_EPISODES_KEPT
            && let Some((episode, audits)) = self.episodes.pop_first()
        {
            for version in audits.keys() {
                changes.remove::<AuditRow>(|| (episode, *version));
            }
        }
    }

    fn record_answer(
        &mut self,
        episode: EpisodeId,
        answered: &AuditAnswered,
        changes: &mut Changes,
    ) {
        let Some(audits) = self.episodes.get_mut(&episode) else {
            return;
        };
        for (version, audit) in audits {
            let mut verdicts = answered.verdicts.iter();
            audit.status = verdicts
                .find(|verdict| verdict.version == *version)
                .map_or(AuditAnswer::None(answered.outcome), |verdict| {
                    AuditAnswer::Given(verdict.status)
                });
            changes.put(|| audit.clone());
        }
    }

    /// The versions of an audit whose answer is awaited; `None` if there is no such audit.
    #[must_use]
    pub fn under_way(&self, episode: EpisodeId) -> Option<Vec<Audited>> {
        let audits = self.episodes.get(&episode)?;
        let awaited: Vec<Audited> = audits
            .iter()
            .filter(|(_, audit)| audit.status == AuditAnswer::Awaited)
            .map(|(version, audit)| Audited {
                version: *version,
                entity: audit.entity.clone(),
            })
            .collect();
        (!awaited.is_empty()).then_some(awaited)
    }

    /// Episodes whose audit has no answer.
    #[must_use]
    pub fn awaited_episodes(&self) -> Vec<EpisodeId> {
        let episodes = self.episodes.keys().copied();
        episodes
            .filter(|episode| self.under_way(*episode).is_some())
            .collect()
    }
}

impl Keeps<AuditRow> for Audits {
    fn visit_rows(&self, visit: &mut dyn FnMut(AuditRow)) {
        let rows = self.episodes.values().flat_map(BTreeMap::values);
        rows.cloned().for_each(visit);
    }

    fn restore_row(&mut self, row: AuditRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        let audits = self.episodes.entry(row.episode).or_default();
        audits.insert(row.version, row);
        Ok(())
    }
}

impl fmt::Display for Audits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (episode, audits) in &self.episodes {
            for (version, audit) in audits {
                writeln!(
                    f,
                    "{episode} {version} {} {}",
                    audit.entity,
                    audit.status.as_str()
                )?;
            }
        }
        Ok(())
    }
}
