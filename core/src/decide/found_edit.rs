//! Edits found in a message: the authoritative code that they are applied to, and what comes of it. An edit that
//! doesn't apply exactly stays what it is: evidence.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::found_code::Reading;
use crate::capture::{Block, Closing, Part};
use crate::edit::{self, Bases, Edit, EditError, Hunk, Malformed};
use crate::entity::{EntityId, Symbol};
use crate::event::DiskFinding;
use crate::hash::ArtifactHash;
use crate::ids::VersionId;
use crate::limits::HUNKS_PER_EDIT_MAX;
use crate::path::RelPath;
use crate::reason::Reason;
use crate::slice::Span;
use crate::view::{Current, View};

/// An edit as it was found, and what came of applying it.
#[derive(Clone, Debug)]
pub struct FoundEdit {
    /// The edit as it was written, block by block.
    pub texts: Vec<String>,
    /// What it does; an error says why that can't be told.
    pub edit: Result<Edit, Reason>,
    /// What came of it.
    pub outcome: Result<Applied, Reason>,
}

/// What an edit was applied to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Every version that was looked at.
    pub against: Vec<VersionId>,
    /// Those out of whose text, or beside which, code changes.
    pub changed: Vec<VersionId>,
    /// What the changed pieces of a file defined before.
    pub defined: BTreeSet<Symbol>,
}

/// The code that an edit makes.
pub(super) struct Edited {
    pub(super) code: String,
    pub(super) part: Part,
    pub(super) applied: Applied,
    /// The code that was there before.
    pub(super) before: String,
}

/// Applies an edit to what is authoritative of its file.
pub(super) fn apply(reading: Reading<'_>, path: &RelPath, edit: &Edit) -> Result<Edited, Reason> {
    match edit {
        Edit::Create(text) => create(reading.view, path, text),
        Edit::Delete => Err(Reason::FileDeletion),
        Edit::Move { .. } => Err(Reason::FileMove),
        Edit::Change(hunks) => change(reading, path, hunks),
    }
}

/// The versions that an edit of this file is applied to.
pub(super) fn versions(reading: Reading<'_>, path: &RelPath) -> Vec<VersionId> {
    Base::of(reading, path).versions()
}

fn create(view: &dyn View, path: &RelPath, text: &str) -> Result<Edited, Reason> {
    let is_known = view.tracks(path) || matches!(view.disk(path), Some(DiskFinding::File(_)));
    if is_known {
        return Err(Reason::FileExists);
    }
    Ok(Edited {
        code: text.into(),
        part: Part::Whole,
        applied: Applied::default(),
        before: String::new(),
    })
}

fn change(reading: Reading<'_>, path: &RelPath, hunks: &[Hunk]) -> Result<Edited, Reason> {
    let base = Base::of(reading, path);
    let versions = base.versions();
    match base {
        Base::Nothing => match hunks {
            [Hunk::Append(text)] => create(reading.view, path, text),
            _ => Err(Reason::BaseUnknown),
        },
        Base::Whole(version, text) => {
            let edited = edit::apply(hunks, Bases::Whole(&text)).map_err(reason)?;
            let code = edited.into_iter().flatten().next();
            Ok(Edited {
                code: code.unwrap_or_else(|| text.clone()),
                part: Part::Whole,
                applied: Applied {
                    against: versions,
                    changed: Vec::from([version]),
                    defined: BTreeSet::new(),
                },
                before: text,
            })
        }
        Base::Pieces(pieces) => {
            let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
            let edited = edit::apply(hunks, Bases::Slices(&texts)).map_err(reason)?;
            let mut changed = Vec::new();
            let (mut code, mut before) = (String::new(), String::new());
            for (piece, new) in pieces.iter().zip(edited) {
                let Some(new) = new else { continue };
                changed.extend(&piece.versions);
                add_piece(&mut code, &new);
                add_piece(&mut before, &piece.text);
            }
            Ok(Edited {
                code,
                part: Part::Range,
                applied: Applied {
                    against: versions,
                    changed,
                    defined: BTreeSet::new(),
                },
                before,
            })
        }
    }
}

