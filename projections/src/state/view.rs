//! A state as decisions read it.

use alloc::vec::Vec;
use core::ops::Range;

use crate::guardian::{ToolCallRow, ToolSession};
use crate::proposals::Proposal;
use crate::proposals::ProposedVersion;
use crate::sessions::{
    Amendments, Exchange, LastPrompt, OpenPrompt, PendingNotice, PreviousTurn, SessionPoint,
};
use crate::stale::Divergence;
use crate::state_map::{CurrentVersion, FormerVersion};
use crate::vault::VaultLocation;
use tslp_core::artifact::Origin;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{Audited, CallId, ContentKind, DiskFinding};
use tslp_core::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use tslp_core::ids::{CaptureId, EpisodeId, Seq, SessionId, VersionId};
use tslp_core::limits::CONTAINERS_FOLLOWED_MAX;
use tslp_core::name_hash::{NameHash, NamedPath};
use tslp_core::path::RelPath;
use tslp_core::slice::{self, Span};

use super::State;
use crate::store::{Store, Unreadable};

/// A state together with what it doesn't hold itself.
pub struct StateView<'s> {
    /// The projections.
    pub state: &'s State,
    /// Bytes, and what is settled.
    pub store: &'s dyn Store,
}

/// What is true of the code, what was, and what is outdated.
impl StateView<'_> {
    /// The id that the next capture gets.
    #[must_use]
    pub fn next_capture(&self) -> CaptureId {
        self.state.counters.last_capture().next()
    }

    /// The id that the next version gets.
    #[must_use]
    pub fn next_version(&self) -> VersionId {
        self.state.counters.last_version().next()
    }

    /// The authoritative version of an entity.
    #[must_use]
    pub fn current_version(&self, entity: &EntityId) -> Option<CurrentVersion> {
        self.state.state_map.current(entity)
    }

    /// Earlier authoritative versions of an entity, the latest last, at most [`tslp_core::limits::SUPERSEDED_KEPT`].
    #[must_use]
    pub fn former_versions(&self, entity: &EntityId) -> Vec<FormerVersion> {
        self.state.state_map.former_versions(entity).to_vec()
    }

    /// Whether `one` was superseded as a version of the entity later than `other`, or `other` isn't known to have been.
    #[must_use]
    pub fn superseded_later(
        &self,
        entity: &EntityId,
        one: SliceHash,
        other: Option<SliceHash>,
    ) -> bool {
        let place = |slice| self.state.state_map.place_superseded(entity, slice);
        place(one).is_some_and(|one| other.and_then(place).is_none_or(|other| other < one))
    }

    /// Whether the user made the entity's current version true after the Vault held these bytes.
    #[must_use]
    pub fn user_decided_since(&self, entity: &EntityId, content: ArtifactHash) -> bool {
        let recorded = self.location(content).map(|location| location.seq);
        let settled = self.state.state_map.decided_by_user(entity);
        settled
            .zip(recorded)
            .is_some_and(|(settled, recorded)| recorded < settled)
    }

    /// Whether an update by the user left the entity out within the last episodes (spec §9.2).
    #[must_use]
    pub fn is_tombstoned(&self, entity: &EntityId) -> bool {
        self.state.tombstones.contains(entity)
    }

    /// Whether every version that was promoted out of these bytes, or out of what they made as an edit, is still
    /// authoritative; `None` if none ever was. Once none is any more the count begins anew: bytes that become true again
    /// are current again.
    #[must_use]
    pub fn artifact_is_current(&self, artifact: ArtifactHash) -> Option<bool> {
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

    /// All authoritative symbols of a file, sorted by symbol.
    #[must_use]
    pub fn symbols_of(&self, path: &RelPath) -> Vec<Symbol> {
        self.state.state_map.symbols_of(path)
    }

    /// Whether the file is *tracked*: it or any symbol of it is authoritative. A file that isn't is adopted from disk as soon as
    /// a prompt names it or a tool call concerns it.
    #[must_use]
    pub fn tracks_file(&self, path: &RelPath) -> bool {
        self.state.state_map.tracks(path)
    }

    /// Tracked files with this base name, at most `limit`.
    #[must_use]
    pub fn files_named(&self, basename: &str, limit: usize) -> Vec<RelPath> {
        self.state.state_map.files_named(basename, limit)
    }

    /// The tracked file that a path in a text means.
    #[must_use]
    pub fn file_meant_by(&self, named: NamedPath) -> Option<RelPath> {
        self.state.state_map.file_meant(named)
    }

    /// A tracked file whose path differs from this one in upper and lower case alone.
    #[must_use]
    pub fn case_twin(&self, path: &RelPath) -> Option<RelPath> {
        self.state.state_map.case_twin(path)
    }

    /// Tracked entities whose symbol's last component is this, at most `limit`.
    #[must_use]
    pub fn entities_named(&self, name: &str, limit: usize) -> Vec<EntityId> {
        self.state.state_map.entities_named(name, limit)
    }

    /// The event that last changed the truth or the known state of disk. While it is the same,
    /// [`Self::current_version`], [`Self::former_versions`], [`Self::entities_named`], [`Self::may_be_outdated`] and
    /// [`Self::outdated_symbols`] return the same.
    #[must_use]
    pub fn code_last_changed(&self) -> Seq {
        self.state.code_changed
    }

    /// Whether a symbol with this text's search word may have former versions or be contradicted by disk. Must
    /// be fast: it is asked for every word of a prompt.
    #[must_use]
    pub fn may_be_outdated(&self, word: NameHash) -> bool {
        let is_superseded = self.state.state_map.superseded_words().may_have(word);
        is_superseded || self.state.stale.differing_words().may_have(word)
    }

    /// Every symbol with this search word that has former versions or that disk contradicts.
    #[must_use]
    pub fn outdated_symbols(&self, word: NameHash) -> Vec<EntityId> {
        let stale = &self.state.stale;
        let differing = stale.differing_words().with_word(word);
        let diverged = differing.filter(|entity| stale.divergence(entity).is_some());
        let superseded = self.state.state_map.superseded_words().with_word(word);
        superseded.chain(diverged).cloned().collect()
    }
}

