//! TypeScript, with and without JSX: what it has beside JavaScript.
//!
//! A namespace only adds to the names inside. Overloads and abstract methods are declarations.

use std::sync::OnceLock;

use tree_sitter::Node;

use crate::javascript::{self, FIELDS, STUBS, STUBS_WITH_REMARK};
use crate::language::{Language, Opened, Place, Role, field_text};
use crate::readable::Readable;
use crate::walk::Outer;

/// The language.
pub(crate) static TYPESCRIPT: Language = Language {
    name: "typescript",
    version: "0.23.2+1",
    separator: ".",
    grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    readable: |_| Readable::default(),
    has_macros: false,
    role,
    open,
    parts: javascript::parts,
    takes_semicolon: FIELDS,
    is_left_out: |_| false,
    documentation: &[],
    stubs: STUBS,
    stubs_with_remark: STUBS_WITH_REMARK,
    ready: OnceLock::new(),
};

/// TypeScript with JSX, where `<T>x` is no type assertion.
pub(crate) static TSX: Language = Language {
    name: "tsx",
    grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    ready: OnceLock::new(),
    ..TYPESCRIPT
};

fn role(kind: &str) -> Role {
    match kind {
        "interface_declaration"
        | "enum_declaration"
        | "type_alias_declaration"
        | "abstract_class_declaration"
        | "internal_module"
        | "module"
        | "statement_block"
        | "ambient_declaration" => Role::Item,
        kind => javascript::role(kind),
    }
}

fn open<'tree>(node: Node<'tree>, outer: &Outer<'tree, '_>) -> Opened {
    let name = field_text(node, "name", outer);
    match node.kind() {
        "abstract_class_declaration" => javascript::class(name, outer),
        "interface_declaration" | "enum_declaration" | "type_alias_declaration" => Opened {
            symbols: name.iter().map(|name| outer.qualified(name)).collect(),
            inside: Some(Place::Body),
            ..Opened::default()
        },
        // A module in quotes is a file, and adds as little to names as files do.
        "internal_module" | "module" => Opened {
            inside: Some(Place::Namespace),
            scope: name.filter(|name| !name.starts_with(['"', '\''])),
            ..Opened::default()
        },
        "statement_block" => Opened {
            inside: (!is_namespace(outer.enclosing().next())).then_some(Place::Body),
            ..Opened::default()
        },
        "ambient_declaration" => Opened {
            wraps: true,
            ..Opened::default()
        },
        "expression_statement" if is_namespace(node.child(0)) => Opened {
            wraps: true,
            ..Opened::default()
        },
        _ => javascript::open(node, outer),
    }
}

fn is_namespace(node: Option<Node<'_>>) -> bool {
    node.is_some_and(|node| matches!(node.kind(), "internal_module" | "module"))
}
