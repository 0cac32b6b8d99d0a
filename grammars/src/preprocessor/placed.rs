//! Macros that only their place gives away, where no word of the language can be: `class A FINAL :`, `if likely(x) {`,
//! `LIST(, T) name;`, `call(struct T *, p)`.

use tslp_core::slice::Span;

use super::lex::{Token, TokenKind};
use super::pass::{BracketContext, Pass, is_macro_name};
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
                .is_some_and(|before| self.tokens[before].is_word() || self.is(before, b'*'));
            if in_space
                && follows_type
                && close > index + 2
                && (index + 2..close).all(is_number)
                && self.token(close + 1).is_some_and(Token::is_word)
                && self.is(close + 2, b'(')
            {
                self.blank_tokens(index..close + 1);
                return Some(close + 1);
            }
            let comma = (index..close).find(|at| self.is(*at, b','));
            if let Some(comma) = comma.filter(|_| word == b"offsetof") {
                // The grammar knows a member there, and no member's member.
                self.blank_tokens((comma + 2).min(close)..close);
            }
            let is_template = |before| self.is(before, b'<');
            let is_macro = is_macro_name(self.tokens[index].kind, word);
            let may_be_one = || {
                kind_of_word(word) == PartKind::Name
                    && self.is_among_values()
                    && !self.previous_token().is_some_and(is_template)
            };
            if is_macro || may_be_one() {
                self.types_as_arguments(index + 1, close, is_macro);
            }
        }
        let is_constructor = || {
            let is_joint = |at: usize| {
                self.token(at)
                    .is_some_and(|it| it.kind == TokenKind::Colons)
            };
            let scopes = (0..)
                .take_while(|scope| is_joint(index + 2 + 2 * scope))
                .count();
            let last = index + 2 * scopes + 1;
            let name = last + usize::from(self.is(last, b'~'));
            scopes > 0 && self.text(last - 2) == self.text(name) && self.is(name + 1, b'(')
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

    /// `call(struct T *, …)`, `call(p, unsigned short)`: only a macro takes a type. It reads like a value without its stars and all
    /// words but the last one. What is a macro by its name takes names with scopes, references and declarations as well.
    fn types_as_arguments(&mut self, open: usize, close: usize, is_macro: bool) {
        let mut begin = open + 1;
        while begin < close {
            let mut end = begin;
            while end < close && !self.is(end, b',') {
                end = self.matching_bracket(end).unwrap_or(end) + 1;
            }
            let is_part = |at: &usize| {
                let token = self.tokens[*at];
                token.is_word() || is_macro && token.kind == TokenKind::Colons
            };
            let words = (begin..end).take_while(is_part).count();
            let name_end = begin + words;
            let is_mark = |at: &usize| match is_macro {
                true => self.is_of_pointer(*at),
                false => self.is(*at, b'*'),
            };
            let marks = (name_end.max(begin + 1)..end).rev().take_while(is_mark);
            let marks_begin = end - marks.count();
            let is_whole = words > 0 && name_end == marks_begin;
            let is_one_of_several = is_macro || begin > open + 1 || end < close;
            let first = kind_of_word(self.text(begin));
            let begins_type = matches!(first, PartKind::Type | PartKind::Specifier);
            let is_type = match is_macro {
                true => (is_whole || words > 0 && is_mark(&name_end)) && (words > 1 || begins_type),
                false => is_whole && (marks_begin < end || begins_type && words > 1),
            };
            if is_one_of_several && (is_type || is_macro) {
                self.blank_tokens(marks_begin..end);
            }
            if is_one_of_several && is_type {
                let last = name_end - 1;
                self.blank_tokens(begin..last);
                if kind_of_word(self.text(last)) != PartKind::Name {
                    self.replace(self.tokens[last].span(), b"T");
                }
            }
            begin = end + 1;
        }
    }

    /// Whether values stand around this place: in a body or in what initialises something.
    fn is_among_values(&self) -> bool {
        let mut level = self.levels[self.state.level as usize];
        while matches!(
            level.inside,
            BracketContext::Group | BracketContext::MacroCall | BracketContext::Control
        ) {
            level = self.levels[level.parent as usize];
        }
        matches!(level.inside, BracketContext::Body | BracketContext::Values)
    }
}
