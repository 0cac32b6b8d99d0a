//! Events, lines and bodies of a reply as the proxy writes them: a text, a call, an end, and what the last events repeat of the reply.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use tslp_core::delimiter;
use tslp_core::event::ServerUsage;
use tslp_core::message::ToolCall;

use super::dialect::Dialect;
use super::frames::BodyForm;
use super::lenient::value_of;

/// An event of a stream, a line of JSON or a whole body on its way to the client.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldEvent {
    /// What the client gets.
    pub(super) bytes: Vec<u8>,
    /// The event's name, if the server gives one.
    pub(super) name: String,
    /// What it says, if it says anything and can be read.
    pub(super) json: Option<Value>,
    /// Whether it can't be read.
    pub(super) is_unread: bool,
    /// The numbers of the calls that it is about, in their order in it.
    pub(super) calls: Vec<usize>,
    /// Those that are complete with it.
    pub(super) completes: Vec<usize>,
    /// Whether it is among the reply's last events.
    pub(super) is_end: bool,
    /// Whether it holds a text that may be calls.
    pub(super) may_be_calls: bool,
}

impl HeldEvent {
    /// What kind of event it is.
    pub(super) fn kind(&self) -> &str {
        let kind = self.json.as_ref().and_then(|json| json["type"].as_str());
        kind.unwrap_or(&self.name)
    }

    /// Changes what it says.
    pub(super) fn change(&mut self, form: BodyForm, change: impl FnOnce(&mut Value)) {
        let Some(json) = &mut self.json else { return };
        let before = json.clone();
        change(json);
        if *json != before {
            self.bytes = encoded(form, &self.name, json);
        }
    }
}

/// The bytes of an event, a line or a body.
pub(super) fn encoded(form: BodyForm, name: &str, json: &Value) -> Vec<u8> {
    let text = match (form, name) {
        (BodyForm::Whole | BodyForm::Unknown, _) => json.to_string(),
        (BodyForm::JsonLines, _) => format!("{json}\n"),
        (BodyForm::Events, "") => format!("data: {json}\n\n"),
        (BodyForm::Events, name) => format!("event: {name}\ndata: {json}\n\n"),
    };
    text.into_bytes()
}

/// A call in a dialect's own form: in a message, as a block, or as an item.
pub(super) fn call_value(dialect: Dialect, id: &str, call: &ToolCall) -> Value {
    let arguments = || value_of(call.arguments.as_bytes()).unwrap_or_else(|| json!({}));
    match dialect {
        Dialect::Messages => {
            json!({"type": "tool_use", "id": id, "name": call.name, "input": arguments()})
        }
        Dialect::Responses => json!({
            "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": call.name,
            "arguments": call.arguments, "status": "completed",
        }),
        Dialect::OllamaChat => {
            json!({"function": {"name": call.name, "arguments": arguments()}})
        }
        _ => {
            json!({"id": id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}})
        }
    }
}

/// Puts a call into the place of another one, in a dialect whose calls are blocks or items; the name that its result comes under stays.
pub(super) fn replace_call(item: &mut Value, dialect: Dialect, call: &ToolCall) {
    if item["name"] != *call.name {
        let id = match dialect {
            Dialect::Responses => &item["call_id"],
            _ => &item["id"],
        };
        let id = id.as_str().unwrap_or_default().to_owned();
        *item = call_value(dialect, &id, call);
        return;
    }
    let arguments = &*call.arguments;
    let read = value_of(arguments.as_bytes()).unwrap_or_default();
    // A custom tool has a text for its input.
    let input = match read["input"].as_str() {
        Some(input) => input.into(),
        None => Value::from(arguments),
    };
    for (place, text) in [("/arguments", &arguments.into()), ("/input", &input)] {
        match item.pointer_mut(place) {
            Some(whole @ Value::Object(_)) => *whole = read.clone(),
            Some(known @ Value::String(_)) => *known = text.clone(),
            _ => {}
        }
    }
}

