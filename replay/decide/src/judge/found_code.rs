//! Code found in a message, parsed once, before anything is decided about it.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::code_reader::{CodeReader, may_be_prose};
use crate::judge::found_edit::{self, EditedCode, FoundEdit};
use crate::judge::link;
use crate::judge::namesakes::{self, TrueNamesakes};
use crate::prompt::hydrate;
use crate::prompt::split;
use crate::prompt::unfenced;
use crate::scope::place::{self, WrittenPath};
use tslp_core::capture::{self, Authorship, Closing, CodeBlock, StatedExtent};
use tslp_core::delimiter;
use tslp_core::edit::{Edit, Hunk};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{DiskFile, DiskSlice, Format, PathEvidence};
use tslp_core::extract::{ExtractError, Extraction, Grammars, LanguageId};
use tslp_core::gate::Completeness;
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::UnixMillis;
use tslp_core::limits::CORRELATION_NAMESAKES_MAX;
use tslp_core::message::ToolCall;
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_core::redact;
use tslp_core::slice::{self, Span};
use tslp_projections::state::StateView;

/// One block of code, parsed, with its file looked up, and not yet linked to entities.
#[derive(Clone, Debug)]
pub struct FoundCode {
    /// The family that it is written in.
    pub format: Format,
    /// The code. For an edit the code that it makes, or its own text where it doesn't apply. Shared with the event that
    /// stores it.
    pub code: Arc<str>,
    /// Its address.
    pub artifact: ArtifactHash,
    /// Hash of its canonical form as a whole file.
    pub whole: SliceHash,
    /// Its range in the message's text, if it is there verbatim.
    pub verbatim: Option<Range<usize>>,
    /// The edit, if it is one.
    pub edit: Option<FoundEdit>,
    /// The language that its fence names.
    pub language: Option<String>,
    /// How its file is named.
    pub evidence: PathEvidence,
    /// The file, or why the written path isn't usable; `None` if nothing names a file.
    pub path: Option<Result<RelPath, Reason>>,
    /// The path as it was written.
    pub written: Option<String>,
    /// Its definitions, or why they couldn't be read.
    pub extraction: Result<Extraction, Reason>,
    /// The hash of each symbol's canonical form, if they were computed when it was read.
    pub slices: BTreeMap<Symbol, SliceHash>,
    /// The text that it is to replace, if both have parse errors.
    pub broken_base: Option<BrokenBase>,
    /// The true definitions of those symbols that have several.
    pub true_overloads: BTreeMap<Symbol, TrueNamesakes>,
    /// If nothing names the file: tracked files that have symbols of the same names, in unrelated languages.
    pub files_in_unrelated_languages: BTreeSet<RelPath>,
    /// The pattern data in force.
    pub patterns: ArtifactHash,
    /// Whether it is complete.
    pub completeness: Completeness,
    /// Whether it says that it is the whole file or a part.
    pub stated_extent: StatedExtent,
}

/// What is wrong with a text already: none of that is charged to a change of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenBase {
    /// The number of its parse errors.
    pub errors: u32,
    /// Whether it ends in the middle of something.
    pub breaks_off: bool,
    /// The symbols that can be read in it.
    pub sound: BTreeSet<Symbol>,
}

/// Whether a message was cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageEnd {
    /// The message is whole.
    Whole,
    /// Its writer was stopped (`finish_reason: length`).
    CutShort,
}

