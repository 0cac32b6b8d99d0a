//! Which brackets, and which words that enclose as brackets do, belong together.

use super::compiled::Language;
use super::data::KeywordBlock;
use super::lex::{Kind, Lexed, NONE, Token, offset};

/// What came of pairing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairing {
    /// How deep brackets nest.
    pub(super) depth: usize,
    /// Whether one is left open at the end of the text.
    pub(super) leaves_open: bool,
}

/// What a token does to what is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    None,
    /// Opens what the pair of this number closes.
    Opens(usize),
    Closes(usize),
}

/// Pairs up the tokens of a text, and notes as suspects those that remain.
pub(super) fn pair(language: &Language, source: &[u8], lexed: &mut Lexed) -> Pairing {
    let mut pairs = Pairs {
        language,
        source,
        lexed,
        open: Vec::new(),
        open_of: vec![0; language.brackets.len() + language.keyword_blocks.len()],
        loop_waits: false,
        depth: 0,
    };
    for index in 0..pairs.lexed.tokens.len() {
        if pairs.lexed.tokens[index].begins_line {
            pairs.loop_waits = false;
        }
        match pairs.effect(index) {
            Effect::None => {}
            Effect::Opens(pair) => pairs.opens(index, pair),
            Effect::Closes(pair) => pairs.closes(index, pair),
        }
    }
    pairs.finish()
}

struct Pairs<'a> {
    language: &'a Language,
    source: &'a [u8],
    lexed: &'a mut Lexed,
    open: Vec<(usize, usize)>,
    /// How many of each pair are open.
    open_of: Vec<usize>,
    /// Whether the `do` of this line belongs to a loop that is open already.
    loop_waits: bool,
    depth: usize,
}

