//! A state as decisions read it.

use alloc::vec::Vec;
use core::ops::Range;

use tslp_core::artifact::Origin;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{Audited, CallId, ContentKind, DiskFinding};
use tslp_core::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use tslp_core::ids::{CaptureId, EpisodeId, Seq, SessionId, VersionId};
use tslp_core::limits::CONTAINERS_FOLLOWED_MAX;
use tslp_core::name_hash::{NameHash, NamedPath};
use tslp_core::path::RelPath;
use tslp_core::slice::{self, Span};
use tslp_core::view::{
    Amendments, Conversations, CurrentVersion, Disk, Divergence, Exchange, FormerVersion,
    LastPrompt, OpenPrompt, PendingNotice, PreviousTurn, Proposal, Proposals, RecordedCall,
    SessionPoint, ToolRecords, ToolSession, Truth, Vault,
};
use tslp_projections::proposals::ProposedVersion;
use tslp_projections::vault::VaultLocation;

use super::State;
use crate::store::{Store, Unreadable};
/// A state together with what it doesn't hold itself.
pub struct StateView<'s> {
    /// The projections.
    pub state: &'s State,
    /// Bytes, and what is settled.
    pub store: &'s dyn Store,
}

impl Truth for StateView<'_> {
    fn next_capture(&self) -> CaptureId {
        self.state.counters.last_capture().next()
    }

    fn next_version(&self) -> VersionId {
        self.state.counters.last_version().next()
    }

    fn current_version(&self, entity: &EntityId) -> Option<CurrentVersion> {
        self.state.state_map.current(entity)
    }

    fn former_versions(&self, entity: &EntityId) -> Vec<FormerVersion> {
        self.state.state_map.former_versions(entity).to_vec()
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

    fn user_decided_since(&self, entity: &EntityId, content: ArtifactHash) -> bool {
        let recorded = self.location(content).map(|location| location.seq);
        let settled = self.state.state_map.decided_by_user(entity);
        settled
            .zip(recorded)
            .is_some_and(|(settled, recorded)| recorded < settled)
    }

    fn is_tombstoned(&self, entity: &EntityId) -> bool {
        self.state.tombstones.contains(entity)
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

    fn symbols_of(&self, path: &RelPath) -> Vec<Symbol> {
        self.state.state_map.symbols_of(path)
    }

    fn tracks_file(&self, path: &RelPath) -> bool {
        self.state.state_map.tracks(path)
    }

    fn files_named(&self, basename: &str, limit: usize) -> Vec<RelPath> {
        self.state.state_map.files_named(basename, limit)
    }

    fn file_meant_by(&self, named: NamedPath) -> Option<RelPath> {
        self.state.state_map.file_meant(named)
    }

    fn case_twin(&self, path: &RelPath) -> Option<RelPath> {
        self.state.state_map.case_twin(path)
    }

    fn entities_named(&self, name: &str, limit: usize) -> Vec<EntityId> {
        self.state.state_map.entities_named(name, limit)
    }

    fn code_last_changed(&self) -> Seq {
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
}

impl Proposals for StateView<'_> {
    fn proposals_in(&self, session: SessionId) -> Vec<Proposal> {
        self.state
            .proposals
            .iter()
            .filter(|proposed| proposed.session == session && proposed.origin == Origin::Model)
            .map(open_proposal)
            .collect()
    }

    fn proposals_for(&self, entity: &EntityId) -> Vec<Proposal> {
        self.state
            .proposals
            .for_entity(entity)
            .map(open_proposal)
            .collect()
    }

    fn proposals_under(&self, path: &RelPath) -> Vec<Proposal> {
        self.state
            .proposals
            .under_path(path)
            .map(open_proposal)
            .collect()
    }
}

impl Disk for StateView<'_> {
    fn disk_finding(&self, path: &RelPath) -> Option<&DiskFinding> {
        self.state.disk.finding(path)
    }

    fn disk_unchanged_since(&self, path: &RelPath, content: ArtifactHash) -> bool {
        let recorded = self.location(content).map(|location| location.seq);
        let seen = self.state.disk.seen_since(path);
        seen.zip(recorded)
            .is_some_and(|(seen, recorded)| seen < recorded)
    }

    fn divergence(&self, entity: &EntityId) -> Option<Divergence> {
        self.state.stale.divergence(entity)
    }
}