/// Finds and reads all code in a reply's text and tool calls, also what it repeats of our blocks. `text` is as it is recorded: without
/// credentials.
#[must_use]
pub fn find_code(
    reader: CodeReader<'_>,
    text: &str,
    tool_calls: &[ToolCall],
    end: MessageEnd,
) -> Vec<FoundCode> {
    let own = delimiter::unmarked(text);
    let is_recorded = matches!(own, Cow::Borrowed(_));
    let mut blocks = capture::blocks(&own);
    if !is_recorded {
        unfenced::add_unfenced_code(reader, &own, &mut blocks);
    }
    if end == MessageEnd::CutShort
        && let Some(last) = blocks.last_mut()
    {
        last.closing = Closing::Unclosed;
    }
    for call in tool_calls {
        let mut called =
            capture::tool_call(&call.name, &redact::without_credentials(&call.arguments));
        if end == MessageEnd::CutShort {
            called
                .iter_mut()
                .for_each(|block| block.closing = Closing::Unclosed);
        }
        blocks.extend(called);
    }
    let mut blocks = split::by_definitions(reader, split::at_headings(reader, blocks));
    link::link_blocks(reader, &mut blocks);
    let mut found = read_blocks(reader, blocks);
    found
        .iter_mut()
        .for_each(|it| it.verbatim = it.verbatim.take().filter(|_| is_recorded));
    found
}

/// Finds and reads all code in a message of the user's, who may leave out the fence below a path. `text` is as for [`find_code`].
#[must_use]
pub fn find_users_code(reader: CodeReader<'_>, text: &str) -> Vec<FoundCode> {
    let mut blocks = capture::blocks(text);
    unfenced::add_unfenced_code(reader, text, &mut blocks);
    read_blocks(reader, split::at_headings(reader, blocks))
}

/// The lines of a user's message that aren't in its code: a comment in pasted code is no request.
#[must_use]
pub fn text_around_code(reader: CodeReader<'_>, text: &str) -> String {
    let mut blocks = capture::blocks(text);
    unfenced::add_unfenced_code(reader, text, &mut blocks);
    let code = blocks.iter().flat_map(|block| block.code.lines());
    let code: BTreeSet<&str> = code.map(str::trim).collect();
    let mut words = String::new();
    for line in text.lines().filter(|line| !code.contains(line.trim())) {
        words.push_str(line);
        words.push('\n');
    }
    words
}

fn read_blocks(reader: CodeReader<'_>, mut blocks: Vec<CodeBlock<'_>>) -> Vec<FoundCode> {
    blocks.retain(|block| block.authorship == Authorship::Own);
    join_edits_by_file(reader, blocks)
        .into_iter()
        .map(|written| reader.read_block(written))
        .collect()
}

/// A block, its file looked up, and later edits of the same file.
struct BlockOfFile<'t> {
    block: CodeBlock<'t>,
    path: Option<Result<RelPath, Reason>>,
    /// Texts of later edits of the file, which were joined to the block's edit.
    joined: Vec<String>,
}

/// Joins the edits of one file to one, at the first one's position, unless code of the file is between them: the reader of
/// the message applies them all.
fn join_edits_by_file<'t>(
    reader: CodeReader<'_>,
    blocks: Vec<CodeBlock<'t>>,
) -> Vec<BlockOfFile<'t>> {
    let mut gathered: Vec<BlockOfFile<'t>> = Vec::with_capacity(blocks.len());
    let mut edits: BTreeMap<RelPath, usize> = BTreeMap::new();
    for mut block in blocks {
        let written = block.path.as_deref();
        let path = written.map(|written| reader.file_written(&block, written));
        let Some(Ok(file)) = &path else {
            gathered.push(BlockOfFile::unjoined(block, path));
            continue;
        };
        if block.edit.is_none() {
            edits.remove(file);
        } else if let Some(first) = edits.get(file) {
            let first = &mut gathered[*first];
            found_edit::join_edits(&mut first.block, &mut block);
            first.joined.push(block.code.into_owned());
            continue;
        } else {
            edits.insert(file.clone(), gathered.len());
        }
        gathered.push(BlockOfFile::unjoined(block, path));
    }
    gathered
}

impl<'t> BlockOfFile<'t> {
    const fn unjoined(block: CodeBlock<'t>, path: Option<Result<RelPath, Reason>>) -> Self {
        Self {
            block,
            path,
            joined: Vec::new(),
        }
    }
}

