//! A disk's files as plain bytes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files by their full paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image(pub BTreeMap<PathBuf, Vec<u8>>);

impl Image {
    /// A file's bytes; empty if there is none.
    #[must_use]
    pub fn bytes(&self, file: &Path) -> &[u8] {
        self.0.get(file).map_or(&[], Vec::as_slice)
    }

    /// Puts a file in place.
    pub fn put(&mut self, file: &Path, bytes: Vec<u8>) {
        self.0.insert(file.to_owned(), bytes);
    }

    /// Removes a file, if it is there.
    pub fn remove(&mut self, file: &Path) {
        self.0.remove(file);
    }

    /// Flips a bit of a file.
    ///
    /// # Panics
    /// When the file is shorter.
    pub fn flip_bit(&mut self, file: &Path, byte: usize, bit: u8) {
        let found = self.0.get_mut(file).and_then(|bytes| bytes.get_mut(byte));
        let Some(found) = found else {
            panic!("{} has no byte {byte}", file.display());
        };
        *found ^= 1 << (bit % 8);
    }
}
