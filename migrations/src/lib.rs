//! Stored bytes: the layout of every event version ever written, and the steps of the database schema.
//!
//! Core types carry no serialisation. A layout that has been released never changes; a new one is added, and
//! old events are read into today's core types. `fixtures/` holds frozen bytes of every event.

#![forbid(unsafe_code)]

mod decode;
mod encode;
pub mod schema;
mod v1;
mod v2;

pub use decode::{ContentRef, DecodeError, InvalidValue, LAYOUTS, decode, decode_content};
pub use encode::{EncodeError, EncodedEvent, PAYLOAD_BYTES_MAX, encode, kind_of};
