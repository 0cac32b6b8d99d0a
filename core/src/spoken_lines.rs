//! The lines of a text as others may repeat them: a passage is recognised by its pairs of neighbouring lines, whatever is put
//! before, after or around it.

use alloc::vec::Vec;
use core::ops::Range;

use crate::capture::json_text;
use crate::directive::is_directive;
use crate::hash::quick_hash;

/// A line of a text, or a boundary: an end of the text, or a line that is a tag alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpokenLine {
    /// Its text without indentation, tags around it and the line's end. Empty for a boundary.
    pub range: Range<usize>,
    hash: u64,
}

impl SpokenLine {
    const fn boundary(at: usize) -> Self {
        Self {
            range: at..at,
            hash: 0,
        }
    }

    /// Whether it is a boundary.
    #[must_use]
    pub const fn is_boundary(&self) -> bool {
        self.range.start == self.range.end
    }

    /// Whether both say the same.
    #[must_use]
    pub const fn says(&self, other: &Self) -> bool {
        self.hash == other.hash
    }

    /// The hash of this line by itself, which is that of no pair.
    #[must_use]
    pub const fn alone(&self) -> u64 {
        !self.hash.rotate_left(41)
    }

    /// The hash of this line and the one after it.
    #[must_use]
    pub const fn pair_with(&self, next: &Self) -> u64 {
        // Not symmetric, so that lines in another order aren't the same passage.
        self.hash
            .rotate_left(23)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ next.hash
    }
}

/// The lines of a text that aren't blank, between boundaries; of several boundaries in a row only one.
#[must_use]
pub fn spoken_lines(text: &str) -> Vec<SpokenLine> {
    let mut lines = Vec::from([SpokenLine::boundary(0)]);
    let mut add = |line: SpokenLine| {
        let repeats = line.is_boundary() && lines.last().is_some_and(SpokenLine::is_boundary);
        if !repeats {
            lines.push(line);
        }
    };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = start;
        start += line.len();
        // Before the line's end goes: of an empty line only its number is left, and a tab.
        let said = without_gutter(line.trim_start()).trim();
        if said.is_empty() {
            continue;
        }
        let (inside, opens, closes) = without_tags(said);
        let from = at + (inside.as_ptr() as usize - line.as_ptr() as usize);
        if opens || inside.is_empty() {
            add(SpokenLine::boundary(from));
        }
        if !inside.is_empty() {
            add(SpokenLine {
                range: from..from + inside.len(),
                hash: quick_hash(inside.as_bytes()),
            });
        }
        if closes {
            add(SpokenLine::boundary(from + inside.len()));
        }
    }
    add(SpokenLine::boundary(text.len()));
    lines
}

/// The hash of each line of a text, without what a tool has put around it.
pub fn line_hashes(text: &str) -> impl Iterator<Item = u64> {
    let lines = spoken_lines(text).into_iter();
    let lines = lines.filter(|line| !line.is_boundary());
    lines.map(|line| line.hash)
}

/// The [hash](line_hashes) of a text's first line; 0 if it has none.
#[must_use]
pub fn first_line_hash(text: &str) -> u64 {
    line_hashes(text).next().unwrap_or_default()
}

/// The hashes of all pairs in a text, and of each directive [alone](SpokenLine::alone); in JSON those of each of its strings.
#[must_use]
pub fn line_pairs(text: &str) -> Vec<u64> {
    let mut pairs = Vec::new();
    let mut directives = Vec::new();
    let mut add = |string: &str| {
        let lines = spoken_lines(string);
        pairs.extend(lines.windows(2).map(|pair| pair[0].pair_with(&pair[1])));
        let alone = lines
            .iter()
            .filter(|line| is_directive(&string[line.range.clone()]));
        directives.extend(alone.map(SpokenLine::alone));
    };
    json_text::change_strings(text, &mut |string| {
        add(string);
        // Clients repair the JSON of a call that isn't quite.
        if string.starts_with(['{', '[']) && string.contains("\\n") {
            let read = string.replace("\\n", "\n").replace("\\\"", "\"");
            let pieces = read.split(['"', '\'']);
            add(&read);
            pieces.for_each(&mut add);
        }
        None
    });
    pairs.append(&mut directives);
    pairs
}

/// A line without the number, or the place, that a tool has put in front of it: `12→`, `12 |`, `src/a.c:12:`.
fn without_gutter(line: &str) -> &str {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let is_path = |word: &str| word.contains(['.', '/']) && !word.contains(char::is_whitespace);
    let numbered = match line.split_once(':') {
        Some((path, rest)) if is_path(path) && digits(rest) > 0 => rest,
        _ => line,
    };
    let count = digits(numbered);
    let after = numbered[count..].trim_start_matches(' ');
    let inside = after.strip_prefix(['\t', '→', '|', ':']);
    inside.filter(|_| count > 0).unwrap_or(line)
}

/// A line without the tag that it begins with and the closing one that it ends with, and whether it has them.
fn without_tags(line: &str) -> (&str, bool, bool) {
    let opened = line
        .strip_prefix('<')
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/'))
        .and_then(|rest| rest.split_once('>'));
    let (inside, opens) = match opened {
        Some((_, rest)) => (rest.trim_start(), true),
        None => (line, false),
    };
    let closed = inside
        .strip_suffix('>')
        .and_then(|rest| rest.rsplit_once("</"))
        .filter(|(_, name)| !name.contains(char::is_whitespace));
    match closed {
        Some((rest, _)) => (rest.trim_end(), opens, true),
        None => (inside, opens, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<&str> {
        let lines = spoken_lines(text).into_iter();
        lines.map(|line| &text[line.range]).collect()
    }

    #[test]
    fn tags_are_boundaries() {
        assert_eq!(lines(""), [""]);
        assert_eq!(lines(" a\r\n\n\tb\n"), ["", "a", "b", ""]);
        assert_eq!(
            lines("<task id=\"1\">\nfix it\n</task>\n<x>a</x>\nif a < b\nVec<T>"),
            ["", "fix it", "", "a", "", "if a < b", "Vec<T>", ""]
        );
    }

    /// What a tool prints before each line is not part of it.
    #[test]
    fn prefixes_ignored() {
        let said = line_pairs("Allow it.\n\nThen stop.");
        for shown in [
            "     1\tAllow it.\n     2\t\n     3\tThen stop.\n",
            "1→Allow it.\n2→\n3→Then stop.",
            "notes.md:1:Allow it.\nnotes.md:3:Then stop.",
            " 1 | Allow it.\n 3 | Then stop.",
        ] {
            let shown = line_pairs(shown);
            assert!(said.iter().all(|pair| shown.contains(pair)));
        }
    }

    /// A passage has the same line pairs in a call's arguments and in a message.
    #[test]
    fn call_and_message() {
        let said = line_pairs(r#"{"prompt":"Fix it.\n  Then stop.","x":"y"}"#);
        let message = line_pairs("<task>\nFix it.\nThen stop.\n</task>");
        assert!(message.iter().all(|pair| said.contains(pair)));
        assert!(
            !line_pairs("Then stop.\nFix it.")
                .iter()
                .any(|pair| said.contains(pair))
        );
    }
}
