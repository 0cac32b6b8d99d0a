//! Records: statements that are kept for the project, as they are written (docs/memory.md).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::delimiter;
use crate::reason::Reason;
use crate::redact;
use crate::stored::stored_words;

/// Longest key, in bytes.
const KEY_BYTES_MAX: usize = 64;

/// Longest statement, in bytes.
const STATEMENT_BYTES_MAX: usize = 240;

/// Longest quotation, in bytes: a whole file of the usual size.
const QUOTATION_BYTES_MAX: usize = 64 << 10;

/// Most records that another one is derived from.
const INPUTS_MAX: usize = 8;

const HOUR_MS: u64 = 60 * 60 * 1000;

/// Longest life of a hypothesis.
const LIFE_MS_MAX: u64 = 90 * 24 * HOUR_MS;

/// Marks a fact or a decision as an assumption: it is a hypothesis then.
pub const ASSUMPTION: &str = "[ASSUMPTION]";

/// How long an assumption lives, unless it says so.
const ASSUMPTION_LIFE_MS: u64 = 14 * 24 * HOUR_MS;

/// Under which an answer that is imported holds records alone: what a model says through MCP.
pub const MCP_SOURCE: &str = "mcp";

stored_words! {
    /// What a record states.
    RecordKind, "kind of record" {
        /// What is so.
        Fact = "fact",
        /// How the user wants things done, whatever the work is.
        Preference = "preference",
        /// What was decided.
        Decision = "decision",
        /// What may be so, for a time.
        Hypothesis = "hypothesis",
        /// What follows from other records.
        Derived = "derived",
    }
}

stored_words! {
    /// Whether a record counts.
    RecordStanding, "standing of a record" {
        /// It does.
        Kept = "kept",
        /// It waits for the user's word.
        Proposed = "proposed",
        /// It does no longer.
        Ended = "ended",
    }
}

/// A record as it is written: `KIND #key: statement`, then where its proof is: `` `quotation` [path:line] ``, of what is derived
/// `from #key #key`, and of a hypothesis `ttl 3d`.
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
    /// The keys of the records that it is derived from.
    pub inputs: Vec<String>,
    /// How long it counts, in milliseconds; `None` is without end.
    pub life_ms: Option<u64>,
}

/// Reads a note.
///
/// # Errors
/// [`Reason::RecordNotUsable`] if it isn't written so, is too long, quotes a delimiter or holds a credential;
/// [`Reason::RecordWithoutEnd`] for a hypothesis without its time to live; [`Reason::RecordWithoutInputs`] for what is derived from nothing.
pub fn parse_note(text: &str) -> Result<Note, Reason> {
    let note = split_note(text).ok_or(Reason::RecordNotUsable)?;
    let is_plain = |text: &str| !text.contains(char::is_control);
    let is_usable = (1..=STATEMENT_BYTES_MAX).contains(&note.statement.len())
        && is_plain(&note.statement)
        && note.citation.as_ref().is_none_or(|(path, quotation)| {
            let is_code = |c: char| !c.is_control() || matches!(c, '\n' | '\t' | '\r');
            is_plain(path)
                && (1..=QUOTATION_BYTES_MAX).contains(&quotation.len())
                && quotation.chars().all(is_code)
        })
        && !delimiter::quoted_in(text)
        && redact::marker_in(text).is_none()
        && redact::without_credentials(text) == text;
    match note.kind {
        _ if !is_usable => Err(Reason::RecordNotUsable),
        RecordKind::Hypothesis if note.life_ms.is_none() => Err(Reason::RecordWithoutEnd),
        RecordKind::Derived if note.inputs.is_empty() => Err(Reason::RecordWithoutInputs),
        _ => Ok(note),
    }
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

/// The notes in a fence of records: each begins with a line `WORD #key:`, the first with the fence, and what follows belongs to it;
/// `evidence:` before a quotation is left out.
#[must_use]
pub fn notes_in(fence: &str) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    // How many backticks a quotation is in that goes on.
    let mut quoting = 0;
    for line in fence.lines() {
        let written = line.trim();
        let written = written.strip_prefix("- ").unwrap_or(written);
        let named = written.split_once(':').map(|(named, _)| named);
        let named = named.and_then(|named| named.split_once(char::is_whitespace));
        let begins = named.is_some_and(|(_, key)| parse_key(key).is_some());
        match notes.last_mut() {
            // A quotation keeps its lines.
            Some(note) if quoting > 0 => note.extend(["\n", line]),
            Some(note) if !begins => {
                let said = written.strip_prefix("evidence:");
                note.extend([" ", said.unwrap_or(written).trim()]);
            }
            _ if written.is_empty() => continue,
            _ => notes.push(written.to_string()),
        }
        quoting = quoting_after(line, quoting);
    }
    for note in &mut notes {
        note.truncate(note.trim_end().len());
    }
    notes
}

