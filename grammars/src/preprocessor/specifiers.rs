//! Macros among the words of a declaration: `SQLITE_API int f(…)`, `static NOINLINE void *g(…)`, `char *RESTRICT p`.
//!
//! A run of words before a declarator holds specifiers, one type and perhaps the name. A word in capitals that is
//! neither the only type nor the name is a macro. So is a call of such a word between specifiers.

use super::lex::{Token, TokenKind};
use super::pass::{ACCESS, BracketContext, Pass};
use tslp_core::slice::Span;

/// One part of a run.
#[derive(Clone, Copy, Debug)]
struct RunPart {
    kind: PartKind,
    begin: usize,
    end: usize,
}

/// The kind of a part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartKind {
    /// `const`, `static`: says nothing about the type.
    Specifier,
    /// `__attribute__((…))`, `__cdecl`: says nothing about structure, and grammars know only some of its places.
    Attribute,
    /// `int`, `struct tag`: a type by itself.
    Type,
    /// `return`, `public`: never part of a declaration's specifiers.
    Statement,
    /// A name that may be a type, the declared name, or a macro.
    Name,
    /// A name in capitals.
    Upper,
    /// A name in capitals with arguments.
    UpperCall,
}

impl Pass<'_> {
    /// Looks at the run of words that begins at `index`; blanks its macros. Returns the end of the run.
    pub(super) fn specifiers(&mut self, index: usize) -> usize {
        let upper = self.tokens[index].kind == TokenKind::Upper;
        if self.text(index) == b"template" && self.token(index + 1).is_some_and(Token::is_word) {
            // An explicit instantiation, which the grammar doesn't know.
            self.blank_tokens(index..index + 1);
            return index + 1;
        }
        if self.text(index) == b"inline" && self.text(index + 1) == b"friend" {
            // The grammar knows the two words in the other order alone.
            self.blank_tokens(index..index + 1);
            return index + 1;
        }
        if self.macro_call(index) {
            return index + 1;
        }
        if let Some(end) = self.section_of_members(index) {
            return end;
        }
        if self.is_line_before_call(index) {
            self.blank_part(RunPart {
                kind: PartKind::Upper,
                begin: index,
                end: index + 1,
            });
            return index + 1;
        }
        let Some(second) = self.token(index + 1) else {
            if upper && self.at_start() {
                self.blank_tokens(index..index + 1);
            }
            return index + 1;
        };
        let has_arguments = second.is(b'(') && (upper || is_attribute(self.text(index)));
        if !(second.is_word() || has_arguments || second.kind == TokenKind::Colons) {
            return self.lone_word(index, second);
        }
        let mut parts = self.parts(index);
        let mut end = parts.last().map_or(index + 1, |part| part.end);
        if let [part] = parts[..]
            && part.kind == PartKind::Attribute
            && self
                .previous_token()
                .is_some_and(|before| self.tokens[before].is_word() || self.is(before, b']'))
        {
            self.blank_tokens(part.begin..part.end);
            return end;
        }
        let all_lines = self.lines_of_macros(&parts, end).then_some(end);
        let lone = || self.lone_macro(index).then_some(index + 1);
        if let Some(end) = all_lines.or_else(lone) {
            self.blank_tokens(index..end);
            return end;
        }
        if let [_, .., last] = parts[..]
            && last.kind == PartKind::Upper
            && let Some(close) = self.matching_bracket(end).filter(|_| self.is(end, b'('))
        {
            self.macro_in_declarator(last.begin, close);
            if self.is_blanked(self.tokens[end]) {
                // Its brackets are those of the parameters: the name goes before it.
                parts.pop();
                end = last.begin;
            }
        }
        if !self.may_declare() {
            self.joined_macros(&parts);
            return end;
        }
        let macros = self.macros_among(&parts, end);
        for part in macros {
            self.blank_part(part);
        }
        end
    }

    /// Blanks a word before a colon that ends its line among members, which another compiler knows, and returns the end of it if it is a
    /// section by itself: `signals:`, `protected slots:`.
    fn section_of_members(&mut self, index: usize) -> Option<usize> {
        if !self.at_start() || self.bracket_context() != BracketContext::Type {
            return None;
        }
        let is_access = ACCESS.contains(&self.text(index));
        let word = index + usize::from(is_access);
        let (token, colon) = (self.token(word)?, self.token(word + 1)?);
        let next = self.token(word + 2)?;
        let gap = self.source.get(colon.end as usize..next.start as usize)?;
        if !token.is_word() || !colon.is(b':') || !gap.contains(&b'\n') {
            return None;
        }
        if is_access {
            self.blank_tokens(word..word + 1);
            return None;
        }
        self.blank_tokens(word..word + 2);
        Some(word + 2)
    }

    /// A run of one word: `MACRO` alone between items, `(WINAPI *name)(`, `f(void) NOEXCEPT;`.
    fn lone_word(&mut self, index: usize, next: Token) -> usize {
        let token = self.tokens[index];
        if token.kind == TokenKind::Upper {
            if next.is(b':') && self.at_start() && self.bracket_context() == BracketContext::Type {
                // An access specifier.
                self.blank_tokens(index..index + 2);
            }
            let alone = self.at_start()
                && matches!(
                    self.bracket_context(),
                    BracketContext::Space | BracketContext::Type | BracketContext::Body
                )
                && (next.is(b'~') && self.bracket_context() == BracketContext::Type
                    || next.begins_line
                        && (matches!(next.kind, TokenKind::Directive(_)) || next.is(b'}'))
                    || next.is(b'{') && self.bracket_context() == BracketContext::Body);
            let trailing = (self.follows_bounds(index) || self.follows_parameters())
                && [b';', b'{', b',', b'=', b':', b')']
                    .iter()
                    .any(|mark| next.is(*mark));
            if alone || trailing {
                self.blank(token.span());
            }
            if alone && next.is(b'~') {
                self.readable.prefixes.push(token.span());
            }
        }
        let is_name = self.is_name(index);
        let calling_convention = is_name
            && next.is(b'*')
            && index >= 2
            && self.is(index - 1, b'(')
            && self.token(index + 2).is_some_and(Token::is_word)
            && self.is(index + 3, b')')
            && self.is(index + 4, b'(')
            && (self.tokens[index - 2].is_word() || self.is(index - 2, b'*'));
        let opens_block = is_name
            && next.is(b'{')
            && self.token(index + 2).is_some_and(|it| it.begins_line)
            && self.at_start()
            && self.bracket_context() == BracketContext::Body;
        if calling_convention || opens_block || self.lone_macro(index) {
            self.blank(token.span());
        }
        index + 1
    }

    /// Whether a macro is alone on its line, and the next line begins with another's call.
    fn is_line_before_call(&self, index: usize) -> bool {
        let begins_line = |token: Token| token.kind == TokenKind::Upper && token.begins_line;
        self.at_start()
            && self.bracket_context() == BracketContext::Space
            && begins_line(self.tokens[index])
            && self.token(index + 1).is_some_and(begins_line)
            && self.matching_bracket(index + 2).is_some_and(|close| {
                self.is(index + 2, b'(') && !self.is(close + 1, b'(') && !self.is(close + 1, b'{')
            })
    }

    /// `= A B C`: no expression has two words in a row, so these are parts of a literal, of which the first is enough.
    fn joined_macros(&mut self, parts: &[RunPart]) {
        if let [first, .., last] = parts
            && parts.iter().all(is_upper)
        {
            self.blank_tokens(first.end..last.end);
        }
    }

    /// Whether a run is nothing but macros, each alone on its line, after which no declaration goes on.
    fn lines_of_macros(&self, parts: &[RunPart], end: usize) -> bool {
        let is_line = |part: &RunPart| is_upper(part) && self.tokens[part.begin].begins_line;
        let goes_on =
            |token: Token| !token.is(b'}') && !matches!(token.kind, TokenKind::Directive(_));
        self.at_start() && parts.iter().all(is_line) && !self.token(end).is_some_and(goes_on)
    }

    /// Whether a word alone on its line, where a statement begins, is a macro: it is defined here, or it stands
    /// where no expression can, as before `case`.
    fn lone_macro(&mut self, index: usize) -> bool {
        let (token, Some(next)) = (self.tokens[index], self.token(index + 1)) else {
            return false;
        };
        if !self.at_start() || !next.begins_line || self.bracket_context() == BracketContext::Enum {
            return false;
        }
        let text = self.text(index);
        if kind_of(token, text) != PartKind::Name {
            // No declaration goes on so: `END_WARNINGS`, and `a->b = 1;` on the next line.
            let goes_on = [b'-', b'+', b'.']
                .iter()
                .any(|mark| self.is(index + 2, *mark));
            return next.is_word() && goes_on;
        }
        let is_mixed = text.iter().any(u8::is_ascii_uppercase);
        let begins_next = kind_of_word(self.text(index + 1)) == PartKind::Statement && is_mixed;
        let ends_case =
            next.is(b'}') || begins_next || matches!(self.text(index + 1), b"case" | b"default");
        let is_name_apart = !next.is_word() || self.is(index + 2, b'(');
        ends_case && text.contains(&b'_')
            || !(is_name_apart && next.is_word()) && self.is_defined_here(text)
    }

    /// Whether a declaration can begin, or go on, where the pass is: not in the middle of an expression.
    fn may_declare(&self) -> bool {
        let Some(before) = self.previous_token().filter(|_| !self.at_start()) else {
            return true;
        };
        let token = self.tokens[before];
        token.is_word()
            || matches!(token.kind, TokenKind::Colons | TokenKind::Literal)
            || matches!(
                token.kind,
                TokenKind::Mark(
                    b'(' | b',' | b'*' | b'&' | b'<' | b'>' | b')' | b']' | b'~' | b':' | b'}'
                )
            )
    }

    /// Whether the last token closes the parameters of a declaration outside of functions.
    pub(super) fn follows_parameters(&self) -> bool {
        let Some(close) = self
            .previous_token()
            .filter(|before| self.is(*before, b')'))
        else {
            return false;
        };
        let Some(open) = self.matching_bracket(close) else {
            return false;
        };
        matches!(
            self.bracket_context(),
            BracketContext::Space | BracketContext::Type
        ) && open >= 1
            && (self.tokens[open - 1].kind == TokenKind::Word
                || self.is(open - 1, b')')
                || (2..5).any(|back| open >= back && self.text(open - back) == b"operator")
                || self.tokens[open - 1].is_word() && open >= 2 && self.continues(open - 2))
    }

    /// Whether the bounds of a declared array are in front.
    pub(super) fn follows_bounds(&self, index: usize) -> bool {
        let begins = |back: usize| {
            let open = index.checked_sub(back).filter(|open| *open > 0);
            open.is_some_and(|open| self.is(open, b'[') && self.is_name(open - 1))
        };
        index > 0 && self.is(index - 1, b']') && (begins(2) || begins(3))
    }

    /// Whether a declaration goes on after the token at `index`.
    fn continues(&self, index: usize) -> bool {
        let token = self.tokens[index];
        token.is_word() || token.is(b'*') || token.is(b'&') || token.kind == TokenKind::Colons
    }

    /// Takes away the declarations between the names of parameters and the body, `char *f(a) int a; {`: the grammar knows
    /// them only where no pointer is returned.
    pub(super) fn old_style_parameters(&mut self, close: usize) {
        let Some(open) = self
            .matching_bracket(close)
            .filter(|_| self.bracket_context() == BracketContext::Space)
        else {
            return;
        };
        let names = |at: usize| self.tokens[at].is_word() == ((at - open) % 2 == 1);
        let holds_names =
            close > open + 1 && (open + 1..close).all(names) && (close - open).is_multiple_of(2);
        let mut first = open;
        while first > 0 && self.tokens[first - 1].is_word() {
            first -= 1;
        }
        if !holds_names || first == open || first == 0 || !self.is(first - 1, b'*') {
            return;
        }
        let declares = |token: Token| match token.kind {
            TokenKind::Mark(mark) => matches!(mark, b'*' | b',' | b';' | b'[' | b']' | b'(' | b')'),
            kind => token.is_word() || kind == TokenKind::Number,
        };
        let mut end = close + 1;
        while self.token(end).is_some_and(declares) {
            end += 1;
        }
        if self.is(end, b'{') && self.is(end - 1, b';') {
            self.blank_tokens(close + 1..end);
        }
    }

    /// Splits a run into its parts.
    fn parts(&self, index: usize) -> Vec<RunPart> {
        let mut parts: Vec<RunPart> = Vec::new();
        let mut at = index;
        while let Some(token) = self.token(at).filter(|token| token.is_word()) {
            let mut end = at + 1;
            while self
                .token(end)
                .is_some_and(|token| token.kind == TokenKind::Colons)
                && self.token(end + 1).is_some_and(Token::is_word)
            {
                end += 2;
            }
            let mut kind = if end > at + 1 {
                PartKind::Name
            } else {
                kind_of(token, self.text(at))
            };
            if matches!(kind, PartKind::Upper) && self.is(end, b'(') {
                match self.matching_bracket(end).map(|close| close + 1) {
                    // A word in front of a body is a macro after the parameters of a function.
                    Some(after)
                        if self.token(after).is_some_and(Token::is_word)
                            && (parts.is_empty() || !self.is(after + 1, b'{')) =>
                    {
                        kind = PartKind::UpperCall;
                        end = after;
                    }
                    _ => {}
                }
            }
            if is_attribute(self.text(at)) && self.is(end, b'(') {
                let Some(close) = self.matching_bracket(end) else {
                    break;
                };
                kind = PartKind::Attribute;
                end = close + 1;
            }
            if is_tag_keyword(self.text(at)) {
                end = self.tag_end(end);
            }
            parts.push(RunPart {
                kind,
                begin: at,
                end,
            });
            at = end;
        }
        parts
    }

    /// The end of a tag that begins at `at`: `struct` takes one name along.
    fn tag_end(&self, at: usize) -> usize {
        match (self.token(at), self.token(at + 1)) {
            (Some(tag), Some(next)) if tag.kind == TokenKind::Upper && next.is(b'(') => at,
            (Some(tag), Some(_)) if tag.is_word() => at + 1,
            _ => at,
        }
    }

    /// The parts of a run that are macros.
    fn macros_among(&mut self, parts: &[RunPart], end: usize) -> Vec<RunPart> {
        let names_last =
            !(self.is(end, b'*') || self.is(end, b'&') || self.names_type_with_arguments(end));
        let after_type = self
            .previous_token()
            .is_some_and(|before| [b'*', b'&', b'>'].iter().any(|mark| self.is(before, *mark)));
        if self.follows_parameters() {
            return parts.iter().copied().filter(is_upper).collect();
        }
        if let Some(at) = parts
            .iter()
            .rposition(|part| part.kind == PartKind::Statement)
        {
            let first = parts
                .iter()
                .position(|part| part.kind == PartKind::Statement)
                .unwrap_or(at);
            return parts[..first].iter().copied().filter(is_upper).collect();
        }
        // `typedef __int8 int8_t;`
        let names_builtin = |specifiers: &[RunPart]| {
            let is_typedef = |part: &RunPart| self.text(part.begin) == b"typedef";
            specifiers.len() > 1 && specifiers.first().is_some_and(is_typedef) && self.is(end, b';')
        };
        let (specifiers, name) = match parts {
            [specifiers @ .., name]
                if names_last
                    && (matches!(name.kind, PartKind::Name | PartKind::Upper)
                        || names_builtin(specifiers)) =>
            {
                (specifiers, Some(*name))
            }
            specifiers => (specifiers, None),
        };
        let mut macros: Vec<RunPart> = parts
            .iter()
            .copied()
            .filter(|part| part.kind == PartKind::Attribute && parts.len() > 1)
            .collect();
        let names = specifiers
            .iter()
            .filter(|part| part.kind == PartKind::Name)
            .count();
        let has_type = specifiers.iter().any(|part| part.kind == PartKind::Type);
        if after_type || self.begins_constructor(end) {
            macros.extend(specifiers.iter().copied().filter(is_upper));
        } else if has_type || names > 0 {
            macros.extend(specifiers.iter().copied().filter(is_upper));
            let surplus = if has_type { names } else { names - 1 };
            self.take_named_macros(specifiers, surplus, &mut macros);
        } else {
            let uppers = specifiers.iter().copied().filter(is_upper);
            let keep = specifiers
                .iter()
                .copied()
                .rfind(|part| part.kind == PartKind::Upper);
            macros.extend(uppers.filter(|part| keep.is_some_and(|keep| keep.begin != part.begin)));
        }
        let declared_before = if has_type || after_type {
            names > 0
        } else {
            names > 1
        };
        if let Some(name) = name
            && name.kind == PartKind::Upper
            && declared_before
            && self.bracket_context() != BracketContext::Body
            && macros.iter().all(|part| part.kind != PartKind::Name)
        {
            macros.push(name);
        }
        macros
    }

    /// Whether `<…>` begins here and a name follows it, so that the word before is a type.
    fn names_type_with_arguments(&self, open: usize) -> bool {
        let past = self.past_arguments(open);
        past > open && self.token(past).is_some_and(Token::is_word)
    }

    /// Whether parameters at `open` are those of a constructor: the values of members follow.
    fn begins_constructor(&self, open: usize) -> bool {
        let Some(close) = self.matching_bracket(open).filter(|_| self.is(open, b'(')) else {
            return false;
        };
        let after = close + 1 + usize::from(self.text(close + 1) == b"noexcept");
        self.bracket_context() == BracketContext::Type && self.is(after, b':')
    }

    /// Lower-case words that can only be macros: known to be, or saying `inline`.
    fn take_named_macros(
        &mut self,
        specifiers: &[RunPart],
        surplus: usize,
        macros: &mut Vec<RunPart>,
    ) {
        let mut left = surplus;
        for part in specifiers.iter().filter(|part| part.kind == PartKind::Name) {
            if left == 0 {
                return;
            }
            let word = self.text(part.begin);
            if part.end == part.begin + 1
                && (says_inline(word) || word.starts_with(b"__") || self.is_defined_here(word))
            {
                macros.push(*part);
                left -= 1;
            }
        }
    }

    fn blank_part(&mut self, part: RunPart) {
        self.blank_tokens(part.begin..part.end);
        let span = Span {
            start: self.tokens[part.begin].start,
            end: self.tokens[part.end - 1].end,
        };
        self.readable.prefixes.push(span);
    }
}

