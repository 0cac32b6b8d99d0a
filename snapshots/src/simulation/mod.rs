//! The whole proxy as one deterministic machine: a seed decides what clients, editors, the model, the disk and the
//! clocks do and in which order the threads' work is done; after every step the law is checked.
//!
//! Everything but the threads themselves is the real code; docs/testing.md says what is put in place of what.

mod client;
mod clock;
mod http;
mod process;
mod speech;
mod upstream;
mod wire;
mod witness;
mod workspace;
mod world;

pub use world::{Failure, Report, run};
