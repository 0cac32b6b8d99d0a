//! Tables of projections, as any store can hold them: no SQL here, only names, values and hashes.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// One value of a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// Nothing.
    Null,
    /// A whole number or a truth value.
    Integer(i64),
    /// UTF-8 text.
    Text(Arc<str>),
    /// A hash.
    Hash([u8; 32]),
    /// Any bytes.
    Bytes(Arc<[u8]>),
}

/// A column's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// [`Value::Integer`].
    Integer,
    /// [`Value::Text`].
    Text,
    /// [`Value::Hash`].
    Hash,
    /// [`Value::Bytes`].
    Bytes,
}

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, safe as a bare SQL identifier.
    pub name: &'static str,
    /// Its type.
    pub kind: ColumnType,
    /// Whether it may hold [`Value::Null`]. Never true for a key column.
    pub nullable: bool,
}

/// The row that is kept when two have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The latest. The table holds the current state, and the fold holds as much of it as it needs.
    Latest,
    /// The first, for ever: an *archive*. No row is ever changed or removed, so the table grows with history, and no
    /// fold looks into it. The column `seq` holds the position of the event that put the row.
    First {
        /// Index of that column.
        seq: usize,
    },
}

/// A projection's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name, safe as a bare SQL identifier.
    pub name: &'static str,
    /// Rises whenever the meaning or shape of the rows changes; stored rows of another version are rebuilt.
    pub version: u32,
    /// The columns; the first `key` of them are the primary key.
    pub columns: &'static [Column],
    /// The number of leading columns that are the primary key.
    pub key: usize,
    /// The row that is kept when two have the same key.
    pub keep: Keep,
}

impl Table {
    /// Whether rows are only ever added.
    #[must_use]
    pub const fn is_archive(&self) -> bool {
        matches!(self.keep, Keep::First { .. })
    }
}

impl From<&'static str> for Value {
    fn from(word: &'static str) -> Self {
        Self::text(word)
    }
}

impl From<u64> for Value {
    /// Ledger numbers are dense from 1 and never come near the sign bit; one that does is clamped.
    fn from(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<&[u8; 32]> for Value {
    fn from(hash: &[u8; 32]) -> Self {
        Self::Hash(*hash)
    }
}

impl Value {
    /// A copy of a text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }
}

/// Bytes of a row that most rows don't exceed, for hashing them.
const ROW_BYTES_USUAL: usize = 256;

/// The version of [`row_hash_lanes`]: a stored hash of another version says nothing.
const ROW_HASH_VERSION: u8 = 3;

/// The number of rows, of one table or of several, and the sum of their hashes. Tables with the same hash hold the same rows,
/// unless somebody searched for a collision. Being a sum, it can be updated with each change without reading the other rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowsHash {
    rows: u64,
    sum: [u64; 4],
}

impl RowsHash {
    /// Counts a row that was added.
    pub fn add(&mut self, table: &Table, row: &[Value]) {
        // Wrapping, so that what is added and taken away again leaves no trace, in any order.
        self.rows = self.rows.wrapping_add(1);
        for (lane, hash) in self.sum.iter_mut().zip(row_hash_lanes(table, row)) {
            *lane = lane.wrapping_add(hash);
        }
    }

    /// Counts a row that was removed.
    pub fn remove(&mut self, table: &Table, row: &[Value]) {
        self.rows = self.rows.wrapping_sub(1);
        for (lane, hash) in self.sum.iter_mut().zip(row_hash_lanes(table, row)) {
            *lane = lane.wrapping_sub(hash);
        }
    }

    /// The number of rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Reads a hash from its bytes; `None` if they have another version or length.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, [ROW_HASH_VERSION]) = bytes.as_chunks::<8>() else {
            return None;
        };
        let numbers: &[[u8; 8]; 5] = numbers.try_into().ok()?;
        let [rows, sum @ ..] = numbers.map(u64::from_le_bytes);
        Some(Self { rows, sum })
    }

    /// Its bytes, as a store keeps them.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 41] {
        let mut bytes = [ROW_HASH_VERSION; 41];
        let numbers = core::iter::once(self.rows).chain(self.sum);
        for (eight, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            eight.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }
}

