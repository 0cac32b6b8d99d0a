//! A reply's code is found, given its entities, measured and judged.

pub mod audit;
pub mod check;
pub(crate) mod code_spec;
pub mod draft;
pub mod file_author;
pub mod fitted;
pub mod found_code;
pub mod found_edit;
pub(crate) mod held_text;
pub mod holders;
pub(crate) mod link;
pub mod lost;
pub mod meant;
pub mod namesakes;
pub mod promote;
pub mod propose;
pub mod rename;
pub mod reply;
pub mod resolve;
pub(crate) mod similarity;
pub mod verify;
