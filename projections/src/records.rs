//! What the user keeps for the project: of each key the last record.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;

use tslp_core::event::{Event, Recorded};
use tslp_core::ids::{Seq, SessionId, UnixMillis};
use tslp_core::record::RecordKind;

use crate::changes::Changes;
use crate::row::{EventAt, Keeps, UnfitRow};

row! {
    /// `records`: what the user keeps for the project.
    pub struct RecordRow in table "records", version 1;
    key {
        /// Its name.
        key: String,
    }
    values {
        /// What it states.
        kind: RecordKind,
        /// The statement.
        statement: String,
        /// The file that proves it; empty if the user's word does.
        path: String,
        /// The code that stands there.
        quotation: String,
        /// The event that brought it.
        seq: Seq,
        /// The conversation in which it was said; 0 is a terminal.
        said_in: SessionId,
        /// When it was said.
        at_ms: UnixMillis,
    }
}

/// The records that hold.
#[derive(Default)]
pub struct Records(BTreeMap<String, RecordRow>);

impl Records {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        let Event::RecordChanged(changed) = &recorded.event else {
            return;
        };
        if changed.statement.is_empty() {
            if self.0.remove(&changed.key).is_some() {
                changes.remove::<RecordRow>(|| (changed.key.clone(),));
            }
            return;
        }
        let row = RecordRow {
            key: changed.key.clone(),
            kind: changed.kind,
            statement: changed.statement.clone(),
            path: changed.path.clone(),
            quotation: changed.quotation.clone(),
            seq: recorded.seq,
            said_in: recorded.session,
            at_ms: recorded.at,
        };
        changes.put(|| row.clone());
        self.0.insert(row.key.clone(), row);
    }

    /// The record of this name.
    #[must_use]
    pub fn named(&self, key: &str) -> Option<&RecordRow> {
        self.0.get(key)
    }

    /// All, by key.
    pub fn all(&self) -> impl Iterator<Item = &RecordRow> {
        self.0.values()
    }
}

impl Keeps<RecordRow> for Records {
    fn visit_rows(&self, visit: &mut dyn FnMut(RecordRow)) {
        self.0.values().cloned().for_each(visit);
    }

    fn restore_row(&mut self, row: RecordRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        self.0.insert(row.key.clone(), row);
        Ok(())
    }
}

impl fmt::Display for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in self.0.values() {
            writeln!(
                f,
                "{} #{}: {} [{}]",
                row.kind, row.key, row.statement, row.path
            )?;
        }
        Ok(())
    }
}
