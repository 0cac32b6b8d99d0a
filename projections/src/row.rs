//! Rows as structs: one declaration gives a table's columns and key, and writes and reads its rows.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::slice;

use rkyv::api::high::{HighDeserializer, HighSerializer, HighValidator};
use rkyv::bytecheck::CheckBytes;
use rkyv::rancor::Error;
use rkyv::ser::allocator::ArenaHandle;
use rkyv::util::AlignedVec;
use rkyv::{Archive, Deserialize, Serialize};
use tslp_core::artifact::{Level, Origin};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{Author, ContentKind, History, PlaceKind, Recorded, ReplyOutcome};
use tslp_core::extract::Proof;
use tslp_core::goal::GoalChange;
use tslp_core::guardian::{Capability, Decision, Door};
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis, VersionId};
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_core::record::RecordStanding;
use tslp_core::scope::ScopeChange;
use tslp_core::slice::{Figures, Span};

use crate::changes::{Change, RowChange, Touched};
use crate::table::{Column, ColumnType, Table, Value};

/// A row that no fold writes; the text says what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnfitRow(pub &'static str);

/// A row as a store holds it.
pub type Cells = Vec<Value>;

/// A row of a table, declared by [`row!`](crate::row!).
pub trait Row: Sized {
    /// The table's description.
    const TABLE: Table;

    /// The fields that are its primary key.
    type Key: Key + Ord + Clone;

    /// Its key.
    fn key(&self) -> Self::Key;

    /// Its cells, in the order of the columns.
    fn into_cells(self) -> Cells;

    /// Reads its cells.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    fn from_cells(cells: &[Value]) -> Result<Self, UnfitRow>;
}

/// A row whose table is one of [`crate::TABLES`].
pub trait StoredRow: Row {
    /// The table's index there.
    const INDEX: usize;
}

/// Looks up the recorded event at a position, for rows whose details are in the event that they name.
pub type EventAt<'e> = &'e dyn Fn(Seq) -> Option<Recorded>;

/// A projection that keeps the rows of a table.
pub trait Keeps<R: StoredRow> {
    /// Hands over all rows; of an archive those that aren't durable.
    fn visit_rows(&self, visit: &mut dyn FnMut(R));

    /// Takes a row back: all of a table in the order of their keys, and the tables in the order of [`crate::TABLES`].
    /// `event` looks up the event that a row names.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    fn restore_row(&mut self, row: R, event: EventAt<'_>) -> Result<(), UnfitRow>;

    /// The row of a key, if there is one.
    fn row(&self, key: &R::Key) -> Option<R>;

    /// The rows that a store hasn't been told of.
    fn touched(&mut self) -> &mut Touched<R::Key>;

    /// Adds the changes since the last call, with the rows as they are now.
    fn take_changes(&mut self, taken: &mut Vec<RowChange>) {
        for (key, was_present) in self.touched().take() {
            let change = match self.row(&key) {
                Some(row) => Change::Put(row.into_cells()),
                None if was_present => Change::Remove(key.into_cells()),
                // It came and went: no store has heard of it.
                None => continue,
            };
            let table = R::INDEX;
            taken.push(RowChange { table, change });
        }
    }
}

/// The leading fields of a key, or all of them.
pub trait Key: Sized {
    /// Their cells.
    fn into_cells(self) -> Vec<Value>;
}

macro_rules! keys {
    ($(($($field:ident)+))+) => {$(
        impl<$($field: Field),+> Key for ($($field,)+) {
            fn into_cells(self) -> Vec<Value> {
                #[expect(non_snake_case, reason = "a field is named as its type")]
                let ($($field,)+) = self;
                let mut cells = Vec::new();
                $($field.write(&mut cells);)+
                cells
            }
        }
    )+};
}

keys! { (A) (A B) (A B C) (A B C D) }

