//! Recognises comments that replace code left out (engine: "Elision is not deletion").
//!
//! Grammars call this for comment nodes only, so that a string that holds dots is no elision.

use alloc::string::String;
use alloc::vec::Vec;

/// Whether a comment's text, delimiters included, is a placeholder such as `// ... existing code ...`.
#[must_use]
pub fn is_placeholder(comment: &str) -> bool {
    let text = normalised(comment);
    if text.len() > LONGEST_PLACEHOLDER {
        return false;
    }
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() {
        return (3..=DOTS_MAX).contains(&text.matches('.').count())
            && text.chars().all(|c| c == '.' || c == ' ');
    }
    let leads = text.starts_with("...");
    let trails = text.ends_with("...");
    says_left_out(&words, leads || trails)
        || text.starts_with("... ") && names_code_after_dots(&words, trails)
}

/// What placeholders say, as data.
const WORDS: &str = include_str!("elision_words.txt");

/// The entries of a kind.
fn words_of_kind(kind: &str) -> impl Iterator<Item = &'static str> {
    WORDS
        .lines()
        .filter_map(move |line| line.strip_prefix(kind)?.strip_prefix(' '))
}

/// Whether this is an entry of a kind.
fn is_listed(kind: &str, word: &str) -> bool {
    words_of_kind(kind).any(|listed| listed == word)
}

/// A placeholder is a short remark; a longer comment that happens to hold the words is prose.
const LONGEST_PLACEHOLDER: usize = 120;

/// Most dots of a placeholder: more in a row are a separator line.
const DOTS_MAX: usize = 6;

/// Whether a remark that begins with these words says that code was left out, with or without dots.
fn says_left_out(words: &[&str], has_dots: bool) -> bool {
    let starts_with = |phrase: &str| {
        // A cheap test first: few phrases begin with the remark's first word.
        if !phrase.starts_with(words[0]) {
            return None;
        }
        let mut count = 0;
        let same = phrase.split(' ').all(|word| {
            count += 1;
            words.get(count - 1) == Some(&word)
        });
        same.then(|| &words[count..])
    };
    let always = words_of_kind("always")
        .filter_map(starts_with)
        .any(ends_remark);
    let is_rest = matches!(
        words,
        ["rest" | "remainder", ..] | ["the", "rest" | "remainder", ..]
    );
    always
        || names_code(words)
            .is_some_and(|rest| ends_remark(rest) && (has_dots || is_rest || !rest.is_empty()))
}

