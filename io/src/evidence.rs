//! The ledger read by people: `tslp log`, `why` and `undo`, and what is said of replies.

pub mod describe;
pub mod log;
pub mod moments;
pub mod replies;

pub mod suggestions;
pub mod undo;
