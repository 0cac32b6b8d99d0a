//! `tslp adopt`: takes a tree of files as the user's decision, in memory that doesn't grow with the tree.
//!
//! One thread walks, as many as there are cores read and parse, one decides and folds, one appends. Channels between
//! them are bounded, and so is the memory of what is read and not yet decided about ([`read_queue`]). Files are decided about
//! in the order of the walk, so the same tree gives the same ledger.

mod summary;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};
use tslp_core::event::ReadFailure;
use tslp_core::ids::UnixMillis;
use tslp_core::path::RelPath;
use tslp_decide::judge::found_code::FoundCode;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::state::State;
use tslp_projections::store::Store;
use tslp_replay::engine::Engine;
use tslp_replay::pending::{Batch, BatchBuilder};
use tslp_store::content_cache::ContentCache;
use tslp_store::ledger::lock::DataDirLock;
use tslp_store::ledger::writer::{self, Commit, LedgerWriter, WriterLimits};
use tslp_store::ledger::{DataFiles, LedgerError, OpenLedger, OpenOptions, ReaderFactory, history};
use tslp_store::progress::WalkProgress;
use tslp_store::project;
use tslp_store::startup::{self, StartError};
use tslp_workspace::observer::{FileReader, SystemClock, WallClock};
use tslp_workspace::target::NamedTarget;
use tslp_workspace::tree::read_queue::{ReadQueue, SizedFile};
use tslp_workspace::tree::reading::{self, ReadFile, SkipReason};
use tslp_workspace::tree::walk::{self, WalkedFile};
use tslp_workspace::unread_code;

use crate::config::settings::Settings;
use crate::engine::new_engine;

pub use summary::AdoptSummary;

/// Most files that the walk may be ahead of the threads that read.
const WALKED_QUEUE: usize = 512;

/// Most parsed files that may wait to be decided about: small ones are read while a ledger is still being folded.
const FILES_QUEUE: usize = 1024;

/// Events or bytes of code after which decisions go to the writer.
const COMMIT_EVENTS: usize = 1024;
const COMMIT_BYTES: usize = 512 << 10;

/// Commits that may wait for the writer.
const COMMIT_QUEUE: usize = 1;

/// The writer's page cache in KiB: it holds all pages of a commit, so that each goes to the WAL once.
const COMMIT_CACHE_KIB: i64 = 2048;

/// Pages waiting in the WAL from which on they are moved at once.
const CHECKPOINT_PAGES: u64 = 2048;

/// The lines of a file that couldn't be read, if there are any.
fn unread_lines(path: &RelPath, found: Option<&FoundCode>) -> Option<String> {
    let found = found.filter(|found| !found.is_clean())?;
    let extraction = found.extraction.as_ref().ok()?;
    let lines = unread_code::unread_lines(found.code.as_bytes(), extraction);
    Some(unread_code::unread_words(path.as_str(), &lines))
}

/// Whether anything is appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdoptMode {
    /// Everything is decided about, nothing is appended.
    DryRun,
    /// Decisions are appended.
    Append,
}

/// The reason why adopting ended early. What was appended before counts; the same command continues from there.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// The ledger is in use, damaged, or can't be opened.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The workspace can't be opened.
    #[error("the workspace can't be read: {}", .0)]
    Workspace(ReadFailure),
    /// The writer stopped.
    #[error("{0}")]
    Writer(String),
    /// No thread could be started.
    #[error("no thread could be started: {0}")]
    Thread(#[from] std::io::Error),
    /// A call of an agent's says it.
    #[error(
        "not done: an agent's call may have said it; write it as the first line of a message in a conversation, \
         `@tslp accept PATH`"
    )]
    AgentsCall,
    /// A thread ended by a defect of tslp.
    #[error("a thread ended by a defect of tslp; what was appended before is safe")]
    Defect,
}

impl From<LedgerError> for AdoptError {
    fn from(error: LedgerError) -> Self {
        Self::Start(error.into())
    }
}

/// Takes every file under the targets. A ledger is made only when there is something to append.
///
/// # Errors
/// See [`AdoptError`].
pub fn adopt(
    config: &Settings,
    targets: &[NamedTarget],
    mode: AdoptMode,
    progress: &WalkProgress,
) -> Result<AdoptSummary, AdoptError> {
    let start = || {
        let adopter = Adopter::start_adopting(config, mode)?;
        let names = targets.iter().map(ToString::to_string);
        match mode == AdoptMode::Append && is_agents(&adopter.engine, SystemClock.now(), names) {
            true => Err(AdoptError::AgentsCall),
            false => Ok(adopter),
        }
    };
    let (adopter, walked) = decide_tree(config, targets, progress, start)?;
    adopter.finish_writing(walked)
}

