//! The surroundings of a node in the walk, as a language sees them.

use tree_sitter::Node;
use tslp_core::measure::PartCounts;

use crate::node::{DefinitionPlace, span};
use crate::readable::Readable;

/// The surroundings of a node, for [`crate::language::Language::open`].
pub(crate) struct NodeContext<'tree, 'walk> {
    /// The source, as written.
    pub(crate) source: &'walk [u8],
    /// The place that the node is in.
    pub(crate) place: DefinitionPlace,
    /// Whether there is a parse error around the node.
    pub(crate) in_error: bool,
    /// The scope, such as `ns::Class`; empty at the top.
    pub(crate) scope: &'walk str,
    /// The part of the scope that is namespaces.
    pub(crate) namespace: &'walk str,
    /// The text that was parsed, with what was blanked in it.
    pub(crate) readable: &'walk Readable,
    pub(crate) separator: &'static str,
    pub(crate) frames: &'walk [WalkFrame<'tree>],
    pub(crate) depth: u32,
}

impl<'tree> NodeContext<'tree, '_> {
    /// `name` in the scope around.
    pub(crate) fn qualified(&self, name: &str) -> String {
        self.within(self.scope, name)
    }

    /// `name` in a scope.
    pub(crate) fn within(&self, scope: &str, name: &str) -> String {
        if scope.is_empty() {
            name.to_owned()
        } else {
            format!("{scope}{}{name}", self.separator)
        }
    }

    /// Whether variables and constants found here are definitions: at the top level, outside of parse errors.
    pub(crate) fn holds_values(&self) -> bool {
        self.place == DefinitionPlace::Namespace && !self.in_error
    }

    /// All nodes around this one that the walk has opened, innermost first.
    pub(crate) fn enclosing(&self) -> impl Iterator<Item = Node<'tree>> {
        self.frames.iter().rev().map(|frame| frame.node)
    }

    /// The nodes that wrap this one directly, innermost first.
    pub(crate) fn wrappers(&self) -> impl Iterator<Item = Node<'tree>> {
        wrapping_frames(self.frames, self.depth)
            .iter()
            .rev()
            .map(|frame| frame.node)
    }
}

/// Totals at some point of the walk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FigureTotals {
    pub(crate) nodes: u32,
    pub(crate) tokens: u32,
    pub(crate) errors: u32,
    pub(crate) parts: PartCounts,
}

/// A node that changes how its inside is read.
#[derive(Debug)]
pub(crate) struct WalkFrame<'tree> {
    pub(crate) depth: u32,
    pub(crate) node: Node<'tree>,
    pub(crate) wraps: bool,
    pub(crate) at_entry: FigureTotals,
    pub(crate) outer_place: DefinitionPlace,
    pub(crate) outer_in_error: bool,
    pub(crate) outer_scope: usize,
    pub(crate) outer_namespace: usize,
}

/// The frames that wrap a node at `depth` directly, outermost first.
pub(crate) fn wrapping_frames<'a, 'tree>(
    frames: &'a [WalkFrame<'tree>],
    depth: u32,
) -> &'a [WalkFrame<'tree>] {
    let count = frames
        .iter()
        .rev()
        .zip((0..depth).rev())
        .take_while(|(frame, depth)| frame.wraps && frame.depth == *depth)
        .count();
    &frames[frames.len() - count..]
}

/// The text of a name.
pub(crate) fn text(node: Node<'_>, outer: &NodeContext<'_, '_>) -> String {
    String::from_utf8_lossy(span(node).of(outer.source)).into_owned()
}

/// The text of the child that a field names.
pub(crate) fn field_text(
    node: Node<'_>,
    field: &str,
    outer: &NodeContext<'_, '_>,
) -> Option<String> {
    let child = node.child_by_field_name(field)?;
    (!child.is_missing()).then(|| text(child, outer))
}
