//! What models and users are told.

pub mod notice;
pub mod user_line;
