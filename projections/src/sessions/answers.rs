//! Answers about conversations, as decisions get them.

use alloc::vec::Vec;
use core::ops::Range;

use rkyv::{Archive, Deserialize as Load, Serialize as Store};
use tslp_core::entity::EntityId;
use tslp_core::event::{Injected, NoticeIssued, Withheld};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, SessionId};

/// A position in a session's conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionPoint {
    /// The session.
    pub session: SessionId,
    /// Messages up to this point.
    pub length: u32,
    /// Whether a prompt from here continues the session.
    pub place: SessionPosition,
}

/// Where in its session's conversation a reply is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionPosition {
    /// The last one, with no later prompt under way: the next prompt continues the session.
    Head,
    /// An earlier one: a prompt from here is an edited or regenerated turn.
    Past,
}

/// A prompt without a completed reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenPrompt {
    /// The session.
    pub session: SessionId,
    /// The prompt's episode.
    pub episode: EpisodeId,
}

/// A session's last prompt, with or without a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastPrompt {
    /// The session.
    pub session: SessionId,
    /// The number of messages in the conversation up to it.
    pub length: u32,
    /// Whether its reply is under way.
    pub in_flight: bool,
}

/// The user's turn before the one under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousTurn {
    /// Its episodes.
    pub episodes: Range<EpisodeId>,
    /// The entities that its prompts showed to the model.
    pub shown: Vec<EntityId>,
}

/// One prompt and its reply, by reference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Store, Load)]
pub struct Exchange {
    /// Texts of the prompt's user messages.
    pub user: Vec<ArtifactHash>,
    /// Segments of the reply.
    pub assistant: Vec<ArtifactHash>,
}

/// A notice that waits to be given to the model.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load)]
pub struct PendingNotice {
    /// The notice.
    pub notice: NoticeIssued,
    /// Whether a prompt showed it whose reply isn't complete.
    pub was_shown: bool,
}

/// The changes to a session's messages that are made again whenever the client sends the messages again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amendments {
    /// The proxy's own texts, the latest last.
    pub injected: Vec<Injected>,
    /// The code that is withheld.
    pub withheld: Vec<Withheld>,
}
