//! Chat request bodies: what the engine needs of them.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;
use tslp_core::guardian;
use tslp_core::message::{Attempt, Role, Tools};
use tslp_core::read_message::ReadMessage;
use tslp_core::recent_map::RecentMap;
use tslp_core::redact;
use tslp_core::request::Request;

use super::bad_request::{BadRequest, PIECES_MAX};
use super::body_walk::{KnownBeginnings, MessageHash, WalkedBody};
use super::by_dialect;
use super::dialect::{Dialect, MessagesForm, ollama, prompt_text};
use super::json_text::{range_in, without_lone_surrogates};
use super::lost_calls::OfferedTools;
use super::sent::SentMessage;
use super::wire_message::{TextSlots, WireMessage, read_content};

/// Facts about a chat request that its body doesn't hold.
#[derive(Clone, Debug, Default)]
pub struct RequestEnvelope {
    /// The API in which the body is written.
    pub dialect: Dialect,
    /// The `x-tslp-session` header.
    pub session_name: Option<String>,
    /// Whether the client marks the request as a retry.
    pub attempt: Attempt,
}

/// A request body, read but not copied.
pub struct RequestBody<'b> {
    pub(super) dialect: Dialect,
    pub(super) walked: WalkedBody<'b>,
    /// The position of each message of the request.
    pub(super) places: Vec<MessagePlace>,
    /// The client's name for the role of system messages.
    pub(super) system_role: String,
}

/// The position of a message in its request's body.
pub(super) struct MessagePlace {
    pub(super) container: MessageSource,
    pub(super) slots: Arc<TextSlots>,
}

/// The part of the body that a message is read from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageSource {
    /// The field with the system message.
    SystemField,
    /// One of the messages as they were walked.
    Unit(usize),
}

/// The fields that give a reply's form, in the dialects and of local servers.
const REPLY_FORMS: [&str; 10] = [
    "response_format",
    "format",
    "output_format",
    "json_schema",
    "grammar",
    "guided_json",
    "guided_regex",
    "guided_choice",
    "guided_grammar",
    "structured_outputs",
];

/// The fields in which clients offer tools.
const TOOLS: [&str; 2] = ["tools", "functions"];

/// A cache of messages that were read before: agents send their whole conversation with every step.
pub struct KnownMessages {
    beginnings: KnownBeginnings,
    /// By the hash of their JSON text.
    units: RecentMap<(Dialect, MessageHash), KnownUnit>,
}

/// The messages read from one JSON value.
struct KnownUnit {
    messages: Box<[(Arc<ReadMessage>, Arc<TextSlots>)]>,
    /// If it is a system message: the client's name for that role.
    system_role: Option<Box<str>>,
}

/// What the allocations of a message take besides what is in them.
const MESSAGE_OVERHEAD_BYTES: usize = 320;

/// Memory for messages, twice: in the generation that is filling and in the one before.
const KNOWN_MESSAGES_BYTES: usize = 6 << 20;

impl Default for KnownMessages {
    fn default() -> Self {
        Self {
            beginnings: KnownBeginnings::default(),
            units: RecentMap::of_bytes(KNOWN_MESSAGES_BYTES),
        }
    }
}

impl KnownMessages {
    fn read_messages(
        &mut self,
        (dialect, form): (Dialect, MessagesForm),
        hash: MessageHash,
        json: &str,
    ) -> Result<&KnownUnit, serde_json::Error> {
        let known = self.units.get_or_try_insert_with(&(dialect, hash), || {
            let (messages, role) =
                by_dialect::read_messages(dialect, form, &without_lone_surrogates(json))?;
            let is_system = |read: &WireMessage| read.message.role == Role::System;
            let system_role = role.filter(|_| messages.iter().any(is_system));
            Ok(KnownUnit::with_weight(messages, system_role))
        })?;
        Ok(known)
    }
}

