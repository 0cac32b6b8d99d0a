//! Code in older messages that isn't true any more: superseded, removed, or contradicted by disk (spec §15.6).
//!
//! It is told by its structure: a block goes if anything that it defines is, in canonical form, a version that is no
//! longer authoritative, or one whose entity is STALE.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ops::Range;

use super::found_code::{self, Reading};
use crate::capture::older::{self, By, Gone, Piece, Verdict};
use crate::capture::{self, Block, path_hint};
use crate::edit::{Edit, Hunk};
use crate::entity::{EntityId, Symbol};
use crate::extract::{Extraction, LanguageId, Proof};
use crate::hash::{ArtifactHash, SliceHash};
use crate::limits::{
    NAMESAKES_COMPARED_MAX, OLDER_CODE_BYTES_MAX, OLDER_LANGUAGES_MAX, OLDER_PLACES_BYTES_MIN,
    WORDS_LOOKED_UP_MAX,
};
use crate::message::ToolCall;
use crate::path::RelPath;
use crate::reason::Reason;
use crate::slice;
use crate::view::Former;

mod beside_noise;
mod files;
mod forms;
mod read_code;

pub use files::files;
pub use read_code::ReadCode;

use forms::Found;
use read_code::Definitions;

/// Takes out of older messages what isn't true any more.
pub struct Outdated<'r> {
    reading: Reading<'r>,
    known: &'r ReadCode,
    /// Bytes that may still be parsed for this prompt.
    left: Cell<usize>,
}

/// Some code of an older message.
#[derive(Clone, Copy)]
struct Code<'t> {
    text: &'t str,
    /// Address of the text.
    artifact: ArtifactHash,
    path: Option<&'t RelPath>,
    /// The language that it is said to be in.
    language: Option<LanguageId>,
}

impl<'t> Code<'t> {
    fn new(text: &'t str, path: Option<&'t RelPath>, language: Option<LanguageId>) -> Self {
        Self {
            text,
            artifact: ArtifactHash::of(text.as_bytes()),
            path,
            language,
        }
    }
}

/// What is known of definitions in canonical form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It is authoritative, and disk doesn't contradict it.
    True,
    /// It was authoritative once, or disk contradicts it.
    Outdated,
    /// It never was.
    Unknown,
}

impl<'r> Outdated<'r> {
    /// Judges by the state as `reading` sees it.
    #[must_use]
    pub const fn new(reading: Reading<'r>, known: &'r ReadCode) -> Self {
        Self {
            reading,
            known,
            left: Cell::new(OLDER_CODE_BYTES_MAX),
        }
    }

    /// The text with a marker in the place of each piece of code that is outdated; `None` if there is none.
    #[must_use]
    pub fn withheld(&self, text: &str) -> Option<String> {
        older::talk(text, &mut |piece| self.judge(piece))
    }

    /// The same for a tool's result, which may be a file's bare text; `call` is what asked for it. What it was asked to read
    /// of a file that nothing is known of is that file's, and a diff that it returns says what has changed.
    #[must_use]
    pub fn withheld_result(&self, text: &str, call: Option<&ToolCall>) -> Option<String> {
        older::result(text, call, &mut |piece| self.judge(piece))
    }

    /// A tool call's arguments with a marker in the place of the texts that hold what is outdated; `None` if none does.
    #[must_use]
    pub fn withheld_arguments(&self, call: &ToolCall) -> Option<String> {
        let blocks = capture::tool_call(&call.name, &call.arguments);
        let is_outdated = blocks.iter().any(|block| self.is_outdated(block));
        let goes = is_outdated.then(|| marker(capture::path_of_call(&call.arguments).as_deref()));
        older::arguments(call, goes.as_deref(), &mut |piece| self.judge(piece))
    }

    fn judge(&self, piece: &Piece<'_>) -> Verdict {
        let reach = match piece.block {
            Some(block) => self.is_outdated(block).then_some(block.code.len()),
            None => {
                let Some(place) = self.place(piece) else {
                    return Verdict::Stays;
                };
                let codes = self.codes(piece, &place);
                if piece.is_search && codes.iter().all(|code| self.defines_nothing(code)) {
                    return Verdict::Stays;
                }
                let holds_it = |own| {
                    codes
                        .iter()
                        .all(|code| self.holds_it_alone(own, piece.by, code))
                };
                if place.own.as_ref().is_some_and(holds_it) {
                    return Verdict::Stays;
                }
                let mut outdated = codes.iter().filter(|code| self.is_code_outdated(code));
                outdated.next().map(|code| self.end_of(code))
            }
        };
        match reach {
            None => Verdict::Open,
            Some(reach) => Verdict::Goes(Gone {
                reach,
                marker: marker(piece.path),
            }),
        }
    }

