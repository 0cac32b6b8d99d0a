//! The folders of tracked files, and all above them up to the workspace: each is watched as long as it is there.
//!
//! A folder that comes, goes or moves shows in the one above it, which is watched, too. So a folder that is removed and
//! made again is found again, and one that is not there yet is found when it comes.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use notify::{ErrorKind, RecursiveMode, Watcher};

use super::coverage::{Counts, Coverage};

/// What to do about the system's limit.
const LIMIT: &str = "the system allows no more (raise fs.inotify.max_user_watches)";

/// How it stands with a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Watched,
    Absent,
    Refused,
}

/// The folders, by their path relative to the workspace; the empty one is the workspace.
pub(super) struct Folders<W> {
    root: PathBuf,
    watcher: W,
    known: BTreeMap<Box<str>, Standing>,
    coverage: Coverage,
    /// Why the last folder was refused.
    reason: Option<String>,
    is_full: bool,
}

impl<W: Watcher> Folders<W> {
    pub(super) fn new(root: &Path, watcher: W, coverage: Coverage) -> Self {
        Self {
            root: root.to_owned(),
            watcher,
            known: BTreeMap::new(),
            coverage,
            reason: None,
            is_full: false,
        }
    }

    /// Watches the folders and all above them.
    pub(super) fn follow(&mut self, folders: &[Box<str>]) {
        self.is_full = false;
        for folder in folders {
            for part in with_all_above(folder) {
                if !self.known.contains_key(part) {
                    let standing = self.watch(part);
                    self.known.insert(part.into(), standing);
                }
            }
        }
    }

    /// Whether this is one of them.
    pub(super) fn has(&self, folder: &str) -> bool {
        self.known.contains_key(folder)
    }

    /// Whether the workspace itself is gone: nothing above it is watched, so nothing tells when it comes back.
    pub(super) fn is_away(&self) -> bool {
        self.known.get("") == Some(&Standing::Absent)
    }

    /// Something happened to a folder: what bears its name and all beneath is watched anew, since it may be another one.
    pub(super) fn renew(&mut self, folder: &str) {
        self.is_full = false;
        for folder in self.beneath(folder) {
            if self.known.get(&folder) == Some(&Standing::Watched) {
                // Refused where the system has ended the watch by itself, as it does for what is removed.
                let _ = self.watcher.unwatch(&self.root.join(&*folder));
            }
            let standing = self.watch(&folder);
            self.known.insert(folder, standing);
        }
    }

    /// Counts, and warns if not every folder can be watched any more.
    pub(super) fn report(&self) {
        let standing = |wanted| self.known.values().filter(|is| **is == wanted).count();
        let refused = standing(Standing::Refused);
        let counts = if self.is_away() {
            Counts {
                watched: 0,
                refused: self.known.len(),
                reason: Some("the workspace isn't in its place".into()),
            }
        } else {
            Counts {
                watched: standing(Standing::Watched),
                refused,
                reason: self.reason.clone().filter(|_| refused > 0),
            }
        };
        if let Some(words) = self.coverage.set(counts) {
            tracing::warn!("{words}");
        }
    }

    /// Those above come first, so that what arrives beneath them meanwhile is heard.
    fn beneath(&self, folder: &str) -> Vec<Box<str>> {
        if folder.is_empty() {
            return self.known.keys().cloned().collect();
        }
        // The character after the slash ends the names that begin with it.
        let (first, end) = (format!("{folder}/"), format!("{folder}0"));
        let range = (
            Bound::Included(first.as_str()),
            Bound::Excluded(end.as_str()),
        );
        let itself = self.known.contains_key(folder).then(|| folder.into());
        let others = self.known.range::<str, _>(range);
        itself
            .into_iter()
            .chain(others.map(|(name, _)| name.clone()))
            .collect()
    }

    fn watch(&mut self, folder: &str) -> Standing {
        let path = self.root.join(folder);
        let is_within = path
            .canonicalize()
            .is_ok_and(|real| real.is_dir() && real.starts_with(&self.root));
        if !is_within {
            return Standing::Absent;
        }
        if self.is_full {
            return Standing::Refused;
        }
        let Err(error) = self.watcher.watch(&path, RecursiveMode::NonRecursive) else {
            return Standing::Watched;
        };
        match error.kind {
            ErrorKind::PathNotFound => return Standing::Absent,
            ErrorKind::MaxFilesWatch => {
                self.is_full = true;
                self.reason = Some(LIMIT.into());
            }
            kind => self.reason = Some(format!("{folder}: {}", notify::Error::new(kind))),
        }
        Standing::Refused
    }
}

