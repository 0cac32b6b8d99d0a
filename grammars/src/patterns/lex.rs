//! Tokens of any language whose comments and literals are described in `symbols.json`, and a copy of the text in which
//! comments are blank and literals hold nothing, so that no pattern ever matches inside of them.

use tslp_core::slice::Span;

use super::compiled::{Language, SpanRule};
use super::data::Layout;
use super::spans::{self, End};
use crate::lead::Comment;
use crate::walk::is_placeholder;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier or keyword.
    Word,
    Number,
    /// A literal.
    Text,
    /// One byte of punctuation.
    Mark(u8),
}

/// No token.
pub(super) const NONE: u32 = u32::MAX;

/// One token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Whether only blanks and comments precede it on its line.
    pub(super) begins_line: bool,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Index of the bracket or word that closes what this one opens, or opens what this one closes.
    pub(super) mate: u32,
}

impl Token {
    pub(super) fn is(self, mark: u8) -> bool {
        self.kind == Kind::Mark(mark)
    }

    pub(super) fn text(self, source: &[u8]) -> &[u8] {
        Span {
            start: self.start,
            end: self.end,
        }
        .of(source)
    }
}

/// What a text is made of.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    /// The text with blanks for comments and quotes for literals.
    pub(super) masked: Vec<u8>,
    pub(super) comments: Vec<Comment>,
    /// Lines of bare dots.
    pub(super) elisions: Vec<Span>,
    /// Places that look wrong.
    pub(super) suspects: Vec<u32>,
    /// Whether the text ends within a literal or comment.
    pub(super) unclosed: bool,
}

/// What stands for a literal in the masked text.
const LITERAL: u8 = b'"';

/// Splits a text into tokens. Total: every byte string has tokens.
pub(super) fn lex(language: &Language, source: &[u8]) -> Lexed {
    let mut lexer = Lexer {
        language,
        source,
        at: 0,
        begins_line: true,
        heredocs: Vec::new(),
        without_regex: 0,
        open: Vec::new(),
        lexed: Lexed {
            masked: source.to_vec(),
            tokens: Vec::with_capacity(source.len() / 5),
            ..Lexed::default()
        },
    };
    lexer.run();
    lexer.lexed
}

struct Lexer<'a> {
    language: &'a Language,
    source: &'a [u8],
    at: usize,
    begins_line: bool,
    /// What ends the texts that begin on the next line.
    heredocs: Vec<Vec<u8>>,
    /// Up to here no regular expression begins: one that did had no end on its line.
    without_regex: usize,
    /// Brackets that are open, however they match.
    open: Vec<u8>,
    lexed: Lexed,
}

