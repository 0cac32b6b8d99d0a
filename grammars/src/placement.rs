//! Where the nodes of a text with errors begin, by its lines.
//!
//! A parser that has lost its way takes a body's statements for members, and members for statements. People indent, though: what
//! stands side by side begins in one column, so a node in another column isn't where a text without the error would have it.

use std::cell::{Cell, OnceCell};

use tree_sitter::Node;

/// Most blanks in front of a node on its line.
const COLUMN_MAX: usize = 1_000;

/// A node of a text with errors around the one that the walk has reached.
struct OpenNode<'tree> {
    node: Node<'tree>,
    /// Its line's indentation, if it is the first on its line.
    column: Option<usize>,
    /// The least indentation of the nodes in it that begin a line, once it was asked for.
    column_inside: Cell<Option<Option<usize>>>,
    /// Whether it and all around it are in place, once it was asked for.
    in_place: Cell<Option<bool>>,
}

/// The nodes of a text with errors from the root to the one that the walk has reached.
pub(crate) struct Placement<'tree, 'walk> {
    source: &'walk [u8],
    /// The text as it was parsed.
    text: &'walk [u8],
    open: Vec<OpenNode<'tree>>,
    /// Whether an error is between the definitions of a text with namespaces, whose members nobody indents: it may have ended one, or
    /// have hidden its beginning.
    has_lost_namespace: OnceCell<bool>,
}

impl<'tree, 'walk> Placement<'tree, 'walk> {
    pub(crate) fn new(source: &'walk [u8], text: &'walk [u8]) -> Self {
        Self {
            source,
            text,
            open: Vec::new(),
            has_lost_namespace: OnceCell::new(),
        }
    }

    /// Goes on to a node.
    pub(crate) fn enter(&mut self, node: Node<'tree>, depth: u32) {
        self.open.truncate(depth as usize);
        self.open.push(OpenNode {
            node,
            column: self.column_of(node),
            column_inside: Cell::default(),
            in_place: Cell::default(),
        });
    }

    /// Whether the node that was entered last is where a text without errors has it, and so is all around it.
    pub(crate) fn is_in_place(&self) -> bool {
        let known = self.open.iter().rposition(|it| it.in_place.get().is_some());
        let mut in_place = known.is_none_or(|at| self.open[at].in_place.get() == Some(true));
        for at in known.map_or(0, |at| at + 1)..self.open.len() {
            in_place = in_place && self.is_beside_its_siblings(at);
            self.open[at].in_place.set(Some(in_place));
        }
        in_place && (!self.has_lost_namespace() || self.is_in_namespace())
    }

    fn is_in_namespace(&self) -> bool {
        let mut around = self.open.iter().rev();
        around.any(|it| it.node.kind() == "namespace_definition")
    }

    fn has_lost_namespace(&self) -> bool {
        *self.has_lost_namespace.get_or_init(|| {
            let mut lines = self.text.split(|byte| *byte == b'\n');
            let has_namespace = lines.any(|line| line.starts_with(b"namespace"));
            let root = self.open.first().map(|it| it.node);
            has_namespace && root.is_some_and(holds_error_outside)
        })
    }

    fn is_beside_its_siblings(&self, at: usize) -> bool {
        let Some(outer) = at.checked_sub(1).map(|at| &self.open[at]) else {
            return true;
        };
        let node = &self.open[at];
        // What an error holds stands beside it, if it does; nobody knows what else is around it.
        let is_known =
            !outer.node.is_error() || outer.column == node.column && node.column.is_some();
        is_known && (node.column.is_none() || node.column == self.column_inside(outer))
    }

    /// The column of the nodes in a node: of those that begin a line, the least.
    fn column_inside(&self, outer: &OpenNode<'tree>) -> Option<usize> {
        if let Some(known) = outer.column_inside.get() {
            return known;
        }
        let mut cursor = outer.node.walk();
        let inside = outer.node.named_children(&mut cursor);
        let is_beside =
            |it: &Node<'_>| !it.is_error() && !it.is_extra() && it.kind() != "access_specifier";
        let inside = inside.filter(is_beside);
        let least = inside.filter_map(|it| self.column_of(it)).min();
        outer.column_inside.set(Some(least));
        least
    }

    /// The indentation of a node that is the first on its line. Directives have no column.
    fn column_of(&self, node: Node<'tree>) -> Option<usize> {
        let start = node.start_byte();
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
        let before = self.text[..start].iter().rev().take(COLUMN_MAX);
        let blanks = before.take_while(is_blank).count();
        let line = start - blanks;
        let begins_line = line == 0 || self.text[line - 1] == b'\n';
        // What is blanked in front of it is a macro of its own.
        let column = self.source[line..start].iter().take_while(is_blank).count();
        (begins_line && !node.kind().starts_with("preproc")).then_some(column)
    }
}

/// Whether an error is directly in a file or a namespace, or among what conditionals enclose there.
fn holds_error_outside(around: Node<'_>) -> bool {
    let mut ahead = vec![around];
    while let Some(node) = ahead.pop() {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            let kind = child.kind();
            if child.is_error() || child.is_missing() {
                return true;
            }
            let is_outside = kind.starts_with("preproc") || kind == "declaration_list";
            if child.has_error() && (is_outside || kind == "namespace_definition") {
                ahead.push(child);
            }
        }
    }
    false
}
