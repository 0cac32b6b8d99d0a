//! JavaScript: the definitions of its node kinds.
//!
//! An assigned function or class has the name that it is assigned to, as it is written: `Class.prototype.close`.
//! A setter is `Class.set x`, so that it differs from its getter.

use std::sync::OnceLock;

use tree_sitter::Node;

use crate::context::{NodeContext, field_text, text};
use crate::language::Language;
use crate::node::{DefinitionPlace, NodeRole, OpenedNode, tightened};
use crate::parts::{self, BodyPlace, Parts};
use crate::readable::Readable;

/// The language.
pub(crate) static JAVASCRIPT: Language = Language {
    name: "javascript",
    version: "0.25.0+5",
    separator: ".",
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    readable: |_| Readable::default(),
    has_macros: false,
    is_indented: false,
    role,
    open,
    parts,
    takes_semicolon: FIELDS,
    is_left_out: |_| false,
    documentation: &[],
    stubs: STUBS,
    stubs_with_remark: STUBS_WITH_REMARK,
    ready: OnceLock::new(),
};

/// The name of a default export without one.
const DEFAULT: &str = "default";

/// Fields, which their semicolon follows.
pub(crate) const FIELDS: &[&str] = &["field_definition", "public_field_definition"];

pub(crate) const STUBS: &[&str] = &[
    r#"throw new \w+ ?\( ?["'`][^"'`]*(?i:not (?:yet )?implemented|unimplemented|todo)[^"'`]*["'`] ?\);?"#,
];

pub(crate) const STUBS_WITH_REMARK: &[&str] =
    &[r#"return(?: (?:null|undefined|false|true|0|""|''|\[\]|\{\}|<></>))?;?"#];

/// The roles of the node kinds that JavaScript and TypeScript share.
pub(crate) fn role(kind: &str) -> NodeRole {
    match kind {
        "comment" | "html_comment" => NodeRole::Comment,
        "import_statement" => NodeRole::Preamble,
        "for_statement" | "for_in_statement" => NodeRole::Body,
        "decorator" => NodeRole::Lead,
        "statement_block"
        | "export_statement"
        | "function_declaration"
        | "generator_function_declaration"
        | "class_declaration"
        | "method_definition"
        | "field_definition"
        | "public_field_definition"
        | "lexical_declaration"
        | "variable_declaration"
        | "pair"
        | "expression_statement" => NodeRole::Item,
        _ => NodeRole::Plain,
    }
}

/// Opens the nodes that mean the same in JavaScript and TypeScript.
pub(crate) fn open<'tree>(node: Node<'tree>, outer: &NodeContext<'tree, '_>) -> OpenedNode {
    let name = || field_text(node, "name", outer).map(|name| tightened(&name));
    match node.kind() {
        "export_statement" => match node.child_by_field_name("value") {
            Some(value) if outer.holds_values() => {
                open_named_value(&[DEFAULT.to_owned()], value, outer)
            }
            _ => OpenedNode {
                wraps: true,
                ..OpenedNode::default()
            },
        },
        "function_declaration" | "generator_function_declaration" => OpenedNode {
            symbols: name()
                .map(|name| outer.qualified(&name))
                .into_iter()
                .collect(),
            inside: Some(DefinitionPlace::Body),
            ..OpenedNode::default()
        },
        "class_declaration" => open_class(name(), outer),
        "statement_block" => OpenedNode {
            inside: (!is_top_level(node, outer)).then_some(DefinitionPlace::Body),
            ..OpenedNode::default()
        },
        // Inside text that the parser couldn't read, the owner of these members is unknown.
        "method_definition" | "field_definition" | "public_field_definition" | "pair"
            if outer.place != DefinitionPlace::Type =>
        {
            OpenedNode {
                inside: Some(DefinitionPlace::Body),
                ..OpenedNode::default()
            }
        }
        "method_definition" => OpenedNode {
            symbols: name()
                .map(|name| {
                    let mut cursor = node.walk();
                    let mut words = node.children(&mut cursor);
                    let is_setter = words.any(|word| word.kind() == "set");
                    outer.qualified(&format!("{}{name}", if is_setter { "set " } else { "" }))
                })
                .into_iter()
                .collect(),
            inside: Some(DefinitionPlace::Body),
            ..OpenedNode::default()
        },
        "field_definition" | "public_field_definition" | "pair" => open_member(node, outer),
        _ if !outer.holds_values() => OpenedNode::default(),
        "expression_statement" => open_assignment(node, outer),
        _ => variables(node, outer),
    }
}

