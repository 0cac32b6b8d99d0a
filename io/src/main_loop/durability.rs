//! Whether what a client waits for is on disk.

use tslp_core::ids::Seq;

use tslp_wire::http::error::Refusal;

/// The ledger as the loop knows it: how far it is durable, and whether it still takes anything.
#[derive(Debug, Default)]
pub(super) struct DurabilityGate {
    durable: Seq,
    /// Clients whose response waits for a position that isn't durable yet.
    held_clients: Vec<usize>,
    failure: Option<String>,
}

impl DurabilityGate {
    /// The last position that is known to be durable.
    pub(super) const fn durable(&self) -> Seq {
        self.durable
    }

    /// Everything up to `seq` is durable. Positions may come late, in any order.
    pub(super) fn advance(&mut self, seq: Seq) {
        self.durable = self.durable.max(seq);
    }

    /// Notes a client whose response has to wait.
    pub(super) fn hold_client(&mut self, key: usize) {
        self.held_clients.push(key);
    }

    /// All clients that wait; whoever has to wait on is held again.
    pub(super) fn take_held_clients(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.held_clients)
    }

    /// Nothing is recorded from now on.
    pub(super) fn record_failure(&mut self, reason: String) {
        self.failure = Some(reason);
        // Nothing becomes durable any more: the loop refuses them all.
        self.held_clients.clear();
    }

    /// The reason why the ledger takes nothing any more, if so.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The answer to a chat request that can't be recorded.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let reason = self.failure()?;
        Some(Refusal::new("ledger_failed", reason.to_owned()))
    }
}
