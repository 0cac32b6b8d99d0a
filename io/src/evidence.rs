//! The ledger read by people: `tslp log` and `tslp why`.

pub mod log;
pub mod why;

pub mod suggestions;
