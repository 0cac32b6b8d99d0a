//! The last number of each kind of id, and the captured block that isn't resolved yet.

use alloc::vec::Vec;
use core::fmt;

use tslp_core::event::{Event, Recorded};
use tslp_core::ids::{CaptureId, EpisodeId, Seq, SessionId, VersionId};

use crate::table::{
    Changes, Column, ColumnType, Keep, LateRows, RowCells, Table, UnfitRow, Value, column,
};

const COLUMNS: &[Column] = &[
    column("name", ColumnType::Text),
    column("value", ColumnType::Integer),
];

/// `counters`: the last number of each kind. `unresolved` is the event that captured a block without a resolution, which only
/// a truncated ledger has at its end.
pub const TABLE: Table = Table {
    name: "counters",
    version: 1,
    columns: COLUMNS,
    key: 1,
    keep: Keep::Latest,
};

/// The rows' names, which are their keys.
const NAMES: [&str; 5] = ["capture", "episode", "session", "unresolved", "version"];

/// The last numbers; 0 if none was given.
#[derive(Default)]
pub struct Counters {
    values: [u64; NAMES.len()],
}

impl Counters {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        match &recorded.event {
            Event::PromptReceived(prompt) => {
                self.raise("episode", prompt.episode.0, changes);
                self.raise("session", prompt.session.0, changes);
            }
            Event::SideRequestReceived(request) => {
                self.raise("episode", request.episode.0, changes);
            }
            Event::ArtifactCaptured(captured) => {
                self.raise("capture", captured.capture.0, changes);
                self.set("unresolved", recorded.seq.0, changes);
            }
            Event::ArtifactResolved(resolved) => {
                self.set("unresolved", 0, changes);
                for version in &resolved.versions {
                    self.raise("version", version.id.0, changes);
                }
            }
            _ => {}
        }
    }

    fn raise(&mut self, name: &'static str, value: u64, changes: &mut Changes) {
        if value > self.value(name) {
            self.set(name, value, changes);
        }
    }

    fn set(&mut self, name: &'static str, value: u64, changes: &mut Changes) {
        changes.touch(|| LateRows::Counter(name), self.value(name) > 0);
        let index = NAMES.iter().position(|known| *known == name);
        self.values[index.expect("only names of the list are counted")] = value;
    }

    fn value(&self, name: &str) -> u64 {
        let mut named = NAMES.iter().zip(self.values);
        named
            .find_map(|(known, value)| (*known == name).then_some(value))
            .unwrap_or(0)
    }

    /// The last session.
    #[must_use]
    pub fn last_session(&self) -> SessionId {
        SessionId(self.value("session"))
    }

    /// The last episode.
    #[must_use]
    pub fn last_episode(&self) -> EpisodeId {
        EpisodeId(self.value("episode"))
    }

    /// The last capture.
    #[must_use]
    pub fn last_capture(&self) -> CaptureId {
        CaptureId(self.value("capture"))
    }

    /// The last version.
    #[must_use]
    pub fn last_version(&self) -> VersionId {
        VersionId(self.value("version"))
    }

    /// The event that captured a block that isn't resolved yet.
    #[must_use]
    pub fn unresolved(&self) -> Option<Seq> {
        Some(Seq(self.value("unresolved"))).filter(|seq| seq.0 > 0)
    }

    /// The row of a counter; `None` if it is 0.
    #[must_use]
    pub fn row(&self, name: &str) -> Option<Vec<Value>> {
        let value = Some(self.value(name)).filter(|value| *value > 0)?;
        Some(Vec::from([Value::text(name), Value::from(value)]))
    }

    /// All rows, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        NAMES
            .iter()
            .filter_map(|name| self.row(name))
            .for_each(visit);
    }

    /// Restores a row.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let name: &str = cells.next()?;
        let index = NAMES.iter().position(|known| *known == name);
        let index = index.ok_or(UnfitRow("a counter has another name"))?;
        self.values[index] = cells.next()?;
        Ok(())
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut counted = NAMES
            .iter()
            .zip(self.values)
            .filter(|(_, value)| *value > 0);
        counted.try_for_each(|(name, value)| writeln!(f, "{name} {value}"))
    }
}