/// The same for an engine that runs elsewhere: `decide` has it decide about one file.
///
/// # Errors
/// See [`AdoptError`], and what `decide` fails with.
pub fn adopt_through(
    config: &Settings,
    targets: &[NamedTarget],
    decide: impl FnMut(ReadFile) -> Result<AdoptSummary, AdoptError>,
) -> Result<AdoptSummary, AdoptError> {
    let start = || {
        let summary = AdoptSummary::default();
        Ok(ElsewhereDecider { decide, summary })
    };
    let (mut decider, walked) = decide_tree(config, targets, &WalkProgress::hidden(), start)?;
    decider.summary.add(walked);
    Ok(decider.summary)
}

/// Decides about one file after the other, in the order of the walk.
trait FileDecider {
    fn decide_file(&mut self, file: ReadFile) -> Result<(), AdoptError>;
}

struct ElsewhereDecider<D> {
    decide: D,
    summary: AdoptSummary,
}

impl<D: FnMut(ReadFile) -> Result<AdoptSummary, AdoptError>> FileDecider for ElsewhereDecider<D> {
    fn decide_file(&mut self, file: ReadFile) -> Result<(), AdoptError> {
        self.summary.add((self.decide)(file)?);
        Ok(())
    }
}

/// Walks and reads, and has the files decided about; gives the summary of those that the walk left out, too.
fn decide_tree<D: FileDecider>(
    config: &Settings,
    targets: &[NamedTarget],
    progress: &WalkProgress,
    start: impl FnOnce() -> Result<D, AdoptError>,
) -> Result<(D, AdoptSummary), AdoptError> {
    let (to_readers, walked) = bounded(WALKED_QUEUE);
    let (to_engine, looked) = bounded(FILES_QUEUE);
    thread::scope(|scope| {
        let walker = thread::Builder::new()
            .name("walk".into())
            .spawn_scoped(scope, move || {
                walk_targets(config, targets, &to_readers, progress)
            })?;
        let queue = ReadQueue::new(walked);
        let mut workers = Vec::new();
        for reader in open_readers(config)? {
            let (queue, to_engine) = (Arc::clone(&queue), to_engine.clone());
            workers.push(
                thread::Builder::new()
                    .name("read".into())
                    .spawn_scoped(scope, move || {
                        reading::read_files(&reader, &queue, &to_engine)
                    })?,
            );
        }
        // Dropped here, so that a thread which waits for the other end notices.
        drop((queue, to_engine));
        // A ledger is opened and folded while the first files are read.
        let decided = start().and_then(|mut decider| {
            decide_all(&mut decider, looked, progress)?;
            Ok(decider)
        });
        let walked = walker.join().map_err(|_| AdoptError::Defect)?;
        for worker in workers {
            worker.join().map_err(|_| AdoptError::Defect)?;
        }
        Ok((decided?, walked))
    })
}

/// Files come in any order and are decided about in the order of their numbers.
fn decide_all(
    decider: &mut impl FileDecider,
    looked: Receiver<ReadFile>,
    progress: &WalkProgress,
) -> Result<(), AdoptError> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for file in looked {
        debug_assert!(file.number >= next, "a file is decided about once");
        early.insert(file.number, file);
        while let Some(file) = early.remove(&next) {
            next += 1;
            progress.step_done();
            decider.decide_file(file)?;
        }
    }
    Ok(())
}

/// Whether adopting one of these may be what an agent's call says.
pub fn is_agents<S: Store>(
    engine: &Engine<TreeSitterGrammars, S>,
    now: UnixMillis,
    mut targets: impl Iterator<Item = impl AsRef<str>>,
) -> bool {
    targets.any(|target| engine.is_said_by_call(now, "adopt", target.as_ref()))
}

