//! The ledger as evidence: read from its first event to its last, taken away (export, backup), brought back (import).
//!
//! All of it reads through a connection that can't write, page by page, so that a running proxy isn't held up; every link is
//! verified, and damage is shown as damage.

pub mod line;

pub mod scan;

pub mod export;
pub mod import;

pub mod backup;

pub mod workshop;

#[cfg(test)]
mod tests;
