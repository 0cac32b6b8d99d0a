//! A scripted model server and a scripted client, in all six dialects: what the suite, the benches, the demo and the harnesses of real
//! clients speak with.
//!
//! A [`Reply`] is data: what is said and called, and what is odd about it. [`Server`] sends it in the dialect that it is asked in;
//! [`Prompt`] asks in any of them. README.md has examples.

mod client;
mod encode;
mod oddities;
mod prompt;
mod reply;
mod server;

pub use client::{Connection, PATIENCE, Response};
pub use encode::encoded;
pub use oddities::{Case, KINDS, Where, case, case_of};
pub use prompt::{Prompt, Turn};
pub use reply::{Call, Change, Encoding, End, Odd, Reply};
pub use server::{Answer, Request, Server, Step, barrier, closing, read_request};
