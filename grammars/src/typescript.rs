//! TypeScript, with and without JSX: the additions to JavaScript.
//!
//! The grammar lacks five things, which are made readable: what says of a type parameter that it varies (`<in out T>`),
//! signatures one below the other without a semicolon, of which the second looks like arguments of the first's type,
//! escaped quotes in types that are templates, a parameter called `type` in brackets, and arguments of an imported type.
//!
//! A namespace only adds to the names inside. Overloads and abstract methods are declarations.

use std::sync::OnceLock;

use tree_sitter::Node;

use crate::context::{NodeContext, field_text};
use crate::javascript::{self, FIELDS, STUBS, STUBS_WITH_REMARK};
use crate::language::Language;
use crate::node::{DefinitionPlace, NodeRole, OpenedNode};
use crate::readable::Readable;

/// The language.
pub(crate) static TYPESCRIPT: Language = Language {
    name: "typescript",
    version: "0.23.2+6",
    separator: ".",
    grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    readable,
    has_macros: false,
    is_indented: false,
    role,
    open,
    parts: javascript::parts,
    takes_semicolon: FIELDS,
    is_left_out: |_| false,
    documentation: &[],
    stubs: STUBS,
    stubs_with_remark: STUBS_WITH_REMARK,
    ready: OnceLock::new(),
};

/// TypeScript with JSX, where `<T>x` is no type assertion.
pub(crate) static TSX: Language = Language {
    name: "tsx",
    grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    ready: OnceLock::new(),
    ..TYPESCRIPT
};

/// Longest signature that is searched, in bytes.
const SIGNATURE_BYTES_MAX: usize = 4096;

fn readable(source: &[u8]) -> Readable {
    let mut text = source.to_vec();
    for at in memchr_iter(b'<', source) {
        blank_variance(source, &mut text, at + 1);
        if begins_signature(source, at) {
            text[at - 1] = b';';
        }
    }
    for at in memchr_iter(b',', source) {
        blank_variance(source, &mut text, at + 1);
    }
    for at in memchr_iter(b'(', source) {
        let rest = source[at + 1..].trim_ascii_start();
        if rest.starts_with(b"type extends ") {
            text[source.len() - rest.len()] = b'T';
        }
        if source[..at].ends_with(b"import") {
            name_import(source, &mut text, at);
        }
    }
    for at in memchr_iter(b'`', source) {
        let before = source[..at].iter().rev();
        if before.take_while(|byte| **byte == b'\\').count() % 2 == 1 {
            text[at - 1..=at].fill(b' ');
        }
    }
    Readable {
        changed: (text != source).then_some(text),
        ..Readable::default()
    }
}

/// The type `import("a").T<U>`, whose bracket is at `open`, becomes `import_____.T<U>`.
fn name_import(source: &[u8], text: &mut [u8], open: usize) {
    let line = &source[open..source.len().min(open + NEAR)];
    let Some(close) = line.iter().position(|byte| *byte == b')') else {
        return;
    };
    // A promise has no such member.
    let is_type = matches!(line[close + 1..], [b'.', b'A'..=b'Z', ..]);
    if is_type {
        text[open..=open + close].fill(b'_');
    }
}

fn memchr_iter(wanted: u8, text: &[u8]) -> impl Iterator<Item = usize> {
    let is_wanted = move |(_, byte): &(usize, &u8)| **byte == wanted;
    text.iter().enumerate().filter(is_wanted).map(|(at, _)| at)
}

/// Blanks `in` and `out` in front of a type parameter that begins at `at`.
fn blank_variance(source: &[u8], text: &mut [u8], at: usize) {
    let source = &source[..source.len().min(at + NEAR)];
    let mut at = at;
    loop {
        let word = next_code(source, at);
        let length = match &source[word..] {
            [b'i', b'n', after, ..] if after.is_ascii_whitespace() => 2,
            [b'o', b'u', b't', after, ..] if after.is_ascii_whitespace() => 3,
            _ => return,
        };
        let next = source.get(next_code(source, word + length));
        if !next.is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$')) {
            return;
        }
        text[word..word + length].fill(b' ');
        at = word + length;
    }
}

