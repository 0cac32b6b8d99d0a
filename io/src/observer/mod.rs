//! The disk observer: tells, before a prompt goes out, what the workspace's files hold (spec §15).
//!
//! It reads and never writes. One thread looks at the disk; whoever asks waits no longer than the configured time. A
//! thread that a dead file system holds is left to itself and its late answers are dropped; the next request gets a
//! fresh thread, as long as not too many are stuck.

mod beneath;
mod cache;
mod clock;
mod examine;
mod file_reader;
mod files;
mod fingerprint;
mod identity;
mod touched;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use tslp_core::decide::direct::FileText;
use tslp_core::event::{DiskFinding, ReadFailure};
use tslp_core::extract::Grammars;
use tslp_core::path::RelPath;
use tslp_replay::pending::DiskCheck;

use crate::config::settings::EtvConfig;
use beneath::Root;
use examine::Shared;

pub use clock::{SystemClock, WallClock};
pub use examine::Counters;
pub use file_reader::{FileReader, Hashes};
pub use files::{Direct, Files, OpenFile};
pub use identity::{Identity, Times};

/// Threads that may be stuck in a file system at one time; with more, every check counts as timed out at once.
const STUCK_THREADS_MAX: usize = 4;

/// Tells what the workspace's files hold.
pub trait Look {
    /// Looks at every path; the answers come in the order of the checks.
    fn check(&mut self, checks: Vec<DiskCheck>) -> Vec<DiskFinding>;

    /// Reads a file's text, which the user accepts as it stands. `None` if there is no such file.
    fn read(&mut self, path: &RelPath) -> FileText;

    /// The text of a file that somebody names; `None` if it may not be taken without being asked for.
    fn touch(&mut self, path: &RelPath) -> Option<String>;
}

/// Looks at the workspace's files. One caller at a time.
pub struct Observer {
    root: PathBuf,
    timeout: Duration,
    shared: Arc<Shared>,
    threads: Arc<AtomicUsize>,
    worker: Option<Sender<Request>>,
}

/// What the thread is asked for, and where the answers go.
enum Request {
    /// Look at these paths.
    Check {
        checks: Arc<[DiskCheck]>,
        answers: Arc<Answers>,
        done: Sender<()>,
    },
    /// Read this file's text.
    Read {
        path: RelPath,
        answer: Sender<FileText>,
    },
    /// Read this file's text, if it may be taken.
    Touch {
        path: RelPath,
        answer: Sender<Option<String>>,
    },
}

/// One answer for each check, as far as they have come.
type Answers = Mutex<Vec<Option<DiskFinding>>>;

impl Observer {
    /// An observer of the files beneath `root`, an absolute path. Touches no disk yet.
    #[must_use]
    pub fn new(
        root: &Path,
        config: EtvConfig,
        grammars: Arc<dyn Grammars + Send + Sync>,
        clock: Arc<dyn WallClock>,
    ) -> Self {
        Self {
            root: root.to_owned(),
            timeout: config.timeout,
            shared: Arc::new(Shared::new(config, grammars, clock)),
            threads: Arc::default(),
            worker: None,
        }
    }

    /// What the observer has done since it started.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.shared.counters
    }

    /// Threads that a file system holds at this moment.
    #[must_use]
    pub fn stuck_threads(&self) -> usize {
        let threads = self.threads.load(Ordering::Acquire);
        threads.saturating_sub(usize::from(self.worker.is_some()))
    }

    /// Has the thread answer the request within the configured time.
    fn answered<T>(&mut self, request: Request, answer: &Receiver<T>) -> Result<T, ReadFailure> {
        let worker = self.hand_over(request).ok_or(ReadFailure::TimedOut)?;
        self.wait(worker, answer)
    }

    /// Gives the request to the thread, or to a fresh one; `None` if too many are stuck or none can be started.
    fn hand_over(&mut self, request: Request) -> Option<Sender<Request>> {
        let request = match self.worker.take() {
            None => request,
            Some(worker) => match worker.send(request) {
                Ok(()) => return Some(worker),
                Err(unsent) => unsent.into_inner(),
            },
        };
        if self.stuck_threads() >= STUCK_THREADS_MAX {
            return None;
        }
        let worker = self.start_worker()?;
        worker.send(request).ok()?;
        Some(worker)
    }

    /// Waits for the answer; keeps the thread if it gave one.
    fn wait<T>(&mut self, worker: Sender<Request>, answer: &Receiver<T>) -> Result<T, ReadFailure> {
        match answer.recv_timeout(self.timeout) {
            Ok(answer) => {
                self.worker = Some(worker);
                Ok(answer)
            }
            Err(RecvTimeoutError::Disconnected) => Err(ReadFailure::Failed),
            Err(RecvTimeoutError::Timeout) => {
                tracing::warn!(
                    timeout_ms = self.timeout.as_millis(),
                    stuck_threads = self.stuck_threads(),
                    "the workspace's file system didn't answer in time"
                );
                Err(ReadFailure::TimedOut)
            }
        }
    }

    fn start_worker(&self) -> Option<Sender<Request>> {
        let (sender, requests) = bounded(1);
        let root = self.root.clone();
        let shared = Arc::clone(&self.shared);
        let alive = Alive::new(&self.threads);
        let started = thread::Builder::new()
            .name("tslp-observer".into())
            .spawn(move || {
                let _alive = alive;
                work(&root, &shared, &requests);
            });
        match started {
            Ok(_) => Some(sender),
            Err(error) => {
                tracing::error!(%error, "no thread could be started to look at the workspace's files");
                None
            }
        }
    }
}