    /// A piece in each language that it may be in.
    fn codes<'t>(&self, piece: &Piece<'t>, place: &'t Place) -> Vec<Code<'t>> {
        let languages = self.languages(piece).into_iter();
        let artifact = ArtifactHash::of(piece.code.as_bytes());
        let code = |language| Code {
            text: piece.code,
            artifact,
            path: place.path.as_ref(),
            language,
        };
        languages.map(code).collect()
    }

    /// The languages that a piece may be in, at least one; `None` is to be found out by its words.
    fn languages(&self, piece: &Piece<'_>) -> Vec<Option<LanguageId>> {
        let written = piece.path.into_iter();
        let named = written.chain(piece.named.iter().map(String::as_str));
        let mut languages = Vec::new();
        for language in named.filter_map(|written| self.language_of_file(written)) {
            if !languages.contains(&Some(language)) && languages.len() < OLDER_LANGUAGES_MAX {
                languages.push(Some(language));
            }
        }
        if languages.is_empty() {
            languages.push(None);
        }
        languages
    }

    fn defines_nothing(&self, code: &Code<'_>) -> bool {
        self.definitions(code).all().next().is_none()
    }

    /// Where what a code defines ends; all of it if it defines nothing.
    fn end_of(&self, code: &Code<'_>) -> usize {
        match self.definitions(code).end {
            0 => code.text.len(),
            end => end,
        }
    }

    /// Where a piece belongs; `None` if it is nothing of the workspace's.
    fn place(&self, piece: &Piece<'_>) -> Option<Place> {
        let written = piece.path.map(|written| (written, self.usable(written)));
        let is_absolute = |written: &str| written.starts_with(['/', '~']);
        let path = match written {
            // Above the folder that a shell was in may be the workspace's.
            Some((written, Err(Reason::PathEscapesWorkspace)))
                if piece.by != By::Terminal || is_absolute(written) =>
            {
                let writes = matches!(piece.by, By::Writer | By::Script);
                return writes.then(Place::default);
            }
            Some((_, Ok(path))) => path,
            _ => return Some(Place::default()),
        };
        let is_certain = match piece.by {
            By::Reader | By::Writer => true,
            By::Script | By::Terminal => self.reading.view.tracks(&path),
            By::Search => false,
        };
        // What has no extension may be a folder.
        let may_own = matches!(piece.by, By::Reader | By::Terminal) && path.extension().is_some();
        Some(Place {
            path: is_certain.then(|| path.clone()),
            own: may_own.then_some(path),
        })
    }

    /// Whether a file has its text for itself: nothing true stands in it, and this was never true there. Where a terminal
    /// shows it, the folder may be any that has such a file.
    fn holds_it_alone(&self, path: &RelPath, by: By, code: &Code<'_>) -> bool {
        let view = self.reading.view;
        if view.tracks(path) {
            return false;
        }
        let is_here = |entity: &EntityId| match by {
            By::Terminal => ends_in(&entity.path, path),
            _ => entity.path == *path,
        };
        let definitions = self.definitions(code);
        let whole = slice::hash_of_whole(code.text.as_bytes());
        let slices = definitions.all().flat_map(|(_, slices)| slices).copied();
        let was_here = |slice| match view.former(slice) {
            Former::Never => false,
            Former::Of(entity) => is_here(&entity),
            Former::Unreadable => true,
        };
        let stands_here = |(symbol, slices): (&Symbol, &[SliceHash])| {
            let namesakes = view.entities_named(symbol.last_component(), NAMESAKES_COMPARED_MAX);
            let mut same = namesakes
                .iter()
                .filter(|entity| self.is_one_of(entity, slices));
            by == By::Terminal && same.any(is_here)
        };
        !slices.chain([whole]).any(was_here) && !definitions.all().any(stands_here)
    }

    fn is_outdated(&self, block: &Block<'_>) -> bool {
        let path = self.path(block.path.as_deref());
        let language = self.language_of_block(block, path.as_ref());
        let code = |text| Code::new(text, path.as_ref(), language);
        let Some(edit) = &block.edit else {
            return self.is_code_outdated(&code(&block.code));
        };
        let artifact = ArtifactHash::of(block.code.as_bytes());
        self.reading.view.artifact_is_current(artifact) == Some(false)
            || edit.iter().flat_map(texts_of).any(|text| {
                let code = code(text);
                self.all(&code, &self.definitions(&code).slices) == Standing::Outdated
            })
    }

    fn path(&self, written: Option<&str>) -> Option<RelPath> {
        self.usable(written?).ok()
    }

    fn usable(&self, written: &str) -> Result<RelPath, Reason> {
        found_code::usable_path(self.reading.view, self.reading.root, written)
    }

