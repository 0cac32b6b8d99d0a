//! All projections together: one fold step, and the view that decisions are made on.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use tslp_core::artifact::Origin;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{Audited, CallId, ContentKind, DiskFinding, Event, Recorded};
use tslp_core::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use tslp_core::ids::{CaptureId, EpisodeId, Seq, SessionId, VersionId};
use tslp_core::limits::CONTAINERS_FOLLOWED_MAX;
use tslp_core::path::RelPath;
use tslp_core::slice::{self, Span};
use tslp_core::text_facts::{NameHash, NamedPath};
use tslp_core::view::{
    Amendments, CurrentVersion, Divergence, Exchange, FormerVersion, LastPrompt, OpenPrompt,
    PendingNotice, PreviousTurn, Proposal, SessionPoint, ToolCall, ToolSession, View,
};
use tslp_projections::EventAt;
use tslp_projections::anomalies::Anomalies;
use tslp_projections::audits::Audits;
use tslp_projections::counters::Counters;
use tslp_projections::disk::Disk;
use tslp_projections::edits::Edits;
use tslp_projections::episodes::Episodes;
use tslp_projections::guardian::Guardian;
use tslp_projections::proposals::{Proposals, ProposedVersion};
use tslp_projections::rules::Rules;
use tslp_projections::sessions::Sessions;
use tslp_projections::stale::Stale;
use tslp_projections::state_map::StateMap;
use tslp_projections::table::{Changes, LateRows, RowChange, TableDigest, UnfitRow, Value};
use tslp_projections::tombstones::Tombstones;
use tslp_projections::vault::{Vault, VaultLocation};

use crate::store::{Store, Unreadable};

