//! Code that people paste without a fence (spec §9.1): below a line with its path it is taken as far as it parses; elsewhere it
//! is only noticed. Prose, logs and diffs parse as nothing.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::ops::Range;

use crate::code_reader::{CodeReader, may_be_prose};
use crate::scope::place;
use tslp_core::capture::path_hint::{self, PathHint};
use tslp_core::capture::{Authorship, Closing, CodeBlock};
use tslp_core::event::Format;
use tslp_core::extract::{Grammars, LanguageId};
use tslp_core::limits::{BLOCKS_PER_MESSAGE_MAX, UNFENCED_BYTES_MAX, UNFENCED_TRIES_MAX};

/// The languages that are tried for code without a language.
const TRIED_LANGUAGES: [&str; 8] = [
    "c",
    "cpp",
    "python",
    "javascript",
    "typescript",
    "rust",
    "go",
    "java",
];

/// Adds the unfenced code that follows a line with its path, outside of `blocks`.
pub(crate) fn add_unfenced_code<'t>(
    reader: CodeReader<'_>,
    text: &'t str,
    blocks: &mut Vec<CodeBlock<'t>>,
) {
    let mut tries = ParseBudget::new();
    for gap in gaps_between_blocks(text, blocks) {
        let mut lines = lines_of(text, gap.clone()).peekable();
        let mut opened: Option<(PathHint, LanguageId, usize)> = None;
        while let Some(line) = lines.next() {
            let written = &text[line.clone()];
            let Some((hint, language)) = file_named(reader, written) else {
                continue;
            };
            if let Some(opened) = opened.take() {
                blocks.extend(longest_sound_block(
                    reader, text, opened, line.start, &mut tries,
                ));
            }
            if tries.is_over() || blocks.len() >= BLOCKS_PER_MESSAGE_MAX {
                return blocks.sort_by_key(|block| block.outer.start);
            }
            if let Some(blank) = lines.next_if(|next| text[next.clone()].trim().is_empty()) {
                opened = Some((hint, language, blank.end));
            } else {
                opened = Some((hint, language, line.end));
            }
        }
        if let Some(opened) = opened {
            blocks.extend(longest_sound_block(
                reader, text, opened, gap.end, &mut tries,
            ));
        }
    }
    blocks.sort_by_key(|block| block.outer.start);
}

/// Whether a text holds code without a path: in a fence without a language, or in no fence at all.
#[must_use]
pub fn has_pathless_code(grammars: &dyn Grammars, text: &str) -> bool {
    let blocks = tslp_core::capture::blocks(text);
    let mut tries = ParseBudget::new();
    let said = blocks.iter().filter(|block| {
        block.path.is_none()
            && block.language.is_none()
            && block.edit.is_none()
            && block.authorship == Authorship::Own
    });
    for block in said {
        if tries.is_sound_in_any(grammars, &TRIED_LANGUAGES, &block.code) {
            return true;
        }
    }
    for gap in gaps_between_blocks(text, &blocks) {
        let mut at = gap.start;
        while at < gap.end && !tries.is_over() {
            let line = line_of(text, at..gap.end);
            at = line.end;
            let Some(languages) = languages_of_opening(text, &line, gap.end) else {
                continue;
            };
            let end = end_of_definition(text, line.end, gap.end);
            if tries.is_sound_in_any(grammars, languages, &text[line.start..end]) {
                return true;
            }
        }
    }
    false
}

/// A bound on the parsing of one text: a long prose text must not cost much more than reading it.
struct ParseBudget {
    bytes_left: usize,
    left: usize,
}

impl ParseBudget {
    const fn new() -> Self {
        Self {
            bytes_left: UNFENCED_BYTES_MAX,
            left: UNFENCED_TRIES_MAX,
        }
    }

    const fn is_over(&self) -> bool {
        self.left == 0 || self.bytes_left == 0
    }

    /// Whether the code parses without errors in one of the languages and defines something.
    fn is_sound_in_any(&mut self, grammars: &dyn Grammars, languages: &[&str], code: &str) -> bool {
        let mut languages = languages
            .iter()
            .filter_map(|language| grammars.language_of_tag(language));
        languages.any(|language| self.is_sound(grammars, language, code))
    }

    fn is_sound(&mut self, grammars: &dyn Grammars, language: LanguageId, code: &str) -> bool {
        if self.left == 0 || code.len() > self.bytes_left {
            return false;
        }
        self.left -= 1;
        self.bytes_left -= code.len();
        let extraction = grammars.extract(language, code.as_bytes());
        extraction.is_ok_and(|extraction| {
            extraction.clean && !extraction.breaks_off && !extraction.definitions.is_empty()
        })
    }
}

