//! The last observation of disk for each path (spec §15). The State Map keeps it, together with what is true.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::{fmt, str};

use tslp_core::entity::Symbol;
use tslp_core::event::{DiskFile, DiskFinding, DiskObserved, ReadFailure};
use tslp_core::extract::GrammarTag;
use tslp_core::hash::SliceHash;
use tslp_core::ids::Seq;
use tslp_core::path::RelPath;

use crate::changes::Changes;
use crate::packed::{items_in, put_item};
use crate::row::{Cell, EventAt, Keeps, Key as _, UnfitRow};
use crate::table::{ColumnType, Text, Value};

row! {
    /// `disk`: the last observation of each path.
    pub struct DiskRow in table "disk", version 3;
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
        /// How many top-level definitions it has.
        definitions: u32,
        /// The slices of symbols that were looked for, but for those that are true, packed.
        slices: Arc<[u8]>,
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
    /// Without slices.
    finding: DiskFinding,
    /// The slices of symbols that were looked for, but for those that are true.
    slices: BTreeMap<Symbol, Option<SliceHash>>,
    seq: Seq,
    /// Whether a file was ever there.
    was_there: bool,
}

impl PathHistory {
    fn new(mut finding: DiskFinding, seq: Seq, was_there: bool) -> Self {
        let slices = match &mut finding {
            DiskFinding::File(file) => core::mem::take(&mut file.slices),
            DiskFinding::Missing | DiskFinding::Unreadable(_) => Vec::new(),
        };
        let slices = slices.into_iter().map(|it| (it.symbol, it.slice));
        Self {
            finding,
            slices: slices.collect(),
            seq,
            was_there,
        }
    }
}

impl Disk {
    /// Takes what a look has found.
    pub(crate) fn observed(&mut self, observed: &DiskObserved, seq: Seq, changes: &mut Changes) {
        let DiskObserved { path, finding } = observed;
        let is_there = matches!(finding, DiskFinding::File(_));
        let seen = PathHistory::new(finding.clone(), seq, is_there || self.was_there(path));
        let before = self.findings.insert(path.clone(), seen);
        touch(path, before.is_some(), changes);
    }

    /// Takes a symbol's slice away if it is this one; whoever asks keeps it.
    pub(crate) fn take_slice(
        &mut self,
        path: &RelPath,
        symbol: &Symbol,
        slice: SliceHash,
        changes: &mut Changes,
    ) -> bool {
        let slices = self.slices_mut(path);
        let slices = slices.filter(|slices| slices.get(symbol) == Some(&Some(slice)));
        let is_taken = slices.is_some_and(|slices| slices.remove(symbol).is_some());
        if is_taken {
            touch(path, true, changes);
        }
        is_taken
    }

    /// Gives back what [`Self::take_slice`] took.
    pub(crate) fn put_slice(
        &mut self,
        path: &RelPath,
        symbol: &Symbol,
        slice: SliceHash,
        changes: &mut Changes,
    ) {
        if let Some(slices) = self.slices_mut(path) {
            slices.insert(symbol.clone(), Some(slice));
            touch(path, true, changes);
        }
    }

    /// The same, for taking many at once.
    pub(crate) fn slices_mut(
        &mut self,
        path: &RelPath,
    ) -> Option<&mut BTreeMap<Symbol, Option<SliceHash>>> {
        Some(&mut self.findings.get_mut(path)?.slices)
    }

    /// The slices that nobody has taken, by symbol.
    pub(crate) fn slices(
        &self,
        path: &RelPath,
    ) -> impl Iterator<Item = (&Symbol, &Option<SliceHash>)> {
        let slices = self.findings.get(path).map(|seen| &seen.slices);
        slices.into_iter().flatten()
    }

    /// A symbol's slice, unless somebody has taken it.
    pub(crate) fn slice(&self, path: &RelPath, symbol: &Symbol) -> Option<Option<SliceHash>> {
        self.findings.get(path)?.slices.get(symbol).copied()
    }

    /// The last observation of the path, without slices.
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
}

/// The row is read when all that was shared is.
fn touch(path: &RelPath, was_present: bool, changes: &mut Changes) {
    changes.touch::<DiskRow, _>(|| (path.clone(),), was_present);
}

impl Keeps<DiskRow> for Disk {
    fn visit_rows(&self, visit: &mut dyn FnMut(DiskRow)) {
        let findings = self.findings.iter();
        findings.map(|(path, seen)| row(path, seen)).for_each(visit);
    }

    fn restore_row(&mut self, row: DiskRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        let unfit = UnfitRow("a look has found what none can");
        let finding = match (row.finding, row.whole) {
            (PathFinding::File, Some(whole)) => DiskFinding::File(DiskFile {
                whole,
                slices: Vec::new(),
                definitions: row.definitions,
                grammar: row.grammar,
            }),
            (PathFinding::Missing, None) => DiskFinding::Missing,
            (PathFinding::Unreadable(failure), None) => DiskFinding::Unreadable(failure),
            (PathFinding::File, None) | (_, Some(_)) => return Err(unfit),
        };
        let mut seen = PathHistory::new(finding, row.seq, row.was_there);
        for item in items_in(&row.slices) {
            let (symbol, slice) = item.ok_or(unfit)?;
            let symbol = str::from_utf8(symbol).map_err(|_| unfit)?;
            let slice = match slice {
                [] => None,
                slice => Some(SliceHash(slice.try_into().map_err(|_| unfit)?)),
            };
            seen.slices.insert(Symbol::new(symbol), slice);
        }
        self.findings.insert(row.path, seen);
        Ok(())
    }

    fn rows_beginning(&self, key: &[Value]) -> Vec<DiskRow> {
        let (path,) = <(RelPath,)>::from_touched(key);
        let seen = self.findings.get(&path);
        seen.map(|seen| row(&path, seen)).into_iter().collect()
    }
}

fn row(path: &RelPath, seen: &PathHistory) -> DiskRow {
    let file = match &seen.finding {
        DiskFinding::File(file) => Some(file),
        DiskFinding::Missing | DiskFinding::Unreadable(_) => None,
    };
    let mut slices = Vec::new();
    for (symbol, slice) in &seen.slices {
        let slice = slice.as_ref().map_or(&[][..], |slice| &slice.0);
        put_item(&mut slices, symbol.as_str().as_bytes(), slice);
    }
    DiskRow {
        path: path.clone(),
        finding: (&seen.finding).into(),
        whole: file.map(|file| file.whole),
        grammar: file.and_then(|file| file.grammar.clone()),
        definitions: file.map_or(0, |file| file.definitions),
        slices: slices.into(),
        was_there: seen.was_there,
        seq: seen.seq,
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
