//! The user's files, read and never written: looks at single files, and the walk over a whole tree.

#![forbid(unsafe_code)]

pub mod observer;
pub mod target;
pub mod tree;
pub mod unread_code;
