//! Anomalies: events that could not have been decided on the state before them. Only a damaged ledger has any.

use tslp_core::event::Recorded;
use tslp_core::ids::Seq;

use crate::changes::Changes;
use crate::row_map::RowMap;
use crate::table::Text;

row! {
    /// `anomalies`: events that contradict the state before them.
    pub struct AnomalyRow in table "anomalies", version 1;
    key {
        /// The event.
        seq: Seq,
    }
    values {
        /// Its kind.
        event: Text,
    }
}

/// Most anomalies that are kept; more of them add no information.
const ANOMALIES_KEPT: usize = 100;

/// Events that contradict the state before them.
#[derive(Default)]
pub struct Anomalies {
    pub(crate) events: RowMap<AnomalyRow>,
}

impl Anomalies {
    /// Records an event that another projection could not apply.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        if self.events.len() < ANOMALIES_KEPT {
            let anomaly = AnomalyRow {
                seq: recorded.seq,
                event: recorded.event.name().into(),
            };
            self.events.put(anomaly, changes);
        }
    }

    /// Whether there are no anomalies.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}
