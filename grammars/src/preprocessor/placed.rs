//! Macros that only their place gives away, where no word of the language can be: `class A FINAL :`, `if likely(x) {`,
//! `LIST(, T) name;`, `call(struct T *, p)`.

use tslp_core::slice::Span;

use super::lex::{Token, TokenKind};
use super::pass::{BracketContext, Pass};
use super::specifiers::{PartKind, kind_of_word};

impl Pass<'_> {
    /// Makes a macro at `index`, or right after it, readable; the next token if the pass can go on there.
    pub(super) fn placed_macro(&mut self, index: usize) -> Option<usize> {
        let word = self.text(index);
        let next = self.token(index + 1)?;
        let in_space = self.bracket_context() == BracketContext::Space;
        let close = self.matching_bracket(index + 1).filter(|_| next.is(b'('));
        match word {
            b"class" | b"struct" => {
                let is_upper = self.token(index + 2)?.kind == TokenKind::Upper;
                let opens = self.is(index + 3, b':') || self.is(index + 3, b'{');
                if next.is_word() && is_upper && opens {
                    self.blank_tokens(index + 2..index + 3);
                }
                return None;
            }
            b"if" | b"while" if next.is_word() && self.is(index + 2, b'(') => {
                if !matches!(self.text(index + 1), b"constexpr" | b"consteval") {
                    self.blank_tokens(index + 1..index + 2);
                }
                return None;
            }
            _ => {}
        }
        let is_upper = self.tokens[index].kind == TokenKind::Upper;
        if let Some(close) = close {
            let begins = |token: Token| token.is_word() && token.begins_line;
            if is_upper
                && self.is(index + 2, b',')
                && self.token(close + 1).is_some_and(Token::is_word)
            {
                // A type of its arguments, however it is made.
                self.blank_tokens(index + 1..close + 1);
                self.replace(self.tokens[index].span(), b"int");
                self.pass_token(index);
                return Some(close + 1);
            }
            let is_number =
                |at: usize| self.is(at, b',') || self.tokens[at].kind == TokenKind::Number;
            let follows_type = self
                .previous_token()
                .is_some_and(|before| self.tokens[before].is_word());
            if in_space
                && follows_type
                && close > index + 2
                && (index + 2..close).all(is_number)
                && self.token(close + 1).is_some_and(begins)
                && self.is(close + 2, b'(')
            {
                self.blank_tokens(index..close + 1);
                return Some(close + 1);
            }
            if self.bracket_context() == BracketContext::Body
                && kind_of_word(word) == PartKind::Name
            {
                self.type_as_argument(index + 2);
            }
        }
        let is_constructor = || {
            let name = index + 3 + usize::from(self.is(index + 3, b'~'));
            self.token(index + 2)
                .is_some_and(|it| it.kind == TokenKind::Colons)
                && self.text(index + 1) == self.text(name)
                && self.is(name + 1, b'(')
        };
        if is_upper && in_space && self.at_start() && next.is_word() && is_constructor() {
            self.blank_macro(index);
            return Some(index + 1);
        }
        let is_type = |at: usize| {
            kind_of_word(self.text(at)) == PartKind::Type
                && !matches!(self.text(at), b"struct" | b"union" | b"enum" | b"class")
        };
        if in_space
            && kind_of_word(word) == PartKind::Name
            && !self.tokens[index].begins_line
            && self.previous_token().is_some_and(is_type)
            && next.is_word()
            && next.begins_line
            && self.is(index + 2, b'(')
        {
            self.blank_macro(index);
            return Some(index + 1);
        }
        None
    }

    fn blank_macro(&mut self, index: usize) {
        let span: Span = self.tokens[index].span();
        self.blank(span);
        self.readable.prefixes.push(span);
    }

    /// `call(struct T *, …)`: only a macro takes a type, which reads like a value without its tag and stars.
    fn type_as_argument(&mut self, first: usize) {
        let is_tag = matches!(self.text(first), b"struct" | b"union" | b"enum");
        let stars = (first + 2..).take_while(|at| self.is(*at, b'*')).count();
        let end = first + 2 + stars;
        if is_tag && self.token(first + 1).is_some_and(Token::is_word) && self.is(end, b',') {
            self.blank_tokens(first..first + 1);
            self.blank_tokens(first + 2..end);
        }
    }
}
