//! The dialect of `POST /v1/chat/completions`: request bodies in and out, replies decoded from their stream.

mod body_walk;
pub mod reply;
pub mod request;
pub mod rewrite;
pub mod sent;
pub mod template;
