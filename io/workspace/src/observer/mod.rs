//! The disk observer: looks at the workspace's files before a prompt is sent (spec §15).
//!
//! It reads and never writes. One thread looks at the disk, and callers wait no longer than the configured time. A thread that
//! hangs in a dead file system is abandoned, and its late answers are dropped; the next request gets a fresh thread, unless
//! too many are stuck.

mod beneath;
mod cache;
mod clock;
mod etv_config;
mod examine;
mod file_reader;
mod files;
mod fingerprint;
mod identity;
mod off_files;
mod place;
mod touched;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use tslp_core::event::{DiskFinding, PlaceObserved, ReadFailure};
use tslp_core::extract::Grammars;
use tslp_core::path::RelPath;
use tslp_core::scope::OffRules;
use tslp_decide::scope::place::PlaceFinding;
use tslp_decide::user::direct::FileText;
use tslp_replay::pending::{DiskCheck, OffFile, TouchedText};

use beneath::WorkspaceRoot;
use examine::ObserverShared;
use off_files::OffFiles;

pub use clock::{SystemClock, WallClock};
pub use etv_config::EtvConfig;
pub use examine::ObserverCounters;
pub use file_reader::{ContentHashes, FileReader};
pub use files::{Files, OpenFile};
pub use identity::{ChangeTimes, Identity};

/// Threads that may be stuck in a file system at one time; with more, every check counts as timed out at once.
const STUCK_THREADS_MAX: usize = 4;

/// A way to look at the workspace's files.
pub trait WorkspaceObserver {
    /// Looks at every path; the answers come in the order of the checks.
    fn check(&mut self, checks: Vec<DiskCheck>) -> Vec<DiskFinding>;

    /// Reads the text of a file that the user accepts. `None` if there is no such file.
    fn read(&mut self, path: &RelPath) -> FileText;

    /// The text of a file that a prompt or a reply names; `None` if it may not be taken unasked.
    fn touch(&mut self, path: &RelPath) -> Option<TouchedText>;

    /// The files that are off by these rules, as far as their text is new; all of them, and their other names, where the rules are.
    fn off_files(&mut self, rules: &OffRules) -> (Vec<OffFile>, Vec<PlaceObserved>) {
        let _ = rules;
        (Vec::new(), Vec::new())
    }

    /// Finds where absolute paths lead, as far as that can be told.
    fn places(&mut self, asked: Vec<String>) -> Vec<PlaceFinding> {
        let _ = asked;
        Vec::new()
    }
}

/// Looks at the workspace's files. One caller at a time.
pub struct Observer {
    root: PathBuf,
    timeout: Duration,
    shared: Arc<ObserverShared>,
    threads: Arc<AtomicUsize>,
    worker: Option<Sender<ObserverRequest>>,
}

/// A request to the thread, with the channel for its answer.
enum ObserverRequest {
    /// Look at these paths.
    Check {
        checks: Arc<[DiskCheck]>,
        answers: Arc<PendingFindings>,
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
        answer: Sender<Option<TouchedText>>,
    },
    /// Read the files that are off.
    Off {
        rules: OffRules,
        answer: Sender<(Vec<OffFile>, Vec<PlaceObserved>)>,
    },
    /// Find where these paths lead.
    Places {
        asked: Vec<String>,
        answer: Sender<Vec<PlaceFinding>>,
    },
}