/// What was said after a reply's first round, and what that cost.
#[derive(Default)]
pub(super) struct Addition<'a> {
    pub(super) text: &'a str,
    pub(super) usage: ServerUsage,
    /// Why the last round ended, in the dialect's word.
    pub(super) finish_reason: Option<&'a str>,
    /// The end of the text that is no part of it.
    pub(super) cut: &'a str,
    /// What becomes of a whole body besides.
    pub(super) changes_body: Option<&'a dyn Fn(&mut Value)>,
}

/// Where a dialect says why a reply ended.
const FINISH_REASONS: [&str; 4] = [
    "/choices/0/finish_reason",
    "/delta/stop_reason",
    "/stop_reason",
    "/done_reason",
];

/// Where a dialect says what a reply cost; Ollama in the object itself.
const USAGES: [&str; 3] = ["/usage", "/response/usage", ""];

/// A reply's last events, or its whole body, once more was said after it: what they repeat of the text and of the usage is of all of
/// it.
pub(super) fn complete_events(
    dialect: Dialect,
    form: BodyForm,
    held: &mut [HeldEvent],
    addition: &Addition<'_>,
) {
    for event in held {
        event.change(form, |json| complete(dialect, form, json, addition));
    }
}

fn complete(dialect: Dialect, form: BodyForm, json: &mut Value, addition: &Addition<'_>) {
    let text = match form {
        BodyForm::Whole => last_text_of_body(dialect, json),
        _ => repeated_text(json),
    };
    if let Some(text) = text {
        let said = text.as_str().unwrap_or_default();
        let said = said.strip_suffix(addition.cut).unwrap_or(said);
        let before = match form {
            BodyForm::Whole => delimiter::unmarked(said),
            _ => Cow::Borrowed(said),
        };
        *text = [&*before, addition.text].concat().into();
    }
    let body = match form {
        BodyForm::Whole => Some(&mut *json),
        _ => json.get_mut("response").filter(|it| it.is_object()),
    };
    if let (Some(body), Some(change)) = (body, addition.changes_body) {
        change(body);
    }
    if let Some(word) = addition.finish_reason {
        // Pieces of the same members say none until the last one.
        let may_follow = form != BodyForm::Whole && shares_members(dialect);
        let says_why = |it: &Value| it.is_string() || it.is_null() && !may_follow;
        let mut places = FINISH_REASONS.into_iter();
        let place = places.find(|place| json.pointer(place).is_some_and(says_why));
        if let Some(place) = place.and_then(|place| json.pointer_mut(place)) {
            *place = word.into();
        }
    }
    let (prompt, written) = (
        addition.usage.prompt_tokens,
        addition.usage.completion_tokens,
    );
    let all = prompt.unwrap_or(0).saturating_add(written.unwrap_or(0));
    let figures = [
        ("prompt_tokens", prompt),
        ("input_tokens", prompt),
        ("prompt_eval_count", prompt),
        ("completion_tokens", written),
        ("output_tokens", written),
        ("eval_count", written),
        ("total_tokens", Some(all)),
    ];
    for place in USAGES {
        let Some(usage) = json.pointer_mut(place).and_then(Value::as_object_mut) else {
            continue;
        };
        for (name, more) in figures {
            if let (Some(figure), Some(more)) = (usage.get_mut(name), more)
                && let Some(known) = figure.as_u64()
            {
                *figure = known.saturating_add(more.into()).into();
            }
        }
    }
}

/// Takes the text that was new with a stream's last events out of them.
pub(super) fn take_text(dialect: Dialect, form: BodyForm, held: &mut Vec<HeldEvent>) -> String {
    let mut text = String::new();
    held.retain_mut(|event| {
        let place = event.json.as_mut().and_then(|json| new_text(dialect, json));
        let Some(Value::String(new)) = place.filter(|place| place.as_str() != Some("")) else {
            return true;
        };
        text.push_str(&std::mem::take(new));
        if let Some(json) = &event.json {
            event.bytes = encoded(form, &event.name, json);
        }
        shares_members(dialect)
    });
    text
}

