//! Chat request bodies: what the engine needs of them, and the same body with the composed messages in their place.
//!
//! Everything that the proxy doesn't change stays as the client wrote it, byte for byte: unknown fields, key order,
//! number formats, whole messages.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use tslp_core::decide::compose::{Outgoing, OutgoingMessage};
use tslp_core::message::{Attempt, Message, Request, Role, ToolCall, Tools};
use tslp_core::read_message::ReadMessage;
use tslp_core::recent_map::RecentMap;
use tslp_core::redact;

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
    /// All fields but the messages.
    fields: Vec<(String, &'b RawValue)>,
    /// How many of the fields come before the messages.
    fields_before_messages: usize,
    messages: Vec<&'b RawValue>,
    system_role: String,
}

/// The fields in which clients offer tools.
const TOOLS: [&str; 2] = ["tools", "functions"];

/// A body as it goes to the model server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// All of it.
    pub bytes: Vec<u8>,
    /// Where its messages are.
    pub messages: Vec<SentMessage>,
}

impl Written {
    /// What the model server makes the prompt of, piece by piece: the tools of the client's body, then the messages.
    pub fn prompt<'w>(&'w self, body: &'w Body<'_>) -> impl Iterator<Item = &'w [u8]> {
        let first = self.messages.first().map_or(0, |first| first.bytes.start);
        let end = self.messages.last().map_or(0, |last| last.bytes.end);
        body.tools().chain(std::iter::once(&self.bytes[first..end]))
    }
}

/// Messages that were read before, by the hash of their JSON text: agents send all of theirs with every step.
pub struct KnownMessages(RecentMap<[u8; 32], KnownMessage>);

struct KnownMessage {
    /// As the client wrote it.
    role: Box<str>,
    message: Arc<ReadMessage>,
}

/// Memory for messages, twice: in the generation that is filling and in the one before.
const KNOWN_MESSAGES_BYTES: usize = 6 << 20;

impl Default for KnownMessages {
    fn default() -> Self {
        Self(RecentMap::new(KNOWN_MESSAGES_BYTES))
    }
}

impl KnownMessages {
    fn read(&mut self, raw: &RawValue) -> Result<&KnownMessage, serde_json::Error> {
        let hash = *blake3::hash(raw.get().as_bytes()).as_bytes();
        let known = self.0.get_or_try_insert_with(&hash, || {
            let (role, message) = read_message(raw)?;
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
    let Fields {
        others: fields,
        messages,
        before_messages,
    } = Fields::read(bytes)?;
    if messages.is_empty() {
        return Err(BadRequest::NoMessages);
    }
    let field = |name: &str| {
        let mut fields = fields.iter();
        fields.find_map(|(other, value)| (other == name).then_some(*value))
    };
    let mut pieces = messages.len();
    if pieces > PIECES_MAX {
        return Err(BadRequest::TooMany);
    }
    let mut system_role = None;
    let mut read = Vec::with_capacity(messages.len());
    for (index, raw) in messages.iter().enumerate() {
        let known = known
            .read(raw)
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
    let model: Option<String> = field("model").and_then(|raw| serde_json::from_str(raw.get()).ok());
    let offers = |name: &str| field(name).is_some_and(|raw| !matches!(raw.get(), "null" | "[]"));
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
        messages,
        fields_before_messages: before_messages,
        fields,
    };
    Ok((body, request))
}

/// A body's fields in their order, values untouched, and its messages one by one: a body is walked through once.
#[derive(Default)]
struct Fields<'b> {
    others: Vec<(String, &'b RawValue)>,
    messages: Vec<&'b RawValue>,
    before_messages: usize,
}

impl<'b> Fields<'b> {
    fn read(bytes: &'b [u8]) -> Result<Self, BadRequest> {
        let json = std::str::from_utf8(bytes)
            .map_err(|error| BadRequest::Json(serde_json::Error::custom(error)))?;
        let mut flaw = None;
        let mut reader = serde_json::Deserializer::from_str(json);
        let fields = InOrder { flaw: &mut flaw }.deserialize(&mut reader);
        let fields = fields.and_then(|fields| reader.end().map(|()| fields));
        fields.map_err(|error| match flaw {
            // What isn't JSON at all is no matter of one field.
            Some(flaw) if error.is_data() => flaw,
            _ => BadRequest::Json(error),
        })
    }
}

/// Reads fields, and notes why it stops, where more can be said than a parser knows.
struct InOrder<'f> {
    flaw: &'f mut Option<BadRequest>,
}

impl<'de> DeserializeSeed<'de> for InOrder<'_> {
    type Value = Fields<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for InOrder<'_> {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Fields::default();
        let mut has_messages = false;
        *self.flaw = Some(BadRequest::NoMessages);
        while let Some(name) = map.next_key::<String>()? {
            let is_messages = name == "messages";
            if (is_messages && has_messages) || fields.others.iter().any(|(it, _)| *it == name) {
                *self.flaw = Some(BadRequest::Twice(name));
                return Err(A::Error::custom("a field stands twice"));
            }
            if is_messages {
                has_messages = true;
                fields.before_messages = fields.others.len();
                fields.messages = map.next_value()?;
            } else {
                fields.others.push((name, map.next_value()?));
            }
        }
        Ok(fields)
    }
}

