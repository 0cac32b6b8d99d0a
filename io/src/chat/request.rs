//! Chat request bodies: what the engine needs of them, and the same body with the composed messages in their place.
//!
//! Everything that the proxy doesn't change stays as the client wrote it, byte for byte: unknown fields, key order,
//! number formats, whole messages.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use tslp_core::decide::compose::{Outgoing, OutgoingMessage};
use tslp_core::message::{Attempt, Message, Request, Role, ToolCall, Tools};
use tslp_core::redact;

use super::sent::{Piece, Pieces};

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
    /// A field stands twice, so that two readers could see different requests.
    #[error("the field `{0}` stands twice in the request body")]
    Twice(String),
}

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
    fields: Vec<(String, &'b RawValue)>,
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
    /// Where the messages stand in it, without the array's brackets.
    messages: Range<usize>,
}

impl Written {
    /// What the model server makes the prompt of, piece by piece: the tools of the client's body, then the messages.
    pub fn prompt<'w>(&'w self, body: &'w Body<'_>) -> impl Iterator<Item = &'w [u8]> {
        let messages = &self.bytes[self.messages.clone()];
        body.tools().chain(std::iter::once(messages))
    }
}

/// Reads a body.
///
/// # Errors
/// See [`BadRequest`].
pub fn read(bytes: &[u8], envelope: Envelope) -> Result<(Body<'_>, Request), BadRequest> {
    let Fields(fields) = serde_json::from_slice(bytes).map_err(BadRequest::Json)?;
    for (index, (name, _)) in fields.iter().enumerate() {
        if fields[..index].iter().any(|(other, _)| other == name) {
            return Err(BadRequest::Twice(name.clone()));
        }
    }
    let field = |name: &str| {
        fields
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| *value)
    };
    let raw = field("messages").ok_or(BadRequest::NoMessages)?;
    let messages: Vec<&RawValue> =
        serde_json::from_str(raw.get()).map_err(|_| BadRequest::NoMessages)?;
    if messages.is_empty() {
        return Err(BadRequest::NoMessages);
    }
    let mut system_role = None;
    let mut read = Vec::with_capacity(messages.len());
    for (index, raw) in messages.iter().enumerate() {
        let (role, message) =
            read_message(raw).map_err(|error| BadRequest::Message { index, error })?;
        if message.role == Role::System {
            system_role.get_or_insert(role);
        }
        read.push(message);
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
        fields,
    };
    Ok((body, request))
}

