//! Languages without a grammar: definitions by the patterns of `symbols.json` (spec §4.1, the fallback).
//!
//! Comments and literals are found first ([`lex`]), brackets and blocks are paired ([`brackets`]); patterns then say
//! what begins where a definition may begin ([`outline`]), and the pairs say where it ends ([`extent`],
//! [`indentation`]). All of it is linear in the text but for what is bounded by a constant.

mod data;

mod compiled;

mod spans;

mod lex;

mod brackets;

mod extent;
mod indentation;
mod outline;

use std::collections::HashMap;
use std::sync::OnceLock;

use tslp_core::entity::Symbol;
use tslp_core::extract::{Definition, ExtractError, Extraction, GrammarTag, Proof};
use tslp_core::hash::ArtifactHash;
use tslp_core::slice::{Figures, Span};

use crate::lead;
use crate::parse::NESTING_MAX;
use compiled::Language;
use data::{LanguageData, Layout};
use lex::Lexed;
use outline::{Found, Frame, Outline};

/// The patterns that are in force.
const SYMBOLS: &str = include_str!("../../symbols.json");

/// Version of our reading of them.
const READING: &str = "patterns+1";

/// One language of the table.
#[derive(Debug)]
struct Row {
    name: String,
    tags: Vec<String>,
    extensions: Vec<String>,
    file_names: Vec<String>,
    data: LanguageData,
    ready: OnceLock<Language>,
}

/// The languages, in the file's order.
fn table() -> &'static [Row] {
    static TABLE: OnceLock<Vec<Row>> = OnceLock::new();
    TABLE.get_or_init(|| {
        data::read(SYMBOLS)
            .expect("symbols.json is part of the program, and a test reads it")
            .into_iter()
            .map(Row::new)
            .collect()
    })
}

impl Row {
    fn new(data: LanguageData) -> Self {
        Self {
            name: data.name.clone(),
            tags: data.tags.clone(),
            extensions: data.extensions.clone(),
            file_names: data.file_names.clone(),
            data,
            ready: OnceLock::new(),
        }
    }

    fn ready(&self) -> &Language {
        self.ready.get_or_init(|| {
            Language::new(self.data.clone())
                .expect("symbols.json is part of the program, and a test compiles it")
        })
    }
}

/// The tag of what was read by the patterns.
pub(crate) fn tag(language: &str) -> GrammarTag {
    GrammarTag {
        language: language.to_owned(),
        version: format!("{READING}:{}", &hash().to_string()[..16]),
    }
}

/// Reads the whole of the data and compiles every pattern, keeping nothing. The number of languages.
pub(crate) fn check() -> Result<usize, String> {
    let languages = data::read(SYMBOLS)?;
    let count = languages.len();
    languages
        .into_iter()
        .try_for_each(|language| Language::new(language).map(drop))?;
    Ok(count)
}

/// Hash of the pattern data.
pub(crate) fn hash() -> ArtifactHash {
    static HASH: OnceLock<ArtifactHash> = OnceLock::new();
    *HASH.get_or_init(|| ArtifactHash::of(SYMBOLS.as_bytes()))
}

/// The position of the language of files with this name.
pub(crate) fn of_file(basename: &str, extension: Option<&str>) -> Option<usize> {
    let named = |row: &Row| row.file_names.iter().any(|name| name == basename);
    let by_name = table().iter().position(named);
    by_name.or_else(|| {
        let extension = extension?;
        let extended = |row: &Row| {
            row.extensions
                .iter()
                .any(|known| known.eq_ignore_ascii_case(extension))
        };
        table().iter().position(extended)
    })
}

/// The position of the language that a fence's tag names.
pub(crate) fn of_tag(tag: &str) -> Option<usize> {
    let tagged = |row: &Row| row.tags.iter().any(|known| known.eq_ignore_ascii_case(tag));
    table().iter().position(tagged)
}

/// What the language at a position has in common with its kin.
pub(crate) fn family(position: usize) -> Option<&'static str> {
    let row = table().get(position)?;
    Some(row.data.family.as_deref().unwrap_or(&row.name))
}

/// Finds all definitions of a text in the language at a position.
///
/// # Errors
/// When the text is no text that anybody writes, or there is no such language.
pub(crate) fn extract(position: usize, source: &[u8]) -> Result<Extraction, ExtractError> {
    let row = table().get(position).ok_or(ExtractError::Unparsable)?;
    let language = row.ready();
    let mut lexed = lex::lex(language, source);
    let pairing = brackets::pair(language, source, &mut lexed);
    if pairing.depth > NESTING_MAX as usize {
        return Err(ExtractError::Unparsable);
    }
    let mut lines = Vec::new();
    let mut breaks_off = lexed.unclosed || pairing.leaves_open;
    if language.layout == Layout::Indentation {
        lines = indentation::lines(source, &lexed);
        lexed.suspects.extend(indentation::suspects(&lexed, &lines));
        lexed.elisions.extend(indentation::elisions(&lexed, &lines));
        breaks_off |= indentation::lacks_block(&lexed, &lines);
    }
    lexed.suspects.sort_unstable();
    let mut outline = Outline::new(language, source, &lexed, &lines);
    match language.layout {
        Layout::Indentation => outline.indented(0, lines.len(), &Frame::top())?,
        Layout::Brackets => outline.region(0, lexed.tokens.len(), &Frame::top())?,
    }
    let (found, preamble) = (outline.found, outline.preamble);
    Ok(Extraction {
        grammar: tag(&row.name),
        definitions: definitions(source, &lexed, &found),
        figures: Counts::new(&lexed).between(0, lexed.tokens.len()),
        elisions: elisions(&lexed),
        preamble,
        clean: lexed.suspects.is_empty(),
        errors: u32::try_from(lexed.suspects.len()).unwrap_or(u32::MAX),
        breaks_off,
        unread: lexed
            .suspects
            .iter()
            .map(|at| Span {
                start: *at,
                end: *at,
            })
            .collect(),
    })
}

