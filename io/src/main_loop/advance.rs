//! One client's turn: everything that can move without waiting is moved, in both directions.

use super::MainLoop;
use super::client::{Client, Stage};
use crate::http::server_connection::PIPELINE_BYTES_MAX;
use crate::http::socket::{Peer, Transfer};

/// Rounds in one turn, so that one busy connection can't hold up the others.
const ROUNDS_MAX: usize = 16;

impl MainLoop {
    /// Moves a client on, after anything happened to it, to its upstream, or to what it waited for.
    pub(super) fn drive(&mut self, key: usize) {
        let Some(mut client) = self.clients.remove(&key) else {
            return;
        };
        self.advance(key, &mut client);
        if client.stage == Stage::Over {
            return self.drop_client(client);
        }
        self.rearm(&mut client);
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
            self.understand(key, client);
            self.push_request(key, client);
            self.pull_response(key, client);
            self.settle(client);
            write_client(client);
            if client.moves == before || client.stage == Stage::Over {
                return;
            }
        }
        self.again.push(key);
    }

    fn read_client(&mut self, client: &mut Client) {
        let most = PIPELINE_BYTES_MAX.max(self.config.limits.head.head_bytes_max);
        let full = client.http.waiting_bytes() > most;
        match client.stage {
            Stage::Over | Stage::Finishing => return,
            Stage::Open if full => {
                if client.exchange.is_some() && client.socket.peer() == Peer::Closed {
                    client.stage = Stage::Over;
                }
                return;
            }
            Stage::Open | Stage::Lingering => {}
        }
        match client.socket.read(&mut self.scratch) {
            Transfer::Blocked => {}
            Transfer::Failed => client.stage = Stage::Over,
            Transfer::Ended => client_ended(client),
            Transfer::Bytes(count) => {
                client.moves += 1;
                if client.stage == Stage::Open {
                    client.http.receive(&self.scratch[..count]);
                }
            }
        }
    }

    /// Ends what a connection still holds.
    pub(super) fn drop_client(&mut self, mut client: Box<Client>) {
        if let Some(mut exchange) = client.exchange.take() {
            tracing::debug!(exchange = exchange.id.0, "the client is gone");
            self.exchanges.remove(&exchange.id);
            self.in_use.remove(&exchange.id);
            self.abandon(&mut exchange);
        }
    }
}

/// A client that closes its side while it is owed a response is gone: HTTP clients that half-close are rare, and a
/// model that generates for nobody is dear.
fn client_ended(client: &mut Client) {
    client.stage = if client.exchange.is_none() && !client.out.is_empty() {
        Stage::Finishing
    } else {
        Stage::Over
    };
    client.moves += 1;
}

fn write_client(client: &mut Client) {
    while !client.out.released().is_empty() && client.stage != Stage::Over {
        match client.socket.write(client.out.released(), &[]) {
            Transfer::Bytes(count) => {
                client.out.sent(count);
                client.moves += 1;
            }
            Transfer::Blocked => return,
            Transfer::Ended | Transfer::Failed => client.stage = Stage::Over,
        }
    }
    if client.stage == Stage::Finishing && client.out.is_empty() {
        client.socket.finish();
        client.stage = Stage::Lingering;
        client.moves += 1;
    }
    if client.exchange.is_none() {
        client.out.shrink();
    }
}
