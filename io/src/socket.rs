//! A non-blocking TCP socket with its readiness, for edge-triggered polling.

use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr};

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

use crate::peer_user::user_of_peer;

/// Bytes both ways without ever waiting, with the meaning that TCP gives to each call.
pub trait ByteStream: fmt::Debug + Send {
    /// Reads the available bytes; 0 means that the peer sends no more.
    ///
    /// # Errors
    /// `WouldBlock` if nothing is there yet, anything else if the connection is broken.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes as much as there is room for, from two pieces in order.
    ///
    /// # Errors
    /// `WouldBlock` if there is no room, anything else if the connection is broken.
    fn write(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize>;

    /// Whether connecting is over: `None` while it lasts.
    fn connected(&mut self) -> Option<io::Result<()>>;

    /// Tells the peer that nothing more comes.
    fn finish(&self);

    /// The user id of the local program at the other end; `None` where the system doesn't tell.
    ///
    /// # Errors
    /// If it can't be known.
    fn peer_user(&self) -> io::Result<Option<u32>>;
}

impl ByteStream for TcpStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Read::read(self, buffer)
    }

    fn write(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        if second.is_empty() {
            Write::write(self, first)
        } else if first.is_empty() {
            Write::write(self, second)
        } else {
            self.write_vectored(&[IoSlice::new(first), IoSlice::new(second)])
        }
    }

    fn connected(&mut self) -> Option<io::Result<()>> {
        // First: a socket that was refused has no peer either, like one that is still connecting.
        if let Ok(Some(error)) = self.take_error() {
            return Some(Err(error));
        }
        match self.peer_addr() {
            Ok(_) => Some(self.set_nodelay(true)),
            Err(error) if error.kind() == io::ErrorKind::NotConnected => None,
            Err(error) => Some(Err(error)),
        }
    }

    fn finish(&self) {
        // A failure means that the connection is gone, which the next read shows.
        let _ = self.shutdown(Shutdown::Write);
    }

    fn peer_user(&self) -> io::Result<Option<u32>> {
        user_of_peer(self.local_addr()?, self.peer_addr()?)
    }
}

/// Result of one attempt to move bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferResult {
    /// This many bytes moved; never 0.
    Bytes(usize),
    /// The socket isn't ready; an event follows when it is.
    Blocked,
    /// The peer has closed its sending side.
    Ended,
    /// The connection is broken.
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readiness {
    Ready,
    Blocked,
}

/// Whether the peer has closed its sending side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// It may still send.
    Open,
    /// It sends no more; bytes sent before may still wait in the socket.
    Closed,
}

/// A socket's readiness, as a poll event reports it.
#[derive(Clone, Copy, Debug)]
pub struct SocketReadiness(Readiness, Readiness, Peer);

impl SocketReadiness {
    /// Anything may be possible: try.
    pub const FOR_ANYTHING: Self = Self(Readiness::Ready, Readiness::Ready, Peer::Open);

    /// The peer sends no more, or the connection is broken; anything may be tried.
    pub const AT_THE_END: Self = Self(Readiness::Ready, Readiness::Ready, Peer::Closed);
}

impl From<&mio::event::Event> for SocketReadiness {
    fn from(event: &mio::event::Event) -> Self {
        let ready = |is| {
            if is {
                Readiness::Ready
            } else {
                Readiness::Blocked
            }
        };
        let closed = event.is_read_closed() || event.is_error();
        let peer = if closed { Peer::Closed } else { Peer::Open };
        Self(
            ready(event.is_readable() || closed),
            ready(event.is_writable() || event.is_write_closed()),
            peer,
        )
    }
}

/// A connected or connecting TCP socket, or a substitute for one.
#[derive(Debug)]
pub struct Socket {
    stream: Box<dyn ByteStream>,
    read: Readiness,
    write: Readiness,
    peer: Peer,
}

