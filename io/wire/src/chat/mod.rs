//! Chat requests and replies: request bodies in and out, replies decoded from their stream, in each dialect.

pub mod asked_again;
pub mod bad_request;
mod body_walk;
mod by_dialect;
pub mod checksum;
mod delivered_calls;
pub mod dialect;
mod encode;
mod frames;
mod held_calls;
mod json_text;
pub mod kept_responses;
mod lenient;
pub mod lost_calls;
pub mod reply;
mod reply_content;
pub mod reply_pipe;
pub mod request;
pub mod rewrite;
pub mod sent;
pub mod template;
mod wire_message;
mod written_calls;
