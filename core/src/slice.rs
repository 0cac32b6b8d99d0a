//! Slices of source text and the canonical form by which two of them are compared.

use alloc::vec::Vec;

use crate::hash::SliceHash;

/// A half-open byte range of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes this span covers; empty if it lies outside.
    #[must_use]
    pub fn of(self, source: &[u8]) -> &[u8] {
        source
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }

    /// How many bytes the span covers.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    /// Whether the span covers nothing.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// What parity compares: how much structure a definition has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Figures {
    /// Named AST nodes, comments left out.
    pub nodes: u32,
    /// AST leaves, comments left out.
    pub tokens: u32,
}

/// The slices of one definition as text: the spans in source order, joined by one line end.
#[must_use]
pub fn joined(source: &[u8], spans: &[Span]) -> Vec<u8> {
    let mut text = Vec::with_capacity(spans.iter().map(|span| span.len() as usize + 1).sum());
    for (index, span) in spans.iter().enumerate() {
        if index > 0 {
            text.push(b'\n');
        }
        text.extend_from_slice(span.of(source));
    }
    text
}

/// Hash of the canonical form of `spans` of `source`.
#[must_use]
pub fn hash_of_spans(source: &[u8], spans: &[Span]) -> SliceHash {
    match spans {
        [span] => hash_of(span.of(source)),
        spans => {
            let mut hasher = blake3::Hasher::new();
            for span in spans {
                hasher.update(&hash_of(span.of(source)).0);
            }
            SliceHash(*hasher.finalize().as_bytes())
        }
    }
}

/// Hash of the canonical form of `text`.
#[must_use]
pub fn hash_of(text: &[u8]) -> SliceHash {
    SliceHash(*blake3::hash(&canonical(text)).as_bytes())
}

/// The canonical form: LF line ends, trailing blanks cut from each line, indentation common to all lines removed,
/// no blank lines at the end, no byte order mark.
///
/// The first line's own indentation is not counted for the common part, because a slice starts at its definition's
/// first byte while its other lines keep the file's indentation.
#[must_use]
pub fn canonical(text: &[u8]) -> Vec<u8> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let lines: Vec<&[u8]> = lines(text).map(trim_end).collect();
    let first_is_indented = lines.first().is_some_and(|line| indentation(line) > 0);
    let measured = if first_is_indented {
        &lines[..]
    } else {
        lines.get(1..).unwrap_or_default()
    };
    let common = common_indentation(measured);
    let mut out = Vec::with_capacity(text.len() + 1);
    for (index, line) in lines.iter().enumerate() {
        let cut = if index == 0 && !first_is_indented {
            0
        } else {
            common.min(indentation(line))
        };
        out.extend_from_slice(&line[cut..]);
        out.push(b'\n');
    }
    while out.last() == Some(&b'\n') {
        out.pop();
    }
    out
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
}

fn trim_end(line: &[u8]) -> &[u8] {
    let end = line
        .iter()
        .rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\r'))
        .map_or(0, |at| at + 1);
    &line[..end]
}

fn indentation(line: &[u8]) -> usize {
    line.iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}

/// Length of the longest run of blanks that every non-empty line starts with, byte for byte.
fn common_indentation(lines: &[&[u8]]) -> usize {
    let mut filled = lines.iter().filter(|line| !line.is_empty());
    let Some(first) = filled.next() else { return 0 };
    let mut common = &first[..indentation(first)];
    for line in filled {
        let shared = common
            .iter()
            .zip(line.iter())
            .take_while(|(a, b)| a == b)
            .count();
        common = &common[..shared];
    }
    common.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_same(a: &str, b: &str) {
        assert_eq!(
            hash_of(a.as_bytes()),
            hash_of(b.as_bytes()),
            "{a:?} and {b:?}"
        );
    }

    fn check_different(a: &str, b: &str) {
        assert_ne!(
            hash_of(a.as_bytes()),
            hash_of(b.as_bytes()),
            "{a:?} and {b:?}"
        );
    }

    #[test]
    fn editors_may_change_line_ends_trailing_blanks_and_common_indentation() {
        check_same(
            "int f() {\n  return 1;\n}\n",
            "int f() {\r\n  return 1;  \r\n}",
        );
        check_same(
            "int f() {\n  return 1;\n}",
            "    int f() {\n      return 1;\n    }",
        );
        check_same(
            "int f() {\n      return 1;\n    }",
            "int f() {\n  return 1;\n}",
        );
        check_same("\u{feff}int x;", "int x;");
    }

    #[test]
    fn anything_else_is_a_difference() {
        check_different("int f() {\n  return 1;\n}", "int f() {\n    return 1;\n}\n");
        check_different("int x;", "int  x;");
        check_different("int x;\n\nint y;", "int x;\nint y;");
    }

    #[test]
    fn spans_outside_the_source_are_empty() {
        assert_eq!(Span { start: 3, end: 9 }.of(b"abc"), b"");
        assert_eq!(
            joined(
                b"abcdef",
                &[Span { start: 0, end: 2 }, Span { start: 4, end: 6 }]
            ),
            b"ab\nef"
        );
    }
}
