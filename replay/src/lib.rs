//! Replay core: the hash chain, the log's contract, the fold over all projections, and the engine that drives
//! decide and fold over them, live and in replay alike. No I/O, no clock, no thread.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod chain;
pub mod fold;
pub mod log;

pub mod engine;
pub mod pending;

pub mod deep;
pub mod trace;
