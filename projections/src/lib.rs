//! Pure folds of ledger events. No projection parses source, reads a disk or a clock, or knows SQL.
//!
//! All have the same shape, in the same order: table, state, `apply`, queries, rows, `restore`, `Display`. The rows are the
//! whole state: a fold that continues from them equals one from the first event. [`episode_entries`] alone has no table: it is folded
//! when somebody asks.

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
pub mod episode_entries;
pub mod episodes;
pub mod guardian;
pub mod rules;
pub mod sessions;

pub mod state;
pub mod store;

use table::Table;
use tslp_core::artifact::Origin;
use tslp_core::event::Recorded;
use tslp_core::extract::Proof;
use tslp_core::ids::Seq;

/// Declares [`TABLES`] and each table's index in it.
macro_rules! tables {
    ($($index:ident = $table:path,)+) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "named as the constants are")]
        enum TableIndex {
            $($index,)+
        }

        $(
            #[doc = concat!("Index of [`", stringify!($table), "`] in [`TABLES`].")]
            pub const $index: usize = TableIndex::$index as usize;
        )+

        /// Every projection's tables, in the order in which their rows are restored: rows that complete those of another table
        /// come after them.
        pub const TABLES: &[Table] = &[$($table,)+];
    };
}

tables! {
    VAULT = vault::TABLE,
    COUNTERS = counters::TABLE,
    STATE_MAP = state_map::TABLE,
    PARTLY_TRUE = sources::PARTLY_TRUE_TABLE,
    FORMER_VERSIONS = state_map::FORMER_TABLE,
    PROPOSALS = proposals::TABLE,
    TOMBSTONES = tombstones::TABLE,
    DISK = disk::TABLE,
    STALE = stale::TABLE,
    ACKNOWLEDGED = stale::ACKNOWLEDGED_TABLE,
    SESSIONS = sessions::TABLE,
    RECENT_CONTEXT = sessions::RECENT_TABLE,
    SESSION_ENTITIES = sessions::ENTITIES_TABLE,
    SESSION_PARTS = sessions::PARTS_TABLE,
    SESSION_INDEX = sessions::INDEX_TABLE,
    SESSION_EPISODES = sessions::EPISODES_TABLE,
    UNDER_WAY = sessions::UNDER_WAY_TABLE,
    EPISODES = episodes::TABLE,
    ANOMALIES = anomalies::TABLE,
    AUDITS = audits::TABLE,
    RULES = rules::TABLE,
    OUTDATED = sources::TABLE,
    EDITS = edits::TABLE,
    APPROVED_POLICY = guardian::POLICY_TABLE,
    GRANTS = guardian::GRANTS_TABLE,
    TOOL_SESSIONS = guardian::SESSIONS_TABLE,
    TOOL_CALLS = guardian::CALLS_TABLE,
}

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
