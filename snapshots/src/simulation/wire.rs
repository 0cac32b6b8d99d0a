//! Connections in memory, with an end for the network loop and one for its peer.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tslp_io::main_loop::net::{Net, Rouse, Wake};
use tslp_io::socket::{ByteStream, Socket, SocketReadiness};

use super::clock::SimClock;
use crate::dice::Dice;

/// The progress of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionProgress {
    Connecting,
    Refused,
    Open,
    /// Reset by either side; bytes on the way to the proxy are lost.
    Broken,
}

/// One direction of a connection.
#[derive(Debug, Default)]
struct Pipe {
    bytes: VecDeque<u8>,
    /// No more will be written.
    ended: bool,
}

#[derive(Debug)]
struct Connection {
    progress: ConnectionProgress,
    capacity: usize,
    to_proxy: Pipe,
    to_peer: Pipe,
}

/// All connections of one process with their keys; shared by the loop and the other ends.
#[derive(Clone, Debug)]
pub(super) struct Network(Arc<Mutex<NetworkState>>);

#[derive(Debug)]
struct NetworkState {
    clock: SimClock,
    /// Decides which events a poll reports, and in which order.
    seed: u64,
    polls: u64,
    connections: BTreeMap<usize, Connection>,
    /// Clients that wait to be accepted: their numbers, and the capacity of their pipes in bytes.
    waiting: VecDeque<(usize, usize)>,
    /// The key of each accepted client's connection, by the client's number.
    accepted: BTreeMap<usize, usize>,
    clients: usize,
    /// The keys of upstream connections that the server hasn't answered.
    unanswered: VecDeque<usize>,
    pending: BTreeMap<usize, SocketReadiness>,
    roused: bool,
    listening: bool,
    /// Whether every poll reports everything.
    reports_everything: bool,
    /// The capacity of a pipe to the upstream in bytes.
    upstream_capacity: usize,
}

/// A client's end of a connection, possibly before it was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClientEnd(usize);

/// The upstream's end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UpstreamEnd(usize);

/// What the end of a connection received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// Nothing yet.
    Nothing,
    /// Bytes.
    Bytes(Vec<u8>),
    /// The proxy sends no more.
    Ended,
}

impl Network {
    /// A network without connections.
    #[must_use]
    pub(super) fn new(clock: SimClock, chance: &mut Dice) -> Self {
        Self(Arc::new(Mutex::new(NetworkState {
            clock,
            seed: chance.roll(),
            polls: 0,
            connections: BTreeMap::new(),
            waiting: VecDeque::new(),
            accepted: BTreeMap::new(),
            clients: 0,
            unanswered: VecDeque::new(),
            pending: BTreeMap::new(),
            roused: false,
            listening: true,
            reports_everything: false,
            upstream_capacity: chance.pick(&[600, 4096, 1 << 20]),
        })))
    }

    /// A client connects; each of its pipes holds `capacity` bytes.
    #[must_use]
    pub(super) fn connect_client(&self, capacity: usize) -> ClientEnd {
        let mut state = self.state();
        state.clients += 1;
        let number = state.clients;
        state.waiting.push_back((number, capacity));
        ClientEnd(number)
    }

    /// The upstream's next connection, if the proxy asks for one.
    #[must_use]
    pub(super) fn next_upstream_connection(&self) -> Option<UpstreamEnd> {
        self.state().unanswered.pop_front().map(UpstreamEnd)
    }

    /// The upstream accepts the connection, or refuses it.
    pub(super) fn answer_connection(&self, end: UpstreamEnd, is_accepted: bool) {
        let mut state = self.state();
        if let Some(connection) = state.connections.get_mut(&end.0) {
            connection.progress = if is_accepted {
                ConnectionProgress::Open
            } else {
                ConnectionProgress::Refused
            };
            state.mark_ready(end.0);
        }
    }

    /// Sends as many bytes as there is room for and returns their number; `None` if the connection is gone.
    pub(super) fn client_sends(&self, end: ClientEnd, bytes: &[u8]) -> Option<usize> {
        let mut state = self.state();
        match state.accepted.get(&end.0).copied() {
            Some(key) => state.peer_sends(key, bytes),
            None if state.is_waiting(end) => Some(0),
            None => None,
        }
    }

    /// Receives at most `most` bytes.
    pub(super) fn client_receives(&self, end: ClientEnd, most: usize) -> Received {
        let mut state = self.state();
        match state.accepted.get(&end.0).copied() {
            Some(key) => state.peer_receives(key, most),
            None if state.is_waiting(end) => Received::Nothing,
            None => Received::Ended,
        }
    }

