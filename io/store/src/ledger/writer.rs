//! The writer thread: makes the engine's commits durable in groups, and announces the durable position.
//!
//! A commit appends to the WAL; a checkpoint moves pages from there into the database, which costs syncs and delays the next
//! commit. So an idle writer runs it as soon as enough pages are pending, and a busy one only when the WAL is several times as
//! long: under a load that never pauses the file must not grow without bound.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded};
use tslp_core::event::Recorded;
use tslp_core::ids::Seq;
use tslp_projections::changes::RowsUpTo;
use tslp_replay::log::Head;

use super::durable::{DurableHead, WriterFigures};
use super::error::LedgerError;
use super::open_files::OpenFiles;
use super::sqlite_log::{CheckpointMode, SqliteLog, WalState};

/// Events, which are durable together or not at all, or rows that can wait.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// The events, in order; the first follows the last of the commit before.
    pub recorded: Vec<Recorded>,
    /// Rows of these events and of those before, to be written when no commit waits.
    pub rows: Option<RowsUpTo>,
    /// Dropped once these rows are written, or never will be.
    pub waiting: Option<Sender<Infallible>>,
}

/// An announcement of the writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Everything up to here is on disk.
    Reached(Seq),
    /// The rows of everything up to here are in their tables.
    RowsWritten(Seq),
    /// The writer has failed; nothing more will become durable.
    Failed(WriterFailure),
}

/// The failure that stopped a writer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct WriterFailure {
    /// What happened and what to do.
    pub message: String,
    /// The condition for continuing with a reopened ledger; decisions that weren't written exist only in this process.
    pub remedy: Remedy,
}

/// The condition for continuing after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Room on the disk.
    DiskSpace,
    /// A person who looks at the cause and restarts.
    Restart,
}

impl WriterFailure {
    fn of_defect(message: &str) -> Self {
        Self {
            message: message.to_owned(),
            remedy: Remedy::Restart,
        }
    }
}

impl From<LedgerError> for WriterFailure {
    fn from(error: LedgerError) -> Self {
        Self {
            message: error.to_string(),
            remedy: if error.is_disk_full() {
                Remedy::DiskSpace
            } else {
                Remedy::Restart
            },
        }
    }
}

/// The writer's bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterLimits {
    /// Events after which a group is committed, though more is queued.
    pub group_events_max: u64,
    /// Payload bytes after which a group is committed, though more is queued.
    pub group_bytes_max: u64,
    /// Pages pending in the WAL from which on an idle writer moves them.
    pub checkpoint_pages: u64,
    /// Pages pending in the WAL from which on they are moved between two groups, though commits may be waiting.
    pub checkpoint_pages_busy: u64,
    /// Size of the WAL file from which on an idle writer cuts it.
    pub truncate_bytes: u64,
    /// Size of the WAL file from which on the writer waits until every page of the database is checked.
    pub unchecked_wal_bytes_max: u64,
    /// Time without a commit after which the writer counts as idle.
    pub idle: Duration,
    /// Interval at which an idle writer checks that its files are still there.
    pub file_look: Duration,
}

impl Default for WriterLimits {
    fn default() -> Self {
        Self {
            group_events_max: 4096,
            group_bytes_max: 8 << 20,
            checkpoint_pages: 1024,
            checkpoint_pages_busy: 4 * 1024,
            truncate_bytes: 16 << 20,
            unchecked_wal_bytes_max: 256 << 20,
            idle: Duration::from_millis(50),
            file_look: Duration::from_secs(5),
        }
    }
}

/// Groups that a busy writer commits between two looks at the WAL.
const GROUPS_PER_LOOK: u64 = 16;

/// The queue to a writer. A full one blocks whoever sends. When all senders are gone, the writer finishes and stops;
/// when the writer has failed, sending fails.
#[must_use]
pub fn commit_queue(commits: usize) -> (Sender<Commit>, Receiver<Commit>) {
    bounded(commits)
}

