//! What goes over the wire: HTTP/1.1, and the dialects of chat that are spoken over it. Bytes in, values out: no socket, no file, no
//! clock.

#![forbid(unsafe_code)]

pub mod chat;
pub mod http;
