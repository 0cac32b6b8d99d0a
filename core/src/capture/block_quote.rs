//! Block quotes of Markdown that hold a fence: `> ` in front of each line.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::line::{line_at, lines_from};

/// Lines of a text that are a quote.
pub(super) struct Quote<'t> {
    text: &'t str,
    /// Where they stand.
    pub(super) lines: Range<usize>,
    /// What they say.
    pub(super) said: String,
    /// Where each starts in what is said, and in the text.
    starts: Vec<(usize, usize)>,
}

/// The quotes in a part of a text that hold a fence, in order.
pub(super) fn quotes(text: &str, part: Range<usize>) -> Vec<Quote<'_>> {
    let mut quotes = Vec::new();
    let holds = |fence: &[u8]| memchr::memmem::find(text[part.clone()].as_bytes(), fence).is_some();
    if !holds(b"```") && !holds(b"~~~") {
        return quotes;
    }
    let mut at = part.start;
    while at < part.end {
        let quote = Quote::at(text, at..part.end);
        let end = quote.lines.end;
        if quote.said.contains("```") || quote.said.contains("~~~") {
            quotes.push(quote);
        }
        at = end.max(line_at(text, at).end);
    }
    quotes
}

impl<'t> Quote<'t> {
    fn at(text: &'t str, part: Range<usize>) -> Self {
        let mut quote = Self {
            text,
            lines: part.start..part.start,
            said: String::new(),
            starts: Vec::new(),
        };
        for (at, line) in lines_from(&text[..part.end], part.start) {
            let Some(said) = quoted(line) else {
                break;
            };
            quote.starts.push((quote.said.len(), at));
            quote.said.push_str(said);
            quote.lines.end = at + line.len();
        }
        quote
    }

    /// The lines of the text that hold a part of what is said, and what stands in front of the first.
    pub(super) fn place(&self, said: &Range<usize>) -> (Range<usize>, &'t str) {
        let first = self.starts.partition_point(|(at, _)| *at <= said.start) - 1;
        let behind = self.starts.partition_point(|(at, _)| *at < said.end);
        let start = self.starts[first].1;
        let end = self
            .starts
            .get(behind)
            .map_or(self.lines.end, |(_, at)| *at);
        let line = &self.text[line_at(self.text, start)];
        let front = quoted(line).map_or("", |said| &line[..line.len() - said.len()]);
        (start..end, front)
    }
}

/// What a line of a quote says.
fn quoted(line: &str) -> Option<&str> {
    let unindented = line.trim_start_matches(' ');
    if line.len() - unindented.len() > 3 {
        return None;
    }
    let said = unindented.strip_prefix('>')?;
    Some(said.strip_prefix(' ').unwrap_or(said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_that_hold_a_fence() {
        let text = "He said:\n> x\n\n>```c\n> int a;\n>\n  > ```\nwhy?\n> ```\n";
        let found = quotes(text, 0..text.len());
        let said: Vec<&str> = found.iter().map(|quote| quote.said.as_str()).collect();
        assert_eq!(said, ["```c\nint a;\n\n```\n", "```\n"]);
        let (lines, front) = found[0].place(&(0..found[0].said.len()));
        assert_eq!(&text[lines], ">```c\n> int a;\n>\n  > ```\n");
        assert_eq!(front, ">");
        let (lines, front) = found[0].place(&(5..6));
        assert_eq!((&text[lines], front), ("> int a;\n", "> "));
        assert!(quotes("```c\n> x\n    > ```\n", 0..18).is_empty());
    }
}
