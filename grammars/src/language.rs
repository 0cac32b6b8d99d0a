//! What a language tells the shared walk, and the table of languages.

use std::sync::OnceLock;

use tree_sitter::Node;
use tslp_core::extract::{GrammarTag, LanguageId};
use tslp_core::slice::Span;

use crate::parts::Parts;
use crate::readable::Readable;
use crate::stub::Stubs;
use crate::walk::Outer;
use crate::{c, cpp, go, java, javascript, python, rust, typescript};

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
    /// Belongs to the definition that follows it: an attribute, a decorator.
    Lead,
    /// Statements that must begin in one column.
    Indented,
    /// Dots that may stand for left-out code: [`Language::is_left_out`] says.
    Dots,
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
    /// Whether it can't be told what the definition belongs to: the text shows an indented part of something.
    pub(crate) is_fragment: bool,
    /// Whether of several nodes that give the same symbol only the first defines it, as with variables.
    pub(crate) first_only: bool,
}

/// One language: all that the walk doesn't know by itself. Each file of a language holds one of these.
pub(crate) struct Language {
    /// The name in grammar tags.
    pub(crate) name: &'static str,

    /// Version of the grammar, and of our reading of it after the `+`.
    pub(crate) version: &'static str,

    /// What joins the parts of a qualified name.
    pub(crate) separator: &'static str,

    /// The grammar.
    pub(crate) grammar: fn() -> tree_sitter::Language,

    /// The text to be parsed in place of the source, of the same length.
    pub(crate) readable: fn(&[u8]) -> Readable,

    /// Whether macros may stand where the grammar has no place for them.
    pub(crate) has_macros: bool,

    /// Whether indentation alone says what belongs to a statement.
    pub(crate) is_indented: bool,

    /// What a named node kind means.
    pub(crate) role: fn(&str) -> Role,

    /// What an [`Role::Item`] or [`Role::Macro`] node defines.
    pub(crate) open: for<'tree> fn(Node<'tree>, &Outer<'tree, '_>) -> Opened,

    /// Where the head and the body of a definition's node are.
    pub(crate) parts: fn(Node<'_>) -> Parts,

    /// Kinds of definitions that a semicolon after them belongs to.
    pub(crate) takes_semicolon: &'static [&'static str],

    /// Whether a lone `...` stands for left-out code, as [`Role::Dots`] marks it.
    pub(crate) is_left_out: fn(Node<'_>) -> bool,

    /// How the comments begin that document, and so may quote what stands for left-out code.
    pub(crate) documentation: &'static [&'static str],

    /// Bodies that do nothing, whatever stands next to them (see [`Stubs`]).
    pub(crate) stubs: &'static [&'static str],

    /// Bodies that do nothing if a comment says that work is to be done.
    pub(crate) stubs_with_remark: &'static [&'static str],

    /// What is made of all that at first use.
    pub(crate) ready: OnceLock<Ready>,
}

/// What is made of a [`Language`] at its first use.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) kinds: Kinds,
    pub(crate) stubs: Stubs,
}

impl Language {
    /// The tables of the language.
    pub(crate) fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| Ready {
            kinds: Kinds::of(self),
            stubs: Stubs::new(self.stubs, self.stubs_with_remark)
                .expect("these are constants, and a test compiles them"),
        })
    }

    /// The name and version that stand in every decision.
    pub(crate) fn tag(&self) -> GrammarTag {
        GrammarTag {
            language: self.name.to_owned(),
            version: self.version.to_owned(),
        }
    }
}

/// What the walk knows of each node kind, by its id.
#[derive(Debug)]
pub(crate) struct Kinds(Vec<Kind>);

/// What the walk knows of a node kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) role: Role,
    pub(crate) named: bool,
    /// The bracket that the kind is, if it is one; `${` counts as a brace, ends of strings as angles.
    pub(crate) bracket: Option<u8>,
    /// Whether a semicolon after such a node belongs to the definition.
    pub(crate) takes_semicolon: bool,
    /// Whether the node is a statement that consists of an expression.
    pub(crate) is_statement: bool,
}