impl CodeReader<'_> {
    /// The file of a block's path.
    fn file_written(self, block: &CodeBlock<'_>, written: &str) -> Result<RelPath, Reason> {
        if block.format == Format::Fence && may_be_prose(self, written) {
            return Err(Reason::PathNotUsable);
        }
        let path = match block.format {
            Format::ToolCall => place::in_call(self.view, self.at, written),
            _ => place::of(self.view, self.at, written),
        };
        if path
            .as_ref()
            .is_ok_and(|path| self.view.state.state_map().tracks(path))
        {
            return path;
        }
        let fits = |file: &RelPath| match &block.edit {
            Some(Ok(edit @ Edit::Change(_))) => {
                found_edit::apply_to_truth(self, file, edit).is_ok()
            }
            _ => place::was_recognised(self.view, self.at, written, file),
        };
        match place::recognised(self.view, self.at, written, fits) {
            Some(file) => Ok(file),
            None => path.map(|path| self.file_meant(block, path)),
        }
    }

    /// The file that a chat's reply means by a path: one that ends in it, if the block is an edit or defines what that file does.
    fn file_meant(self, block: &CodeBlock<'_>, path: RelPath) -> RelPath {
        let is_chat = self.session.is_some() && block.format != Format::ToolCall;
        let Some(file) = place::file_ending_in(self.view, &path).filter(|_| is_chat) else {
            return path;
        };
        let is_edit = matches!(block.edit, Some(Ok(Edit::Change(_))));
        let defines_known = || {
            let language = self.grammars.language_of_path(&file);
            let found = extract_definitions(self.grammars, language, &block.code).ok();
            let symbols = self.view.state.state_map().symbols_of(&file);
            let symbols: BTreeSet<&str> = symbols.iter().map(Symbol::last_component).collect();
            let defined = found.into_iter().flat_map(|it| it.definitions);
            let mut names = defined.map(|it| it.symbol);
            names.any(|it| symbols.contains(it.last_component()))
        };
        match is_edit || defines_known() {
            true => file,
            false => path,
        }
    }

    fn read_block(self, written: BlockOfFile<'_>) -> FoundCode {
        let BlockOfFile {
            mut block,
            path,
            joined,
        } = written;
        match block.edit.take() {
            None => self.read_code(block, path),
            // A file that is made anew is written whole, whatever was there.
            Some(Ok(Edit::Create(text))) if path.as_ref().is_some_and(Result::is_ok) => {
                block.code = Cow::Owned(text);
                block.verbatim = None;
                // It named the edit's format: `diff`.
                block.language = None;
                block.stated_extent = StatedExtent::Whole;
                self.read_code(block, path)
            }
            Some(edit) => {
                let mut texts = Vec::from([core::mem::take(&mut block.code).into_owned()]);
                texts.extend(joined);
                self.apply_edit(block, texts, path, edit.map_err(|_| Reason::EditMalformed))
            }
        }
    }

    fn read_code(self, block: CodeBlock<'_>, path: Option<Result<RelPath, Reason>>) -> FoundCode {
        let language = language_of(self.grammars, &block, path.as_ref());
        let extraction = extract_definitions(self.grammars, language, &block.code);
        let known = self.true_namesakes(language, path.as_ref(), extraction.as_ref().ok());
        if let (Some(Ok(path)), Some(language)) = (&path, language)
            && block.stated_extent != StatedExtent::Whole
            && let Some(hunks) = self.replacing_hunks(language, path, &block, &extraction, &known)
        {
            let mut block = block;
            let texts = Vec::from([core::mem::take(&mut block.code).into_owned()]);
            return self.apply_edit(
                block,
                texts,
                Some(Ok(path.clone())),
                Ok(Edit::Change(hunks)),
            );
        }
        let elided = extraction
            .as_ref()
            .is_ok_and(|extraction| !extraction.elisions.is_empty());
        FoundCode {
            format: block.format,
            artifact: ArtifactHash::of(block.code.as_bytes()),
            whole: slice::hash_of_whole(block.code.as_bytes()),
            verbatim: block.verbatim,
            edit: None,
            language: block.language,
            evidence: block.evidence,
            broken_base: self.broken_base_of(language, path.as_ref(), extraction.as_ref().ok()),
            files_in_unrelated_languages: self.foreign_files(
                language,
                path.as_ref(),
                extraction.as_ref().ok(),
            ),
            path,
            written: block.path,
            extraction,
            slices: BTreeMap::new(),
            true_overloads: known,
            patterns: self.grammars.patterns(),
            completeness: completeness_of_block(block.closing, elided),
            stated_extent: block.stated_extent,
            code: block.code.into(),
        }
    }

    /// The block as an edit, if it is one of several definitions of a name, or a method out of its class.
    fn replacing_hunks(
        self,
        language: LanguageId,
        path: &RelPath,
        block: &CodeBlock<'_>,
        extraction: &Result<Extraction, Reason>,
        known: &BTreeMap<Symbol, TrueNamesakes>,
    ) -> Option<Vec<Hunk>> {
        let code = &*block.code;
        let found = extraction.as_ref().ok()?;
        if found.preamble {
            return None;
        }
        let namesakes = found
            .clean
            .then(|| namesakes::namesake_hunks(self, path, code, found, known));
        namesakes.flatten().or_else(|| {
            let stated = block.symbol.as_deref();
            link::member_hunks(self, language, path, (code, stated), Some(found))
        })
    }

    /// What is wrong with the text that made the file, or the first of the block's definitions, true. Looked for only if the block
    /// has errors itself.
    fn broken_base_of(
        self,
        language: Option<LanguageId>,
        path: Option<&Result<RelPath, Reason>>,
        extraction: Option<&Extraction>,
    ) -> Option<BrokenBase> {
        let (Some(Ok(path)), Some(extraction)) = (path, extraction) else {
            return None;
        };
        if extraction.clean {
            return None;
        }
        let symbols = extraction
            .definitions
            .iter()
            .map(|definition| EntityId::symbol(path.clone(), definition.symbol.clone()));
        let base = core::iter::once(EntityId::file(path.clone()))
            .chain(symbols)
            .find_map(|entity| self.view.current_version(&entity))?;
        self.broken_base(language, &self.view.text(base.artifact)?)
    }

    fn broken_base(self, language: Option<LanguageId>, text: &str) -> Option<BrokenBase> {
        let base = extract_definitions(self.grammars, language, text).ok()?;
        (!base.clean).then(|| BrokenBase {
            errors: base.errors,
            breaks_off: base.breaks_off,
            sound: base.sound_definitions().into_keys().cloned().collect(),
        })
    }

    /// Tracked files that code without a path can't belong to because of their language, whatever their symbols are (spec §11).
    fn foreign_files(
        self,
        language: Option<LanguageId>,
        path: Option<&Result<RelPath, Reason>>,
        extraction: Option<&Extraction>,
    ) -> BTreeSet<RelPath> {
        let (Some(language), None, Some(extraction)) = (language, path, extraction) else {
            return BTreeSet::new();
        };
        let is_kin = |path: &RelPath| {
            let other = self.grammars.language_of_path(path);
            other.is_some_and(|other| self.grammars.are_kin(language, other))
        };
        let symbols = extraction.definitions.iter().map(|it| &it.symbol);
        let symbols: BTreeSet<&Symbol> = symbols.collect();
        let namesakes = symbols.into_iter().flat_map(|symbol| {
            let name = symbol.last_component();
            self.view
                .state
                .state_map()
                .entities_named(name, CORRELATION_NAMESAKES_MAX)
        });
        let files = namesakes.map(|entity| entity.path);
        files.filter(|path| !is_kin(path)).collect()
    }

    fn true_namesakes(
        self,
        language: Option<LanguageId>,
        path: Option<&Result<RelPath, Reason>>,
        extraction: Option<&Extraction>,
    ) -> BTreeMap<Symbol, TrueNamesakes> {
        match (language, path, extraction) {
            (Some(language), Some(Ok(path)), Some(extraction)) => {
                namesakes::true_namesakes(self, language, path, extraction)
            }
            _ => BTreeMap::new(),
        }
    }

    fn apply_edit(
        self,
        block: CodeBlock<'_>,
        texts: Vec<String>,
        path: Option<Result<RelPath, Reason>>,
        edit: Result<Edit, Reason>,
    ) -> FoundCode {
        let text = texts.join("\n");
        let applied = match (&path, &edit) {
            (None, _) => Err(Reason::EditWithoutPath),
            (Some(Err(reason)), _) | (_, Err(reason)) => Err(*reason),
            (Some(Ok(path)), Ok(edit)) => found_edit::apply_to_truth(self, path, edit),
        };
        let unapplied = FoundCode {
            format: block.format,
            artifact: ArtifactHash::of(text.as_bytes()),
            whole: slice::hash_of_whole(text.as_bytes()),
            verbatim: block.verbatim,
            language: block.language,
            evidence: block.evidence,
            extraction: Err(Reason::EditMalformed),
            slices: BTreeMap::new(),
            broken_base: None,
            true_overloads: BTreeMap::new(),
            files_in_unrelated_languages: BTreeSet::new(),
            patterns: self.grammars.patterns(),
            completeness: completeness_of_block(block.closing, false),
            stated_extent: StatedExtent::Range,
            code: text.into(),
            edit: None,
            path,
            written: block.path,
        };
        let found_edit = |outcome| {
            Some(FoundEdit {
                texts,
                edit,
                outcome,
            })
        };
        let language = unapplied
            .usable_path()
            .and_then(|path| self.grammars.language_of_path(path));
        let EditedCode {
            code,
            stated_extent,
            mut applied,
            before,
        } = match applied {
            Ok(edited) => edited,
            Err(reason) => {
                let is_unread = reason == Reason::BaseUnknown && language.is_none();
                return FoundCode {
                    extraction: Err(if is_unread { Reason::NoGrammar } else { reason }),
                    edit: found_edit(Err(reason)),
                    ..unapplied
                };
            }
        };
        let extraction = extract_definitions(self.grammars, language, &code);
        let elided = extraction
            .as_ref()
            .is_ok_and(|extraction| found_edit::elides_anew(&code, &extraction.elisions, &before));
        if stated_extent == StatedExtent::Range
            && let Ok(before) = extract_definitions(self.grammars, language, &before)
        {
            let definitions = before.definitions.into_iter();
            applied.defined = definitions.map(|definition| definition.symbol).collect();
        }
        FoundCode {
            artifact: ArtifactHash::of(code.as_bytes()),
            whole: slice::hash_of_whole(code.as_bytes()),
            verbatim: None,
            edit: found_edit(Ok(applied)),
            broken_base: match &extraction {
                Ok(extraction) if !extraction.clean => self.broken_base(language, &before),
                _ => None,
            },
            true_overloads: self.true_namesakes(
                language,
                unapplied.path.as_ref(),
                extraction.as_ref().ok(),
            ),
            extraction,
            completeness: completeness_of_block(block.closing, elided),
            stated_extent,
            code: code.into(),
            ..unapplied
        }
    }

    /// Applies the edit again if its base is no longer authoritative; all other code stays as it is.
    #[must_use]
    pub fn reapplied<'f>(self, found: &'f FoundCode) -> Cow<'f, FoundCode> {
        let (Some(edit), Some(path)) = (&found.edit, found.usable_path()) else {
            return Cow::Borrowed(found);
        };
        let against = edit.outcome.as_ref().map(|applied| &applied.against);
        if against.is_ok_and(|against| *against == found_edit::base_versions(self, path)) {
            return Cow::Borrowed(found);
        }
        let block = found.as_block();
        let texts = edit.texts.clone();
        Cow::Owned(self.apply_edit(block, texts, found.path.clone(), edit.edit.clone()))
    }

    /// Some definitions of a text of their file as an edit of the true file, where something around them is true that isn't among them: taken
    /// out of it they would leave that at odds with them.
    #[must_use]
    pub fn parts_in_their_file(
        self,
        found: &FoundCode,
        parts: &BTreeSet<EntityId>,
    ) -> Option<FoundCode> {
        let is_left = |part: &EntityId| {
            let mut around = part.holders();
            around.any(|it| !parts.contains(&it) && self.view.current_version(&it).is_some())
        };
        if !parts.iter().any(is_left) {
            return None;
        }
        let definitions = &found.extraction.as_ref().ok()?.definitions;
        let (mut hunks, mut texts) = (Vec::new(), Vec::new());
        for part in parts {
            let known = self.view.current_version(part)?;
            let old = self.view.artifact_slices(known.artifact, &known.spans)?;
            let mut named = definitions
                .iter()
                .filter(|it| Some(&it.symbol) == part.symbol.as_ref());
            let new = named.next().filter(|_| named.next().is_none())?.span;
            if new.of(found.code.as_bytes()) != old {
                hunks.push(namesakes::replacing_hunk(&old, &found.code, new)?);
                texts.push(found.code.get(new.start as usize..new.end as usize)?.into());
            }
        }
        let is_changed = !hunks.is_empty();
        let edit = Ok(Edit::Change(hunks));
        let edited = self.apply_edit(found.as_block(), texts, found.path.clone(), edit);
        (is_changed && edited.is_clean()).then_some(edited)
    }

    /// Code that is a part of a file as an edit of the file, where that is true as a whole.
    #[must_use]
    pub fn in_its_file(self, found: &FoundCode) -> Option<FoundCode> {
        let (path, extraction) = (found.usable_path()?, found.extraction.as_ref().ok()?);
        let language = self.grammars.language_of_path(path)?;
        let code = (&*found.code, extraction);
        let hunks = found_edit::in_place_of_definitions(self, language, path, code)?;
        let (path, texts) = (found.path.clone(), Vec::from([String::from(&*found.code)]));
        Some(self.apply_edit(found.as_block(), texts, path, Ok(Edit::Change(hunks))))
    }
}

