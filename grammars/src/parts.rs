//! The parts of a definition: its head and its body.

use tree_sitter::Node;

use crate::node::{NodeKinds, NodeRole};

/// The parts of a definition's node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    /// First byte past the head; whitespace may precede it.
    pub(crate) head_end: usize,
    /// The body.
    pub(crate) body: BodyPlace,
}

/// The position of a definition's body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BodyPlace {
    /// There is none.
    Nowhere,
    /// Statements or members from one byte to another, without brackets.
    Within(usize, usize),
    /// Something that is code by itself, such as `= default`.
    Code,
}

impl BodyPlace {
    /// The text between the brackets of a node.
    pub(crate) fn between_brackets(node: Node<'_>) -> Self {
        Self::Within(node.start_byte() + 1, node.end_byte().saturating_sub(1))
    }
}

/// The parts of a definition whose field `body` holds statements or members in brackets, if it is there.
pub(crate) fn with_body(node: Node<'_>) -> Parts {
    match node.child_by_field_name("body") {
        Some(body) => Parts {
            head_end: body.start_byte(),
            body: BodyPlace::between_brackets(body),
        },
        None => without_body(node),
    }
}

/// The parts of a C or C++ definition at `node`.
pub(crate) fn of_c(node: Node<'_>) -> Parts {
    match node.kind() {
        "function_definition" => of_function(node),
        "struct_specifier" | "union_specifier" | "enum_specifier" | "class_specifier" => {
            of_type(node).unwrap_or(without_body(node))
        }
        "preproc_def" | "preproc_function_def" => up_to_field(node, "value"),
        "alias_declaration" | "concept_definition" => up_to_kind(node, "="),
        "declaration" | "type_definition" => node
            .child_by_field_name("type")
            .and_then(of_type)
            .unwrap_or_else(|| of_declaration(node)),
        _ => without_body(node),
    }
}

/// The first byte of a definition's own text, after the attributes and comments that it begins with.
pub(crate) fn start(anchor: Node<'_>, kinds: &NodeKinds) -> usize {
    first_own(anchor, kinds).unwrap_or(anchor).start_byte()
}

/// The first child that is no attribute or comment, nor a list of nothing but these.
fn first_own<'tree>(node: Node<'tree>, kinds: &NodeKinds) -> Option<Node<'tree>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find_map(|child| {
        let is_lead = |node: Node<'_>| {
            let role = kinds.get(node.kind_id()).role;
            matches!(role, NodeRole::Lead | NodeRole::Comment)
        };
        if is_lead(child) {
            return None;
        }
        let begins_with_lead = child.child(0).is_some_and(is_lead);
        if begins_with_lead {
            let mut inner = child.walk();
            child.children(&mut inner).find(|node| !is_lead(*node))
        } else {
            Some(child)
        }
    })
}

fn of_function(node: Node<'_>) -> Parts {
    let mut cursor = node.walk();
    let mut parts = without_body(node);
    for child in node.children(&mut cursor) {
        match child.kind() {
            "compound_statement" => {
                parts.body = BodyPlace::between_brackets(child);
            }
            "try_statement"
            | "constructor_try_statement"
            | "default_method_clause"
            | "delete_method_clause" => parts.body = BodyPlace::Code,
            "field_initializer_list" => {}
            _ => continue,
        }
        parts.head_end = parts.head_end.min(child.start_byte());
    }
    parts
}

fn of_type(specifier: Node<'_>) -> Option<Parts> {
    let body = specifier.child_by_field_name("body")?;
    Some(Parts {
        head_end: body.start_byte(),
        body: BodyPlace::between_brackets(body),
    })
}

/// Up to the first value that a variable is given.
fn of_declaration(node: Node<'_>) -> Parts {
    let mut cursor = node.walk();
    let head_end = node
        .children_by_field_name("declarator", &mut cursor)
        .filter(|declarator| declarator.kind() == "init_declarator")
        .find_map(|declarator| Some(declarator.child_by_field_name("declarator")?.end_byte()));
    Parts {
        head_end: head_end.unwrap_or(node.end_byte()),
        body: BodyPlace::Nowhere,
    }
}

/// A definition without a body whose head ends where a field begins.
pub(crate) fn up_to_field(node: Node<'_>, field: &str) -> Parts {
    let end = node.child_by_field_name(field);
    Parts {
        head_end: end.map_or(node.end_byte(), |value| value.start_byte()),
        body: BodyPlace::Nowhere,
    }
}

/// A definition without a body whose head ends before the first child of a kind.
pub(crate) fn up_to_kind(node: Node<'_>, kind: &str) -> Parts {
    let mut cursor = node.walk();
    let end = node
        .children(&mut cursor)
        .find(|child| child.kind() == kind)
        .map_or(node.end_byte(), |child| child.start_byte());
    Parts {
        head_end: end,
        body: BodyPlace::Nowhere,
    }
}

/// A definition that is all head.
pub(crate) fn without_body(node: Node<'_>) -> Parts {
    Parts {
        head_end: node.end_byte(),
        body: BodyPlace::Nowhere,
    }
}
