//! The last number of each kind of id, and the captured block that isn't resolved yet.

use tslp_core::event::{Event, Recorded};
use tslp_core::ids::{CaptureId, EpisodeId, Seq, SessionId, VersionId};

use tslp_core::words;

use crate::row_map::RowMap;

row! {
    /// `counters`: the last number of each kind. `unresolved` is the event that captured a block without a resolution, which only
    /// a truncated ledger has at its end.
    pub struct CounterRow in table "counters", version 1;
    key {
        /// What is counted.
        name: CounterName,
    }
    values {
        /// The last number, from 1.
        value: u64,
    }
}

words! {
    /// What is counted, by the words' order.
    CounterName, "counter" {
        /// Captured blocks.
        Capture = "capture",
        /// Episodes.
        Episode = "episode",
        /// Sessions.
        Session = "session",
        /// The event of the captured block that isn't resolved.
        Unresolved = "unresolved",
        /// Versions.
        Version = "version",
    }
}

crate::word_cells!(CounterName);

/// The last numbers; 0 if none was given.
#[derive(Default)]
pub struct Counters {
    pub(crate) rows: RowMap<CounterRow>,
}

impl Counters {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::PromptReceived(_) => {
                self.raise(CounterName::Episode, recorded.episode.0);
                self.raise(CounterName::Session, recorded.session.0);
            }
            Event::SideRequestReceived(_) => {
                self.raise(CounterName::Episode, recorded.episode.0);
            }
            Event::ArtifactCaptured(captured) => {
                self.raise(CounterName::Capture, captured.capture.0);
                self.set(CounterName::Unresolved, recorded.seq.0);
            }
            Event::ArtifactResolved(resolved) => {
                self.set(CounterName::Unresolved, 0);
                for version in &resolved.versions {
                    self.raise(CounterName::Version, version.id.0);
                }
            }
            _ => {}
        }
    }

    fn raise(&mut self, name: CounterName, value: u64) {
        // A prompt in an older session brings a smaller number.
        if value > self.value(name) {
            self.set(name, value);
        }
    }

    fn set(&mut self, name: CounterName, value: u64) {
        match value {
            0 => self.rows.remove(&(name,)),
            value => self.rows.put(CounterRow { name, value }),
        };
    }

    fn value(&self, name: CounterName) -> u64 {
        let row = self.rows.get(&(name,));
        row.map_or(0, |row| row.value)
    }

    /// The last session.
    #[must_use]
    pub fn last_session(&self) -> SessionId {
        SessionId(self.value(CounterName::Session))
    }

    /// The last episode.
    #[must_use]
    pub fn last_episode(&self) -> EpisodeId {
        EpisodeId(self.value(CounterName::Episode))
    }

    /// The last capture.
    #[must_use]
    pub fn last_capture(&self) -> CaptureId {
        CaptureId(self.value(CounterName::Capture))
    }

    /// The last version.
    #[must_use]
    pub fn last_version(&self) -> VersionId {
        VersionId(self.value(CounterName::Version))
    }

    /// The event that captured a block that isn't resolved yet.
    #[must_use]
    pub fn unresolved(&self) -> Option<Seq> {
        Some(Seq(self.value(CounterName::Unresolved))).filter(|seq| seq.0 > 0)
    }
}
