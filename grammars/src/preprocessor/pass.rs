//! The pass over the tokens: where in the bracket structure we are, and which conditionals the grammar can read.

use std::collections::HashSet;

use tslp_core::elision;
use tslp_core::slice::Span;

use super::conditionals::{Conditionals, conditionals, is_never};
use super::ending;
use super::lex::{self, Directive, Kind, Lexed, Token};
use crate::parse::TOKENS_MAX;
use crate::readable::{Looks, PLACEHOLDER_BYTES_MAX, Readable};

/// What kind of text a bracket encloses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
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

/// What the statement so far has shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Statement {
    namespace: bool,
    aggregate: bool,
    enumeration: bool,
    group: bool,
}

/// One open bracket. Levels form a tree of parents, so that a state can be kept and restored at no cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    parent: u32,
    depth: u32,
    inside: Inside,
    outer: Statement,
}

/// Where the pass is; what a conditional's branches restore.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) level: u32,
    pub(super) statement: Statement,
    pub(super) at_start: bool,
    pub(super) before: Option<usize>,
}

/// An open conditional group.
pub(super) struct Group {
    pub(super) entry: State,
    pub(super) dissolved: bool,
    pub(super) for_cpp: bool,
    /// The directive whose branch the parser sees if the group is dissolved.
    pub(super) seen: usize,
}

/// Which of the two languages a text is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    C,
    Cpp,
}

pub(super) struct Pass<'a> {
    pub(super) dialect: Dialect,
    pub(super) source: &'a [u8],
    pub(super) tokens: Vec<Token>,
    pub(super) readable: Readable,
    pub(super) mates: Vec<u32>,
    pub(super) solid: Vec<u32>,
    pub(super) conditionals: Conditionals,
    pub(super) levels: Vec<Level>,
    pub(super) state: State,
    pub(super) groups: Vec<Group>,
    pub(super) cpp_groups: u32,
    defined: Option<HashSet<&'a [u8]>>,
    run_end: usize,
}