/// Versions that wait for promotion, oldest first.
impl StateView<'_> {
    /// The models' open proposals of a session.
    #[must_use]
    pub fn proposals_in(&self, session: SessionId) -> Vec<Proposal> {
        self.state
            .proposals
            .iter()
            .filter(|proposed| proposed.session == session && proposed.origin == Origin::Model)
            .map(open_proposal)
            .collect()
    }

    /// Open proposals for an entity.
    #[must_use]
    pub fn proposals_for(&self, entity: &EntityId) -> Vec<Proposal> {
        self.state
            .proposals
            .for_entity(entity)
            .map(open_proposal)
            .collect()
    }

    /// Open proposals for anything in a file.
    #[must_use]
    pub fn proposals_under(&self, path: &RelPath) -> Vec<Proposal> {
        self.state
            .proposals
            .under_path(path)
            .map(open_proposal)
            .collect()
    }
}

/// The workspace as last observed.
impl StateView<'_> {
    /// The last observation of the path.
    #[must_use]
    pub fn disk_finding(&self, path: &RelPath) -> Option<&DiskFinding> {
        self.state.disk.finding(path)
    }

    /// Whether the path has held the same since before the Vault held these bytes.
    #[must_use]
    pub fn disk_unchanged_since(&self, path: &RelPath, content: ArtifactHash) -> bool {
        let recorded = self.location(content).map(|location| location.seq);
        let seen = self.state.disk.seen_since(path);
        seen.zip(recorded)
            .is_some_and(|(seen, recorded)| seen < recorded)
    }

    /// The divergence of disk from the entity, if there is one.
    #[must_use]
    pub fn divergence(&self, entity: &EntityId) -> Option<Divergence> {
        self.state.stale.divergence(entity)
    }
}

