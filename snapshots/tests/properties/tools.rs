//! Nothing that is true of code depends on tools (spec §8.5): whatever tools do between a story's events, all else is as it
//! was.

use arbitrary::Unstructured;
use tslp_core::event::Recorded;
use tslp_projections::state::State;
use tslp_projections::table::Value;
use tslp_projections::{
    ACKNOWLEDGED, DISK, EDITS, FORMER_VERSIONS, OUTDATED, PARTLY_TRUE, PROPOSALS, STALE, STATE_MAP,
    TOMBSTONES, TOOL_CALLS, VAULT,
};
use tslp_snapshots::random::events::tool_event;
use tslp_snapshots::random::{entropy, player};
use tslp_snapshots::stage::EngineMemory;

const STORIES: u64 = 20;

/// What says what is true, proposed, removed, on disk and contradicted by it.
const OF_CODE: [usize; 11] = [
    STATE_MAP,
    PARTLY_TRUE,
    FORMER_VERSIONS,
    PROPOSALS,
    TOMBSTONES,
    DISK,
    STALE,
    ACKNOWLEDGED,
    OUTDATED,
    EDITS,
    VAULT,
];

fn rows(state: &State, table: usize) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    state.visit_rows(table, &mut |row| rows.push(row));
    rows
}

/// law 8.5 | They never advance state
#[test]
fn calls_change_nothing() {
    let mut calls = 0;
    for seed in 0..STORIES {
        let stage = player::play_with_memory(&entropy::bytes(seed, 700), EngineMemory::All);
        let noise = entropy::bytes(seed + STORIES, 20_000);
        let mut noise = Unstructured::new(&noise);
        let (mut plain, mut noisy) = (State::default(), State::default());
        for recorded in stage.ledger() {
            for _ in 0..noise.int_in_range(0..=3).unwrap_or(0) {
                let event = tool_event(&mut noise).unwrap();
                // Under a position that is taken, so that what follows keeps its own.
                let of_tools = Recorded {
                    event,
                    ..recorded.clone()
                };
                noisy.apply(&of_tools);
            }
            plain.apply(recorded);
            noisy.apply(recorded);
            for table in OF_CODE {
                assert_eq!(rows(&plain, table), rows(&noisy, table), "seed {seed}");
            }
        }
        calls += rows(&noisy, TOOL_CALLS).len();
    }
    assert!(calls > 0, "the noise holds calls");
}
