//! Rows of projections, as any store can hold them: no SQL here, only names, values and changes.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

use tslp_core::entity::{EntityId, Symbol};
use tslp_core::ids::{EpisodeId, VersionId};
use tslp_core::path::RelPath;
use tslp_core::slice::Span;

/// A text of a row. What the state shares with it, or what is part of the program, isn't copied.
#[derive(Clone)]
pub enum Text {
    /// A word of the program's.
    Word(&'static str),
    /// Any other.
    Shared(Arc<str>),
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Word(text) => text,
            Self::Shared(text) => text,
        }
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (**self).hash(hasher);
    }
}

/// One value of a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// Nothing.
    Null,
    /// A whole number or a truth value.
    Integer(i64),
    /// UTF-8 text.
    Text(Text),
    /// A hash.
    Hash([u8; 32]),
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
}

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, safe as a bare SQL identifier.
    pub name: &'static str,
    /// Its type.
    pub kind: ColumnType,
    /// Whether [`Value::Null`] may stand in it. Never true for a key column.
    pub nullable: bool,
}

/// Which row of a key stays when another one is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The latest. The table holds what is true now, and the fold holds as much of it as it needs.
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
    /// How many leading columns are the primary key.
    pub key: usize,
    /// Which row of a key stays.
    pub keep: Keep,
}

impl Table {
    /// Whether rows are only ever added.
    #[must_use]
    pub const fn is_archive(&self) -> bool {
        matches!(self.keep, Keep::First { .. })
    }
}

/// A change to one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Insert the row; where its key is taken, [`Table::keep`] says which row stays.
    Put(Vec<Value>),
    /// Remove the row with this key; only the key's values are given.
    Remove(Vec<Value>),
}

/// A change and the table that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowChange {
    /// Index into [`crate::TABLES`].
    pub table: usize,
    /// What changes.
    pub change: Change,
}

impl RowChange {
    /// Which row of which table changes.
    #[must_use]
    pub fn place(&self) -> (usize, &[Value]) {
        let key = match &self.change {
            Change::Put(row) => {
                let key = crate::TABLES.get(self.table).map_or(0, |table| table.key);
                &row[..key.min(row.len())]
            }
            Change::Remove(key) => key,
        };
        (self.table, key)
    }
}

/// A row of a table whose rows change many times while a batch is folded, and often come and go in it: what it holds is
/// asked of the state in the end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Late {
    /// Of `state_map`.
    Entity(EntityId),
    /// Of `proposals`.
    Proposal(VersionId),
    /// Of `episodes`.
    Episode(EpisodeId),
    /// Of `episode_entries`, with its position.
    Entry(EpisodeId, u64),
}

impl Late {
    const fn table(&self) -> usize {
        match self {
            Self::Entity(_) => crate::STATE_MAP,
            Self::Proposal(_) => crate::PROPOSALS,
            Self::Episode(_) => crate::EPISODES,
            Self::Entry(..) => crate::EPISODE_ENTRIES,
        }
    }

    fn key(&self) -> Vec<Value> {
        match self {
            Self::Entity(entity) => entity_key(entity).into(),
            Self::Proposal(version) => Vec::from([version.0.into()]),
            Self::Episode(episode) => Vec::from([episode.0.into()]),
            Self::Entry(episode, position) => Vec::from([episode.0.into(), (*position).into()]),
        }
    }
}

/// Collects the row changes of fold steps, or lets them go where no table follows the fold.
#[derive(Debug, Default)]
pub struct Changes {
    wanted: Wanted,
    collected: Vec<RowChange>,
    /// Rows to ask for in the end, and whether they stood before the first change.
    late: BTreeMap<Late, bool>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Wanted {
    #[default]
    All,
    Archives,
    Nothing,
}

impl Changes {
    /// Keeps every change.
    #[must_use]
    pub const fn collecting() -> Self {
        Self::wanting(Wanted::All)
    }

    /// Keeps the changes of archives alone.
    #[must_use]
    pub const fn of_archives() -> Self {
        Self::wanting(Wanted::Archives)
    }

    /// Keeps nothing; rows are not even built.
    #[must_use]
    pub const fn discarding() -> Self {
        Self::wanting(Wanted::Nothing)
    }

    const fn wanting(wanted: Wanted) -> Self {
        Self {
            wanted,
            collected: Vec::new(),
            late: BTreeMap::new(),
        }
    }

    /// Notes that this row changes, comes or goes; `stood` says whether it stood in its table just before.
    pub fn touch(&mut self, row: impl FnOnce() -> Late, stood: bool) {
        if matches!(self.wanted, Wanted::All) {
            self.late.entry(row()).or_insert(stood);
        }
    }

    /// Notes that this row was put.
    pub fn put(&mut self, table: usize, row: impl FnOnce() -> Vec<Value>) {
        if self.wants(table) {
            self.collected.push(RowChange {
                table,
                change: Change::Put(row()),
            });
        }
    }

    /// Notes that the row with this key is gone.
    pub fn remove(&mut self, table: usize, key: impl FnOnce() -> Vec<Value>) {
        if self.wants(table) {
            self.collected.push(RowChange {
                table,
                change: Change::Remove(key()),
            });
        }
    }

    fn wants(&self, table: usize) -> bool {
        match self.wanted {
            Wanted::All => true,
            Wanted::Archives => crate::TABLES.get(table).is_some_and(Table::is_archive),
            Wanted::Nothing => false,
        }
    }

    /// Takes out all changes kept since the last time, in the order they were made.
    pub fn drain(&mut self) -> impl Iterator<Item = RowChange> + '_ {
        self.collected.drain(..)
    }

