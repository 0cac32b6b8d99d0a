//! One client's turn: everything that can move without waiting is moved, in both directions.

use tslp_wire::http::server_connection::PIPELINE_BYTES_MAX;

use super::MainLoop;
use super::client::{Client, ClientStage};
use crate::channel::ExchangeId;
use crate::socket::{Peer, TransferResult};

/// Rounds in one turn, so that one busy connection can't hold up the others.
const ROUNDS_MAX: usize = 16;

impl MainLoop {
    /// Moves a client on, after anything happened to it, to its upstream, or to what it waited for.
    pub(super) fn drive(&mut self, key: usize) {
        let Some(mut client) = self.connections.take_client(key) else {
            return;
        };
        self.advance(key, &mut client);
        self.connections.count_buffered(&mut client);
        if client.stage == ClientStage::Over {
            return self.drop_client(client);
        }
        self.rearm_deadline(&mut client);
        self.connections.put_client(key, client);
    }

    /// Does something to a client outside its turn, then gives it one.
    pub(super) fn with_client(&mut self, key: usize, act: impl FnOnce(&mut Self, &mut Client)) {
        if let Some(mut client) = self.connections.take_client(key) {
            act(self, &mut client);
            // `drive` takes it out again; it does nothing for a client that isn't there.
            self.connections.put_client(key, client);
            self.drive(key);
        }
    }

    /// Does something to the client of an exchange, then gives it a turn. Nothing happens if it has left.
    pub(super) fn with_exchange(
        &mut self,
        id: ExchangeId,
        act: impl FnOnce(&mut Self, usize, &mut Client),
    ) {
        if let Some(key) = self.connections.client_of(id) {
            self.with_client(key, |main_loop, client| act(main_loop, key, client));
        }
    }

    fn advance(&mut self, key: usize, client: &mut Client) {
        for _ in 0..ROUNDS_MAX {
            let before = client.moves;
            // In the order in which bytes go round, so that one round can take a request upstream and its answer back.
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
            // Nothing is read, so only the poll's event can say that the client has left.
            ClientStage::Open if full => {
                if client.exchange.is_some() && client.socket.peer_state() == Peer::Closed {
                    client.stage = ClientStage::Over;
                }
                return;
            }
            ClientStage::Open | ClientStage::Lingering => {}
        }
        let piece = self.connections.piece_bytes();
        match client.socket.read(&mut self.scratch[..piece]) {
            TransferResult::Blocked => {}
            TransferResult::Failed => client.stage = ClientStage::Over,
            TransferResult::Ended => client_ended(client),
            TransferResult::Bytes(count) => {
                client.moves += 1;
                if client.stage == ClientStage::Open {
                    client.http.receive(&self.scratch[..count]);
                }
            }
        }
    }

    /// Bytes that may wait for one slow peer before the other side is read no further.
    pub(super) fn buffered_bytes_max(&self) -> usize {
        let configured = self.config.limits.buffered_bytes_max;
        self.connections.buffered_bytes_max(configured)
    }

    /// Ends what a connection still holds.
    pub(super) fn drop_client(&mut self, mut client: Box<Client>) {
        self.connections.uncount_buffered(&client);
        if let Some(mut exchange) = client.exchange.take() {
            tracing::debug!(exchange = exchange.id.0, "the client is gone");
            self.connections.remove_exchange(exchange.id);
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
            TransferResult::Bytes(count) => {
                client.out.mark_sent(count);
                client.moves += 1;
            }
            TransferResult::Blocked => return,
            TransferResult::Ended | TransferResult::Failed => client.stage = ClientStage::Over,
        }
    }
    // RFC 9112 §9.6: closing at once while the client still sends would reset the connection, and lose it the response.
    if client.stage == ClientStage::Finishing && client.out.is_empty() {
        client.socket.finish();
        client.stage = ClientStage::Lingering;
        client.moves += 1;
    }
    if client.exchange.is_none() {
        client.out.shrink_if_empty();
    }
}
