//! Edits found in a message are applied to the authoritative code. An edit that doesn't apply exactly is kept as evidence.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use tslp_projections::state::StateView;

use crate::code_reader::CodeReader;
use crate::judge::held_text;
use crate::judge::namesakes;
use tslp_core::capture::{Closing, CodeBlock, StatedExtent, path_hint};
use tslp_core::edit::{self, BaseTexts, Edit, EditError, Hunk, Malformed};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::extract::{Extraction, LanguageId};
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::VersionId;
use tslp_core::limits::HUNKS_PER_EDIT_MAX;
use tslp_core::path::{self, RelPath};
use tslp_core::reason::Reason;
use tslp_core::slice::{self, Span};
use tslp_projections::file_code::TrueEntity;

/// An edit as it was found, and the outcome of applying it.
#[derive(Clone, Debug)]
pub struct FoundEdit {
    /// The texts of the edit as it was written, block by block.
    pub texts: Vec<String>,
    /// The edit, or why its text isn't one.
    pub edit: Result<Edit, Reason>,
    /// The versions that it was applied to, or why it doesn't apply.
    pub outcome: Result<EditBase, Reason>,
}

/// The versions that an edit was applied to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditBase {
    /// Every version of the file that was searched.
    pub against: Vec<VersionId>,
    /// Those whose text the edit changes or adds to.
    pub changed: Vec<VersionId>,
    /// The symbols that the changed pieces defined before.
    pub defined: BTreeSet<Symbol>,
}

/// The code that an edit makes.
pub(crate) struct EditedCode {
    pub(crate) code: String,
    pub(crate) stated_extent: StatedExtent,
    pub(crate) applied: EditBase,
    /// The code that was there before.
    pub(crate) before: String,
}

/// A block as an edit of its file, which is true as a whole, if it is nothing but definitions that the file has. A comment above one that
/// the block leaves out stays where it is, unless the block changes nothing else of the definition.
pub(crate) fn in_place_of_definitions(
    reader: CodeReader<'_>,
    language: LanguageId,
    path: &RelPath,
    (code, extraction): (&str, &Extraction),
) -> Option<Vec<Hunk>> {
    let (view, file) = (reader.view, EntityId::file(path.clone()));
    // What disk holds besides is nobody's yet: then the file steps down for its parts.
    let current = view
        .current_version(&file)
        .filter(|_| view.divergence(&file).is_none())?;
    let base = view.text(current.artifact)?;
    let known = reader.grammars.extract(language, base.as_bytes()).ok()?;
    let (mut hunks, mut reached) = (Vec::new(), 0);
    for new in namesakes::outermost(&extraction.definitions).take(HUNKS_PER_EDIT_MAX) {
        let mut named = known
            .definitions
            .iter()
            .filter(|it| it.symbol == new.symbol);
        let (Some(old), None) = (named.next(), named.next()) else {
            return None;
        };
        let text = code.get(new.span.range())?;
        let place = match remark_at(extraction, new.span.start) {
            None => place_to_replace(&base, &known, old.span, text),
            Some(_) => old.span,
        };
        let gap = code.get(reached..new.span.start as usize)?;
        let is_indented_alike = line_before(&base, place) == line_before(code, new.span);
        if !(gap.trim().is_empty() || names_file(gap, path)) || !is_indented_alike {
            return None;
        }
        reached = new.span.end as usize;
        hunks.push(namesakes::replacing_hunk(
            place.of(base.as_bytes()),
            code,
            new.span,
        )?);
    }
    (!hunks.is_empty() && code[reached..].trim().is_empty()).then_some(hunks)
}

/// The remark that begins there.
pub(crate) fn remark_at(extraction: &Extraction, at: u32) -> Option<Span> {
    let mut remarks = extraction.remarks.iter();
    remarks.find(|it| it.start == at).copied()
}

/// The place of a definition that code without a comment above it replaces. The comments above stay, unless leaving them out is all
/// that the code does.
pub(crate) fn place_to_replace(base: &str, known: &Extraction, old: Span, new: &str) -> Span {
    let below = below_remarks(base, known, old);
    match slice::differ_in_layout_alone(below.of(base.as_bytes()), new.as_bytes()) {
        true => old,
        false => below,
    }
}

