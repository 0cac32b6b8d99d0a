//! Properties of the whole engine over random inputs from fixed seeds.

mod nonsense;
mod stories;
