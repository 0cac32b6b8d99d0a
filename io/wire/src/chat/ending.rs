//! The last events of a reply in each dialect, and what is added to the reply before them.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;
use serde_json::{Map, Value, json};
use tslp_core::delimiter;
use tslp_core::event::{PartKind, ServerUsage};

use super::dialect::Dialect;
use super::lenient::{Fields as _, value_of};
use super::stream_progress::StreamProgress;

/// The response's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseForm {
    /// A stream: server-sent events, or a line of JSON after the other.
    Stream,
    /// One JSON body.
    Whole,
}

/// Whether an event is of this kind, by its name, or by its data where the server gives none.
pub(super) fn is_named(event: &[u8], kind: &str) -> bool {
    memmem::find_iter(event, kind).any(|at| {
        let before = event[..at].trim_ascii_end();
        before.ends_with(b"event:")
            || before.strip_suffix(b"\"").is_some_and(|before| {
                let name = before.trim_ascii_end().strip_suffix(b":");
                name.is_some_and(|name| name.trim_ascii_end().ends_with(b"\"type\""))
            })
    })
}

/// Whether the events that say what the whole reply was begin with this one. More of it may follow (see [`resumes`]).
pub(super) fn begins(dialect: Dialect, event: &[u8]) -> bool {
    match dialect {
        Dialect::Messages => {
            is_named(event, "content_block_stop") || is_named(event, "message_delta")
        }
        Dialect::Responses => {
            is_named(event, "response.output_text.done") || is_named(event, "response.completed")
        }
        Dialect::OllamaChat | Dialect::OllamaGenerate => {
            memmem::find(event, b"\"done\"").is_some()
                && value_of(event).is_some_and(|json| json["done"] == true)
        }
        Dialect::ChatCompletions | Dialect::Completions => is_last(dialect, event),
    }
}

/// Whether a round's last events begin with this one: it says why the model stopped, or that the stream is over. Most events say neither,
/// and aren't read for it.
fn is_last(dialect: Dialect, event: &[u8]) -> bool {
    let shows = |mark: &[u8]| memmem::find(event, mark).is_some();
    let says_why = |value: &[u8]| {
        let choices = value_of(value).unwrap_or_default();
        let mut choices = choices.list("choices").iter();
        choices.any(|choice| choice.word("finish_reason").is_some())
    };
    (shows(b"[DONE]") || shows(b"\"finish_reason\":\"") || shows(b"\"finish_reason\": \""))
        && values_in(dialect, event)
            .iter()
            .any(|value| **value == b"[DONE]"[..] || says_why(value))
}

/// Whether a block that begins with this event is text; `None` if none begins.
pub(super) fn opens_text(dialect: Dialect, event: &[u8]) -> Option<bool> {
    if dialect != Dialect::Messages || !resumes(dialect, event) {
        return None;
    }
    let data = events(event).into_iter().find_map(|it| it.data)?;
    Some(value_of(&event[data])?["content_block"]["type"] == "text")
}

/// Whether a block or an item begins with an event of this name, in the dialects whose replies have some.
pub(super) fn opens_block(dialect: Dialect, name: &str) -> bool {
    let names = [
        "content_block_start",
        "response.output_item.added",
        "response.content_part.added",
    ];
    !shares_members(dialect) && names.contains(&name)
}

/// Whether an event opens a block or an item of text, and holds none.
pub(super) fn opens_text_block(dialect: Dialect, event: &[u8]) -> bool {
    match dialect {
        Dialect::Messages => opens_text(dialect, event) == Some(true),
        Dialect::Responses => {
            is_named(event, "response.content_part.added")
                || is_named(event, "response.output_item.added")
                    && memmem::find(event, b"\"message\"").is_some()
        }
        _ => false,
    }
}