const fn completeness_of_block(closing: Closing, elided: bool) -> Completeness {
    match (closing, elided) {
        (Closing::Unclosed, _) => Completeness::Truncated,
        (Closing::Closed, true) => Completeness::Elided,
        (Closing::Closed, false) => Completeness::Full,
    }
}

/// Reads a whole file's text as code of that file, and hashes all of its definitions.
#[must_use]
pub fn code_of_file(grammars: &dyn Grammars, path: RelPath, text: &str) -> FoundCode {
    let code = redact::without_credentials(text);
    let language = grammars.language_of_path(&path);
    let extraction = extract_definitions(grammars, language, &code);
    let slices = extraction.as_ref().map(|it| it.slices(code.as_bytes()));
    let slices = slices.unwrap_or_default().into_iter();
    FoundCode {
        format: Format::Disk,
        artifact: ArtifactHash::of(code.as_bytes()),
        whole: slice::hash_of_whole(code.as_bytes()),
        verbatim: None,
        edit: None,
        language: None,
        evidence: PathEvidence::Header,
        path: Some(Ok(path)),
        written: None,
        slices: slices
            .map(|(symbol, slice)| (symbol.clone(), slice))
            .collect(),
        extraction,
        broken_base: None,
        true_overloads: BTreeMap::new(),
        files_in_unrelated_languages: BTreeSet::new(),
        patterns: grammars.patterns(),
        completeness: Completeness::Full,
        stated_extent: StatedExtent::Unstated,
        code: code.into(),
    }
}

