//! The statements of a function's body, and the replacing of places in a text.

use std::ops::Range;

use crate::function::condition;
use crate::lexer::{Token, TokenKind, tokens};

/// A body cut at the ends of its own statements, those inside of braces and of `#if` left whole. The pieces follow on
/// each other from the opening brace to after the last statement; each begins with the whitespace and comments before it.
pub(crate) fn pieces(text: &str, open: usize, close: usize) -> Vec<Range<usize>> {
    let inside = tokens(&text[open + 1..close]);
    let at = |token: &Token| (open + 1 + token.start)..(open + 1 + token.end);
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut start = open + 1;
    let mut depth = 0_i32;
    let mut conditions = 0_i32;
    for (index, token) in inside.iter().enumerate() {
        match token.kind {
            TokenKind::Directive => {
                conditions += condition(&text[open + 1..close], token).0;
                continue;
            }
            TokenKind::Mark(b'{' | b'(') => depth += 1,
            TokenKind::Mark(b'}' | b')') => depth -= 1,
            _ => {}
        }
        let next = inside[index + 1..].iter().find(|token| token.is_code());
        let next = next.map_or("", |token| &text[at(token)]);
        let goes_on = token.is(b'}') && matches!(next, "else" | "while" | ";" | ")" | ",");
        let ends = token.is(b'}') || token.is(b';') && next != "else";
        if depth == 0 && conditions == 0 && ends && !goes_on {
            let place = at(token);
            let end = line_rest(text, place.end).min(close);
            pieces.push(start..end);
            start = end;
        }
    }
    pieces
}

/// Behind the comment or blanks that end a line, if nothing else does.
fn line_rest(text: &str, end: usize) -> usize {
    let line = text[end..].find('\n').map_or(text.len(), |at| end + at);
    let rest = text[end..line].trim();
    let is_remark = rest.starts_with("//")
        || rest.starts_with("/*") && rest.find("*/") == rest.len().checked_sub(2);
    if rest.is_empty() || is_remark {
        line
    } else {
        end
    }
}

/// A piece without the blanks and comments around it.
pub(crate) fn core(text: &str, piece: &Range<usize>) -> Range<usize> {
    let inside = tokens(&text[piece.clone()]);
    let mut code = inside
        .iter()
        .filter(|token| token.kind != TokenKind::Comment);
    let first = code.next();
    let last = code.next_back().or(first);
    match (first, last) {
        (Some(first), Some(last)) => piece.start + first.start..piece.start + last.end,
        _ => piece.start..piece.start,
    }
}

/// The blanks that a piece's first line begins with.
pub(crate) fn indent(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let rest = &text[line..];
    let end = rest.find(|c| c != ' ' && c != '\t').unwrap_or(rest.len());
    &rest[..end]
}

/// Words that no plain statement begins with.
const KEYWORDS: [&str; 16] = [
    "if", "for", "while", "do", "switch", "case", "default", "return", "goto", "break", "continue",
    "else", "using", "typedef", "delete", "throw",
];

/// Whether a piece is a plain statement: an assignment or a call, no declaration, nothing that steers.
pub(crate) fn is_plain(text: &str, piece: &Range<usize>) -> bool {
    let place = core(text, piece);
    let inside = tokens(&text[place.clone()]);
    let words: Vec<&str> = inside
        .iter()
        .map(|token| &text[place.start + token.start..place.start + token.end])
        .collect();
    inside.iter().all(Token::is_code)
        && !words.contains(&"{")
        && words.len() >= 3
        && inside[0].kind == TokenKind::Word
        && !KEYWORDS.contains(&words[0])
        && matches!(words[1], "=" | "(" | "." | "->" | "[" | "+" | "-" | "|")
        && words.last() == Some(&";")
}

/// The text of `range` with these places replaced; they lie in it and don't overlap.
pub(crate) fn replaced(
    text: &str,
    range: Range<usize>,
    mut places: Vec<(Range<usize>, String)>,
) -> String {
    places.sort_by_key(|(place, _)| (place.start, place.end));
    let mut out = String::new();
    let mut at = range.start;
    for (place, new) in places {
        out.push_str(&text[at..place.start]);
        out.push_str(&new);
        at = place.end;
    }
    out.push_str(&text[at..range.end]);
    out
}
