//! Where the nodes of a text with errors begin, by its lines.
//!
//! A parser that has lost its way takes a body's statements for members, and members for statements. People indent, though: what
//! stands side by side begins in one column, so a node in another column isn't where a text without the error would have it.

use std::cell::Cell;

use tree_sitter::Node;

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
}

impl<'tree, 'walk> Placement<'tree, 'walk> {
    pub(crate) fn new(source: &'walk [u8], text: &'walk [u8]) -> Self {
        Self {
            source,
            text,
            open: Vec::new(),
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
        in_place
    }

    fn is_beside_its_siblings(&self, at: usize) -> bool {
        let Some(outer) = at.checked_sub(1).map(|at| &self.open[at]) else {
            return true;
        };
        let node = &self.open[at];
        // What an error holds stands beside it, if it does; nobody knows what else is around it.
        let is_known = !outer.node.is_error()
            || outer.column == node.column && node.column.is_some() && !self.opens_namespace(outer);
        is_known && (node.column.is_none() || node.column == self.column_inside(outer))
    }

    /// The column of the nodes in a node: of those that begin a line, the least.
    fn column_inside(&self, outer: &OpenNode<'tree>) -> Option<usize> {
        if let Some(known) = outer.column_inside.get() {
            return known;
        }
        let mut cursor = outer.node.walk();
        let inside = outer.node.named_children(&mut cursor);
        let inside = inside.filter(|it| !it.is_error() && !it.is_extra());
        let least = inside.filter_map(|it| self.column_of(it)).min();
        outer.column_inside.set(Some(least));
        least
    }

    fn opens_namespace(&self, error: &OpenNode<'tree>) -> bool {
        let mut cursor = error.node.walk();
        let mut inside = error.node.children(&mut cursor);
        inside.any(|it| it.kind() == "namespace")
    }

    /// The indentation of a node that is the first on its line. Directives have no column.
    fn column_of(&self, node: Node<'tree>) -> Option<usize> {
        let start = node.start_byte();
        let line = self.text[..start].iter().rposition(|byte| *byte == b'\n');
        let line = line.map_or(0, |end| end + 1);
        let begins_line = self.text[line..start].iter().all(u8::is_ascii_whitespace);
        let blanks = self.source[line..].iter().take_while(|it| matches!(it, b' ' | b'\t'));
        (begins_line && !node.kind().starts_with("preproc")).then(|| blanks.count())
    }
}
