//! Edits found in a message: the authoritative code that they are applied to, and what comes of it. An edit that
//! doesn't apply exactly stays what it is: evidence.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::capture::{Block, Closing, Part};
use crate::edit::{self, Bases, Edit, EditError, Hunk, Malformed};
use crate::entity::EntityId;
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
    /// Those whose code changes.
    pub changed: Vec<VersionId>,
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
pub(super) fn apply(view: &dyn View, path: &RelPath, edit: &Edit) -> Result<Edited, Reason> {
    match edit {
        Edit::Create(text) => create(view, path, text),
        Edit::Delete => Err(Reason::FileDeletion),
        Edit::Move { .. } => Err(Reason::FileMove),
        Edit::Change(hunks) => change(view, path, hunks),
    }
}

/// The versions that an edit of this file is applied to.
pub(super) fn versions(view: &dyn View, path: &RelPath) -> Vec<VersionId> {
    Base::of(view, path).versions()
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

fn change(view: &dyn View, path: &RelPath, hunks: &[Hunk]) -> Result<Edited, Reason> {
    let base = Base::of(view, path);
    let versions = base.versions();
    match base {
        Base::Nothing => match hunks {
            [Hunk::Append(text)] => create(view, path, text),
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
                },
                before: text,
            })
        }
        Base::Slices(slices) => {
            let texts: Vec<&str> = slices.iter().map(|(_, text)| text.as_str()).collect();
            let edited = edit::apply(hunks, Bases::Slices(&texts)).map_err(reason)?;
            let mut changed = Vec::new();
            let (mut code, mut before) = (String::new(), String::new());
            for ((version, old), new) in slices.iter().zip(edited) {
                let Some(new) = new else { continue };
                changed.push(*version);
                add_slice(&mut code, &new);
                add_slice(&mut before, old);
            }
            Ok(Edited {
                code,
                part: Part::Range,
                applied: Applied {
                    against: versions,
                    changed,
                },
                before,
            })
        }
    }
}

/// Puts a slice behind others, a blank line between.
fn add_slice(code: &mut String, slice: &str) {
    if !code.is_empty() {
        code.push('\n');
    }
    code.push_str(slice);
    if !slice.ends_with('\n') {
        code.push('\n');
    }
}

const fn reason(error: EditError) -> Reason {
    match error {
        EditError::NoBase => Reason::BaseUnknown,
        EditError::Exists => Reason::FileExists,
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
    /// Some of its definitions, none inside another one.
    Slices(Vec<(VersionId, String)>),
}

impl Base {
    fn of(view: &dyn View, path: &RelPath) -> Self {
        let mut contents = Contents {
            view,
            read: BTreeMap::new(),
        };
        let whole = view.current(&EntityId::file(path.clone()));
        if let Some(whole) = whole
            && let Some(text) = contents.text(&whole)
        {
            return Self::Whole(whole.version, text);
        }
        let definitions: Vec<Current> = view
            .symbols_of(path)
            .into_iter()
            .filter_map(|symbol| view.current(&EntityId::symbol(path.clone(), symbol)))
            .collect();
        let slices: Vec<(VersionId, String)> = outermost(&definitions)
            .filter_map(|current| Some((current.version, contents.text(current)?)))
            .collect();
        if slices.is_empty() {
            Self::Nothing
        } else {
            Self::Slices(slices)
        }
    }

    fn versions(&self) -> Vec<VersionId> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Whole(version, _) => Vec::from([*version]),
            Self::Slices(slices) => slices.iter().map(|(version, _)| *version).collect(),
        }
    }
}

/// Definitions that don't stand inside another one of the same captured text.
fn outermost(definitions: &[Current]) -> impl Iterator<Item = &Current> {
    let mut covering: BTreeMap<ArtifactHash, Vec<Span>> = BTreeMap::new();
    for current in definitions {
        covering
            .entry(current.artifact)
            .or_default()
            .extend(&current.spans);
    }
    let mut inner: BTreeSet<(ArtifactHash, Span)> = BTreeSet::new();
    for (artifact, spans) in &mut covering {
        spans.sort_unstable_by_key(|span| (span.start, u32::MAX - span.end));
        let mut reached = 0;
        for span in spans.iter() {
            if span.end <= reached {
                inner.insert((*artifact, *span));
            }
            reached = reached.max(span.end);
        }
    }
    definitions.iter().filter(move |current| {
        !current
            .spans
            .iter()
            .all(|span| inner.contains(&(current.artifact, *span)))
    })
}

/// Captured texts, each read once.
struct Contents<'v> {
    view: &'v dyn View,
    read: BTreeMap<ArtifactHash, Option<Vec<u8>>>,
}

impl Contents<'_> {
    fn text(&mut self, current: &Current) -> Option<String> {
        let bytes = self
            .read
            .entry(current.artifact)
            .or_insert_with(|| self.view.content(current.artifact));
        let joined = crate::slice::joined(bytes.as_deref()?, &current.spans);
        String::from_utf8(joined).ok()
    }
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
