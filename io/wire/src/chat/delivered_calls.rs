//! A reply whose text held calls, as the client gets it: what is kept back of it without that text, and with the calls.

use serde_json::{Map, Value, json};
use tslp_core::event::PartKind;

use super::dialect::Dialect;
use super::ending::{self, Addition, ResponseForm, piece_bytes, pieces, shares_members};
use super::lenient::value_of;
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

    /// Puts the calls into a whole body, whose text has ended without them.
    fn put_into_body(&self, dialect: Dialect, body: &mut Value) {
        let text = ending::last_text_of_body(dialect, body);
        let is_empty = text.is_some_and(|text| *text == "");
        let (list, kind) = match dialect {
            Dialect::Messages => ("content", "text"),
            Dialect::Responses => ("output", "message"),
            _ => {
                let message = match dialect {
                    Dialect::OllamaChat => "/message",
                    _ => "/choices/0/message",
                };
                let message = body.pointer_mut(message);
                if let Some(message) = message.filter(|_| !self.calls.is_empty()) {
                    message["tool_calls"] = self.in_message(dialect).into();
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
        items.extend(self.as_items(dialect));
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
    let made = match form {
        ResponseForm::Whole => held.to_vec(),
        ResponseForm::Stream => in_stream(dialect, shared, held, delivered),
    };
    let addition = Addition {
        text: &delivered.instead,
        cut: &delivered.written,
        changes_body: Some(&|body| delivered.put_into_body(dialect, body)),
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

/// What is left of the text before its end, and the calls before the reply's.
fn in_stream(
    dialect: Dialect,
    shared: &Map<String, Value>,
    held: &[u8],
    delivered: &DeliveredCalls,
) -> Vec<u8> {
    let (said, held) = ending::without_text(dialect, held);
    let before = said.strip_suffix(&*delivered.written).unwrap_or(&said);
    let mut text = before.to_owned() + &delivered.instead;
    let has_blocks = !shares_members(dialect);
    let place = match dialect {
        Dialect::Messages => "index",
        _ => "output_index",
    };
    let events = pieces(dialect, ResponseForm::Stream, &held).into_iter();
    let events: Vec<_> = events
        .map(|event| {
            let json = event.data.clone().and_then(|data| value_of(&held[data]));
            (event, json.unwrap_or_default())
        })
        .collect();
    // The events that open a text wait until there is some: if nothing of it is left, none of its events go out.
    let opens =
        |json: &Value| json["content_block"]["type"] == "text" || json["item"]["type"] == "message";
    let mut opened = events.iter();
    let opened = opened.find(|(it, json)| ending::opens_block(dialect, &it.name) && opens(json));
    let dropped = opened.filter(|_| text.is_empty());
    let dropped = dropped.map(|(_, json)| json[place].clone());
    let numbers = events.iter().filter_map(|(_, json)| json[place].as_u64());
    let next = numbers.max().map_or(0, |last| last + 1);
    let mut number = dropped.as_ref().map_or(next, |it| it.as_u64().unwrap_or(0));
    let mut left = (!delivered.calls.is_empty()).then_some(delivered);
    let mut out = Vec::new();
    for (event, json) in events {
        if has_blocks
            && dropped
                .as_ref()
                .is_some_and(|it| json.get(place) == Some(it))
        {
            continue;
        }
        let bytes = &held[event.bytes];
        let is_end = ending::begins(dialect, bytes);
        let piece = match has_blocks {
            _ if text.is_empty() => None,
            true => ending::text_event(&event.name, &json, &text),
            false => {
                is_end.then(|| ending::piece(dialect, shared, &held, PartKind::OtherText, &text))
            }
        };
        if let Some(piece) = piece {
            out.extend(piece);
            text.clear();
        }
        let ends_reply = match has_blocks {
            true => matches!(&*event.name, "message_delta" | "response.completed"),
            false => is_end,
        };
        if let Some(delivered) = left.take_if(|_| ends_reply) {
            if has_blocks {
                for item in delivered.as_items(dialect) {
                    out.extend(ending::item_events(dialect, number, &item));
                    number += 1;
                }
            } else {
                let mut calls = delivered.in_message(dialect);
                if dialect != Dialect::OllamaChat {
                    let numbered = calls.iter_mut().enumerate();
                    numbered.for_each(|(number, call)| call["index"] = number.into());
                }
                let mut piece =
                    ending::shared_piece(dialect, shared, false, "").unwrap_or_default();
                for place in ["/message", "/choices/0/delta"] {
                    if let Some(message) = piece.pointer_mut(place) {
                        message["role"] = "assistant".into();
                        message["tool_calls"] = calls.clone().into();
                    }
                }
                out.extend(piece_bytes(dialect, "", &piece));
            }
        }
        out.extend_from_slice(bytes);
    }
    out
}
