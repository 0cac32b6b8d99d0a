//! A checkpoint's file: a header, then part after part, each with its length and its hash. Written under another name and
//! renamed once it is synced, so that the old one or the new one is there.

use std::io;
use std::path::{Path, PathBuf};

use tslp_migrations::checkpoint as layout;
use tslp_projections::part::Part;
use tslp_replay::log::Head;
use tslp_replay::state::{Restoring, State};

use super::header::{self, Header};
use super::{Loaded, Mark, NotWritten, Unusable};
use crate::ledger::disk::{Disk, Medium};

/// What stands before each part's bytes: their length and their hash.
const FRAME_BYTES: usize = 8 + 32;

/// Bytes read at once; a longer part is read for itself.
const READ_BYTES: usize = 1 << 20;

/// A checkpoint that is being written.
pub struct Writing<'d> {
    disk: &'d dyn Disk,
    medium: Box<dyn Medium>,
    path: PathBuf,
    fresh: PathBuf,
    sum: Sum,
}

/// What the header says of the parts that follow it.
#[derive(Default)]
pub(super) struct Sum {
    parts: u64,
    body_bytes: u64,
    hashes: blake3::Hasher,
}

impl Sum {
    /// Counts the next part.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<(), NotWritten> {
        self.count(bytes.len(), blake3::hash(bytes));
        Ok(())
    }

    fn count(&mut self, bytes: usize, hash: blake3::Hash) {
        self.parts += 1;
        self.body_bytes += (FRAME_BYTES + bytes) as u64;
        self.hashes.update(hash.as_bytes());
    }

    /// The hash over everything.
    pub(super) fn hash(&self, head: Head) -> [u8; 32] {
        header::hash(&self.header(head))
    }

    fn header(&self, head: Head) -> [u8; header::BYTES] {
        let header = Header {
            head,
            parts: self.parts,
            body_bytes: self.body_bytes,
        };
        header.encode(self.hashes.clone())
    }
}

impl<'d> Writing<'d> {
    /// Begins under another name.
    ///
    /// # Errors
    /// When the disk takes no file.
    pub fn begin(disk: &'d dyn Disk, path: &Path) -> Result<Self, NotWritten> {
        let fresh = path.with_extension("checkpoint.new");
        Ok(Self {
            disk,
            medium: disk.create(&fresh)?,
            path: path.to_owned(),
            fresh,
            sum: Sum::default(),
        })
    }

    /// Writes the next part.
    ///
    /// # Errors
    /// When the disk doesn't take it; there is nothing to do then but [`Self::abandon`].
    pub fn add(&mut self, part: &Part) -> Result<(), NotWritten> {
        let bytes = layout::encode(part)?;
        let hash = blake3::hash(&bytes);
        let mut framed = Vec::with_capacity(FRAME_BYTES + bytes.len());
        framed.extend((bytes.len() as u64).to_le_bytes());
        framed.extend(hash.as_bytes());
        framed.extend(bytes);
        self.medium.write_at(self.end(), &framed)?;
        self.sum.count(framed.len() - FRAME_BYTES, hash);
        Ok(())
    }

    /// As [`Self::add`], and leaves the checkpoint before as it is where that fails.
    ///
    /// # Errors
    /// When the disk doesn't take it.
    pub fn with(mut self, part: &Part) -> Result<Self, NotWritten> {
        match self.add(part) {
            Ok(()) => Ok(self),
            Err(error) => {
                self.abandon();
                Err(error)
            }
        }
    }

    fn end(&self) -> usize {
        header::BYTES + usize::try_from(self.sum.body_bytes).unwrap_or(usize::MAX / 2)
    }

    /// All parts are there: puts the file in the place of the one before. `head` must be durable.
    ///
    /// # Errors
    /// When the disk doesn't take it; the one before is still there, or this one.
    pub fn finish(mut self, head: Head) -> Result<(), NotWritten> {
        let finished = self.try_finish(head);
        if finished.is_err() {
            self.abandon();
        }
        Ok(finished?)
    }

