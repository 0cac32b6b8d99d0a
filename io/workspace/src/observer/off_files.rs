//! The files that the user turned off, as disk holds them: by what is in them they are recognised where no path goes with them. What
//! other files have as well doesn't tell.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ignore::{DirEntry, WalkBuilder};
use tslp_core::event::PlaceObserved;
use tslp_core::extract::Grammars;
use tslp_core::path::RelPath;
use tslp_core::scope::{self, OffRules};
use tslp_replay::pending::OffFile;

use super::place;

/// Most files that are read, and the longest one; what is beyond is recognised by its path alone.
const FILES_MAX: usize = 2000;
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Most bytes that are read in all.
const BYTES_MAX: u64 = 8 << 20;

/// The longest one of the others, and what is read of them for one prompt.
const OTHER_BYTES_MAX: u64 = 256 << 10;
const OTHERS_BYTES_MAX: u64 = 4 << 20;

/// Most entries of one walk: a prompt waits for it.
const WALKED_MAX: usize = 10_000;

/// A file's length, and when it was written.
type FileVersion = (u64, Option<SystemTime>);

/// What was read for the rules in force.
#[derive(Default)]
pub(super) struct OffFiles {
    rules: OffRules,
    seen: HashMap<RelPath, FileVersion>,
    bytes: u64,
    /// The names of the files that were read, by device and inode.
    inodes: HashMap<(u64, u64), RelPath>,
    /// The files that aren't off and weren't read yet.
    others: Vec<PathBuf>,
}

impl OffFiles {
    /// The files whose text is new since the last look. All folders are looked through where the rules are other ones; from then on
    /// those that a rule names, and the files that are known. The other names of files are those of the first look.
    pub(super) fn look(
        &mut self,
        root: &Path,
        grammars: &dyn Grammars,
        rules: &OffRules,
    ) -> (Vec<OffFile>, Vec<PlaceObserved>) {
        let is_first = self.rules != *rules;
        if is_first {
            *self = Self {
                rules: rules.clone(),
                ..Self::default()
            };
        }
        let mut found = Vec::new();
        for pattern in rules.patterns() {
            let folder = scope::folder_of(pattern);
            if folder.is_empty() && !is_first {
                continue;
            }
            // A name alone is a file, or a folder with all in it.
            for file in files_below(&root.join(folder), false) {
                self.read(root, &file, grammars, &mut found);
            }
        }
        let known: Vec<RelPath> = self.seen.keys().cloned().collect();
        for path in known {
            self.read(root, &root.join(path.as_str()), grammars, &mut found);
        }
        if is_first && !found.is_empty() {
            self.others = files_below(root, true);
        }
        self.read_others(root, &mut found);
        let mut aliases = Vec::new();
        if is_first {
            let entries = entries_below(root, false).map(DirEntry::into_path);
            aliases = place::aliases_below(root, entries, |name| is_off_itself(rules, name));
        }
        (found, aliases)
    }

    /// The file that is off and has this device and inode.
    pub(super) fn twin(&self, inode: (u64, u64)) -> Option<RelPath> {
        self.inodes.get(&inode).cloned()
    }

    /// The next ones of the files that aren't off.
    fn read_others(&mut self, root: &Path, found: &mut Vec<OffFile>) {
        let mut bytes = 0;
        while bytes < OTHERS_BYTES_MAX
            && let Some(file) = self.others.pop()
        {
            if let Some((path, about)) = self.about(root, &file, false)
                && about.len() <= OTHER_BYTES_MAX
                && let Ok(text) = fs::read_to_string(&file)
            {
                bytes += about.len();
                let is_code = false;
                found.push(OffFile {
                    path,
                    text,
                    is_code,
                });
            }
        }
    }

    fn read(
        &mut self,
        root: &Path,
        file: &Path,
        grammars: &dyn Grammars,
        found: &mut Vec<OffFile>,
    ) {
        let Some((path, about)) = self.about(root, file, true) else {
            return;
        };
        let version = (about.len(), about.modified().ok());
        let is_known = self.seen.get(&path) == Some(&version);
        let is_over = about.len() > FILE_BYTES_MAX
            || self.bytes + about.len() > BYTES_MAX
            || self.seen.len() >= FILES_MAX;
        if !is_known
            && !is_over
            && let Ok(text) = fs::read_to_string(file)
        {
            self.bytes += about.len();
            self.seen.insert(path.clone(), version);
            if is_off_itself(&self.rules, path.as_str()) {
                let inode = (about.dev(), about.ino());
                self.inodes.entry(inode).or_insert_with(|| path.clone());
            }
            let is_code = grammars.language_of_path(&path).is_some();
            found.push(OffFile {
                path,
                text,
                is_code,
            });
        }
    }

    /// A file that is off, or isn't. One that can't be read can't be shown either.
    fn about(&self, root: &Path, file: &Path, is_off: bool) -> Option<(RelPath, Metadata)> {
        let path = file.strip_prefix(root).ok()?.to_str()?;
        let about = fs::symlink_metadata(file).ok()?;
        let is_meant = about.is_file() && self.rules.is_off(path) == is_off;
        is_meant.then(|| (RelPath::from_normalised(path), about))
    }
}

/// Whether a rule means this name of a file, and not just another one.
fn is_off_itself(rules: &OffRules, path: &str) -> bool {
    let pattern = rules.pattern_for(path);
    pattern.is_some_and(|pattern| scope::is_meant(pattern, path))
}

/// The files below a folder, the first ones; those that version control ignores as well, or not.
fn files_below(folder: &Path, leaves_ignored: bool) -> Vec<PathBuf> {
    let entries = entries_below(folder, leaves_ignored);
    let files = entries.filter(|entry| entry.file_type().is_some_and(|it| it.is_file()));
    files.map(DirEntry::into_path).collect()
}

fn entries_below(folder: &Path, leaves_ignored: bool) -> impl Iterator<Item = DirEntry> {
    let walk = WalkBuilder::new(folder)
        .standard_filters(leaves_ignored)
        .hidden(false)
        .follow_links(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    walk.take(WALKED_MAX).flatten()
}
