//! A reply whose text held calls, as the client gets it: what is kept back of it without that text, and with the calls.

use serde_json::{Map, Value, json};
use tslp_core::event::PartKind;

use super::dialect::Dialect;
use super::ending::{self, Addition, Event, ResponseForm, json_of, piece_bytes, pieces};
use super::lost_calls::FoundCall;

/// Calls in the place of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveredCalls {
    /// The end of the reply's text, which the client doesn't get.
    pub written: String,
    /// The text in its place.
    pub instead: String,
    /// The calls, with the ids under which clients return their results.
    pub calls: Vec<(String, FoundCall)>,
}

impl DeliveredCalls {
    /// A text that ended with what was written, as the client gets it.
    fn text_of(&self, said: &str) -> String {
        let before = said.strip_suffix(&*self.written);
        before.unwrap_or(said).to_owned() + &self.instead
    }

    /// The calls as a message of a chat completion, or of Ollama's chat, holds them.
    fn in_message(&self, dialect: Dialect) -> Vec<Value> {
        let calls = self.calls.iter().map(|(id, call)| match dialect {
            Dialect::OllamaChat => {
                json!({"function": {"name": call.name, "arguments": call.arguments}})
            }
            _ => {
                let arguments = call.arguments.to_string();
                let function = json!({"name": call.name, "arguments": arguments});
                json!({"id": id, "type": "function", "function": function})
            }
        });
        calls.collect()
    }

    /// The calls as blocks of a message, or as items of a response.
    fn as_items(&self, dialect: Dialect) -> impl Iterator<Item = Value> {
        self.calls.iter().map(move |(id, call)| match dialect {
            Dialect::Messages => {
                json!({"type": "tool_use", "id": id, "name": call.name, "input": call.arguments})
            }
            _ => json!({
                "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": call.name,
                "arguments": call.arguments.to_string(), "status": "completed",
            }),
        })
    }
}

/// What is kept back of a reply, with the calls in the place of their text.
pub(super) fn with_calls(
    dialect: Dialect,
    form: ResponseForm,
    shared: &Map<String, Value>,
    held: &[u8],
    delivered: &DeliveredCalls,
) -> Vec<u8> {
    let made = match (form, dialect) {
        (ResponseForm::Whole, _) => match json_of(held) {
            Some(mut body) => {
                put_into_body(dialect, &mut body, delivered);
                body.to_string().into_bytes()
            }
            None => held.to_vec(),
        },
        (_, Dialect::Messages | Dialect::Responses) => in_events(dialect, held, delivered),
        _ => in_pieces(dialect, shared, held, delivered),
    };
    let addition = Addition {
        finish_reason: match dialect {
            _ if delivered.calls.is_empty() => None,
            Dialect::ChatCompletions => Some("tool_calls"),
            Dialect::Messages => Some("tool_use"),
            _ => None,
        },
        ..Addition::default()
    };
    ending::completed(dialect, form, &made, &addition)
}

fn put_into_body(dialect: Dialect, body: &mut Value, delivered: &DeliveredCalls) {
    let text = ending::last_text_of_body(dialect, body);
    let is_empty = text.is_some_and(|text| {
        let left = delivered.text_of(text.as_str().unwrap_or_default());
        *text = left.into();
        *text == ""
    });
    let (list, kind) = match dialect {
        Dialect::Messages => ("content", "text"),
        Dialect::Responses => ("output", "message"),
        _ => {
            let message = match dialect {
                Dialect::OllamaChat => "/message",
                _ => "/choices/0/message",
            };
            let message = body.pointer_mut(message);
            if let Some(message) = message.filter(|_| !delivered.calls.is_empty()) {
                message["tool_calls"] = delivered.in_message(dialect).into();
            }
            return;
        }
    };
    let Some(items) = body[list].as_array_mut() else {
        return;
    };
    let at = items.iter().rposition(|item| item["type"] == kind);
    if let Some(at) = at.filter(|_| is_empty) {
        items.remove(at);
    }
    items.extend(delivered.as_items(dialect));
}

