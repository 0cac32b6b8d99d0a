//! Files that a person names on the command line: relative to the current folder if they are there, else to the
//! workspace.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use tslp_core::path::RelPath;

/// The file or folder that a command-line argument names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedTarget {
    /// The workspace itself.
    Workspace,
    /// A folder beneath it.
    Folder(RelPath),
    /// Anything else beneath it.
    File(RelPath),
}

/// From the workspace's root.
impl fmt::Display for NamedTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workspace => f.write_str("."),
            Self::Folder(path) | Self::File(path) => path.fmt(f),
        }
    }
}

/// The reason why an argument names nothing in the workspace.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// There is nothing of that name.
    #[error(
        "{0}: there is no such file or folder, neither from here nor from the workspace's root"
    )]
    Missing(String),
    /// It lies elsewhere.
    #[error("{written}: lies outside of the workspace {}", workspace.display())]
    Outside {
        /// The argument.
        written: String,
        /// The folder that it should lie in.
        workspace: PathBuf,
    },
    /// A path that the proxy doesn't take from anybody: too long, with control characters, or a device's name.
    #[error("{0}: not a usable path (too long, or with invisible characters)")]
    Unusable(String),
    /// The system doesn't say what it is.
    #[error("{0}: {1}")]
    Unreadable(String, io::Error),
}

/// Finds what `written` names. `workspace` is absolute and without symbolic links.
///
/// # Errors
/// See [`TargetError`].
pub fn find_target(
    written: &str,
    current_dir: &Path,
    workspace: &Path,
) -> Result<NamedTarget, TargetError> {
    let mut elsewhere = false;
    for base in [current_dir, workspace] {
        let path = base.join(written);
        let found = match path.symlink_metadata() {
            Ok(found) => found,
            Err(error) if is_missing(&error) => continue,
            Err(error) => return Err(TargetError::Unreadable(written.to_owned(), error)),
        };
        match relative_path(&path, workspace) {
            Some(relative) => return target_of_path(written, &relative, found.is_dir()),
            None => elsewhere = true,
        }
    }
    Err(if elsewhere {
        TargetError::Outside {
            written: written.to_owned(),
            workspace: workspace.to_owned(),
        }
    } else {
        TargetError::Missing(written.to_owned())
    })
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn target_of_path(
    written: &str,
    relative: &Path,
    is_folder: bool,
) -> Result<NamedTarget, TargetError> {
    if relative.as_os_str().is_empty() {
        return Ok(NamedTarget::Workspace);
    }
    let path = rel_path(relative).ok_or_else(|| TargetError::Unusable(written.to_owned()))?;
    Ok(if is_folder {
        NamedTarget::Folder(path)
    } else {
        NamedTarget::File(path)
    })
}

/// The path as the ledger names it; `None` where the two wouldn't mean the same file.
pub(crate) fn rel_path(relative: &Path) -> Option<RelPath> {
    let text = relative.to_str()?;
    RelPath::parse(text, "")
        .ok()
        .filter(|path| path.as_str() == text)
}

/// The path relative to the workspace, by where its links lead.
fn relative_path(path: &Path, workspace: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    real.strip_prefix(workspace).map(Path::to_owned).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    struct Places {
        _dir: tempfile::TempDir,
        root: PathBuf,
        workspace: PathBuf,
    }

    fn places() -> Places {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let workspace = root.join("proj");
        fs::create_dir_all(workspace.join("src/deep")).unwrap();
        for file in ["a.c", "src/a.c", "src/deep/b.c", "../outside.c"] {
            fs::write(workspace.join(file), "").unwrap();
        }
        Places {
            _dir: dir,
            root,
            workspace,
        }
    }

    impl Places {
        #[track_caller]
        fn check(&self, from: &str, written: &str, expected: &str) {
            let shown = match find_target(written, &self.root.join(from), &self.workspace) {
                Ok(NamedTarget::Workspace) => "workspace".to_owned(),
                Ok(NamedTarget::Folder(path)) => format!("folder {path}"),
                Ok(NamedTarget::File(path)) => format!("file {path}"),
                Err(TargetError::Missing(_)) => "missing".to_owned(),
                Err(TargetError::Outside { .. }) => "outside".to_owned(),
                Err(other) => other.to_string(),
            };
            assert_eq!(shown, expected, "{written} from {from}");
        }
    }

    /// What is here comes before what is in the workspace's root.
    #[test]
    fn here_before_root() {
        let at = places();
        at.check("proj", "a.c", "file a.c");
        at.check("proj/src", "a.c", "file src/a.c");
        at.check("proj/src/deep", "a.c", "file a.c");
        at.check("proj/src/deep", "../a.c", "file src/a.c");
        at.check("proj/src/deep", "src/deep/b.c", "file src/deep/b.c");
        at.check("proj/src", ".", "folder src");
        at.check("proj/src", "..", "workspace");
        at.check("proj", "src/", "folder src");
    }

    /// From outside the workspace both ways of naming work.
    #[test]
    fn from_elsewhere() {
        let at = places();
        at.check("", "a.c", "file a.c");
        at.check("", "proj/src/a.c", "file src/a.c");
        at.check("", "proj", "workspace");
        let absolute = at.workspace.join("src/a.c");
        at.check("", absolute.to_str().unwrap(), "file src/a.c");
    }

    #[test]
    fn elsewhere_or_nowhere() {
        let at = places();
        at.check("proj", "b.c", "missing");
        at.check("proj", "a.c/b.c", "missing");
        at.check("proj", "../outside.c", "outside");
        at.check("proj", "/", "outside");
        at.check("", "outside.c", "outside");
        at.check("proj", "", "workspace");
    }

    /// A link is another name of a file.
    #[test]
    fn named_links() {
        let at = places();
        std::os::unix::fs::symlink(&at.workspace, at.root.join("link")).unwrap();
        at.check("", "link/src/a.c", "file src/a.c");
        std::os::unix::fs::symlink("src/a.c", at.workspace.join("alias.c")).unwrap();
        at.check("proj", "alias.c", "file src/a.c");
    }
}
