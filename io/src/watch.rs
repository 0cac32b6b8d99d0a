//! File events (`etv.watch`): files that changed between prompts are looked at soon, so that STALE shows before the next
//! prompt comes.
//!
//! Events only make looks earlier. The look in front of every prompt stays as it is, so a lost event, a full queue or a
//! folder that can't be watched changes nothing but the moment. Only the folders of tracked files are watched.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, never, select};
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tslp_core::path::RelPath;

use crate::target;

/// Events, and files to follow, that may wait; what doesn't fit is dropped.
const QUEUE: usize = 1024;

/// Changed files that may wait for the engine; more are dropped.
const CHANGED_MAX: usize = 1024;

/// Folders watched at one time: each takes kernel memory, and other programs want watches, too.
const FOLDERS_MAX: usize = 4096;

/// An editor writes a file in several steps. They are waited for until none comes for so long, but no longer than
/// [`BURST_MAX`].
const QUIET: Duration = Duration::from_millis(50);
const BURST_MAX: Duration = Duration::from_millis(500);

/// The engine's ends.
pub struct Watch {
    /// Where it says which files are tracked.
    follow: Option<Sender<RelPath>>,
    /// Where it hears which files changed.
    pub changed: Receiver<Vec<RelPath>>,
}

impl Watch {
    /// No watch: nothing is ever heard.
    #[must_use]
    pub fn off() -> Self {
        Self {
            follow: None,
            changed: never(),
        }
    }

    /// Watches beneath `root`, an absolute path without symbolic links, on a thread of its own.
    ///
    /// # Errors
    /// If the system gives no thread, or no file events.
    pub fn start(root: &Path) -> io::Result<Self> {
        let (to_watch, events) = bounded(QUEUE);
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if let Ok(event) = event
                && is_change(event.kind)
            {
                for path in event.paths {
                    // Dropped if full: the next prompt's look finds it.
                    let _ = to_watch.try_send(path);
                }
            }
        })
        .map_err(io::Error::other)?;
        let (follow, followed) = bounded(QUEUE);
        let (to_engine, changed) = bounded(1);
        let mut folders = Folders {
            root: root.to_owned(),
            watcher,
            watched: BTreeSet::new(),
            is_incomplete: false,
        };
        thread::Builder::new()
            .name("watch".into())
            .spawn(move || run(&mut folders, &followed, &events, &to_engine))?;
        Ok(Self {
            follow: Some(follow),
            changed,
        })
    }

    /// A file is tracked from now on.
    pub fn follow(&self, path: &RelPath) {
        if let Some(follow) = &self.follow {
            // Dropped if full: the next prompt's look comes all the same.
            let _ = follow.try_send(path.clone());
        }
    }
}

/// Reading a file is no change of it.
const fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

/// The folders of tracked files.
struct Folders {
    root: PathBuf,
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
    is_incomplete: bool,
}

impl Folders {
    fn follow(&mut self, path: &RelPath) {
        let file = self.root.join(path.as_str());
        let Some(folder) = file.parent().map(Path::to_owned) else {
            return;
        };
        if self.watched.contains(&folder) {
            return;
        }
        let watched = if self.watched.len() < FOLDERS_MAX {
            self.watcher
                .watch(&folder, RecursiveMode::NonRecursive)
                .map_err(|error| error.to_string())
        } else {
            Err(format!("{FOLDERS_MAX} folders are watched already"))
        };
        match watched {
            Ok(()) => {
                self.watched.insert(folder);
            }
            // Said once: there may be thousands.
            Err(reason) if !self.is_incomplete => {
                self.is_incomplete = true;
                tracing::warn!(folder = %folder.display(), %reason, "not every folder can be watched; files are checked before each prompt all the same");
            }
            Err(_) => {}
        }
    }

    /// The file that an event is about. A folder that is gone isn't watched any more.
    fn changed(&mut self, path: &Path) -> Option<RelPath> {
        if self.watched.contains(path) && !path.is_dir() {
            self.watched.remove(path);
        }
        target::rel_path(path.strip_prefix(&self.root).ok()?)
    }
}

