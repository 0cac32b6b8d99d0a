//! Golden stories and properties of the whole engine.

mod properties;
mod stories;