/// The text that is new with a piece.
fn new_text(dialect: Dialect, piece: &mut Value) -> Option<&mut Value> {
    let place = match dialect {
        Dialect::ChatCompletions => "/choices/0/delta/content",
        Dialect::Completions => "/choices/0/text",
        Dialect::OllamaChat => "/message/content",
        Dialect::OllamaGenerate => "/response",
        Dialect::Messages => "/delta/text",
        Dialect::Responses if piece["type"] == "response.output_text.delta" => "/delta",
        Dialect::Responses => return None,
    };
    piece.pointer_mut(place)
}

/// Whether all pieces of a stream share members, such as the reply's name.
pub(super) const fn shares_members(dialect: Dialect) -> bool {
    !matches!(dialect, Dialect::Messages | Dialect::Responses)
}

/// The members that all pieces share, out of one of them.
pub(super) fn shared_of(piece: &Value) -> Map<String, Value> {
    const SHARED: [&str; 5] = ["id", "created", "created_at", "model", "system_fingerprint"];
    let named = SHARED.into_iter().filter_map(|name| {
        let value = piece.get(name)?;
        Some((name.to_owned(), value.clone()))
    });
    named.collect()
}

/// A piece of text, or of a thought, before the events that end the reply; nothing where the stream has no place for it.
pub(super) fn piece(
    (dialect, form): (Dialect, BodyForm),
    shared: &Map<String, Value>,
    held: &[HeldEvent],
    (text, is_thought): (&str, bool),
) -> Vec<u8> {
    if !shares_members(dialect) {
        let mut ends = held.iter().filter_map(|end| text_event(end, text));
        return ends.next().filter(|_| !is_thought).unwrap_or_default();
    }
    let piece = shared_piece(dialect, shared, is_thought, text);
    piece.map_or_else(Vec::new, |piece| encoded(form, "", &piece))
}

/// A piece in the dialects whose pieces have the same members; `None` where one has no place for a thought.
pub(super) fn shared_piece(
    dialect: Dialect,
    shared: &Map<String, Value>,
    is_thought: bool,
    text: &str,
) -> Option<Value> {
    let mut piece = Value::Object(shared.clone());
    match dialect {
        Dialect::ChatCompletions => {
            let field = match is_thought {
                true => "reasoning_content",
                false => "content",
            };
            let choice = json!({"index": 0, "delta": { field: text }, "finish_reason": null});
            piece["object"] = "chat.completion.chunk".into();
            piece["choices"] = json!([choice]);
        }
        Dialect::OllamaChat => {
            piece["message"] = match is_thought {
                true => json!({"role": "assistant", "content": "", "thinking": text}),
                false => json!({"role": "assistant", "content": text}),
            };
            piece["done"] = false.into();
        }
        _ if is_thought => return None,
        Dialect::Completions => {
            let choice = json!({"index": 0, "text": text, "finish_reason": null});
            piece["object"] = "text_completion".into();
            piece["choices"] = json!([choice]);
        }
        _ => {
            piece["response"] = text.into();
            piece["done"] = false.into();
        }
    }
    Some(piece)
}

/// A piece of text, before the event that ends the text.
pub(super) fn text_event(ending: &HeldEvent, text: &str) -> Option<Vec<u8>> {
    let json = ending.json.as_ref()?;
    match ending.kind() {
        "content_block_stop" => {
            let delta = json!({"type": "text_delta", "text": text});
            let piece =
                json!({"type": "content_block_delta", "index": json["index"], "delta": delta});
            Some(event_bytes("content_block_delta", &piece))
        }
        "response.output_text.done" => {
            let mut piece = json.clone();
            piece.as_object_mut()?.remove("text");
            piece["type"] = "response.output_text.delta".into();
            piece["delta"] = text.into();
            Some(event_bytes("response.output_text.delta", &piece))
        }
        _ => None,
    }
}

