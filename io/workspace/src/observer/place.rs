//! Where a client's paths lead: links are resolved, and nothing is opened.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tslp_core::event::{PlaceKind, PlaceObserved};
use tslp_core::path::RelPath;
use tslp_decide::scope::place::PlaceFinding;

/// Most ends of one path that are looked for beneath the root.
const ENDS_MAX: usize = 64;

/// Most files that one path may mean.
const CANDIDATES_MAX: usize = 4;

/// Where an absolute path leads. `twin` is another name of the same file that is off, by device and inode.
pub(super) fn find(
    root: &Path,
    written: &str,
    twin: impl Fn((u64, u64)) -> Option<RelPath>,
) -> io::Result<PlaceFinding> {
    let root = root.canonicalize()?;
    let asked = Path::new(written);
    let exists = |path: &&Path| path.symlink_metadata().is_ok();
    let there = asked.ancestors().find(exists).unwrap_or(Path::new("/"));
    let below = asked.strip_prefix(there).unwrap_or(Path::new(""));
    let real: PathBuf = there
        .canonicalize()?
        .components()
        .chain(below.components())
        .collect();
    let seen = |written: &Path, place, ours: &str| PlaceObserved {
        written: written.to_string_lossy().into_owned(),
        place,
        ours: ours.into(),
    };
    let candidates = match there == asked {
        true => Vec::new(),
        false => ends_beneath(&root, written),
    };
    let found = match real.strip_prefix(&root).ok().and_then(Path::to_str) {
        Some(ours) if is_from_above(&root, ours) => {
            let name = root.file_name().unwrap_or_default();
            seen(&root.join(name), PlaceKind::Beneath, "")
        }
        Some(ours) => {
            let about = fs::metadata(&real)
                .ok()
                .filter(|it| it.is_file() && it.nlink() > 1);
            match about.and_then(|it| twin((it.dev(), it.ino()))) {
                Some(other) if other.as_str() != ours => {
                    seen(asked, PlaceKind::Beneath, other.as_str())
                }
                _ => {
                    let (theirs, ours) = linked_folder(&root, written, ours);
                    seen(Path::new(theirs), PlaceKind::Beneath, ours)
                }
            }
        }
        None if real.is_dir() => seen(asked, PlaceKind::Elsewhere, ""),
        None if real.parent().is_some_and(Path::is_dir) => {
            let folder = asked.parent().filter(|it| it.parent().is_some());
            seen(folder.unwrap_or(asked), PlaceKind::Elsewhere, "")
        }
        None => {
            let first = below.components().next();
            let missing = first.map_or_else(|| asked.into(), |first| there.join(first));
            seen(&missing, PlaceKind::Nowhere, "")
        }
    };
    Ok(PlaceFinding {
        asked: written.into(),
        seen: found,
        candidates,
    })
}

/// Whether a path names a file from the folder above the root: the root's own name comes first, and the root has nothing of that name.
fn is_from_above(root: &Path, ours: &str) -> bool {
    ours.split_once('/').is_some_and(|(name, inside)| {
        root.file_name().is_some_and(|it| it == name)
            && root.join(name).symlink_metadata().is_err()
            && root.join(inside).is_file()
    })
}

/// The topmost folder, or the file, that is another name of what is beneath the root.
fn linked_folder<'p>(root: &Path, written: &'p str, ours: &'p str) -> (&'p str, &'p str) {
    let leads = |(theirs, ours): &(&str, &str)| {
        Path::new(theirs).canonicalize().ok().as_deref() == Some(&*root.join(ours))
    };
    let folder = |path: &'p str| path.rsplit_once('/').unwrap_or(("", path));
    let up = |(theirs, ours): &(&'p str, &'p str)| {
        let ((theirs, name), (ours, other)) = (folder(theirs), folder(ours));
        (name == other && !theirs.is_empty()).then_some((theirs, ours))
    };
    let pairs = std::iter::successors(Some((written, ours)), up);
    // What isn't there yet is in a folder that is.
    let leading = pairs.skip_while(|pair| !leads(pair)).take_while(leads);
    leading.last().unwrap_or((written, ours))
}

/// The files beneath the root that a path ends in, the longest end first.
fn ends_beneath(root: &Path, written: &str) -> Vec<RelPath> {
    let starts = written.match_indices('/').map(|(at, _)| at + 1);
    let ends = starts.take(ENDS_MAX).filter_map(|at| written.get(at..));
    let is_file = |end: &&str| {
        let about = root.join(end).symlink_metadata();
        about.is_ok_and(|it| it.is_file())
    };
    let files = ends.filter(is_file).take(CANDIDATES_MAX);
    files
        .filter_map(|end| RelPath::parse(end, "").ok())
        .collect()
}

/// The names beneath the root that are links to what is beneath it, and those of files that `is_off` means by another name.
pub(super) fn aliases_below(
    root: &Path,
    entries: impl Iterator<Item = PathBuf>,
    is_off: impl Fn(&str) -> bool,
) -> Vec<PlaceObserved> {
    let Ok(real_root) = root.canonicalize() else {
        return Vec::new();
    };
    let alias = |name: &str, ours: &str| PlaceObserved {
        written: format!("{}/{name}", root.display()),
        place: PlaceKind::Beneath,
        ours: ours.into(),
    };
    let (mut found, mut several) = (Vec::new(), Vec::new());
    for entry in entries {
        let (Ok(about), Some(name)) = (entry.symlink_metadata(), name_of(root, &entry)) else {
            continue;
        };
        if about.is_symlink() {
            let real = entry.canonicalize().ok();
            let ours = real.as_deref().and_then(|real| name_of(&real_root, real));
            found.extend(ours.map(|ours| alias(&name, &ours)));
        } else if about.is_file() && about.nlink() > 1 {
            several.push(((about.dev(), about.ino()), name));
        }
    }
    let off: Vec<_> = several.iter().filter(|(_, name)| is_off(name)).collect();
    for (inode, name) in &several {
        let twin = off.iter().find(|(other, _)| other == inode);
        found.extend(
            twin.filter(|(_, it)| it != name)
                .map(|(_, it)| alias(name, it)),
        );
    }
    found
}

fn name_of(root: &Path, path: &Path) -> Option<String> {
    let name = path.strip_prefix(root).ok()?.to_str()?;
    (!name.is_empty()).then(|| name.to_owned())
}
