//! Chat requests and replies: request bodies in and out, replies decoded from their stream, in each dialect.

mod body_walk;
pub mod dialect;
pub mod kept_responses;
pub mod reply;
pub mod request;
pub mod rewrite;
pub mod rounds;
pub mod sent;
pub mod stream_progress;
pub mod template;
mod wire_message;
