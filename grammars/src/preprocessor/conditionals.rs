//! Conditional groups: which directives belong together, and whether each branch closes what it opens.

use std::borrow::Cow;

use super::lex::{self, Directive, Token, TokenKind, directive_name};

/// The branch that a directive begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Branch {
    /// Index of the token that ends the branch: the group's next directive. 0 if there is none.
    pub(super) next: u32,
    /// Whether the branch closes exactly the brackets that it opens.
    pub(super) balanced: bool,
    /// The number of brackets that it opens beyond those that it closes, and its lowest depth relative to its start.
    pub(super) effect: (i32, i32),
}

/// All branches, by the index of the directive token that begins them.
#[derive(Debug)]
pub(super) struct Conditionals {
    branches: Vec<(u32, Branch)>,
    depth: usize,
}

impl Conditionals {
    /// The nesting depth of groups.
    pub(super) fn depth(&self) -> u32 {
        u32::try_from(self.depth).unwrap_or(u32::MAX)
    }

    /// The branch that the token at `index` begins.
    pub(super) fn branch(&self, index: usize) -> Option<Branch> {
        let index = u32::try_from(index).ok()?;
        let at = self
            .branches
            .binary_search_by_key(&index, |(begin, _)| *begin)
            .ok()?;
        Some(self.branches[at].1).filter(|branch| branch.next != 0)
    }
}

/// A group whose end hasn't been reached.
struct OpenGroup {
    begin: usize,
    is_first: bool,
    is_dead: bool,
    depth: i32,
    lowest: i32,
    first_depth: i32,
    first_lowest: i32,
}

/// Pairs up the directives of `tokens`.
///
/// A branch that is never in force, `#if 0`, holds no brackets that count.
pub(super) fn conditionals(tokens: &[Token], source: &[u8]) -> Conditionals {
    let mut branches: Vec<(u32, Branch)> = Vec::new();
    let mut open: Vec<(OpenGroup, usize)> = Vec::new();
    let mut depth = 0;
    let mut deepest = 0;
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Mark(b'(' | b'[' | b'{') => depth += 1,
            TokenKind::Mark(b')' | b']' | b'}') => {
                depth -= 1;
                if let Some((group, _)) = open.last_mut() {
                    group.lowest = group.lowest.min(depth);
                }
            }
            TokenKind::Directive(Directive::If) => {
                let group = OpenGroup {
                    begin: index,
                    is_first: true,
                    is_dead: is_never(token.text(source)),
                    depth,
                    lowest: depth,
                    first_depth: depth,
                    first_lowest: depth,
                };
                open.push((group, branches.len()));
                deepest = deepest.max(open.len());
                branches.push((id(index), Branch::default()));
            }
            TokenKind::Directive(Directive::Branch) => {
                let Some((group, slot)) = open.last_mut() else {
                    continue;
                };
                branches[*slot].1 = group.ended(index, depth);
                depth = group.depth;
                group.begin = index;
                group.is_first &= group.is_dead;
                group.is_dead = false;
                group.lowest = depth;
                *slot = branches.len();
                branches.push((id(index), Branch::default()));
            }
            TokenKind::Directive(Directive::End) => {
                let Some((mut group, slot)) = open.pop() else {
                    continue;
                };
                branches[slot].1 = group.ended(index, depth);
                depth = group.first_depth;
                if let Some((outer, _)) = open.last_mut() {
                    outer.lowest = outer.lowest.min(group.first_lowest);
                }
            }
            _ => {}
        }
    }
    Conditionals {
        branches,
        depth: deepest,
    }
}

impl OpenGroup {
    fn ended(&mut self, next: usize, depth: i32) -> Branch {
        if self.is_dead {
            return Branch {
                next: id(next),
                balanced: true,
                effect: (0, 0),
            };
        }
        if self.is_first {
            self.first_depth = depth;
            self.first_lowest = self.lowest;
        }
        Branch {
            next: id(next),
            balanced: depth == self.depth && self.lowest >= self.depth,
            effect: (depth - self.depth, self.lowest - self.depth),
        }
    }
}

fn id(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Whether a directive is `#if 0`.
pub(super) fn is_never(directive: &[u8]) -> bool {
    if directive_name(directive) != b"if" {
        return false;
    }
    let condition = directive
        .split(u8::is_ascii_whitespace)
        .rfind(|word| !word.is_empty());
    let words = directive[1..]
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .count();
    words == 2 && condition == Some(b"0")
}

/// The text with all directives blanked that belong to a conditional whose beginning or end isn't there.
pub(crate) fn without_open_conditionals(source: &[u8]) -> Cow<'_, [u8]> {
    let tokens = lex::tokens(source).tokens;
    let mut open: Vec<Vec<Token>> = vec![Vec::new()];
    for token in tokens {
        match token.kind {
            TokenKind::Directive(Directive::If) => open.push(vec![token]),
            TokenKind::Directive(Directive::End) if open.len() > 1 => drop(open.pop()),
            TokenKind::Directive(Directive::Branch | Directive::End) => {
                open.last_mut()
                    .into_iter()
                    .for_each(|group| group.push(token));
            }
            _ => {}
        }
    }
    let mut text = Cow::Borrowed(source);
    for token in open.into_iter().flatten() {
        text.to_mut()[token.start as usize..token.end as usize].fill(b' ');
    }
    text
}
