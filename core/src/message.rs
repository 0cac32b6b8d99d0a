//! Chat messages as the engine sees them: who speaks, the text, the tool calls.

use alloc::string::String;
use alloc::vec::Vec;

use crate::hash::MessageKey;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// `system` or `developer`.
    System,
    /// `user`.
    User,
    /// `assistant`.
    Assistant,
    /// `tool` or `function`.
    Tool,
    /// A role that the engine doesn't know; relayed as it is.
    Other,
}

impl Role {
    /// The role that a request's `role` field names.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        match name {
            "system" | "developer" => Self::System,
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "tool" | "function" => Self::Tool,
            _ => Self::Other,
        }
    }

    /// The word used in prompts and diagnostics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Other => "other",
        }
    }
}

/// A call that the model asks its client to make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// Its arguments as JSON text.
    pub arguments: String,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// Its text; text parts are joined by a line end, other parts are left out.
    pub text: String,
    /// Its tool calls.
    pub tool_calls: Vec<ToolCall>,
}

impl Message {
    /// A message of text alone.
    #[must_use]
    pub fn new(role: Role, text: &str) -> Self {
        Self {
            role,
            text: text.into(),
            tool_calls: Vec::new(),
        }
    }

    /// How the message is recognised when a client sends it again. White space around the text doesn't count, because
    /// clients trim replies before they send them back.
    #[must_use]
    pub fn key(&self) -> MessageKey {
        let mut hasher = blake3::Hasher::new();
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        part(self.role.as_str().as_bytes());
        part(self.text.trim().as_bytes());
        for call in &self.tool_calls {
            part(call.name.as_bytes());
            part(call.arguments.as_bytes());
        }
        MessageKey(*hasher.finalize().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trimmed_text_keeps_its_key_and_anything_else_changes_it() {
        let key = Message::new(Role::User, "hello").key();
        assert_eq!(Message::new(Role::User, " hello\n").key(), key);
        assert_ne!(Message::new(Role::Assistant, "hello").key(), key);
        assert_ne!(Message::new(Role::User, "hello!").key(), key);
    }
}
