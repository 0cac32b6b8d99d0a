//! Calls of the client's own tools in what is kept back of a reply: which there are, and the reply without some of them, each
//! replaced by a text.

use memchr::memmem;
use serde_json::{Value, json};

use super::dialect::Dialect;
use super::ending::{ResponseForm, event_bytes, events, json_of, message_item};

/// The number that stands for all calls of a reply.
pub const ALL_CALLS: usize = usize::MAX;

/// Calls that the client doesn't get: the number under which each came in the reply, and the text in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeniedCalls(pub Vec<(usize, String)>);

impl DeniedCalls {
    pub(super) fn text_for(&self, number: usize) -> Option<&str> {
        let mut all = self.0.iter();
        let found = all.find(|(denied, _)| *denied == number || *denied == ALL_CALLS);
        found.map(|(_, text)| text.as_str())
    }

    /// How many denied calls came before one.
    pub(super) fn count_before(&self, number: usize) -> usize {
        self.0.iter().filter(|(denied, _)| *denied < number).count()
    }

    /// The texts of all of them, once each.
    #[must_use]
    pub fn joined_text(&self) -> String {
        let texts: Vec<&str> = self.0.iter().map(|(_, text)| text.as_str()).collect();
        texts.join("\n")
    }
}

/// Whether a call begins with this event, in a dialect whose replies have one round.
pub(super) fn opens_call(dialect: Dialect, event: &[u8]) -> bool {
    let shows = |mark: &str| memmem::find(event, mark.as_bytes()).is_some();
    match dialect {
        Dialect::Messages => shows("event: content_block_start") && shows("\"tool_use\""),
        Dialect::Responses => shows("event: response.output_item.") && shows("_call\""),
        Dialect::OllamaChat => shows("\"tool_calls\""),
        Dialect::ChatCompletions | Dialect::Completions | Dialect::OllamaGenerate => false,
    }
}

/// Whether a whole body calls tools.
pub(super) fn body_calls(dialect: Dialect, body: &Value) -> bool {
    match dialect {
        Dialect::Messages => parts(&body["content"]).any(|part| part["type"] == "tool_use"),
        Dialect::Responses => parts(&body["output"]).any(is_call_item),
        _ => parts(&body["message"]["tool_calls"]).next().is_some(),
    }
}

