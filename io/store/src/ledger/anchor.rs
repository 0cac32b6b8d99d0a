//! The head anchor: position and chain hash of the last commit, in a file of its own next to the database.
//!
//! A chain that lost its tail is still a valid chain, and SQLite silently treats a damaged WAL as a shorter one. So after
//! every commit the new head is written here and synced. Two slots take turns, each in a disk block of its own with a
//! checksum: a torn write damages one of them and leaves the other.

use std::io;
use std::path::{Path, PathBuf};

use tslp_core::ids::Seq;
use tslp_replay::chain::ChainHash;
use tslp_replay::log::Head;

use super::disk::{Disk, Medium};
use super::error::LedgerError;

const _: () = assert!(SLOT_BYTES <= SLOT_STRIDE);

/// Distance of the two slots: no disk writes larger blocks than this in one piece that could tear both.
pub const SLOT_STRIDE: usize = 4096;

const MAGIC: &[u8; 8] = b"TSLPANC1";
const SLOT_BYTES: usize = 8 + 8 + 8 + 32 + 32;
const FILE_BYTES: usize = 2 * SLOT_STRIDE;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AnchorSlot {
    /// Counts writes; the higher one is newer.
    generation: u64,
    head: Head,
}

impl AnchorSlot {
    fn encode(self) -> [u8; SLOT_BYTES] {
        let mut bytes = [0; SLOT_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..16].copy_from_slice(&self.generation.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.head.seq.0.to_le_bytes());
        bytes[24..56].copy_from_slice(&self.head.chain.0);
        let checksum = blake3::hash(&bytes[..56]);
        bytes[56..].copy_from_slice(checksum.as_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; SLOT_BYTES] = bytes.get(..SLOT_BYTES)?.try_into().ok()?;
        let intact = bytes[..8] == *MAGIC && blake3::hash(&bytes[..56]) == bytes[56..];
        let number = |at: usize| Some(u64::from_le_bytes(bytes[at..at + 8].try_into().ok()?));
        let slot = Self {
            generation: number(8)?,
            head: Head {
                seq: Seq(number(16)?),
                chain: ChainHash(bytes[24..56].try_into().ok()?),
            },
        };
        intact.then_some(slot)
    }

    /// The position of a generation's slot in the file.
    const fn offset(generation: u64) -> usize {
        (generation % 2) as usize * SLOT_STRIDE
    }
}

fn newest_slot(bytes: &[u8]) -> Option<AnchorSlot> {
    [0, SLOT_STRIDE]
        .into_iter()
        .filter_map(|offset| AnchorSlot::decode(bytes.get(offset..)?))
        .max_by_key(|slot| slot.generation)
}

/// The state of an anchor file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnchorState {
    /// There is no such file.
    Missing,
    /// No slot is intact.
    Damaged,
    /// The head that was durable last.
    Head(Head),
}

/// Reads an anchor file without changing it.
///
/// # Errors
/// When it exists and can't be read.
pub fn read(disk: &dyn Disk, path: &Path) -> Result<AnchorState, LedgerError> {
    let bytes = match disk.read(path, FILE_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(AnchorState::Missing),
        Err(source) => return Err(LedgerError::on_file("read", path)(source)),
    };
    Ok(newest_slot(&bytes).map_or(AnchorState::Damaged, |slot| AnchorState::Head(slot.head)))
}

/// An anchor file that follows the ledger's head.
pub struct Anchor {
    medium: Box<dyn Medium>,
    path: PathBuf,
    generation: u64,
    head: Head,
    /// Whether this process has synced the head that it vouches for.
    synced: bool,
}

impl Anchor {
    /// Makes a new anchor file, or replaces one, so that either the old or the new one is there after a crash.
    ///
    /// # Errors
    /// When the file can't be written and synced.
    pub fn create(disk: &dyn Disk, path: &Path, head: Head) -> Result<Self, LedgerError> {
        let fresh = path.with_extension("anchor.new");
        let first = AnchorSlot {
            generation: 0,
            head,
        };
        // At its full size from the beginning, so that an advance changes bytes in place and nothing else.
        let mut bytes = vec![0; FILE_BYTES];
        bytes[..SLOT_BYTES].copy_from_slice(&first.encode());
        let write = || -> io::Result<Box<dyn Medium>> {
            let mut file = disk.create(&fresh)?;
            file.write_at(0, &bytes)?;
            // Synced before renamed: some file systems would make the name durable before the bytes.
            file.sync()?;
            disk.rename(&fresh, path)?;
            disk.sync_name(path)?;
            Ok(file)
        };
        Ok(Self {
            medium: write().map_err(LedgerError::on_file("create", path))?,
            path: path.to_owned(),
            generation: 0,
            head,
            synced: true,
        })
    }