pub(crate) fn below_remarks(text: &str, extraction: &Extraction, mut place: Span) -> Span {
    while let Some(remark) = remark_at(extraction, place.start).filter(|it| it.end < place.end) {
        let rest = &text[remark.end as usize..place.end as usize];
        place.start = place.end - u32::try_from(rest.trim_start().len()).unwrap_or_default();
    }
    place
}

/// Whether a text is one comment that says nothing but that this is the file.
pub(crate) fn names_file(comment: &str, path: &RelPath) -> bool {
    let path = path.as_str();
    path_hint::file_comment(comment)
        .is_some_and(|named| path::ends_in(path, named) || path::ends_in(named, path))
}

/// What is before a span on its line.
pub(crate) fn line_before(text: &str, span: Span) -> &str {
    let before = &text[..span.start as usize];
    &before[before.rfind('\n').map_or(0, |at| at + 1)..]
}

/// Applies an edit to its file's authoritative code.
pub(crate) fn apply_to_truth(
    reader: CodeReader<'_>,
    path: &RelPath,
    edit: &Edit,
) -> Result<EditedCode, Reason> {
    match edit {
        Edit::Create(text) => Ok(EditedCode::new(StatedExtent::Whole, text)),
        Edit::Delete => Err(Reason::FileDeletion),
        Edit::Move { .. } => Err(Reason::FileMove),
        Edit::Change(hunks) => change_base(reader, path, hunks),
    }
}

/// The versions that an edit of this file would be applied to.
pub(crate) fn base_versions(reader: CodeReader<'_>, path: &RelPath) -> Vec<VersionId> {
    TrueText::of(reader, path).versions()
}

fn change_base(
    reader: CodeReader<'_>,
    path: &RelPath,
    hunks: &[Hunk],
) -> Result<EditedCode, Reason> {
    let base = TrueText::of(reader, path);
    let apply = |pieces: &[TextPiece]| {
        let texts: Vec<&str> = pieces.iter().map(|piece| &*piece.text).collect();
        match &texts[..] {
            [] => Err(EditError::NoBase),
            [whole] if base.is_whole => edit::apply(hunks, BaseTexts::Whole(whole)),
            pieces => edit::apply(hunks, BaseTexts::Slices(pieces)),
        }
    };
    let mut edited = apply(&base.pieces);
    let mut former = Vec::new();
    // The lines between definitions are those of the file as it was last known.
    if !base.is_whole && matches!(edited, Err(EditError::NotFound | EditError::NoBase)) {
        former.extend(former_whole(reader, path));
        if !former.is_empty() {
            edited = apply(&former);
        }
    }
    let pieces = if former.is_empty() {
        &base.pieces
    } else {
        &former
    };
    if let (true, [Hunk::Append(text)]) = (pieces.is_empty(), hunks) {
        return Ok(EditedCode::new(StatedExtent::Whole, text));
    }
    let mut code = EditedCode::new(
        match base.is_whole {
            true => StatedExtent::Whole,
            false => StatedExtent::Range,
        },
        "",
    );
    code.applied.against = base.versions();
    if edited.is_err()
        && !pieces.is_empty()
        && let Some(held) = held_text::held_text(reader, path)
        && let Ok([Some(new)]) = edit::apply(hunks, BaseTexts::Whole(&held)).as_deref()
    {
        // It is measured against what is true, all the same.
        code.stated_extent = StatedExtent::Whole;
        code.applied.changed = base.versions();
        code.code.push_str(new);
        pieces
            .iter()
            .for_each(|it| add_piece(&mut code.before, &it.text));
        return Ok(code);
    }
    let edited = edited.map_err(reason_of_edit_error)?;
    for (piece, new) in pieces.iter().zip(edited) {
        if base.is_whole || new.is_some() {
            code.applied.changed.extend(&piece.versions);
            add_piece(&mut code.code, new.as_deref().unwrap_or(&piece.text));
            add_piece(&mut code.before, &piece.text);
        }
    }
    Ok(code)
}

impl EditedCode {
    fn new(stated_extent: StatedExtent, code: &str) -> Self {
        Self {
            code: code.into(),
            stated_extent,
            applied: EditBase::default(),
            before: String::new(),
        }
    }
}

/// Appends a piece after a blank line.
fn add_piece(code: &mut String, piece: &str) {
    if !code.is_empty() {
        let ends = code.ends_with('\n');
        code.push_str(if ends { "\n" } else { "\n\n" });
    }
    code.push_str(piece);
}