/// An object's fields in their order, values untouched.
struct ObjectFields<'b>(Vec<(String, &'b RawValue)>);

impl<'de> Deserialize<'de> for ObjectFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = ObjectFields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(ObjectFields(fields))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
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
const THOUGHTS: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

impl WireMessage<'_> {
    /// What the model thought, in the order of [`THOUGHTS`].
    fn thoughts(&self) -> Vec<String> {
        let fields = [self.reasoning_content, self.reasoning, self.thinking];
        let thoughts = fields.into_iter().flatten();
        thoughts.filter_map(thought).collect()
    }
}

fn thought(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
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

fn read_message(raw: &RawValue) -> Result<(String, Message), serde_json::Error> {
    let wire: WireMessage<'_> = object(raw)?;
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
fn part_text(part: &RawValue) -> Result<Option<String>, serde_json::Error> {
    object::<WirePart>(part).map(|part| part.text)
}

/// An object; an array of the fields' values, which serde takes for one, is none.
fn object<'b, T: Deserialize<'b>>(raw: &'b RawValue) -> Result<T, serde_json::Error> {
    if !raw.get().starts_with('{') {
        return Err(serde::de::Error::custom("not an object"));
    }
    serde_json::from_str(raw.get())
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
                .filter_map(|part| part_text(part).transpose())
                .collect()
        }
        _ => serde_json::from_str::<()>(raw).map(|()| Vec::new()),
    }
}

