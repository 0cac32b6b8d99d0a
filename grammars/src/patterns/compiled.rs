//! A language of `symbols.json` made ready for use: its patterns compiled, its openings sorted by their first byte.

use regex::bytes::{Regex, RegexBuilder};

use super::data::{
    Ends, Islands, KeywordBlock, Kind, LanguageData, Layout, RuleData, SpanData, StatementEnd,
};
use crate::stub::Stubs;

/// A language that is read by patterns.
#[derive(Debug)]
pub(crate) struct Language {
    pub(super) layout: Layout,
    pub(super) statements_end: StatementEnd,
    pub(super) separator: String,
    pub(super) ignores_case: bool,
    pub(super) is_word_byte: [bool; 256],
    pub(super) spans: Vec<SpanRule>,
    /// For each byte the spans that may begin with it.
    pub(super) openings: Vec<Vec<usize>>,
    pub(super) regex_literals: bool,
    pub(super) islands: Option<Islands>,
    pub(super) directive: Option<Regex>,
    pub(super) brackets: Vec<(u8, u8)>,
    pub(super) loose_closers: Vec<u8>,
    pub(super) keyword_blocks: Vec<KeywordBlock>,
    pub(super) continues: Vec<String>,
    pub(super) type_words: Vec<String>,
    pub(super) type_marks: Vec<u8>,
    pub(super) annotation: Option<Regex>,
    pub(super) declares_only: Option<Regex>,
    pub(super) accessor: Option<Regex>,
    pub(super) reject: Option<Regex>,
    pub(super) preamble: Option<Regex>,
    pub(super) rules: Vec<Rule>,
    pub(super) stubs: Stubs,
}

/// A comment or a literal.
#[derive(Debug)]
pub(super) struct SpanRule {
    pub(super) data: SpanData,
    pub(super) open: Vec<u8>,
    pub(super) open_pattern: Option<Regex>,
    pub(super) escape: Option<u8>,
    pub(super) interpolation: Option<(Vec<u8>, u8, u8)>,
}

/// A way to define something.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) kind: Kind,
    pub(super) ends: Ends,
    pub(super) pattern: Regex,
    pub(super) symbol: String,
    pub(super) tail: Option<Regex>,
    pub(super) data: RuleData,
}

impl Language {
    /// Makes a language ready.
    ///
    /// # Errors
    /// What is wrong with its data.
    pub(crate) fn new(data: LanguageData) -> Result<Self, String> {
        let name = data.name.clone();
        Self::compile(data).map_err(|error| format!("{name}: {error}"))
    }

    fn compile(data: LanguageData) -> Result<Self, String> {
        let pattern = |written: &str| pattern(written, &data);
        let optional = |written: &Option<String>| written.as_deref().map(pattern).transpose();
        let annotation = optional(&data.annotation)?;
        let declares_only = optional(&data.declares_only)?;
        let accessor = optional(&data.accessor)?;
        let reject = optional(&data.reject)?;
        let preamble = optional(&data.preamble)?;
        let directive = optional(&data.directive)?;
        let rules = data
            .definitions
            .iter()
            .map(|rule| Rule::new(rule.clone(), &data))
            .collect::<Result<_, String>>()?;
        let stubs = Stubs::new(&data.stubs, &data.stubs_with_remark).map_err(described)?;
        let spans = data
            .spans
            .into_iter()
            .map(SpanRule::new)
            .collect::<Result<Vec<_>, String>>()?;
        let brackets = data.brackets.as_bytes();
        if !brackets.len().is_multiple_of(2) {
            return Err("brackets don't come in pairs".to_owned());
        }
        Ok(Self {
            openings: openings(&spans),
            is_word_byte: word_bytes(data.word_bytes.as_bytes()),
            layout: data.layout,
            statements_end: data.statements_end,
            separator: data.separator,
            ignores_case: data.ignores_case,
            spans,
            regex_literals: data.regex_literals,
            islands: data.islands,
            directive,
            brackets: brackets
                .chunks_exact(2)
                .map(|pair| (pair[0], pair[1]))
                .collect(),
            loose_closers: data.loose_closers.into_bytes(),
            keyword_blocks: data.keyword_blocks,
            continues: data.continues,
            type_words: data.type_words,
            type_marks: data.type_marks.into_bytes(),
            annotation,
            declares_only,
            accessor,
            reject,
            preamble,
            rules,
            stubs,
        })
    }

