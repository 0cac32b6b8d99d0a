//! Where constructs end that only a closing tag ends. Each tag's next place is kept, so that openings without an end
//! don't search the rest of a message again and again.

use alloc::vec::Vec;

use memchr::memmem;

/// The closing tags of one text.
#[derive(Default)]
pub(super) struct Ends {
    known: Vec<Known>,
}

/// The first closing tag at or after a position.
struct Known {
    tag: &'static str,
    place: Place,
    from: usize,
    found: Option<usize>,
}

/// What else may stand on a closing tag's line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing.
    Alone,
    /// Something before it or something after it, not both, unless another tag is next to it: a tag quoted by a line of
    /// code is none.
    Edge,
}

impl Ends {
    /// Where the next such tag starts.
    pub(super) fn next(
        &mut self,
        text: &str,
        tag: &'static str,
        place: Place,
        from: usize,
    ) -> Option<usize> {
        let known = self
            .known
            .iter()
            .position(|known| known.tag == tag && known.place == place);
        if let Some(index) = known {
            let known = &self.known[index];
            if known.from <= from && known.found.is_none_or(|found| found >= from) {
                return known.found;
            }
            self.known.swap_remove(index);
        }
        let found = find(text, tag, place, from);
        self.known.push(Known {
            tag,
            place,
            from,
            found,
        });
        found
    }
}

/// Where the next such tag starts; for texts that are looked through once.
pub(super) fn find(text: &str, tag: &str, place: Place, from: usize) -> Option<usize> {
    memmem::find_iter(&text.as_bytes()[from..], tag.as_bytes())
        .map(|at| from + at)
        .find(|at| stands(text, *at, tag.len(), place))
}

/// Whether a tag stands at the edge of its line. Blanks beside it are followed no further than any line has them.
fn stands(text: &str, at: usize, length: usize, place: Place) -> bool {
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
        Place::Alone => starts && ends,
        Place::Edge => {
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
        let mut ends = Ends::default();
        for _ in 0..2 {
            assert_eq!(
                ends.next(text, "</a>", Place::Alone, from),
                alone,
                "{text:?}"
            );
            assert_eq!(ends.next(text, "</a>", Place::Edge, from), edge, "{text:?}");
        }
    }

    #[test]
    fn tags_count_at_the_edge_of_a_line() {
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