impl Body<'_> {
    /// The JSON text of the model's name, as the client wrote it.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        let mut fields = self.fields.iter();
        fields.find_map(|(name, raw)| (name == "model").then(|| raw.get()))
    }

    /// What the model server makes the prompt of, piece by piece: the tools, then the messages as the client wrote them.
    pub fn prompt(&self) -> impl Iterator<Item = &[u8]> {
        let messages = self.messages.iter().enumerate();
        let messages = messages.flat_map(|(index, raw)| {
            let comma: &[u8] = if index > 0 { b"," } else { b"" };
            [comma, raw.get().as_bytes()]
        });
        self.tools().chain(messages)
    }

    fn tools(&self) -> impl Iterator<Item = &[u8]> {
        let is_tools = |name: &str| TOOLS.contains(&name);
        let tools = self.fields.iter().filter(move |(name, _)| is_tools(name));
        tools.map(|(_, raw)| raw.get().as_bytes())
    }

    /// The body with the composed messages in place of the client's.
    #[must_use]
    pub fn with(&self, request: &Request, outgoing: &Outgoing) -> Written {
        let fields = self.fields.iter().map(|(_, raw)| *raw);
        let raws = fields.chain(self.messages.iter().copied());
        let bytes: usize = raws.map(|raw| raw.get().len() + 32).sum();
        let mut out = Vec::with_capacity(bytes);
        let (before, after) = self.fields.split_at(self.fields_before_messages);
        out.push(b'{');
        for (name, raw) in before {
            write_field(name, raw, &mut out);
            out.push(b',');
        }
        out.extend_from_slice(b"\"messages\":[");
        let messages = self.write_messages(request, outgoing, &mut out);
        out.push(b']');
        for (name, raw) in after {
            out.push(b',');
            write_field(name, raw, &mut out);
        }
        out.push(b'}');
        Written {
            bytes: out,
            messages,
        }
    }

    /// Where the messages are in the bytes that the body was read from.
    #[must_use]
    pub fn messages_in(&self, bytes: &[u8]) -> Vec<SentMessage> {
        let messages = self.messages.iter().enumerate();
        let messages = messages.map(|(index, raw)| {
            let start = raw.get().as_ptr().addr() - bytes.as_ptr().addr();
            SentMessage {
                index: Some(index),
                bytes: start..start + raw.get().len(),
            }
        });
        messages.collect()
    }

    fn write_messages(
        &self,
        request: &Request,
        outgoing: &Outgoing,
        out: &mut Vec<u8>,
    ) -> Vec<SentMessage> {
        let mut written = Vec::with_capacity(outgoing.messages.len() + 1);
        if let Some(text) = outgoing.system.as_deref().filter(|text| !text.is_empty()) {
            let start = out.len();
            let index = self.write_system_message(request, text, out);
            written.push(SentMessage {
                index,
                bytes: start..out.len(),
            });
        }
        for message in &outgoing.messages {
            if !written.is_empty() {
                out.push(b',');
            }
            let start = out.len();
            self.write_message(request, message, out);
            written.push(SentMessage {
                index: Some(message.index),
                bytes: start..out.len(),
            });
        }
        written
    }

    /// The one system message. The client's own, if nothing was added to it; then its index is given.
    fn write_system_message(
        &self,
        request: &Request,
        text: &str,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        let mut systems = request
            .messages
            .iter()
            .enumerate()
            .filter(|(_, message)| message.role == Role::System);
        if let (Some((index, only)), None) = (systems.next(), systems.next())
            && matches!(only.parts.as_slice(), [part] if part == text)
        {
            write_raw(self.messages[index], out);
            return Some(index);
        }
        write_plain_message(&self.system_role, text, out);
        None
    }

    fn write_message(&self, request: &Request, message: &OutgoingMessage, out: &mut Vec<u8>) {
        let raw = self.messages[message.index];
        if message.is_unchanged() {
            return write_raw(raw, out);
        }
        let read = &request.messages[message.index];
        let mut parts: Vec<Cow<'_, str>> = read.parts.iter().map(Cow::from).collect();
        for (index, text) in &message.rewritten {
            parts[*index] = Cow::from(text);
        }
        if !message.before.is_empty() {
            match parts.first_mut() {
                Some(first) => *first = format!("{}\n\n{first}", message.before).into(),
                None => parts.push(Cow::from(&message.before)),
            }
        }
        if !message.after.is_empty() {
            match parts.last_mut() {
                Some(last) => *last = format!("{last}\n\n{}", message.after).into(),
                None => parts.push(Cow::from(&message.after)),
            }
        }
        let start = out.len();
        if write_replaced(raw, &parts, message, out).is_err() {
            out.truncate(start);
            write_plain_message(read.role.as_str(), &parts.join("\n"), out);
        }
    }
}

fn write_plain_message(role: &str, text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"role\":");
    write_string(role, out);
    out.extend_from_slice(b",\"content\":");
    write_string(text, out);
    out.push(b'}');
}

