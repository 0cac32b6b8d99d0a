//! All projections together: one fold step, rows, and restoring them.

mod view;

use alloc::boxed::Box;
use alloc::vec::Vec;

use tslp_core::event::{Event, Recorded};
use tslp_core::ids::{EpisodeId, Seq, SessionId};
use tslp_core::path::RelPath;

use crate::anomalies::Anomalies;
use crate::at_hand::AtHand;
use crate::audits::Audits;
use crate::changes::RowChange;
use crate::checks::Checks;
use crate::counters::Counters;
use crate::disk::LastFinding;
use crate::edits::Edits;
use crate::episodes::Episodes;
use crate::file_mentions::FileMentions;
use crate::goal::Goal;
use crate::guardian::GuardianState;
use crate::places::Places;
use crate::proposals::Proposals;
use crate::provenance::Provenance;
use crate::records::Records;
use crate::row::{EventAt, Keeps, Row, StoredRow, UnfitRow};
use crate::rules::Rules;
use crate::scope::Scope;
use crate::sessions::Sessions;
use crate::signals::Signals;
use crate::stale::{HeldCode, Stale};
use crate::state_map::{StateMap, StoredFiles};
use crate::table::{RowsHash, Value};
use crate::tombstones::Tombstones;
use crate::usage::Usage;
use crate::vault::Vault;
use crate::work::Work;

pub use view::StateView;

