//! Finds out whether the workspace is a folder that can be read.

use std::io;
use std::path::{Path, PathBuf};

use super::error::ConfigError;

/// The workspace's absolute path with symbolic links resolved, also as text with `/` between its parts.
///
/// # Errors
/// If it isn't a readable folder, or its path isn't UTF-8.
pub(super) fn canonical_folder(written: &Path) -> Result<(PathBuf, String), ConfigError> {
    let wrong = |problem: String| ConfigError::Workspace {
        path: written.to_owned(),
        problem,
    };
    let path = written
        .canonicalize()
        .map_err(|error| wrong(reason_words(&error)))?;
    if !path.is_dir() {
        return Err(wrong("is not a folder".into()));
    }
    std::fs::read_dir(&path).map_err(|error| wrong(reason_words(&error)))?;
    let root = path
        .to_str()
        .ok_or_else(|| wrong("has a path that is not UTF-8".into()))?
        .replace('\\', "/");
    Ok((path, root))
}

/// The nearest folder from this one upwards that is a root of git's or whose data directory counts. A folder that can't be a workspace,
/// such as a home folder under git, is passed over.
pub(super) fn project_root(
    from: &Path,
    data_dir_of: impl Fn(&Path) -> Option<PathBuf>,
    counts: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let from = from.canonicalize().ok()?;
    // In a worktree and in a submodule, `.git` is a file.
    let is_root = |folder: &&Path| {
        data_dir_of(folder)
            .is_some_and(|data_dir| folder.join(".git").exists() || counts(&data_dir))
    };
    from.ancestors().find(is_root).map(Path::to_owned)
}

fn reason_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "doesn't exist".into(),
        io::ErrorKind::PermissionDenied => "can't be read: permission denied".into(),
        _ => format!("can't be read: {error}"),
    }
}
