//! The last events of a reply in the dialects of chats whose replies aren't continued, and a text that is added to the reply before
//! them.

use std::ops::Range;

use memchr::memmem;
use serde_json::{Value, json};

use super::dialect::Dialect;
use super::stream_progress::StreamProgress;

/// The response's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseForm {
    /// A stream: server-sent events, or a line of JSON after the other.
    Stream,
    /// One JSON body.
    Whole,
}

/// Whether the events that say what the whole reply was begin with this one. More of it may follow (see [`resumes`]).
pub(super) fn begins(dialect: Dialect, event: &[u8]) -> bool {
    let shows = |mark: &str| memmem::find(event, mark.as_bytes()).is_some();
    match dialect {
        Dialect::Messages => shows("event: content_block_stop") || shows("event: message_delta"),
        Dialect::Responses => {
            shows("event: response.output_text.done") || shows("event: response.completed")
        }
        Dialect::OllamaChat => json_of(event).is_some_and(|json| json["done"] == true),
        Dialect::ChatCompletions | Dialect::Completions | Dialect::OllamaGenerate => false,
    }
}

/// Whether a block that begins with this event is text; `None` if none begins.
pub(super) fn opens_text(dialect: Dialect, event: &[u8]) -> Option<bool> {
    if dialect != Dialect::Messages || !resumes(dialect, event) {
        return None;
    }
    let data = events(event).into_iter().find_map(|it| it.data)?;
    Some(json_of(&event[data])?["content_block"]["type"] == "text")
}

/// Whether more of the reply begins with this event, after what seemed to be its end.
pub(super) fn resumes(dialect: Dialect, event: &[u8]) -> bool {
    let shows = |mark: &str| memmem::find(event, mark.as_bytes()).is_some();
    match dialect {
        Dialect::Messages => shows("event: content_block_start"),
        Dialect::Responses => {
            shows("event: response.output_item.added")
                || shows("event: response.content_part.added")
        }
        _ => false,
    }
}

/// The reply's last events, or its whole body, with a text after the model's; `None` where the reply has no text.
pub(super) fn with_text(
    dialect: Dialect,
    form: ResponseForm,
    held: &[u8],
    text: &str,
) -> Option<Vec<u8>> {
    if form == ResponseForm::Whole || dialect == Dialect::OllamaChat {
        // Ollama's last line has the shape of a whole body.
        let end = memchr::memchr(b'\n', held).filter(|_| form == ResponseForm::Stream);
        let (body, rest) = held.split_at(end.unwrap_or(held.len()));
        let mut json = json_of(body)?;
        append(last_text_of_body(dialect, &mut json)?, text)?;
        return Some([json.to_string().as_bytes(), rest].concat());
    }
    let mut out = Vec::new();
    let mut is_said = false;
    for Event { bytes, name, data } in events(held) {
        let Some(mut json) = data.and_then(|range| json_of(&held[range])) else {
            out.extend_from_slice(&held[bytes]);
            continue;
        };
        if !is_said {
            out.extend(text_event(&name, &json, text)?);
            is_said = true;
        }
        let changed = match dialect {
            Dialect::Responses => append_to_event(&mut json, text),
            _ => None,
        };
        match changed {
            Some(()) => out.extend(event_bytes(&name, &json)),
            None => out.extend_from_slice(&held[bytes]),
        }
    }
    is_said.then_some(out)
}

/// A piece of text, before the event that ends the text.
fn text_event(ending: &str, json: &Value, text: &str) -> Option<Vec<u8>> {
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
        Dialect::ChatCompletions | Dialect::Completions => {
            let mut choice = json!({"index": 0, "finish_reason": "stop"});
            let object = if dialect == Dialect::Completions {
                choice["text"] = text.into();
                "text_completion"
            } else {
                choice["delta"] = json!({ "content": text });
                "chat.completion.chunk"
            };
            let piece =
                json!({"id": id, "object": object, "created": 0, "model": "", "choices": [choice]});
            format!("data: {piece}\n\ndata: [DONE]\n\n").into_bytes()
        }
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
        Dialect::OllamaChat => {
            let message = json!({"role": "assistant", "content": text});
            let line =
                json!({"model": "", "message": message, "done": true, "done_reason": "stop"});
            format!("{line}\n").into_bytes()
        }
        Dialect::OllamaGenerate => {
            let line = json!({"model": "", "response": text, "done": true, "done_reason": "stop"});
            format!("{line}\n").into_bytes()
        }
    }
}