/// In the dialects whose pieces have the same members.
fn in_pieces(
    dialect: Dialect,
    shared: &Map<String, Value>,
    held: &[u8],
    delivered: &DeliveredCalls,
) -> Vec<u8> {
    let (said, held) = ending::without_text(dialect, held);
    let text = delivered.text_of(&said);
    let mut out = Vec::new();
    let mut are_out = false;
    for Event { bytes, .. } in pieces(dialect, ResponseForm::Stream, &held) {
        let is_end = ending::begins(dialect, &held[bytes.clone()]);
        if is_end && !are_out {
            are_out = true;
            if !text.is_empty() {
                out.extend(ending::piece(
                    dialect,
                    shared,
                    &held,
                    PartKind::OtherText,
                    &text,
                ));
            }
            let mut piece = shared.clone();
            let mut calls = delivered.in_message(dialect);
            if dialect != Dialect::OllamaChat {
                let numbered = calls.iter_mut().enumerate();
                numbered.for_each(|(number, call)| call["index"] = number.into());
            }
            let message = json!({"role": "assistant", "content": "", "tool_calls": calls});
            if dialect == Dialect::OllamaChat {
                piece.insert("message".into(), message);
                piece.insert("done".into(), false.into());
            } else {
                let choice = json!({"index": 0, "delta": message, "finish_reason": null});
                piece.insert("object".into(), "chat.completion.chunk".into());
                piece.insert("choices".into(), json!([choice]));
            }
            if !delivered.calls.is_empty() {
                out.extend(piece_bytes(dialect, "", &Value::Object(piece)));
            }
        }
        out.extend_from_slice(&held[bytes]);
    }
    out
}

/// In the dialects whose texts and calls are blocks or items, each with its number.
fn in_events(dialect: Dialect, held: &[u8], delivered: &DeliveredCalls) -> Vec<u8> {
    let is_messages = dialect == Dialect::Messages;
    let place = if is_messages { "index" } else { "output_index" };
    let events = pieces(dialect, ResponseForm::Stream, held).into_iter();
    let events = events.map(|event| {
        let json = event.data.clone().and_then(|data| json_of(&held[data]));
        (event, json.unwrap_or_default())
    });
    let events: Vec<(Event, Value)> = events.collect();
    let delta = |json: &Value| match is_messages {
        true => json["delta"]["text"].as_str().map(str::to_owned),
        false => json["delta"].as_str().map(str::to_owned),
    };
    let is_delta =
        |name: &str| matches!(name, "content_block_delta" | "response.output_text.delta");
    let said = events.iter().filter(|(event, _)| is_delta(&event.name));
    let said: String = said.filter_map(|(_, json)| delta(json)).collect();
    let mut text = delivered.text_of(&said);
    // The events that open a text wait until there is some: if nothing of it is left, none of its events go out.
    let opens =
        |json: &Value| json["content_block"]["type"] == "text" || json["item"]["type"] == "message";
    let opened = events
        .iter()
        .find(|(event, json)| ending::opens_block(dialect, &event.name) && opens(json));
    let dropped = opened
        .filter(|_| text.is_empty())
        .map(|(_, json)| json[place].clone());
    let numbers = events.iter().filter_map(|(_, json)| json[place].as_u64());
    let mut number = match &dropped {
        Some(number) => number.as_u64().unwrap_or(0),
        None => numbers.max().map_or(0, |last| last + 1),
    };
    let mut out = Vec::new();
    for (event, mut json) in events {
        let is_dropped = dropped
            .as_ref()
            .is_some_and(|it| json.get(place) == Some(it));
        if is_dropped || is_delta(&event.name) && delta(&json).is_some() {
            continue;
        }
        let before = std::mem::take(&mut text);
        match ending::text_event(&event.name, &json, &before) {
            Some(piece) if !before.is_empty() => out.extend(piece),
            _ => text = before,
        }
        if matches!(&*event.name, "message_delta" | "response.completed") {
            for item in delivered.as_items(dialect) {
                out.extend(ending::item_events(dialect, number, &item));
                number += 1;
            }
        }
        let is_changed = match &*event.name {
            "response.completed" => {
                put_into_body(dialect, &mut json["response"], delivered);
                true
            }
            _ => match ending::repeated_text(&mut json) {
                Some(repeated) => {
                    *repeated = delivered
                        .text_of(repeated.as_str().unwrap_or_default())
                        .into();
                    true
                }
                None => false,
            },
        };
        match is_changed {
            true => out.extend(piece_bytes(dialect, &event.name, &json)),
            false => out.extend_from_slice(&held[event.bytes]),
        }
    }
    out
}