/// Decides about one file that was read, and counts what came of it.
pub fn decide_read_file<S: Store>(
    engine: &mut Engine<TreeSitterGrammars, S>,
    file: ReadFile,
    work: &mut BatchBuilder,
    summary: &mut AdoptSummary,
) {
    let ReadFile {
        path,
        bytes,
        content,
        memory,
        ..
    } = file;
    let skip = content.skip_reason();
    // An observation is recorded only if it concerns code or a true entity.
    let matters = skip.is_none_or(SkipReason::is_over_a_bound);
    if matters || engine.tracks(&path) {
        let (finding, found) = content.into_finding(engine.symbols_of(&path));
        let before = work.recorded().len();
        let now = SystemClock.now();
        engine.adopt_file(now, path.clone(), finding, found.as_deref(), work);
        match skip {
            Some(skip) => summary.count_skipped(path.as_str(), skip),
            None => {
                let unread = unread_lines(&path, found.as_deref());
                summary.count_file(bytes, unread, &work.recorded()[before..]);
            }
        }
    } else if let Some(skip) = skip {
        summary.count_skipped(path.as_str(), skip);
    }
    // Only now may the readers take as much for another file.
    drop(memory);
}

/// A reader for each worker: as many as there are cores.
fn open_readers(config: &Settings) -> Result<Vec<FileReader>, AdoptError> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (0..cores)
        .map(|_| {
            FileReader::open(
                &config.workspace,
                config.etv(),
                Arc::new(TreeSitterGrammars),
            )
        })
        .collect::<Result<_, _>>()
        .map_err(AdoptError::Workspace)
}

