//! One event between its core type and the bytes that a row of the ledger holds.

use rkyv::api::high::{HighDeserializer, HighSerializer, HighValidator, to_bytes_in};
use rkyv::bytecheck::CheckBytes;
use rkyv::rancor::Error;
use rkyv::ser::allocator::ArenaHandle;
use rkyv::{Archive, Deserialize, Portable, Serialize};
use tslp_core::event::{Event, EventKind};

/// Largest payload that is written. SQLite refuses rows of 1,000,000,000 bytes; relative pointers end at 2 GiB.
pub const PAYLOAD_BYTES_MAX: usize = 512 << 20;

/// An event could not be encoded.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// Larger than [`PAYLOAD_BYTES_MAX`].
    #[error(
        "a `{kind}` event takes {bytes} bytes, more than the {PAYLOAD_BYTES_MAX} that one row of the ledger may hold"
    )]
    TooLarge {
        /// The event's kind.
        kind: EventKind,
        /// Its size, or its content's if that alone is too large.
        bytes: usize,
    },
    /// The serialiser failed.
    #[error("a `{kind}` event could not be encoded: {detail}")]
    Failed {
        /// The event's kind.
        kind: EventKind,
        /// Its message.
        detail: String,
    },
}

/// Stored bytes that are no event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// No version of tslp up to this one writes such events.
    #[error("unknown kind of event, number {number}")]
    UnknownKind {
        /// The stored number.
        number: u32,
    },
    /// The bytes aren't an event of their kind, or a value in them has no meaning.
    #[error("{bytes} bytes of a `{kind}` event are malformed: {detail}")]
    Malformed {
        /// The event's kind.
        kind: EventKind,
        /// The number of bytes.
        bytes: usize,
        /// What is wrong.
        detail: String,
    },
}

impl DecodeError {
    /// Whether a newer tslp wrote that, if the event's link in the hash chain holds. Whatever a newer one writes that isn't
    /// read here has a number that isn't known here.
    #[must_use]
    pub const fn is_unknown_kind(&self) -> bool {
        matches!(self, Self::UnknownKind { .. })
    }
}

/// Room for most events without growing, and for all of a content event but its bytes.
const SMALL_BYTES: usize = 256;

/// The bytes of an event; `held` is what it holds.
pub(crate) fn encode<T>(event: &Event, held: &T) -> Result<Vec<u8>, EncodeError>
where
    T: for<'a> Serialize<HighSerializer<Vec<u8>, ArenaHandle<'a>, Error>>,
{
    let kind = event.kind();
    let too_large = |bytes| EncodeError::TooLarge { kind, bytes };
    let content_bytes = match event {
        Event::Content(content) => content.bytes.len(),
        _ => 0,
    };
    // Before so much memory is taken.
    if content_bytes > PAYLOAD_BYTES_MAX {
        return Err(too_large(content_bytes));
    }
    let room = Vec::with_capacity(SMALL_BYTES + content_bytes);
    let payload = to_bytes_in::<_, Error>(held, room).map_err(|error| EncodeError::Failed {
        kind,
        detail: error.to_string(),
    })?;
    // Other events grow with what they list, which shows only now.
    if payload.len() > PAYLOAD_BYTES_MAX {
        return Err(too_large(payload.len()));
    }
    Ok(payload)
}

/// What an event of this kind holds.
pub(crate) fn decode<T>(kind: EventKind, payload: &[u8]) -> Result<T, DecodeError>
where
    T: Archive,
    T::Archived: Portable
        + for<'a> CheckBytes<HighValidator<'a, Error>>
        + Deserialize<T, HighDeserializer<Error>>,
{
    access::<T::Archived>(payload)
        .and_then(rkyv::deserialize::<T, Error>)
        .map_err(|error| malformed(kind, payload, &error))
}

pub(crate) fn access<A>(payload: &[u8]) -> Result<&A, Error>
where
    A: Portable + for<'a> CheckBytes<HighValidator<'a, Error>>,
{
    rkyv::access::<A, Error>(payload)
}

#[cold]
pub(crate) fn malformed(kind: EventKind, payload: &[u8], error: &Error) -> DecodeError {
    DecodeError::Malformed {
        kind,
        bytes: payload.len(),
        detail: error.to_string(),
    }
}
