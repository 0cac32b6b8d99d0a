//! The network thread: one poll over all sockets, the other threads' messages and the timers.
//!
//! Three parts own what the loop knows: [`connections::Connections`] (clients, their exchanges, links to model servers, deadlines),
//! [`engine_link::EngineLink`] (what is sent to the engine) and [`durability::DurabilityGate`] (what is on disk, and whether
//! anything can still get there). The loop itself moves bytes between them, a client at a time: that client is taken out of
//! the connections for its turn.

mod advance;
mod answering;
mod client;
mod connections;
mod deadlines;
mod durability;
mod engine_link;
mod failed_answer;
mod inbox;
mod memory_budget;
pub mod net;
mod replies;
mod rounds;
mod stopping;
mod upstreams;

use std::io;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use tslp_core::guardian::Mode;

use crate::auditor::queue::AuditQueue;
use crate::channel::{DiagnosticQuery, ToEngine, ToLoop};
use crate::config::settings::Settings;
use crate::guard::{GuardError, RequestGuard};
use crate::metrics::Metrics;
use crate::socket::{Socket, SocketReadiness};
use crate::upstream::resolve::ResolvedRoute;
use crate::upstream::server::{ServerNumber, UpstreamServer};
use client::{Client, ClientStage};
use connections::Connections;
use durability::DurabilityGate;
use engine_link::EngineLink;
use memory_budget::MemoryBudget;
use net::{Net, Rouse, SystemNet, Wake, inherited_listener};

/// Read buffer shared by all connections.
const SCRATCH_BYTES: usize = 64 * 1024;

/// Messages that may wait for the loop; senders block beyond that, and the loop never waits for them.
const INBOX_MESSAGES: usize = 1024;

/// Pause before a full engine channel, or a listener without free descriptors, is tried again.
const ENGINE_RETRY: Duration = Duration::from_millis(1);
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// An error while the loop is set up.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The guard refuses the configuration.
    #[error("{0}")]
    Guard(#[from] GuardError),
    /// The address can't be had.
    #[error("can't listen on {address}: {error}")]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// The system's answer.
        error: io::Error,
    },
    /// The descriptor from the service manager is no listener.
    #[error(
        "can't use the socket that the service manager handed over ({0}): it must be one TCP listener"
    )]
    Inherited(io::Error),
    /// The system gives no poll.
    #[error("can't set up polling: {0}")]
    Poll(#[from] io::Error),
}

/// An item in the loop's inbox.
#[derive(Debug)]
enum LoopInput {
    /// From the engine, the ledger's writer, or the diagnostics.
    Message(ToLoop),
    /// From the resolver's thread: a server's address.
    Route(ServerNumber, ResolvedRoute),
    /// The process is to end.
    Shutdown,
}

/// The channels that the loop sends to. It never waits on any of them.
#[derive(Clone, Debug)]
pub struct LoopChannels {
    /// Prompts and reply bytes, for the engine.
    pub to_engine: Sender<ToEngine>,
    /// Diagnostics; a full channel is answered with 503.
    pub to_diagnostics: Sender<DiagnosticQuery>,
    /// Audits, which every request for the model puts off.
    pub audits: AuditQueue,
    /// Counters for `/metrics`.
    pub metrics: Arc<Metrics>,
}

/// Sends to the loop from any thread.
#[derive(Clone, Debug)]
pub struct LoopHandle {
    sender: Sender<LoopInput>,
    rouse: Arc<dyn Rouse>,
    woken: Arc<AtomicBool>,
}

impl LoopHandle {
    /// Hands a message over and wakes the loop. Waits while the loop has too many messages; a message to a loop that
    /// has ended is dropped.
    pub fn send(&self, message: ToLoop) {
        self.hand_over(LoopInput::Message(message));
    }

    /// Asks for a graceful end: no new connections, responses under way may finish until the deadline, then the engine
    /// is told and [`MainLoop::run`] returns.
    pub fn shutdown(&self) {
        self.hand_over(LoopInput::Shutdown);
    }

    fn hand_over(&self, item: LoopInput) {
        // Sent before the flag is set, which the loop clears before it looks: no item is left lying. One wake, a system call,
        // does for all that is sent until then.
        if self.sender.send(item).is_err() || self.woken.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Err(error) = self.rouse.rouse() {
            tracing::error!(%error, "the network loop can't be woken");
        }
    }
}

/// The loop's way from serving to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoopPhase {
    Serving,
    /// Nothing new is taken; what is under way may go on until then.
    Stopping(Instant),
    /// The engine has to be told that it was the last; then the loop ends.
    TellingEngine,
}

