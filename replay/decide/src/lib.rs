//! Decisions: pure functions from the state and an observation to the events that follow.
//!
//! One prompt goes through [`prompt::receive`] → [`observe`] → [`user::write_head`] → [`prompt::compose`]; one reply through
//! [`judge::reply`] → [`observe`] → [`judge::propose`]. [`user::direct`] carries out directives, [`scope::touch`] finds the files
//! that a tool call concerns, [`judge::verify`] and [`judge::audit`] grant what was refused. What each returns is appended and
//! folded before the next one looks at the state.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod code_reader;
pub mod judge;
pub mod observe;
pub mod prompt;
pub mod scope;
pub mod user;
pub mod wording;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use tslp_projections::state::StateView;

use tslp_core::artifact::Transition;
use tslp_core::entity::EntityId;
use tslp_core::event::{Content, ContentKind, Event, NoticeIssued, Transitioned};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, SessionId, VersionId};
use tslp_core::reason::Reason;

/// Collects the events of one decision; content that the Vault holds is not repeated.
pub struct Recorder<'v> {
    view: &'v StateView<'v>,
    events: Vec<Event>,
    stored: BTreeSet<ArtifactHash>,
    moved: BTreeSet<VersionId>,
    /// The authoritative version of each entity that the events so far move; `None` where they leave it without one.
    current_versions: BTreeMap<EntityId, Option<VersionId>>,
}

impl<'v> Recorder<'v> {
    /// A recorder without events.
    #[must_use]
    pub fn new(view: &'v StateView<'v>) -> Self {
        Self {
            view,
            events: Vec::new(),
            stored: BTreeSet::new(),
            moved: BTreeSet::new(),
            current_versions: BTreeMap::new(),
        }
    }

    /// Adds an event.
    pub fn push(&mut self, event: Event) {
        if let Event::Transitioned(moved) = &event {
            self.note_transition(moved);
        }
        self.events.push(event);
    }

    /// Adds a notice about one entity, or none.
    pub fn notify(
        &mut self,
        ids: (EpisodeId, SessionId),
        reason: Reason,
        entity: impl Into<Option<EntityId>>,
    ) {
        self.push(Event::NoticeIssued(NoticeIssued::new(ids, reason, entity)));
    }

    /// Makes sure that the Vault holds `bytes`, and returns their address.
    pub fn store(&mut self, kind: ContentKind, bytes: &[u8]) -> ArtifactHash {
        let hash = ArtifactHash::of(bytes);
        self.store_as(hash, kind, bytes);
        hash
    }

    /// Makes sure that the Vault holds `bytes`, whose address is known.
    pub fn store_as(&mut self, hash: ArtifactHash, kind: ContentKind, bytes: impl Into<Arc<[u8]>>) {
        if !self.view.vault_holds(hash) && self.stored.insert(hash) {
            let bytes = bytes.into();
            debug_assert_eq!(
                hash,
                ArtifactHash::of(&bytes),
                "an address is its bytes' hash"
            );
            self.events
                .push(Event::Content(Content { hash, kind, bytes }));
        }
    }

    /// The entity's authoritative version once the events so far have happened.
    #[must_use]
    pub fn current_version_id(&self, entity: &EntityId) -> Option<VersionId> {
        match self.current_versions.get(entity) {
            Some(version) => *version,
            None => self
                .view
                .current_version(entity)
                .map(|current| current.version),
        }
    }

    /// Whether the events so far have moved the version.
    #[must_use]
    pub fn has_moved(&self, version: VersionId) -> bool {
        self.moved.contains(&version)
    }

    /// Checks each arrow of the state machine before it is appended: a fold can only note afterwards that it makes no sense.
    fn note_transition(&mut self, moved: &Transitioned) {
        let before = self.current_version_id(&moved.entity);
        self.moved.insert(moved.version);
        let current = match moved.transition {
            Transition::Discard => {
                debug_assert_ne!(before, Some(moved.version), "what is true isn't discarded");
                return;
            }
            Transition::Promote => {
                debug_assert_eq!(before, None, "one version of an entity is true at a time");
                debug_assert!(moved.report.is_some(), "a promotion says by which rules");
                Some(moved.version)
            }
            Transition::Supersede | Transition::Remove => {
                debug_assert_eq!(before, Some(moved.version), "only what is true retires");
                None
            }
        };
        self.current_versions.insert(moved.entity.clone(), current);
    }

    /// The events collected so far.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The collected events, in the order in which they are to be appended.
    #[must_use]
    pub fn into_events(self) -> Vec<Event> {
        self.events
    }
}
