//! File events (`etv.watch`): files that changed between prompts are looked at soon, so that STALE shows before the next
//! prompt comes.
//!
//! Events only make looks earlier. The look in front of every prompt stays as it is, so a lost event or a folder that
//! can't be watched changes nothing but the moment. Only the folders of tracked files and those above them are watched.

pub mod coverage;
mod folders;
mod inbox;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError, after, bounded, never, select};
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, Watcher};
use tslp_core::path::RelPath;

use crate::target;
use coverage::Coverage;
use folders::Folders;
use inbox::{Inbox, folder_of};

/// Changed files, and folders, that may wait for the engine by name. With more files their folders stand for them, with
/// more folders the whole workspace.
const CHANGED_MAX: usize = 1024;

/// An editor writes a file in several steps. They are waited for until none comes for so long, but no longer than
/// [`BURST_MAX`].
const QUIET: Duration = Duration::from_millis(50);
const BURST_MAX: Duration = Duration::from_millis(500);

/// How often it is looked whether a workspace that is gone is back.
const AWAY: Duration = Duration::from_secs(1);

/// The engine's ends.
pub struct Watch {
    /// Where it says which files are tracked.
    follow: Option<Follow>,
    /// Where it hears what changed.
    pub changed: Receiver<Changed>,
    /// How much is watched.
    pub coverage: Coverage,
}

struct Follow {
    inbox: Arc<Inbox>,
    wake: Sender<()>,
}

/// What changed; any of it may be untracked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Files.
    pub files: BTreeSet<RelPath>,
    /// Folders, relative to the workspace: anything beneath them may have changed. The empty one is the workspace.
    pub folders: BTreeSet<String>,
}

impl Changed {
    /// Whether nothing did.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.folders.is_empty()
    }

    /// Whether this file lies beneath one of the folders.
    #[must_use]
    pub fn covers(&self, file: &RelPath) -> bool {
        let mut folder = folder_of(file.as_str());
        while !folder.is_empty() {
            if self.folders.contains(folder) {
                return true;
            }
            folder = folder_of(folder);
        }
        self.folders.contains("")
    }

    /// Less to hold, which means no less.
    fn bounded(mut self) -> Self {
        if self.files.len() > CHANGED_MAX {
            let files = std::mem::take(&mut self.files);
            self.folders
                .extend(files.iter().map(|file| folder_of(file.as_str()).to_owned()));
        }
        if self.folders.len() > CHANGED_MAX {
            self.folders = BTreeSet::from([String::new()]);
        }
        self
    }
}

impl Watch {
    /// No watch: nothing is ever heard.
    #[must_use]
    pub fn off() -> Self {
        Self {
            follow: None,
            changed: never(),
            coverage: Coverage::default(),
        }
    }

    /// Watches beneath `root`, an absolute path without symbolic links, on a thread of its own.
    ///
    /// # Errors
    /// If the system gives no thread, or no file events.
    pub fn start(root: &Path) -> io::Result<Self> {
        let inbox = Arc::new(Inbox::default());
        let (wake_by_events, heard) = bounded(1);
        let from_system = Arc::clone(&inbox);
        let watcher = notify::recommended_watcher(move |event| {
            hear(&from_system, event);
            // Full: the watch will wake anyway.
            let _ = wake_by_events.try_send(());
        })
        .map_err(io::Error::other)?;
        let (wake, followed) = bounded(1);
        let (to_engine, changed) = bounded(1);
        let coverage = Coverage::default();
        let folders = Folders::new(root, watcher, coverage.clone());
        let mut watching = Watching {
            root: root.to_owned(),
            folders,
            inbox: Arc::clone(&inbox),
            waiting: Changed::default(),
        };
        thread::Builder::new()
            .name("watch".into())
            .spawn(move || run(&mut watching, &followed, &heard, &to_engine))?;
        Ok(Self {
            follow: Some(Follow { inbox, wake }),
            changed,
            coverage,
        })
    }

    /// A file is tracked from now on.
    pub fn follow(&self, file: &RelPath) {
        if let Some(Follow { inbox, wake }) = &self.follow {
            inbox.follow(file);
            // Full: the watch will wake anyway.
            let _ = wake.try_send(());
        }
    }
}

