//! Definitions of source texts: the implementation of [`tslp_core::extract::Grammars`].
//!
//! Eight languages are read by tree-sitter, others by [`patterns`]. A language with a grammar is one file ([`c`], [`go`],
//! [`python`] …) and one row of the table in [`languages`]. All of them share one bounded
//! parse ([`parse`]) and one cursor walk ([`walk`]) that finds definitions, counts structure and sees comments in a single
//! pass. Nothing is built before the first text of a language arrives.

#![deny(unsafe_code)]

mod context;
mod language;
mod node;

mod c;
mod cpp;

mod go;
mod java;
mod javascript;
mod python;
mod rust;
mod typescript;

mod declarator;
mod parts;

mod header;
mod languages;

mod elided;
mod lead;
mod placement;
mod preprocessor;
mod stub;

mod conflicts;
mod extract;
mod one_tree;
mod parse;
mod pieces;
mod readable;
mod repair;
mod torn;
mod walk;

mod patterns;

mod code_parts;
mod colours;

pub use colours::{ColourSpan, colours};
pub use parse::{MARKS_MAX, TOKENS_MAX};

use std::cell::RefCell;
use std::collections::HashMap;

use tslp_core::extract::{CodePart, ExtractError, Extraction, GrammarTag, Grammars, LanguageId};
use tslp_core::hash::ArtifactHash;
use tslp_core::limits::PARSE_BYTES_MAX;
use tslp_core::path::RelPath;
use tslp_core::redact;

/// The parsers of this crate. It holds no state, so instances are interchangeable; see [`remembering`] for what a thread may know.
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
        let mut tags = languages::tags();
        tags.push(patterns::tag("symbols.json"));
        tags.sort();
        tags
    }

    fn language_of_path(&self, path: &RelPath) -> Option<LanguageId> {
        language_of(path)
    }

    fn language_of_tag(&self, tag: &str) -> Option<LanguageId> {
        let tag = tag.trim();
        languages::of_tag(tag).or_else(|| patterns::of_tag(tag).and_then(by_patterns))
    }

    fn tag_of_path(&self, path: &RelPath) -> Option<&str> {
        let language = language_of(path)?;
        match usize::from(language.0).checked_sub(languages::count()) {
            None => languages::row(language)?.tags.first().copied(),
            Some(position) => patterns::name(position),
        }
    }

    fn are_kin(&self, one: LanguageId, other: LanguageId) -> bool {
        family(one) == family(other)
    }

    fn extract(&self, language: LanguageId, source: &[u8]) -> Result<Extraction, ExtractError> {
        parsed_once(language, source, || {
            let named = &*redact::with_names_for_markers(source);
            // A byte order mark is no part of the first line.
            let text = named.strip_prefix(b"\xef\xbb\xbf").unwrap_or(named);
            let mark = node::offset(source.len() - text.len());
            let read = conflicts::read(text, |text| read_as(language, text))?;
            Ok(pieces::shifted_by(read, mark))
        })
    }

    fn parts(&self, language: LanguageId, source: &[u8]) -> Vec<CodePart> {
        code_parts::parts(language, source)
    }
}

/// What parsed texts hold, by language and content: nothing else decides it.
pub type ParsedTexts = HashMap<(LanguageId, ArtifactHash), Result<Extraction, ExtractError>>;

thread_local! {
    static PARSED: RefCell<Option<ParsedTexts>> = const { RefCell::new(None) };
}

/// Does `work`, for which no text is parsed twice, nor one that `parsed` holds. Returns what is known then: what was added was parsed
/// here. Not to be called by `work`.
pub fn remembering<T>(parsed: ParsedTexts, work: impl FnOnce() -> T) -> (T, ParsedTexts) {
    PARSED.set(Some(parsed));
    let done = work();
    (done, PARSED.take().unwrap_or_default())
}

/// What a text holds, by `parse` if this thread doesn't remember it.
fn parsed_once(
    language: LanguageId,
    source: &[u8],
    parse: impl FnOnce() -> Result<Extraction, ExtractError>,
) -> Result<Extraction, ExtractError> {
    // Nothing that parses asks here again.
    let Some(mut parsed) = PARSED.take() else {
        return parse();
    };
    let of_text = parsed.entry((language, ArtifactHash::of(source)));
    let found = of_text.or_insert_with(parse).clone();
    PARSED.set(Some(parsed));
    found
}

/// Finds all definitions of a text.
fn read_as(language: LanguageId, source: &[u8]) -> Result<Extraction, ExtractError> {
    match languages::row(language).map(|row| row.reader) {
        Some(languages::TextReader::One(language)) => extract::extract_as(language, source),
        Some(languages::TextReader::Header) => header::extract(source),
        None if source.len() > PARSE_BYTES_MAX => Err(ExtractError::TooLarge),
        None => patterns::extract(usize::from(language.0) - languages::count(), source),
    }
}

/// The language of a file by its name.
fn language_of(path: &RelPath) -> Option<LanguageId> {
    languages::of_file(path.basename(), path.extension())
        .or_else(|| patterns::of_file(path.basename(), path.extension()).and_then(by_patterns))
}

/// The family name of a language, which it shares with related ones.
fn family(language: LanguageId) -> Option<&'static str> {
    match usize::from(language.0).checked_sub(languages::count()) {
        None => languages::row(language).map(|row| row.family),
        Some(position) => patterns::name(position),
    }
}

/// The language at a position among those that patterns read: these follow the ones with a grammar.
fn by_patterns(position: usize) -> Option<LanguageId> {
    u8::try_from(languages::count() + position)
        .ok()
        .map(LanguageId)
}
