//! Anomalies: events that could not have been decided on the state before them. Only a damaged ledger has any.

use alloc::vec::Vec;
use core::fmt;
use core::ops::ControlFlow;

use tslp_core::event::Recorded;
use tslp_core::ids::Seq;

use crate::part::{self, Part, Visit};
use crate::table::{Changes, Column, ColumnType, Keep, Table, Value, column};

const COLUMNS: &[Column] = &[
    column("seq", ColumnType::Integer),
    column("event", ColumnType::Text),
];

/// `anomalies`: events that contradict the state before them.
pub const TABLE: Table = Table {
    name: "anomalies",
    version: 1,
    columns: COLUMNS,
    key: 1,
    keep: Keep::Latest,
};

/// Anomalies kept; more of them say nothing new.
const KEPT: usize = 100;

/// Events that contradict the state before them.
#[derive(Default)]
pub struct Anomalies {
    events: Vec<(Seq, &'static str)>,
}

impl Anomalies {
    /// Notes an event that another projection could not make sense of.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        if self.events.len() < KEPT {
            let anomaly = (recorded.seq, recorded.event.name());
            changes.put(crate::ANOMALIES, || row(anomaly));
            self.events.push(anomaly);
        }
    }

    /// All of it as plain data.
    pub fn parts(&self, visit: Visit<'_>) -> ControlFlow<()> {
        part::emit(
            self.events.iter().copied(),
            part::plain,
            Part::Anomalies,
            visit,
        )
    }

    /// Takes back a part.
    pub fn restore(&mut self, events: Vec<(Seq, &'static str)>) {
        self.events.extend(events);
        self.events.truncate(KEPT);
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether all is as it should be.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// All rows, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        self.events.iter().copied().map(row).for_each(visit);
    }
}

fn row((seq, event): (Seq, &'static str)) -> Vec<Value> {
    Vec::from([Value::from(seq.0), Value::from(event)])
}

impl fmt::Display for Anomalies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.events
            .iter()
            .try_for_each(|(seq, event)| writeln!(f, "{seq} {event}"))
    }
}
