//! One fence may hold code of several files: its comments say so, or what known files define.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::code_reader::CodeReader;
use crate::judge::link::{entities_named, files_of_conversation, sole};
use crate::judge::namesakes;
use crate::judge::similarity;
use crate::prompt::last_turn;
use crate::prompt::mention;
use crate::scope::place;
use tslp_core::capture::path_hint::{self, PathHint};
use tslp_core::capture::{Authorship, CodeBlock, StatedExtent};
use tslp_core::entity::EntityId;
use tslp_core::event::{Format, PathEvidence};
use tslp_core::extract::{Definition, Grammars, LanguageId};
use tslp_core::path::RelPath;

/// The share of a definition's words, in percent, from which one of its name counts as that definition.
const SAME_PERCENT: u8 = 80;

/// Splits fences at the comment lines that are paths: `# table.py` begins that file's code. It has to be a known file, or the fence's first
/// line names one in the same way. A comment that the file above it has as well begins nothing, nor does one of several in a row.
pub(crate) fn at_headings<'t>(
    reader: CodeReader<'_>,
    blocks: Vec<CodeBlock<'t>>,
) -> Vec<CodeBlock<'t>> {
    let split = blocks.into_iter().flat_map(|block| {
        let headings = headings(reader, &block);
        if headings.is_empty() {
            return Vec::from([block]);
        }
        let above = part_of(&block, 0..headings[0].0);
        let ends = headings.iter().skip(1).map(|(at, _)| *at);
        let ends = ends.chain([block.code.len()]);
        let parts = headings.iter().zip(ends).map(|((start, hint), end)| {
            let hint = hint.clone();
            CodeBlock {
                path: hint.path,
                evidence: hint.evidence,
                stated_extent: hint.stated_extent,
                symbol: hint.symbol,
                ..part_of(&block, *start..end)
            }
        });
        Vec::from_iter([above].into_iter().chain(parts))
    });
    split.collect()
}

/// Whether a block is code as such, in a fence of its writer's.
fn is_listing(block: &CodeBlock<'_>) -> bool {
    block.format == Format::Fence && block.edit.is_none() && block.authorship == Authorship::Own
}

/// A part of a block's code as a block.
fn part_of<'t>(block: &CodeBlock<'t>, range: Range<usize>) -> CodeBlock<'t> {
    let from = block.verbatim.as_ref().map_or(0, |verbatim| verbatim.start);
    let in_text = from + range.start..from + range.end;
    CodeBlock {
        outer: in_text.clone(),
        stated_extent: StatedExtent::Unstated,
        verbatim: block.verbatim.as_ref().map(|_| in_text),
        code: match &block.code {
            Cow::Borrowed(code) => Cow::Borrowed(&code[range]),
            Cow::Owned(code) => Cow::Owned(code[range].into()),
        },
        ..block.clone()
    }
}

/// Where another file's code begins in a block, below its first line.
fn headings(reader: CodeReader<'_>, block: &CodeBlock<'_>) -> Vec<(usize, PathHint)> {
    let mut found = Vec::new();
    let mut file = usable(reader, block);
    let grammars = reader.grammars;
    let language = language_of(grammars, block, file.as_ref());
    let is_whole = block.stated_extent == StatedExtent::Whole;
    let Some(language) = language.filter(|_| is_listing(block) && !is_whole) else {
        return found;
    };
    let is_path = |line: &&str| path_hint::first_line_comment(line).is_some();
    let mut read = None;
    let (mut at, mut is_below_path) = (0, false);
    let mut lines = block.code.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let start = at;
        at += line.len();
        let is_listed = is_below_path || lines.peek().is_some_and(is_path);
        let hint = path_hint::first_line_comment(line);
        is_below_path = hint.is_some();
        let is_first = block.code[..start].trim().is_empty();
        let is_alone = !is_first && !is_listed && !line.starts_with([' ', '\t']);
        let Some(hint) = hint.filter(|_| is_alone) else {
            continue;
        };
        let path = hint.path.as_deref().unwrap_or_default();
        let Ok(named) = place::of(reader.view, reader.at, path) else {
            continue;
        };
        let other = grammars.language_of_path(&named);
        let is_kin = other.is_some_and(|it| grammars.are_kin(language, it));
        let is_known = reader.view.state.state_map().tracks(&named)
            || block.evidence == PathEvidence::FirstLineComment;
        let is_own = file
            .as_ref()
            .is_some_and(|it| *it == named || has_line(reader, it, line));
        let read = read.get_or_insert_with(|| grammars.extract(language, block.code.as_bytes()));
        // What looks like one may stand in a string, or at the head of all that follows.
        let begins_code = read.as_ref().is_ok_and(|read| {
            let mut remarks = read.remarks.iter();
            let mut definitions = read.definitions.iter();
            remarks.any(|it| it.range().contains(&start))
                && definitions.any(|it| it.span.range().end <= start)
        });
        if is_kin && is_known && !is_own && begins_code {
            found.push((start, hint));
            file = Some(named);
        }
    }
    found
}

