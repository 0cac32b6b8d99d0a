//! The code that each edit made, by the edit's own text.
//!
//! The table is an archive. Memory holds only the rows that aren't durable yet, so that the store can't return them.

use tslp_core::event::{Event, Recorded};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::Seq;

use crate::row_map::RowMap;

row! {
    #[derive(Copy)]
    /// `edits`: at the event `seq` the edit with this text was applied and made this artifact.
    pub struct EditRow in archive "edits", version 1;
    key {
        /// The edit's own text.
        text: ArtifactHash,
        /// The event that captured what it made.
        seq: Seq,
    }
    values {
        /// What it made.
        artifact: ArtifactHash,
    }
}

/// Applied edits whose rows aren't durable.
#[derive(Default)]
pub struct Edits {
    pub(crate) not_durable: RowMap<EditRow>,
}

impl Edits {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        let Event::ArtifactCaptured(captured) = &recorded.event else {
            return;
        };
        // An edit without bases wasn't applied, so it made nothing.
        let applied = captured.edit.iter().filter(|edit| !edit.bases.is_empty());
        for text in applied.flat_map(|edit| &edit.texts) {
            let row = EditRow {
                text: *text,
                seq: recorded.seq,
                artifact: captured.artifact,
            };
            self.not_durable.put_first(row);
        }
    }

    /// The artifact that the edit with this text made when it was last applied, if its row isn't durable.
    #[must_use]
    pub fn made_by(&self, text: ArtifactHash) -> Option<ArtifactHash> {
        let all = (text, Seq(0))..=(text, Seq(u64::MAX));
        let made = self.not_durable.range(all).next_back();
        made.map(|(_, row)| row.artifact)
    }
}
