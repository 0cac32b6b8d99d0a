//! The list of all tables.

use crate::row::{Row, StoredRow};
use crate::table::Table;

/// All tables, each with its index in [`TABLES`], its row, and the field of the state whose projection
/// [keeps](crate::row::Keeps) it. They are in the order in which their rows are restored: rows that complete those of another table
/// come after them. Another table is another line here.
macro_rules! for_each_table {
    ($call:ident) => {
        $call! {
            VAULT: crate::vault::VaultLocation => vault.not_durable,
            COUNTERS: crate::counters::CounterRow => counters.rows,
            STATE_MAP: crate::file_code::TrackedFileRow => state_map,
            PARTLY_TRUE: crate::sources::PartlyTrueRow => state_map.sources,
            FORMER_VERSIONS: crate::state_map::FormerVersionsRow => state_map.superseded,
            PROPOSALS: crate::proposals::Proposal => proposals.rows,
            TOMBSTONES: crate::tombstones::TombstoneRow => tombstones.removed,
            DISK: crate::disk::DiskRow => state_map,
            STALE: crate::stale::StaleRow => stale.differing,
            ACKNOWLEDGED: crate::stale::AcknowledgedRow => stale.acknowledged,
            SESSIONS: crate::sessions::SessionRow => sessions.sessions,
            EPISODES: crate::episodes::EpisodeRow => episodes.rows,
            ANOMALIES: crate::anomalies::AnomalyRow => anomalies.events,
            AUDITS: crate::audits::AuditRow => audits.rows,
            RULES: crate::rules::RulesRow => rules.in_force,
            OUTDATED: crate::sources::OutdatedRow => state_map.sources.outdated,
            EDITS: crate::edits::EditRow => edits.not_durable,
            FILE_MENTIONS: crate::file_mentions::FileMentionRow => file_mentions.not_durable,
            APPROVED_POLICY: crate::guardian::PolicyRow => guardian.policy,
            GRANTS: crate::guardian::GrantRow => guardian.grants,
            TOOL_SESSIONS: crate::guardian::ToolSessionRow => guardian.sessions,
            TOOL_CALLS: crate::guardian::ToolCallRow => guardian.calls,
            WORK: crate::work::WorkRow => work.rows,
            WORK_FILES: crate::work::WorkFileRow => work.files,
            USAGE: crate::usage::UsageRow => usage.rows,
            RECORDS: crate::records::RecordRow => records,
            SCOPE: crate::scope::ScopeRow => scope.rules,
            ALIASES: crate::scope::AliasRow => scope.aliases,
            PLACES: crate::places::PlaceRow => places.rows,
            GOAL: crate::goal::GoalRow => goal.rows,
            ASKED: crate::at_hand::AskedRow => at_hand.asked,
            CLIENT_CALLS: crate::at_hand::ClientCallRow => at_hand.calls,
            CHECKS: crate::checks::CheckRow => checks.rows,
            SIGNALS: crate::signals::SignalRow => signals.rows,
            PROVENANCE: crate::provenance::ProvenanceRow => provenance.texts,
        }
    };
}

macro_rules! number_tables {
    ($($index:ident: $row:path => $($field:ident).+,)+) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "named as the constants are")]
        enum TableIndex {
            $($index,)+
        }

        $(
            #[doc = concat!("Index of [`", stringify!($row), "`]'s table in [`TABLES`].")]
            pub const $index: usize = TableIndex::$index as usize;

            impl StoredRow for $row {
                const INDEX: usize = $index;
            }
        )+

        /// Every projection's tables, in the order in which their rows are restored.
        pub const TABLES: &[Table] = &[$(<$row as Row>::TABLE,)+];
    };
}

for_each_table!(number_tables);
