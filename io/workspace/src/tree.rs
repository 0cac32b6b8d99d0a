//! A whole tree of files: walked in a fixed order, read and parsed by several threads, in memory that doesn't grow with the tree.

pub mod read_queue;
pub mod reading;
pub mod walk;
