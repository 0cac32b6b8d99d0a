//! Lists of words and phrases that are kept as text files next to the code: one entry a line, `#` begins a remark.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// The entries of a list, in its order.
pub fn entries(list: &str) -> impl Iterator<Item = &str> {
    let lines = list.lines().map(str::trim_end);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Words by what they mean: a list whose entries are a kind, a colon and its words.
pub struct Vocabulary(Vec<(&'static str, BTreeSet<&'static str>)>);

impl Vocabulary {
    /// Reads a list.
    #[must_use]
    pub fn read(list: &'static str) -> Self {
        let kinds = entries(list).filter_map(|line| line.split_once(':'));
        Self(
            kinds
                .map(|(kind, words)| (kind, words.split_whitespace().collect()))
                .collect(),
        )
    }

    /// Whether a word is of this kind. The list is lower-cased.
    #[must_use]
    pub fn has_word(&self, kind: &str, word: &str) -> bool {
        let mut kinds = self.0.iter();
        kinds.any(|(name, words)| *name == kind && words.contains(word))
    }

    /// Whether a text holds a word of this kind, as texts of languages without spaces do.
    #[must_use]
    pub fn is_held(&self, kind: &str, text: &str) -> bool {
        let mut kinds = self.0.iter().filter(|(name, _)| *name == kind);
        !text.is_ascii() && kinds.any(|(_, words)| words.iter().any(|word| text.contains(word)))
    }
}
