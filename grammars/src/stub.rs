//! Stubs: bodies that only mark work to be done.

use regex::bytes::{Regex, RegexBuilder};
use tslp_core::extract::Body;

use crate::lead::Comment;

/// A language's patterns for bodies that do nothing.
#[derive(Debug)]
pub(crate) struct Stubs {
    /// A body that is always a stub, such as `todo!()`.
    always: Regex,
    /// A body that is a stub if a comment says that work is to be done, such as `return 0;`.
    with_remark: Regex,
    /// Such a comment.
    remark: Regex,
}

/// Comments that say that work is to be done.
const REMARK: &str = r"\b(?:todo|fixme|xxx)\b|not (?:yet )?implemented|unimplemented|\bimplement(?:ation)?\b|your code here|placeholder";

/// Longest code of a stub in bytes, with whitespace folded.
const STUB_BYTES_MAX: usize = 240;

/// Most bytes of whitespace and comments that are skipped in search of a body's code.
const STEPS_MAX: usize = 64 * 1024;

impl Stubs {
    /// Patterns of one language; each must match a body's whole code, brackets and comments left out, whitespace folded.
    ///
    /// # Errors
    /// The error of the first pattern that can't be compiled.
    pub(crate) fn new<S: AsRef<str>>(
        always: &[S],
        with_remark: &[S],
    ) -> Result<Self, regex::Error> {
        Ok(Self {
            always: whole_match_regex(always)?,
            with_remark: whole_match_regex(with_remark)?,
            remark: RegexBuilder::new(REMARK)
                .unicode(false)
                .case_insensitive(true)
                .build()?,
        })
    }

    /// Judges the code from `start` to `end`, without its brackets. `comments` are those of the whole source, in order.
    pub(crate) fn body_kind(
        &self,
        source: &[u8],
        comments: &[Comment],
        (start, end): (usize, usize),
    ) -> Body {
        let first = comments.partition_point(|comment| (comment.span.end as usize) <= start);
        let past = comments.partition_point(|comment| (comment.span.start as usize) < end);
        let inside = comments.get(first..past).unwrap_or_default();
        let Some(code) = folded_code(source, inside, start, end) else {
            return Body::Code;
        };
        let code = without_semicolons(&code);
        let says_so = |comment: &Comment| self.remark.is_match(comment.span.of(source));
        if code.is_empty()
            || self.always.is_match(code)
            || self.with_remark.is_match(code) && inside.iter().any(says_so)
        {
            Body::Stub
        } else {
            Body::Code
        }
    }
}

/// The code without empty statements in front.
fn without_semicolons(code: &[u8]) -> &[u8] {
    let empty = code
        .iter()
        .take_while(|byte| matches!(byte, b';' | b' '))
        .count();
    &code[empty..]
}

/// One pattern that matches what any of them matches as a whole.
fn whole_match_regex<S: AsRef<str>>(patterns: &[S]) -> Result<Regex, regex::Error> {
    // Without patterns nothing but an empty body matches, which is a stub anyway.
    let any: Vec<&str> = patterns.iter().map(AsRef::as_ref).collect();
    let any = any.join("|");
    RegexBuilder::new(&format!(r"^(?:{any})$"))
        .unicode(false)
        .dot_matches_new_line(true)
        .build()
}

/// The code of a body with whitespace folded to one and comments left out; nothing if it is longer than any stub.
fn folded_code(source: &[u8], comments: &[Comment], start: usize, end: usize) -> Option<Vec<u8>> {
    let mut code = Vec::new();
    let mut comments = comments.iter().peekable();
    let mut at = start;
    for _ in 0..STEPS_MAX {
        let Some(byte) = source.get(at).filter(|_| at < end) else {
            if code.last() == Some(&b' ') {
                code.pop();
            }
            return Some(code);
        };
        if let Some(comment) = comments.next_if(|comment| (comment.span.start as usize) <= at) {
            at = at.max(comment.span.end as usize);
        } else if byte.is_ascii_whitespace() {
            if code.last().is_some_and(|last| *last != b' ') {
                code.push(b' ');
            }
            at += 1;
        } else if code.len() >= STUB_BYTES_MAX {
            return None;
        } else {
            code.push(*byte);
            at += 1;
        }
    }
    None
}
