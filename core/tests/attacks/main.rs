//! Attacks that were tried, as lists: the next one is one more line.

mod credentials;
mod delimiters;