impl KnownUnit {
    /// The unit, and its size in bytes of memory.
    fn with_weight(messages: Vec<WireMessage>, system_role: Option<String>) -> (Self, usize) {
        let messages = messages.into_iter().map(|WireMessage { message, slots }| {
            let message: Arc<ReadMessage> = message.into();
            (message, Arc::new(slots))
        });
        let unit = Self {
            // By an iterator that doesn't collect in place: that would keep the longer allocation of what was read.
            messages: Box::from(messages.collect::<Vec<_>>().as_slice()),
            system_role: system_role.map(String::into_boxed_str),
        };
        let messages = unit.messages.iter();
        let weight = messages
            .map(|(message, _)| message.weight() + size_of::<TextSlots>() + MESSAGE_OVERHEAD_BYTES)
            .sum();
        (unit, weight)
    }
}

/// Reads a body; of its messages those that aren't known. Nothing for a request that is left alone: no prompt, such as a
/// completion at a cursor, or one that only loads a model.
///
/// # Errors
/// See [`BadRequest`].
pub fn read_request<'b>(
    bytes: &'b [u8],
    envelope: RequestEnvelope,
    known: &mut KnownMessages,
) -> Result<Option<(RequestBody<'b>, Request)>, BadRequest> {
    let dialect = envelope.dialect;
    let walked = match known.beginnings.walk_body(dialect, bytes) {
        Err(BadRequest::NoMessages(_)) if dialect.may_lack_messages() => return Ok(None),
        walked => walked?,
    };
    if is_left_alone(dialect, &walked) {
        return Ok(None);
    }
    let mut body = RequestBody {
        dialect,
        places: Vec::with_capacity(walked.messages.len()),
        system_role: String::new(),
        walked,
    };
    let mut messages = Vec::with_capacity(body.walked.messages.len());
    let mut pieces = body.walked.messages.len();
    // Before any of them is read: each costs memory and events of its own.
    if pieces > PIECES_MAX {
        return Err(BadRequest::TooMany);
    }
    if let Some(system) = read_system_field(&body)? {
        pieces += system.message.parts.len();
        body.places.push(MessagePlace {
            container: MessageSource::SystemField,
            slots: Arc::new(system.slots),
        });
        messages.push(system.message.into());
    }
    debug_assert_eq!(
        messages.len(),
        body.places.len(),
        "each message has a place"
    );
    for (index, (hash, json)) in body.walked.messages.iter().enumerate() {
        let unit = known.read_messages((dialect, body.walked.form), *hash, json);
        let unit = unit.map_err(|error| BadRequest::Message {
            field: dialect.messages_field(),
            index,
            error,
        })?;
        // The first name that the client uses (`system` or `developer`): the server knows that one.
        if let Some(role) = &unit.system_role
            && body.system_role.is_empty()
        {
            body.system_role = role.clone().into_string();
        }
        for (message, slots) in &unit.messages {
            pieces += message.parts.len() + message.tool_calls.len();
            messages.push(Arc::clone(message));
            body.places.push(MessagePlace {
                container: MessageSource::Unit(index),
                slots: Arc::clone(slots),
            });
        }
        if pieces > PIECES_MAX {
            return Err(BadRequest::TooMany);
        }
    }
    if body.system_role.is_empty() {
        body.system_role.push_str("system");
    }
    debug_assert_eq!(
        messages.len(),
        body.places.len(),
        "each message has a place"
    );
    let walked = &body.walked;
    // A model that isn't named by a text is left to the server, which refuses it or takes its own.
    let model: Option<String> = walked
        .field_text("model")
        .and_then(|json| serde_json::from_str(json).ok());
    let offered = TOOLS.into_iter().filter_map(|name| walked.field_text(name));
    let offered = offered.filter(|json| !matches!(*json, "null" | "[]"));
    let tools = offered.map(|json| match guardian::reads_files(json) {
        true => Tools::Reading,
        false => Tools::Offered,
    });
    let tools = tools.max().unwrap_or_default();
    let request = Request {
        model: model.map_or_else(String::new, |model| {
            redact::without_credentials(&model).into_owned()
        }),
        messages,
        session_name: envelope.session_name,
        continues: None,
        attempt: envelope.attempt,
        tools,
    };
    Ok(Some((body, request)))
}

/// The JSON text of a body's `model`, of a request that is left alone.
pub fn model_field(bytes: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Named<'b> {
        #[serde(borrow)]
        model: Option<&'b serde_json::value::RawValue>,
    }
    let named: Named<'_> = serde_json::from_slice(bytes).ok()?;
    named.model.map(|model| model.get().to_owned())
}

