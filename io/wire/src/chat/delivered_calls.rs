//! A reply whose text held calls, as the client gets it: what is held of it without that text, and with the calls.

use serde_json::{Map, Value};
use tslp_core::message::ToolCall;

use super::dialect::Dialect;
use super::encode::{
    self, Addition, HeldEvent, call_value, encoded, item_events, last_text_of_body, shared_piece,
    shares_members, text_event,
};
use super::frames::BodyForm;
use super::lenient::Fields as _;
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
    /// The calls in the dialect's own form.
    fn values(&self, dialect: Dialect) -> impl Iterator<Item = Value> {
        self.calls.iter().map(move |(id, found)| {
            let call = ToolCall {
                name: found.name.clone(),
                arguments: found.arguments.to_string(),
                ..ToolCall::default()
            };
            call_value(dialect, id, &call)
        })
    }

    /// Puts the calls into a whole body, whose text has ended without them.
    fn put_into_body(&self, dialect: Dialect, body: &mut Value) {
        let text = last_text_of_body(dialect, body);
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
                    message["tool_calls"] = self.values(dialect).collect();
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
        items.extend(self.values(dialect));
    }
}

/// What is held of a reply, with the calls in the place of their text.
pub(super) fn deliver(
    (dialect, form): (Dialect, BodyForm),
    shared: &Map<String, Value>,
    mut held: Vec<HeldEvent>,
    delivered: &DeliveredCalls,
) -> Vec<HeldEvent> {
    if form != BodyForm::Whole {
        held = in_stream((dialect, form), shared, held, delivered);
    }
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
    encode::complete_events(dialect, form, &mut held, &addition);
    held.iter_mut().for_each(|event| event.is_end = true);
    held
}

/// What is left of the text before its end, and the calls before the reply's.
fn in_stream(
    (dialect, form): (Dialect, BodyForm),
    shared: &Map<String, Value>,
    mut held: Vec<HeldEvent>,
    delivered: &DeliveredCalls,
) -> Vec<HeldEvent> {
    let said = encode::take_text(dialect, form, &mut held);
    let before = said.strip_suffix(&*delivered.written).unwrap_or(&said);
    let mut text = before.to_owned() + &delivered.instead;
    let has_blocks = !shares_members(dialect);
    let place = match dialect {
        Dialect::Messages => "index",
        _ => "output_index",
    };
    let place_of = |event: &HeldEvent| Some(event.json.as_ref()?.get(place)?.clone());
    // The events that open a text wait until there is some: if nothing of it is left, none of its events go out.
    let mut opened = held.iter().filter(|event| has_blocks && opens_text(event));
    let dropped = opened.next().filter(|_| text.is_empty());
    let dropped = dropped.and_then(place_of);
    let numbers = held
        .iter()
        .filter_map(|event| event.json.as_ref()?.number(place));
    let next = numbers.max().map_or(0, |last| last + 1);
    let mut number = dropped.as_ref().map_or(next, |it| it.as_u64().unwrap_or(0));
    let mut left = (!delivered.calls.is_empty()).then_some(delivered);
    let mut out = Vec::new();
    let added = |bytes: Vec<u8>| HeldEvent {
        bytes,
        ..HeldEvent::default()
    };
    for event in held {
        if dropped.is_some() && place_of(&event) == dropped {
            continue;
        }
        let piece = match has_blocks {
            _ if text.is_empty() => None,
            true => text_event(&event, &text),
            false if event.is_end => {
                let piece = shared_piece(dialect, shared, false, &text);
                piece.map(|piece| encoded(form, "", &piece))
            }
            false => None,
        };
        if let Some(piece) = piece {
            out.push(added(piece));
            text.clear();
        }
        let ends_reply = match has_blocks {
            true => matches!(event.kind(), "message_delta" | "response.completed"),
            false => event.is_end,
        };
        if let Some(delivered) = left.take_if(|_| ends_reply) {
            let calls = delivered.values(dialect);
            if has_blocks {
                for item in calls {
                    out.push(added(item_events(dialect, number, &item)));
                    number += 1;
                }
            } else {
                let mut calls: Vec<Value> = calls.collect();
                if dialect != Dialect::OllamaChat {
                    let numbered = calls.iter_mut().enumerate();
                    numbered.for_each(|(number, call)| call["index"] = number.into());
                }
                let mut piece = shared_piece(dialect, shared, false, "").unwrap_or_default();
                for place in ["/message", "/choices/0/delta"] {
                    if let Some(message) = piece.pointer_mut(place) {
                        message["role"] = "assistant".into();
                        message["tool_calls"] = calls.clone().into();
                    }
                }
                out.push(added(encoded(form, "", &piece)));
            }
        }
        out.push(event);
    }
    out
}

/// Whether an event opens a text, as a block, an item or a part.
fn opens_text(event: &HeldEvent) -> bool {
    let json = event.json.as_ref();
    let is_text = json
        .is_some_and(|it| it["content_block"]["type"] == "text" || it["item"]["type"] == "message");
    let opens = [
        "content_block_start",
        "response.output_item.added",
        "response.content_part.added",
    ];
    is_text && opens.contains(&event.kind())
}
