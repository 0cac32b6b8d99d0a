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
use tslp_core::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use tslp_core::ids::{CaptureId, EpisodeId, Seq, SessionId, UnixMillis, VersionId};
use tslp_core::path::RelPath;
use tslp_core::slice::Span;

use crate::sessions::SessionList;

/// A text of a row, shared with the state or the program instead of copied.
#[derive(Clone)]
pub enum Text {
    /// A word that is a constant of the program.
    Word(&'static str),
    /// Any other text.
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

impl From<Text> for Arc<str> {
    /// Without a copy if the text is shared.
    fn from(text: Text) -> Self {
        match text {
            Text::Word(word) => word.into(),
            Text::Shared(text) => text,
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

/// A change to one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Insert the row; if its key is taken, [`Table::keep`] decides which row is kept.
    Put(Vec<Value>),
    /// Remove the row with this key; only the key's values are given.
    Remove(Vec<Value>),
    /// Replace all rows whose keys begin with these values by the given ones, each with its whole key.
    Replace(Vec<Value>, Vec<Vec<Value>>),
}

/// A change and the table that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowChange {
    /// Index into [`crate::TABLES`].
    pub table: usize,
    /// The change.
    pub change: Change,
}

impl RowChange {
    /// The index of the table, and the key of the row that changes.
    #[must_use]
    pub fn table_and_key(&self) -> (usize, &[Value]) {
        let key = match &self.change {
            Change::Put(row) => {
                let key = crate::TABLES.get(self.table).map_or(0, |table| table.key);
                &row[..key.min(row.len())]
            }
            Change::Remove(key) | Change::Replace(key, _) => key,
        };
        (self.table, key)
    }
}

/// Rows that may change many times while a batch is folded, or appear and vanish within it, so that their values are read from
/// the state only at its end. One row, or a list of rows whose positions shift.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LateRows {
    /// A row of `counters`.
    Counter(&'static str),
    /// A row of `state_map`.
    Entity(EntityId),
    /// A row of `partly_true`.
    Source(ArtifactHash),
    /// The rows of an entity in `former_versions`.
    FormerVersions(EntityId),
    /// A row of `proposals`.
    Proposal(VersionId),
    /// A row of `sessions`.
    Session(SessionId),
    /// The rows of a session in `recent_context`.
    RecentContext(SessionId),
    /// The rows of a session in `session_entities`.
    SessionEntities(SessionId),
    /// The rows of a session in `session_parts`.
    SessionParts(SessionId),
    /// The rows of one list of a session in `session_parts`.
    SessionPart(SessionId, SessionList),
    /// A row of `episodes`.
    Episode(EpisodeId),
}

impl LateRows {
    const fn table(&self) -> usize {
        match self {
            Self::Counter(_) => crate::COUNTERS,
            Self::Entity(_) => crate::STATE_MAP,
            Self::Source(_) => crate::PARTLY_TRUE,
            Self::FormerVersions(_) => crate::FORMER_VERSIONS,
            Self::Proposal(_) => crate::PROPOSALS,
            Self::Session(_) => crate::SESSIONS,
            Self::RecentContext(_) => crate::RECENT_CONTEXT,
            Self::SessionEntities(_) => crate::SESSION_ENTITIES,
            Self::SessionParts(_) | Self::SessionPart(..) => crate::SESSION_PARTS,
            Self::Episode(_) => crate::EPISODES,
        }
    }

    fn key(&self) -> Vec<Value> {
        match self {
            Self::Counter(name) => Vec::from([Value::from(*name)]),
            Self::Entity(entity) | Self::FormerVersions(entity) => entity_key(entity).into(),
            Self::Source(artifact) => Vec::from([Value::from(&artifact.0)]),
            Self::Proposal(version) => Vec::from([version.0.into()]),
            Self::Session(session)
            | Self::RecentContext(session)
            | Self::SessionEntities(session)
            | Self::SessionParts(session) => Vec::from([session.0.into()]),
            Self::SessionPart(session, part) => Vec::from([session.0.into(), part.word().into()]),
            Self::Episode(episode) => Vec::from([episode.0.into()]),
        }
    }

    /// The change since the start of the batch, if there is one. `was_present`: whether any of the rows was there then.
    fn change(&self, was_present: bool, mut rows: Vec<Vec<Value>>) -> Option<Change> {
        let key = self.key();
        if key.len() < crate::TABLES[self.table()].key {
            return (was_present || !rows.is_empty()).then_some(Change::Replace(key, rows));
        }
        debug_assert!(rows.len() <= 1, "{self:?} is one row");
        match rows.pop() {
            Some(row) => Some(Change::Put(row)),
            None => was_present.then_some(Change::Remove(key)),
        }
    }
}

/// Collects the row changes of fold steps, or discards them if no table follows the fold.
#[derive(Debug, Default)]
pub struct Changes {
    wanted: WantedChanges,
    collected: Vec<RowChange>,
    /// Rows to read from the state at the end, and whether any was there before the first change.
    late: BTreeMap<LateRows, bool>,
}

#[derive(Clone, Copy, Debug, Default)]
enum WantedChanges {
    #[default]
    All,
    Archives,
    Nothing,
}

impl Changes {
    /// Keeps every change.
    #[must_use]
    pub const fn collecting() -> Self {
        Self::wanting(WantedChanges::All)
    }

    /// Keeps only the changes of archives.
    #[must_use]
    pub const fn of_archives() -> Self {
        Self::wanting(WantedChanges::Archives)
    }

    /// Keeps nothing; rows are not even built.
    #[must_use]
    pub const fn discarding() -> Self {
        Self::wanting(WantedChanges::Nothing)
    }

    const fn wanting(wanted: WantedChanges) -> Self {
        Self {
            wanted,
            collected: Vec::new(),
            late: BTreeMap::new(),
        }
    }

    /// Records that these rows change, appear or vanish; `was_present`: whether any of them was in its table just before.
    pub fn touch(&mut self, row: impl FnOnce() -> LateRows, was_present: bool) {
        if matches!(self.wanted, WantedChanges::All) {
            self.late.entry(row()).or_insert(was_present);
        }
    }

    /// Records that a row was put.
    pub fn put(&mut self, table: usize, row: impl FnOnce() -> Vec<Value>) {
        if self.wants(table) {
            self.collected.push(RowChange {
                table,
                change: Change::Put(row()),
            });
        }
    }

    /// Records that the row with this key was removed.
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
            WantedChanges::All => true,
            WantedChanges::Archives => crate::TABLES.get(table).is_some_and(Table::is_archive),
            WantedChanges::Nothing => false,
        }
    }

    /// Removes and returns the changes kept since the last call, in the order in which they were made, without late rows.
    pub fn drain(&mut self) -> impl Iterator<Item = RowChange> + '_ {
        self.collected.drain(..)
    }

