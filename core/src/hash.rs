//! BLAKE3 names of bytes; each kind of hash has a type of its own so that they can't be compared by mistake.

use core::fmt;

macro_rules! hash {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; 32]);

        impl fmt::Display for $name {
            /// All 64 hexadecimal digits; `{:.12}` gives the first 12.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let digits = f.precision().unwrap_or(64).min(64);
                for index in 0..digits {
                    let byte = self.0[index / 2];
                    let nibble = if index % 2 == 0 { byte >> 4 } else { byte & 15 };
                    write!(f, "{nibble:x}")?;
                }
                Ok(())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:.12})"), self)
            }
        }
    };
}

hash!(
    /// The Vault's address of some bytes: BLAKE3 of exactly those bytes.
    ArtifactHash
);
hash!(
    /// BLAKE3 of a slice's canonical form (see [`crate::slice`]): what two definitions are compared by.
    SliceHash
);
hash!(
    /// BLAKE3 of one chat message's role, text and tool calls: how history is recognised when a client re-sends it.
    MessageKey
);
hash!(
    /// BLAKE3 of the sequence of message keys up to a point of a conversation.
    TranscriptHash
);

impl ArtifactHash {
    /// The address of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl TranscriptHash {
    /// The transcript without any message.
    pub const EMPTY: Self = Self([0; 32]);

    /// The transcript that `key` extends this one to.
    #[must_use]
    pub fn extended(self, key: MessageKey) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        hasher.update(&key.0);
        Self(*hasher.finalize().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn precision_shortens_the_hexadecimal_form() {
        let hash = ArtifactHash::of(b"");
        assert_eq!(format!("{hash:.12}"), "af1349b9f5f9");
        assert_eq!(format!("{hash}").len(), 64);
    }
}
