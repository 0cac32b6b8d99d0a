//! The client's body with the composed messages in place of its own.
//!
//! Everything that the proxy doesn't change stays as the client wrote it, byte for byte: unknown fields, key order,
//! number formats, whole messages.

use std::borrow::Cow;
use std::ops::Range;

use tslp_core::message::Role;
use tslp_core::outgoing::{Outgoing, OutgoingMessage};
use tslp_core::recent_map::RecentMap;
use tslp_core::request::Request;

use super::body_walk::{MessageHash, message_hash};
use super::dialect::MessagesForm;
use super::json_text::{write_replaced, write_string};
use super::request::{MessageSource, RequestBody};
use super::sent::SentMessage;

/// A body as it goes to the model server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenBody {
    /// The complete body.
    pub bytes: Vec<u8>,
    /// The messages' positions in `bytes`.
    pub messages: Vec<SentMessage>,
}

/// Messages as they were written before: what was put into a message or taken out of it stays so with every step.
pub struct RewrittenMessages(RecentMap<MessageHash, Box<[u8]>>);

/// Memory for messages, twice: in the generation that is filling and in the one before.
const REWRITTEN_MESSAGES_BYTES: usize = 1 << 20;

impl Default for RewrittenMessages {
    fn default() -> Self {
        Self(RecentMap::of_bytes(REWRITTEN_MESSAGES_BYTES))
    }
}

/// The hash of all that says how a unit is rewritten; `first` is the index of its first message.
fn rewriting_key(unit: &MessageHash, first: usize, changes: &[OutgoingMessage]) -> MessageHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(unit);
    let mut add = |text: &str| {
        hasher.update(&text.len().to_le_bytes());
        hasher.update(text.as_bytes());
    };
    for changes in changes {
        add(&(changes.index - first).to_string());
        add(&changes.before);
        add(&changes.after);
        for texts in [&changes.rewritten, &changes.arguments, &changes.thoughts] {
            add(&texts.len().to_string());
            for (index, text) in texts {
                add(&index.to_string());
                add(text);
            }
        }
    }
    *hasher.finalize().as_bytes()
}

