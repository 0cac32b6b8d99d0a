//! Compares the stored archives with the ledger, row by row, in memory that doesn't grow with them.
//!
//! An archive keeps the first row of a key. So each row that a fold puts is stored unchanged, unless an earlier event put another
//! row with that key; and the number of stored rows is the number of matches, or rows were inserted from outside.

use tslp_core::ids::Seq;
use tslp_projections::TABLES;
use tslp_projections::changes::{Change, RowChange};
use tslp_projections::row::Cell as _;
use tslp_projections::table::{Keep, Value};

use super::error::LedgerError;
use super::tables::ArchiveRows;

/// Rows that are looked up together, in the order of their keys, so that a page isn't read once for each row.
const ROWS_WAITING: usize = 16_384;

/// A check under way. It gets the rows that a fold over the whole ledger puts; the caller passes the store to compare them with,
/// which may be ahead of the fold.
#[derive(Debug)]
pub struct ArchiveCheck {
    waiting: Vec<RowChange>,
    tallies: Vec<ArchiveTally>,
}

/// The counts of one table so far.
#[derive(Clone, Debug, Default)]
struct ArchiveTally {
    /// Rows found as they were put.
    found: u64,
    flaw: Option<String>,
}

/// The result for one archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveResult {
    /// Index into [`TABLES`].
    pub table: usize,
    /// The number of its rows, or the first difference.
    pub rows: Result<u64, String>,
}

impl Default for ArchiveCheck {
    fn default() -> Self {
        Self {
            waiting: Vec::new(),
            tallies: vec![ArchiveTally::default(); TABLES.len()],
        }
    }
}

impl ArchiveCheck {
    /// Takes rows that the fold put; changes of tables that are no archives are ignored.
    ///
    /// # Errors
    /// If it was interrupted, which says nothing about the ledger.
    pub fn check_rows(
        &mut self,
        rows: impl Iterator<Item = RowChange>,
        stored: &impl ArchiveRows,
    ) -> Result<(), LedgerError> {
        self.waiting
            .extend(rows.filter(|change| seq_column(change.table).is_some()));
        match self.waiting.len() {
            ROWS_WAITING.. => self.look_up(stored),
            _ => Ok(()),
        }
    }

    /// Ends the check; the fold has ended at the event `head`.
    ///
    /// # Errors
    /// As [`Self::check_rows`].
    pub fn into_results(
        mut self,
        head: Seq,
        stored: &impl ArchiveRows,
    ) -> Result<Vec<ArchiveResult>, LedgerError> {
        self.look_up(stored)?;
        let archives = (0..TABLES.len()).filter(|table| seq_column(*table).is_some());
        let results = archives.map(|table| {
            let ArchiveTally { found, flaw } = &self.tallies[table];
            let rows = match flaw {
                Some(flaw) => Err(flaw.clone()),
                None => check_count(stored.count(table, head), *found)?,
            };
            Ok(ArchiveResult { table, rows })
        });
        results.collect()
    }

    fn look_up(&mut self, stored: &impl ArchiveRows) -> Result<(), LedgerError> {
        self.waiting
            .sort_by(|one, other| one.table_and_key(TABLES).cmp(&other.table_and_key(TABLES)));
        for change in self.waiting.drain(..) {
            let tally = &mut self.tallies[change.table];
            if tally.flaw.is_some() {
                continue;
            }
            match compare_row(&change, stored)? {
                Ok(RowMatch::AsPut) => tally.found += 1,
                Ok(RowMatch::Earlier) => {}
                Err(flaw) => tally.flaw = Some(flaw),
            }
        }
        Ok(())
    }
}

enum RowMatch {
    AsPut,
    /// The row of an earlier event has this key.
    Earlier,
}

/// What a table's rows come to, or its flaw.
type Compared<T> = Result<T, String>;

fn compare_row(
    change: &RowChange,
    stored: &impl ArchiveRows,
) -> Result<Compared<RowMatch>, LedgerError> {
    let (table, key) = change.table_and_key(TABLES);
    let Change::Put(row) = &change.change else {
        let flaw = "the fold takes rows out of it, which is a defect of tslp";
        return Ok(Err(flaw.to_owned()));
    };
    Ok(match stored.row(table, key) {
        Ok(Some(found)) if found == *row => Ok(RowMatch::AsPut),
        Ok(Some(found)) if put_at(table, &found) < put_at(table, row) => Ok(RowMatch::Earlier),
        Ok(_) => Err("doesn't hold what the ledger says".to_owned()),
        Err(error) => Err(flaw_of(error)?),
    })
}

fn check_count(stored: Result<u64, LedgerError>, found: u64) -> Result<Compared<u64>, LedgerError> {
    Ok(match stored {
        Ok(rows) if rows == found => Ok(rows),
        Ok(rows) => Err(format!("holds {rows} rows, the ledger says {found}")),
        Err(error) => Err(flaw_of(error)?),
    })
}