/// `""`, `"a"`, `"a/b"` for `a/b`.
fn with_all_above(folder: &str) -> impl Iterator<Item = &str> {
    let ends = folder.match_indices('/').map(|(at, _)| at);
    let all = std::iter::once(0).chain(ends).chain([folder.len()]);
    let is_root = folder.is_empty();
    all.take(if is_root { 1 } else { usize::MAX })
        .map(|end| &folder[..end])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use notify::{Config, EventHandler, WatcherKind};

    use super::*;

    /// A system that watches so many folders and no more.
    struct Limited(usize);

    impl Watcher for Limited {
        fn new<F: EventHandler>(_: F, _: Config) -> notify::Result<Self> {
            Ok(Self(0))
        }

        fn watch(&mut self, _: &Path, _: RecursiveMode) -> notify::Result<()> {
            let left = self.0.checked_sub(1);
            self.0 = left.ok_or_else(|| notify::Error::new(ErrorKind::MaxFilesWatch))?;
            Ok(())
        }

        fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
            self.0 += 1;
            Ok(())
        }

        fn kind() -> WatcherKind {
            WatcherKind::NullWatcher
        }
    }

    fn folders(limit: usize, names: &[&str]) -> (tempfile::TempDir, Folders<Limited>, Coverage) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in names {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let coverage = Coverage::default();
        let mut folders = Folders::new(&root, Limited(limit), coverage.clone());
        let names: Vec<Box<str>> = names.iter().map(|name| (*name).into()).collect();
        folders.follow(&names);
        folders.report();
        (dir, folders, coverage)
    }

    #[test]
    fn each_folder_and_all_above_it_takes_one_watch() {
        let (_dir, _folders, coverage) = folders(6, &["a/b", "a/c", "d"]);
        assert_eq!(
            coverage.counts().words(),
            Ok("5 folders are watched".into())
        );
        let (_dir, _folders, coverage) = folders(1, &[""]);
        assert_eq!(
            coverage.counts().words(),
            Ok("1 folders are watched".into())
        );
    }

    #[test]
    fn at_the_systems_limit_it_says_how_much_is_missing_and_what_to_do() {
        let (_dir, mut folders, coverage) = folders(4, &["a/b", "a/c", "d"]);
        assert_eq!(
            coverage.counts().words().unwrap_err(),
            "1 of 5 folders aren't watched: the system allows no more (raise fs.inotify.max_user_watches); files are \
             checked before each prompt all the same"
        );
        fs::remove_dir(folders.root.join("a/b")).unwrap();
        folders.renew("");
        folders.report();
        assert!(coverage.counts().words().is_ok());
    }

    #[test]
    fn what_lies_outside_is_not_watched() {
        let (dir, mut folders, coverage) = folders(9, &["a"]);
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("out")).unwrap();
        folders.follow(&["out".into()]);
        folders.report();
        assert_eq!(coverage.counts().watched, 2);
    }

    #[test]
    fn a_workspace_that_moved_away_is_said_and_watched_again_when_it_is_back() {
        let (dir, mut folders, coverage) = folders(9, &["a"]);
        let (root, away) = (folders.root.clone(), dir.path().with_extension("away"));
        fs::rename(&root, &away).unwrap();
        folders.renew("");
        folders.report();
        assert!(folders.is_away());
        assert_eq!(
            coverage.counts().words().unwrap_err(),
            "2 of 2 folders aren't watched: the workspace isn't in its place; files are checked before each prompt all the \
             same"
        );
        fs::rename(&away, &root).unwrap();
        folders.renew("");
        folders.report();
        assert!(!folders.is_away());
        assert_eq!(coverage.counts().watched, 2);
    }

    #[test]
    fn names_that_begin_alike_are_not_beneath() {
        let (_dir, folders, _) = folders(20, &["a", "a-b", "a/x", "a0", "a/y/z"]);
        let found = folders.beneath("a");
        let found: Vec<&str> = found.iter().map(AsRef::as_ref).collect();
        assert_eq!(found, ["a", "a/x", "a/y", "a/y/z"]);
    }
}