/// Whether the prompt has no author: a completion at a cursor, or a conversation that the client has put into a template
/// itself.
fn is_left_alone(dialect: Dialect, walked: &WalkedBody<'_>) -> bool {
    if !dialect.is_bare_prompt() {
        return false;
    }
    let is_set = |name| {
        let value = walked.field_text(name);
        value.is_some_and(|json| !matches!(json, "null" | "false" | "\"\""))
    };
    let text = walked
        .messages
        .first()
        .map(|(_, json)| serde_json::from_str::<String>(&without_lone_surrogates(json)));
    is_set("suffix")
        || is_set("raw")
        || walked.form == MessagesForm::Array
        || !matches!(text, Some(Ok(text)) if !text.is_empty() && !prompt_text::is_templated(&text))
}

/// The system message, where it has a field of its own that isn't empty.
fn read_system_field(body: &RequestBody<'_>) -> Result<Option<WireMessage>, BadRequest> {
    let field = body.dialect.system_field();
    let Some((name, json)) = field.and_then(|name| Some((name, body.walked.field_text(name)?)))
    else {
        return Ok(None);
    };
    let mut system = WireMessage::new(Role::System);
    let json = &*without_lone_surrogates(json);
    let read = serde_json::from_str(json)
        .and_then(|content| read_content(json, content, |_| false, &mut system, &mut Vec::new()));
    read.map_err(|error| BadRequest::Message {
        field: name,
        index: 0,
        error,
    })?;
    Ok(system.has_texts().then_some(system))
}

impl RequestBody<'_> {
    /// The JSON text of the model's name, as the client wrote it.
    #[must_use]
    pub fn model_json(&self) -> Option<&str> {
        self.walked.field_text("model")
    }

    /// The tools that the model may call; `None` if it is to call none.
    #[must_use]
    pub fn offered_tools(&self) -> Option<OfferedTools> {
        let choice = self.walked.field_text("tool_choice");
        let choice = choice.and_then(|json| serde_json::from_str(json).ok());
        let choice: Value = choice.unwrap_or_default();
        let tools = self.walked.field_text(TOOLS[0]);
        let tools = tools.filter(|_| choice != "none" && choice["type"] != "none")?;
        Some(OfferedTools::new(tools))
    }

    /// Whether no more than one choice is asked for.
    #[must_use]
    pub fn asks_for_one_choice(&self) -> bool {
        let choices = self.walked.field_text("n");
        choices.is_none_or(|choices| matches!(choices, "null" | "1"))
    }

    /// Whether the reply is to have a form that a program reads, so that nothing may be added to it.
    #[must_use]
    pub fn asks_for_form(&self) -> bool {
        let names_form = |json: &str| match serde_json::from_str(json).unwrap_or_default() {
            Value::Null | Value::Bool(false) => false,
            Value::String(form) => !form.is_empty() && form != "text",
            Value::Object(form) => !form.is_empty() && form.get("type") != Some(&"text".into()),
            _ => true,
        };
        let inside = |json: &str| {
            let holder: Value = serde_json::from_str(json).unwrap_or_default();
            let form = holder.get("format").map(Value::to_string);
            form.is_some_and(|form| names_form(&form))
        };
        let fields = self.walked.fields.iter();
        let mut fields = fields.map(|(name, json)| (name.as_str(), *json));
        fields.any(|(name, json)| match name {
            name if REPLY_FORMS.contains(&name) => names_form(json),
            "text" | "output_config" => inside(json),
            _ => false,
        })
    }

    /// The response that the request goes on from, where it names one in place of the conversation.
    #[must_use]
    pub fn previous_response(&self) -> Option<String> {
        match self.dialect {
            Dialect::Responses => {
                let id = self.walked.field_text("previous_response_id")?;
                serde_json::from_str(id).ok()
            }
            Dialect::OllamaGenerate => ollama::context_id(self.walked.field_text("context")?),
            _ => None,
        }
    }

    /// The position of the model server's prompt in the bytes that the body was read from.
    #[must_use]
    pub fn prompt_in(&self, bytes: &[u8]) -> PromptPlaces {
        let place = |json: &str| range_in(bytes, json.as_bytes());
        let fields = self.walked.fields.iter();
        let system = self.dialect.system_field();
        let is_prompt = |name: &str| TOOLS.contains(&name) || Some(name) == system;
        let fields = fields.filter(|(name, _)| is_prompt(name));
        let messages = self.walked.messages.iter().enumerate();
        PromptPlaces {
            fields: fields.map(|(_, json)| place(json)).collect(),
            messages: messages
                .map(|(unit, (hash, json))| SentMessage {
                    key: *hash,
                    messages: self.messages_of(unit),
                    bytes: place(json),
                })
                .collect(),
        }
    }

    /// The messages of the request that are read from a unit.
    pub(super) fn messages_of(&self, unit: usize) -> Range<usize> {
        let is_before = |place: &MessagePlace| match place.container {
            MessageSource::SystemField => true,
            MessageSource::Unit(of) => of < unit,
        };
        // Places are in the order of their units, the system field's first.
        let start = self.places.partition_point(is_before);
        let rest = self.places[start..].iter();
        let count = rest.take_while(|place| place.container == MessageSource::Unit(unit));
        start..start + count.count()
    }
}

