//! Texts that are too large for one tree, read in pieces between definitions at the top level.
//!
//! A *window* of the text is parsed only to find the end of a piece: before the last of the definitions that begin at the
//! margin, except in the last part of the window, because a definition that is cut there may be read as anything. The piece
//! is then read as a text of its own, and the next window begins after it. If a piece ends in the middle of something, a larger
//! window is tried: a function may be that long. The directives of a C conditional that extends over a piece's end are
//! blanked: at the top level each of its branches holds whole definitions.
//!
//! If no window helps, a bracket is open around the piece, such as a namespace's: then the scope of the definitions from there
//! on is unknown, and they count as damaged.

use std::borrow::Cow;
use std::collections::HashSet;

use tree_sitter::Tree;
use tslp_core::extract::{ExtractError, Extraction};
use tslp_core::limits::{DEFINITIONS_PER_BLOCK_MAX, PARSE_BYTES_MAX};
use tslp_core::slice::Span;

use crate::language::Language;
use crate::node::{NodeRole, offset};
use crate::{one_tree, parse, preprocessor};

/// Bytes searched for the end of a piece, doubled up to [`PARSE_BYTES_MAX`] until there is one. Dense code has 130,000 tokens
/// in so many, and few definitions are longer.
const WINDOW_BYTES: usize = 256 << 10;

/// One over the share of a window, at its end, in which no piece may end: a definition up to that length may be torn there.
const UNTRUSTED_SHARE: usize = 8;

/// Reads a text piece by piece.
///
/// # Errors
/// [`ExtractError::TooLarge`] if it can't be cut, [`ExtractError::TooDense`] if it has too many definitions; else the error of the
/// first piece that can't be read.
pub(crate) fn extract(
    language: &'static Language,
    source: &[u8],
) -> Result<Extraction, ExtractError> {
    let mut firsts = HashSet::new();
    let (mut whole, mut end) = first_piece(language, source, &mut firsts)?;
    while end < source.len() && whole.definitions.len() < DEFINITIONS_PER_BLOCK_MAX {
        let (next, length) = first_piece(language, &source[end..], &mut firsts)?;
        append_piece(&mut whole, shifted_by(next, offset(end)));
        assert!(length > 0, "each piece brings the reading forward");
        end += length;
        assert!(end <= source.len(), "a piece is a part of the rest");
    }
    if whole.definitions.len() < DEFINITIONS_PER_BLOCK_MAX {
        Ok(whole)
    } else {
        Err(ExtractError::TooDense)
    }
}

/// The extraction of a text's first piece, and its length; from a larger window if it ends in the middle of something.
fn first_piece(
    language: &'static Language,
    rest: &[u8],
    firsts: &mut HashSet<String>,
) -> Result<(Extraction, usize), ExtractError> {
    let mut found = Err(ExtractError::TooLarge);
    let mut window = WINDOW_BYTES;
    while window <= PARSE_BYTES_MAX {
        let length = if rest.len() <= window {
            Some(rest.len())
        } else {
            last_cut(language, &rest[..window])?
        };
        if let Some(length) = length {
            let mut known = firsts.clone();
            let text = without_partial_conditionals(language, &rest[..length]);
            let read = one_tree::read(language, &text, (language.readable)(&text), &mut known)?;
            let is_whole = !read.breaks_off || length == rest.len();
            if is_whole || found.is_err() {
                found = Ok((read, length, known));
            }
            if is_whole {
                break;
            }
        }
        window *= 2;
    }
    let (read, length, known) = found?;
    *firsts = known;
    Ok((read, length))
}

/// The text without the directives of conditionals that aren't whole.
fn without_partial_conditionals<'a>(language: &Language, text: &'a [u8]) -> Cow<'a, [u8]> {
    if language.has_macros {
        preprocessor::without_open_conditionals(text)
    } else {
        Cow::Borrowed(text)
    }
}

/// The start of the last definition at the margin in the trusted part of a window, comments and attributes above it included.
fn last_cut(language: &'static Language, window: &[u8]) -> Result<Option<usize>, ExtractError> {
    let text = without_partial_conditionals(language, window);
    let readable = (language.readable)(&text);
    parse::check_density(&text, &readable)?;
    let tree = parse::parse_bounded(language, readable.text(&text))?;
    Ok(last_cut_of_tree(language, &tree, &text))
}

fn last_cut_of_tree(language: &Language, tree: &Tree, window: &[u8]) -> Option<usize> {
    let kinds = &language.ready().kinds;
    let trusted = window.len() - window.len() / UNTRUSTED_SHARE;
    let mut cursor = tree.walk();
    let (mut last, mut lead, mut past) = (None, None, 0);
    for node in tree.root_node().children(&mut cursor) {
        if node.start_byte() > trusted {
            break;
        }
        let gap = &window[past..node.start_byte()];
        let begins_line = gap.ends_with(b"\n") && gap.trim_ascii().is_empty();
        past = node.end_byte();
        match kinds.get(node.kind_id()).role {
            NodeRole::Comment | NodeRole::Lead => {
                lead = lead.or_else(|| begins_line.then(|| node.start_byte()));
                continue;
            }
            // A macro may be defined in the middle of a body, and so begin no piece.
            NodeRole::Item if begins_line && !node.has_error() => {
                last = lead.or_else(|| Some(node.start_byte()));
            }
            _ => {}
        }
        lead = None;
        // The grammar of C takes the line's end for a part of a directive.
        if window[..past].ends_with(b"\n") {
            past -= 1;
        }
    }
    last.filter(|cut| *cut > 0)
}

/// The extraction of a part of a text, with its positions moved to those in the whole text.
pub(crate) fn shifted_by(mut piece: Extraction, by: u32) -> Extraction {
    let definitions = piece.definitions.iter_mut();
    let spans = definitions.flat_map(|it| [&mut it.span, &mut it.head]);
    let spans = spans.chain(&mut piece.elisions).chain(&mut piece.unread);
    let spans = spans.chain(&mut piece.remarks).chain(&mut piece.imports);
    for Span { start, end } in spans {
        *start += by;
        *end += by;
    }
    piece
}

/// Adds the next piece's extraction to that of the pieces before it.
fn append_piece(whole: &mut Extraction, mut next: Extraction) {
    for definition in &mut next.definitions {
        definition.damaged |= whole.breaks_off;
    }
    whole.definitions.append(&mut next.definitions);
    whole.elisions.append(&mut next.elisions);
    whole.unread.append(&mut next.unread);
    whole.remarks.append(&mut next.remarks);
    whole.imports.append(&mut next.imports);
    whole.figures.nodes += next.figures.nodes;
    whole.figures.tokens += next.figures.tokens;
    whole.errors += next.errors;
    whole.clean &= next.clean && !whole.breaks_off;
    whole.preamble |= next.preamble;
    whole.breaks_off |= next.breaks_off;
}