/// Declares the state: projections that only folds read, and those that others read by a method with their name.
macro_rules! state {
    ($(#[$doc:meta])* hidden { $($hidden:ident: $hidden_type:ty,)+ } read { $($(#[$read_doc:meta])+ $read:ident: $read_type:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Default)]
        pub struct State {
            head: Seq,
            /// The last event since the start that changed what is true, or what disk holds.
            code_changed: Seq,
            $($hidden: $hidden_type,)+
            $($read: $read_type,)+
        }

        impl State {
            $(
                $(#[$read_doc])+
                #[must_use]
                pub const fn $read(&self) -> &$read_type {
                    &self.$read
                }
            )+
        }
    };
}

state! {
    /// Everything that is folded from the ledger. Of the archives ([`crate::table::Keep::First`]) it holds what
    /// isn't [durable](State::rows_made_durable).
    hidden {
        counters: Counters,
        vault: Vault,
        edits: Edits,
        file_mentions: FileMentions,
        proposals: Proposals,
        audits: Audits,
    }
    read {
        /// Current truth.
        state_map: StateMap,
        /// Entities that are withheld.
        stale: Stale,
        /// Conversations.
        sessions: Sessions,
        /// Entities that were removed within the last episodes.
        tombstones: Tombstones,
        /// The last episodes.
        episodes: Episodes,
        /// Events that contradict the state before them.
        anomalies: Anomalies,
        /// The rules by which what comes next is decided.
        rules: Rules,
        /// Tools: what is granted, halted, and was done.
        guardian: GuardianState,
        /// What agents have done, by which budgets are judged.
        work: Work,
        /// What models read and wrote.
        usage: Usage,
        /// Which files a model may see.
        scope: Scope,
        /// What clients call by paths of their own.
        places: Places,
        /// What the work is for.
        goal: Goal,
        /// What was asked last, and the last calls.
        at_hand: AtHand,
        /// How the user's check ended last.
        checks: Checks,
        /// What clients' hooks have told.
        signals: Signals,
        /// What the user keeps for the project.
        records: Records,
        /// Who said the newest texts.
        provenance: Provenance,
    }
}

impl State {
    /// Folds one event into every projection. Can't fail: what makes no sense is noted as an anomaly.
    pub fn apply(&mut self, recorded: &Recorded) {
        let follows = recorded.seq == self.head.next();
        self.head = recorded.seq;
        let changes_code = match &recorded.event {
            Event::Transitioned(_) | Event::VersionsPromoted(_) | Event::DiskObserved(_) => true,
            Event::NoticeIssued(notice) => Stale::is_changed_by(notice.reason),
            _ => false,
        };
        if changes_code {
            self.code_changed = recorded.seq;
        }
        self.file_mentions.apply(recorded);
        let possible = match &recorded.event {
            Event::VersionsPromoted(promoted) => {
                promoted.transitions().fold(true, |possible, it| {
                    let event = Event::Transitioned(it);
                    let envelope = recorded.envelope;
                    possible & self.apply_to_each(&Recorded { envelope, event })
                })
            }
            _ => self.apply_to_each(recorded),
        };
        if !(follows && possible) {
            self.anomalies.apply(recorded);
        }
    }

    /// Folds one event into the projections, whose order matters. Returns whether it fits the state before it.
    fn apply_to_each(&mut self, recorded: &Recorded) -> bool {
        self.counters.apply(recorded);
        self.vault.apply(recorded);
        self.edits.apply(recorded);
        // The State Map reads the proposal that moves, so it goes before the proposals let go of it.
        let possible = self.state_map.apply(recorded, &self.proposals);
        self.sessions.apply(recorded);
        // A proposal takes its session from its episode's, so sessions come first.
        self.proposals.apply(recorded, &self.sessions);
        // It compares what these hold after this event.
        let held = HeldCode {
            state_map: &self.state_map,
            proposals: &self.proposals,
        };
        self.stale.apply(recorded, held);
        self.tombstones.apply(recorded);
        self.episodes.apply(recorded);
        self.audits.apply(recorded);
        self.rules.apply(recorded);
        self.guardian.apply(recorded);
        self.work.apply(recorded, self.goal.current());
        self.usage.apply(recorded, &self.episodes);
        self.scope.apply(recorded);
        self.places.apply(recorded);
        self.goal.apply(recorded);
        self.at_hand.apply(recorded);
        self.checks.apply(recorded);
        self.signals.apply(recorded);
        self.records.apply(recorded, self.goal.current());
        self.provenance.apply(recorded);
        possible
    }

    /// Frees the archive rows up to `durable`, which the store supplies from now on. So memory grows with what is true, not
    /// with history.
    pub fn rows_made_durable(&mut self, durable: Seq) {
        debug_assert!(
            durable <= self.head,
            "an event is folded before it is durable"
        );
        let vault = &mut self.vault.not_durable;
        vault.forget_durable(durable, |row| row.seq);
        let edits = &mut self.edits.not_durable;
        edits.forget_durable(durable, |row| row.seq);
        let mentions = &mut self.file_mentions.not_durable;
        mentions.forget_durable(durable, |row| row.seq);
        self.state_map.forget_durable(durable);
    }

    /// Has code of files that isn't asked for stay in this store, from which it is read when it is. The store has to have the rows of
    /// `state_map` once they are [durable](Self::rows_made_durable). Of the code that was asked for, so many bytes stay in memory.
    pub fn set_stored_files(&mut self, stored: Box<dyn StoredFiles + Send>, bytes_kept: usize) {
        self.state_map.set_stored_files(stored, bytes_kept);
    }

    /// Keeps no index of names, for a fold of which only the rows matter: no decision may be made by this state.
    pub const fn forgo_names(&mut self) {
        self.state_map.forgo_names();
    }

    /// The last event folded in.
    #[must_use]
    pub const fn head(&self) -> Seq {
        self.head
    }

    /// What a file held when it was last looked at, without the slices of its symbols.
    #[must_use]
    pub fn disk_finding(&self, path: &RelPath) -> Option<LastFinding<'_>> {
        self.state_map.disk_finding(path)
    }

    /// The session of the last prompt, if there was any.
    #[must_use]
    pub fn current_session(&self) -> Option<SessionId> {
        self.sessions.of(self.counters.last_episode())
    }

    /// Audits whose answer is awaited.
    #[must_use]
    pub fn audits_awaited(&self) -> Vec<EpisodeId> {
        self.audits.awaited_episodes()
    }

    /// The hash of one table's rows; `table` is an index into [`crate::TABLES`]. An archive's is that of its
    /// table only if nothing was ever settled.
    #[must_use]
    pub fn rows_hash(&self, table: usize) -> RowsHash {
        let mut hash = RowsHash::default();
        self.visit_rows(table, &mut |row| hash.add(&crate::TABLES[table], &row));
        hash
    }
}

impl State {
    /// The rows of one table, as [`Self::visit_rows`] hands them out.
    #[must_use]
    pub fn rows<R: StoredRow>(&self) -> Vec<R> {
        let mut rows = Vec::new();
        self.visit_rows(R::INDEX, &mut |cells| {
            let row = R::from_cells(&cells);
            rows.push(row.unwrap_or_else(|_| unreachable!("a state takes its own rows back")));
        });
        rows
    }
}

/// Declares how the state hands out and takes back the rows of each table.
macro_rules! rows_of_tables {
    ($($index:ident: $row:path => $($field:ident).+,)+) => {
        impl State {
            /// All rows of one table, of an archive those that aren't durable; `table` is an index into
            /// [`crate::TABLES`].
            pub fn visit_rows(&self, table: usize, visit: &mut dyn FnMut(Vec<Value>)) {
                match table {
                    $(crate::$index => {
                        Keeps::<$row>::visit_rows(&self.$($field).+, &mut |row| visit(row.into_cells()));
                    })+
                    _ => unreachable!("there is no table {table}"),
                }
            }

            /// Notes from now on which rows change, for a store that is told of them by [`Self::take_changes`], or no longer.
            pub fn follow_changes(&mut self, follows: bool) {
                $(Keeps::<$row>::touched(&mut self.$($field).+).follow(follows);)+
            }

            /// The changes since the last call. Each row is there at most once, as it is now.
            #[must_use]
            pub fn take_changes(&mut self) -> Vec<RowChange> {
                let mut taken = Vec::new();
                $(Keeps::<$row>::take_changes(&mut self.$($field).+, &mut taken);)+
                taken
            }

            /// Takes the next stored row into an empty state: those of a table in the order of their keys, and the tables in the
            /// order of [`crate::TABLES`], without archives, whose rows stay in the store. Then [`Self::restored`] completes it.
            ///
            /// # Errors
            /// When no fold writes it.
            pub fn restore_row(&mut self, table: usize, cells: &[Value], event: EventAt<'_>) -> Result<(), UnfitRow> {
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

impl State {
    /// The state after the event at `head`, once all rows were restored.
    ///
    /// # Errors
    /// When they can't be those of one state.
    pub fn restored(mut self, head: Seq, event: EventAt<'_>) -> Result<Self, UnfitRow> {
        self.state_map.finish_restoring()?;
        self.proposals.finish_restoring();
        self.stale.finish_restoring();
        self.sessions.finish_restoring(self.episodes.sessions());
        self.provenance.finish_restoring();
        if let Some(rules) = self.rules.in_force() {
            self.tombstones.follow_policy(&rules.policy);
        }
        // What was captured and isn't resolved: nobody has a row for that, since it doesn't outlive a batch.
        if let Some(seq) = self.counters.unresolved() {
            let captured = event(seq).ok_or(UnfitRow("a block was captured by no event"))?;
            self.sessions.apply(&captured);
            self.proposals.apply(&captured, &self.sessions);
        }
        self.head = head;
        Ok(self)
    }
}
