//! Hidden folders in which a file is made whole before it gets its name, and the removal of those whose makers died.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::ledger::LedgerError;
use crate::ledger::disk::sync_parent;
use crate::ledger::lock::DataDirLock;

/// The prefixes of these folders' names, indexed by [`ScratchPurpose`].
const PREFIXES: [&str; 4] = [
    ".tslp-backup-",
    ".tslp-export-",
    ".tslp-import-",
    ".tslp-salvage-",
];

/// The purpose of a temporary folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum ScratchPurpose {
    /// A copy of a ledger.
    Backup = 0,
    /// A ledger as lines.
    Export = 1,
    /// A ledger out of lines.
    Import = 2,
    /// What is sound of a damaged ledger.
    Salvage = 3,
}

/// Makes a data directory whole in a hidden folder, and gives it the name `to` then: what a killed command leaves never looks complete.
/// `fill` returns the lock of what it made, which keeps others from taking the folder for a left-over.
///
/// # Errors
/// What `fill` says, or `unwritable` of the system's reason.
pub fn make_data_dir<T, E>(
    to: &Path,
    purpose: ScratchPurpose,
    unwritable: impl Fn(io::Error) -> E,
    fill: impl FnOnce(&Path) -> Result<(T, Arc<DataDirLock>), E>,
) -> Result<T, E> {
    let parent = to.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(parent).map_err(&unwritable)?;
    let fresh = scratch_folder(parent, purpose).map_err(&unwritable)?;
    let (made, _held) = fill(fresh.path())?;
    fs::rename(fresh.path(), to)
        .and_then(|()| sync_parent(to))
        .map_err(&unwritable)?;
    // What it named has moved; dropping it would look for it once more.
    let _ = fresh.keep();
    Ok(made)
}

/// Whether nothing is there, or an empty folder.
#[must_use]
pub fn is_free(to: &Path) -> bool {
    match fs::read_dir(to) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Makes an empty folder in `parent`, which is deleted with its contents when it is dropped. Folders that killed processes left
/// there are deleted first.
///
/// # Errors
/// When it can't be made.
pub fn scratch_folder(parent: &Path, work: ScratchPurpose) -> io::Result<TempDir> {
    remove_leftovers(parent);
    tempfile::Builder::new()
        .prefix(PREFIXES[work as usize])
        .tempdir_in(parent)
}

/// Takes the lock that keeps other processes from deleting this folder as a left-over.
///
/// # Errors
/// When it can't be taken.
pub fn hold_folder(folder: &TempDir) -> Result<DataDirLock, LedgerError> {
    DataDirLock::acquire(&lock_of(folder.path()))
}

fn lock_of(folder: &Path) -> PathBuf {
    folder.join("lock")
}

/// Removes folders of killed commands, where it is certain that they are theirs and that they are dead.
fn remove_leftovers(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let is_ours = has_name(&entry.file_name(), &PREFIXES);
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            match remove_dead(&entry.path()) {
                Ok(true) => tracing::info!(
                    folder = %entry.path().display(),
                    "removed what a command that was killed had left"
                ),
                Ok(false) => {}
                Err(error) => tracing::warn!(
                    %error, folder = %entry.path().display(),
                    "what a command that was killed had left can't be removed"
                ),
            }
        }
    }
}

fn has_name(name: &OsStr, beginnings: &[&str]) -> bool {
    let name = name.to_string_lossy();
    beginnings
        .iter()
        .any(|beginning| name.starts_with(beginning))
}

/// Removes a folder whose maker has died: its lock bears a pid, which is written under the lock, and can be taken. A folder
/// that holds anything else than what is made in them stays.
fn remove_dead(folder: &Path) -> io::Result<bool> {
    let lock = lock_of(folder);
    if fs::symlink_metadata(&lock).map_or(true, |found| !found.is_file() || found.len() == 0) {
        return Ok(false);
    }
    let Ok(_held) = DataDirLock::acquire(&lock) else {
        return Ok(false);
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_known = has_name(&entry.file_name(), &["ledger.", "export.jsonl", "lock"]);
        if !is_known || !entry.file_type()?.is_file() {
            return Ok(false);
        }
        files.push(entry.path());
    }
    // The lock last: until then the next one can go on with what is left.
    files.sort_by_key(|file| *file == lock);
    files.iter().try_for_each(fs::remove_file)?;
    fs::remove_dir(folder)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leftover(parent: &Path, name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder = parent.join(name);
        fs::create_dir(&folder).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
        folder
    }

    /// What dead processes left behind is removed, and nothing else is.
    #[test]
    fn leftovers_removed() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path();
        let whole: [(&str, &str); 3] =
            [("lock", "17\n"), ("ledger.db", "x"), ("ledger.db-wal", "")];
        let dead = [
            leftover(parent, ".tslp-import-a", &whole),
            leftover(parent, ".tslp-backup-b", &whole[..1]),
            leftover(
                parent,
                ".tslp-export-c",
                &[("lock", "17\n"), ("export.jsonl", "x")],
            ),
        ];
        let kept = [
            leftover(parent, ".tslp-import-no-lock", &whole[1..]),
            leftover(parent, ".tslp-import-no-pid", &[("lock", "")]),
            leftover(
                parent,
                ".tslp-import-more",
                &[("lock", "17\n"), ("thesis.tex", "x")],
            ),
            leftover(parent, ".tslp-other-d", &whole),
            leftover(parent, "import", &whole),
        ];
        let alive = leftover(parent, ".tslp-import-alive", &whole);
        let _held = DataDirLock::acquire(&alive.join("lock")).unwrap();
        let elsewhere = leftover(parent, "elsewhere", &whole);
        std::os::unix::fs::symlink(&elsewhere, parent.join(".tslp-import-link")).unwrap();
        drop(scratch_folder(parent, ScratchPurpose::Import).unwrap());
        for folder in dead {
            assert!(!folder.exists(), "{}", folder.display());
        }
        for folder in kept.iter().chain([&alive, &elsewhere]) {
            assert!(folder.exists(), "{}", folder.display());
        }
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 3);
    }

    /// A folder that is worked in stays.
    #[test]
    fn folder_in_use() {
        let parent = tempfile::tempdir().unwrap();
        let first = scratch_folder(parent.path(), ScratchPurpose::Backup).unwrap();
        let held = hold_folder(&first).unwrap();
        drop(scratch_folder(parent.path(), ScratchPurpose::Export).unwrap());
        assert!(first.path().exists());
        drop(held);
        let (path, _) = (
            first.keep(),
            scratch_folder(parent.path(), ScratchPurpose::Export).unwrap(),
        );
        assert!(!path.exists());
    }
}