    /// Opens an anchor file to follow the head from now on.
    ///
    /// # Errors
    /// When it can't be opened, or no slot is intact.
    pub fn open(disk: &dyn Disk, path: &Path) -> Result<Self, LedgerError> {
        let file = disk
            .open(path)
            .map_err(LedgerError::on_file("open", path))?;
        Self::on_medium(file, path)
    }

    /// Follows the head on any medium.
    ///
    /// # Errors
    /// When it can't be read, or no slot is intact.
    pub fn on_medium(mut medium: Box<dyn Medium>, path: &Path) -> Result<Self, LedgerError> {
        let bytes = medium
            .read(FILE_BYTES)
            .map_err(LedgerError::on_file("read", path))?;
        let slot = newest_slot(&bytes).ok_or_else(|| {
            let problem = "no slot of the anchor is intact";
            LedgerError::on_file("read", path)(io::Error::new(io::ErrorKind::InvalidData, problem))
        })?;
        Ok(Self {
            medium,
            path: path.to_owned(),
            generation: slot.generation,
            head: slot.head,
            synced: false,
        })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The head that it vouches for, which may be only in the page cache: a sync may have failed.
    #[must_use]
    pub const fn head(&self) -> Head {
        self.head
    }

    /// Whether it certainly vouches for this head on disk.
    #[must_use]
    pub fn has_synced(&self, head: Head) -> bool {
        self.synced && self.head == head
    }

    /// Writes the head over the older slot and syncs it.
    ///
    /// # Errors
    /// When it may not be on disk; the newer slot is still intact then.
    pub fn advance(&mut self, head: Head) -> Result<(), LedgerError> {
        let slot = AnchorSlot {
            // Its slot is the older one's place, so that a torn write leaves the newer one readable.
            generation: self.generation + 1,
            head,
        };
        self.medium
            .write_at(AnchorSlot::offset(slot.generation), &slot.encode())
            .and_then(|()| self.medium.sync())
            .map_err(LedgerError::on_file("write", &self.path))?;
        // Only after the sync: a failed write leaves the generation, so that the next attempt overwrites the same, older slot.
        self.generation = slot.generation;
        self.head = head;
        self.synced = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::disk::FileSystem;
    use super::*;

    fn head(seq: u64) -> Head {
        Head {
            seq: Seq(seq),
            chain: ChainHash([u8::try_from(seq).unwrap(); 32]),
        }
    }

    fn check(path: &Path, expected: AnchorState) {
        assert_eq!(read(&FileSystem, path).unwrap(), expected);
    }

    #[test]
    fn newest_head() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ledger.anchor");
        check(&path, AnchorState::Missing);
        let mut anchor = Anchor::create(&FileSystem, &path, head(0)).unwrap();
        check(&path, AnchorState::Head(head(0)));
        for seq in 1..5 {
            anchor.advance(head(seq)).unwrap();
            check(&path, AnchorState::Head(head(seq)));
        }
        drop(anchor);
        Anchor::open(&FileSystem, &path)
            .unwrap()
            .advance(head(9))
            .unwrap();
        check(&path, AnchorState::Head(head(9)));
    }

    /// A write that is torn at any byte leaves the slot before it intact.
    #[test]
    fn torn_write() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ledger.anchor");
        let mut anchor = Anchor::create(&FileSystem, &path, head(1)).unwrap();
        anchor.advance(head(2)).unwrap();
        let before = std::fs::read(&path).unwrap();
        anchor.advance(head(3)).unwrap();
        let after = std::fs::read(&path).unwrap();
        for torn in 0..=SLOT_BYTES {
            let mut bytes = before.clone();
            bytes[..torn].copy_from_slice(&after[..torn]);
            std::fs::write(&path, bytes).unwrap();
            let expected = if torn == SLOT_BYTES { 3 } else { 2 };
            check(&path, AnchorState::Head(head(expected)));
        }
    }

    #[test]
    fn no_intact_slot() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ledger.anchor");
        for bytes in [vec![], vec![0; 100], vec![255; FILE_BYTES]] {
            std::fs::write(&path, bytes).unwrap();
            check(&path, AnchorState::Damaged);
            assert!(Anchor::open(&FileSystem, &path).is_err());
        }
    }

    #[test]
    fn failed_sync() {
        struct Failing(Vec<u8>);
        impl Medium for Failing {
            fn read_at(&mut self, _: usize, _: usize) -> io::Result<Vec<u8>> {
                Ok(self.0.clone())
            }
            fn write_at(&mut self, _: usize, _: &[u8]) -> io::Result<()> {
                Ok(())
            }
            fn sync(&mut self) -> io::Result<()> {
                Err(io::Error::other("the disk is gone"))
            }
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ledger.anchor");
        Anchor::create(&FileSystem, &path, head(1)).unwrap();
        let medium = Failing(std::fs::read(&path).unwrap());
        let mut anchor = Anchor::on_medium(Box::new(medium), &path).unwrap();
        let error = anchor.advance(head(2)).unwrap_err().to_string();
        assert!(error.contains("the disk is gone"), "{error}");
    }
}