/// The end of a stream that is cut on purpose: a text, and what a client of the dialect takes for a reply's proper end.
pub(super) fn stopped_stream(
    (dialect, form): (Dialect, BodyForm),
    shared: &Map<String, Value>,
    (id, open_block): (Option<&str>, Option<u64>),
    text: &str,
) -> Vec<u8> {
    let named = |json: Value| event_bytes(json["type"].as_str().unwrap_or_default(), &json);
    let events = match dialect {
        Dialect::Messages => {
            let delta = json!({"type": "text_delta", "text": text});
            let open = open_block.map(|index| {
                let piece = json!({"type": "content_block_delta", "index": index, "delta": delta});
                [piece, json!({"type": "content_block_stop", "index": index})]
            });
            let delta = json!({"stop_reason": "end_turn", "stop_sequence": null});
            let last =
                json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 0}});
            let last = [last, json!({"type": "message_stop"})];
            open.into_iter().flatten().chain(last).collect()
        }
        Dialect::Responses => {
            let id = id.unwrap_or("tslp-stopped");
            let item = message_item(id, text);
            let response =
                json!({"id": id, "object": "response", "status": "completed", "output": [item]});
            vec![
                json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
                json!({"type": "response.completed", "response": response}),
            ]
        }
        _ => {
            let mut last = shared_piece(dialect, shared, false, text).unwrap_or_default();
            if form == BodyForm::JsonLines {
                (last["done"], last["done_reason"]) = (true.into(), "stop".into());
                return encoded(form, "", &last);
            }
            last["choices"][0]["finish_reason"] = "stop".into();
            return [&encoded(form, "", &last)[..], b"data: [DONE]\n\n"].concat();
        }
    };
    events.into_iter().flat_map(named).collect()
}

/// A message of one text as an item of a response.
pub(super) fn message_item(id: &str, text: &str) -> Value {
    let part = json!({"type": "output_text", "text": text, "annotations": []});
    json!({"id": format!("msg_{id}"), "type": "message", "role": "assistant", "status": "completed", "content": [part]})
}

/// What one of the last events of a response repeats of its text.
fn repeated_text(json: &mut Value) -> Option<&mut Value> {
    let kind = json["type"].as_str()?.to_owned();
    match &*kind {
        "response.output_text.done" => json.get_mut("text"),
        "response.content_part.done" => json.pointer_mut("/part/text"),
        "response.output_item.done" => last_text(json.pointer_mut("/item/content")?),
        "response.completed" => last_text_of_body(Dialect::Responses, json.get_mut("response")?),
        _ => None,
    }
}

/// The model's last text in a whole body.
pub(super) fn last_text_of_body(dialect: Dialect, body: &mut Value) -> Option<&mut Value> {
    let content = |message: &mut Value| -> Option<()> {
        // A message that called tools may have had none.
        message
            .as_object_mut()?
            .entry("content")
            .or_insert(Value::Null);
        Some(())
    };
    match dialect {
        Dialect::Messages => last_text(body.get_mut("content")?),
        Dialect::Responses => {
            let items = body.get_mut("output")?.as_array_mut()?.iter_mut().rev();
            let mut messages = items.filter(|item| item["type"] == "message");
            last_text(messages.next()?.get_mut("content")?)
        }
        Dialect::ChatCompletions => {
            content(body.pointer_mut("/choices/0/message")?)?;
            let content = body.pointer_mut("/choices/0/message/content")?;
            match content.is_array() {
                true => last_text(content),
                false => Some(content),
            }
        }
        Dialect::OllamaChat => {
            content(body.get_mut("message")?)?;
            body.pointer_mut("/message/content")
        }
        Dialect::Completions => body.pointer_mut("/choices/0/text"),
        Dialect::OllamaGenerate => body.get_mut("response"),
    }
}

fn last_text(parts: &mut Value) -> Option<&mut Value> {
    let mut parts = parts.as_array_mut()?.iter_mut().rev();
    parts.find_map(|part| Some(&mut part["text"]).filter(|text| text.is_string()))
}

