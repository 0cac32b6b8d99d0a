//! Files that wait to be read, handed out while there is memory for them. Smaller files pass a large one that has to wait for
//! memory, so that no core is idle meanwhile.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tslp_core::limits::PARSE_BYTES_MAX;
use tslp_core::path::RelPath;

use super::order::SizedFile;

/// Most files that may wait. The files before a large one, which is begun as soon as it is seen, keep all cores busy meanwhile.
const WAITING_FILES_MAX: usize = 512;

/// Number of files below which the walk is woken up, so that it isn't for each file.
const WAITING_FILES_MIN: usize = WAITING_FILES_MAX / 2;

/// Memory of a parse per byte of source: syntax trees take about 18 times their source, then there is the source itself.
const PARSE_MEMORY_PER_BYTE: usize = 20;

/// Memory of a parse from which on a file counts as large: it is begun ahead of its turn, so that what is parsed meanwhile
/// comes before it and needn't be kept.
const AHEAD_PARSE_BYTES: usize = 4 << 20;

/// Memory per byte of source that is expected to be kept until a file is decided about.
const KEPT_MEMORY_PER_BYTE: usize = 2;

/// Bounds of memory, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryRoom {
    /// For files that are being read and parsed. A file that needs more gets all of it.
    pub(super) parsing: usize,
    /// For files that are parsed and wait to be decided about.
    pub(super) kept: usize,
}

impl MemoryRoom {
    /// Memory of a file of so many bytes while it is parsed, and until it is decided about.
    fn memory_of(self, bytes: usize) -> (usize, usize) {
        // Longer files are read in pieces.
        let at_once = bytes.min(PARSE_BYTES_MAX);
        let parsing = (bytes - at_once) + at_once * PARSE_MEMORY_PER_BYTE;
        let kept = bytes * KEPT_MEMORY_PER_BYTE;
        (parsing.min(self.parsing), kept)
    }

    /// Whether a file is large enough to be begun ahead of its turn.
    pub(super) fn is_large(self, bytes: usize) -> bool {
        self.memory_of(bytes).0 >= AHEAD_PARSE_BYTES
    }

    /// Whether a file can be parsed while another one is.
    pub(super) fn fits_beside(self, bytes: usize, other: usize) -> bool {
        self.memory_of(bytes).0 + self.memory_of(other).0 <= self.parsing
    }
}

/// The queue, shared by the threads that find files, read them, and decide about them.
#[derive(Debug)]
pub(super) struct FileQueue {
    room: MemoryRoom,
    state: Mutex<QueueState>,
    /// Signals that few files wait, or that nobody wants more.
    wanted: Condvar,
    /// Signals that there is a file to take, memory for one, or that none will come.
    ready: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: VecDeque<QueuedFile>,
    /// Files that were found so far.
    found: u64,
    /// Files that were decided about: all with lower numbers.
    decided: u64,
    parsing: usize,
    kept: usize,
    ended: bool,
    abandoned: bool,
}

#[derive(Debug)]
struct QueuedFile {
    number: u64,
    path: RelPath,
    bytes: usize,
}

/// A file to read.
#[derive(Debug)]
pub(super) struct ReadJob {
    /// Its position in the order of all files.
    pub(super) number: u64,
    pub(super) path: RelPath,
    pub(super) share: MemoryShare,
}

/// The memory that a file takes. Dropped when the file is decided about, which is done in the order of the numbers.
#[derive(Debug)]
pub(super) struct MemoryShare {
    queue: Arc<FileQueue>,
    number: u64,
    parsing: usize,
    kept: usize,
}

impl FileQueue {
    pub(super) fn new(room: MemoryRoom) -> Arc<Self> {
        Arc::new(Self {
            room,
            state: Mutex::default(),
            wanted: Condvar::new(),
            ready: Condvar::new(),
        })
    }

    /// Appends a file of so many bytes; waits while there are too many. Breaks when nobody wants it.
    pub(super) fn put(&self, (path, bytes): SizedFile) -> ControlFlow<()> {
        let mut state = self.lock();
        if state.waiting.len() >= WAITING_FILES_MAX {
            while state.waiting.len() > WAITING_FILES_MIN && !state.abandoned {
                state = wait(&self.wanted, state);
            }
        }
        if state.abandoned {
            return ControlFlow::Break(());
        }
        let number = state.found;
        state.found += 1;
        state.waiting.push_back(QueuedFile {
            number,
            path,
            bytes,
        });
        drop(state);
        self.ready.notify_one();
        ControlFlow::Continue(())
    }

    /// No more files will come.
    pub(super) fn end(&self) {
        self.lock().ended = true;
        self.ready.notify_all();
    }

    /// Nobody decides about files any more.
    pub(super) fn abandon(&self) {
        self.lock().abandoned = true;
        self.ready.notify_all();
        self.wanted.notify_all();
    }

    /// The first file that there is room for; waits for one. `None` when no more will come.
    pub(super) fn take(self: &Arc<Self>) -> Option<ReadJob> {
        let mut state = self.lock();
        loop {
            if state.abandoned || (state.ended && state.waiting.is_empty()) {
                return None;
            }
            if let Some(place) = self.first_with_room(&state) {
                let found = state.waiting.remove(place)?;
                let share = self.share(&mut state, &found);
                if state.waiting.len() <= WAITING_FILES_MIN {
                    self.wanted.notify_one();
                }
                return Some(ReadJob {
                    number: found.number,
                    path: found.path,
                    share,
                });
            }
            state = wait(&self.ready, state);
        }
    }