    fn is_code_outdated(&self, code: &Code<'_>) -> bool {
        if code.text.trim().is_empty() {
            return false;
        }
        let definitions = self.definitions(code);
        let all = self.all(code, &definitions.slices);
        if all == Standing::Outdated {
            return true;
        }
        // Bytes may be true in one place and no longer in another.
        match (all, self.reading.view.artifact_is_current(code.artifact)) {
            (Standing::Unknown, Some(false)) => return true,
            (_, Some(true)) => return false,
            _ => {}
        }
        let bytes = code.text.as_bytes();
        let as_slice = slice::hash_of_slice(bytes);
        let is_definition = definitions
            .slices
            .iter()
            .any(|(_, slice)| *slice == as_slice);
        !is_definition && self.was_whole(code.path, slice::hash_of_whole(bytes))
            || self.is_outdated_in_a_form(code, &definitions)
    }

    /// Whether anything is outdated that is only found where lines are left out. The longest form that is known decides, so
    /// that what is true isn't made outdated by a part of it.
    fn is_outdated_in_a_form(&self, code: &Code<'_>, definitions: &Definitions) -> bool {
        let stands = |symbol: &Symbol, slice| self.standing(code.path, symbol, slice);
        definitions.others.iter().any(|forms| {
            let standings = forms.slices.iter().map(|form| stands(&forms.symbol, *form));
            let known = standings.filter(|standing| *standing != Standing::Unknown);
            let mut whole = definitions.slices.iter();
            let is_true = |(symbol, slice): &(Symbol, SliceHash)| {
                *symbol == forms.symbol && stands(symbol, *slice) == Standing::True
            };
            known.take(1).any(|standing| standing == Standing::Outdated) && !whole.any(is_true)
        })
    }

    /// How definitions stand together: none makes nothing true.
    fn all(&self, code: &Code<'_>, definitions: &[(Symbol, SliceHash)]) -> Standing {
        let mut all = match definitions {
            [] => Standing::Unknown,
            _ => Standing::True,
        };
        for (symbol, slice) in definitions {
            match self.standing(code.path, symbol, *slice) {
                Standing::True => {}
                Standing::Unknown => all = Standing::Unknown,
                Standing::Outdated => return Standing::Outdated,
            }
        }
        all
    }

    /// How a definition stands. What is true in another file stays, unless the file that the code names has left it
    /// behind.
    fn standing(&self, path: Option<&RelPath>, symbol: &Symbol, slice: SliceHash) -> Standing {
        let view = self.reading.view;
        let own = path.map(|path| EntityId::symbol(path.clone(), symbol.clone()));
        let here = own.as_ref().and_then(|own| self.slice(own));
        if let Some(own) = own.filter(|_| here == Some(slice)) {
            return self.standing_of_true(&own);
        }
        let namesakes = view.entities_named(symbol.last_component(), NAMESAKES_COMPARED_MAX);
        let mut elsewhere = namesakes
            .iter()
            .filter(|entity| self.slice(entity) == Some(slice))
            .map(|entity| self.standing_of_true(entity))
            .peekable();
        let is_true = elsewhere.peek().is_some();
        if elsewhere.any(|standing| standing == Standing::Outdated) {
            return Standing::Outdated;
        }
        if is_true && path.is_none() {
            return Standing::True;
        }
        match view.former(slice) {
            Former::Never => Standing::Unknown,
            Former::Of(entity) if is_true && here.is_none() && path != Some(&entity.path) => {
                Standing::Unknown
            }
            Former::Of(_) | Former::Unreadable => Standing::Outdated,
        }
    }

    fn standing_of_true(&self, entity: &EntityId) -> Standing {
        match self.reading.view.divergence(entity) {
            None => Standing::True,
            Some(_) => Standing::Outdated,
        }
    }

    /// Whether the text as a whole was true once and is no longer, or is true and STALE.
    fn was_whole(&self, path: Option<&RelPath>, whole: SliceHash) -> bool {
        let view = self.reading.view;
        let own = path.map(|path| EntityId::file(path.clone()));
        if let Some(own) = own.filter(|own| self.slice(own) == Some(whole)) {
            return view.divergence(&own).is_some();
        }
        match view.former(whole) {
            Former::Never => false,
            Former::Unreadable => true,
            Former::Of(entity) => {
                self.slice(&entity) != Some(whole) || view.divergence(&entity).is_some()
            }
        }
    }

    fn slice(&self, entity: &EntityId) -> Option<SliceHash> {
        Some(self.reading.view.current(entity)?.slice)
    }

    fn is_one_of(&self, entity: &EntityId, slices: &[SliceHash]) -> bool {
        self.slice(entity).is_some_and(|now| slices.contains(&now))
    }

