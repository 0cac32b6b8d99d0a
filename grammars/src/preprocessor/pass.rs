//! The pass over the tokens: it tracks the bracket structure, and decides which conditionals the grammar can read.

use std::collections::HashSet;

use tslp_core::elision;
use tslp_core::slice::Span;

use crate::node::offset;

use super::conditionals::{Conditionals, conditionals, is_never};
use super::ending;
use super::lex::{self, Directive, LexedSource, Token, TokenKind};
use crate::parse::TOKENS_MAX;
use crate::readable::{self, LanguageLooks, PLACEHOLDER_BYTES_MAX, Readable};

/// The words that say who may use the members after them.
pub(super) const ACCESS: [&[u8]; 3] = [b"public", b"private", b"protected"];

/// The kind of text that a bracket encloses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BracketContext {
    /// A file, a namespace or a linkage block.
    Space,
    /// The members of a struct, class or union.
    Type,
    /// Enumerators.
    Enum,
    /// An initialiser.
    Values,
    /// Statements.
    Body,
    /// Round or square brackets.
    Group,
    /// Arguments of what looks like a macro.
    MacroCall,
    /// The head of an `if`, `for`, `while` or `switch`.
    Control,
}

/// What is known of the current statement so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StatementState {
    namespace: bool,
    aggregate: bool,
    enumeration: bool,
    group: bool,
}

/// One open bracket. Levels form a tree of parents, so that a state can be kept and restored at no cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassLevel {
    pub(super) parent: u32,
    depth: u32,
    pub(super) inside: BracketContext,
    outer: StatementState,
}

/// The position of the pass, which a conditional's branches restore.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassState {
    pub(super) level: u32,
    pub(super) statement: StatementState,
    pub(super) at_start: bool,
    pub(super) before: Option<usize>,
}

/// An open conditional group.
pub(super) struct OpenConditional {
    pub(super) entry: PassState,
    pub(super) dissolved: bool,
    pub(super) for_cpp: bool,
    /// The directive whose branch the parser sees if the group is dissolved.
    pub(super) seen: usize,
}

/// The language as which a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CDialect {
    C,
    Cpp,
}

pub(super) struct Pass<'a> {
    pub(super) dialect: CDialect,
    pub(super) source: &'a [u8],
    pub(super) tokens: Vec<Token>,
    pub(super) readable: Readable,
    pub(super) mates: Vec<u32>,
    pub(super) solid: Vec<u32>,
    pub(super) conditionals: Conditionals,
    pub(super) levels: Vec<PassLevel>,
    pub(super) state: PassState,
    pub(super) groups: Vec<OpenConditional>,
    pub(super) cpp_groups: u32,
    defined: Option<HashSet<&'a [u8]>>,
    run_end: usize,
}

/// The text to be parsed in place of `source`.
pub(crate) fn readable(dialect: CDialect, source: &[u8]) -> Readable {
    let LexedSource {
        tokens,
        count,
        unclosed,
    } = lex::tokens(source);
    if count > TOKENS_MAX {
        return Readable {
            tokens: count,
            ..Readable::default()
        };
    }
    let breaks_off = unclosed || ending::leaves_open(&tokens, source);
    let conditionals = conditionals(&tokens, source);
    let mut pass = Pass {
        dialect,
        source,
        mates: matching_brackets(&tokens),
        solid: previous_code_tokens(&tokens, source, &conditionals),
        readable: Readable {
            tokens: count,
            depth: conditionals.depth(),
            breaks_off: Some(breaks_off),
            ..Readable::default()
        },
        conditionals,
        tokens,
        levels: vec![PassLevel {
            parent: 0,
            depth: 0,
            inside: BracketContext::Space,
            outer: StatementState::default(),
        }],
        state: PassState {
            level: 0,
            statement: StatementState::default(),
            at_start: true,
            before: None,
        },
        groups: Vec::new(),
        cpp_groups: 0,
        defined: None,
        run_end: 0,
    };
    pass.run();
    pass.readable.prefixes.sort_unstable();
    pass.readable
}

impl<'a> Pass<'a> {
    fn run(&mut self) {
        let mut index = 0;
        while let Some(&token) = self.tokens.get(index) {
            index = match token.kind {
                TokenKind::Directive(directive) => self.pass_directive(index, token, directive),
                _ if self.is_blanked(token) => index + 1,
                TokenKind::Word | TokenKind::Upper => self.pass_word(index, token),
                TokenKind::Mark(mark) => self.pass_mark(index, token, mark),
                TokenKind::Dots => self.pass_dots(index, token),
                TokenKind::Number | TokenKind::Literal => {
                    self.units(index, token);
                    self.pass_token(index)
                }
                TokenKind::Colons => {
                    self.member_pointer(index);
                    self.pass_token(index)
                }
            };
        }
    }