fn run(
    folders: &mut Folders,
    followed: &Receiver<RelPath>,
    events: &Receiver<PathBuf>,
    to_engine: &Sender<Vec<RelPath>>,
) {
    let mut waiting: BTreeSet<RelPath> = BTreeSet::new();
    let mut since = Instant::now();
    loop {
        let quiet = if waiting.is_empty() {
            never()
        } else {
            crossbeam_channel::after(QUIET)
        };
        select! {
            recv(followed) -> path => match path {
                Ok(path) => folders.follow(&path),
                // The engine is gone.
                Err(_) => return,
            },
            recv(events) -> path => {
                let Ok(path) = path else { return };
                if waiting.is_empty() {
                    since = Instant::now();
                }
                let changed = folders.changed(&path);
                if waiting.len() < CHANGED_MAX {
                    waiting.extend(changed);
                }
                if since.elapsed() < BURST_MAX {
                    continue;
                }
            },
            recv(quiet) -> _ => {},
        }
        if !waiting.is_empty() && (since.elapsed() >= QUIET) {
            waiting = told(waiting, to_engine);
        }
    }
}

/// Tells the engine. While it hasn't taken the last message, what changed stays waiting.
fn told(waiting: BTreeSet<RelPath>, to_engine: &Sender<Vec<RelPath>>) -> BTreeSet<RelPath> {
    match to_engine.try_send(waiting.into_iter().collect()) {
        Err(TrySendError::Full(unsent)) => unsent.into_iter().collect(),
        Ok(()) | Err(TrySendError::Disconnected(_)) => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Bound on every wait; only a failing test reaches it.
    const PATIENCE: Duration = Duration::from_secs(30);

    fn watching() -> (tempfile::TempDir, PathBuf, Watch) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join("src")).unwrap();
        fs::write(root.join("src/a.c"), "").unwrap();
        let watch = Watch::start(&root).unwrap();
        watch.follow(&RelPath::from_normalised("src/a.c"));
        (dir, root, watch)
    }

    /// Changes the file until it is told: following a folder takes a moment.
    fn told(root: &Path, watch: &Watch, mut change: impl FnMut(&Path)) -> Vec<RelPath> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            change(&root.join("src/a.c"));
            if let Ok(changed) = watch.changed.recv_timeout(Duration::from_millis(200)) {
                return changed;
            }
            assert!(Instant::now() < deadline, "nothing was told");
        }
    }

    #[test]
    fn a_change_of_any_kind_is_told_by_the_files_name() {
        let expected = [RelPath::from_normalised("src/a.c")];
        let (_dir, root, watch) = watching();
        assert_eq!(
            told(&root, &watch, |file| fs::write(file, "x").unwrap()),
            expected
        );
        let renamed = told(&root, &watch, |file| {
            fs::write(root.join("new"), "y").unwrap();
            fs::rename(root.join("new"), file).unwrap();
        });
        assert_eq!(renamed, expected);
    }

    #[test]
    fn reading_is_no_change() {
        assert!(!is_change(EventKind::Access(AccessKind::Read)));
        assert!(!is_change(EventKind::Access(AccessKind::Close(
            AccessMode::Read
        ))));
        assert!(is_change(EventKind::Modify(notify::event::ModifyKind::Any)));
        assert!(is_change(EventKind::Other));
    }

    #[test]
    fn what_the_engine_has_not_taken_yet_stays_waiting() {
        let (to_engine, from_watch) = bounded(1);
        let paths = |names: &[&str]| {
            names
                .iter()
                .map(|name| RelPath::from_normalised(name))
                .collect()
        };
        assert!(super::told(paths(&["a.c"]), &to_engine).is_empty());
        assert_eq!(super::told(paths(&["b.c"]), &to_engine), paths(&["b.c"]));
        assert_eq!(
            from_watch.recv().unwrap(),
            [RelPath::from_normalised("a.c")]
        );
    }

    #[test]
    fn it_ends_with_the_engine() {
        let (_dir, _root, watch) = watching();
        let Watch { follow, changed } = watch;
        drop(follow);
        assert!(changed.recv_timeout(PATIENCE).is_err());
        assert_eq!(
            changed.try_recv(),
            Err(crossbeam_channel::TryRecvError::Disconnected)
        );
    }
}
