//! A store in memory: the bytes of content events, and the archives' tables if it has them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use tslp_core::event::{Event, RecordChanged, Recorded};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::Seq;
use tslp_core::path::RelPath;
use tslp_projections::changes::RowChange;
use tslp_projections::edits::EditRow;
use tslp_projections::file_code::TrackedFileRow;
use tslp_projections::row::{Key as _, Row as _, StoredRow};
use tslp_projections::sources::OutdatedRow;
use tslp_projections::state::State;
use tslp_projections::state_map::StoredFiles;
use tslp_projections::store::{Store, Unreadable};
use tslp_projections::table::Value;
use tslp_projections::vault::VaultLocation;
use tslp_projections::{EDITS, OUTDATED, STATE_MAP, VAULT};

use crate::tables::Tables;

/// Stored data; clones share it.
#[derive(Clone, Default)]
pub struct MemoryStore(Rc<RefCell<StoredData>>);

#[derive(Default)]
struct StoredData {
    contents: BTreeMap<Seq, Arc<[u8]>>,
    records: BTreeMap<Seq, Arc<RecordChanged>>,
    archives: Option<Tables>,
}

impl MemoryStore {
    /// An empty store that has archives; by default there are none.
    #[must_use]
    pub fn with_archives() -> Self {
        let store = Self::default();
        store.0.borrow_mut().archives = Some(Tables::default());
        store
    }

    /// A whole ledger with its archives, by a fold that forgets each row at once.
    #[must_use]
    pub fn of_ledger(ledger: &[Recorded]) -> Self {
        let store = Self::with_archives();
        let mut state = State::default();
        state.follow_changes(true);
        for recorded in ledger {
            state.apply(recorded);
            let changes = state.take_changes();
            state.rows_made_durable(recorded.seq);
            store.append(std::slice::from_ref(recorded), changes);
        }
        store
    }

    /// Stores events that were appended, and their rows.
    pub fn append(&self, recorded: &[Recorded], changes: Vec<RowChange>) {
        let mut stored = self.0.borrow_mut();
        for recorded in recorded {
            match &recorded.event {
                Event::Content(content) => {
                    let bytes = Arc::clone(&content.bytes);
                    stored.contents.insert(recorded.seq, bytes);
                }
                Event::RecordChanged(record) => {
                    let record = Arc::new(record.clone());
                    stored.records.insert(recorded.seq, record);
                }
                _ => {}
            }
        }
        if let Some(archives) = &mut stored.archives {
            archives.apply(changes);
        }
    }

    /// All rows of one archive, by key.
    #[must_use]
    pub fn rows(&self, table: usize) -> Vec<Vec<Value>> {
        let stored = self.0.borrow();
        let archives = stored.archives.as_ref();
        archives.map_or_else(Vec::new, |tables| tables.rows(table))
    }

    fn find_row<R: StoredRow>(
        &self,
        find: impl FnOnce(&Tables) -> Option<&Vec<Value>>,
    ) -> Result<Option<R>, Unreadable> {
        let stored = self.0.borrow();
        let cells = stored.archives.as_ref().and_then(find);
        let row = cells.map(|cells| R::from_cells(cells)).transpose();
        row.map_err(|_| Unreadable)
    }
}

/// The rows of `state_map`; clones share them.
#[derive(Clone, Default)]
pub struct MemoryFiles(Arc<Mutex<Tables>>);

impl MemoryFiles {
    /// Stores rows that have changed.
    ///
    /// # Panics
    /// When a change doesn't fit the table.
    pub fn apply(&self, changes: &[RowChange]) {
        let of_files = changes.iter().filter(|it| it.table == STATE_MAP);
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.apply(of_files.cloned().collect());
    }
}

impl StoredFiles for MemoryFiles {
    fn tracked_file(&self, path: &RelPath) -> Option<TrackedFileRow> {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let row = rows.row(STATE_MAP, &(path.clone(),).into_cells())?;
        TrackedFileRow::from_cells(row).ok()
    }
}

impl Store for MemoryStore {
    fn archived(&self) -> Seq {
        let has_archives = self.0.borrow().archives.is_some();
        Seq(if has_archives { u64::MAX } else { 0 })
    }

    fn content(&self, seq: Seq) -> Option<Arc<[u8]>> {
        self.0.borrow().contents.get(&seq).cloned()
    }

    fn record(&self, seq: Seq) -> Option<Arc<RecordChanged>> {
        self.0.borrow().records.get(&seq).cloned()
    }

    fn location(&self, artifact: ArtifactHash) -> Result<Option<VaultLocation>, Unreadable> {
        let key = [Value::from(&artifact.0)];
        self.find_row(|tables| tables.row(VAULT, &key))
    }

    fn outdated_since(&self, artifact: ArtifactHash) -> Result<Option<Seq>, Unreadable> {
        let key = [Value::from(&artifact.0)];
        let row = self.find_row::<OutdatedRow>(|tables| tables.row(OUTDATED, &key))?;
        Ok(row.map(|row| row.seq))
    }

    fn made_by(&self, text: ArtifactHash, until: Seq) -> Result<Option<ArtifactHash>, Unreadable> {
        let key = [Value::from(&text.0), Value::from(until.0)];
        let row = self.find_row::<EditRow>(|tables| tables.row_until(EDITS, &key))?;
        Ok(row.map(|row| row.artifact))
    }
}
