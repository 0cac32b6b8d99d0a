//! Chat messages as the engine sees them: role, text, tool calls.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::delimiter;
use crate::hash::MessageKey;
use crate::redact;
use crate::stored::stored_words;

stored_words! {
    /// The author of a message.
    Role, "role" {
        /// `system` or `developer`.
        System = "system",
        /// `user`.
        User = "user",
        /// `assistant`.
        Assistant = "assistant",
        /// `tool` or `function`.
        Tool = "tool",
        /// A role that the engine doesn't know; relayed as it is.
        Other = "other",
    }
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
}

/// A call that the model asks its client to make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// Its id, by which a result names it; empty if it has none.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// Its arguments as JSON text.
    pub arguments: String,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its author.
    pub role: Role,
    /// Its text parts, in order; images and other parts are left out.
    pub parts: Vec<String>,
    /// Its tool calls.
    pub tool_calls: Vec<ToolCall>,
    /// The id of the call of which it is the result; empty if it is none, or doesn't say.
    pub answers: String,
    /// The model's thoughts before the text, if the client sends them back separately.
    pub thoughts: Vec<String>,
}

impl Message {
    /// A message of one text part.
    #[must_use]
    pub fn new(role: Role, text: &str) -> Self {
        Self {
            role,
            parts: vec![text.into()],
            tool_calls: Vec::new(),
            answers: String::new(),
            thoughts: Vec::new(),
        }
    }

    /// Its first text part.
    #[must_use]
    pub fn first_part(&self) -> &str {
        self.parts.first().map_or("", String::as_str)
    }

    /// All its texts in the order in which a model sees them: thoughts, text parts, arguments of tool calls.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.thoughts
            .iter()
            .chain(&self.parts)
            .map(String::as_str)
            .chain(self.tool_calls.iter().map(|call| call.arguments.as_str()))
    }
}

/// A text as the ledger may hold it: without injected blocks and credentials. Of a model's text the code in such blocks stays.
#[must_use]
pub fn recordable(speaker: Role, text: &str) -> Cow<'_, str> {
    let own = match speaker {
        Role::Assistant => delimiter::unmarked(text),
        _ => delimiter::strip_blocks(text),
    };
    match own {
        Cow::Borrowed(text) => redact::without_credentials(text),
        Cow::Owned(text) => Cow::Owned(redact::without_credentials(&text).into_owned()),
    }
}

/// The key by which a message is recognised when a client sends it again; `text` is as the ledger may hold it.
///
/// Three things don't count: whitespace around the text, because clients trim replies before they send them back; whitespace
/// between the JSON tokens of arguments, because clients parse and rewrite them; and a model's thoughts before its reply,
/// because clients leave them out.
#[must_use]
pub fn message_key(role: Role, text: &str, tool_calls: &[ToolCall]) -> MessageKey {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(role.as_str().as_bytes());
    let said = match role {
        Role::Assistant => without_thoughts(delimiter::without_user_line(text)),
        _ => text,
    };
    part(said.trim().as_bytes());
    for call in tool_calls {
        part(call.name.as_bytes());
        part(without_json_whitespace(&call.arguments).as_bytes());
    }
    MessageKey(*hasher.finalize().as_bytes())
}

/// The tags around a model's thoughts before its reply.
const THOUGHTS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// A reply without the thoughts at its start; all of it if they have no end.
fn without_thoughts(reply: &str) -> &str {
    let begun = reply.trim_start();
    THOUGHTS
        .iter()
        .find_map(|(open, close)| begun.strip_prefix(open)?.split_once(close))
        .map_or(reply, |(_, said)| said)
}

/// JSON text without the whitespace between its tokens.
fn without_json_whitespace(json: &str) -> String {
    let (mut is_string, mut is_escaped) = (false, false);
    let is_token = |c: &char| {
        let stays = is_string || !matches!(c, ' ' | '\t' | '\n' | '\r');
        is_string ^= *c == '"' && !is_escaped;
        is_escaped = is_string && *c == '\\' && !is_escaped;
        stays
    };
    json.chars().filter(is_token).collect()
}

/// Whether a request repeats the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attempt {
    /// A prompt of its own.
    #[default]
    First,
    /// The client's library sends the same request again after a failure.
    Retry,
}

stored_words! {
    /// Whether a request offers tools to the model.
    #[derive(Default)]
    Tools, "word on tools" {
        /// None: a plain conversation.
        #[default]
        None = "none",
        /// Some, none of which reads files: what the model has to see of them is in the conversation.
        Offered = "offered",
        /// Some, of which one reads files: an agent drives the conversation, and its tool results must stay in it.
        Reading = "reading",
    }
}

impl Tools {
    /// Whether there are any.
    #[must_use]
    pub const fn are_offered(self) -> bool {
        !matches!(self, Self::None)
    }

    /// Whether the client can read files for the model.
    #[must_use]
    pub const fn read_files(self) -> bool {
        matches!(self, Self::Reading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trimming a text keeps its key; any other change gives another one.
    #[test]
    fn key_of_text() {
        let key = |role, text: &str| message_key(role, &recordable(role, text), &[]);
        let hello = key(Role::User, "hello");
        assert_eq!(key(Role::User, " hello\n"), hello);
        assert_eq!(
            key(Role::User, "hello\n[STATE NOTICE]\nx\n[END NOTICE]"),
            hello
        );
        assert_ne!(key(Role::Assistant, "hello"), hello);
        let reply = key(Role::Assistant, "hello");
        assert_eq!(
            key(Role::Assistant, "\n<think>\nHm.\n</think>\n\nhello"),
            reply
        );
        assert_eq!(key(Role::Assistant, "<thinking>a</thinking>hello"), reply);
        assert_ne!(key(Role::Assistant, "<think>hello"), reply);
        assert_ne!(key(Role::User, "<think>a</think>hello"), hello);
        assert_ne!(key(Role::User, "hello!"), hello);
    }

    /// Arguments that are written anew keep their key.
    #[test]
    fn rewritten_arguments() {
        let key = |arguments: &str| {
            let call = ToolCall {
                id: String::new(),
                name: "edit".into(),
                arguments: arguments.into(),
            };
            message_key(Role::Assistant, "", &[call])
        };
        let written = key(r#"{"path":"a b.c","text":"\"  x\\"}"#);
        assert_eq!(
            key("{ \"path\": \"a b.c\",\n\t\"text\": \"\\\"  x\\\\\" }\r\n"),
            written
        );
        assert_ne!(key(r#"{"path":"ab.c","text":"\"  x\\"}"#), written);
        assert_ne!(key(r#"{"path":"a b.c","text":"\" x\\"}"#), written);
    }
}