/// The walking thread: queues files until nobody wants more.
fn walk_targets(
    config: &Settings,
    targets: &[NamedTarget],
    to_readers: &Sender<SizedFile>,
    progress: &WalkProgress,
) -> AdoptSummary {
    let mut skipped = AdoptSummary::default();
    walk::visit_files(&config.workspace, targets, &mut |seen| {
        match seen {
            WalkedFile::Skipped { name, why } => skipped.count_skipped(&name, why),
            WalkedFile::File { path, bytes } if bytes > config.etv().read_bytes_max => {
                skipped.count_skipped(path.as_str(), SkipReason::Unreadable(ReadFailure::TooLarge));
            }
            WalkedFile::File { path, bytes } => {
                progress.step_found();
                let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                if to_readers.send((path, bytes)).is_err() {
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    });
    skipped
}

/// Decides about one file after the other.
struct Adopter<'c> {
    config: &'c Settings,
    engine: Engine<TreeSitterGrammars, Option<ContentCache>>,
    sink: DecisionSink,
    waiting: BatchBuilder,
    waiting_bytes: usize,
    summary: AdoptSummary,
}

/// The destination of decisions.
enum DecisionSink {
    /// None. If there is a ledger, its content has to stay in the state.
    DryRun { has_ledger: bool },
    /// Into a ledger that doesn't exist yet.
    New,
    /// To its writer.
    Writer {
        commits: Sender<Commit>,
        writer: LedgerWriter,
        lock: Arc<DataDirLock>,
    },
}

impl FileDecider for Adopter<'_> {
    fn decide_file(&mut self, file: ReadFile) -> Result<(), AdoptError> {
        let (bytes, before) = (file.bytes, self.waiting.recorded().len());
        let summary = &mut self.summary;
        decide_read_file(&mut self.engine, file, &mut self.waiting, summary);
        // No later decision reads a file's bytes from memory; the store returns them.
        self.engine.forget_contents(self.engine.state().head());
        if let DecisionSink::Writer { writer, .. } = &self.sink {
            self.engine.rows_made_durable(writer.durable().reached());
        }
        if self.waiting.recorded().len() > before {
            self.waiting_bytes += bytes;
        }
        if self.waiting.recorded().len() >= COMMIT_EVENTS || self.waiting_bytes >= COMMIT_BYTES {
            self.send_waiting()?;
        }
        Ok(())
    }
}

impl<'c> Adopter<'c> {
    fn start_adopting(config: &'c Settings, mode: AdoptMode) -> Result<Self, AdoptError> {
        let files = DataFiles::of(&config.data_dir);
        let (state, store, sink) = match (files.database.exists(), mode) {
            (false, AdoptMode::DryRun) => (
                State::default(),
                None,
                DecisionSink::DryRun { has_ledger: false },
            ),
            (false, AdoptMode::Append) => (State::default(), None, DecisionSink::New),
            (true, AdoptMode::DryRun) => {
                let (state, store) = state_on_record(&files)?;
                (
                    state,
                    Some(store),
                    DecisionSink::DryRun { has_ledger: true },
                )
            }
            (true, AdoptMode::Append) => {
                let (opened, state) =
                    startup::start(&OpenOptions::default(), &config.data_dir, &config.workspace)?;
                let store = ContentCache::new(opened.readers.open()?);
                (state, Some(store), DecisionSink::start_writer(opened)?)
            }
        };
        Ok(Self {
            config,
            engine: new_engine(state, &config.policy, store),
            sink,
            waiting: BatchBuilder::default(),
            waiting_bytes: 0,
            summary: AdoptSummary::default(),
        })
    }

    fn send_waiting(&mut self) -> Result<(), AdoptError> {
        if self.waiting.recorded().is_empty() {
            return Ok(());
        }
        if matches!(self.sink, DecisionSink::New) {
            // No ledger is created for observations alone.
            if self.summary.files_adopted == 0 {
                return Ok(());
            }
            let opened = new_ledger(self.config)?;
            let store = ContentCache::new(opened.readers.open()?);
            self.engine.set_store(Some(store));
            let files = opened.readers.open()?;
            self.engine
                .set_stored_files(Box::new(files), startup::CODE_BYTES_KEPT);
            self.sink = DecisionSink::start_writer(opened)?;
        }
        let work = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        match &self.sink {
            // Files are independent of each other: without a ledger each may start from an empty state.
            DecisionSink::DryRun { has_ledger: false } => {
                self.engine = new_engine(State::default(), &self.config.policy, None);
            }
            DecisionSink::DryRun { has_ledger: true } | DecisionSink::New => {}
            DecisionSink::Writer {
                commits, writer, ..
            } => {
                let Batch { recorded } = work.finish();
                let rows = Some(self.engine.take_rows());
                if commits
                    .send(Commit {
                        recorded,
                        rows,
                        waiting: None,
                    })
                    .is_err()
                {
                    let stopped = writer.durable().stop_reason();
                    return Err(AdoptError::Writer(stopped.map_or_else(
                        || "the ledger's writer has stopped".to_owned(),
                        |stopped| stopped.to_string(),
                    )));
                }
            }
        }
        Ok(())
    }

    /// Appends what is waiting, and waits until all of it is durable.
    fn finish_writing(mut self, walked: AdoptSummary) -> Result<AdoptSummary, AdoptError> {
        self.send_waiting()?;
        if let DecisionSink::Writer {
            commits,
            writer,
            lock,
        } = self.sink
        {
            drop(commits);
            // Before the lock is given back: the next process must find all of it.
            let written = writer.join();
            written.map_err(|failure| AdoptError::Writer(failure.message))?;
            drop(lock);
        }
        self.summary.add(walked);
        Ok(self.summary)
    }
}

impl DecisionSink {
    fn start_writer(opened: OpenLedger) -> Result<Self, AdoptError> {
        let (commits, queue) = writer::commit_queue(COMMIT_QUEUE);
        let limits = WriterLimits {
            // Each commit is as large as a group already.
            group_events_max: 1,
            // The last pages of the WAL are moved at the end, when nothing else is left to do.
            checkpoint_pages_busy: CHECKPOINT_PAGES,
            ..WriterLimits::default()
        };
        let log = opened.log;
        log.set_cache_size(COMMIT_CACHE_KIB)?;
        let writer = writer::spawn_writer(log, queue, limits, Box::new(|_| {}))?;
        Ok(Self::Writer {
            commits,
            writer,
            lock: opened.lock,
        })
    }
}

fn new_ledger(config: &Settings) -> Result<OpenLedger, AdoptError> {
    project::prepare(&config.data_dir, &config.workspace).map_err(StartError::from)?;
    let (opened, _) = startup::start(&OpenOptions::default(), &config.data_dir, &config.workspace)?;
    Ok(opened)
}

/// The state of a ledger that another process may be using. Archives that have to be rebuilt are taken for empty: what they hold
/// decides about bytes that are appended, not about what becomes true.
fn state_on_record(files: &DataFiles) -> Result<(State, ContentCache), AdoptError> {
    let readers = ReaderFactory::new(files, &OpenOptions::default());
    let reader = readers.open()?;
    if let Ok(state) = reader.state() {
        return Ok((state, ContentCache::new(reader)));
    }
    let folded = history::check_all(&reader, |_| ControlFlow::Continue(()))?;
    let (state, _) = folded.expect("nobody breaks it off");
    Ok((state, ContentCache::new(reader).without_archives()))
}
