//! Stored bytes: the number of each kind of event, and the schema of the database.
//!
//! The layouts themselves are derived where events are declared (`tslp_core::event`). A number stands for one layout, for ever. When
//! a type changes, its events get another number (docs/storage.md).

#![forbid(unsafe_code)]

mod content;
mod kinds;
pub mod schema;
mod stored;

pub use content::{ContentRef, decode_content};
pub use kinds::{EncodedEvent, NUMBERS, decode, encode, kind_of, number_of};
pub use stored::{DecodeError, EncodeError, PAYLOAD_BYTES_MAX};