/// The positions in a client's body of everything that goes into the model server's prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptPlaces {
    /// The fields before the messages: tools, and the system message where it is no message.
    pub fields: Vec<Range<usize>>,
    /// Its messages.
    pub messages: Vec<SentMessage>,
}

impl PromptPlaces {
    /// The prompt that a model server makes of the client's tools and the messages of some body, piece by piece.
    pub fn prompt_pieces<'p>(
        &'p self,
        client_body: &'p [u8],
        (body, messages): (&'p [u8], &'p [SentMessage]),
    ) -> impl Iterator<Item = &'p [u8]> {
        let fields = self.fields.iter().map(|at| &client_body[at.clone()]);
        let messages = messages.iter().enumerate();
        let messages = messages.flat_map(move |(index, message)| {
            let comma: &[u8] = if index > 0 { b"," } else { b"" };
            [comma, &body[message.bytes.clone()]]
        });
        fields.chain(messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_bodies() {
        let complaint = |body: &str| {
            read_request(
                body.as_bytes(),
                RequestEnvelope::default(),
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
            complaint(r#"{"messages":[{"role":"user"}],"messages":[]}"#).contains("occurs twice")
        );
        let deep = format!(
            r#"{{"messages":[{}1{}]}}"#,
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        assert!(complaint(&deep).contains("recursion") || complaint(&deep).contains("messages"));
    }

    #[test]
    fn no_call_wanted() {
        let offers = |choice: &str| {
            let body =
                format!(r#"{{"messages":[{{"role":"user","content":"x"}}],"tools":[]{choice}}}"#);
            let mut known = KnownMessages::default();
            let read = read_request(body.as_bytes(), RequestEnvelope::default(), &mut known);
            let (request, _) = read.ok().flatten().expect("a prompt");
            request.offered_tools().is_some()
        };
        for choice in [
            "",
            r#","tool_choice":"auto""#,
            r#","tool_choice":{"type":"any"}"#,
        ] {
            assert!(offers(choice), "{choice}");
        }
        for choice in [
            r#","tool_choice":"none""#,
            r#","tool_choice": {"type": "none"}"#,
        ] {
            assert!(!offers(choice), "{choice}");
        }
    }

    #[test]
    fn cut_emoji() {
        for dialect in Dialect::ALL {
            for half in [r"\ud83d", r"x\uDC00", r"\ud83d\ud83d y", r"\ud83d\u0041"] {
                let prompt = if dialect.takes_text() {
                    format!(r#""cut {half} here""#)
                } else {
                    format!(r#"[{{"role":"user","content":"cut {half} here"}}]"#)
                };
                let body = format!(r#"{{"model":"m","{}":{prompt}}}"#, dialect.messages_field());
                let envelope = RequestEnvelope {
                    dialect,
                    session_name: None,
                    attempt: Attempt::First,
                };
                let read = read_request(body.as_bytes(), envelope, &mut KnownMessages::default());
                assert!(matches!(read, Ok(Some(_))), "{dialect:?}: {body}");
            }
        }
    }
}
