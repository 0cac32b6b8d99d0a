//! Chat request bodies: what the engine needs of them.

use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use tslp_core::message::{Attempt, Message, Request, Role, ToolCall, Tools};
use tslp_core::read_message::ReadMessage;
use tslp_core::recent_map::RecentMap;
use tslp_core::redact;

use super::body_walk::{KnownBeginnings, MessageHash, WalkedBody, range_in};
use super::sent::SentMessage;

/// Why a body is no chat request. The text is for the person whose client sent it.
#[derive(Debug, thiserror::Error)]
pub enum BadRequest {
    /// Not JSON, or not an object.
    #[error("the request body is not a JSON object of a chat completion: {0}")]
    Json(serde_json::Error),
    /// No messages.
    #[error("`messages` must be a non-empty array")]
    NoMessages,
    /// A message that isn't one.
    #[error("`messages[{index}]` is not a chat message: {error}")]
    Message {
        /// Which.
        index: usize,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// More messages, texts and tool calls than any conversation has.
    #[error(
        "the request has more than {PIECES_MAX} messages, text parts and tool calls together, each of which takes memory however short it is; start a new conversation"
    )]
    TooMany,
    /// A field stands twice, so that two readers could see different requests.
    #[error("the field `{0}` stands twice in the request body")]
    Twice(String),
}

/// Messages, text parts and tool calls of one request. Each takes up to a kilobyte besides its bytes.
const PIECES_MAX: usize = 8192;

/// What stands around the body.
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    /// The `x-tslp-session` header.
    pub session_name: Option<String>,
    /// Whether the client marks the request as a retry.
    pub attempt: Attempt,
}

/// A request body, read but not copied.
pub struct Body<'b> {
    pub(super) walked: WalkedBody<'b>,
    /// How the client calls the role of system messages.
    pub(super) system_role: String,
}

/// The fields in which clients offer tools.
const TOOLS: [&str; 2] = ["tools", "functions"];

/// What is known of messages that were sent before: agents send all of theirs with every step.
pub struct KnownMessages {
    beginnings: KnownBeginnings,
    /// By the hash of their JSON text.
    messages: RecentMap<MessageHash, KnownMessage>,
}

struct KnownMessage {
    /// As the client wrote it.
    role: Box<str>,
    message: Arc<ReadMessage>,
}

/// Memory for messages, twice: in the generation that is filling and in the one before.
const KNOWN_MESSAGES_BYTES: usize = 6 << 20;

impl Default for KnownMessages {
    fn default() -> Self {
        Self {
            beginnings: KnownBeginnings::default(),
            messages: RecentMap::new(KNOWN_MESSAGES_BYTES),
        }
    }
}

impl KnownMessages {
    fn read(&mut self, hash: &MessageHash, json: &str) -> Result<&KnownMessage, serde_json::Error> {
        let known = self.messages.get_or_try_insert_with(hash, || {
            let (role, message) = read_message(json)?;
            let message: Arc<ReadMessage> = message.into();
            let weight = message.weight() + role.len();
            let role = role.into();
            Ok((KnownMessage { role, message }, weight))
        })?;
        Ok(known)
    }
}

/// Reads a body; of its messages those that aren't known.
///
/// # Errors
/// See [`BadRequest`].
pub fn read<'b>(
    bytes: &'b [u8],
    envelope: Envelope,
    known: &mut KnownMessages,
) -> Result<(Body<'b>, Request), BadRequest> {
    let walked = known.beginnings.walk(bytes)?;
    let mut pieces = walked.messages.len();
    if pieces > PIECES_MAX {
        return Err(BadRequest::TooMany);
    }
    let mut system_role = None;
    let mut read = Vec::with_capacity(walked.messages.len());
    for (index, (hash, json)) in walked.messages.iter().enumerate() {
        let known = known
            .read(hash, json)
            .map_err(|error| BadRequest::Message { index, error })?;
        pieces += known.message.parts.len() + known.message.tool_calls.len();
        if pieces > PIECES_MAX {
            return Err(BadRequest::TooMany);
        }
        if known.message.role == Role::System {
            system_role.get_or_insert_with(|| known.role.clone().into_string());
        }
        read.push(Arc::clone(&known.message));
    }
    let model: Option<String> = walked
        .field("model")
        .and_then(|json| serde_json::from_str(json).ok());
    let offers = |name: &str| {
        walked
            .field(name)
            .is_some_and(|json| !matches!(json, "null" | "[]"))
    };
    let request = Request {
        model: redact::redacted(&model.unwrap_or_default()).into_owned(),
        messages: read,
        session_name: envelope.session_name,
        attempt: envelope.attempt,
        tools: if TOOLS.into_iter().any(offers) {
            Tools::Offered
        } else {
            Tools::None
        },
    };
    let body = Body {
        system_role: system_role.unwrap_or_else(|| "system".into()),
        walked,
    };
    Ok((body, request))
}

#[derive(Deserialize)]
struct WireMessage<'b> {
    role: String,
    #[serde(borrow, default)]
    content: Option<&'b RawValue>,
    #[serde(default)]
    tool_calls: Option<Vec<WireToolCall>>,
    #[serde(borrow, default)]
    reasoning_content: Option<&'b RawValue>,
    #[serde(borrow, default)]
    reasoning: Option<&'b RawValue>,
    #[serde(borrow, default)]
    thinking: Option<&'b RawValue>,
}

/// The fields in which clients send back what a model thought, where it is a string.
pub(super) const THOUGHTS: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

impl WireMessage<'_> {
    /// What the model thought, in the order of [`THOUGHTS`].
    fn thoughts(&self) -> Vec<String> {
        let fields = [self.reasoning_content, self.reasoning, self.thinking];
        let thoughts = fields.into_iter().flatten();
        thoughts.filter_map(|json| thought(json.get())).collect()
    }
}