/// Bytes by their hash.
impl StateView<'_> {
    /// Whether the Vault holds these bytes.
    #[must_use]
    pub fn vault_holds(&self, artifact: ArtifactHash) -> bool {
        self.location(artifact).is_some()
    }

    /// Whether the Vault holds these bytes as a message, not only as code or a reply with the same bytes.
    #[must_use]
    pub fn vault_holds_message(&self, text: ArtifactHash) -> bool {
        let location = self.location(text);
        location.is_some_and(|location| location.kind == ContentKind::Message)
    }

    /// The bytes at an address of the Vault; `None` if it doesn't hold them.
    #[must_use]
    pub fn artifact_content(&self, artifact: ArtifactHash) -> Option<Vec<u8>> {
        self.with_content(artifact, <[u8]>::to_vec)
    }

    /// These spans of an artifact, joined as [`tslp_core::slice::joined`] does, without a copy of the rest.
    #[must_use]
    pub fn artifact_slices(&self, artifact: ArtifactHash, spans: &[Span]) -> Option<Vec<u8>> {
        self.with_content(artifact, |bytes| slice::joined(bytes, spans))
    }
}

/// Sessions, their prompts and replies, and what they showed to the model.
impl StateView<'_> {
    /// The id that the next episode gets.
    #[must_use]
    pub fn next_episode(&self) -> EpisodeId {
        self.state.counters.last_episode().next()
    }

    /// The id that the next new session gets.
    #[must_use]
    pub fn next_session(&self) -> SessionId {
        self.state.counters.last_session().next()
    }

    /// The session with this name, which a client gave it.
    #[must_use]
    pub fn session_named(&self, name: &str) -> Option<SessionId> {
        self.state.sessions.session_named(name)
    }

    /// The session that reached this conversation after a completed reply.
    #[must_use]
    pub fn session_at(&self, transcript: TranscriptHash) -> Option<SessionPoint> {
        self.state.sessions.session_at(transcript)
    }

    /// The session at whose head the last prompt and reply are these (see [`TranscriptHash::of_exchange`]).
    #[must_use]
    pub fn session_with_tail(&self, tail: TranscriptHash) -> Option<SessionId> {
        self.state.sessions.with_tail(tail)
    }

    /// The session whose last reply this is, and its last exchange.
    #[must_use]
    pub fn session_with_reply(&self, reply: MessageKey) -> Option<(SessionId, Exchange)> {
        self.state.sessions.with_reply(reply)
    }

    /// The session of an episode that is among the recent ones.
    #[must_use]
    pub fn session_of_episode(&self, episode: EpisodeId) -> Option<SessionId> {
        self.state.sessions.of(episode)
    }

    /// The open prompt whose conversation this is.
    #[must_use]
    pub fn open_prompt(&self, transcript: TranscriptHash) -> Option<OpenPrompt> {
        self.state.sessions.open_prompt(transcript)
    }

    /// The session whose last prompt this conversation is.
    #[must_use]
    pub fn last_prompt(&self, transcript: TranscriptHash) -> Option<LastPrompt> {
        self.state.sessions.last_prompt(transcript)
    }

    /// Episodes whose reply's end isn't on record.
    #[must_use]
    pub fn episodes_in_flight(&self) -> Vec<EpisodeId> {
        self.state.sessions.in_flight()
    }

    /// Whether this text was the session's prompt before, as the last of `length` messages.
    #[must_use]
    pub fn was_prompted(&self, session: SessionId, length: u32, text: ArtifactHash) -> bool {
        self.state.sessions.was_prompted(session, length, text)
    }

    /// Whether the session consists of single user prompts and replies, without the client's own context.
    #[must_use]
    pub fn is_plain_session(&self, session: SessionId) -> bool {
        self.state.sessions.is_plain(session)
    }

    /// The session's latest episode.
    #[must_use]
    pub fn latest_episode(&self, session: SessionId) -> Option<EpisodeId> {
        self.state.sessions.latest_episode(session)
    }

    /// The turn before the session's open prompt, which must not be composed yet.
    #[must_use]
    pub fn previous_turn(&self, session: SessionId) -> Option<PreviousTurn> {
        self.state.sessions.turn_before(session)
    }

    /// The last completed exchanges, oldest first, at most [`tslp_core::limits::RECENT_PAIRS`].
    #[must_use]
    pub fn recent_exchanges(&self, session: SessionId) -> Vec<Exchange> {
        self.state.sessions.recent_exchanges(session)
    }

    /// The position of an episode's reply in the session's conversation, as the number of messages up to it; `None` if it
    /// belongs to another conversation. For an episode that isn't over, the position of its prompt.
    #[must_use]
    pub fn reply_position(&self, session: SessionId, episode: EpisodeId) -> Option<u32> {
        self.state.sessions.reply_position(session, episode)
    }

    /// Files for which the session's last complete reply was refused.
    #[must_use]
    pub fn refused_files(&self, session: SessionId) -> Vec<RelPath> {
        self.state.sessions.refused_files(session)
    }

    /// Entities in the order in which the session first hydrated them.
    #[must_use]
    pub fn hydration_order(&self, session: SessionId) -> Vec<EntityId> {
        self.state.sessions.hydration_order(session)
    }

    /// The version of an entity that the model was shown in this episode's prompt.
    #[must_use]
    pub fn version_shown(&self, episode: EpisodeId, entity: &EntityId) -> Option<VersionId> {
        self.state.sessions.version_shown(episode, entity)
    }

    /// The version of an entity that the session's model was shown last.
    #[must_use]
    pub fn version_last_shown(&self, session: SessionId, entity: &EntityId) -> Option<VersionId> {
        self.state.sessions.last_shown(session, entity)
    }

    /// Notices that the model hasn't been given yet, oldest first.
    #[must_use]
    pub fn pending_notices(&self, session: SessionId) -> Vec<PendingNotice> {
        self.state.sessions.pending_notices(session)
    }

    /// The changes to the session's messages.
    #[must_use]
    pub fn amendments(&self, session: SessionId) -> Amendments {
        self.state.sessions.amendments(session)
    }

    /// The versions in an unanswered shadow audit of this episode.
    #[must_use]
    pub fn audit_under_way(&self, episode: EpisodeId) -> Option<Vec<Audited>> {
        self.state.audits.under_way(episode)
    }
}

