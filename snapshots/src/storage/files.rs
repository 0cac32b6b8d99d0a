//! Files as programs see them, as they are on the platter, and the changes that aren't synced yet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::image::Image;
use super::power_loss::PowerLoss;

/// A file's identity, which doesn't depend on its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileId(u64);

#[derive(Clone, Debug, Default)]
struct FileBytes {
    /// As programs see them.
    current: Vec<u8>,
    /// As they were synced.
    durable: Vec<u8>,
}

/// A change that isn't durable.
#[derive(Clone, Debug)]
enum PendingChange {
    Write {
        file: FileId,
        offset: usize,
        bytes: Vec<u8>,
    },
    Resize {
        file: FileId,
        size: usize,
    },
    Link {
        path: PathBuf,
        file: FileId,
    },
    Unlink {
        path: PathBuf,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
}

impl PendingChange {
    fn is_of(&self, of: FileId) -> bool {
        matches!(self, Self::Write { file, .. } | Self::Resize { file, .. } if *file == of)
    }

    const fn is_name(&self) -> bool {
        matches!(
            self,
            Self::Link { .. } | Self::Unlink { .. } | Self::Rename { .. }
        )
    }
}

type Names = BTreeMap<PathBuf, FileId>;

/// All files of a disk. Changes are pending, in their order, until they are synced.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    files: BTreeMap<FileId, FileBytes>,
    names: Names,
    durable_names: Names,
    pending: Vec<PendingChange>,
    next: u64,
}

impl Files {
    /// Files that are all synced.
    pub(super) fn from_image(image: &Image) -> Self {
        let mut files = Self::default();
        for (path, bytes) in &image.0 {
            let file = files.add_file(FileBytes {
                current: bytes.clone(),
                durable: bytes.clone(),
            });
            files.names.insert(path.clone(), file);
        }
        files.durable_names = files.names.clone();
        files
    }

    pub(super) fn find(&self, path: &Path) -> Option<FileId> {
        self.names.get(path).copied()
    }

    pub(super) fn bytes(&self, file: FileId) -> &[u8] {
        self.files.get(&file).map_or(&[], |file| &file.current)
    }

    /// The total size of all files in bytes, as programs see them.
    pub(super) fn used_bytes(&self) -> usize {
        self.names
            .values()
            .map(|file| self.bytes(*file).len())
            .sum()
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.names.keys().map(PathBuf::as_path)
    }

    pub(super) fn create(&mut self, path: &Path) -> FileId {
        let file = self.add_file(FileBytes::default());
        self.names.insert(path.to_owned(), file);
        self.pending.push(PendingChange::Link {
            path: path.to_owned(),
            file,
        });
        file
    }

    pub(super) fn write(&mut self, file: FileId, offset: usize, bytes: &[u8]) {
        overwrite(self.current_bytes(file), offset, bytes);
        self.pending.push(PendingChange::Write {
            file,
            offset,
            bytes: bytes.to_owned(),
        });
    }

    pub(super) fn resize(&mut self, file: FileId, size: usize) {
        self.current_bytes(file).resize(size, 0);
        self.pending.push(PendingChange::Resize { file, size });
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) {
        rename(&mut self.names, from, to);
        self.pending.push(PendingChange::Rename {
            from: from.to_owned(),
            to: to.to_owned(),
        });
    }

    pub(super) fn remove(&mut self, path: &Path) {
        self.names.remove(path);
        self.pending.push(PendingChange::Unlink {
            path: path.to_owned(),
        });
    }

    pub(super) fn sync(&mut self, file: FileId) {
        self.make_durable(|pending| pending.is_of(file));
    }

    /// Makes all names durable, as a journaling file system does when one directory is synced.
    pub(super) fn sync_names(&mut self) {
        self.make_durable(PendingChange::is_name);
    }

    /// Drops the file's unsynced changes, which then never reach the disk.
    pub(super) fn drop_unsynced(&mut self, file: FileId) {
        self.pending.retain(|pending| !pending.is_of(file));
    }

    /// Everything as programs see it.
    pub(super) fn image(&self) -> Image {
        let file = |(path, file): (&PathBuf, &FileId)| (path.clone(), self.bytes(*file).to_owned());
        Image(self.names.iter().map(file).collect())
    }

    /// The files that a power loss now would leave.
    pub(super) fn image_after(&self, loss: PowerLoss) -> Image {
        let mut durable: BTreeMap<FileId, Vec<u8>> = self
            .files
            .iter()
            .map(|(id, file)| (*id, file.durable.clone()))
            .collect();
        let mut names = self.durable_names.clone();
        let name_changes = self.pending.iter().filter(|pending| pending.is_name());
        let mut survival = loss.survival_of(self.pending.len(), name_changes.count());
        for pending in &self.pending {
            match pending {
                PendingChange::Write {
                    file,
                    offset,
                    bytes,
                } => {
                    for piece in survival.kept_pieces(*offset, bytes.len()) {
                        let at = offset + piece.start;
                        overwrite(durable.entry(*file).or_default(), at, &bytes[piece]);
                    }
                }
                PendingChange::Resize { file, size } => {
                    if survival.keeps_whole() {
                        durable.entry(*file).or_default().resize(*size, 0);
                    }
                }
                _ => {
                    if survival.keeps_name() {
                        apply_name(&mut names, pending);
                    }
                }
            }
        }
        let file = |(path, file)| (path, durable.get(&file).cloned().unwrap_or_default());
        Image(names.into_iter().map(file).collect())
    }

    fn add_file(&mut self, file: FileBytes) -> FileId {
        let id = FileId(self.next);
        self.next += 1;
        self.files.insert(id, file);
        id
    }

    fn current_bytes(&mut self, file: FileId) -> &mut Vec<u8> {
        &mut self.files.entry(file).or_default().current
    }

    fn make_durable(&mut self, which: impl Fn(&PendingChange) -> bool) {
        let (durable, pending): (Vec<_>, Vec<_>) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition(which);
        self.pending = pending;
        for change in durable {
            match change {
                PendingChange::Write {
                    file,
                    offset,
                    bytes,
                } => overwrite(
                    &mut self.files.entry(file).or_default().durable,
                    offset,
                    &bytes,
                ),
                PendingChange::Resize { file, size } => {
                    self.files.entry(file).or_default().durable.resize(size, 0)
                }
                name => apply_name(&mut self.durable_names, &name),
            }
        }
    }
}

fn apply_name(names: &mut Names, change: &PendingChange) {
    match change {
        PendingChange::Link { path, file } => {
            names.insert(path.clone(), *file);
        }
        PendingChange::Unlink { path } => {
            names.remove(path);
        }
        PendingChange::Rename { from, to } => rename(names, from, to),
        PendingChange::Write { .. } | PendingChange::Resize { .. } => {}
    }
}

fn rename(names: &mut Names, from: &Path, to: &Path) {
    if let Some(file) = names.remove(from) {
        names.insert(to.to_owned(), file);
    }
}

/// Writes into bytes; a gap between their end and the offset becomes zeros.
fn overwrite(into: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if into.len() < end {
        into.resize(end, 0);
    }
    into[offset..end].copy_from_slice(bytes);
}
