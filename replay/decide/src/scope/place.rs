//! Which file a written path means: the one place where a client's, a model's or the user's spelling becomes a file of ours
//! (docs/rules.md).

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::event::{Event, PathResolved, PlaceKind, PlaceObserved, ReadFailure};
use tslp_core::ids::SessionId;
use tslp_core::path::{self, RelPath};
use tslp_core::policy::Policy;
use tslp_core::reason::Reason;
use tslp_projections::disk::LastFinding;
use tslp_projections::places::ClientPlace;
use tslp_projections::state::StateView;

/// Most tracked files of one name that are compared with a path.
const FILES_NAMED_MAX: usize = 64;

/// Most paths of one message whose place is looked for.
const LOOKS_MAX: usize = 64;

/// Who writes a path: relative ones are meant from their folder.
#[derive(Clone, Copy, Debug)]
pub struct Standpoint<'r> {
    /// The workspace's absolute path.
    pub root: &'r str,
    /// The conversation; 0 outside of conversations.
    pub session: SessionId,
}

impl<'r> Standpoint<'r> {
    /// Of a conversation.
    #[must_use]
    pub fn of(policy: &'r Policy, session: SessionId) -> Self {
        let root = &policy.workspace_root;
        Self { root, session }
    }
}

/// What a look found of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceFinding {
    /// The absolute path that was looked for.
    pub asked: String,
    /// What is to be put on record, if it is news.
    pub seen: PlaceObserved,
    /// Files beneath the root that the path ends in, though it isn't there: the longest first.
    pub candidates: Vec<RelPath>,
}

/// The file of a path that a program is given: as it is written, seen from the client's folder.
///
/// # Errors
/// As [`RelPath::parse`]; [`Reason::PathCaseDiffers`] where it isn't tracked and one is that differs in upper and lower
/// case alone: on some systems the two are one file.
pub fn exactly(view: &StateView<'_>, at: Standpoint<'_>, written: &str) -> Result<RelPath, Reason> {
    let path = spelled(view, at, written)?;
    let files = view.state.state_map();
    match !files.tracks(&path) && files.case_twin(&path).is_some() {
        true => Err(Reason::PathCaseDiffers),
        false => Ok(path),
    }
}

/// As [`exactly`], whatever files are called alike.
pub(crate) fn spelled(
    view: &StateView<'_>,
    at: Standpoint<'_>,
    written: &str,
) -> Result<RelPath, Reason> {
    let folder = folder_of(view, at).unwrap_or(at.root);
    beneath(view, at, &path::absolute(written, folder, at.root)?)
}

/// The file of a path that a person or a model writes: as [`exactly`], or the one tracked file that can be meant: from the root, from the
/// folder above it, or by its name alone.
///
/// # Errors
/// As [`exactly`]; [`Reason::SeveralCandidates`] where a bare name fits several.
pub fn of(view: &StateView<'_>, at: Standpoint<'_>, written: &str) -> Result<RelPath, Reason> {
    let files = view.state.state_map();
    let path = exactly(view, at, written);
    if path.as_ref().is_ok_and(|path| files.tracks(path)) {
        return path;
    }
    let is_above = |folder: &str| path::moved(at.root, folder, "").is_some();
    let is_known = path.as_ref().is_ok_and(|path| is_on_disk(view, path));
    if !is_known && (path.is_ok() || folder_of(view, at).is_some_and(is_above)) {
        let from = |folder: &str| {
            let absolute = path::absolute(written, folder, at.root).ok()?;
            let file = beneath(view, at, &absolute).ok();
            file.filter(|file| files.tracks(file))
        };
        let (above, name) = at.root.rsplit_once('/').unwrap_or(("", at.root));
        let is_in_namesake = |file: &RelPath| path::moved(file.as_str(), name, "").is_some();
        let from_above = || from(above).filter(|_| !files.paths().any(is_in_namesake));
        if let Some(file) = from(at.root).or_else(from_above) {
            return Ok(file);
        }
    }
    let path = path?;
    if written.contains(['/', '\\']) {
        return Ok(path);
    }
    let mut same_name = files.files_named(path.basename(), 2);
    match same_name.len() {
        0 => Ok(path),
        1 => Ok(same_name.remove(0)),
        _ => Err(Reason::SeveralCandidates),
    }
}

/// The file of a path in a call: a client that states its folder takes paths from there, and nothing else can be meant.
///
/// # Errors
/// As [`of`].
pub fn in_call(view: &StateView<'_>, at: Standpoint<'_>, written: &str) -> Result<RelPath, Reason> {
    match folder_of(view, at) {
        Some(_) => exactly(view, at, written),
        None => of(view, at, written),
    }
}