const fn reason_of_edit_error(error: EditError) -> Reason {
    match error {
        EditError::NoBase => Reason::BaseUnknown,
        EditError::NotFound => Reason::EditTextNotFound,
        EditError::NotUnique => Reason::EditTextNotUnique,
        EditError::NeedsWholeFile => Reason::EditNeedsWholeFile,
        EditError::TooLarge => Reason::EditMalformed,
    }
}

/// The authoritative text of a file: all of it, or pieces, none inside another one.
struct TrueText {
    is_whole: bool,
    pieces: Vec<TextPiece>,
}

/// A piece of a file's authoritative text: one definition, or a captured text that made several definitions true.
struct TextPiece {
    versions: Vec<VersionId>,
    text: String,
}

impl TrueText {
    fn of(reader: CodeReader<'_>, path: &RelPath) -> Self {
        let view = reader.view;
        let whole = view.current_version(&EntityId::file(path.clone()));
        let whole = whole.and_then(|it| TextPiece::of(view, &it));
        Self {
            is_whole: whole.is_some(),
            pieces: whole.map_or_else(|| pieces_of(reader, path), |whole| Vec::from([whole])),
        }
    }

    fn versions(&self) -> Vec<VersionId> {
        let pieces = self.pieces.iter();
        pieces
            .flat_map(|piece| piece.versions.iter().copied())
            .collect()
    }
}

impl TextPiece {
    fn of(view: &StateView<'_>, current: &TrueEntity) -> Option<Self> {
        let text = view.artifact_slices(current.artifact, &current.spans)?;
        let text = String::from_utf8(text).ok()?;
        // Clients don't show a byte order mark, so no edit quotes it.
        let shown = text.strip_prefix('\u{feff}').map(String::from);
        Some(Self {
            versions: Vec::from([current.version]),
            text: shown.unwrap_or(text),
        })
    }
}

/// Texts that hold each true definition of a file once. A captured text goes whole where all that it defines is true and in no other
/// piece, the newest first, because it repeats what others said; of all other texts go single definitions.
fn pieces_of(reader: CodeReader<'_>, path: &RelPath) -> Vec<TextPiece> {
    let view = reader.view;
    let current =
        |symbol: &Symbol| view.current_version(&EntityId::symbol(path.clone(), symbol.clone()));
    let symbols = view.state.state_map().symbols_of(path).into_iter();
    let known = symbols.filter_map(|symbol| Some((current(&symbol)?, symbol)));
    let mut left: BTreeMap<Symbol, TrueEntity> =
        known.map(|(current, symbol)| (symbol, current)).collect();
    let texts = left.values().map(|it| (it.version, it.artifact));
    let mut texts: Vec<(VersionId, ArtifactHash)> = texts.collect();
    texts.sort_unstable_by_key(|(version, _)| core::cmp::Reverse(*version));
    let mut pieces = Vec::new();
    let (mut read, mut covered) = (BTreeSet::new(), BTreeSet::new());
    for (_, artifact) in texts {
        if left.is_empty() || !read.insert(artifact) {
            continue;
        }
        let Some((text, defined)) = view.text(artifact).and_then(|text| {
            let defined = slices_of(reader, path, &text)?;
            Some((text, defined))
        }) else {
            continue;
        };
        let is_true = |(symbol, slice): (&Symbol, &SliceHash)| {
            let entity = EntityId::symbol(path.clone(), symbol.clone());
            let was_known = || {
                let is_removed = view.state.tombstones().contains(&entity);
                is_removed || !view.former_versions(&entity).is_empty()
            };
            let current = current(symbol);
            let is_same = current.map_or_else(|| !was_known(), |it| it.slice == *slice);
            is_same && !covered.contains(symbol)
        };
        let is_needed = defined.keys().any(|symbol| left.contains_key(symbol));
        if is_needed && defined.iter().all(is_true) {
            let own = defined.keys().filter_map(|symbol| left.remove(symbol));
            let versions = own.map(|current| current.version).collect();
            pieces.push(TextPiece { versions, text });
            covered.extend(defined.into_keys());
        }
    }
    // Those around others come first.
    let mut single: Vec<TrueEntity> = left.into_values().collect();
    let place = |it: &TrueEntity| {
        it.spans
            .first()
            .map(|span| (span.start, u32::MAX - span.end))
    };
    single.sort_by_key(|it| (it.artifact, place(it)));
    let mut last: Option<TrueEntity> = None;
    for current in single {
        if !last
            .as_ref()
            .is_some_and(|around| current.is_within(around))
        {
            let piece = TextPiece::of(view, &current);
            // A method alone reads as a function, where its class isn't true any more.
            let reads_alike = |piece: &TextPiece| {
                let is_member = current.entity.holders().next().is_some();
                let own = current.entity.symbol.as_ref();
                !is_member
                    || slices_of(reader, path, &piece.text)
                        .is_some_and(|it| own.is_some_and(|own| it.contains_key(own)))
            };
            pieces.extend(piece.filter(reads_alike));
            last = Some(current);
        }
    }
    pieces
}

