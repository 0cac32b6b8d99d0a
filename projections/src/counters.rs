//! The last number of each kind that was given, and the block whose resolution is to come.

use alloc::vec::Vec;
use core::fmt;

use tslp_core::event::{Event, Recorded};
use tslp_core::ids::{CaptureId, EpisodeId, Seq, SessionId, VersionId};

use crate::table::{
    Cells, Changes, Column, ColumnType, Keep, Late, Table, Text, Unfit, Value, column,
};

const COLUMNS: &[Column] = &[
    column("name", ColumnType::Text),
    column("value", ColumnType::Integer),
];

/// `counters`: the last of each kind. `unresolved` is the event that captured a block whose resolution is to come, which
/// only a ledger that was cut has at its end.
pub const TABLE: Table = Table {
    name: "counters",
    version: 1,
    columns: COLUMNS,
    key: 1,
    keep: Keep::Latest,
};

/// All rows, by key.
const NAMES: [&str; 5] = ["capture", "episode", "session", "unresolved", "version"];

/// The last numbers; 0 is none.
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
        changes.touch(|| Late::Counter(name), self.value(name) > 0);
        let place = NAMES.iter().position(|known| *known == name);
        self.values[place.expect("only names of the list are counted")] = value;
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

    /// The event that captured a block whose resolution is to come.
    #[must_use]
    pub fn unresolved(&self) -> Option<Seq> {
        Some(Seq(self.value("unresolved"))).filter(|seq| seq.0 > 0)
    }

    /// The row of a counter that counts.
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

    /// Takes back a row.
    ///
    /// # Errors
    /// When no fold writes it.
    pub fn restore(&mut self, row: &[Value]) -> Result<(), Unfit> {
        let mut cells = Cells::of(row);
        let name: Text = cells.next()?;
        let place = NAMES.iter().position(|known| *known == &*name);
        let place = place.ok_or(Unfit("a counter has another name"))?;
        self.values[place] = cells.next()?;
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