    /// All changes kept, in the order in which they were made, then those of late rows, whose current values `rows_of` returns.
    #[must_use]
    pub fn into_row_changes(
        self,
        rows_of: impl Fn(&LateRows) -> Vec<Vec<Value>>,
    ) -> Vec<RowChange> {
        let mut changes = self.collected;
        changes.extend(self.late.into_iter().filter_map(|(late, was_present)| {
            let change = late.change(was_present, rows_of(&late))?;
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
        u64::read(self)
    }

    /// The bytes, if they are a hash.
    #[must_use]
    pub fn as_hash(&self) -> Option<[u8; 32]> {
        <[u8; 32]>::read(self)
    }
}

/// A row that no fold writes; the text says what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnfitRow(pub &'static str);

/// A type that a cell of a row can be read as.
pub(crate) trait FromCell<'r>: Sized {
    /// `None` if no fold writes such a cell.
    fn read(value: &'r Value) -> Option<Self>;
}

/// Reads a row's cells one after the other, as a fold wrote them.
#[derive(Clone)]
pub(crate) struct RowCells<'r>(core::slice::Iter<'r, Value>);

impl<'r> RowCells<'r> {
    pub(crate) fn of(row: &'r [Value]) -> Self {
        Self(row.iter())
    }

    pub(crate) fn next<T: FromCell<'r>>(&mut self) -> Result<T, UnfitRow> {
        let cell = self.0.next().and_then(T::read);
        cell.ok_or(UnfitRow("a cell holds what no fold writes"))
    }

    /// The next cell is the word for one of these.
    pub(crate) fn word<T: Copy>(
        &mut self,
        all: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Result<T, UnfitRow> {
        let text: &str = self.next()?;
        let mut all = all.iter().copied();
        all.find(|known| word(*known) == text)
            .ok_or(UnfitRow("a word isn't known"))
    }

    /// The next two cells are an entity's key.
    pub(crate) fn entity(&mut self) -> Result<EntityId, UnfitRow> {
        let path = self.next()?;
        let symbol: Symbol = self.next()?;
        Ok(EntityId {
            path,
            symbol: (!symbol.as_str().is_empty()).then_some(symbol),
        })
    }
}

impl<'r, T: FromCell<'r>> FromCell<'r> for Option<T> {
    fn read(value: &'r Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::read(value).map(Some),
        }
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl FromCell<'_> for $number {
            fn read(value: &Value) -> Option<Self> {
                match value {
                    Value::Integer(number) => Self::try_from(*number).ok(),
                    _ => None,
                }
            }
        }
    )*};
}

