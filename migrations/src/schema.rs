//! The ladder of database schemas: steps that only lead upwards, each taken in one transaction.
//!
//! Projection tables are no part of it: they are made from their own descriptions and thrown away at will.

/// Marks a database as ours in its header (`TSLP` in ASCII), so that `file` and we recognise it.
pub const APPLICATION_ID: i32 = i32::from_be_bytes(*b"TSLP");

/// The value of the `format` key in `meta`.
pub const FORMAT: &str = "tslp-ledger";

/// One step of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The `user_version` after this step.
    pub version: u32,
    /// What it does, for the log.
    pub title: &'static str,
    /// The statements.
    pub sql: &'static str,
}

/// All steps, lowest first. Released steps never change.
pub const STEPS: &[Step] = &[Step {
    version: 1,
    title: "the append-only ledger",
    sql: V1,
}];

/// The schema version that this program writes.
pub const CURRENT: u32 = STEPS[STEPS.len() - 1].version;

/// The database was written by a newer program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the database has schema version {found}, this version of tslp knows versions up to {CURRENT}"
)]
pub struct Newer {
    /// The version found.
    pub found: i64,
}

/// The steps that lead from a database's `user_version` to [`CURRENT`].
///
/// # Errors
/// When the database is ahead of this program; it must be left untouched.
pub fn pending(user_version: i64) -> Result<&'static [Step], Newer> {
    let done = STEPS
        .iter()
        .take_while(|step| i64::from(step.version) <= user_version)
        .count();
    if (0..=i64::from(CURRENT)).contains(&user_version) {
        Ok(&STEPS[done..])
    } else {
        Err(Newer {
            found: user_version,
        })
    }
}

/// `INSERT OR REPLACE` deletes without firing delete triggers, so inserts are held to dense positions as well.
const V1: &str = "\
CREATE TABLE ledger (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    payload BLOB NOT NULL,
    chain BLOB NOT NULL CHECK (length(chain) = 32)
) STRICT;
CREATE TRIGGER ledger_refuses_update BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_refuses_delete BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_is_dense BEFORE INSERT ON ledger
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM ledger)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_rises_by_one() {
        for (index, step) in STEPS.iter().enumerate() {
            assert_eq!(step.version as usize, index + 1, "{}", step.title);
        }
    }

    #[test]
    fn only_missing_steps_are_pending_and_newer_databases_are_refused() {
        assert_eq!(pending(0), Ok(STEPS));
        assert_eq!(pending(CURRENT.into()), Ok(&STEPS[STEPS.len()..]));
        let above = i64::from(CURRENT) + 1;
        assert_eq!(pending(above), Err(Newer { found: above }));
        assert_eq!(pending(-1), Err(Newer { found: -1 }));
    }
}
