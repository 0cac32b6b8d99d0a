//! The database that holds a ledger: its statements and the format's number.
//!
//! A tslp reads and writes [`FORMAT_VERSION`], and refuses every other one untouched: nothing was released yet (docs/storage.md).

/// Marks a database as ours in its header (`TSLP` in ASCII), so that `file` and we recognise it.
pub const APPLICATION_ID: i32 = i32::from_be_bytes(*b"TSLP");

/// The value of the `format` key in `meta`.
pub const FORMAT: &str = "tslp-ledger";

/// The `user_version` in the database's header: the number of the format. It rises with every change of [`SCHEMA`], and of
/// stored events that an older tslp would misread.
pub const FORMAT_VERSION: i64 = 8;

/// The statements that make an empty ledger. Projections' tables are made from their own descriptions and can be dropped at any time.
///
/// `INSERT OR REPLACE` deletes without firing delete triggers, so inserts are held to dense positions as well.
pub const SCHEMA: &str = "\
CREATE TABLE ledger (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    episode INTEGER NOT NULL,
    session INTEGER NOT NULL,
    ends_step INTEGER NOT NULL CHECK (ends_step IN (0, 1)),
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

    /// The schema's statements change only with the format version.
    #[test]
    fn pinned_statements() {
        const HASHES: (i64, &str) = (
            8,
            "96ea2c49627e84e5b647b1226720fbdc5daeeffdba2632dcaf07b43a0b047b34",
        );
        let found = tslp_core::hash::ArtifactHash::of(SCHEMA.as_bytes());
        assert_eq!((FORMAT_VERSION, found.to_string().as_str()), HASHES);
    }
}
