//! The Vault's index: the position of each artifact's bytes in the ledger (spec §3.1).
//!
//! The table is an archive. Memory holds only the rows that aren't durable yet, so that the store can't return them.

use tslp_core::event::{ContentKind, Event, Recorded};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::Seq;

use crate::row_map::RowMap;

row! {
    /// `vault`, where an artifact's bytes are: `start..end` of the artifact `container`; without a container all bytes of the
    /// content event `seq`.
    pub struct VaultLocation in archive "vault", version 2;
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

/// Recorded artifacts whose rows aren't durable.
#[derive(Default)]
pub struct Vault {
    pub(crate) not_durable: RowMap<VaultLocation>,
}

impl Vault {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::Content(content) => {
                let location = VaultLocation {
                    hash: content.hash,
                    kind: content.kind,
                    seq: recorded.seq,
                    container: None,
                    start: 0,
                    end: u32::try_from(content.bytes.len())
                        .expect("a row of the ledger is far below 4 GiB"),
                };
                self.not_durable.put_first(location);
            }
            Event::ArtifactCaptured(captured) => {
                let Some(within) = captured.within else {
                    return;
                };
                // The container as a whole: its content event has given it a place already.
                if within.container == captured.artifact {
                    return;
                }
                let location = VaultLocation {
                    hash: captured.artifact,
                    kind: ContentKind::Code,
                    seq: recorded.seq,
                    container: Some(within.container),
                    start: within.span.start,
                    end: within.span.end,
                };
                self.not_durable.put_first(location);
            }
            _ => {}
        }
    }

    /// The location of the bytes with this address, if its row isn't durable.
    #[must_use]
    pub fn location(&self, hash: ArtifactHash) -> Option<VaultLocation> {
        self.not_durable.get(&(hash,)).cloned()
    }
}
