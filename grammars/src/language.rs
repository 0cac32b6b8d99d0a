//! What a language tells the shared walk, and the table of languages.

use std::sync::OnceLock;

use tree_sitter::Node;
use tslp_core::extract::{GrammarTag, LanguageId};

use crate::readable::Readable;
use crate::stub::Stubs;
use crate::walk::Outer;
use crate::{c, cpp};

/// What a node kind means to the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Structure to be counted, nothing else.
    Plain,
    /// Left out of the figures; may document or stand for left-out code.
    Comment,
    /// May define something or enclose definitions: [`Language::open`] says.
    Item,
    /// The inside of a function: only what [`Role::Macro`] marks is a definition there.
    Body,
    /// A definition wherever it stands, even inside of a function.
    Macro,
    /// What only a whole file has: an include, an import.
    Preamble,
}

/// Where definitions are being looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the top level of a file or namespace.
    Namespace,
    /// Among the members of a type.
    Type,
    /// Inside a function or an initialiser.
    Body,
}

/// What [`Language::open`] found at a node.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    /// Qualified names that the node defines, in source order.
    pub(crate) symbols: Vec<String>,
    /// Whether definitions directly below take their span from this node, as with `template <…>` or `typedef`.
    pub(crate) wraps: bool,
    /// Where the node's inside is, if elsewhere than its outside.
    pub(crate) inside: Option<Place>,
    /// A component that the node adds to the scope of what it encloses.
    pub(crate) scope: Option<String>,
    /// Start of a macro below that guards against double inclusion and is no definition.
    pub(crate) guard: Option<usize>,
    /// Whether the node is something that only a whole file has.
    pub(crate) preamble: bool,
}

/// One language: all that the walk doesn't know by itself.
pub(crate) trait Language: Sync {
    /// The name in grammar tags.
    fn name(&self) -> &'static str;

    /// Version of the grammar, and of our reading of it after the `+`.
    fn version(&self) -> &'static str;

    /// The grammar.
    fn grammar(&self) -> tree_sitter::Language;

    /// The table of node kinds, filled at first use.
    fn kinds(&self) -> &'static OnceLock<Kinds>;

    /// What a named node kind means.
    fn role(&self, kind: &str) -> Role;

    /// The text to be parsed in place of the source, of the same length.
    fn readable(&self, source: &[u8]) -> Readable;

    /// How bodies that do nothing are written.
    fn stubs(&self) -> &'static Stubs;

    /// Whether a semicolon after such a node belongs to the definition.
    fn takes_semicolon(&self, node: Node<'_>) -> bool;

    /// What an [`Role::Item`] or [`Role::Macro`] node defines.
    fn open(&self, node: Node<'_>, outer: &Outer<'_, '_>) -> Opened;
}

/// What the walk knows of each node kind, by its id.
#[derive(Debug)]
pub(crate) struct Kinds(Vec<(Role, bool)>);

impl Kinds {
    /// The table of a language.
    pub(crate) fn of(language: &dyn Language) -> &'static Self {
        language.kinds().get_or_init(|| {
            let grammar = language.grammar();
            let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
            let kind = |id| {
                let named = grammar.node_kind_is_named(id);
                let name = grammar.node_kind_for_id(id).unwrap_or_default();
                let role = if named {
                    language.role(name)
                } else {
                    Role::Plain
                };
                (role, named)
            };
            Self((0..count).map(kind).collect())
        })
    }

    /// The meaning of a kind, and whether its nodes are named.
    pub(crate) fn get(&self, id: u16) -> (Role, bool) {
        self.0
            .get(usize::from(id))
            .copied()
            .unwrap_or((Role::Plain, true))
    }
}

/// How the texts of a row are read.
#[derive(Clone, Copy)]
pub(crate) enum Reader {
    /// By one grammar.
    One(&'static dyn Language),
    /// As C or as C++, whichever reads better.
    Header,
}

/// One row of the table.
pub(crate) struct Row {
    /// Extensions of file names, case counts: `.C` is C++.
    pub(crate) extensions: &'static [&'static str],
    /// Names in info strings of fences, lower case.
    pub(crate) tags: &'static [&'static str],
    /// How texts are read.
    pub(crate) reader: Reader,
}

/// All languages. Order is identity: add rows at the end.
static TABLE: &[Row] = &[
    Row {
        extensions: &["c"],
        tags: &["c"],
        reader: Reader::One(&c::C),
    },
    Row {
        extensions: &[
            "cpp", "cc", "cxx", "c++", "C", "hpp", "hh", "hxx", "h++", "H", "ipp", "tpp", "inl",
            "txx", "ixx", "cppm",
        ],
        tags: &["cpp", "c++", "cxx", "cc", "hpp", "hh", "hxx"],
        reader: Reader::One(&cpp::Cpp),
    },
    Row {
        extensions: &["h"],
        tags: &["h"],
        reader: Reader::Header,
    },
];

/// How many languages there are.
pub(crate) fn count() -> usize {
    TABLE.len()
}

/// The row of a language.
pub(crate) fn row(language: LanguageId) -> Option<&'static Row> {
    TABLE.get(usize::from(language.0))
}

/// The tags of all grammars, by language.
pub(crate) fn tags() -> Vec<GrammarTag> {
    let mut tags: Vec<GrammarTag> = TABLE
        .iter()
        .filter_map(|row| match row.reader {
            Reader::One(language) => Some(GrammarTag {
                language: language.name().to_owned(),
                version: language.version().to_owned(),
            }),
            Reader::Header => None,
        })
        .collect();
    tags.sort();
    tags
}

/// The language of files with this extension.
pub(crate) fn of_extension(extension: &str) -> Option<LanguageId> {
    id_where(|row| row.extensions.contains(&extension))
}

/// The language a fence's tag names.
pub(crate) fn of_tag(tag: &str) -> Option<LanguageId> {
    id_where(|row| row.tags.iter().any(|known| known.eq_ignore_ascii_case(tag)))
}

fn id_where(matches: impl Fn(&Row) -> bool) -> Option<LanguageId> {
    let index = TABLE.iter().position(matches)?;
    u8::try_from(index).ok().map(LanguageId)
}
