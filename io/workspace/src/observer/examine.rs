//! The observation of one path: one `stat` if it is unchanged, else a consistent read, hashed and parsed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tslp_core::event::{DiskFile, DiskFinding, ReadFailure};
use tslp_core::extract::{Extraction, Grammars};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::UnixMillis;
use tslp_core::path::RelPath;
use tslp_core::redact;

use super::DiskCheck;
use super::cache::{CacheBounds, CachedFile, FingerprintCache, IdentityTrust};
use super::clock::WallClock;
use super::etv_config::EtvConfig;
use super::files::{Files, OpenFile};
use super::fingerprint::Fingerprint;
use super::identity::Identity;

/// Most reads of a file that keeps changing while it is read.
const READS_MAX: usize = 4;

/// The state that all observer threads share. No lock is held during a call of the file system.
pub(super) struct ObserverShared {
    pub(super) grammars: Arc<dyn Grammars + Send + Sync>,
    pub(super) clock: Arc<dyn WallClock>,
    pub(super) read_bytes_max: u64,
    pub(super) adopt_on_touch: bool,
    pub(super) cache: Mutex<FingerprintCache>,
    /// Held while parsing: syntax trees are large, so there is only one at a time.
    pub(super) parsing: Mutex<()>,
    pub(super) counters: ObserverCounters,
}

/// Figures about the observer's work since it started.
#[derive(Debug, Default)]
pub struct ObserverCounters {
    unchanged: AtomicU64,
    reads: AtomicU64,
    parses: AtomicU64,
    failures: AtomicU64,
}

impl ObserverCounters {
    /// Checks answered by one `stat`.
    #[must_use]
    pub fn unchanged(&self) -> u64 {
        self.unchanged.load(Ordering::Relaxed)
    }

    /// The number of complete reads of files.
    #[must_use]
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// The number of parses.
    #[must_use]
    pub fn parses(&self) -> u64 {
        self.parses.load(Ordering::Relaxed)
    }

    /// Checks that ended as unreadable, late ones included.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }
}

/// A file's whole content, read while nothing about the file changed.
pub(super) struct SteadyContent {
    pub(super) bytes: Vec<u8>,
    pub(super) identity: Identity,
    read_at: UnixMillis,
}

/// Bytes as the ledger may hold them.
pub(super) fn text_of(bytes: &[u8]) -> Result<String, ReadFailure> {
    let text = String::from_utf8(redact::recordable(bytes).into_owned());
    text.map_err(|_| ReadFailure::Failed)
}

impl ObserverShared {
    pub(super) fn new(
        config: EtvConfig,
        grammars: Arc<dyn Grammars + Send + Sync>,
        clock: Arc<dyn WallClock>,
    ) -> Self {
        Self {
            grammars,
            clock,
            read_bytes_max: config.read_bytes_max,
            adopt_on_touch: config.adopt_on_touch,
            cache: Mutex::new(FingerprintCache::new(CacheBounds::DEFAULT)),
            parsing: Mutex::default(),
            counters: ObserverCounters::default(),
        }
    }

    pub(super) fn examine(&self, root: &dyn Files, check: &DiskCheck) -> DiskFinding {
        match self.disk_file(root, check) {
            Ok(Some(file)) => DiskFinding::File(file),
            Ok(None) => DiskFinding::Missing,
            Err(failure) => self.count_unreadable(failure),
        }
    }

    /// Counts a failure.
    pub(super) fn count_unreadable(&self, failure: ReadFailure) -> DiskFinding {
        increment(&self.counters.failures);
        DiskFinding::Unreadable(failure)
    }

    fn disk_file(
        &self,
        root: &dyn Files,
        check: &DiskCheck,
    ) -> Result<Option<DiskFile>, ReadFailure> {
        let known = lock_unpoisoned(&self.cache).get(&check.path);
        if let Some(known) = &known
            && known.trust == IdentityTrust::Settled
            // The whole identity: `stat` follows links that leave the workspace, and this file was opened beneath it.
            && root.identity(&check.path) == Some(known.identity)
            && let Some(file) = known.fingerprint.disk_file(&check.symbols)
        {
            increment(&self.counters.unchanged);
            let changed_at = known.identity.changed_at();
            return Ok(Some(DiskFile { changed_at, ..file }));
        }
        for _ in 0..READS_MAX {
            let Some(mut file) = root.open(&check.path)? else {
                return Ok(None);
            };
            if let Some(steady) = self.read(&mut *file)? {
                return Ok(Some(self.remember_fingerprint(check, steady, known)));
            }
        }
        Err(ReadFailure::Unsteady)
    }