/// In how many backticks the text stands that follows a line, which itself begins in `opened`; 0 is none.
fn quoting_after(line: &str, mut opened: usize) -> usize {
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let after = rest[at..].trim_start_matches('`');
        let run = rest.len() - at - after.len();
        opened = match opened {
            0 => run,
            _ if opened == run => 0,
            _ => opened,
        };
        rest = after;
    }
    opened
}

/// The words of a text by which records are named: letters, digits and `_`, at least three, in lower case, and whether each is a name as
/// code has them. Words that are in every sentence aren't among them.
pub fn telling_words(text: &str) -> impl Iterator<Item = (String, bool)> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| word.len() > 2).filter_map(|word| {
        let is_name = word.contains(|c: char| c == '_' || c.is_ascii_digit())
            || word.chars().skip(1).any(char::is_uppercase) && word.contains(char::is_lowercase);
        let lower = word.to_lowercase();
        COMMON_WORDS
            .binary_search(&&*lower)
            .is_err()
            .then_some((lower, is_name))
    })
}

/// Words that say nothing about a statement, sorted.
const COMMON_WORDS: [&str; 48] = [
    "about", "all", "also", "and", "any", "are", "because", "been", "but", "can", "code", "could",
    "does", "each", "file", "for", "from", "has", "have", "how", "into", "its", "make", "must",
    "never", "not", "now", "one", "only", "please", "should", "that", "the", "then", "there",
    "they", "this", "use", "used", "was", "what", "when", "where", "which", "why", "will", "with",
    "you",
];

/// Whether two of a text's telling words are in the statement of a key, or one that is a name. `holds` says whether a word is one of the text's.
#[must_use]
pub fn names_statement(holds: impl Fn(&str) -> bool, key: &str, statement: &str) -> bool {
    let own = telling_words(key).chain(telling_words(statement));
    let shared: BTreeSet<(String, bool)> = own.filter(|(word, _)| holds(word)).collect();
    shared.len() > 1 || shared.iter().any(|(_, is_name)| *is_name)
}

fn split_note(text: &str) -> Option<Note> {
    let (kind, rest) = text.trim().split_once(char::is_whitespace)?;
    let mut kind = RecordKind::of_word(&kind.to_ascii_lowercase())?;
    let (key, rest) = rest.trim_start().split_once(':')?;
    let (mut rest, mut life_ms, mut inputs) = (rest.trim(), None, Vec::new());
    let unmarked = rest.replacen(ASSUMPTION, "", 1);
    let is_assumed =
        unmarked.len() < rest.len() && matches!(kind, RecordKind::Fact | RecordKind::Decision);
    if is_assumed {
        (kind, rest) = (RecordKind::Hypothesis, unmarked.trim());
    }
    if kind == RecordKind::Hypothesis
        && let Some((before, life)) = rest.rsplit_once(" ttl ")
    {
        (rest, life_ms) = (before.trim_end(), Some(parse_life(life)?));
    }
    if kind == RecordKind::Derived
        && let Some((before, from)) = rest.rsplit_once(" from #")
    {
        let from = format!("#{from}");
        let keys = from.split([' ', ',']).filter(|key| !key.is_empty());
        inputs = keys.map(parse_key).collect::<Option<Vec<String>>>()?;
        rest = before.trim_end();
    }
    let (statement, citation) = split_citation(rest);
    (inputs.len() <= INPUTS_MAX).then_some(Note {
        kind,
        key: parse_key(key.trim_end())?,
        statement: statement.to_string(),
        citation: citation.map(|(path, quotation)| (path.into(), quotation.trim().into())),
        inputs,
        life_ms: life_ms.or(is_assumed.then_some(ASSUMPTION_LIFE_MS)),
    })
}

/// A time to live: `12h`, `3d` or `2w`, at most ninety days.
fn parse_life(written: &str) -> Option<u64> {
    let written = written.trim();
    let (count, unit) = written.split_at_checked(written.len().checked_sub(1)?)?;
    let unit_ms = match unit {
        "h" => HOUR_MS,
        "d" => 24 * HOUR_MS,
        "w" => 7 * 24 * HOUR_MS,
        _ => return None,
    };
    let life = count.parse::<u64>().ok()?.checked_mul(unit_ms)?;
    (1..=LIFE_MS_MAX).contains(&life).then_some(life)
}

