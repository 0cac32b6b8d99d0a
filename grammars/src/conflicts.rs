//! Conflicts that a merge has left: nobody knows yet what stands between their marks.
//!
//! Both sides of a conflict parse, or neither does, or a mark joins the lines around it. So one side is read, and whatever reaches
//! into a conflict counts as damaged.

use std::ops::Range;

use tslp_core::extract::{ExtractError, Extraction};
use tslp_core::slice::Span;

use crate::node::offset;
use crate::readable;

/// A conflict, or a mark that was left over.
struct Conflict {
    /// From the line of its first mark to the end of the line of its last.
    whole: Range<usize>,
    /// Its first side.
    read: Range<usize>,
}

/// Reads a text with `parse`; if it has errors and conflicts, with one side of each.
///
/// # Errors
/// What `parse` returns.
pub(crate) fn read(
    source: &[u8],
    parse: impl Fn(&[u8]) -> Result<Extraction, ExtractError>,
) -> Result<Extraction, ExtractError> {
    let read = parse(source)?;
    let conflicts = if read.clean {
        Vec::new()
    } else {
        conflicts_in(source)
    };
    if conflicts.is_empty() {
        return Ok(read);
    }
    let mut text = source.to_vec();
    for Conflict { whole, read } in &conflicts {
        readable::blank(&mut text[whole.start..read.start]);
        readable::blank(&mut text[read.end..whole.end]);
    }
    let mut read = parse(&text)?;
    for definition in &mut read.definitions {
        let (start, end) = (definition.span.start as usize, definition.span.end as usize);
        let next = conflicts.partition_point(|it| it.whole.end <= start);
        definition.damaged |= conflicts.get(next).is_some_and(|it| it.whole.start < end);
    }
    read.unread.extend(conflicts.iter().map(|it| Span {
        start: offset(it.whole.start),
        end: offset(it.whole.end),
    }));
    read.unread.sort_unstable();
    read.errors += offset(conflicts.len());
    read.clean = false;
    Ok(read)
}

/// The conflicts of a text, in order, and marks that were left over. A line of `=` alone may underline a heading, so it counts only
/// between two others.
fn conflicts_in(source: &[u8]) -> Vec<Conflict> {
    let mut conflicts: Vec<Conflict> = Vec::new();
    // Where the first side of the open conflict ends, once that is known.
    let (mut at, mut open) = (0, None::<Option<usize>>);
    for line in source.split_inclusive(|byte| *byte == b'\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let is_mark = |mark: &[u8; 7]| {
            let rest = line.strip_prefix(mark);
            rest.is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
        };
        let (opens, closes) = (is_mark(b"<<<<<<<"), is_mark(b">>>>>>>"));
        if let Some(side @ None) = &mut open
            && (is_mark(b"=======") || is_mark(b"|||||||"))
        {
            *side = Some(start);
        } else if closes
            && let Some(side) = open.take()
            && let Some(last) = conflicts.last_mut()
        {
            last.whole.end = end;
            last.read.end = side.unwrap_or(start);
        } else if opens || closes {
            open = opens.then_some(None);
            conflicts.push(Conflict {
                whole: start..end,
                read: end..end,
            });
        }
    }
    conflicts
}
