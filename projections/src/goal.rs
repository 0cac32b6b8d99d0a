//! What the user says that the work is for.

use alloc::string::String;

use tslp_core::budget::Budget;
use tslp_core::event::{Event, GoalChanged, Recorded};
use tslp_core::goal::{GOAL_NOTES_MAX, GoalChange};
use tslp_core::ids::{Seq, SessionId, UnixMillis};

use crate::row_map::RowMap;

row! {
    /// `goal`: the goal, and what was said of it, in order; nothing if there is none.
    pub struct GoalRow in table "goal", version 1;
    key {
        /// The event that says it.
        seq: Seq,
    }
    values {
        /// What it is.
        what: GoalChange,
        /// The text.
        text: String,
        /// The conversation in which it was said; 0 is a terminal.
        said_in: SessionId,
        /// When it was said.
        at_ms: UnixMillis,
    }
}

/// The goal; there is one at most.
#[derive(Default)]
pub struct Goal {
    pub(crate) rows: RowMap<GoalRow>,
}

impl Goal {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        let Event::GoalChanged(GoalChanged { change, text }) = &recorded.event else {
            return;
        };
        let begins = matches!(change, GoalChange::Set | GoalChange::Done);
        let is_note = |row: &&GoalRow| {
            let is_budget = row.what == GoalChange::Budget;
            row.what != GoalChange::Set && is_budget == (*change == GoalChange::Budget)
        };
        let kept_max = match change {
            GoalChange::Budget => 1,
            _ => GOAL_NOTES_MAX,
        };
        let oldest = self.rows.values().filter(is_note).rev().nth(kept_max - 1);
        let oldest = oldest.map(|row| row.seq);
        self.rows.forget(|row| begins || oldest == Some(row.seq));
        if *change != GoalChange::Done {
            let row = GoalRow {
                seq: recorded.seq,
                what: *change,
                text: text.clone(),
                said_in: recorded.session,
                at_ms: recorded.at,
            };
            self.rows.put(row);
        }
    }

    /// The goal first, then what was said of it, in order; nothing if there is none.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &GoalRow> {
        self.rows.values()
    }

    /// The goal, if there is one.
    #[must_use]
    pub fn current(&self) -> Option<&GoalRow> {
        said(self.rows(), GoalChange::Set)
    }
}

fn said<'r>(mut rows: impl Iterator<Item = &'r GoalRow>, what: GoalChange) -> Option<&'r GoalRow> {
    rows.find(|row| row.what == what)
}

/// How much may be done for the goal.
pub fn budget<'r>(rows: impl Iterator<Item = &'r GoalRow>) -> Budget {
    let budget = said(rows, GoalChange::Budget).and_then(|row| row.text.parse().ok());
    budget.unwrap_or_default()
}

/// The lines that say what the work is for: the goal, then the newest of what was said of it.
pub fn lines<'r>(
    rows: impl DoubleEndedIterator<Item = &'r GoalRow>,
) -> impl Iterator<Item = String> {
    let mut rows: alloc::vec::Vec<_> = rows.rev().collect();
    rows.sort_by_key(|row| row.what != GoalChange::Set);
    rows.into_iter().filter_map(|GoalRow { what, text, .. }| {
        let title = match what {
            GoalChange::Set => "Goal",
            GoalChange::Next => "Next",
            GoalChange::Question => "Question",
            GoalChange::Budget => "Budget",
            GoalChange::Done => return None,
        };
        Some(alloc::format!("{title}: {text}"))
    })
}
