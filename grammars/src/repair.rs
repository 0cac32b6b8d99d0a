//! Macros that the preprocessor's pass doesn't recognise: a word that the grammar can't place is blanked.
//!
//! After a parse with errors, the words that the parser skipped, and those after which it made up a semicolon in the
//! middle of a declaration, are blanked, and the text is parsed again. It stays so if that leaves fewer errors.
//!
//! A slip of the pen looks the same, so a word must look like a macro or be used more than once in the text. In the
//! bodies of functions only what looks like a macro or is in front of a type is blanked, and a call is a loop in front of a
//! block or of a line that is indented deeper.

use std::collections::{HashMap, HashSet};

use tree_sitter::{Node, Tree};
use tslp_core::extract::ExtractError;
use tslp_core::slice::Span;

use crate::language::Language;
use crate::node::{offset, span};
use crate::parse;
use crate::preprocessor::{PartKind, kind_of_word, looks_like_macro};
use crate::readable::{self, Readable};

/// Most further parses: each may bring the parser to the next word that it can't place.
const ROUNDS_MAX: usize = 4;

/// Most edits of one round.
const EDITS_MAX: usize = 1_000;

/// Errors of a text that no repair makes readable: all rounds together couldn't reach them.
pub(crate) const ERRORS_MAX: usize = ROUNDS_MAX * EDITS_MAX;

/// The longest stretch that is blanked, and the most words in it: more are prose, no macros.
const PASSED_BYTES_MAX: usize = 256;
const PASSED_WORDS_MAX: usize = 3;

/// Most words in a row that are searched for a macro: prose has more.
const RUN_WORDS_MAX: usize = 5;

/// A change to the text.
enum RepairEdit {
    /// Words and their arguments that are blanked.
    Pass(Span),
    /// The arguments of a call in front of a block; the call becomes `if (1)`.
    Loop { name: Span, arguments: Span },
}

/// The number of occurrences of each word in a text.
struct WordCounts<'a>(HashMap<&'a [u8], u32>);

impl<'a> WordCounts<'a> {
    fn of(text: &'a [u8]) -> Self {
        let mut counts = HashMap::new();
        for word in text.split(|byte| !is_of_word(byte)) {
            *counts.entry(word).or_default() += 1;
        }
        Self(counts)
    }

    fn may_be_macro(&self, word: &[u8]) -> bool {
        looks_like_macro(word) || self.0.get(word).is_some_and(|count| *count > 1)
    }
}

/// Parses a text, repairing `readable` until nothing improves; returns the tree of the last version.
///
/// # Errors
/// [`ExtractError::Unparsable`] if a text that was parsed before can't be parsed again.
pub(crate) fn repaired(
    language: &Language,
    source: &[u8],
    readable: &mut Readable,
    tree: Tree,
) -> Result<Tree, ExtractError> {
    let mut tree = tree;
    if !language.has_macros || !tree.root_node().has_error() {
        return Ok(tree);
    }
    let words = WordCounts::of(source);
    let mut refused = HashSet::new();
    for _ in 0..ROUNDS_MAX {
        let (errors, mut edits) = find_edits(&tree, readable.text(source), &words);
        edits.retain(|edit| !refused.contains(&edit.span().start));
        if edits.is_empty() || errors > ERRORS_MAX {
            break;
        }
        // One tree at a time: each takes many times the memory of its text.
        drop(tree);
        let mut text = with_edits(readable.text(source), &edits);
        let mut next = parse::parse_bounded(language, &text);
        debug_assert_eq!(text.len(), source.len(), "an edit keeps every byte's place");
        let left = next.as_ref().map_or_else(|_| Vec::new(), errors_of);
        let helps = |edit: &RepairEdit| {
            let line_end = end_of_line(&text, edit.span().end);
            let first = left.partition_point(|error| error.end < edit.span().start);
            left.get(first).is_none_or(|error| error.start > line_end)
        };
        let (kept, useless): (Vec<RepairEdit>, Vec<RepairEdit>) =
            edits.into_iter().partition(helps);
        refused.extend(useless.iter().map(|edit| edit.span().start));
        if !useless.is_empty() {
            drop(next);
            text = with_edits(readable.text(source), &kept);
            next = parse::parse_bounded(language, &text);
        }
        match next.map(|next| (errors_of(&next).len(), next)) {
            // Each repair is a guess: without fewer errors the text stays as it was.
            Ok((left, next)) if left < errors => {
                tree = next;
                readable.changed = Some(text);
                readable
                    .prefixes
                    .extend(kept.iter().filter_map(RepairEdit::blanked_span));
            }
            _ => {
                tree = parse::parse_bounded(language, readable.text(source))?;
                if useless.is_empty() {
                    break;
                }
            }
        }
    }
    readable.prefixes.sort_unstable();
    Ok(tree)
}

