//! The bytes of an event as its row holds them: compressed where that is shorter.
//!
//! The chain, exports and everything above are about the event's own bytes. A row whose `kind` is negative holds them packed: as a
//! frame of zstd, against a dictionary of typical events, because most events are short.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::LazyLock;

use tslp_migrations::PAYLOAD_BYTES_MAX;
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::DecoderDictionary;
use zstd::zstd_safe::get_frame_content_size;

/// Events as tslp writes them. A part of the format: with other bytes no ledger of format 5 could be read.
const DICTIONARY: &[u8] = include_bytes!("packing.dictionary");

/// Made ready once: many an event is read by itself.
static READY_DICTIONARY: LazyLock<DecoderDictionary<'static>> =
    LazyLock::new(|| DecoderDictionary::copy(DICTIONARY));

/// Shorter payloads stay as they are: they would hardly shrink.
const PACKED_BYTES_MIN: usize = 96;

/// The fastest of zstd's usual levels, and the one that takes least memory; the next ones save 2 % more.
const LEVEL: i32 = 1;

/// Packs payloads.
#[derive(Default)]
pub(super) struct Packer(RefCell<Option<Compressor<'static>>>);

impl Packer {
    /// The row's number and bytes for an event of this kind.
    pub(super) fn packed<'a>(&self, kind: u32, payload: Cow<'a, [u8]>) -> (i64, Cow<'a, [u8]>) {
        match self.shorter(&payload) {
            Some(packed) => (-i64::from(kind), Cow::Owned(packed)),
            None => (i64::from(kind), payload),
        }
    }

    fn shorter(&self, payload: &[u8]) -> Option<Vec<u8>> {
        if payload.len() < PACKED_BYTES_MIN {
            return None;
        }
        let mut compressor = self.0.borrow_mut();
        if compressor.is_none() {
            *compressor = Compressor::with_dictionary(LEVEL, DICTIONARY).ok();
        }
        let packed = compressor.as_mut()?.compress(payload).ok()?;
        (packed.len() < payload.len()).then_some(packed)
    }
}

/// Unpacks what [`Packer`] packed.
#[derive(Default)]
pub(super) struct Unpacker(Option<Decompressor<'static>>);

impl Unpacker {
    /// The number of an event's kind, and its bytes; `None` for a number that no kind can have.
    ///
    /// What can't be unpacked is handed on as it is: the chain says of it, as of any damage, that it isn't what was appended.
    pub(super) fn unpacked<'a>(
        &mut self,
        kind: i64,
        bytes: &'a [u8],
    ) -> Option<(u32, Cow<'a, [u8]>)> {
        let number = u32::try_from(kind.unsigned_abs()).ok()?;
        let plain = if kind < 0 { self.plain(bytes) } else { None };
        Some((number, plain.map_or(Cow::Borrowed(bytes), Cow::Owned)))
    }

    fn plain(&mut self, packed: &[u8]) -> Option<Vec<u8>> {
        let length = usize::try_from(get_frame_content_size(packed).ok()??).ok()?;
        // Before so much memory is taken: damaged bytes may name any length.
        if length > PAYLOAD_BYTES_MAX {
            return None;
        }
        if self.0.is_none() {
            self.0 = Decompressor::with_prepared_dictionary(&READY_DICTIONARY).ok();
        }
        self.0.as_mut()?.decompress(packed, length).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is packed comes back, and is never longer.
    #[test]
    fn packed_round_trip() {
        let packer = Packer::default();
        let mut unpacker = Unpacker::default();
        let mut noise = [0; 5000];
        blake3::Hasher::new().finalize_xof().fill(&mut noise);
        let code = "fn main() { println!(\"{}\", Config::new()); }\n".repeat(200);
        for payload in [&[][..], b"short", &noise, code.as_bytes(), DICTIONARY] {
            let (kind, packed) = packer.packed(7, Cow::Borrowed(payload));
            assert_eq!(kind < 0, packed.len() < payload.len());
            let unpacked = unpacker.unpacked(kind, &packed);
            assert_eq!(unpacked, Some((7, Cow::Borrowed(payload))));
        }
        let (_, packed) = packer.packed(7, Cow::Borrowed(code.as_bytes()));
        assert!(packed.len() * 10 < code.len(), "{}", packed.len());
    }

    #[test]
    fn pinned_dictionary() {
        // Another one needs another number for what it packs (docs/storage.md).
        assert_eq!(
            blake3::hash(DICTIONARY).to_string(),
            "4f4554a06fe78d0c5cdc9ea67c197da58393df4f2bb7f97b19d8a603e44c8bc8"
        );
        // As zstd 1.5.4 packed it.
        let packed = [
            0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x87, 0x55, 0x01, 0x00, 0xb8, 0x66, 0x6e, 0x29, 0x20,
            0x7b, 0x20, 0x70, 0x72, 0x69, 0x6e, 0x74, 0x6c, 0x6e, 0x21, 0x28, 0x22, 0x7b, 0x7d,
            0x22, 0x2c, 0x20, 0x28, 0x29, 0x05, 0x00, 0x07, 0xd5, 0x00, 0xab, 0xc0, 0x86, 0x88,
            0x04, 0x11, 0x92, 0xdf, 0x08, 0x4d, 0x19, 0x60, 0x1b,
        ];
        let code = "fn main() { println!(\"{}\", Config::new()); }\n".repeat(3);
        let unpacked = Unpacker::default().unpacked(-2, &packed);
        assert_eq!(unpacked, Some((2, Cow::Borrowed(code.as_bytes()))));
    }

    /// Damaged bytes are handed on.
    #[test]
    fn damaged_bytes() {
        let packer = Packer::default();
        let code = "int add(int a, int b) { return a + b; }\n".repeat(20);
        let (kind, packed) = packer.packed(2, Cow::Borrowed(code.as_bytes()));
        let mut unpacker = Unpacker::default();
        for at in 0..packed.len() {
            for bit in 0..8 {
                let mut damaged = packed.to_vec();
                damaged[at] ^= 1 << bit;
                let (number, bytes) = unpacker.unpacked(kind, &damaged).unwrap();
                assert_eq!(number, 2);
                assert!(bytes.len() <= PAYLOAD_BYTES_MAX);
            }
        }
        // A frame that claims a terabyte.
        let claims = [0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0];
        assert_eq!(
            unpacker.unpacked(-2, &claims),
            Some((2, Cow::Borrowed(&claims[..])))
        );
        assert_eq!(unpacker.unpacked(i64::MIN, b""), None);
    }
}