/// The body's fields in their order, values untouched.
struct Fields<'b>(Vec<(String, &'b RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
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
        let mut bytes = Vec::with_capacity(
            self.fields
                .iter()
                .map(|(_, raw)| raw.get().len() + 32)
                .sum(),
        );
        let mut messages = 0..0;
        self.write_fields(&mut bytes, |out| {
            let start = out.len();
            for (index, (_, message)) in self.messages(request, outgoing).enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(message.as_bytes());
            }
            messages = start..out.len();
        });
        Written { bytes, messages }
    }

    /// The body as [`Self::with`] writes it, message by message.
    #[must_use]
    pub fn composed<'p>(&'p self, request: &'p Request, outgoing: &'p Outgoing) -> Pieces<'p> {
        let mut frame = Vec::new();
        let mut before = 0;
        self.write_fields(&mut frame, |out| before = out.len());
        let after = frame.split_off(before);
        let text = |bytes| String::from_utf8(bytes).expect("JSON is UTF-8");
        let messages = self.messages(request, outgoing).enumerate();
        let messages = messages.map(|(position, (index, json))| Piece {
            index,
            separator: if position > 0 { "," } else { "" },
            json,
        });
        Pieces {
            before: Cow::Owned(text(frame)),
            messages: messages.collect(),
            after: Cow::Owned(text(after)),
        }
    }

    /// The bytes that the body was read from, message by message.
    #[must_use]
    pub fn unchanged<'p>(&self, bytes: &'p [u8]) -> Pieces<'p> {
        let text = core::str::from_utf8(bytes).expect("JSON that was read is UTF-8");
        let start_of = |raw: &RawValue| raw.get().as_ptr().addr() - bytes.as_ptr().addr();
        let first = self.messages.first().map_or(0, |raw| start_of(raw));
        let mut end = first;
        let messages = self.messages.iter().enumerate().map(|(index, raw)| {
            let (last_end, start) = (end, start_of(raw));
            end = start + raw.get().len();
            Piece {
                index: Some(index),
                separator: &text[last_end..start],
                json: Cow::Borrowed(&text[start..end]),
            }
        });
        let messages = messages.collect();
        Pieces {
            before: Cow::Borrowed(&text[..first]),
            messages,
            after: Cow::Borrowed(&text[end..]),
        }
    }

    fn write_fields(&self, out: &mut Vec<u8>, write_messages: impl FnOnce(&mut Vec<u8>)) {
        let mut write_messages = Some(write_messages);
        out.push(b'{');
        for (index, (name, raw)) in self.fields.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            out.extend_from_slice(string(name).as_bytes());
            out.push(b':');
            match write_messages.take_if(|_| name == "messages") {
                Some(write) => {
                    out.push(b'[');
                    write(out);
                    out.push(b']');
                }
                None => out.extend_from_slice(raw.get().as_bytes()),
            }
        }
        out.push(b'}');
    }

    /// The messages as they go out, and which of the client's each is; the one system message may be none of them.
    fn messages<'p>(
        &'p self,
        request: &'p Request,
        outgoing: &'p Outgoing,
    ) -> impl Iterator<Item = (Option<usize>, Cow<'p, str>)> {
        let system = outgoing.system.as_deref().filter(|text| !text.is_empty());
        let system = system.map(|text| self.system_message(request, text));
        let messages = outgoing.messages.iter();
        let messages =
            messages.map(|message| (Some(message.index), self.message(request, message)));
        system.into_iter().chain(messages)
    }

    /// The one system message. The client's own, if nothing was added to it.
    fn system_message(&self, request: &Request, text: &str) -> (Option<usize>, Cow<'_, str>) {
        let mut systems = request
            .messages
            .iter()
            .enumerate()
            .filter(|(_, message)| message.role == Role::System);
        if let (Some((index, only)), None) = (systems.next(), systems.next())
            && matches!(only.parts.as_slice(), [part] if part == text)
        {
            return (Some(index), Cow::Borrowed(self.messages[index].get()));
        }
        let (role, text) = (string(&self.system_role), string(text));
        let message = format!("{{\"role\":{role},\"content\":{text}}}");
        (None, Cow::Owned(message))
    }

    fn message(&self, request: &Request, message: &OutgoingMessage) -> Cow<'_, str> {
        let raw = self.messages[message.index];
        if message.is_unchanged() {
            return Cow::Borrowed(raw.get());
        }
        let read = &request.messages[message.index];
        let mut parts = read.parts.clone();
        for (index, text) in &message.rewritten {
            parts[*index].clone_from(text);
        }
        if !message.before.is_empty() {
            match parts.first_mut() {
                Some(first) => *first = format!("{}\n\n{first}", message.before),
                None => parts.push(message.before.clone()),
            }
        }
        if !message.after.is_empty() {
            match parts.last_mut() {
                Some(last) => *last = format!("{last}\n\n{}", message.after),
                None => parts.push(message.after.clone()),
            }
        }
        let replaced = replace_texts(raw, &parts, message).unwrap_or_else(|_| {
            let role = string(read.role.as_str());
            format!(
                "{{\"role\":{role},\"content\":{}}}",
                string(&parts.join("\n"))
            )
        });
        Cow::Owned(replaced)
    }
}

