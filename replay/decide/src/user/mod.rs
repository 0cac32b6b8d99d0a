//! What the user says counts at once: directives, and code that they supply.

pub mod direct;
pub mod write_head;
