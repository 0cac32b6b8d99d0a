//! Edits found in a message are applied to the authoritative code. An edit that doesn't apply exactly is kept as evidence.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use tslp_projections::state::StateView;

use super::code_reader::CodeReader;
use tslp_core::capture::{Closing, CodeBlock, StatedExtent};
use tslp_core::edit::{self, BaseTexts, Edit, EditError, Hunk, Malformed};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::DiskFinding;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::VersionId;
use tslp_core::limits::HUNKS_PER_EDIT_MAX;
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_core::slice::Span;
use tslp_projections::state_map::CurrentVersion;

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
pub(super) struct EditedCode {
    pub(super) code: String,
    pub(super) stated_extent: StatedExtent,
    pub(super) applied: EditBase,
    /// The code that was there before.
    pub(super) before: String,
}

/// Applies an edit to its file's authoritative code.
pub(super) fn apply_to_truth(
    reader: CodeReader<'_>,
    path: &RelPath,
    edit: &Edit,
) -> Result<EditedCode, Reason> {
    match edit {
        Edit::Create(text) => create_file(reader.view, path, text),
        Edit::Delete => Err(Reason::FileDeletion),
        Edit::Move { .. } => Err(Reason::FileMove),
        Edit::Change(hunks) => change_base(reader, path, hunks),
    }
}

/// The versions that an edit of this file would be applied to.
pub(super) fn base_versions(reader: CodeReader<'_>, path: &RelPath) -> Vec<VersionId> {
    TrueText::of(reader, path).versions()
}

fn create_file(view: &StateView<'_>, path: &RelPath, text: &str) -> Result<EditedCode, Reason> {
    let is_known = view.state.state_map().tracks(path)
        || matches!(view.disk_finding(path), Some(DiskFinding::File(_)));
    if is_known {
        return Err(Reason::FileExists);
    }
    Ok(EditedCode {
        code: text.into(),
        stated_extent: StatedExtent::Whole,
        applied: EditBase::default(),
        before: String::new(),
    })
}

fn change_base(
    reader: CodeReader<'_>,
    path: &RelPath,
    hunks: &[Hunk],
) -> Result<EditedCode, Reason> {
    let base = TrueText::of(reader, path);
    let versions = base.versions();
    match base {
        TrueText::Nothing => match hunks {
            [Hunk::Append(text)] => create_file(reader.view, path, text),
            _ => Err(Reason::BaseUnknown),
        },
        TrueText::Whole(version, text) => {
            let edited =
                edit::apply(hunks, BaseTexts::Whole(&text)).map_err(reason_of_edit_error)?;
            let code = edited.into_iter().flatten().next();
            Ok(EditedCode {
                code: code.unwrap_or_else(|| text.clone()),
                stated_extent: StatedExtent::Whole,
                applied: EditBase {
                    against: versions,
                    changed: Vec::from([version]),
                    defined: BTreeSet::new(),
                },
                before: text,
            })
        }
        TrueText::Pieces(pieces) => {
            let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
            let edited =
                edit::apply(hunks, BaseTexts::Slices(&texts)).map_err(reason_of_edit_error)?;
            let mut changed = Vec::new();
            let (mut code, mut before) = (String::new(), String::new());
            for (piece, new) in pieces.iter().zip(edited) {
                let Some(new) = new else { continue };
                changed.extend(&piece.versions);
                add_piece(&mut code, &new);
                add_piece(&mut before, &piece.text);
            }
            Ok(EditedCode {
                code,
                stated_extent: StatedExtent::Range,
                applied: EditBase {
                    against: versions,
                    changed,
                    defined: BTreeSet::new(),
                },
                before,
            })
        }
    }
}

