//! Content and the archives' rows, which the engine's state doesn't hold: read from the ledger, the latest cached.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;

use tslp_core::event::{Event, RecordChanged};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::Seq;
use tslp_core::recent_map::RecentMap;
use tslp_projections::edits::EditRow;
use tslp_projections::row::StoredRow;
use tslp_projections::sources::OutdatedRow;
use tslp_projections::store::{Store, Unreadable};
use tslp_projections::table::Value;
use tslp_projections::vault::VaultLocation;

use crate::ledger::{LedgerError, LedgerReader};

/// Bytes of content in one generation of the cache; there are two, the one being filled and the one before.
const GENERATION_BYTES_MAX: usize = 2 << 20;

/// Bytes of records in one generation: many times what one prompt is shown.
const RECORDS_BYTES_MAX: usize = 256 << 10;

/// Locations in one generation, of 100 bytes each. A client sends its whole history with each prompt, and each message is looked
/// up: as many as one request may have, since a cyclic scan of one more than fits misses every time.
const GENERATION_LOCATIONS: usize = 8192;

/// The ledger through a read-only connection.
pub struct ContentCache {
    reader: LedgerReader,
    /// Whether the archives' tables are read.
    has_archives: bool,
    contents: RefCell<RecentMap<Seq, Arc<[u8]>>>,
    records: RefCell<RecentMap<Seq, Arc<RecordChanged>>>,
    /// Rows of the Vault never change, so what was found stays found.
    locations: RefCell<RecentMap<ArtifactHash, VaultLocation>>,
}

impl ContentCache {
    /// Reads through this connection.
    #[must_use]
    pub fn new(reader: LedgerReader) -> Self {
        Self {
            reader,
            has_archives: true,
            contents: RefCell::new(RecentMap::of_bytes(GENERATION_BYTES_MAX)),
            records: RefCell::new(RecentMap::of_bytes(RECORDS_BYTES_MAX)),
            locations: RefCell::new(RecentMap::new(GENERATION_LOCATIONS)),
        }
    }

    /// The same with archives that count as empty, since they may be damaged, missing or of another version.
    #[must_use]
    pub fn without_archives(self) -> Self {
        Self {
            has_archives: false,
            ..self
        }
    }
}

impl Store for ContentCache {
    fn archived(&self) -> Seq {
        if !self.has_archives {
            return Seq(0);
        }
        self.reader.rows_written().unwrap_or_else(|error| {
            tracing::error!(%error, "memory keeps what may be stored");
            Seq(0)
        })
    }

    fn content(&self, seq: Seq) -> Option<Arc<[u8]>> {
        if let Some(bytes) = self.contents.borrow_mut().get(&seq) {
            return Some(Arc::clone(bytes));
        }
        match self.reader.content_at(seq) {
            Ok(bytes) => {
                let bytes: Arc<[u8]> = bytes.into();
                let mut contents = self.contents.borrow_mut();
                contents.insert(seq, Arc::clone(&bytes), bytes.len());
                Some(bytes)
            }
            // Not cached: the disk may answer again when the next prompt asks.
            Err(error) => {
                tracing::error!(%error, %seq, "content can't be read from the ledger; it is not hydrated");
                None
            }
        }
    }

    fn record(&self, seq: Seq) -> Option<Arc<RecordChanged>> {
        let mut records = self.records.borrow_mut();
        if let Some(record) = records.get(&seq) {
            return Some(Arc::clone(record));
        }
        let Some(Event::RecordChanged(record)) = self.reader.event_at(seq).map(|it| it.event)
        else {
            tracing::error!(%seq, "a record can't be read from the ledger; it is not shown");
            return None;
        };
        let size = record.statement.len() + record.path.len() + record.quotation.len();
        let record = Arc::new(record);
        records.insert(seq, Arc::clone(&record), size);
        Some(record)
    }

    fn location(&self, artifact: ArtifactHash) -> Result<Option<VaultLocation>, Unreadable> {
        if let Some(location) = self.locations.borrow_mut().get(&artifact) {
            return Ok(Some(location.clone()));
        }
        let location = self.archive_row::<VaultLocation>(|it| it.find_stored((artifact,)))?;
        // Only what was found: an artifact that isn't there yet may be captured with the next reply.
        if let Some(location) = &location {
            let mut locations = self.locations.borrow_mut();
            locations.insert(artifact, location.clone(), 1);
        }
        Ok(location)
    }

    fn outdated_since(&self, artifact: ArtifactHash) -> Result<Option<Seq>, Unreadable> {
        let found = self.archive_row::<OutdatedRow>(|it| it.find_stored((artifact,)))?;
        Ok(found.map(|row| row.seq))
    }

    fn made_by(&self, text: ArtifactHash, until: Seq) -> Result<Option<ArtifactHash>, Unreadable> {
        let found = self.archive_row(|it| {
            let (first, mut last) = (Value::Hash(text.0), None);
            it.visit_stored_from(&first, &mut |row: EditRow| {
                let is_meant = row.text == text && row.seq <= until;
                if !is_meant {
                    return ControlFlow::Break(());
                }
                last = Some(row);
                ControlFlow::Continue(())
            })?;
            Ok(last)
        })?;
        Ok(found.map(|row| row.artifact))
    }
}

impl ContentCache {
    /// The row that is found, if there is one and it is written; logs why it can't be read.
    fn archive_row<R: StoredRow>(
        &self,
        find: impl FnOnce(&LedgerReader) -> Result<Option<R>, LedgerError>,
    ) -> Result<Option<R>, Unreadable> {
        if !self.has_archives {
            return Ok(None);
        }
        find(&self.reader).map_err(|error| {
            let table = R::TABLE.name;
            tracing::error!(%error, table, "a row can't be read; nothing is shown that depends on it");
            Unreadable
        })
    }
}