/// The folder from which a client's relative paths are meant, if it states one that this machine has or that is known to be ours.
fn folder_of<'v>(view: &'v StateView<'_>, at: Standpoint<'_>) -> Option<&'v str> {
    let places = view.state.places();
    let folder = places.working_folder(at.session)?;
    let is_known = match places.find(at.session, folder) {
        Some(ClientPlace::Ours(_) | ClientPlace::Elsewhere) => true,
        Some(ClientPlace::Nowhere) => false,
        None => path::moved(folder, at.root, "").is_some(),
    };
    is_known.then_some(folder)
}

/// What an absolute path of a client's is beneath the root.
fn beneath(view: &StateView<'_>, at: Standpoint<'_>, absolute: &str) -> Result<RelPath, Reason> {
    let known = match view.state.places().find(at.session, absolute) {
        Some(ClientPlace::Ours(row)) => path::moved(absolute, &row.theirs, &row.ours),
        Some(ClientPlace::Elsewhere) => return Err(Reason::PathEscapesWorkspace),
        Some(ClientPlace::Nowhere) | None => None,
    };
    let path = match known {
        Some(ours) => RelPath::parse(&ours, "")?,
        None => RelPath::beneath(absolute, at.root)?,
    };
    let alias = view.state.scope().alias_in(path.as_str());
    let place = alias.and_then(|row| path::moved(path.as_str(), &row.alias, &row.place));
    Ok(place.map_or(path, |place| RelPath::from_normalised(&place)))
}

fn is_on_disk(view: &StateView<'_>, path: &RelPath) -> bool {
    !matches!(view.disk_finding(path), None | Some(LastFinding::Missing))
}

/// The one tracked file that a path is the end of, if nothing is known at the path itself: models leave out the folders in front.
pub(crate) fn file_ending_in(view: &StateView<'_>, path: &RelPath) -> Option<RelPath> {
    let files = view.state.state_map();
    if is_on_disk(view, path) || files.tracks(path) {
        return None;
    }
    let named = files.files_named(path.basename(), FILES_NAMED_MAX);
    let mut ending = named
        .into_iter()
        .filter(|it| path::ends_in(it.as_str(), path.as_str()));
    ending.next().filter(|_| ending.next().is_none())
}

/// The tracked file that a client in another file system means by a path: of those with its name whose text `fits`, the only one, or the
/// one that has the most folders in common.
pub(crate) fn recognised(
    view: &StateView<'_>,
    at: Standpoint<'_>,
    written: &str,
    fits: impl Fn(&RelPath) -> bool,
) -> Option<RelPath> {
    let theirs = foreign(view, at, written)?;
    let name = theirs.rsplit('/').next()?;
    let mut fitting = view.state.state_map().files_named(name, FILES_NAMED_MAX);
    fitting.retain(fits);
    let length = |file: &RelPath| path::unlike_folders(&theirs, file.as_str()).0.len();
    fitting.sort_by_key(length);
    let is_alone = fitting
        .get(1)
        .is_none_or(|other| length(other) > length(&fitting[0]));
    fitting.into_iter().next().filter(|_| is_alone)
}

/// The absolute path that a client in another file system writes, if it isn't known to be ours.
pub(crate) fn foreign(view: &StateView<'_>, at: Standpoint<'_>, written: &str) -> Option<String> {
    let places = view.state.places();
    let folder = places.working_folder(at.session).unwrap_or(at.root);
    let theirs = path::absolute(written, folder, at.root).ok()?;
    (places.find(at.session, &theirs) == Some(ClientPlace::Nowhere)).then_some(theirs)
}

/// Whether a file was recognised as this one of a client's before: the client was shown its text.
pub(crate) fn was_recognised(
    view: &StateView<'_>,
    at: Standpoint<'_>,
    written: &str,
    file: &RelPath,
) -> bool {
    let Some(theirs) = foreign(view, at, written) else {
        return false;
    };
    let (folder, ours) = path::unlike_folders(&theirs, file.as_str());
    let known = view.state.places().at(at.session, folder);
    known.is_some_and(|known| known.ours == ours && known.file == file.as_str())
}

/// A path in a reply, and what it was taken for.
#[derive(Clone, Copy, Debug)]
pub struct WrittenPath<'f> {
    /// The path as it was written.
    pub written: &'f str,
    /// The file.
    pub file: &'f Result<RelPath, Reason>,
    /// Whether an edit or a call names it.
    pub is_changed: bool,
}