impl RequestBody<'_> {
    /// The body with the composed messages in place of the client's. `buffer` gives an empty one of some capacity.
    #[must_use]
    pub fn with_messages(
        &self,
        request: &Request,
        outgoing: &Outgoing,
        known: &mut RewrittenMessages,
        buffer: fn(usize) -> Vec<u8>,
    ) -> WrittenBody {
        let walked = &self.walked;
        let fields = walked.fields.iter().map(|(_, json)| json.len());
        let messages = walked.messages.iter().map(|(_, json)| json.len());
        let bytes: usize = fields.chain(messages).map(|len| len + 32).sum();
        let mut out = buffer(bytes);
        let system = self.system_field(request, outgoing);
        let (before, after) = walked.fields.split_at(walked.fields_before_messages);
        let write_field_or_system = |name: &str, json: &str, out: &mut Vec<u8>| match &system {
            Some((system, json)) if *system == name => write_field(name, json, out),
            _ => write_field(name, json, out),
        };
        out.push(b'{');
        for (name, json) in before {
            write_field_or_system(name, json, &mut out);
            out.push(b',');
        }
        if let Some((name, json)) = &system
            && walked.field_text(name).is_none()
        {
            write_field(name, json, &mut out);
            out.push(b',');
        }
        write_string(self.dialect.messages_field(), &mut out);
        out.push(b':');
        let brackets: &[u8] = match walked.form {
            MessagesForm::Array => b"[]",
            MessagesForm::Text => b"",
        };
        out.extend(brackets.first());
        let messages = self.write_messages(request, outgoing, known, &mut out);
        out.extend(brackets.last());
        for (name, json) in after {
            out.push(b',');
            write_field_or_system(name, json, &mut out);
        }
        out.push(b'}');
        WrittenBody {
            bytes: out,
            messages,
        }
    }

    /// The field with the system message as it goes out, where there is one and it changes.
    fn system_field(
        &self,
        request: &Request,
        outgoing: &Outgoing,
    ) -> Option<(&'static str, String)> {
        let name = self.dialect.system_field()?;
        let json = self.walked.field_text(name);
        match &outgoing.system {
            None => {
                let index = self
                    .places
                    .iter()
                    .position(|place| place.container == MessageSource::SystemField)?;
                let mut messages = outgoing.messages.iter();
                let changes = messages.find(|message| message.index == index)?;
                let replacements = self.places[index].slots.json_replacements(changes);
                let mut written = Vec::new();
                write_replaced(json?, &replacements, &mut written);
                let written = String::from_utf8(written).expect("JSON in place of JSON");
                Some((name, written))
            }
            Some(text) if text.is_empty() || *text == request.system_text() => None,
            Some(text) => {
                let literal = serde_json::Value::from(text.as_str());
                Some((name, literal.to_string()))
            }
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
        let system = outgoing.system.as_deref().filter(|text| !text.is_empty());
        if let Some(text) = system.filter(|_| self.dialect.has_system_messages()) {
            let start = out.len();
            let messages = self.write_system_message(request, text, out);
            written.push(SentMessage {
                key: message_hash(&out[start..]),
                messages,
                bytes: start..out.len(),
            });
        }
        // A text has no place for a system message but before itself.
        let has_no_place =
            !self.dialect.has_system_messages() && self.dialect.system_field().is_none();
        let mut preface = system.filter(|_| has_no_place).map(str::to_owned);
        let container = |message: &OutgoingMessage| self.places[message.index].container;
        let units = outgoing
            .messages
            .chunk_by(|one, next| container(one) == container(next));
        for messages in units {
            let MessageSource::Unit(unit) = container(&messages[0]) else {
                continue;
            };
            let changes = match preface.take() {
                None => Cow::Borrowed(messages),
                Some(preface) => Cow::Owned(with_preface(messages, preface)),
            };
            if !written.is_empty() {
                out.push(b',');
            }
            let start = out.len();
            let key = self.write_unit(unit, &changes, known, out);
            written.push(SentMessage {
                key,
                messages: self.messages_of(unit),
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
    ) -> Range<usize> {
        let mut systems = request
            .messages
            .iter()
            .enumerate()
            .filter(|(_, message)| message.role == Role::System);
        if let (Some((index, only)), None) = (systems.next(), systems.next())
            && matches!(only.parts.as_slice(), [part] if part == text)
            && let MessageSource::Unit(unit) = self.places[index].container
            && self.messages_of(unit).len() == 1
        {
            out.extend_from_slice(self.walked.messages[unit].1.as_bytes());
            return index..index + 1;
        }
        out.extend_from_slice(b"{\"role\":");
        write_string(&self.system_role, out);
        out.extend_from_slice(b",\"content\":");
        write_string(text, out);
        out.push(b'}');
        0..0
    }

    /// Writes the JSON of one message, or of several that were read from one, with their changes. Returns the hash of what it wrote.
    fn write_unit(
        &self,
        unit: usize,
        changes: &[OutgoingMessage],
        known: &mut RewrittenMessages,
        out: &mut Vec<u8>,
    ) -> MessageHash {
        let (hash, json) = &self.walked.messages[unit];
        if changes.iter().all(OutgoingMessage::is_unchanged) {
            out.extend_from_slice(json.as_bytes());
            return *hash;
        }
        let first = self.messages_of(unit).start;
        let key = rewriting_key(hash, first, changes);
        let write = |out: &mut Vec<u8>| {
            let replacements = changes.iter().flat_map(|changes| {
                let slots = &self.places[changes.index].slots;
                slots.json_replacements(changes)
            });
            let mut replacements: Vec<_> = replacements.collect();
            replacements.sort_by_key(|(place, _)| (place.start, place.end));
            write_replaced(json, &replacements, out);
        };
        if json.len() > REWRITTEN_MESSAGES_BYTES {
            write(out);
            return key;
        }
        let rewritten = known.0.get_or_insert_with(&key, || {
            let mut rewritten = Vec::with_capacity(json.len());
            write(&mut rewritten);
            let weight = rewritten.len();
            (rewritten.into_boxed_slice(), weight)
        });
        out.extend_from_slice(rewritten);
        key
    }
}

/// The messages with a text in front of the first one's.
fn with_preface(messages: &[OutgoingMessage], preface: String) -> Vec<OutgoingMessage> {
    let mut messages = messages.to_vec();
    let first = &mut messages[0];
    first.before = match first.before.as_str() {
        "" => preface,
        before => format!("{preface}\n\n{before}"),
    };
    messages
}

fn write_field(name: &str, json: &str, out: &mut Vec<u8>) {
    write_string(name, out);
    out.push(b':');
    out.extend_from_slice(json.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::request::{KnownMessages, PromptPlaces, RequestEnvelope, read_request};

    /// Reads a body; gives where its prompt is, and the body with other messages.
    fn rewrite(body: &str, outgoing: &Outgoing) -> (PromptPlaces, WrittenBody) {
        let mut known = KnownMessages::default();
        let Ok(Some((read_body, request))) =
            read_request(body.as_bytes(), RequestEnvelope::default(), &mut known)
        else {
            panic!("{body} is a chat request");
        };
        let mut known = RewrittenMessages::default();
        let written = read_body.with_messages(&request, outgoing, &mut known, Vec::with_capacity);
        let again = read_body.with_messages(&request, outgoing, &mut known, Vec::with_capacity);
        assert_eq!(written, again);
        (read_body.prompt_in(body.as_bytes()), written)
    }

    fn check(body: &str, outgoing: &Outgoing, expected: &str) {
        let (_, written) = rewrite(body, outgoing);
        assert_eq!(String::from_utf8(written.bytes).expect("UTF-8"), expected);
    }

    /// The prompt is the tools and the messages, wherever they stand.
    #[test]
    fn tools_and_messages() {
        let check = |body: &str, client: &str, sent: &str| {
            let outgoing = Outgoing {
                system: Some("new".into()),
                messages: vec![unchanged(0), unchanged(1)],
            };
            let (places, written) = rewrite(body, &outgoing);
            let text = |bytes, messages: &[SentMessage]| {
                let pieces = places.prompt_pieces(body.as_bytes(), (bytes, messages));
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
    fn rest_unchanged() {
        let body = r#"{"model":"m","x":1.50,"messages":[{"content":"h\u00e9","role":"user","name":"n"}],"stream":true}"#;
        let outgoing = Outgoing {
            messages: vec![unchanged(0)],
            ..Outgoing::default()
        };
        check(body, &outgoing, body);
    }

    /// One system message goes out in the role that the client gave it.
    #[test]
    fn system_role_kept() {
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
    fn text_beside_images() {
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
    fn texts_alone() {
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        let body = format!(
            r#"{{"messages":[{{"x":1.50,"role":"user","content":[{{"type":"text","y":{deep},"text":"a"}},{{"z":1e2}},{{"text":"b","type":"text"}}]}},{{"role":"user"}}]}}"#
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
    fn arguments_in_place() {
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
    fn thoughts_in_place() {
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
    fn ranges_of_messages() {
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