/// A class of this name, if it has one.
pub(crate) fn open_class(name: Option<String>, outer: &NodeContext<'_, '_>) -> OpenedNode {
    OpenedNode {
        symbols: name.iter().map(|name| outer.qualified(name)).collect(),
        inside: Some(DefinitionPlace::Type),
        scope: name,
        ..OpenedNode::default()
    }
}

/// A field or a property is a definition if it holds a function. The members of an object in an object are found, too.
fn open_member(node: Node<'_>, outer: &NodeContext<'_, '_>) -> OpenedNode {
    let name = ["property", "name", "key"]
        .iter()
        .find_map(|field| field_text(node, field, outer))
        .map(|name| tightened(name.trim_matches(['"', '\''])));
    let value = value(node);
    let is_object = node.kind() == "pair" && value.is_some_and(|value| value.kind() == "object");
    OpenedNode {
        symbols: name
            .iter()
            .filter(|_| value.is_some_and(is_function))
            .map(|name| outer.qualified(name))
            .collect(),
        inside: Some(if is_object {
            DefinitionPlace::Type
        } else {
            DefinitionPlace::Body
        }),
        scope: name.filter(|_| is_object),
        ..OpenedNode::default()
    }
}

fn is_function(value: Node<'_>) -> bool {
    matches!(
        value.kind(),
        "arrow_function" | "function_expression" | "generator_function"
    )
}

/// Whether a value has parts that can be named: a function, or a class or object with members.
fn is_composed(value: Node<'_>) -> bool {
    is_function(value) || matches!(value.kind(), "class" | "object")
}

/// `a.b = c.d = function () {…}`, or a class or an object.
fn open_assignment(statement: Node<'_>, outer: &NodeContext<'_, '_>) -> OpenedNode {
    if is_called_function(statement) {
        return OpenedNode {
            inside: Some(DefinitionPlace::Namespace),
            ..OpenedNode::default()
        };
    }
    let mut names = Vec::new();
    let mut value = statement.child(0);
    while let Some(node) = value.filter(|node| node.kind() == "assignment_expression") {
        names.extend(field_text(node, "left", outer).map(|left| tightened(&left)));
        value = node.child_by_field_name("right");
    }
    let is_name = |name: &String| {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '#');
        name.chars().all(is_part)
    };
    names.retain(is_name);
    match value.filter(|_| !names.is_empty()) {
        Some(value) => open_named_value(&names, value, outer),
        None => OpenedNode {
            inside: Some(DefinitionPlace::Body),
            ..OpenedNode::default()
        },
    }
}

/// Whether a block is that of a namespace or of a function that is called at once.
fn is_top_level(block: Node<'_>, outer: &NodeContext<'_, '_>) -> bool {
    let around = outer.enclosing().next();
    let is_global = around.is_some_and(|around| around.kind() == "ambient_declaration");
    is_global
        || is_namespace(around)
        || around.is_some_and(|around| around.kind() == "expression_statement")
            && outer.place == DefinitionPlace::Namespace
            && block.parent().is_some_and(is_function)
}

/// Whether a node is a namespace or module.
pub(crate) fn is_namespace(node: Option<Node<'_>>) -> bool {
    node.is_some_and(|node| matches!(node.kind(), "internal_module" | "module"))
}

/// `(function () {…})();`, which only keeps what a file defines to itself.
fn is_called_function(statement: Node<'_>) -> bool {
    let mut next = statement.child(0);
    while let Some(node) = next {
        next = match node.kind() {
            "unary_expression" => node.child_by_field_name("argument"),
            "parenthesized_expression" => node.named_child(0),
            "call_expression" => node.child_by_field_name("function"),
            "member_expression" => node.child_by_field_name("object"),
            _ => return is_function(node),
        };
    }
    false
}

