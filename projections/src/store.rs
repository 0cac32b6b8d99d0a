//! Access to what grows with history, and which a state therefore doesn't hold: content events' bytes, and archive rows.

use alloc::sync::Arc;

use crate::vault::VaultLocation;
use tslp_core::event::RecordChanged;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::Seq;

/// The ledger's store, as decisions ask it. It may be ahead of the state that asks: answers name the event that they
/// come from, and what the state doesn't know yet doesn't count.
pub trait Store {
    /// The store that is asked for what this one doesn't supply itself; without one, that is nothing.
    fn inner(&self) -> Option<&dyn Store> {
        None
    }

    /// The last event whose archive rows it supplies, and those of all before. The state has to keep those of later events.
    fn archived(&self) -> Seq {
        self.inner().map_or(Seq(0), |inner| inner.archived())
    }

    /// The bytes of the content event at `seq`; `None` if there is no such event or it can't be read.
    fn content(&self, seq: Seq) -> Option<Arc<[u8]>> {
        self.inner()?.content(seq)
    }

    /// The record that the event at `seq` says; `None` if there is no such event or it can't be read.
    fn record(&self, seq: Seq) -> Option<Arc<RecordChanged>> {
        self.inner()?.record(seq)
    }

    /// The location of an artifact's bytes; `None` if it was never recorded.
    ///
    /// # Errors
    /// When the store can't be read.
    fn location(&self, artifact: ArtifactHash) -> Result<Option<VaultLocation>, Unreadable> {
        self.inner()
            .map_or(Ok(None), |inner| inner.location(artifact))
    }

    /// By which event nothing that was promoted out of an artifact was authoritative any more, for the first time.
    ///
    /// # Errors
    /// When the store can't be read.
    fn outdated_since(&self, artifact: ArtifactHash) -> Result<Option<Seq>, Unreadable> {
        self.inner()
            .map_or(Ok(None), |inner| inner.outdated_since(artifact))
    }

    /// The artifact that the edit with this text produced when it last applied, up to the event `until`.
    ///
    /// # Errors
    /// When the store can't be read.
    fn made_by(&self, text: ArtifactHash, until: Seq) -> Result<Option<ArtifactHash>, Unreadable> {
        self.inner()
            .map_or(Ok(None), |inner| inner.made_by(text, until))
    }
}

/// The store can't be read; it has said why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// A store that holds nothing, for an engine that keeps all that it has decided.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyStore;

impl Store for EmptyStore {}

/// A store that isn't there yet holds nothing.
impl<S: Store> Store for Option<S> {
    fn inner(&self) -> Option<&dyn Store> {
        self.as_ref().map(|store| store as &dyn Store)
    }
}
