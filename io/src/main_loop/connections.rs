//! All connections of the loop: those of clients with their exchanges, and those to model servers.

use std::collections::BTreeMap;
use std::time::Instant;

use super::SCRATCH_BYTES;
use super::client::{ArmedDeadline, Client, LinkOrigin, UpstreamLink};
use super::net::FIRST_KEY;
use crate::auditor::queue::InUse;
use crate::channel::ExchangeId;
use crate::socket::Peer;
use crate::upstream::pool::KeptInPool;
use crate::upstream::server::{ServerNumber, UpstreamServer};

/// Bytes that may wait on all connections together. Beyond that each keeps little for itself, and is read in small pieces:
/// slow peers then cost them time alone.
const BUFFERED_BYTES_OF_ALL: usize = 4 << 20;
const BUFFERED_BYTES_TIGHT: usize = 8 << 10;

/// The connections, by the keys that the poll knows them by.
#[derive(Debug)]
pub(super) struct Connections {
    // Ordered, so that what happens to many at once happens in the order of their keys.
    clients: BTreeMap<usize, Box<Client>>,
    links: BTreeMap<usize, UpstreamLink>,
    /// The client of each exchange under way.
    exchanges: BTreeMap<ExchangeId, usize>,
    /// Exchanges that need the model, or may come to need it.
    in_use: BTreeMap<ExchangeId, InUse>,
    /// The default server, then those for some models.
    servers: Vec<UpstreamServer>,
    /// Bytes that wait on all client connections, prompts left out.
    buffered_bytes: usize,
    next_key: usize,
    next_exchange: u64,
    /// No client's deadline is earlier.
    next_deadline: Option<Instant>,
}

impl Connections {
    pub(super) const fn new(servers: Vec<UpstreamServer>) -> Self {
        Self {
            clients: BTreeMap::new(),
            links: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            in_use: BTreeMap::new(),
            servers,
            buffered_bytes: 0,
            next_key: FIRST_KEY,
            next_exchange: 1,
            next_deadline: None,
        }
    }

    /// A key for a new connection. Keys count up and are never used twice, so that a late event can't reach the wrong
    /// connection.
    pub(super) const fn fresh_key(&mut self) -> usize {
        let key = self.next_key;
        self.next_key += 1;
        key
    }

    pub(super) const fn fresh_exchange(&mut self) -> ExchangeId {
        let id = ExchangeId(self.next_exchange);
        self.next_exchange += 1;
        id
    }

    /// The number of client connections; the one that has its turn is left out.
    pub(super) fn client_count(&self) -> usize {
        self.clients.len()
    }

    pub(super) fn client(&self, key: usize) -> Option<&Client> {
        self.clients.get(&key).map(Box::as_ref)
    }

    pub(super) fn client_mut(&mut self, key: usize) -> Option<&mut Client> {
        self.clients.get_mut(&key).map(Box::as_mut)
    }

    /// All clients with their keys, in the order of these.
    pub(super) fn clients(&self) -> impl Iterator<Item = (usize, &Client)> {
        self.clients.iter().map(|(key, client)| (*key, &**client))
    }

    pub(super) fn clients_mut(&mut self) -> impl Iterator<Item = &mut Client> {
        self.clients.values_mut().map(Box::as_mut)
    }

    /// Takes a client out for its turn, or for good. Its exchange stays known.
    pub(super) fn take_client(&mut self, key: usize) -> Option<Box<Client>> {
        self.clients.remove(&key)
    }

    pub(super) fn put_client(&mut self, key: usize, client: Box<Client>) {
        let other = self.clients.insert(key, client);
        assert!(other.is_none(), "a client's key is its own");
    }

    /// Brings the sum of the buffered bytes up to date with a client that was changed.
    pub(super) fn count_buffered(&mut self, client: &mut Client) {
        let buffered = client.buffered_bytes();
        debug_assert!(
            client.counted_bytes <= self.buffered_bytes,
            "the sum holds each client's count"
        );
        self.buffered_bytes = self.buffered_bytes - client.counted_bytes + buffered;
        client.counted_bytes = buffered;
    }

    /// Leaves the bytes of a client that is gone out of the sum.
    pub(super) const fn uncount_buffered(&mut self, client: &Client) {
        debug_assert!(
            client.counted_bytes <= self.buffered_bytes,
            "the sum holds each client's count"
        );
        self.buffered_bytes -= client.counted_bytes;
    }

    /// Bytes that may wait for one slow peer before the other side is read no further; `configured` while memory is plenty.
    pub(super) const fn buffered_bytes_max(&self, configured: usize) -> usize {
        if self.buffered_bytes > BUFFERED_BYTES_OF_ALL {
            BUFFERED_BYTES_TIGHT
        } else {
            configured
        }
    }