numbers!(i64, u64, u32);

macro_rules! newtypes {
    ($($inner:ty: $($outer:ident),*;)*) => {$($(
        impl FromCell<'_> for $outer {
            fn read(value: &Value) -> Option<Self> {
                <$inner>::read(value).map(Self)
            }
        }
    )*)*};
}

newtypes! {
    u64: Seq, CaptureId, EpisodeId, SessionId, VersionId;
    i64: UnixMillis;
    [u8; 32]: ArtifactHash, SliceHash, MessageKey, TranscriptHash;
}

impl FromCell<'_> for bool {
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(0) => Some(false),
            Value::Integer(1) => Some(true),
            _ => None,
        }
    }
}

impl FromCell<'_> for [u8; 32] {
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Hash(hash) => Some(*hash),
            _ => None,
        }
    }
}

impl<'r> FromCell<'r> for &'r str {
    fn read(value: &'r Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl FromCell<'_> for Text {
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl FromCell<'_> for String {
    fn read(value: &Value) -> Option<Self> {
        <&str>::read(value).map(Self::from)
    }
}

impl FromCell<'_> for RelPath {
    fn read(value: &Value) -> Option<Self> {
        Text::read(value).map(|text| Self::from_shared(text.into()))
    }
}

impl FromCell<'_> for Symbol {
    fn read(value: &Value) -> Option<Self> {
        Text::read(value).map(|text| Self::from_shared(text.into()))
    }
}

