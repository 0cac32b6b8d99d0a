//! Rows of the projections' tables.

use tslp_core::ids::Seq;
use tslp_projections::TABLES;
use tslp_projections::state::State;
use tslp_projections::table::{ColumnType, Value};

/// Any rows make a state or an error, whatever their hash is; the rows of a state make it again.
pub(crate) fn restore_rows(data: &[u8]) {
    let mut bytes = data.iter().copied();
    let mut restoring = State::default();
    while let Some(table) = bytes.next() {
        let table = usize::from(table) % TABLES.len();
        let row = row_from_bytes(table, &mut bytes);
        if restoring.restore_row(table, &row, &|_| None).is_err() {
            return;
        }
    }
    let Ok(state) = restoring.restored(Seq(7), &|_| None) else {
        return;
    };
    let mut again = State::default();
    for (table, rows) in all_rows(&state).iter().enumerate() {
        for row in rows {
            if let Err(error) = again.restore_row(table, row, &|_| None) {
                panic!("{row:?} of a state isn't taken back: {error:?}");
            }
        }
    }
    match again.restored(state.head(), &|_| None) {
        Ok(again) => assert_eq!(all_rows(&again), all_rows(&state)),
        Err(error) => panic!("the rows of a state make none: {error:?}"),
    }
}

fn all_rows(state: &State) -> Vec<Vec<Vec<Value>>> {
    let rows = |table| {
        let mut rows = Vec::new();
        state.visit_rows(table, &mut |row| rows.push(row));
        rows
    };
    (0..TABLES.len()).map(rows).collect()
}

/// The words and numbers are few, so that rows often belong together.
const WORDS: [&str; 21] = [
    "a.c",
    "f",
    "",
    "model",
    "user",
    "ast",
    "pattern",
    "CONFIRMED",
    "0..4",
    "name",
    "point",
    "prompt",
    "tail",
    "refused",
    "withheld",
    "before",
    "assistant",
    "completed",
    "awaited",
    "episode",
    "ast_match",
];

fn row_from_bytes(table: usize, bytes: &mut impl Iterator<Item = u8>) -> Vec<Value> {
    let columns = TABLES[table].columns.iter();
    let value = |column: &tslp_projections::table::Column| {
        let byte = bytes.next().unwrap_or(0);
        match column.kind {
            _ if column.nullable && byte.is_multiple_of(3) => Value::Null,
            ColumnType::Integer if byte > 250 => Value::from(i64::MAX),
            ColumnType::Integer => Value::from(u64::from(byte % 4)),
            ColumnType::Text => Value::from(WORDS[usize::from(byte) % WORDS.len()]),
            ColumnType::Hash => Value::from(&[byte % 4; 32]),
            ColumnType::Bytes => Value::Bytes(bytes.take(byte.into()).collect()),
        }
    };
    columns.map(value).collect()
}
