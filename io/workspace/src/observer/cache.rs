//! Remembers fingerprints by path, so that an unchanged file costs one `stat`. Bounded.

use std::collections::HashMap;
use std::sync::Arc;

use tslp_core::extract::GrammarTag;
use tslp_core::path::RelPath;

use super::fingerprint::Fingerprint;
use super::identity::Identity;

/// A path's fingerprint and the identity of the file that it was made from.
#[derive(Clone, Debug)]
pub(super) struct CachedFile {
    pub(super) identity: Identity,
    /// Whether an unchanged identity means unchanged content.
    pub(super) trust: IdentityTrust,
    pub(super) fingerprint: Arc<Fingerprint>,
}

/// Whether an unchanged identity means unchanged content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdentityTrust {
    /// Any later change shows in the file's times.
    Settled,
    /// The file was so young when it was read that a change may not show.
    Young,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CacheBounds {
    pub(super) files: usize,
    pub(super) slices: usize,
}

impl CacheBounds {
    /// At most about 2 MB of paths and 3 MB of slice hashes: enough for a working set, not for a whole tree.
    pub(super) const DEFAULT: Self = Self {
        files: 8192,
        slices: 65_536,
    };
}

/// A cache of two generations: a used entry moves to the young one; when that is full, the old one is dropped.
pub(super) struct FingerprintCache {
    bounds: CacheBounds,
    young: CacheGeneration,
    old: CacheGeneration,
    tags: Vec<Arc<GrammarTag>>,
}

#[derive(Default)]
struct CacheGeneration {
    files: HashMap<RelPath, CachedFile>,
    slices: usize,
}

impl FingerprintCache {
    pub(super) fn new(bounds: CacheBounds) -> Self {
        Self {
            bounds,
            young: CacheGeneration::default(),
            old: CacheGeneration::default(),
            tags: Vec::new(),
        }
    }

    pub(super) fn get(&mut self, path: &RelPath) -> Option<CachedFile> {
        if let Some(known) = self.young.files.get(path) {
            return Some(known.clone());
        }
        let (path, known) = self.old.files.remove_entry(path)?;
        self.old.slices -= known.fingerprint.slice_count();
        self.insert(path, known.clone());
        Some(known)
    }

    pub(super) fn insert(&mut self, path: RelPath, known: CachedFile) {
        let slices = known.fingerprint.slice_count();
        let full = self.young.files.len() >= self.bounds.files / 2
            || self.young.slices + slices > self.bounds.slices / 2;
        if full {
            self.old = std::mem::take(&mut self.young);
        }
        // A file with more definitions than fit into a generation would empty both: it is read anew each time.
        if slices > self.bounds.slices / 2 {
            return;
        }
        self.young.slices += slices;
        if let Some(before) = self.young.files.insert(path, known) {
            self.young.slices -= before.fingerprint.slice_count();
        }
        debug_assert!(
            self.young.files.len() <= self.bounds.files / 2
                && self.young.slices <= self.bounds.slices / 2,
            "a generation holds half of the bound"
        );
    }

    /// Shares the grammar's tag among all fingerprints.
    pub(super) fn share_fingerprint(&mut self, mut fingerprint: Fingerprint) -> Arc<Fingerprint> {
        fingerprint.share_tag(&mut self.tags);
        Arc::new(fingerprint)
    }

    #[cfg(test)]
    fn held(&self) -> (usize, usize) {
        (
            self.young.files.len() + self.old.files.len(),
            self.young.slices + self.old.slices,
        )
    }
}

#[cfg(test)]
mod tests {
    use tslp_core::hash::ArtifactHash;

    use super::*;

    fn path(number: usize) -> RelPath {
        RelPath::from_normalised(&format!("f{number}.c"))
    }

    fn known() -> CachedFile {
        let stat = rustix::fs::stat("/").unwrap();
        CachedFile {
            identity: Identity::of_stat(&stat),
            trust: IdentityTrust::Settled,
            fingerprint: Arc::new(Fingerprint::of(ArtifactHash::of(b""), b"", None)),
        }
    }

    #[test]
    fn bounded_and_recent() {
        let mut cache = FingerprintCache::new(CacheBounds {
            files: 8,
            slices: 100,
        });
        for number in 0..100 {
            cache.insert(path(number), known());
            assert!(cache.held().0 <= 8, "{:?}", cache.held());
            assert!(cache.get(&path(0)).is_some(), "after {number}");
        }
        assert!(cache.get(&path(50)).is_none());
    }

    #[test]
    fn a_path_is_held_once() {
        let mut cache = FingerprintCache::new(CacheBounds::DEFAULT);
        cache.insert(path(1), known());
        cache.insert(path(1), known());
        assert_eq!(cache.held(), (1, 0));
    }
}
