//! What a definition consists of, counted: checks, loops, handlers, exits and the like (spec §7).
//!
//! Keywords are counted as the leaves of a syntax tree, so that none in a string or a comment counts, and are the same in every
//! language. A change that leaves fewer of a kind has lost one, whatever words stand in its place.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::{Add, Sub};

use crate::slice::Span;

/// A kind of part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A decorator, an attribute or an annotation.
    Attribute,
    /// A check, or a branch with a check of its own.
    Condition,
    /// An operator that decides: it may do what a check did, and may go.
    Choice,
    /// A branch without a check of its own.
    Branch,
    /// A loop.
    Repeat,
    /// What answers for errors, or releases what it holds.
    Handler,
    /// What leaves, fails or ends the program.
    Exit,
    /// A statement or a declaration.
    Statement,
    /// A block in which nothing is done.
    Empty,
}

const PARTS: usize = Part::Empty as usize + 1;

/// Keywords by what they begin.
const KEYWORDS: [(Part, &[&str]); 6] = [
    (
        Part::Condition,
        &["if", "unless", "guard", "elif", "elsif", "elseif", "case", "when", "match", "switch"],
    ),
    (Part::Choice, &["?", "&&", "||", "and", "or", "??"]),
    (Part::Branch, &["else", "default"]),
    (Part::Repeat, &["for", "while", "loop", "foreach", "until"]),
    (
        Part::Handler,
        &["catch", "except", "rescue", "ensure", "finally", "with", "using", "defer", "synchronized"],
    ),
    (
        Part::Exit,
        &["return", "break", "continue", "goto", "throw", "raise", "rethrow", "yield", "assert"],
    ),
];

/// Functions and macros that fail or end the program, in lower case.
const FAILURES: [&str; 16] = [
    "_exit", "quit", "fatal", "fatalf", "terminate", "halt", "quick_exit", "abort", "exit", "panic", "todo",
    "unimplemented", "unreachable", "die", "fail", "static_assert",
];

/// Longest of [`FAILURES`], in bytes.
const FAILURE_BYTES_MAX: usize = 13;

impl Part {
    /// What a keyword begins.
    #[must_use]
    pub fn of_keyword(word: &str) -> Option<Self> {
        let mut kinds = KEYWORDS.iter();
        kinds
            .find(|(_, words)| words.contains(&word))
            .map(|(part, _)| *part)
    }

    /// What a name that is called, or may be, does by itself.
    #[must_use]
    pub fn of_name(name: &[u8]) -> Option<Self> {
        let fails = name.len() <= FAILURE_BYTES_MAX
            && FAILURES
                .iter()
                .any(|known| known.as_bytes().eq_ignore_ascii_case(name));
        fails.then_some(Self::Exit)
    }
}

/// How many parts of each kind there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartCounts([u32; PARTS]);

impl PartCounts {
    /// Counts one part.
    pub const fn add(&mut self, part: Part) {
        self.0[part as usize] += 1;
    }

    /// Counts several parts of one kind.
    pub const fn add_many(&mut self, part: Part, count: u32) {
        self.0[part as usize] += count;
    }

    /// How many there are of a kind.
    #[must_use]
    pub const fn of(&self, part: Part) -> u32 {
        self.0[part as usize]
    }
}

impl Add for PartCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(core::array::from_fn(|at| self.0[at].saturating_add(other.0[at])))
    }
}

impl Sub for PartCounts {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(core::array::from_fn(|at| self.0[at].saturating_sub(other.0[at])))
    }
}

/// A definition's code as it is compared.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredCode<'c> {
    /// Its text.
    pub text: &'c str,
    /// Ranges without effect: comments, and strings used as statements, in source order.
    pub remarks: &'c [Span],
    /// Its parts.
    pub parts: PartCounts,
}

/// What a change does to a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// All parts are there.
    Whole,
    /// Some tokens are gone, and nothing else is changed.
    Deletion,
    /// A part is gone beside another change.
    Loss(Part),
    /// The end is gone beside another change.
    EndLost,
    /// A new comment stands where code is gone.
    Elided,
    /// Much is gone beside another change.
    MuchLost,
}

/// Percent of a definition's tokens that must be kept beside another change.
pub const KEPT_PERCENT: usize = 80;

/// Compares a definition with its base; `brought` are parts that the same reply has elsewhere.
#[must_use]
pub fn compare(base: MeasuredCode<'_>, new: MeasuredCode<'_>, brought: PartCounts) -> Change {
    let (before, after) = (blanked(base), blanked(new));
    let (old, fresh) = (tokens(&before), tokens(&after));
    let known: BTreeSet<String> = remarks(base).collect();
    let has_new_remark = remarks(new).any(|it| !known.contains(&it));
    if !has_new_remark && is_subsequence(&fresh, &old) {
        return match fresh.len() == old.len() {
            true => Change::Whole,
            false => Change::Deletion,
        };
    }
    let has = new.parts + brought;
    let lacks = |part: Part| base.parts.of(part) > has.of(part);
    let choices = has.of(Part::Choice).saturating_sub(base.parts.of(Part::Choice));
    let is_lost = |part: &Part| match part {
        Part::Condition => base.parts.of(*part) > has.of(*part) + choices,
        Part::Choice => false,
        Part::Empty => new.parts.of(*part) > base.parts.of(*part),
        part => lacks(*part),
    };
    let all = [
        Part::Attribute, Part::Condition, Part::Branch, Part::Repeat, Part::Handler, Part::Exit, Part::Empty, Part::Statement,
    ];
    let lost = all.into_iter().find(is_lost);
    match lost {
        Some(_) if has_new_remark => Change::Elided,
        Some(part) => Change::Loss(part),
        None if is_end_lost(&before, &after) => Change::EndLost,
        None if fresh.len() * 100 < old.len() * KEPT_PERCENT => Change::MuchLost,
        None => Change::Whole,
    }
}

fn remarks(code: MeasuredCode<'_>) -> impl Iterator<Item = String> {
    code.remarks.iter().map(move |span| {
        let text = String::from_utf8_lossy(span.of(code.text.as_bytes()));
        text.chars().filter(|c| !c.is_whitespace()).collect()
    })
}

fn blanked(code: MeasuredCode<'_>) -> Cow<'_, str> {
    crate::damage::blanked(code.text, code.remarks.iter())
}

/// Words, and each mark by itself; without commas, which come and go with what they separate.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        if token != "," {
            tokens.push(token);
        }
        rest = after.trim_start();
    }
    tokens
}

fn is_subsequence(short: &[&str], long: &[&str]) -> bool {
    let mut long = long.iter();
    short.iter().all(|token| long.any(|it| it == token))
}

/// Whether what a definition ended with is gone: its last line shares less than half of its words with the new last one.
fn is_end_lost(before: &str, after: &str) -> bool {
    let last = |text: &'_ str| -> Vec<String> {
        let words = |line: &str| -> Vec<String> {
            let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.filter(|it| !it.is_empty()).map(String::from).collect()
        };
        let mut lines = text.lines().rev().map(words);
        lines.find(|words| !words.is_empty()).unwrap_or_default()
    };
    let (old, new) = (last(before), last(after));
    let shared = old.iter().filter(|it| new.contains(it)).count();
    let leaves = new.iter().any(|it| Part::of_keyword(it) == Some(Part::Exit));
    !leaves && 2 * shared < old.len()
}