/// A running writer.
#[derive(Debug)]
pub struct LedgerWriter {
    durable: Arc<DurableHead>,
    figures: Arc<WriterFigures>,
    thread: JoinHandle<Result<Head, WriterFailure>>,
}

impl LedgerWriter {
    /// The ledger's durable position.
    #[must_use]
    pub fn durable(&self) -> &Arc<DurableHead> {
        &self.durable
    }

    /// Figures about the writer's work so far.
    #[must_use]
    pub fn figures(&self) -> &Arc<WriterFigures> {
        &self.figures
    }

    /// Waits for the writer to end: after all senders are gone, or after a failure.
    ///
    /// # Errors
    /// The failure that stopped the writer.
    pub fn join(self) -> Result<Head, WriterFailure> {
        self.thread.join().unwrap_or_else(|_| {
            Err(WriterFailure::of_defect(
                "the ledger writer panicked; restart tslp",
            ))
        })
    }
}

/// Starts the writer thread.
///
/// `announce` is called on that thread after each group, and must not block.
///
/// # Errors
/// When the log is poisoned, what a crash left can't be made durable, or the thread can't be started.
pub fn spawn_writer(
    log: SqliteLog,
    commits: Receiver<Commit>,
    limits: WriterLimits,
    announce: Box<dyn FnMut(Durability) + Send>,
) -> Result<LedgerWriter, LedgerError> {
    let path = log.database.path.clone();
    let mut writer = Writer::new(log, commits, limits, announce)?;
    let durable = Arc::clone(writer.durable());
    let figures = Arc::clone(&writer.figures);
    let thread = std::thread::Builder::new()
        .name("tslp-ledger".to_owned())
        .spawn(move || {
            // Caught, so that threads which wait for a durable position learn that none will come.
            let ended = catch_unwind(AssertUnwindSafe(|| writer.run()));
            let ended = ended.unwrap_or_else(|_| {
                Err(WriterFailure::of_defect(
                    "the ledger writer panicked, a defect of tslp; restart it",
                ))
            });
            writer.announcer.announce_end(&ended);
            ended
        })
        .map_err(LedgerError::on_file("start the writer thread of", &path))?;
    Ok(LedgerWriter {
        durable,
        figures,
        thread,
    })
}

/// Takes commits and makes them durable. [`spawn_writer`] gives it a thread; without one it is asked to [`step`](Self::step).
pub struct Writer {
    log: SqliteLog,
    commits: Receiver<Commit>,
    /// Rows that are still to be written, in order.
    rows: Vec<RowsUpTo>,
    waiting: Vec<Sender<Infallible>>,
    limits: WriterLimits,
    figures: Arc<WriterFigures>,
    announcer: Announcer,
    groups_since_look: u64,
    open_files: OpenFiles,
}

struct Announcer {
    durable: Arc<DurableHead>,
    announce: Box<dyn FnMut(Durability) + Send>,
}

impl Announcer {
    fn announce_reached(&mut self, seq: Seq) {
        self.durable.advance_to(seq);
        (self.announce)(Durability::Reached(seq));
    }

    fn announce_end(&mut self, ended: &Result<Head, WriterFailure>) {
        match ended {
            Ok(_) => self
                .durable
                .stop("the ledger writer has stopped".to_owned()),
            Err(failure) => {
                tracing::error!(%failure, "ledger writer failed");
                self.durable.stop(failure.message.clone());
                // The panic that led here may have come from the callback itself.
                let tell = || (self.announce)(Durability::Failed(failure.clone()));
                let _ = catch_unwind(AssertUnwindSafe(tell));
            }
        }
    }
}

/// The result of one step of the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriterStep {
    /// A group is durable, up to here.
    Committed(Seq),
    /// Rows are in their tables.
    RowsWritten,
    /// There was nothing to commit; the WAL was checkpointed if that was due.
    Idle,
}

