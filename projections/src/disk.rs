//! The last observation of disk for each path (spec §15).

use alloc::collections::BTreeMap;
use core::fmt;

use tslp_core::event::{DiskFinding, Event, ReadFailure, Recorded};
use tslp_core::extract::GrammarTag;
use tslp_core::hash::SliceHash;
use tslp_core::ids::Seq;
use tslp_core::path::RelPath;

use crate::changes::Changes;
use crate::row::{Cell, EventAt, Keeps, UnfitRow};
use crate::table::{ColumnType, Text, Value};

row! {
    /// `disk`: the last observation of each path. Its findings for each symbol are in the event `seq`.
    pub struct DiskRow in table "disk", version 2;
    key {
        /// The path.
        path: RelPath,
    }
    values {
        /// What is there.
        finding: PathFinding,
        /// The whole file, if there is one.
        whole: Option<SliceHash>,
        /// The grammar that read it, if it could be parsed.
        grammar: Option<GrammarTag>,
        /// Whether a file was there at this or an earlier observation.
        was_there: bool,
        /// The observation.
        seq: Seq,
    }
}

/// What an observation found at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFinding {
    /// A file.
    File,
    /// Nothing.
    Missing,
    /// Something that can't be read.
    Unreadable(ReadFailure),
}

impl PathFinding {
    /// The word for it in rows and on pages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Missing => "missing",
            Self::Unreadable(failure) => failure.as_str(),
        }
    }
}

impl Cell for PathFinding {
    const KIND: ColumnType = Text::KIND;

    fn into_value(self) -> Value {
        self.as_str().into()
    }

    fn from_value(value: &Value) -> Option<Self> {
        match &*Text::from_value(value)? {
            "file" => Some(Self::File),
            "missing" => Some(Self::Missing),
            word => ReadFailure::of_word(word).map(Self::Unreadable),
        }
    }
}

impl From<&DiskFinding> for PathFinding {
    fn from(finding: &DiskFinding) -> Self {
        match finding {
            DiskFinding::File(_) => Self::File,
            DiskFinding::Missing => Self::Missing,
            DiskFinding::Unreadable(failure) => Self::Unreadable(*failure),
        }
    }
}

/// Last observations.
#[derive(Default)]
pub struct Disk {
    findings: BTreeMap<RelPath, PathHistory>,
}

struct PathHistory {
    finding: DiskFinding,
    seq: Seq,
    /// Whether a file was ever there.
    was_there: bool,
}

impl Disk {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        let Event::DiskObserved(observed) = &recorded.event else {
            return;
        };
        let is_there = matches!(observed.finding, DiskFinding::File(_));
        let seen = PathHistory {
            finding: observed.finding.clone(),
            seq: recorded.seq,
            was_there: is_there || self.was_there(&observed.path),
        };
        changes.put(|| row(&observed.path, &seen));
        self.findings.insert(observed.path.clone(), seen);
    }

    /// The last observation of the path.
    #[must_use]
    pub fn finding(&self, path: &RelPath) -> Option<&DiskFinding> {
        self.findings.get(path).map(|seen| &seen.finding)
    }

    /// Whether any observation found a file at the path.
    #[must_use]
    pub fn was_there(&self, path: &RelPath) -> bool {
        self.findings.get(path).is_some_and(|seen| seen.was_there)
    }

    /// The event of that observation.
    #[must_use]
    pub fn seen_since(&self, path: &RelPath) -> Option<Seq> {
        self.findings.get(path).map(|seen| seen.seq)
    }

    /// Paths that could not be read at their last observation.
    pub fn unreadable(&self) -> impl Iterator<Item = &RelPath> {
        self.findings
            .iter()
            .filter(|(_, seen)| matches!(seen.finding, DiskFinding::Unreadable(_)))
            .map(|(path, _)| path)
    }
}

impl Keeps<DiskRow> for Disk {
    fn visit_rows(&self, visit: &mut dyn FnMut(DiskRow)) {
        let findings = self.findings.iter();
        findings.map(|(path, seen)| row(path, seen)).for_each(visit);
    }

    fn restore_row(&mut self, row: DiskRow, event: EventAt<'_>) -> Result<(), UnfitRow> {
        match event(row.seq).map(|recorded| recorded.event) {
            Some(Event::DiskObserved(observed)) if observed.path == row.path => {
                let seen = PathHistory {
                    finding: observed.finding,
                    seq: row.seq,
                    was_there: row.was_there,
                };
                self.findings.insert(row.path, seen);
                Ok(())
            }
            _ => Err(UnfitRow("a path was looked at by no event")),
        }
    }
}

fn row(path: &RelPath, seen: &PathHistory) -> DiskRow {
    let PathHistory {
        finding,
        seq,
        was_there,
    } = seen;
    let file = match finding {
        DiskFinding::File(file) => Some(file),
        DiskFinding::Missing | DiskFinding::Unreadable(_) => None,
    };
    DiskRow {
        path: path.clone(),
        finding: finding.into(),
        whole: file.map(|file| file.whole),
        grammar: file.and_then(|file| file.grammar.clone()),
        was_there: *was_there,
        seq: *seq,
    }
}

impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (path, seen) in &self.findings {
            match &seen.finding {
                DiskFinding::Missing => writeln!(f, "{path} missing")?,
                DiskFinding::Unreadable(failure) => writeln!(f, "{path} {}", failure.as_str())?,
                DiskFinding::File(file) => writeln!(f, "{path} {:.8}", file.whole)?,
            }
        }
        Ok(())
    }
}
