//! Stored events: frozen bytes, round trips, and whatever bytes a damaged disk may hand in.

#![allow(
    clippy::unwrap_used,
    reason = "a test that unwraps nothing fails, as it should"
)]

mod damaged;
mod frozen;
mod generate;
mod round_trip;
mod samples;
