//! Pure folds of ledger events. No projection parses source, reads a disk or a clock, or knows SQL.
//!
//! All have the same shape: state, `apply`, queries, `Display`, tests.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod table;

use table::Table;

/// Every projection's table, in the order in which they are folded.
pub const TABLES: &[Table] = &[];