/// A message of one text as an item of a response.
pub(super) fn message_item(id: &str, text: &str) -> Value {
    let part = json!({"type": "output_text", "text": text, "annotations": []});
    json!({"id": format!("msg_{id}"), "type": "message", "role": "assistant", "status": "completed", "content": [part]})
}

/// Adds the text to what one of the last events of a response repeats of it.
fn append_to_event(json: &mut Value, text: &str) -> Option<()> {
    match json["type"].as_str()? {
        "response.output_text.done" => append(&mut json["text"], text),
        "response.content_part.done" => append(&mut json["part"]["text"], text),
        "response.output_item.done" => append(last_text(&mut json["item"]["content"])?, text),
        "response.completed" => append(
            last_text_of_body(Dialect::Responses, &mut json["response"])?,
            text,
        ),
        _ => None,
    }
}

fn append(place: &mut Value, text: &str) -> Option<()> {
    let whole = [place.as_str()?, text].concat();
    *place = whole.into();
    Some(())
}

/// The model's last text in a whole body.
fn last_text_of_body(dialect: Dialect, body: &mut Value) -> Option<&mut Value> {
    match dialect {
        Dialect::Messages => last_text(&mut body["content"]),
        Dialect::Responses => {
            let items = body["output"].as_array_mut()?.iter_mut().rev();
            let mut messages = items.filter(|item| item["type"] == "message");
            last_text(&mut messages.next()?["content"])
        }
        Dialect::OllamaChat => Some(&mut body["message"]["content"]),
        Dialect::ChatCompletions | Dialect::Completions | Dialect::OllamaGenerate => None,
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

pub(super) fn event_bytes(name: &str, json: &Value) -> Vec<u8> {
    format!("event: {name}\ndata: {json}\n\n").into_bytes()
}

pub(super) fn json_of(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes).ok()
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
            // What isn't told anything is passed on byte for byte.
            let mut rounds = ResponseRounds::new(form, dialect);
            let mut read = rounds.push(reply.as_bytes());
            read.extend(rounds.last_bytes());
            assert_eq!(String::from_utf8_lossy(&read), reply);
        }
    }

    #[test]
    fn a_line_follows_the_text_in_each_chats_dialect() {
        let messages = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[]}}\n\n\
            event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n\
            event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
            event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
            event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n\
            event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n\
            event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n\
            event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
        let responses = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n\
            event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"i\",\"output_index\":0,\"content_index\":0,\"delta\":\"Hello\"}\n\n\
            event: response.output_text.done\ndata: {\"type\":\"response.output_text.done\",\"item_id\":\"i\",\"output_index\":0,\"content_index\":0,\"text\":\"Hello\"}\n\n\
            event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hello\"}]}}\n\n\
            event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hello\"}]}]}}\n\n";
        let ollama = "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"Hel\"},\"done\":false}\n\
            {\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"lo\"},\"done\":true,\"done_reason\":\"stop\"}\n";
        let said = "Hello [tslp] STALE";
        for (dialect, stream) in [
            (Dialect::Messages, messages),
            (Dialect::Responses, responses),
            (Dialect::OllamaChat, ollama),
        ] {
            check(dialect, ResponseForm::Stream, stream, said);
        }
        let whole = [
            (
                Dialect::Messages,
                r#"{"id":"m","role":"assistant","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}"#,
            ),
            (
                Dialect::Responses,
                r#"{"id":"r","object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"}]}]}"#,
            ),
            (
                Dialect::OllamaChat,
                r#"{"model":"m","message":{"role":"assistant","content":"Hello"},"done":true,"done_reason":"stop"}"#,
            ),
        ];
        for (dialect, body) in whole {
            check(dialect, ResponseForm::Whole, body, said);
        }
    }
}