impl Writer {
    /// A writer that goes on from the log's head.
    ///
    /// # Errors
    /// When the log is poisoned, or what a crash left can't be made durable.
    pub fn new(
        mut log: SqliteLog,
        commits: Receiver<Commit>,
        limits: WriterLimits,
        announce: Box<dyn FnMut(Durability) + Send>,
    ) -> Result<Self, LedgerError> {
        // Before the first announcement: what a crash left behind is read by every thread as if it had been acknowledged.
        log.make_durable()?;
        let durable = Arc::new(DurableHead::new(log.head()?.seq));
        Ok(Self {
            open_files: OpenFiles::of_log(&log.database, &log.anchor),
            log,
            commits,
            rows: Vec::new(),
            waiting: Vec::new(),
            limits,
            figures: Arc::default(),
            announcer: Announcer { durable, announce },
            groups_since_look: 0,
        })
    }

    /// The ledger's durable position.
    #[must_use]
    pub fn durable(&self) -> &Arc<DurableHead> {
        &self.announcer.durable
    }

    /// Commits what is queued as one group and announces it, or checkpoints the WAL if that is due; never waits.
    ///
    /// # Errors
    /// The failure, which was announced: there must be no other step.
    pub fn step(&mut self) -> Result<WriterStep, WriterFailure> {
        let stepped = self.try_step().map_err(WriterFailure::from);
        if let Err(failure) = &stepped {
            self.announcer.announce_end(&Err(failure.clone()));
        }
        stepped
    }

    fn try_step(&mut self) -> Result<WriterStep, LedgerError> {
        if self.are_rows_due() {
            self.write_rows()?;
            return Ok(WriterStep::RowsWritten);
        }
        let Ok(commit) = self.commits.try_recv() else {
            // The only look here: a caller that steps has no idle time of its own, so it doesn't wait for `idle`.
            let wal = self.look_at_wal()?;
            if wal.pages_pending >= self.limits.checkpoint_pages && self.may_move_pages(wal) {
                self.checkpoint_idle()?;
            }
            return Ok(WriterStep::Idle);
        };
        Ok(WriterStep::Committed(self.commit_group(commit)?.seq))
    }

    fn run(&mut self) -> Result<Head, WriterFailure> {
        self.write_all().map_err(WriterFailure::from)
    }

    fn write_all(&mut self) -> Result<Head, LedgerError> {
        while let Some(commit) = self.next_commit()? {
            self.commit_group(commit)?;
        }
        // Truncating writes to the database file, which needs every page checked first; a quick stop doesn't wait for that.
        if self.log.soundness().is_sound() {
            self.log.checkpoint(CheckpointMode::Truncate)?;
        }
        self.log.head()
    }

