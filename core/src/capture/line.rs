//! Lines of a text by their position, and the line before a block.

use core::ops::Range;

/// The line that starts at `at`, its end included.
pub(super) fn line_at(text: &str, at: usize) -> Range<usize> {
    let end = memchr::memchr(b'\n', &text.as_bytes()[at..])
        .map_or(text.len(), |newline| at + newline + 1);
    at..end
}

/// All lines from `at` on, each with its start and including its line end.
pub(super) fn lines_from(text: &str, at: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut start = at;
    text[at..].split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line)
    })
}

/// A line without its end.
pub(super) fn without_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// A text without the line end that it starts with.
pub(super) fn without_first_end(text: &str) -> &str {
    let text = text
        .strip_prefix('\r')
        .filter(|rest| rest.starts_with('\n'))
        .unwrap_or(text);
    text.strip_prefix('\n').unwrap_or(text)
}

/// The position after the line's end, if only whitespace follows on it.
pub(super) fn over_blanks(text: &str, at: usize) -> usize {
    let line = line_at(text, at);
    if text[line.clone()].trim().is_empty() {
        line.end
    } else {
        at
    }
}

/// The last line with text before a block, and how many blank lines follow it.
#[derive(Clone, Default)]
pub(super) struct LineBefore {
    line: Range<usize>,
    blanks: u32,
}

impl LineBefore {
    /// Takes note of a line that isn't in a block. Of our own template's lines the first names the entity.
    pub(super) fn advance(&mut self, text: &str, line: &Range<usize>) {
        let written = text[line.clone()].trim();
        if ["Artifact: ", "Source: "]
            .iter()
            .any(|label| written.starts_with(label))
        {
            return;
        }
        if written.is_empty() {
            self.blanks += 1;
        } else {
            *self = Self {
                line: line.clone(),
                blanks: 0,
            };
        }
    }

    /// The line, and how many blank lines follow it.
    pub(super) fn read<'t>(&self, text: &'t str) -> (&'t str, u32) {
        (&text[self.line.clone()], self.blanks)
    }
}
