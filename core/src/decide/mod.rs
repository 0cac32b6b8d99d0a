//! Decisions: pure functions from the state and an observation to the events that follow.
//!
//! One prompt goes through [`receive`] → [`observe`] → [`write_head`] → [`compose`]; one reply through [`reply`] →
//! [`observe`] → [`propose`]. What each returns is appended and folded before the next one looks at the state.

pub mod audit;
pub mod compose;
pub mod direct;
pub mod found_code;
pub mod found_edit;
pub mod namesakes;
pub mod observe;
pub mod promote;
pub mod propose;
pub mod receive;
pub mod rename;
pub mod reply;
pub mod resolve;
pub mod verify;
pub mod write_head;

use alloc::collections::BTreeSet;
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
}

impl<'v> Recorder<'v> {
    /// Starts with nothing.
    #[must_use]
    pub fn new(view: &'v dyn View) -> Self {
        Self {
            view,
            events: Vec::new(),
            stored: BTreeSet::new(),
        }
    }

    /// Adds an event.
    pub fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Makes sure that the Vault holds `bytes`, and names them.
    pub fn store(&mut self, kind: ContentKind, bytes: &[u8]) -> ArtifactHash {
        let hash = ArtifactHash::of(bytes);
        if !self.view.holds(hash) && self.stored.insert(hash) {
            self.events.push(Event::Content(Content {
                hash,
                kind,
                bytes: bytes.to_vec(),
            }));
        }
        hash
    }

    /// What is authoritative of an entity once the events so far have happened.
    #[must_use]
    pub fn standing(&self, entity: &EntityId) -> Option<VersionId> {
        let moved = self
            .transitions()
            .rfind(|moved| moved.entity == *entity && moved.transition != Transition::Discard);
        match moved {
            Some(moved) => (moved.transition == Transition::Promote).then_some(moved.version),
            None => self.view.current(entity).map(|current| current.version),
        }
    }

    /// Whether the events so far have moved the version.
    #[must_use]
    pub fn has_moved(&self, version: VersionId) -> bool {
        self.transitions().any(|moved| moved.version == version)
    }

    fn transitions(&self) -> impl DoubleEndedIterator<Item = &Transitioned> {
        self.events.iter().filter_map(|event| match event {
            Event::Transitioned(moved) => Some(moved),
            _ => None,
        })
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
