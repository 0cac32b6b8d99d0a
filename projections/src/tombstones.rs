//! Tombstones: entities that an authoritative update left out, for a number of episodes (spec §9.2).

use tslp_core::artifact::Transition;
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, Recorded};
use tslp_core::ids::{EpisodeId, VersionId};
use tslp_core::limits::TOMBSTONE_EPISODES_DEFAULT;
use tslp_core::policy::Policy;

use crate::row_map::RowMap;

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
    pub(crate) removed: RowMap<TombstoneRow>,
    /// Episodes for which each is kept.
    episodes_kept: u32,
}

impl Default for Tombstones {
    fn default() -> Self {
        Self {
            removed: RowMap::default(),
            episodes_kept: TOMBSTONE_EPISODES_DEFAULT,
        }
    }
}

impl Tombstones {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::Transitioned(transitioned) => match transitioned.transition {
                Transition::Remove => {
                    let tombstone = TombstoneRow {
                        entity: transitioned.entity.clone(),
                        version: transitioned.version,
                        episode: recorded.episode,
                    };
                    self.removed.put(tombstone);
                }
                Transition::Promote => {
                    self.removed.remove(&(transitioned.entity.clone(),));
                }
                Transition::Discard | Transition::Supersede => {}
            },
            Event::PromptReceived(_) => self.expire(recorded.episode),
            Event::RulesInForce(rules) => self.follow_policy(&rules.policy),
            _ => {}
        }
    }

    /// Keeps tombstones for as many episodes as the policy says, from now on.
    pub const fn follow_policy(&mut self, policy: &Policy) {
        self.episodes_kept = policy.tombstone_episodes;
    }

    fn expire(&mut self, now: EpisodeId) {
        let kept = u64::from(self.episodes_kept);
        let is_over = |row: &TombstoneRow| now.0.saturating_sub(row.episode.0) > kept;
        self.removed.forget(is_over);
    }

    /// The episode that removed the entity, if that is one of the last.
    #[must_use]
    pub fn episode_of(&self, entity: &EntityId) -> Option<EpisodeId> {
        self.removed.get(&(entity.clone(),)).map(|row| row.episode)
    }

    /// Whether the entity was removed within the last episodes.
    #[must_use]
    pub fn contains(&self, entity: &EntityId) -> bool {
        self.removed.contains_key(&(entity.clone(),))
    }
}
