//! The interface between a language and the shared walk, and the table of languages.

use std::sync::OnceLock;

use tree_sitter::Node;
use tslp_core::extract::{GrammarTag, LanguageId};
use tslp_core::slice::Span;

use crate::parts::Parts;
use crate::readable::Readable;
use crate::stub::Stubs;
use crate::walk::NodeContext;
use crate::{c, cpp, go, java, javascript, python, rust, typescript};

/// The role of a node kind in the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeRole {
    /// Structure to be counted, nothing else.
    Plain,
    /// Not counted in the figures; may document a definition or replace left-out code.
    Comment,
    /// May define something or enclose definitions: [`Language::open`] says.
    Item,
    /// The inside of a function: only what [`NodeRole::Macro`] marks is a definition there.
    Body,
    /// A definition everywhere, even inside of a function.
    Macro,
    /// Something that only a whole file has: an include, an import.
    Preamble,
    /// Belongs to the definition that follows it: an attribute, a decorator.
    Lead,
    /// Statements that must begin in one column.
    Indented,
    /// Dots that may replace left-out code: [`Language::is_left_out`] decides.
    Dots,
}

/// The kind of place in which definitions are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefinitionPlace {
    /// At the top level of a file or namespace.
    Namespace,
    /// Among the members of a type.
    Type,
    /// Inside a function or an initialiser.
    Body,
}

/// The result of [`Language::open`] at a node.
#[derive(Debug, Default)]
pub(crate) struct OpenedNode {
    /// Qualified names that the node defines, in source order.
    pub(crate) symbols: Vec<String>,
    /// Whether definitions directly below take their span from this node, as with `template <…>` or `typedef`.
    pub(crate) wraps: bool,
    /// The place inside the node, if it differs from the one around it.
    pub(crate) inside: Option<DefinitionPlace>,
    /// A component that the node adds to the scope of what it encloses.
    pub(crate) scope: Option<String>,
    /// Start of a macro below that guards against double inclusion and is no definition.
    pub(crate) guard: Option<usize>,
    /// Whether the node is something that only a whole file has.
    pub(crate) preamble: bool,
    /// Whether the definition's scope is unknown: the text shows an indented part of something.
    pub(crate) is_fragment: bool,
    /// Whether only the first of several nodes with the same symbol defines it, as with variables.
    pub(crate) first_only: bool,
}

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
            kinds: NodeKinds::of(self),
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

/// The walk's data for each node kind, by its id.
#[derive(Debug)]
pub(crate) struct NodeKinds(Vec<NodeKind>);

/// The walk's data for one node kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeKind {
    pub(crate) role: NodeRole,
    pub(crate) named: bool,
    /// The bracket that the kind is, if it is one; `${` counts as a brace, ends of strings as angles.
    pub(crate) bracket: Option<u8>,
    /// Whether a semicolon after such a node belongs to the definition.
    pub(crate) takes_semicolon: bool,
    /// Whether the node is a statement that consists of an expression.
    pub(crate) is_statement: bool,
}

impl NodeKinds {
    fn of(language: &Language) -> Self {
        let grammar = (language.grammar)();
        let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        let kind = |id| {
            let named = grammar.node_kind_is_named(id);
            let name = grammar
                .node_kind_for_id(id)
                .expect("every number below the count has a name");
            let role = if named {
                (language.role)(name)
            } else {
                NodeRole::Plain
            };
            let bracket = match name {
                "${" => Some(b'{'),
                "string_start" => Some(b'<'),
                "string_end" => Some(b'>'),
                "(" | ")" | "[" | "]" | "{" | "}" => name.bytes().next(),
                _ => None,
            };
            NodeKind {
                role,
                named,
                bracket,
                takes_semicolon: language.takes_semicolon.contains(&name),
                is_statement: name == "expression_statement",
            }
        };
        Self((0..count).map(kind).collect())
    }

    /// The meaning of a kind. Errors have one that no table holds.
    pub(crate) fn get(&self, id: u16) -> NodeKind {
        self.0.get(usize::from(id)).copied().unwrap_or(NodeKind {
            role: NodeRole::Plain,
            named: true,
            bracket: None,
            takes_semicolon: false,
            is_statement: false,
        })
    }
}

/// The way in which a row's texts are read.
#[derive(Clone, Copy)]
pub(crate) enum TextReader {
    /// By one grammar.
    One(&'static Language),
    /// As C or as C++, whichever has fewer errors.
    Header,
}

/// One row of the table.
pub(crate) struct LanguageRow {
    /// Extensions of file names, case counts: `.C` is C++.
    pub(crate) extensions: &'static [&'static str],
    /// Whole file names.
    pub(crate) file_names: &'static [&'static str],
    /// The family name that it shares with the languages that its texts may be mistaken for.
    pub(crate) family: &'static str,
    /// Names in info strings of fences, lower case.
    pub(crate) tags: &'static [&'static str],
    /// How texts are read.
    pub(crate) reader: TextReader,
}