/// Declares a table's row. The fields under `key` are the primary key, and a column has its field's name; only an
/// [`EntityId`] is two columns, `path` and `symbol`. The column `seq` of an archive
/// ([`Keep::First`](crate::table::Keep::First)) is the position of the event that put the row.
#[macro_export]
macro_rules! row {
    (
        $(#[$doc:meta])*
        $vis:vis struct $row:ident in $keep:ident $name:literal, version $version:literal;
        key { $($(#[$key_doc:meta])* $key:ident: $key_type:ty,)+ }
        values { $($(#[$value_doc:meta])* $value:ident: $value_type:ty,)* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        $vis struct $row {
            $($(#[$key_doc])* $vis $key: $key_type,)+
            $($(#[$value_doc])* $vis $value: $value_type,)*
        }

        const _: () = {
            use $crate::row::{Cells, Field, FieldShape, Row, UnfitRow};
            use $crate::table::{Column, Keep, Table, Value};

            const KEY: &[(&str, FieldShape)] = &[$((stringify!($key), <$key_type as Field>::SHAPE),)+];
            const FIELDS: &[(&str, FieldShape)] = &[
                $((stringify!($key), <$key_type as Field>::SHAPE),)+
                $((stringify!($value), <$value_type as Field>::SHAPE),)*
            ];
            const COLUMNS: &[Column] = &$crate::row::columns::<{ $crate::row::column_count(FIELDS) }>(FIELDS);

            impl Row for $row {
                const TABLE: Table = Table {
                    name: $name,
                    version: $version,
                    columns: COLUMNS,
                    key: $crate::row::column_count(KEY),
                    keep: $crate::row!(@keep $keep COLUMNS),
                };

                type Key = ($($key_type,)+);

                fn key(&self) -> Self::Key {
                    ($(self.$key.clone(),)+)
                }

                fn into_cells(self) -> Cells {
                    let mut cells = Cells::with_capacity(COLUMNS.len());
                    $(Field::write(self.$key, &mut cells);)+
                    $(Field::write(self.$value, &mut cells);)*
                    cells
                }

                fn from_cells(cells: &[Value]) -> Result<Self, UnfitRow> {
                    let mut cells = cells.iter();
                    let row = Self {
                        $($key: Field::read(&mut cells)
                            .ok_or(UnfitRow(concat!("`", stringify!($key), "` holds what no fold writes")))?,)+
                        $($value: Field::read(&mut cells)
                            .ok_or(UnfitRow(concat!("`", stringify!($value), "` holds what no fold writes")))?,)*
                    };
                    match cells.next() {
                        None => Ok(row),
                        Some(_) => Err(UnfitRow("a row has more cells than its table has columns")),
                    }
                }
            }
        };
    };
    (@keep table $columns:ident) => { Keep::Latest };
    (@keep archive $columns:ident) => { Keep::First { seq: $crate::row::seq_column($columns) } };
}

/// The columns of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldShape {
    /// One, with the field's name.
    Cell {
        /// Its type.
        kind: ColumnType,
        /// Whether it may hold [`Value::Null`].
        nullable: bool,
    },
    /// Two, `path` and `symbol`; a whole file's symbol is empty.
    Entity,
}

/// A type that a row's field can have.
pub trait Field: Sized {
    /// Its columns.
    const SHAPE: FieldShape;

    /// Adds its cells to a row's.
    fn write(self, cells: &mut Vec<Value>);

    /// Reads its cells, the next ones of a row; `None` if no fold writes such cells.
    fn read(cells: &mut slice::Iter<'_, Value>) -> Option<Self>;
}

/// A type that one cell holds, and never [`Value::Null`].
pub trait Cell: Sized {
    /// The column's type.
    const KIND: ColumnType;

    /// Its cell.
    fn into_value(self) -> Value;

    /// Reads its cell; `None` if no fold writes such a cell.
    fn from_value(value: &Value) -> Option<Self>;
}

impl<T: Cell> Field for T {
    const SHAPE: FieldShape = FieldShape::Cell {
        kind: T::KIND,
        nullable: false,
    };

    fn write(self, cells: &mut Vec<Value>) {
        cells.push(self.into_value());
    }

    fn read(cells: &mut slice::Iter<'_, Value>) -> Option<Self> {
        T::from_value(cells.next()?)
    }
}

impl<T: Cell> Field for Option<T> {
    const SHAPE: FieldShape = FieldShape::Cell {
        kind: T::KIND,
        nullable: true,
    };

    fn write(self, cells: &mut Vec<Value>) {
        cells.push(self.map_or(Value::Null, T::into_value));
    }

    fn read(cells: &mut slice::Iter<'_, Value>) -> Option<Self> {
        match cells.next()? {
            Value::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl Field for EntityId {
    const SHAPE: FieldShape = FieldShape::Entity;

    fn write(self, cells: &mut Vec<Value>) {
        let symbol = self.symbol.map_or_else(|| "".into(), Arc::from);
        cells.extend([Value::Text(self.path.into()), Value::Text(symbol)]);
    }

    fn read(cells: &mut slice::Iter<'_, Value>) -> Option<Self> {
        let path = RelPath::from_value(cells.next()?)?;
        let symbol = text_of(cells.next()?)?;
        let symbol = (!symbol.is_empty()).then(|| Symbol::from_shared(Arc::clone(symbol)));
        Some(Self { path, symbol })
    }
}

/// One column: nobody looks for it.
impl Field for Option<EntityId> {
    const SHAPE: FieldShape = FieldShape::Cell {
        kind: ColumnType::Bytes,
        nullable: true,
    };

    fn write(self, cells: &mut Vec<Value>) {
        cells.push(self.map_or(Value::Null, |entity| stored_value(&entity)));
    }

    fn read(cells: &mut slice::Iter<'_, Value>) -> Option<Self> {
        match cells.next()? {
            Value::Null => Some(None),
            value => stored_in(value).map(Some),
        }
    }
}

macro_rules! numbers {
    ($($number:ty: $into:expr;)+) => {$(
        impl Cell for $number {
            const KIND: ColumnType = ColumnType::Integer;

            fn into_value(self) -> Value {
                $into(self)
            }

            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Integer(number) => Self::try_from(*number).ok(),
                    _ => None,
                }
            }
        }
    )+};
}

numbers! {
    i64: Value::Integer;
    u64: Value::from;
    u32: |number| Value::Integer(i64::from(number));
}

macro_rules! newtypes {
    ($($inner:ty: $($outer:ident),+;)+) => {$($(
        impl Cell for $outer {
            const KIND: ColumnType = <$inner>::KIND;

            fn into_value(self) -> Value {
                self.0.into_value()
            }

            fn from_value(value: &Value) -> Option<Self> {
                <$inner>::from_value(value).map(Self)
            }
        }
    )+)+};
}

newtypes! {
    u64: Seq, EpisodeId, SessionId, VersionId;
    i64: UnixMillis;
    [u8; 32]: ArtifactHash, SliceHash;
}

impl Cell for bool {
    const KIND: ColumnType = ColumnType::Integer;

    fn into_value(self) -> Value {
        Value::Integer(self.into())
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(0) => Some(false),
            Value::Integer(1) => Some(true),
            _ => None,
        }
    }
}

impl Cell for [u8; 32] {
    const KIND: ColumnType = ColumnType::Hash;

    fn into_value(self) -> Value {
        Value::Hash(self)
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Hash(hash) => Some(*hash),
            _ => None,
        }
    }
}

impl Cell for Arc<[u8]> {
    const KIND: ColumnType = ColumnType::Bytes;

    fn into_value(self) -> Value {
        Value::Bytes(self)
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => Some(Self::clone(bytes)),
            _ => None,
        }
    }
}

fn text_of(value: &Value) -> Option<&Arc<str>> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// Types whose cell is a text: how it is written, and how it is read, which fails if no fold writes such a text.
macro_rules! texts {
    ($($type:ty: $write:expr, $read:expr;)+) => {$(
        impl Cell for $type {
            const KIND: ColumnType = ColumnType::Text;

            fn into_value(self) -> Value {
                let write: fn(Self) -> Value = $write;
                write(self)
            }

            fn from_value(value: &Value) -> Option<Self> {
                let read: fn(&Arc<str>) -> Option<Self> = $read;
                read(text_of(value)?)
            }
        }
    )+};
}

texts! {
    String: |text| Value::text(&text), |text| Some(Self::from(&**text));
    RelPath: |path| Value::Text(path.into()), |text| Some(Self::from_shared(Arc::clone(text)));
    Reason: |reason| reason.code().into(), |text| Self::from_code(text);
    ReplyOutcome: |outcome| Value::text(&outcome_word(outcome)), |text| outcome_of(text);
}

/// The stored layout of a value, as a cell.
pub fn stored_value<T>(value: &T) -> Value
where
    T: for<'a> Serialize<HighSerializer<AlignedVec, ArenaHandle<'a>, Error>>,
{
    let bytes = rkyv::to_bytes::<Error>(value);
    let bytes = bytes.expect("nothing in it can't be stored");
    Value::Bytes(bytes.as_slice().into())
}

/// Reads a value whose cell is its stored layout, which is validated.
pub fn stored_in<T>(value: &Value) -> Option<T>
where
    T: Archive,
    T::Archived:
        for<'a> CheckBytes<HighValidator<'a, Error>> + Deserialize<T, HighDeserializer<Error>>,
{
    match value {
        Value::Bytes(bytes) => rkyv::from_bytes::<T, Error>(bytes).ok(),
        _ => None,
    }
}

/// Types whose cell is their stored layout.
#[macro_export]
macro_rules! stored_cells {
    ($($type:ty),+ $(,)?) => {$(
        impl $crate::row::Cell for $type {
            const KIND: $crate::table::ColumnType = $crate::table::ColumnType::Bytes;

            fn into_value(self) -> $crate::table::Value {
                $crate::row::stored_value(&self)
            }

            fn from_value(value: &$crate::table::Value) -> Option<Self> {
                $crate::row::stored_in(value)
            }
        }
    )+};
}

/// Enums that [`tslp_core::words!`] declared.
#[macro_export]
macro_rules! word_cells {
    ($($type:ty),+ $(,)?) => {$(
        impl $crate::row::Cell for $type {
            const KIND: $crate::table::ColumnType = $crate::table::ColumnType::Text;

            fn into_value(self) -> $crate::table::Value {
                $crate::table::Value::from(self.as_str())
            }

            fn from_value(value: &$crate::table::Value) -> Option<Self> {
                match value {
                    $crate::table::Value::Text(text) => Self::of_word(text),
                    _ => None,
                }
            }
        }
    )+};
}

word_cells!(
    Origin,
    Level,
    Proof,
    ContentKind,
    History,
    Capability,
    Door,
    Decision,
    Author,
    ScopeChange,
    GoalChange,
    RecordStanding,
    PlaceKind,
);

crate::stored_cells!(Vec<Span>, Figures);

/// The outcomes that are a word alone; the one that isn't has the upstream's status after its word.
const OUTCOME_WORDS: [(ReplyOutcome, &str); 6] = [
    (ReplyOutcome::Completed, "completed"),
    (ReplyOutcome::ClientGone, "client_gone"),
    (ReplyOutcome::UpstreamBroken, "upstream_broken"),
    (ReplyOutcome::UpstreamUnreachable, "upstream_unreachable"),
    (ReplyOutcome::Interrupted, "interrupted"),
    (ReplyOutcome::Withheld, "withheld"),
];

const REFUSED_WORD: &str = "upstream_refused_";

/// The word for a reply's outcome in rows and on pages.
#[must_use]
pub fn outcome_word(outcome: ReplyOutcome) -> String {
    let word = OUTCOME_WORDS
        .into_iter()
        .find(|(known, _)| *known == outcome);
    match (word, outcome) {
        (Some((_, word)), _) => word.into(),
        (None, ReplyOutcome::UpstreamRefused(status)) => {
            alloc::format!("{REFUSED_WORD}{status}")
        }
        (None, _) => unreachable!("{outcome:?} has no word"),
    }
}

fn outcome_of(text: &str) -> Option<ReplyOutcome> {
    let word = OUTCOME_WORDS.into_iter().find(|(_, word)| *word == text);
    match word {
        Some((outcome, _)) => Some(outcome),
        None => {
            let status = text.strip_prefix(REFUSED_WORD)?.parse().ok()?;
            Some(ReplyOutcome::UpstreamRefused(status))
        }
    }
}

/// The number of columns of some fields.
#[must_use]
pub const fn column_count(fields: &[(&str, FieldShape)]) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < fields.len() {
        count += match fields[at].1 {
            FieldShape::Cell { .. } => 1,
            FieldShape::Entity => 2,
        };
        at += 1;
    }
    count
}

/// The columns of some fields, which are so many.
#[must_use]
pub const fn columns<const COUNT: usize>(fields: &[(&'static str, FieldShape)]) -> [Column; COUNT] {
    let mut columns = [text_column(""); COUNT];
    let (mut count, mut at) = (0, 0);
    while at < fields.len() {
        let (name, shape) = fields[at];
        match shape {
            FieldShape::Cell { kind, nullable } => {
                columns[count] = Column {
                    name,
                    kind,
                    nullable,
                };
                count += 1;
            }
            FieldShape::Entity => {
                columns[count] = text_column("path");
                columns[count + 1] = text_column("symbol");
                count += 2;
            }
        }
        at += 1;
    }
    assert!(count == COUNT, "each column belongs to a field");
    columns
}

const fn text_column(name: &'static str) -> Column {
    Column {
        name,
        kind: ColumnType::Text,
        nullable: false,
    }
}

/// The index of an archive's column `seq`.
#[must_use]
pub const fn seq_column(columns: &[Column]) -> usize {
    let mut at = 0;
    while at < columns.len() {
        if matches!(columns[at].name.as_bytes(), b"seq") {
            return at;
        }
        at += 1;
    }
    panic!("an archive has a column `seq`")
}
