//! C++: the definitions of its node kinds, and how its names are qualified.
//!
//! A member defined outside of its class bears the same name as one defined inside: `ns::Class::method`. Template
//! arguments that only repeat the parameters (`Vec<T>::push` under `template <class T>`) are left out of names, those
//! of specialisations stay. Friends defined in a class are functions of the namespace around it.

use std::sync::OnceLock;

use tree_sitter::Node;

use crate::c;
use crate::context::{NodeContext, text};
use crate::declarator;
use crate::language::Language;
use crate::node::{DefinitionPlace, NodeRole, OpenedNode, tightened};
use crate::parts;
use crate::preprocessor::{self, CDialect};

/// The language.
pub(crate) static CPP: Language = Language {
    name: "cpp",
    version: "0.23.4+11",
    separator: "::",
    grammar: || tree_sitter_cpp::LANGUAGE.into(),
    readable: |source| preprocessor::readable(CDialect::Cpp, source),
    has_macros: true,
    is_indented: false,
    role,
    open,
    parts: parts::of_c,
    takes_semicolon: c::TYPES,
    is_left_out: |_| false,
    documentation: &[],
    stubs: c::STUBS,
    stubs_with_remark: c::STUBS_WITH_REMARK,
    ready: OnceLock::new(),
};

fn role(kind: &str) -> NodeRole {
    match kind {
        "namespace_definition"
        | "class_specifier"
        | "template_declaration"
        | "friend_declaration"
        | "alias_declaration"
        | "concept_definition" => NodeRole::Item,
        kind => c::role(kind),
    }
}

fn open<'tree>(node: Node<'tree>, outer: &NodeContext<'tree, '_>) -> OpenedNode {
    match node.kind() {
        "namespace_definition" => OpenedNode {
            inside: Some(DefinitionPlace::Namespace),
            scope: node
                .child_by_field_name("name")
                .map(|name| spelled(name, outer)),
            ..OpenedNode::default()
        },
        "class_specifier" | "struct_specifier" | "union_specifier" | "enum_specifier" => {
            type_with_body(node, outer)
        }
        "template_declaration" | "friend_declaration" => OpenedNode {
            wraps: true,
            ..OpenedNode::default()
        },
        "alias_declaration" | "concept_definition" => OpenedNode {
            symbols: node
                .child_by_field_name("name")
                .map(|name| outer.qualified(&text(name, outer)))
                .into_iter()
                .collect(),
            ..OpenedNode::default()
        },
        "function_definition" => OpenedNode {
            symbols: function_name(node, outer).into_iter().collect(),
            inside: Some(DefinitionPlace::Body),
            ..OpenedNode::default()
        },
        "declaration" if is_module_line(node, outer) => OpenedNode {
            preamble: true,
            ..OpenedNode::default()
        },
        "declaration" => c::variables(node, outer, |name| symbol(name, outer)),
        "expression_statement" => c::pointer_to_function(node, outer),
        _ => c::open_shared(node, outer),
    }
}

fn type_with_body(node: Node<'_>, outer: &NodeContext<'_, '_>) -> OpenedNode {
    let Some(name) = c::tag(node) else {
        return OpenedNode {
            inside: Some(DefinitionPlace::Type),
            ..OpenedNode::default()
        };
    };
    let name = without_parameters(&spelled(name, outer), outer);
    OpenedNode {
        symbols: vec![outer.qualified(&name)],
        inside: Some(DefinitionPlace::Type),
        scope: Some(name),
        ..OpenedNode::default()
    }
}

/// The name of a function with a body, or of one that is defaulted or deleted; a mere declaration has none.
fn function_name(node: Node<'_>, outer: &NodeContext<'_, '_>) -> Option<String> {
    if let Some(call) = c::macro_function(node, outer) {
        return Some(outer.qualified(&call));
    }
    let declared = declarator::declared(node.child_by_field_name("declarator")?)?;
    let has_body = node.child_by_field_name("body").is_some() || has_child(node, "try_statement");
    let says_how =
        has_child(node, "default_method_clause") || has_child(node, "delete_method_clause");
    (has_body || says_how).then(|| symbol(declared.name, outer))
}

