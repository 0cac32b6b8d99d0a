//! Numbers that identify things in one ledger; each kind has a type of its own.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::stored::{Archive, Load, Store};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Archive, Store, Load,
            Serialize, Deserialize,
        )]
        #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
        pub struct $name(
            #[cfg_attr(feature = "arbitrary", arbitrary(with = crate::stored::few::number))]
            pub u64,
        );

        impl $name {
            /// The id that follows this one; the last one follows itself.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0.saturating_add(1))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// Position of an event in the ledger: dense, from 1. `Seq(0)` is the empty ledger's head.
    Seq,
    "#"
);
id!(
    /// One user prompt and everything that follows from it until the session's next prompt. From 1; 0 stands for acts on
    /// the command line and looks at the disk between prompts, outside of any conversation.
    EpisodeId,
    "e"
);
id!(
    /// One conversation of one client. From 1.
    SessionId,
    "s"
);
id!(
    /// One block of code found in a message, from either side. From 1.
    CaptureId,
    "c"
);
id!(
    /// One definition of one entity, as captured once; the artifact state machine moves it. From 1.
    VersionId,
    "v"
);

impl EpisodeId {
    /// Events outside of any conversation.
    pub const OUTSIDE: Self = Self(0);
}

/// A recorded moment: milliseconds since the Unix epoch, from the clock at the edge. Order is by [`Seq`], never by
/// this.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Archive,
    Store,
    Load,
    Serialize,
    Deserialize,
)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct UnixMillis(pub i64);
