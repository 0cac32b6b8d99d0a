//! Declarators of C and C++: the name in the middle of `int (*const f[3])(void)`, and whether it is a function's.

use tree_sitter::Node;

/// The name that a declarator declares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared<'tree> {
    /// The node that spells the name.
    pub(crate) name: Node<'tree>,
    /// Whether the name is a function's, not that of a variable which may point to one.
    pub(crate) is_function: bool,
    /// Whether nothing but parentheses surrounds the name, as in `type (name)`: in truth mostly a macro call.
    pub(crate) is_parenthesised: bool,
}

/// Follows a declarator down to its name.
pub(crate) fn declared(declarator: Node<'_>) -> Option<Declared<'_>> {
    let mut node = declarator;
    let mut is_function = false;
    let mut is_parenthesised = node.kind() == "parenthesized_declarator";
    loop {
        let inner = match node.kind() {
            "function_declarator" => {
                is_function = true;
                is_parenthesised = false;
                node.child_by_field_name("declarator")
            }
            "pointer_declarator" | "array_declarator" | "pointer_type_declarator" => {
                is_function = false;
                is_parenthesised = false;
                node.child_by_field_name("declarator")
            }
            "reference_declarator" | "variadic_declarator" => {
                is_function = false;
                is_parenthesised = false;
                last_named(node)
            }
            "init_declarator" => node.child_by_field_name("declarator"),
            "parenthesized_declarator" => last_named(node),
            "attributed_declarator" => node.named_child(0),
            "operator_cast" => {
                return Some(Declared {
                    name: node,
                    is_function: true,
                    is_parenthesised: false,
                });
            }
            "qualified_identifier" => {
                let conversion = innermost(node).kind() == "operator_cast";
                return Some(Declared {
                    name: node,
                    is_function: is_function || conversion,
                    is_parenthesised,
                });
            }
            "identifier" | "type_identifier" | "field_identifier" | "primitive_type"
            | "operator_name" | "destructor_name" | "template_function" | "template_method" => {
                return Some(Declared {
                    name: node,
                    is_function,
                    is_parenthesised,
                });
            }
            _ => None,
        };
        node = inner?;
    }
}

/// The last component of a qualified name.
pub(crate) fn innermost(qualified: Node<'_>) -> Node<'_> {
    let mut node = qualified;
    while node.kind() == "qualified_identifier" {
        let Some(name) = node.child_by_field_name("name") else {
            break;
        };
        node = name;
    }
    node
}

fn last_named(node: Node<'_>) -> Option<Node<'_>> {
    let count = u32::try_from(node.named_child_count()).ok()?;
    node.named_child(count.checked_sub(1)?)
}