impl Lexer<'_> {
    fn run(&mut self) {
        if self.source.starts_with(b"\xef\xbb\xbf") {
            self.mask(0, 3, b' ');
            self.at = 3;
        }
        if self.source[self.at..].starts_with(b"#!/") {
            self.skip_line();
        }
        if let Some(islands) = &self.language.islands
            && find(self.source, islands.sign.as_bytes()).is_some()
        {
            self.skip_to_island();
        }
        while let Some(byte) = self.source.get(self.at).copied() {
            match byte {
                b'\n' => self.line_end(),
                byte if byte.is_ascii_whitespace() => self.at += 1,
                _ if self.begins_line && self.whole_line(byte) => self.skip_line(),
                _ if self.span() || self.ends_island() => {}
                b'/' if self.language.regex_literals && self.operand_expected() => self.regex(),
                byte if byte.is_ascii_digit() => self.number(),
                byte if self.language.is_word_byte[usize::from(byte)] => self.word(),
                byte => {
                    self.at += 1;
                    self.push(Kind::Mark(byte), self.at - 1);
                    match byte {
                        b'(' | b'[' | b'{' => self.open.push(byte),
                        b')' | b']' | b'}' => drop(self.open.pop()),
                        _ => {}
                    }
                }
            }
        }
    }

    fn push(&mut self, kind: Kind, start: usize) {
        self.lexed.tokens.push(Token {
            kind,
            begins_line: self.begins_line,
            start: offset(start),
            end: offset(self.at),
            mate: NONE,
        });
        self.begins_line = false;
    }

    fn mask(&mut self, start: usize, end: usize, with: u8) {
        let end = end.min(self.source.len());
        for byte in &mut self.lexed.masked[start..end] {
            if with != b' ' || !matches!(*byte, b'\n' | b'\r') {
                *byte = with;
            }
        }
    }

    fn rest(&self) -> &[u8] {
        &self.source[self.at..]
    }

    /// Length of what is left of the line.
    fn line_length(&self) -> usize {
        find(self.rest(), b"\n").unwrap_or(self.rest().len())
    }

    fn skip_line(&mut self) {
        let end = self.at + self.line_length();
        self.mask(self.at, end, b' ');
        self.at = end;
    }

    /// Whether the line that begins here is no code: a directive, or bare dots that stand for some.
    fn whole_line(&mut self, byte: u8) -> bool {
        let directive = self.language.directive.as_ref();
        if directive.is_some_and(|pattern| pattern.is_match(&self.rest()[..self.line_length()])) {
            return true;
        }
        // Among parameters, dots are a parameter.
        if byte != b'.' && byte != 0xe2 || self.open.last() == Some(&b'(') {
            return false;
        }
        let line = self.rest()[..self.line_length()].trim_ascii_end();
        let is_statement = self.language.layout == Layout::Indentation;
        let is_dots = matches!(line, b"..." | b"....") && !is_statement
            || line.starts_with("…".as_bytes())
            || line.starts_with("⋮".as_bytes())
            || line.starts_with(b"... ");
        let stands_for_code = is_dots && is_placeholder(line);
        if stands_for_code {
            let span = Span {
                start: offset(self.at),
                end: offset(self.at + line.len()),
            };
            self.lexed.elisions.push(span);
        }
        stands_for_code
    }

    fn line_end(&mut self) {
        self.at += 1;
        self.begins_line = true;
        for fence in std::mem::take(&mut self.heredocs) {
            self.heredoc(&fence);
        }
    }

    /// Passes a comment or literal, if one begins here.
    fn span(&mut self) -> bool {
        let language = self.language;
        let candidates = &language.openings[usize::from(self.source[self.at])];
        for index in candidates {
            let rule = &language.spans[*index];
            if let Some(open) = self.opens(rule) {
                if rule.data.heredoc {
                    self.open_heredoc(&open);
                } else {
                    self.pass(rule, &open);
                }
                return true;
            }
        }
        false
    }

    fn opens(&self, rule: &SpanRule) -> Option<spans::Open> {
        let after_word =
            self.at > 0 && self.language.is_word_byte[usize::from(self.source[self.at - 1])];
        let after_blank = self.at == 0 || self.source[self.at - 1].is_ascii_whitespace();
        if rule.data.line_start && !self.begins_line
            || rule.data.after_blank && !after_blank && !self.begins_line
            || rule.data.not_after_word && after_word
        {
            return None;
        }
        spans::open(rule, self.source, self.at)
    }

    fn pass(&mut self, rule: &SpanRule, open: &spans::Open) {
        let start = self.at;
        let end = spans::end(self.language, rule, open, self.source, start);
        self.at = end.at;
        if !end.closed {
            self.left_open(start, &end);
        }
        if rule.data.comment {
            self.mask(start, end.at, b' ');
            let span = Span {
                start: offset(start),
                end: offset(end.at),
            };
            let placeholder = !rule.data.documentation && is_placeholder(span.of(self.source));
            self.lexed.comments.push(Comment { span, placeholder });
            self.begins_line |= self.source[start..end.at].contains(&b'\n');
        } else {
            self.mask(start, end.at, LITERAL);
            self.push(Kind::Text, start);
        }
    }

    fn left_open(&mut self, start: usize, end: &End) {
        self.lexed.suspects.push(offset(start));
        self.lexed.unclosed |= self.source[end.at..].trim_ascii().is_empty();
    }

    fn open_heredoc(&mut self, open: &spans::Open) {
        let start = self.at;
        self.at += open.length;
        self.mask(start, self.at, LITERAL);
        self.push(Kind::Text, start);
        self.heredocs.push(open.fence.clone());
    }

    /// Passes the lines up to the fence, and the fence.
    fn heredoc(&mut self, fence: &[u8]) {
        let start = self.at;
        loop {
            let length = self.line_length();
            let line = &self.rest()[..length];
            let blanks = line.len() - line.trim_ascii_start().len();
            let after = line[blanks..].strip_prefix(fence);
            let ends = after.is_some_and(|after| {
                !after
                    .first()
                    .is_some_and(|byte| self.language.is_word_byte[usize::from(*byte)])
            });
            if ends {
                self.at += blanks + fence.len();
                break;
            }
            self.at = (self.at + length + 1).min(self.source.len());
            if self.at >= self.source.len() {
                self.lexed.suspects.push(offset(start));
                self.lexed.unclosed = true;
                break;
            }
        }
        self.mask(start, self.at, LITERAL);
        self.begins_line = false;
        self.push(Kind::Text, start);
    }

    fn word(&mut self) {
        let start = self.at;
        while self
            .source
            .get(self.at)
            .is_some_and(|byte| self.language.is_word_byte[usize::from(*byte)])
        {
            self.at += 1;
        }
        self.push(Kind::Word, start);
    }

    fn number(&mut self) {
        let start = self.at;
        while let Some(byte) = self.source.get(self.at) {
            let is_point =
                *byte == b'.' && self.source.get(self.at + 1).is_some_and(u8::is_ascii_digit);
            if !is_point && !byte.is_ascii_alphanumeric() && *byte != b'_' {
                break;
            }
            self.at += 1;
        }
        self.push(Kind::Number, start);
    }

    /// Whether a value may begin here, so that a slash begins a regular expression.
    fn operand_expected(&self) -> bool {
        let Some(last) = self.lexed.tokens.last() else {
            return true;
        };
        match last.kind {
            Kind::Word => is_operator_word(last.text(self.source)),
            Kind::Number | Kind::Text => false,
            Kind::Mark(mark) => !matches!(mark, b')' | b']' | b'}'),
        }
    }

    /// Passes a regular expression, or a lone slash.
    fn regex(&mut self) {
        let start = self.at;
        let end = match start >= self.without_regex {
            true => spans::regex_end(self.source, start),
            false => Err(start),
        };
        match end {
            Ok(end) => {
                self.at = end;
                self.mask(start, end, LITERAL);
                self.push(Kind::Text, start);
            }
            Err(looked_until) => {
                self.without_regex = self.without_regex.max(looked_until);
                self.at += 1;
                self.push(Kind::Mark(b'/'), start);
            }
        }
    }

    /// Blanks what stands between two islands of code.
    fn skip_to_island(&mut self) {
        let Some(islands) = &self.language.islands else {
            return;
        };
        let open = islands.open.as_bytes();
        let found = find(self.rest(), open);
        let end = self.at + found.map_or(self.rest().len(), |at| at + open.len());
        self.mask(self.at, end, b' ');
        self.at = end;
        let name = self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'=')
            .count();
        if found.is_some() {
            self.mask(self.at, self.at + name, b' ');
            self.at += name;
        }
        self.begins_line = true;
    }

    fn ends_island(&mut self) -> bool {
        let ends = self
            .language
            .islands
            .as_ref()
            .is_some_and(|islands| self.rest().starts_with(islands.close.as_bytes()));
        if ends {
            self.skip_to_island();
        }
        ends
    }
}

/// Words after which a value begins.
pub(super) fn is_operator_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"return"
            | b"typeof"
            | b"case"
            | b"in"
            | b"of"
            | b"delete"
            | b"void"
            | b"throw"
            | b"new"
            | b"else"
            | b"do"
            | b"instanceof"
            | b"yield"
            | b"await"
            | b"and"
            | b"or"
            | b"not"
            | b"if"
            | b"unless"
            | b"while"
            | b"until"
            | b"when"
            | b"then"
    )
}

/// Where `needle` first occurs.
pub(super) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    while let Some(at) = text[from..].iter().position(|byte| *byte == first) {
        if text[from + at..].starts_with(needle) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// Sources are bounded far below 4 GiB.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
