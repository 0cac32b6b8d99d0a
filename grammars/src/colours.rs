//! Colours for people who read code: what each token is, by the tree of the grammar that reads the file anyway.

use tree_sitter::Node;
use tslp_core::extract::{Grammars as _, LanguageId};
use tslp_core::limits::PARSE_BYTES_MAX;
use tslp_core::path::RelPath;

use crate::languages::{self, TextReader};
use crate::{TreeSitterGrammars, cpp, parse};

/// A range of bytes, and what stands there: `comment`, `string`, `number`, `keyword`, `type` or `call`.
pub type ColourSpan = (std::ops::Range<usize>, &'static str);

/// The tokens of `source` that have a colour, in order; none where no grammar reads the file.
#[must_use]
pub fn colours(path: &RelPath, source: &[u8]) -> Vec<ColourSpan> {
    let mut spans = Vec::new();
    let language = TreeSitterGrammars.language_of_path(path);
    visit_nodes(language, source, &mut |node| {
        let colour = colour_of(node, source);
        spans.extend(colour.map(|colour| (node.byte_range(), colour)));
        // What has a colour has it whole: the quotes of a string aren't tokens of their own.
        colour.is_none()
    });
    spans
}

/// Visits the nodes of `source`, outer ones first; into those for which `visit` says so. None where no grammar reads it.
pub(crate) fn visit_nodes(
    language: Option<LanguageId>,
    source: &[u8],
    visit: &mut dyn FnMut(Node<'_>) -> bool,
) {
    let language = match language.and_then(languages::row).map(|row| row.reader) {
        Some(TextReader::One(language)) => language,
        Some(TextReader::Header) => &cpp::CPP,
        None => return,
    };
    if source.len() > PARSE_BYTES_MAX {
        return;
    }
    let readable = (language.readable)(source);
    let tree = parse::check_density(source, &readable)
        .and_then(|()| parse::parse_bounded(language, source));
    let Ok(tree) = tree else {
        return;
    };
    let mut cursor = tree.walk();
    loop {
        if visit(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Grammars name their nodes alike: a rule for each word, not for each language.
fn colour_of(node: Node<'_>, source: &[u8]) -> Option<&'static str> {
    let kind = node.kind();
    let is_leaf = node.child_count() == 0;
    if kind.contains("comment") {
        return Some("comment");
    }
    if node.is_named() {
        let is_text = kind.contains("string") || kind.contains("char_lit") || kind == "regex";
        return match kind {
            // What is put into it is code.
            "template_string" => None,
            _ if is_text => Some("string"),
            "type_identifier" | "primitive_type" | "predefined_type" => Some("type"),
            _ if is_leaf && (kind.contains("number") || kind.contains("integer")) => Some("number"),
            _ if is_leaf && kind.contains("float") => Some("number"),
            "true" | "false" | "none" | "null" | "this" | "self" => Some("keyword"),
            "identifier" | "field_identifier" | "property_identifier" => is_callee(node, source),
            _ => None,
        };
    }
    let is_word = kind
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let is_directive = kind.starts_with('#') && kind.len() > 1;
    (is_leaf && (is_word || is_directive)).then_some("keyword")
}

/// A name before an opening parenthesis is called or defined there.
fn is_callee(node: Node<'_>, source: &[u8]) -> Option<&'static str> {
    (source.get(node.end_byte()) == Some(&b'(')).then_some("call")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coloured(path: &str, source: &str) -> Vec<(String, &'static str)> {
        let spans = colours(&RelPath::from_normalised(path), source.as_bytes());
        let spans = spans.into_iter();
        spans
            .map(|(range, colour)| (source[range].to_owned(), colour))
            .collect()
    }

    #[test]
    fn colours_by_language() {
        let c = coloured("a.c", "// x\nint f(void) { return g(\"s\", 12); }\n");
        let c: Vec<(&str, &str)> = c.iter().map(|(text, colour)| (&**text, *colour)).collect();
        assert_eq!(
            c,
            [
                ("// x", "comment"),
                ("int", "type"),
                ("f", "call"),
                ("void", "type"),
                ("return", "keyword"),
                ("g", "call"),
                ("\"s\"", "string"),
                ("12", "number"),
            ]
        );
        let python = coloured("a.py", "def f():\n    return 'x'  # y\n");
        let python = python.iter().map(|(_, colour)| *colour);
        assert!(python.eq(["keyword", "call", "keyword", "string", "comment"]));
        assert!(coloured("a.txt", "if you read this").is_empty());
    }
}