impl FromCell<'_> for Vec<Span> {
    fn read(value: &Value) -> Option<Self> {
        match <&str>::read(value)? {
            "" => Some(Self::new()),
            text => parse_spans(text),
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

/// Bytes of a row that most rows don't exceed, for hashing them.
const ROW_BYTES_USUAL: usize = 256;

/// The version of [`row_hash_lanes`]: a stored digest of another version says nothing.
const ROW_HASH_VERSION: u8 = 2;

/// The number of a table's rows and the sum of their hashes. Two tables with the same digest hold the same rows, unless
/// somebody searched for a collision. Being a sum, it can be updated with each change without reading the other rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableDigest {
    rows: u64,
    sum: [u64; 4],
}

impl TableDigest {
    /// Counts a row that was added.
    pub fn add(&mut self, row: &[Value]) {
        self.rows = self.rows.wrapping_add(1);
        for (lane, hash) in self.sum.iter_mut().zip(row_hash_lanes(row)) {
            *lane = lane.wrapping_add(hash);
        }
    }

    /// Counts a row that was removed.
    pub fn remove(&mut self, row: &[Value]) {
        self.rows = self.rows.wrapping_sub(1);
        for (lane, hash) in self.sum.iter_mut().zip(row_hash_lanes(row)) {
            *lane = lane.wrapping_sub(hash);
        }
    }

    /// The number of rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Reads a digest from its bytes; `None` if they have another version or length.
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

impl fmt::Display for TableDigest {
    /// The sum, as hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lanes = self.sum.iter();
        lanes.try_for_each(|lane| write!(f, "{lane:016x}"))
    }
}

/// The hash of one row: of its values one after the other, in an encoding that tells any two rows apart. It is short, because a
/// start hashes every row, and blake3 takes 64 bytes at a time.
fn row_hash_lanes(row: &[Value]) -> [u64; 4] {
    let mut bytes = Vec::with_capacity(ROW_BYTES_USUAL);
    for value in row {
        match value {
            Value::Null => bytes.push(0),
            Value::Integer(number) => push_number(&mut bytes, 1, number.cast_unsigned()),
            Value::Text(text) => {
                push_number(&mut bytes, 2, text.len() as u64);
                bytes.extend_from_slice(text.as_bytes());
            }
            Value::Hash(hash) => {
                bytes.push(3);
                bytes.extend_from_slice(hash);
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
    bytes.push(kind | (length as u8) << 2);
    bytes.extend_from_slice(&number.to_le_bytes()[..length]);
}

/// Spans as the text of a cell.
pub(crate) fn spans_text(spans: &[Span]) -> String {
    let texts: Vec<_> = spans
        .iter()
        .map(|span| alloc::format!("{}..{}", span.start, span.end))
        .collect();
    texts.join(",")
}

/// The spans in a cell's text; `None` if no fold writes such a cell.
#[must_use]
pub fn parse_spans(cell: &str) -> Option<Vec<Span>> {
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

    const PROPOSAL: LateRows = LateRows::Proposal(VersionId(7));

    fn finished(was_present: bool, row: Option<Vec<Value>>) -> Vec<RowChange> {
        let mut changes = Changes::collecting();
        changes.touch(|| PROPOSAL, was_present);
        // Only the first change says whether the row was present when the batch began.
        changes.touch(|| PROPOSAL, true);
        changes.into_row_changes(|late| {
            assert_eq!(*late, PROPOSAL);
            row.clone().into_iter().collect()
        })
    }

    #[test]
    fn a_row_is_written_once_with_its_last_values() {
        let row = Vec::from([Value::from(7_u64), Value::from("a")]);
        let table = crate::PROPOSALS;
        for was_present in [false, true] {
            let change = Change::Put(row.clone());
            assert_eq!(
                finished(was_present, Some(row.clone())),
                [RowChange { table, change }]
            );
        }
        let change = Change::Remove(Vec::from([Value::from(7_u64)]));
        assert_eq!(finished(true, None), [RowChange { table, change }]);
    }

    #[test]
    fn rows_that_differ_have_different_digests() {
        let hash = [7; 32];
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
            &[(&hash).into()],
            &[text(core::str::from_utf8(&hash).unwrap())],
        ];
        let digests: Vec<TableDigest> = rows.iter().map(|row| digest_of(row)).collect();
        for (index, digest) in digests.iter().enumerate() {
            assert!(!digests[..index].contains(digest), "{:?}", rows[index]);
        }
    }

    #[test]
    fn a_digest_is_stored_with_its_version() {
        // Change the version with the encoding, or tables that older programs wrote seem damaged.
        let row = [7_u64.into(), Value::Null, "a".into(), (&[7; 32]).into()];
        let digest = digest_of(&row);
        assert_eq!(ROW_HASH_VERSION, 2);
        assert_eq!(
            alloc::format!("{digest}"),
            "79b6a6081a5bd770ebe86cf520b1291be7486076b0f9d44b61bfc1be599ee219"
        );
        let bytes = digest.to_bytes();
        assert_eq!(TableDigest::from_bytes(&bytes), Some(digest));
        assert_eq!(TableDigest::from_bytes(&bytes[..40]), None);
    }

    fn digest_of(row: &[Value]) -> TableDigest {
        let mut digest = TableDigest::default();
        digest.add(row);
        digest
    }

    #[test]
    fn a_row_that_comes_and_goes_is_never_written() {
        assert_eq!(finished(false, None), []);
    }

    #[test]
    fn changes_of_archives_skip_late_rows() {
        let mut changes = Changes::of_archives();
        changes.touch(|| unreachable!("it isn't wanted"), true);
        assert_eq!(changes.drain().count(), 0);
        assert_eq!(
            changes.into_row_changes(|_| unreachable!("there is none")),
            []
        );
    }
}
