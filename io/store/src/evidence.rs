//! The ledger as evidence: read from its first event to its last, as lines too, and copied.
//!
//! All of it reads through a connection that can't write, page by page, so that a running proxy isn't held up; every link is
//! verified, and damage is shown as damage.

pub mod line;

pub mod scan;

pub mod copy;

#[cfg(test)]
mod tests;
