//! The first block of a checkpoint's file: whose it is, where in the ledger it stands, and a hash over everything.

use tslp_core::ids::Seq;
use tslp_migrations::checkpoint::LAYOUT;
use tslp_projections::TABLES;
use tslp_replay::chain::ChainHash;
use tslp_replay::log::Head;

use super::Unusable;
use crate::VERSION;

/// The header's size.
pub(super) const BYTES: usize = 4096;

/// Where the hash over everything stands.
const HASH_AT: usize = BYTES - 32;

const MAGIC: &[u8; 8] = b"TSLPCKP1";
const SEQ_AT: usize = 8;
const CHAIN_AT: usize = 16;
const PARTS_AT: usize = 48;
const BODY_AT: usize = 56;
const PROGRAM_LENGTH_AT: usize = 64;
const PROGRAM_AT: usize = 66;

/// A fingerprint of the sources that make a state; see `build.rs`.
const SOURCES: &str = env!("STATE_SOURCES_FINGERPRINT");

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The last event that was folded in.
    pub(super) head: Head,
    /// How many parts follow.
    pub(super) parts: u64,
    /// How many bytes they take.
    pub(super) body_bytes: u64,
}

/// Everything that the bytes and their meaning depend on.
fn program() -> String {
    let mut program = format!("tslp {VERSION}, layout {LAYOUT}, sources {SOURCES}");
    for table in TABLES {
        program.push_str(&format!(", {} {}", table.name, table.version));
    }
    program.truncate(HASH_AT - PROGRAM_AT);
    program
}

impl Header {
    /// The header's bytes; the hash over everything covers them and what `body` has seen, the parts' hashes.
    pub(super) fn encode(self, mut body: blake3::Hasher) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let program = program();
        let length = u16::try_from(program.len()).unwrap_or(u16::MAX);
        bytes[..SEQ_AT].copy_from_slice(MAGIC);
        bytes[SEQ_AT..CHAIN_AT].copy_from_slice(&self.head.seq.0.to_le_bytes());
        bytes[CHAIN_AT..PARTS_AT].copy_from_slice(&self.head.chain.0);
        bytes[PARTS_AT..BODY_AT].copy_from_slice(&self.parts.to_le_bytes());
        bytes[BODY_AT..PROGRAM_LENGTH_AT].copy_from_slice(&self.body_bytes.to_le_bytes());
        bytes[PROGRAM_LENGTH_AT..PROGRAM_AT].copy_from_slice(&length.to_le_bytes());
        bytes[PROGRAM_AT..PROGRAM_AT + program.len()].copy_from_slice(program.as_bytes());
        body.update(&bytes[..HASH_AT]);
        bytes[HASH_AT..].copy_from_slice(body.finalize().as_bytes());
        bytes
    }

    /// Reads a header of this program's. Its hash is checked last, by [`vouches`].
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Unusable> {
        let bytes: &[u8; BYTES] = bytes
            .try_into()
            .map_err(|_| Unusable::Damaged("it is too short"))?;
        if bytes[..SEQ_AT] != *MAGIC {
            return Err(Unusable::Damaged("it doesn't begin like a checkpoint"));
        }
        let found = written_by(bytes);
        let expected = program();
        if found != expected.as_bytes() {
            return Err(Unusable::Foreign {
                found: String::from_utf8_lossy(found).into_owned(),
                expected,
            });
        }
        let mut chain = [0; 32];
        chain.copy_from_slice(&bytes[CHAIN_AT..PARTS_AT]);
        Ok(Self {
            head: Head {
                seq: Seq(number(bytes, SEQ_AT)),
                chain: ChainHash(chain),
            },
            parts: number(bytes, PARTS_AT),
            body_bytes: number(bytes, BODY_AT),
        })
    }
}

/// The hash over everything, as a header gives it.
pub(super) fn hash(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    if let Some(stored) = bytes.get(HASH_AT..BYTES) {
        hash.copy_from_slice(stored);
    }
    hash
}

/// Whether a header's hash is that of its bytes and of what `body` has seen.
pub(super) fn vouches(bytes: &[u8], mut body: blake3::Hasher) -> bool {
    bytes.len() == BYTES && {
        body.update(&bytes[..HASH_AT]);
        body.finalize() == bytes[HASH_AT..]
    }
}

fn written_by(bytes: &[u8; BYTES]) -> &[u8] {
    let length = [bytes[PROGRAM_LENGTH_AT], bytes[PROGRAM_LENGTH_AT + 1]];
    let end = PROGRAM_AT + usize::from(u16::from_le_bytes(length));
    bytes[..HASH_AT].get(PROGRAM_AT..end).unwrap_or_default()
}

fn number(bytes: &[u8; BYTES], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}
