//! All projections together: one fold step, rows, and restoring them.

mod view;

use alloc::vec::Vec;
use core::fmt;

use crate::EventAt;
use crate::anomalies::Anomalies;
use crate::audits::Audits;
use crate::counters::Counters;
use crate::disk::Disk;
use crate::edits::Edits;
use crate::episodes::Episodes;
use crate::guardian::GuardianState;
use crate::proposals::Proposals;
use crate::rules::Rules;
use crate::sessions::Sessions;
use crate::stale::Stale;
use crate::state_map::StateMap;
use crate::table::{Changes, LateRows, RowChange, TableDigest, UnfitRow, Value};
use crate::tombstones::Tombstones;
use crate::vault::Vault;
use tslp_core::event::{Event, Recorded};
use tslp_core::ids::{EpisodeId, Seq};

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
    disk: Disk,
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
}

impl State {
    /// Folds one event into every projection. Can't fail: what makes no sense is noted as an anomaly.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        let follows = recorded.seq == self.head.next();
        self.head = recorded.seq;
        if matches!(
            recorded.event,
            Event::Transitioned(_) | Event::DiskObserved(_)
        ) {
            self.code_changed = recorded.seq;
        }
        self.counters.apply(recorded, changes);
        self.vault.apply(recorded, changes);
        self.edits.apply(recorded, changes);
        self.disk.apply(recorded, changes);
        // The State Map reads the proposal that moves, so it goes before the proposals let go of it.
        let possible = self.state_map.apply(recorded, &self.proposals, changes);
        self.stale
            .apply(recorded, &self.state_map, &self.disk, changes);
        self.sessions.apply(recorded, changes);
        self.proposals.apply(recorded, &self.sessions, changes);
        self.tombstones.apply(recorded, changes);
        self.episodes.apply(recorded, changes);
        self.audits.apply(recorded, changes);
        self.rules.apply(recorded, changes);
        self.guardian.apply(recorded, changes);
        if !(follows && possible) {
            self.anomalies.apply(recorded, changes);
        }
    }

    /// The row changes for `changes`. Nothing may have been folded after them, since rows are read from the state as it is.
    #[must_use]
    pub fn rows_changed(&self, changes: Changes) -> Vec<RowChange> {
        let one = |row: Option<Vec<Value>>| row.into_iter().collect();
        changes.into_row_changes(|late| match late {
            LateRows::Counter(name) => one(self.counters.row(name)),
            LateRows::Entity(entity) => one(self.state_map.row(entity)),
            LateRows::Source(artifact) => one(self.state_map.sources().partly_true_row(*artifact)),
            LateRows::FormerVersions(entity) => self.state_map.former_rows_of(entity),
            LateRows::Proposal(version) => one(self.proposals.row(*version)),
            LateRows::Session(session) => one(self.sessions.row(*session)),
            LateRows::RecentContext(session) => self.sessions.recent_rows_of(*session),
            LateRows::SessionEntities(session) => self.sessions.entity_rows_of(*session),
            LateRows::SessionParts(session) => self.sessions.part_rows_of(*session),
            LateRows::SessionPart(session, part) => self.sessions.rows_of_part(*session, *part),
            LateRows::Episode(episode) => one(self.episodes.row(*episode)),
        })
    }

    /// Frees the archive rows up to `durable`, which the store supplies from now on. So memory grows with what is true, not
    /// with history.
    pub fn rows_made_durable(&mut self, durable: Seq) {
        self.vault.forget_durable(durable);
        self.edits.forget_durable(durable);
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

    /// All rows of one table, by key, of an archive those that aren't settled; `table` is an index into
    /// [`crate::TABLES`].
    pub fn visit_rows(&self, table: usize, visit: &mut dyn FnMut(Vec<Value>)) {
        match table {
            crate::VAULT => self.vault.rows(visit),
            crate::COUNTERS => self.counters.rows(visit),
            crate::STATE_MAP => self.state_map.rows(visit),
            crate::PARTLY_TRUE => self.state_map.sources().partly_true_rows(visit),
            crate::FORMER_VERSIONS => self.state_map.former_rows(visit),
            crate::PROPOSALS => self.proposals.rows(visit),
            crate::TOMBSTONES => self.tombstones.rows(visit),
            crate::DISK => self.disk.rows(visit),
            crate::STALE => self.stale.rows(visit),
            crate::ACKNOWLEDGED => self.stale.acknowledged_rows(visit),
            crate::SESSIONS => self.sessions.rows(visit),
            crate::RECENT_CONTEXT => self.sessions.recent_rows(visit),
            crate::SESSION_ENTITIES => self.sessions.entity_rows(visit),
            crate::SESSION_PARTS => self.sessions.part_rows(visit),
            crate::SESSION_INDEX => self.sessions.index_rows(visit),
            crate::SESSION_EPISODES => self.sessions.episode_rows(visit),
            crate::UNDER_WAY => self.sessions.under_way_rows(visit),
            crate::EPISODES => self.episodes.rows(visit),
            crate::AUDITS => self.audits.rows(visit),
            crate::ANOMALIES => self.anomalies.rows(visit),
            crate::RULES => self.rules.rows(visit),
            crate::OUTDATED => self.state_map.sources().outdated_rows(visit),
            crate::EDITS => self.edits.rows(visit),
            crate::APPROVED_POLICY => self.guardian.policy_rows(visit),
            crate::GRANTS => self.guardian.grant_rows(visit),
            crate::TOOL_SESSIONS => self.guardian.session_rows(visit),
            crate::TOOL_CALLS => self.guardian.call_rows(visit),
            _ => unreachable!("table {table} has no rows"),
        }
    }
}

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
        let state = &mut self.state;
        match table {
            crate::COUNTERS => state.counters.restore(row),
            crate::STATE_MAP => state.state_map.restore(row),
            crate::PARTLY_TRUE => state.state_map.restore_source(row),
            crate::FORMER_VERSIONS => state.state_map.restore_former(row),
            crate::PROPOSALS => state.proposals.restore(row, event),
            crate::TOMBSTONES => state.tombstones.restore(row),
            crate::DISK => state.disk.restore(row, event),
            crate::STALE => state.stale.restore(row),
            crate::ACKNOWLEDGED => state.stale.restore_acknowledged(row),
            crate::SESSIONS => state.sessions.restore(row),
            crate::RECENT_CONTEXT => state.sessions.restore_recent(row),
            crate::SESSION_ENTITIES => state.sessions.restore_entity(row),
            crate::SESSION_PARTS => state.sessions.restore_part(row),
            crate::SESSION_INDEX => state.sessions.restore_index(row),
            crate::SESSION_EPISODES => state.sessions.restore_episode(row),
            crate::UNDER_WAY => state.sessions.restore_under_way(row),
            crate::EPISODES => state.episodes.restore(row),
            crate::AUDITS => state.audits.restore(row),
            crate::ANOMALIES => state.anomalies.restore(row),
            crate::RULES => state.rules.restore(row, event),
            crate::APPROVED_POLICY => state.guardian.restore_policy(row),
            crate::GRANTS => state.guardian.restore_grant(row),
            crate::TOOL_SESSIONS => state.guardian.restore_session(row),
            crate::TOOL_CALLS => state.guardian.restore_call(row),
            _ => Err(UnfitRow("a row belongs to no table of a state")),
        }
    }

    /// The state after the event at `head`, once all rows were restored.
    ///
    /// # Errors
    /// When they can't be those of one state.
    pub fn finish(self, head: Seq, event: EventAt<'_>) -> Result<State, UnfitRow> {
        let mut state = self.state;
        state.state_map.restored();
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
        let sections: [(&str, &dyn fmt::Display); 14] = [
            ("vault", &self.vault),
            ("state map", &self.state_map),
            ("proposals", &self.proposals),
            ("tombstones", &self.tombstones),
            ("disk", &self.disk),
            ("stale", &self.stale),
            ("sessions", &self.sessions),
            ("episodes", &self.episodes),
            ("audits", &self.audits),
            ("anomalies", &self.anomalies),
            ("rules", &self.rules),
            ("outdated", self.state_map.sources()),
            ("edits", &self.edits),
            ("guardian", &self.guardian),
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
