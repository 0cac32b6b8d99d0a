//! Quotes, comments and tokens of single lines.

use super::data::LanguageData;
use crate::node::offset;

/// The bytes of a line outside of quotes, with their positions.
pub(super) fn marks(line: &[u8]) -> Vec<(usize, u8)> {
    let mut marks = Vec::new();
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        let closes = matches!(byte, b'"' | b'\'' | b'`')
            .then(|| closing_quote(line, at))
            .flatten();
        match closes {
            Some(end) => at = end + 1,
            None => {
                marks.push((at, *byte));
                at += 1;
            }
        }
    }
    marks
}

/// The quote that closes the one at a position, on the same line.
pub(super) fn closing_quote(line: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    while let Some(byte) = line.get(at) {
        match byte {
            b'\\' => at += 2,
            byte if *byte == line[open] => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// The position and the length of the mark that begins a definition's body: outside of quotes and brackets, after whitespace
/// or a bracket.
pub(super) fn body_mark(bodies: &[String], text: &[u8]) -> Option<(usize, usize)> {
    let mut depth = 0_i32;
    let mut before = b' ';
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let starts = lines.scan(0, |start, line| {
        *start += line.len();
        Some((*start - line.len(), line))
    });
    for (start, line) in starts {
        for (at, byte) in marks(line) {
            let begins = |mark: &&String| line[at..].starts_with(mark.as_bytes());
            let mark = bodies.iter().find(begins);
            let is_apart = before.is_ascii_whitespace() || before == b')';
            match (mark, byte) {
                (Some(mark), _) if depth == 0 && is_apart => return Some((start + at, mark.len())),
                (_, b'(' | b'[') => depth += 1,
                (_, b')' | b']') => depth -= 1,
                _ => {}
            }
            before = byte;
        }
    }
    None
}

/// The comment that follows the code of a line.
pub(super) fn comment_after_code(data: &LanguageData, line: &[u8]) -> Option<(usize, usize)> {
    let marks = marks(line);
    let is_apart = |at: usize| at > 0 && line[at - 1].is_ascii_whitespace();
    let (start, _) = marks.into_iter().find(|(at, _)| {
        let begins = |mark: &String| line[*at..].starts_with(mark.as_bytes());
        is_apart(*at) && data.comments.iter().any(begins)
    })?;
    let block = data.block_comment.as_ref();
    let block = block.filter(|(open, _)| line[start..].starts_with(open.as_bytes()));
    let end = match block {
        Some((_, close)) => {
            let rest = &line[start..];
            let at = rest
                .windows(close.len())
                .position(|part| part == close.as_bytes())?;
            start + at + close.len()
        }
        None => line.len(),
    };
    Some((start, end))
}

pub(super) fn tokens(text: &[u8]) -> u32 {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let mut before = b' ';
    let begins = |byte: &&u8| {
        let (last, byte) = (std::mem::replace(&mut before, **byte), **byte);
        let goes_on = is_word(byte) && is_word(last);
        !byte.is_ascii_whitespace() && !goes_on
    };
    offset(text.iter().filter(begins).count())
}
