//! Stored bytes: the number of each kind of event, and the schema of the database.
//!
//! The layouts themselves are derived where events are declared (`tslp_core::event`). A number stands for one layout, for ever. When
//! a type changes, its events get another number, the layout as it was is kept here, in a module of its
//! own with one `From`, and its number goes on the list of past ones (`kinds.rs`; docs/migrations.md has the steps).

#![forbid(unsafe_code)]

mod content;
mod format_2;
mod format_3;
mod format_6;
mod kinds;
pub mod schema;
mod stored;

pub use content::{ContentRef, decode_content};
pub use kinds::{EncodedEvent, NUMBERS, decode, encode, kind_of, number_of};
pub use stored::{DecodeError, EncodeError, PAYLOAD_BYTES_MAX};
