//! All projections together: one fold step, rows, and restoring them.

mod view;

use alloc::vec::Vec;
use core::fmt;

use tslp_core::event::{DiskFinding, Event, Recorded};
use tslp_core::ids::{EpisodeId, Seq, SessionId};
use tslp_core::path::RelPath;

use crate::anomalies::Anomalies;
use crate::at_hand::AtHand;
use crate::audits::Audits;
use crate::changes::{Changes, RowChange};
use crate::checks::Checks;
use crate::counters::Counters;
use crate::edits::Edits;
use crate::episodes::Episodes;
use crate::file_mentions::FileMentions;
use crate::goal::Goal;
use crate::guardian::GuardianState;
use crate::proposals::Proposals;
use crate::provenance::Provenance;
use crate::records::Records;
use crate::row::{EventAt, Keeps, Row, UnfitRow};
use crate::rules::Rules;
use crate::scope::Scope;
use crate::sessions::Sessions;
use crate::signals::Signals;
use crate::stale::{HeldCode, Stale};
use crate::state_map::StateMap;
use crate::table::{TableDigest, Value};
use crate::tombstones::Tombstones;
use crate::usage::Usage;
use crate::vault::Vault;
use crate::work::Work;

pub use view::StateView;

/// Everything that is folded from the ledger. Of the archives ([`crate::table::Keep::First`]) it holds what
/// isn't [durable](State::rows_made_durable).
#[derive(Default)]
pub struct State {
    head: Seq,
    /// The last event since the start that changed what is true, or what disk holds.
    code_changed: Seq,
    counters: Counters,
    vault: Vault,
    edits: Edits,
    file_mentions: FileMentions,
    state_map: StateMap,
    stale: Stale,
    sessions: Sessions,
    proposals: Proposals,
    tombstones: Tombstones,
    episodes: Episodes,
    audits: Audits,
    anomalies: Anomalies,
    rules: Rules,
    guardian: GuardianState,
    work: Work,
    usage: Usage,
    scope: Scope,
    goal: Goal,
    at_hand: AtHand,
    checks: Checks,
    signals: Signals,
    records: Records,
    provenance: Provenance,
}

