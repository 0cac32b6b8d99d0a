//! Bytes of content events for the engine: read from the ledger, the last ones kept at hand.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use tslp_core::ids::Seq;
use tslp_replay::state::Contents;

use crate::ledger::LedgerReader;

/// Bytes kept at hand, twice: in the generation that is filling and in the one before.
const GENERATION_BYTES_MAX: usize = 2 << 20;

/// Content events through a read-only connection.
pub struct StoredContents {
    reader: LedgerReader,
    cache: RefCell<Cache>,
}

#[derive(Default)]
struct Cache {
    young: HashMap<Seq, Arc<[u8]>>,
    old: HashMap<Seq, Arc<[u8]>>,
    young_bytes: usize,
}

impl StoredContents {
    /// Reads through this connection.
    #[must_use]
    pub fn new(reader: LedgerReader) -> Self {
        Self {
            reader,
            cache: RefCell::default(),
        }
    }
}

/// For an engine that is asked for nothing that needs older bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoContents;

impl Contents for NoContents {
    fn content(&self, _: Seq) -> Option<Arc<[u8]>> {
        None
    }
}

impl Contents for StoredContents {
    fn content(&self, seq: Seq) -> Option<Arc<[u8]>> {
        if let Some(bytes) = self.cache.borrow_mut().get(seq) {
            return Some(bytes);
        }
        match self.reader.content_at(seq) {
            Ok(bytes) => {
                let bytes: Arc<[u8]> = bytes.into();
                self.cache.borrow_mut().put(seq, &bytes);
                Some(bytes)
            }
            Err(error) => {
                tracing::error!(%error, %seq, "content can't be read from the ledger; it is not hydrated");
                None
            }
        }
    }
}

impl Cache {
    fn get(&mut self, seq: Seq) -> Option<Arc<[u8]>> {
        if let Some(bytes) = self.young.get(&seq) {
            return Some(Arc::clone(bytes));
        }
        let bytes = self.old.remove(&seq)?;
        self.put(seq, &bytes);
        Some(bytes)
    }

    fn put(&mut self, seq: Seq, bytes: &Arc<[u8]>) {
        if self.young_bytes + bytes.len() > GENERATION_BYTES_MAX {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += bytes.len();
        self.young.insert(seq, Arc::clone(bytes));
    }
}
