//! The Vault's index: where in the ledger each artifact's bytes stand (spec §3.1).

use alloc::vec::Vec;
use core::fmt;
use core::hash::BuildHasher;
use core::ops::ControlFlow;

use hashbrown::{DefaultHashBuilder, HashTable};
use tslp_core::event::{ContentKind, Event, Recorded};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::Seq;

use crate::part::{self, Part, Unfit, Visit};
use crate::table::{Changes, Column, ColumnType, Table, Value, column};

const COLUMNS: &[Column] = &[
    column("hash", ColumnType::Blob),
    column("kind", ColumnType::Text),
    column("seq", ColumnType::Integer),
    column("start", ColumnType::Integer),
    column("end", ColumnType::Integer),
];

/// `vault`: bytes `start..end` of the content event `seq` are the artifact `hash`.
pub const TABLE: Table = Table {
    name: "vault",
    version: 1,
    columns: COLUMNS,
    key: 1,
};

/// Where an artifact's bytes stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The content event.
    pub seq: Seq,
    /// First byte in the event's content.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// One artifact of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Its address.
    pub hash: ArtifactHash,
    /// Where it stands.
    pub location: Location,
    /// What it is.
    pub kind: ContentKind,
}

/// All artifacts ever recorded. Grows by about 70 bytes for each.
#[derive(Default)]
pub struct Vault {
    entries: Vec<Artifact>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Vault {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        match &recorded.event {
            Event::Content(content) => {
                let location = Location {
                    seq: recorded.seq,
                    start: 0,
                    end: u32::try_from(content.bytes.len()).unwrap_or(u32::MAX),
                };
                self.insert(content.hash, content.kind, location, changes);
            }
            Event::ArtifactCaptured(captured) => {
                let Some(within) = captured.within else {
                    return;
                };
                let Some(container) = self.location(within.container) else {
                    return;
                };
                let location = Location {
                    seq: container.seq,
                    start: container.start.saturating_add(within.start),
                    end: container.start.saturating_add(within.end),
                };
                self.insert(captured.artifact, ContentKind::Code, location, changes);
            }
            _ => {}
        }
    }

    fn insert(
        &mut self,
        hash: ArtifactHash,
        kind: ContentKind,
        location: Location,
        changes: &mut Changes,
    ) {
        if self.location(hash).is_some() {
            return;
        }
        let entry = Artifact {
            hash,
            location,
            kind,
        };
        changes.put(crate::VAULT, || row(&entry));
        self.add(entry);
    }

    fn add(&mut self, entry: Artifact) {
        let hash = entry.hash;
        let id = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        let Self {
            entries,
            index,
            hasher,
        } = self;
        entries.push(entry);
        index.insert_unique(hasher.hash_one(hash), id, |id| {
            hasher.hash_one(entries[*id as usize].hash)
        });
    }

    /// Where the bytes with this address stand.
    #[must_use]
    pub fn location(&self, hash: ArtifactHash) -> Option<Location> {
        let id = self.index.find(self.hasher.hash_one(hash), |id| {
            self.entries[*id as usize].hash == hash
        })?;
        Some(self.entries[*id as usize].location)
    }

    /// How many artifacts there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was ever recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All of it as plain data.
    pub fn parts(&self, visit: Visit<'_>) -> ControlFlow<()> {
        part::emit(
            self.entries.iter().copied(),
            part::plain,
            Part::Artifacts,
            visit,
        )
    }

    /// Takes back a part.
    ///
    /// # Errors
    /// When an artifact stands in it twice.
    pub fn restore(&mut self, artifacts: Vec<Artifact>) -> Result<(), Unfit> {
        for artifact in artifacts {
            if self.location(artifact.hash).is_some() {
                return Err(Unfit("an artifact stands in the Vault twice"));
            }
            self.add(artifact);
        }
        Ok(())
    }

    /// All rows, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        let mut order: Vec<&Artifact> = self.entries.iter().collect();
        order.sort_unstable_by_key(|entry| entry.hash);
        order.into_iter().map(row).for_each(visit);
    }
}

fn row(entry: &Artifact) -> Vec<Value> {
    Vec::from([
        Value::from(&entry.hash.0),
        Value::from(kind_code(entry.kind)),
        Value::from(entry.location.seq.0),
        Value::from(entry.location.start),
        Value::from(entry.location.end),
    ])
}

const fn kind_code(kind: ContentKind) -> &'static str {
    match kind {
        ContentKind::Message => "message",
        ContentKind::Reply => "reply",
        ContentKind::Code => "code",
        ContentKind::ToolArguments => "tool_arguments",
    }
}

impl fmt::Display for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.entries {
            let Location { seq, start, end } = entry.location;
            writeln!(
                f,
                "{:.8} {} {seq} {start}..{end}",
                entry.hash,
                kind_code(entry.kind)
            )?;
        }
        Ok(())
    }
}