/// The names of variables, or of the one function, class or object that a variable is made for.
fn variables(declaration: Node<'_>, outer: &NodeContext<'_, '_>) -> OpenedNode {
    // `let` and `const` names can't be declared again in their scope, but a type may have the same name.
    let is_var = declaration.kind() == "variable_declaration";
    let mut names = Vec::new();
    let mut imports = false;
    let mut cursor = declaration.walk();
    for declarator in declaration.named_children(&mut cursor) {
        let Some(name) = declarator.child_by_field_name("name") else {
            continue;
        };
        let value = declarator.child_by_field_name("value");
        // The import of CommonJS.
        if value.is_some_and(|value| text(value, outer).starts_with("require(")) {
            imports = true;
        } else {
            bound_names(name, outer, &mut names);
        }
    }
    let value = only_value(declaration).filter(|value| is_composed(*value));
    OpenedNode {
        preamble: imports,
        first_only: is_var && value.is_none_or(|value| !is_function(value)),
        ..match value {
            Some(value) => open_named_value(&names, value, outer),
            None => OpenedNode {
                symbols: names.iter().map(|name| outer.qualified(name)).collect(),
                inside: Some(DefinitionPlace::Body),
                ..OpenedNode::default()
            },
        }
    }
}

/// The definitions of names with this value; none if the value has no parts.
fn open_named_value(names: &[String], value: Node<'_>, outer: &NodeContext<'_, '_>) -> OpenedNode {
    let symbols = names.iter().map(|name| outer.qualified(name)).collect();
    match value.kind() {
        "class" | "object" => OpenedNode {
            symbols,
            ..open_class(names.first().cloned(), outer)
        },
        _ if is_function(value) => OpenedNode {
            symbols,
            inside: Some(DefinitionPlace::Body),
            ..OpenedNode::default()
        },
        _ => OpenedNode {
            inside: Some(DefinitionPlace::Body),
            ..OpenedNode::default()
        },
    }
}

/// The names that a pattern binds: `x`, `{ x, y: z }`, `[x]`.
fn bound_names(pattern: Node<'_>, outer: &NodeContext<'_, '_>, names: &mut Vec<String>) {
    let mut open = vec![pattern];
    while let Some(node) = open.pop() {
        match node.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => names.push(text(node, outer)),
            "pair_pattern" => open.extend(node.child_by_field_name("value")),
            "assignment_pattern" | "object_assignment_pattern" => {
                open.extend(node.child_by_field_name("left"));
            }
            "object_pattern" | "array_pattern" | "rest_pattern" => {
                let mut cursor = node.walk();
                let inner: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
                open.extend(inner.into_iter().rev());
            }
            _ => {}
        }
    }
}

/// The value of the only variable that is declared or assigned to.
fn only_value(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    let mut declarators = node
        .named_children(&mut cursor)
        .filter(|child| child.kind() == "variable_declarator");
    let only = declarators
        .next()
        .filter(|_| declarators.next().is_none())?;
    only.child_by_field_name("value")
}

/// The value that a definition's node gives to its name.
fn value(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "expression_statement" => {
            let mut value = node.child(0);
            while let Some(inner) = value.filter(|it| it.kind() == "assignment_expression") {
                value = inner.child_by_field_name("right");
            }
            value
        }
        "field_definition" | "public_field_definition" | "pair" | "export_statement" => {
            node.child_by_field_name("value")
        }
        _ => only_value(node),
    }
}

/// The parts of a definition.
pub(crate) fn parts(node: Node<'_>) -> Parts {
    match node.kind() {
        "lexical_declaration" | "variable_declaration" => {
            function_or_class(value(node)).unwrap_or_else(|| first_name(node))
        }
        "expression_statement" | "field_definition" | "public_field_definition" | "pair" => {
            function_or_class(value(node))
                .unwrap_or_else(|| parts::up_to_kind(node.child(0).unwrap_or(node), "="))
        }
        "export_statement" => {
            function_or_class(value(node)).unwrap_or_else(|| parts::up_to_field(node, "value"))
        }
        "type_alias_declaration" => parts::up_to_kind(node, "="),
        _ => parts::with_body(node),
    }
}

/// The parts of a definition by a function or a class. An object has no body: an empty one is
/// as much a value as any other.
fn function_or_class(value: Option<Node<'_>>) -> Option<Parts> {
    let body = value?.child_by_field_name("body")?;
    let is_block = matches!(body.kind(), "statement_block" | "class_body");
    Some(Parts {
        head_end: body.start_byte(),
        body: if is_block {
            BodyPlace::between_brackets(body)
        } else {
            BodyPlace::Code
        },
    })
}

/// Up to the name and type of the first variable.
fn first_name(declaration: Node<'_>) -> Parts {
    let mut cursor = declaration.walk();
    let mut declarators = declaration.named_children(&mut cursor);
    let first = declarators.find(|child| child.kind() == "variable_declarator");
    first.map_or_else(
        || parts::without_body(declaration),
        |first| parts::up_to_kind(first, "="),
    )
}
