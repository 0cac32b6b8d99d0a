//! Tokens of C and C++, as coarse as the rules need them. Comments are no tokens.

use std::borrow::Cow;

use tslp_core::slice::Span;

use crate::parse::TOKENS_MAX;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// An identifier or keyword in which a lower-case letter occurs.
    Word,
    /// An identifier that looks like a macro: upper-case letters, digits and underscores only.
    Upper,
    /// A number.
    Number,
    /// A string or character literal.
    Literal,
    /// `...`, the character that looks like it, or aider's `⋮...`.
    Dots,
    /// One byte of punctuation.
    Mark(u8),
    /// `::`, which unlike `:` ends nothing.
    Colons,
    /// A preprocessor directive, with its continuation lines.
    Directive(Directive),
}

/// Directives that the rules tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    If,
    Branch,
    End,
    Define,
    Other,
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// Whether only whitespace and comments precede it on its line.
    pub(super) begins_line: bool,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Token {
    pub(super) fn span(self) -> Span {
        Span {
            start: self.start,
            end: self.end,
        }
    }

    pub(super) fn text(self, source: &[u8]) -> &[u8] {
        self.span().of(source)
    }

    pub(super) fn is_word(self) -> bool {
        matches!(self.kind, TokenKind::Word | TokenKind::Upper)
    }

    pub(super) fn is(self, mark: u8) -> bool {
        self.kind == TokenKind::Mark(mark)
    }
}

/// Splits a source into tokens. Any bytes are accepted.
///
/// Stops where a grammar would see more of them than will be parsed.
pub(super) fn tokens(source: &[u8]) -> LexedSource {
    let mut lexer = Lexer {
        source,
        at: 0,
        // A megabyte of ordinary code holds 120,000 to 250,000.
        tokens: Vec::with_capacity(source.len() / 5),
        hidden: 0,
        unclosed: None,
    };
    lexer.run();
    LexedSource {
        count: lexer.tokens.len() + lexer.hidden,
        unclosed: lexer
            .unclosed
            .is_some_and(|end| source[end..].trim_ascii().is_empty()),
        tokens: lexer.tokens,
    }
}

/// The tokens of a source.
#[derive(Debug)]
pub(super) struct LexedSource {
    pub(super) tokens: Vec<Token>,
    /// An upper bound on the tokens that a grammar would see, which are more if something is left open or is no text.
    pub(super) count: usize,
    /// Whether the source ends within a literal or comment.
    pub(super) unclosed: bool,
}