impl State {
    /// Folds one event into every projection. Can't fail: what makes no sense is noted as an anomaly.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        let follows = recorded.seq == self.head.next();
        self.head = recorded.seq;
        let changes_code = match &recorded.event {
            Event::Transitioned(_) | Event::DiskObserved(_) => true,
            Event::NoticeIssued(notice) => Stale::is_changed_by(notice.reason),
            _ => false,
        };
        if changes_code {
            self.code_changed = recorded.seq;
        }
        self.counters.apply(recorded, changes);
        self.vault.apply(recorded, changes);
        self.edits.apply(recorded, changes);
        self.file_mentions.apply(recorded, changes);
        // The State Map reads the proposal that moves, so it goes before the proposals let go of it.
        let possible = self.state_map.apply(recorded, &self.proposals, changes);
        self.sessions.apply(recorded, changes);
        // A proposal takes its session from its episode's, so sessions come first.
        self.proposals.apply(recorded, &self.sessions, changes);
        // It compares what these hold after this event.
        let held = HeldCode {
            state_map: &self.state_map,
            proposals: &self.proposals,
        };
        self.stale.apply(recorded, held, changes);
        self.tombstones.apply(recorded, changes);
        self.episodes.apply(recorded, changes);
        self.audits.apply(recorded, changes);
        self.rules.apply(recorded, changes);
        self.guardian.apply(recorded, changes);
        self.work.apply(recorded, self.goal.current(), changes);
        self.usage.apply(recorded, &self.episodes, changes);
        self.scope.apply(recorded, changes);
        self.goal.apply(recorded, changes);
        self.at_hand.apply(recorded, changes);
        self.checks.apply(recorded, changes);
        self.signals.apply(recorded, changes);
        self.records.apply(recorded, self.goal.current(), changes);
        self.provenance.apply(recorded, changes);
        if !(follows && possible) {
            self.anomalies.apply(recorded, changes);
        }
    }

    /// The row changes for `changes`. Nothing may have been folded after them, since rows are read from the state as it is.
    #[must_use]
    pub fn rows_changed(&self, changes: Changes) -> Vec<RowChange> {
        changes.into_row_changes(|table, key| self.rows_beginning(table, key))
    }

    /// Frees the archive rows up to `durable`, which the store supplies from now on. So memory grows with what is true, not
    /// with history.
    pub fn rows_made_durable(&mut self, durable: Seq) {
        debug_assert!(
            durable <= self.head,
            "an event is folded before it is durable"
        );
        self.vault.forget_durable(durable);
        self.edits.forget_durable(durable);
        self.file_mentions.forget_durable(durable);
        self.state_map.forget_durable(durable);
    }

    /// The last event folded in.
    #[must_use]
    pub const fn head(&self) -> Seq {
        self.head
    }

    /// Current truth.
    #[must_use]
    pub const fn state_map(&self) -> &StateMap {
        &self.state_map
    }

    /// What a file held when it was last looked at, without the slices of its symbols.
    #[must_use]
    pub fn disk_finding(&self, path: &RelPath) -> Option<&DiskFinding> {
        self.state_map.disk_finding(path)
    }

    /// The session of the last prompt, if there was any.
    #[must_use]
    pub fn current_session(&self) -> Option<SessionId> {
        self.sessions.of(self.counters.last_episode())
    }

    /// Conversations.
    #[must_use]
    pub const fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Entities that are withheld.
    #[must_use]
    pub const fn stale(&self) -> &Stale {
        &self.stale
    }

    /// Audits whose answer is awaited.
    #[must_use]
    pub fn audits_awaited(&self) -> Vec<EpisodeId> {
        self.audits.awaited_episodes()
    }

    /// Entities that were removed within the last episodes.
    #[must_use]
    pub const fn tombstones(&self) -> &Tombstones {
        &self.tombstones
    }

    /// The rules by which what comes next is decided.
    #[must_use]
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Tools: what is granted, halted, and was done.
    #[must_use]
    pub const fn guardian(&self) -> &GuardianState {
        &self.guardian
    }

    /// What agents have done, by which budgets are judged.
    #[must_use]
    pub const fn work(&self) -> &Work {
        &self.work
    }

    /// The last episodes.
    #[must_use]
    pub const fn episodes(&self) -> &Episodes {
        &self.episodes
    }

    /// What models read and wrote.
    #[must_use]
    pub const fn usage(&self) -> &Usage {
        &self.usage
    }

    /// What the user keeps for the project.
    #[must_use]
    pub const fn records(&self) -> &Records {
        &self.records
    }

    /// Which files a model may see.
    #[must_use]
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// What the work is for.
    #[must_use]
    pub const fn goal(&self) -> &Goal {
        &self.goal
    }

    /// What was asked last, and the last calls.
    #[must_use]
    pub const fn at_hand(&self) -> &AtHand {
        &self.at_hand
    }

    /// How the user's check ended last.
    #[must_use]
    pub const fn checks(&self) -> &Checks {
        &self.checks
    }

    /// What clients' hooks have told.
    #[must_use]
    pub const fn signals(&self) -> &Signals {
        &self.signals
    }

    /// Who said the newest texts.
    #[must_use]
    pub const fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// Events that contradict the state before them.
    #[must_use]
    pub const fn anomalies(&self) -> &Anomalies {
        &self.anomalies
    }

    /// The digest of one table's rows; `table` is an index into [`crate::TABLES`]. An archive's is that of its
    /// table only if nothing was ever settled.
    #[must_use]
    pub fn digest(&self, table: usize) -> TableDigest {
        let mut digest = TableDigest::default();
        self.visit_rows(table, &mut |row| digest.add(&row));
        digest
    }
}

