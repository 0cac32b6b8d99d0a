//! Links to the upstream: choosing, connecting, writing requests, closing.

use std::io;

use tslp_wire::http::request::Persistence;

use super::client::{
    CallConnection, Client, Exchange, ExchangeStage, LinkOrigin, LinkStage, Retry, Upload,
    UpstreamCall, UpstreamLink,
};
use super::{LoopInput, MainLoop};
use crate::channel::{ResponseEnd, ToEngine};
use crate::socket::{Socket, TransferResult};
use crate::upstream::connection::ReceivedSoFar;
use crate::upstream::resolve::{LookUp, ResolvedRoute, UpstreamRoute};
use crate::upstream::server::ServerNumber;
use crate::upstream::tls::Transport;

/// The further use of a connection that a call leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkUse {
    /// It can carry another request.
    Keep,
    /// Its state is unknown, or it has been closed.
    Close,
}

impl MainLoop {
    /// Finds the client's call a connection. Only a request that may be repeated gets a used one, since that may turn
    /// out to be dead.
    pub(super) fn start_call(&mut self, key: usize, client: &mut Client) {
        let call = client.call().expect("a call is begun before it is started");
        assert!(
            call.connection == CallConnection::Off,
            "a call has one connection at a time"
        );
        let reuse = call.retry == Retry::Possible;
        let server = client.server();
        if reuse && let Some(link) = self.connections.reuse_link(key, server, self.now) {
            return set_connection(client, CallConnection::Linked(link));
        }
        if let Some(route) = self.look_up(key, client) {
            self.connect_client(key, client, route);
        }
    }

    /// The way to the client's server; if it isn't known yet, the client waits for it.
    fn look_up(&mut self, key: usize, client: &mut Client) -> Option<UpstreamRoute> {
        let number = client.server();
        let handle = self.handle.clone();
        let answer = move |resolved| handle.hand_over(LoopInput::Route(number, resolved));
        let server = self.connections.server_mut(number);
        match server.resolver.look_up(self.now, answer) {
            LookUp::Ready(route) => Some(route),
            LookUp::Pending => {
                set_connection(client, CallConnection::Resolving);
                server.unresolved.push(key);
                None
            }
        }
    }

    pub(super) fn take_route(&mut self, server: ServerNumber, resolved: &ResolvedRoute) {
        let server = self.connections.server_mut(server);
        server.resolver.take_answer(resolved, self.now);
        for key in std::mem::take(&mut server.unresolved) {
            self.with_client(key, |main_loop, client| {
                // Its request may have been given up, and another one begun, since.
                if client
                    .call()
                    .is_none_or(|call| call.connection != CallConnection::Resolving)
                {
                    return;
                }
                match resolved {
                    Ok(route) => main_loop.connect_client(key, client, route.clone()),
                    Err(reason) => main_loop.call_unreachable(client, reason),
                }
            });
        }
    }

    fn connect_client(&mut self, client_key: usize, client: &mut Client, route: UpstreamRoute) {
        let key = self.connections.fresh_key();
        let server = client.server();
        let mut addresses = route.addresses.clone();
        // They are taken from the end.
        addresses.reverse();
        let mut reason = "it has no address".to_owned();
        while let Some(address) = addresses.pop() {
            let opened = self
                .net
                .connect(address, key)
                .map_err(|error| error.to_string())
                .and_then(|socket| self.new_transport(socket, &route, server));
            match opened {
                Err(error) => reason = error,
                Ok(transport) => {
                    let link = UpstreamLink {
                        server,
                        transport,
                        stage: LinkStage::Connecting(addresses),
                        client: Some(client_key),
                        origin: LinkOrigin::Fresh,
                    };
                    self.connections.add_link(key, link);
                    return set_connection(client, CallConnection::Linked(key));
                }
            }
        }
        self.call_unreachable(client, &reason);
    }

    fn new_transport(
        &self,
        socket: Socket,
        route: &UpstreamRoute,
        server: ServerNumber,
    ) -> Result<Transport, String> {
        let Some(tls) = &route.tls else {
            return Ok(Transport::Plain(socket));
        };
        let host = &self.connections.server(server).config.url.host;
        Transport::tls(socket, tls, host).map_err(|error| error.to_string())
    }

    /// Writes what the upstream takes of the request.
    pub(super) fn push_request(&mut self, key: usize, client: &mut Client) {
        let Some(CallConnection::Linked(link_key)) = client.call().map(|call| call.connection)
        else {
            return;
        };
        if !self.is_open(key, link_key, client) {
            return;
        }
        let Some(link) = self.connections.link_mut(link_key) else {
            return;
        };
        link.transport.flush();
        let mut moves = 0;
        // Only a used connection can turn out to be dead, so that the request has to be sent again.
        let is_fresh = link.origin == LinkOrigin::Fresh;
        if let Some(call) = client.call() {
            while call.upload != Upload::Broken && call.request.rest_len() > 0 {
                let (head, body) = call.request.unsent_pieces();
                match link.transport.write(head, body) {
                    TransferResult::Bytes(count) => {
                        call.request.mark_sent(count);
                        moves += 1;
                    }
                    TransferResult::Blocked => break,
                    // A response may have come before the connection broke: the reading side finds out.
                    TransferResult::Ended | TransferResult::Failed => {
                        call.upload = Upload::Broken;
                        moves += 1;
                    }
                }
            }
            if call.retry == Retry::Never || is_fresh {
                call.request.forget_sent();
            }
        }
        client.moves += moves;
        if moves > 0
            && let Some(exchange) = client.exchange.as_deref()
            && let ExchangeStage::Upstream(call) = &exchange.stage
            && call.request.is_forgotten()
            && !call.may_ask_again()
        {
            self.budget.request_gone(exchange.id);
        }
    }

