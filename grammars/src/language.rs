//! The interface between a language and the shared walk.

use std::sync::OnceLock;

use tree_sitter::Node;
use tslp_core::extract::GrammarTag;

use crate::context::NodeContext;
use crate::node::{NodeKinds, NodeRole, OpenedNode};
use crate::parts::Parts;
use crate::readable::Readable;
use crate::stub::Stubs;

/// One language: everything that the walk needs to know about it. Each language's file holds one.
pub(crate) struct Language {
    /// The name in grammar tags.
    pub(crate) name: &'static str,

    /// Version of the grammar, and of our reading of it after the `+`.
    pub(crate) version: &'static str,

    /// The separator between the parts of a qualified name.
    pub(crate) separator: &'static str,

    /// The grammar.
    pub(crate) grammar: fn() -> tree_sitter::Language,

    /// The text to be parsed in place of the source, of the same length.
    pub(crate) readable: fn(&[u8]) -> Readable,

    /// Whether macros may be where the grammar doesn't expect them.
    pub(crate) has_macros: bool,

    /// Whether indentation alone decides what belongs to a statement.
    pub(crate) is_indented: bool,

    /// The role of a named node kind.
    pub(crate) role: fn(&str) -> NodeRole,

    /// The definitions of a [`NodeRole::Item`] or [`NodeRole::Macro`] node.
    pub(crate) open: for<'tree> fn(Node<'tree>, &NodeContext<'tree, '_>) -> OpenedNode,

    /// The head and the body of a definition's node.
    pub(crate) parts: fn(Node<'_>) -> Parts,

    /// Kinds of definitions that include a semicolon after them.
    pub(crate) takes_semicolon: &'static [&'static str],

    /// Whether a lone `...`, marked by [`NodeRole::Dots`], replaces left-out code.
    pub(crate) is_left_out: fn(Node<'_>) -> bool,

    /// Prefixes of documentation comments, which may quote a placeholder without being one.
    pub(crate) documentation: &'static [&'static str],

    /// Bodies that do nothing, whatever is next to them (see [`Stubs`]).
    pub(crate) stubs: &'static [&'static str],

    /// Bodies that do nothing if a comment says that work is to be done.
    pub(crate) stubs_with_remark: &'static [&'static str],

    /// The tables that are built from all of this at first use.
    pub(crate) ready: OnceLock<LanguageTables>,
}

/// Tables built from a [`Language`] at its first use.
#[derive(Debug)]
pub(crate) struct LanguageTables {
    pub(crate) kinds: NodeKinds,
    pub(crate) stubs: Stubs,
}

impl Language {
    /// The tables of the language.
    pub(crate) fn ready(&self) -> &LanguageTables {
        self.ready.get_or_init(|| LanguageTables {
            kinds: NodeKinds::new(&(self.grammar)(), self.role, self.takes_semicolon),
            stubs: Stubs::new(self.stubs, self.stubs_with_remark)
                .expect("these are constants, and a test compiles them"),
        })
    }

    /// The name and version that every decision records.
    pub(crate) fn tag(&self) -> GrammarTag {
        GrammarTag {
            language: self.name.to_owned(),
            version: self.version.to_owned(),
        }
    }
}
