//! How values are read from a ledger and from JSON: each type that means more than its bytes is checked here, by one validator
//! for both.
//!
//! Layouts (rkyv), JSON (serde) and arbitrary values (`arbitrary`, a feature for tests) are derived. By hand are only the types
//! of which not every text, number or range has a meaning.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rkyv::Place;
use rkyv::rancor::{Fallible, Source};
use rkyv::ser::{Allocator, Writer};
use rkyv::string::{ArchivedString, StringResolver};
use rkyv::vec::{ArchivedVec, VecResolver};
use rkyv::with::{ArchiveWith, DeserializeWith, SerializeWith};
use serde::{Deserialize as _, Serialize as _};

// rkyv's traits and derives by other names than serde's.
pub(crate) use rkyv::{Archive, Deserialize as Load, Serialize as Store};

/// A value that was read and has no meaning: damage, or the work of a newer tslp.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Meaningless {
    /// A number or word that stands for nothing.
    #[error("`{value}` is no {title}")]
    Word {
        /// What it should be one of.
        title: &'static str,
        /// The number or word.
        value: String,
    },
    /// A path that isn't normalised.
    #[error("`{0}` is no normalised path below a workspace")]
    Path(String),
    /// A range that ends before it starts.
    #[error("a range from {start} to {end}")]
    Range {
        /// First byte.
        start: u32,
        /// One past the last byte.
        end: u32,
    },
    /// More older messages than messages.
    #[error("{older} of {messages} messages are older ones")]
    Older {
        /// Messages said to be older ones.
        older: u32,
        /// All messages.
        messages: usize,
    },
}

/// Stores a type as its text: one function gives the text, the other what a text means.
macro_rules! stored_text {
    ($type:ident, $text:ident, $read:expr) => {
        impl $crate::stored::Archive for $type {
            type Archived = rkyv::string::ArchivedString;
            type Resolver = rkyv::string::StringResolver;

            fn resolve(&self, resolver: Self::Resolver, out: rkyv::Place<Self::Archived>) {
                rkyv::string::ArchivedString::resolve_from_str(self.$text(), resolver, out);
            }
        }

        impl<S> $crate::stored::Store<S> for $type
        where
            S: rkyv::rancor::Fallible + ?Sized,
            S::Error: rkyv::rancor::Source,
            str: rkyv::SerializeUnsized<S>,
        {
            fn serialize(&self, serializer: &mut S) -> Result<Self::Resolver, S::Error> {
                rkyv::string::ArchivedString::serialize_from_str(self.$text(), serializer)
            }
        }

        impl<D> $crate::stored::Load<$type, D> for rkyv::string::ArchivedString
        where
            D: rkyv::rancor::Fallible + ?Sized,
            D::Error: rkyv::rancor::Source,
        {
            fn deserialize(&self, _: &mut D) -> Result<$type, D::Error> {
                let read: fn(&str) -> Result<$type, $crate::stored::Meaningless> = $read;
                read(self.as_str()).map_err(rkyv::rancor::Source::new)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.$text())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::stored::read_text(deserializer, $read)
            }
        }
    };
}
pub(crate) use stored_text;

/// A value out of a JSON text.
pub(crate) fn read_text<'de, T, D: serde::Deserializer<'de>>(
    deserializer: D,
    read: fn(&str) -> Result<T, Meaningless>,
) -> Result<T, D::Error> {
    struct Text<T>(fn(&str) -> Result<T, Meaningless>);

    impl<T> serde::de::Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            (self.0)(text).map_err(E::custom)
        }
    }

    deserializer.deserialize_str(Text(read))
}