    /// Whether the link is connected; one that failed goes on to its next address, or fails the call.
    fn is_open(&mut self, key: usize, link_key: usize, client: &mut Client) -> bool {
        let Some(link) = self.connections.link_mut(link_key) else {
            return false;
        };
        let LinkStage::Connecting(addresses) = &mut link.stage else {
            return true;
        };
        match link.transport.socket().connected() {
            None => false,
            Some(Ok(())) => {
                link.stage = LinkStage::Open;
                client.moves += 1;
                true
            }
            Some(Err(error)) => {
                let mut addresses = std::mem::take(addresses);
                self.connections.close_link(link_key);
                set_connection(client, CallConnection::Off);
                // Back into the resolver's order, which `connect_client` expects.
                addresses.reverse();
                if addresses.is_empty() {
                    let reason = match error.kind() {
                        // OpenCode and Pi ask again at the system's own words.
                        io::ErrorKind::ConnectionRefused => "nothing listens there".to_owned(),
                        _ => error.to_string(),
                    };
                    self.call_unreachable(client, &reason);
                } else {
                    self.connect_rest(key, client, addresses);
                }
                false
            }
        }
    }

    fn connect_rest(
        &mut self,
        key: usize,
        client: &mut Client,
        addresses: Vec<std::net::SocketAddr>,
    ) {
        if let Some(route) = self.look_up(key, client) {
            self.connect_client(key, client, UpstreamRoute { addresses, ..route });
        }
        client.moves += 1;
    }

    /// Tries again on a fresh connection, if a reused one died before it gave anything.
    pub(super) fn retry_on_fresh_link(&mut self, key: usize, client: &mut Client) -> bool {
        let Some(call) = client.call() else {
            return false;
        };
        let CallConnection::Linked(link_key) = call.connection else {
            return false;
        };
        let link = self.connections.link(link_key);
        let reused = link.is_some_and(|link| link.origin == LinkOrigin::Reused);
        if !reused
            || call.retry == Retry::Never
            || call.reader.received_so_far() != ReceivedSoFar::Nothing
        {
            return false;
        }
        // The server closed it while the request was on its way. No byte of an answer has come, so repeating is safe
        // (RFC 9112 §9.3.1); once, since a fresh connection that breaks says something about the server.
        tracing::debug!("a kept connection to the upstream was dead; trying a fresh one");
        call.retry = Retry::Never;
        call.request.rewind();
        call.upload = Upload::Complete;
        self.connections.close_link(link_key);
        set_connection(client, CallConnection::Off);
        self.start_call(key, client);
        client.moves += 1;
        true
    }

    /// Parts a call from its connection.
    pub(super) fn leave_link(&mut self, call: &mut UpstreamCall, link_use: LinkUse) {
        if let CallConnection::Linked(key) = call.connection {
            match link_use {
                LinkUse::Keep => {
                    let until = self.now + self.config.timeouts.pool;
                    self.connections.keep_link(key, until);
                }
                LinkUse::Close => self.connections.close_link(key),
            }
        }
        call.connection = CallConnection::Off;
    }

    /// Parts a call from its connection, whose response is over; one on which nothing is left can be used again.
    pub(super) fn leave_after_response(&mut self, call: &mut UpstreamCall, is_clean: bool) {
        let is_sent = call.upload == Upload::Complete && call.request.rest_len() == 0;
        let is_idle = is_clean && call.upstream == Persistence::KeepAlive && is_sent;
        let link_use = if is_idle {
            LinkUse::Keep
        } else {
            LinkUse::Close
        };
        self.leave_link(call, link_use);
    }

    /// Ends an exchange whose client won't see its end.
    pub(super) fn abandon_call(&mut self, exchange: &mut Exchange) {
        let id = exchange.id;
        if let Some(call) = exchange.call() {
            self.leave_link(call, LinkUse::Close);
            self.tell_end(id, call, ResponseEnd::ClientGone);
        }
    }

    /// The model is free again. Reports a chat reply's end to the engine, after the last of its bytes.
    pub(super) fn tell_end(
        &mut self,
        exchange: crate::channel::ExchangeId,
        call: &mut UpstreamCall,
        ending: ResponseEnd,
    ) {
        self.connections.end_model_use(exchange);
        let waits = call.waits_for_engine();
        let Some(reply) = &mut call.chat else {
            return;
        };
        let is_told = reply.is_over && !waits;
        if is_told {
            return;
        }
        reply.is_over = true;
        reply.handover_at = None;
        self.engine.send(reply.take_read(exchange, false));
        self.engine.send(ToEngine::ReplyEnd {
            exchange,
            ending,
            reply: Box::new(reply.pipe.ended_reply()),
            added: reply.added,
        });
    }
}

fn set_connection(client: &mut Client, connection: CallConnection) {
    if let Some(call) = client.call() {
        call.connection = connection;
    }
}