/// What a file was as a whole before it stepped down for its parts, with the largest true ones in their places, and without what isn't true
/// any more. A class that stepped down as well is around its methods.
fn former_whole(reader: CodeReader<'_>, path: &RelPath) -> Option<TextPiece> {
    let view = reader.view;
    let former = view.former_versions(&EntityId::file(path.clone())).pop()?;
    let text = view.text(former.artifact)?;
    let language = reader.grammars.language_of_path(path)?;
    let extraction = reader.grammars.extract(language, text.as_bytes()).ok()?;
    let current =
        |symbol: &Symbol| view.current_version(&EntityId::symbol(path.clone(), symbol.clone()));
    let (mut whole, mut reached, mut versions) = (String::new(), 0, Vec::new());
    // Those around others come first.
    for (at, definition) in extraction.definitions.iter().enumerate() {
        let span = definition.span;
        let mut inner = extraction.definitions[at + 1..].iter();
        let mut inner = inner.by_ref().take_while(|it| it.span.start < span.end);
        let truth = current(&definition.symbol);
        let is_around = truth.is_none() && inner.any(|it| current(&it.symbol).is_some());
        if (span.start as usize) < reached || is_around {
            continue;
        }
        whole.push_str(text.get(reached..span.start as usize)?);
        if let Some(truth) = truth {
            let [place] = truth.spans[..] else {
                return None;
            };
            let truth = view.artifact_slices(truth.artifact, &[place])?;
            whole.push_str(core::str::from_utf8(&truth).ok()?);
        }
        reached = span.end as usize;
    }
    whole.push_str(text.get(reached..)?);
    for (symbol, slice) in slices_of(reader, path, &whole)? {
        if let Some(truth) = current(&symbol) {
            versions.extend((truth.slice == slice).then_some(truth.version));
            if truth.slice != slice {
                return None;
            }
        }
    }
    Some(TextPiece {
        versions,
        text: whole,
    })
}

/// The slices of all that a text of the file defines.
fn slices_of(
    reader: CodeReader<'_>,
    path: &RelPath,
    text: &str,
) -> Option<BTreeMap<Symbol, SliceHash>> {
    let language = reader.grammars.language_of_path(path)?;
    let extraction = reader.grammars.extract(language, text.as_bytes()).ok()?;
    let slices = extraction.slices(text.as_bytes()).into_iter();
    Some(
        slices
            .map(|(symbol, slice)| (symbol.clone(), slice))
            .collect(),
    )
}

/// Adds a second edit of the same file to the first one of its message.
pub(crate) fn join_edits(first: &mut CodeBlock<'_>, second: &mut CodeBlock<'_>) {
    let edits = first.edit.take().zip(second.edit.take());
    first.edit = edits.map(|(one, other)| one.and_then(|one| merge_changes(one, other?)));
    first.verbatim = None;
    first.evidence = first.evidence.min(second.evidence);
    if second.closing == Closing::Unclosed {
        first.closing = Closing::Unclosed;
    }
}

fn merge_changes(mut one: Edit, other: Edit) -> Result<Edit, Malformed> {
    match (&mut one, other) {
        (Edit::Change(hunks), Edit::Change(more))
            if hunks.len() + more.len() <= HUNKS_PER_EDIT_MAX =>
        {
            hunks.extend(more);
            Ok(one)
        }
        _ => Err(Malformed),
    }
}

/// Whether `code` has a placeholder that the code before didn't have.
pub(crate) fn elides_anew(code: &str, elisions: &[Span], before: &str) -> bool {
    let texts: BTreeSet<Cow<'_, str>> = elisions
        .iter()
        .map(|span| String::from_utf8_lossy(span.of(code.as_bytes())))
        .collect();
    texts
        .iter()
        .any(|text| code.matches(&**text).count() > before.matches(&**text).count())
}