impl Look for Observer {
    /// Looks at every path; the answers come in the order of the checks, after the configured time at the latest.
    /// What has no answer by then counts as unreadable.
    fn check(&mut self, checks: Vec<DiskCheck>) -> Vec<DiskFinding> {
        if checks.is_empty() {
            return Vec::new();
        }
        let checks: Arc<[DiskCheck]> = checks.into();
        let answers: Arc<Answers> = Arc::new(Mutex::new(vec![None; checks.len()]));
        let (done, finished) = bounded(1);
        let request = Request::Check {
            checks,
            answers: Arc::clone(&answers),
            done,
        };
        // What is still unanswered is unreadable for this reason.
        let missing = self
            .answered(request, &finished)
            .err()
            .unwrap_or(ReadFailure::Failed);
        let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *answers)
            .into_iter()
            .map(|answer| answer.unwrap_or_else(|| self.shared.unreadable(missing)))
            .collect()
    }

    /// Reads a file's text, which the user accepts as it stands. `None` if there is no such file.
    fn read(&mut self, path: &RelPath) -> FileText {
        let (answer, answered) = bounded(1);
        let request = Request::Read {
            path: path.clone(),
            answer,
        };
        self.answered(request, &answered)
            .unwrap_or_else(|failure| Some(Err(failure)))
    }

    fn touch(&mut self, path: &RelPath) -> Option<String> {
        let (answer, answered) = bounded(1);
        let request = Request::Touch {
            path: path.clone(),
            answer,
        };
        self.answered(request, &answered).ok().flatten()
    }
}

/// The observer thread: answers requests until nobody can send one any more.
fn work(path: &Path, shared: &Shared, requests: &Receiver<Request>) {
    let mut held: Option<Root> = None;
    for request in requests {
        let root = reached(&mut held, path);
        let (checks, answers, done) = match request {
            Request::Check {
                checks,
                answers,
                done,
            } => (checks, answers, done),
            Request::Read { path, answer } => {
                let text = match root {
                    Ok(root) => shared.text(root, &path).transpose(),
                    Err(failure) => Some(Err(failure)),
                };
                // Nobody listens any more if it came too late.
                let _ = answer.send(text);
                continue;
            }
            Request::Touch { path, answer } => {
                let text = root.ok().and_then(|root| shared.touched(root, &path));
                // Nobody listens any more if it came too late.
                let _ = answer.send(text);
                continue;
            }
        };
        for (index, check) in checks.iter().enumerate() {
            let finding = match root {
                Ok(root) => shared.examine(root, check),
                Err(failure) => shared.unreadable(failure),
            };
            let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            // The list is gone when the answer comes too late.
            if let Some(answer) = answers.get_mut(index) {
                *answer = Some(finding);
            }
        }
        // Nobody listens any more if it came too late.
        let _ = done.send(());
    }
}

/// The root folder as its path leads to it now.
fn reached<'a>(held: &'a mut Option<Root>, path: &Path) -> Result<&'a Root, ReadFailure> {
    match held {
        Some(root) => root.refresh()?,
        None => *held = Some(Root::open(path)?),
    }
    held.as_ref().ok_or(ReadFailure::Failed)
}

/// Counts a thread for as long as it lives, also when it panics.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(threads: &Arc<AtomicUsize>) -> Self {
        threads.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(threads))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