fn language_of(
    grammars: &dyn Grammars,
    block: &CodeBlock<'_>,
    path: Option<&Result<RelPath, Reason>>,
) -> Option<LanguageId> {
    let tag = block.language.as_deref();
    match path {
        Some(Ok(path)) => {
            let language = grammars.language_of_path(path)?;
            let foreign = tag.is_some_and(|tag| names_other_language(grammars, tag, language));
            (!foreign).then_some(language)
        }
        Some(Err(_)) => None,
        None => grammars.language_of_tag(tag?),
    }
}

/// Whether a fence names another language than its file's, such as a shell's: then it isn't code of the file named before it.
fn names_other_language(grammars: &dyn Grammars, tag: &str, language: LanguageId) -> bool {
    let named = grammars.language_of_tag(tag);
    !link::PLAIN_TAGS.contains(&tag)
        && !named.is_some_and(|named| grammars.are_kin(named, language))
}

fn extract_definitions(
    grammars: &dyn Grammars,
    language: Option<LanguageId>,
    code: &str,
) -> Result<Extraction, Reason> {
    // Checked before the language: such code must never become true, whoever could read it.
    if delimiter::quoted_in(code) {
        return Err(Reason::QuotesDelimiters);
    }
    let language = language.ok_or(Reason::NoGrammar)?;
    grammars
        .extract(language, code.as_bytes())
        .map_err(|error| match error {
            ExtractError::TooLarge | ExtractError::TooDense => Reason::TooLargeToParse,
            ExtractError::Unparsable => Reason::ParseErrors,
        })
}