struct Lexer<'a> {
    source: &'a [u8],
    at: usize,
    tokens: Vec<Token>,
    hidden: usize,
    /// The end of the last literal or comment that isn't closed.
    unclosed: Option<usize>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        let mut begins_line = true;
        while let Some(byte) = self.peek(0) {
            let start = self.at;
            let kind = match byte {
                b'\n' => {
                    begins_line = true;
                    self.at += 1;
                    continue;
                }
                b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' => {
                    self.at += 1;
                    continue;
                }
                b'\\' if self.continuation() > 0 => {
                    self.at += self.continuation();
                    continue;
                }
                b'/' if self.peek(1) == Some(b'/') => {
                    self.hidden += 1;
                    self.line_comment();
                    continue;
                }
                b'/' if self.peek(1) == Some(b'*') => {
                    self.hidden += 1;
                    begins_line |= self.block_comment();
                    continue;
                }
                b'#' if begins_line => TokenKind::Directive(self.directive()),
                b'"' => self.quoted(b'"'),
                b'\'' => self.quoted(b'\''),
                b'0'..=b'9' => self.number(),
                b'.' if self.source[start..].starts_with(b"...") => {
                    self.at += 3;
                    TokenKind::Dots
                }
                0xe2 if self.source[start..].starts_with("⋮".as_bytes()) => {
                    self.at += "⋮".len();
                    while self.peek(0) == Some(b'.') {
                        self.at += 1;
                    }
                    TokenKind::Dots
                }
                b'.' if self.peek(1).is_some_and(|next| next.is_ascii_digit()) => self.number(),
                b':' if self.peek(1) == Some(b':') => {
                    self.at += 2;
                    TokenKind::Colons
                }
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => self.pass_word(),
                other => {
                    self.at += 1;
                    TokenKind::Mark(other)
                }
            };
            debug_assert!(self.at > start, "each token takes at least a byte");
            self.tokens.push(Token {
                kind,
                begins_line,
                start: u32::try_from(start).unwrap_or(u32::MAX),
                end: u32::try_from(self.at).unwrap_or(u32::MAX),
            });
            begins_line = false;
            if self.tokens.len() + self.hidden > TOKENS_MAX {
                return;
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.get(self.at + ahead).copied()
    }

    /// Length of an escaped line end here.
    fn continuation(&self) -> usize {
        match (self.peek(1), self.peek(2)) {
            (Some(b'\n'), _) => 2,
            (Some(b'\r'), Some(b'\n')) => 3,
            _ => 0,
        }
    }

    fn line_comment(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => return,
                // A backslash at a line's end makes the next line part of the comment.
                b'\\' => self.at += self.continuation().max(1),
                _ => self.at += 1,
            }
        }
    }

    /// Skips a block comment; returns whether it ended on another line.
    fn block_comment(&mut self) -> bool {
        let start = self.at;
        let rest = &self.source[start + 2..];
        let end = rest.windows(2).position(|pair| pair == b"*/");
        self.at = start + 2 + end.map_or(rest.len(), |at| at + 2);
        if end.is_none() {
            self.hidden += rest.len() / 2;
            self.unclosed = Some(self.at);
        }
        self.source[start..self.at].contains(&b'\n')
    }

    /// Passes a literal up to its closing quote, or to the end of its line.
    fn quoted(&mut self, quote: u8) -> TokenKind {
        self.at += 1;
        let mut closed = false;
        while let Some(byte) = self.peek(0).filter(|_| !closed) {
            match byte {
                b'\n' => break,
                b'\\' => self.at += self.continuation().max(2),
                byte => {
                    self.at += 1;
                    closed = byte == quote;
                }
            }
        }
        self.at = self.at.min(self.source.len());
        if !closed {
            self.unclosed = Some(self.at);
        }
        TokenKind::Literal
    }

    fn number(&mut self) -> TokenKind {
        while let Some(byte) = self.peek(0) {
            // `0x1F`, `1.5f`, `1'000` (C++14, C23), `1e-5`, `0x1p+3`.
            let continues = byte.is_ascii_alphanumeric()
                || matches!(byte, b'.' | b'_')
                || byte == b'\''
                    && self
                        .peek(1)
                        .is_some_and(|next| next.is_ascii_alphanumeric())
                || matches!(byte, b'+' | b'-')
                    && matches!(self.source[self.at - 1], b'e' | b'E' | b'p' | b'P');
            if !continues {
                break;
            }
            self.at += 1;
        }
        TokenKind::Number
    }

    fn pass_word(&mut self) -> TokenKind {
        let start = self.at;
        while self.peek(0).is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
        }) {
            self.at += 1;
        }
        let word = &self.source[start..self.at];
        self.hidden += word.iter().filter(|byte| **byte >= 0x80).count() / 2;
        if self.peek(0) == Some(b'"') {
            match word {
                b"R" | b"LR" | b"uR" | b"UR" | b"u8R" => return self.raw_string(),
                b"L" | b"u" | b"U" | b"u8" => return self.quoted(b'"'),
                _ => {}
            }
        }
        if word == "…".as_bytes() {
            TokenKind::Dots
        } else if looks_like_macro(word) {
            TokenKind::Upper
        } else {
            TokenKind::Word
        }
    }

    fn raw_string(&mut self) -> TokenKind {
        let rest = &self.source[self.at + 1..];
        // The standard allows sixteen characters between the quote and the bracket.
        let Some(open) = rest.iter().take(17).position(|byte| *byte == b'(') else {
            return self.quoted(b'"');
        };
        let mut close = vec![b')'];
        close.extend_from_slice(&rest[..open]);
        close.push(b'"');
        let end = rest.windows(close.len()).position(|window| window == close);
        self.at += 1 + end.map_or(rest.len(), |at| at + close.len());
        if end.is_none() {
            self.hidden += rest.len() / 2;
            self.unclosed = Some(self.at);
        }
        TokenKind::Literal
    }

    /// Passes a directive up to, but without, its line end and a comment that ends it.
    fn directive(&mut self) -> Directive {
        let start = self.at;
        self.at += 1;
        let mut end = self.at;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => break,
                b'\\' => self.at += self.continuation().max(1),
                b'/' if self.peek(1) == Some(b'/') => {
                    self.at = end;
                    break;
                }
                b'/' if self.peek(1) == Some(b'*') => {
                    self.block_comment();
                }
                b'"' | b'\'' => {
                    let (at, unclosed) = (self.at, self.unclosed);
                    self.quoted(byte);
                    if self.source[self.at - 1] != byte {
                        self.at = at + 1;
                    }
                    self.unclosed = unclosed;
                    end = self.at;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                _ => {
                    self.at += 1;
                    end = self.at;
                }
            }
        }
        self.at = end.min(self.source.len());
        kind_of_directive(&self.source[start..self.at])
    }
}

fn kind_of_directive(text: &[u8]) -> Directive {
    match directive_name(text) {
        b"if" | b"ifdef" | b"ifndef" => Directive::If,
        b"else" | b"elif" | b"elifdef" | b"elifndef" => Directive::Branch,
        b"endif" => Directive::End,
        b"define" => Directive::Define,
        _ => Directive::Other,
    }
}

/// A stretch without the directives and comments in it.
pub(crate) fn without_directives(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'#') && !text.contains(&b'/') {
        return Cow::Borrowed(text);
    }
    let mut code = vec![b' '; text.len()];
    for token in tokens(text).tokens {
        if !matches!(token.kind, TokenKind::Directive(_)) {
            let range = token.start as usize..token.end as usize;
            code[range.clone()].copy_from_slice(&text[range]);
        }
    }
    Cow::Owned(code)
}

/// The word after the `#`.
pub(super) fn directive_name(text: &[u8]) -> &[u8] {
    let word = text.get(1..).unwrap_or_default().trim_ascii_start();
    let length = word
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    &word[..length]
}

/// Macros are written in capitals. One letter is rather a type parameter.
pub(crate) fn looks_like_macro(word: &[u8]) -> bool {
    word.ends_with(b"_API")
        || word.ends_with(b"_EXPORT")
        || word.len() > 1
            && word
                .iter()
                .all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
            && word.iter().any(u8::is_ascii_uppercase)
}
