//! The store's tables equal what was decided, and the ledger doesn't grow with repetitions.

use std::path::Path;

use tslp_projections::TABLES;
use tslp_projections::state::State;
use tslp_projections::table::RowsHash;
use tslp_store::ledger::{DataFiles, LedgerReader, ReaderFactory};

use super::{Growth, World};
use crate::storage::DATA_DIR;

impl World<'_> {
    /// Compares the tables in the store with the live state, unless a commit is waiting.
    pub(super) fn check_tables(&mut self) {
        let Some(process) = &self.process else { return };
        let is_settled = self.unqueued.is_empty()
            && self.witness.announced_position() == self.witness.head()
            && !process.has_failed();
        if !is_settled {
            return;
        }
        if let Some(reader) = self.open_reader() {
            // The live state has forgotten the archives' durable rows.
            let folded = self.witness.folded_until(process.state().head());
            check_tables(&reader, process.state(), &folded);
            self.count_one("comparisons of the tables");
        }
    }

    /// After a crash the ledger ends with a commit, and the tables match it.
    pub(super) fn check_tables_after_crash(&mut self) {
        let Some(reader) = self.open_reader() else {
            return;
        };
        let Ok(head) = reader.head() else { return };
        let folded = self.witness.folded_until(head.seq);
        check_tables(&reader, &folded, &folded);
        self.count_one("comparisons of the tables");
    }

    pub(super) fn open_reader(&self) -> Option<LedgerReader> {
        let files = DataFiles::of(Path::new(DATA_DIR));
        ReaderFactory::new(&files, &self.disk.open_options())
            .open()
            .ok()
    }

    pub(super) fn check_growth(&self) {
        let Growth {
            stored_bytes,
            new_bytes,
            occasions,
            ..
        } = &self.growth;
        let stored_bytes: u64 = stored_bytes.values().sum();
        let bound = 10_000 + 3 * new_bytes + 1500 * occasions;
        assert!(
            stored_bytes <= bound,
            "the ledger has grown by {stored_bytes} bytes, for {new_bytes} new ones on {occasions} occasions"
        );
    }
}

fn check_tables(reader: &LedgerReader, state: &State, with_archives: &State) {
    for (index, table) in TABLES.iter().enumerate() {
        let state = if table.is_archive() {
            with_archives
        } else {
            state
        };
        let mut hash = RowsHash::default();
        let read = reader.read_table(index, &mut |row| {
            hash.add(table, row);
            std::ops::ControlFlow::Continue(())
        });
        read.unwrap_or_else(|error| panic!("{}: {error}", table.name));
        assert_eq!(
            hash,
            state.rows_hash(index),
            "the table {} isn't what its events say at {}",
            table.name,
            state.head()
        );
    }
}