/// The flaw of a table that can't be read.
fn flaw_of(error: LedgerError) -> Result<String, LedgerError> {
    match error.is_interruption() {
        true => Err(error),
        false => Ok(error.to_string()),
    }
}

fn seq_column(table: usize) -> Option<usize> {
    match TABLES.get(table)?.keep {
        Keep::First { seq } => Some(seq),
        Keep::Latest => None,
    }
}

/// The event that put a row.
fn put_at(table: usize, row: &[Value]) -> Option<Seq> {
    Seq::from_value(row.get(seq_column(table)?)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tslp_projections::OUTDATED;

    use super::*;

    /// Stored rows of one archive, by key.
    #[derive(Clone)]
    struct Stored(BTreeMap<Vec<Value>, Vec<Value>>);

    impl ArchiveRows for Stored {
        fn row(&self, _: usize, key: &[Value]) -> Result<Option<Vec<Value>>, LedgerError> {
            Ok(self.0.get(key).cloned())
        }

        fn count(&self, table: usize, until: Seq) -> Result<u64, LedgerError> {
            let rows = self.0.values();
            let known = rows.filter(|row| put_at(table, row).is_some_and(|seq| seq <= until));
            Ok(known.count() as u64)
        }
    }

    fn row(byte: u8, seq: u64) -> Vec<Value> {
        vec![Value::from(&[byte; 32]), seq.into()]
    }

    fn stored(rows: &[(u8, u64)]) -> Stored {
        let rows = rows.iter().map(|(byte, seq)| row(*byte, *seq));
        Stored(rows.map(|row| (row[..1].to_vec(), row)).collect())
    }

    /// Puts three keys, one of them twice, and says what is wrong with what is stored at event 9.
    fn check(rows: &[(u8, u64)]) -> Result<u64, String> {
        let puts = [(3, 2), (1, 4), (3, 5), (2, 9)].map(|(byte, seq)| RowChange {
            table: OUTDATED,
            change: Change::Put(row(byte, seq)),
        });
        let stored = stored(rows);
        let mut check = ArchiveCheck::default();
        check.check_rows(puts.into_iter(), &stored).unwrap();
        let archives = check.into_results(Seq(9), &stored).unwrap();
        let outdated = archives
            .into_iter()
            .find(|archive| archive.table == OUTDATED);
        outdated.unwrap().rows
    }

    /// Only the first row of each key is right.
    #[test]
    fn first_rows() {
        assert_eq!(check(&[(1, 4), (2, 9), (3, 2)]), Ok(3));
    }

    fn failed_with(code: i32) -> LedgerError {
        LedgerError::Sqlite {
            action: "read the tables",
            path: "ledger.db".into(),
            source: rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None),
        }
    }

    /// An interruption is no flaw of a table.
    #[test]
    fn interrupted_check() {
        struct Interrupted(fn() -> LedgerError);
        impl ArchiveRows for Interrupted {
            fn row(&self, _: usize, _: &[Value]) -> Result<Option<Vec<Value>>, LedgerError> {
                Err(self.0())
            }

            fn count(&self, _: usize, _: Seq) -> Result<u64, LedgerError> {
                Err(self.0())
            }
        }
        let put = RowChange {
            table: OUTDATED,
            change: Change::Put(row(1, 4)),
        };
        let results = |stored: &Interrupted| {
            let mut check = ArchiveCheck::default();
            check.check_rows([put.clone()].into_iter(), stored)?;
            check.into_results(Seq(9), stored)
        };
        let stopped = results(&Interrupted(|| {
            failed_with(rusqlite::ffi::SQLITE_INTERRUPT)
        }));
        assert!(stopped.unwrap_err().is_interruption());
        let damaged = results(&Interrupted(|| failed_with(rusqlite::ffi::SQLITE_CORRUPT)));
        assert!(damaged.unwrap().iter().all(|archive| archive.rows.is_err()));
    }

    /// Rows of later events are left alone.
    #[test]
    fn later_rows() {
        assert_eq!(check(&[(1, 4), (2, 9), (3, 2), (7, 10)]), Ok(3));
    }

    #[test]
    fn damaged_stores() {
        for rows in [
            // A row is missing.
            &[(1, 4), (3, 2)][..],
            // A later put has taken the first one's place.
            &[(1, 4), (2, 9), (3, 5)],
            // A row was slipped in, for no event or in the place of a later one.
            &[(1, 4), (2, 9), (3, 2), (4, 4)],
            &[(1, 3), (2, 9), (3, 2)],
            &[(1, 4), (2, 1), (3, 2)],
            &[],
        ] {
            check(rows).unwrap_err();
        }
    }
}
