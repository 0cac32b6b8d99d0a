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

use crate::table::{
    self, Changes, Column, ColumnType, Keep, RowCells, Table, UnfitRow, Value, column,
};

const COLUMNS: &[Column] = &[
    column("episode", ColumnType::Integer),
    column("version", ColumnType::Integer),
    column("path", ColumnType::Text),
    column("symbol", ColumnType::Text),
    column("status", ColumnType::Text),
    column("contested", ColumnType::Integer),
];

/// `audits`: one row for each version in one of the last audits.
pub const TABLE: Table = Table {
    name: "audits",
    version: 1,
    columns: COLUMNS,
    key: 2,
    keep: Keep::Latest,
};

/// The audit of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionAudit {
    /// The version's entity.
    pub entity: EntityId,
    /// The answer about it.
    pub answer: AuditAnswer,
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

    const fn code(self) -> &'static str {
        match self {
            Self::Awaited => "awaited",
            Self::Given(status) => status.as_str(),
            Self::None(outcome) => outcome.as_str(),
        }
    }

    const fn is_contested(self) -> bool {
        matches!(
            self,
            Self::Given(AuditStatus::Partial | AuditStatus::Discussion)
        )
    }
}

/// The audits of the last [`RECENT_EPISODES_KEPT`] audited episodes.
#[derive(Default)]
pub struct Audits {
    episodes: BTreeMap<EpisodeId, BTreeMap<VersionId, VersionAudit>>,
}

impl Audits {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        match &recorded.event {
            Event::AuditAsked(asked) => self.record_question(asked, changes),
            Event::AuditAnswered(answered) => self.record_answer(answered, changes),
            _ => {}
        }
    }

    fn record_question(&mut self, asked: &AuditAsked, changes: &mut Changes) {
        let audits = self.episodes.entry(asked.episode).or_default();
        for audited in &asked.about {
            let audit = VersionAudit {
                entity: audited.entity.clone(),
                answer: AuditAnswer::Awaited,
            };
            changes.put(crate::AUDITS, || {
                row(asked.episode, audited.version, &audit)
            });
            audits.insert(audited.version, audit);
        }
        if self.episodes.len() > RECENT_EPISODES_KEPT
            && let Some((episode, audits)) = self.episodes.pop_first()
        {
            for version in audits.keys() {
                changes.remove(crate::AUDITS, || key(episode, *version));
            }
        }
    }

    fn record_answer(&mut self, answered: &AuditAnswered, changes: &mut Changes) {
        let Some(audits) = self.episodes.get_mut(&answered.episode) else {
            return;
        };
        for (version, audit) in audits {
            let mut verdicts = answered.verdicts.iter();
            audit.answer = verdicts
                .find(|verdict| verdict.version == *version)
                .map_or(AuditAnswer::None(answered.outcome), |verdict| {
                    AuditAnswer::Given(verdict.status)
                });
            changes.put(crate::AUDITS, || row(answered.episode, *version, audit));
        }
    }

    /// The versions of an audit whose answer is awaited; `None` if there is no such audit.
    #[must_use]
    pub fn under_way(&self, episode: EpisodeId) -> Option<Vec<Audited>> {
        let audits = self.episodes.get(&episode)?;
        let awaited: Vec<Audited> = audits
            .iter()
            .filter(|(_, audit)| matches!(audit.answer, AuditAnswer::Awaited))
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

    /// All rows, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        for (episode, audits) in &self.episodes {
            for (version, audit) in audits {
                visit(row(*episode, *version, audit));
            }
        }
    }

    /// Restores a row.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let (episode, version) = (cells.next()?, cells.next()?);
        let audit = VersionAudit {
            entity: cells.entity()?,
            answer: cells.word(AuditAnswer::ALL, AuditAnswer::code)?,
        };
        let audits = self.episodes.entry(episode).or_default();
        audits.insert(version, audit);
        Ok(())
    }
}

fn key(episode: EpisodeId, version: VersionId) -> Vec<Value> {
    Vec::from([Value::from(episode.0), Value::from(version.0)])
}

fn row(episode: EpisodeId, version: VersionId, audit: &VersionAudit) -> Vec<Value> {
    let [path, symbol] = table::entity_key(&audit.entity);
    Vec::from([
        Value::from(episode.0),
        Value::from(version.0),
        path,
        symbol,
        Value::from(audit.answer.code()),
        Value::from(audit.answer.is_contested()),
    ])
}

impl fmt::Display for Audits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (episode, audits) in &self.episodes {
            for (version, audit) in audits {
                writeln!(
                    f,
                    "{episode} {version} {} {}",
                    audit.entity,
                    audit.answer.code()
                )?;
            }
        }
        Ok(())
    }
}