    /// The client goes away.
    pub(super) fn client_leaves(&self, end: ClientEnd) {
        let mut state = self.state();
        state.waiting.retain(|(number, _)| *number != end.0);
        if let Some(key) = state.accepted.remove(&end.0) {
            state.peer_leaves(key);
        }
    }

    /// Sends as many bytes as there is room for and returns their number; `None` if the connection is gone.
    pub(super) fn upstream_sends(&self, end: UpstreamEnd, bytes: &[u8]) -> Option<usize> {
        self.state().peer_sends(end.0, bytes)
    }

    /// Receives at most `most` bytes.
    pub(super) fn upstream_receives(&self, end: UpstreamEnd, most: usize) -> Received {
        self.state().peer_receives(end.0, most)
    }

    /// The upstream sends no more on this connection, and reads no more.
    pub(super) fn upstream_ends(&self, end: UpstreamEnd) {
        let mut state = self.state();
        if let Some(connection) = state.connections.get_mut(&end.0) {
            connection.to_proxy.ended = true;
            state.mark_ready(end.0);
        }
    }

    /// The upstream's connection is reset.
    pub(super) fn upstream_resets(&self, end: UpstreamEnd) {
        self.state().peer_leaves(end.0);
    }

    /// From now on every poll reports everything.
    pub(super) fn report_everything(&self) {
        self.state().reports_everything = true;
    }

    fn socket(&self, key: usize) -> Socket {
        Socket::from_stream(Box::new(ProxyEnd {
            network: self.clone(),
            key,
        }))
    }

    fn state(&self) -> MutexGuard<'_, NetworkState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NetworkState {
    fn add_connection(&mut self, key: usize, progress: ConnectionProgress, capacity: usize) {
        let connection = Connection {
            progress,
            capacity,
            to_proxy: Pipe::default(),
            to_peer: Pipe::default(),
        };
        self.connections.insert(key, connection);
    }

    fn is_waiting(&self, end: ClientEnd) -> bool {
        self.waiting.iter().any(|(number, _)| *number == end.0)
    }

    /// A later poll reports that this socket may be ready.
    fn mark_ready(&mut self, key: usize) {
        let ends = self.connections.get(&key).is_some_and(|connection| {
            connection.to_proxy.ended
                || matches!(
                    connection.progress,
                    ConnectionProgress::Broken | ConnectionProgress::Refused
                )
        });
        let ready = if ends {
            SocketReadiness::AT_THE_END
        } else {
            SocketReadiness::FOR_ANYTHING
        };
        self.pending.insert(key, ready);
    }

    fn peer_sends(&mut self, key: usize, bytes: &[u8]) -> Option<usize> {
        let connection = self.connections.get_mut(&key)?;
        if connection.progress != ConnectionProgress::Open {
            return None;
        }
        let room = connection
            .capacity
            .saturating_sub(connection.to_proxy.bytes.len());
        let count = room.min(bytes.len());
        connection.to_proxy.bytes.extend(&bytes[..count]);
        if count > 0 {
            self.mark_ready(key);
        }
        Some(count)
    }

    fn peer_receives(&mut self, key: usize, most: usize) -> Received {
        let Some(connection) = self.connections.get_mut(&key) else {
            return Received::Ended;
        };
        let count = connection.to_peer.bytes.len().min(most);
        if count > 0 {
            let bytes = connection.to_peer.bytes.drain(..count).collect();
            if connection.progress == ConnectionProgress::Open {
                self.mark_ready(key);
            }
            return Received::Bytes(bytes);
        }
        let over = connection.to_peer.ended || connection.progress == ConnectionProgress::Broken;
        if over {
            Received::Ended
        } else {
            Received::Nothing
        }
    }

    fn peer_leaves(&mut self, key: usize) {
        if let Some(connection) = self.connections.get_mut(&key) {
            connection.progress = ConnectionProgress::Broken;
            connection.to_proxy.bytes.clear();
            self.mark_ready(key);
        }
    }
}

/// The loop's end of a connection.
#[derive(Debug)]
struct ProxyEnd {
    network: Network,
    key: usize,
}

