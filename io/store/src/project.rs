//! Which project a ledger is of: by its root folder as the system knows it, else by the files that it tracks. A path alone doesn't tell:
//! projects are moved, and several containers with one data volume have theirs at one path.

use std::fs;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use tslp_core::slice;
use tslp_projections::disk::DiskRow;

use crate::data_dir::{self, DataDirError};
use crate::ledger::{DataFiles, LedgerError, LedgerReader, OpenOptions, ReaderFactory};

/// The file of a data directory that identifies its workspace's root.
const ROOT_FILE: &str = "root";

/// Tracked files that are looked at.
const FILES_COMPARED_MAX: usize = 64;

/// The data directory of a workspace: the one that is given, else that of its path, or the same with a number where another project's is.
///
/// # Errors
/// As [`data_dir::choose_data_dir`], and if another project's ledger is in the one that is given.
pub fn data_dir_of(
    workspace: &Path,
    given: Option<&Path>,
    user_data: Option<&Path>,
) -> Result<PathBuf, DataDirError> {
    let first = data_dir::choose_data_dir(workspace, given, user_data)?;
    let names_it =
        || reader_of(&first).is_ok_and(|it| it.workspace().is_ok_and(|it| it == workspace));
    // One that names another workspace is refused where it is opened.
    if is_of(&first, workspace) || given.is_some() && !names_it() {
        return Ok(first);
    }
    if given.is_some() {
        return Err(DataDirError::OtherProject {
            path: first,
            workspace: workspace.to_owned(),
        });
    }
    let mut numbered = (2..).map(|number| PathBuf::from(format!("{}-{number}", first.display())));
    let own = numbered.find(|place| is_of(place, workspace));
    Ok(own.expect("the numbers don't end"))
}

/// Creates the data directory of a workspace, and notes whose it is.
///
/// # Errors
/// If it can't be written to.
pub fn prepare(path: &Path, workspace: &Path) -> Result<(), DataDirError> {
    data_dir::prepare(path)?;
    let (file, identity) = (path.join(ROOT_FILE), identity(workspace));
    let noted = fs::read_to_string(&file).is_ok_and(|noted| noted == identity);
    // A full disk is found out where there is more to write.
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let note = || options.open(&file)?.write_all(identity.as_bytes());
    if !noted && let Err(error) = note() {
        tracing::debug!(%error, "whose data directory it is can't be noted");
    }
    Ok(())
}

/// The data directory of a ledger that fits a workspace without one, and the workspace that it names: of the same folder when it was
/// elsewhere, of the same files at a place that is gone, or of another folder that was at its path.
#[must_use]
pub fn former_ledger(own: &Path, workspace: &Path) -> Option<(PathBuf, PathBuf)> {
    let neighbours = fs::read_dir(own.parent()?).ok()?;
    let neighbours = neighbours.filter_map(|entry| Some(entry.ok()?.path()));
    let named = neighbours.filter(|it| it != own).filter_map(|data_dir| {
        let named = reader_of(&data_dir).and_then(|reader| reader.workspace());
        Some((data_dir, named.ok()?))
    });
    let fits = |(data_dir, named): &(PathBuf, PathBuf)| {
        named == workspace
            || root_of(data_dir).is_some_and(|root| root == identity(workspace))
            || !named.exists() && has_files_of(data_dir, workspace)
    };
    // One that was taken over stays, and is older.
    let used_at = |data_dir: &Path| DataFiles::of(data_dir).anchor.metadata()?.modified();
    named
        .filter(fits)
        .max_by_key(|(data_dir, _)| used_at(data_dir).ok())
}

fn reader_of(data_dir: &Path) -> Result<LedgerReader, LedgerError> {
    ReaderFactory::new(&DataFiles::of(data_dir), &OpenOptions::default()).open()
}

/// Whether a data directory is a workspace's, or nobody's yet.
fn is_of(data_dir: &Path, workspace: &Path) -> bool {
    root_of(data_dir)
        .is_none_or(|root| root == identity(workspace) || has_files_of(data_dir, workspace))
}

fn root_of(data_dir: &Path) -> Option<String> {
    let has_ledger = DataFiles::of(data_dir).database.exists();
    fs::read_to_string(data_dir.join(ROOT_FILE))
        .ok()
        .filter(|_| has_ledger)
}

/// The number and the birth of a folder, which keeps both when it is moved or mounted elsewhere; devices are numbered anew at each boot.
fn identity(folder: &Path) -> String {
    let known = || -> io::Result<(u64, Option<u128>)> {
        let known = fs::metadata(folder)?;
        let born = known
            .created()
            .ok()
            .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Ok((known.ino(), born.map(|at| at.as_nanos())))
    };
    known().map_or_else(
        |error| error.to_string(),
        |(number, born)| format!("{number} {born:?}\n"),
    )
}

/// Whether a folder has at least half of the files that a ledger saw last, with the same text. A ledger that can't be read is taken
/// for its own: whatever opens it says why.
fn has_files_of(data_dir: &Path, workspace: &Path) -> bool {
    let (mut same, mut all) = (0, 0);
    let compared = reader_of(data_dir).and_then(|reader| {
        reader.visit_rows::<DiskRow>(&mut |row| {
            if let Some(whole) = row.whole() {
                let text = fs::read(workspace.join(row.path.as_str()));
                same += usize::from(text.is_ok_and(|text| slice::hash_of_whole(&text) == whole));
                all += 1;
            }
            match all < FILES_COMPARED_MAX {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })
    });
    compared.is_err() || (all > 0 && 2 * same >= all)
}
