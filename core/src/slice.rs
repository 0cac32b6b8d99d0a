//! Slices of source text and the canonical form by which two of them are compared.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use rkyv::rancor::{Fallible, Source};
use serde::{Deserialize, Serialize};

use crate::hash::SliceHash;
#[cfg(feature = "arbitrary")]
use crate::stored::few;
use crate::stored::{Archive, Load, Meaningless, Store};

/// A half-open byte range of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Archive, Store, Serialize)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl<D> Load<Span, D> for ArchivedSpan
where
    D: Fallible + ?Sized,
    D::Error: Source,
{
    fn deserialize(&self, _: &mut D) -> Result<Span, D::Error> {
        Span::read(self.start.to_native(), self.end.to_native()).map_err(Source::new)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Bounds {
            start: u32,
            end: u32,
        }
        let bounds = Bounds::deserialize(deserializer)?;
        Self::read(bounds.start, bounds.end).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "arbitrary")]
impl<'a> arbitrary::Arbitrary<'a> for Span {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let (one, other) = (few::count(u)?, few::count(u)?);
        Ok(Self {
            start: one.min(other),
            end: one.max(other),
        })
    }
}

impl Span {
    /// Reads a stored range: it comes out of the ledger ordered, so that no reader has to think of it.
    ///
    /// # Errors
    /// [`Meaningless::Range`] if it ends before it starts.
    pub fn read(start: u32, end: u32) -> Result<Self, Meaningless> {
        if start <= end {
            Ok(Self { start, end })
        } else {
            Err(Meaningless::Range { start, end })
        }
    }

    /// Whether it is one of these or inside of one.
    #[must_use]
    pub fn is_in(self, around: &[Self]) -> bool {
        let mut around = around.iter();
        around.any(|it| it.start <= self.start && self.end <= it.end)
    }

    /// The bytes this span covers; empty if it lies outside.
    #[must_use]
    pub fn of(self, source: &[u8]) -> &[u8] {
        source
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }

    /// The same range with `usize` bounds.
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The number of bytes that the span covers.
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

/// The amount of structure in a definition, which parity compares.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Archive,
    Store,
    Load,
    Serialize,
    Deserialize,
)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
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

/// The text outside of these pieces, which are in order.
#[must_use]
pub fn text_outside(text: &str, pieces: impl IntoIterator<Item = Range<usize>>) -> String {
    let mut rest = String::new();
    let mut at = 0;
    for piece in pieces {
        rest.push_str(text.get(at..piece.start).unwrap_or_default());
        at = piece.end.max(at);
    }
    rest.push_str(text.get(at..).unwrap_or_default());
    rest
}

/// The ranges of `pieces` in the text that [`joined`] makes of `spans`. Pieces outside of all spans are left out.
#[must_use]
pub fn within_joined(pieces: &[Span], spans: &[Span]) -> Vec<Span> {
    let mut joined = Vec::new();
    let mut offset = 0;
    for span in spans {
        let inside = pieces
            .iter()
            .filter(|piece| span.start <= piece.start && piece.end <= span.end);
        joined.extend(inside.map(|piece| Span {
            start: offset + piece.start - span.start,
            end: offset + piece.end - span.start,
        }));
        offset += span.len() + 1;
    }
    joined
}

/// Hash of the canonical form of a symbol whose definitions are these `spans` of `source`.
#[must_use]
pub fn hash_of_spans(source: &[u8], spans: &[Span]) -> SliceHash {
    match spans {
        [span] => hash_of_slice(span.of(source)),
        spans => {
            let mut hasher = blake3::Hasher::new();
            for span in spans {
                hasher.update(&hash_of_slice(span.of(source)).0);
            }
            SliceHash(*hasher.finalize().as_bytes())
        }
    }
}

/// Hash of the canonical form of one definition's text, which begins at the definition's first byte.
#[must_use]
pub fn hash_of_slice(text: &[u8]) -> SliceHash {
    hash_of(text, TextStart::Definition)
}

/// Hash of the canonical form of a whole file, by which the file entity is compared.
#[must_use]
pub fn hash_of_whole(text: &[u8]) -> SliceHash {
    hash_of(text, TextStart::Line)
}

/// What a text begins with, which decides whether its first line's indentation is part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextStart {
    /// A definition's first byte: its line's own indentation is before the text.
    Definition,
    /// A line.
    Line,
}

