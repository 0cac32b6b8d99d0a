//! Python: the definitions of its node kinds.
//!
//! Definitions inside `if`, `try` and the like count as if they were outside. A property's setter is `Class.name.setter`. A
//! function decorated with `@overload` is a declaration.

use std::sync::OnceLock;

use tree_sitter::Node;

use crate::context::{NodeContext, field_text, text};
use crate::language::Language;
use crate::node::{DefinitionPlace, NodeRole, OpenedNode};
use crate::parts::{self, BodyPlace, Parts};
use crate::readable::Readable;

/// The language.
pub(crate) static PYTHON: Language = Language {
    name: "python",
    version: "0.25.0+5",
    separator: ".",
    grammar: || tree_sitter_python::LANGUAGE.into(),
    readable: |_| Readable::default(),
    has_macros: false,
    is_indented: true,
    role,
    open,
    parts,
    takes_semicolon: &[],
    is_left_out,
    documentation: &[],
    stubs: &[
        r"pass;?",
        r"\.\.\.;?",
        r"raise NotImplementedError(?: ?\(.*\))?",
        r"raise NotImplemented",
        r"return NotImplemented",
    ],
    stubs_with_remark: &[r#"return(?: (?:None|True|False|0|""|''|\[\]|\{\}|\(\)))?"#],
    ready: OnceLock::new(),
};

fn role(kind: &str) -> NodeRole {
    match kind {
        "comment" => NodeRole::Comment,
        "import_statement" | "import_from_statement" | "future_import_statement" => {
            NodeRole::Preamble
        }
        "decorator" => NodeRole::Lead,
        "ellipsis" => NodeRole::Dots,
        "module" | "block" => NodeRole::Indented,
        "decorated_definition"
        | "function_definition"
        | "class_definition"
        | "expression_statement"
        | "type_alias_statement" => NodeRole::Item,
        _ => NodeRole::Plain,
    }
}

fn open<'tree>(node: Node<'tree>, outer: &NodeContext<'tree, '_>) -> OpenedNode {
    match node.kind() {
        "decorated_definition" => OpenedNode {
            wraps: true,
            ..OpenedNode::default()
        },
        "function_definition" => OpenedNode {
            symbols: function_name(node, outer).into_iter().collect(),
            inside: Some(DefinitionPlace::Body),
            is_fragment: is_fragment(node, outer),
            ..OpenedNode::default()
        },
        "class_definition" => {
            let name = field_text(node, "name", outer);
            OpenedNode {
                symbols: name.iter().map(|name| outer.qualified(name)).collect(),
                inside: Some(DefinitionPlace::Type),
                is_fragment: is_fragment(node, outer),
                scope: name,
                ..OpenedNode::default()
            }
        }
        _ if !outer.holds_values() => OpenedNode::default(),
        "type_alias_statement" => OpenedNode {
            symbols: field_text(node, "left", outer)
                .map(|name| {
                    let name = name.split_once('[').map_or(&*name, |(name, _)| name);
                    name.trim().to_owned()
                })
                .into_iter()
                .collect(),
            ..OpenedNode::default()
        },
        _ => OpenedNode {
            symbols: variables(node, outer),
            first_only: true,
            ..OpenedNode::default()
        },
    }
}

/// Whether the text shows no more than an indented part of a file.
fn is_fragment(node: Node<'_>, outer: &NodeContext<'_, '_>) -> bool {
    let wrapper = outer.wrappers().last().unwrap_or(node);
    let is_in_file = || wrapper.parent().is_none_or(|file| file.parent().is_none());
    outer.place == DefinitionPlace::Namespace && wrapper.start_position().column > 0 && is_in_file()
}

fn function_name(node: Node<'_>, outer: &NodeContext<'_, '_>) -> Option<String> {
    let mut name = field_text(node, "name", outer)?;
    if let Some(wrapper) = outer.wrappers().next() {
        let mut cursor = wrapper.walk();
        for decorator in wrapper.named_children(&mut cursor) {
            let Some(decorator) = decorator.named_child(0) else {
                continue;
            };
            let written = text(decorator, outer);
            match written.rsplit('.').next()? {
                "overload" => return None,
                suffix @ ("setter" | "deleter") if written.contains('.') => {
                    name = format!("{name}.{suffix}");
                }
                _ => {}
            }
        }
    }
    Some(outer.qualified(&name))
}

/// The names that a statement assigns to; not those that it only annotates.
fn variables(statement: Node<'_>, outer: &NodeContext<'_, '_>) -> Vec<String> {
    let mut names = Vec::new();
    let mut next = statement.child(0);
    while let Some(assignment) = next.filter(|node| node.kind() == "assignment") {
        next = assignment.child_by_field_name("right");
        let left = assignment.child_by_field_name("left");
        let Some(left) = left.filter(|_| next.is_some()) else {
            break;
        };
        let mut cursor = left.walk();
        let targets: Vec<Node<'_>> = match left.kind() {
            "pattern_list" | "tuple_pattern" | "list_pattern" => {
                left.named_children(&mut cursor).collect()
            }
            _ => vec![left],
        };
        let targets = targets.into_iter();
        let variables = targets.filter(|target| target.kind() == "identifier");
        names.extend(
            variables
                .map(|name| text(name, outer))
                // By convention a value that nobody wants.
                .filter(|name| name != "_"),
        );
    }
    names
}

fn parts(node: Node<'_>) -> Parts {
    match node.kind() {
        "function_definition" | "class_definition" => {
            let head = parts::up_to_kind(node, ":");
            Parts {
                body: BodyPlace::Within(
                    body_start(node).unwrap_or(node.end_byte()),
                    node.end_byte(),
                ),
                ..head
            }
        }
        "type_alias_statement" => parts::up_to_kind(node, "="),
        _ => match node.child(0) {
            Some(assignment) => parts::up_to_kind(assignment, "="),
            None => parts::without_body(node),
        },
    }
}

/// The start of the body, after its documentation string.
fn body_start(node: Node<'_>) -> Option<usize> {
    let body = node.child_by_field_name("body")?;
    let first = body.named_child(0)?;
    let is_text = first.kind() == "expression_statement"
        && first
            .named_child(0)
            .is_some_and(|value| value.kind() == "string");
    Some(if is_text {
        first.end_byte()
    } else {
        body.start_byte()
    })
}

/// Whether `...` replaces left-out code: alone in a block it is an ordinary body.
fn is_left_out(dots: Node<'_>) -> bool {
    let Some(statement) = dots
        .parent()
        .filter(|it| it.kind() == "expression_statement")
    else {
        return false;
    };
    let Some(block) = statement.parent() else {
        return false;
    };
    let mut cursor = block.walk();
    block
        .named_children(&mut cursor)
        .filter(|other| other.id() != statement.id() && other.kind() != "comment")
        .any(|other| other.named_child(0).is_none_or(|it| it.kind() != "string"))
}
