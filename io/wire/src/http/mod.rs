//! HTTP/1.1 as pure state machines: bytes in, enum out.

pub mod body;
pub mod error;
pub mod head;
pub mod head_scan;
pub mod headers;
pub mod inflate;
pub mod outgoing;
pub mod request;
pub mod response;
pub mod server_connection;
