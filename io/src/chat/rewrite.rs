//! The client's body with the composed messages in place of its own.
//!
//! Everything that the proxy doesn't change stays as the client wrote it, byte for byte: unknown fields, key order,
//! number formats, whole messages.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use tslp_core::decide::compose::{Outgoing, OutgoingMessage};
use tslp_core::message::{Message, Request, Role};
use tslp_core::recent_map::RecentMap;

use super::body_walk::MessageHash;
use super::request::{Body, THOUGHTS, object, part_text, thought};
use super::sent::SentMessage;

/// A body as it goes to the model server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// All of it.
    pub bytes: Vec<u8>,
    /// Where its messages are.
    pub messages: Vec<SentMessage>,
}

/// Messages as they were written before: what was put into a message or taken out of it stays so with every step.
pub struct RewrittenMessages(RecentMap<[u8; 32], Box<[u8]>>);

/// Memory for messages, twice: in the generation that is filling and in the one before.
const REWRITTEN_MESSAGES_BYTES: usize = 1 << 20;

impl Default for RewrittenMessages {
    fn default() -> Self {
        Self(RecentMap::new(REWRITTEN_MESSAGES_BYTES))
    }
}

/// The hash of all that says how a message is rewritten.
fn rewriting_key(message: &MessageHash, changes: &OutgoingMessage) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(message);
    let mut add = |text: &str| {
        hasher.update(&text.len().to_le_bytes());
        hasher.update(text.as_bytes());
    };
    add(&changes.before);
    add(&changes.after);
    for texts in [&changes.rewritten, &changes.arguments, &changes.thoughts] {
        add(&texts.len().to_string());
        for (index, text) in texts {
            add(&index.to_string());
            add(text);
        }
    }
    *hasher.finalize().as_bytes()
}

impl Body<'_> {
    /// The body with the composed messages in place of the client's.
    #[must_use]
    pub fn with(
        &self,
        request: &Request,
        outgoing: &Outgoing,
        known: &mut RewrittenMessages,
    ) -> Written {
        let walked = &self.walked;
        let fields = walked.fields.iter().map(|(_, json)| json.len());
        let messages = walked.messages.iter().map(|(_, json)| json.len());
        let bytes: usize = fields.chain(messages).map(|len| len + 32).sum();
        let mut out = Vec::with_capacity(bytes);
        let (before, after) = walked.fields.split_at(walked.fields_before_messages);
        out.push(b'{');
        for (name, json) in before {
            write_field(name, json, &mut out);
            out.push(b',');
        }
        out.extend_from_slice(b"\"messages\":[");
        let messages = self.write_messages(request, outgoing, known, &mut out);
        out.push(b']');
        for (name, json) in after {
            out.push(b',');
            write_field(name, json, &mut out);
        }
        out.push(b'}');
        Written {
            bytes: out,
            messages,
        }
    }

    fn write_messages(
        &self,
        request: &Request,
        outgoing: &Outgoing,
        known: &mut RewrittenMessages,
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
            self.write_message(request, message, known, out);
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
            write_json(self.walked.messages[index].1, out);
            return Some(index);
        }
        write_plain_message(&self.system_role, text, out);
        None
    }

    fn write_message(
        &self,
        request: &Request,
        message: &OutgoingMessage,
        known: &mut RewrittenMessages,
        out: &mut Vec<u8>,
    ) {
        let (hash, json) = &self.walked.messages[message.index];
        if message.is_unchanged() {
            return write_json(json, out);
        }
        let key = rewriting_key(hash, message);
        let rewritten = known.0.get_or_insert_with(&key, || {
            let rewritten = rewritten(json, &request.messages[message.index], message);
            let weight = rewritten.len();
            (rewritten.into_boxed_slice(), weight)
        });
        out.extend_from_slice(rewritten);
    }
}

