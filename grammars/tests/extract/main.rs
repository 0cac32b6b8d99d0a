//! Extraction of definitions, seen from outside.

#![allow(
    clippy::unwrap_used,
    reason = "a test that fails may say so by panicking"
)]

mod shown;

mod broken;
mod c;
mod cpp;
mod elisions;
mod grammars;
mod headers;
mod macros;
mod parts;
mod patterns;
mod patterns_hostile;
mod pieces;
mod preprocessor;

mod corpus;
mod hostile;
mod properties;
mod torn;
