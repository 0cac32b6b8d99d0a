//! The one poll over all sockets and what it says: the system's, or that of a simulation.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};

use super::BindError;
use crate::socket::{Socket, SocketReadiness};

/// Events taken from one poll.
const EVENTS_PER_POLL: usize = 256;

const LISTENER: Token = Token(0);
const INBOX: Token = Token(1);

/// The first key that a socket may have.
pub(super) const FIRST_KEY: usize = 2;
const _: () = assert!(LISTENER.0 < FIRST_KEY && INBOX.0 < FIRST_KEY);

/// The reason for which a poll returned.
#[derive(Clone, Copy, Debug)]
pub enum Wake {
    /// A client waits to be accepted.
    Listener,
    /// Another thread has sent something.
    Inbox,
    /// A socket of this key can do something.
    Socket(usize, SocketReadiness),
}

impl From<&mio::event::Event> for Wake {
    fn from(event: &mio::event::Event) -> Self {
        match event.token() {
            LISTENER => Self::Listener,
            INBOX => Self::Inbox,
            Token(key) => Self::Socket(key, SocketReadiness::from(event)),
        }
    }
}

/// The loop's source of sockets and time; simulated in tests.
pub trait Net: fmt::Debug + Send {
    /// Waits until something happens, no longer than `timeout`, and appends it to `wakes`.
    ///
    /// # Errors
    /// When polling itself fails.
    fn poll(&mut self, wakes: &mut Vec<Wake>, timeout: Option<Duration>) -> io::Result<()>;

    /// Now, on a clock that never goes back.
    fn now(&self) -> Instant;

    /// The next client's socket, whose events are reported under this key; `None` if none waits.
    ///
    /// # Errors
    /// When a client waits and can't be accepted.
    fn accept(&mut self, key: usize) -> io::Result<Option<Socket>>;

    /// Begins to connect; events are reported under this key.
    ///
    /// # Errors
    /// When no socket can be created, or connecting fails at once.
    fn connect(&mut self, address: SocketAddr, key: usize) -> io::Result<Socket>;

    /// Accepts no more.
    fn stop_listening(&mut self);
}

/// Ends a poll from any thread, with [`Wake::Inbox`].
pub trait Rouse: fmt::Debug + Send + Sync {
    /// Ends the current poll, or the next one.
    ///
    /// # Errors
    /// When the system refuses.
    fn rouse(&self) -> io::Result<()>;
}

impl Rouse for Waker {
    fn rouse(&self) -> io::Result<()> {
        self.wake()
    }
}

/// The operating system's sockets.
#[derive(Debug)]
pub(super) struct SystemNet {
    poll: Poll,
    events: Events,
    listener: Option<TcpListener>,
}

/// The listener that a service manager such as systemd hands over (`LISTEN_FDS`), if one does.
pub(super) fn inherited_listener() -> io::Result<Option<std::net::TcpListener>> {
    listenfd::ListenFd::from_env().take_tcp_listener(0)
}

impl SystemNet {
    /// Listens, by the listener that was inherited if there is one. Returns the address that it really has, and what
    /// ends its poll.
    pub(super) fn listen(
        address: SocketAddr,
        inherited: Option<std::net::TcpListener>,
    ) -> Result<(Self, SocketAddr, Arc<dyn Rouse>), BindError> {
        let listen = |error| BindError::Listen { address, error };
        let mut listener = match inherited {
            None => TcpListener::bind(address).map_err(listen)?,
            Some(listener) => {
                listener.set_nonblocking(true).map_err(listen)?;
                TcpListener::from_std(listener)
            }
        };
        let bound = listener.local_addr().map_err(listen)?;
        let poll = Poll::new()?;
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        let waker = Arc::new(Waker::new(poll.registry(), INBOX)?);
        let net = Self {
            poll,
            events: Events::with_capacity(EVENTS_PER_POLL),
            listener: Some(listener),
        };
        Ok((net, bound, waker))
    }
}

impl Net for SystemNet {
    fn poll(&mut self, wakes: &mut Vec<Wake>, timeout: Option<Duration>) -> io::Result<()> {
        self.poll.poll(&mut self.events, timeout)?;
        wakes.extend(self.events.iter().map(Wake::from));
        Ok(())
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn accept(&mut self, key: usize) -> io::Result<Option<Socket>> {
        let Some(listener) = &self.listener else {
            return Ok(None);
        };
        match listener.accept() {
            // Whatever fails on its socket concerns this client alone: the loop goes on with the next.
            Ok((stream, _)) => Socket::from_accepted(stream, self.poll.registry(), key)
                .map(Some)
                .map_err(|error| io::Error::new(io::ErrorKind::ConnectionAborted, error)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn connect(&mut self, address: SocketAddr, key: usize) -> io::Result<Socket> {
        Socket::connect(address, self.poll.registry(), key)
    }

    fn stop_listening(&mut self) {
        self.listener = None;
    }
}