/// The JSON text of a message with its changes.
fn rewritten(json: &str, read: &Message, message: &OutgoingMessage) -> Vec<u8> {
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
    let mut out = Vec::with_capacity(json.len() + message.before.len() + message.after.len());
    if write_replaced(json, &parts, message, &mut out).is_err() {
        out.clear();
        write_plain_message(read.role.as_str(), &parts.join("\n"), &mut out);
    }
    out
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
    json: &str,
    texts: &[Cow<'_, str>],
    message: &OutgoingMessage,
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    let ObjectFields(mut fields) = object(json)?;
    if !texts.is_empty() && !fields.iter().any(|(name, _)| name == "content") {
        fields.push(("content".into(), serde_json::from_str("null")?));
    }
    let is_thought = |name: &&str| {
        let mut fields = fields.iter();
        fields.any(|(field, value)| field == *name && thought(value.get()).is_some())
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
                None => write_json(value.get(), out),
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
            write_json(call.get(), out);
            return Ok(());
        };
        let ObjectFields(fields) = object(call.get())?;
        write_object(&fields, out, |name, value, out| {
            if name != "function" {
                write_json(value.get(), out);
                return Ok(());
            }
            let ObjectFields(fields) = object(value.get())?;
            write_object(&fields, out, |name, value, out| {
                match name {
                    "arguments" => write_string(text, out),
                    _ => write_json(value.get(), out),
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
            None => write_json(raw.get(), out),
        }
        return Ok(());
    }
    let parts: Vec<&RawValue> = serde_json::from_str(raw.get())?;
    write_array(&parts, out, |_, part, out| {
        let Some(text) = part_text(part.get())?.and_then(|_| texts.next()) else {
            write_json(part.get(), out);
            return Ok(());
        };
        let ObjectFields(fields) = object(part.get())?;
        write_object(&fields, out, |name, value, out| {
            match name {
                "text" => write_string(text, out),
                _ => write_json(value.get(), out),
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

fn write_field(name: &str, json: &str, out: &mut Vec<u8>) {
    write_string(name, out);
    out.push(b':');
    write_json(json, out);
}

fn write_json(json: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(json.as_bytes());
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("a string is JSON, and a Vec takes all of it");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::request::{Envelope, KnownMessages, PromptPlaces, read};

    /// Reads a body; gives where its prompt is, and the body with other messages.
    fn rewrite(body: &str, outgoing: &Outgoing) -> (PromptPlaces, Written) {
        let (read_body, request) = read(
            body.as_bytes(),
            Envelope::default(),
            &mut KnownMessages::default(),
        )
        .expect("a chat request");
        let mut known = RewrittenMessages::default();
        let written = read_body.with(&request, outgoing, &mut known);
        let again = read_body.with(&request, outgoing, &mut known);
        assert_eq!(written, again);
        (read_body.prompt_in(body.as_bytes()), written)
    }

    fn check(body: &str, outgoing: &Outgoing, expected: &str) {
        let (_, written) = rewrite(body, outgoing);
        assert_eq!(String::from_utf8(written.bytes).expect("UTF-8"), expected);
    }

    #[test]
    fn the_prompt_is_the_tools_and_the_messages_wherever_they_stand() {
        let check = |body: &str, client: &str, sent: &str| {
            let outgoing = Outgoing {
                system: Some("new".into()),
                messages: vec![unchanged(0), unchanged(1)],
            };
            let (places, written) = rewrite(body, &outgoing);
            let text = |bytes, messages: &[SentMessage]| {
                let pieces = places.prompt(body.as_bytes(), (bytes, messages));
                String::from_utf8(pieces.flatten().copied().collect()).expect("UTF-8")
            };
            assert_eq!(text(body.as_bytes(), &places.messages), client, "{body}");
            assert_eq!(text(&written.bytes, &written.messages), sent, "{body}");
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
            let (sent, messages) = match outgoing {
                None => {
                    let (places, _) = rewrite(body, &Outgoing::default());
                    (body.as_bytes().to_vec(), places.messages)
                }
                Some(outgoing) => {
                    let (_, written) = rewrite(body, outgoing);
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
}
