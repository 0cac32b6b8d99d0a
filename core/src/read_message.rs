//! A message that was read once. Agents send their whole conversation with every step, so everything that follows from a
//! message's bytes alone is computed once and kept with it.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Deref;

use crate::capture;
use crate::delimiter;
use crate::directive;
use crate::hash::{ArtifactHash, MessageKey};
use crate::message::{Message, Role, message_key, recordable};

/// A message with everything that follows from its bytes alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadMessage {
    message: Message,
    /// Its text as the ledger may hold it; `None` if that is its only text part as it is.
    recorded: Option<String>,
    key: MessageKey,
    content: ArtifactHash,
    /// Of its texts, in the order of [`Message::texts`].
    text_hashes: Vec<ArtifactHash>,
    is_safe: bool,
    ends_examples: bool,
}

impl From<Message> for ReadMessage {
    fn from(message: Message) -> Self {
        let said = |text| match message.role {
            Role::Assistant => delimiter::without_user_line(text),
            _ => text,
        };
        let recorded = match message.parts.as_slice() {
            [] => None,
            [part] => match recordable(message.role, said(part)) {
                Cow::Borrowed(text) if text.len() == part.len() => None,
                text => Some(text.into_owned()),
            },
            parts => Some(recordable(message.role, said(&parts.join("\n"))).into_owned()),
        };
        Self::new(message, recorded)
    }
}

impl From<Message> for Arc<ReadMessage> {
    fn from(message: Message) -> Self {
        Self::new(ReadMessage::from(message))
    }
}

impl ReadMessage {
    /// A message whose text is in the ledger.
    #[must_use]
    pub fn on_record(role: Role, text: &str) -> Self {
        Self::new(Message::new(role, text), None)
    }

    fn new(message: Message, recorded: Option<String>) -> Self {
        let text = recorded.as_deref().unwrap_or_else(|| message.first_part());
        let is_safe = |text: &String| safe_text(message.role, text).is_none();
        let mut shown = message.parts.iter().chain(&message.thoughts);
        Self {
            key: message_key(message.role, text, &message.tool_calls),
            content: ArtifactHash::of(text.as_bytes()),
            text_hashes: message
                .texts()
                .map(|text| ArtifactHash::of(text.as_bytes()))
                .collect(),
            is_safe: shown.all(is_safe),
            ends_examples: capture::ends_examples(&message),
            recorded,
            message,
        }
    }

    /// The message's text as the ledger may hold it: parts joined by a line end, without anything that the proxy itself
    /// injected, credentials redacted.
    #[must_use]
    pub fn recorded(&self) -> &str {
        let recorded = self.recorded.as_deref();
        recorded.unwrap_or_else(|| self.message.first_part())
    }

    /// The key by which the message is recognised when it is sent again.
    #[must_use]
    pub const fn key(&self) -> MessageKey {
        self.key
    }

    /// The address of [`recorded`](Self::recorded) in the Vault.
    #[must_use]
    pub const fn content(&self) -> ArtifactHash {
        self.content
    }

    /// Hashes of its texts, in the order of [`Message::texts`].
    #[must_use]
    pub fn text_hashes(&self) -> &[ArtifactHash] {
        &self.text_hashes
    }

    /// Whether its text parts and thoughts may go to a model as they are (see [`safe_text`]).
    #[must_use]
    pub const fn is_safe(&self) -> bool {
        self.is_safe
    }

    /// Whether it and what comes before it are a client's examples (see [`Request::example_count`](crate::request::Request::example_count)).
    #[must_use]
    pub const fn ends_examples(&self) -> bool {
        self.ends_examples
    }

    /// Approximate size in memory, in bytes.
    #[must_use]
    pub fn weight(&self) -> usize {
        let texts: usize = self.message.texts().map(str::len).sum();
        size_of::<Self>()
            + texts
            + self.recorded.as_ref().map_or(0, String::len)
            + self.text_hashes.len() * (size_of::<ArtifactHash>() + size_of::<String>())
    }
}

impl Deref for ReadMessage {
    type Target = Message;

    fn deref(&self) -> &Message {
        &self.message
    }
}

/// A text as a model may see it: with all delimiters defused, since a document may quote whole blocks, the user's without
/// directives, and the model's own without such blocks. `None` if nothing changes. What a tool printed is no directive, however it begins.
#[must_use]
pub fn safe_text(speaker: Role, text: &str) -> Option<String> {
    let prose = match speaker {
        Role::User => directive::without_directives(text),
        // A block that the model wrote itself would only be believed.
        Role::Assistant => delimiter::unmarked(delimiter::without_user_line(text)),
        _ => Cow::Borrowed(text),
    };
    let defused = delimiter::defused(&prose);
    if defused.trim().is_empty() && !prose.trim().eq(text.trim()) {
        return Some(String::from(ONLY_DIRECTIVES));
    }
    (defused != text).then(|| defused.into_owned())
}

/// The text that replaces a prompt which consists of directives alone.
pub const ONLY_DIRECTIVES: &str =
    "(A directive to the state ledger; what came of it stands in the state notices.)";
