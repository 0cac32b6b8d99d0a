//! The lines that open and close a fence: backticks or tildes of any length, by CommonMark's rules of length and indentation.

/// Most blanks before a fence; with more of them a line is code that quotes one.
const INDENT_MAX: usize = 3;

/// Reads a text's lines outside of fences: the column where the open list item's text begins, from which its fences are indented.
#[derive(Clone, Copy, Default)]
pub struct OutsideFences(usize);

/// An opening fence.
pub struct OpeningFence<'t> {
    /// What it is made of.
    marks: &'t str,
    /// The last column where a fence that closes it may begin.
    column_max: usize,
    /// The blanks in front of it, in bytes.
    pub indent: usize,
    /// What follows on its line.
    pub info: &'t str,
}

impl OutsideFences {
    /// Goes on over a line: the fence that it opens, if it does.
    pub fn read<'t>(&mut self, line: &'t str) -> Option<OpeningFence<'t>> {
        let (column, text) = without_blanks(line);
        let first = text.chars().next().filter(|c| !c.is_whitespace())?;
        self.0 = self.0.min(column);
        let column_max = self.0 + INDENT_MAX;
        if let Some(item) = item_text(text).filter(|_| column <= column_max) {
            self.0 = column + text.len() - item.len();
        }
        let (marks, info) = text.split_at(text.len() - text.trim_start_matches(first).len());
        let is_fence = first == '~' || first == '`' && !info.contains('`');
        (is_fence && marks.len() >= 3 && column <= column_max).then_some(OpeningFence {
            marks,
            column_max,
            indent: line.len() - text.len(),
            info: info.trim(),
        })
    }
}

impl OpeningFence<'_> {
    /// Whether a line closes it.
    #[must_use]
    pub fn is_closed_by(&self, line: &str) -> bool {
        let (column, text) = without_blanks(line);
        let is_long = text.starts_with(self.marks) && column <= self.column_max;
        is_long
            && text
                .trim_end()
                .trim_start_matches(&self.marks[..1])
                .is_empty()
    }
}

/// The lines of a text that are neither in a fence nor one.
pub fn lines_outside(text: &str) -> impl Iterator<Item = &str> {
    let (mut outside, mut open) = (OutsideFences::default(), None::<OpeningFence<'_>>);
    text.lines().filter(move |line| {
        let was_open = open.is_some();
        open = match open.take() {
            Some(fence) => Some(fence).filter(|fence| !fence.is_closed_by(line)),
            None => outside.read(line),
        };
        !was_open && open.is_none()
    })
}

/// The column of a line's text, a tab being as wide as four blanks, and the text.
fn without_blanks(line: &str) -> (usize, &str) {
    let text = line.trim_start_matches([' ', '\t']);
    let blanks = line[..line.len() - text.len()].bytes();
    (blanks.map(|it| if it == b'\t' { 4 } else { 1 }).sum(), text)
}

/// The text of a list item that begins here, with `-`, `*`, `+`, `1.` or `1)`.
fn item_text(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match rest.len() == text.len() {
        true => rest.strip_prefix(['-', '*', '+'])?,
        false => rest.strip_prefix(['.', ')'])?,
    };
    rest.starts_with([' ', '\t']).then(|| rest.trim_start())
}
