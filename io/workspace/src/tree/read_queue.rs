//! Hands files to the threads that read them, in the order of the walk, each once there is memory for it.

use std::iter::Enumerate;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{IntoIter, Receiver};
use tslp_core::limits::PARSE_BYTES_MAX;
use tslp_core::path::RelPath;

/// Memory of a parse per byte of source: syntax trees take about 18 times their source, then there is the source itself.
const PARSE_MEMORY_PER_BYTE: usize = 20;

/// Memory in bytes of all files that are being read and parsed, or wait to be decided about: enough for one file at the
/// parser's bound.
const MEMORY_BYTES_MAX: usize = PARSE_BYTES_MAX * PARSE_MEMORY_PER_BYTE;

/// A file and its size in bytes.
pub type SizedFile = (RelPath, usize);

/// The queue, shared by the threads that read files.
#[derive(Debug)]
pub struct ReadQueue {
    walked: Mutex<Enumerate<IntoIter<SizedFile>>>,
    /// Bytes of memory that no file has.
    free: Mutex<usize>,
    freed: Condvar,
}

#[derive(Debug)]
pub(super) struct ReadJob {
    /// Its position in the walk.
    pub(super) number: usize,
    pub(super) path: RelPath,
    pub(super) memory: MemoryShare,
}

/// The memory that a file takes until it is decided about, which is when this is dropped.
#[derive(Debug)]
pub struct MemoryShare {
    queue: Arc<ReadQueue>,
    bytes: usize,
}

impl ReadQueue {
    /// A queue of the files that the walk sends.
    #[must_use]
    pub fn new(walked: Receiver<SizedFile>) -> Arc<Self> {
        Arc::new(Self {
            walked: Mutex::new(walked.into_iter().enumerate()),
            free: Mutex::new(MEMORY_BYTES_MAX),
            freed: Condvar::new(),
        })
    }

    /// The next file of the walk; waits for it and for its memory. `None` once there are no more.
    pub(super) fn next_job(self: &Arc<Self>) -> Option<ReadJob> {
        // Locked until the memory is there. Files are decided about in the order of the walk and keep their memory until then:
        // if a later file could take memory first, it might wait for this one, and this one for its memory.
        let mut walked = lock_unpoisoned(&self.walked);
        let (number, (path, bytes)) = walked.next()?;
        let memory = self.reserve_memory(parse_memory(bytes));
        Some(ReadJob {
            number,
            path,
            memory,
        })
    }

    fn reserve_memory(self: &Arc<Self>, bytes: usize) -> MemoryShare {
        assert!(
            bytes <= MEMORY_BYTES_MAX,
            "who asks for more than there is waits for ever"
        );
        let free = lock_unpoisoned(&self.free);
        let enough = self.freed.wait_while(free, |free| *free < bytes);
        *enough.unwrap_or_else(PoisonError::into_inner) -= bytes;
        MemoryShare {
            queue: Arc::clone(self),
            bytes,
        }
    }
}

/// Memory of a file of so many bytes while it is parsed. A file that needs more than there is gets all of it.
fn parse_memory(bytes: usize) -> usize {
    // Longer files are read in pieces.
    let at_once = bytes.min(PARSE_BYTES_MAX);
    let memory = (bytes - at_once).saturating_add(at_once * PARSE_MEMORY_PER_BYTE);
    memory.min(MEMORY_BYTES_MAX)
}

impl MemoryShare {
    /// Keeps so many bytes at most, and returns the rest.
    pub(super) fn shrink_to(&mut self, kept: usize) {
        let returned = self.bytes.saturating_sub(kept);
        self.bytes -= returned;
        {
            let mut free = lock_unpoisoned(&self.queue.free);
            *free += returned;
            debug_assert!(*free <= MEMORY_BYTES_MAX, "more was returned than taken");
        }
        self.queue.freed.notify_all();
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

fn lock_unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use crossbeam_channel::bounded;

    use super::*;

    /// A queue of files of these sizes, after which no more will come.
    fn queue(sizes: &[usize]) -> Arc<ReadQueue> {
        let (walk, walked) = bounded(sizes.len());
        for &bytes in sizes {
            walk.send((RelPath::from_normalised("a.c"), bytes)).unwrap();
        }
        ReadQueue::new(walked)
    }

    /// A file waits until those before it leave enough memory.
    #[test]
    fn waits_for_memory() {
        let queue = queue(&[PARSE_BYTES_MAX, PARSE_BYTES_MAX, 1]);
        let mut first = queue.next_job().unwrap();
        let others = thread::spawn({
            let queue = Arc::clone(&queue);
            move || [(); 2].map(|()| queue.next_job().unwrap().number)
        });
        first.memory.shrink_to(2 << 20);
        assert!(!others.is_finished(), "what is kept leaves too little");
        drop(first);
        assert_eq!(others.join().unwrap(), [1, 2]);
        assert!(queue.next_job().is_none());
        assert_eq!(*lock_unpoisoned(&queue.free), MEMORY_BYTES_MAX);
    }

    /// A file that needs more memory than there is gets all of it.
    #[test]
    fn oversized_file() {
        let queue = queue(&[1 << 30]);
        let large = queue.next_job().unwrap();
        assert_eq!(large.memory.bytes, MEMORY_BYTES_MAX);
    }
}
