//! How the user's check ended last, in each conversation (docs/repair.md).

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use core::fmt;

use tslp_core::event::{Event, Recorded};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{Seq, SessionId};
use tslp_core::limits::SESSIONS_KEPT;

use crate::changes::Changes;

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
    rows: BTreeMap<SessionId, CheckRow>,
}

impl Checks {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
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
        changes.put(|| row.clone());
        self.rows.insert(recorded.session, row);
        if self.rows.len() > SESSIONS_KEPT
            && let Some((oldest, _)) = self.rows.pop_first()
        {
            changes.remove::<CheckRow>(|| (oldest,));
        }
    }

    /// The last run of a conversation.
    #[must_use]
    pub fn last(&self, session: SessionId) -> Option<&CheckRow> {
        self.rows.get(&session)
    }
}

keeps! {
    Checks:
    CheckRow in rows by |row| row.session;
}

impl fmt::Display for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = self.rows.values();
        rows.try_for_each(|row| writeln!(f, "{} {}: {}", row.session, row.command, row.outcome))
    }
}