    /// The index of the first file that there is memory for. Results of later files are kept until the first undecided file is
    /// decided about, so that file needs memory only for being parsed; otherwise all might wait for each other.
    fn first_with_room(&self, state: &QueueState) -> Option<usize> {
        let has_room = |file: &QueuedFile| {
            let (parsing, kept) = self.room.memory_of(file.bytes);
            state.parsing + parsing <= self.room.parsing
                && (file.number == state.decided || state.kept + kept <= self.room.kept)
        };
        let waiting = || state.waiting.iter();
        // Begun ahead of its turn, once nothing before it would have to wait for it.
        let large = waiting().position(|file| self.room.is_large(file.bytes));
        let ahead = large.filter(|&place| {
            let large = &state.waiting[place];
            let mut before = waiting().take(place);
            has_room(large) && before.all(|file| self.room.fits_beside(file.bytes, large.bytes))
        });
        ahead.or_else(|| waiting().position(has_room))
    }

    fn share(self: &Arc<Self>, state: &mut QueueState, file: &QueuedFile) -> MemoryShare {
        let (parsing, kept) = self.room.memory_of(file.bytes);
        state.parsing += parsing;
        state.kept += kept;
        MemoryShare {
            queue: Arc::clone(self),
            number: file.number,
            parsing,
            kept,
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wait<'s>(changed: &Condvar, state: MutexGuard<'s, QueueState>) -> MutexGuard<'s, QueueState> {
    changed.wait(state).unwrap_or_else(PoisonError::into_inner)
}

impl MemoryShare {
    /// Reduces the share to the bytes that are kept after the parse.
    pub(super) fn parsed(&mut self, kept: usize) {
        let mut state = self.queue.lock();
        state.parsing -= std::mem::take(&mut self.parsing);
        state.kept = state.kept - self.kept + kept;
        self.kept = kept;
        drop(state);
        self.queue.ready.notify_all();
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.parsing -= self.parsing;
        state.kept -= self.kept;
        state.decided = state.decided.max(self.number + 1);
        drop(state);
        self.queue.ready.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Room for one file of 10 bytes, and for what is kept of 10 bytes.
    fn queue(sizes: &[usize]) -> Arc<FileQueue> {
        let queue = FileQueue::new(MemoryRoom {
            parsing: 10 * PARSE_MEMORY_PER_BYTE,
            kept: 10 * KEPT_MEMORY_PER_BYTE,
        });
        for &bytes in sizes {
            let path = RelPath::from_normalised("a.c");
            assert!(queue.put((path, bytes)).is_continue());
        }
        queue
    }

    fn next(queue: &Arc<FileQueue>) -> Option<usize> {
        queue.first_with_room(&queue.lock())
    }

    #[test]
    fn small_files_pass_one_that_waits_for_room() {
        let queue = queue(&[4, 8, 5]);
        let first = queue.take().unwrap();
        let passed = queue.take().unwrap();
        assert_eq!((first.number, passed.number), (0, 2));
        assert_eq!(next(&queue), None);
        drop(first);
        assert_eq!(next(&queue), None);
    }

    #[test]
    fn the_file_that_all_wait_for_needs_room_to_be_parsed_only() {
        let queue = queue(&[4, 10, 5, 6]);
        let mut first = queue.take().unwrap();
        let mut passed = queue.take().unwrap();
        first.share.parsed(0);
        passed.share.parsed(10 * KEPT_MEMORY_PER_BYTE);
        assert_eq!(next(&queue), None, "the first is not decided about yet");
        drop(first);
        let awaited = queue.take().unwrap();
        assert_eq!(awaited.number, 1);
        drop(awaited);
        assert_eq!(next(&queue), None, "the third is not decided about yet");
        drop(passed);
        assert_eq!(queue.take().unwrap().number, 3);
        let state = queue.lock();
        assert_eq!((state.parsing, state.kept, state.decided), (0, 0, 4));
    }

    #[test]
    fn more_than_there_is_means_all_of_it() {
        let queue = queue(&[1000, 1]);
        let large = queue.take().unwrap();
        assert_eq!(large.share.parsing, 10 * PARSE_MEMORY_PER_BYTE);
        assert_eq!(next(&queue), None);
    }

    /// Bytes of a large file, and room for one and a half of them.
    const LARGE: usize = AHEAD_PARSE_BYTES / PARSE_MEMORY_PER_BYTE + 1;

    #[test]
    fn a_large_file_is_begun_once_nothing_before_it_would_wait_for_it() {
        let queue = FileQueue::new(MemoryRoom {
            parsing: LARGE * PARSE_MEMORY_PER_BYTE * 3 / 2,
            kept: LARGE * KEPT_MEMORY_PER_BYTE * 4,
        });
        for bytes in [1, LARGE * 2 / 3, 2, 3, LARGE] {
            let path = RelPath::from_normalised("a.c");
            assert!(queue.put((path, bytes)).is_continue());
        }
        let first = queue.take().unwrap();
        let beside = queue.take().unwrap();
        assert_eq!((first.number, beside.number), (0, 1));
        drop(first);
        assert_eq!(queue.take().unwrap().number, 2, "no room for it yet");
        drop(beside);
        assert_eq!(queue.take().unwrap().number, 4);
    }

    #[test]
    fn whoever_waits_learns_that_it_is_over() {
        let queue = queue(&[]);
        let reader = thread::spawn({
            let queue = Arc::clone(&queue);
            move || queue.take().is_none()
        });
        queue.end();
        assert!(reader.join().unwrap());
        let full = self::queue(&[1; WAITING_FILES_MAX]);
        let finder = thread::spawn({
            let full = Arc::clone(&full);
            move || full.put((RelPath::from_normalised("b.c"), 1)).is_break()
        });
        full.abandon();
        assert!(finder.join().unwrap());
        assert!(full.take().is_none());
    }
}
