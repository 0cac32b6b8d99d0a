//! Where comments and literals begin and end.

use super::compiled::{Language, SpanRule};

/// How deep literals nest in the code that literals hold; deeper code is taken for text.
const INTERPOLATIONS_MAX: u32 = 24;

/// Longest beginning of a comment or literal.
const OPEN_BYTES_MAX: usize = 160;

/// A beginning that was found.
#[derive(Debug)]
pub(super) struct Open {
    /// Its bytes.
    pub(super) length: usize,
    /// What its group `fence` matches.
    pub(super) fence: Vec<u8>,
}

/// An end that was found.
#[derive(Debug)]
pub(super) struct End {
    pub(super) at: usize,
    /// Whether it is the end that was looked for, not that of the line or of the text.
    pub(super) closed: bool,
}

/// Whether a comment or literal begins at `at`.
pub(super) fn open(rule: &SpanRule, source: &[u8], at: usize) -> Option<Open> {
    let rest = &source[at..];
    let open = match &rule.open_pattern {
        Some(pattern) => {
            let near = &rest[..rest.len().min(OPEN_BYTES_MAX)];
            let found = pattern.captures(near)?;
            let fence = found.name("fence").or_else(|| found.name("quoted"));
            Open {
                length: found.get(0)?.end(),
                fence: fence.map_or_else(Vec::new, |fence| fence.as_bytes().to_vec()),
            }
        }
        None => rest.starts_with(&rule.open).then(|| Open {
            length: rule.open.len(),
            fence: Vec::new(),
        })?,
    };
    let next = rest.get(open.length).copied();
    let kept_out = rule
        .data
        .not_before
        .is_some_and(|mark| next == u8::try_from(mark).ok());
    (open.length > 0 && !kept_out).then_some(open)
}

/// Where what begins at `start` ends.
pub(super) fn end(
    language: &Language,
    rule: &SpanRule,
    open: &Open,
    source: &[u8],
    start: usize,
) -> End {
    Finder { language, source }.end(rule, open, start, 0)
}

struct Finder<'a> {
    language: &'a Language,
    source: &'a [u8],
}

impl Finder<'_> {
    fn end(&self, rule: &SpanRule, open: &Open, start: usize, depth: u32) -> End {
        let mut at = start + open.length;
        let Some(close) = &rule.data.close else {
            return End { at, closed: true };
        };
        let close = match close.contains("{fence}") {
            true => close
                .replace("{fence}", &String::from_utf8_lossy(&open.fence))
                .into_bytes(),
            false => close.clone().into_bytes(),
        };
        if close == b"\n" {
            return self.line(rule, at);
        }
        let mut levels = 1;
        while let Some(byte) = self.source.get(at) {
            let rest = &self.source[at..];
            if let Some((opening, mark, closing)) = &rule.interpolation
                && depth < INTERPOLATIONS_MAX
                && rest.starts_with(opening)
            {
                if opening.len() == 1 && rest.get(1) == opening.first() {
                    // Doubled, it is a plain character.
                    at += 2;
                    continue;
                }
                at = self.code(at + opening.len(), (*mark, *closing), depth + 1);
            } else if Some(*byte) == rule.escape {
                at += 2;
            } else if rest.starts_with(&close) {
                at += close.len();
                if rule.data.doubled && self.source[at..].starts_with(&close) {
                    at += close.len();
                    continue;
                }
                levels -= 1;
                if levels == 0 {
                    return End { at, closed: true };
                }
            } else if rule.data.nested && rest.starts_with(&rule.open) {
                at += rule.open.len();
                levels += 1;
            } else if *byte == b'\n' && !rule.data.multiline && !rule.data.comment {
                break;
            } else {
                at += 1;
            }
        }
        End {
            at: at.min(self.source.len()),
            closed: false,
        }
    }

    /// Up to the line end; a line comment may go on after a backslash where the language says so.
    fn line(&self, rule: &SpanRule, start: usize) -> End {
        let mut at = start;
        while let Some(byte) = self.source.get(at) {
            if *byte == b'\n' {
                break;
            }
            at += if Some(*byte) == rule.escape { 2 } else { 1 };
        }
        let mut end = at.min(self.source.len());
        if end > start && self.source[end - 1] == b'\r' {
            end -= 1;
        }
        End {
            at: end,
            closed: true,
        }
    }

    /// The end of code inside of a literal: past the bracket that closes it.
    fn code(&self, start: usize, (mark, closing): (u8, u8), depth: u32) -> usize {
        let mut at = start;
        let mut levels = 1;
        let mut without_regex = 0;
        while let Some(byte) = self.source.get(at).copied() {
            if byte == closing {
                levels -= 1;
                if levels == 0 {
                    return at + 1;
                }
            } else if byte == mark {
                levels += 1;
            } else if let Some(end) = self.span(at, depth) {
                at = end;
                continue;
            } else if byte == b'/'
                && self.language.regex_literals
                && at >= without_regex
                && self.operand_expected(start, at)
            {
                match regex_end(self.source, at) {
                    Ok(end) => {
                        at = end;
                        continue;
                    }
                    Err(looked_until) => without_regex = looked_until,
                }
            }
            at += 1;
        }
        self.source.len()
    }

    /// Whether a value may begin at `at` in code that begins at `start`.
    fn operand_expected(&self, start: usize, at: usize) -> bool {
        let before = &self.source[start.max(at.saturating_sub(OPEN_BYTES_MAX))..at];
        before.trim_ascii_end().last().is_none_or(|byte| {
            !self.language.is_word_byte[usize::from(*byte)] && !b")]}\"'`".contains(byte)
        })
    }

    fn span(&self, at: usize, depth: u32) -> Option<usize> {
        let candidates = &self.language.openings[usize::from(self.source[at])];
        candidates.iter().find_map(|index| {
            let rule = &self.language.spans[*index];
            let data = &rule.data;
            let after_blank = at == 0 || self.source[at - 1].is_ascii_whitespace();
            if data.line_start || data.heredoc || data.after_blank && !after_blank {
                return None;
            }
            let open = open(rule, self.source, at)?;
            Some(self.end(rule, &open, at, depth).at)
        })
    }
}

/// The end of a regular expression that begins with the slash at `start`; an error says where its line ends without one.
pub(super) fn regex_end(source: &[u8], start: usize) -> Result<usize, usize> {
    let mut in_class = false;
    let mut at = start + 1;
    while let Some(byte) = source.get(at) {
        match byte {
            b'\n' => break,
            b'\\' => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => {
                let flags = source[at + 1..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_alphabetic())
                    .count();
                return Ok(at + 1 + flags);
            }
            _ => {}
        }
        at += 1;
    }
    Err(at)
}