/// The text with some edits.
fn with_edits(text: &[u8], edits: &[RepairEdit]) -> Vec<u8> {
    let mut text = text.to_vec();
    for edit in edits {
        edit.apply(&mut text);
    }
    text
}

fn end_of_line(text: &[u8], at: u32) -> u32 {
    let rest = text.get(at as usize..).unwrap_or_default();
    let length = rest.iter().take_while(|byte| **byte != b'\n').count();
    at + offset(length)
}

impl RepairEdit {
    fn span(&self) -> Span {
        match self {
            Self::Pass(span) => *span,
            Self::Loop { name, arguments } => Span {
                start: name.start,
                end: arguments.end,
            },
        }
    }

    /// The span that is blanked.
    fn blanked_span(&self) -> Option<Span> {
        match self {
            Self::Pass(span) => Some(*span),
            Self::Loop { .. } => None,
        }
    }

    fn apply(&self, text: &mut [u8]) {
        let mut blank =
            |span: &Span| readable::blank(&mut text[span.start as usize..span.end as usize]);
        match self {
            Self::Pass(span) => blank(span),
            Self::Loop { name, arguments } => {
                blank(name);
                blank(arguments);
                // `loop_before` has made sure of two bytes for the name and one for the arguments.
                text[name.start as usize..name.start as usize + 2].copy_from_slice(b"if");
                text[arguments.start as usize] = b'1';
            }
        }
    }
}

/// The spans of errors, in source order.
fn errors_of(tree: &Tree) -> Vec<Span> {
    let mut errors = Vec::new();
    each_error(tree, |node, _, _| errors.push(span(node)));
    errors
}

/// Calls `found` for every error with its parent, and says whether it lies in a function's body. The parents are kept here: to ask a node
/// for its own, where it is empty, takes the parser's library a stack as deep as the tree.
fn each_error<'tree>(
    tree: &'tree Tree,
    mut found: impl FnMut(Node<'tree>, Option<Node<'tree>>, bool),
) {
    let mut cursor = tree.walk();
    let mut parents: Vec<Node<'tree>> = Vec::new();
    let mut bodies = 0_u32;
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            found(node, parents.last().copied(), bodies > 0);
        }
        if node.has_error() && cursor.goto_first_child() {
            bodies += u32::from(node.kind() == "compound_statement");
            parents.push(node);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            parents.pop();
            bodies -= u32::from(cursor.node().kind() == "compound_statement");
        }
    }
}

/// The number of errors, and the edits that may repair them, in source order and not overlapping.
fn find_edits(tree: &Tree, text: &[u8], known: &WordCounts<'_>) -> (usize, Vec<RepairEdit>) {
    let mut errors = 0;
    let mut edits = Vec::new();
    let mut past = 0;
    each_error(tree, |node, parent, in_body| {
        errors += 1;
        if edits.len() >= EDITS_MAX {
            return;
        }
        let edit = if node.is_error() {
            blanking_edit(span(node), text, known, in_body)
        } else {
            made_up((node, parent), text, known, in_body)
        };
        if let Some(edit) = edit.filter(|edit| edit.span().start >= past) {
            past = edit.span().end;
            edits.push(edit);
        }
    });
    (errors, edits)
}