fn is_upper(part: &RunPart) -> bool {
    matches!(part.kind, PartKind::Upper | PartKind::UpperCall)
}

fn says_inline(word: &[u8]) -> bool {
    word.windows(6)
        .any(|part| part == b"inline" || part == b"INLINE")
}

fn kind_of(token: Token, text: &[u8]) -> PartKind {
    if token.kind == TokenKind::Upper {
        return PartKind::Upper;
    }
    kind_of_word(text)
}

/// The kind of a word by itself; capitals count as any name.
pub(crate) fn kind_of_word(text: &[u8]) -> PartKind {
    match text {
        b"const" | b"volatile" | b"restrict" | b"__restrict" | b"__restrict__" | b"static"
        | b"extern" | b"inline" | b"__inline" | b"__inline__" | b"__forceinline" | b"register"
        | b"typedef" | b"constexpr" | b"consteval" | b"constinit" | b"virtual" | b"explicit"
        | b"friend" | b"mutable" | b"thread_local" | b"__thread" | b"_Thread_local"
        | b"_Noreturn" | b"noreturn" | b"_Atomic" | b"__extension__" | b"typename"
        | b"override" | b"final" | b"noexcept" => PartKind::Specifier,
        b"__cdecl" | b"__stdcall" | b"__fastcall" => PartKind::Attribute,
        b"void" | b"int" | b"char" | b"short" | b"long" | b"signed" | b"unsigned" | b"float"
        | b"double" | b"bool" | b"_Bool" | b"auto" | b"size_t" | b"ssize_t" | b"ptrdiff_t"
        | b"wchar_t" | b"int8_t" | b"int16_t" | b"int32_t" | b"int64_t" | b"uint8_t"
        | b"uint16_t" | b"uint32_t" | b"uint64_t" | b"intptr_t" | b"uintptr_t" | b"struct"
        | b"union" | b"enum" | b"class" => PartKind::Type,
        b"return" | b"goto" | b"case" | b"default" | b"else" | b"do" | b"if" | b"for"
        | b"while" | b"switch" | b"break" | b"continue" | b"sizeof" | b"new" | b"delete"
        | b"throw" | b"public" | b"private" | b"protected" | b"using" | b"namespace"
        | b"template" | b"operator" | b"co_return" | b"co_await" | b"co_yield" | b"try"
        | b"concept" | b"requires" | b"asm" | b"__asm__" | b"and" | b"or" | b"not" => {
            PartKind::Statement
        }
        _ => PartKind::Name,
    }
}

pub(super) fn is_tag_keyword(word: &[u8]) -> bool {
    matches!(word, b"struct" | b"union" | b"enum" | b"class")
}

fn is_attribute(word: &[u8]) -> bool {
    matches!(
        word,
        b"__attribute__" | b"__attribute" | b"__declspec" | b"alignas" | b"_Alignas"
    )
}
