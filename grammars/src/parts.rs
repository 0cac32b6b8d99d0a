//! The parts of a definition in C and C++: where its head begins and ends, and what is its body.

use tree_sitter::Node;

/// The parts of a definition's node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    /// First byte past the head; blanks may precede it.
    pub(crate) head_end: usize,
    /// The body, brackets included.
    pub(crate) body: BodyPlace,
}

/// Where a definition's body is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BodyPlace {
    /// There is none.
    Nowhere,
    /// Statements or members from one byte to another, brackets included.
    Braces(usize, usize),
    /// Something that is code by itself, such as `= default`.
    Code,
}

/// The parts of a definition that stands at `node`.
pub(crate) fn of(node: Node<'_>) -> Parts {
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
pub(crate) fn start(anchor: Node<'_>) -> usize {
    let mut cursor = anchor.walk();
    anchor
        .children(&mut cursor)
        .find(|child| {
            !matches!(
                child.kind(),
                "attribute_declaration" | "attribute_specifier" | "comment"
            )
        })
        .unwrap_or(anchor)
        .start_byte()
}

fn of_function(node: Node<'_>) -> Parts {
    let mut cursor = node.walk();
    let mut parts = without_body(node);
    for child in node.children(&mut cursor) {
        match child.kind() {
            "compound_statement" => {
                parts.body = BodyPlace::Braces(child.start_byte(), child.end_byte());
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
        body: BodyPlace::Braces(body.start_byte(), body.end_byte()),
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

fn up_to_field(node: Node<'_>, field: &str) -> Parts {
    let end = node.child_by_field_name(field);
    Parts {
        head_end: end.map_or(node.end_byte(), |value| value.start_byte()),
        body: BodyPlace::Nowhere,
    }
}

fn up_to_kind(node: Node<'_>, kind: &str) -> Parts {
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

fn without_body(node: Node<'_>) -> Parts {
    Parts {
        head_end: node.end_byte(),
        body: BodyPlace::Nowhere,
    }
}
