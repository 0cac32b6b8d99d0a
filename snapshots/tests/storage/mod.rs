//! The ledger on a disk that fails: rows 2 to 8, 10 and 13 of docs/reliability.md.

#![expect(
    clippy::unwrap_used,
    reason = "a panic is how a test fails; functions of a test count as library code for this lint"
)]

mod simulated_disk;
mod workload;