impl Kinds {
    fn of(language: &Language) -> Self {
        let grammar = (language.grammar)();
        let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        let kind = |id| {
            let named = grammar.node_kind_is_named(id);
            let name = grammar.node_kind_for_id(id).unwrap_or_default();
            let role = if named {
                (language.role)(name)
            } else {
                Role::Plain
            };
            let bracket = match name {
                "${" => Some(b'{'),
                "string_start" => Some(b'<'),
                "string_end" => Some(b'>'),
                "(" | ")" | "[" | "]" | "{" | "}" => name.bytes().next(),
                _ => None,
            };
            Kind {
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
    pub(crate) fn get(&self, id: u16) -> Kind {
        self.0.get(usize::from(id)).copied().unwrap_or(Kind {
            role: Role::Plain,
            named: true,
            bracket: None,
            takes_semicolon: false,
            is_statement: false,
        })
    }
}

/// How the texts of a row are read.
#[derive(Clone, Copy)]
pub(crate) enum Reader {
    /// By one grammar.
    One(&'static Language),
    /// As C or as C++, whichever reads better.
    Header,
}

/// One row of the table.
pub(crate) struct Row {
    /// Extensions of file names, case counts: `.C` is C++.
    pub(crate) extensions: &'static [&'static str],
    /// Whole file names.
    pub(crate) file_names: &'static [&'static str],
    /// What the language has in common with those that its texts may be taken for.
    pub(crate) family: &'static str,
    /// Names in info strings of fences, lower case.
    pub(crate) tags: &'static [&'static str],
    /// How texts are read.
    pub(crate) reader: Reader,
}

/// All languages. Order is identity: add rows at the end.
static TABLE: &[Row] = &[
    Row {
        extensions: &["c"],
        file_names: &[],
        family: "c",
        tags: &["c"],
        reader: Reader::One(&c::C),
    },
    Row {
        extensions: &[
            "cpp", "cc", "cxx", "c++", "C", "hpp", "hh", "hxx", "h++", "H", "ipp", "tpp", "inl",
            "txx", "ixx", "cppm",
        ],
        file_names: &[],
        family: "c",
        tags: &["cpp", "c++", "cxx", "cc", "hpp", "hh", "hxx"],
        reader: Reader::One(&cpp::CPP),
    },
    Row {
        extensions: &["h"],
        file_names: &[],
        family: "c",
        tags: &["h"],
        reader: Reader::Header,
    },
    Row {
        extensions: &["py", "pyi", "pyw"],
        file_names: &["SConstruct", "SConscript"],
        family: "python",
        tags: &["python", "py", "python3", "py3"],
        reader: Reader::One(&python::PYTHON),
    },
    Row {
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
        reader: Reader::One(&javascript::JAVASCRIPT),
    },
    Row {
        extensions: &["ts", "mts", "cts"],
        file_names: &[],
        family: "javascript",
        tags: &["typescript", "ts", "mts", "cts"],
        reader: Reader::One(&typescript::TYPESCRIPT),
    },
    Row {
        extensions: &["tsx"],
        file_names: &[],
        family: "javascript",
        tags: &["tsx"],
        reader: Reader::One(&typescript::TSX),
    },
    Row {
        extensions: &["rs"],
        file_names: &[],
        family: "rust",
        tags: &["rust", "rs"],
        reader: Reader::One(&rust::RUST),
    },
    Row {
        extensions: &["go"],
        file_names: &[],
        family: "go",
        tags: &["go", "golang"],
        reader: Reader::One(&go::GO),
    },
    Row {
        extensions: &["java"],
        file_names: &[],
        family: "java",
        tags: &["java"],
        reader: Reader::One(&java::JAVA),
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
            Reader::One(language) => Some(language.tag()),
            Reader::Header => None,
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

fn id_where(matches: impl Fn(&Row) -> bool) -> Option<LanguageId> {
    let index = TABLE.iter().position(matches)?;
    u8::try_from(index).ok().map(LanguageId)
}

/// The text of a name.
pub(crate) fn text(node: Node<'_>, outer: &Outer<'_, '_>) -> String {
    String::from_utf8_lossy(span(node).of(outer.source)).into_owned()
}

/// The text of the child that a field names.
pub(crate) fn field_text(node: Node<'_>, field: &str, outer: &Outer<'_, '_>) -> Option<String> {
    let child = node.child_by_field_name(field)?;
    (!child.is_missing()).then(|| text(child, outer))
}

/// Leaves a blank only where two words would run together.
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