    fn try_finish(&mut self, head: Head) -> io::Result<()> {
        self.medium.write_at(0, &self.sum.header(head))?;
        self.medium.sync()?;
        self.disk.rename(&self.fresh, &self.path)?;
        self.disk.sync_name(&self.path)
    }

    /// Leaves the checkpoint before as it is.
    pub fn abandon(self) {
        let Self { disk, fresh, .. } = self;
        // What is left there is no checkpoint, and the next one is written over it.
        let _ = disk.remove(&fresh);
    }
}

/// A checkpoint that is being read.
pub(super) struct Reading {
    medium: Box<dyn Medium>,
    block: Vec<u8>,
    header: Header,
    /// Bytes that were read and not taken yet.
    read: Vec<u8>,
    taken: usize,
    at: usize,
}

impl Reading {
    pub(super) fn open(disk: &dyn Disk, path: &Path) -> Result<Self, Unusable> {
        let mut medium = disk.open_to_read(path).map_err(unreadable)?;
        let block = medium.read_at(0, header::BYTES).map_err(unreadable)?;
        let header = Header::decode(&block)?;
        let bytes = disk.bytes(path).map_err(unreadable)?;
        if bytes.and_then(|bytes| bytes.checked_sub(header::BYTES as u64))
            != Some(header.body_bytes)
        {
            return Err(Unusable::Damaged("it has another length than it says"));
        }
        Ok(Self {
            medium,
            block,
            header,
            read: Vec::new(),
            taken: 0,
            at: header::BYTES,
        })
    }

    /// What the header says, believed only once [`Self::load`] has succeeded.
    pub(super) const fn head(&self) -> Head {
        self.header.head
    }

    /// Reads everything.
    pub(super) fn load(mut self) -> Result<Loaded, Unusable> {
        let state = self.state()?;
        let mark = Mark {
            head: self.header.head,
            hash: header::hash(&self.block),
        };
        Ok(Loaded { state, mark })
    }

    /// Reads all parts and puts the state together; nothing of it is handed out before the hash over everything fits.
    fn state(&mut self) -> Result<State, Unusable> {
        let mut restoring = Restoring::default();
        let mut hashes = blake3::Hasher::new();
        let mut left = self.header.body_bytes;
        for _ in 0..self.header.parts {
            left = left
                .checked_sub(FRAME_BYTES as u64)
                .ok_or(Unusable::Damaged("a part is missing"))?;
            let mut frame = [0; FRAME_BYTES];
            frame.copy_from_slice(self.take(FRAME_BYTES)?);
            let mut length = [0; 8];
            length.copy_from_slice(&frame[..8]);
            let length = u64::from_le_bytes(length);
            left = left
                .checked_sub(length)
                .ok_or(Unusable::Damaged("a part is longer than the file"))?;
            let length =
                usize::try_from(length).map_err(|_| Unusable::Damaged("a part is too long"))?;
            let bytes = self.take(length)?;
            if blake3::hash(bytes) != frame[8..] {
                return Err(Unusable::Damaged("a part isn't what its hash names"));
            }
            hashes.update(&frame[8..]);
            restoring.take(layout::decode(bytes)?)?;
        }
        if left != 0 {
            return Err(Unusable::Damaged("something follows its last part"));
        }
        if !header::vouches(&self.block, hashes) {
            return Err(Unusable::Damaged("it isn't what its hash names"));
        }
        Ok(restoring.finish(self.header.head.seq)?)
    }

    /// The next bytes.
    fn take(&mut self, bytes: usize) -> Result<&[u8], Unusable> {
        if self.read.len() - self.taken < bytes {
            self.read.drain(..self.taken);
            self.taken = 0;
            let wanted = (bytes - self.read.len()).max(READ_BYTES);
            let more = self.medium.read_at(self.at, wanted).map_err(unreadable)?;
            self.at += more.len();
            self.read.extend(more);
        }
        let found = self.read.get(self.taken..self.taken + bytes);
        self.taken += bytes;
        found.ok_or(Unusable::Damaged("it was cut"))
    }
}

fn unreadable(error: io::Error) -> Unusable {
    if error.kind() == io::ErrorKind::NotFound {
        Unusable::Missing
    } else {
        Unusable::Unreadable(error)
    }
}
