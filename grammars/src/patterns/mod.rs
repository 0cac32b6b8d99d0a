//! Languages without a grammar: definitions by the line patterns of `symbols.json` (spec §4.1, the fallback).
//!
//! A pattern recognises the line that begins a definition. The definition extends to the line that closes it, or to the next
//! line of its level: lines that are indented deeper belong to it. Literals aren't distinguished from code, so the end is
//! certain only if a closing line shows it, or brackets agree; everything else is a partial match.

mod data;
mod text;

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use regex::bytes::{Captures, Regex};
use tslp_core::entity::Symbol;
use tslp_core::extract::{Body, Definition, ExtractError, Extraction, GrammarTag, Proof};
use tslp_core::hash::ArtifactHash;
use tslp_core::limits::DEFINITIONS_PER_BLOCK_MAX;
use tslp_core::measure::{Part, PartCounts};
use tslp_core::slice::{Figures, Span};

use crate::elided;
use crate::lead::{self, Comment};
use crate::node::{offset, tightened};
use crate::walk::is_placeholder;
use data::{
    CompiledLanguage, CompiledRule, LanguageData, PatternLanguage, RuleKind, RuleScope, SYMBOLS,
    read,
};
use text::{body_mark, comment_after_code, marks, tokens};

/// Version of our reading of them.
const READING: &str = "patterns+3";

/// Bytes from a line's start that patterns see: heads are shorter.
const PATTERN_BYTES_MAX: usize = 400;

/// Deepest nesting of types that is searched: each is read once for every level.
const SCOPES_MAX: u32 = 32;

fn table() -> &'static [PatternLanguage] {
    static TABLE: OnceLock<Vec<PatternLanguage>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let languages = read().expect("symbols.json is part of the program, and a test reads it");
        languages
            .into_iter()
            .map(|data| PatternLanguage {
                data,
                ready: OnceLock::new(),
            })
            .collect()
    })
}

/// The tag of texts that were read with patterns.
pub(crate) fn tag(language: &str) -> GrammarTag {
    GrammarTag {
        language: language.to_owned(),
        version: format!("{READING}:{}", &hash().to_string()[..16]),
    }
}

/// Reads all of the data, compiles every pattern and drops them; returns the number of languages.
pub(crate) fn check() -> Result<usize, String> {
    let languages = read()?;
    for language in &languages {
        CompiledLanguage::new(language)?;
    }
    Ok(languages.len())
}

/// Hash of the pattern data.
pub(crate) fn hash() -> ArtifactHash {
    static HASH: OnceLock<ArtifactHash> = OnceLock::new();
    *HASH.get_or_init(|| ArtifactHash::of(SYMBOLS.as_bytes()))
}

/// The position of the language of files with this name.
pub(crate) fn of_file(basename: &str, extension: Option<&str>) -> Option<usize> {
    let named = |row: &PatternLanguage| row.data.file_names.iter().any(|name| name == basename);
    let extended = |row: &PatternLanguage| {
        let mut known = row.data.extensions.iter();
        extension.is_some_and(|extension| known.any(|known| known.eq_ignore_ascii_case(extension)))
    };
    let by_name = table().iter().position(named);
    by_name.or_else(|| table().iter().position(extended))
}

/// The position of the language that a fence's tag names.
pub(crate) fn of_tag(tag: &str) -> Option<usize> {
    let tagged = |row: &PatternLanguage| {
        row.data
            .tags
            .iter()
            .any(|known| known.eq_ignore_ascii_case(tag))
    };
    table().iter().position(tagged)
}

/// The name of the language at a position.
pub(crate) fn name(position: usize) -> Option<&'static str> {
    table().get(position).map(|row| row.data.name.as_str())
}

