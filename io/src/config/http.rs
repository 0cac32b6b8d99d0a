//! Bounds of HTTP. The configuration sets few of them; the others are constants that only tests change.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tslp_wire::http::request::HeadLimits;

/// Bounds on sizes and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Bounds on a request head.
    #[serde(skip)]
    pub head: HeadLimits,
    /// Largest chat request body. The memory of all prompts in flight is bounded to about six times as much: 6 MiB is the
    /// largest that keeps the process under 64 MB, and holds a conversation of 4 MB with some images.
    #[serde(rename = "http.request_body_bytes_max")]
    pub chat_body_bytes_max: u64,
    /// Largest body of a relayed request. It is streamed, so this bounds time rather than memory; audio files and
    /// model uploads fit.
    #[serde(skip)]
    pub relay_body_bytes_max: u64,
    /// Bytes that may wait for one slow peer before the other side is read no further.
    #[serde(skip)]
    pub buffered_bytes_max: usize,
    /// Most client connections; more are accepted and closed at once.
    #[serde(skip)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timeouts {
    /// From a request's first byte to the end of its head; then 408.
    #[serde(skip)]
    pub head: Duration,
    /// Between two pieces of a request body; then 408.
    #[serde(skip)]
    pub body_idle: Duration,
    /// Between two requests on a kept-alive connection; then it is closed.
    #[serde(skip)]
    pub keep_alive: Duration,
    /// Longest time for which a client may take no byte of a response.
    #[serde(skip)]
    pub write_stall: Duration,
    /// To resolve and connect to the upstream.
    #[serde(skip)]
    pub connect: Duration,
    /// From the whole request to the response's first byte (`http.first_byte_seconds`). A cold model may take
    /// minutes to load.
    #[serde(rename = "http.first_byte_seconds", with = "seconds")]
    pub first_byte: Duration,
    /// Between two pieces of a response (`http.idle_seconds`).
    #[serde(rename = "http.idle_seconds", with = "seconds")]
    pub upstream_idle: Duration,
    /// How long an upstream connection is kept for the next request. Below llama.cpp's 5 s, so that the server's
    /// close doesn't cross a request.
    #[serde(skip)]
    pub pool: Duration,
    /// Longest time for which responses may go on after a request to stop.
    #[serde(skip)]
    pub shutdown: Duration,
    /// Longest time for an audit: a new request breaks it off, and it is asked again.
    #[serde(skip)]
    pub audit: Duration,
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
            audit: Duration::from_secs(120),
        }
    }
}

/// Times in whole units, for serde.
macro_rules! times {
    ($($unit:ident: $in_unit:ident, $from_unit:ident;)+) => {$(
        pub(super) mod $unit {
            use std::time::Duration;

            use serde::{Deserialize as _, Deserializer, Serializer};

            pub(in crate::config) fn serialize<S: Serializer>(
                time: &Duration,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                serializer.serialize_u64(u64::try_from(time.$in_unit()).unwrap_or(u64::MAX))
            }

            pub(in crate::config) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Duration, D::Error> {
                u64::deserialize(deserializer).map(Duration::$from_unit)
            }
        }
    )+};
}

times! {
    seconds: as_secs, from_secs;
    milliseconds: as_millis, from_millis;
}
