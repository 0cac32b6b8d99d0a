//! The ladder of database schemas: steps that only lead upwards, each taken in one transaction.
//!
//! Projection tables are not part of it: they are created from their own descriptions and can be dropped at any time.

/// Marks a database as ours in its header (`TSLP` in ASCII), so that `file` and we recognise it.
pub const APPLICATION_ID: i32 = i32::from_be_bytes(*b"TSLP");

/// The value of the `format` key in `meta`.
pub const FORMAT: &str = "tslp-ledger";

/// One step of the ladder.
///
/// * It changes the statements of the schema, be it by a new table, so that a version in a database's header can be held
///   against what the database has: that distinguishes a flipped bit there from a newer program.
/// * After it, as before, `ledger` has the columns `seq, at, kind, payload, chain` and `meta` has `key, value`, and the
///   events are the same: what an older database holds is verified before any step is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The `user_version` after this step.
    pub version: u32,
    /// Its purpose, for the log.
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
pub const CURRENT: u32 = LADDER.current();

/// The ladder of this program.
pub const LADDER: Ladder = Ladder(STEPS);

/// Steps from an empty database to the schema of a program, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder(pub &'static [Step]);

impl Ladder {
    /// The version of its last step.
    #[must_use]
    pub const fn current(self) -> u32 {
        match self.0.last() {
            Some(step) => step.version,
            None => 0,
        }
    }

    /// All steps.
    #[must_use]
    pub const fn steps(self) -> &'static [Step] {
        self.0
    }

    /// The steps after a version; none if the version isn't on this ladder.
    #[must_use]
    pub fn steps_above(self, version: i64) -> &'static [Step] {
        if !(0..=i64::from(self.current())).contains(&version) {
            return &[];
        }
        let done = self
            .0
            .iter()
            .take_while(|step| i64::from(step.version) <= version)
            .count();
        &self.0[done..]
    }
}

/// The database was written by a newer program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has schema version {found}, and this one knows versions up to {known}")]
pub struct NewerSchema {
    /// The version found.
    pub found: i64,
    /// The newest version known here.
    pub known: u32,
}

/// `INSERT OR REPLACE` deletes without firing delete triggers, so inserts are held to dense positions as well.
const V1: &str = "\
CREATE TABLE ledger (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind INTEGER NOT NULL,
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
    fn only_missing_steps_are_pending() {
        assert_eq!(LADDER.steps_above(0), STEPS);
        for version in [i64::from(CURRENT), i64::from(CURRENT) + 1, -1, i64::MAX] {
            assert_eq!(LADDER.steps_above(version), &[], "{version}");
        }
    }

    #[test]
    fn released_steps_never_change() {
        // A step keeps its place in this list: databases record how many they have taken.
        const RELEASED: &[&str] =
            &["90a298d6548578b7932dbb68ad779221e44944856df1174781da48ad08cae778"];
        assert_eq!(STEPS.len(), RELEASED.len(), "add the new step's hash");
        for (step, hash) in STEPS.iter().zip(RELEASED) {
            let found = tslp_core::hash::ArtifactHash::of(step.sql.as_bytes());
            assert_eq!(
                found.to_string(),
                *hash,
                "step {} was released and never changes: take another step on top of it",
                step.version
            );
        }
    }
}
