//! Where the ledger speaks of each file, so that a file's story is read without the rest of the ledger.
//!
//! The table is an archive. Memory holds only the rows that aren't durable yet, so that the store can't return them.

use core::ops::RangeInclusive;

use tslp_core::event::{Event, Recorded};
use tslp_core::ids::Seq;
use tslp_core::path::RelPath;

use crate::row_map::RowMap;

/// Events of one stretch of the ledger: what is said of a file comes close together.
const STRETCH_EVENTS: u64 = 64;

row! {
    /// `file_mentions`: the event `seq` is the first of its stretch of the ledger that is about a file, or about what is in it.
    pub struct FileMentionRow in archive "file_mentions", version 1;
    key {
        /// The file.
        path: RelPath,
        /// The stretch's number, from 0.
        stretch: u64,
    }
    values {
        /// The event.
        seq: Seq,
    }
}

impl FileMentionRow {
    /// The events among which all are that the stretch has about the file.
    #[must_use]
    pub const fn events(&self) -> RangeInclusive<Seq> {
        let next = self
            .stretch
            .saturating_add(1)
            .saturating_mul(STRETCH_EVENTS);
        self.seq..=Seq(next.saturating_sub(1))
    }
}

/// Stretches that speak of files, whose rows aren't durable.
#[derive(Default)]
pub struct FileMentions {
    pub(crate) not_durable: RowMap<FileMentionRow>,
}

impl FileMentions {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        // What a prompt showed of a file changes nothing about it.
        if let Event::PromptComposed(_) | Event::PromptAmended(_) = recorded.event {
            return;
        }
        let (seq, stretch) = (recorded.seq, recorded.seq.0 / STRETCH_EVENTS);
        recorded.event.visit_paths(&mut |path| {
            self.not_durable.put_first(FileMentionRow {
                path: path.clone(),
                stretch,
                seq,
            });
        });
    }
}
