//! The ledger as evidence: read it (`tslp log`, `why`), take it away (`export`, `backup`), bring it back (`import`).
//!
//! All of them read through a connection that can't write, page by page, so that a running proxy isn't held up; what
//! they show is verified link by link, and damage is shown as damage.

pub mod line;

pub mod scan;
pub mod sent;

pub mod export;
pub mod import;

pub mod backup;

pub mod describe;
pub mod log;
pub mod moments;

pub mod suggestions;
pub mod workshop;

#[cfg(test)]
mod tests;
