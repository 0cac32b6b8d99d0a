//! What a model may see and call, where a path leads, and how much an agent may use.

pub mod off;
pub mod place;
pub mod rules;
pub mod tools;
pub mod touch;
pub mod work;
