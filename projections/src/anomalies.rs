//! Anomalies: events that could not have been decided on the state before them. Only a damaged ledger has any.

use alloc::vec::Vec;
use core::fmt;

use tslp_core::event::Recorded;
use tslp_core::ids::Seq;

use crate::table::{
    Changes, Column, ColumnType, Keep, RowCells, Table, Text, UnfitRow, Value, column,
};

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

/// Most anomalies that are kept; more of them add no information.
const ANOMALIES_KEPT: usize = 100;

/// Events that contradict the state before them.
#[derive(Default)]
pub struct Anomalies {
    events: Vec<(Seq, Text)>,
}

impl Anomalies {
    /// Records an event that another projection could not apply.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        if self.events.len() < ANOMALIES_KEPT {
            let anomaly = (recorded.seq, Text::Word(recorded.event.name()));
            changes.put(crate::ANOMALIES, || row(&anomaly));
            self.events.push(anomaly);
        }
    }

    /// The number of anomalies.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are no anomalies.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// All rows, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        self.events.iter().map(row).for_each(visit);
    }

    /// Restores a row.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
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