pub(super) fn thought(json: &str) -> Option<String> {
    serde_json::from_str(json).ok()
}

#[derive(Deserialize)]
struct WireToolCall {
    #[serde(default)]
    function: WireFunction,
}

#[derive(Default, Deserialize)]
struct WireFunction {
    #[serde(default)]
    name: String,
    #[serde(default)]
    arguments: String,
}

#[derive(Deserialize)]
struct WirePart {
    #[serde(default)]
    text: Option<String>,
}

fn read_message(json: &str) -> Result<(String, Message), serde_json::Error> {
    let wire: WireMessage<'_> = object(json)?;
    let thoughts = wire.thoughts();
    let tool_calls = wire.tool_calls.unwrap_or_default();
    let message = Message {
        role: Role::parse(&wire.role),
        parts: text_parts(wire.content)?,
        tool_calls: tool_calls
            .into_iter()
            .map(|call| ToolCall {
                name: call.function.name,
                arguments: call.function.arguments,
            })
            .collect(),
        thoughts,
    };
    Ok((wire.role, message))
}

/// The text of a part that has one.
pub(super) fn part_text(part: &str) -> Result<Option<String>, serde_json::Error> {
    object::<WirePart>(part).map(|part| part.text)
}

/// An object; an array of the fields' values, which serde takes for one, is none.
pub(super) fn object<'b, T: Deserialize<'b>>(json: &'b str) -> Result<T, serde_json::Error> {
    if !json.starts_with('{') {
        return Err(serde::de::Error::custom("not an object"));
    }
    serde_json::from_str(json)
}

/// A string, an array of parts, or null.
fn text_parts(content: Option<&RawValue>) -> Result<Vec<String>, serde_json::Error> {
    let Some(raw) = content.map(RawValue::get) else {
        return Ok(Vec::new());
    };
    match raw.as_bytes().first() {
        Some(b'"') => Ok(vec![serde_json::from_str(raw)?]),
        Some(b'[') => {
            let parts: Vec<&RawValue> = serde_json::from_str(raw)?;
            parts
                .into_iter()
                .filter_map(|part| part_text(part.get()).transpose())
                .collect()
        }
        _ => serde_json::from_str::<()>(raw).map(|()| Vec::new()),
    }
}

impl Body<'_> {
    /// The JSON text of the model's name, as the client wrote it.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.walked.field("model")
    }

    /// Where the model server's prompt stands in the bytes that the body was read from.
    #[must_use]
    pub fn prompt_in(&self, bytes: &[u8]) -> PromptPlaces {
        let place = |json: &str| range_in(bytes, json.as_bytes());
        let fields = self.walked.fields.iter();
        let tools = fields.filter(|(name, _)| TOOLS.contains(&name.as_str()));
        let messages = self.walked.messages.iter().enumerate();
        PromptPlaces {
            tools: tools.map(|(_, json)| place(json)).collect(),
            messages: messages
                .map(|(index, (_, json))| SentMessage {
                    index: Some(index),
                    bytes: place(json),
                })
                .collect(),
        }
    }
}

/// Where in a client's body that stands of which the model server makes the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptPlaces {
    /// The fields in which it offers tools.
    pub tools: Vec<Range<usize>>,
    /// Its messages.
    pub messages: Vec<SentMessage>,
}

impl PromptPlaces {
    /// The prompt that a model server makes of the client's tools and the messages of some body, piece by piece.
    pub fn prompt<'p>(
        &'p self,
        client_body: &'p [u8],
        (body, messages): (&'p [u8], &'p [SentMessage]),
    ) -> impl Iterator<Item = &'p [u8]> {
        let tools = self.tools.iter().map(|at| &client_body[at.clone()]);
        let messages = messages.iter().enumerate();
        let messages = messages.flat_map(move |(index, message)| {
            let comma: &[u8] = if index > 0 { b"," } else { b"" };
            [comma, &body[message.bytes.clone()]]
        });
        tools.chain(messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_that_are_no_chat_requests_say_why() {
        let complaint = |body: &str| {
            read(
                body.as_bytes(),
                Envelope::default(),
                &mut KnownMessages::default(),
            )
            .err()
            .expect("refused")
            .to_string()
        };
        assert!(complaint("{").contains("not a JSON object"));
        assert!(complaint("[]").contains("not a JSON object"));
        assert!(complaint("{}").contains("non-empty array"));
        assert!(complaint(r#"{"messages":[]}"#).contains("non-empty array"));
        assert!(complaint(r#"{"messages":[{"role":1}]}"#).contains("messages[0]"));
        assert!(complaint(r#"{"messages":[["user","x"]]}"#).contains("not an object"));
        let many = |message: &str, times: usize| vec![message; times].join(",");
        let messages = many(r#"{"role":"user"}"#, PIECES_MAX + 1);
        assert!(complaint(&format!(r#"{{"messages":[{messages}]}}"#)).contains("more than 8192"));
        let calls = many(r#"{"id":"1"}"#, PIECES_MAX);
        let body = format!(r#"{{"messages":[{{"role":"assistant","tool_calls":[{calls}]}}]}}"#);
        assert!(complaint(&body).contains("more than 8192"));
        let nested = r#"{"messages":[{"role":"user","content":[["x"]]}]}"#;
        assert!(complaint(nested).contains("not an object"));
        assert!(
            complaint(r#"{"messages":[{"role":"user"}],"messages":[]}"#).contains("stands twice")
        );
        let deep = format!(
            r#"{{"messages":[{}1{}]}}"#,
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        assert!(complaint(&deep).contains("recursion") || complaint(&deep).contains("messages"));
    }
}
