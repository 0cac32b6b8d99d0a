//! The last observation of disk for each path (spec §15).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use tslp_core::event::{DiskFinding, Event, Recorded};
use tslp_core::ids::Seq;
use tslp_core::path::RelPath;

use crate::EventAt;
use crate::table::{
    Changes, Column, ColumnType, Keep, RowCells, Table, UnfitRow, Value, column, nullable,
};

const COLUMNS: &[Column] = &[
    column("path", ColumnType::Text),
    column("finding", ColumnType::Text),
    nullable("whole", ColumnType::Hash),
    nullable("grammar", ColumnType::Text),
    column("seq", ColumnType::Integer),
];

/// `disk`: the last observation of each path. Its findings for each symbol are in the event `seq`.
pub const TABLE: Table = Table {
    name: "disk",
    version: 1,
    columns: COLUMNS,
    key: 1,
    keep: Keep::Latest,
};

/// Last observations.
#[derive(Default)]
pub struct Disk {
    findings: BTreeMap<RelPath, (DiskFinding, Seq)>,
}

impl Disk {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        let Event::DiskObserved(observed) = &recorded.event else {
            return;
        };
        let seen = (observed.finding.clone(), recorded.seq);
        changes.put(crate::DISK, || row(&observed.path, &seen));
        self.findings.insert(observed.path.clone(), seen);
    }

    /// The last observation of the path.
    #[must_use]
    pub fn finding(&self, path: &RelPath) -> Option<&DiskFinding> {
        self.findings.get(path).map(|(finding, _)| finding)
    }

    /// The event of that observation.
    #[must_use]
    pub fn seen_since(&self, path: &RelPath) -> Option<Seq> {
        self.findings.get(path).map(|(_, since)| *since)
    }

    /// Paths that could not be read at their last observation.
    pub fn unreadable(&self) -> impl Iterator<Item = &RelPath> {
        self.findings
            .iter()
            .filter(|(_, (finding, _))| matches!(finding, DiskFinding::Unreadable(_)))
            .map(|(path, _)| path)
    }

    /// All rows, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        self.findings
            .iter()
            .map(|(path, seen)| row(path, seen))
            .for_each(visit);
    }

    /// Restores a row; `event` looks up the event that it names.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore(&mut self, row: &[Value], event: EventAt<'_>) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let path: RelPath = cells.next()?;
        let [.., seq] = row else {
            return Err(UnfitRow("a path was looked at by no event"));
        };
        let seq = RowCells::of(core::slice::from_ref(seq)).next()?;
        match event(seq).map(|recorded| recorded.event) {
            Some(Event::DiskObserved(observed)) if observed.path == path => {
                self.findings.insert(path, (observed.finding, seq));
                Ok(())
            }
            _ => Err(UnfitRow("a path was looked at by no event")),
        }
    }
}

fn row(path: &RelPath, (finding, seq): &(DiskFinding, Seq)) -> Vec<Value> {
    let (word, whole, grammar) = match finding {
        DiskFinding::Missing => ("missing", None, None),
        DiskFinding::Unreadable(failure) => (failure.as_str(), None, None),
        DiskFinding::File(file) => ("file", Some(&file.whole), file.grammar.as_ref()),
    };
    Vec::from([
        Value::from(path),
        Value::from(word),
        Value::from(whole.map(|whole| &whole.0)),
        grammar.map_or(Value::Null, |grammar| {
            Value::text(&alloc::format!("{} {}", grammar.language, grammar.version))
        }),
        Value::from(seq.0),
    ])
}

impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (path, (finding, _)) in &self.findings {
            match finding {
                DiskFinding::Missing => writeln!(f, "{path} missing")?,
                DiskFinding::Unreadable(failure) => writeln!(f, "{path} {}", failure.as_str())?,
                DiskFinding::File(file) => writeln!(f, "{path} {:.8}", file.whole)?,
            }
        }
        Ok(())
    }
}
