//! Drives the network loop over real sockets, with a fake engine behind it and a scripted upstream.
#![allow(
    clippy::unwrap_used,
    reason = "a test helper that fails is a test that fails"
)]

#[path = "http/harness.rs"]
mod harness;

#[path = "http/chat.rs"]
mod chat;
#[path = "http/demo.rs"]
mod demo;
#[path = "http/guarded.rs"]
mod guarded;
#[path = "http/memory.rs"]
mod memory;
#[path = "http/relay.rs"]
mod relay;
#[path = "http/requests.rs"]
mod requests;
#[path = "http/slow.rs"]
mod slow;
#[path = "http/tls.rs"]
mod tls;
#[path = "http/upstreams.rs"]
mod upstreams;
