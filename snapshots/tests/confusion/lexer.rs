//! Tokens of C and C++, found without any grammar, so that what is measured and the measure share no blind spot.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    Number,
    /// A string or a character.
    Text,
    Comment,
    /// A preprocessor line with its continuations.
    Directive,
    /// One byte of punctuation; `::` and `->` are one token, named by their first byte.
    Mark(u8),
}

/// One token by its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    pub(crate) fn of<'t>(&self, text: &'t str) -> &'t str {
        &text[self.start..self.end]
    }

    pub(crate) fn is(&self, mark: u8) -> bool {
        self.kind == TokenKind::Mark(mark) && self.end == self.start + 1
    }

    /// Whether it is code: no comment and no directive.
    pub(crate) fn is_code(&self) -> bool {
        !matches!(self.kind, TokenKind::Comment | TokenKind::Directive)
    }
}

/// All tokens of a text, in order.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut line_is_blank = true;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_whitespace() {
            line_is_blank |= byte == b'\n';
            at += 1;
            continue;
        }
        let (kind, end) = token(bytes, at, line_is_blank);
        tokens.push(Token {
            kind,
            start: at,
            end,
        });
        line_is_blank &= kind == TokenKind::Comment;
        at = end;
    }
    tokens
}

fn token(bytes: &[u8], at: usize, line_is_blank: bool) -> (TokenKind, usize) {
    let rest = &bytes[at..];
    match rest[0] {
        b'/' if rest.starts_with(b"/*") => (TokenKind::Comment, block_comment_end(bytes, at)),
        b'/' if rest.starts_with(b"//") => (TokenKind::Comment, line_end(bytes, at)),
        b'#' if line_is_blank => (TokenKind::Directive, directive_end(bytes, at)),
        b'"' | b'\'' => (TokenKind::Text, quoted_end(bytes, at)),
        b'R' if rest.starts_with(b"R\"") => (TokenKind::Text, raw_end(bytes, at)),
        b'0'..=b'9' => (
            TokenKind::Number,
            while_in(bytes, at, |b| is_word(b) || b == b'.' || b == b'\''),
        ),
        byte if is_word(byte) => (TokenKind::Word, while_in(bytes, at, is_word)),
        byte if rest.starts_with(b"::") || rest.starts_with(b"->") => {
            (TokenKind::Mark(byte), at + 2)
        }
        byte => (TokenKind::Mark(byte), at + 1),
    }
}

/// Whether a byte can be part of a name. Bytes above ASCII count as such, so that no token ends inside a character.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn while_in(bytes: &[u8], at: usize, is_in: impl Fn(u8) -> bool) -> usize {
    bytes[at..]
        .iter()
        .position(|byte| !is_in(*byte))
        .map_or(bytes.len(), |length| at + length)
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let from = from.min(bytes.len());
    bytes[from..]
        .windows(what.len())
        .position(|window| window == what)
        .map(|at| from + at)
}

fn block_comment_end(bytes: &[u8], at: usize) -> usize {
    find(bytes, at + 2, b"*/").map_or(bytes.len(), |end| end + 2)
}

/// The end of a line that a backslash may continue.
fn line_end(bytes: &[u8], at: usize) -> usize {
    let mut from = at;
    while let Some(end) = find(bytes, from, b"\n") {
        if bytes[end - 1] != b'\\' {
            return end;
        }
        from = end + 1;
    }
    bytes.len()
}

/// A directive's end; a comment that begins in it may carry it over several lines.
fn directive_end(bytes: &[u8], at: usize) -> usize {
    let end = line_end(bytes, at);
    match find(&bytes[..end], at, b"/*") {
        Some(comment) => {
            let comment_end = block_comment_end(bytes, comment);
            if comment_end > end { comment_end } else { end }
        }
        None => end,
    }
}

fn quoted_end(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'\\' => end += 2,
            b'\n' => return end,
            byte if byte == quote => return end + 1,
            _ => end += 1,
        }
    }
    bytes.len()
}

fn raw_end(bytes: &[u8], at: usize) -> usize {
    let Some(open) = find(bytes, at, b"(") else {
        return bytes.len();
    };
    let mut close = vec![b')'];
    close.extend(&bytes[at + 2..open]);
    close.push(b'"');
    find(bytes, open, &close).map_or(bytes.len(), |end| end + close.len())
}
