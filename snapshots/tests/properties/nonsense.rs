//! The fold takes any events without a panic, and its row changes add up to its rows.

use tslp_snapshots::random::{entropy, invariants};

#[test]
fn any_events_fold() {
    for seed in 0..2_000 {
        invariants::check_nonsense_folds(&entropy::bytes(seed, 4_000));
    }
}
