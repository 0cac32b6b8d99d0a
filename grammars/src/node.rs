//! What the walk, the languages and the repairs say about nodes of a tree: roles, places, spans.

use tree_sitter::Node;
use tslp_core::measure::Part;
use tslp_core::slice::Span;

/// The role of a node kind in the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeRole {
    /// Structure to be counted, nothing else.
    Plain,
    /// Not counted in the figures; may document a definition or replace left-out code.
    Comment,
    /// May define something or enclose definitions: the language's `open` says.
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
    /// Dots that may replace left-out code: the language's `is_left_out` decides.
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

/// The result of the language's `open` at a node.
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
    /// Whether it guards a whole file against double inclusion.
    pub(crate) guard: bool,
    /// Whether the node is something that only a whole file has.
    pub(crate) preamble: bool,
    /// Whether the definition's scope is unknown: the text shows an indented part of something.
    pub(crate) is_fragment: bool,
    /// Whether only the first of several nodes with the same symbol defines it, as with variables.
    pub(crate) first_only: bool,
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
    /// The part of a definition that it is.
    pub(crate) part: Option<Part>,
    /// Whether it holds the statements of something.
    pub(crate) is_block: bool,
    /// Whether it is a name.
    pub(crate) is_name: bool,
}

impl NodeKinds {
    /// Asks `role_of` about every named kind of the grammar; nodes of `semicolon_kinds` take a semicolon after them.
    pub(crate) fn new(
        grammar: &tree_sitter::Language,
        role_of: fn(&str) -> NodeRole,
        semicolon_kinds: &[&str],
    ) -> Self {
        let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        let kind = |id| {
            let named = grammar.node_kind_is_named(id);
            let name = grammar
                .node_kind_for_id(id)
                .expect("every number below the count has a name");
            let role = if named {
                role_of(name)
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
                takes_semicolon: semicolon_kinds.contains(&name),
                is_statement: name == "expression_statement",
                part: if named {
                    part_of_kind(name)
                } else {
                    Part::of_keyword(name)
                },
                is_block: named && is_block(name),
                is_name: named && name.ends_with("identifier"),
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
            part: None,
            is_block: false,
            is_name: false,
        })
    }
}

/// The part of a definition that a named node is, by how grammars name their kinds.
fn part_of_kind(kind: &str) -> Option<Part> {
    const ATTRIBUTES: [&str; 7] = [
        "decorator",
        "attribute_item",
        "inner_attribute_item",
        "annotation",
        "marker_annotation",
        "attribute_declaration",
        "attribute_specifier",
    ];
    let is_statement = kind.ends_with("_statement") || kind.ends_with("declaration");
    let is_no_part = [
        "compound_statement",
        "empty_statement",
        "labeled_statement",
        "pass_statement",
    ];
    if ATTRIBUTES.contains(&kind) {
        Some(Part::Attribute)
    } else {
        (is_statement && !is_no_part.contains(&kind)).then_some(Part::Statement)
    }
}

fn is_block(kind: &str) -> bool {
    matches!(
        kind,
        "block" | "statement_block" | "compound_statement" | "constructor_body" | "suite"
    )
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

/// A position in a source.
pub(crate) fn offset(byte: usize) -> u32 {
    u32::try_from(byte).expect("sources are bounded far below 4 GiB")
}