/// One entry for each check; `None` until its answer comes.
type PendingFindings = Mutex<Vec<Option<DiskFinding>>>;

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
            shared: Arc::new(ObserverShared::new(config, grammars, clock)),
            threads: Arc::default(),
            worker: None,
        }
    }

    /// Figures about the observer's work since it started.
    #[must_use]
    pub fn counters(&self) -> &ObserverCounters {
        &self.shared.counters
    }

    /// Threads that a file system holds at this moment.
    #[must_use]
    pub fn stuck_threads(&self) -> usize {
        let threads = self.threads.load(Ordering::Acquire);
        threads.saturating_sub(usize::from(self.worker.is_some()))
    }

    /// Sends a request to the thread and waits for its answer, at most the configured time.
    fn answer_in_time<T>(
        &mut self,
        request: ObserverRequest,
        answer: &Receiver<T>,
    ) -> Result<T, ReadFailure> {
        let worker = self.hand_over(request).ok_or(ReadFailure::TimedOut)?;
        self.wait_for_answer(worker, answer)
    }

    /// Gives the request to the thread, or to a fresh one; `None` if too many are stuck or none can be started.
    fn hand_over(&mut self, request: ObserverRequest) -> Option<Sender<ObserverRequest>> {
        let request = match self.worker.take() {
            None => request,
            Some(worker) => match worker.send(request) {
                Ok(()) => return Some(worker),
                Err(unsent) => unsent.into_inner(),
            },
        };
        // A thread in a dead network drive can't be ended; starting one for each prompt would pile them up.
        if self.stuck_threads() >= STUCK_THREADS_MAX {
            return None;
        }
        let worker = self.start_worker()?;
        worker.send(request).ok()?;
        Some(worker)
    }

    /// Waits for the answer; keeps the thread if it gave one.
    fn wait_for_answer<T>(
        &mut self,
        worker: Sender<ObserverRequest>,
        answer: &Receiver<T>,
    ) -> Result<T, ReadFailure> {
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

    fn start_worker(&self) -> Option<Sender<ObserverRequest>> {
        let (sender, requests) = bounded(1);
        let root = self.root.clone();
        let shared = Arc::clone(&self.shared);
        let alive = CountedThread::new(&self.threads);
        let started = thread::Builder::new()
            .name("tslp-observer".into())
            .spawn(move || {
                // Moved in here, so that a panic counts the thread down as well.
                let _alive = alive;
                answer_requests(&root, &shared, &requests);
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

impl WorkspaceObserver for Observer {
    /// Looks at every path; the answers come in the order of the checks, after the configured time at the latest.
    /// A check without an answer by then counts as unreadable.
    fn check(&mut self, checks: Vec<DiskCheck>) -> Vec<DiskFinding> {
        if checks.is_empty() {
            return Vec::new();
        }
        let checks: Arc<[DiskCheck]> = checks.into();
        let answers: Arc<PendingFindings> = Arc::new(Mutex::new(vec![None; checks.len()]));
        let (done, finished) = bounded(1);
        let request = ObserverRequest::Check {
            checks,
            answers: Arc::clone(&answers),
            done,
        };
        // All checks without an answer are unreadable for this reason.
        let missing = self
            .answer_in_time(request, &finished)
            .err()
            .unwrap_or(ReadFailure::Failed);
        let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken, so that a thread which is still looking finds no place for an answer that nobody waits for.
        std::mem::take(&mut *answers)
            .into_iter()
            .map(|answer| answer.unwrap_or_else(|| self.shared.count_unreadable(missing)))
            .collect()
    }

    /// Reads the text of a file that the user accepts. `None` if there is no such file.
    fn read(&mut self, path: &RelPath) -> FileText {
        let (answer, answered) = bounded(1);
        let request = ObserverRequest::Read {
            path: path.clone(),
            answer,
        };
        self.answer_in_time(request, &answered)
            .unwrap_or_else(|failure| Some(Err(failure)))
    }

    fn touch(&mut self, path: &RelPath) -> Option<TouchedText> {
        let (answer, answered) = bounded(1);
        let request = ObserverRequest::Touch {
            path: path.clone(),
            answer,
        };
        self.answer_in_time(request, &answered).ok().flatten()
    }

    fn off_files(&mut self, rules: &OffRules) -> (Vec<OffFile>, Vec<PlaceObserved>) {
        if rules.patterns().next().is_none() {
            return (Vec::new(), Vec::new());
        }
        let (answer, answered) = bounded(1);
        let request = ObserverRequest::Off {
            rules: rules.clone(),
            answer,
        };
        self.answer_in_time(request, &answered).unwrap_or_default()
    }

    fn places(&mut self, asked: Vec<String>) -> Vec<PlaceFinding> {
        let (answer, answered) = bounded(1);
        let request = ObserverRequest::Places { asked, answer };
        self.answer_in_time(request, &answered).unwrap_or_default()
    }
}

/// The observer thread: answers requests until nobody can send one any more.
fn answer_requests(path: &Path, shared: &ObserverShared, requests: &Receiver<ObserverRequest>) {
    let mut held: Option<WorkspaceRoot> = None;
    let mut off = OffFiles::default();
    for request in requests {
        let root = current_root(&mut held, path);
        let (checks, answers, done) = match request {
            ObserverRequest::Check {
                checks,
                answers,
                done,
            } => (checks, answers, done),
            ObserverRequest::Read { path, answer } => {
                let text = match root {
                    Ok(root) => shared.file_text(root, &path).transpose(),
                    Err(failure) => Some(Err(failure)),
                };
                // Sending fails if the caller stopped waiting.
                let _ = answer.send(text);
                continue;
            }
            ObserverRequest::Off { rules, answer } => {
                // Sending fails if the caller stopped waiting.
                let _ = answer.send(off.look(path, &*shared.grammars, &rules));
                continue;
            }
            ObserverRequest::Places { asked, answer } => {
                let found = asked.iter();
                let found =
                    found.filter_map(|it| place::find(path, it, |inode| off.twin(inode)).ok());
                // Sending fails if the caller stopped waiting.
                let _ = answer.send(found.collect());
                continue;
            }
            ObserverRequest::Touch { path, answer } => {
                let text = root.ok().and_then(|root| shared.touched_text(root, &path));
                // Sending fails if the caller stopped waiting.
                let _ = answer.send(text);
                continue;
            }
        };
        for (index, check) in checks.iter().enumerate() {
            let finding = match root {
                Ok(root) => shared.examine(root, check),
                Err(failure) => shared.count_unreadable(failure),
            };
            let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            // The list is dropped if the caller stopped waiting.
            if let Some(answer) = answers.get_mut(index) {
                *answer = Some(finding);
            }
        }
        // Sending fails if the caller stopped waiting.
        let _ = done.send(());
    }
}

/// The folder that the root's path leads to now.
fn current_root<'a>(
    held: &'a mut Option<WorkspaceRoot>,
    path: &Path,
) -> Result<&'a WorkspaceRoot, ReadFailure> {
    match held {
        Some(root) => root.reopen_if_moved()?,
        None => *held = Some(WorkspaceRoot::open(path)?),
    }
    held.as_ref().ok_or(ReadFailure::Failed)
}

/// Counts a thread for as long as it lives, also when it panics.
struct CountedThread(Arc<AtomicUsize>);

impl CountedThread {
    fn new(threads: &Arc<AtomicUsize>) -> Self {
        threads.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(threads))
    }
}

impl Drop for CountedThread {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// An observer on the caller's own thread, for files that never block.
pub struct DirectObserver<F> {
    files: F,
    shared: ObserverShared,
}

impl<F: Files> DirectObserver<F> {
    /// An observer with an empty cache.
    #[must_use]
    pub fn new(
        files: F,
        config: EtvConfig,
        grammars: Arc<dyn Grammars + Send + Sync>,
        clock: Arc<dyn WallClock>,
    ) -> Self {
        Self {
            files,
            shared: ObserverShared::new(config, grammars, clock),
        }
    }
}

impl<F: Files> WorkspaceObserver for DirectObserver<F> {
    fn check(&mut self, checks: Vec<DiskCheck>) -> Vec<DiskFinding> {
        let findings = checks.iter();
        findings
            .map(|check| self.shared.examine(&self.files, check))
            .collect()
    }

    fn read(&mut self, path: &RelPath) -> FileText {
        self.shared.file_text(&self.files, path).transpose()
    }

    fn touch(&mut self, path: &RelPath) -> Option<TouchedText> {
        self.shared.touched_text(&self.files, path)
    }

    fn places(&mut self, asked: Vec<String>) -> Vec<PlaceFinding> {
        let places = asked.iter();
        places.filter_map(|it| self.files.place(it)).collect()
    }
}
