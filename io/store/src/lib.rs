//! What lasts: the ledger in SQLite with its projections' tables, the way from a data directory to a state, and the ways in which a
//! ledger is verified, taken away and brought back.

#![forbid(unsafe_code)]

pub mod content_cache;
pub mod data_dir;
pub mod evidence;
pub mod ledger;
pub mod progress;
pub mod project;
pub mod scrub;
pub mod startup;
