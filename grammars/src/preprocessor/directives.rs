//! Directives and conditionals: those that the grammar can read stay, the others are dissolved.
//!
//! Grammars hold conditionals whose branches are whole items. Any other is dissolved: its directives are blanked, and
//! of its branches only the first stays, as if that were the configuration at hand.

use super::conditionals::is_never;
use super::lex::{self, Directive, Token, TokenKind};
use super::pass::{BracketContext, OpenConditional, Pass, defined_name};

impl Pass<'_> {
    /// Whether whole items may stand here, as the grammar's conditionals hold them.
    pub(super) fn between_items(&self) -> bool {
        match self.bracket_context() {
            BracketContext::Space | BracketContext::Type => self.state.at_start,
            BracketContext::Body => self.state.at_start && !self.wants_statement(),
            BracketContext::Enum => self
                .state
                .before
                .is_some_and(|before| self.is(before, b'{') || self.is(before, b',')),
            _ => false,
        }
    }

    /// Whether a label or the head of a statement comes before, which need one statement: the grammar doesn't look for it
    /// inside of a conditional.
    fn wants_statement(&self) -> bool {
        let Some(before) = self.state.before else {
            return false;
        };
        let is_head = self.is(before, b')') && !self.is_ended_after(self.tokens[before]);
        is_head || self.is(before, b':') || matches!(self.text(before), b"else" | b"do")
    }

    pub(super) fn pass_directive(
        &mut self,
        index: usize,
        token: Token,
        directive: Directive,
    ) -> usize {
        let holds_directives =
            self.between_items() && self.bracket_context() != BracketContext::Enum;
        match directive {
            Directive::If => self.pass_conditional(index, token),
            Directive::Branch => self.branch(index, token),
            Directive::End => self.end(index, token),
            Directive::Define if !holds_directives => {
                self.blank(token.span());
                if let Some(name) = defined_name(self.source, token) {
                    self.readable.macros.push((token.span(), name));
                }
                index + 1
            }
            Directive::Define => {
                self.tidy_define(token);
                index + 1
            }
            Directive::Other if !holds_directives || is_nameless(token.text(self.source)) => {
                self.blank(token.span());
                index + 1
            }
            Directive::Other => index + 1,
        }
    }

    fn pass_conditional(&mut self, index: usize, token: Token) -> usize {
        let Some(first) = self.conditionals.branch(index) else {
            return index + 1;
        };
        let dead = is_never(token.text(self.source));
        let next = first.next as usize;
        let dead = dead || self.repeats_value(index) || self.is_of_old_style(index, next);
        let dissolved = !self.between_items() || !self.holds_items(index, dead);
        let for_cpp = token
            .text(self.source)
            .windows(11)
            .any(|text| text == b"__cplusplus");
        self.cpp_groups += u32::from(for_cpp);
        self.groups.push(OpenConditional {
            entry: self.state,
            dissolved,
            for_cpp,
            seen: if dead { first.next as usize } else { index },
        });
        if dissolved {
            self.blank(token.span());
        } else {
            self.tidy_condition(token);
        }
        if !dead {
            self.blank_prose(index);
            return index + 1;
        }
        self.blank_tokens(index + 1..next);
        if dissolved && self.tokens[next].kind == TokenKind::Directive(Directive::Branch) {
            // The other branch is the one in force.
            self.blank(self.tokens[next].span());
            return next + 1;
        }
        next
    }

    /// Whether a branch has the parameters in the style of 1978, `(a) int a;`, and the next one has them in today's.
    fn is_of_old_style(&self, index: usize, next: usize) -> bool {
        let ends_with = |end: usize, mark| self.is(self.solid[end] as usize, mark);
        let other = self
            .conditionals
            .branch(next)
            .map_or(0, |it| it.next as usize);
        self.is(index + 1, b'(')
            && ends_with(next, b';')
            && self.is(next + 1, b'(')
            && ends_with(other, b')')
    }

    /// A branch may hold a sentence, to break a build: no code ends with a full stop.
    fn blank_prose(&mut self, branch: usize) {
        let last = self
            .conditionals
            .branch(branch)
            .map_or(0, |it| self.solid[it.next as usize] as usize);
        if self.is(last, b'.') {
            self.blank_tokens(branch + 1..last + 1);
        }
    }

    /// Whether a conditional among values brings one where a comma is due: it is the twin of another conditional.
    fn repeats_value(&self, index: usize) -> bool {
        let is_value = |token: Token| {
            matches!(
                token.kind,
                TokenKind::Number | TokenKind::Literal | TokenKind::Word | TokenKind::Upper
            )
        };
        let after_value = self
            .state
            .before
            .and_then(|before| self.token(before))
            .is_some_and(|token| is_value(token) || token.is(b'}'));
        self.bracket_context() == BracketContext::Values
            && after_value
            && self.token(index + 1).is_some_and(|token| {
                is_value(token) && token.kind != TokenKind::Literal || token.is(b'{')
            })
    }

    fn branch(&mut self, index: usize, token: Token) -> usize {
        let Some(group) = self.groups.last() else {
            return index + 1;
        };
        if !group.dissolved {
            self.state = group.entry;
            self.tidy_condition(token);
            self.blank_prose(index);
            return index + 1;
        }
        let seen = group.seen;
        let mut end = index;
        while self.tokens[end].kind != TokenKind::Directive(Directive::End) {
            match self.conditionals.branch(end) {
                Some(branch) => end = branch.next as usize,
                None => return index + 1,
            }
        }
        self.blank_tokens(index..end);
        self.compare_branches(seen, index);
        end
    }

    fn end(&mut self, index: usize, token: Token) -> usize {
        let Some(group) = self.groups.pop() else {
            return index + 1;
        };
        self.cpp_groups -= u32::from(group.for_cpp);
        if group.dissolved {
            self.blank(token.span());
        } else {
            self.state = group.entry;
            self.tidy_end(token);
        }
        index + 1
    }

    /// Branches that the parser doesn't see must do the same to brackets as the one that it sees, and leave statements
    /// as finished or unfinished as that one.
    fn compare_branches(&mut self, seen: usize, unseen: usize) {
        let Some(expected) = self.conditionals.branch(seen) else {
            return;
        };
        let finishes = self.finishes_statement(seen, expected.next as usize);
        let mut unseen = unseen;
        while let Some(branch) = self.conditionals.branch(unseen) {
            let next = branch.next as usize;
            let other_finishes = self.finishes_statement(unseen, next);
            let agrees = finishes.zip(other_finishes).is_none_or(|(a, b)| a == b);
            if branch.effect != expected.effect || !agrees {
                self.readable.suspects.push(self.tokens[unseen].start);
            }
            unseen = next;
        }
    }

    /// Whether the branch between two directives ends with a statement's end; nothing, if it is empty.
    fn finishes_statement(&self, begin: usize, next: usize) -> Option<bool> {
        let last = self.solid[next] as usize;
        (last > begin).then(|| self.is(last, b';') || self.is(last, b'}') || self.is(last, b'{'))
    }

    /// Whether each branch of the group holds nothing but whole items.
    fn holds_items(&self, group: usize, first_is_dead: bool) -> bool {
        let mut begin = group;
        while let Some(branch) = self.conditionals.branch(begin) {
            let next = branch.next as usize;
            let is_dead = first_is_dead && begin == group;
            let is_item = branch.balanced && self.is_whole(begin, next);
            if !is_dead && !is_item {
                return false;
            }
            begin = next;
        }
        self.text(begin + 1) != b"else"
    }

    /// Whether the branch between two directives begins and ends with whole statements.
    fn is_whole(&self, begin: usize, next: usize) -> bool {
        let last = self.solid[next] as usize;
        if last <= begin {
            return true;
        }
        if self.text(begin + 1) == b"else" {
            return false;
        }
        let token = self.tokens[last];
        match token.kind {
            TokenKind::Mark(b',') => self.bracket_context() == BracketContext::Enum,
            TokenKind::Mark(b';' | b'}' | b':' | b'.') => {
                self.bracket_context() != BracketContext::Enum
            }
            TokenKind::Mark(b')') => self.matching_bracket(last).is_some_and(|open| {
                open > begin + 1
                    && self.tokens[open - 1].kind == TokenKind::Upper
                    && self.tokens[open - 1].begins_line
            }),
            TokenKind::Upper => token.begins_line,
            TokenKind::Dots => true,
            _ => false,
        }
    }
}

fn is_nameless(directive: &[u8]) -> bool {
    lex::directive_name(directive).is_empty()
}
