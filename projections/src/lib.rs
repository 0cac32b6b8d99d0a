//! Pure folds of ledger events. No projection parses source, reads a disk or a clock, or knows SQL.
//!
//! All have the same shape, in the same order: rows, state, `apply`, queries, [`row::Keeps`], `Display`. The rows are the
//! whole state: a fold that continues from them equals one from the first event. [`episode_entries`] alone has no table: it is folded
//! when somebody asks.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[macro_use]
pub mod row;
pub mod changes;
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

pub use row::EventAt;

use row::{Row, StoredRow};
use table::Table;

/// All tables, each with its index in [`TABLES`], its row, and the field of the state whose projection
/// [keeps](row::Keeps) it. They are in the order in which their rows are restored: rows that complete those of another table
/// come after them. Another table is another line here.
#[macro_export]
macro_rules! for_each_table {
    ($call:ident) => {
        $call! {
            VAULT: vault::VaultRow in vault,
            COUNTERS: counters::CounterRow in counters,
            STATE_MAP: state_map::StateMapRow in state_map,
            PARTLY_TRUE: sources::PartlyTrueRow in state_map,
            FORMER_VERSIONS: state_map::FormerVersionRow in state_map,
            PROPOSALS: proposals::ProposalRow in proposals,
            TOMBSTONES: tombstones::TombstoneRow in tombstones,
            DISK: disk::DiskRow in disk,
            STALE: stale::StaleRow in stale,
            ACKNOWLEDGED: stale::AcknowledgedRow in stale,
            SESSIONS: sessions::rows::SessionRow in sessions,
            RECENT_CONTEXT: sessions::rows::RecentContextRow in sessions,
            SESSION_ENTITIES: sessions::rows::SessionEntityRow in sessions,
            SESSION_PARTS: sessions::rows::SessionPartRow in sessions,
            SESSION_INDEX: sessions::rows::SessionIndexRow in sessions,
            SESSION_EPISODES: sessions::rows::SessionEpisodeRow in sessions,
            UNDER_WAY: sessions::rows::UnderWayRow in sessions,
            EPISODES: episodes::EpisodeRow in episodes,
            ANOMALIES: anomalies::AnomalyRow in anomalies,
            AUDITS: audits::AuditRow in audits,
            RULES: rules::RuleRow in rules,
            OUTDATED: sources::OutdatedRow in state_map,
            EDITS: edits::EditRow in edits,
            APPROVED_POLICY: guardian::PolicyRow in guardian,
            GRANTS: guardian::GrantRow in guardian,
            TOOL_SESSIONS: guardian::ToolSessionRow in guardian,
            TOOL_CALLS: guardian::ToolCallRow in guardian,
        }
    };
}

macro_rules! number_tables {
    ($($index:ident: $($row:ident)::+ in $field:ident,)+) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "named as the constants are")]
        enum TableIndex {
            $($index,)+
        }

        $(
            #[doc = concat!("Index of [`", stringify!($($row)::+), "`]'s table in [`TABLES`].")]
            pub const $index: usize = TableIndex::$index as usize;

            impl StoredRow for $($row)::+ {
                const INDEX: usize = $index;
            }
        )+

        /// Every projection's tables, in the order in which their rows are restored.
        pub const TABLES: &[Table] = &[$(<$($row)::+ as Row>::TABLE,)+];
    };
}

for_each_table!(number_tables);
