//! The Vault's index: the position of each artifact's bytes in the ledger (spec §3.1).
//!
//! The table is an archive. Memory holds only the rows that aren't durable yet, so that the store can't return them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use tslp_core::event::{ContentKind, Event, Recorded};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::Seq;

use crate::table::{
    Changes, Column, ColumnType, Keep, RowCells, Table, UnfitRow, Value, column, nullable,
};

const COLUMNS: &[Column] = &[
    column("hash", ColumnType::Hash),
    column("kind", ColumnType::Text),
    column("seq", ColumnType::Integer),
    nullable("container", ColumnType::Hash),
    column("start", ColumnType::Integer),
    column("end", ColumnType::Integer),
];

/// `vault`: bytes `start..end` of the artifact `container` are the artifact `hash`; without a container they are all
/// bytes of the content event `seq`.
pub const TABLE: Table = Table {
    name: "vault",
    version: 2,
    columns: COLUMNS,
    key: 1,
    keep: Keep::First { seq: 2 },
};

/// The position of an artifact's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaultLocation {
    /// Their kind when they were first recorded.
    pub kind: ContentKind,
    /// The event that recorded it: its content, or its capture out of another artifact.
    pub seq: Seq,
    /// The artifact that it is a part of, if it has no content event of its own.
    pub container: Option<ArtifactHash>,
    /// First byte in the container, or in the event's content.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl VaultLocation {
    /// The location in a row of [`TABLE`]; `None` if no fold writes such a row.
    #[must_use]
    pub fn of_row(row: &[Value]) -> Option<Self> {
        Self::read(row).ok()
    }

    fn read(row: &[Value]) -> Result<Self, UnfitRow> {
        let mut cells = RowCells::of(row);
        let _hash: ArtifactHash = cells.next()?;
        Ok(Self {
            kind: cells.word(&KINDS, kind_code)?,
            seq: cells.next()?,
            container: cells.next()?,
            start: cells.next()?,
            end: cells.next()?,
        })
    }
}

/// Recorded artifacts whose rows aren't durable.
#[derive(Default)]
pub struct Vault {
    not_durable: BTreeMap<ArtifactHash, VaultLocation>,
}

impl Vault {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded, changes: &mut Changes) {
        match &recorded.event {
            Event::Content(content) => {
                let location = VaultLocation {
                    kind: content.kind,
                    seq: recorded.seq,
                    container: None,
                    start: 0,
                    end: u32::try_from(content.bytes.len()).unwrap_or(u32::MAX),
                };
                self.insert(content.hash, location, changes);
            }
            Event::ArtifactCaptured(captured) => {
                let Some(within) = captured.within else {
                    return;
                };
                if within.container == captured.artifact {
                    return;
                }
                let location = VaultLocation {
                    kind: ContentKind::Code,
                    seq: recorded.seq,
                    container: Some(within.container),
                    start: within.span.start,
                    end: within.span.end,
                };
                self.insert(captured.artifact, location, changes);
            }
            _ => {}
        }
    }

    fn insert(&mut self, hash: ArtifactHash, location: VaultLocation, changes: &mut Changes) {
        if self.not_durable.contains_key(&hash) {
            return;
        }
        changes.put(crate::VAULT, || row(hash, &location));
        self.not_durable.insert(hash, location);
    }

    /// Forgets the rows up to `durable`, which the store returns from now on.
    pub fn forget_durable(&mut self, durable: Seq) {
        self.not_durable
            .retain(|_, location| location.seq > durable);
    }

    /// The location of the bytes with this address, if its row isn't durable.
    #[must_use]
    pub fn location(&self, hash: ArtifactHash) -> Option<VaultLocation> {
        self.not_durable.get(&hash).copied()
    }

    /// The rows that aren't durable, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        self.not_durable
            .iter()
            .map(|(hash, location)| row(*hash, location))
            .for_each(visit);
    }
}

fn row(hash: ArtifactHash, location: &VaultLocation) -> Vec<Value> {
    let VaultLocation {
        kind,
        seq,
        container,
        start,
        end,
    } = *location;
    Vec::from([
        Value::from(&hash.0),
        Value::from(kind_code(kind)),
        Value::from(seq.0),
        Value::from(container.as_ref().map(|container| &container.0)),
        Value::from(start),
        Value::from(end),
    ])
}

const KINDS: [ContentKind; 7] = [
    ContentKind::Message,
    ContentKind::Reply,
    ContentKind::Code,
    ContentKind::ToolArguments,
    ContentKind::Injection,
    ContentKind::PromptPiece,
    ContentKind::Evidence,
];

const fn kind_code(kind: ContentKind) -> &'static str {
    match kind {
        ContentKind::Message => "message",
        ContentKind::Reply => "reply",
        ContentKind::Code => "code",
        ContentKind::ToolArguments => "tool_arguments",
        ContentKind::Injection => "injection",
        ContentKind::PromptPiece => "prompt_piece",
        ContentKind::Evidence => "evidence",
    }
}

impl fmt::Display for Vault {
    /// The rows that aren't durable, in the order of the ledger.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut entries: Vec<_> = self.not_durable.iter().collect();
        entries.sort_unstable_by_key(|(_, location)| location.seq);
        for (hash, location) in entries {
            let VaultLocation {
                kind,
                seq,
                container,
                start,
                end,
            } = location;
            write!(f, "{hash:.8} {} {seq} {start}..{end}", kind_code(*kind))?;
            if let Some(container) = container {
                write!(f, " of {container:.8}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
