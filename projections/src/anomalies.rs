//! Anomalies: events that could not have been decided on the state before them. Only a damaged ledger has any.

use alloc::vec::Vec;
use core::fmt;

use tslp_core::event::Recorded;
use tslp_core::ids::Seq;

use crate::table::{Cells, Changes, Column, ColumnType, Keep, Table, Text, Unfit, Value, column};

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
    events: Vec<(Seq, Text)>,
}

impl Anomalies {
    /// Notes an event that another projection could not make sense of.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        if self.events.len() < KEPT {
            let anomaly = (recorded.seq, Text::Word(recorded.event.name()));
            changes.put(crate::ANOMALIES, || row(&anomaly));
            self.events.push(anomaly);
        }
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
        self.events.iter().map(row).for_each(visit);
    }

    /// Takes back a row.
    ///
    /// # Errors
    /// When no fold writes it.
    pub fn restore(&mut self, row: &[Value]) -> Result<(), Unfit> {
        let mut cells = Cells::of(row);
        self.events.push((cells.next()?, cells.next()?));
        Ok(())
    }
}

fn row((seq, event): &(Seq, Text)) -> Vec<Value> {
    Vec::from([Value::from(seq.0), Value::Text(event.clone())])
}

impl fmt::Display for Anomalies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.events
            .iter()
            .try_for_each(|(seq, event)| writeln!(f, "{seq} {}", &**event))
    }
}
