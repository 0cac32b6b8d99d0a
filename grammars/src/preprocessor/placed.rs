//! Macros that only their place gives away, where no word of the language can be: `class A FINAL :`, `if likely(x) {`,
//! `LIST(, T) name;`, `call(struct T *, p)`.

use tslp_core::slice::Span;

use super::lex::{Token, TokenKind};
use super::pass::{BracketContext, CDialect, Pass, is_macro_name};
use super::specifiers::{PartKind, kind_of_word};

/// Whether a declaration goes on after its name with this.
fn ends_name(token: Option<Token>) -> bool {
    token.is_some_and(|it| [b';', b'=', b'[', b','].iter().any(|mark| it.is(*mark)))
}

impl Pass<'_> {
    /// Makes a macro at `index`, or right after it, readable; the next token if the pass can go on there.
    pub(super) fn placed_macro(&mut self, index: usize) -> Option<usize> {
        let word = self.text(index);
        let next = self.token(index + 1)?;
        let in_space = self.bracket_context() == BracketContext::Space;
        let declares = in_space || self.bracket_context() == BracketContext::Type;
        let close = self.matching_bracket(index + 1).filter(|_| next.is(b'('));
        match word {
            b"class" | b"struct" | b"union" | b"enum" => {
                self.class_head(index);
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
        let is_argument = self
            .previous_token()
            .is_some_and(|before| self.is(before, b'('));
        let is_argument = is_argument && self.bracket_context() != BracketContext::Control;
        if word.ends_with(b"_") && is_argument && (next.is_word() || next.kind == TokenKind::Number)
        {
            // An argument with its comma: `call(CONTEXT_ a)`.
            self.blank_macro(index);
            return Some(index + 1);
        }
        if let Some(close) = close {
            if word == b"_Atomic" {
                // `_Atomic(T *) p` becomes `T *  p`.
                self.blank_tokens(index..index + 2);
                self.blank_tokens(close..close + 1);
                return Some(index + 2);
            }
            let is_specifier = |before| kind_of_word(self.text(before)) == PartKind::Specifier;
            let begins_type = self.at_start() || self.previous_token().is_some_and(is_specifier);
            let names_one =
                declares && begins_type && self.is_name(index) || is_upper && self.at_start();
            let of_arguments = is_upper && self.is(index + 2, b',')
                || names_one && ends_name(self.token(close + 2));
            if of_arguments && self.is_name(close + 1) && !self.tokens[close + 1].begins_line {
                // A type of its arguments, however it is made.
                self.blank_tokens(index + 1..close + 1);
                self.replace(self.tokens[index].span(), b"int");
                self.pass_token(index);
                return Some(close + 1);
            }
            if declares
                && self.follows_type()
                && self.is_name(index)
                && self.is_name(close + 1)
                && self.is(close + 2, b'(')
                && !self.holds_parameters(index + 1, close)
            {
                self.blank_tokens(index..close + 1);
                return Some(close + 1);
            }
            if declares && self.is_name(index) && self.follows_bounds(index) {
                self.blank_tokens(index..close + 1);
                return Some(close + 1);
            }
            if declares
                && !is_upper
                && !matches!(
                    kind_of_word(word),
                    PartKind::Statement | PartKind::Specifier
                )
            {
                self.name_in_macro(index, close);
            }
            let comma = (index..close).find(|at| self.is(*at, b','));
            if let Some(comma) = comma.filter(|_| word == b"offsetof") {
                // The grammar knows a member there, and no member's member.
                self.blank_tokens((comma + 2).min(close)..close);
            }
            let is_template = |before| self.dialect == CDialect::Cpp && self.is(before, b'<');
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
        if declares
            && self.is_name(index)
            && self.is_name(index + 1)
            && let Some(close) = self.matching_bracket(index + 2)
            && let Some(before) = self.previous_token()
            && (self.is_of_pointer(before) || self.is(before, b'}') && !self.at_start())
        {
            // Of two names after a star or a type's members the one with parameters is declared.
            if self.holds_parameters(index + 2, close) {
                self.blank_tokens(index..index + 1);
                return Some(index + 1);
            }
            if ends_name(self.token(close + 1)) {
                self.blank_tokens(index + 1..close + 1);
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
            let is_named =
                self.text(last.wrapping_sub(2)) == self.text(name) && self.is(name + 1, b'(');
            // A conversion names its type.
            let names_type = self.token(last + 1).is_some_and(Token::is_word)
                && kind_of_word(self.text(last + 1)) != PartKind::Statement;
            let converts = self.text(last) == b"operator" && names_type;
            scopes > 0 && (is_named || converts)
        };
        let is_word = is_upper || kind_of_word(word) == PartKind::Name;
        if is_word && in_space && self.at_start() && next.is_word() && is_constructor() {
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

    /// `class EXPORT ALIGNED(8) name FINAL : base {`: the last word that isn't in capitals is the name, or else the last one; other
    /// words in capitals are macros, as is any that has arguments.
    fn class_head(&mut self, index: usize) {
        let mut words = Vec::new();
        let mut end = index + 1;
        while self.token(end).is_some_and(Token::is_word) {
            let begin = end;
            let close = self.matching_bracket(begin + 1);
            end = close.filter(|_| self.is(begin + 1, b'(')).unwrap_or(begin) + 1;
            let is_macro = self.tokens[begin].kind == TokenKind::Upper
                || end > begin + 1 && self.is_name(begin);
            words.push((begin..end, is_macro));
        }
        let has_bases = self.is(end, b':')
            && self
                .token(end + 1)
                .is_some_and(|next| next.kind != TokenKind::Number);
        let Some((last, _)) = words.last() else {
            return;
        };
        if !(has_bases || self.is(end, b'{')) || last.len() > 1 {
            return;
        }
        let is_name = |(word, is_macro): &(std::ops::Range<usize>, bool)| {
            !is_macro && kind_of_word(self.text(word.start)) == PartKind::Name
        };
        let name = words.iter().rposition(is_name).unwrap_or(words.len() - 1);
        words.remove(name);
        for (word, _) in words.into_iter().filter(|(_, is_macro)| *is_macro) {
            self.blank_tokens(word);
        }
    }

    /// Whether a type, or a star after one, goes before.
    fn follows_type(&self) -> bool {
        let before = self.previous_token();
        before.is_some_and(|it| self.tokens[it].is_word() || self.is_of_pointer(it))
    }

    /// Whether a word may be the name of what is declared.
    pub(super) fn is_name(&self, index: usize) -> bool {
        self.token(index).is_some_and(Token::is_word)
            && kind_of_word(self.text(index)) == PartKind::Name
    }

    /// Whether a function's parameters may stand between two brackets, rather than a macro's arguments.
    pub(super) fn holds_parameters(&self, open: usize, close: usize) -> bool {
        let goes_on = |at: usize| self.tokens[at].is_word() || self.is_of_pointer(at);
        let declares = |at: usize| self.tokens[at].is_word() && goes_on(at + 1);
        match close - open {
            1 => true,
            2 => {
                let is_builtin = kind_of_word(self.text(open + 1)) == PartKind::Type;
                let kind = self.tokens[open + 1].kind;
                is_builtin || matches!(kind, TokenKind::Upper | TokenKind::Dots)
            }
            _ => (open + 1..close).any(declares),
        }
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
