//! A prompt comes in, is read, and becomes what the model is given to see.

pub mod authorship;
pub mod clear;
pub mod compose;
pub mod facts;
pub mod goal;
pub mod hydrate;
pub mod last_runs;
pub(crate) mod last_turn;
pub mod mention;
pub(crate) mod naming;
pub mod outside;
pub mod reader;
pub mod receive;
pub(crate) mod recent_context;
pub mod records;
pub mod repeat;
pub(crate) mod said_texts;
pub mod sent;
pub mod shown;
pub mod side_request;
pub mod sight;
pub(crate) mod split;
pub mod text_facts;
pub mod text_index;
pub mod unfenced;
