//! Makes C and C++ readable to a grammar that knows no preprocessor.
//!
//! The grammars see sources before macros are expanded, and err where a macro or a conditional stands in a place that
//! they can't foresee. Such words are blanked in a copy that only the parser sees, byte for byte, so that every
//! position stays true. What is blanked is decided by local rules over tokens: a macro between specifiers, a macro
//! that is a statement, a conditional that splits a statement. Anything else that is wrong stays wrong.

mod ending;
mod lex;

mod conditionals;
mod directives;
mod macros;
mod pass;
mod placed;
mod specifiers;

pub(crate) use conditionals::without_open_conditionals;
pub(crate) use lex::{looks_like_macro, without_directives};
pub(crate) use pass::{CDialect, readable};
pub(crate) use specifiers::{PartKind, kind_of_word};
