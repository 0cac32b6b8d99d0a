//! The numbers of the kinds of events, and both ways between an event and its stored bytes.

use tslp_core::event::{self, Event, EventKind};

use crate::stored::{self, DecodeError, EncodeError};

/// An event as the ledger stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedEvent {
    /// The number of its kind and layout.
    pub kind: u32,
    /// The bytes.
    pub payload: Vec<u8>,
}

macro_rules! kinds {
    ($($number:literal => $kind:ident,)+) => {
        /// All numbers that are read.
        pub const NUMBERS: &[u32] = &[$($number,)+];

        /// The number under which events of a kind are written.
        #[must_use]
        pub const fn number_of(kind: EventKind) -> u32 {
            match kind { $(EventKind::$kind => $number,)+ }
        }

        /// The kind that a number stands for.
        #[must_use]
        pub const fn kind_of(number: u32) -> Option<EventKind> {
            match number {
                $($number => Some(EventKind::$kind),)+
                _ => None,
            }
        }

        /// Encodes an event.
        ///
        /// # Errors
        /// When the event is too large for one row; no event that came through the proxy's own limits is.
        pub fn encode(event: &Event) -> Result<EncodedEvent, EncodeError> {
            let kind = number_of(event.kind());
            let payload = match event {
                $(Event::$kind(held) => stored::encode(event, held),)+
            }?;
            Ok(EncodedEvent { kind, payload })
        }

        /// Decodes a stored event. Any bytes give an event or an error value; none give a panic.
        ///
        /// # Errors
        /// See [`DecodeError`].
        pub fn decode(number: u32, payload: &[u8]) -> Result<Event, DecodeError> {
            match number {
                $($number => {
                    stored::decode::<event::$kind>(EventKind::$kind, payload).map(Event::$kind)
                })+
                _ => Err(DecodeError::UnknownKind { number }),
            }
        }
    };
}

kinds! {
    2 => Content,
    3 => PromptReceived,
    4 => SideRequestReceived,
    5 => ReplySegment,
    6 => ReplyEnded,
    7 => DiskObserved,
    8 => DirectiveGiven,
    9 => AuditAnswered,
    11 => ReplyPart,
    12 => PromptSent,
    13 => ActionRequested,
    14 => ToolRan,
    15 => PolicyApproved,
    16 => ArtifactCaptured,
    17 => ArtifactResolved,
    18 => Transitioned,
    19 => PromotionRefused,
    20 => AuditAsked,
    21 => NoticeIssued,
    22 => PromptAmended,
    23 => PromptComposed,
    24 => ActionJudged,
    25 => CapabilityChanged,
    26 => RulesInForce,
    28 => AuthorFound,
    29 => LostCallFound,
    30 => DraftRefused,
    31 => ScopeChanged,
    33 => WorkCounted,
    34 => ReplyImported,
    35 => WindowExceeded,
    36 => GoalChanged,
    37 => CheckRan,
    38 => ContextCleared,
    40 => RecordChanged,
    41 => PromptMeasured,
    42 => VersionsPromoted,
    43 => PlaceObserved,
    44 => PathResolved,
}
