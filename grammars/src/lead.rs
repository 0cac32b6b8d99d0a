//! The start of a definition's text: at the documentation comments directly above it.

use tslp_core::capture::path_hint;
use tslp_core::path::RelPath;
use tslp_core::slice::Span;

/// A comment the walk has passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comment {
    /// Its bytes.
    pub(crate) span: Span,
    /// Whether it replaces left-out code.
    pub(crate) placeholder: bool,
}

/// The first byte of a definition that begins at `start` in the parser's view: the blanked words before it and the unbroken run
/// of comments above are part of it.
///
/// A comment documents the definition after it if it begins its line, is separated only by whitespace with at most one line
/// end, and is no placeholder. One above all of them that names a source file heads what comes first in that file, be it this or not.
pub(crate) fn definition_start(
    source: &[u8],
    comments: &[Comment],
    prefixes: &[Span],
    start: u32,
) -> u32 {
    let mut start = start;
    let mut without_heading = start;
    let mut prefixes = &prefixes[..prefixes.partition_point(|span| span.start < start)];
    let mut comments = &comments[..comments.partition_point(|comment| comment.span.start < start)];
    loop {
        if let [rest @ .., prefix] = prefixes
            && is_blank(between(source, prefix.end, start))
        {
            start = prefix.start;
            without_heading = start;
            prefixes = rest;
        } else if let [rest @ .., comment] = comments
            && !comment.placeholder
            && joins(between(source, comment.span.end, start))
            && (begins_line(source, comment.span.start)
                || ends_in_prefix(prefixes, source, comment.span.start))
        {
            without_heading = match names_a_source_file(comment.span.of(source)) {
                true => start,
                false => comment.span.start,
            };
            start = comment.span.start;
            comments = rest;
        } else {
            return without_heading;
        }
    }
}

fn names_a_source_file(comment: &[u8]) -> bool {
    let text = core::str::from_utf8(comment).unwrap_or_default();
    let path = path_hint::file_comment(text).map(RelPath::from_normalised);
    path.is_some_and(|path| crate::language_of(&path).is_some())
}

/// Whether a blanked word is directly before `at`, so that `at` is inside a declaration.
fn ends_in_prefix(prefixes: &[Span], source: &[u8], at: u32) -> bool {
    prefixes
        .last()
        .is_some_and(|prefix| prefix.end <= at && is_blank(between(source, prefix.end, at)))
}

fn between(source: &[u8], start: u32, end: u32) -> &[u8] {
    // Anything but whitespace, so that nothing is joined over a range that isn't one.
    source.get(start as usize..end as usize).unwrap_or(b"?")
}

fn is_blank(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_whitespace)
}

/// Whether `gap` is whitespace with at most one line end. A line comment may include its line end.
fn joins(gap: &[u8]) -> bool {
    is_blank(gap) && gap.iter().filter(|byte| **byte == b'\n').count() <= 1
}

fn begins_line(source: &[u8], at: u32) -> bool {
    source[..at as usize]
        .iter()
        .rev()
        .take_while(|byte| **byte != b'\n')
        .all(u8::is_ascii_whitespace)
}
