//! Random events and random stories, for property tests and fuzzing alike: the same bytes give the same story.

pub mod entropy;

pub mod events;

pub mod code;
pub mod edits;
pub mod invariants;
pub mod player;

mod deeds;
