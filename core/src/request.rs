//! A chat request as the engine sees it.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::delimiter;
use crate::ids::SessionId;
use crate::message::{Attempt, Role, Tools};
use crate::read_message::ReadMessage;

/// A chat request as the engine needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The model that the client asked for.
    pub model: String,
    /// All messages, in the client's order.
    pub messages: Vec<Arc<ReadMessage>>,
    /// The session's name, if the client gave one.
    pub session_name: Option<String>,
    /// The session that it continues, if the model server keeps the conversation and the client only refers to it.
    pub continues: Option<SessionId>,
    /// Whether the client marks this as a retry.
    pub attempt: Attempt,
    /// Whether the client offers tools.
    pub tools: Tools,
}

impl Request {
    /// Index of the first message of the current prompt: the last user message, or the last message if there is none.
    #[must_use]
    pub fn current_from(&self) -> usize {
        self.messages
            .iter()
            .rposition(|message| message.role == Role::User)
            .unwrap_or_else(|| self.messages.len().saturating_sub(1))
    }

    /// How many of the first messages are a client's examples and never captured.
    #[must_use]
    pub fn example_count(&self) -> usize {
        let last = self
            .messages
            .iter()
            .rposition(|message| message.ends_examples());
        last.map_or(0, |at| at + 1)
    }

    /// The texts of all system messages, joined by a blank line, without anything that the proxy itself injected.
    #[must_use]
    pub fn system_text(&self) -> String {
        let texts: Vec<String> = self
            .messages
            .iter()
            .filter(|message| message.role == Role::System)
            .map(|message| delimiter::strip_blocks(&message.parts.join("\n")).into_owned())
            .collect();
        texts.join("\n\n")
    }
}
