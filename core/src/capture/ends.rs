//! The search for closing tags. The next position of each is cached, so that many openings without an end don't each search
//! the rest of a message.

use alloc::format;
use alloc::vec::Vec;

use memchr::memmem;

/// The cached positions of closing tags in one text.
#[derive(Default)]
pub(super) struct ClosingTags {
    known: Vec<TagSearch>,
}

/// The first closing tag at or after a position.
struct TagSearch {
    name: &'static str,
    place: TagPosition,
    from: usize,
    found: Option<usize>,
}

/// Where on its line a closing tag counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TagPosition {
    /// Alone on its line.
    Alone,
    /// At the start or the end of its line, or next to another tag: a tag in the middle of a line of code is quoted by it.
    Edge,
}

impl ClosingTags {
    /// The start of the next closing tag of this name at or after `from`.
    pub(super) fn next(
        &mut self,
        text: &str,
        name: &'static str,
        place: TagPosition,
        from: usize,
    ) -> Option<usize> {
        let known = self
            .known
            .iter()
            .position(|known| known.name == name && known.place == place);
        if let Some(index) = known {
            let known = &self.known[index];
            // Valid for later starts up to the tag found; with none found, for all later ones.
            if known.from <= from && known.found.is_none_or(|found| found >= from) {
                return known.found;
            }
            self.known.swap_remove(index);
        }
        let found = find_tag(text, &format!("</{name}>"), place, from);
        self.known.push(TagSearch {
            name,
            place,
            from,
            found,
        });
        found
    }
}

/// The start of the next such tag at or after `from`, without a cache, for texts that are searched once.
pub(super) fn find_tag(text: &str, tag: &str, place: TagPosition, from: usize) -> Option<usize> {
    memmem::find_iter(&text.as_bytes()[from..], tag.as_bytes())
        .map(|at| from + at)
        .find(|at| is_at_line_edge(text, *at, tag.len(), place))
}

/// Whether a tag is at its line's start or end but for whitespace, which is followed no further than `BLANKS_MAX` bytes.
fn is_at_line_edge(text: &str, at: usize, length: usize, place: TagPosition) -> bool {
    const BLANKS_MAX: usize = 256;
    let is_blank = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'\r');
    let bytes = text.as_bytes();
    let before = bytes[..at]
        .iter()
        .rev()
        .take(BLANKS_MAX)
        .find(|byte| !is_blank(byte));
    let after = bytes[at + length..]
        .iter()
        .take(BLANKS_MAX)
        .find(|byte| !is_blank(byte));
    let starts = matches!(before, None | Some(b'\n'));
    let ends = matches!(after, None | Some(b'\n'));
    match place {
        TagPosition::Alone => starts && ends,
        TagPosition::Edge => {
            let beside_tag = before == Some(&b'>') || after == Some(&b'<');
            starts || ends || beside_tag && !is_quote(before) && !is_quote(after)
        }
    }
}

fn is_quote(beside: Option<&u8>) -> bool {
    matches!(beside, Some(b'"' | b'\'' | b'`' | b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, from: usize, alone: Option<usize>, edge: Option<usize>) {
        let mut ends = ClosingTags::default();
        for _ in 0..2 {
            assert_eq!(
                ends.next(text, "a", TagPosition::Alone, from),
                alone,
                "{text:?}"
            );
            assert_eq!(
                ends.next(text, "a", TagPosition::Edge, from),
                edge,
                "{text:?}"
            );
        }
    }

    #[test]
    fn edge_of_line() {
        check("x\n </a>\n", 0, Some(3), Some(3));
        check("x</a>\n", 0, None, Some(1));
        check("</a> x\n", 0, None, Some(0));
        check("<b></a> x\n", 0, None, Some(3));
        check("\"<b></a>\";\n", 0, None, None);
        check("\"</a>\";\n</a>", 0, Some(8), Some(8));
        check("</a>\n</a>", 1, Some(5), Some(5));
        check("", 0, None, None);
    }
}