/// The message with other texts in its text parts, and other arguments and thoughts; everything else stays byte for byte. It
/// can't fail for a message that was read: what is nested deeper than a parser goes is only passed over.
fn write_replaced(
    raw: &RawValue,
    texts: &[Cow<'_, str>],
    message: &OutgoingMessage,
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    let ObjectFields(mut fields) = object(raw)?;
    if !texts.is_empty() && !fields.iter().any(|(name, _)| name == "content") {
        fields.push(("content".into(), serde_json::from_str("null")?));
    }
    let is_thought = |name: &&str| {
        let mut fields = fields.iter();
        fields.any(|(field, value)| field == *name && thought(value).is_some())
    };
    let thoughts: Vec<&str> = THOUGHTS.into_iter().filter(is_thought).collect();
    let other_thought = |name: &str| {
        let at = thoughts.iter().position(|thought| *thought == name)?;
        let mut others = message.thoughts.iter();
        others.find_map(|(index, text)| (*index == at).then_some(text))
    };
    write_object(&fields, out, |name, value, out| {
        match name {
            "content" => write_content(value, texts, out)?,
            "tool_calls" if !message.arguments.is_empty() => {
                write_tool_calls(value, &message.arguments, out)?;
            }
            name => match other_thought(name) {
                Some(text) => write_string(text, out),
                None => write_raw(value, out),
            },
        }
        Ok(())
    })
}

fn write_tool_calls(
    raw: &RawValue,
    arguments: &[(usize, String)],
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    let calls: Vec<&RawValue> = serde_json::from_str(raw.get())?;
    write_array(&calls, out, |index, call, out| {
        let Some((_, text)) = arguments.iter().find(|(call, _)| *call == index) else {
            write_raw(call, out);
            return Ok(());
        };
        let ObjectFields(fields) = object(call)?;
        write_object(&fields, out, |name, value, out| {
            if name != "function" {
                write_raw(value, out);
                return Ok(());
            }
            let ObjectFields(fields) = object(value)?;
            write_object(&fields, out, |name, value, out| {
                match name {
                    "arguments" => write_string(text, out),
                    _ => write_raw(value, out),
                }
                Ok(())
            })
        })
    })
}

fn write_content(
    raw: &RawValue,
    texts: &[Cow<'_, str>],
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    let mut texts = texts.iter();
    if !raw.get().starts_with('[') {
        match texts.next() {
            Some(text) => write_string(text, out),
            None => write_raw(raw, out),
        }
        return Ok(());
    }
    let parts: Vec<&RawValue> = serde_json::from_str(raw.get())?;
    write_array(&parts, out, |_, part, out| {
        let Some(text) = part_text(part)?.and_then(|_| texts.next()) else {
            write_raw(part, out);
            return Ok(());
        };
        let ObjectFields(fields) = object(part)?;
        write_object(&fields, out, |name, value, out| {
            match name {
                "text" => write_string(text, out),
                _ => write_raw(value, out),
            }
            Ok(())
        })
    })
}

/// Writes an object whose values are `value`'s doing. Straight into the body, since a message can be most of it.
fn write_object(
    fields: &[(String, &RawValue)],
    out: &mut Vec<u8>,
    mut value: impl FnMut(&str, &RawValue, &mut Vec<u8>) -> Result<(), serde_json::Error>,
) -> Result<(), serde_json::Error> {
    out.push(b'{');
    for (index, (name, raw)) in fields.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(name, out);
        out.push(b':');
        value(name, raw, out)?;
    }
    out.push(b'}');
    Ok(())
}

/// Writes an array whose items are `item`'s doing.
fn write_array(
    items: &[&RawValue],
    out: &mut Vec<u8>,
    mut item: impl FnMut(usize, &RawValue, &mut Vec<u8>) -> Result<(), serde_json::Error>,
) -> Result<(), serde_json::Error> {
    out.push(b'[');
    for (index, raw) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        item(index, raw, out)?;
    }
    out.push(b']');
    Ok(())
}