/// Passes over a stretch that holds nothing but a few words, some with arguments. Where it holds a type, the word in
/// front, which the parser took for one, is the macro.
fn blanking_edit(
    span: Span,
    text: &[u8],
    known: &WordCounts<'_>,
    in_body: bool,
) -> Option<RepairEdit> {
    if in_body && let Some(edit) = loop_before(span.start as usize, text) {
        return Some(edit);
    }
    let words = words_of(span.of(text))?;
    if !(1..=PASSED_WORDS_MAX).contains(&words.len()) {
        return None;
    }
    if !in_body && let Some(edit) = macro_in_run(span, text, known) {
        return Some(edit);
    }
    let are = |test: fn(&[u8]) -> bool| words.iter().all(|word| test(word));
    if are(|word| kind_of_word(word) == PartKind::Name) {
        let is_allowed = if in_body {
            are(looks_like_macro) || is_in_cast(span, text)
        } else {
            words.iter().all(|word| known.may_be_macro(word))
        };
        return is_allowed.then_some(RepairEdit::Pass(span));
    }
    let declares = |word: &[u8]| is_specifier(word) || kind_of_word(word) == PartKind::Type;
    let before = are(declares).then(|| word_before(span, text, declares))??;
    // In a body the line above may lack its semicolon.
    let between = before.end as usize..span.start as usize;
    if in_body && text[between].contains(&b'\n') {
        return None;
    }
    let begins =
        last_word(&text[..before.start as usize]).is_none_or(|word| is_specifier(word.of(text)));
    let word = before.of(text);
    let is_macro = kind_of_word(word) == PartKind::Name && known.may_be_macro(word);
    (is_macro && begins).then_some(RepairEdit::Pass(before))
}

/// The word in front of a stretch, over those that `pass` says to go over.
fn word_before(span: Span, text: &[u8], pass: fn(&[u8]) -> bool) -> Option<Span> {
    let mut start = span.start;
    for _ in 0..RUN_WORDS_MAX {
        let word = last_word(&text[..start as usize])?;
        if !pass(word.of(text)) {
            return Some(word);
        }
        start = word.start;
    }
    None
}

/// Of words in a row that end with a stretch, the first that may be a macro: in `local const word name` the parser takes
/// `word` for what is declared.
fn macro_in_run(span: Span, text: &[u8], known: &WordCounts<'_>) -> Option<RepairEdit> {
    let mut found = None;
    let mut start = span.start;
    for _ in 0..RUN_WORDS_MAX {
        let Some(word) = last_word(&text[..start as usize]) else {
            return found.map(RepairEdit::Pass);
        };
        let spelled = word.of(text);
        if kind_of_word(spelled) == PartKind::Name && known.may_be_macro(spelled) {
            found = Some(word);
        }
        start = word.start;
    }
    None
}

/// Whether a stretch is in a cast, `(FAR char *)`, where nothing but a type and what qualifies it can.
fn is_in_cast(span: Span, text: &[u8]) -> bool {
    let mut before = &text[..span.start as usize];
    while let Some(word) = last_word(before) {
        before = &text[..word.start as usize];
    }
    let after = text[span.end as usize..].trim_ascii_start();
    before.trim_ascii_end().ends_with(b"(") && after.starts_with(b"*")
}

/// Whether a word says nothing but how a declaration's type is meant.
fn is_specifier(word: &[u8]) -> bool {
    matches!(
        kind_of_word(word),
        PartKind::Specifier | PartKind::Attribute
    )
}

fn is_of_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// The last word of a text, ignoring whitespace: a word of code, not of a directive or a comment on the line above.
fn last_word(text: &[u8]) -> Option<Span> {
    let end = text.trim_ascii_end().len();
    if text[end..].contains(&b'\n') {
        let line = text[..end].rsplit(|byte| *byte == b'\n').next()?;
        let is_code = !line.trim_ascii_start().starts_with(b"#")
            && !line.windows(2).any(|pair| pair == b"//");
        is_code.then_some(())?;
    }
    let letters = text[..end].iter().rev();
    let length = letters.take_while(|byte| is_of_word(byte)).count();
    (length > 0).then_some(Span {
        start: offset(end - length),
        end: offset(end),
    })
}

/// The words of a stretch that holds no more than these and their arguments in brackets.
fn words_of(text: &[u8]) -> Option<Vec<&[u8]>> {
    if text.len() > PASSED_BYTES_MAX {
        return None;
    }
    let mut words: Vec<&[u8]> = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        if byte.is_ascii_whitespace() {
            at += 1;
        } else if byte.is_ascii_alphabetic() || *byte == b'_' {
            let end = end_of_word(text, at);
            words.push(&text[at..end]);
            at = end;
        } else if *byte == b'(' && !words.is_empty() {
            at = end_of_group(text, at)?;
        } else {
            return None;
        }
    }
    Some(words)
}

