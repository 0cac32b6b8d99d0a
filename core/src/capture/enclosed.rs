//! Which places of a text stand in an element, a comment or between other marks that open and close, whether or not both are there.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::foreign::tag_name;

/// What stands around the name of a mark, as in `<think>`, `[THINK]` and `◁think▷`; `/` before the name makes it a closing one.
const MARKS: [(char, char); 3] = [('<', '>'), ('[', ']'), ('◁', '▷')];

/// What hides everything up to its end, or all the rest.
const COMMENTS: [(&str, &str); 3] = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];

/// Bytes of a tag that are looked at for its end.
const TAG_BYTES_MAX: usize = 1 << 10;

/// A mark outside of code.
struct Mark {
    at: usize,
    /// Its bracket and its name in lower case.
    name: String,
    side: Side,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Opens if a mark closes it.
    Opening,
    /// Opens even if nothing closes it: it begins its line. Prose that only mentions a tag has it elsewhere.
    OpeningLine,
    Closing,
}

/// Of these places, in order, those that stand in nothing. `code` are blocks, in order, whose marks are code.
pub(super) fn outside(text: &str, code: &[Range<usize>], places: &[usize]) -> Vec<bool> {
    let mut is_outside = Vec::with_capacity(places.len());
    let (marks, comments) = marks_and_comments(text, code);
    let mut open = Depths::default();
    let mut next = marks.iter().peekable();
    for place in places {
        while let Some(mark) = next.next_if(|mark| mark.at < *place) {
            match mark.side {
                Side::OpeningLine => open.enter(&mark.name),
                Side::Opening => {}
                Side::Closing => open.leave(&mark.name),
            }
        }
        let comment = comments.partition_point(|comment| comment.end <= *place);
        let in_comment = comments
            .get(comment)
            .is_some_and(|comment| comment.contains(place));
        is_outside.push(open.is_none() && !in_comment);
    }
    // Backwards: what closes after a place and wasn't opened after it was open there. A chat template may have said the opening
    // mark in the model's place, so none has to be in the text.
    let mut open = Depths::default();
    let mut next = marks.iter().rev().peekable();
    for (place, is_outside) in places.iter().zip(&mut is_outside).rev() {
        while let Some(mark) = next.next_if(|mark| mark.at > *place) {
            match mark.side {
                Side::OpeningLine | Side::Opening => open.leave(&mark.name),
                Side::Closing => open.enter(&mark.name),
            }
        }
        *is_outside &= open.is_none();
    }
    is_outside
}

/// How often each name is open.
#[derive(Default)]
struct Depths<'m>(BTreeMap<&'m str, usize>);

impl<'m> Depths<'m> {
    fn enter(&mut self, name: &'m str) {
        *self.0.entry(name).or_default() += 1;
    }

    fn leave(&mut self, name: &'m str) {
        if let Some(depth) = self.0.get_mut(name) {
            *depth -= 1;
            if *depth == 0 {
                self.0.remove(name);
            }
        }
    }

    fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

fn marks_and_comments(text: &str, code: &[Range<usize>]) -> (Vec<Mark>, Vec<Range<usize>>) {
    let (mut marks, mut comments) = (Vec::new(), Vec::new());
    let mut code = code.iter().peekable();
    let mut lead = LineLead::default();
    let mut at = 0;
    while let Some(found) = text[at..].find(MARKS.map(|(open, _)| open)) {
        lead.pass(&text[at..at + found]);
        at += found;
        while code.next_if(|block| block.end <= at).is_some() {}
        if let Some(block) = code.next_if(|block| block.contains(&at)) {
            lead.pass(&text[at..block.end]);
            at = block.end;
            continue;
        }
        let rest = &text[at..];
        // Quoted as code it is only mentioned.
        let is_mention = text[..at].ends_with('`');
        let comment = COMMENTS.iter().find(|(open, _)| rest.starts_with(open));
        if let Some((open, close)) = comment.filter(|_| !is_mention) {
            let end = rest[open.len()..].find(close);
            let end = end.map_or(text.len(), |end| at + open.len() + end + close.len());
            comments.push(at..end);
            at = end;
            continue;
        }
        let length = match mark_at(text, at, lead.is_lead).filter(|_| !is_mention) {
            Some((mark, length)) => {
                marks.push(mark);
                length
            }
            None => rest.chars().next().map_or(1, char::len_utf8),
        };
        at += length;
    }
    (marks, comments)
}

/// Whether a line has no word so far; tags and comments are none.
struct LineLead {
    is_lead: bool,
}

impl Default for LineLead {
    fn default() -> Self {
        Self { is_lead: true }
    }
}

impl LineLead {
    fn pass(&mut self, text: &str) {
        let line = match text.rfind('\n') {
            Some(newline) => {
                self.is_lead = true;
                &text[newline..]
            }
            None => text,
        };
        self.is_lead &= !line.contains(char::is_alphanumeric);
    }
}

/// The mark at a bracket, and the length of its bracket and name.
fn mark_at(text: &str, at: usize, begins_line: bool) -> Option<(Mark, usize)> {
    let bracket = text[at..].chars().next()?;
    let (_, end) = MARKS.iter().find(|(open, _)| *open == bracket)?;
    let inside = &text[at + bracket.len_utf8()..];
    let (inside, is_closing) = match inside.strip_prefix('/') {
        Some(inside) => (inside, true),
        None => (inside, false),
    };
    let name = tag_name(inside);
    let after = &inside[name.len()..];
    let is_tag = bracket == '<';
    let has_more = after.is_empty() || after.starts_with(char::is_whitespace);
    let is_mark = after.starts_with(*end) || is_tag && (has_more || after.starts_with("/>"));
    if name.is_empty() || !is_mark {
        return None;
    }
    let mut attributes = after.bytes().take(TAG_BYTES_MAX);
    let close = attributes.position(|byte| byte == b'>');
    let is_sole = is_tag && close.is_some_and(|close| after[..close].ends_with('/'));
    let side = match (is_closing, is_sole) {
        (true, _) => Side::Closing,
        (false, true) => return None,
        (false, false) if is_tag && begins_line => Side::OpeningLine,
        (false, false) => Side::Opening,
    };
    let mut key = String::from(bracket);
    key.push_str(&name.to_ascii_lowercase());
    let mark = Mark {
        at,
        name: key,
        side,
    };
    Some((mark, text.len() - at - after.len()))
}
