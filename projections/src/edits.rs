//! What edits made: by an edit's own text, the code that came out of it.
//!
//! The table is an archive. In memory is only what the store can't give yet.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use tslp_core::event::{Event, Recorded};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::Seq;

use crate::table::{Cell, Changes, Column, ColumnType, Keep, Table, Value, column};

const COLUMNS: &[Column] = &[
    column("text", ColumnType::Hash),
    column("seq", ColumnType::Integer),
    column("artifact", ColumnType::Hash),
];

/// `edits`: by the event `seq` the edit with this text applied and made this artifact.
pub const TABLE: Table = Table {
    name: "edits",
    version: 1,
    columns: COLUMNS,
    key: 2,
    keep: Keep::First { seq: 1 },
};

/// Edits that applied and aren't settled.
#[derive(Default)]
pub struct Edits {
    unsettled: BTreeMap<(ArtifactHash, Seq), ArtifactHash>,
}

impl Edits {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        let Event::ArtifactCaptured(captured) = &recorded.event else {
            return;
        };
        let applied = captured.edit.iter().filter(|edit| !edit.bases.is_empty());
        for text in applied.flat_map(|edit| &edit.texts) {
            let (key, made) = ((*text, recorded.seq), captured.artifact);
            if self.unsettled.insert(key, made).is_none() {
                changes.put(crate::EDITS, || row(key, made));
            }
        }
    }

    /// Lets go of what the store gives from now on.
    pub fn settled(&mut self, durable: Seq) {
        self.unsettled.retain(|(_, seq), _| *seq > durable);
    }

    /// What the edit with this text made when it last applied, if that isn't settled.
    #[must_use]
    pub fn made_by(&self, text: ArtifactHash) -> Option<ArtifactHash> {
        let all = (text, Seq(0))..=(text, Seq(u64::MAX));
        self.unsettled.range(all).next_back().map(|(_, made)| *made)
    }

    /// The rows that aren't settled, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        self.unsettled
            .iter()
            .map(|(key, made)| row(*key, *made))
            .for_each(visit);
    }
}

/// Reads what was made from a row of [`TABLE`]; `None` if no fold writes such a row.
#[must_use]
pub fn made_of_row(row: &[Value]) -> Option<ArtifactHash> {
    ArtifactHash::read(row.get(2)?)
}

fn row((text, seq): (ArtifactHash, Seq), made: ArtifactHash) -> Vec<Value> {
    Vec::from([
        Value::from(&text.0),
        Value::from(seq.0),
        Value::from(&made.0),
    ])
}

impl fmt::Display for Edits {
    /// What isn't settled, in the order of the ledger.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut entries: Vec<_> = self.unsettled.iter().collect();
        entries.sort_unstable_by_key(|((text, seq), _)| (*seq, *text));
        for ((text, seq), made) in entries {
            writeln!(f, "{text:.8} made {made:.8} {seq}")?;
        }
        Ok(())
    }
}