/// All languages. Order is identity: add rows at the end.
static TABLE: &[LanguageRow] = &[
    LanguageRow {
        extensions: &["c"],
        file_names: &[],
        family: "c",
        tags: &["c"],
        reader: TextReader::One(&c::C),
    },
    LanguageRow {
        extensions: &[
            "cpp", "cc", "cxx", "c++", "C", "hpp", "hh", "hxx", "h++", "H", "ipp", "tpp", "inl",
            "txx", "ixx", "cppm",
        ],
        file_names: &[],
        family: "c",
        tags: &["cpp", "c++", "cxx", "cc", "hpp", "hh", "hxx"],
        reader: TextReader::One(&cpp::CPP),
    },
    LanguageRow {
        extensions: &["h"],
        file_names: &[],
        family: "c",
        tags: &["h"],
        reader: TextReader::Header,
    },
    LanguageRow {
        extensions: &["py", "pyi", "pyw"],
        file_names: &["SConstruct", "SConscript"],
        family: "python",
        tags: &["python", "py", "python3", "py3"],
        reader: TextReader::One(&python::PYTHON),
    },
    LanguageRow {
        extensions: &["js", "jsx", "mjs", "cjs"],
        file_names: &[],
        family: "javascript",
        tags: &[
            "javascript",
            "js",
            "jsx",
            "mjs",
            "cjs",
            "ecmascript",
            "node",
        ],
        reader: TextReader::One(&javascript::JAVASCRIPT),
    },
    LanguageRow {
        extensions: &["ts", "mts", "cts"],
        file_names: &[],
        family: "javascript",
        tags: &["typescript", "ts", "mts", "cts"],
        reader: TextReader::One(&typescript::TYPESCRIPT),
    },
    LanguageRow {
        extensions: &["tsx"],
        file_names: &[],
        family: "javascript",
        tags: &["tsx"],
        reader: TextReader::One(&typescript::TSX),
    },
    LanguageRow {
        extensions: &["rs"],
        file_names: &[],
        family: "rust",
        tags: &["rust", "rs"],
        reader: TextReader::One(&rust::RUST),
    },
    LanguageRow {
        extensions: &["go"],
        file_names: &[],
        family: "go",
        tags: &["go", "golang"],
        reader: TextReader::One(&go::GO),
    },
    LanguageRow {
        extensions: &["java"],
        file_names: &[],
        family: "java",
        tags: &["java"],
        reader: TextReader::One(&java::JAVA),
    },
];

/// The number of languages.
pub(crate) fn count() -> usize {
    TABLE.len()
}

/// The row of a language.
pub(crate) fn row(language: LanguageId) -> Option<&'static LanguageRow> {
    TABLE.get(usize::from(language.0))
}

/// The tags of all grammars, by language.
pub(crate) fn tags() -> Vec<GrammarTag> {
    let mut tags: Vec<GrammarTag> = TABLE
        .iter()
        .filter_map(|row| match row.reader {
            TextReader::One(language) => Some(language.tag()),
            TextReader::Header => None,
        })
        .collect();
    tags.sort();
    tags
}

/// The language of files with this name. The case of an extension counts where two languages differ by it.
pub(crate) fn of_file(basename: &str, extension: Option<&str>) -> Option<LanguageId> {
    let by_extension = |same: fn(&str, &str) -> bool| {
        let extension = extension?;
        id_where(|row| row.extensions.iter().any(|known| same(known, extension)))
    };
    id_where(|row| row.file_names.contains(&basename))
        .or_else(|| by_extension(|known, extension| known == extension))
        .or_else(|| by_extension(str::eq_ignore_ascii_case))
}

/// The language a fence's tag names.
pub(crate) fn of_tag(tag: &str) -> Option<LanguageId> {
    id_where(|row| row.tags.iter().any(|known| known.eq_ignore_ascii_case(tag)))
}

fn id_where(matches: impl Fn(&LanguageRow) -> bool) -> Option<LanguageId> {
    let index = TABLE.iter().position(matches)?;
    u8::try_from(index).ok().map(LanguageId)
}

/// The text of a name.
pub(crate) fn text(node: Node<'_>, outer: &NodeContext<'_, '_>) -> String {
    String::from_utf8_lossy(span(node).of(outer.source)).into_owned()
}

/// The text of the child that a field names.
pub(crate) fn field_text(
    node: Node<'_>,
    field: &str,
    outer: &NodeContext<'_, '_>,
) -> Option<String> {
    let child = node.child_by_field_name(field)?;
    (!child.is_missing()).then(|| text(child, outer))
}

/// Removes whitespace except where two words would run together.
pub(crate) fn tightened(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tight = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if tight.ends_with(is_word) && word.starts_with(is_word) {
            tight.push(' ');
        }
        tight.push_str(word);
    }
    tight
}

/// The bytes of a node.
pub(crate) fn span(node: Node<'_>) -> Span {
    Span {
        start: offset(node.start_byte()),
        end: offset(node.end_byte()),
    }
}

/// Sources are bounded far below 4 GiB.
pub(crate) fn offset(byte: usize) -> u32 {
    u32::try_from(byte).unwrap_or(u32::MAX)
}