/// Finds all definitions of a text in the language at a position.
///
/// # Errors
/// [`ExtractError::Unparsable`] if there is no such language.
pub(crate) fn extract(position: usize, source: &[u8]) -> Result<Extraction, ExtractError> {
    let row = table().get(position).ok_or(ExtractError::Unparsable)?;
    let ready = row.ready.get_or_init(|| {
        CompiledLanguage::new(&row.data)
            .expect("symbols.json is part of the program, and a test compiles it")
    });
    let mut reader = PatternReader {
        data: &row.data,
        ready,
        source,
        lines: split_lines(&row.data, ready, source),
        comments: Vec::new(),
        found: Vec::new(),
        assigned: HashSet::new(),
        preamble: source.starts_with(b"#!/"),
    };
    reader.take_comments();
    reader.read_region(0, reader.lines.len(), &Scope::default());
    Ok(reader.into_extraction())
}

/// The content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineContent {
    Nothing,
    Comment,
    Code,
}

#[derive(Clone, Copy, Debug)]
struct PatternLine {
    /// Without whitespace at either end.
    text: Span,
    indentation: u32,
    holds: LineContent,
}

fn split_lines(data: &LanguageData, ready: &CompiledLanguage, source: &[u8]) -> Vec<PatternLine> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut in_comment = false;
    for line in source.split_inclusive(|byte| *byte == b'\n') {
        let indentation = line.len() - line.trim_ascii_start().len();
        let text = line.trim_ascii();
        let first = start + indentation.min(line.len());
        let begins_with = |mark: &String| text.starts_with(mark.as_bytes());
        let (mut holds, mut closes) = (LineContent::Code, false);
        let is_directive = ready.directive.as_ref().is_some_and(|it| it.is_match(text));
        if text.is_empty() || is_directive && !in_comment {
            holds = LineContent::Nothing;
        } else if in_comment || data.comments.iter().any(begins_with) {
            holds = LineContent::Comment;
        }
        if let Some((open, close)) = &data.block_comment {
            let comment = if in_comment {
                Some(text)
            } else {
                text.strip_prefix(open.as_bytes())
            };
            closes = comment.is_some_and(|rest| {
                let mut parts = rest.windows(close.len());
                parts.any(|part| part == close.as_bytes())
            });
            in_comment = comment.is_some() && !closes;
        }
        let goes_on = closes
            && !text.ends_with(
                data.block_comment
                    .as_ref()
                    .map_or(b"", |it| it.1.as_bytes()),
            );
        lines.push(PatternLine {
            text: Span {
                start: offset(first),
                end: offset(first + text.len()),
            },
            indentation: offset(indentation),
            holds: if goes_on { LineContent::Code } else { holds },
        });
        start += line.len();
    }
    lines
}

/// The scope of the lines in which definitions are searched.
#[derive(Clone, Debug, Default)]
struct Scope {
    names: String,
    last: String,
    in_type: bool,
    in_definition: bool,
    depth: u32,
    separator: Option<String>,
}

struct PatternReader<'a> {
    data: &'a LanguageData,
    ready: &'a CompiledLanguage,
    source: &'a [u8],
    lines: Vec<PatternLine>,
    comments: Vec<Comment>,
    found: Vec<FoundDefinition>,
    /// Variables that were assigned to: only the first assignment defines them.
    assigned: HashSet<String>,
    preamble: bool,
}

#[derive(Debug)]
struct FoundDefinition {
    symbol: String,
    /// Its first line, with annotations, and one past its last.
    lines: (usize, usize),
    head: Span,
    body: Body,
    ending: EndCertainty,
    top_level: bool,
}

/// The certainty of a definition's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndCertainty {
    Certain,
    Doubtful,
    /// The text ends in the middle of it.
    BrokenOff,
}

/// The extent of a definition's lines.
#[derive(Clone, Copy, Debug)]
struct DefinitionExtent {
    past: usize,
    ending: EndCertainty,
    /// Whether the last line only closes it.
    is_closed: bool,
}