    pub(super) fn token(&self, index: usize) -> Option<Token> {
        self.tokens.get(index).copied()
    }

    pub(super) fn text(&self, index: usize) -> &'a [u8] {
        self.token(index)
            .map_or(b"", |token| token.text(self.source))
    }

    pub(super) fn is(&self, index: usize, mark: u8) -> bool {
        self.token(index).is_some_and(|token| token.is(mark))
    }

    pub(super) fn bracket_context(&self) -> BracketContext {
        self.levels[self.state.level as usize].inside
    }

    pub(super) fn at_start(&self) -> bool {
        self.state.at_start
    }

    /// The last token before the current one that is in force.
    pub(super) fn previous_token(&self) -> Option<usize> {
        self.state.before
    }

    /// The bracket that closes the round one at `index`.
    pub(super) fn matching_bracket(&self, index: usize) -> Option<usize> {
        self.mates
            .get(index)
            .map(|mate| *mate as usize)
            .filter(|mate| *mate != 0)
    }

    /// Takes note of an ordinary token; returns the index of the next.
    pub(super) fn pass_token(&mut self, index: usize) -> usize {
        self.state.at_start = false;
        self.state.before = Some(index);
        index + 1
    }

    /// Blanks a span that the grammar can't read. Line ends stay.
    pub(super) fn blank(&mut self, span: Span) {
        let text = self
            .readable
            .changed
            .get_or_insert_with(|| self.source.to_vec());
        if let Some(text) = text.get_mut(span.start as usize..span.end as usize) {
            readable::blank(text);
        }
    }

    /// Blanks tokens one by one, so that comments among them stay.
    pub(super) fn blank_tokens(&mut self, range: std::ops::Range<usize>) {
        for index in range {
            if let Some(token) = self.token(index) {
                self.blank(token.span());
            }
        }
    }

    /// Puts `with` at the start of `span` and blanks the rest.
    pub(super) fn replace(&mut self, span: Span, with: &[u8]) {
        self.blank(span);
        let start = span.start as usize;
        if let Some(text) = &mut self.readable.changed
            && let Some(place) = text.get_mut(start..start + with.len())
            && with.len() <= span.len() as usize
        {
            place.copy_from_slice(with);
        }
    }

    /// Ends a statement after the token at `index`, if there is whitespace to replace by a semicolon.
    pub(super) fn end_statement_after(&mut self, index: usize) -> bool {
        let Some(token) = self.token(index) else {
            return false;
        };
        let has_blank = self
            .source
            .get(token.end as usize)
            .is_some_and(u8::is_ascii_whitespace);
        if has_blank {
            self.replace(
                Span {
                    start: token.end,
                    end: token.end + 1,
                },
                b";",
            );
        }
        has_blank
    }

    pub(super) fn is_blanked(&self, token: Token) -> bool {
        self.readable
            .changed
            .as_ref()
            // No token begins with a space, so a space in its place was put there.
            .is_some_and(|text| text[token.start as usize] == b' ')
    }

    pub(super) fn is_ended_after(&self, token: Token) -> bool {
        self.readable.changed.as_ref().is_some_and(|text| {
            text.get(token.end as usize) == Some(&b';') && self.source[token.end as usize] != b';'
        })
    }

    /// Whether a name is defined in this very text as a macro.
    pub(super) fn is_defined_here(&mut self, name: &[u8]) -> bool {
        let (tokens, source) = (&self.tokens, self.source);
        self.defined
            .get_or_insert_with(|| {
                tokens
                    .iter()
                    .filter(|token| token.kind == TokenKind::Directive(Directive::Define))
                    .filter_map(|token| defined_name(source, *token))
                    .map(|span| span.of(source))
                    .collect()
            })
            .contains(name)
    }

    fn pass_word(&mut self, index: usize, token: Token) -> usize {
        if let Some(next) = self.placed_macro(index) {
            return next;
        }
        if index >= self.run_end || self.state.at_start {
            if !self.is_blanked(token) {
                self.run_end = self.specifiers(index);
            }
            if self.is_blanked(token) {
                return index + 1;
            }
        }
        self.odd_words(index);
        if self.is_blanked(token) {
            return index + 1;
        }
        if let Some(next) = self.operator_call(index) {
            return next;
        }
        let statement = &mut self.state.statement;
        match token.text(self.source) {
            b"namespace" => statement.namespace = true,
            b"struct" | b"class" | b"union" if !statement.group => statement.aggregate = true,
            b"enum" => statement.enumeration = true,
            _ => {}
        }
        if self.state.at_start && self.cpp_groups == 0 {
            let seen = self.looks_like_cpp(index, token.text(self.source));
            self.readable.looks = self.readable.looks.max(seen);
        }
        let continues = matches!(token.text(self.source), b"else" | b"do" | b"try");
        let next = self.pass_token(index);
        self.state.at_start = continues;
        next
    }

    /// The language that a statement's first word suggests. `class = 1;` is C, and `class A` never is.
    fn looks_like_cpp(&self, index: usize, word: &[u8]) -> LanguageLooks {
        let is_word = || {
            let next = self.token(index + 1);
            next.is_some_and(|next| matches!(next.kind, TokenKind::Word | TokenKind::Upper))
        };
        let fits = match word {
            b"class" => is_word(),
            b"namespace" => is_word() || self.is(index + 1, b'{'),
            b"template" => self.is(index + 1, b'<'),
            _ => return LanguageLooks::C,
        };
        if fits {
            LanguageLooks::Cpp
        } else {
            LanguageLooks::MaybeCpp
        }
    }

    fn pass_mark(&mut self, index: usize, token: Token, mark: u8) -> usize {
        match mark {
            b'(' | b'[' => {
                self.signature_in_macro(index);
                self.variable_of_loop(index);
                let inside = self.kind_of_group(index, mark);
                self.state.statement.group |= mark == b'(';
                self.open(inside);
                self.pass_token(index)
            }
            b'{' => {
                let inside = self.kind_of_braces();
                self.open(inside);
                self.pass_token(index);
                self.state.at_start = inside != BracketContext::Values;
                index + 1
            }
            b')' | b']' => {
                let inside = self.close();
                self.old_style_parameters(index);
                self.pass_token(index);
                self.state.at_start =
                    inside == BracketContext::Control || self.is_ended_after(token);
                if self.is_ended_after(token) {
                    self.state.statement = StatementState::default();
                }
                index + 1
            }
            b'}' => {
                let inside = self.close();
                self.pass_token(index);
                self.state.at_start = !matches!(
                    inside,
                    BracketContext::Values | BracketContext::Type | BracketContext::Enum
                );
                if self.state.at_start {
                    self.state.statement = StatementState::default();
                }
                index + 1
            }
            b';' => {
                let next = self.pass_token(index);
                self.state.statement = StatementState::default();
                self.state.at_start = self.bracket_context() != BracketContext::Group
                    && self.bracket_context() != BracketContext::Control;
                next
            }
            b':' if self.dialect == CDialect::Cpp
                && self.text(index.wrapping_sub(1)) == b"enum" =>
            {
                self.enum_base(index)
            }
            b':' => {
                let next = self.pass_token(index);
                self.state.at_start = self.ends_label(index);
                next
            }
            _ => {
                self.odd_argument(index);
                let next = self.pass_token(index);
                self.default_of_braces(index).unwrap_or(next)
            }
        }
    }

    /// Whether the colon ends a label or an access specifier, not a conditional expression or a list of bases.
    fn ends_label(&self, colon: usize) -> bool {
        match self.bracket_context() {
            BracketContext::Body => true,
            BracketContext::Type => colon.checked_sub(1).is_some_and(|index| {
                let is_section = |index: usize| ACCESS.contains(&self.text(index));
                let is_blanked = self.is_blanked(self.tokens[index]);
                is_section(index) || is_blanked && index.checked_sub(1).is_some_and(is_section)
            }),
            _ => false,
        }
    }

    fn open(&mut self, inside: BracketContext) {
        let outer = self.state.statement;
        let depth = self.levels[self.state.level as usize].depth + 1;
        self.readable.depth = self.readable.depth.max(depth);
        self.levels.push(PassLevel {
            parent: self.state.level,
            depth,
            inside,
            outer,
        });
        self.state.level = offset(self.levels.len() - 1);
        self.state.statement = StatementState::default();
    }

    fn close(&mut self) -> BracketContext {
        let level = self.levels[self.state.level as usize];
        // A bracket too many closes nothing: the file itself stays open.
        if self.state.level != 0 {
            self.state.level = level.parent;
            self.state.statement = level.outer;
        }
        level.inside
    }

    fn kind_of_group(&self, index: usize, mark: u8) -> BracketContext {
        let Some(before) = self
            .state
            .before
            .filter(|before| before + 1 == index && mark == b'(')
        else {
            return BracketContext::Group;
        };
        match self.text(before) {
            name if is_macro_name(self.tokens[before].kind, name) => BracketContext::MacroCall,
            b"if" | b"for" | b"while" | b"switch" | b"catch" => BracketContext::Control,
            _ => BracketContext::Group,
        }
    }

    fn kind_of_braces(&self) -> BracketContext {
        let before = self.state.before.and_then(|index| self.token(index));
        let statement = self.state.statement;
        let after = |mark| before.is_some_and(|token| token.is(mark));
        match self.bracket_context() {
            BracketContext::Values if !after(b')') => BracketContext::Values,
            BracketContext::Group | BracketContext::MacroCall | BracketContext::Control
                if !after(b'(') && !after(b')') =>
            {
                BracketContext::Values
            }
            _ if after(b'=') || after(b',') && !statement.group => BracketContext::Values,
            _ if statement.namespace => BracketContext::Space,
            _ if before.is_some_and(|token| token.kind == TokenKind::Literal) => {
                BracketContext::Space
            }
            _ if statement.enumeration && !statement.group => BracketContext::Enum,
            _ if statement.aggregate && !after(b')') => BracketContext::Type,
            _ => BracketContext::Body,
        }
    }

    /// Blanks dots that replace left-out code: alone on their line or with words that describe it.
    fn pass_dots(&mut self, index: usize, token: Token) -> usize {
        let between_items = self.state.at_start
            || matches!(
                self.bracket_context(),
                BracketContext::Values | BracketContext::Enum
            );
        if !token.begins_line || !between_items {
            return self.pass_token(index);
        }
        let mut end = index + 1;
        while self.token(end).is_some_and(|next| !next.begins_line) {
            end += 1;
        }
        let line = Span {
            start: token.start,
            end: self.tokens[end - 1].end,
        };
        let is_short = line.len() as usize <= PLACEHOLDER_BYTES_MAX;
        let stands_for_code = end == index + 1
            || is_short && elision::is_placeholder(&String::from_utf8_lossy(line.of(self.source)));
        if !stands_for_code {
            return self.pass_token(index);
        }
        self.blank_tokens(index..end);
        self.readable.elisions.push(line);
        end
    }
}

