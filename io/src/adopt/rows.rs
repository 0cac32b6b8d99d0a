//! Row changes of a commit, reduced to those by which its end differs from its beginning.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use tslp_core::event::{Event, Recorded};
use tslp_core::ids::VersionId;
use tslp_projections::table::{Change, RowChange, Value};
use tslp_projections::{EPISODE_ENTRIES, PROPOSALS};

use crate::ledger::writer::Commit;

/// Only the last change of each row is written, and of a row that comes and goes in the commit none at all: a proposal
/// that is promoted at once never needs its row. What is left stands table by table.
pub(super) fn reduced(commit: Commit) -> Commit {
    let is_kept = kept(&commit);
    let Commit {
        recorded,
        mut changes,
    } = commit;
    let places = changes.iter().enumerate();
    let mut order: Vec<(usize, usize)> = places
        .filter(|(place, _)| is_kept[*place])
        .map(|(place, change)| (change.table, place))
        .collect();
    order.sort_unstable();
    // Rows are moved once, and never copied.
    let mut taken = |place: usize| RowChange {
        table: changes[place].table,
        change: std::mem::replace(&mut changes[place].change, Change::Put(Vec::new())),
    };
    let changes = order.into_iter().map(|(_, place)| taken(place)).collect();
    Commit { recorded, changes }
}

/// For each change whether it is written.
fn kept(commit: &Commit) -> Vec<bool> {
    let first_version = first_version(&commit.recorded);
    let changes = &commit.changes;
    let mut kept = vec![false; changes.len()];
    let mut last_of = HashMap::with_capacity(changes.len());
    for (index, change) in changes.iter().enumerate().rev() {
        match last_of.entry(change.place()) {
            Entry::Vacant(place) => {
                kept[index] = true;
                place.insert(index);
            }
            // The earliest change has the last say of whether a row that is gone stood in the store at all.
            Entry::Occupied(last) => {
                let last = *last.get();
                kept[last] = matches!(changes[last].change, Change::Put(_))
                    || !makes_a_row(change, first_version);
            }
        }
    }
    kept
}

/// Whether no row can have stood where this one is put.
fn makes_a_row(change: &RowChange, first_version: Option<VersionId>) -> bool {
    let Change::Put(row) = &change.change else {
        return false;
    };
    match (change.table, row.first()) {
        // Entries are written once, each behind the one before.
        (EPISODE_ENTRIES, _) => true,
        (PROPOSALS, Some(key)) => first_version.is_some_and(|first| *key >= Value::from(first.0)),
        _ => false,
    }
}

/// The first version that is recorded here; versions rise.
fn first_version(recorded: &[Recorded]) -> Option<VersionId> {
    recorded.iter().find_map(|recorded| match &recorded.event {
        Event::ArtifactResolved(resolved) => resolved.versions.first().map(|version| version.id),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use tslp_core::artifact::{Level, Version};
    use tslp_core::entity::EntityId;
    use tslp_core::event::{ArtifactResolved, Extent};
    use tslp_core::hash::{ArtifactHash, SliceHash};
    use tslp_core::ids::{CaptureId, Seq, UnixMillis};
    use tslp_core::path::RelPath;
    use tslp_core::reason::Reason;
    use tslp_core::slice::Figures;
    use tslp_projections::STATE_MAP;

    use super::*;

    /// A commit in which version 7 is resolved.
    fn resolved() -> Recorded {
        let version = Version {
            id: VersionId(7),
            entity: EntityId::file(RelPath::from_normalised("a.c")),
            slice: SliceHash([0; 32]),
            spans: Vec::new(),
            figures: Figures::default(),
        };
        Recorded {
            seq: Seq(1),
            at: UnixMillis(0),
            event: Event::ArtifactResolved(ArtifactResolved {
                capture: CaptureId(1),
                level: Level::Confirmed,
                reason: Reason::AstMatch,
                grammar: None,
                patterns: ArtifactHash([0; 32]),
                extent: Extent::WholeFile,
                versions: vec![version],
            }),
        }
    }

    fn put(table: usize, key: &[u64]) -> RowChange {
        let mut row: Vec<Value> = key.iter().copied().map(Value::from).collect();
        row.resize(tslp_projections::TABLES[table].columns.len(), Value::Null);
        let change = Change::Put(row);
        RowChange { table, change }
    }

    fn remove(table: usize, key: &[u64]) -> RowChange {
        let change = Change::Remove(key.iter().copied().map(Value::from).collect());
        RowChange { table, change }
    }

    fn check(changes: &[RowChange], expected: &[RowChange]) {
        let commit = Commit {
            recorded: vec![resolved()],
            changes: changes.to_vec(),
        };
        assert_eq!(reduced(commit).changes, expected);
    }

    #[test]
    fn rows_that_come_and_go_are_never_written() {
        check(&[put(PROPOSALS, &[7]), remove(PROPOSALS, &[7])], &[]);
        check(
            &[
                put(PROPOSALS, &[8]),
                put(PROPOSALS, &[8]),
                remove(PROPOSALS, &[8]),
            ],
            &[],
        );
        check(
            &[
                put(EPISODE_ENTRIES, &[0, 3]),
                remove(EPISODE_ENTRIES, &[0, 3]),
            ],
            &[],
        );
    }

    #[test]
    fn rows_that_may_stand_in_the_store_are_removed() {
        let old = [put(PROPOSALS, &[6]), remove(PROPOSALS, &[6])];
        check(&old, &old[1..]);
        let alone = [remove(PROPOSALS, &[7]), remove(EPISODE_ENTRIES, &[0, 3])];
        check(&alone, &alone);
        let again = [
            remove(EPISODE_ENTRIES, &[0, 3]),
            put(EPISODE_ENTRIES, &[0, 3]),
            remove(EPISODE_ENTRIES, &[0, 3]),
        ];
        check(&again, &again[2..]);
        let known = [put(STATE_MAP, &[1, 1]), remove(STATE_MAP, &[1, 1])];
        check(&known, &known[1..]);
    }

    #[test]
    fn the_last_of_several_rows_is_written_table_by_table() {
        check(
            &[
                put(PROPOSALS, &[7]),
                put(STATE_MAP, &[2, 2]),
                remove(STATE_MAP, &[1, 1]),
                put(PROPOSALS, &[7]),
                put(STATE_MAP, &[1, 1]),
            ],
            &[
                put(STATE_MAP, &[2, 2]),
                put(STATE_MAP, &[1, 1]),
                put(PROPOSALS, &[7]),
            ],
        );
    }
}
