//! Recognises the text of a comment that stands for code left out (engine: "Elision is not deletion").
//!
//! Grammars call this for comment nodes only, so that a string that holds dots is no elision.

use alloc::string::String;

/// Whether a comment's text, delimiters included, is a placeholder such as `// ... existing code ...`.
#[must_use]
pub fn is_placeholder(comment: &str) -> bool {
    let text = normalised(comment);
    if text.len() > LONGEST_PLACEHOLDER {
        return false;
    }
    let has_dots = text.contains("...");
    let bare = text.trim_matches(|c: char| c == '.' || c.is_whitespace());
    if bare.is_empty() {
        return has_dots;
    }
    if ALWAYS.iter().any(|phrase| {
        bare == *phrase
            || bare.starts_with(phrase) && bare[phrase.len()..].starts_with([' ', ':', ';', ')'])
    }) {
        return true;
    }
    text.starts_with("... ")
        && WITH_DOTS.iter().any(|word| {
            bare.split(|c: char| !c.is_alphanumeric())
                .any(|part| part == *word)
        })
}

/// A placeholder is a short remark; a longer comment that happens to hold the words is prose.
const LONGEST_PLACEHOLDER: usize = 120;

/// Remarks that are placeholders with or without dots.
const ALWAYS: &[&str] = &[
    "existing code",
    "rest of the code",
    "rest of code",
    "rest of the file",
    "rest of file",
    "rest of the function",
    "rest of function",
    "rest of the implementation",
    "rest of implementation",
    "rest of the class",
    "rest of your code",
    "rest of the existing code",
    "the rest of the code",
    "the rest of the file",
    "the rest of the function",
    "the rest of the implementation",
    "the rest remains",
    "the rest is unchanged",
    "rest unchanged",
    "rest is unchanged",
    "rest remains",
    "rest stays",
    "rest as before",
    "remaining code",
    "remaining implementation",
    "remainder of the code",
    "remainder of the file",
    "remainder of the function",
    "unchanged",
    "code unchanged",
    "remains unchanged",
    "same as before",
    "same as above",
    "as before",
    "omitted",
    "code omitted",
    "implementation omitted",
    "omitted for brevity",
    "implementation remains",
    "implementation unchanged",
    "previous code",
    "previous implementation remains",
    "previous logic",
    "original code",
    "original code continues",
    "original implementation",
    "rest of the original code",
    "rest of original code",
    "the rest of your",
    "rest of your function",
    "rest of your file",
    "remaining functions",
    "remaining methods",
    "existing logic",
    "existing functions",
    "existing methods",
    "existing checks",
    "existing implementation",
    "keep all existing",
    "keep existing",
    "keep the rest",
    "same as original",
    "same as the original",
    "same code as above",
    "same code as before",
    "same implementation as before",
    "same as in the original",
    "no changes below",
    "no changes above",
    "no changes here",
    "no change below",
    "other functions remain",
    "other methods remain",
    "other functions unchanged",
    "other functions stay",
    "all other functions",
    "other code",
    "your code here",
    "your existing code",
    "keep existing code",
    "keep the existing code",
    "snip",
];

/// Words that make a comment with leading dots a placeholder.
const WITH_DOTS: &[&str] = &[
    "existing",
    "rest",
    "unchanged",
    "remaining",
    "remainder",
    "omitted",
    "same",
    "previous",
    "other",
    "others",
    "code",
    "implementation",
    "before",
    "more",
    "body",
    "function",
    "functions",
    "methods",
    "logic",
];

/// Lower case, comment delimiters stripped, the ellipsis character spelled out, blanks folded.
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
    let mut text = String::with_capacity(stripped.len());
    for c in stripped.trim_end_matches(')').chars() {
        match c {
            '…' | '⋯' => text.push_str("..."),
            c if c.is_whitespace() => {
                if !text.ends_with(' ') {
                    text.push(' ');
                }
            }
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
    fn placeholders_of_the_wild_are_found() {
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
            "⋮...",
        ] {
            assert!(is_placeholder(comment), "{comment}");
        }
    }

    #[test]
    fn ordinary_comments_are_not() {
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
        ] {
            assert!(!is_placeholder(comment), "{comment}");
        }
    }
}
