//! Java: the definitions of its node kinds. Names begin at the outermost type; constructors have their type's name.

use std::sync::OnceLock;

use tree_sitter::Node;

use crate::context::{NodeContext, field_text};
use crate::language::Language;
use crate::node::{DefinitionPlace, NodeRole, OpenedNode};
use crate::parts;
use crate::readable::Readable;

/// The language.
pub(crate) static JAVA: Language = Language {
    name: "java",
    version: "0.23.5+5",
    separator: ".",
    grammar: || tree_sitter_java::LANGUAGE.into(),
    readable: |_| Readable::default(),
    has_macros: false,
    is_indented: false,
    role,
    open,
    parts: parts::with_body,
    takes_semicolon: &[],
    is_left_out: |_| false,
    documentation: &[],
    stubs: &[
        r"throw new [\w.]*(?:UnsupportedOperation|NotImplemented)\w*\([^;]*\);",
        r#"throw new [\w.]+\("[^"]*(?i:not (?:yet )?implemented|unimplemented|todo)[^"]*"\);"#,
    ],
    stubs_with_remark: &[r#"return(?: (?:null|-?[01]|false|true|""))?;"#],
    ready: OnceLock::new(),
};

fn role(kind: &str) -> NodeRole {
    match kind {
        "line_comment" | "block_comment" => NodeRole::Comment,
        "package_declaration" | "import_declaration" => NodeRole::Preamble,
        "annotation" | "marker_annotation" => NodeRole::Lead,
        // A class or function in a field's value belongs to the field.
        "block" | "constructor_body" | "field_declaration" => NodeRole::Body,
        "class_declaration"
        | "interface_declaration"
        | "enum_declaration"
        | "record_declaration"
        | "annotation_type_declaration"
        | "enum_constant"
        | "method_declaration"
        | "constructor_declaration"
        | "compact_constructor_declaration" => NodeRole::Item,
        _ => NodeRole::Plain,
    }
}

fn open<'tree>(node: Node<'tree>, outer: &NodeContext<'tree, '_>) -> OpenedNode {
    let name = field_text(node, "name", outer);
    let has_body = node.child_by_field_name("body").is_some();
    let is_method = matches!(
        node.kind(),
        "method_declaration" | "constructor_declaration" | "compact_constructor_declaration"
    );
    // Without its class around it a method can't be named.
    let is_nameable = !is_method || outer.place == DefinitionPlace::Type;
    // An enumerator belongs to its type, but a method that it overrides can be named.
    let is_definition = has_body && is_nameable && node.kind() != "enum_constant";
    let symbol = name.as_ref().filter(|_| is_definition);
    OpenedNode {
        symbols: symbol
            .map(|name| outer.qualified(name))
            .into_iter()
            .collect(),
        inside: Some(if is_method {
            DefinitionPlace::Body
        } else {
            DefinitionPlace::Type
        }),
        scope: name.filter(|_| !is_method),
        ..OpenedNode::default()
    }
}