/// [`words!`](crate::words) that events hold. In the ledger each is one byte, its place in the declaration, so variants
/// are only ever appended; in JSON it is its word. A byte instead of the word keeps events small and replay fast.
macro_rules! stored_words {
    ($(#[$outer:meta])* $name:ident, $title:literal { $($body:tt)+ }) => {
        $crate::words! { $(#[$outer])* $name, $title { $($body)+ } }

        const _: () = assert!($name::ALL.len() <= 256, "a word is stored as one byte");

        impl $crate::stored::Archive for $name {
            type Archived = u8;
            type Resolver = ();

            fn resolve(&self, (): (), out: rkyv::Place<u8>) {
                out.write(*self as u8);
            }
        }

        impl<S: rkyv::rancor::Fallible + ?Sized> $crate::stored::Store<S> for $name {
            fn serialize(&self, _: &mut S) -> Result<(), S::Error> {
                Ok(())
            }
        }

        impl<D> $crate::stored::Load<$name, D> for u8
        where
            D: rkyv::rancor::Fallible + ?Sized,
            D::Error: rkyv::rancor::Source,
        {
            fn deserialize(&self, _: &mut D) -> Result<$name, D::Error> {
                match $name::ALL.get(usize::from(*self)) {
                    Some(word) => Ok(*word),
                    None => Err($crate::stored::meaningless_word::<D>($name::TITLE, *self)),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::stored::read_text(deserializer, |word| {
                    $name::of_word(word).ok_or_else(|| $crate::stored::Meaningless::Word {
                        title: $name::TITLE,
                        value: word.into(),
                    })
                })
            }
        }

        #[cfg(feature = "arbitrary")]
        impl<'a> arbitrary::Arbitrary<'a> for $name {
            fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
                u.choose(Self::ALL).copied()
            }
        }
    };
}
pub(crate) use stored_words;

/// The error for a byte that stands for no word.
#[cold]
pub(crate) fn meaningless_word<D>(title: &'static str, stored: u8) -> D::Error
where
    D: Fallible + ?Sized,
    D::Error: Source,
{
    D::Error::new(Meaningless::Word {
        title,
        value: alloc::string::ToString::to_string(&stored),
    })
}

/// Shared bytes, stored as a list without a copy in between.
pub(crate) struct SharedBytes;

impl ArchiveWith<Arc<[u8]>> for SharedBytes {
    type Archived = ArchivedVec<u8>;
    type Resolver = VecResolver;

    fn resolve_with(bytes: &Arc<[u8]>, resolver: VecResolver, out: Place<Self::Archived>) {
        ArchivedVec::resolve_from_slice(bytes, resolver, out);
    }
}

impl<S: Fallible + Allocator + Writer + ?Sized> SerializeWith<Arc<[u8]>, S> for SharedBytes {
    fn serialize_with(bytes: &Arc<[u8]>, serializer: &mut S) -> Result<VecResolver, S::Error> {
        ArchivedVec::serialize_from_slice(bytes, serializer)
    }
}

impl<D: Fallible + ?Sized> DeserializeWith<ArchivedVec<u8>, Arc<[u8]>, D> for SharedBytes {
    fn deserialize_with(bytes: &ArchivedVec<u8>, _: &mut D) -> Result<Arc<[u8]>, D::Error> {
        Ok(bytes.as_slice().into())
    }
}

/// A value stored as its JSON: what has names there needs no new layout for one more.
pub(crate) struct AsJson;

impl<T> ArchiveWith<T> for AsJson {
    type Archived = ArchivedString;
    type Resolver = (String, StringResolver);

    fn resolve_with(_: &T, (json, resolver): Self::Resolver, out: Place<Self::Archived>) {
        ArchivedString::resolve_from_str(&json, resolver, out);
    }
}

impl<T: serde::Serialize, S> SerializeWith<T, S> for AsJson
where
    S: Fallible + Allocator + Writer + ?Sized,
    S::Error: Source,
{
    fn serialize_with(value: &T, serializer: &mut S) -> Result<Self::Resolver, S::Error> {
        let json = serde_json::to_string(value).map_err(S::Error::new)?;
        let resolver = ArchivedString::serialize_from_str(&json, serializer)?;
        Ok((json, resolver))
    }
}

impl<T: serde::de::DeserializeOwned, D> DeserializeWith<ArchivedString, T, D> for AsJson
where
    D: Fallible + ?Sized,
    D::Error: Source,
{
    fn deserialize_with(json: &ArchivedString, _: &mut D) -> Result<T, D::Error> {
        serde_json::from_str(json).map_err(D::Error::new)
    }
}

/// Bytes in JSON: a member `text` where they are UTF-8, else `base64` with padding (RFC 4648, section 4).
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextOrBase64<'a> {
    /// UTF-8.
    Text(#[serde(borrow)] Cow<'a, str>),
    /// Anything else.
    Base64(String),
}

impl<'a> From<&'a [u8]> for TextOrBase64<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        match str::from_utf8(bytes) {
            Ok(text) => Self::Text(Cow::Borrowed(text)),
            Err(_) => Self::Base64(BASE64_STANDARD.encode(bytes)),
        }
    }
}

impl TextOrBase64<'_> {
    /// The bytes; `None` if that isn't base64.
    #[must_use]
    pub fn into_bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.into_owned().into_bytes()),
            Self::Base64(encoded) => BASE64_STANDARD.decode(encoded).ok(),
        }
    }
}

/// Content's bytes in JSON.
pub(crate) mod text_or_base64 {
    use super::*;

    pub(crate) fn serialize<S: serde::Serializer>(
        bytes: &Arc<[u8]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        TextOrBase64::from(&**bytes).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<[u8]>, D::Error> {
        TextOrBase64::deserialize(deserializer)?
            .into_bytes()
            .map(Arc::from)
            .ok_or_else(|| serde::de::Error::custom("`base64` can't be decoded"))
    }
}

/// Arbitrary values of few: events are only interesting where they concern the same things. Some are extremes.
#[cfg(feature = "arbitrary")]
pub(crate) mod few {
    use super::*;
    use arbitrary::{Result, Unstructured};

    /// The number of an id, nearly always one of six.
    pub(crate) fn number(u: &mut Unstructured<'_>) -> Result<u64> {
        Ok(match u.int_in_range(0..=999_u16)? {
            0 => u64::MAX,
            1 => u64::MAX - 1,
            2 => u.arbitrary()?,
            other => u64::from(other % 6),
        })
    }

    /// A count, nearly always small.
    pub(crate) fn count(u: &mut Unstructured<'_>) -> Result<u32> {
        Ok(match u.int_in_range(0..=99_u8)? {
            0 => u32::MAX,
            other => u32::from(other % 7),
        })
    }

    /// A name that a person or a program might have chosen.
    pub(crate) fn name(u: &mut Unstructured<'_>) -> Result<String> {
        u.choose(&["one", "two"]).map(|name| String::from(*name))
    }

    /// A few bytes.
    pub(crate) fn bytes(u: &mut Unstructured<'_>) -> Result<Arc<[u8]>> {
        let length = u.int_in_range(0..=7_usize)?.min(u.len());
        u.bytes(length).map(Arc::from)
    }
}
