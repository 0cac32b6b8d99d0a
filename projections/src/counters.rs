//! The last number of each kind of id, and the captured block that isn't resolved yet.

use tslp_core::event::{Event, Recorded};
use tslp_core::ids::{CaptureId, EpisodeId, Seq, SessionId, VersionId};

use crate::changes::Changes;
use crate::row::{EventAt, Keeps, UnfitRow};
use crate::table::Text;

row! {
    /// `counters`: the last number of each kind. `unresolved` is the event that captured a block without a resolution, which only
    /// a truncated ledger has at its end.
    pub struct CounterRow in table "counters", version 1;
    key {
        /// What is counted.
        name: Text,
    }
    values {
        /// The last number, from 1.
        value: u64,
    }
}

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
            Event::PromptReceived(_) => {
                self.raise("episode", recorded.episode.0, changes);
                self.raise("session", recorded.session.0, changes);
            }
            Event::SideRequestReceived(_) => {
                self.raise("episode", recorded.episode.0, changes);
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
        // A prompt in an older session brings a smaller number.
        if value > self.value(name) {
            self.set(name, value, changes);
        }
    }

    fn set(&mut self, name: &'static str, value: u64, changes: &mut Changes) {
        changes.touch::<CounterRow, _>(|| (Text::Word(name),), self.value(name) > 0);
        let index = NAMES.iter().position(|known| *known == name);
        self.values[index.expect("only names of the list are counted")] = value;
    }

    fn value(&self, name: &str) -> u64 {
        let mut named = NAMES.iter().zip(self.values);
        named
            .find_map(|(known, value)| (*known == name).then_some(value))
            .expect("only names of the list are counted")
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
}

impl Keeps<CounterRow> for Counters {
    fn visit_rows(&self, visit: &mut dyn FnMut(CounterRow)) {
        let counted = NAMES.into_iter().zip(self.values);
        let rows = counted.filter(|(_, value)| *value > 0);
        rows.map(|(name, value)| CounterRow {
            name: name.into(),
            value,
        })
        .for_each(visit);
    }

    fn restore_row(&mut self, row: CounterRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        let index = NAMES.iter().position(|known| *known == &*row.name);
        let index = index.ok_or(UnfitRow("a counter has another name"))?;
        self.values[index] = row.value;
        Ok(())
    }
}
