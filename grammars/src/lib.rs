//! Definitions of source texts: the implementation of [`tslp_core::extract::Grammars`].
//!
//! Eight languages are read by tree-sitter, others by [`patterns`]. A language with a grammar is one file ([`c`], [`go`],
//! [`python`] …) and one row of the table in [`language`]. All of them share one bounded
//! parse ([`parse`]) and one cursor walk ([`walk`]) that finds definitions, counts structure and sees comments in a single
//! pass. Nothing is built before the first text of a language arrives.

#![forbid(unsafe_code)]

mod language;

mod c;
mod cpp;

mod go;
mod java;
mod javascript;
mod python;
mod rust;
mod typescript;

mod declarator;
mod header;
mod parts;

mod elided;
mod lead;
mod preprocessor;
mod stub;

mod parse;
mod pieces;
mod readable;
mod repair;
mod torn;
mod walk;

mod patterns;

pub mod shell;

pub use parse::{MARKS_MAX, TOKENS_MAX};

use std::collections::HashSet;

use tslp_core::extract::{ExtractError, Extraction, GrammarTag, Grammars, LanguageId};
use tslp_core::hash::ArtifactHash;
use tslp_core::limits::PARSE_BYTES_MAX;
use tslp_core::path::RelPath;

/// Most rounds of searching for torn blocks: blanking one may uncover another.
const TORN_ROUNDS_MAX: usize = 3;

/// The parsers of this crate. It holds no state, so instances are interchangeable.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeSitterGrammars;

impl TreeSitterGrammars {
    /// All parsers.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl TreeSitterGrammars {
    /// Reads `symbols.json`, compiles each of its patterns, and returns the number of its languages.
    ///
    /// # Errors
    /// A description of the first fault in the data.
    pub fn check_patterns() -> Result<usize, String> {
        patterns::check()
    }
}

impl Grammars for TreeSitterGrammars {
    fn patterns(&self) -> ArtifactHash {
        patterns::hash()
    }

    fn tags(&self) -> Vec<GrammarTag> {
        let mut tags = language::tags();
        tags.push(patterns::tag("symbols.json"));
        tags.sort();
        tags
    }

    fn language_of_path(&self, path: &RelPath) -> Option<LanguageId> {
        language::of_file(path.basename(), path.extension())
            .or_else(|| patterns::of_file(path.basename(), path.extension()).and_then(by_patterns))
    }

    fn language_of_tag(&self, tag: &str) -> Option<LanguageId> {
        let tag = tag.trim();
        language::of_tag(tag).or_else(|| patterns::of_tag(tag).and_then(by_patterns))
    }

    fn are_kin(&self, one: LanguageId, other: LanguageId) -> bool {
        family(one) == family(other)
    }

    fn extract(&self, language: LanguageId, source: &[u8]) -> Result<Extraction, ExtractError> {
        match language::row(language).map(|row| row.reader) {
            Some(language::TextReader::One(language)) => extract_as(language, source),
            Some(language::TextReader::Header) => header::extract(source),
            None if source.len() > PARSE_BYTES_MAX => Err(ExtractError::TooLarge),
            None => patterns::extract(usize::from(language.0) - language::count(), source),
        }
    }
}

/// The family name of a language, which it shares with related ones.
fn family(language: LanguageId) -> Option<&'static str> {
    match usize::from(language.0).checked_sub(language::count()) {
        None => language::row(language).map(|row| row.family),
        Some(position) => patterns::name(position),
    }
}

/// The language at a position among those that patterns read: these follow the ones with a grammar.
fn by_patterns(position: usize) -> Option<LanguageId> {
    u8::try_from(language::count() + position)
        .ok()
        .map(LanguageId)
}

fn extract_as(
    language: &'static language::Language,
    source: &[u8],
) -> Result<Extraction, ExtractError> {
    if source.len() > PARSE_BYTES_MAX {
        pieces::extract(language, source)
    } else {
        extract_from(language, source, (language.readable)(source))
    }
}

/// As [`extract_as`], where the source was made readable already.
fn extract_from(
    language: &'static language::Language,
    source: &[u8],
    readable: readable::Readable,
) -> Result<Extraction, ExtractError> {
    match read_at_once(language, source, readable, &mut HashSet::new()) {
        Err(ExtractError::TooLarge | ExtractError::TooDense) => pieces::extract(language, source),
        read => read,
    }
}

/// Reads a source with one tree. `firsts` are the symbols that earlier pieces of the text define.
fn read_at_once(
    language: &'static language::Language,
    source: &[u8],
    mut readable: readable::Readable,
    firsts: &mut HashSet<String>,
) -> Result<Extraction, ExtractError> {
    if source.len() > PARSE_BYTES_MAX {
        return Err(ExtractError::TooLarge);
    }
    let nesting = parse::nesting_depth(source, &readable)?;
    let mut tree = parse::parse_bounded(language, readable.text(source), nesting)?;
    let elided = elided::elided_lines(readable.text(source), &tree, &language.ready().kinds);
    if !elided.is_empty() {
        readable.blank_elided(source, elided);
        tree = parse::parse_bounded(language, readable.text(source), nesting)?;
    }
    tree = repair::repaired(language, source, &mut readable, tree, nesting)?;
    let mut known = firsts.clone();
    let mut read = walk::walk(language, &tree, source, &readable, &mut known);
    for _ in 0..TORN_ROUNDS_MAX {
        if !tree.root_node().has_error() {
            break;
        }
        let text = readable.text(source);
        let torn = torn::torn_blocks(language, source, text, &tree, nesting);
        if torn.is_empty() {
            break;
        }
        // One tree at a time: each takes many times the memory of its text.
        drop(tree);
        readable.pass_over(source, &torn);
        tree = parse::parse_bounded(language, readable.text(source), nesting)?;
        // The repair of macros may have depended on code that is blanked now, so it starts again from the source.
        tree = repair::repaired(language, source, &mut readable, tree, nesting)?;
        let mut known_now = firsts.clone();
        let mut mended = walk::walk(language, &tree, source, &readable, &mut known_now);
        // Blanking costs at most the torn blocks' own definitions; it must gain at least as many elsewhere.
        if count_sound(&mended) + torn.len() < count_sound(&read) {
            break;
        }
        // Placeholders inside torn blocks still count, and so does that the text breaks off.
        mended.elisions.append(&mut read.elisions);
        mended.elisions.sort_unstable();
        mended.elisions.dedup();
        mended.breaks_off |= read.breaks_off;
        (read, known) = (mended, known_now);
    }
    *firsts = known;
    Ok(read)
}

/// The number of definitions without errors.
fn count_sound(read: &Extraction) -> usize {
    let sound = read.definitions.iter().filter(|it| !it.damaged);
    sound.count()
}
