//! Finds the files of a tree that may be adopted, in a fixed order, without those that git ignores.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use tslp_core::event::ReadFailure;
use tslp_core::extract::Grammars;
use tslp_core::path::RelPath;
use tslp_grammars::TreeSitterGrammars;

use super::reading::SkipReason;
use crate::target::{self, NamedTarget};

/// A file of the tree.
#[derive(Debug)]
pub enum WalkedFile {
    /// To be read.
    File {
        /// Its path in the workspace.
        path: RelPath,
        /// Its size.
        bytes: u64,
    },
    /// Not to be read.
    Skipped {
        /// Its path in the workspace, as the file system writes it.
        name: String,
        /// The reason.
        why: SkipReason,
    },
}

/// Visits every file under the targets once, until `visit` breaks. A target itself is taken even if it is hidden or ignored.
pub fn visit_files(
    workspace: &Path,
    targets: &[NamedTarget],
    visit: &mut dyn FnMut(WalkedFile) -> std::ops::ControlFlow<()>,
) {
    let named: BTreeSet<&RelPath> = targets
        .iter()
        .filter_map(|target| match target {
            NamedTarget::File(path) => Some(path),
            NamedTarget::Workspace | NamedTarget::Folder(_) => None,
        })
        .collect();
    for path in &named {
        let file = workspace.join(path.as_str());
        let seen = match file.symlink_metadata() {
            // A link that was named is followed; opening it refuses a target outside of the workspace.
            Ok(found) => walked_file(path.as_str(), Some(path), found.len()),
            Err(_) => WalkedFile::Skipped {
                name: path.to_string(),
                why: SkipReason::Vanished,
            },
        };
        if visit(seen).is_break() {
            return;
        }
    }
    let folders = outermost_folders(workspace, targets);
    if folders.is_empty() {
        return;
    }
    let mut reached = BTreeSet::new();
    for entry in walk_from_root(workspace, folders.clone()) {
        if let Ok(entry) = &entry
            && folders.contains(entry.path())
        {
            reached.insert(entry.path().to_owned());
        }
        if visit_entry(workspace, &named, entry, visit).is_break() {
            return;
        }
    }
    // Ignored or hidden, and named all the same.
    for folder in folders.difference(&reached) {
        for entry in walk_builder(folder).build() {
            if visit_entry(workspace, &named, entry, visit).is_break() {
                return;
            }
        }
    }
}

fn outermost_folders(workspace: &Path, targets: &[NamedTarget]) -> BTreeSet<PathBuf> {
    let all: BTreeSet<PathBuf> = targets
        .iter()
        .filter_map(|target| match target {
            NamedTarget::Workspace => Some(workspace.to_owned()),
            NamedTarget::Folder(path) => Some(workspace.join(path.as_str())),
            NamedTarget::File(_) => None,
        })
        .collect();
    let is_outermost =
        |folder: &PathBuf| !folder.ancestors().skip(1).any(|above| all.contains(above));
    all.iter()
        .filter(|folder| is_outermost(folder))
        .cloned()
        .collect()
}

/// Walks from the workspace's root, so that its `.gitignore` files count for every folder, and those above it never do.
fn walk_from_root(workspace: &Path, folders: BTreeSet<PathBuf>) -> ignore::Walk {
    walk_builder(workspace)
        .filter_entry(move |entry| {
            let path = entry.path();
            folders
                .iter()
                .any(|folder| path.starts_with(folder) || folder.starts_with(path))
        })
        .build()
}

fn walk_builder(root: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder
        .follow_links(false)
        .parents(false)
        .require_git(false)
        .git_global(false)
        .git_exclude(false)
        .sort_by_file_path(Path::cmp);
    builder
}