impl fmt::Display for RowsHash {
    /// The sum, as hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lanes = self.sum.iter();
        lanes.try_for_each(|lane| write!(f, "{lane:016x}"))
    }
}

/// The hash of one row: of its table's name and its values one after the other, in an encoding that tells any two rows apart. It is
/// short, because a start hashes every row, and blake3 takes 64 bytes at a time.
fn row_hash_lanes(table: &Table, row: &[Value]) -> [u64; 4] {
    let mut bytes = Vec::with_capacity(ROW_BYTES_USUAL);
    push_number(&mut bytes, 2, table.name.len() as u64);
    bytes.extend_from_slice(table.name.as_bytes());
    for value in row {
        match value {
            Value::Null => bytes.push(0),
            Value::Integer(number) => push_number(&mut bytes, 1, number.cast_unsigned()),
            Value::Text(text) => {
                // Without the length, the texts `ab` and `c` would read as `a` and `bc`.
                push_number(&mut bytes, 2, text.len() as u64);
                bytes.extend_from_slice(text.as_bytes());
            }
            Value::Hash(hash) => {
                bytes.push(3);
                bytes.extend_from_slice(hash);
            }
            Value::Bytes(held) => {
                // Never of zero length, which is a hash.
                push_number(&mut bytes, 3, held.len() as u64 + 1);
                bytes.extend_from_slice(held);
            }
        }
    }
    let hash = blake3::hash(&bytes);
    let (eights, _) = hash.as_bytes().as_chunks::<8>();
    core::array::from_fn(|lane| u64::from_le_bytes(eights[lane]))
}

/// Adds a byte that holds a type and the number of bytes that follow, and so many bytes of a number.
fn push_number(bytes: &mut Vec<u8>, kind: u8, number: u64) {
    let length = (u64::BITS - number.leading_zeros()).div_ceil(8) as usize;
    debug_assert!(
        kind < 4 && length <= 8,
        "two bits hold the type, the others the length"
    );
    bytes.push(kind | (length as u8) << 2);
    bytes.extend_from_slice(&number.to_le_bytes()[..length]);
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table = Table {
        name: "t",
        version: 1,
        columns: &[],
        key: 0,
        keep: Keep::Latest,
    };

    #[test]
    fn distinct_hashes() {
        let bytes = [7; 32];
        let text = |text| Value::text(text);
        let rows: &[&[Value]] = &[
            &[],
            &[Value::Null],
            &[Value::Null, Value::Null],
            &[0_u64.into()],
            &[256_u64.into()],
            &[1_u64.into()],
            &[(-1_i64).into()],
            &[text("")],
            &[text("\u{1}")],
            &[text("ab"), text("c")],
            &[text("a"), text("bc")],
            &[(&bytes).into()],
            &[text(core::str::from_utf8(&bytes).unwrap())],
            &[Value::Bytes(bytes.into())],
            &[Value::Bytes([].into()), (&bytes).into()],
        ];
        let hashes: Vec<RowsHash> = rows.iter().map(|row| hash_of(row)).collect();
        for (index, hash) in hashes.iter().enumerate() {
            assert!(!hashes[..index].contains(hash), "{:?}", rows[index]);
        }
    }

    #[test]
    fn hash_with_version() {
        // Change the version with the encoding, or tables that older programs wrote seem damaged.
        let row = [7_u64.into(), Value::Null, "a".into(), (&[7; 32]).into()];
        let hash = hash_of(&row);
        assert_eq!(ROW_HASH_VERSION, 3);
        assert_eq!(
            alloc::format!("{hash}"),
            "d10c757fc9b8836efd3816819c61b525502e515b546da0463b99a96829ca948b"
        );
        let bytes = hash.to_bytes();
        assert_eq!(RowsHash::from_bytes(&bytes), Some(hash));
        assert_eq!(RowsHash::from_bytes(&bytes[..40]), None);
    }

    fn hash_of(row: &[Value]) -> RowsHash {
        let mut hash = RowsHash::default();
        hash.add(&TABLE, row);
        hash
    }
}