/// The first byte from `at` on that is neither blank nor in a comment.
fn next_code(source: &[u8], at: usize) -> usize {
    let mut at = at;
    loop {
        let rest = &source[at..];
        at += rest.len() - rest.trim_ascii_start().len();
        let end = match &source[at..] {
            [b'/', b'*', inner @ ..] => inner
                .windows(2)
                .position(|pair| pair == b"*/")
                .map(|end| end + 4),
            [b'/', b'/', inner @ ..] => inner
                .iter()
                .position(|byte| *byte == b'\n')
                .map(|end| end + 2),
            _ => None,
        };
        match end {
            Some(end) => at += end,
            None => return at,
        }
    }
}

/// Whether a signature `<T>(a: T): U` begins here, on a line of its own, that may end the member above.
fn begins_signature(source: &[u8], open: usize) -> bool {
    let mut before = source[..open].iter();
    let before = before.rposition(|byte| *byte == b'\n' || !byte.is_ascii_whitespace());
    let Some(line) = before.filter(|at| source[*at] == b'\n') else {
        return false;
    };
    let source = &source[..source.len().min(open + NEAR)];
    let has_room = open > line + 1;
    let ends_member = |byte: u8| byte.is_ascii_alphanumeric() || b"_$)]}>\"'`".contains(&byte);
    let is_arrow = source[..line].trim_ascii_end().ends_with(b"=>");
    has_room
        && !is_arrow
        && last_code(&source[..line]).is_some_and(ends_member)
        && is_followed_by_signature(source, open)
}

/// Bytes around a mark that are looked at: as many as comments take there.
const NEAR: usize = 1 << 10;

/// The last byte of a text's end that is neither blank nor in a comment of its own lines.
fn last_code(text: &[u8]) -> Option<u8> {
    let mut text = &text[text.len().saturating_sub(NEAR)..];
    text = text.trim_ascii_end();
    loop {
        let line = text
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        if text.ends_with(b"*/") {
            let open = text.windows(2).rposition(|pair| pair == b"/*")?;
            text = text[..open].trim_ascii_end();
        } else if text[line..].trim_ascii_start().starts_with(b"//") {
            text = text[..line].trim_ascii_end();
        } else {
            return text.last().copied();
        }
    }
}

fn is_followed_by_signature(source: &[u8], open: usize) -> bool {
    let text = &source[open..source.len().min(open + SIGNATURE_BYTES_MAX)];
    let Some(parameters) = closing(text, b'<', b'>') else {
        return false;
    };
    let rest = text[parameters + 1..].trim_ascii_start();
    let arguments = rest.starts_with(b"(").then(|| closing(rest, b'(', b')'));
    let Some(arguments) = arguments.flatten() else {
        return false;
    };
    rest[arguments + 1..].trim_ascii_start().starts_with(b":")
}

/// The position at which the bracket that a text begins with is closed; an arrow closes nothing.
fn closing(text: &[u8], open: u8, close: u8) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, byte) in text.iter().enumerate() {
        let is_arrow = *byte == b'>' && at > 0 && text[at - 1] == b'=';
        if *byte == open {
            depth += 1;
        } else if *byte == close && !is_arrow {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

fn role(kind: &str) -> NodeRole {
    match kind {
        "interface_declaration"
        | "enum_declaration"
        | "type_alias_declaration"
        | "abstract_class_declaration"
        | "internal_module"
        | "module"
        | "ambient_declaration" => NodeRole::Item,
        kind => javascript::role(kind),
    }
}

fn open<'tree>(node: Node<'tree>, outer: &NodeContext<'tree, '_>) -> OpenedNode {
    let name = field_text(node, "name", outer);
    match node.kind() {
        "abstract_class_declaration" => javascript::open_class(name, outer),
        "interface_declaration" | "enum_declaration" | "type_alias_declaration" => OpenedNode {
            symbols: name.iter().map(|name| outer.qualified(name)).collect(),
            inside: Some(DefinitionPlace::Body),
            ..OpenedNode::default()
        },
        // A module in quotes is a file, so it adds nothing to names.
        "internal_module" | "module" => OpenedNode {
            inside: Some(DefinitionPlace::Namespace),
            scope: name.filter(|name| !name.starts_with(['"', '\''])),
            ..OpenedNode::default()
        },
        "ambient_declaration" => OpenedNode {
            wraps: true,
            ..OpenedNode::default()
        },
        "expression_statement" if javascript::is_namespace(node.child(0)) => OpenedNode {
            wraps: true,
            ..OpenedNode::default()
        },
        _ => javascript::open(node, outer),
    }
}
