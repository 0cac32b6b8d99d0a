//! Python: what its node kinds define.
//!
//! What `if`, `try` and the like enclose counts as if it stood outside. A property's setter is `Class.name.setter`. What
//! `@overload` decorates is a declaration.

use std::sync::OnceLock;

use tree_sitter::Node;

use crate::language::{Language, Opened, Place, Role, field_text, text};
use crate::parts::{self, BodyPlace, Parts};
use crate::readable::Readable;
use crate::walk::Outer;

/// The language.
pub(crate) static PYTHON: Language = Language {
    name: "python",
    version: "0.25.0+2",
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

fn role(kind: &str) -> Role {
    match kind {
        "comment" => Role::Comment,
        "import_statement" | "import_from_statement" | "future_import_statement" => Role::Preamble,
        "decorator" => Role::Lead,
        "ellipsis" => Role::Dots,
        "module" | "block" => Role::Indented,
        "decorated_definition"
        | "function_definition"
        | "class_definition"
        | "expression_statement"
        | "type_alias_statement" => Role::Item,
        _ => Role::Plain,
    }
}

fn open<'tree>(node: Node<'tree>, outer: &Outer<'tree, '_>) -> Opened {
    match node.kind() {
        "decorated_definition" => Opened {
            wraps: true,
            ..Opened::default()
        },
        "function_definition" => Opened {
            symbols: function(node, outer).into_iter().collect(),
            inside: Some(Place::Body),
            is_fragment: is_fragment(node, outer),
            ..Opened::default()
        },
        "class_definition" => {
            let name = field_text(node, "name", outer);
            Opened {
                symbols: name.iter().map(|name| outer.qualified(name)).collect(),
                inside: Some(Place::Type),
                is_fragment: is_fragment(node, outer),
                scope: name,
                ..Opened::default()
            }
        }
        _ if !outer.holds_values() => Opened::default(),
        "type_alias_statement" => Opened {
            symbols: field_text(node, "left", outer)
                .map(|name| name.split('[').next().unwrap_or_default().trim().to_owned())
                .into_iter()
                .collect(),
            ..Opened::default()
        },
        _ => Opened {
            symbols: variables(node, outer),
            first_only: true,
            ..Opened::default()
        },
    }
}

/// Whether the text shows no more than an indented part of a file.
fn is_fragment(node: Node<'_>, outer: &Outer<'_, '_>) -> bool {
    let wrapper = outer.wrappers().last().unwrap_or(node);
    let is_in_file = || wrapper.parent().is_none_or(|file| file.parent().is_none());
    outer.place == Place::Namespace && wrapper.start_position().column > 0 && is_in_file()
}

fn function(node: Node<'_>, outer: &Outer<'_, '_>) -> Option<String> {
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
fn variables(statement: Node<'_>, outer: &Outer<'_, '_>) -> Vec<String> {
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

/// Where the body begins, after its documentation string.
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

/// `...` is a body, so it stands for left-out code only where it isn't all there is of a block.
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