/// The network thread's state.
#[derive(Debug)]
pub struct MainLoop {
    net: Box<dyn Net>,
    /// Kept between polls for its allocation.
    wakes: Vec<Wake>,
    accept_retry: Option<Instant>,
    inbox: Receiver<LoopInput>,
    handle: LoopHandle,
    to_diagnostics: Sender<DiagnosticQuery>,
    audits: AuditQueue,
    metrics: Arc<Metrics>,
    config: Arc<Settings>,
    guard: RequestGuard,
    connections: Connections,
    engine: EngineLink,
    durability: DurabilityGate,
    budget: MemoryBudget,
    /// Clients whose request's body waits for memory, in the order in which they began to.
    room_waiters: Vec<usize>,
    /// The guardian's mode, as the engine reported it last.
    mode: Mode,
    /// Why it is that one.
    mode_reason: String,
    /// Whether the user has stopped all agents.
    is_stopped: bool,
    /// Whether the last attempt to reach the default model server failed.
    upstream_is_down: bool,
    /// When the first of the model server's failures in a row came.
    failing_since: Option<Instant>,
    scratch: Vec<u8>,
    /// Clients that used up their turn with more to do.
    again: Vec<usize>,
    /// The earliest moment at which a reply's text has to be recorded.
    next_handover: Option<Instant>,
    /// The earliest moment at which a client whose reply is held hears that something is coming.
    next_comment: Option<Instant>,
    now: Instant,
    phase: LoopPhase,
}

impl MainLoop {
    /// Binds the listener, or takes the one that the service manager has bound. Returns the loop, the address it really
    /// has, and the handle to send to it.
    pub fn bind(
        config: Arc<Settings>,
        channels: LoopChannels,
    ) -> Result<(Self, SocketAddr, LoopHandle), BindError> {
        let inherited = inherited_listener().map_err(BindError::Inherited)?;
        let address = match &inherited {
            None => config.listen,
            Some(listener) => listener.local_addr().map_err(BindError::Inherited)?,
        };
        // The guard may refuse an address that must not even be bound for a moment.
        RequestGuard::new(address, config.access.clone())?;
        let (net, bound, rouse) = SystemNet::listen(address, inherited)?;
        let (main_loop, handle) = Self::with_net(Box::new(net), rouse, bound, config, channels)?;
        Ok((main_loop, bound, handle))
    }

    /// A loop over any net, as if it listened at `bound`; `rouse` is what ends the net's poll.
    ///
    /// # Errors
    /// When the guard refuses the configuration.
    pub fn with_net(
        net: Box<dyn Net>,
        rouse: Arc<dyn Rouse>,
        bound: SocketAddr,
        config: Arc<Settings>,
        channels: LoopChannels,
    ) -> Result<(Self, LoopHandle), BindError> {
        let guard = RequestGuard::new(bound, config.access.clone())?;
        let (sender, inbox) = bounded(INBOX_MESSAGES);
        let handle = LoopHandle {
            sender,
            rouse,
            woken: Arc::new(AtomicBool::new(false)),
        };
        let servers = config.upstream.servers();
        let servers = servers.into_iter().map(UpstreamServer::new).collect();
        let main_loop = Self {
            now: net.now(),
            net,
            wakes: Vec::new(),
            accept_retry: None,
            inbox,
            handle: handle.clone(),
            engine: EngineLink::new(channels.to_engine),
            to_diagnostics: channels.to_diagnostics,
            audits: channels.audits,
            metrics: channels.metrics,
            guard,
            connections: Connections::new(servers),
            durability: DurabilityGate::default(),
            budget: MemoryBudget::for_bodies_up_to(config.limits.chat_body_bytes_max),
            room_waiters: Vec::new(),
            config,
            mode: Mode::Boot,
            mode_reason: "nothing was tested yet".to_owned(),
            is_stopped: false,
            upstream_is_down: false,
            failing_since: None,
            scratch: vec![0; SCRATCH_BYTES],
            again: Vec::new(),
            next_handover: None,
            next_comment: None,
            phase: LoopPhase::Serving,
        };
        Ok((main_loop, handle))
    }

    /// Serves until [`LoopHandle::shutdown`]; an error is a failure of polling itself.
    pub fn run(mut self) -> io::Result<()> {
        while self.run_once()?.is_continue() {}
        Ok(())
    }

