//! The fixed delimiters of injected text: written on the way out, recognised and stripped on the way in.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// Opens hydrated code (spec §8.2).
pub const STATE_OPEN: &str = "[CURRENT STATE: AUTHORITATIVE]";
/// Closes hydrated code (spec §8.2).
pub const STATE_CLOSE: &str = "[END CURRENT STATE]";
/// Opens a notice (spec §8.3).
pub const NOTICE_OPEN: &str = "[STATE NOTICE]";
/// Closes a notice (spec §8.3).
pub const NOTICE_CLOSE: &str = "[END NOTICE]";
/// Opens the Recent Context window (spec §8.4).
pub const RECENT_OPEN: &str = "[RECENT CONTEXT: READ-ONLY]";
/// Closes the Recent Context window (spec §8.4).
pub const RECENT_CLOSE: &str = "[END RECENT CONTEXT]";

const PAIRS: [(&str, &str); 3] = [
    (STATE_OPEN, STATE_CLOSE),
    (NOTICE_OPEN, NOTICE_CLOSE),
    (RECENT_OPEN, RECENT_CLOSE),
];

/// Removes every block that the proxy injected: from a line that is an opening delimiter to the next line that closes
/// it. A delimiter without its partner is left for [`defused`].
#[must_use]
pub fn strip_blocks(text: &str) -> Cow<'_, str> {
    let cuts = injected_blocks(text);
    if cuts.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for cut in cuts {
        kept.push_str(&text[from..cut.start]);
        from = cut.end;
    }
    kept.push_str(&text[from..]);
    Cow::Owned(kept)
}

/// Whether the text holds any delimiter anywhere, in any case and spacing.
#[must_use]
pub fn quoted_in(text: &str) -> bool {
    brackets(text).any(|at| delimiter_at(text, at).is_some())
}

/// The text with the brackets of every delimiter replaced by round ones, so that it can't open or close a block.
#[must_use]
pub fn defused(text: &str) -> Cow<'_, str> {
    let found: Vec<Range<usize>> = brackets(text)
        .filter_map(|at| Some(at..delimiter_at(text, at)?))
        .collect();
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for range in found {
        out.push_str(&text[from..range.start]);
        out.push('(');
        out.push_str(&text[range.start + 1..range.end - 1]);
        out.push(')');
        from = range.end;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Byte ranges of whole injected blocks, each with the line end behind it. One pass, linear.
fn injected_blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    if brackets(text).next().is_none() {
        return blocks;
    }
    let mut open: Option<(usize, &str)> = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let word = line.trim();
        match open {
            None => {
                if let Some((_, close)) = PAIRS.iter().find(|(open, _)| word == *open) {
                    open = Some((offset, close));
                }
            }
            Some((start, close)) if word == close => {
                blocks.push(start..offset + line.len());
                open = None;
            }
            Some(_) => {}
        }
        offset += line.len();
    }
    blocks
}

fn brackets(text: &str) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(b'[', text.as_bytes())
}

/// The end of the delimiter that starts at `at`, if one does; letters' case and runs of blanks don't matter.
fn delimiter_at(text: &str, at: usize) -> Option<usize> {
    PAIRS
        .iter()
        .flat_map(|(open, close)| [*open, *close])
        .find_map(|delimiter| {
            match_loosely(&text.as_bytes()[at..], delimiter.as_bytes()).map(|len| at + len)
        })
}

/// How many bytes of `text` match `pattern`, blanks and case aside.
fn match_loosely(text: &[u8], pattern: &[u8]) -> Option<usize> {
    const SPREAD_BYTES_MAX: usize = 96;
    let mut at = 0;
    for expected in pattern.iter().filter(|byte| **byte != b' ') {
        while matches!(text.get(at), Some(b' ' | b'\t')) && at < SPREAD_BYTES_MAX {
            at += 1;
        }
        if !text.get(at)?.eq_ignore_ascii_case(expected) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_blocks_are_stripped_and_the_rest_stays() {
        let text = "before\n[CURRENT STATE: AUTHORITATIVE]\nEntity: a\n[END CURRENT STATE]\nafter";
        assert_eq!(strip_blocks(text), "before\nafter");
        assert_eq!(
            strip_blocks("[STATE NOTICE]\nx\n[END NOTICE]\n[STATE NOTICE]\ny\n[END NOTICE]\nz"),
            "z"
        );
        assert_eq!(
            strip_blocks("[STATE NOTICE]\nnever closed"),
            "[STATE NOTICE]\nnever closed"
        );
        assert!(matches!(strip_blocks("int a[3];"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_lone_delimiter_is_defused_wherever_and_however_it_is_written() {
        assert_eq!(
            defused("x [END CURRENT STATE] y"),
            "x (END CURRENT STATE) y"
        );
        assert_eq!(defused("[ end  Current state ]"), "( end  Current state )");
        assert_eq!(defused("[END CURRENT STATUS]"), "[END CURRENT STATUS]");
        assert!(quoted_in("\"[state notice]\""));
        assert!(!quoted_in("a[0] = b[1];"));
    }
}
