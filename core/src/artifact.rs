//! Artifacts: their origin, the certainty of their entity, and the state machine of the law's §5.

use serde::{Deserialize, Serialize};

use crate::entity::EntityId;
use crate::hash::SliceHash;
use crate::ids::VersionId;
use crate::slice::{Figures, Span};
use crate::stored::{Archive, Load, Store, stored_words};
use crate::words;
use alloc::vec::Vec;

stored_words! {
    /// Who supplied a piece of code (spec §15.2).
    Origin, "origin" {
        /// The model wrote it.
        Model = "model",
        /// The user pasted it or sent it as context: the write-head.
        User = "user",
        /// It appeared on disk while a call that can write was out, and no judged edit explains it: nobody's word.
        Unattributed = "unattributed",
    }
}

stored_words! {
    /// How surely code belongs to an entity (spec §4).
    Level, "level" {
        /// No provable entity: logged only.
        Unresolved = "UNRESOLVED",
        /// Similar to one existing entity: proposed only.
        Inferred = "INFERRED",
        /// Proven by structure: may update the State Map.
        Confirmed = "CONFIRMED",
    }
}

words! {
    /// The state of one version of an entity (spec §5).
    ArtifactState, "state of a version" {
        /// Default for everything new.
        Proposed = "PROPOSED",
        /// Current truth.
        Authoritative = "AUTHORITATIVE",
        /// Replaced by a newer authoritative version.
        Superseded = "SUPERSEDED",
        /// Explicitly removed.
        Tombstoned = "TOMBSTONED",
    }
}

stored_words! {
    /// The four arrows of the law's state machine (spec §5). There is no way to write any other.
    Transition, "transition" {
        /// PROPOSED → AUTHORITATIVE.
        Promote = "promote",
        /// PROPOSED → TOMBSTONED.
        Discard = "discard",
        /// AUTHORITATIVE → SUPERSEDED.
        Supersede = "supersede",
        /// AUTHORITATIVE → TOMBSTONED.
        Remove = "remove",
    }
}

impl Transition {
    /// The state a version must be in.
    #[must_use]
    pub const fn from(self) -> ArtifactState {
        match self {
            Self::Promote | Self::Discard => ArtifactState::Proposed,
            Self::Supersede | Self::Remove => ArtifactState::Authoritative,
        }
    }

    /// The state a version is in afterwards.
    #[must_use]
    pub const fn to(self) -> ArtifactState {
        match self {
            Self::Promote => ArtifactState::Authoritative,
            Self::Supersede => ArtifactState::Superseded,
            Self::Discard | Self::Remove => ArtifactState::Tombstoned,
        }
    }
}

/// One definition of one entity, as captured once.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Version {
    /// Its id in the state machine.
    pub id: VersionId,
    /// The entity that it defines.
    pub entity: EntityId,
    /// Hash of the canonical form: the entity's artifact hash in the State Map and in prompts.
    pub slice: SliceHash,
    /// The ranges of the definition in the captured artifact, in source order.
    pub spans: Vec<Span>,
    /// Structure, for parity.
    #[serde(flatten)]
    pub figures: Figures,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// law 5 | Four arrows and no others
    #[test]
    fn only_four_arrows() {
        let arrows: Vec<(&str, &str)> = [
            Transition::Promote,
            Transition::Discard,
            Transition::Supersede,
            Transition::Remove,
        ]
        .iter()
        .map(|arrow| (arrow.from().as_str(), arrow.to().as_str()))
        .collect();
        assert_eq!(
            arrows,
            [
                ("PROPOSED", "AUTHORITATIVE"),
                ("PROPOSED", "TOMBSTONED"),
                ("AUTHORITATIVE", "SUPERSEDED"),
                ("AUTHORITATIVE", "TOMBSTONED"),
            ]
        );
    }
}