/// The language of a block, by its file or else its tag.
fn language_of(
    grammars: &dyn Grammars,
    block: &CodeBlock<'_>,
    file: Option<&RelPath>,
) -> Option<LanguageId> {
    let tagged = || grammars.language_of_tag(block.language.as_deref()?);
    file.map_or_else(tagged, |file| grammars.language_of_path(file))
}

/// The file that a block names.
fn usable(reader: CodeReader<'_>, block: &CodeBlock<'_>) -> Option<RelPath> {
    place::of(reader.view, reader.at, block.path.as_deref()?).ok()
}

/// Whether the true text of a file has this line.
fn has_line(reader: CodeReader<'_>, file: &RelPath, line: &str) -> bool {
    let current = reader.view.current_version(&EntityId::file(file.clone()));
    let text = current.and_then(|it| reader.view.text(it.artifact));
    text.is_some_and(|text| text.lines().any(|it| it.trim_end() == line.trim_end()))
}

/// Splits fences whose definitions are of several known files. Each goes to the one file that has it; what none has stays with the file
/// that the fence names, and without one is a block of its own. What stands around the definitions stays with a named file alone.
pub(crate) fn by_definitions<'t>(
    reader: CodeReader<'_>,
    blocks: Vec<CodeBlock<'t>>,
) -> Vec<CodeBlock<'t>> {
    if !blocks.iter().any(is_listing) {
        return blocks;
    }
    let session = reader.session;
    let asked = session.map(|it| last_turn::last_asked(reader.view, it));
    let splitter = Splitter {
        reader,
        conversation: session.map_or_else(BTreeSet::new, |it| files_of_conversation(reader, it)),
        asked: asked.unwrap_or_default(),
        reply: &blocks,
    };
    let split = blocks.iter().flat_map(|block| {
        let parts = splitter.parts(block);
        parts.unwrap_or_else(|| Vec::from([block.clone()]))
    });
    split.collect()
}

/// Splits the blocks of one reply.
struct Splitter<'s, 't> {
    reader: CodeReader<'s>,
    /// The files that the conversation shows or names.
    conversation: BTreeSet<RelPath>,
    /// The prompt.
    asked: String,
    reply: &'s [CodeBlock<'t>],
}