/// The text to be parsed in place of `source`.
pub(crate) fn readable(dialect: Dialect, source: &[u8]) -> Readable {
    let Lexed {
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
        mates: mates(&tokens),
        solid: solid(&tokens, source, &conditionals),
        readable: Readable {
            tokens: count,
            depth: conditionals.depth(),
            breaks_off: Some(breaks_off),
            ..Readable::default()
        },
        conditionals,
        tokens,
        levels: vec![Level {
            parent: 0,
            depth: 0,
            inside: Inside::Space,
            outer: Statement::default(),
        }],
        state: State {
            level: 0,
            statement: Statement::default(),
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
                Kind::Directive(directive) => self.directive(index, token, directive),
                _ if self.is_blanked(token) => index + 1,
                Kind::Word | Kind::Upper => self.word(index, token),
                Kind::Mark(mark) => self.mark(index, token, mark),
                Kind::Dots => self.dots(index, token),
                Kind::Number | Kind::Literal => {
                    self.units(index, token);
                    self.passed(index)
                }
                Kind::Colons => {
                    self.member_pointer(index);
                    self.passed(index)
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

    pub(super) fn inside(&self) -> Inside {
        self.levels[self.state.level as usize].inside
    }

    pub(super) fn at_start(&self) -> bool {
        self.state.at_start
    }

    /// The last token before the current one that is in force.
    pub(super) fn before(&self) -> Option<usize> {
        self.state.before
    }

    /// The bracket that closes the round one at `index`.
    pub(super) fn mate(&self, index: usize) -> Option<usize> {
        self.mates
            .get(index)
            .map(|mate| *mate as usize)
            .filter(|mate| *mate != 0)
    }

    /// Notes an ordinary token and goes on to the next.
    pub(super) fn passed(&mut self, index: usize) -> usize {
        self.state.at_start = false;
        self.state.before = Some(index);
        index + 1
    }

    /// Blanks what the grammar can't read. Line ends stay.
    pub(super) fn blank(&mut self, span: Span) {
        let text = self
            .readable
            .changed
            .get_or_insert_with(|| self.source.to_vec());
        if let Some(text) = text.get_mut(span.start as usize..span.end as usize) {
            for byte in text
                .iter_mut()
                .filter(|byte| !matches!(byte, b'\n' | b'\r'))
            {
                *byte = b' ';
            }
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

    /// Ends a statement after the token at `index`, if there is a blank to be made a semicolon.
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
                    .filter(|token| token.kind == Kind::Directive(Directive::Define))
                    .filter_map(|token| defined_name(source, *token))
                    .map(|span| span.of(source))
                    .collect()
            })
            .contains(name)
    }

    fn word(&mut self, index: usize, token: Token) -> usize {
        if index >= self.run_end || self.state.at_start {
            self.run_end = self.specifiers(index);
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
        let next = self.passed(index);
        self.state.at_start = continues;
        next
    }

    /// What a statement's first word says of the language. `class = 1;` is C, and `class A` never is.
    fn looks_like_cpp(&self, index: usize, word: &[u8]) -> Looks {
        let is_word = || {
            let next = self.token(index + 1);
            next.is_some_and(|next| matches!(next.kind, Kind::Word | Kind::Upper))
        };
        let fits = match word {
            b"class" => is_word(),
            b"namespace" => is_word() || self.is(index + 1, b'{'),
            b"template" => self.is(index + 1, b'<'),
            _ => return Looks::C,
        };
        if fits { Looks::Cpp } else { Looks::MaybeCpp }
    }

    fn mark(&mut self, index: usize, token: Token, mark: u8) -> usize {
        match mark {
            b'(' | b'[' => {
                let inside = self.kind_of_group(index, mark);
                self.state.statement.group |= mark == b'(';
                self.open(inside);
                self.passed(index)
            }
            b'{' => {
                let inside = self.kind_of_braces();
                self.open(inside);
                self.passed(index);
                self.state.at_start = inside != Inside::Values;
                index + 1
            }
            b')' | b']' => {
                let inside = self.close();
                self.old_style_parameters(index);
                self.passed(index);
                self.state.at_start = inside == Inside::Control || self.is_ended_after(token);
                if self.is_ended_after(token) {
                    self.state.statement = Statement::default();
                }
                index + 1
            }
            b'}' => {
                let inside = self.close();
                self.passed(index);
                self.state.at_start =
                    !matches!(inside, Inside::Values | Inside::Type | Inside::Enum);
                if self.state.at_start {
                    self.state.statement = Statement::default();
                }
                index + 1
            }
            b';' => {
                let next = self.passed(index);
                self.state.statement = Statement::default();
                self.state.at_start =
                    self.inside() != Inside::Group && self.inside() != Inside::Control;
                next
            }
            b':' if self.dialect == Dialect::Cpp && self.text(index.wrapping_sub(1)) == b"enum" => {
                self.enum_base(index)
            }
            b':' => {
                let next = self.passed(index);
                self.state.at_start = self.ends_label(index);
                next
            }
            _ => {
                self.odd_argument(index);
                let next = self.passed(index);
                self.default_of_braces(index).unwrap_or(next)
            }
        }
    }

    /// Whether the colon ends a label or an access specifier, not a conditional expression or a list of bases.
    fn ends_label(&self, colon: usize) -> bool {
        match self.inside() {
            Inside::Body => true,
            Inside::Type => colon.checked_sub(1).is_some_and(|index| {
                matches!(
                    self.text(index),
                    b"public" | b"private" | b"protected" | b"signals" | b"slots"
                )
            }),
            _ => false,
        }
    }

    fn open(&mut self, inside: Inside) {
        let outer = self.state.statement;
        let depth = self.levels[self.state.level as usize].depth + 1;
        self.readable.depth = self.readable.depth.max(depth);
        self.levels.push(Level {
            parent: self.state.level,
            depth,
            inside,
            outer,
        });
        self.state.level = u32::try_from(self.levels.len() - 1).unwrap_or(0);
        self.state.statement = Statement::default();
    }

    fn close(&mut self) -> Inside {
        let level = self.levels[self.state.level as usize];
        if self.state.level != 0 {
            self.state.level = level.parent;
            self.state.statement = level.outer;
        }
        level.inside
    }

    fn kind_of_group(&self, index: usize, mark: u8) -> Inside {
        let Some(before) = self
            .state
            .before
            .filter(|before| before + 1 == index && mark == b'(')
        else {
            return Inside::Group;
        };
        match (self.tokens[before].kind, self.text(before)) {
            (Kind::Upper, _) | (_, b"va_arg" | b"offsetof") => Inside::MacroCall,
            (_, b"if" | b"for" | b"while" | b"switch" | b"catch") => Inside::Control,
            _ => Inside::Group,
        }
    }

    fn kind_of_braces(&self) -> Inside {
        let before = self.state.before.and_then(|index| self.token(index));
        let statement = self.state.statement;
        let after = |mark| before.is_some_and(|token| token.is(mark));
        match self.inside() {
            Inside::Values if !after(b')') => Inside::Values,
            Inside::Group | Inside::MacroCall | Inside::Control if !after(b'(') && !after(b')') => {
                Inside::Values
            }
            _ if after(b'=') || after(b',') && !statement.group => Inside::Values,
            _ if statement.namespace => Inside::Space,
            _ if before.is_some_and(|token| token.kind == Kind::Literal) => Inside::Space,
            _ if statement.enumeration && !statement.group => Inside::Enum,
            _ if statement.aggregate && !after(b')') => Inside::Type,
            _ => Inside::Body,
        }
    }

    /// Dots that stand for left-out code, alone on their line or with words that say so, are blanked.
    fn dots(&mut self, index: usize, token: Token) -> usize {
        let between_items =
            self.state.at_start || matches!(self.inside(), Inside::Values | Inside::Enum);
        if !token.begins_line || !between_items {
            return self.passed(index);
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
            return self.passed(index);
        }
        self.blank_tokens(index..end);
        self.readable.elisions.push(line);
        end
    }
}

/// For each bracket of a round pair the index of the other; 0 where there is none.
fn mates(tokens: &[Token]) -> Vec<u32> {
    let mut mates = vec![0; tokens.len()];
    let mut open = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if token.is(b'(') {
            open.push(index);
        } else if token.is(b')')
            && let Some(start) = open.pop()
        {
            mates[start] = u32::try_from(index).unwrap_or(0);
            mates[index] = u32::try_from(start).unwrap_or(0);
        }
    }
    mates
}

/// For each token the index of the last one in force before it that is no directive; 0 where there is none.
fn solid(tokens: &[Token], source: &[u8], conditionals: &Conditionals) -> Vec<u32> {
    let mut last = 0;
    let mut dead_until = 0;
    let mut solid = Vec::with_capacity(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        solid.push(last);
        if !matches!(token.kind, Kind::Directive(_)) {
            if index >= dead_until {
                last = u32::try_from(index).unwrap_or(0);
            }
        } else if is_never(token.text(source))
            && let Some(branch) = conditionals.branch(index)
        {
            dead_until = branch.next as usize;
        }
    }
    solid
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