/// Hashes the canonical form without building it, in constant memory.
fn hash_of(text: &[u8], beginning: TextStart) -> SliceHash {
    let mut hasher = blake3::Hasher::new();
    // Lines are short; hashing is fast on long pieces.
    let mut waiting = Vec::with_capacity(text.len().min(HASHED_AT_ONCE));
    canonical_pieces(text, beginning, &mut |piece| {
        for piece in piece.chunks(HASHED_AT_ONCE) {
            if waiting.len() + piece.len() > HASHED_AT_ONCE {
                hasher.update(&waiting);
                waiting.clear();
            }
            waiting.extend_from_slice(piece);
        }
    });
    hasher.update(&waiting);
    SliceHash(*hasher.finalize().as_bytes())
}

const HASHED_AT_ONCE: usize = 16 << 10;

/// Hands out the canonical form piece by piece: LF line ends, trailing blanks cut from each line, indentation common to all
/// lines removed, no blank lines at the end, no byte order mark.
///
/// A definition's first line is not counted for the common part unless it is indented, because its other lines keep the
/// file's indentation. Of a whole file all lines count: what its definitions would lose beneath an unindented first line
/// (`def g():`) is their structure.
fn canonical_pieces(text: &[u8], beginning: TextStart, put: &mut dyn FnMut(&[u8])) {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let trimmed = || split_lines(text).map(trim_end);
    let first_counts = beginning == TextStart::Line
        || trimmed()
            .next()
            .is_some_and(|line| indentation_length(line) > 0);
    let common = common_indentation(trimmed().skip(usize::from(!first_counts)));
    let mut line_ends = 0;
    for (index, line) in trimmed().enumerate() {
        line_ends += usize::from(index > 0);
        let cut = if index == 0 && !first_counts {
            0
        } else {
            common.min(indentation_length(line))
        };
        if cut < line.len() {
            // Line ends are put only before a line with text, so that those at the end are dropped.
            (0..line_ends).for_each(|_| put(b"\n"));
            line_ends = 0;
            put(&line[cut..]);
        }
    }
}