fn visit_entry(
    workspace: &Path,
    named: &BTreeSet<&RelPath>,
    entry: Result<DirEntry, ignore::Error>,
    visit: &mut dyn FnMut(WalkedFile) -> std::ops::ControlFlow<()>,
) -> std::ops::ControlFlow<()> {
    let entry = match entry {
        Ok(entry) => entry,
        Err(error) => return visit(walk_failure(workspace, &error)),
    };
    if entry.file_type().is_none_or(|kind| kind.is_dir()) {
        return std::ops::ControlFlow::Continue(());
    }
    let relative = entry.path().strip_prefix(workspace).unwrap_or(entry.path());
    let path = target::rel_path(relative);
    if path.as_ref().is_some_and(|path| named.contains(path)) {
        return std::ops::ControlFlow::Continue(());
    }
    let name = relative.to_string_lossy();
    let skipped = |why| WalkedFile::Skipped {
        name: name.clone().into_owned(),
        why,
    };
    visit(match entry.file_type() {
        Some(kind) if kind.is_symlink() => skipped(SkipReason::Link),
        Some(kind) if kind.is_file() => match entry.metadata() {
            Ok(found) => walked_file(&name, path.as_ref(), found.len()),
            Err(error) => walk_failure(workspace, &error),
        },
        _ => skipped(SkipReason::NotAFile),
    })
}

fn walked_file(name: &str, path: Option<&RelPath>, bytes: u64) -> WalkedFile {
    let skipped = |why| WalkedFile::Skipped {
        name: name.to_owned(),
        why,
    };
    match path {
        None => skipped(SkipReason::Unnamable),
        Some(path) if TreeSitterGrammars.language_of_path(path).is_none() => {
            skipped(SkipReason::NoGrammar)
        }
        Some(path) => WalkedFile::File {
            path: path.clone(),
            bytes,
        },
    }
}

fn walk_failure(workspace: &Path, error: &ignore::Error) -> WalkedFile {
    let why = match error.io_error().map(std::io::Error::kind) {
        Some(std::io::ErrorKind::PermissionDenied) => SkipReason::Unreadable(ReadFailure::Denied),
        Some(std::io::ErrorKind::NotFound) => SkipReason::Vanished,
        _ => SkipReason::Unreadable(ReadFailure::Failed),
    };
    let name = match path_of(error) {
        Some(path) => {
            let relative = path.strip_prefix(workspace).unwrap_or(path);
            relative.to_string_lossy().into_owned()
        }
        None => error.to_string(),
    };
    WalkedFile::Skipped { name, why }
}

/// The path that an error of the walk is about.
fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// law 1 | Git's own files aren't read; a `.gitignore` is a file of the tree
    /// law 1 | No access to Git metadata
    #[test]
    fn git_folder() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        std::fs::create_dir_all(root.join(".git/info")).unwrap();
        std::fs::write(root.join(".git/info/exclude"), "kept.c\n").unwrap();
        std::fs::write(root.join(".gitignore"), "left.c\n").unwrap();
        for name in ["kept.c", "left.c"] {
            std::fs::write(root.join(name), "int f(void) { return 1; }\n").unwrap();
        }
        let entries = walk_builder(root).build().filter_map(Result::ok);
        let names: Vec<_> = entries
            .filter(|entry| entry.path().is_file())
            .map(|entry| entry.file_name().to_owned())
            .collect();
        assert_eq!(names, ["kept.c"]);
    }

    /// A folder without permissions is named as it stands in the workspace.
    #[test]
    fn denied_folder() {
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = ignore::Error::WithDepth {
            depth: 1,
            err: Box::new(ignore::Error::WithPath {
                path: "/work/space/src/closed".into(),
                err: Box::new(ignore::Error::Io(denied)),
            }),
        };
        let WalkedFile::Skipped { name, why } = walk_failure(Path::new("/work/space"), &error)
        else {
            panic!("it was taken");
        };
        assert_eq!(
            (name.as_str(), why),
            ("src/closed", SkipReason::Unreadable(ReadFailure::Denied))
        );
    }
}
