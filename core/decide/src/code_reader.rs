//! What code in a message is read with, and the file that a written path means.

use tslp_core::event::PathEvidence;
use tslp_core::extract::Grammars;
use tslp_core::ids::SessionId;
use tslp_core::path::{self, RelPath};
use tslp_core::reason::Reason;
use tslp_projections::disk::LastFinding;
use tslp_projections::state::StateView;

/// Most files of one name that are compared with a path.
const FILES_NAMED_MAX: usize = 256;

/// Reads blocks of code by the state that edits are applied to, and the parsers.
#[derive(Clone, Copy)]
pub struct CodeReader<'r> {
    /// The state.
    pub view: &'r StateView<'r>,
    /// The parsers.
    pub grammars: &'r dyn Grammars,
    /// The workspace's absolute path.
    pub root: &'r str,
    /// The conversation whose reply is read, if it is of one.
    pub session: Option<SessionId>,
}

/// The path, or the one tracked file that bears its base name when the path itself is unknown.
///
/// # Errors
/// As [`RelPath::parse`]; [`Reason::PathCaseDiffers`] where it isn't tracked and one is that differs in upper and lower
/// case alone: on some systems the two are one file; [`Reason::SeveralCandidates`] where a bare name fits several.
pub fn usable_path(view: &StateView<'_>, root: &str, written: &str) -> Result<RelPath, Reason> {
    let path = RelPath::parse(written, root)?;
    if view.state.state_map().tracks(&path) {
        return Ok(path);
    }
    if view.state.state_map().case_twin(&path).is_some() {
        return Err(Reason::PathCaseDiffers);
    }
    if written.contains(['/', '\\']) {
        return Ok(below_roots_name(view, root, &path).unwrap_or(path));
    }
    let mut same_name = view.state.state_map().files_named(path.basename(), 2);
    match same_name.len() {
        0 => Ok(path),
        1 => Ok(same_name.remove(0)),
        _ => Err(Reason::SeveralCandidates),
    }
}

/// Whether what looks like a path is prose: several words on the line before a block name a tracked file or none.
pub(super) fn is_prose(reader: CodeReader<'_>, written: &str, evidence: PathEvidence) -> bool {
    evidence == PathEvidence::LineBefore
        && written.contains(' ')
        && !written.contains(['/', '\\'])
        && !usable_path(reader.view, reader.root, written)
            .is_ok_and(|path| reader.view.state.state_map().tracks(&path))
}

/// The tracked file that a path names from the folder above the root, if the root holds nothing of the root's own name.
fn below_roots_name(view: &StateView<'_>, root: &str, path: &RelPath) -> Option<RelPath> {
    let (name, inside) = path.as_str().split_once('/')?;
    let (files, inside) = (view.state.state_map(), RelPath::from_normalised(inside));
    let is_meant = root.rsplit('/').next() == Some(name) && files.tracks(&inside);
    let is_there = !matches!(view.disk_finding(path), None | Some(LastFinding::Missing));
    let is_below = |file: &RelPath| file.as_str().split('/').next() == Some(name);
    (is_meant && !is_there && !files.paths().any(is_below)).then_some(inside)
}

/// The one tracked file that a path is the end of, if nothing is known at the path itself: models leave out the folders in front.
pub(super) fn file_ending_in(view: &StateView<'_>, path: &RelPath) -> Option<RelPath> {
    let files = view.state.state_map();
    let is_there = !matches!(view.disk_finding(path), None | Some(LastFinding::Missing));
    if is_there || files.tracks(path) {
        return None;
    }
    let named = files
        .files_named(path.basename(), FILES_NAMED_MAX)
        .into_iter();
    let mut ending = named.filter(|it| path::ends_in(it.as_str(), path.as_str()));
    ending.next().filter(|_| ending.next().is_none())
}
