//! What the store holds is what was decided, and no more than that.

use std::path::Path;

use tslp_io::checkpoint;
use tslp_io::ledger::{DataFiles, LedgerReader, ReaderFactory};
use tslp_projections::TABLES;
use tslp_projections::table::TableDigest;
use tslp_replay::log::Head;
use tslp_replay::state::State;

use super::{Growth, World};
use crate::storage::DATA_DIR;

impl World<'_> {
    /// The tables in the store are what the live state says, when nothing waits.
    pub(super) fn check_tables(&mut self) {
        let Some(process) = &self.process else { return };
        let is_settled = self.unqueued.is_empty()
            && self.witness.promised() == self.witness.head()
            && !process.has_failed();
        if !is_settled {
            return;
        }
        if let Some(reader) = self.reader() {
            // What is settled, the live state holds no more.
            let folded = self.witness.folded(process.state().head());
            check_tables(&reader, process.state(), &folded);
            self.count("comparisons of the tables");
        }
    }

    /// The proxy has nothing to do: it may write a checkpoint, unless its disk or its power fails it.
    pub(super) fn keep_at_times(&mut self) {
        if self.chance.percent(60) {
            return;
        }
        self.keep();
        if self.disk.is_off() {
            self.count("power losses in a checkpoint");
            self.disk.reboot();
            self.restart("the power went in a checkpoint");
        }
    }

    /// Writes a checkpoint of what is durable, if all is.
    pub(super) fn keep(&mut self) {
        let (Some(process), Some(reader)) = (&self.process, self.reader()) else {
            return;
        };
        let head = process.state().head();
        if !self.unqueued.is_empty() || process.announced() != head {
            return;
        }
        let Ok(Some(chain)) = reader.chain_at(head) else {
            return;
        };
        let file = DataFiles::of(Path::new(DATA_DIR)).checkpoint;
        let durable = Head { seq: head, chain };
        let written = checkpoint::write(&self.disk, &file, durable, process.state());
        self.count(match written {
            Ok(()) => "checkpoints",
            Err(_) => "failed checkpoints",
        });
    }

    /// Whatever the crash left: a state that some commit made, with tables to match.
    pub(super) fn check_tables_of_the_dead(&mut self) {
        let Some(reader) = self.reader() else { return };
        let Ok(head) = reader.head() else { return };
        let folded = self.witness.folded(head.seq);
        check_tables(&reader, &folded, &folded);
        self.count("comparisons of the tables");
    }

    pub(super) fn reader(&self) -> Option<LedgerReader> {
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
        } = self.growth;
        let bound = 10_000 + 2 * new_bytes + 1000 * occasions;
        assert!(
            stored_bytes <= bound,
            "the ledger has grown by {stored_bytes} bytes, for {new_bytes} new ones on {occasions} occasions"
        );
    }
}

fn check_tables(reader: &LedgerReader, state: &State, unsettled: &State) {
    for (index, table) in TABLES.iter().enumerate() {
        let state = if table.is_archive() { unsettled } else { state };
        let mut digest = TableDigest::new();
        let read = reader.read_table(index, &mut |row| {
            digest.add(&row);
            std::ops::ControlFlow::Continue(())
        });
        read.unwrap_or_else(|error| panic!("{}: {error}", table.name));
        assert_eq!(
            digest.finish(),
            state.digest(index),
            "the table {} isn't what its events say at {}",
            table.name,
            state.head()
        );
    }
}
