//! The fold takes any events without a panic, and its row changes add up to its rows.

use tslp_snapshots::random::{entropy, invariants};

/// Five hundred ledgers, so that each of the 37 kinds of events follows each other one at least
/// twice: a projection that panics does so on an event after another that it didn't expect.
#[test]
fn any_events_fold() {
    for seed in 0..500 {
        invariants::check_nonsense_folds(&entropy::bytes(seed, 4_000));
    }
}
