//! Pure folds of ledger events. No projection parses source, reads a disk or a clock, or knows SQL.
//!
//! All have the same shape, in the same order: table, state, `apply`, queries, rows, `Display`.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod part;
pub mod table;

pub mod edits;
pub mod vault;

pub mod sources;
pub mod state_map;
pub mod symbol_words;

pub mod proposals;

pub mod tombstones;

pub mod disk;
pub mod stale;

pub mod anomalies;
pub mod audits;
pub mod episodes;
pub mod rules;
pub mod sessions;

use table::Table;
use tslp_core::artifact::Origin;

/// Index of [`vault::TABLE`] in [`TABLES`].
pub const VAULT: usize = 0;
/// Index of [`state_map::TABLE`] in [`TABLES`].
pub const STATE_MAP: usize = 1;
/// Index of [`proposals::TABLE`] in [`TABLES`].
pub const PROPOSALS: usize = 2;
/// Index of [`tombstones::TABLE`] in [`TABLES`].
pub const TOMBSTONES: usize = 3;
/// Index of [`disk::TABLE`] in [`TABLES`].
pub const DISK: usize = 4;
/// Index of [`stale::TABLE`] in [`TABLES`].
pub const STALE: usize = 5;
/// Index of [`sessions::TABLE`] in [`TABLES`].
pub const SESSIONS: usize = 6;
/// Index of [`sessions::RECENT_TABLE`] in [`TABLES`].
pub const RECENT_CONTEXT: usize = 7;
/// Index of [`episodes::TABLE`] in [`TABLES`].
pub const EPISODES: usize = 8;
/// Index of [`episodes::ENTRIES_TABLE`] in [`TABLES`].
pub const EPISODE_ENTRIES: usize = 9;
/// Index of [`anomalies::TABLE`] in [`TABLES`].
pub const ANOMALIES: usize = 10;
/// Index of [`audits::TABLE`] in [`TABLES`].
pub const AUDITS: usize = 11;
/// Index of [`rules::TABLE`] in [`TABLES`].
pub const RULES: usize = 12;
/// Index of [`sources::TABLE`] in [`TABLES`].
pub const OUTDATED: usize = 13;
/// Index of [`edits::TABLE`] in [`TABLES`].
pub const EDITS: usize = 14;

/// Every projection's tables.
pub const TABLES: &[Table] = &[
    vault::TABLE,
    state_map::TABLE,
    proposals::TABLE,
    tombstones::TABLE,
    disk::TABLE,
    stale::TABLE,
    sessions::TABLE,
    sessions::RECENT_TABLE,
    episodes::TABLE,
    episodes::ENTRIES_TABLE,
    anomalies::TABLE,
    audits::TABLE,
    rules::TABLE,
    sources::TABLE,
    edits::TABLE,
];

/// The word for an origin in rows and diagnostics.
const fn origin_code(origin: Origin) -> &'static str {
    match origin {
        Origin::Model => "model",
        Origin::User => "user",
    }
}