/// Everything that is folded from the ledger. Of the archives ([`tslp_projections::table::Keep::First`]) it holds what
/// isn't [settled](State::settled).
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
    guardian: Guardian,
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
            LateRows::SessionParts(session) => self.sessions.part_rows_of(*session),
            LateRows::SessionPart(session, part) => self.sessions.rows_of_part(*session, *part),
            LateRows::Episode(episode) => one(self.episodes.row(*episode)),
            LateRows::Entry(episode, position) => one(self.episodes.entry_row(*episode, *position)),
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
    pub const fn guardian(&self) -> &Guardian {
        &self.guardian
    }

    /// Events that contradict the state before them.
    #[must_use]
    pub const fn anomalies(&self) -> &Anomalies {
        &self.anomalies
    }

    /// The digest of one table's rows; `table` is an index into [`tslp_projections::TABLES`]. An archive's is that of its
    /// table only if nothing was ever settled.
    #[must_use]
    pub fn digest(&self, table: usize) -> TableDigest {
        let mut digest = TableDigest::default();
        self.visit_rows(table, &mut |row| digest.add(&row));
        digest
    }

    /// All rows of one table, by key, of an archive those that aren't settled; `table` is an index into
    /// [`tslp_projections::TABLES`].
    pub fn visit_rows(&self, table: usize, visit: &mut dyn FnMut(Vec<Value>)) {
        match table {
            tslp_projections::VAULT => self.vault.rows(visit),
            tslp_projections::COUNTERS => self.counters.rows(visit),
            tslp_projections::STATE_MAP => self.state_map.rows(visit),
            tslp_projections::PARTLY_TRUE => self.state_map.sources().partly_true_rows(visit),
            tslp_projections::FORMER_VERSIONS => self.state_map.former_rows(visit),
            tslp_projections::PROPOSALS => self.proposals.rows(visit),
            tslp_projections::TOMBSTONES => self.tombstones.rows(visit),
            tslp_projections::DISK => self.disk.rows(visit),
            tslp_projections::STALE => self.stale.rows(visit),
            tslp_projections::ACKNOWLEDGED => self.stale.acknowledged_rows(visit),
            tslp_projections::SESSIONS => self.sessions.rows(visit),
            tslp_projections::RECENT_CONTEXT => self.sessions.recent_rows(visit),
            tslp_projections::SESSION_PARTS => self.sessions.part_rows(visit),
            tslp_projections::SESSION_INDEX => self.sessions.index_rows(visit),
            tslp_projections::SESSION_EPISODES => self.sessions.episode_rows(visit),
            tslp_projections::UNDER_WAY => self.sessions.under_way_rows(visit),
            tslp_projections::EPISODES => self.episodes.rows(visit),
            tslp_projections::EPISODE_ENTRIES => self.episodes.entry_rows(visit),
            tslp_projections::AUDITS => self.audits.rows(visit),
            tslp_projections::ANOMALIES => self.anomalies.rows(visit),
            tslp_projections::RULES => self.rules.rows(visit),
            tslp_projections::OUTDATED => self.state_map.sources().outdated_rows(visit),
            tslp_projections::EDITS => self.edits.rows(visit),
            tslp_projections::APPROVED_POLICY => self.guardian.policy_rows(visit),
            tslp_projections::GRANTS => self.guardian.grant_rows(visit),
            tslp_projections::TOOL_SESSIONS => self.guardian.session_rows(visit),
            tslp_projections::TOOL_CALLS => self.guardian.call_rows(visit),
            _ => {}
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
    /// [`tslp_projections::TABLES`]. The archives' rows stay in the store.
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
            tslp_projections::COUNTERS => state.counters.restore(row),
            tslp_projections::STATE_MAP => state.state_map.restore(row),
            tslp_projections::PARTLY_TRUE => state.state_map.restore_source(row),
            tslp_projections::FORMER_VERSIONS => state.state_map.restore_former(row),
            tslp_projections::PROPOSALS => state.proposals.restore(row, event),
            tslp_projections::TOMBSTONES => state.tombstones.restore(row),
            tslp_projections::DISK => state.disk.restore(row, event),
            tslp_projections::STALE => state.stale.restore(row),
            tslp_projections::ACKNOWLEDGED => state.stale.restore_acknowledged(row),
            tslp_projections::SESSIONS => state.sessions.restore(row),
            tslp_projections::RECENT_CONTEXT => state.sessions.restore_recent(row),
            tslp_projections::SESSION_PARTS => state.sessions.restore_part(row),
            tslp_projections::SESSION_INDEX => state.sessions.restore_index(row),
            tslp_projections::SESSION_EPISODES => state.sessions.restore_episode(row),
            tslp_projections::UNDER_WAY => state.sessions.restore_under_way(row),
            tslp_projections::EPISODES => state.episodes.restore(row),
            tslp_projections::EPISODE_ENTRIES => state.episodes.restore_entry(row),
            tslp_projections::AUDITS => state.audits.restore(row),
            tslp_projections::ANOMALIES => state.anomalies.restore(row),
            tslp_projections::RULES => state.rules.restore(row, event),
            tslp_projections::APPROVED_POLICY => state.guardian.restore_policy(row),
            tslp_projections::GRANTS => state.guardian.restore_grant(row),
            tslp_projections::TOOL_SESSIONS => state.guardian.restore_session(row),
            tslp_projections::TOOL_CALLS => state.guardian.restore_call(row),
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
                episodes,
                ..
            } = &mut state;
            let changes = &mut Changes::discarding();
            sessions.apply(&captured, changes);
            proposals.apply(&captured, sessions, changes);
            episodes.apply(&captured, changes);
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

/// A state together with what it doesn't hold itself.
pub struct StateView<'s> {
    /// The projections.
    pub state: &'s State,
    /// Bytes, and what is settled.
    pub store: &'s dyn Store,
}