/// The Guardian's sessions and the calls of tools.
impl StateView<'_> {
    /// What is known of a session's tools.
    #[must_use]
    pub fn tool_session(&self, session: SessionId) -> ToolSession {
        self.state.guardian.tool_session(session)
    }

    /// A call of the last episodes that made any.
    #[must_use]
    pub fn tool_call(&self, call: CallId) -> Option<ToolCallRow> {
        self.state.guardian.tool_call(call)
    }

    /// All calls of an episode that is among the last ones that made any.
    #[must_use]
    pub fn tool_calls_of(&self, episode: EpisodeId) -> Vec<ToolCallRow> {
        self.state.guardian.calls_of(episode)
    }

    /// Calls that may run and whose result isn't known.
    #[must_use]
    pub fn tool_calls_under_way(&self) -> Vec<CallId> {
        self.state.guardian.under_way()
    }
}

impl StateView<'_> {
    /// As [`tslp_core::sources::Sources::is_current`], of what is settled, too. What can't be looked up is taken
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
            // The store may be ahead: what is recorded after this state's head must not change its decisions, or replay differs.
            settled.filter(|location| location.seq <= self.state.head)
        })
    }

    /// The content event in which an artifact's bytes stand, and where in it.
    fn resolved(&self, artifact: ArtifactHash) -> Option<(Seq, Range<usize>)> {
        let mut location = self.location(artifact)?;
        debug_assert!(location.start <= location.end, "a location is a range");
        // Code in a message in a container: each level moves the range. The limit keeps a damaged index from going in a circle.
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

fn open_proposal(proposed: &ProposedVersion) -> Proposal {
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
