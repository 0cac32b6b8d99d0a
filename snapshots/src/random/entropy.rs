//! Bytes from a seed, so that a property test is a fuzz target with a fixed list of inputs.

use crate::dice::Dice;

/// `length` bytes that depend on the seed alone.
#[must_use]
pub fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut dice = Dice::new(seed);
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        bytes.extend_from_slice(&dice.roll().to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}
