//! BLAKE3 hashes; each kind has a type of its own, so that two kinds can't be compared by mistake.

use core::fmt;

use crate::stored::{Archive, Load, Meaningless, Store, read_text};

macro_rules! hash {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Archive, Store, Load)]
        pub struct $name(pub [u8; 32]);

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                read_text(deserializer, |text| match blake3::Hash::from_hex(text) {
                    Ok(hash) => Ok(Self(hash.into())),
                    Err(_) => Err(Meaningless::Word {
                        title: "hash of 64 hexadecimal digits",
                        value: text.into(),
                    }),
                })
            }
        }

        #[cfg(feature = "arbitrary")]
        impl<'a> arbitrary::Arbitrary<'a> for $name {
            fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
                u.int_in_range(0..=5_u8).map(|byte| Self([byte; 32]))
            }
        }

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
    /// BLAKE3 of a slice's canonical form (see [`crate::slice`]), by which two definitions are compared.
    SliceHash
);
hash!(
    /// BLAKE3 of one chat message's role, text and tool calls, by which history is recognised when a client sends it again.
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

    /// The hash of a prompt and its reply alone: it recognises a session whose client rewrites everything before them.
    #[must_use]
    pub fn of_exchange(user: MessageKey, reply: MessageKey) -> Self {
        Self::EMPTY.extended(user).extended(reply)
    }

    /// The transcript that `key` extends this one to.
    #[must_use]
    pub fn extended(self, key: MessageKey) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        hasher.update(&key.0);
        Self(*hasher.finalize().as_bytes())
    }
}

/// A hash with fixed keys, for look-ups and comparisons within one process: one multiplication for 16 bytes. It is never
/// stored, and a collision only costs another look-up or a slightly wrong count, so that an attacker gains nothing by one.
#[must_use]
pub fn quick_hash(bytes: &[u8]) -> u64 {
    const KEY: u64 = 0x9e37_79b9_7f4a_7c15;
    let folded = |one: u64, other: u64| {
        let product = u128::from(one) * u128::from(other);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let (words, rest) = bytes.as_chunks::<8>();
    let (pairs, single) = words.as_chunks::<2>();
    let mut hash = bytes.len() as u64;
    for [first, second] in pairs {
        hash = folded(hash ^ word(first), KEY ^ word(second));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let single = single.first().map_or(0, word);
    folded(folded(hash ^ single, KEY ^ word(&last)), KEY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn short_form() {
        let hash = ArtifactHash::of(b"");
        assert_eq!(format!("{hash:.12}"), "af1349b9f5f9");
        assert_eq!(format!("{hash}").len(), 64);
    }
}
