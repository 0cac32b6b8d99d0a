//! The ledger read by people: `tslp log` and `tslp why`.

pub mod describe;
pub mod log;
pub mod moments;

pub mod suggestions;
