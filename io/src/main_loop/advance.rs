//! One client's turn: everything that can move without waiting is moved, in both directions.

use super::client::{Client, ClientStage};
use super::{MainLoop, SCRATCH_BYTES};
use crate::http::server_connection::PIPELINE_BYTES_MAX;
use crate::http::socket::{Peer, Transfer};

/// Rounds in one turn, so that one busy connection can't hold up the others.
const ROUNDS_MAX: usize = 16;

/// Bytes that may wait on all connections together. Beyond that each keeps little for itself, and is read in small pieces:
/// slow peers then cost them time alone.
const BUFFERED_BYTES_OF_ALL: usize = 4 << 20;
const BUFFERED_BYTES_TIGHT: usize = 8 << 10;

impl MainLoop {
    /// Moves a client on, after anything happened to it, to its upstream, or to what it waited for.
    pub(super) fn drive(&mut self, key: usize) {
        let Some(mut client) = self.clients.remove(&key) else {
            return;
        };
        self.advance(key, &mut client);
        let buffered = client.buffered_bytes();
        self.buffered_bytes = self.buffered_bytes - client.counted_bytes + buffered;
        client.counted_bytes = buffered;
        if client.stage == ClientStage::Over {
            return self.drop_client(client);
        }
        self.rearm_deadline(&mut client);
        self.clients.insert(key, client);
    }

    /// Does something to a client outside its turn, then gives it one.
    pub(super) fn with_client(&mut self, key: usize, act: impl FnOnce(&mut Self, &mut Client)) {
        if let Some(mut client) = self.clients.remove(&key) {
            act(self, &mut client);
            self.clients.insert(key, client);
            self.drive(key);
        }
    }

    fn advance(&mut self, key: usize, client: &mut Client) {
        for _ in 0..ROUNDS_MAX {
            let before = client.moves;
            self.read_client(client);
            self.handle_client_events(key, client);
            self.push_request(key, client);
            self.pull_response(key, client);
            self.release_or_finish(client);
            write_client(client);
            if client.moves == before || client.stage == ClientStage::Over {
                return;
            }
        }
        self.again.push(key);
    }

    fn read_client(&mut self, client: &mut Client) {
        let most = PIPELINE_BYTES_MAX.max(self.config.limits.head.head_bytes_max);
        let full = client.http.waiting_bytes() > most || client.waits_for_room();
        match client.stage {
            ClientStage::Over | ClientStage::Finishing => return,
            ClientStage::Open if full => {
                if client.exchange.is_some() && client.socket.peer() == Peer::Closed {
                    client.stage = ClientStage::Over;
                }
                return;
            }
            ClientStage::Open | ClientStage::Lingering => {}
        }
        let piece = self.piece_bytes();
        match client.socket.read(&mut self.scratch[..piece]) {
            Transfer::Blocked => {}
            Transfer::Failed => client.stage = ClientStage::Over,
            Transfer::Ended => client_ended(client),
            Transfer::Bytes(count) => {
                client.moves += 1;
                if client.stage == ClientStage::Open {
                    client.http.receive(&self.scratch[..count]);
                }
            }
        }
    }

    /// How much may wait for one slow peer before the other side is read no further.
    pub(super) const fn buffered_bytes_max(&self) -> usize {
        if self.buffered_bytes > BUFFERED_BYTES_OF_ALL {
            BUFFERED_BYTES_TIGHT
        } else {
            self.config.limits.buffered_bytes_max
        }
    }

    /// How much is read at once.
    pub(super) const fn piece_bytes(&self) -> usize {
        if self.buffered_bytes > BUFFERED_BYTES_OF_ALL {
            BUFFERED_BYTES_TIGHT
        } else {
            SCRATCH_BYTES
        }
    }

    /// Ends what a connection still holds.
    pub(super) fn drop_client(&mut self, mut client: Box<Client>) {
        self.buffered_bytes -= client.counted_bytes;
        if let Some(mut exchange) = client.exchange.take() {
            tracing::debug!(exchange = exchange.id.0, "the client is gone");
            self.exchanges.remove(&exchange.id);
            self.in_use.remove(&exchange.id);
            self.budget.request_gone(exchange.id);
            self.abandon_call(&mut exchange);
        }
    }
}

/// A client that closes its side while it is owed a response is gone: HTTP clients that half-close are rare, and a
/// model that generates for nobody is dear.
fn client_ended(client: &mut Client) {
    client.stage = if client.exchange.is_none() && !client.out.is_empty() {
        ClientStage::Finishing
    } else {
        ClientStage::Over
    };
    client.moves += 1;
}

fn write_client(client: &mut Client) {
    while !client.out.released().is_empty() && client.stage != ClientStage::Over {
        match client.socket.write(client.out.released(), &[]) {
            Transfer::Bytes(count) => {
                client.out.sent(count);
                client.moves += 1;
            }
            Transfer::Blocked => return,
            Transfer::Ended | Transfer::Failed => client.stage = ClientStage::Over,
        }
    }
    if client.stage == ClientStage::Finishing && client.out.is_empty() {
        client.socket.finish();
        client.stage = ClientStage::Lingering;
        client.moves += 1;
    }
    if client.exchange.is_none() {
        client.out.shrink();
    }
}