fn write_field(name: &str, value: &RawValue, out: &mut Vec<u8>) {
    write_string(name, out);
    out.push(b':');
    write_raw(value, out);
}

fn write_raw(raw: &RawValue, out: &mut Vec<u8>) {
    out.extend_from_slice(raw.get().as_bytes());
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("a string is JSON, and a Vec takes all of it");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, outgoing: &Outgoing, expected: &str) {
        let (read_body, request) = read(
            body.as_bytes(),
            Envelope::default(),
            &mut KnownMessages::default(),
        )
        .expect("a chat request");
        let written = read_body.with(&request, outgoing).bytes;
        assert_eq!(String::from_utf8(written).expect("UTF-8"), expected);
    }

    #[test]
    fn the_prompt_is_the_tools_and_the_messages_wherever_they_stand() {
        let check = |body: &str, client: &str, sent: &str| {
            let (read_body, request) = read(
                body.as_bytes(),
                Envelope::default(),
                &mut KnownMessages::default(),
            )
            .expect("a chat request");
            let outgoing = Outgoing {
                system: Some("new".into()),
                messages: vec![unchanged(0), unchanged(1)],
            };
            let written = read_body.with(&request, &outgoing);
            let text = |pieces: Vec<&[u8]>| String::from_utf8(pieces.concat()).expect("UTF-8");
            assert_eq!(text(read_body.prompt().collect()), client, "{body}");
            assert_eq!(text(written.prompt(&read_body).collect()), sent, "{body}");
        };
        let (one, two) = (r#"{"role":"user","content":"a"}"#, r#"{ "role" : "user" }"#);
        let system = r#"{"role":"system","content":"new"}"#;
        check(
            &format!(r#"{{"messages": [ {one} , {two} ], "model": "m", "tools": [1, 2]}}"#),
            &format!("[1, 2]{one},{two}"),
            &format!("[1, 2]{system},{one},{two}"),
        );
        check(
            &format!(r#"{{"functions":[3],"messages":[{one},{two}]}}"#),
            &format!("[3]{one},{two}"),
            &format!("[3]{system},{one},{two}"),
        );
    }

    fn unchanged(index: usize) -> OutgoingMessage {
        OutgoingMessage {
            index,
            ..OutgoingMessage::default()
        }
    }

    #[test]
    fn what_is_not_changed_stays_byte_for_byte() {
        let body = r#"{"model":"m","x":1.50,"messages":[{"content":"h\u00e9","role":"user","name":"n"}],"stream":true}"#;
        let outgoing = Outgoing {
            messages: vec![unchanged(0)],
            ..Outgoing::default()
        };
        check(body, &outgoing, body);
    }

    #[test]
    fn one_system_message_goes_out_in_the_clients_own_role() {
        let body =
            r#"{"messages":[{"role":"developer","content":"a"},{"role":"user","content":"q"}]}"#;
        let outgoing = Outgoing {
            system: Some("a\n\nstate".into()),
            messages: vec![unchanged(1)],
        };
        check(
            body,
            &outgoing,
            r#"{"messages":[{"role":"developer","content":"a\n\nstate"},{"role":"user","content":"q"}]}"#,
        );
    }

    #[test]
    fn text_parts_are_replaced_beside_images() {
        let body = r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{}},{"type":"text","text":"q"}]}]}"#;
        let outgoing = Outgoing {
            messages: vec![OutgoingMessage {
                before: "state".into(),
                ..unchanged(0)
            }],
            ..Outgoing::default()
        };
        check(
            body,
            &outgoing,
            r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{}},{"type":"text","text":"state\n\nq"}]}]}"#,
        );
    }

    /// A client could nest something so deeply that the message couldn't be read again, and forged blocks in it went
    /// out as they were.
    #[test]
    fn a_rewritten_message_changes_in_its_texts_alone() {
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        let body = format!(
            r#"{{"messages":[{{"x":1.50,"role":"user","content":[{{"y":{deep},"text":"a"}},{{"z":1e2}},{{"text":"b"}}]}},{{"role":"user"}}]}}"#
        );
        let outgoing = Outgoing {
            messages: vec![
                OutgoingMessage {
                    rewritten: vec![(1, "c".into())],
                    after: "d".into(),
                    ..unchanged(0)
                },
                OutgoingMessage {
                    before: "p".into(),
                    ..unchanged(1)
                },
            ],
            ..Outgoing::default()
        };
        let expected = body
            .replace("\"b\"", "\"c\\n\\nd\"")
            .replace(r#"{"role":"user"}"#, r#"{"role":"user","content":"p"}"#);
        check(&body, &outgoing, &expected);
    }

    #[test]
    fn arguments_of_calls_are_replaced_in_their_place() {
        let body = r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}},{"id":"2","type":"function","function":{"arguments":"{\"content\":\"x\"}","name":"b"},"z":1.50}]}]}"#;
        let outgoing = Outgoing {
            messages: vec![OutgoingMessage {
                arguments: vec![(1, r#"{"content":"y"}"#.into())],
                ..unchanged(0)
            }],
            ..Outgoing::default()
        };
        check(
            body,
            &outgoing,
            &body.replace(r#"content\":\"x"#, r#"content\":\"y"#),
        );
    }

    #[test]
    fn thoughts_are_replaced_in_their_place() {
        let body = r#"{"messages":[{"role":"assistant","reasoning":"b","content":"t","reasoning_content":["a"],"thinking":"c","x":1.50}]}"#;
        let outgoing = Outgoing {
            messages: vec![OutgoingMessage {
                thoughts: vec![(1, "\"d".into())],
                ..unchanged(0)
            }],
            ..Outgoing::default()
        };
        check(
            body,
            &outgoing,
            &body.replace(r#""thinking":"c""#, r#""thinking":"\"d""#),
        );
    }

    #[test]
    fn it_is_told_where_the_messages_are() {
        let check = |body: &str, outgoing: Option<&Outgoing>| {
            let (read_body, request) = read(
                body.as_bytes(),
                Envelope::default(),
                &mut KnownMessages::default(),
            )
            .expect("a chat request");
            let (sent, messages) = match outgoing {
                None => (
                    body.as_bytes().to_vec(),
                    read_body.messages_in(body.as_bytes()),
                ),
                Some(outgoing) => {
                    let written = read_body.with(&request, outgoing);
                    (written.bytes, written.messages)
                }
            };
            let read: serde_json::Value = serde_json::from_slice(&sent).expect("JSON");
            let found: Vec<serde_json::Value> = messages
                .iter()
                .map(|message| serde_json::from_slice(&sent[message.bytes.clone()]).expect("JSON"))
                .collect();
            assert_eq!(read["messages"].as_array(), Some(&found), "{body}");
        };
        let body = " { \"messages\" : [ {\"role\":\"system\",\"content\":\"s\"} , {\"role\":\"user\",\"content\":\"[,]\"}\n] , \"x\" : [] } ";
        check(body, None);
        for system in [None, Some("s".to_owned()), Some("t".to_owned())] {
            let changed = OutgoingMessage {
                before: "b".into(),
                ..unchanged(1)
            };
            check(
                body,
                Some(&Outgoing {
                    system,
                    messages: vec![changed, unchanged(1)],
                }),
            );
        }
        check(r#"{"messages":[{"role":"user"}]}"#, None);
    }

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
        assert!(complaint(r#"{"messages":[],"messages":[]}"#).contains("stands twice"));
        let deep = format!(
            r#"{{"messages":[{}1{}]}}"#,
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        assert!(complaint(&deep).contains("recursion") || complaint(&deep).contains("messages"));
    }
}
