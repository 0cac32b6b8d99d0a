//! A stored `content` event, read without copying its bytes.

use rkyv::rancor::{Error, Strategy};
use rkyv::{Archive, Deserialize};
use tslp_core::event::{ArchivedContent, Content, ContentKind, EventKind};
use tslp_core::hash::ArtifactHash;

use crate::kinds::number_of;
use crate::stored::{DecodeError, access, malformed};

/// A content event, read where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentRef<'a> {
    /// Address: BLAKE3 of `bytes`.
    pub hash: ArtifactHash,
    /// What they are.
    pub kind: ContentKind,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl ContentRef<'_> {
    /// Whether the bytes are those that the hash names.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        ArtifactHash::of(self.bytes) == self.hash
    }
}

/// The content in a stored `content` event without copying it; `None` if the event is of another kind.
///
/// # Errors
/// [`DecodeError`], likewise only for events of this kind.
pub fn decode_content(number: u32, payload: &[u8]) -> Result<Option<ContentRef<'_>>, DecodeError> {
    if number != number_of(EventKind::Content) {
        return Ok(None);
    }
    let read = || {
        let stored: &ArchivedContent = access::<<Content as Archive>::Archived>(payload)?;
        Ok(ContentRef {
            hash: ArtifactHash(stored.hash.0),
            kind: stored
                .kind
                .deserialize(Strategy::<_, Error>::wrap(&mut ()))?,
            bytes: &stored.bytes,
        })
    };
    read()
        .map(Some)
        .map_err(|error| malformed(EventKind::Content, payload, &error))
}
