//! Java: what its node kinds define. Names begin at the outermost type; constructors bear their type's name.

use std::sync::OnceLock;

use tree_sitter::Node;

use crate::language::{Language, Opened, Place, Role, field_text};
use crate::parts;
use crate::readable::Readable;
use crate::walk::Outer;

/// The language.
pub(crate) static JAVA: Language = Language {
    name: "java",
    version: "0.23.5+2",
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

fn role(kind: &str) -> Role {
    match kind {
        "line_comment" | "block_comment" => Role::Comment,
        "package_declaration" | "import_declaration" => Role::Preamble,
        "annotation" | "marker_annotation" => Role::Lead,
        // What a field holds belongs to it.
        "block" | "constructor_body" | "field_declaration" => Role::Body,
        "class_declaration"
        | "interface_declaration"
        | "enum_declaration"
        | "record_declaration"
        | "annotation_type_declaration"
        | "enum_constant"
        | "method_declaration"
        | "constructor_declaration"
        | "compact_constructor_declaration" => Role::Item,
        _ => Role::Plain,
    }
}

fn open<'tree>(node: Node<'tree>, outer: &Outer<'tree, '_>) -> Opened {
    let name = field_text(node, "name", outer);
    let has_body = node.child_by_field_name("body").is_some();
    let is_method = matches!(
        node.kind(),
        "method_declaration" | "constructor_declaration" | "compact_constructor_declaration"
    );
    // Without its class around it a method can't be named.
    let is_nameable = !is_method || outer.place == Place::Type;
    // An enumerator belongs to its type, but what it overrides can be named.
    let is_definition = has_body && is_nameable && node.kind() != "enum_constant";
    let symbol = name.as_ref().filter(|_| is_definition);
    Opened {
        symbols: symbol
            .map(|name| outer.qualified(name))
            .into_iter()
            .collect(),
        inside: Some(if is_method { Place::Body } else { Place::Type }),
        scope: name.filter(|_| !is_method),
        ..Opened::default()
    }
}