    /// The file's text; `None` if there is no such file. Text that isn't UTF-8 can't be read.
    pub(super) fn file_text(
        &self,
        root: &dyn Files,
        path: &RelPath,
    ) -> Result<Option<String>, ReadFailure> {
        let steady = self.steady_content(root, path)?;
        steady.map(|it| text_of(&it.bytes)).transpose()
    }

    /// The file's bytes; `None` if there is no such file.
    pub(super) fn file_bytes(
        &self,
        root: &dyn Files,
        path: &RelPath,
    ) -> Result<Option<Vec<u8>>, ReadFailure> {
        Ok(self.steady_content(root, path)?.map(|it| it.bytes))
    }

    pub(super) fn steady_content(
        &self,
        root: &dyn Files,
        path: &RelPath,
    ) -> Result<Option<SteadyContent>, ReadFailure> {
        for _ in 0..READS_MAX {
            let Some(mut file) = root.open(path)? else {
                return Ok(None);
            };
            let steady = self.read(&mut *file)?;
            if steady.is_some() {
                return Ok(steady);
            }
        }
        Err(ReadFailure::Unsteady)
    }

    /// The file's content; `None` if the file changed meanwhile.
    fn read(&self, file: &mut dyn OpenFile) -> Result<Option<SteadyContent>, ReadFailure> {
        let identity = file.identity()?;
        if identity.exceeds(self.read_bytes_max) {
            return Err(ReadFailure::TooLarge);
        }
        increment(&self.counters.reads);
        // Before the read: a change during it must count as younger than what was read.
        let read_at = self.clock.now();
        let bytes = file.read(identity.bytes(), self.read_bytes_max.saturating_add(1))?;
        let after = file.identity()?;
        let steady = after == identity && identity.has_size(bytes.len());
        Ok(steady.then_some(SteadyContent {
            bytes,
            identity,
            read_at,
        }))
    }

    fn remember_fingerprint(
        &self,
        check: &DiskCheck,
        steady: SteadyContent,
        known: Option<CachedFile>,
    ) -> DiskFile {
        let raw = ArtifactHash::of(&steady.bytes);
        let bytes = redact::recordable(&steady.bytes);
        let answer = |fingerprint: Arc<Fingerprint>| {
            let file = fingerprint.disk_file(&check.symbols)?;
            Some((fingerprint, file))
        };
        // From the cheapest source to the dearest: the same bytes were parsed before far more often than not.
        let known = known.filter(|known| known.fingerprint.raw == raw);
        let (fingerprint, file) = known
            .and_then(|known| answer(known.fingerprint))
            .or_else(|| answer(self.last_seen(raw, &bytes, check)?))
            .or_else(|| answer(self.parse_file(raw, &bytes, &check.path)))
            .expect("who has parsed a file can tell of every symbol");
        let trust = if steady.identity.settled_at(steady.read_at) {
            IdentityTrust::Settled
        } else {
            IdentityTrust::Young
        };
        let known = CachedFile {
            identity: steady.identity,
            trust,
            fingerprint: Arc::clone(&fingerprint),
        };
        let changed_at = known.identity.changed_at();
        lock_unpoisoned(&self.cache).insert(check.path.clone(), known);
        DiskFile { changed_at, ..file }
    }

    /// The fingerprint from the last recorded observation, if the text is the same and the current grammar had read it.
    fn last_seen(
        &self,
        raw: ArtifactHash,
        bytes: &[u8],
        check: &DiskCheck,
    ) -> Option<Arc<Fingerprint>> {
        let seen = check.last_seen.as_ref()?;
        let grammar = seen.grammar.as_ref()?;
        let is_todays = self.grammars.tags().contains(grammar);
        let fingerprint = Fingerprint::last_seen(raw, bytes, seen)?;
        is_todays.then(|| lock_unpoisoned(&self.cache).share_fingerprint(fingerprint))
    }

    fn parse_file(&self, raw: ArtifactHash, bytes: &[u8], path: &RelPath) -> Arc<Fingerprint> {
        let extraction = self.extract_definitions(path, bytes);
        let fingerprint = Fingerprint::of(raw, bytes, extraction.as_ref());
        lock_unpoisoned(&self.cache).share_fingerprint(fingerprint)
    }

    fn extract_definitions(&self, path: &RelPath, bytes: &[u8]) -> Option<Extraction> {
        let language = self.grammars.language_of_path(path)?;
        let _one_at_a_time = lock_unpoisoned(&self.parsing);
        increment(&self.counters.parses);
        self.grammars.extract(language, bytes).ok()
    }
}

fn increment(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Locks, ignoring poison: each change is a single call, so a thread that panicked left a consistent state.
fn lock_unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
