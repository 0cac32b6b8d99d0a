//! Command lines that are run for a model: judged command by command by a profile's rules, then run inside a sandbox that the kernel
//! enforces.

#![deny(unsafe_code)]

pub mod guardian;
pub mod sandbox;