fn elisions(lexed: &Lexed) -> Vec<Span> {
    let placeholders = lexed
        .comments
        .iter()
        .filter(|comment| comment.placeholder)
        .map(|comment| comment.span);
    let mut elisions: Vec<Span> = placeholders.chain(lexed.elisions.iter().copied()).collect();
    elisions.sort_unstable();
    elisions
}

fn definitions(source: &[u8], lexed: &Lexed, found: &[Found]) -> Vec<Definition> {
    let counts = Counts::new(lexed);
    let mut namesakes: HashMap<&str, u32> = HashMap::new();
    for found in found {
        *namesakes.entry(&found.symbol).or_default() += 1;
    }
    let mut definitions: Vec<Definition> = found
        .iter()
        .map(|found| {
            let start = lead::start(source, &lexed.comments, &[], found.start(lexed));
            let span = Span {
                start,
                end: found.end,
            };
            let first = lexed.suspects.partition_point(|at| *at < span.start);
            let unique = namesakes.get(found.symbol.as_str()) == Some(&1);
            Definition {
                symbol: Symbol::new(&found.symbol),
                span,
                head: found.head,
                body: found.body,
                proof: match found.certain && unique {
                    true => Proof::Pattern,
                    false => Proof::PartialPattern,
                },
                figures: counts.between(found.first, found.past),
                top_level: found.top_level,
                damaged: lexed.suspects.get(first).is_some_and(|at| *at < span.end),
            }
        })
        .collect();
    definitions.sort_by_key(|definition| (definition.span.start, u32::MAX - definition.span.end));
    definitions
}

/// Running totals of lines that hold code; tokens are counted by their index.
struct Counts {
    lines: Vec<u32>,
}

impl Counts {
    fn new(lexed: &Lexed) -> Self {
        let mut total = 0;
        let lines = lexed.tokens.iter().map(|token| {
            total += u32::from(token.begins_line);
            total
        });
        Self {
            lines: lines.collect(),
        }
    }

    /// The figures of the tokens from `first` to `past`.
    fn between(&self, first: usize, past: usize) -> Figures {
        let Some(last) = past.checked_sub(1).filter(|last| first <= *last) else {
            return Figures::default();
        };
        Figures {
            nodes: self.lines[last] - self.lines[first] + 1,
            tokens: lex::offset(past - first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_the_data_is_valid() {
        for row in data::read(SYMBOLS).unwrap() {
            Language::new(row).unwrap();
        }
    }

    #[test]
    fn names_are_given_once() {
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for row in table() {
            let kinds = [
                ("tag", &row.tags),
                ("extension", &row.extensions),
                ("file", &row.file_names),
            ];
            for (kind, names) in kinds {
                for name in names {
                    assert!(!seen.contains(&(kind, name)), "{kind} {name}");
                    seen.push((kind, name));
                }
            }
        }
        assert!(table().len() >= 16);
    }

    #[test]
    fn broken_data_is_refused_with_a_reason() {
        let language = |more: &str| {
            format!(
                "{{\"format\":1,\"languages\":[{{\"name\":\"x\",\"tags\":[],\"layout\":\"brackets\",\
                 \"separator\":\".\",\"words\":{{\"id\":\"\\\\w+\"}},\"spans\":[],\"definitions\":[{more}]}}]}}"
            )
        };
        let compiled = |json: &str| {
            let mut rows = data::read(json)?;
            Language::new(rows.remove(0)).map(|_| ())
        };
        let rule = |pattern: &str| {
            language(&format!(
                "{{\"kind\":\"function\",\"pattern\":\"{pattern}\",\"ends\":\"braces\"}}"
            ))
        };
        assert_eq!(compiled(&rule("fn (?P<name>{id})")), Ok(()));
        for json in [
            "",
            "{}",
            "{\"format\":2,\"languages\":[]}",
            &rule("fn (?P<name>"),
            &rule("fn {id}"),
            &rule("fn").replace("\"ends\"", "\"bends\""),
            &rule("fn").replace("\"name\":\"x\"", "\"name\":\"x\",\"like\":\"y\""),
        ] {
            assert!(compiled(json).is_err(), "{json}");
        }
    }
}
