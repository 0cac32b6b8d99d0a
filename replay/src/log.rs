//! The interface of a ledger store, without any store's own types, so that another log can replace SQLite.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::{ControlFlow, Deref};

use tslp_core::event::{Envelope, Event, Recorded};
use tslp_core::ids::Seq;

use crate::chain::ChainHash;

/// An event as a store holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Where and when.
    pub envelope: Envelope,
    /// The number of its kind and layout.
    pub kind: u32,
    /// The encoded event.
    pub payload: Vec<u8>,
    /// The chain's hash up to and including this event.
    pub chain: ChainHash,
}

impl Stored {
    /// An encoded event after the one with this chain hash.
    #[must_use]
    pub fn after(before: ChainHash, envelope: Envelope, kind: u32, payload: Vec<u8>) -> Self {
        Self {
            chain: before.extended(&envelope, kind, &payload),
            envelope,
            kind,
            payload,
        }
    }

    /// With the event that its payload was decoded to.
    #[must_use]
    pub const fn recorded(&self, event: Event) -> Recorded {
        Recorded {
            envelope: self.envelope,
            event,
        }
    }
}

impl Deref for Stored {
    type Target = Envelope;

    fn deref(&self) -> &Envelope {
        &self.envelope
    }
}

/// The end of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The last event's position; `Seq(0)` if there is none.
    pub seq: Seq,
    /// The last event's chain hash; the genesis value if there is none.
    pub chain: ChainHash,
}

/// Why an append didn't happen, or may not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppendError {
    /// The ledger has moved on; nothing was appended.
    Conflict(Head),
    /// The store failed in a way that leaves open what is on disk: reopen and read the head before going on.
    Unknown(String),
}

/// An append-only, hash-chained log of events.
pub trait Log {
    /// The store's own error.
    type Error;

    /// The durable head.
    ///
    /// # Errors
    /// When the store can't be read.
    fn head(&self) -> Result<Head, Self::Error>;

    /// Hands every event from `from` on, in order, to `visit` until it breaks.
    ///
    /// # Errors
    /// When the store can't be read.
    fn read(
        &self,
        from: Seq,
        visit: &mut dyn FnMut(Stored) -> ControlFlow<()>,
    ) -> Result<(), Self::Error>;

    /// Appends a batch durably, all or nothing, if the head is still `expected`.
    ///
    /// # Errors
    /// See [`AppendError`].
    fn append(&mut self, expected: Seq, batch: &[Stored]) -> Result<Head, AppendError>;
}