impl View for StateView<'_> {
    fn tool_session(&self, session: SessionId) -> ToolSession {
        self.state.guardian.session(session)
    }

    fn tool_call(&self, call: CallId) -> Option<ToolCall> {
        self.state.guardian.call(call)
    }

    fn tool_calls_of(&self, episode: EpisodeId) -> Vec<ToolCall> {
        self.state.guardian.calls_of(episode)
    }

    fn tools_under_way(&self) -> Vec<CallId> {
        self.state.guardian.under_way()
    }

    fn next_episode(&self) -> EpisodeId {
        self.state.counters.last_episode().next()
    }

    fn next_session(&self) -> SessionId {
        self.state.counters.last_session().next()
    }

    fn next_capture(&self) -> CaptureId {
        self.state.counters.last_capture().next()
    }

    fn next_version(&self) -> VersionId {
        self.state.counters.last_version().next()
    }

    fn session_named(&self, name: &str) -> Option<SessionId> {
        self.state.sessions.session_named(name)
    }

    fn session_at(&self, transcript: TranscriptHash) -> Option<SessionPoint> {
        self.state.sessions.session_at(transcript)
    }

    fn session_with_tail(&self, tail: TranscriptHash) -> Option<SessionId> {
        self.state.sessions.with_tail(tail)
    }

    fn session_with_reply(&self, reply: MessageKey) -> Option<(SessionId, Exchange)> {
        self.state.sessions.with_reply(reply)
    }

    fn open_prompt(&self, transcript: TranscriptHash) -> Option<OpenPrompt> {
        self.state.sessions.open_prompt(transcript)
    }

    fn last_prompt(&self, transcript: TranscriptHash) -> Option<LastPrompt> {
        self.state.sessions.last_prompt(transcript)
    }

    fn in_flight(&self) -> Vec<EpisodeId> {
        self.state.sessions.in_flight()
    }

    fn session_of(&self, episode: EpisodeId) -> Option<SessionId> {
        self.state.sessions.of(episode)
    }

    fn was_prompted(&self, session: SessionId, length: u32, words: ArtifactHash) -> bool {
        self.state.sessions.was_prompted(session, length, words)
    }

    fn is_plain(&self, session: SessionId) -> bool {
        self.state.sessions.is_plain(session)
    }

    fn recent(&self, session: SessionId) -> Vec<Exchange> {
        self.state.sessions.recent_exchanges(session)
    }

    fn hydration_order(&self, session: SessionId) -> Vec<EntityId> {
        self.state.sessions.hydration_order(session).to_vec()
    }

    fn shown(&self, episode: EpisodeId, entity: &EntityId) -> Option<VersionId> {
        self.state.sessions.version_shown(episode, entity)
    }

    fn latest_episode(&self, session: SessionId) -> Option<EpisodeId> {
        self.state.sessions.latest_episode(session)
    }

    fn turn_before(&self, session: SessionId) -> Option<PreviousTurn> {
        self.state.sessions.turn_before(session)
    }

    fn audit_under_way(&self, episode: EpisodeId) -> Option<Vec<Audited>> {
        self.state.audits.under_way(episode)
    }

    fn pending_notices(&self, session: SessionId) -> Vec<PendingNotice> {
        self.state.sessions.pending_notices(session)
    }

    fn amendments(&self, session: SessionId) -> Amendments {
        self.state.sessions.amendments(session)
    }

    fn reply_position(&self, session: SessionId, episode: EpisodeId) -> Option<u32> {
        self.state.sessions.reply_position(session, episode)
    }

    fn refused_files(&self, session: SessionId) -> Vec<RelPath> {
        self.state.sessions.refused_files(session)
    }

    fn last_shown(&self, session: SessionId, entity: &EntityId) -> Option<VersionId> {
        self.state.sessions.last_shown(session, entity)
    }

    fn current(&self, entity: &EntityId) -> Option<CurrentVersion> {
        self.state.state_map.current(entity)
    }

    fn symbols_of(&self, path: &RelPath) -> Vec<Symbol> {
        self.state.state_map.symbols_of(path)
    }

    fn tracks(&self, path: &RelPath) -> bool {
        self.state.state_map.tracks(path)
    }

    fn files_named(&self, basename: &str, limit: usize) -> Vec<RelPath> {
        self.state.state_map.files_named(basename, limit)
    }

    fn file_meant(&self, named: NamedPath) -> Option<RelPath> {
        self.state.state_map.file_meant(named)
    }

    fn case_twin(&self, path: &RelPath) -> Option<RelPath> {
        self.state.state_map.case_twin(path)
    }

    fn entities_named(&self, name: &str, limit: usize) -> Vec<EntityId> {
        self.state.state_map.entities_named(name, limit)
    }

    fn artifact_is_current(&self, artifact: ArtifactHash) -> Option<bool> {
        let is_current = match self.source_is_current(artifact) {
            Some(is_current) => is_current,
            None => self.source_is_current(self.made_by(artifact)?)?,
        };
        let diverged = |entity: &EntityId| {
            self.state
                .state_map
                .current(entity)
                .is_some_and(|current| current.artifact == artifact)
        };
        Some(is_current && !self.state.stale.iter().any(|(entity, _)| diverged(entity)))
    }

    fn former_versions(&self, entity: &EntityId) -> Vec<FormerVersion> {
        self.state.state_map.former_versions(entity).to_vec()
    }

    fn code_changed(&self) -> Seq {
        self.state.code_changed
    }

    fn may_be_outdated(&self, word: NameHash) -> bool {
        let is_superseded = self.state.state_map.superseded_words().may_have(word);
        is_superseded || self.state.stale.differing_words().may_have(word)
    }

    fn outdated_symbols(&self, word: NameHash) -> Vec<EntityId> {
        let stale = &self.state.stale;
        let differing = stale.differing_words().with_word(word);
        let diverged = differing.filter(|entity| stale.divergence(entity).is_some());
        let superseded = self.state.state_map.superseded_words().with_word(word);
        superseded.chain(diverged).cloned().collect()
    }

    fn is_tombstoned(&self, entity: &EntityId) -> bool {
        self.state.tombstones.contains(entity)
    }

    fn disk(&self, path: &RelPath) -> Option<&DiskFinding> {
        self.state.disk.finding(path)
    }

    fn held_before(&self, path: &RelPath, content: ArtifactHash) -> bool {
        let recorded = self.location(content).map(|location| location.seq);
        let seen = self.state.disk.seen_since(path);
        seen.zip(recorded)
            .is_some_and(|(seen, recorded)| seen < recorded)
    }

    fn settled_since(&self, entity: &EntityId, content: ArtifactHash) -> bool {
        let recorded = self.location(content).map(|location| location.seq);
        let settled = self.state.state_map.decided_by_user(entity);
        settled
            .zip(recorded)
            .is_some_and(|(settled, recorded)| recorded < settled)
    }

    fn superseded_later(
        &self,
        entity: &EntityId,
        one: SliceHash,
        other: Option<SliceHash>,
    ) -> bool {
        let place = |slice| self.state.state_map.place_superseded(entity, slice);
        place(one).is_some_and(|one| other.and_then(place).is_none_or(|other| other < one))
    }

    fn divergence(&self, entity: &EntityId) -> Option<Divergence> {
        self.state.stale.divergence(entity)
    }

    fn proposals_in(&self, session: SessionId) -> Vec<Proposal> {
        self.state
            .proposals
            .iter()
            .filter(|proposed| proposed.session == session && proposed.origin == Origin::Model)
            .map(proposal)
            .collect()
    }

    fn proposals_for(&self, entity: &EntityId) -> Vec<Proposal> {
        self.state
            .proposals
            .for_entity(entity)
            .map(proposal)
            .collect()
    }

    fn proposals_under(&self, path: &RelPath) -> Vec<Proposal> {
        self.state
            .proposals
            .under_path(path)
            .map(proposal)
            .collect()
    }

    fn holds(&self, artifact: ArtifactHash) -> bool {
        self.location(artifact).is_some()
    }

    fn was_said(&self, text: ArtifactHash) -> bool {
        let location = self.location(text);
        location.is_some_and(|location| location.kind == ContentKind::Message)
    }

    fn content(&self, artifact: ArtifactHash) -> Option<Vec<u8>> {
        self.with_content(artifact, <[u8]>::to_vec)
    }

    fn slices(&self, artifact: ArtifactHash, spans: &[Span]) -> Option<Vec<u8>> {
        self.with_content(artifact, |bytes| slice::joined(bytes, spans))
    }
}

