//! Ledgers in tests: a line language for stories, a stage that plays them through the real engine, and what became of
//! the state.
//!
//! Every story that is played is also checked: replaying its events from the first gives the same rows in every
//! table, and so do the row changes that the live fold gave out, and the events' stored bytes.

#![deny(unsafe_code)]

pub mod script;

pub mod disk;
pub mod stage;
pub mod store;

pub mod golden;
pub mod law;
pub mod state_text;
pub mod verdicts;

pub mod replay_check;
pub mod tables;

pub mod recording;

pub mod random;

pub mod dice;
pub mod storage;

pub mod simulation;
