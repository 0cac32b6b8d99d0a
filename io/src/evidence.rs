//! The ledger read by people: `tslp log`, `why` and `undo`, and what is said of replies.

pub mod describe;
pub mod log;
pub mod missing;
pub mod moments;
pub mod replies;
pub mod story;
pub mod suggestions;
pub mod undo;
