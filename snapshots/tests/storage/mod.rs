//! The ledger on a disk that fails: rows 2 to 8, 10 and 13 of docs/storage.md.

#![expect(
    clippy::unwrap_used,
    reason = "a panic is how a test fails; functions of a test count as library code for this lint"
)]

mod bit_flips;
mod clock;
mod errors;
mod hostile_events;
mod interrupted;
mod moving;
mod pages;
mod power_loss;
mod reliability_list;
mod rollback;
mod simulated_disk;
mod workload;

/// Seeds of a harness: so many in a common run, `TSLP_SEEDS` times as many where that is set.
fn seeds(common: u64) -> std::ops::Range<u64> {
    let times = std::env::var("TSLP_SEEDS").ok();
    let times = times.map_or(1, |times| times.parse().expect("TSLP_SEEDS is a number"));
    0..common * times
}