fn parts(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn is_call_item(item: &Value) -> bool {
    item["type"]
        .as_str()
        .is_some_and(|kind| kind.ends_with("_call"))
}

/// What is kept back of a reply without the denied calls, in a dialect whose replies have one round.
pub(super) fn without_denied(
    dialect: Dialect,
    form: ResponseForm,
    held: &[u8],
    denied: &DeniedCalls,
) -> Vec<u8> {
    match (dialect, form) {
        (Dialect::OllamaChat, _) => ollama_lines(held, denied),
        (_, ResponseForm::Whole) => match json_of(held) {
            Some(mut body) => {
                replace_in_body(dialect, &mut body, denied);
                body.to_string().into_bytes()
            }
            None => Vec::new(),
        },
        (_, ResponseForm::Stream) => stream_events(dialect, held, denied),
    }
}

fn replace_in_body(dialect: Dialect, body: &mut Value, denied: &DeniedCalls) {
    let is_messages = dialect == Dialect::Messages;
    let list = if is_messages { "content" } else { "output" };
    let items = body[list].as_array_mut().into_iter().flatten();
    let mut is_left = false;
    for (number, item) in items.enumerate() {
        if item["type"] != "tool_use" && !is_call_item(item) {
            continue;
        }
        match denied.text_for(number) {
            Some(text) if is_messages => *item = json!({"type": "text", "text": text}),
            Some(text) => *item = message_item(&format!("kept_{number}"), text),
            None => is_left = true,
        }
    }
    if is_messages && !is_left && body["stop_reason"] == "tool_use" {
        body["stop_reason"] = "end_turn".into();
    }
}

fn stream_events(dialect: Dialect, held: &[u8], denied: &DeniedCalls) -> Vec<u8> {
    let mut out = Vec::new();
    let mut replaced = Vec::new();
    let mut is_left = false;
    for event in events(held) {
        let bytes = &held[event.bytes];
        let json = event.data.and_then(|data| json_of(&held[data]));
        let Some(mut json) = json else {
            out.extend_from_slice(bytes);
            continue;
        };
        let place = if dialect == Dialect::Messages {
            "index"
        } else {
            "output_index"
        };
        let number = json[place]
            .as_u64()
            .and_then(|number| usize::try_from(number).ok());
        let opens = opens_call(dialect, bytes);
        let text = number.and_then(|number| Some((number, denied.text_for(number)?)));
        match text {
            Some((number, _)) if replaced.contains(&number) => {}
            Some((number, text)) if opens => {
                replaced.push(number);
                out.extend(text_instead(dialect, number, text));
            }
            _ => {
                is_left |= opens;
                let is_changed = match &*event.name {
                    "message_delta" if !is_left && json["delta"]["stop_reason"] == "tool_use" => {
                        json["delta"]["stop_reason"] = "end_turn".into();
                        true
                    }
                    "response.completed" => {
                        replace_in_body(dialect, &mut json["response"], denied);
                        true
                    }
                    _ => false,
                };
                match is_changed {
                    true => out.extend(event_bytes(&event.name, &json)),
                    false => out.extend_from_slice(bytes),
                }
            }
        }
    }
    out
}

/// The events of a text in a call's place.
fn text_instead(dialect: Dialect, number: usize, text: &str) -> Vec<u8> {
    let events = if dialect == Dialect::Messages {
        let block = json!({"type": "text", "text": ""});
        let delta = json!({"type": "text_delta", "text": text});
        vec![
            json!({"type": "content_block_start", "index": number, "content_block": block}),
            json!({"type": "content_block_delta", "index": number, "delta": delta}),
            json!({"type": "content_block_stop", "index": number}),
        ]
    } else {
        let item = message_item(&format!("kept_{number}"), text);
        let mut begun = item.clone();
        begun["content"] = json!([]);
        begun["status"] = "in_progress".into();
        let at = |kind: &str| json!({"type": kind, "output_index": number, "content_index": 0, "item_id": item["id"]});
        let mut delta = at("response.output_text.delta");
        delta["delta"] = text.into();
        let mut done = at("response.output_text.done");
        done["text"] = text.into();
        let mut part = at("response.content_part.added");
        part["part"] = json!({"type": "output_text", "text": "", "annotations": []});
        let mut part_done = at("response.content_part.done");
        part_done["part"] = item["content"][0].clone();
        vec![
            json!({"type": "response.output_item.added", "output_index": number, "item": begun}),
            part,
            delta,
            done,
            part_done,
            json!({"type": "response.output_item.done", "output_index": number, "item": item}),
        ]
    };
    let named = events
        .iter()
        .map(|event| event_bytes(event["type"].as_str().unwrap_or_default(), event));
    named.collect::<Vec<_>>().concat()
}

fn ollama_lines(held: &[u8], denied: &DeniedCalls) -> Vec<u8> {
    let mut out = Vec::new();
    let mut number = 0;
    for line in held.split_inclusive(|byte| *byte == b'\n') {
        let json = json_of(line).filter(|json| body_calls(Dialect::OllamaChat, json));
        let Some(mut json) = json else {
            out.extend_from_slice(line);
            continue;
        };
        let message = &mut json["message"];
        let mut text = message["content"].as_str().unwrap_or_default().to_owned();
        if let Some(calls) = message["tool_calls"].as_array_mut() {
            calls.retain(|_| {
                let instead = denied.text_for(number);
                number += 1;
                text.push_str(instead.unwrap_or_default());
                instead.is_none()
            });
            if calls.is_empty()
                && let Some(message) = message.as_object_mut()
            {
                message.remove("tool_calls");
            }
        }
        message["content"] = text.into();
        out.extend(json.to_string().into_bytes());
        out.push(b'\n');
    }
    out
}