/// What code of a reply teaches of its client's root, and the edits of which no file could be told, each once.
#[must_use]
pub fn resolve_paths(
    view: &StateView<'_>,
    at: Standpoint<'_>,
    paths: Vec<WrittenPath<'_>>,
) -> Vec<Event> {
    let mut said = BTreeSet::new();
    let resolved = paths.into_iter().filter_map(|it| {
        let theirs = match it.file {
            Ok(file) => return taught(view, at, it.written, file),
            Err(Reason::PathEscapesWorkspace) if it.is_changed => {
                let folder = view.state.places().working_folder(at.session);
                path::absolute(it.written, folder.unwrap_or(at.root), at.root).ok()?
            }
            Err(_) => return None,
        };
        let is_told = view.state.places().at(at.session, &theirs);
        let is_told = is_told.is_some_and(|it| it.place == PlaceKind::Unseen);
        let resolved = PathResolved {
            theirs,
            ours: String::new(),
            file: None,
        };
        (!is_told && said.insert(resolved.theirs.clone())).then_some(resolved)
    });
    resolved.map(Event::PathResolved).collect()
}

/// What a file that was recognised says of its client's root, if that is news.
pub(crate) fn taught(
    view: &StateView<'_>,
    at: Standpoint<'_>,
    written: &str,
    file: &RelPath,
) -> Option<PathResolved> {
    let theirs = foreign(view, at, written)?;
    let (folder, ours) = path::unlike_folders(&theirs, file.as_str());
    let is_known = was_recognised(view, at, written, file);
    (!is_known && !folder.is_empty()).then(|| PathResolved {
        theirs: folder.into(),
        ours: ours.into(),
        file: Some(file.clone()),
    })
}

/// The absolute paths among those written of which it isn't known which file they are.
#[must_use]
pub fn to_look_for<'w>(
    view: &StateView<'_>,
    at: Standpoint<'_>,
    written: impl IntoIterator<Item = &'w str>,
) -> Vec<String> {
    let places = view.state.places();
    let folder = folder_of(view, at).unwrap_or(at.root);
    // A link may have been replaced since.
    let is_alias = |absolute: &str| {
        let path = path::moved(absolute, at.root, "");
        path.is_some_and(|path| view.state.scope().alias_in(&path).is_some())
    };
    let is_open = |absolute: &String| match places.find(at.session, absolute) {
        _ if is_alias(absolute) => true,
        Some(ClientPlace::Ours(_) | ClientPlace::Elsewhere) => false,
        Some(ClientPlace::Nowhere) => true,
        None => beneath(view, at, absolute).map_or_else(
            |reason| reason == Reason::PathEscapesWorkspace,
            |path| {
                let linked = LastFinding::Unreadable(ReadFailure::Escapes);
                let is_linked = view.disk_finding(&path) == Some(linked);
                is_linked || !view.state.state_map().tracks(&path)
            },
        ),
    };
    let absolute = written
        .into_iter()
        .filter_map(|written| path::absolute(written, folder, at.root).ok());
    // `c:src/a.c` is a fence's language and path, and no drive of this machine.
    let is_drive = |it: &String| it.split('/').nth(1).is_some_and(|it| it.contains(':'));
    let open = absolute.filter(|it| !is_drive(it) && is_open(it));
    let open: BTreeSet<String> = open.take(LOOKS_MAX).collect();
    open.into_iter().collect()
}

/// The event for what a look at an absolute path found; `None` if it is known.
#[must_use]
pub fn news(
    view: &StateView<'_>,
    at: Standpoint<'_>,
    asked: &str,
    mut seen: PlaceObserved,
) -> Option<Event> {
    // What is beneath the root is named from there.
    if let Some(path) = path::moved(asked, at.root, "").filter(|_| !at.root.is_empty()) {
        let known = view.state.scope().alias_in(&path);
        let alias = path::moved(&seen.written, at.root, "").filter(|it| *it != seen.ours);
        match (alias.filter(|_| seen.place == PlaceKind::Beneath), known) {
            (Some(alias), Some(known)) if (&alias, &seen.ours) == (&known.alias, &known.place) => {
                return None;
            }
            (Some(alias), _) => seen.written = alias,
            (None, Some(known)) => {
                (seen.written, seen.ours) = (known.alias.clone(), known.alias.clone());
                seen.place = PlaceKind::Beneath;
            }
            (None, None) => return None,
        }
        return Some(Event::PlaceObserved(seen));
    }
    let known = view.state.places().at(at.session, &seen.written);
    let is_known = known.is_some_and(|it| (it.place, &it.ours) == (seen.place, &seen.ours));
    (!is_known).then_some(Event::PlaceObserved(seen))
}

/// The event for the folder that a client states; `None` if it is the one that is known.
#[must_use]
pub fn stated_folder(view: &StateView<'_>, at: Standpoint<'_>, folder: &str) -> Option<Event> {
    let folder = path::absolute(folder.trim_end_matches(['/', '\\']), at.root, at.root).ok()?;
    (view.state.places().working_folder(at.session) != Some(&folder)).then(|| {
        Event::PlaceObserved(PlaceObserved {
            written: folder,
            place: PlaceKind::WorkingFolder,
            ours: String::new(),
        })
    })
}