/// The words after `the rest of the code`, `remaining methods`, `other functions` and the like.
fn names_code<'w>(words: &'w [&'w str]) -> Option<&'w [&'w str]> {
    let mut rest = words;
    let mut selects = false;
    while let [first, more @ ..] = rest {
        match *first {
            "rest" | "remainder" | "remaining" | "other" | "existing" | "previous" | "original"
            | "all" | "everything" => selects = true,
            "the" | "of" | "your" | "this" | "our" | "keep" => {}
            noun if is_listed("noun", noun) => return selects.then_some(more),
            _ => return None,
        }
        rest = more;
    }
    None
}

/// Whether a placeholder may end with these words: they only say that something stays as it is.
fn ends_remark(words: &[&str]) -> bool {
    match words {
        [] => true,
        [.., _] if words.len() > 8 => false,
        [
            "here" | "remain" | "remains" | "stay" | "stays" | "go" | "goes" | "unchanged"
            | "continues" | "omitted" | "elided" | "below" | "above" | "untouched" | "same",
            ..,
        ] => words.len() <= 6,
        ["as", "is" | "before" | "above" | "in" | "it", ..]
        | ["for", "brevity" | "clarity" | "simplicity" | "now", ..]
        | ["the", "same", ..]
        | [
            "from",
            "before" | "previous" | "original" | "above" | "the",
            ..,
        ]
        | [
            "is" | "are",
            "unchanged" | "the" | "same" | "identical" | "omitted" | "kept" | "as" | "here"
            | "untouched",
            ..,
        ]
        | ["not", "shown" | "changed" | "modified" | "repeated", ..]
        | ["without", "change" | "changes" | "modification", ..] => true,
        ["code" | "in" | "of", ..] => words.len() <= 5 && ends_remark(&words[1..]),
        ["this" | "the" | "file" | "function" | "class", rest @ ..] => ends_remark(rest),
        _ => false,
    }
}

/// Whether a short remark after dots names code: `... error handling code`.
fn names_code_after_dots(words: &[&str], trails: bool) -> bool {
    let is_prose = matches!(
        words[0],
        "and" | "but" | "we" | "if" | "so" | "or" | "because" | "then"
    );
    let longest = if trails { 8 } else { 5 };
    (trails || !is_prose)
        && words.len() <= longest
        && words
            .iter()
            .any(|word| is_listed("dots", word) || is_listed("noun", word))
}

/// Lower case, comment delimiters stripped, the ellipsis character spelled out, blanks folded; of more than any placeholder
/// has no more than shows that.
fn normalised(comment: &str) -> String {
    let stripped = comment.trim().trim_matches(|c: char| {
        matches!(
            c,
            '/' | '*'
                | '#'
                | '<'
                | '>'
                | '!'
                | '-'
                | '{'
                | '}'
                | '('
                | '['
                | ']'
                | ';'
                | '%'
                | '⋮'
                | '='
                | '~'
        ) || c.is_whitespace()
    });
    let mut text = String::with_capacity(stripped.len().min(LONGEST_PLACEHOLDER + 8));
    for c in stripped.trim_end_matches(')').chars() {
        match c {
            _ if text.len() > LONGEST_PLACEHOLDER => break,
            '…' | '⋯' => text.push_str("..."),
            c if c.is_whitespace() => {
                if !text.ends_with(' ') {
                    text.push(' ');
                }
            }
            c if c.is_ascii() => text.push(c.to_ascii_lowercase()),
            c => text.extend(c.to_lowercase()),
        }
    }
    if text.is_empty() && comment.contains('⋮') {
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_placeholders() {
        for comment in [
            "// ...",
            "// …",
            "/* ... */",
            "// ... existing code ...",
            "/* ... rest of the function ... */",
            "# rest unchanged",
            "// rest of the code remains the same",
            "// Rest of function unchanged",
            "// unchanged",
            "// ... (same as before)",
            "/* same as before */",
            "// (implementation omitted)",
            "// implementation omitted for brevity",
            "{/* ... */}",
            "<!-- ... existing code ... -->",
            "// ... other functions ...",
            "// existing code here...",
            "// Existing code remains unchanged",
            "// rest of the methods unchanged",
            "// ... rest of the methods",
            "// other methods...",
            "// remaining functions stay the same",
            "// The rest of the file is unchanged.",
            "// same as before, not shown",
            "// No changes here",
            "# ... imports ...",
            "-- ... other columns ...",
            "// [... existing code ...]",
            "// <existing code>",
            "// ... keep the rest of the class as is ...",
            "// Rest of your code here",
            "// your code here",
            "// unchanged code omitted",
            "; ... snip ...",
            "// everything else stays the same",
            "... existing code ...",
            "... (rest of the file)",
            "⋮...",
            "⋮",
        ] {
            assert!(is_placeholder(comment), "{comment}");
        }
    }

    #[test]
    fn ordinary_comments() {
        for comment in [
            "// returns the rest of the list",
            "/* The remaining bytes are copied below, and the code is unchanged since 1998, which is a long story that goes on and on. */",
            "// omits nothing",
            "// wait... what?",
            "/* existing codec */",
            "// TODO",
            "//",
            "/**/",
            "/* unchangeable */",
            "//----------",
            "/* Loop over a, b, c, ... and free each */",
            "/* INSERT INTO %_content VALUES(...) */",
            "/* The table whose content is at r[regBase]... */",
            "// Same as above, should be called without the mutex held",
            "// do some other things ...",
            "// existing code paths rely on this",
            "// Previous code is invalid",
            "// The rest of the code just deals with duplicates, which we in some",
            "// unchanged links we directly manage",
            "# unchanged text, yield it to both sides",
            "# as before all PEP 440 versions.",
            "// Omitted on Windows if only new node.lib is required",
            "// Same as above but takes a mask",
            "// Same as above: just don't write the bytecode.",
            "// other methods",
            "// Remaining fields",
            "// ... and afterwards perform any thread cleanup logic",
            "// ... we only do this though if our sequence has more than one",
            "/* ............................................................ */",
            "// implementation of the above",
            "// Imports",
            "# everything else.",
            "# everything else is not colored",
        ] {
            assert!(!is_placeholder(comment), "{comment}");
        }
    }
}