/// The statement, and of a citation behind it the path and the quotation, which stands between as many backticks in front of it as after it.
fn split_citation(text: &str) -> (&str, Option<(&str, &str)>) {
    let cited = || {
        let (before, place) = text.strip_suffix(']')?.rsplit_once('[')?;
        let before = before.trim_end();
        let quoted = before.trim_end_matches('`');
        let mark = &before[quoted.len()..];
        let (statement, quotation) = quoted.rsplit_once(mark).filter(|_| !mark.is_empty())?;
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
    fn note_read() {
        let note = parse_note(
            "Fact #ring.full: It refuses when full. `if (full) return -1;` [src/ring.c:12]",
        );
        let expected = Note {
            kind: RecordKind::Fact,
            key: "ring.full".into(),
            statement: "It refuses when full.".into(),
            citation: Some(("src/ring.c".into(), "if (full) return -1;".into())),
            inputs: Vec::new(),
            life_ms: None,
        };
        assert_eq!(note, Ok(expected));
        let plain = parse_note("preference #style: Use `snake_case` [everywhere] always").unwrap();
        assert_eq!(plain.statement, "Use `snake_case` [everywhere] always");
        assert_eq!(plain.citation, None);
        let code = "a `b`\n\tc".repeat(7000);
        let lines = parse_note(&format!("fact #a: b ``{code}`` [src/a.ts:1-9]")).unwrap();
        assert_eq!(lines.citation, Some(("src/a.ts".into(), code)));
        let guess = parse_note("hypothesis #dns: It is DNS. `x` [a.c] ttl 3d").unwrap();
        assert_eq!(
            (guess.life_ms, guess.citation.is_some()),
            (Some(3 * 24 * HOUR_MS), true)
        );
        let assumed = parse_note("decision #dns: It is DNS. [ASSUMPTION]").unwrap();
        assert_eq!(assumed.kind, RecordKind::Hypothesis);
        assert_eq!(assumed.statement, "It is DNS.");
        assert_eq!(assumed.life_ms, Some(ASSUMPTION_LIFE_MS));
        let assumed = parse_note("fact #dns: [ASSUMPTION] It is `x` [a.c] ttl 3d").unwrap();
        assert_eq!(
            (&*assumed.statement, assumed.life_ms),
            ("It is", Some(3 * 24 * HOUR_MS))
        );
        let derived = parse_note("derived #slow: It allocates. from #ring.full, #queue").unwrap();
        assert_eq!(derived.statement, "It allocates.");
        assert_eq!(derived.inputs, ["ring.full", "queue"]);
    }

    #[test]
    fn notes_in_fence() {
        assert_eq!(
            notes_in("fact #a: It is. `` `x`\n`y` `` [a.ts]\nfact #b: So."),
            ["fact #a: It is. `` `x`\n`y` `` [a.ts]", "fact #b: So."]
        );
        let fence = "rumour #c: It is.\n- fact #a: It is\nso.\nevidence: `int a;\n  int b;` [a.c:1]\n\n  decision #b: Yes.\n";
        assert_eq!(
            notes_in(fence),
            [
                "rumour #c: It is.",
                "fact #a: It is so. `int a;\n  int b;` [a.c:1]",
                "decision #b: Yes."
            ]
        );
    }

    #[test]
    fn refused_notes() {
        for (text, reason) in [
            ("hypothesis #a: b", Reason::RecordWithoutEnd),
            ("hypothesis #a: b ttl 0d", Reason::RecordNotUsable),
            ("hypothesis #a: b ttl 91d", Reason::RecordNotUsable),
            (
                "hypothesis #a: b ttl 18446744073709551615w",
                Reason::RecordNotUsable,
            ),
            ("derived #a: b", Reason::RecordWithoutInputs),
            ("derived #a: b from #B", Reason::RecordNotUsable),
            (
                "derived #a: b from #1 #2 #3 #4 #5 #6 #7 #8 #9",
                Reason::RecordNotUsable,
            ),
        ] {
            assert_eq!(parse_note(text), Err(reason), "{text}");
        }
    }

    #[test]
    fn malformed_notes() {
        let long = "x".repeat(241);
        let quotation = "x".repeat((64 << 10) + 1);
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
            "fact #a: b `\u{1}` [src/a.c]",
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