impl<'t> Splitter<'_, 't> {
    /// The block's parts by file, if it has definitions of another file than the one that it names, or of several.
    fn parts(&self, block: &CodeBlock<'t>) -> Option<Vec<CodeBlock<'t>>> {
        let own = usable(self.reader, block);
        let is_tracked = |own: &RelPath| self.reader.view.state.state_map().tracks(own);
        // Code of a file of which nothing is known is for the gates.
        if !is_listing(block) || block.path.is_some() && !own.as_ref().is_some_and(is_tracked) {
            return None;
        }
        let grammars = self.reader.grammars;
        let files = || {
            let files = self.conversation.iter();
            let languages = files.filter_map(|it| grammars.language_of_path(it));
            sole(languages.collect::<BTreeSet<_>>().into_iter())
        };
        let language = match (&own, &block.language) {
            (None, None) => files()?,
            _ => language_of(grammars, block, own.as_ref()).or_else(files)?,
        };
        let extraction = self
            .reader
            .grammars
            .extract(language, block.code.as_bytes());
        let definitions = extraction.ok()?.definitions;
        let mut by_file: BTreeMap<Option<RelPath>, Vec<Range<usize>>> = BTreeMap::new();
        for definition in namesakes::outermost(&definitions) {
            let code = definition.span.of(block.code.as_bytes());
            let file = self.file_of(language, own.as_ref(), (definition, code));
            by_file
                .entry(file)
                .or_default()
                .push(definition.span.range());
        }
        let of_own = own.and_then(|own| by_file.remove(&Some(own)));
        let others_min = if block.path.is_some() { 1 } else { 2 };
        (by_file.keys().flatten().count() >= others_min).then_some(())?;
        let rest = of_own.map(|_| CodeBlock {
            code: Cow::Owned(without(&block.code, by_file.values().flatten())),
            verbatim: None,
            ..block.clone()
        });
        let parts = by_file.iter().map(|(file, spans)| {
            let texts: Vec<&str> = spans.iter().map(|it| &block.code[it.clone()]).collect();
            CodeBlock {
                code: Cow::Owned(texts.join("\n\n")),
                evidence: file
                    .as_ref()
                    .map_or(PathEvidence::None, |_| PathEvidence::Shown),
                path: file.as_ref().map(|file| file.as_str().into()),
                stated_extent: StatedExtent::Unstated,
                symbol: None,
                verbatim: None,
                ..block.clone()
            }
        });
        Some(rest.into_iter().chain(parts).collect())
    }

    /// The file that a definition belongs to: the one that has it. Beside other code of a file that is named, it has to be like
    /// another one's that the conversation is about, and not be put here by the prompt or the reply.
    fn file_of(
        &self,
        language: LanguageId,
        own: Option<&RelPath>,
        (definition, code): (&Definition, &[u8]),
    ) -> Option<RelPath> {
        let mut known = entities_named(self.reader, language, definition.symbol.last_component());
        known.retain(|it| it.symbol.as_ref() == Some(&definition.symbol));
        let near = sole(
            known
                .iter()
                .filter(|it| self.conversation.contains(&it.path)),
        );
        let Some(own) = own else {
            return sole(known.iter()).or(near).map(|it| it.path.clone());
        };
        let is_asked = |path: &RelPath, other: &RelPath| {
            let is_told_apart = path.basename() != other.basename();
            let mut said = mention::path_words(&self.asked).map(mention::path_in);
            said.any(|it| {
                it == path.as_str()
                    || is_told_apart && it.rsplit('/').next() == Some(path.basename())
            })
        };
        let is_of_another = |it: &&EntityId| {
            !known.iter().any(|known| known.path == *own)
                && (is_asked(&it.path, own) || !is_asked(own, &it.path))
                && self.is_like(it, code)
                && !self.reply.iter().any(|other| self.takes_out(other, it))
        };
        let file = near.filter(is_of_another).map_or(own, |it| &it.path);
        Some(file.clone())
    }

    fn is_like(&self, entity: &EntityId, code: &[u8]) -> bool {
        let view = self.reader.view;
        let current = view.current_version(entity);
        let text = current.and_then(|it| view.artifact_slices(it.artifact, &it.spans));
        text.is_some_and(|text| similarity::words_shared_percent(&text, code) >= SAME_PERCENT)
    }

    /// Whether a block lists most of a definition's file without it.
    fn takes_out(&self, block: &CodeBlock<'t>, entity: &EntityId) -> bool {
        let reader = self.reader;
        let file = usable(reader, block).filter(|it| *it == entity.path && is_listing(block));
        let language = file.and_then(|it| reader.grammars.language_of_path(&it));
        let extraction =
            language.and_then(|it| reader.grammars.extract(it, block.code.as_bytes()).ok());
        let Some(extraction) = extraction else {
            return false;
        };
        let defined: BTreeSet<_> = extraction.definitions.iter().map(|it| &it.symbol).collect();
        let symbols = reader.view.state.state_map().symbols_of(&entity.path);
        let kept = symbols.iter().filter(|it| defined.contains(it)).count();
        2 * kept + 2 > symbols.len()
            && !entity
                .symbol
                .as_ref()
                .is_some_and(|it| defined.contains(it))
    }
}

/// A text without these ranges and the blank lines after them.
fn without<'r>(text: &str, ranges: impl Iterator<Item = &'r Range<usize>>) -> String {
    let mut ranges: Vec<&Range<usize>> = ranges.collect();
    ranges.sort_by_key(|range| range.start);
    let (mut rest, mut from) = (String::new(), 0);
    for range in ranges {
        rest.push_str(&text[from..range.start]);
        from = text.len() - text[range.end..].trim_start_matches(['\n', '\r']).len();
    }
    rest + &text[from..]
}
