//! Events as a store holds them.

use alloc::vec::Vec;
use core::ops::Deref;

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