impl StateView<'_> {
    /// As [`tslp_projections::sources::Sources::is_current`], of what is settled, too. What can't be looked up is taken
    /// for outdated: better to withhold what is true than to show what was.
    fn source_is_current(&self, artifact: ArtifactHash) -> Option<bool> {
        let known = self.state.state_map.sources().is_current(artifact);
        known.or_else(|| match self.store.outdated_since(artifact) {
            Ok(since) => (since? <= self.state.head).then_some(false),
            Err(Unreadable) => Some(false),
        })
    }

    fn made_by(&self, edit: ArtifactHash) -> Option<ArtifactHash> {
        let known = self.state.edits.made_by(edit);
        known.or_else(|| self.store.made_by(edit, self.state.head).ok()?)
    }

    fn location(&self, artifact: ArtifactHash) -> Option<VaultLocation> {
        let known = self.state.vault.location(artifact);
        known.or_else(|| {
            let settled = self.store.location(artifact).ok()?;
            settled.filter(|location| location.seq <= self.state.head)
        })
    }

    /// The content event in which an artifact's bytes stand, and where in it.
    fn resolved(&self, artifact: ArtifactHash) -> Option<(Seq, Range<usize>)> {
        let mut location = self.location(artifact)?;
        let mut range = location.start as usize..location.end as usize;
        for _ in 0..CONTAINERS_FOLLOWED_MAX {
            let Some(container) = location.container else {
                return Some((location.seq, range));
            };
            location = self.location(container)?;
            let outer = location.start as usize;
            range = range.start + outer..range.end + outer;
        }
        None
    }

    fn with_content<T>(&self, artifact: ArtifactHash, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let (seq, range) = self.resolved(artifact)?;
        self.store.content(seq)?.get(range).map(read)
    }
}

fn proposal(proposed: &ProposedVersion) -> Proposal {
    Proposal {
        version: proposed.version.id,
        entity: proposed.version.entity.clone(),
        slice: proposed.version.slice,
        session: proposed.session,
        artifact: proposed.source,
        spans: proposed.version.spans.clone(),
        episode: proposed.episode,
        report: proposed.report.clone(),
        rename_of: proposed.rename_of.clone(),
        origin: proposed.origin,
    }
}