/// Declares how the state hands out and takes back the rows of each table.
macro_rules! rows_of_tables {
    ($($index:ident: $row:path => $($field:ident).+,)+) => {
        impl State {
            /// All rows of one table, by key, of an archive those that aren't durable; `table` is an index into
            /// [`crate::TABLES`].
            pub fn visit_rows(&self, table: usize, visit: &mut dyn FnMut(Vec<Value>)) {
                match table {
                    $(crate::$index => {
                        Keeps::<$row>::visit_rows(&self.$($field).+, &mut |row| visit(row.into_cells()));
                    })+
                    _ => unreachable!("there is no table {table}"),
                }
            }

            fn rows_beginning(&self, table: usize, key: &[Value]) -> Vec<Vec<Value>> {
                match table {
                    $(crate::$index => {
                        let rows = Keeps::<$row>::rows_beginning(&self.$($field).+, key);
                        rows.into_iter().map(Row::into_cells).collect()
                    })+
                    _ => unreachable!("there is no table {table}"),
                }
            }

            fn restore_row(&mut self, table: usize, cells: &[Value], event: EventAt<'_>) -> Result<(), UnfitRow> {
                match table {
                    $(crate::$index => {
                        let row = <$row>::from_cells(cells)?;
                        self.$($field).+.restore_row(row, event)
                    })+
                    _ => unreachable!("there is no table {table}"),
                }
            }
        }
    };
}

for_each_table!(rows_of_tables);

/// Rebuilds a state from its stored rows.
#[derive(Default)]
pub struct StateRestorer {
    state: State,
}

impl StateRestorer {
    /// Restores the next row: those of a table in the order of their keys, and the tables in the order of
    /// [`crate::TABLES`]. The archives' rows stay in the store.
    ///
    /// # Errors
    /// When no fold writes it.
    pub fn restore_row(
        &mut self,
        table: usize,
        row: &[Value],
        event: EventAt<'_>,
    ) -> Result<(), UnfitRow> {
        self.state.restore_row(table, row, event)
    }

    /// The state after the event at `head`, once all rows were restored.
    ///
    /// # Errors
    /// When they can't be those of one state.
    pub fn finish(self, head: Seq, event: EventAt<'_>) -> Result<State, UnfitRow> {
        let mut state = self.state;
        if let Some(rules) = state.rules.in_force() {
            state.tombstones.follow_policy(&rules.policy);
        }
        // What was captured and isn't resolved: nobody has a row for that, since it doesn't outlive a batch.
        if let Some(seq) = state.counters.unresolved() {
            let captured = event(seq).ok_or(UnfitRow("a block was captured by no event"))?;
            let State {
                sessions,
                proposals,
                ..
            } = &mut state;
            let changes = &mut Changes::discarding();
            sessions.apply(&captured, changes);
            proposals.apply(&captured, sessions, changes);
        }
        state.head = head;
        Ok(state)
    }
}

impl fmt::Display for State {
    /// Every projection that isn't empty, under its name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sections: [(&str, &dyn fmt::Display); 17] = [
            ("vault", &self.vault),
            ("state map", &self.state_map),
            ("proposals", &self.proposals),
            ("tombstones", &self.tombstones),
            ("disk", &self.state_map.disk),
            ("stale", &self.stale),
            ("sessions", &self.sessions),
            ("episodes", &self.episodes),
            ("audits", &self.audits),
            ("anomalies", &self.anomalies),
            ("rules", &self.rules),
            ("outdated", self.state_map.sources()),
            ("edits", &self.edits),
            ("guardian", &self.guardian),
            ("work", &self.work),
            ("scope", &self.scope),
            ("records", &self.records),
        ];
        for (name, section) in sections {
            let text = alloc::format!("{section}");
            if !text.is_empty() {
                writeln!(f, "[{name}]\n{text}")?;
            }
        }
        Ok(())
    }
}
