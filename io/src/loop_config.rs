//! The network loop's configuration: limits, timeouts, the upstream, permitted callers.

use std::path::PathBuf;
use std::time::Duration;

use tslp_wire::http::request::HeadLimits;

use crate::config::secret::Secret;
use crate::config::settings::AccessConfig;
use crate::config::upstream::UpstreamUrl;

/// Configuration of the network loop, parsed wholly before anything is bound.
#[derive(Clone, Debug)]
pub struct LoopConfig {
    /// Bounds on sizes and counts.
    pub limits: Limits,
    /// Bounds on waiting.
    pub timeouts: Timeouts,
    /// The server for requests that match none of `model_upstreams`.
    pub upstream: UpstreamConfig,
    /// Other servers, each for some models.
    pub model_upstreams: Vec<ModelUpstream>,
    /// Permitted callers.
    pub guard: AccessConfig,
    /// Whether `/debug/last-prompt` exists.
    pub debug_pages: DebugPages,
}

impl LoopConfig {
    /// Defaults for this upstream.
    #[must_use]
    pub fn new(upstream: UpstreamUrl) -> Self {
        Self {
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            upstream: UpstreamConfig::new(upstream),
            model_upstreams: Vec::new(),
            guard: AccessConfig::default(),
            debug_pages: DebugPages::Hidden,
        }
    }
}

/// Bounds on sizes and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bounds on a request head.
    pub head: HeadLimits,
    /// Largest chat request body. The memory of all prompts in flight is bounded to about six times as much: 6 MiB is the
    /// largest that keeps the process under 64 MB, and holds a conversation of 4 MB with some images.
    pub chat_body_bytes_max: u64,
    /// Largest body of a relayed request. It is streamed, so this bounds time rather than memory; audio files and
    /// model uploads fit.
    pub relay_body_bytes_max: u64,
    /// Bytes that may wait for one slow peer before the other side is read no further.
    pub buffered_bytes_max: usize,
    /// Most client connections; more are accepted and closed at once.
    pub connections_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: HeadLimits::default(),
            chat_body_bytes_max: 6 << 20,
            relay_body_bytes_max: 1 << 30,
            buffered_bytes_max: 256 << 10,
            connections_max: 1024,
        }
    }
}

/// Bounds on waiting, by the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From a request's first byte to the end of its head; then 408.
    pub head: Duration,
    /// Between two pieces of a request body; then 408.
    pub body_idle: Duration,
    /// Between two requests on a kept-alive connection; then it is closed.
    pub keep_alive: Duration,
    /// Longest time for which a client may take no byte of a response.
    pub write_stall: Duration,
    /// To resolve and connect to the upstream.
    pub connect: Duration,
    /// From the whole request to the response's first byte (`http.first_byte_seconds`). A cold model may take
    /// minutes to load.
    pub first_byte: Duration,
    /// Between two pieces of a response (`http.idle_seconds`).
    pub upstream_idle: Duration,
    /// How long an upstream connection is kept for the next request. Below llama.cpp's 5 s, so that the server's
    /// close doesn't cross a request.
    pub pool: Duration,
    /// Longest time for which responses may go on after a request to stop.
    pub shutdown: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(15),
            body_idle: Duration::from_secs(30),
            keep_alive: Duration::from_secs(75),
            write_stall: Duration::from_secs(120),
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(600),
            upstream_idle: Duration::from_secs(300),
            pool: Duration::from_secs(4),
            shutdown: Duration::from_secs(10),
        }
    }
}

/// A server for some models.
#[derive(Clone, Debug)]
pub struct ModelUpstream {
    /// Patterns of their names, in which `*` matches any characters.
    pub models: Vec<String>,
    /// The server.
    pub upstream: UpstreamConfig,
}

/// A model server. It is fixed here; a request can but choose by its model.
#[derive(Clone, Debug)]
pub struct UpstreamConfig {
    /// Base address.
    pub url: UpstreamUrl,
    /// Whether no server was found, and this is where one would be.
    pub is_missing: bool,
    /// Sent as `Authorization: Bearer …` in place of what clients send.
    pub api_key: Option<Secret>,
    /// A PEM file with certificates that are trusted in addition to the system's.
    pub extra_ca_file: Option<PathBuf>,
}

impl UpstreamConfig {
    /// A server that gets what clients send as their authorization.
    #[must_use]
    pub const fn new(url: UpstreamUrl) -> Self {
        Self {
            url,
            is_missing: false,
            api_key: None,
            extra_ca_file: None,
        }
    }

    /// Replaces a client's `Authorization`.
    #[must_use]
    pub fn own_authorization(&self) -> Option<Secret> {
        let key = self.api_key.as_ref()?;
        Some(Secret::new(format!("Bearer {}", key.reveal())))
    }
}

/// Whether the debug pages exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugPages {
    /// They are 404.
    Hidden,
    /// They answer.
    Shown,
}