impl FoundCode {
    /// The block that it was read from, without its text.
    fn as_block(&self) -> CodeBlock<'static> {
        CodeBlock {
            format: self.format,
            outer: 0..0,
            verbatim: self.verbatim.clone(),
            code: Cow::Borrowed(""),
            edit: None,
            language: self.language.clone(),
            path: self.written.clone(),
            evidence: self.evidence,
            stated_extent: self.stated_extent,
            symbol: None,
            authorship: Authorship::Own,
            closing: match self.completeness {
                Completeness::Truncated => Closing::Unclosed,
                _ => Closing::Closed,
            },
        }
    }

    /// The file, if a usable path was named.
    #[must_use]
    pub fn usable_path(&self) -> Option<&RelPath> {
        self.path.as_ref()?.as_ref().ok()
    }

    /// The path as it was written, if it names one.
    #[must_use]
    pub fn written_path(&self) -> Option<WrittenPath<'_>> {
        Some(WrittenPath {
            written: self.written.as_deref()?,
            file: self.path.as_ref()?,
            is_changed: self.edit.is_some() || self.format == Format::ToolCall,
        })
    }

    /// The text of one entity of its file: all of it, or the symbol's definitions.
    #[must_use]
    pub fn code_of(&self, entity: &EntityId) -> Option<String> {
        let Some(symbol) = &entity.symbol else {
            return Some(String::from(&*self.code));
        };
        let definitions = self.extraction.as_ref().ok()?.definitions.iter();
        let own = definitions.filter(|it| it.symbol == *symbol);
        let spans: Vec<Span> = own.map(|it| it.span).collect();
        let code = slice::joined(self.code.as_bytes(), &spans);
        (!spans.is_empty()).then(|| String::from_utf8_lossy(&code).into_owned())
    }

    /// How many lines it writes: of an edit those of its new texts.
    #[must_use]
    pub fn written_lines(&self) -> u32 {
        let lines = |text: &str| u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let hunks = |hunks: &[Hunk]| hunks.iter().map(|hunk| lines(hunk.new_text())).sum();
        match self.edit.as_ref().map(|it| &it.edit) {
            Some(Ok(Edit::Change(changed) | Edit::Move { hunks: changed, .. })) => hunks(changed),
            Some(Ok(Edit::Create(text))) => lines(text),
            Some(Ok(Edit::Delete) | Err(_)) => 0,
            None => lines(&self.code),
        }
    }

    /// Whether a client's system message shows this code, and nothing is known of its file: an example of the client's that the
    /// model has copied is nobody's code.
    #[must_use]
    pub fn is_example_in(&self, view: &StateView<'_>, system: &str) -> bool {
        let is_known = |path| !hydrate::true_entities_of(view, path).is_empty();
        self.edit.is_none()
            && !self.usable_path().is_some_and(is_known)
            && system.contains(self.code.trim())
    }

    /// The observation of a file that holds this text, with all of its definitions; `None` if they couldn't be read.
    #[must_use]
    pub fn as_disk_file(&self) -> Option<DiskFile> {
        let extraction = self.extraction.as_ref().ok()?;
        let slices = self.slices.iter().map(|(symbol, slice)| DiskSlice {
            symbol: symbol.clone(),
            slice: Some(*slice),
        });
        Some(DiskFile {
            whole: self.whole,
            slices: slices.collect(),
            definitions: u32::try_from(extraction.top_level().len()).unwrap_or(u32::MAX),
            grammar: Some(extraction.grammar.clone()),
            changed_at: UnixMillis(0),
        })
    }

    /// The file's new path, if the edit gives it one.
    #[must_use]
    pub fn moves_to(&self, root: &str) -> Option<RelPath> {
        match &self.edit.as_ref()?.edit {
            Ok(Edit::Move { to, .. }) => RelPath::parse(to, root).ok(),
            _ => None,
        }
    }

    /// Whether it is complete if a model wrote it: then a placeholder replaces code.
    #[must_use]
    pub fn completeness_of_reply(&self) -> Completeness {
        let elisions = self.extraction.as_ref().map(|it| it.elisions.is_empty());
        completeness_of_block(Closing::Closed, elisions == Ok(false))
    }

    /// The distinct symbols that the code defines, sorted.
    #[must_use]
    pub fn symbols(&self) -> Vec<Symbol> {
        let Ok(extraction) = &self.extraction else {
            return Vec::new();
        };
        let mut symbols: Vec<Symbol> = extraction
            .definitions
            .iter()
            .map(|definition| definition.symbol.clone())
            .collect();
        symbols.sort();
        symbols.dedup();
        symbols
    }

    /// Whether the parser met no error at all.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.extraction
            .as_ref()
            .is_ok_and(|extraction| extraction.clean)
    }

    /// Whether it has a definition without a parse error inside.
    #[must_use]
    pub fn defines_something(&self) -> bool {
        self.extraction.as_ref().is_ok_and(|extraction| {
            extraction
                .definitions
                .iter()
                .any(|definition| !definition.damaged)
        })
    }

    /// Whether a person or a model would expect this block to be linked to the project: it names a file, or holds
    /// definitions in a language that is read here.
    #[must_use]
    pub fn claims_an_entity(&self) -> bool {
        let names_a_file = self.path.is_some() && self.evidence > PathEvidence::SentenceBefore;
        names_a_file
            || self.edit.is_some()
            || self
                .extraction
                .as_ref()
                .is_ok_and(|extraction| !extraction.definitions.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A parser that refuses every text.
    struct Tiny(ExtractError);

    impl Grammars for Tiny {
        fn patterns(&self) -> ArtifactHash {
            ArtifactHash::of(b"")
        }

        fn language_of_path(&self, _: &RelPath) -> Option<LanguageId> {
            Some(LanguageId(0))
        }

        fn language_of_tag(&self, _: &str) -> Option<LanguageId> {
            None
        }

        fn extract(&self, _: LanguageId, _: &[u8]) -> Result<Extraction, ExtractError> {
            Err(self.0)
        }
    }

    /// law engine 5 | Longer than what is parsed, or of more tokens | too_large_to_parse
    #[test]
    fn too_large() {
        let path = RelPath::from_normalised("src/a.c");
        for error in [ExtractError::TooLarge, ExtractError::TooDense] {
            let found = code_of_file(&Tiny(error), path.clone(), "int x;");
            assert_eq!(found.extraction.err(), Some(Reason::TooLargeToParse));
        }
    }
}
