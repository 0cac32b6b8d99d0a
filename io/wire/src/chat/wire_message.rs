//! Messages as a request body holds them: what the engine reads of each, with its position, so that changes are written there
//! and all else stays byte for byte.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;
use tslp_core::message::{Message, Role, ToolCall};
use tslp_core::outgoing::OutgoingMessage;

use super::json_text::{
    JsonReplacement, canonical_json, empty_if_null, json_escaped, json_string, place_in,
    read_object,
};

/// A message and the places of its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WireMessage {
    pub(super) message: Message,
    pub(super) slots: TextSlots,
}

/// The positions of a message's texts in the JSON that it was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TextSlots {
    parts: Vec<Range<usize>>,
    arguments: Vec<(Range<usize>, ArgumentsForm)>,
    thoughts: Vec<Range<usize>>,
    /// The place for a new text, if the message has none.
    new_text: Option<TextInsertion>,
}

/// The JSON form of a tool call's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgumentsForm {
    /// A JSON string that holds JSON.
    JsonInString,
    /// JSON as it is.
    Json,
    /// A JSON string that holds the argument `input`.
    InputAlone,
}

/// A position at which a text may be inserted, and the JSON around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextInsertion {
    pub(super) at: Range<usize>,
    pub(super) before: &'static str,
    pub(super) after: &'static str,
}

impl WireMessage {
    pub(super) const fn new(role: Role) -> Self {
        Self {
            message: Message {
                role,
                parts: Vec::new(),
                tool_calls: Vec::new(),
                answers: String::new(),
                thoughts: Vec::new(),
            },
            slots: TextSlots {
                parts: Vec::new(),
                arguments: Vec::new(),
                thoughts: Vec::new(),
                new_text: None,
            },
        }
    }

    /// Adds a text part, which is a JSON string in `unit`.
    ///
    /// # Errors
    /// When it is something else.
    pub(super) fn add_part(
        &mut self,
        unit: &str,
        literal: &RawValue,
    ) -> Result<(), serde_json::Error> {
        let text = serde_json::from_str(literal.get())?;
        self.message.parts.push(text);
        self.slots.parts.push(place_in(unit, literal));
        Ok(())
    }

    /// Adds what the model thought, if it is a JSON string.
    pub(super) fn add_thought(&mut self, unit: &str, value: &RawValue) {
        if let Ok(text) = serde_json::from_str(value.get()) {
            self.message.thoughts.push(text);
            self.slots.thoughts.push(place_in(unit, value));
        }
    }

    /// Adds a tool call.
    ///
    /// # Errors
    /// When the arguments aren't written like that.
    pub(super) fn add_call(
        &mut self,
        unit: &str,
        (id, name): (String, String),
        value: &RawValue,
        form: ArgumentsForm,
    ) -> Result<(), serde_json::Error> {
        let arguments = match form {
            ArgumentsForm::JsonInString => serde_json::from_str(value.get())?,
            ArgumentsForm::Json => canonical_json(value.get()),
            ArgumentsForm::InputAlone => {
                input_arguments(&serde_json::from_str::<String>(value.get())?)
            }
        };
        self.message.tool_calls.push(ToolCall {
            id,
            name,
            arguments,
        });
        self.slots.arguments.push((place_in(unit, value), form));
        Ok(())
    }

    /// A call without arguments in the body.
    pub(super) fn add_bare_call(&mut self, (id, name): (String, String)) {
        let arguments = String::new();
        self.message.tool_calls.push(ToolCall {
            id,
            name,
            arguments,
        });
        self.slots.arguments.push((0..0, ArgumentsForm::Json));
    }

    pub(super) const fn set_new_text(&mut self, insertion: TextInsertion) {
        self.slots.new_text = Some(insertion);
    }

    pub(super) const fn has_texts(&self) -> bool {
        !(self.message.parts.is_empty()
            && self.message.tool_calls.is_empty()
            && self.message.thoughts.is_empty())
    }
}

/// Arguments that hold one text.
pub(super) fn input_arguments(input: &str) -> String {
    serde_json::json!({ "input": input }).to_string()
}

impl TextSlots {
    /// The replacements for a message's changes, ordered by position.
    pub(super) fn json_replacements(&self, changes: &OutgoingMessage) -> Vec<JsonReplacement> {
        let mut replacements: Vec<JsonReplacement> = Vec::new();
        let last = self.parts.len().wrapping_sub(1);
        for (index, text) in &changes.rewritten {
            let before = Some(&changes.before).filter(|it| *index == 0 && !it.is_empty());
            let after = Some(&changes.after).filter(|it| *index == last && !it.is_empty());
            let texts = before.into_iter().chain([text]).chain(after);
            let texts: Vec<&str> = texts.map(String::as_str).collect();
            replacements.push((self.parts[*index].clone(), json_string(&texts.join("\n\n"))));
        }
        // What is put beside a text leaves it as the client wrote it.
        let mut insert = |index: usize, at: usize, text: String| {
            if changes.rewritten.iter().all(|(other, _)| *other != index) {
                replacements.push((at..at, json_escaped(&text).into_bytes()));
            }
        };
        if let (Some(first), false) = (self.parts.first(), changes.before.is_empty()) {
            insert(0, first.start + 1, format!("{}\n\n", changes.before));
        }
        if let (Some(part), false) = (self.parts.last(), changes.after.is_empty()) {
            insert(last, part.end - 1, format!("\n\n{}", changes.after));
        }
        if self.parts.is_empty()
            && let Some(insertion) = &self.new_text
        {
            let texts = [&changes.before, &changes.after].into_iter();
            let texts: Vec<&str> = texts
                .map(String::as_str)
                .filter(|text| !text.is_empty())
                .collect();
            if !texts.is_empty() {
                let mut json = insertion.before.as_bytes().to_vec();
                json.extend(json_string(&texts.join("\n\n")));
                json.extend_from_slice(insertion.after.as_bytes());
                replacements.push((insertion.at.clone(), json));
            }
        }
        for (index, text) in &changes.arguments {
            let (place, form) = &self.arguments[*index];
            replacements.extend(arguments_as(*form, text).map(|json| (place.clone(), json)));
        }
        for (index, text) in &changes.thoughts {
            replacements.push((self.thoughts[*index].clone(), json_string(text)));
        }
        replacements.sort_by_key(|(place, _)| (place.start, place.end));
        debug_assert!(
            replacements.is_sorted_by(|(one, _), (next, _)| one.end <= next.start),
            "places don't overlap"
        );
        replacements
    }
}

