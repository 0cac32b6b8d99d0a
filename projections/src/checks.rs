//! How the user's check ended last, in each conversation (docs/repair.md).

use alloc::string::{String, ToString};

use tslp_core::event::{Event, Recorded};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{Seq, SessionId};
use tslp_core::limits::SESSIONS_KEPT;

use crate::row_map::RowMap;

row! {
    /// `checks`: the last run of the user's check after a conversation's change.
    pub struct CheckRow in table "checks", version 1;
    key {
        /// The conversation.
        session: SessionId,
    }
    values {
        /// The event.
        seq: Seq,
        /// The command line.
        command: String,
        /// How it ended.
        outcome: String,
        /// What it printed, in the Vault.
        output: ArtifactHash,
    }
}

/// The last runs, of the newest conversations.
#[derive(Default)]
pub struct Checks {
    pub(crate) rows: RowMap<CheckRow>,
}

impl Checks {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        let Event::CheckRan(ran) = &recorded.event else {
            return;
        };
        let row = CheckRow {
            session: recorded.session,
            seq: recorded.seq,
            command: ran.command.clone(),
            outcome: ran.outcome.to_string(),
            output: ran.output,
        };
        self.rows.put(row);
        self.rows.keep_last(SESSIONS_KEPT);
    }

    /// The last run of a conversation.
    #[must_use]
    pub fn last(&self, session: SessionId) -> Option<&CheckRow> {
        self.rows.get(&(session,))
    }
}
