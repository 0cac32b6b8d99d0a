//! Replay: stored events in, verified link by link, folded into a state. Never parses source, never asks a clock.

use alloc::string::String;

use tslp_core::event::Event;
use tslp_core::ids::Seq;

use crate::chain::ChainHash;
use crate::log::{Head, Stored};
use tslp_projections::state::State;

/// Why a stored event can't be believed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// A position is missing or occurs twice.
    #[error("event {found} follows event {after}: the ledger has a gap or a repetition there")]
    Gap {
        /// The position before.
        after: u64,
        /// The position found.
        found: u64,
    },
    /// The chain's hash doesn't fit.
    #[error("event {0} doesn't fit the hash chain: it, or an event before it, was changed")]
    ChainBroken(u64),
    /// The bytes aren't an event.
    #[error("event {seq} can't be decoded: {reason}")]
    Undecodable {
        /// Its position.
        seq: u64,
        /// The decoder's message.
        reason: String,
    },
}

/// Verifies stored events link by link, from the first one.
#[derive(Clone, Copy, Debug)]
pub struct ChainCheck {
    head: Head,
}

impl Default for ChainCheck {
    fn default() -> Self {
        Self {
            head: Head {
                seq: Seq(0),
                chain: ChainHash::GENESIS,
            },
        }
    }
}

impl ChainCheck {
    /// Goes on from an event that was verified before.
    #[must_use]
    pub const fn from(head: Head) -> Self {
        Self { head }
    }

    /// Verifies that the event follows and fits the chain.
    ///
    /// # Errors
    /// When it doesn't; then nothing has moved.
    pub fn step(&mut self, stored: &Stored) -> Result<(), ReplayError> {
        // Before the hash: after a gap the chain doesn't fit either, and the gap says more.
        if stored.seq != self.head.seq.next() {
            return Err(ReplayError::Gap {
                after: self.head.seq.0,
                found: stored.seq.0,
            });
        }
        let chain = self
            .head
            .chain
            .extended(stored, stored.kind, &stored.payload);
        if chain != stored.chain {
            return Err(ReplayError::ChainBroken(stored.seq.0));
        }
        self.head = Head {
            seq: stored.seq,
            chain,
        };
        Ok(())
    }

    /// As [`ChainCheck::step`], and makes sure that the event can be decoded.
    ///
    /// # Errors
    /// When it doesn't fit or can't be decoded; then nothing has moved.
    pub fn step_decoded<E: core::fmt::Display>(
        &mut self,
        stored: &Stored,
        decode: impl FnOnce(u32, &[u8]) -> Result<Event, E>,
    ) -> Result<Event, ReplayError> {
        // On a copy, so that an event that can't be decoded leaves the check where it was.
        let mut next = *self;
        next.step(stored)?;
        let event =
            decode(stored.kind, &stored.payload).map_err(|error| ReplayError::Undecodable {
                seq: stored.seq.0,
                reason: alloc::format!("{error}"),
            })?;
        *self = next;
        Ok(event)
    }

    /// The last event that was verified.
    #[must_use]
    pub const fn head(&self) -> Head {
        self.head
    }
}

/// Folds stored events in order from the first one.
#[derive(Default)]
pub struct Replay {
    state: State,
    chain: ChainCheck,
}

impl Replay {
    /// Goes on from a state and the chain's hash at its head.
    #[must_use]
    pub const fn from(state: State, chain: ChainHash) -> Self {
        let head = Head {
            seq: state.head(),
            chain,
        };
        Self {
            state,
            chain: ChainCheck::from(head),
        }
    }

    /// Verifies one event's link and folds it. `decode` turns kind and payload into an event.
    ///
    /// # Errors
    /// When the event doesn't follow, doesn't fit the chain, or can't be decoded. The state stays as it was.
    pub fn step<E: core::fmt::Display>(
        &mut self,
        stored: &Stored,
        decode: impl FnOnce(u32, &[u8]) -> Result<Event, E>,
    ) -> Result<(), ReplayError> {
        let event = self.chain.step_decoded(stored, decode)?;
        let recorded = stored.recorded(event);
        self.state.apply(&recorded);
        debug_assert_eq!(
            self.state.head(),
            self.chain.head().seq,
            "what is verified is folded"
        );
        Ok(())
    }

    /// Lets go of what the archives' tables hold of the events so far (see [`State::rows_made_durable`]). Folding goes on without
    /// it.
    pub fn settle(&mut self) {
        self.state.rows_made_durable(self.state.head());
    }

    /// The last event folded, with the chain's hash after it.
    #[must_use]
    pub const fn head(&self) -> Head {
        self.chain.head()
    }

    /// The state so far.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// The state at the head.
    #[must_use]
    pub fn into_state(self) -> State {
        self.state
    }
}
