//! Finds out whether the workspace is a folder that can be read.

use std::io;
use std::path::{Path, PathBuf};

use tslp_store::ledger::DataFiles;

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

/// The nearest folder from this one upwards whose data directory holds a ledger.
pub(super) fn with_ledger(
    from: &Path,
    data_dir_of: impl Fn(&Path) -> Option<PathBuf>,
) -> Option<PathBuf> {
    let from = from.canonicalize().ok()?;
    let has_ledger = |folder: &&Path| {
        let data_dir = data_dir_of(folder);
        data_dir.is_some_and(|data_dir| DataFiles::of(&data_dir).database.exists())
    };
    from.ancestors().find(has_ledger).map(Path::to_owned)
}

/// The nearest folder from this one upwards that is the root of a working tree of git's.
pub(super) fn tracked_by_git(from: &Path) -> Option<PathBuf> {
    let mut folders = from.ancestors();
    folders
        .find(|it| it.join(".git").exists())
        .map(Path::to_owned)
}

fn reason_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "doesn't exist".into(),
        io::ErrorKind::PermissionDenied => "can't be read: permission denied".into(),
        _ => format!("can't be read: {error}"),
    }
}