    /// The next commit; `None` when no more will come. Uses the time while there is none.
    fn next_commit(&mut self) -> Result<Option<Commit>, LedgerError> {
        if self.are_rows_due() {
            self.write_rows()?;
        }
        // A look asks SQLite and the file system, so a busy writer takes one for several groups.
        self.groups_since_look += 1;
        match self.commits.try_recv() {
            Ok(commit) => {
                if self.groups_since_look >= GROUPS_PER_LOOK {
                    self.bound_wal()?;
                }
                return Ok(Some(commit));
            }
            Err(TryRecvError::Disconnected) => return Ok(None),
            Err(TryRecvError::Empty) => {}
        }
        let wal = self.bound_wal()?;
        if wal.pages_pending < self.limits.checkpoint_pages || !self.may_move_pages(wal) {
            return self.wait_for_commit();
        }
        match self.commits.recv_timeout(self.limits.idle) {
            Ok(commit) => Ok(Some(commit)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => {
                self.checkpoint_idle()?;
                self.wait_for_commit()
            }
        }
    }

    /// Waits for the next commit, checking the files at intervals: without that, a deleted file would show only at the next commit.
    fn wait_for_commit(&mut self) -> Result<Option<Commit>, LedgerError> {
        loop {
            match self.commits.recv_timeout(self.limits.file_look) {
                Ok(commit) => return Ok(Some(commit)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => self.check_files()?,
            }
        }
    }

    /// Fails if the files that were written to no longer have their names.
    fn check_files(&mut self) -> Result<(), LedgerError> {
        self.open_files.check_names(&self.log.database)
    }

    /// Whether rows are written before anything else: a commit goes first, unless there are later rows already.
    fn are_rows_due(&self) -> bool {
        self.rows.len() > 1 || !self.rows.is_empty() && self.commits.is_empty()
    }

    fn write_rows(&mut self) -> Result<(), LedgerError> {
        self.check_files()?;
        self.log.write_rows(&self.rows)?;
        self.check_files()?;
        self.waiting.clear();
        if let Some(last) = self.rows.drain(..).next_back() {
            (self.announcer.announce)(Durability::RowsWritten(last.seq));
        }
        Ok(())
    }

    /// Commits the events of everything that is queued, up to the bounds, in one transaction, and announces it.
    fn commit_group(&mut self, first: Commit) -> Result<Head, LedgerError> {
        // Before and after the commit: a WAL that was cut meanwhile has its old length again afterwards.
        self.check_files()?;
        let mut events = 0;
        let mut batch = self.log.begin_batch()?;
        let mut next = Some(first);
        // Whatever waits is joined: a group costs two syncs, its own and the anchor's, however many commits are in it.
        while let Some(commit) = next {
            events += commit.recorded.len() as u64;
            batch.record_all(commit.recorded)?;
            self.rows.extend(commit.rows);
            self.waiting.extend(commit.waiting);
            let full = events >= self.limits.group_events_max
                || batch.payload_bytes() >= self.limits.group_bytes_max;
            next = if full {
                None
            } else {
                self.commits.try_recv().ok()
            };
        }
        let before = batch.start();
        let head = batch.commit()?;
        assert_eq!(
            head.seq.0,
            before.0 + events,
            "a group's positions are dense"
        );
        self.check_files()?;
        // Rows alone: they are written when nothing waits.
        if events == 0 {
            return Ok(head);
        }
        self.figures.commits.fetch_add(1, Relaxed);
        self.figures.events.fetch_add(events, Relaxed);
        self.announcer.announce_reached(head.seq);
        Ok(head)
    }

    /// Moves the pages of a long WAL although commits may be waiting.
    fn bound_wal(&mut self) -> Result<WalState, LedgerError> {
        let wal = self.look_at_wal()?;
        if wal.pages_pending < self.limits.checkpoint_pages_busy || !self.may_move_pages(wal) {
            return Ok(wal);
        }
        self.checkpoint(CheckpointMode::Passive)
    }

    /// While the scrub looks at the file, the WAL takes what is committed, within bounds: nobody waits for the look.
    fn may_move_pages(&self, wal: WalState) -> bool {
        wal.file_bytes >= self.limits.unchecked_wal_bytes_max
            || !self.log.soundness().is_in_progress()
    }

    fn checkpoint_idle(&mut self) -> Result<(), LedgerError> {
        let wal = self.checkpoint(CheckpointMode::Passive)?;
        // With pages left a reader is at work, and truncating would do nothing.
        if wal.pages_pending == 0 && wal.file_bytes >= self.limits.truncate_bytes {
            self.checkpoint(CheckpointMode::Truncate)?;
        }
        Ok(())
    }

    fn checkpoint(&mut self, mode: CheckpointMode) -> Result<WalState, LedgerError> {
        // Before the checkpoint, which may fail after it has cut the file: the next look must not take that for a stranger's cut.
        if mode == CheckpointMode::Truncate {
            self.open_files.wal_was_cut();
        }
        self.log.checkpoint(mode)?;
        self.figures.checkpoints.fetch_add(1, Relaxed);
        self.look_at_wal()
    }

    fn look_at_wal(&mut self) -> Result<WalState, LedgerError> {
        self.groups_since_look = 0;
        self.log.wal_state()
    }
}