/// The events of a whole block or item in a stream: a text, or a call.
pub(super) fn item_events(dialect: Dialect, number: u64, item: &Value) -> Vec<u8> {
    let mut begun = item.clone();
    let events = if dialect == Dialect::Messages {
        let (member, empty, delta) = match item["type"] == "text" {
            true => (
                "text",
                json!(""),
                json!({"type": "text_delta", "text": item["text"]}),
            ),
            false => {
                let input = item["input"].to_string();
                let delta = json!({"type": "input_json_delta", "partial_json": input});
                ("input", json!({}), delta)
            }
        };
        begun[member] = empty;
        vec![
            json!({"type": "content_block_start", "index": number, "content_block": begun}),
            json!({"type": "content_block_delta", "index": number, "delta": delta}),
            json!({"type": "content_block_stop", "index": number}),
        ]
    } else {
        begun["status"] = "in_progress".into();
        let at = |kind: &str, name: &str, value: Value| json!({"type": kind, "output_index": number, "content_index": 0, "item_id": item["id"], name: value});
        let (member, empty, between) = if item["type"] == "message" {
            let part = &item["content"][0];
            let empty = json!({"type": "output_text", "text": "", "annotations": []});
            let between = vec![
                at("response.content_part.added", "part", empty),
                at("response.output_text.delta", "delta", part["text"].clone()),
                at("response.output_text.done", "text", part["text"].clone()),
                at("response.content_part.done", "part", part.clone()),
            ];
            ("content", json!([]), between)
        } else {
            let (member, kind) = match item.get("input") {
                Some(_) => ("input", "custom_tool_call_input"),
                None => ("arguments", "function_call_arguments"),
            };
            let at = |end: &str, name: &str| json!({"type": format!("response.{kind}.{end}"), "output_index": number, "item_id": item["id"], name: item[member]});
            let between = vec![at("delta", "delta"), at("done", member)];
            (member, json!(""), between)
        };
        begun[member] = empty;
        let added =
            json!({"type": "response.output_item.added", "output_index": number, "item": begun});
        let done =
            json!({"type": "response.output_item.done", "output_index": number, "item": item});
        [vec![added], between, vec![done]].concat()
    };
    let events = events.iter();
    let events = events.map(|it| event_bytes(it["type"].as_str().unwrap_or_default(), it));
    events.collect::<Vec<_>>().concat()
}