/// The message with other texts in its text parts, and other arguments and thoughts; everything else stays byte for byte. It
/// can't fail for a message that was read: what is nested deeper than a parser goes is only passed over.
fn replace_texts(
    raw: &RawValue,
    texts: &[String],
    message: &OutgoingMessage,
) -> Result<String, serde_json::Error> {
    let Fields(mut fields) = object(raw)?;
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
        others.find_map(|(index, text)| (*index == at).then(|| Ok(string(text))))
    };
    write_object(&fields, |name, value| match name {
        "content" => Some(replace_content(value, texts)),
        "tool_calls" if !message.arguments.is_empty() => {
            Some(replace_arguments(value, &message.arguments))
        }
        name => other_thought(name),
    })
}

fn replace_arguments(
    raw: &RawValue,
    arguments: &[(usize, String)],
) -> Result<String, serde_json::Error> {
    let calls: Vec<&RawValue> = serde_json::from_str(raw.get())?;
    let mut written = Vec::with_capacity(calls.len());
    for (index, call) in calls.into_iter().enumerate() {
        let new = arguments.iter().find(|(call, _)| *call == index);
        written.push(match new {
            None => call.get().to_owned(),
            Some((_, text)) => {
                let Fields(fields) = object(call)?;
                write_object(&fields, |name, function| {
                    (name == "function").then(|| {
                        let Fields(fields) = object(function)?;
                        write_object(&fields, |name, _| {
                            (name == "arguments").then(|| Ok(string(text)))
                        })
                    })
                })?
            }
        });
    }
    Ok(format!("[{}]", written.join(",")))
}

fn replace_content(raw: &RawValue, texts: &[String]) -> Result<String, serde_json::Error> {
    let mut texts = texts.iter();
    if !raw.get().starts_with('[') {
        return Ok(texts
            .next()
            .map_or_else(|| raw.get().to_owned(), |text| string(text)));
    }
    let parts: Vec<&RawValue> = serde_json::from_str(raw.get())?;
    let mut written = Vec::with_capacity(parts.len());
    for part in parts {
        let text = part_text(part)?.and_then(|_| texts.next());
        written.push(match text {
            None => part.get().to_owned(),
            Some(text) => {
                let Fields(fields) = object(part)?;
                write_object(&fields, |name, _| {
                    (name == "text").then(|| Ok(string(text)))
                })?
            }
        });
    }
    Ok(format!("[{}]", written.join(",")))
}

/// The object with some values replaced.
fn write_object(
    fields: &[(String, &RawValue)],
    mut replace: impl FnMut(&str, &RawValue) -> Option<Result<String, serde_json::Error>>,
) -> Result<String, serde_json::Error> {
    let mut written = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        let value = replace(name, value).unwrap_or_else(|| Ok(value.get().to_owned()))?;
        written.push(format!("{}:{value}", string(name)));
    }
    Ok(format!("{{{}}}", written.join(",")))
}

fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, outgoing: &Outgoing, expected: &str) {
        let (read_body, request) =
            read(body.as_bytes(), Envelope::default()).expect("a chat request");
        let written = read_body.with(&request, outgoing).bytes;
        assert_eq!(String::from_utf8(written).expect("UTF-8"), expected);
    }

    #[test]
    fn the_prompt_is_the_tools_and_the_messages_wherever_they_stand() {
        let check = |body: &str, client: &str, sent: &str| {
            let (read_body, request) =
                read(body.as_bytes(), Envelope::default()).expect("a chat request");
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
    fn the_pieces_of_a_body_are_the_body() {
        let check = |body: &str, outgoing: Option<&Outgoing>| {
            let (read_body, request) =
                read(body.as_bytes(), Envelope::default()).expect("a chat request");
            let (pieces, sent) = match outgoing {
                None => (
                    read_body.unchanged(body.as_bytes()),
                    body.as_bytes().to_vec(),
                ),
                Some(outgoing) => (
                    read_body.composed(&request, outgoing),
                    read_body.with(&request, outgoing).bytes,
                ),
            };
            let messages = pieces.messages.iter();
            let messages: String = messages
                .map(|piece| format!("{}{}", piece.separator, piece.json))
                .collect();
            let joined = format!("{}{messages}{}", pieces.before, pieces.after);
            assert_eq!(joined.as_bytes(), sent, "{body}");
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
            read(body.as_bytes(), Envelope::default())
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
