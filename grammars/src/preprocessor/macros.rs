//! Macros as statements and their odd arguments, and the parts of directives that the grammar can't read.

use tslp_core::slice::Span;

use crate::node::offset;

use super::lex::{self, Token, TokenKind};
use super::pass::{BracketContext, CDialect, Pass, defined_name};
use super::specifiers::{PartKind, is_tag_keyword, kind_of_word};

/// Tokens of a default value that are looked through.
const VALUES_MAX: usize = 64;

/// Tokens of a type's arguments that are looked through.
const ARGUMENTS_MAX: usize = 64;

impl Pass<'_> {
    /// Numbers may have a unit: `8 KB`.
    pub(super) fn units(&mut self, index: usize, token: Token) {
        if token.kind == TokenKind::Number
            && let Some(next) = self.token(index + 1)
            && next.kind == TokenKind::Upper
        {
            self.blank(next.span());
        }
        self.joined_literal(index, token);
    }

    /// `"%" PRIu64`: a macro that is part of a string literal.
    fn joined_literal(&mut self, index: usize, token: Token) {
        let Some(next) = self.token(index + 1).filter(|next| next.is_word()) else {
            return;
        };
        let among_values = !matches!(
            self.bracket_context(),
            BracketContext::Space
                | BracketContext::Type
                | BracketContext::Enum
                | BracketContext::Body
        );
        let is_macro = next.kind == TokenKind::Upper
            || among_values && !is_operator_word(self.text(index + 1));
        let goes_on = self.token(index + 2).is_some_and(|after| {
            after.kind == TokenKind::Literal || after.is(b',') || after.is(b')') || after.is(b';')
        });
        if token.kind == TokenKind::Literal && is_macro && goes_on {
            self.blank(next.span());
        }
    }

    /// Rewrites uses of some words of C++ that the grammar doesn't know.
    pub(super) fn odd_words(&mut self, index: usize) {
        if self.dialect != CDialect::Cpp {
            return;
        }
        match self.text(index) {
            b"new" => self.new_pointers(index),
            b"decltype" => self.first_operands(index + 1),
            b"noexcept" if self.follows_parameters() => {
                // No more of its condition is needed than that it's there.
                let close = self.matching_bracket(index + 1).unwrap_or(index);
                self.blank_tokens(index + 1..close + 1);
            }
            b"template" if self.follows_member_mark(index) => {
                self.blank_tokens(index..index + 1);
            }
            b"typename" if self.is_typename_of_value(index) => {
                self.blank_tokens(index..index + 1);
            }
            _ => {}
        }
    }

    /// Whether `.` or `->` goes before.
    fn follows_member_mark(&self, index: usize) -> bool {
        let before = |back: usize, mark| index >= back && self.is(index - back, mark);
        before(1, b'.') || before(1, b'>') && before(2, b'-')
    }

    /// `typename T::type(…)` is a value, and `using typename T::type;` names no other type.
    fn is_typename_of_value(&self, index: usize) -> bool {
        let is_using = index > 0 && self.text(index - 1) == b"using";
        let mut end = index + 1;
        while self.token(end).is_some_and(Token::is_word) {
            end = self.past_arguments(end + 1);
            let goes_on = self
                .token(end)
                .is_some_and(|it| it.kind == TokenKind::Colons);
            if !goes_on {
                return is_using || self.is(end, b'(') || self.is(end, b'{');
            }
            end += 1;
        }
        false
    }

    /// The end of `<…>`, if it begins here.
    pub(super) fn past_arguments(&self, open: usize) -> usize {
        let mut depth = 0_i32;
        for at in open..open + ARGUMENTS_MAX {
            match self.token(at).map(|token| token.kind) {
                Some(TokenKind::Mark(b'<')) => depth += 1,
                Some(TokenKind::Mark(b'>')) => depth -= 1,
                Some(TokenKind::Mark(b';' | b'{' | b'}')) | None => return open,
                _ => {}
            }
            if depth <= 0 {
                return at + usize::from(at > open);
            }
        }
        open
    }

    /// `decltype(a, b)` becomes `decltype(   b)`: the grammar knows no commas there.
    fn first_operands(&mut self, open: usize) {
        let Some(close) = self.matching_bracket(open) else {
            return;
        };
        let mut past = open + 1;
        let mut at = open + 1;
        while at < close {
            if self.is(at, b',') {
                past = at + 1;
            }
            at = self.matching_bracket(at).unwrap_or(at) + 1;
        }
        self.blank_tokens(open + 1..past);
    }

    /// `new const T*[n]` becomes `new       T [n]`: the grammar knows neither there.
    fn new_pointers(&mut self, index: usize) {
        let mut end = index + 1;
        if self.text(end) == b"const" {
            self.blank_tokens(end..end + 1);
        }
        while self
            .token(end)
            .is_some_and(|token| token.is_word() || token.kind == TokenKind::Colons)
        {
            end += 1;
        }
        let mut past = end;
        while self.is(past, b'*') {
            past += 1;
        }
        if self.is(past, b'[') {
            self.blank_tokens(end..past);
        }
    }

    /// `Class::*member` becomes `*member`; the grammar knows neither type nor use of member pointers.
    pub(super) fn member_pointer(&mut self, index: usize) {
        if !self.is(index + 1, b'*') {
            return;
        }
        let mut begin = index;
        while begin > 0
            && (self.tokens[begin - 1].is_word()
                || self.tokens[begin - 1].kind == TokenKind::Colons)
        {
            let is_pair = self.tokens[begin - 1].is_word() != self.tokens[begin].is_word();
            if !is_pair {
                break;
            }
            begin -= 1;
        }
        self.blank_tokens(begin..index + 1);
    }

    /// `a->*b` and `a.*b` become `a+b`.
    pub(super) fn member_access(&mut self, index: usize) {
        let arrow = self.is(index, b'-') && self.is(index + 1, b'>') && self.is(index + 2, b'*');
        let dot = self.is(index, b'.') && self.is(index + 1, b'*');
        let length = if arrow { 3 } else { 2 };
        let touch = (index + 1..index + length)
            .all(|at| at < self.tokens.len() && self.tokens[at].start == self.tokens[at - 1].end);
        if (arrow || dot) && touch && self.dialect == CDialect::Cpp {
            self.blank_tokens(index..index + length);
            let span = self.tokens[index].span();
            self.replace(span, b"+");
        }
    }

    /// `operator++();` in a body becomes `o();`, which the grammar knows to be a call. Returns where the name ends.
    pub(super) fn operator_call(&mut self, index: usize) -> Option<usize> {
        let is_called =
            self.bracket_context() == BracketContext::Body || self.follows_member_mark(index);
        if self.text(index) != b"operator" || !is_called {
            return None;
        }
        let marks = self.tokens[index + 1..].iter();
        let is_mark = |token: &&Token| matches!(token.kind, TokenKind::Mark(mark) if mark != b'(');
        let end = if self.is(index + 1, b'(') && self.is(index + 2, b')') {
            index + 3
        } else {
            index + 1 + marks.take_while(is_mark).count()
        };
        if end == index + 1 || !(self.is(end, b'(') || self.is(end, b'<')) {
            return None;
        }
        self.blank_tokens(index..end);
        self.replace(self.tokens[index].span(), b"o");
        Some(self.pass_token(end - 1))
    }

    /// `enum : int {` becomes `enum {`.
    pub(super) fn enum_base(&mut self, index: usize) -> usize {
        let mut end = index + 1;
        while self
            .token(end)
            .is_some_and(|token| token.is_word() || token.kind == TokenKind::Colons)
        {
            end += 1;
        }
        if self.is(end, b'{') {
            self.blank_tokens(index..end);
        }
        end
    }

    /// A macro call that no function call could stand for. Says whether it was made readable.
    pub(super) fn macro_call(&mut self, index: usize) -> bool {
        let Some(close) = self
            .matching_bracket(index + 1)
            .filter(|_| self.is(index + 1, b'('))
        else {
            return false;
        };
        let upper = self.tokens[index].kind == TokenKind::Upper;
        let next = self.token(close + 1);
        let is_name = upper || kind_of_word(self.text(index)) == PartKind::Name;
        let ends_values = index > 0 && self.is(index - 1, b'}');
        let ends_line = next.is_some_and(|next| next.begins_line);
        if upper && !self.at_start() && ends_values && ends_line && !self.tokens[index].begins_line
        {
            // `} END(x)` after values.
            return self.end_statement_after(index - 1) && self.end_statement_after(close);
        }
        if !self.at_start() || self.bracket_context() == BracketContext::Enum {
            return is_name && self.macro_after_parameters(index, close)
                || upper
                    && (self.macro_in_declarator(index, close)
                        || self.macro_in_expression(index, close, next));
        }
        if self.jumps(index, close) {
            self.blank_tokens(index + 2..close);
        }
        let is_in_body = self.bracket_context() == BracketContext::Body;
        if upper && (self.is(close + 1, b'[') || !is_in_body) && self.name_in_macro(index, close) {
            self.replace(self.tokens[index].span(), b"int");
            return true;
        }
        let is_item = is_name
            && matches!(
                self.bracket_context(),
                BracketContext::Space | BracketContext::Type
            );
        if !upper && !is_item && !self.is_defined_here(self.text(index)) {
            return false;
        }
        match self.bracket_context() {
            BracketContext::Body => self.macro_in_body(index, close, next),
            BracketContext::Space => self.macro_in_space(index, close, next),
            BracketContext::Type => self.macro_in_type(index, close, next),
            _ => false,
        }
    }

    fn macro_in_body(&mut self, index: usize, close: usize, next: Option<Token>) -> bool {
        if self.is(close - 1, b'=') {
            self.blank_tokens(index..close + 1);
            return true;
        }
        let declares = self.token(index + 2).is_some_and(Token::is_word)
            && self.token(index + 3).is_some_and(Token::is_word);
        let holds = |mark| (index + 2..close).any(|inner| self.is(inner, mark));
        // `WARNING(suppress : 6102)` holds no expression; a conditional one and a block may have a colon.
        let has_colon = holds(b':') && !holds(b'?') && !holds(b'{');
        let has_dots = self
            .token(index + 2)
            .is_some_and(|it| it.kind == TokenKind::Dots);
        // `LOCAL(int, name, [4])`, which in C++ may be a function.
        let bounds = |at: usize| self.is(at, b',') && self.is(at + 1, b'[');
        let has_bounds = self.dialect == CDialect::C && (index + 2..close).any(bounds);
        if declares || has_colon || has_dots || has_bounds || holds(b';') {
            self.blank_tokens(index + 2..close);
        }
        let Some(next) = next else { return false };
        if self.text(close + 1) == b"while"
            && self
                .previous_token()
                .is_some_and(|before| self.text(before) == b"do")
        {
            return self.end_statement_after(close);
        }
        if next.is(b'{') {
            return self.end_statement_after(close);
        }
        let is_next_line =
            next.begins_line && (next.is_word() || next.is(b'}') || is_directive(next));
        is_next_line && self.end_statement_after(close)
    }

    /// `ASSERT_IO(return FAILED);`: a call whose arguments leave the function.
    fn jumps(&self, index: usize, close: usize) -> bool {
        let is_call = !matches!(self.text(index), b"if" | b"for" | b"while" | b"switch");
        is_call
            && index + 2 < close
            && matches!(
                self.text(index + 2),
                b"return" | b"goto" | b"break" | b"continue"
            )
    }

    /// Whether the word in front is a name that is declared, after its type.
    fn follows_declared(&self, index: usize) -> bool {
        let (Some(before), Some(name)) = (index.checked_sub(2), index.checked_sub(1)) else {
            return false;
        };
        let word = self.text(before);
        let is_type = self.tokens[before].is_word()
            && matches!(kind_of_word(word), PartKind::Type | PartKind::Name)
            && !is_tag_keyword(word);
        self.is_name(name) && (is_type || self.is(before, b'*'))
    }

    /// `int f(int a) LOCKS(a) frees(b);`: what has arguments between a function's parameters and its body is no function.
    fn macro_after_parameters(&mut self, index: usize, close: usize) -> bool {
        let mut end = close + 1;
        while self.token(end).is_some_and(Token::is_word) {
            end = self
                .matching_bracket(end + 1)
                .filter(|_| self.is(end + 1, b'('))
                .unwrap_or(end)
                + 1;
        }
        let ends = [b';', b'{', b'='].iter().any(|mark| self.is(end, *mark));
        let is_macro =
            self.tokens[index].kind == TokenKind::Upper || !self.holds_parameters(index + 1, close);
        let is_after = ends && is_macro && self.follows_parameters();
        if is_after {
            self.blank_tokens(index..close + 1);
        }
        is_after
    }

    /// A call in the middle of a declaration, which no function call can be: `int CALLBACK(name)(int a)` has its name in
    /// there, `int f OF((int a))` its parameters, `template <class T, ENABLE_IF(x)>`, `int a INITIAL(1);` and
    /// `enum { a NAMED("b") }` nothing to do with either.
    pub(super) fn macro_in_declarator(&mut self, index: usize, close: usize) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.token(before));
        let after = |mark| self.is(close + 1, mark);
        let ends = after(b';') || after(b',') || after(b'=');
        let holds_value = || !self.is(index + 2, b'(') && !self.holds_parameters(index + 1, close);
        if self.bracket_context() == BracketContext::Enum
            || ends && self.follows_declared(index) && holds_value()
        {
            self.blank_tokens(index..close + 1);
            return true;
        }
        let begins = before.is_some_and(|token| token.is(b',') || token.is(b'<'));
        if begins
            && (after(b',') || after(b'>'))
            && self.bracket_context() != BracketContext::Values
        {
            self.blank_tokens(index + 2..close);
            return false;
        }
        let declares = matches!(
            self.bracket_context(),
            BracketContext::Space | BracketContext::Type
        ) && before
            .is_some_and(|token| token.is_word() || token.is(b'*') || token.is(b')'));
        if !declares {
            return false;
        }
        if self.name_in_macro(index, close) {
            return true;
        }
        let holds_parameters =
            self.is(index + 2, b'(') && self.matching_bracket(index + 2) == close.checked_sub(1);
        if holds_parameters {
            self.blank_tokens(index..index + 2);
            self.blank_tokens(close..close + 1);
        }
        holds_parameters
    }

    /// `CALLBACK(name)(int a)`, `ALIGNED(16, int, name)[4]`, `T (name PREVENT)()`: parameters or bounds follow the name.
    pub(super) fn name_in_macro(&mut self, index: usize, close: usize) -> bool {
        let mut name = close - 1;
        while name > index + 2
            && self.tokens[name].kind == TokenKind::Upper
            && self.tokens[name - 1].is_word()
        {
            name -= 1;
        }
        // `T (name)(int a)`: a type stays.
        let is_type = self.tokens[index].kind != TokenKind::Upper;
        let is_last =
            self.is_name(name) && (name == index + 2 || self.is(name - 1, b',') && !is_type);
        let declares = is_last && (self.is(close + 1, b'(') || self.is(close + 1, b'['));
        if declares {
            self.blank_tokens(index + usize::from(is_type)..name);
            self.blank_tokens(name + 1..close + 1);
        }
        declares
    }

    /// `"a" NAME(x) "b"` becomes `"a" NAME "b"`; `{ LIST(X) }` among enumerators goes.
    fn macro_in_expression(&mut self, index: usize, close: usize, next: Option<Token>) -> bool {
        let is_literal =
            |token: Option<Token>| token.is_some_and(|token| token.kind == TokenKind::Literal);
        let joins = is_literal(next)
            || is_literal(self.previous_token().and_then(|before| self.token(before)));
        if joins {
            self.blank_tokens(index + 1..close + 1);
        } else if let Some(open) = (index + 2..close).find(|inner| self.is(*inner, b'{')) {
            // Values among arguments; `INIT(A, { 1, 2 })` becomes `INIT(A )`.
            let comma = usize::from(self.is(open - 1, b','));
            let is_call = self.is(close - 1, b'}') && open > index + 2;
            if is_call {
                self.blank_tokens(open - comma..close);
            }
        }
        joins
    }

    fn macro_in_space(&mut self, index: usize, close: usize, next: Option<Token>) -> bool {
        let is_own_paragraph =
            next.is_some_and(|next| next.is_word() && self.lines_between(close, next) > 1);
        if !self.is_macro_call(index) {
            let is_item = self.tokens[index].begins_line && is_own_paragraph;
            return is_item && self.end_statement_after(close);
        }
        let Some(next) = next else {
            return self.end_statement_after(close);
        };
        if next.is(b'{') {
            return self.macro_function(index, close);
        }
        let is_value = |index: usize| {
            matches!(
                self.tokens[index].kind,
                TokenKind::Number | TokenKind::Literal
            )
        };
        if next.is(b';') && (index + 2..close).any(is_value) {
            // Types and values side by side are neither parameters nor arguments.
            self.blank_tokens(index + 2..close);
        }
        let stands_alone = next.begins_line
            && (next.is(b'}')
                || is_directive(next)
                || is_own_paragraph
                || next.is_word() && self.is_macro_call(close + 1));
        stands_alone && self.end_statement_after(close)
    }

    fn is_macro_call(&mut self, index: usize) -> bool {
        let is_call = self.is(index + 1, b'(');
        is_call
            && (self.tokens[index].kind == TokenKind::Upper
                || self.is_defined_here(self.text(index)))
    }

    /// `TEST(Suite, name) {`: a function. The parser sees `T ST( ) {`, the walk names it by the whole call.
    fn macro_function(&mut self, index: usize, close: usize) -> bool {
        let (Some(name), Some(end)) = (self.token(index), self.token(close)) else {
            return false;
        };
        if name.end - name.start < 3 {
            return false;
        }
        self.blank(Span {
            start: name.start + 1,
            end: name.start + 2,
        });
        self.blank_tokens(index + 2..close);
        self.readable.macro_functions.push(Span {
            start: name.start,
            end: end.end,
        });
        true
    }

    /// `Q_OBJECT_THING(x)` among members.
    fn macro_in_type(&mut self, index: usize, close: usize, next: Option<Token>) -> bool {
        let is_known = self.is_macro_call(index);
        // A constructor goes on with macros, its members' values, its body or a semicolon.
        let goes_on = |next: Token| {
            let kind = kind_of_word(next.text(self.source));
            let ends = [b'{', b':', b';']
                .iter()
                .any(|mark| self.is(close + 2, *mark));
            next.kind == TokenKind::Word && matches!(kind, PartKind::Name | PartKind::Type) && !ends
        };
        let stands_alone = match next {
            None => is_known,
            Some(next) if is_known => next.begins_line || next.is(b';'),
            Some(next) => self.tokens[index].begins_line && next.begins_line && goes_on(next),
        };
        if stands_alone {
            let semicolon = usize::from(next.is_some_and(|next| next.is(b';')));
            self.blank_tokens(index..close + 1 + semicolon);
        }
        stands_alone
    }

    /// `T a = {}` among parameters becomes `T a = 0`, since the grammar knows no braces there. Returns where it ends.
    pub(super) fn default_of_braces(&mut self, equals: usize) -> Option<usize> {
        let open = equals + 1;
        let is_default = self.is(equals, b'=') && self.is(open, b'{');
        if !is_default
            || self.dialect != CDialect::Cpp
            || self.bracket_context() != BracketContext::Group
        {
            return None;
        }
        let ends = |token: &Token| [b'{', b'}', b';'].iter().any(|mark| token.is(*mark));
        let values = self.tokens[open + 1..].iter().take(VALUES_MAX);
        let close = open + 1 + values.take_while(|token| !ends(token)).count();
        let is_last = self.is(close + 1, b',') || self.is(close + 1, b')');
        if !self.is(close, b'}') || !is_last {
            return None;
        }
        self.blank_tokens(open..close + 1);
        self.replace(self.tokens[open].span(), b"0");
        Some(close + 1)
    }

    /// `T * = 0` among parameters becomes `T   = 0`: the grammar wants a name where there is a default.
    fn nameless_parameter(&mut self, index: usize) {
        let gap = |at: usize| self.tokens[at].end < self.tokens[at + 1].start;
        if self.dialect == CDialect::Cpp
            && self.is(index, b'*')
            && self.is(index + 1, b'=')
            && gap(index)
        {
            self.blank_tokens(index..index + 1);
        }
    }

    /// Arguments that no function takes: types, operators, members.
    pub(super) fn odd_argument(&mut self, index: usize) {
        self.member_access(index);
        self.nameless_parameter(index);
        let begins = index
            .checked_sub(1)
            .is_some_and(|before| self.is(before, b',') || self.is(before, b'('));
        let ends = |at| self.is(at, b',') || self.is(at, b')');
        match self.bracket_context() {
            BracketContext::MacroCall | BracketContext::Group if begins && self.is(index, b'.') => {
                self.blank_tokens(index..index + 1);
            }
            BracketContext::MacroCall | BracketContext::Group if begins => {
                let mut end = index;
                while end < index + 4 && self.token(end).is_some_and(is_operator) {
                    end += 1;
                }
                let in_macro = self.bracket_context() == BracketContext::MacroCall;
                let is_one_of_several = self.is(index - 1, b',') || self.is(end, b',');
                if end > index && ends(end) && (in_macro || is_one_of_several) {
                    self.blank_tokens(index..end);
                    let span = self.tokens[index].span();
                    self.replace(span, b"0");
                }
            }
            _ => {}
        }
    }

    /// Blanks the parameters of a signature that a macro takes for its only argument, `SIGNAL(changed(const QColor &))`: types are no
    /// expressions.
    pub(super) fn signature_in_macro(&mut self, open: usize) {
        let (Some(close), Some(outer)) = (self.matching_bracket(open), open.checked_sub(2)) else {
            return;
        };
        let is_argument = self.bracket_context() == BracketContext::MacroCall
            && self.is(outer, b'(')
            && self.is(close + 1, b')')
            && self.tokens[outer + 1].is_word();
        if !is_argument {
            return;
        }
        let names_type = |at: usize| {
            let begins = at == open + 1 || self.is(at - 1, b',');
            let ends = at + 1 == close || self.is(at + 1, b',');
            let kind = |at: usize| kind_of_word(self.text(at));
            match (self.tokens[at].is_word(), kind(at)) {
                (true, PartKind::Type | PartKind::Specifier) => begins && !self.is(at + 1, b'('),
                (true, PartKind::Statement) => false,
                (true, _) => {
                    let next = self.tokens[at + 1];
                    begins && next.is_word() && kind(at + 1) != PartKind::Statement
                }
                (false, _) => ends && self.is_of_pointer(at),
            }
        };
        let mut at = open + 1;
        while at < close {
            if names_type(at) {
                self.blank_tokens(open + 1..close);
                return;
            }
            // What is in brackets of its own is no parameter.
            at = self.matching_bracket(at).unwrap_or(at) + 1;
        }
    }

    /// Blanks what a macro's loop over a variable of its own goes through, `foreach (QString word, line.words()) {`: no call declares one.
    pub(super) fn variable_of_loop(&mut self, open: usize) {
        let (Some(close), Some(name)) = (self.matching_bracket(open), open.checked_sub(1)) else {
            return;
        };
        let is_loop = self.bracket_context() == BracketContext::Body
            && self.is(close + 1, b'{')
            && self.tokens[name].begins_line
            && self.tokens[name].is_word()
            && kind_of_word(self.text(name)) != PartKind::Statement;
        let declares = (open + 1..open + 3).all(|at| self.token(at).is_some_and(Token::is_word))
            && kind_of_word(self.text(open + 1)) != PartKind::Statement
            && self.is(open + 3, b',');
        if is_loop && declares {
            self.blank_tokens(open + 1..close);
        }
    }

    /// Whether a mark makes a type one of pointers or references.
    pub(super) fn is_of_pointer(&self, index: usize) -> bool {
        self.is(index, b'*') || self.is(index, b'&')
    }

    /// The number of line ends between two tokens.
    pub(super) fn lines_between(&self, index: usize, next: Token) -> usize {
        let end = self.token(index).map_or(0, |token| token.end);
        let between = Span {
            start: end,
            end: next.start,
        };
        between
            .of(self.source)
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
    }

    /// Takes comments and escaped line ends out of a macro's value, which the grammar takes for its end.
    pub(super) fn tidy_define(&mut self, token: Token) {
        let Some(name) = defined_name(self.source, token) else {
            self.blank(token.span());
            return;
        };
        let rest = Span {
            start: name.end,
            end: token.end,
        };
        let text = rest.of(self.source);
        self.name_of_rest(rest, text);
        if !text.contains(&b'\\') && !text.contains(&b'/') {
            return;
        }
        let mut at = 0;
        while at < text.len() {
            let length = match &text[at..] {
                [b'\\', b'\n', ..] => 2,
                [b'\\', b'\r', b'\n', ..] => 3,
                [b'/', b'*', inner @ ..] => {
                    inner
                        .windows(2)
                        .position(|pair| pair == b"*/")
                        .map_or(inner.len(), |end| end + 2)
                        + 2
                }
                [b'"', inner @ ..] => {
                    at += 1 + inner.iter().position(|byte| *byte == b'"').unwrap_or(0);
                    0
                }
                _ => 0,
            };
            let start = rest.start + offset(at);
            if length > 0 {
                self.blank_all(Span {
                    start,
                    end: start + offset(length),
                });
            }
            at += length.max(1);
        }
    }

    /// `#define LOG(level, args...)` becomes `#define LOG(level,     ...)`.
    fn name_of_rest(&mut self, rest: Span, text: &[u8]) {
        let close = text.iter().position(|byte| *byte == b')');
        let parameters = close.map_or(&[][..], |close| &text[..close]);
        if parameters.first() == Some(&b'(')
            && let Some(named) = parameters.trim_ascii_end().strip_suffix(b"...")
        {
            let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
            let length = named.iter().rev().take_while(is_of_name).count();
            let end = rest.start + offset(named.len());
            self.blank(Span {
                start: end - offset(length),
                end,
            });
        }
    }

    /// Blanks a span with its line ends.
    fn blank_all(&mut self, span: Span) {
        self.blank(span);
        if let Some(text) = &mut self.readable.changed
            && let Some(text) = text.get_mut(span.start as usize..span.end as usize)
        {
            text.fill(b' ');
        }
    }

    /// Makes a condition that the grammar may stumble over a plain one.
    pub(super) fn tidy_condition(&mut self, token: Token) {
        let text = token.text(self.source);
        let name = lex::directive_name(text);
        let length = text.len() - text[1..].trim_ascii_start().len() + name.len();
        let rest = &text[length..];
        let start = token.start + offset(length);
        let condition = Span {
            start,
            end: token.end,
        };
        match name {
            b"if" | b"elif" => {
                let plain: &[u8] = match rest.first() {
                    Some(byte) if byte.is_ascii_whitespace() && rest.len() >= 2 => b" 1",
                    Some(b'(') if rest.len() >= 3 => b"(1)",
                    _ => return,
                };
                self.blank_all(condition);
                self.replace(condition, plain);
            }
            b"else" => self.blank_all(condition),
            _ => {}
        }
    }

    /// Takes what follows an `#endif` away.
    pub(super) fn tidy_end(&mut self, token: Token) {
        let text = token.text(self.source);
        let name = lex::directive_name(text);
        let length = text.len() - text[1..].trim_ascii_start().len() + name.len();
        if length < text.len() {
            let start = token.start + offset(length);
            self.blank_all(Span {
                start,
                end: token.end,
            });
        }
    }
}

fn is_directive(token: Token) -> bool {
    matches!(token.kind, TokenKind::Directive(_))
}

fn is_operator_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"and" | b"or" | b"not" | b"xor" | b"if" | b"else" | b"not_eq" | b"bitand" | b"bitor"
    )
}

fn is_operator(token: Token) -> bool {
    matches!(
        token.kind,
        TokenKind::Mark(
            b'=' | b'!' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'&' | b'|' | b'^' | b'%'
        )
    )
}