impl ByteStream for ProxyEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.network.state();
        let connection = find_connection(&mut state, self.key)?;
        let pipe = &mut connection.to_proxy;
        let count = pipe.bytes.len().min(buffer.len());
        if count > 0 {
            for (to, from) in buffer.iter_mut().zip(pipe.bytes.drain(..count)) {
                *to = from;
            }
            return Ok(count);
        }
        match connection.progress {
            ConnectionProgress::Broken | ConnectionProgress::Refused => {
                Err(ErrorKind::ConnectionReset.into())
            }
            _ if connection.to_proxy.ended => Ok(0),
            ConnectionProgress::Open | ConnectionProgress::Connecting => {
                Err(ErrorKind::WouldBlock.into())
            }
        }
    }

    fn write(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        let mut state = self.network.state();
        let connection = find_connection(&mut state, self.key)?;
        if connection.progress != ConnectionProgress::Open {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let pipe = &mut connection.to_peer;
        let room = connection.capacity.saturating_sub(pipe.bytes.len());
        if room == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let before = pipe.bytes.len();
        pipe.bytes.extend(first.iter().chain(second).take(room));
        Ok(pipe.bytes.len() - before)
    }

    fn connected(&mut self) -> Option<io::Result<()>> {
        let mut state = self.network.state();
        match find_connection(&mut state, self.key).map(|connection| connection.progress) {
            Ok(ConnectionProgress::Connecting) => None,
            Ok(ConnectionProgress::Open) => Some(Ok(())),
            Ok(ConnectionProgress::Refused | ConnectionProgress::Broken) => {
                Some(Err(ErrorKind::ConnectionRefused.into()))
            }
            Err(error) => Some(Err(error)),
        }
    }

    fn finish(&self) {
        if let Ok(connection) = find_connection(&mut self.network.state(), self.key) {
            connection.to_peer.ended = true;
        }
    }

    fn peer_user(&self) -> io::Result<Option<u32>> {
        Ok(None)
    }
}

impl Drop for ProxyEnd {
    /// Closing a connection with unread bytes resets it, and what the peer hasn't read is lost.
    fn drop(&mut self) {
        if let Ok(connection) = find_connection(&mut self.network.state(), self.key) {
            connection.to_peer.ended = true;
            if !connection.to_proxy.bytes.is_empty() {
                connection.to_peer.bytes.clear();
            }
            connection.progress = ConnectionProgress::Broken;
        }
    }
}

fn find_connection(state: &mut NetworkState, key: usize) -> io::Result<&mut Connection> {
    state
        .connections
        .get_mut(&key)
        .ok_or_else(|| ErrorKind::NotConnected.into())
}

impl Rouse for Network {
    fn rouse(&self) -> io::Result<()> {
        self.state().roused = true;
        Ok(())
    }
}

impl Net for Network {
    fn poll(&mut self, wakes: &mut Vec<Wake>, _timeout: Option<Duration>) -> io::Result<()> {
        let mut state = self.state();
        state.polls += 1;
        let mut chance = Dice::new(state.seed.wrapping_add(state.polls));
        let reports_everything = state.reports_everything;
        let is_reported = |chance: &mut Dice| reports_everything || chance.percent(80);
        if !state.waiting.is_empty() && is_reported(&mut chance) {
            wakes.push(Wake::Listener);
        }
        if state.roused && is_reported(&mut chance) {
            state.roused = false;
            wakes.push(Wake::Inbox);
        }
        for (key, ready) in std::mem::take(&mut state.pending) {
            if is_reported(&mut chance) {
                wakes.push(Wake::Socket(key, ready));
            } else {
                state.pending.insert(key, ready);
            }
        }
        // A poll may report events in any order.
        for at in (1..wakes.len()).rev() {
            wakes.swap(at, chance.below(at + 1));
        }
        Ok(())
    }

    fn now(&self) -> Instant {
        self.state().clock.monotonic()
    }

    fn accept(&mut self, key: usize) -> io::Result<Option<Socket>> {
        let mut state = self.state();
        if !state.listening {
            return Ok(None);
        }
        let Some((number, capacity)) = state.waiting.pop_front() else {
            return Ok(None);
        };
        state.accepted.insert(number, key);
        state.add_connection(key, ConnectionProgress::Open, capacity);
        state.mark_ready(key);
        drop(state);
        Ok(Some(self.socket(key)))
    }

    fn connect(&mut self, _address: SocketAddr, key: usize) -> io::Result<Socket> {
        let mut state = self.state();
        let capacity = state.upstream_capacity;
        state.add_connection(key, ConnectionProgress::Connecting, capacity);
        state.unanswered.push_back(key);
        drop(state);
        Ok(self.socket(key))
    }

    fn stop_listening(&mut self) {
        let mut state = self.state();
        state.listening = false;
        state.waiting.clear();
    }
}
