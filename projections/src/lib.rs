//! Pure folds of ledger events. No projection parses source, reads a disk or a clock, or knows SQL.
//!
//! All have the same shape, in the same order: rows, state, `apply`, queries, [`row::Keeps`], `Display`. The rows are the
//! whole state: a fold that continues from them equals one from the first event.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[macro_use]
pub mod row;
pub mod changes;
pub mod checks;
pub mod row_map;
pub mod table;

pub mod counters;

pub mod edits;
pub mod file_mentions;
pub mod vault;

pub mod disk;
pub mod file_code;
mod packed;
pub mod sources;
pub mod state_map;
pub mod symbol_words;

pub mod proposals;
pub mod provenance;

pub mod tombstones;

pub mod stale;

pub mod anomalies;
pub mod at_hand;
pub mod audits;
pub mod episodes;
pub mod goal;
pub mod guardian;
pub mod places;
pub mod records;
pub mod rules;
pub mod scope;
pub mod sessions;
pub mod signals;
pub mod usage;
pub mod work;

#[macro_use]
mod tables;

pub mod state;
pub mod store;

pub use row::EventAt;
pub use tables::*;