/// The file named by a line that holds nothing else, or by a sentence that ends in a colon.
fn file_named(reader: CodeReader<'_>, line: &str) -> Option<(PathHint, LanguageId)> {
    let hint = path_hint::line_before(line, 0).or_else(|| {
        let is_introduction = line.trim_end().ends_with(':');
        is_introduction
            .then(|| path_hint::sentence_before(line, 0))
            .flatten()
    })?;
    let written = hint.path.as_deref()?;
    let written = Some(written).filter(|it| !may_be_prose(reader, it))?;
    let path = place::of(reader.view, reader.at, written).ok()?;
    let language = reader.grammars.language_of_path(&path)?;
    Some((hint, language))
}

/// The longest text from `start` that parses: the user's prose may follow the code.
fn longest_sound_block<'t>(
    reader: CodeReader<'_>,
    text: &'t str,
    (hint, language, start): (PathHint, LanguageId, usize),
    end: usize,
    tries: &mut ParseBudget,
) -> Option<CodeBlock<'t>> {
    let end = start + text[start..end].trim_end().len();
    let lines: Vec<Range<usize>> = lines_of(text, start..end).collect();
    let last_lines = lines.iter().rev().take(4).map(|line| line.end);
    let mut before_blanks = lines
        .windows(2)
        .filter(|pair| text[pair[1].clone()].trim().is_empty())
        .map(|pair| pair[0].end)
        .rev();
    let mut ends: Vec<usize> = last_lines.chain(before_blanks.by_ref().take(4)).collect();
    // Of a long text the beginning is more likely to be code than all but its end.
    ends.extend(before_blanks.rev().take(4));
    ends.sort_unstable_by(|one, other| other.cmp(one));
    ends.dedup();
    let range = ends
        .into_iter()
        .map(|end| start..end)
        .find(|range| tries.is_sound(reader.grammars, language, &text[range.clone()]))?;
    Some(CodeBlock {
        format: Format::Fence,
        outer: range.clone(),
        code: Cow::Borrowed(&text[range.clone()]),
        verbatim: Some(range),
        edit: None,
        language: None,
        path: hint.path,
        evidence: hint.evidence,
        stated_extent: hint.stated_extent,
        symbol: hint.symbol,
        authorship: Authorship::Own,
        closing: Closing::Closed,
    })
}

/// The ranges of a text that are in none of its blocks.
fn gaps_between_blocks(text: &str, blocks: &[CodeBlock<'_>]) -> Vec<Range<usize>> {
    let mut gaps = Vec::new();
    let mut from = 0;
    for block in blocks {
        if from < block.outer.start {
            gaps.push(from..block.outer.start);
        }
        from = from.max(block.outer.end);
    }
    if from < text.len() {
        gaps.push(from..text.len());
    }
    gaps
}

fn line_of(text: &str, within: Range<usize>) -> Range<usize> {
    let rest = &text.as_bytes()[within.clone()];
    let end = memchr::memchr(b'\n', rest).map_or(within.end, |newline| within.start + newline + 1);
    within.start..end
}

fn lines_of(text: &str, within: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = within.start;
    core::iter::from_fn(move || {
        let line = (at < within.end).then(|| line_of(text, at..within.end))?;
        at = line.end;
        Some(line)
    })
}

/// The languages in which this line may begin a definition; `None` if it can't.
fn languages_of_opening(
    text: &str,
    line: &Range<usize>,
    end: usize,
) -> Option<&'static [&'static str]> {
    let code = text[line.clone()].trim_end();
    let first = code.chars().next()?;
    if !(first.is_alphabetic() || matches!(first, '_' | '@')) {
        return None;
    }
    if code.ends_with(':')
        && ["def ", "class ", "async def "]
            .iter()
            .any(|it| code.starts_with(it))
    {
        return Some(&["python"]);
    }
    let is_opened = || code.ends_with('{') || text[line.end..end].starts_with("{\n");
    let is_whole = || code.ends_with('}') && code.contains('{');
    (code.contains('(') || code.ends_with('{')).then_some(())?;
    (is_opened() || is_whole()).then_some(&TRIED_LANGUAGES[..])
}

/// The end of a definition that begins before `from`: the first line that is neither indented, empty nor a bracket.
fn end_of_definition(text: &str, from: usize, end: usize) -> usize {
    let mut lines = lines_of(text, from..end);
    let is_outside = |line: &Range<usize>| {
        let first = text[line.clone()].chars().next();
        first.is_some_and(|first| !first.is_whitespace() && !matches!(first, '{' | '}' | ')' | ']'))
    };
    lines.find(is_outside).map_or(end, |line| line.start)
}
