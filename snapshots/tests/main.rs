//! Golden stories and properties of the whole engine, and the ledger on a disk that fails.

mod properties;
mod storage;
mod stories;