    /// Bytes read at once.
    pub(super) const fn piece_bytes(&self) -> usize {
        if self.buffered_bytes > BUFFERED_BYTES_OF_ALL {
            BUFFERED_BYTES_TIGHT
        } else {
            SCRATCH_BYTES
        }
    }

    /// Records that an exchange belongs to a client.
    pub(super) fn add_exchange(&mut self, id: ExchangeId, client: usize) {
        let other = self.exchanges.insert(id, client);
        assert!(other.is_none(), "an exchange belongs to one client");
    }

    /// The client of an exchange; `None` once it has left.
    pub(super) fn client_of(&self, id: ExchangeId) -> Option<usize> {
        self.exchanges.get(&id).copied()
    }

    /// The clients of all exchanges, in the order in which these began.
    pub(super) fn clients_with_exchange(&self) -> Vec<usize> {
        self.exchanges.values().copied().collect()
    }

    /// Forgets an exchange that is over.
    pub(super) fn remove_exchange(&mut self, id: ExchangeId) {
        self.exchanges.remove(&id);
        self.in_use.remove(&id);
    }

    /// The exchange needs the model from now on.
    pub(super) fn begin_model_use(&mut self, id: ExchangeId, in_use: InUse) {
        self.in_use.insert(id, in_use);
    }

    /// The exchange doesn't need the model any more.
    pub(super) fn end_model_use(&mut self, id: ExchangeId) {
        self.in_use.remove(&id);
    }

    pub(super) fn arm_deadline(&mut self, client: &mut Client, deadline: ArmedDeadline) {
        client.due = Some(deadline);
        let next = self.next_deadline.unwrap_or(deadline.at);
        self.next_deadline = Some(next.min(deadline.at));
    }

    /// The earliest moment at which a client's deadline may pass.
    pub(super) const fn next_deadline(&self) -> Option<Instant> {
        self.next_deadline
    }

    pub(super) fn clients_past_deadline(&self, now: Instant) -> Vec<usize> {
        let is_past = |client: &Client| client.due.is_some_and(|armed| armed.at <= now);
        let past = self.clients().filter(|(_, client)| is_past(client));
        past.map(|(key, _)| key).collect()
    }

    /// Finds the earliest deadline anew: those that were met are still counted.
    pub(super) fn recompute_deadline(&mut self) {
        let armed = self.clients.values().filter_map(|client| client.due);
        self.next_deadline = armed.map(|armed| armed.at).min();
    }

    pub(super) fn server(&self, number: ServerNumber) -> &UpstreamServer {
        &self.servers[number.0]
    }

    pub(super) fn server_mut(&mut self, number: ServerNumber) -> &mut UpstreamServer {
        &mut self.servers[number.0]
    }

    pub(super) fn link(&self, key: usize) -> Option<&UpstreamLink> {
        self.links.get(&key)
    }

    pub(super) fn link_mut(&mut self, key: usize) -> Option<&mut UpstreamLink> {
        self.links.get_mut(&key)
    }

    pub(super) fn add_link(&mut self, key: usize, link: UpstreamLink) {
        let other = self.links.insert(key, link);
        assert!(other.is_none(), "a link's key is its own");
    }

    /// Takes a kept connection to a server for a client, if one is left that the server hasn't closed.
    pub(super) fn reuse_link(
        &mut self,
        client: usize,
        server: ServerNumber,
        now: Instant,
    ) -> Option<usize> {
        while let Some(key) = self.servers[server.0].pool.take(now) {
            let link = self.links.get_mut(&key);
            let link = link.expect("a link that is closed leaves its pool");
            // The server may have closed it while it waited; the next one is tried then.
            if link.transport.socket().peer_state() == Peer::Open {
                link.client = Some(client);
                link.origin = LinkOrigin::Reused;
                return Some(key);
            }
            self.links.remove(&key);
        }
        None
    }

    /// Keeps a connection for another request until then, if there is room.
    pub(super) fn keep_link(&mut self, key: usize, until: Instant) {
        let Some(link) = self.links.get_mut(&key) else {
            return;
        };
        match self.servers[link.server.0].pool.put(key, until) {
            KeptInPool::No => self.close_link(key),
            KeptInPool::Yes => link.client = None,
        }
    }

    /// Closes a connection to a model server at once; that is what stops a model.
    pub(super) fn close_link(&mut self, key: usize) {
        if let Some(link) = self.links.remove(&key) {
            self.servers[link.server.0].pool.remove(key);
        }
    }

    /// Closes the connections that were kept for long enough.
    pub(super) fn close_expired_links(&mut self, now: Instant) {
        for server in &mut self.servers {
            // The pool has forgotten them already.
            for key in server.pool.take_expired(now) {
                self.links.remove(&key);
            }
        }
    }

    /// The earliest moment at which a kept connection expires.
    pub(super) fn next_expiry(&self) -> Option<Instant> {
        let expiries = self.servers.iter().map(|server| server.pool.next_expiry());
        expiries.flatten().min()
    }
}
