//! A prompt as it goes to the model: what of the client's request changes, and what is put on record of it.

use alloc::string::String;
use alloc::vec::Vec;

use crate::event::PromptBase;
use crate::hash::ArtifactHash;
use crate::ids::EpisodeId;
use crate::request::Request;

/// The prompt as it goes to the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outgoing {
    /// The one system message, in front of all others; empty if there is none. `None`: the client's own stay where they
    /// are, among `messages`.
    pub system: Option<String>,
    /// The client's messages that go along, in order.
    pub messages: Vec<OutgoingMessage>,
}

impl Outgoing {
    /// The request as the client sent it.
    #[must_use]
    pub fn unchanged(request: &Request) -> Self {
        let messages = 0..request.messages.len();
        Self {
            system: None,
            messages: messages
                .map(|index| OutgoingMessage {
                    index,
                    ..OutgoingMessage::default()
                })
                .collect(),
        }
    }

    /// Whether the request goes out as the client sent it.
    #[must_use]
    pub fn is_unchanged(&self, request: &Request) -> bool {
        self.system.is_none()
            && self.messages.len() == request.messages.len()
            && self.messages.iter().all(OutgoingMessage::is_unchanged)
    }
}

/// One of the client's messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutgoingMessage {
    /// Its index in the request.
    pub index: usize,
    /// What the proxy puts in front of its text.
    pub before: String,
    /// What the proxy puts after its text.
    pub after: String,
    /// Text parts that differ from what the client sent, by their index among the message's text parts.
    pub rewritten: Vec<(usize, String)>,
    /// Arguments that differ from what the client sent, by their call's index among the message's tool calls.
    pub arguments: Vec<(usize, String)>,
    /// Thoughts that differ from what the client sent, by their index among the message's.
    pub thoughts: Vec<(usize, String)>,
}

impl OutgoingMessage {
    /// Whether the message goes out byte for byte.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        let changed = [&self.rewritten, &self.arguments, &self.thoughts];
        self.before.is_empty() && self.after.is_empty() && changed.into_iter().all(Vec::is_empty)
    }
}

/// A piece of a request, as the ledger may hold it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentPiece {
    /// A piece that the Vault holds, by its address.
    OnRecord(ArtifactHash),
    /// The bytes of a piece that the Vault may not hold.
    New(Vec<u8>),
}

/// A request that has gone to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentPrompt {
    /// Its episode.
    pub episode: EpisodeId,
    /// Everything around its messages.
    pub frame: SentPiece,
    /// The recorded prompt that its first messages are taken from.
    pub base: Option<PromptBase>,
    /// The other messages.
    pub messages: Vec<SentPiece>,
}