impl Socket {
    /// Takes an accepted stream.
    pub fn from_accepted(stream: TcpStream, registry: &Registry, key: usize) -> io::Result<Self> {
        // Without it, the end of a response can wait 40 ms for the acknowledgement of its beginning.
        stream.set_nodelay(true)?;
        Self::registered(stream, registry, key)
    }

    /// Begins to connect; success or failure shows once the socket is writable.
    pub fn connect(address: SocketAddr, registry: &Registry, key: usize) -> io::Result<Self> {
        Self::registered(TcpStream::connect(address)?, registry, key)
    }

    fn registered(mut stream: TcpStream, registry: &Registry, key: usize) -> io::Result<Self> {
        registry.register(
            &mut stream,
            Token(key),
            Interest::READABLE | Interest::WRITABLE,
        )?;
        Ok(Self::from_stream(Box::new(stream)))
    }

    /// A socket over any stream, whose events must be passed to [`update_readiness`](Self::update_readiness).
    #[must_use]
    pub fn from_stream(stream: Box<dyn ByteStream>) -> Self {
        Self {
            stream,
            read: Readiness::Blocked,
            write: Readiness::Blocked,
            peer: Peer::Open,
        }
    }

    /// Takes note of an event.
    pub fn update_readiness(&mut self, ready: SocketReadiness) {
        if ready.0 == Readiness::Ready {
            self.read = Readiness::Ready;
        }
        if ready.1 == Readiness::Ready {
            self.write = Readiness::Ready;
        }
        if ready.2 == Peer::Closed {
            self.peer = Peer::Closed;
        }
    }

    /// Whether the peer has closed its side, according to the events so far.
    #[must_use]
    pub const fn peer_state(&self) -> Peer {
        self.peer
    }

    /// Whether an event has reported that reading may succeed.
    #[must_use]
    pub fn may_read(&self) -> bool {
        self.read == Readiness::Ready
    }

    /// Whether connecting is over: `None` while it lasts.
    pub fn connected(&mut self) -> Option<io::Result<()>> {
        if self.write == Readiness::Blocked {
            return None;
        }
        let connected = self.stream.connected();
        // An event came too early; the next one tells.
        if connected.is_none() {
            self.write = Readiness::Blocked;
        }
        connected
    }

    /// Reads once.
    pub fn read(&mut self, buffer: &mut [u8]) -> TransferResult {
        debug_assert!(!buffer.is_empty(), "0 bytes would pass for the peer's end");
        match transfer(&mut self.read, || self.stream.read(buffer)) {
            TransferResult::Bytes(0) => TransferResult::Ended,
            TransferResult::Bytes(count) => {
                // A short read has drained the socket; new bytes raise a new event. The peer's close may have been told
                // already, so then the end has to be read.
                if count < buffer.len() && self.peer == Peer::Open {
                    self.read = Readiness::Blocked;
                }
                TransferResult::Bytes(count)
            }
            other => other,
        }
    }

    /// Writes once, from two pieces in order.
    pub fn write(&mut self, first: &[u8], second: &[u8]) -> TransferResult {
        match transfer(&mut self.write, || self.stream.write(first, second)) {
            TransferResult::Bytes(0) => TransferResult::Failed,
            other => other,
        }
    }

    /// Tells the peer that nothing more comes, and keeps reading possible.
    pub fn finish(&self) {
        self.stream.finish();
    }

    /// The user id of the local program at the other end; `None` where the system doesn't tell.
    ///
    /// # Errors
    /// If it can't be known.
    pub fn peer_user(&self) -> io::Result<Option<u32>> {
        self.stream.peer_user()
    }
}

/// Reads or writes once, unless it would block; an interrupted call is made again.
fn transfer(
    readiness: &mut Readiness,
    mut once: impl FnMut() -> io::Result<usize>,
) -> TransferResult {
    while *readiness == Readiness::Ready {
        match once() {
            Ok(count) => return TransferResult::Bytes(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                *readiness = Readiness::Blocked;
            }
            Err(_) => return TransferResult::Failed,
        }
    }
    TransferResult::Blocked
}
