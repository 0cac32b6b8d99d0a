//! The way to the upstream: its connections, one request and its response.

pub mod connection;
pub mod pool;
pub mod resolve;
pub mod server;
pub mod tls;
