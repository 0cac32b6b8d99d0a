//! Anomalies: events that could not have been decided on the state before them. Only a damaged ledger has any.

use tslp_core::event::{EventKind, Recorded};
use tslp_core::ids::Seq;

use crate::row_map::RowMap;

row! {
    /// `anomalies`: events that contradict the state before them.
    pub struct AnomalyRow in table "anomalies", version 1;
    key {
        /// The event.
        seq: Seq,
    }
    values {
        /// Its kind.
        event: EventKind,
    }
}

crate::word_cells!(EventKind);

/// Most anomalies that are kept; more of them add no information.
const ANOMALIES_KEPT: usize = 100;

/// Events that contradict the state before them.
#[derive(Default)]
pub struct Anomalies {
    pub(crate) events: RowMap<AnomalyRow>,
}

impl Anomalies {
    /// Records an event that another projection could not apply.
    pub fn apply(&mut self, recorded: &Recorded) {
        if self.events.len() < ANOMALIES_KEPT {
            let anomaly = AnomalyRow {
                seq: recorded.seq,
                event: recorded.event.kind(),
            };
            self.events.put(anomaly);
        }
    }

    /// Whether there are no anomalies.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}
