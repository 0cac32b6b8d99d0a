//! What clients' hooks have told: that a conversation was compacted, cleared or ended there, and that its model was asked for decisions.

use alloc::string::String;

use tslp_core::event::{DirectiveGiven, Event, Recorded, Verb};
use tslp_core::ids::{Seq, UnixMillis};

use crate::row_map::RowMap;

/// Signals that are kept, the newest.
const SIGNALS_MAX: usize = 64;

row! {
    /// `client_signals`: what clients' hooks have told, each signal when it came last.
    pub struct SignalRow in table "client_signals", version 1;
    key {
        /// The signal: a word, and the client's name of the conversation where that matters.
        signal: String,
    }
    values {
        /// The event that brought it.
        seq: Seq,
        /// When it came.
        at_ms: UnixMillis,
    }
}

/// The signals of clients' hooks.
#[derive(Default)]
pub struct Signals {
    pub(crate) rows: RowMap<SignalRow>,
}

impl Signals {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        let Event::DirectiveGiven(DirectiveGiven {
            verb: Verb::Signal,
            target,
        }) = &recorded.event
        else {
            return;
        };
        let row = SignalRow {
            signal: target.clone(),
            seq: recorded.seq,
            at_ms: recorded.at,
        };
        self.rows.put(row);
        if self.rows.len() > SIGNALS_MAX {
            let oldest = self.rows.values().map(|row| row.seq).min();
            self.rows.forget(|row| Some(row.seq) == oldest);
        }
    }

    /// The event by which a client told last that a conversation was compacted, cleared or ended there.
    #[must_use]
    pub fn last_end(&self) -> Seq {
        last_end(self.rows.values())
    }
}

/// As [`Signals::last_end`], of these.
pub fn last_end<'r>(rows: impl IntoIterator<Item = &'r SignalRow>) -> Seq {
    let is_end = |row: &&SignalRow| ENDS.contains(&row.signal.as_str());
    let ends = rows.into_iter().filter(is_end).map(|row| row.seq);
    ends.max().unwrap_or_default()
}

/// The signals after which nobody is at work in the conversation as it was.
const ENDS: [&str; 4] = ["compacting", "compacted", "cleared", "ended"];
