//! Access to what grows with history, and which a state therefore doesn't hold: content events' bytes, and archive rows.

use alloc::sync::Arc;

use crate::vault::VaultLocation;
use tslp_core::event::RecordChanged;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::Seq;

/// The ledger's store, as decisions ask it. It may be ahead of the state that asks: answers name the event that they
/// come from, and what the state doesn't know yet doesn't count.
pub trait Store {
    /// Whether it supplies archive rows. If it doesn't, the state has to keep them.
    fn has_archives(&self) -> bool;

    /// The bytes of the content event at `seq`; `None` if there is no such event or it can't be read.
    fn content(&self, seq: Seq) -> Option<Arc<[u8]>>;

    /// The record that the event at `seq` says; `None` if there is no such event or it can't be read.
    fn record(&self, seq: Seq) -> Option<Arc<RecordChanged>>;

    /// The location of an artifact's bytes; `None` if it was never recorded.
    ///
    /// # Errors
    /// When the store can't be read.
    fn location(&self, artifact: ArtifactHash) -> Result<Option<VaultLocation>, Unreadable>;

    /// By which event nothing that was promoted out of an artifact was authoritative any more, for the first time.
    ///
    /// # Errors
    /// When the store can't be read.
    fn outdated_since(&self, artifact: ArtifactHash) -> Result<Option<Seq>, Unreadable>;

    /// The artifact that the edit with this text produced when it last applied, up to the event `until`.
    ///
    /// # Errors
    /// When the store can't be read.
    fn made_by(&self, text: ArtifactHash, until: Seq) -> Result<Option<ArtifactHash>, Unreadable>;
}

/// The store can't be read; it has said why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// A store that holds nothing, for an engine that keeps all that it has decided.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyStore;

impl Store for EmptyStore {
    fn has_archives(&self) -> bool {
        false
    }

    fn content(&self, _: Seq) -> Option<Arc<[u8]>> {
        None
    }

    fn record(&self, _: Seq) -> Option<Arc<RecordChanged>> {
        None
    }

    fn location(&self, _: ArtifactHash) -> Result<Option<VaultLocation>, Unreadable> {
        Ok(None)
    }

    fn outdated_since(&self, _: ArtifactHash) -> Result<Option<Seq>, Unreadable> {
        Ok(None)
    }

    fn made_by(&self, _: ArtifactHash, _: Seq) -> Result<Option<ArtifactHash>, Unreadable> {
        Ok(None)
    }
}

/// A store that isn't there yet holds nothing.
impl<S: Store> Store for Option<S> {
    fn has_archives(&self) -> bool {
        self.as_ref().is_some_and(S::has_archives)
    }

    fn content(&self, seq: Seq) -> Option<Arc<[u8]>> {
        self.as_ref()?.content(seq)
    }

    fn record(&self, seq: Seq) -> Option<Arc<RecordChanged>> {
        self.as_ref()?.record(seq)
    }

    fn location(&self, artifact: ArtifactHash) -> Result<Option<VaultLocation>, Unreadable> {
        self.as_ref()
            .map_or(Ok(None), |store| store.location(artifact))
    }

    fn outdated_since(&self, artifact: ArtifactHash) -> Result<Option<Seq>, Unreadable> {
        self.as_ref()
            .map_or(Ok(None), |store| store.outdated_since(artifact))
    }

    fn made_by(&self, text: ArtifactHash, until: Seq) -> Result<Option<ArtifactHash>, Unreadable> {
        self.as_ref()
            .map_or(Ok(None), |store| store.made_by(text, until))
    }
}