/// Whether more of the reply begins with this event, after what seemed to be its end.
pub(super) fn resumes(dialect: Dialect, event: &[u8]) -> bool {
    match dialect {
        Dialect::Messages => is_named(event, "content_block_start"),
        Dialect::Responses => {
            is_named(event, "response.output_item.added")
                || is_named(event, "response.content_part.added")
        }
        _ => false,
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
pub(super) fn completed(
    dialect: Dialect,
    form: ResponseForm,
    held: &[u8],
    addition: &Addition<'_>,
) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in pieces(dialect, form, held) {
        let read = piece.data.and_then(|range| value_of(&held[range]));
        let mut json = read.clone();
        if let Some(json) = &mut json {
            complete(dialect, form, json, addition);
        }
        match json.filter(|json| Some(json) != read.as_ref()) {
            Some(json) if form == ResponseForm::Whole => out.extend(json.to_string().into_bytes()),
            Some(json) => out.extend(piece_bytes(dialect, &piece.name, &json)),
            None => out.extend_from_slice(&held[piece.bytes]),
        }
    }
    out
}

fn complete(dialect: Dialect, form: ResponseForm, json: &mut Value, addition: &Addition<'_>) {
    let text = match form {
        ResponseForm::Whole => last_text_of_body(dialect, json),
        ResponseForm::Stream => repeated_text(json),
    };
    if let Some(text) = text {
        let said = text.as_str().unwrap_or_default();
        let said = said.strip_suffix(addition.cut).unwrap_or(said);
        let before = match form {
            ResponseForm::Whole => delimiter::unmarked(said),
            ResponseForm::Stream => Cow::Borrowed(said),
        };
        *text = [&*before, addition.text].concat().into();
    }
    let body = match form {
        ResponseForm::Whole => Some(&mut *json),
        ResponseForm::Stream => json.get_mut("response").filter(|it| it.is_object()),
    };
    if let (Some(body), Some(change)) = (body, addition.changes_body) {
        change(body);
    }
    if let Some(word) = addition.finish_reason {
        // Pieces of the same members say none until the last one.
        let may_follow = form == ResponseForm::Stream && shares_members(dialect);
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

/// The text among a stream's last events that was new with them, and the events without it.
pub(super) fn without_text(dialect: Dialect, held: &[u8]) -> (String, Vec<u8>) {
    let (mut text, mut rest) = (String::new(), Vec::new());
    for piece in pieces(dialect, ResponseForm::Stream, held) {
        let mut json = piece.data.and_then(|range| value_of(&held[range]));
        let place = json.as_mut().and_then(|json| new_text(dialect, json));
        let new = place.and_then(|place| match place.take() {
            Value::String(new) if !new.is_empty() => {
                *place = "".into();
                Some(new)
            }
            _ => None,
        });
        match (new, json) {
            (Some(new), Some(json)) => {
                text.push_str(&new);
                if shares_members(dialect) {
                    rest.extend(piece_bytes(dialect, &piece.name, &json));
                }
            }
            _ => rest.extend_from_slice(&held[piece.bytes]),
        }
    }
    (text, rest)
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
    dialect: Dialect,
    shared: &Map<String, Value>,
    held: &[u8],
    kind: PartKind,
    text: &str,
) -> Vec<u8> {
    let is_thought = kind == PartKind::Reasoning;
    if !shares_members(dialect) {
        let mut ends = pieces(dialect, ResponseForm::Stream, held).into_iter();
        let event = ends.find_map(|end| {
            let json = value_of(&held[end.data?])?;
            text_event(&end.name, &json, text)
        });
        return event.filter(|_| !is_thought).unwrap_or_default();
    }
    let piece = shared_piece(dialect, shared, is_thought, text);
    piece.map_or_else(Vec::new, |piece| piece_bytes(dialect, "", &piece))
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
pub(super) fn text_event(ending: &str, json: &Value, text: &str) -> Option<Vec<u8>> {
    match ending {
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
#[must_use]
pub fn stopped_stream(dialect: Dialect, progress: &StreamProgress, text: &str) -> Vec<u8> {
    let id = progress.reply_id().unwrap_or("tslp-stopped");
    match dialect {
        Dialect::Messages => {
            let mut out = Vec::new();
            if let Some(index) = progress.open_block() {
                let delta = json!({"type": "text_delta", "text": text});
                let piece = json!({"type": "content_block_delta", "index": index, "delta": delta});
                let stop = json!({"type": "content_block_stop", "index": index});
                out.extend(event_bytes("content_block_delta", &piece));
                out.extend(event_bytes("content_block_stop", &stop));
            }
            let delta = json!({"stop_reason": "end_turn", "stop_sequence": null});
            let last =
                json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 0}});
            out.extend(event_bytes("message_delta", &last));
            out.extend(event_bytes(
                "message_stop",
                &json!({"type": "message_stop"}),
            ));
            out
        }
        Dialect::Responses => {
            let item = message_item(id, text);
            let done =
                json!({"type": "response.output_item.done", "output_index": 0, "item": item});
            let response =
                json!({"id": id, "object": "response", "status": "completed", "output": [item]});
            let last = json!({"type": "response.completed", "response": response});
            let mut out = event_bytes("response.output_item.done", &done);
            out.extend(event_bytes("response.completed", &last));
            out
        }
        _ => {
            let shared = match dialect.streams_json_lines() {
                true => json!({"model": ""}),
                false => json!({"id": id, "created": 0, "model": ""}),
            };
            let shared = shared.as_object().cloned().unwrap_or_default();
            let mut last = shared_piece(dialect, &shared, false, text).unwrap_or_default();
            if dialect.streams_json_lines() {
                (last["done"], last["done_reason"]) = (true.into(), "stop".into());
                return piece_bytes(dialect, "", &last);
            }
            last["choices"][0]["finish_reason"] = "stop".into();
            [&piece_bytes(dialect, "", &last)[..], b"data: [DONE]\n\n"].concat()
        }
    }
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
            body.pointer_mut("/choices/0/message/content")
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

/// An event of a stream: its bytes, its name and its data's bytes.
pub(super) struct Event {
    pub(super) bytes: Range<usize>,
    pub(super) name: String,
    pub(super) data: Option<Range<usize>>,
}

pub(super) fn events(held: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut event = Event {
        bytes: 0..0,
        name: String::new(),
        data: None,
    };
    for line in held.split_inclusive(|byte| *byte == b'\n') {
        let start = event.bytes.end;
        event.bytes.end += line.len();
        let said = line.trim_ascii_end();
        if let Some(name) = said.strip_prefix(b"event:") {
            event.name = String::from_utf8_lossy(name.trim_ascii()).into_owned();
        } else if let Some(data) = said.strip_prefix(b"data:") {
            let end = start + said.len();
            event.data = Some(end - data.len()..end);
        } else if said.is_empty() {
            let after = event.bytes.end..event.bytes.end;
            let next = Event {
                bytes: after,
                name: String::new(),
                data: None,
            };
            events.push(std::mem::replace(&mut event, next));
        }
    }
    if !event.bytes.is_empty() {
        events.push(event);
    }
    events
}

/// What a reply consists of: events, lines of JSON, or one body.
pub(super) fn pieces(dialect: Dialect, form: ResponseForm, held: &[u8]) -> Vec<Event> {
    let whole = |bytes: Range<usize>| Event {
        data: Some(bytes.clone()),
        bytes,
        name: String::new(),
    };
    if form == ResponseForm::Whole {
        return vec![whole(0..held.len())];
    }
    if !dialect.streams_json_lines() {
        return events(held);
    }
    let mut start = 0;
    let lines = held.split_inclusive(|byte| *byte == b'\n');
    let lines = lines.map(|line| {
        let bytes = start..start + line.len();
        start = bytes.end;
        whole(bytes)
    });
    lines.collect()
}

pub(super) fn piece_bytes(dialect: Dialect, name: &str, json: &Value) -> Vec<u8> {
    match name {
        _ if dialect.streams_json_lines() => format!("{json}\n").into_bytes(),
        "" => format!("data: {json}\n\n").into_bytes(),
        name => event_bytes(name, json),
    }
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
            let at = |kind: &str, name: &str| json!({"type": kind, "output_index": number, "item_id": item["id"], name: item["arguments"]});
            let between = vec![
                at("response.function_call_arguments.delta", "delta"),
                at("response.function_call_arguments.done", "arguments"),
            ];
            ("arguments", json!(""), between)
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

/// The values in an event: lines of data that are some, and those that are one together. What can't be read stands for itself.
pub(super) fn values_in(dialect: Dialect, event: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let is_line = dialect.streams_json_lines();
    let event = event.strip_prefix(b"\xef\xbb\xbf").unwrap_or(event);
    let lines = event.split(move |byte| *byte == b'\n' || !is_line && *byte == b'\r');
    let lines = lines.filter_map(move |line| match is_line {
        true => Some(line),
        false => line.strip_prefix(b"data:"),
    });
    let mut values: Vec<Cow<'_, [u8]>> = Vec::new();
    let mut open: Vec<u8> = Vec::new();
    let lines = lines.map(<[u8]>::trim_ascii);
    for line in lines.filter(|line| !line.is_empty()) {
        let is_one = is_line || line == b"[DONE]" || open.is_empty() && value_of(line).is_some();
        if is_one {
            values.push(Cow::Borrowed(line));
        } else {
            open.extend_from_slice(line);
            open.push(b'\n');
        }
    }
    if !open.is_empty() {
        values.push(Cow::Owned(open));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::super::reply::ReplyDecoder;
    use super::super::rounds::ResponseRounds;
    use super::*;

    /// What a client reads of a reply that ends with a line.
    fn check(dialect: Dialect, form: ResponseForm, reply: &str, expected: &str) {
        for piece in [1, 7, reply.len()] {
            let mut rounds = ResponseRounds::new(form, dialect);
            let mut read = Vec::new();
            for bytes in reply.as_bytes().chunks(piece) {
                read.extend(rounds.push(bytes));
            }
            read.extend(rounds.say_for_model(" [tslp] STALE"));
            read.extend(rounds.last_bytes());
            let mut decoder = ReplyDecoder::new(dialect);
            let mut said = decoder.push(&read).text;
            said += &decoder.end_message().text;
            assert_eq!(said, expected, "{}", String::from_utf8_lossy(&read));
            assert!(decoder.is_finished(), "{dialect:?}");
            // Another round goes on in the same reply, whatever the pieces.
            let mut rounds = ResponseRounds::new(form, dialect);
            let mut read = rounds.push(reply.as_bytes());
            read.extend(rounds.say_for_model(" I "));
            read.extend(rounds.next_round());
            for bytes in reply.as_bytes().chunks(piece) {
                read.extend(rounds.push(bytes));
            }
            read.extend(rounds.last_bytes());
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
            let mut rounds = ResponseRounds::new(form, dialect);
            let mut read = rounds.push(reply.as_bytes());
            read.extend(rounds.last_bytes());
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
            check(dialect, ResponseForm::Stream, stream, said);
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
            check(dialect, ResponseForm::Whole, body, said);
        }
    }
}
