//! Tombstones: entities that an authoritative update left out, for a number of episodes (spec §9.2).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use tslp_core::artifact::Transition;
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, Recorded};
use tslp_core::ids::{EpisodeId, VersionId};
use tslp_core::limits::TOMBSTONE_EPISODES_DEFAULT;
use tslp_core::policy::Policy;

use crate::changes::Changes;
use crate::row::{EventAt, Keeps, UnfitRow};

row! {
    /// `tombstones`: removed entities, with the episode that removed them.
    pub struct TombstoneRow in table "tombstones", version 1;
    key {
        /// The entity.
        entity: EntityId,
    }
    values {
        /// Its version that was removed.
        version: VersionId,
        /// The episode that removed it.
        episode: EpisodeId,
    }
}

/// Recently removed entities.
pub struct Tombstones {
    removed: BTreeMap<EntityId, (VersionId, EpisodeId)>,
    /// Episodes for which each is kept.
    episodes_kept: u32,
}

impl Default for Tombstones {
    fn default() -> Self {
        Self {
            removed: BTreeMap::new(),
            episodes_kept: TOMBSTONE_EPISODES_DEFAULT,
        }
    }
}

impl Tombstones {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        match &recorded.event {
            Event::Transitioned(transitioned) => match transitioned.transition {
                Transition::Remove => {
                    let tombstone = (transitioned.version, recorded.episode);
                    changes.put(|| row(&transitioned.entity, tombstone));
                    self.removed.insert(transitioned.entity.clone(), tombstone);
                }
                Transition::Promote => self.lift(&transitioned.entity, changes),
                Transition::Discard | Transition::Supersede => {}
            },
            Event::PromptReceived(_) => self.expire(recorded.episode, changes),
            Event::RulesInForce(rules) => self.follow_policy(&rules.policy),
            _ => {}
        }
    }

    /// Keeps tombstones for as many episodes as the policy says, from now on.
    pub const fn follow_policy(&mut self, policy: &Policy) {
        self.episodes_kept = policy.tombstone_episodes;
    }

    fn expire(&mut self, now: EpisodeId, changes: &mut Changes) {
        let expired: Vec<EntityId> = self
            .removed
            .iter()
            .filter(|(_, (_, episode))| now.0.saturating_sub(episode.0) > self.episodes_kept.into())
            .map(|(entity, _)| entity.clone())
            .collect();
        for entity in expired {
            self.lift(&entity, changes);
        }
    }

    fn lift(&mut self, entity: &EntityId, changes: &mut Changes) {
        if self.removed.remove(entity).is_some() {
            changes.remove::<TombstoneRow>(|| (entity.clone(),));
        }
    }

    /// The episode that removed the entity, if that is one of the last.
    #[must_use]
    pub fn episode_of(&self, entity: &EntityId) -> Option<EpisodeId> {
        self.removed.get(entity).map(|(_, episode)| *episode)
    }

    /// Whether the entity was removed within the last episodes.
    #[must_use]
    pub fn contains(&self, entity: &EntityId) -> bool {
        self.removed.contains_key(entity)
    }
}

impl Keeps<TombstoneRow> for Tombstones {
    fn visit_rows(&self, visit: &mut dyn FnMut(TombstoneRow)) {
        let removed = self.removed.iter();
        let rows = removed.map(|(entity, tombstone)| row(entity, *tombstone));
        rows.for_each(visit);
    }

    fn restore_row(&mut self, row: TombstoneRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        self.removed.insert(row.entity, (row.version, row.episode));
        Ok(())
    }
}

fn row(entity: &EntityId, (version, episode): (VersionId, EpisodeId)) -> TombstoneRow {
    TombstoneRow {
        entity: entity.clone(),
        version,
        episode,
    }
}

impl fmt::Display for Tombstones {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (entity, (version, episode)) in &self.removed {
            writeln!(f, "{entity} {version} {episode}")?;
        }
        Ok(())
    }
}