/// Leaves an event for the watch.
fn hear(inbox: &Inbox, event: notify::Result<Event>) {
    match event {
        Ok(event) if event.need_rescan() => inbox.lose(),
        Ok(event) if is_change(event.kind) => {
            for path in event.paths {
                inbox.touch(path);
            }
        }
        Ok(_) => {}
        Err(error) => {
            tracing::debug!(%error, "file events were lost");
            inbox.lose();
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

/// What the thread holds.
struct Watching<W> {
    root: PathBuf,
    folders: Folders<W>,
    inbox: Arc<Inbox>,
    waiting: Changed,
}

impl<W: Watcher> Watching<W> {
    /// Watches some of the folders that wait for it. Whether there may be more.
    fn follow(&mut self) -> Course {
        let folders = self.inbox.take_folders();
        if folders.is_empty() {
            self.folders.report();
            return Course::Done;
        }
        self.folders.follow(&folders);
        Course::More
    }

    /// Watches everything anew if the workspace is back.
    fn look_for_the_workspace(&mut self) {
        if self.root.is_dir() {
            self.folders.renew("");
            self.folders.report();
            self.waiting.folders.insert(String::new());
        }
    }

    /// Takes what was heard: files by their names, and what happened to folders by theirs, once they are watched again.
    fn hear(&mut self) {
        let heard = self.inbox.take_heard();
        let mut renewed = BTreeSet::new();
        if heard.lost {
            renewed.insert(String::new());
        }
        for path in &heard.touched {
            let Ok(relative) = path.strip_prefix(&self.root) else {
                continue;
            };
            match relative.to_str() {
                Some(folder) if self.folders.has(folder) => {
                    renewed.insert(folder.to_owned());
                }
                _ => self.waiting.files.extend(target::rel_path(relative)),
            }
        }
        if !renewed.is_empty() {
            let all = Changed {
                files: BTreeSet::new(),
                folders: renewed,
            };
            // A folder that lies beneath another one of them is renewed with that.
            for folder in &all.folders {
                let is_covered = RelPath::parse(folder, "").is_ok_and(|path| all.covers(&path));
                if folder.is_empty() || !is_covered {
                    self.folders.renew(folder);
                }
            }
            self.folders.report();
            self.waiting.folders.extend(all.folders);
        }
        self.waiting = std::mem::take(&mut self.waiting).bounded();
    }
}

/// Whether there is more to do at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    More,
    Done,
}

fn run<W: Watcher>(
    watching: &mut Watching<W>,
    followed: &Receiver<()>,
    heard: &Receiver<()>,
    to_engine: &Sender<Changed>,
) {
    let mut since = Instant::now();
    let mut course = Course::Done;
    loop {
        let quiet = if watching.waiting.is_empty() {
            never()
        } else {
            after(QUIET)
        };
        let away = if watching.folders.is_away() {
            after(AWAY)
        } else {
            never()
        };
        let at_once = match course {
            Course::More => after(Duration::ZERO),
            Course::Done => never(),
        };
        select! {
            recv(followed) -> wake => match wake {
                Ok(()) => course = watching.follow(),
                // The engine is gone.
                Err(_) => return,
            },
            recv(at_once) -> _ => course = watching.follow(),
            recv(heard) -> wake => {
                if wake.is_err() {
                    return;
                }
                if watching.waiting.is_empty() {
                    since = Instant::now();
                }
                watching.hear();
                if since.elapsed() < BURST_MAX {
                    continue;
                }
            },
            recv(away) -> _ => watching.look_for_the_workspace(),
            recv(quiet) -> _ => {},
        }
        if !watching.waiting.is_empty() && since.elapsed() >= QUIET {
            let waiting = std::mem::take(&mut watching.waiting);
            watching.waiting = told(waiting, to_engine);
        }
    }
}

/// Tells the engine. While it hasn't taken the last message, what changed stays waiting.
fn told(waiting: Changed, to_engine: &Sender<Changed>) -> Changed {
    match to_engine.try_send(waiting) {
        Err(TrySendError::Full(unsent)) => unsent,
        Ok(()) | Err(TrySendError::Disconnected(_)) => Changed::default(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Bound on every wait; only a failing test reaches it.
    const PATIENCE: Duration = Duration::from_secs(30);

    struct Place {
        _dir: tempfile::TempDir,
        root: PathBuf,
        watch: Watch,
    }

    fn path(name: &str) -> RelPath {
        RelPath::from_normalised(name)
    }

    fn watching(files: &[&str]) -> Place {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let watch = Watch::start(&root).unwrap();
        let place = Place {
            _dir: dir,
            root,
            watch,
        };
        for file in files {
            place.write(file, "");
            place.watch.follow(&path(file));
        }
        place
    }

    impl Place {
        fn write(&self, file: &str, text: &str) {
            let file = self.root.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }

        /// Waits until so many folders are watched.
        fn covered(&self, folders: usize) {
            let deadline = Instant::now() + PATIENCE;
            while self.watch.coverage.counts().watched != folders {
                assert!(Instant::now() < deadline, "{:?}", self.watch.coverage);
                thread::yield_now();
            }
        }

        /// Waits until a change of the file is told, by its name or its folder's.
        #[track_caller]
        fn told(&self, file: &str) {
            let deadline = Instant::now() + PATIENCE;
            let file = path(file);
            while let Ok(changed) = self.watch.changed.recv_deadline(deadline) {
                if changed.files.contains(&file) || changed.covers(&file) {
                    return;
                }
            }
            panic!("no change of {file} was told");
        }

        /// Forgets what was told so far, up to a change of its own.
        fn settle(&self) {
            self.write("marker.c", "x");
            self.told("marker.c");
        }
    }

    #[test]
    fn a_change_of_any_kind_is_told_by_the_files_name() {
        let place = watching(&["src/a.c"]);
        place.covered(2);
        place.write("src/a.c", "x");
        place.told("src/a.c");
        place.settle();
        place.write("new", "y");
        fs::rename(place.root.join("new"), place.root.join("src/a.c")).unwrap();
        place.told("src/a.c");
    }

    #[test]
    fn thousands_of_folders_are_all_watched() {
        let files: Vec<String> = (0..3000).map(|n| format!("d{n}/a.c")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let place = watching(&files);
        place.covered(3001);
        for file in [files[0], files[1500], files[2999]] {
            place.write(file, "x");
            place.told(file);
        }
    }

    #[test]
    fn a_folder_that_moves_or_goes_is_told_and_found_again_when_it_is_back() {
        let place = watching(&["lib/src/a.c"]);
        place.covered(3);
        let (lib, away) = (place.root.join("lib"), place.root.join("away"));
        fs::rename(&lib, &away).unwrap();
        place.told("lib/src/a.c");
        place.covered(1);
        fs::rename(&away, &lib).unwrap();
        place.told("lib/src/a.c");
        place.covered(3);
        fs::remove_dir_all(&lib).unwrap();
        place.told("lib/src/a.c");
        place.covered(1);
        place.write("lib/src/a.c", "anew");
        place.told("lib/src/a.c");
        place.covered(3);
        place.settle();
        place.write("lib/src/a.c", "once more");
        place.told("lib/src/a.c");
    }

    #[test]
    fn a_workspace_that_moves_away_is_watched_again_when_it_is_back() {
        let place = watching(&["lib/a.c"]);
        place.covered(2);
        let away = place.root.with_extension("away");
        fs::rename(&place.root, &away).unwrap();
        place.told("lib/a.c");
        place.covered(0);
        fs::rename(&away, &place.root).unwrap();
        place.told("lib/a.c");
        place.covered(2);
        place.settle();
        place.write("lib/a.c", "once more");
        place.told("lib/a.c");
    }

    #[test]
    fn a_folder_that_is_not_there_yet_is_watched_when_it_comes() {
        let place = watching(&[]);
        place.watch.follow(&path("later/deep/a.c"));
        place.covered(1);
        place.write("later/deep/a.c", "x");
        place.told("later/deep/a.c");
        place.covered(3);
        place.settle();
        place.write("later/deep/a.c", "y");
        place.told("later/deep/a.c");
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
    fn events_that_the_system_lost_mean_that_anything_may_have_changed() {
        let place = watching(&["src/a.c"]);
        place.covered(2);
        let inbox = &place.watch.follow.as_ref().unwrap().inbox;
        let lost = Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan);
        hear(inbox, Ok(lost));
        // Any event wakes the watch.
        place.write("b.c", "");
        place.told("src/a.c");
    }

    #[test]
    fn too_many_names_are_held_as_their_folders_and_lose_nothing() {
        let changed = |files: usize, folders: usize| {
            let name = |n: usize| path(&format!("d{}/f{n}.c", n % folders));
            Changed {
                files: (0..files).map(name).collect(),
                folders: BTreeSet::new(),
            }
        };
        let few = changed(CHANGED_MAX, 3).bounded();
        assert_eq!(few.files.len(), CHANGED_MAX);
        let many = changed(CHANGED_MAX + 1, 3).bounded();
        assert_eq!((many.files.len(), many.folders.len()), (0, 3));
        assert!(many.covers(&path("d1/f4.c")) && !many.covers(&path("e/f.c")));
        let most = changed(3 * CHANGED_MAX, 2 * CHANGED_MAX).bounded();
        assert!(most.folders.len() == 1 && most.covers(&path("e/f.c")));
    }

    #[test]
    fn what_the_engine_has_not_taken_yet_stays_waiting() {
        let (to_engine, from_watch) = bounded(1);
        let changed = |name: &str| Changed {
            files: BTreeSet::from([path(name)]),
            folders: BTreeSet::new(),
        };
        assert!(super::told(changed("a.c"), &to_engine).is_empty());
        assert_eq!(super::told(changed("b.c"), &to_engine), changed("b.c"));
        assert_eq!(from_watch.recv().unwrap(), changed("a.c"));
    }

    #[test]
    fn it_ends_with_the_engine() {
        let place = watching(&["src/a.c"]);
        let Watch {
            follow, changed, ..
        } = place.watch;
        drop(follow);
        let deadline = Instant::now() + PATIENCE;
        while changed.recv_deadline(deadline).is_ok() {}
        assert_eq!(
            changed.try_recv(),
            Err(crossbeam_channel::TryRecvError::Disconnected)
        );
    }
}
