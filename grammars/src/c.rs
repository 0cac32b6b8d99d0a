//! C: the definitions of its node kinds.
//!
//! A `typedef` with a tag (`typedef struct node {…} Node;`) is one text with two names and gives two definitions with
//! one span; so does a type that declares variables along with itself. Enumerators and members belong to their type.

use std::sync::OnceLock;

use tree_sitter::Node;
use tslp_core::slice::Span;

use crate::context::{NodeContext, text};
use crate::declarator::{self, Declared};
use crate::language::Language;
use crate::node::{DefinitionPlace, NodeRole, OpenedNode, span, tightened};
use crate::parts;
use crate::preprocessor::{self, CDialect};

/// The language.
pub(crate) static C: Language = Language {
    name: "c",
    version: "0.24.2+11",
    separator: "::",
    grammar: || tree_sitter_c::LANGUAGE.into(),
    readable: |source| preprocessor::readable(CDialect::C, source),
    has_macros: true,
    is_indented: false,
    role,
    open,
    parts: parts::of_c,
    takes_semicolon: TYPES,
    is_left_out: |_| false,
    documentation: &[],
    stubs: STUBS,
    stubs_with_remark: STUBS_WITH_REMARK,
    ready: OnceLock::new(),
};

/// Types, which unlike functions end with their semicolon.
pub(crate) const TYPES: &[&str] = &[
    "struct_specifier",
    "union_specifier",
    "enum_specifier",
    "class_specifier",
];

/// Bodies that do nothing, whatever is next to them.
pub(crate) const STUBS: &[&str] = &[
    r"(?:\.\.\.|\xe2\x80\xa6);?",
    r"(?:std::|::)?(?:abort|terminate|unreachable|__builtin_unreachable|__builtin_trap) ?\( ?\);",
    r#"assert ?\( ?(?:0|false|! ?"[^"]*")(?: ?&& ?"[^"]*")? ?\);"#,
    r#"(?i:throw [\w:]+ ?[({] ?"[^"]*(?:not (?:yet )?implemented|unimplemented|todo)[^"]*" ?[)}];)"#,
    r"(?i:throw [\w:]*not_?implemented\w* ?[({][^;]*[)}];)",
    r"(?i:(?:todo|unimplemented|not_?implemented) ?\([^;]*\);?)",
    r#"(?i:[\w:]+ ?\([^;]*"[^"]*(?:not (?:yet )?implemented|unimplemented)[^"]*"[^;]*\);(?: ?return[^;]*;)?)"#,
];

/// Bodies that do nothing if a comment says so.
pub(crate) const STUBS_WITH_REMARK: &[&str] = &[
    r#"(?:\(void\) ?\w+; ?)*(?:return(?: ?(?:-?\d[\w.]*|NULL|nullptr|true|false|\{ ?\}|""|\*this|[\w:<>]+(?:\(\)|\{\})))?;)?"#,
];

fn open<'tree>(node: Node<'tree>, outer: &NodeContext<'tree, '_>) -> OpenedNode {
    match node.kind() {
        "function_definition" => OpenedNode {
            symbols: function_name(node, outer).into_iter().collect(),
            inside: Some(DefinitionPlace::Body),
            ..OpenedNode::default()
        },
        "struct_specifier" | "union_specifier" | "enum_specifier" => OpenedNode {
            symbols: tag(node)
                .map(|name| text(name, outer))
                .into_iter()
                .collect(),
            inside: Some(DefinitionPlace::Type),
            ..OpenedNode::default()
        },
        "declaration" => variables(node, outer, |name| text(name, outer)),
        "expression_statement" => pointer_to_function(node, outer),
        _ => open_shared(node, outer),
    }
}

/// The roles of the node kinds that C and C++ share.
pub(crate) fn role(kind: &str) -> NodeRole {
    match kind {
        "comment" => NodeRole::Comment,
        "attribute_declaration" | "attribute_specifier" => NodeRole::Lead,
        "compound_statement" => NodeRole::Body,
        "preproc_include" => NodeRole::Preamble,
        "preproc_def" | "preproc_function_def" => NodeRole::Macro,
        "function_definition"
        | "declaration"
        | "type_definition"
        | "field_declaration"
        | "struct_specifier"
        | "union_specifier"
        | "enum_specifier"
        | "expression_statement"
        | "linkage_specification"
        | "preproc_ifdef" => NodeRole::Item,
        _ => NodeRole::Plain,
    }
}

/// Opens the nodes that mean the same in C and C++.
pub(crate) fn open_shared(node: Node<'_>, outer: &NodeContext<'_, '_>) -> OpenedNode {
    match node.kind() {
        "preproc_def" if is_guarded(outer.source, span(node)) => OpenedNode {
            guard: true,
            ..OpenedNode::default()
        },
        "preproc_def" | "preproc_function_def" => OpenedNode {
            symbols: node
                .child_by_field_name("name")
                .map(|name| text(name, outer))
                .into_iter()
                .collect(),
            ..OpenedNode::default()
        },
        "type_definition" => OpenedNode {
            symbols: type_names(node, outer),
            wraps: true,
            ..OpenedNode::default()
        },
        "field_declaration" => OpenedNode {
            wraps: true,
            ..OpenedNode::default()
        },
        "linkage_specification" => OpenedNode {
            wraps: node
                .child_by_field_name("body")
                .is_some_and(|body| body.kind() != "declaration_list"),
            ..OpenedNode::default()
        },
        _ => OpenedNode::default(),
    }
}