fn split_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    core::iter::from_fn(move || {
        let text = rest?;
        let end = memchr::memchr(b'\n', text);
        rest = end.map(|end| &text[end + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

fn trim_end(line: &[u8]) -> &[u8] {
    let end = line
        .iter()
        .rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\r'))
        .map_or(0, |at| at + 1);
    &line[..end]
}

fn indentation_length(line: &[u8]) -> usize {
    line.iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}

/// Length of the longest whitespace that every non-empty line starts with, byte for byte.
fn common_indentation<'t>(lines: impl Iterator<Item = &'t [u8]>) -> usize {
    let mut filled = lines.filter(|line| !line.is_empty());
    let Some(first) = filled.next() else { return 0 };
    let mut common = &first[..indentation_length(first)];
    for line in filled {
        if common.is_empty() {
            break;
        }
        let shared = common
            .iter()
            .zip(line.iter())
            .take_while(|(a, b)| a == b)
            .count();
        common = &common[..shared];
    }
    common.len()
}

/// Whether two texts differ by nothing but their layout: the same characters apart from whitespace, and of lines that begin at the
/// same character, each deeper or shallower than the one before it in both.
#[must_use]
pub fn differ_in_layout_alone(one: &[u8], other: &[u8]) -> bool {
    // Of each line, the visible characters before it and its indentation.
    let lines = |text: &[u8]| {
        let mut before = 0;
        let mut lines = Vec::new();
        for line in text.split(|byte| *byte == b'\n') {
            let count = line
                .iter()
                .filter(|byte| !byte.is_ascii_whitespace())
                .count();
            if count > 0 {
                lines.push((before, line.len() - line.trim_ascii_start().len()));
            }
            before += count;
        }
        lines
    };
    // Most texts differ early: each step of an agent compares all that its conversation shows.
    let is_visible = |byte: &&u8| !byte.is_ascii_whitespace();
    let visible = one.iter().filter(is_visible);
    if visible.ne(other.iter().filter(is_visible)) {
        return false;
    }
    let (one, other) = (lines(one), lines(other));
    let mut shared = one.iter().filter_map(|(before, indent)| {
        let at = other.binary_search_by_key(before, |line| line.0).ok()?;
        Some((*indent, other[at].1))
    });
    let Some(mut last) = shared.next() else {
        return true;
    };
    shared.all(|next| {
        let is_alike = next.0.cmp(&last.0) == next.1.cmp(&last.1);
        last = next;
        is_alike
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &[u8], beginning: TextStart) -> Vec<u8> {
        let mut out = Vec::new();
        canonical_pieces(text, beginning, &mut |piece| out.extend_from_slice(piece));
        out
    }

    fn check_same(a: &str, b: &str) {
        for hash in [hash_of_slice, hash_of_whole] {
            assert_eq!(hash(a.as_bytes()), hash(b.as_bytes()), "{a:?} and {b:?}");
        }
    }

    fn check_different(a: &str, b: &str) {
        for hash in [hash_of_slice, hash_of_whole] {
            assert_ne!(hash(a.as_bytes()), hash(b.as_bytes()), "{a:?} and {b:?}");
        }
    }

    fn check_different_files(a: &str, b: &str) {
        let (a, b) = (a.as_bytes(), b.as_bytes());
        assert_eq!(hash_of_slice(a), hash_of_slice(b));
        assert_ne!(hash_of_whole(a), hash_of_whole(b));
    }

    /// Editors may change line endings, trailing blanks and common indentation.
    #[test]
    fn tolerated_changes() {
        check_same(
            "int f() {\n  return 1;\n}\n",
            "int f() {\r\n  return 1;  \r\n}",
        );
        check_same(
            "int f() {\n  return 1;\n}",
            "    int f() {\n      return 1;\n    }",
        );
        check_same("\u{feff}int x;", "int x;");
    }

    /// A Python function whose body lost its indentation was called the same file.
    #[test]
    fn unindented_first_line() {
        check_different_files("def g():\n    return 1\n", "def g():\nreturn 1\n");
        check_different_files("def g():\n    return 1\n", "def g():\n  return 1\n");
        check_different_files(
            "int f() {\n      return 1;\n    }",
            "int f() {\n  return 1;\n}",
        );
        check_same("\n  a\n    b\n", "\na\n  b\n");
    }

    /// A decision, and a limit: what is inside a literal is cut as all else is (docs/rules.md).
    #[test]
    fn blanks_in_literals() {
        check_same("let t = `x\n  y`;\n", "let t = `x  \n  y`;\n");
        check_same("s = R\"(\nx)\";", "s = R\"(\r\nx)\";");
        check_different_files(
            "let t = `one\n    two\n      three`;\n",
            "let t = `one\ntwo\n  three`;\n",
        );
        check_different(
            "let t = `one\n    two\n  three`;\n",
            "let t = `one\n  two\n  three`;\n",
        );
        check_different(
            "function f() {\n  return `x\n    y`;\n}\n",
            "function f() {\n  return `x\n  y`;\n}\n",
        );
    }

    /// The hashes of these files stand in ledgers of older rules.
    #[test]
    fn whole_file() {
        let check = |text: &str| {
            assert_eq!(
                hash_of_whole(text.as_bytes()),
                hash_of_slice(text.as_bytes()),
                "{text:?}"
            );
        };
        check("");
        check("int f() {\n  return 1;\n}\n");
        check("import os\n\ndef g():\n    return 1\n");
        check("\n    def g():\n        return 1\n");
        check("  a\n    b\n");
    }

    #[test]
    fn other_differences() {
        check_different("int f() {\n  return 1;\n}", "int f() {\n    return 1;\n}\n");
        check_different("int x;", "int  x;");
        check_different("int x;\n\nint y;", "int x;\nint y;");
    }

    #[test]
    fn hashed_in_pieces() {
        let check = |text: &[u8]| {
            for beginning in [TextStart::Definition, TextStart::Line] {
                let at_once = blake3::hash(&canonical(text, beginning));
                assert_eq!(hash_of(text, beginning), SliceHash(*at_once.as_bytes()));
            }
        };
        check(b"");
        check(b"\n\n  \n");
        check(b"\n\n  int x;\n\n\n  int y;\n\n");
        check(&b"  int x;\n".repeat(10_000));
        check(&[b'x'; 3 * HASHED_AT_ONCE + 1]);
        check(&[&[b'\n'; 5 * HASHED_AT_ONCE][..], b"x"].concat());
        let whole = |text| canonical(text, TextStart::Line);
        assert_eq!(whole(b"\n\n  a\n\n   b  \n\n"), b"\n\na\n\n b");
        assert_eq!(whole(b"  \n \n"), b"");
    }

    /// Layout makes no difference, but the depth of indentation does.
    #[test]
    fn layout_and_depth() {
        let check = |one: &str, other: &str, expected: bool| {
            let found = differ_in_layout_alone(one.as_bytes(), other.as_bytes());
            assert_eq!(found, expected, "{one:?} {other:?}");
        };
        let code = "int f(int a, int b) {\n  return a;\n}\n";
        check(
            code,
            "int f(int a,\n      int b)\n{\n\n    return a;\n}\n",
            true,
        );
        check(code, "int f(int a, int b) {\n  return b;\n}\n", false);
        let python = "if a:\n    b()\nc()\n";
        check(python, "if a:\n  b()\n\nc()\n", true);
        check(python, "if a:\n    b()\n    c()\n", false);
        check("", "", true);
    }

    #[test]
    fn span_outside_source() {
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