impl Vault for StateView<'_> {
    fn vault_holds(&self, artifact: ArtifactHash) -> bool {
        self.location(artifact).is_some()
    }

    fn vault_holds_message(&self, text: ArtifactHash) -> bool {
        let location = self.location(text);
        location.is_some_and(|location| location.kind == ContentKind::Message)
    }

    fn artifact_content(&self, artifact: ArtifactHash) -> Option<Vec<u8>> {
        self.with_content(artifact, <[u8]>::to_vec)
    }

    fn artifact_slices(&self, artifact: ArtifactHash, spans: &[Span]) -> Option<Vec<u8>> {
        self.with_content(artifact, |bytes| slice::joined(bytes, spans))
    }
}

impl Conversations for StateView<'_> {
    fn next_episode(&self) -> EpisodeId {
        self.state.counters.last_episode().next()
    }

    fn next_session(&self) -> SessionId {
        self.state.counters.last_session().next()
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

    fn session_of_episode(&self, episode: EpisodeId) -> Option<SessionId> {
        self.state.sessions.of(episode)
    }

    fn open_prompt(&self, transcript: TranscriptHash) -> Option<OpenPrompt> {
        self.state.sessions.open_prompt(transcript)
    }

    fn last_prompt(&self, transcript: TranscriptHash) -> Option<LastPrompt> {
        self.state.sessions.last_prompt(transcript)
    }

    fn episodes_in_flight(&self) -> Vec<EpisodeId> {
        self.state.sessions.in_flight()
    }

    fn was_prompted(&self, session: SessionId, length: u32, text: ArtifactHash) -> bool {
        self.state.sessions.was_prompted(session, length, text)
    }

    fn is_plain_session(&self, session: SessionId) -> bool {
        self.state.sessions.is_plain(session)
    }

    fn latest_episode(&self, session: SessionId) -> Option<EpisodeId> {
        self.state.sessions.latest_episode(session)
    }

    fn previous_turn(&self, session: SessionId) -> Option<PreviousTurn> {
        self.state.sessions.turn_before(session)
    }

    fn recent_exchanges(&self, session: SessionId) -> Vec<Exchange> {
        self.state.sessions.recent_exchanges(session)
    }

    fn reply_position(&self, session: SessionId, episode: EpisodeId) -> Option<u32> {
        self.state.sessions.reply_position(session, episode)
    }

    fn refused_files(&self, session: SessionId) -> Vec<RelPath> {
        self.state.sessions.refused_files(session)
    }

    fn hydration_order(&self, session: SessionId) -> Vec<EntityId> {
        self.state.sessions.hydration_order(session)
    }

    fn version_shown(&self, episode: EpisodeId, entity: &EntityId) -> Option<VersionId> {
        self.state.sessions.version_shown(episode, entity)
    }

    fn version_last_shown(&self, session: SessionId, entity: &EntityId) -> Option<VersionId> {
        self.state.sessions.last_shown(session, entity)
    }

    fn pending_notices(&self, session: SessionId) -> Vec<PendingNotice> {
        self.state.sessions.pending_notices(session)
    }

    fn amendments(&self, session: SessionId) -> Amendments {
        self.state.sessions.amendments(session)
    }

    fn audit_under_way(&self, episode: EpisodeId) -> Option<Vec<Audited>> {
        self.state.audits.under_way(episode)
    }
}

impl ToolRecords for StateView<'_> {
    fn tool_session(&self, session: SessionId) -> ToolSession {
        self.state.guardian.tool_session(session)
    }

    fn tool_call(&self, call: CallId) -> Option<RecordedCall> {
        self.state.guardian.tool_call(call)
    }

    fn tool_calls_of(&self, episode: EpisodeId) -> Vec<RecordedCall> {
        self.state.guardian.calls_of(episode)
    }

    fn tool_calls_under_way(&self) -> Vec<CallId> {
        self.state.guardian.under_way()
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
