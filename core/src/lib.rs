//! The law of TSLP as pure data and pure functions: events, artifacts, entities, capture, gates.
//!
//! Nothing here performs I/O, reads a clock, draws randomness or starts a thread. Time, disk contents and model
//! replies enter as values; parsers enter through [`extract::Grammars`]. Read `event` first, then `artifact`. "spec §6" is a section of
//! docs/spec.md, the law; docs/rules.md restates it rule by rule.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
// What `arbitrary` derives counts its depth in a thread-local.
#[cfg(feature = "arbitrary")]
extern crate std;

/// The version of the rules: it rises with every change of this crate or of `decide` that can change an outcome (what is captured, resolved,
/// judged or composed) under the same settings, so that deep verification can tell such a change from a defect or a forgery.
pub const RULES_VERSION: u32 = 40;

pub mod event;

pub mod artifact;
pub mod entity;
pub mod gate;
pub mod hash;
pub mod ids;
pub mod known_lines;
pub mod limits;
pub mod passages;
pub mod path;
pub mod place;
pub mod reason;
pub mod recent_map;
pub mod slice;
pub mod stored;

pub mod audit;
pub mod capture;
pub mod code_spec;
pub mod delimiter;
pub mod directive;
pub mod edit;
pub mod elision;
pub mod extract;
pub mod first_words;
pub mod measure;
pub mod message;
pub mod opening_fence;
pub mod outgoing;
pub mod read_message;
pub mod redact;
pub mod request;
pub mod spoken_lines;

pub mod budget;
pub mod goal;
pub mod guardian;
pub mod name_hash;
pub mod policy;
pub mod record;
pub mod runs;
pub mod scope;
pub mod visible;
pub mod window;
pub mod word;
pub mod word_list;