impl<'a> PatternReader<'a> {
    fn text(&self, line: usize) -> &'a [u8] {
        self.lines[line].text.of(self.source)
    }

    /// Comments that are lines of their own, and those after code.
    fn take_comments(&mut self) {
        for line in &self.lines {
            let text = line.text.of(self.source);
            let span = match line.holds {
                LineContent::Nothing => None,
                LineContent::Comment => Some(line.text),
                LineContent::Code => comment_after_code(self.data, text).map(|(start, end)| Span {
                    start: line.text.start + offset(start),
                    end: line.text.start + offset(end),
                }),
            };
            self.comments.extend(span.map(|span| Comment {
                span,
                placeholder: is_placeholder(span.of(self.source)),
            }));
        }
    }

    fn read_region(&mut self, from: usize, to: usize, scope: &Scope) {
        let mut annotated = None;
        let mut at = from;
        while at < to {
            let line = self.lines[at];
            let text = self.text(at);
            let is = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|it| it.is_match(text));
            if line.holds != LineContent::Code {
                at += 1;
            } else if is(&self.ready.annotation) {
                annotated.get_or_insert(at);
                at += 1;
            } else {
                let first = annotated.take().unwrap_or(at);
                self.preamble |= !scope.in_type && is(&self.ready.preamble);
                let is_nothing = is(&self.ready.reject) || is(&self.ready.preamble);
                let past = if is_nothing {
                    None
                } else {
                    self.read_definition(first, at, to, scope)
                };
                at = past.unwrap_or(at + 1);
            }
        }
    }

    /// Reads the definition that begins on a line, with the annotations above it; returns one past its last line.
    fn read_definition(
        &mut self,
        first: usize,
        at: usize,
        to: usize,
        scope: &Scope,
    ) -> Option<usize> {
        let (source, start) = (self.source, self.lines[at].text.start as usize);
        let text = &source[start..source.len().min(start + PATTERN_BYTES_MAX)];
        let ready = self.ready;
        let (rule, captures) = ready.rules.iter().find_map(|rule| {
            let applies = match rule.data.within {
                None => true,
                Some(RuleScope::Top) => !scope.in_type,
                Some(RuleScope::Type) => scope.in_type,
            };
            let captures = rule.pattern.captures(text).filter(|_| applies)?;
            let names_scope = captures.name("name").map(|name| name.as_bytes());
            let fits = !rule.data.named_like_scope || names_scope == Some(scope.last.as_bytes());
            fits.then_some((rule, captures))
        })?;
        let extent = self.definition_extent(rule, at, to);
        if !self.has_body(rule, at, extent) {
            return Some(extent.past);
        }
        let names = matched_names(rule, &captures);
        self.add_definition(first, at, rule, extent, &names, scope);
        let is_scope = matches!(rule.data.kind, RuleKind::Type | RuleKind::Block);
        if !is_scope || scope.depth >= SCOPES_MAX {
            return Some(extent.past);
        }
        let mut inner = Scope {
            separator: rule.data.inside_separator.clone(),
            depth: scope.depth + 1,
            ..scope.clone()
        };
        if rule.data.kind == RuleKind::Type || rule.data.adds_scope {
            inner.in_type = true;
            inner.last = names.into_iter().next().unwrap_or_default();
            inner.names = qualified_name(&scope.names, &self.data.separator, &inner.last);
        }
        inner.in_definition |= rule.data.kind == RuleKind::Type;
        inner.in_type |= rule.data.inside_separator.is_some();
        self.read_region(
            at + 1,
            extent.past - usize::from(extent.is_closed && extent.past > at + 1),
            &inner,
        );
        Some(extent.past)
    }

    /// Whether the definition on a line has a body and is no mere declaration.
    fn has_body(&self, rule: &CompiledRule, at: usize, extent: DefinitionExtent) -> bool {
        let is_exempt =
            rule.data.bodiless || matches!(rule.data.kind, RuleKind::Value | RuleKind::Block);
        let text = self.span(at, extent.past).of(self.source);
        let has = |mark: &String| text.windows(mark.len()).any(|part| part == mark.as_bytes());
        is_exempt || self.data.bodies.is_empty() || self.data.bodies.iter().any(has)
    }

    fn span(&self, first: usize, past: usize) -> Span {
        Span {
            start: self.lines[first].text.start,
            end: self.lines[past - 1].text.end,
        }
    }

    /// The extent of the definition that begins on a line.
    fn definition_extent(&self, rule: &CompiledRule, at: usize, to: usize) -> DefinitionExtent {
        let level = self.lines[at].indentation;
        let mut past = at + 1;
        for next in at + 1..to {
            let line = self.lines[next];
            let text = self.text(next);
            if let Some(until) = &rule.until {
                past = next + 1;
                if until.is_match(text) {
                    return self.extent_ending_at(EndCertainty::Certain, past, true);
                }
                continue;
            }
            match line.holds {
                LineContent::Nothing if self.data.paragraphs => break,
                LineContent::Nothing | LineContent::Comment => continue,
                LineContent::Code if line.indentation > level => past = next + 1,
                LineContent::Code if line.indentation < level => break,
                LineContent::Code if self.data.paragraphs => past = next + 1,
                LineContent::Code if text.starts_with(b"{") && past == next => past = next + 1,
                LineContent::Code => {
                    let closes = self
                        .ready
                        .closes
                        .as_ref()
                        .is_some_and(|it| it.is_match(text));
                    if !closes {
                        break;
                    }
                    past = next + 1;
                    if !text.ends_with(b"{") {
                        return self.extent_ending_at(EndCertainty::Certain, past, true);
                    }
                }
            }
        }
        let closes = self.ready.closes.as_ref();
        let is_closed = self.data.paragraphs
            && past > at + 1
            && closes.is_some_and(|it| it.is_match(self.text(past - 1)));
        let is_balanced = self.is_balanced(at, past) && (past == at + 1 || !self.closes_by_word());
        // The definition is open to the end of the text.
        let stays_open = self.lines[past..].iter().all(|line| {
            let is_closer = |closes: &Regex| closes.is_match(line.text.of(self.source));
            line.indentation > level || !closes.is_some_and(is_closer)
        });
        let ending = match (is_balanced && rule.until.is_none(), stays_open) {
            (true, _) => EndCertainty::Certain,
            (false, true) => EndCertainty::BrokenOff,
            (false, false) => EndCertainty::Doubtful,
        };
        self.extent_ending_at(ending, past, is_closed)
    }

    fn extent_ending_at(
        &self,
        ending: EndCertainty,
        past: usize,
        is_closed: bool,
    ) -> DefinitionExtent {
        DefinitionExtent {
            past,
            ending,
            is_closed,
        }
    }

    /// Whether a definition of several lines always ends with a word such as `end`.
    fn closes_by_word(&self) -> bool {
        let begins_word = |closes: &String| closes.starts_with(|c: char| c.is_alphabetic());
        !self.data.paragraphs && self.data.closes.as_ref().is_some_and(begins_word)
    }

    /// Whether as many brackets are closed as opened.
    fn is_balanced(&self, first: usize, past: usize) -> bool {
        let mut depths = [0_i32; 3];
        let lines = self.lines[first..past].iter();
        let code = lines.filter(|line| line.holds == LineContent::Code);
        for (_, byte) in code.flat_map(|line| marks(line.text.of(self.source))) {
            match byte {
                b'(' => depths[0] += 1,
                b')' => depths[0] -= 1,
                b'[' => depths[1] += 1,
                b']' => depths[1] -= 1,
                b'{' => depths[2] += 1,
                b'}' => depths[2] -= 1,
                _ => {}
            }
        }
        depths == [0; 3]
    }

    fn add_definition(
        &mut self,
        first: usize,
        at: usize,
        rule: &CompiledRule,
        extent: DefinitionExtent,
        names: &[String],
        scope: &Scope,
    ) {
        if rule.data.kind == RuleKind::Block {
            return;
        }
        let (head, body) = self.parts(rule, at, extent);
        for name in names {
            let separator = scope.separator.as_ref().or(rule.data.separator.as_ref());
            let symbol = qualified_name(
                &scope.names,
                separator.unwrap_or(&self.data.separator),
                name,
            );
            let is_variable = rule.data.kind == RuleKind::Value && rule.until.is_none();
            if is_variable && !self.assigned.insert(symbol.clone())
                || self.found.len() >= DEFINITIONS_PER_BLOCK_MAX
            {
                continue;
            }
            self.found.push(FoundDefinition {
                symbol,
                lines: (first, extent.past),
                head,
                body,
                ending: extent.ending,
                top_level: !scope.in_definition,
            });
        }
    }

    /// The head of a definition and the kind of its body.
    fn parts(&self, rule: &CompiledRule, at: usize, extent: DefinitionExtent) -> (Span, Body) {
        let whole = self.span(at, extent.past);
        let text = whole.of(self.source);
        let head_of = |length: usize| {
            let head = text[..length.max(1)].trim_ascii_end();
            let head = head.strip_suffix(b";").unwrap_or(head).trim_ascii_end();
            let end = whole.start + offset(head.len().max(1));
            Span { end, ..whole }
        };
        if rule.data.kind == RuleKind::Value {
            let end = text.iter().position(|byte| matches!(byte, b'=' | b'\n'));
            let head = &text[..end.unwrap_or(text.len())];
            let is_sign = |byte: &u8| matches!(byte, b':' | b';' | b'?' | b'+' | b'!' | b' ');
            let signs = head.iter().rev().take_while(|byte| is_sign(byte)).count();
            return (head_of(head.len() - signs), Body::None);
        }
        let is_one_line = extent.past == at + 1;
        let line = self.lines[at].text.len() as usize;
        let (opens, length) = match body_mark(&self.data.bodies, text) {
            Some(mark) => mark,
            None if !self.data.bodies.is_empty() => return (head_of(line), Body::None),
            None if is_one_line && !self.closes_by_word() => {
                let is_recipe = self.data.closes.is_none() && !self.data.paragraphs;
                let body = if is_recipe { Body::None } else { Body::Code };
                return (head_of(line), body);
            }
            // The body of `def f; end` begins at the semicolon, that of `function f() end` after the parameters.
            None if is_one_line => {
                let end = text.iter().position(|byte| matches!(byte, b')' | b';'));
                match end.filter(|_| text.ends_with(b"end")) {
                    Some(end) => (end + usize::from(text[end] == b')'), 0),
                    None => return (head_of(line), Body::Code),
                }
            }
            None => (line, 0),
        };
        let mut body_end = whole.end as usize;
        let last = self.lines[extent.past - 1].text;
        if extent.is_closed {
            body_end = last.start as usize;
        } else if self.source[..body_end].ends_with(b"}") {
            body_end -= 1;
        } else if self.source[..body_end].ends_with(b"end") && self.closes_by_word() {
            body_end -= 3;
        }
        let body_start = whole.start as usize + opens + length;
        let body = (body_start.min(body_end), body_end);
        let stubs = &self.ready.stubs;
        (
            head_of(opens),
            stubs.body_kind(self.source, &self.comments, body),
        )
    }

    fn into_extraction(self) -> Extraction {
        let mut namesakes: HashMap<&str, u32> = HashMap::new();
        for found in &self.found {
            *namesakes.entry(&found.symbol).or_default() += 1;
        }
        let definition = |found: &FoundDefinition| {
            let lines = self.span(found.lines.0, found.lines.1);
            let is_unique = namesakes.get(found.symbol.as_str()) == Some(&1);
            Definition {
                symbol: Symbol::new(&found.symbol),
                span: Span {
                    start: lead::definition_start(self.source, &self.comments, &[], lines.start),
                    ..lines
                },
                head: found.head,
                body: found.body,
                proof: if is_unique && found.ending == EndCertainty::Certain {
                    Proof::Pattern
                } else {
                    Proof::PartialPattern
                },
                figures: self.figures(found.lines.0, found.lines.1),
                parts: self.part_counts(found.lines.0, found.lines.1),
                top_level: found.top_level,
                damaged: found.ending == EndCertainty::BrokenOff,
            }
        };
        let definitions: Vec<Definition> = self.found.iter().map(definition).collect();
        let unread: Vec<Span> = definitions
            .iter()
            .filter(|definition| definition.damaged)
            .map(|definition| definition.head)
            .collect();
        let placeholders = self.comments.iter().filter(|comment| comment.placeholder);
        let mut elisions: Vec<Span> = placeholders.map(|comment| comment.span).collect();
        let code = self
            .lines
            .iter()
            .filter(|line| line.holds == LineContent::Code);
        elisions.extend(
            code.map(|line| line.text)
                .filter(|line| elided::is_line(line.of(self.source))),
        );
        elisions.sort_unstable();
        Extraction {
            grammar: tag(&self.data.name),
            figures: self.figures(0, self.lines.len()),
            elisions,
            remarks: self.comments.iter().map(|comment| comment.span).collect(),
            imports: Vec::new(),
            preamble: self.preamble,
            clean: unread.is_empty(),
            errors: offset(unread.len()),
            breaks_off: !unread.is_empty(),
            unread,
            definitions,
        }
    }

    /// The parts of some lines: each line with code is a statement, and its words are keywords.
    fn part_counts(&self, first: usize, past: usize) -> PartCounts {
        let mut counts = PartCounts::default();
        let lines = self.lines[first..past].iter();
        for line in lines.filter(|line| line.holds == LineContent::Code) {
            counts.add_parts(Part::Statement, 1);
            let text = String::from_utf8_lossy(line.text.of(self.source));
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            for word in words {
                let part = Part::of_keyword(word).or_else(|| Part::of_name(word.as_bytes()));
                part.into_iter().for_each(|part| counts.add_parts(part, 1));
            }
        }
        counts
    }

    /// The figures of some lines: lines with code count as nodes, words and marks as tokens.
    fn figures(&self, first: usize, past: usize) -> Figures {
        let code = self.lines[first..past]
            .iter()
            .filter(|line| line.holds == LineContent::Code);
        code.fold(Figures::default(), |sum, line| Figures {
            nodes: sum.nodes + 1,
            tokens: sum.tokens + tokens(line.text.of(self.source)),
        })
    }
}