/// Puts a piece behind others, a blank line between.
fn add_piece(code: &mut String, piece: &str) {
    if !code.is_empty() {
        code.push('\n');
    }
    code.push_str(piece);
    if !piece.ends_with('\n') {
        code.push('\n');
    }
}

const fn reason(error: EditError) -> Reason {
    match error {
        EditError::NoBase => Reason::BaseUnknown,
        EditError::NotFound => Reason::EditTextNotFound,
        EditError::NotUnique => Reason::EditTextNotUnique,
        EditError::NeedsWholeFile => Reason::EditNeedsWholeFile,
        EditError::TooLarge => Reason::EditMalformed,
    }
}

/// What is authoritative of a file.
enum Base {
    /// Nothing.
    Nothing,
    /// All of it.
    Whole(VersionId, String),
    /// Some pieces of it, none inside another one.
    Pieces(Vec<Piece>),
}

/// A piece of a file that is known word for word: a definition, or a text out of which several became true.
struct Piece {
    versions: Vec<VersionId>,
    text: String,
}

impl Base {
    fn of(reading: Reading<'_>, path: &RelPath) -> Self {
        let view = reading.view;
        let whole = view.current(&EntityId::file(path.clone()));
        if let Some(whole) = whole
            && let Some(text) = text_of(view, whole.artifact, &whole.spans)
        {
            return Self::Whole(whole.version, text);
        }
        let mut texts: BTreeMap<ArtifactHash, Vec<Current>> = BTreeMap::new();
        for symbol in view.symbols_of(path) {
            let current = view.current(&EntityId::symbol(path.clone(), symbol));
            if let Some(current) = current {
                texts.entry(current.artifact).or_default().push(current);
            }
        }
        let pieces: Vec<Piece> = texts
            .into_iter()
            .flat_map(|(artifact, definitions)| pieces(reading, path, artifact, &definitions))
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

/// The text as it was captured, if all that became true out of it still is and so is what it repeats; else each of its
/// definitions.
fn pieces(
    reading: Reading<'_>,
    path: &RelPath,
    artifact: ArtifactHash,
    definitions: &[Current],
) -> Vec<Piece> {
    let view = reading.view;
    let is_current = view.artifact_is_current(artifact) == Some(true);
    let whole = is_current
        .then(|| String::from_utf8(view.content(artifact)?).ok())
        .flatten()
        .filter(|text| is_true(reading, path, text));
    if let Some(text) = whole {
        let versions = definitions.iter().map(|current| current.version).collect();
        return Vec::from([Piece { versions, text }]);
    }
    outermost(definitions)
        .filter_map(|current| {
            Some(Piece {
                versions: Vec::from([current.version]),
                text: text_of(view, artifact, &current.spans)?,
            })
        })
        .collect()
}

/// Whether every tracked symbol that the text defines is true as it stands there. A text that repeated one unchanged
/// doesn't change when that one does.
fn is_true(reading: Reading<'_>, path: &RelPath, text: &str) -> bool {
    let Some(language) = reading.grammars.language_of_path(path) else {
        return false;
    };
    let Ok(extraction) = reading.grammars.extract(language, text.as_bytes()) else {
        return false;
    };
    extraction
        .slices(text.as_bytes())
        .into_iter()
        .all(|(symbol, slice)| {
            let current = reading
                .view
                .current(&EntityId::symbol(path.clone(), symbol.clone()));
            current.is_none_or(|current| current.slice == slice)
        })
}

fn text_of(view: &dyn View, artifact: ArtifactHash, spans: &[Span]) -> Option<String> {
    String::from_utf8(view.slices(artifact, spans)?).ok()
}

/// Definitions of one captured text that don't stand inside another one.
fn outermost(definitions: &[Current]) -> impl Iterator<Item = &Current> {
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
pub(super) fn join(first: &mut Block<'_>, second: &mut Block<'_>) {
    let edits = first.edit.take().zip(second.edit.take());
    first.edit = edits.map(|(one, other)| one.and_then(|one| merged(one, other?)));
    first.verbatim = None;
    first.evidence = first.evidence.min(second.evidence);
    if second.closing == Closing::Unclosed {
        first.closing = Closing::Unclosed;
    }
}

fn merged(mut one: Edit, other: Edit) -> Result<Edit, Malformed> {
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