    /// Polls once, then handles every event without waiting. `Break` once the loop has ended.
    ///
    /// # Errors
    /// A failure of polling itself.
    pub fn run_once(&mut self) -> io::Result<ControlFlow<()>> {
        let timeout = self.timeout();
        let mut wakes = std::mem::take(&mut self.wakes);
        match self.net.poll(&mut wakes, timeout) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        self.now = self.net.now();
        for wake in wakes.drain(..) {
            self.dispatch(wake);
        }
        self.wakes = wakes;
        // After the new events: a client that used up its turn doesn't delay the others.
        for key in std::mem::take(&mut self.again) {
            self.drive(key);
        }
        // After everything that moved: what came in time isn't given up.
        self.fire_timers();
        self.serve_engine_link();
        if self.budget.take_eased() {
            self.again.append(&mut self.room_waiters);
        }
        Ok(self.advance_shutdown())
    }

    fn dispatch(&mut self, wake: Wake) {
        match wake {
            Wake::Listener => self.accept(),
            Wake::Inbox => self.drain_inbox(),
            Wake::Socket(key, ready) => self.socket_ready(key, ready),
        }
    }

    fn socket_ready(&mut self, key: usize, ready: SocketReadiness) {
        if let Some(client) = self.connections.client_mut(key) {
            client.socket.update_readiness(ready);
            return self.drive(key);
        }
        let Some(link) = self.connections.link_mut(key) else {
            // The socket was closed earlier in this turn.
            return;
        };
        link.transport.note_readiness(ready);
        match link.client {
            Some(client) => self.drive(client),
            // A server has nothing to say between requests: it closes, or it is out of step.
            None if link.transport.socket().may_read() => self.connections.close_link(key),
            None => {}
        }
    }

    fn accept(&mut self) {
        self.accept_retry = None;
        loop {
            let key = self.connections.fresh_key();
            match self.net.accept(key) {
                Ok(Some(socket)) => self.take_client(key, socket),
                Ok(None) => return,
                // That client has left while it waited; the next one may be there.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
                    ) => {}
                Err(error) => {
                    tracing::warn!(%error, "can't accept a connection");
                    // The poll is edge-triggered: it won't report again those who wait already.
                    self.accept_retry = Some(self.now + ACCEPT_RETRY);
                    return;
                }
            }
        }
    }

    fn take_client(&mut self, key: usize, socket: Socket) {
        if self.connections.client_count() >= self.config.limits.connections_max {
            tracing::warn!(
                limit = self.config.limits.connections_max,
                "too many connections; one is closed"
            );
            return;
        }
        let client = Box::new(Client::new(socket));
        self.connections.put_client(key, client);
        self.drive(key);
    }

    fn advance_shutdown(&mut self) -> ControlFlow<()> {
        if let LoopPhase::Stopping(until) = self.phase {
            let is_done = |client: &Client| client.exchange.is_none() && client.out.is_empty();
            let quiet = self
                .connections
                .clients()
                .all(|(_, client)| is_done(client));
            if quiet || self.now >= until {
                self.drop_clients(|_| true);
                debug_assert_eq!(self.connections.client_count(), 0, "all were dropped");
                // After the ends of their replies, which dropping them has sent.
                self.engine.send(ToEngine::Shutdown);
                self.phase = LoopPhase::TellingEngine;
            }
        }
        match self.phase {
            LoopPhase::TellingEngine if !self.engine.is_backlogged() => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn begin_stop(&mut self) {
        if self.phase != LoopPhase::Serving {
            return;
        }
        self.net.stop_listening();
        // An audit's answer may take minutes, and nothing is lost without it.
        self.audits.close();
        self.phase = LoopPhase::Stopping(self.now + self.config.timeouts.shutdown);
        // Idle connections may be closed at any time (RFC 9112 §9.5); clients open another.
        self.drop_clients(|client| {
            let is_idle = client.exchange.is_none() || client.listens();
            is_idle && client.stage == ClientStage::Open && client.out.is_empty()
        });
    }

    fn drop_clients(&mut self, is_dropped: impl Fn(&Client) -> bool) {
        let clients = self.connections.clients();
        let dropped = clients.filter(|(_, client)| is_dropped(client));
        for key in dropped.map(|(key, _)| key).collect::<Vec<_>>() {
            if let Some(client) = self.connections.take_client(key) {
                self.drop_client(client);
            }
        }
    }

    fn timeout(&self) -> Option<Duration> {
        if !self.again.is_empty() {
            return Some(Duration::ZERO);
        }
        let engine = self.engine.is_backlogged().then(|| self.now + ENGINE_RETRY);
        let stop = match self.phase {
            LoopPhase::Stopping(until) => Some(until),
            LoopPhase::Serving | LoopPhase::TellingEngine => None,
        };
        [
            engine,
            stop,
            self.accept_retry,
            self.connections.next_deadline(),
            self.connections.next_expiry(),
            self.next_handover,
            self.next_comment,
        ]
        .into_iter()
        .flatten()
        .min()
        .map(|at| at.saturating_duration_since(self.net.now()))
    }
}
