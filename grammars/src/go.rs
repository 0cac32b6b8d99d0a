//! Go: the definitions of its node kinds. A method is `Type.Method`, without the package.

use std::sync::OnceLock;

use tree_sitter::Node;

use crate::context::{NodeContext, field_text, text};
use crate::language::Language;
use crate::node::{DefinitionPlace, NodeRole, OpenedNode};
use crate::parts::{self, BodyPlace, Parts};
use crate::readable::Readable;

/// The language.
pub(crate) static GO: Language = Language {
    name: "go",
    version: "0.25.0+5",
    separator: ".",
    grammar: || tree_sitter_go::LANGUAGE.into(),
    readable: |_| Readable::default(),
    has_macros: false,
    is_indented: false,
    role,
    open,
    parts,
    takes_semicolon: &[],
    is_left_out: |_| false,
    documentation: &[],
    stubs: &[
        r#"panic\("[^"]*(?i:not (?:yet )?implemented|unimplemented|todo|implement me)[^"]*"\)"#,
    ],
    stubs_with_remark: &[r#"return(?: (?:nil|0|""|false|true)(?:, ?(?:nil|0|""|false|true))*)?"#],
    ready: OnceLock::new(),
};

fn role(kind: &str) -> NodeRole {
    match kind {
        "comment" => NodeRole::Comment,
        "package_clause" | "import_declaration" => NodeRole::Preamble,
        "block" => NodeRole::Body,
        "function_declaration"
        | "method_declaration"
        | "type_declaration"
        | "type_spec"
        | "type_alias"
        | "const_declaration"
        | "const_spec"
        | "var_declaration"
        | "var_spec" => NodeRole::Item,
        _ => NodeRole::Plain,
    }
}

fn open<'tree>(node: Node<'tree>, outer: &NodeContext<'tree, '_>) -> OpenedNode {
    let in_body = OpenedNode {
        inside: Some(DefinitionPlace::Body),
        ..OpenedNode::default()
    };
    match node.kind() {
        "function_declaration" | "method_declaration" => OpenedNode {
            symbols: function_name(node, outer).into_iter().collect(),
            ..in_body
        },
        "type_spec" | "type_alias" => OpenedNode {
            symbols: field_text(node, "name", outer).into_iter().collect(),
            ..in_body
        },
        "const_spec" | "var_spec" if outer.holds_values() => {
            let mut cursor = node.walk();
            let names = node.children_by_field_name("name", &mut cursor);
            let names = names.filter(|name| name.is_named() && !name.is_missing());
            OpenedNode {
                symbols: names
                    .map(|name| text(name, outer))
                    .filter(|name| name != "_")
                    .collect(),
                first_only: true,
                ..in_body
            }
        }
        "const_spec" | "var_spec" => in_body,
        _ => OpenedNode {
            wraps: !is_group(node),
            ..OpenedNode::default()
        },
    }
}

/// Whether a declaration holds several, in brackets.
fn is_group(declaration: Node<'_>) -> bool {
    let mut cursor = declaration.walk();
    declaration
        .children(&mut cursor)
        .any(|child| matches!(child.kind(), "(" | "var_spec_list"))
}

fn function_name(node: Node<'_>, outer: &NodeContext<'_, '_>) -> Option<String> {
    node.child_by_field_name("body")?;
    let name = field_text(node, "name", outer)?;
    let Some(receiver) = node.child_by_field_name("receiver") else {
        return Some(name);
    };
    let mut owner = receiver.named_child(0)?.child_by_field_name("type")?;
    while owner.kind() != "type_identifier" {
        let inner = owner.child_by_field_name("type");
        owner = inner.or_else(|| owner.named_child(0))?;
    }
    Some(outer.within(&text(owner, outer), &name))
}

fn parts(node: Node<'_>) -> Parts {
    match node.kind() {
        "const_spec" | "var_spec" => parts::up_to_kind(node, "="),
        "type_spec" => type_parts(node).unwrap_or_else(|| parts::without_body(node)),
        _ => parts::with_body(node),
    }
}

fn type_parts(node: Node<'_>) -> Option<Parts> {
    let kind = node.child_by_field_name("type")?;
    let is_composed = matches!(kind.kind(), "struct_type" | "interface_type");
    let mut cursor = kind.walk();
    let mut children = kind.children(&mut cursor).filter(|_| is_composed);
    let open = children.find(|child| matches!(child.kind(), "{" | "field_declaration_list"))?;
    Some(Parts {
        head_end: open.start_byte(),
        body: BodyPlace::Within(open.start_byte() + 1, kind.end_byte().saturating_sub(1)),
    })
}