/// Appends a piece after a blank line.
fn add_piece(code: &mut String, piece: &str) {
    if !code.is_empty() {
        code.push('\n');
    }
    code.push_str(piece);
    if !piece.ends_with('\n') {
        code.push('\n');
    }
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

/// The authoritative text of a file.
enum TrueText {
    /// Nothing.
    Nothing,
    /// All of it.
    Whole(VersionId, String),
    /// Some pieces of it, none inside another one.
    Pieces(Vec<TextPiece>),
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
        if let Some(whole) = whole
            && let Some(text) = text_of(view, whole.artifact, &whole.spans)
        {
            return Self::Whole(whole.version, text);
        }
        let mut texts: BTreeMap<ArtifactHash, Vec<CurrentVersion>> = BTreeMap::new();
        for symbol in view.state.state_map().symbols_of(path) {
            let current = view.current_version(&EntityId::symbol(path.clone(), symbol));
            if let Some(current) = current {
                texts.entry(current.artifact).or_default().push(current);
            }
        }
        let pieces: Vec<TextPiece> = texts
            .into_iter()
            .flat_map(|(artifact, definitions)| {
                pieces_of_artifact(reader, path, artifact, &definitions)
            })
            .collect();
        if pieces.is_empty() {
            Self::Nothing
        } else {
            Self::Pieces(pieces)
        }
    }

    fn versions(&self) -> Vec<VersionId> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Whole(version, _) => Vec::from([*version]),
            Self::Pieces(pieces) => pieces
                .iter()
                .flat_map(|piece| piece.versions.iter().copied())
                .collect(),
        }
    }
}

/// The captured text as one piece, if every definition in it is still true; else one piece for each true definition.
fn pieces_of_artifact(
    reader: CodeReader<'_>,
    path: &RelPath,
    artifact: ArtifactHash,
    definitions: &[CurrentVersion],
) -> Vec<TextPiece> {
    let view = reader.view;
    let is_current = view.artifact_is_current(artifact) == Some(true);
    let whole = is_current
        .then(|| String::from_utf8(view.artifact_content(artifact)?).ok())
        .flatten()
        .filter(|text| repeats_truth(reader, path, text));
    if let Some(text) = whole {
        let versions = definitions.iter().map(|current| current.version).collect();
        return Vec::from([TextPiece { versions, text }]);
    }
    outermost_current(definitions)
        .filter_map(|current| {
            Some(TextPiece {
                versions: Vec::from([current.version]),
                text: text_of(view, artifact, &current.spans)?,
            })
        })
        .collect()
}

/// Whether the text holds the true code of every tracked symbol that it defines. That its own versions are current doesn't
/// say so: a definition that it only repeated, unchanged, may have been replaced since by another text.
fn repeats_truth(reader: CodeReader<'_>, path: &RelPath, text: &str) -> bool {
    let Some(language) = reader.grammars.language_of_path(path) else {
        return false;
    };
    let Ok(extraction) = reader.grammars.extract(language, text.as_bytes()) else {
        return false;
    };
    extraction
        .slices(text.as_bytes())
        .into_iter()
        .all(|(symbol, slice)| {
            let current = reader
                .view
                .current_version(&EntityId::symbol(path.clone(), symbol.clone()));
            current.is_none_or(|current| current.slice == slice)
        })
}

fn text_of(view: &StateView<'_>, artifact: ArtifactHash, spans: &[Span]) -> Option<String> {
    String::from_utf8(view.artifact_slices(artifact, spans)?).ok()
}

/// Definitions of one captured text that aren't inside another one.
fn outermost_current(definitions: &[CurrentVersion]) -> impl Iterator<Item = &CurrentVersion> {
    let mut spans: Vec<Span> = definitions
        .iter()
        .flat_map(|current| current.spans.iter().copied())
        .collect();
    spans.sort_unstable_by_key(|span| (span.start, u32::MAX - span.end));
    let mut inner: BTreeSet<Span> = BTreeSet::new();
    let mut reached = 0;
    for span in spans {
        if span.end <= reached {
            inner.insert(span);
        }
        reached = reached.max(span.end);
    }
    definitions
        .iter()
        .filter(move |current| !current.spans.iter().all(|span| inner.contains(span)))
}

/// Adds a second edit of the same file to the first one of its message.
pub(super) fn join_edits(first: &mut CodeBlock<'_>, second: &mut CodeBlock<'_>) {
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
pub(super) fn elides_anew(code: &str, elisions: &[Span], before: &str) -> bool {
    let texts: BTreeSet<Cow<'_, str>> = elisions
        .iter()
        .map(|span| String::from_utf8_lossy(span.of(code.as_bytes())))
        .collect();
    texts
        .iter()
        .any(|text| code.matches(&**text).count() > before.matches(&**text).count())
}