fn arguments_as(form: ArgumentsForm, arguments: &str) -> Option<Vec<u8>> {
    match form {
        ArgumentsForm::JsonInString => Some(json_string(arguments)),
        ArgumentsForm::Json => Some(arguments.as_bytes().to_vec()),
        ArgumentsForm::InputAlone => {
            let value: serde_json::Value = serde_json::from_str(arguments).ok()?;
            Some(json_string(value.get("input")?.as_str()?))
        }
    }
}

/// A part of a message's content, as OpenAI and Anthropic write it. A user's part counts as the user's words only with the type
/// `text` or `input_text`; new text is written with the type `text`.
#[derive(Deserialize)]
pub(super) struct WirePart<'b> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Option<Cow<'b, str>>,
    #[serde(borrow, default)]
    pub(super) text: Option<&'b RawValue>,
    #[serde(borrow, default, deserialize_with = "empty_if_null")]
    pub(super) name: Cow<'b, str>,
    #[serde(borrow, default, deserialize_with = "empty_if_null")]
    pub(super) id: Cow<'b, str>,
    #[serde(borrow, default, deserialize_with = "empty_if_null")]
    pub(super) tool_use_id: Cow<'b, str>,
    #[serde(borrow, default)]
    pub(super) input: Option<&'b RawValue>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'b RawValue>,
}

/// Reads a message's content: a string, an array of parts, or null. What is no text of the one who speaks becomes a message
/// of its own, before theirs: what a tool returned is a tool's, whatever role brings it, and a file or a quotation that a
/// client attaches has no author. So none of it counts as the user's words.
///
/// # Errors
/// When it is something else.
pub(super) fn read_content(
    unit: &str,
    content: &RawValue,
    is_clients_text: fn(&str) -> bool,
    own: &mut WireMessage,
    others: &mut Vec<WireMessage>,
) -> Result<(), serde_json::Error> {
    let json = content.get();
    if json.starts_with('"') {
        return own.add_part(unit, content);
    }
    if !json.starts_with('[') {
        serde_json::from_str::<()>(json)?;
        own.set_new_text(TextInsertion {
            at: place_in(unit, content),
            before: "",
            after: "",
        });
        return Ok(());
    }
    let parts: Vec<&RawValue> = serde_json::from_str(json)?;
    let end = place_in(unit, content).end - 1;
    own.set_new_text(TextInsertion {
        at: end..end,
        before: if parts.is_empty() {
            r#"{"type":"text","text":"#
        } else {
            r#",{"type":"text","text":"#
        },
        after: "}",
    });
    for part in parts {
        let part: WirePart<'_> = read_object(part.get())?;
        read_part(unit, &part, is_clients_text, own, others)?;
    }
    Ok(())
}

fn read_part(
    unit: &str,
    part: &WirePart<'_>,
    is_clients_text: fn(&str) -> bool,
    own: &mut WireMessage,
    others: &mut Vec<WireMessage>,
) -> Result<(), serde_json::Error> {
    let is_text = |text: &&RawValue| text.get().starts_with('"');
    match (part.kind.as_deref(), part.text.filter(is_text)) {
        (Some("tool_use"), _) => {
            let named = (part.id.to_string(), part.name.to_string());
            match part.input {
                Some(input) => own.add_call(unit, named, input, ArgumentsForm::Json)?,
                None => own.add_bare_call(named),
            }
        }
        (Some("tool_result"), text) => {
            let mut result = WireMessage::new(Role::Tool);
            result.message.answers = part.tool_use_id.to_string();
            match (part.content, text) {
                (Some(content), _) => {
                    read_content(unit, content, |_| false, &mut result, &mut Vec::new())?;
                }
                (None, Some(text)) => result.add_part(unit, text)?,
                (None, None) => {}
            }
            others.push(result);
        }
        // Thoughts are signed by some servers: they go back as they came.
        (Some("thinking" | "redacted_thinking"), _) | (_, None) => {}
        (_, Some(text)) if own.message.role != Role::User => own.add_part(unit, text)?,
        // The user is held to what users' parts are called.
        (kind, Some(text)) => {
            let mut part = WireMessage::new(Role::Other);
            part.add_part(unit, text)?;
            let is_clients = part.message.parts.iter().any(|text| is_clients_text(text));
            if matches!(kind, Some("text" | "input_text")) && !is_clients {
                own.add_part(unit, text)?;
            } else {
                others.push(part);
            }
        }
    }
    Ok(())
}

/// The messages of one item: those that aren't the speaker's, and the speaker's own unless only the others say anything.
pub(super) fn own_last(own: WireMessage, mut others: Vec<WireMessage>) -> Vec<WireMessage> {
    if own.has_texts() || others.is_empty() {
        others.push(own);
    }
    others
}
