//! Connections in memory, as the network loop sees them and as their other ends do.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tslp_io::http::socket::{ByteStream, Socket, SocketReadiness};
use tslp_io::main_loop::net::{Net, Rouse, Wake};

use super::chance::Chance;
use super::clock::SimClock;

/// Whether a connection is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionState {
    Connecting,
    Refused,
    Open,
    /// Reset by either side: bytes under way are lost.
    Broken,
}

/// One direction.
#[derive(Debug, Default)]
struct Pipe {
    bytes: VecDeque<u8>,
    /// No more will be written.
    ended: bool,
}

#[derive(Debug)]
struct Connection {
    standing: ConnectionState,
    capacity: usize,
    to_proxy: Pipe,
    to_peer: Pipe,
}

/// All connections of one process with their keys; shared by the loop and the other ends.
#[derive(Clone, Debug)]
pub(super) struct Network(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    clock: SimClock,
    /// Decides which events a poll reports, and in which order.
    seed: u64,
    polls: u64,
    connections: BTreeMap<usize, Connection>,
    /// Clients that wait to be accepted, by their number, and how much a pipe of theirs holds.
    waiting: VecDeque<(usize, usize)>,
    /// Which connection each client's number became.
    accepted: BTreeMap<usize, usize>,
    clients: usize,
    /// Upstream connections that nobody has taken yet.
    calls: VecDeque<usize>,
    pending: BTreeMap<usize, SocketReadiness>,
    roused: bool,
    listening: bool,
    /// Whether every poll reports everything from now on.
    prompt: bool,
    /// How much a pipe to the upstream holds.
    upstream_capacity: usize,
}

/// A client's end of a connection, possibly before it was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClientEnd(usize);

/// The upstream's end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UpstreamEnd(usize);

