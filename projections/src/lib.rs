//! Pure folds of ledger events. No projection parses source, reads a disk or a clock, or knows SQL.
//!
//! All have the same shape, in the same order: table, state, `apply`, queries, rows, `restore`, `Display`. The rows are the
//! whole state: a fold that continues from them equals one from the first event.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod table;

pub mod counters;

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
pub mod guardian;
pub mod rules;
pub mod sessions;

use table::Table;
use tslp_core::artifact::Origin;
use tslp_core::event::Recorded;
use tslp_core::extract::Proof;
use tslp_core::ids::Seq;

/// Index of [`vault::TABLE`] in [`TABLES`].
pub const VAULT: usize = 0;
/// Index of [`counters::TABLE`] in [`TABLES`].
pub const COUNTERS: usize = 1;
/// Index of [`state_map::TABLE`] in [`TABLES`].
pub const STATE_MAP: usize = 2;
/// Index of [`sources::PARTLY_TRUE_TABLE`] in [`TABLES`].
pub const PARTLY_TRUE: usize = 3;
/// Index of [`state_map::FORMER_TABLE`] in [`TABLES`].
pub const FORMER_VERSIONS: usize = 4;
/// Index of [`proposals::TABLE`] in [`TABLES`].
pub const PROPOSALS: usize = 5;
/// Index of [`tombstones::TABLE`] in [`TABLES`].
pub const TOMBSTONES: usize = 6;
/// Index of [`disk::TABLE`] in [`TABLES`].
pub const DISK: usize = 7;
/// Index of [`stale::TABLE`] in [`TABLES`].
pub const STALE: usize = 8;
/// Index of [`stale::ACKNOWLEDGED_TABLE`] in [`TABLES`].
pub const ACKNOWLEDGED: usize = 9;
/// Index of [`sessions::TABLE`] in [`TABLES`].
pub const SESSIONS: usize = 10;
/// Index of [`sessions::RECENT_TABLE`] in [`TABLES`].
pub const RECENT_CONTEXT: usize = 11;
/// Index of [`sessions::PARTS_TABLE`] in [`TABLES`].
pub const SESSION_PARTS: usize = 12;
/// Index of [`sessions::INDEX_TABLE`] in [`TABLES`].
pub const SESSION_INDEX: usize = 13;
/// Index of [`sessions::EPISODES_TABLE`] in [`TABLES`].
pub const SESSION_EPISODES: usize = 14;
/// Index of [`sessions::UNDER_WAY_TABLE`] in [`TABLES`].
pub const UNDER_WAY: usize = 15;
/// Index of [`episodes::TABLE`] in [`TABLES`].
pub const EPISODES: usize = 16;
/// Index of [`episodes::ENTRIES_TABLE`] in [`TABLES`].
pub const EPISODE_ENTRIES: usize = 17;
/// Index of [`anomalies::TABLE`] in [`TABLES`].
pub const ANOMALIES: usize = 18;
/// Index of [`audits::TABLE`] in [`TABLES`].
pub const AUDITS: usize = 19;
/// Index of [`rules::TABLE`] in [`TABLES`].
pub const RULES: usize = 20;
/// Index of [`sources::TABLE`] in [`TABLES`].
pub const OUTDATED: usize = 21;
/// Index of [`edits::TABLE`] in [`TABLES`].
pub const EDITS: usize = 22;
/// Index of [`guardian::POLICY_TABLE`] in [`TABLES`].
pub const APPROVED_POLICY: usize = 23;
/// Index of [`guardian::GRANTS_TABLE`] in [`TABLES`].
pub const GRANTS: usize = 24;
/// Index of [`guardian::SESSIONS_TABLE`] in [`TABLES`].
pub const TOOL_SESSIONS: usize = 25;
/// Index of [`guardian::CALLS_TABLE`] in [`TABLES`].
pub const TOOL_CALLS: usize = 26;

/// Every projection's tables, in the order in which their rows are restored.
pub const TABLES: &[Table] = &[
    vault::TABLE,
    counters::TABLE,
    state_map::TABLE,
    sources::PARTLY_TRUE_TABLE,
    state_map::FORMER_TABLE,
    proposals::TABLE,
    tombstones::TABLE,
    disk::TABLE,
    stale::TABLE,
    stale::ACKNOWLEDGED_TABLE,
    sessions::TABLE,
    sessions::RECENT_TABLE,
    sessions::PARTS_TABLE,
    sessions::INDEX_TABLE,
    sessions::EPISODES_TABLE,
    sessions::UNDER_WAY_TABLE,
    episodes::TABLE,
    episodes::ENTRIES_TABLE,
    anomalies::TABLE,
    audits::TABLE,
    rules::TABLE,
    sources::TABLE,
    edits::TABLE,
    guardian::POLICY_TABLE,
    guardian::GRANTS_TABLE,
    guardian::SESSIONS_TABLE,
    guardian::CALLS_TABLE,
];

/// Looks up the recorded event at a position, for rows whose details are in the event that they name.
pub type EventAt<'e> = &'e dyn Fn(Seq) -> Option<Recorded>;

/// All origins of a version.
const ORIGINS: [Origin; 2] = [Origin::Model, Origin::User];

/// The word for an origin in rows and diagnostics.
const fn origin_code(origin: Origin) -> &'static str {
    match origin {
        Origin::Model => "model",
        Origin::User => "user",
    }
}

/// All proofs of a definition.
const PROOFS: [Proof; 3] = [Proof::PartialPattern, Proof::Pattern, Proof::Ast];

/// The word for a proof in rows.
const fn proof_code(proof: Proof) -> &'static str {
    match proof {
        Proof::PartialPattern => "partial_pattern",
        Proof::Pattern => "pattern",
        Proof::Ast => "ast",
    }
}