/// The names in a match; a value or a recipe may have several.
fn matched_names(rule: &CompiledRule, captures: &Captures<'_>) -> Vec<String> {
    let group = |name: &str| {
        let text = captures
            .name(name)
            .map_or(&b""[..], |found| found.as_bytes());
        let text = String::from_utf8_lossy(text);
        if text.contains(['"', '`']) {
            text.replace(['"', '`'], "")
        } else {
            tightened(&text)
        }
    };
    let name = if rule.data.adds_scope {
        group("type")
    } else {
        group("name")
    };
    if let Some(symbol) = &rule.data.symbol {
        return vec![symbol.replace("{name}", &name)];
    }
    let several = rule.data.kind == RuleKind::Value || rule.data.several;
    let parts: Vec<&str> = if several {
        name.split([',', ' ']).collect()
    } else {
        vec![&name]
    };
    let parts = parts
        .into_iter()
        .map(str::trim)
        .filter(|name| !name.is_empty());
    parts.map(str::to_owned).collect()
}

fn qualified_name(scope: &str, separator: &str, name: &str) -> String {
    if scope.is_empty() {
        name.to_owned()
    } else {
        format!("{scope}{separator}{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_given_once() {
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for row in table() {
            let kinds = [
                ("tag", &row.data.tags),
                ("extension", &row.data.extensions),
                ("file", &row.data.file_names),
            ];
            for (kind, names) in kinds {
                for name in names {
                    assert!(!seen.contains(&(kind, name)), "{kind} {name}");
                    seen.push((kind, name));
                }
            }
        }
    }

    #[test]
    fn valid_data() {
        assert_eq!(check(), Ok(10));
    }
}