/// What an end of a connection got.
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
    pub(super) fn new(clock: SimClock, chance: &mut Chance) -> Self {
        Self(Arc::new(Mutex::new(State {
            clock,
            seed: chance.seed(),
            polls: 0,
            connections: BTreeMap::new(),
            waiting: VecDeque::new(),
            accepted: BTreeMap::new(),
            clients: 0,
            calls: VecDeque::new(),
            pending: BTreeMap::new(),
            roused: false,
            listening: true,
            prompt: false,
            upstream_capacity: chance.pick(&[600, 4096, 1 << 20]),
        })))
    }

    /// A client connects; a pipe holds so many bytes.
    #[must_use]
    pub(super) fn dial(&self, capacity: usize) -> ClientEnd {
        let mut state = self.state();
        state.clients += 1;
        let number = state.clients;
        state.waiting.push_back((number, capacity));
        ClientEnd(number)
    }

    /// The upstream's next connection, if the proxy asks for one.
    #[must_use]
    pub(super) fn next_call(&self) -> Option<UpstreamEnd> {
        self.state().calls.pop_front().map(UpstreamEnd)
    }

    /// The upstream takes the connection, or refuses it.
    pub(super) fn answer_call(&self, end: UpstreamEnd, takes: bool) {
        let mut state = self.state();
        if let Some(connection) = state.connections.get_mut(&end.0) {
            connection.standing = if takes {
                ConnectionState::Open
            } else {
                ConnectionState::Refused
            };
            state.tell(end.0);
        }
    }

    /// Hands over as many bytes as there is room for, and returns how many; `None` if the connection is gone.
    pub(super) fn client_sends(&self, end: ClientEnd, bytes: &[u8]) -> Option<usize> {
        let mut state = self.state();
        match state.accepted.get(&end.0).copied() {
            Some(key) => state.peer_sends(key, bytes),
            None if state.is_waiting(end) => Some(0),
            None => None,
        }
    }

    /// Takes no more than so many bytes.
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

    /// Hands over as many bytes as there is room for, and returns how many; `None` if the connection is gone.
    pub(super) fn upstream_sends(&self, end: UpstreamEnd, bytes: &[u8]) -> Option<usize> {
        self.state().peer_sends(end.0, bytes)
    }

    /// Takes no more than so many bytes.
    pub(super) fn upstream_receives(&self, end: UpstreamEnd, most: usize) -> Received {
        self.state().peer_receives(end.0, most)
    }

    /// The upstream sends no more on this connection, and reads no more.
    pub(super) fn upstream_ends(&self, end: UpstreamEnd) {
        let mut state = self.state();
        if let Some(connection) = state.connections.get_mut(&end.0) {
            connection.to_proxy.ended = true;
            state.tell(end.0);
        }
    }

    /// The upstream's connection is reset.
    pub(super) fn upstream_resets(&self, end: UpstreamEnd) {
        self.state().peer_leaves(end.0);
    }

    /// From now on every poll reports everything.
    pub(super) fn be_prompt(&self) {
        self.state().prompt = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_waiting(&self, end: ClientEnd) -> bool {
        self.waiting.iter().any(|(number, _)| *number == end.0)
    }

    /// The loop will hear that something may be possible with this socket.
    fn tell(&mut self, key: usize) {
        let ends = self.connections.get(&key).is_some_and(|connection| {
            connection.to_proxy.ended
                || matches!(
                    connection.standing,
                    ConnectionState::Broken | ConnectionState::Refused
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
        if connection.standing != ConnectionState::Open {
            return None;
        }
        let room = connection
            .capacity
            .saturating_sub(connection.to_proxy.bytes.len());
        let count = room.min(bytes.len());
        connection.to_proxy.bytes.extend(&bytes[..count]);
        if count > 0 {
            self.tell(key);
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
            if connection.standing == ConnectionState::Open {
                self.tell(key);
            }
            return Received::Bytes(bytes);
        }
        let over = connection.to_peer.ended || connection.standing == ConnectionState::Broken;
        if over {
            Received::Ended
        } else {
            Received::Nothing
        }
    }

    fn peer_leaves(&mut self, key: usize) {
        if let Some(connection) = self.connections.get_mut(&key) {
            connection.standing = ConnectionState::Broken;
            connection.to_proxy.bytes.clear();
            self.tell(key);
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
        let connection = found(&mut state, self.key)?;
        let pipe = &mut connection.to_proxy;
        let count = pipe.bytes.len().min(buffer.len());
        if count > 0 {
            for (to, from) in buffer.iter_mut().zip(pipe.bytes.drain(..count)) {
                *to = from;
            }
            return Ok(count);
        }
        match connection.standing {
            ConnectionState::Broken | ConnectionState::Refused => {
                Err(ErrorKind::ConnectionReset.into())
            }
            _ if connection.to_proxy.ended => Ok(0),
            ConnectionState::Open | ConnectionState::Connecting => {
                Err(ErrorKind::WouldBlock.into())
            }
        }
    }

    fn write(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        let mut state = self.network.state();
        let connection = found(&mut state, self.key)?;
        if connection.standing != ConnectionState::Open {
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
        match found(&mut state, self.key).map(|connection| connection.standing) {
            Ok(ConnectionState::Connecting) => None,
            Ok(ConnectionState::Open) => Some(Ok(())),
            Ok(ConnectionState::Refused | ConnectionState::Broken) => {
                Some(Err(ErrorKind::ConnectionRefused.into()))
            }
            Err(error) => Some(Err(error)),
        }
    }

    fn finish(&self) {
        if let Ok(connection) = found(&mut self.network.state(), self.key) {
            connection.to_peer.ended = true;
        }
    }
}

impl Drop for ProxyEnd {
    /// Closing a connection with unread bytes resets it, and what the peer hasn't read is lost.
    fn drop(&mut self) {
        if let Ok(connection) = found(&mut self.network.state(), self.key) {
            connection.to_peer.ended = true;
            if !connection.to_proxy.bytes.is_empty() {
                connection.to_peer.bytes.clear();
            }
            connection.standing = ConnectionState::Broken;
        }
    }
}

fn found(state: &mut State, key: usize) -> io::Result<&mut Connection> {
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
        let mut chance = Chance::new(state.seed.wrapping_add(state.polls));
        let tells = |chance: &mut Chance, prompt: bool| prompt || chance.percent(80);
        if !state.waiting.is_empty() && tells(&mut chance, state.prompt) {
            wakes.push(Wake::Listener);
        }
        if state.roused && tells(&mut chance, state.prompt) {
            state.roused = false;
            wakes.push(Wake::Inbox);
        }
        for (key, ready) in std::mem::take(&mut state.pending) {
            if tells(&mut chance, state.prompt) {
                wakes.push(Wake::Socket(key, ready));
            } else {
                state.pending.insert(key, ready);
            }
        }
        // Any order will do.
        for at in (1..wakes.len()).rev() {
            wakes.swap(at, chance.below(at + 1));
        }
        Ok(())
    }

    fn now(&self) -> Instant {
        self.state().clock.instant()
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
        state.open(key, ConnectionState::Open, capacity);
        state.tell(key);
        drop(state);
        Ok(Some(self.socket(key)))
    }

    fn connect(&mut self, _address: SocketAddr, key: usize) -> io::Result<Socket> {
        let mut state = self.state();
        let capacity = state.upstream_capacity;
        state.open(key, ConnectionState::Connecting, capacity);
        state.calls.push_back(key);
        drop(state);
        Ok(self.socket(key))
    }

    fn stop_listening(&mut self) {
        let mut state = self.state();
        state.listening = false;
        state.waiting.clear();
    }
}

impl State {
    fn open(&mut self, key: usize, standing: ConnectionState, capacity: usize) {
        let connection = Connection {
            standing,
            capacity,
            to_proxy: Pipe::default(),
            to_peer: Pipe::default(),
        };
        self.connections.insert(key, connection);
    }
}

impl Network {
    fn socket(&self, key: usize) -> Socket {
        Socket::from_stream(Box::new(ProxyEnd {
            network: self.clone(),
            key,
        }))
    }
}
