//! A state as decisions read it.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::disk::LastFinding;
use crate::file_code::TrueEntity;
use crate::proposals::Proposal;
use crate::records::RecordEntry;
use crate::stale::Divergence;
use crate::state_map::FormerVersion;
use crate::vault::VaultLocation;
use tslp_core::artifact::Origin;
use tslp_core::entity::EntityId;
use tslp_core::event::{Audited, ContentKind, FileAuthor, RecordChanged};
use tslp_core::gate::GateReport;
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::{CaptureId, EpisodeId, Seq, SessionId, VersionId};
use tslp_core::limits::CONTAINERS_FOLLOWED_MAX;
use tslp_core::name_hash::NameHash;
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
    /// Whether a reply is judged that isn't over on record: then what the user said last is the prompt that it answers.
    pub is_of_draft: bool,
}

/// What is kept for the project.
impl StateView<'_> {
    /// What a record says; `None` if its event can't be read.
    #[must_use]
    pub fn record(&self, entry: &RecordEntry) -> Option<Arc<RecordChanged>> {
        self.store.record(entry.seq)
    }
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
    pub fn current_version(&self, entity: &EntityId) -> Option<TrueEntity> {
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

    /// The event that last changed the truth or the known state of disk. While it is the same,
    /// [`Self::current_version`], [`Self::former_versions`], [`Self::may_be_outdated`], [`Self::outdated_symbols`] and
    /// [`StateMap::entities_named`](crate::state_map::StateMap::entities_named) return the same.
    #[must_use]
    pub fn code_last_changed(&self) -> Seq {
        self.state.code_changed
    }

    /// What the model proposed for an entity before disk contradicted its base, or the user gave the same code, oldest first.
    #[must_use]
    pub fn ended_proposals(&self, entity: &EntityId) -> Vec<Proposal> {
        let ended = self.state.proposals.ended_for(entity);
        ended.cloned().collect()
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
    /// The open proposals of a session that aren't the user's.
    #[must_use]
    pub fn proposals_in(&self, session: SessionId) -> Vec<Proposal> {
        self.state
            .proposals
            .iter()
            .filter(|proposed| proposed.session == session && proposed.origin != Origin::User)
            .cloned()
            .collect()
    }

    /// The models' open proposals since an episode that a rule which they failed themselves keeps out.
    #[must_use]
    pub fn refused_since(&self, first: EpisodeId) -> Vec<Proposal> {
        let is_refused = |proposed: &&Proposal| {
            let report = proposed.report.as_ref();
            report.is_some_and(GateReport::refuses)
                && proposed.origin != Origin::User
                && proposed.episode >= first
        };
        let all = self.state.proposals.iter();
        all.filter(is_refused).cloned().collect()
    }

    /// Open proposals for an entity.
    #[must_use]
    pub fn proposals_for(&self, entity: &EntityId) -> Vec<Proposal> {
        self.state.proposals.for_entity(entity).cloned().collect()
    }

    /// Open proposals for anything in a file.
    #[must_use]
    pub fn proposals_under(&self, path: &RelPath) -> Vec<Proposal> {
        self.state.proposals.under_path(path).cloned().collect()
    }
}

/// The workspace as last observed.
impl StateView<'_> {
    /// The last observation of the path, without the slices of its symbols; the State Map has
    /// [them](crate::state_map::StateMap::slice_on_disk).
    #[must_use]
    pub fn disk_finding(&self, path: &RelPath) -> Option<LastFinding<'_>> {
        self.state.disk_finding(path)
    }

    /// Who made the path what it was when it was last looked at.
    #[must_use]
    pub fn disk_author(&self, path: &RelPath) -> FileAuthor {
        self.state.state_map.disk_author(path)
    }

    /// Whether the path has held the same since before the Vault held these bytes.
    #[must_use]
    pub fn disk_unchanged_since(&self, path: &RelPath, content: ArtifactHash) -> bool {
        let recorded = self.location(content).map(|location| location.seq);
        let seen = self.state.state_map.seen_since(path);
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

    /// The text at an address of the Vault; `None` if it doesn't hold it, or it isn't UTF-8.
    #[must_use]
    pub fn text(&self, artifact: ArtifactHash) -> Option<String> {
        String::from_utf8(self.artifact_content(artifact)?).ok()
    }

    /// These spans of an artifact, joined as [`tslp_core::slice::joined`] does, without a copy of the rest.
    #[must_use]
    pub fn artifact_slices(&self, artifact: ArtifactHash, spans: &[Span]) -> Option<Vec<u8>> {
        self.with_content(artifact, |bytes| slice::joined(bytes, spans))
    }
}

/// Sessions and audits.
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

    /// The versions in an unanswered shadow audit of this episode.
    #[must_use]
    pub fn audit_under_way(&self, episode: EpisodeId) -> Option<Vec<Audited>> {
        self.state.audits.under_way(episode)
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

    /// What the edit with this text made when it was last applied.
    #[must_use]
    pub fn made_by(&self, edit: ArtifactHash) -> Option<ArtifactHash> {
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

    /// What `read` makes of an artifact's bytes, without a copy of them; `None` if they aren't on record.
    pub fn with_content<T>(
        &self,
        artifact: ArtifactHash,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Option<T> {
        let (seq, range) = self.resolved(artifact)?;
        self.store.content(seq)?.get(range).map(read)
    }
}
