//! Golden stories and properties of the whole engine, sessions of real clients, and the ledger on a disk that fails.

mod agents;
mod properties;
mod storage;
mod stories;
mod value;
