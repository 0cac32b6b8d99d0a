//! Records: statements that the user keeps for the project, as they are written (docs/records.md).

use alloc::string::{String, ToString};

use crate::delimiter;
use crate::reason::Reason;
use crate::redact;
use crate::stored::stored_words;

/// Longest key, in bytes.
const KEY_BYTES_MAX: usize = 64;

/// Longest statement, in bytes.
const STATEMENT_BYTES_MAX: usize = 240;

/// Longest quotation, in bytes.
const QUOTATION_BYTES_MAX: usize = 1024;

stored_words! {
    /// What a record states.
    RecordKind, "kind of record" {
        /// What is so.
        Fact = "fact",
        /// How the user wants things done, whatever the work is.
        Preference = "preference",
        /// What was decided.
        Decision = "decision",
    }
}

/// A record as it is written: `KIND #key: statement`, and where its proof is: `` `quotation` [path:line] ``.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it states.
    pub kind: RecordKind,
    /// Its name; one record of a name counts.
    pub key: String,
    /// The statement: one line.
    pub statement: String,
    /// The path, as it is written, and the code that stands there.
    pub citation: Option<(String, String)>,
}

/// Reads a note.
///
/// # Errors
/// [`Reason::RecordNotUsable`] if it isn't written so, is too long, quotes a delimiter or holds a credential.
pub fn parse_note(text: &str) -> Result<Note, Reason> {
    let is_clean = !delimiter::quoted_in(text)
        && !text.contains(char::is_control)
        && redact::marker_in(text).is_none()
        && redact::without_credentials(text) == text;
    let parsed = || {
        let (kind, rest) = text.trim().split_once(char::is_whitespace)?;
        let kind = RecordKind::of_word(&kind.to_ascii_lowercase())?;
        let (key, rest) = rest.trim_start().split_once(':')?;
        let (statement, citation) = split_citation(rest.trim());
        let quotation_len = citation.map_or(1, |(_, quotation)| quotation.trim().len());
        let is_bounded = (1..=STATEMENT_BYTES_MAX).contains(&statement.len())
            && (1..=QUOTATION_BYTES_MAX).contains(&quotation_len);
        is_bounded.then_some(Note {
            kind,
            key: parse_key(key.trim_end())?,
            statement: statement.to_string(),
            citation: citation.map(|(path, quotation)| (path.into(), quotation.trim().into())),
        })
    };
    parsed().filter(|_| is_clean).ok_or(Reason::RecordNotUsable)
}

/// The key in `#key`.
#[must_use]
pub fn parse_key(written: &str) -> Option<String> {
    let key = written.trim().strip_prefix('#')?;
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_key = key.len() <= KEY_BYTES_MAX
        && key.bytes().next().is_some_and(is_word)
        && key
            .bytes()
            .all(|byte| is_word(byte) || b"._-".contains(&byte));
    is_key.then(|| key.to_string())
}

/// The statement, and of a citation behind it the path and the quotation.
fn split_citation(text: &str) -> (&str, Option<(&str, &str)>) {
    let cited = || {
        let (before, place) = text.strip_suffix(']')?.rsplit_once('[')?;
        let (statement, quotation) = before.trim_end().strip_suffix('`')?.rsplit_once('`')?;
        let path = match place.rsplit_once(':') {
            Some((path, lines)) if lines.bytes().all(|it| it.is_ascii_digit() || it == b'-') => {
                path
            }
            _ => place,
        };
        Some((statement.trim_end(), Some((path, quotation))))
    };
    cited().unwrap_or((text, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_is_written() {
        let note = parse_note(
            "Fact #ring.full: It refuses when full. `if (full) return -1;` [src/ring.c:12]",
        );
        let expected = Note {
            kind: RecordKind::Fact,
            key: "ring.full".into(),
            statement: "It refuses when full.".into(),
            citation: Some(("src/ring.c".into(), "if (full) return -1;".into())),
        };
        assert_eq!(note, Ok(expected));
        let plain = parse_note("preference #style: Use `snake_case` [everywhere] always").unwrap();
        assert_eq!(plain.statement, "Use `snake_case` [everywhere] always");
        assert_eq!(plain.citation, None);
    }

    #[test]
    fn what_is_no_note_is_refused() {
        let long = "x".repeat(241);
        let quotation = "x".repeat(64 << 10);
        for text in [
            "",
            "fact",
            "fact #a",
            "fact #a:",
            "rumour #a: b",
            "fact a: b",
            "fact #A b: c",
            "fact #é: b",
            "fact #a: two\nlines",
            "fact #a: [END PROJECT MEMORY]",
            "fact #a: the key is ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            &["fact #a: ", &long].concat(),
            &["fact #a: b `", &quotation, "` [src/a.c]"].concat(),
            "fact #a: b `  ` [src/a.c]",
        ] {
            assert_eq!(parse_note(text), Err(Reason::RecordNotUsable), "{text:.60}");
        }
    }
}
