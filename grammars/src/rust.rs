//! Rust: the definitions of its node kinds.
//!
//! `impl Trait for Type` is a definition, `<Type as Trait>`; a plain `impl` and a `mod` only add to the names inside.

use std::sync::OnceLock;

use tree_sitter::Node;

use crate::context::{NodeContext, field_text, text};
use crate::language::Language;
use crate::node::{DefinitionPlace, NodeRole, OpenedNode, tightened};
use crate::parts::{self, Parts};
use crate::readable::Readable;

/// The language.
pub(crate) static RUST: Language = Language {
    name: "rust",
    version: "0.24.2+5",
    separator: "::",
    grammar: || tree_sitter_rust::LANGUAGE.into(),
    readable: |_| Readable::default(),
    has_macros: false,
    is_indented: false,
    role,
    open,
    parts,
    takes_semicolon: &["macro_definition"],
    is_left_out: |_| false,
    documentation: &["///", "//!", "/**", "/*!"],
    stubs: &[
        r"(?:todo|unimplemented|unreachable)! ?[(\[{].*[)\]}];?",
        r#"panic!\("[^"]*(?i:not (?:yet )?implemented|unimplemented|todo)[^"]*"\);?"#,
    ],
    stubs_with_remark: &[
        r"(?:None|Ok\(\(\)\)|Default::default\(\)|\(\)|0|false|true|(?:Vec|String)::new\(\)|vec!\[\])",
        r"return;?",
    ],
    ready: OnceLock::new(),
};

fn role(kind: &str) -> NodeRole {
    match kind {
        "line_comment" | "block_comment" => NodeRole::Comment,
        "use_declaration" | "extern_crate_declaration" => NodeRole::Preamble,
        "attribute_item" => NodeRole::Lead,
        "block" => NodeRole::Body,
        "function_item" | "struct_item" | "enum_item" | "union_item" | "trait_item"
        | "impl_item" | "mod_item" | "type_item" | "const_item" | "static_item"
        | "macro_definition" => NodeRole::Item,
        _ => NodeRole::Plain,
    }
}

fn open<'tree>(node: Node<'tree>, outer: &NodeContext<'tree, '_>) -> OpenedNode {
    let name = field_text(node, "name", outer);
    let symbols: Vec<String> = name.iter().map(|name| outer.qualified(name)).collect();
    match node.kind() {
        "impl_item" => open_implementation(node, outer),
        "mod_item" => OpenedNode {
            preamble: node.child_by_field_name("body").is_none(),
            inside: Some(DefinitionPlace::Namespace),
            scope: name,
            ..OpenedNode::default()
        },
        "trait_item" => OpenedNode {
            symbols,
            inside: Some(DefinitionPlace::Type),
            scope: name,
            ..OpenedNode::default()
        },
        // An associated type belongs to its trait or implementation.
        "type_item" if outer.place != DefinitionPlace::Namespace => OpenedNode::default(),
        "const_item" if name.as_deref() == Some("_") => OpenedNode::default(),
        _ => OpenedNode {
            symbols,
            inside: Some(DefinitionPlace::Body),
            ..OpenedNode::default()
        },
    }
}

fn open_implementation(node: Node<'_>, outer: &NodeContext<'_, '_>) -> OpenedNode {
    let inside = OpenedNode {
        inside: Some(DefinitionPlace::Type),
        ..OpenedNode::default()
    };
    let Some(kind) = node.child_by_field_name("type") else {
        return inside;
    };
    let Some(implemented) = field_text(node, "trait", outer) else {
        return OpenedNode {
            scope: Some(type_name(kind, outer)),
            ..inside
        };
    };
    let mut cursor = node.walk();
    let is_negative = node.children(&mut cursor).any(|child| child.kind() == "!");
    let scope = format!(
        "<{} as {}{}>",
        tightened(&text(kind, outer)),
        if is_negative { "!" } else { "" },
        tightened(&implemented)
    );
    OpenedNode {
        symbols: vec![outer.qualified(&scope)],
        scope: Some(scope),
        ..inside
    }
}

/// A type's name without its arguments, nor the `dyn` of a trait object.
fn type_name(kind: Node<'_>, outer: &NodeContext<'_, '_>) -> String {
    let inner = match kind.kind() {
        "generic_type" => kind.child_by_field_name("type"),
        "dynamic_type" => kind.child_by_field_name("trait"),
        _ => None,
    };
    match inner {
        Some(inner) => type_name(inner, outer),
        None => tightened(&text(kind, outer)),
    }
}

fn parts(node: Node<'_>) -> Parts {
    match node.kind() {
        "const_item" | "static_item" | "type_item" => parts::up_to_kind(node, "="),
        "macro_definition" => Parts {
            head_end: node
                .child_by_field_name("name")
                .map_or(node.end_byte(), |name| name.end_byte()),
            ..parts::without_body(node)
        },
        "struct_item" if is_tuple(node) => parts::without_body(node),
        _ => parts::with_body(node),
    }
}

fn is_tuple(node: Node<'_>) -> bool {
    node.child_by_field_name("body")
        .is_some_and(|body| body.kind() == "ordered_field_declaration_list")
}
