//! Whether a text of C or C++ ends in the middle of something.

use super::conditionals::is_never;
use super::lex::{Directive, Token, TokenKind};

/// One open bracket; a chain of parents, so that a conditional's branches can start from the same place at no cost.
#[derive(Clone, Copy)]
struct BracketLevel {
    parent: usize,
    mark: u8,
    /// The innermost level at or around this one that a brace opened; 0 if there is none.
    brace: usize,
}

/// A conditional group whose end hasn't been reached.
struct OpenGroup {
    entry: usize,
    /// The level at which the first branch that counts ended.
    after: Option<usize>,
    is_dead: bool,
}

/// Whether brackets or conditionals are left open at the end of `tokens`.
///
/// Of a conditional's branches the first one counts, so that twins which open one brace each open one. A closing brace
/// closes the innermost open one, whatever else was left open in between: that is an error, but no text that breaks off.
pub(super) fn leaves_open(tokens: &[Token], source: &[u8]) -> bool {
    let mut levels = vec![BracketLevel {
        parent: 0,
        mark: 0,
        brace: 0,
    }];
    let mut groups: Vec<OpenGroup> = Vec::new();
    let mut now = 0;
    for token in tokens {
        match token.kind {
            TokenKind::Mark(mark @ (b'(' | b'[' | b'{')) => {
                let brace = match mark {
                    b'{' => levels.len(),
                    _ => levels[now].brace,
                };
                levels.push(BracketLevel {
                    parent: now,
                    mark,
                    brace,
                });
                now = levels.len() - 1;
            }
            TokenKind::Mark(b')') if levels[now].mark == b'(' => now = levels[now].parent,
            TokenKind::Mark(b']') if levels[now].mark == b'[' => now = levels[now].parent,
            TokenKind::Mark(b'}') => now = levels[levels[now].brace].parent,
            TokenKind::Directive(Directive::If) => groups.push(OpenGroup {
                entry: now,
                after: None,
                is_dead: is_never(token.text(source)),
            }),
            TokenKind::Directive(Directive::Branch) => {
                if let Some(group) = groups.last_mut() {
                    now = group.ended(now);
                    group.is_dead = false;
                }
            }
            TokenKind::Directive(Directive::End) => {
                if let Some(mut group) = groups.pop() {
                    group.ended(now);
                    now = group.after.unwrap_or(group.entry);
                }
            }
            _ => {}
        }
    }
    now != 0 || !groups.is_empty()
}

impl OpenGroup {
    /// Records the level at which a branch ended; returns the one at which the next one begins.
    fn ended(&mut self, now: usize) -> usize {
        if !self.is_dead {
            self.after.get_or_insert(now);
        }
        self.entry
    }
}