/// For each bracket of a round pair the index of the other; 0 where there is none.
fn matching_brackets(tokens: &[Token]) -> Vec<u32> {
    let mut mates = vec![0; tokens.len()];
    let mut open = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if token.is(b'(') {
            open.push(index);
        } else if token.is(b')')
            && let Some(start) = open.pop()
        {
            mates[start] = offset(index);
            mates[index] = offset(start);
        }
    }
    mates
}

/// For each token the index of the last one in force before it that is no directive; 0 where there is none.
fn previous_code_tokens(tokens: &[Token], source: &[u8], conditionals: &Conditionals) -> Vec<u32> {
    let mut last = 0;
    let mut dead_until = 0;
    let mut solid = Vec::with_capacity(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        solid.push(last);
        if !matches!(token.kind, TokenKind::Directive(_)) {
            if index >= dead_until {
                last = offset(index);
            }
        } else if is_never(token.text(source))
            && let Some(branch) = conditionals.branch(index)
        {
            dead_until = branch.next as usize;
        }
    }
    solid
}

/// Whether only a macro is called so: in capitals, or one of those that every compiler knows.
pub(super) fn is_macro_name(kind: TokenKind, name: &[u8]) -> bool {
    kind == TokenKind::Upper || matches!(name, b"va_arg" | b"offsetof")
}

/// The name a `#define` defines.
pub(super) fn defined_name(source: &[u8], token: Token) -> Option<Span> {
    let text = token.text(source);
    let after = text.windows(6).position(|word| word == b"define")? + 6;
    let rest = &text[after..];
    let blanks = rest.len() - rest.trim_ascii_start().len();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
    let length = rest[blanks..]
        .iter()
        .take_while(|byte| is_name(byte))
        .count();
    let start = token.start + u32::try_from(after + blanks).ok()?;
    let end = start + u32::try_from(length).ok()?;
    (length > 0).then_some(Span { start, end })
}
