//! Random users, models and disks: the law holds after every step.

use tslp_snapshots::random::{entropy, player};

#[test]
fn the_law_holds_in_random_stories() {
    for seed in 0..120 {
        player::play(&entropy::bytes(seed, 700));
    }
}