    /// All changes kept, in the order they were made; then those of late rows, which `row_of` gives as they stand now.
    #[must_use]
    pub fn finish(self, row_of: impl Fn(&Late) -> Option<Vec<Value>>) -> Vec<RowChange> {
        let mut changes = self.collected;
        changes.extend(self.late.into_iter().filter_map(|(late, stood)| {
            let change = match row_of(&late) {
                Some(row) => Change::Put(row),
                None if stood => Change::Remove(late.key()),
                None => return None,
            };
            let table = late.table();
            Some(RowChange { table, change })
        }));
        changes
    }
}

/// Shorthand for a non-null column.
#[must_use]
pub const fn column(name: &'static str, kind: ColumnType) -> Column {
    Column {
        name,
        kind,
        nullable: false,
    }
}

/// Shorthand for a column that may be null.
#[must_use]
pub const fn nullable(name: &'static str, kind: ColumnType) -> Column {
    Column {
        name,
        kind,
        nullable: true,
    }
}

impl From<&'static str> for Value {
    fn from(word: &'static str) -> Self {
        Self::Text(Text::Word(word))
    }
}

impl From<Cow<'static, str>> for Value {
    fn from(text: Cow<'static, str>) -> Self {
        match text {
            Cow::Borrowed(word) => Self::from(word),
            Cow::Owned(text) => Self::text(&text),
        }
    }
}

impl From<&RelPath> for Value {
    fn from(path: &RelPath) -> Self {
        Self::Text(Text::Shared(path.clone().into()))
    }
}

impl From<&Symbol> for Value {
    fn from(symbol: &Symbol) -> Self {
        Self::Text(Text::Shared(symbol.clone().into()))
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, T::into)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
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

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Integer(truth.into())
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
        Self::Text(Text::Shared(text.into()))
    }

    /// The number, if it is one that isn't negative.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Integer(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// The bytes, if they are a hash.
    #[must_use]
    pub fn as_hash(&self) -> Option<[u8; 32]> {
        match self {
            Self::Hash(hash) => Some(*hash),
            _ => None,
        }
    }
}

/// The two key values of tables that hold one row for each entity; a whole file's symbol is empty.
#[must_use]
pub fn entity_key(entity: &EntityId) -> [Value; 2] {
    let symbol = entity.symbol.as_ref();
    [
        Value::from(&entity.path),
        symbol.map_or(Value::from(""), Value::from),
    ]
}

/// A hash of a table's rows: two tables with the same digest hold the same, value for value.
#[derive(Debug)]
pub struct TableDigest {
    hasher: blake3::Hasher,
    rows: u64,
}

impl TableDigest {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self {
            hasher: blake3::Hasher::new(),
            rows: 0,
        }
    }

    /// Adds the next row, in key order.
    pub fn add(&mut self, row: &[Value]) {
        self.rows += 1;
        self.hasher.update(&(row.len() as u64).to_le_bytes());
        for value in row {
            let (tag, bytes): (u8, &[u8]) = match value {
                Value::Null => (0, &[]),
                Value::Integer(number) => (1, &number.to_le_bytes()),
                Value::Text(text) => (2, text.as_bytes()),
                Value::Hash(hash) => (3, hash),
            };
            self.hasher.update(&[tag]);
            self.hasher.update(&(bytes.len() as u64).to_le_bytes());
            self.hasher.update(bytes);
        }
    }

    /// How many rows were added, and their hash.
    #[must_use]
    pub fn finish(&self) -> (u64, [u8; 32]) {
        (self.rows, *self.hasher.finalize().as_bytes())
    }
}

impl Default for TableDigest {
    fn default() -> Self {
        Self::new()
    }
}

/// Pieces of a text as a cell holds them.
pub(crate) fn spans_text(spans: &[Span]) -> String {
    let texts: Vec<_> = spans
        .iter()
        .map(|span| alloc::format!("{}..{}", span.start, span.end))
        .collect();
    texts.join(",")
}

/// The pieces that a cell names; `None` if it names none.
#[must_use]
pub fn spans_named(cell: &str) -> Option<Vec<Span>> {
    let spans = cell.split(',').map(|span| {
        let (start, end) = span.split_once("..")?;
        Some(Span {
            start: start.parse().ok()?,
            end: end.parse().ok()?,
        })
    });
    spans.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROPOSAL: Late = Late::Proposal(VersionId(7));

    fn finished(stood: bool, row: Option<Vec<Value>>) -> Vec<RowChange> {
        let mut changes = Changes::collecting();
        changes.touch(|| PROPOSAL, stood);
        // Whatever comes after the first change says nothing of what stood before it.
        changes.touch(|| PROPOSAL, true);
        changes.finish(|late| {
            assert_eq!(*late, PROPOSAL);
            row.clone()
        })
    }

    #[test]
    fn a_row_is_written_once_as_it_stands_in_the_end() {
        let row = Vec::from([Value::from(7_u64), Value::from("a")]);
        let table = crate::PROPOSALS;
        for stood in [false, true] {
            let change = Change::Put(row.clone());
            assert_eq!(
                finished(stood, Some(row.clone())),
                [RowChange { table, change }]
            );
        }
        let change = Change::Remove(Vec::from([Value::from(7_u64)]));
        assert_eq!(finished(true, None), [RowChange { table, change }]);
    }

    #[test]
    fn a_row_that_comes_and_goes_is_never_written() {
        assert_eq!(finished(false, None), []);
    }

    #[test]
    fn who_follows_the_archives_alone_hears_of_no_late_row() {
        let mut changes = Changes::of_archives();
        changes.touch(|| unreachable!("it isn't wanted"), true);
        assert_eq!(changes.drain().count(), 0);
        assert_eq!(changes.finish(|_| unreachable!("there is none")), []);
    }
}
