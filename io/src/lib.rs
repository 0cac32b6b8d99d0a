//! The edge of TSLP: sockets, files, SQLite, threads, the command line. The `tslp` binary is a thin call into here.

pub mod channel;
pub mod chat;
pub mod ledger;
