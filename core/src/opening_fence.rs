//! The line that opens a fence: backticks or tildes of any length, by CommonMark's rule.

/// An opening fence.
pub(crate) struct OpeningFence<'t> {
    /// What it is made of.
    mark: char,
    /// How many of them.
    length: usize,
    /// The blanks in front of it, in bytes.
    pub(crate) indent: usize,
    /// What follows on its line.
    pub(crate) info: &'t str,
}

impl<'t> OpeningFence<'t> {
    /// The fence that a line opens, if it does.
    pub(crate) fn opened_by(line: &'t str) -> Option<Self> {
        let unindented = line.trim_start_matches([' ', '\t']);
        let mark = unindented
            .chars()
            .next()
            .filter(|c| matches!(c, '`' | '~'))?;
        let length = unindented.chars().take_while(|c| *c == mark).count();
        let info = unindented[length..].trim();
        let inline_code = mark == '`' && info.contains('`');
        (length >= 3 && !inline_code).then_some(Self {
            mark,
            length,
            indent: line.len() - unindented.len(),
            info,
        })
    }

    /// Whether a line closes it.
    pub(crate) fn is_closed_by(&self, line: &str) -> bool {
        let word = line.trim();
        word.len() >= self.length && word.chars().all(|c| c == self.mark)
    }
}
