//! The similarity of two pieces of code, for matching code with known code (spec §11). It never decides alone.

use alloc::collections::{BTreeMap, BTreeSet};

/// The share of the base's distinct words that `new` holds, too, in percent.
#[must_use]
pub(crate) fn words_shared_percent(base: &[u8], new: &[u8]) -> u8 {
    let base: BTreeSet<&[u8]> = words_of(base).collect();
    let new: BTreeSet<&[u8]> = words_of(new).collect();
    share_percent(base.intersection(&new).count(), base.len())
}

/// The tokens that two definitions have in common, each as often as both have it, in percent of their mean count (Dice's
/// coefficient). Occurrences of `names`, the definitions' own, don't count.
#[must_use]
pub(crate) fn tokens_alike_percent(one: &[u8], other: &[u8], names: [&str; 2]) -> u8 {
    let (counts, total) = count_tokens(one, names);
    let (other_counts, other_total) = count_tokens(other, names);
    let shared: usize = counts
        .iter()
        .filter_map(|(token, count)| Some(*count.min(other_counts.get(token)?)))
        .sum();
    share_percent(2 * shared, total + other_total)
}

fn share_percent(part: usize, whole: usize) -> u8 {
    match whole {
        0 => 0,
        whole => u8::try_from(part * 100 / whole).unwrap_or(100),
    }
}

fn words_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !is_word(*byte))
        .filter(|word| !word.is_empty())
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The count of each word and each other single character, and the total.
fn count_tokens<'t>(text: &'t [u8], names: [&str; 2]) -> (BTreeMap<&'t [u8], usize>, usize) {
    let mut counts = BTreeMap::new();
    let mut total = 0;
    let mut at = 0;
    while at < text.len() {
        let len = match text[at..].iter().position(|byte| !is_word(*byte)) {
            Some(0) => 1,
            Some(len) => len,
            None => text.len() - at,
        };
        let token = &text[at..at + len];
        at += len;
        let is_name = names.iter().any(|name| name.as_bytes() == token);
        if !token[0].is_ascii_whitespace() && !is_name {
            *counts.entry(token).or_default() += 1;
            total += 1;
        }
    }
    (counts, total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renamed_definition() {
        let old = b"int sum(int a, int b) {\n    return a + b;\n}";
        let new = b"int total(int a, int b)\n{ return a + b; }";
        assert_eq!(tokens_alike_percent(old, new, ["sum", "total"]), 100);
        assert!(tokens_alike_percent(old, b"void log(const char *line);", ["sum", "log"]) < 50);
    }

    /// Repeated words count each time, and an empty text is like nothing.
    #[test]
    fn counts_matter() {
        assert_eq!(tokens_alike_percent(b"a a a", b"a", ["", ""]), 50);
        assert_eq!(tokens_alike_percent(b"", b"", ["", ""]), 0);
        assert_eq!(words_shared_percent(b"a b c d", b"d c x"), 50);
        assert_eq!(words_shared_percent(b"", b"a"), 0);
    }
}
