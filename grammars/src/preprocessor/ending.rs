//! Whether a text of C or C++ ends in the middle of something.

use super::conditionals::is_never;
use super::lex::{Directive, Kind, Token};

/// One open bracket; a chain of parents, so that a conditional's branches can start from the same place at no cost.
#[derive(Clone, Copy)]
struct Level {
    parent: usize,
    mark: u8,
    /// The innermost level at or around this one that a brace opened; 0 if there is none.
    brace: usize,
}

/// A conditional group whose end hasn't been reached.
struct Group {
    entry: usize,
    /// Where the first branch that counts ended.
    after: Option<usize>,
    is_dead: bool,
}

/// Whether brackets or conditionals are left open at the end of `tokens`.
///
/// Of a conditional's branches the first one counts, so that twins which open one brace each open one. A closing brace
/// closes the innermost open one, whatever else was left open in between: that is an error, but no text that breaks off.
pub(super) fn leaves_open(tokens: &[Token], source: &[u8]) -> bool {
    let mut levels = vec![Level {
        parent: 0,
        mark: 0,
        brace: 0,
    }];
    let mut groups: Vec<Group> = Vec::new();
    let mut now = 0;
    for token in tokens {
        match token.kind {
            Kind::Mark(mark @ (b'(' | b'[' | b'{')) => {
                let brace = match mark {
                    b'{' => levels.len(),
                    _ => levels[now].brace,
                };
                levels.push(Level {
                    parent: now,
                    mark,
                    brace,
                });
                now = levels.len() - 1;
            }
            Kind::Mark(b')') if levels[now].mark == b'(' => now = levels[now].parent,
            Kind::Mark(b']') if levels[now].mark == b'[' => now = levels[now].parent,
            Kind::Mark(b'}') => now = levels[levels[now].brace].parent,
            Kind::Directive(Directive::If) => groups.push(Group {
                entry: now,
                after: None,
                is_dead: is_never(token.text(source)),
            }),
            Kind::Directive(Directive::Branch) => {
                if let Some(group) = groups.last_mut() {
                    now = group.ended(now);
                    group.is_dead = false;
                }
            }
            Kind::Directive(Directive::End) => {
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

impl Group {
    /// Takes note of where a branch ended; says where the next one begins.
    fn ended(&mut self, now: usize) -> usize {
        if !self.is_dead {
            self.after.get_or_insert(now);
        }
        self.entry
    }
}
