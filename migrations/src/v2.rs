//! Layouts in their second version. Frozen like those of the first.

use rkyv::{Archive, Serialize};
use tslp_core::event::{self, Event};

use crate::decode::InvalidValue;
use crate::v1::{self, Load};

#[derive(Archive, Serialize)]
pub(crate) struct RulesInForce<'a> {
    rules: v1::RulesInForce<'a>,
    tombstone_episodes: u32,
}

impl<'a> From<&'a event::RulesInForce> for RulesInForce<'a> {
    fn from(rules: &'a event::RulesInForce) -> Self {
        Self {
            rules: rules.into(),
            tombstone_episodes: rules.policy.tombstone_episodes,
        }
    }
}

impl Load for ArchivedRulesInForce<'_> {
    type Core = Event;

    fn load(&self) -> Result<Event, InvalidValue> {
        let mut event = self.rules.load()?;
        if let Event::RulesInForce(rules) = &mut event {
            rules.policy.tombstone_episodes = self.tombstone_episodes.to_native();
        }
        Ok(event)
    }
}
