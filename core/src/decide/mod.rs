//! Decisions: pure functions from the state and an observation to the events that follow.
//!
//! One prompt goes through [`receive`] → [`observe`] → [`write_head`] → [`compose`]; one reply through [`reply`] →
//! [`observe`] → [`propose`]. What each returns is appended and folded before the next one looks at the state.

mod asked_change;
pub mod audit;
pub mod compose;
pub mod direct;
pub mod found_code;
pub mod found_edit;
pub mod hydrate;
pub mod lost;
pub mod namesakes;
pub mod observe;
pub mod promote;
pub mod propose;
pub mod receive;
pub mod rename;
pub mod repeat;
pub mod reply;
pub mod resolve;
pub mod sent;
pub mod side_request;
pub mod sight;
pub mod tools;
pub mod touch;
pub mod unfenced;
pub mod verify;
pub mod write_head;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::artifact::Transition;
use crate::entity::EntityId;
use crate::event::{Content, ContentKind, Event, Transitioned};
use crate::hash::{ArtifactHash, MessageKey, TranscriptHash};
use crate::ids::VersionId;
use crate::view::View;

/// Collects the events of one decision; content that the Vault holds is not repeated.
pub struct Recorder<'v> {
    view: &'v dyn View,
    events: Vec<Event>,
    stored: BTreeSet<ArtifactHash>,
    moved: BTreeSet<VersionId>,
    /// What the events so far leave authoritative of the entities that they move.
    standing: BTreeMap<EntityId, Option<VersionId>>,
}

impl<'v> Recorder<'v> {
    /// Starts with nothing.
    #[must_use]
    pub fn new(view: &'v dyn View) -> Self {
        Self {
            view,
            events: Vec::new(),
            stored: BTreeSet::new(),
            moved: BTreeSet::new(),
            standing: BTreeMap::new(),
        }
    }

    /// Adds an event.
    pub fn push(&mut self, event: Event) {
        if let Event::Transitioned(moved) = &event {
            self.note(moved);
        }
        self.events.push(event);
    }

    /// Makes sure that the Vault holds `bytes`, and names them.
    pub fn store(&mut self, kind: ContentKind, bytes: &[u8]) -> ArtifactHash {
        let hash = ArtifactHash::of(bytes);
        self.store_as(hash, kind, bytes);
        hash
    }

    /// Makes sure that the Vault holds `bytes`, whose address is known.
    pub fn store_as(&mut self, hash: ArtifactHash, kind: ContentKind, bytes: impl Into<Arc<[u8]>>) {
        if !self.view.holds(hash) && self.stored.insert(hash) {
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

    /// What is authoritative of an entity once the events so far have happened.
    #[must_use]
    pub fn standing(&self, entity: &EntityId) -> Option<VersionId> {
        match self.standing.get(entity) {
            Some(standing) => *standing,
            None => self.view.current(entity).map(|current| current.version),
        }
    }

    /// Whether the events so far have moved the version.
    #[must_use]
    pub fn has_moved(&self, version: VersionId) -> bool {
        self.moved.contains(&version)
    }

    fn note(&mut self, moved: &Transitioned) {
        self.moved.insert(moved.version);
        let standing = match moved.transition {
            Transition::Discard => return,
            Transition::Promote => Some(moved.version),
            Transition::Supersede | Transition::Remove => None,
        };
        self.standing.insert(moved.entity.clone(), standing);
    }

    /// What was collected so far.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// What was collected.
    #[must_use]
    pub fn into_events(self) -> Vec<Event> {
        self.events
    }
}

/// A prompt and its reply, for recognising a session whose client rewrites what comes before them.
#[must_use]
pub fn tail_of(user: MessageKey, reply: MessageKey) -> TranscriptHash {
    TranscriptHash::EMPTY.extended(user).extended(reply)
}