impl Pairs<'_> {
    fn token(&self, index: usize) -> Option<Token> {
        self.lexed.tokens.get(index).copied()
    }

    fn text(&self, index: usize) -> &[u8] {
        self.token(index)
            .map_or(b"", |token| token.text(self.source))
    }

    fn effect(&mut self, index: usize) -> Effect {
        match self.lexed.tokens[index].kind {
            Kind::Mark(mark) => self
                .language
                .brackets
                .iter()
                .enumerate()
                .find_map(|(pair, (open, close))| match mark {
                    mark if mark == *open => Some(Effect::Opens(pair)),
                    mark if mark == *close => Some(Effect::Closes(pair)),
                    _ => None,
                })
                .unwrap_or(Effect::None),
            Kind::Word if !self.language.keyword_blocks.is_empty() && !self.is_name(index) => {
                self.effect_of_word(index)
            }
            _ => Effect::None,
        }
    }

    fn effect_of_word(&mut self, index: usize) -> Effect {
        let language = self.language;
        for (number, block) in language.keyword_blocks.iter().enumerate() {
            let pair = language.brackets.len() + number;
            let word = self.text(index);
            let next = self.text(index + 1);
            if language.same(word, &block.close) {
                return match language.among(next, &block.close_not_before) {
                    true => Effect::None,
                    false => Effect::Closes(pair),
                };
            }
            if self.loop_waits && word == b"do" {
                self.loop_waits = false;
                return Effect::None;
            }
            if self.opens_block(index, block) {
                self.loop_waits |= language.among(self.text(index), &block.loops);
                return Effect::Opens(pair);
            }
        }
        Effect::None
    }

    fn opens_block(&self, index: usize, block: &KeywordBlock) -> bool {
        let language = self.language;
        let word = self.text(index);
        let is_opening = language.among(word, &block.open)
            || language.among(word, &block.open_at_start) && self.begins_operand(index);
        let before = index.checked_sub(1).map_or(&b""[..], |at| self.text(at));
        let is_kept = language.among(self.text(index + 1), &block.open_not_before)
            || language.same(before, &block.close) && !self.lexed.tokens[index].begins_line
            || word == b"def" && self.is_endless(index);
        is_opening && !is_kept
    }

    /// Whether a word that looks like a keyword is part of a name: `.end`, `:end`, `end:`, `end?`.
    fn is_name(&self, index: usize) -> bool {
        let token = self.lexed.tokens[index];
        let before = index.checked_sub(1).and_then(|before| self.token(before));
        let sticks_to =
            |mark: u8| before.is_some_and(|before| before.is(mark) && before.end == token.start);
        let mark_after = |at: usize| match self.token(index + at)?.kind {
            Kind::Mark(mark) => Some(mark),
            _ => None,
        };
        let is_touched = self
            .token(index + 1)
            .is_some_and(|next| next.start == token.end);
        let is_key = mark_after(1) == Some(b':') && mark_after(2) != Some(b':');
        let is_query = matches!(mark_after(1), Some(b'?' | b'!')) && mark_after(2) != Some(b'=');
        sticks_to(b'.')
            || sticks_to(b':')
            || sticks_to(b'@')
            || sticks_to(b'$')
            || is_touched && (is_key || is_query)
            || before.is_some_and(|before| before.text(self.source) == b"def")
    }

    /// Whether a statement or an operand may begin at the token: what stands there is no modifier of what precedes.
    fn begins_operand(&self, index: usize) -> bool {
        let token = self.lexed.tokens[index];
        let Some(before) = index.checked_sub(1).and_then(|before| self.token(before)) else {
            return true;
        };
        token.begins_line
            || match before.kind {
                Kind::Mark(mark) => !matches!(mark, b')' | b']' | b'}' | b'?' | b'!'),
                Kind::Word => matches!(
                    before.text(self.source),
                    b"and" | b"or" | b"not" | b"then" | b"else" | b"do" | b"in" | b"when"
                ),
                Kind::Number | Kind::Text => false,
            }
    }

    /// Whether a method is defined by one expression: `def name(args) = value`.
    fn is_endless(&self, def: usize) -> bool {
        let mut at = def + 1;
        while self.token(at).is_some_and(|token| {
            !token.begins_line && (token.kind == Kind::Word || token.is(b'.') || token.is(b'?'))
        }) {
            at += 1;
        }
        let mut depth = 0_u32;
        while let Some(token) = self.token(at) {
            match token.kind {
                Kind::Mark(b'(') => depth += 1,
                Kind::Mark(b')') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && !token.is(b')') || token.begins_line {
                break;
            }
            at += 1;
        }
        let before = at.checked_sub(1).and_then(|before| self.token(before));
        self.token(at).is_some_and(|token| {
            token.is(b'=')
                && !token.begins_line
                && before.is_some_and(|before| before.end < token.start)
        })
    }

    fn opens(&mut self, index: usize, pair: usize) {
        self.open.push((index, pair));
        self.open_of[pair] += 1;
        self.depth = self.depth.max(self.open.len());
    }

    /// Closes the innermost open one of its pair, whatever was left open inside of it, unless that would close more than
    /// a smaller pair can.
    fn closes(&mut self, index: usize, pair: usize) {
        let is_innermost = self.open.last().is_some_and(|(_, open)| *open == pair);
        let closes_all = self.is_strong(pair) && self.open_of[pair] > 0;
        if !is_innermost && !closes_all {
            if self.is_loose(index) {
                return;
            }
            self.lexed.suspects.push(self.lexed.tokens[index].start);
            return;
        }
        while let Some((open, of)) = self.open.pop() {
            self.open_of[of] -= 1;
            if of == pair {
                self.lexed.tokens[open].mate = offset(index);
                self.lexed.tokens[index].mate = offset(open);
                return;
            }
            self.lexed.suspects.push(self.lexed.tokens[open].start);
        }
    }

    fn is_loose(&self, index: usize) -> bool {
        match self.lexed.tokens[index].kind {
            Kind::Mark(mark) => self.language.loose_closers.contains(&mark),
            _ => false,
        }
    }

    /// Braces and words enclose statements, and so what was left open among these ends with them.
    fn is_strong(&self, pair: usize) -> bool {
        self.language
            .brackets
            .get(pair)
            .is_none_or(|(open, _)| *open == b'{')
    }

    fn finish(self) -> Pairing {
        for (open, _) in &self.open {
            self.lexed.suspects.push(self.lexed.tokens[*open].start);
        }
        debug_assert!(
            self.lexed
                .tokens
                .iter()
                .all(|token| token.mate == NONE || (token.mate as usize) < self.lexed.tokens.len())
        );
        Pairing {
            depth: self.depth,
            leaves_open: !self.open.is_empty(),
        }
    }
}