    fn definitions(&self, code: &Code<'_>) -> Arc<Definitions> {
        let Some(language) = self.language(code) else {
            return Arc::default();
        };
        let key = (code.artifact, language);
        if let Some(known) = self.known.get(key) {
            return known;
        }
        let Some(left) = self.left.get().checked_sub(code.text.len()) else {
            return Arc::default();
        };
        self.left.set(left);
        let definitions = Arc::new(self.read(language, code.text));
        self.known.put(key, &definitions);
        definitions
    }

    /// Reads what a text defines. Where not all of it is understood, or in front of the first definition if the language is
    /// read by patterns, which pass over what they don't know, it is looked for in each place.
    fn read(&self, language: LanguageId, text: &str) -> Definitions {
        let mut definitions = Definitions::default();
        let mut found = Found::default();
        let Ok(whole) = self.reading.grammars.extract(language, text.as_bytes()) else {
            return definitions;
        };
        definitions.slices = found.add(text, 0, &whole);
        definitions.end = end_of(&whole);
        let before = match (whole.clean, whole.grammar.means()) {
            (false, _) => text.len(),
            (true, Proof::Ast) => 0,
            (true, _) => found.first().unwrap_or(text.len()),
        };
        let bytes_max = OLDER_PLACES_BYTES_MIN + 2 * text.len();
        let places = beside_noise::places(text, before, self.left.get().min(bytes_max));
        for place in below_path(text).into_iter().chain(places) {
            self.left.set(self.left.get().saturating_sub(place.len()));
            let part = &text[place.clone()];
            let Ok(part_of_it) = self.reading.grammars.extract(language, part.as_bytes()) else {
                continue;
            };
            found.add(part, place.start, &part_of_it);
            if !part_of_it.definitions.is_empty() {
                definitions.end = definitions.end.max(place.start + end_of(&part_of_it));
            }
        }
        definitions.others = found.besides(&definitions.slices);
        definitions
    }

    /// The language that is said, or that of what is known under the first name in it that is.
    fn language(&self, code: &Code<'_>) -> Option<LanguageId> {
        code.language.or_else(|| {
            words(code.text).take(WORDS_LOOKED_UP_MAX).find_map(|word| {
                let known = self.reading.view.entities_named(word, 1).pop()?;
                self.reading.grammars.language_of_path(&known.path)
            })
        })
    }

    /// The language by the file, or by the fence.
    fn language_of_block(&self, block: &Block<'_>, path: Option<&RelPath>) -> Option<LanguageId> {
        let grammars = self.reading.grammars;
        let by_path = path.and_then(|path| grammars.language_of_path(path));
        by_path.or_else(|| grammars.language_of_tag(block.language.as_deref()?))
    }

    fn language_of_file(&self, written: &str) -> Option<LanguageId> {
        let name = written.rsplit(['/', '\\']).next().unwrap_or(written);
        let grammars = self.reading.grammars;
        grammars.language_of_path(&RelPath::from_normalised(name))
    }
}

/// Where the last of what a text defines ends.
fn end_of(extraction: &Extraction) -> usize {
    let ends = extraction.definitions.iter();
    ends.map(|found| found.span.end as usize).max().unwrap_or(0)
}

/// Where a piece belongs.
#[derive(Default)]
struct Place {
    /// The file, if that is certain.
    path: Option<RelPath>,
    /// The file that may have the text for itself.
    own: Option<RelPath>,
}

/// The text without a comment on its first line that only names its file.
fn below_path(text: &str) -> Option<Range<usize>> {
    path_hint::first_line_comment(text)?;
    let (first, _) = text.split_once('\n')?;
    Some(first.len() + 1..text.len())
}

/// Whether a path is another one's end.
fn ends_in(path: &RelPath, end: &RelPath) -> bool {
    let before = path.as_str().strip_suffix(end.as_str());
    before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// The pieces of code that an edit is written with.
fn texts_of(edit: &Edit) -> Vec<&str> {
    let hunks = match edit {
        Edit::Create(text) => return Vec::from([text.as_str()]),
        Edit::Delete => return Vec::new(),
        Edit::Change(hunks) | Edit::Move { hunks, .. } => hunks,
    };
    let texts = hunks.iter().flat_map(|hunk| match hunk {
        Hunk::Replace { old, new, .. } => [Some(old.as_str()), Some(new.as_str())],
        Hunk::Insert { text, .. } | Hunk::Append(text) => [Some(text.as_str()), None],
    });
    texts.flatten().collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.filter(|word| !word.is_empty())
}

fn marker(path: Option<&str>) -> String {
    let name = path.unwrap_or("this file");
    format!("(code of {name} withheld: it is no longer current)")
}