fn has_child(node: Node<'_>, kind: &str) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .any(|child| child.kind() == kind)
}

/// `import x;`, `module x;`, `export module x;` as a grammar without modules sees them.
fn is_module_line(node: Node<'_>, outer: &NodeContext<'_, '_>) -> bool {
    node.child_by_field_name("type")
        .is_some_and(|kind| matches!(text(kind, outer).as_str(), "import" | "module" | "export"))
}

/// The qualified name of the entity that `name` spells.
fn symbol(name: Node<'_>, outer: &NodeContext<'_, '_>) -> String {
    let spelled = without_parameters(&spelled(name, outer), outer);
    if let Some(absolute) = spelled.strip_prefix("::") {
        return absolute.to_owned();
    }
    let is_friend = outer
        .wrappers()
        .any(|wrapper| wrapper.kind() == "friend_declaration");
    let scope = if is_friend {
        outer.namespace
    } else {
        outer.scope
    };
    outer.within(scope, &spelled)
}

/// A name's text without insignificant whitespace, and without the parameters of a conversion operator.
fn spelled(name: Node<'_>, outer: &NodeContext<'_, '_>) -> String {
    let mut end = name.end_byte();
    let last = declarator::innermost(name);
    if last.kind() == "operator_cast" {
        // Parameters are innermost, inside the declarator which says that the type is a reference or a pointer.
        let mut node = last.child_by_field_name("declarator");
        while let Some(inner) = node {
            if inner.kind() == "abstract_function_declarator" {
                end = inner.start_byte();
                break;
            }
            let declarator = inner.child_by_field_name("declarator");
            node = declarator.or_else(|| inner.named_child(0));
        }
    }
    let source = outer.source.get(name.start_byte()..end).unwrap_or_default();
    let code = preprocessor::without_directives(source);
    tightened(&String::from_utf8_lossy(&code))
}

/// Cuts template arguments that repeat the parameters of a template around the definition.
fn without_parameters(name: &str, outer: &NodeContext<'_, '_>) -> String {
    if !name.contains('<') {
        return name.to_owned();
    }
    let parameters: Vec<Vec<String>> = outer
        .enclosing()
        .filter_map(|wrapper| wrapper.child_by_field_name("parameters"))
        .map(|list| parameter_names(list, outer))
        .filter(|names| !names.is_empty())
        .collect();
    let mut rest = name;
    let mut cut = String::with_capacity(name.len());
    while let Some(open) = rest.find('<') {
        let is_operator = rest[..open]
            .rsplit("::")
            .next()
            .is_some_and(|part| part.starts_with("operator"));
        let Some(length) = group_length(&rest[open..]).filter(|_| !is_operator) else {
            break;
        };
        let group = &rest[open..open + length];
        let arguments: Vec<&str> = group[1..length - 1]
            .split(',')
            .map(|argument| argument.trim_end_matches("..."))
            .collect();
        cut.push_str(&rest[..open]);
        if !parameters.iter().any(|names| *names == arguments) {
            cut.push_str(group);
        }
        rest = &rest[open + length..];
    }
    cut.push_str(rest);
    cut
}

/// Length of the bracketed group that `text` starts with.
fn group_length(text: &str) -> Option<usize> {
    debug_assert!(text.starts_with('<'), "a group begins with its bracket");
    let mut depth = 0_u32;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn parameter_names(list: Node<'_>, outer: &NodeContext<'_, '_>) -> Vec<String> {
    let mut cursor = list.walk();
    list.named_children(&mut cursor)
        .filter(|parameter| parameter.kind() != "comment")
        .map(|parameter| {
            let written = text(parameter, outer);
            let name = written.split_once('=').map_or(&*written, |(name, _)| name);
            let name = name.trim_end();
            let start = name
                .rfind(|c: char| !c.is_alphanumeric() && c != '_')
                .map_or(0, |at| at + 1);
            name[start..].to_owned()
        })
        .collect()
}