pub(super) fn event_bytes(name: &str, json: &Value) -> Vec<u8> {
    format!("event: {name}\ndata: {json}\n\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::reply::ReplyDecoder;
    use super::super::reply_pipe::{PipeRules, ReplyPipe};
    use super::*;

    /// What a client reads of a reply that ends with a line.
    fn check(dialect: Dialect, form: BodyForm, reply: &str, expected: &str) {
        let new = || {
            let mut pipe = ReplyPipe::new(dialect, PipeRules::default());
            if form == BodyForm::Whole {
                pipe.expect_one_value();
            }
            pipe
        };
        for piece in [1, 7, reply.len()] {
            let mut pipe = new();
            let mut read = Vec::new();
            for bytes in reply.as_bytes().chunks(piece) {
                read.extend(pipe.push(bytes));
            }
            read.extend(pipe.end());
            read.extend(pipe.say_for_model(" [tslp] STALE"));
            read.extend(pipe.last_bytes());
            let mut decoder = ReplyDecoder::new(dialect);
            let mut said = decoder.push(&read).text;
            said += &decoder.end_message().text;
            assert_eq!(said, expected, "{}", String::from_utf8_lossy(&read));
            assert!(decoder.is_finished(), "{dialect:?}");
            // Another round goes on in the same reply, whatever the pieces.
            let mut pipe = new();
            let mut read = pipe.push(reply.as_bytes());
            read.extend(pipe.end());
            read.extend(pipe.say_for_model(" I "));
            read.extend(pipe.next_round());
            for bytes in reply.as_bytes().chunks(piece) {
                read.extend(pipe.push(bytes));
            }
            read.extend(pipe.end());
            read.extend(pipe.last_bytes());
            let mut decoder = ReplyDecoder::new(dialect);
            let mut said = decoder.push(&read).text;
            said += &decoder.end_message().text;
            let said_once = expected.strip_suffix(" [tslp] STALE").unwrap_or_default();
            assert_eq!(
                said,
                format!("{said_once} I {said_once}"),
                "{dialect:?} {}",
                String::from_utf8_lossy(&read)
            );
            assert!(decoder.is_finished(), "{dialect:?}");
            let costs = decoder.server_usage().map(|it| it.completion_tokens);
            assert_eq!(
                costs,
                Some(Some(6)),
                "{dialect:?} {}",
                String::from_utf8_lossy(&read)
            );
            // What isn't told anything is passed on byte for byte.
            let mut pipe = new();
            let mut read = pipe.push(reply.as_bytes());
            read.extend(pipe.end());
            read.extend(pipe.last_bytes());
            assert_eq!(String::from_utf8_lossy(&read), reply);
        }
    }

    #[test]
    fn more_after_text() {
        let messages = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[]}}\n\n\
            event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n\
            event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
            event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
            event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n\
            event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n\
            event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\n\
            event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
        let responses = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n\
            event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"i\",\"output_index\":0,\"content_index\":0,\"delta\":\"Hello\"}\n\n\
            event: response.output_text.done\ndata: {\"type\":\"response.output_text.done\",\"item_id\":\"i\",\"output_index\":0,\"content_index\":0,\"text\":\"Hello\"}\n\n\
            event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hello\"}]}}\n\n\
            event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hello\"}]}],\"usage\":{\"output_tokens\":3}}}\n\n";
        let ollama = "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"Hel\"},\"done\":false}\n\
            {\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"lo\"},\"done\":true,\"done_reason\":\"stop\",\"eval_count\":3}\n";
        let generate = ollama
            .replace(
                "\"message\":{\"role\":\"assistant\",\"content\":",
                "\"response\":",
            )
            .replace("\"},\"done\"", "\",\"done\"");
        let chat = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"},\"finish_reason\":null}]}\n\n\
            data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":3}}\n\n\
            data: [DONE]\n\n";
        let completions = chat
            .replace("\"delta\":{\"content\":", "\"text\":")
            .replace("\"},\"finish", "\",\"finish");
        let said = "Hello [tslp] STALE";
        for (dialect, stream) in [
            (Dialect::Messages, messages),
            (Dialect::Responses, responses),
            (Dialect::OllamaChat, ollama),
            (Dialect::OllamaGenerate, &generate),
            (Dialect::ChatCompletions, chat),
            (Dialect::Completions, &completions),
        ] {
            check(dialect, BodyForm::Events, stream, said);
        }
        let whole = [
            (
                Dialect::Messages,
                r#"{"id":"m","role":"assistant","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","usage":{"output_tokens":3}}"#,
            ),
            (
                Dialect::Responses,
                r#"{"id":"r","object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"}]}],"usage":{"output_tokens":3}}"#,
            ),
            (
                Dialect::OllamaChat,
                r#"{"model":"m","message":{"role":"assistant","content":"Hello"},"done":true,"done_reason":"stop","eval_count":3}"#,
            ),
            (
                Dialect::OllamaGenerate,
                r#"{"model":"m","response":"Hello","done":true,"done_reason":"stop","eval_count":3}"#,
            ),
            (
                Dialect::ChatCompletions,
                r#"{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"completion_tokens":3}}"#,
            ),
            (
                Dialect::Completions,
                r#"{"id":"c","choices":[{"index":0,"text":"Hello","finish_reason":"stop"}],"usage":{"completion_tokens":3}}"#,
            ),
        ];
        for (dialect, body) in whole {
            check(dialect, BodyForm::Whole, body, said);
        }
    }
}
