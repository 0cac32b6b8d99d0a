//! Lines of bare dots that replace left-out code, in languages where dots are no code.

use tree_sitter::{Node, Tree};
use tslp_core::elision;
use tslp_core::slice::Span;

use crate::node::{NodeKinds, NodeRole, offset};
use crate::readable::PLACEHOLDER_BYTES_MAX;

/// Most lines that are looked up in the tree; nobody writes a text with more of them.
const LINES_MAX: usize = 1_000;

/// The lines of `text` that hold nothing but dots, or dots and words that describe the left-out code, and that the parser
/// couldn't read.
pub(crate) fn elided_lines(text: &[u8], tree: &Tree, kinds: &NodeKinds) -> Vec<Span> {
    if !tree.root_node().has_error() {
        return Vec::new();
    }
    let mut start = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let inner = line.trim_ascii();
        let first = start + (line.len() - line.trim_ascii_start().len());
        start += line.len();
        if is_line(inner) {
            let past = first + inner.len();
            if is_in_error(tree.root_node(), first, kinds) {
                found.push(Span {
                    start: offset(first),
                    end: offset(past),
                });
            }
            if found.len() >= LINES_MAX {
                break;
            }
        }
    }
    found
}

/// Whether a trimmed line holds nothing but dots, or dots and words that describe the left-out code.
pub(crate) fn is_line(line: &[u8]) -> bool {
    line.len() <= PLACEHOLDER_BYTES_MAX
        && has_dots_first(line)
        && is_placeholder(&String::from_utf8_lossy(line))
}

fn has_dots_first(line: &[u8]) -> bool {
    [&b"..."[..], "…".as_bytes(), "⋮".as_bytes()]
        .iter()
        .any(|dots| line.starts_with(dots))
}

fn is_placeholder(line: &str) -> bool {
    line.trim_matches(['.', '…', '⋮']).is_empty() || elision::is_placeholder(line)
}

/// Whether the parser met an error at the dots, outside of comments and literals.
fn is_in_error(root: Node<'_>, at: usize, kinds: &NodeKinds) -> bool {
    let Some(mut node) = root.descendant_for_byte_range(at, at + 1) else {
        return false;
    };
    let is_text = |node: Node<'_>| {
        let is_comment = kinds.get(node.kind_id()).role == NodeRole::Comment;
        is_comment || node.kind().contains("string") || node.kind().contains("template")
    };
    // Up to the node that begins before the line: it would hold the dots if they were code.
    while !is_text(node) {
        if node.has_error() {
            return true;
        }
        match node.parent().filter(|_| node.start_byte() >= at) {
            Some(parent) => node = parent,
            None => return false,
        }
    }
    false
}
