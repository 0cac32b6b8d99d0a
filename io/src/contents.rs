//! What the engine's state doesn't hold: content and the archives' rows, read from the ledger, the last ones kept at hand.

use std::cell::RefCell;
use std::sync::Arc;

use tslp_core::hash::ArtifactHash;
use tslp_core::ids::Seq;
use tslp_core::recent_map::RecentMap;
use tslp_projections::table::Value;
use tslp_projections::vault::VaultLocation;
use tslp_projections::{EDITS, OUTDATED, VAULT, edits, sources};
use tslp_replay::store::{Store, Unreadable};

use crate::ledger::{ArchiveRows as _, LedgerError, LedgerReader};

/// Bytes kept at hand, twice: in the generation that is filling and in the one before.
const GENERATION_BYTES_MAX: usize = 2 << 20;

/// Locations kept at hand, twice likewise. A client sends its whole history with each prompt, and each message is asked
/// for; 100 bytes each. As many as one request may have, since those that are asked for in turn are all forgotten where one more
/// of them is than fits.
const GENERATION_LOCATIONS: usize = 8192;

/// Whether the archives' tables can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Archives {
    /// They are what the ledger says.
    Sound,
    /// They may be damaged, missing or of another version, so they are left alone.
    Doubtful,
}

/// The ledger through a read-only connection.
pub struct StoredContents {
    reader: LedgerReader,
    archives: Archives,
    cache: RefCell<RecentMap<Seq, Arc<[u8]>>>,
    /// Rows of the Vault never change, so what was found stays found.
    locations: RefCell<RecentMap<ArtifactHash, VaultLocation>>,
}

impl StoredContents {
    /// Reads through this connection.
    #[must_use]
    pub fn new(reader: LedgerReader, archives: Archives) -> Self {
        Self {
            reader,
            archives,
            cache: RefCell::new(RecentMap::new(GENERATION_BYTES_MAX)),
            locations: RefCell::new(RecentMap::new(GENERATION_LOCATIONS)),
        }
    }
}

impl Store for StoredContents {
    fn has_archives(&self) -> bool {
        self.archives == Archives::Sound
    }

    fn content(&self, seq: Seq) -> Option<Arc<[u8]>> {
        if let Some(bytes) = self.cache.borrow_mut().get(&seq) {
            return Some(Arc::clone(bytes));
        }
        match self.reader.content_at(seq) {
            Ok(bytes) => {
                let bytes: Arc<[u8]> = bytes.into();
                let mut cache = self.cache.borrow_mut();
                cache.insert(seq, Arc::clone(&bytes), bytes.len());
                Some(bytes)
            }
            Err(error) => {
                tracing::error!(%error, %seq, "content can't be read from the ledger; it is not hydrated");
                None
            }
        }
    }

    fn location(&self, artifact: ArtifactHash) -> Result<Option<VaultLocation>, Unreadable> {
        if let Some(location) = self.locations.borrow_mut().get(&artifact) {
            return Ok(Some(*location));
        }
        let found = self.row(VAULT, artifact);
        let location = read(VAULT, found, VaultLocation::of_row)?;
        if let Some(location) = location {
            self.locations.borrow_mut().insert(artifact, location, 1);
        }
        Ok(location)
    }

    fn outdated_since(&self, artifact: ArtifactHash) -> Result<Option<Seq>, Unreadable> {
        let found = self.row(OUTDATED, artifact);
        read(OUTDATED, found, sources::since_of_row)
    }

    fn made_by(&self, text: ArtifactHash, until: Seq) -> Result<Option<ArtifactHash>, Unreadable> {
        if !self.has_archives() {
            return Ok(None);
        }
        let key = [Value::from(&text.0), Value::from(until.0)];
        let found = self.reader.row_until(EDITS, &key);
        read(EDITS, found, edits::made_of_row)
    }
}

impl StoredContents {
    fn row(&self, table: usize, key: ArtifactHash) -> Result<Option<Vec<Value>>, LedgerError> {
        match self.archives {
            Archives::Sound => self.reader.row(table, &[Value::from(&key.0)]),
            Archives::Doubtful => Ok(None),
        }
    }
}

/// What a row of a table says.
fn read<T>(
    table: usize,
    found: Result<Option<Vec<Value>>, LedgerError>,
    parse: impl FnOnce(&[Value]) -> Option<T>,
) -> Result<Option<T>, Unreadable> {
    let table = tslp_projections::TABLES[table].name;
    match found {
        Ok(None) => Ok(None),
        Ok(Some(row)) => {
            let parsed = parse(&row);
            if parsed.is_none() {
                tracing::error!(table, "a row holds what it can't: run `tslp rebuild`");
            }
            parsed.map(Some).ok_or(Unreadable)
        }
        Err(error) => {
            tracing::error!(%error, table, "a row can't be read; nothing is shown that depends on it");
            Err(Unreadable)
        }
    }
}