/// The variables that a declaration defines: neither prototypes nor what is `extern` without a value.
pub(crate) fn variables(
    node: Node<'_>,
    outer: &NodeContext<'_, '_>,
    symbol: impl Fn(Node<'_>) -> String,
) -> OpenedNode {
    let mut opened = OpenedNode {
        wraps: true,
        ..OpenedNode::default()
    };
    if outer.place != DefinitionPlace::Namespace || outer.in_error {
        return opened;
    }
    let linked = outer
        .wrappers()
        .any(|wrapper| wrapper.kind() == "linkage_specification");
    let is_extern = linked || has_storage(node, outer, "extern");
    let mut cursor = node.walk();
    for declarator in node.children_by_field_name("declarator", &mut cursor) {
        let has_value = declarator.kind() == "init_declarator";
        let Some(Declared {
            name,
            is_function,
            is_parenthesised,
        }) = declarator::declared(declarator)
        else {
            continue;
        };
        if is_function
            || is_parenthesised && !has_value
            || is_extern && !has_value
            || name.is_missing()
        {
            continue;
        }
        opened.symbols.push(symbol(name));
    }
    opened.symbols.dedup();
    opened
}

/// `type (*name)(parameter)`, which a grammar may take for a call. There are no statements outside of functions.
pub(crate) fn pointer_to_function(node: Node<'_>, outer: &NodeContext<'_, '_>) -> OpenedNode {
    let written = text(node, outer);
    let name = written
        .split_once("(*")
        .and_then(|(_, rest)| rest.split_once(')'))
        .filter(|(_, rest)| rest.trim_start().starts_with('('))
        .map(|(name, _)| name.trim());
    let is_name = |name: &&str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    OpenedNode {
        symbols: name
            .filter(|name| outer.holds_values() && !name.is_empty() && is_name(name))
            .map(|name| outer.qualified(name))
            .into_iter()
            .collect(),
        ..OpenedNode::default()
    }
}

/// The names of a `typedef`, without one that repeats the tag it comes with.
fn type_names(node: Node<'_>, outer: &NodeContext<'_, '_>) -> Vec<String> {
    let tag = node
        .child_by_field_name("type")
        .and_then(tag)
        .map(|name| text(name, outer));
    let mut cursor = node.walk();
    let mut names: Vec<String> = node
        .children_by_field_name("declarator", &mut cursor)
        .filter_map(declarator::declared)
        .filter(|declared| !declared.name.is_missing())
        .map(|declared| outer.qualified(&text(declared.name, outer)))
        .collect();
    names.retain(|name| Some(name) != tag.as_ref());
    names.dedup();
    names
}

/// The name of a type that comes with its body.
pub(crate) fn tag(specifier: Node<'_>) -> Option<Node<'_>> {
    specifier.child_by_field_name("body")?;
    specifier.child_by_field_name("name")
}

fn function_name(node: Node<'_>, outer: &NodeContext<'_, '_>) -> Option<String> {
    node.child_by_field_name("body")?;
    if let Some(call) = macro_function(node, outer) {
        return Some(call);
    }
    let declared = declarator::declared(node.child_by_field_name("declarator")?)?;
    Some(text(declared.name, outer))
}

/// The whole call of the macro that defines a function, such as `TEST(Suite, name)`.
pub(crate) fn macro_function(node: Node<'_>, outer: &NodeContext<'_, '_>) -> Option<String> {
    let start = span(node).start;
    // The pass notes them in source order.
    let calls = &outer.readable.macro_functions;
    let at = calls.binary_search_by_key(&start, |call| call.start).ok()?;
    Some(tightened(&String::from_utf8_lossy(
        calls[at].of(outer.source),
    )))
}

/// Whether a storage class such as `extern` is among the specifiers.
pub(crate) fn has_storage(node: Node<'_>, outer: &NodeContext<'_, '_>, storage: &str) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|child| {
        child.kind() == "storage_class_specifier"
            && span(child).of(outer.source) == storage.as_bytes()
    })
}

/// Whether an empty `#define X` is in the line after `#ifndef X`, and no `#endif` in the next.
pub(crate) fn is_guarded(source: &[u8], define: Span) -> bool {
    let directive = |line: &[u8], name: &[u8]| {
        let rest = line.trim_ascii().strip_prefix(b"#")?.trim_ascii();
        Some(rest.strip_prefix(name)?.trim_ascii().to_vec())
    };
    let name = directive(define.of(source), b"define");
    let (before, after) = (
        &source[..define.start as usize],
        &source[define.end as usize..],
    );
    let line_before = before.trim_ascii_end().rsplit(|byte| *byte == b'\n').next();
    let line_after = after.trim_ascii_start().split(|byte| *byte == b'\n').next();
    name.is_some()
        && line_before.and_then(|line| directive(line, b"ifndef")) == name
        && line_after.is_some_and(|line| directive(line, b"endif").is_none() && !line.is_empty())
}
