//! Prepares the way to the upstream off the loop: name resolution, and the trusted roots for TLS.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustls::ClientConfig;

use super::tls::load_config;
use crate::config::upstream::Scheme;
use crate::config::upstream::ServerConfig;

/// Time for which a looked-up address is used. Local and container names change when things restart.
const ADDRESS_LIFE: Duration = Duration::from_secs(30);

/// Enough for the C library's resolver.
const STACK_BYTES: usize = 512 * 1024;

/// Everything needed to connect to a server.
#[derive(Clone, Debug)]
pub struct UpstreamRoute {
    /// To be tried in order; never empty.
    pub addresses: Vec<SocketAddr>,
    /// For https.
    pub tls: Option<Arc<ClientConfig>>,
}

/// Result of a look-up, or why there is none.
pub type ResolvedRoute = Result<UpstreamRoute, String>;

/// The immediate answer of [`Resolver::look_up`].
#[derive(Debug)]
pub enum LookUp {
    /// The resolved addresses.
    Ready(UpstreamRoute),
    /// The answer comes later.
    Pending,
}

#[derive(Debug)]
enum RouteState {
    Unknown,
    Pending,
    Known {
        route: UpstreamRoute,
        until: Option<Instant>,
    },
}

/// Knows the way to the one configured upstream.
#[derive(Debug)]
pub struct Resolver {
    config: ServerConfig,
    state: RouteState,
}

impl Resolver {
    /// A resolver that has looked nothing up.
    #[must_use]
    pub fn new(config: ServerConfig) -> Self {
        let literal = literal_addresses(&config.url.host, config.url.port);
        let state = match (literal, config.url.scheme) {
            (Some(addresses), Scheme::Http) => RouteState::Known {
                route: UpstreamRoute {
                    addresses,
                    tls: None,
                },
                until: None,
            },
            _ => RouteState::Unknown,
        };
        Self { config, state }
    }

    /// The way, if it is known; else one look-up is started, and `answer` is called with its result on another thread.
    pub fn look_up(
        &mut self,
        now: Instant,
        answer: impl FnOnce(ResolvedRoute) + Send + 'static,
    ) -> LookUp {
        match &self.state {
            RouteState::Known { route, until } if until.is_none_or(|until| until > now) => {
                LookUp::Ready(route.clone())
            }
            RouteState::Pending => LookUp::Pending,
            RouteState::Known { .. } | RouteState::Unknown => {
                self.start_lookup(answer);
                LookUp::Pending
            }
        }
    }

    fn start_lookup(&mut self, answer: impl FnOnce(ResolvedRoute) + Send + 'static) {
        let config = self.config.clone();
        // Reading the system's certificates takes longer than looking a name up, and they don't change with it.
        let known = match &self.state {
            RouteState::Known { route, .. } => route.tls.clone(),
            _ => None,
        };
        self.state = RouteState::Pending;
        let thread = thread::Builder::new()
            .name("tslp-resolve".to_owned())
            .stack_size(STACK_BYTES);
        if let Err(error) = thread.spawn(move || answer(resolve_route(&config, known))) {
            // Those who wait are answered by their deadline for connecting; the next one tries again.
            tracing::error!(%error, "no thread for name resolution");
            self.state = RouteState::Unknown;
        }
    }

    /// Takes the answer.
    pub fn take_answer(&mut self, resolved: &ResolvedRoute, now: Instant) {
        let literal = literal_addresses(&self.config.url.host, self.config.url.port).is_some();
        debug_assert!(
            resolved
                .as_ref()
                .is_ok_and(|route| !route.addresses.is_empty())
                || resolved.is_err(),
            "a route has an address"
        );
        self.state = match resolved {
            Ok(route) => RouteState::Known {
                route: route.clone(),
                until: (!literal).then(|| now + ADDRESS_LIFE),
            },
            Err(_) => RouteState::Unknown,
        };
    }
}

/// Looks the way up, blocking; `known` are the trusted roots if they were read before.
pub fn resolve_route(config: &ServerConfig, known: Option<Arc<ClientConfig>>) -> ResolvedRoute {
    let url = &config.url;
    let addresses = match literal_addresses(&url.host, url.port) {
        Some(addresses) => addresses,
        None => (url.host.as_str(), url.port)
            .to_socket_addrs()
            .map_err(|error| format!("its name can't be resolved ({error})"))?
            .collect(),
    };
    if addresses.is_empty() {
        return Err("its name has no address".to_owned());
    }
    let tls = match (url.scheme, known) {
        (Scheme::Http, _) => None,
        (Scheme::Https, Some(known)) => Some(known),
        (Scheme::Https, None) => {
            Some(load_config(config.ca_file.as_deref()).map_err(|error| error.to_string())?)
        }
    };
    Ok(UpstreamRoute { addresses, tls })
}

/// Addresses that need no look-up. `localhost` is loopback by RFC 6761; IPv4 first, as model servers bind that.
fn literal_addresses(host: &str, port: u16) -> Option<Vec<SocketAddr>> {
    if host == "localhost" {
        let loopback: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        return Some(
            loopback
                .iter()
                .map(|ip| SocketAddr::new(*ip, port))
                .collect(),
        );
    }
    host.parse()
        .ok()
        .map(|ip: IpAddr| vec![SocketAddr::new(ip, port)])
}