    /// Whether two words are the same in this language.
    pub(super) fn same(&self, word: &[u8], known: &str) -> bool {
        if self.ignores_case {
            word.eq_ignore_ascii_case(known.as_bytes())
        } else {
            word == known.as_bytes()
        }
    }

    /// Whether a word is among `known`.
    pub(super) fn among(&self, word: &[u8], known: &[String]) -> bool {
        known.iter().any(|known| self.same(word, known))
    }
}

impl Rule {
    fn new(rule: RuleData, language: &LanguageData) -> Result<Self, String> {
        let pattern = pattern(&rule.pattern, language)?;
        let symbol = rule.symbol.clone().unwrap_or_else(|| "{name}".to_owned());
        let named = rule.kind != Kind::Block;
        let groups: Vec<&str> = pattern.capture_names().flatten().collect();
        let asked = [named.then_some(symbol.as_str()), rule.scope.as_deref()];
        for group in asked.into_iter().flatten().flat_map(placeholders) {
            if !groups.contains(&group) {
                return Err(format!("{} has no group {group}", rule.pattern));
            }
        }
        let tail = rule
            .tail
            .as_deref()
            .map(|tail| self::pattern(&format!("(?:{tail})$"), language))
            .transpose()?;
        Ok(Self {
            kind: rule.kind,
            ends: rule.ends,
            pattern,
            symbol,
            tail,
            data: rule,
        })
    }
}

/// The names in braces.
fn placeholders(template: &str) -> impl Iterator<Item = &str> {
    template
        .split('{')
        .skip(1)
        .filter_map(|part| Some(part.split_once('}')?.0))
}

impl SpanRule {
    fn new(data: SpanData) -> Result<Self, String> {
        let open_pattern = data
            .open_pattern
            .as_deref()
            .map(|written| {
                RegexBuilder::new(&format!("^(?:{written})"))
                    .unicode(false)
                    .build()
                    .map_err(described)
            })
            .transpose()?;
        let begins = data.open.is_some() != (open_pattern.is_some() && !data.open_bytes.is_empty());
        if !begins || open_pattern.is_none() && data.close.is_none() {
            return Err(format!("a span begins or ends nowhere: {data:?}"));
        }
        let interpolation = data
            .interpolation
            .as_deref()
            .map(|open| match open.as_bytes() {
                [.., b'{'] => Ok((open.as_bytes().to_vec(), b'{', b'}')),
                [.., b'('] => Ok((open.as_bytes().to_vec(), b'(', b')')),
                _ => Err(format!("no bracket ends {open}")),
            })
            .transpose()?;
        Ok(Self {
            open: data.open.clone().unwrap_or_default().into_bytes(),
            open_pattern,
            escape: data.escape.map(byte).transpose()?,
            interpolation,
            data,
        })
    }
}

/// How deep the words of a language's patterns are made of others.
const WORDS_IN_WORDS_MAX: u32 = 3;

/// A pattern that matches where it is tried, and nowhere later.
fn pattern(written: &str, language: &LanguageData) -> Result<Regex, String> {
    let mut spelled = written.to_owned();
    for _ in 0..WORDS_IN_WORDS_MAX {
        for (word, pattern) in &language.words {
            spelled = spelled.replace(&format!("{{{word}}}"), &format!("(?:{pattern})"));
        }
    }
    RegexBuilder::new(&format!("^(?:{spelled})"))
        .unicode(false)
        .case_insensitive(language.ignores_case)
        .build()
        .map_err(described)
}

fn described(error: regex::Error) -> String {
    error.to_string()
}

fn byte(written: char) -> Result<u8, String> {
    u8::try_from(written).map_err(|_| format!("{written} is no byte"))
}

fn openings(spans: &[SpanRule]) -> Vec<Vec<usize>> {
    let begins = |span: &SpanRule, byte: u8| match span.open.first() {
        Some(first) => *first == byte,
        None => span.data.open_bytes.as_bytes().contains(&byte),
    };
    (0..=u8::MAX)
        .map(|byte| {
            (0..spans.len())
                .filter(|index| begins(&spans[*index], byte))
                .collect()
        })
        .collect()
}

fn word_bytes(more: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    for byte in 0..=u8::MAX {
        table[usize::from(byte)] =
            byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80 || more.contains(&byte);
    }
    table
}
