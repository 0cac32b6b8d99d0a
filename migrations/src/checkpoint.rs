//! Stored bytes of a checkpoint's parts. They may change at any time: whoever reads them knows by which program they were
//! written, and a checkpoint of another one is thrown away.

use rkyv::api::high::to_bytes_in;
use rkyv::rancor;
use tslp_projections::part::Part;

use crate::decode::Invalid;
use crate::v1::Load;

mod layout;
mod load;
mod store;

/// Raised with every change of a layout here or of what it means.
pub const LAYOUT: u32 = 1;

/// Bytes that are no part of a state, or a part that has no bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// The serialiser gave up.
    #[error("a part can't be encoded: {0}")]
    Failed(String),
    /// The bytes don't have the layout of a part.
    #[error("{bytes} bytes of a part are malformed: {detail}")]
    Malformed {
        /// How many bytes there are.
        bytes: usize,
        /// What the validator met.
        detail: String,
    },
    /// The layout is right, what it says isn't.
    #[error("a part says what none can: {0}")]
    Invalid(Invalid),
}

/// Encodes a part.
///
/// # Errors
/// When it is too large for relative pointers, which no part of a state is.
pub fn encode(part: &Part) -> Result<Vec<u8>, PartError> {
    to_bytes_in::<_, rancor::Error>(&layout::Part::from(part), Vec::new())
        .map_err(|error| PartError::Failed(error.to_string()))
}

/// Decodes a part. Any bytes give a part or an error value; none give a panic.
///
/// # Errors
/// See [`PartError`].
pub fn decode(bytes: &[u8]) -> Result<Part, PartError> {
    rkyv::access::<layout::ArchivedPart<'_>, rancor::Error>(bytes)
        .map_err(|error| PartError::Malformed {
            bytes: bytes.len(),
            detail: error.to_string(),
        })?
        .load()
        .map_err(PartError::Invalid)
}