fn end_of_word(text: &[u8], start: usize) -> usize {
    let letters = text[start..].iter();
    start + letters.take_while(|byte| is_of_word(byte)).count()
}

/// The bracket that the one at `end` closes.
fn start_of_group(text: &[u8], end: usize) -> Option<usize> {
    let mut depth = 0_u32;
    for at in (0..=end).rev().take(PASSED_BYTES_MAX) {
        match text[at] {
            b')' => depth += 1,
            b'(' if depth == 1 => return Some(at),
            b'(' => depth = depth.checked_sub(1)?,
            b'{' | b'}' | b';' => return None,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// One past the bracket that closes the one at `start`.
fn end_of_group(text: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, byte) in text.iter().enumerate().skip(start).take(PASSED_BYTES_MAX) {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'{' | b'}' | b';' => return None,
            _ => {}
        }
    }
    None
}

/// The call in front of `next`, if that can only be its body: a block, or a statement on a deeper line of its own.
fn loop_before(next: usize, text: &[u8]) -> Option<RepairEdit> {
    let close = text[..next].trim_ascii_end().len().checked_sub(1)?;
    let open = start_of_group(text, close)?;
    let name = last_word(&text[..open])?;
    let has_body = text.get(next) == Some(&b'{') || is_indented_below(text, name.start, next);
    let is_call = kind_of_word(name.of(text)) == PartKind::Name && name.len() >= 2;
    let arguments = Span {
        start: offset(open + 1),
        end: offset(close),
    };
    (has_body && is_call && !arguments.is_empty()).then_some(RepairEdit::Loop { name, arguments })
}

/// Whether what begins at `next` has a line of its own, deeper than the line that `head` begins.
fn is_indented_below(text: &[u8], head: u32, next: usize) -> bool {
    let indentation = |at: usize| {
        let line = text[..at].iter().rev().take_while(|byte| **byte != b'\n');
        let line = &text[at - line.count()..at];
        line.iter().all(u8::is_ascii_whitespace).then_some(line)
    };
    let (Some(outer), Some(inner)) = (indentation(head as usize), indentation(next)) else {
        return false;
    };
    inner.len() > outer.len() && inner.starts_with(outer)
}

/// The repair at a semicolon that the parser made up.
fn made_up(
    (missing, parent): (Node<'_>, Option<Node<'_>>),
    text: &[u8],
    known: &WordCounts<'_>,
    in_body: bool,
) -> Option<RepairEdit> {
    let statement = parent.filter(|_| missing.kind() == ";")?;
    let at = missing.start_byte();
    let rest = text.get(at..)?;
    let next = at + (rest.len() - rest.trim_ascii_start().len());
    if in_body {
        return loop_before(next, text);
    }
    let declaration = Span {
        start: offset(statement.start_byte()),
        end: offset(at),
    };
    let following = || {
        let word_end = end_of_word(text, next);
        let is_call = text.get(word_end) == Some(&b'(');
        let group_end = end_of_group(text, word_end).filter(|_| is_call);
        let following = Span {
            start: offset(next),
            end: offset(group_end.unwrap_or(word_end)),
        };
        // After parameters a declaration goes on with its body, its members' values, or a macro.
        let after_parameters = text[..at].trim_ascii_end().ends_with(b")");
        let is_macro = looks_like_macro(&text[next..word_end]);
        (word_end > next && (after_parameters || is_macro))
            .then(|| blanking_edit(following, text, known, false))?
    };
    // Words alone declare nothing: the declaration goes on after them, and one of them is the macro.
    following().or_else(|| {
        let words = words_of(declaration.of(text))?;
        let is_macro =
            |word: &&&[u8]| kind_of_word(word) == PartKind::Name && known.may_be_macro(word);
        let word = words.iter().find(is_macro).filter(|_| words.len() > 1)?;
        let next = &text[next..end_of_word(text, next)];
        let begins_type = is_specifier(next) || kind_of_word(next) == PartKind::Type;
        if begins_type
            && words
                .iter()
                .all(|word| is_specifier(word) || is_macro(&word))
        {
            return Some(RepairEdit::Pass(declaration));
        }
        let start = declaration
            .of(text)
            .windows(word.len())
            .position(|part| part == *word)?;
        let start = declaration.start + offset(start);
        let end = start + offset(word.len());
        Some(RepairEdit::Pass(Span { start, end }))
    })
}
