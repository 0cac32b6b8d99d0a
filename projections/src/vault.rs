//! The Vault's index: the position of each artifact's bytes in the ledger (spec §3.1).
//!
//! The table is an archive. Memory holds only the rows that aren't durable yet, so that the store can't return them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use tslp_core::event::{ContentKind, Event, Recorded};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::Seq;

use crate::changes::Changes;
use crate::row::Keeps;

row! {
    /// `vault`: bytes `start..end` of the artifact `container` are the artifact `hash`; without a container they are all
    /// bytes of the content event `seq`.
    pub struct VaultRow in archive "vault", version 2;
    key {
        /// The artifact.
        hash: ArtifactHash,
    }
    values {
        /// Its kind when it was first recorded.
        kind: ContentKind,
        /// The event that recorded it.
        seq: Seq,
        /// The artifact that it is a part of.
        container: Option<ArtifactHash>,
        /// First byte.
        start: u32,
        /// One past the last byte.
        end: u32,
    }
}

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

impl From<VaultRow> for VaultLocation {
    fn from(row: VaultRow) -> Self {
        Self {
            kind: row.kind,
            seq: row.seq,
            container: row.container,
            start: row.start,
            end: row.end,
        }
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
        changes.put(|| row(hash, location));
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
}

impl Keeps<VaultRow> for Vault {
    fn visit_rows(&self, visit: &mut dyn FnMut(VaultRow)) {
        let rows = self.not_durable.iter();
        rows.map(|(hash, location)| row(*hash, *location))
            .for_each(visit);
    }
}

const fn row(hash: ArtifactHash, location: VaultLocation) -> VaultRow {
    let VaultLocation {
        kind,
        seq,
        container,
        start,
        end,
    } = location;
    VaultRow {
        hash,
        kind,
        seq,
        container,
        start,
        end,
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
            write!(f, "{hash:.8} {} {seq} {start}..{end}", kind.as_str())?;
            if let Some(container) = container {
                write!(f, " of {container:.8}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
