//! The clock jumps by years, back and forth: the order is the events' own.

use tslp_core::ids::{Seq, UnixMillis};
use tslp_projections::TABLES;
use tslp_projections::file_code::TrueEntity;
use tslp_projections::state::State;
use tslp_projections::table::{Table, Value};
use tslp_replay::chain::ChainHash;
use tslp_replay::log::Stored;
use tslp_snapshots::dice::Dice;
use tslp_snapshots::replay_check;
use tslp_snapshots::storage::SimDisk;

use super::workload::{events, folded, open};

const YEAR_MILLIS: i64 = 365 * 86_400_000;

/// The story with times of their own, chained anew.
fn timed(mut time: impl FnMut(u64) -> i64) -> Vec<Stored> {
    let mut chain = ChainHash::GENESIS;
    let timed = events().map(|event| {
        let mut event = event.clone();
        event.envelope.at.0 = time(event.seq.0);
        chain = chain.extended(&event, event.kind, &event.payload);
        event.chain = chain;
        event
    });
    timed.collect()
}

/// A clock that jumps by years changes no decision and no order.
#[test]
fn jumps_by_years() {
    let mut dice = Dice::new(17);
    let jumping =
        timed(|_| (dice.below(70) as i64 + 1) * YEAR_MILLIS * if dice.coin() { 1 } else { -1 });
    let steady = timed(|seq| YEAR_MILLIS + i64::try_from(seq).unwrap());
    let disk = SimDisk::new(0);
    let (mut opened, _) = open(&disk).unwrap();
    opened.log.append(&jumping).unwrap();
    drop(opened);
    let (opened, state) = open(&disk).unwrap();
    assert_eq!(state.head(), jumping.last().unwrap().seq);
    let mut next = Seq(1);
    opened
        .log
        .read(Seq(1), &mut |stored| {
            assert_eq!(stored, jumping[usize::try_from(next.0).unwrap() - 1]);
            next = next.next();
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    // Rows differ in their times alone.
    let (jumped, walked) = (folded(&jumping), folded(&steady));
    // What agents have done is counted by days.
    let is_compared = |table: &Table| !matches!(table.name, "work" | "state_map");
    let tables = TABLES.iter().enumerate();
    for (index, table) in tables.filter(|(_, table)| is_compared(table)) {
        // No other number is that large.
        let rows = |state: &State| {
            let mut rows = replay_check::rows(state, index);
            for value in rows.iter_mut().flatten() {
                if matches!(value, Value::Integer(number) if number.abs() >= YEAR_MILLIS) {
                    *value = Value::Null;
                }
            }
            rows
        };
        assert_eq!(rows(&jumped), rows(&walked), "{}", table.name);
    }
    let timeless = |state: &State| -> Vec<TrueEntity> {
        let truths = state.state_map().true_entities();
        let timeless = truths.map(|truth| TrueEntity {
            updated_at_ms: UnixMillis(0),
            ..truth
        });
        timeless.collect()
    };
    assert!(!timeless(&jumped).is_empty());
    assert_eq!(timeless(&jumped), timeless(&walked));
}
