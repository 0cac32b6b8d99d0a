//! Here-documents among other text.

use alloc::vec::Vec;
use core::ops::Range;

use super::{HereDocument, here_documents};
use crate::capture::line::{line_at, lines_from};

/// The here-documents that stand among other text, each announced by a command and ended, with where their command starts.
pub(in crate::capture) fn bare_here_documents(
    text: &str,
    part: Range<usize>,
) -> Vec<(usize, HereDocument<'_>)> {
    let mut found = Vec::new();
    let mut endless: Vec<&str> = Vec::new();
    let mut at = part.start;
    while let Some(next) = memchr::memmem::find(&text.as_bytes()[at..part.end], b"<<") {
        let start = text[part.start..at + next]
            .rfind('\n')
            .map_or(part.start, |newline| part.start + newline + 1)
            .max(at);
        let line = line_at(&text[..part.end], start);
        at = line.end;
        let Some(opening) = Opening::of(&text[line.clone()]) else {
            continue;
        };
        if endless.contains(&opening.word) || endless.len() >= ENDLESS_MAX {
            continue;
        }
        let mut behind = lines_from(&text[..part.end], line.end);
        let Some((end, _)) = behind.find(|(_, line)| opening.is_ended_by(line)) else {
            endless.push(opening.word);
            continue;
        };
        let last = line_at(&text[..part.end], end);
        let indent = text[last.clone()].len() - text[last.clone()].trim_start_matches('\t').len();
        let start = start + opening.tag;
        let script = &text[start..end + indent + opening.word.len()];
        let documents = here_documents(script).into_iter();
        found.extend(documents.map(|document| {
            let body = document.body.start + start..document.body.end + start;
            (start, HereDocument { body, ..document })
        }));
        at = last.end;
    }
    found
}

/// Words that end here-documents which have no end, at most: each is looked for once.
const ENDLESS_MAX: usize = 16;

/// A line that announces a here-document among other text.
struct Opening<'t> {
    /// Bytes of a tag in front: `<command>`.
    tag: usize,
    word: &'t str,
}

impl<'t> Opening<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let tag = match line.starts_with('<') {
            true => memchr::memchr(b'>', line.as_bytes())? + 1,
            false => 0,
        };
        let (command, behind) = line[tag..].split_once("<<")?;
        let mut words = command.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        if !words.any(|word| matches!(word, "cat" | "tee")) {
            return None;
        }
        let word = behind.trim_start_matches(['-', ' ', '\'', '"', '\\']);
        let end = word
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(word.len());
        let word = Some(&word[..end]).filter(|word| !word.is_empty())?;
        Some(Self { tag, word })
    }

    /// A closing tag may stand behind the word.
    fn is_ended_by(&self, line: &str) -> bool {
        let line = line.trim_start_matches('\t').trim_end();
        line.strip_prefix(self.word)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("</"))
    }
}
