//! A reply in the form of each dialect.

use serde_json::{Map, Value, json};
use tslp_wire::chat::dialect::Dialect;

use crate::reply::{Call, Change, Encoding, Odd, Reply};

/// Characters of a piece of text, and of a call's arguments.
const PIECE: usize = 24;
const ARGUMENTS_PIECE: usize = 48;

/// In front of a key that is a second one of its name.
const TWICE: char = '\u{1}';

/// An event of a stream.
enum Event {
    /// JSON, in a line or as an event's data.
    Data(Value),
    /// The same, under the name that its `type` gives.
    Named(Value),
    /// Bytes.
    Raw(String),
}

/// The body of a reply, an event each, or all of it as one; and its media type.
#[must_use]
pub fn encoded(dialect: Dialect, streams: bool, reply: &Reply) -> (&'static str, Vec<Vec<u8>>) {
    let is_lines = matches!(dialect, Dialect::OllamaChat | Dialect::OllamaGenerate);
    let media = match (streams, is_lines) {
        (false, _) => "application/json",
        (true, true) => "application/x-ndjson",
        (true, false) => "text/event-stream",
    };
    let events = match (&reply.body, streams) {
        (Some(body), _) => vec![Event::Raw(body.clone())],
        (None, true) => stream(dialect, reply),
        (None, false) => vec![Event::Data(whole(dialect, reply))],
    };
    let count = events.len();
    let written = events.into_iter().enumerate().map(|(at, event)| {
        let is_here = |odd: &&Odd| {
            let wanted = odd
                .event
                .map(|it| if it < 0 { count as i64 + it } else { it });
            wanted.is_none_or(|it| it == at as i64)
        };
        let odd: Vec<&Odd> = reply.odd.iter().filter(is_here).collect();
        written(event, streams && !is_lines, streams, &odd)
    });
    let written: Vec<String> = written.collect();
    (media, encode(reply.encoding, written))
}

/// The pieces, encoded: one stream of bytes, however it is cut.
fn encode(encoding: Encoding, pieces: Vec<String>) -> Vec<Vec<u8>> {
    use std::io::Write as _;
    let level = flate2::Compression::fast();
    let all = || pieces.concat().into_bytes();
    match encoding {
        Encoding::Plain => pieces.into_iter().map(String::into_bytes).collect(),
        Encoding::Mark => [vec!["\u{feff}".to_owned()], pieces]
            .concat()
            .into_iter()
            .map(String::into_bytes)
            .collect(),
        Encoding::Gzip => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), level);
            let _ = out.write_all(&all());
            vec![out.finish().unwrap_or_default()]
        }
        Encoding::Deflate => {
            let mut out = flate2::write::ZlibEncoder::new(Vec::new(), level);
            let _ = out.write_all(&all());
            vec![out.finish().unwrap_or_default()]
        }
    }
}

fn written(event: Event, is_sse: bool, streams: bool, odd: &[&Odd]) -> String {
    let (name, mut value) = match event {
        Event::Raw(text) => return with_bytes(text, odd),
        Event::Data(value) => (None, value),
        Event::Named(value) => (value["type"].as_str().map(str::to_owned), value),
    };
    for odd in odd {
        change(&mut value, odd);
    }
    let mut text = value.to_string().replace("\"\\u0001", "\"");
    if is_sse {
        let lines = odd.iter().find_map(|odd| match odd.change {
            Change::Lines(lines) => Some(lines.max(1)),
            _ => None,
        });
        // A line may end wherever JSON may have a blank: here between two fields, as far as texts hold no such signs.
        let parts: Vec<&str> = match lines {
            Some(lines) => text.splitn(lines, ",\"").collect(),
            None => vec![&*text],
        };
        let data = parts.join(",\ndata: \"");
        text = match &name {
            Some(name) => format!("event: {name}\ndata: {data}\n\n"),
            None => format!("data: {data}\n\n"),
        };
    } else if streams {
        text.push('\n');
    }
    with_bytes(text, odd)
}

fn with_bytes(mut text: String, odd: &[&Odd]) -> String {
    for odd in odd {
        match &odd.change {
            Change::Bytes(bytes) => text.clone_from(bytes),
            Change::Before(bytes) => text.insert_str(0, bytes),
            Change::Replace(from, to) => text = text.replace(from, to),
            _ => {}
        }
    }
    text
}

/// Changes the field that the oddity names, if the event has it, or its parent where it is set.
fn change(event: &mut Value, odd: &Odd) {
    let Some((parent, key)) = odd.field.rsplit_once('/') else {
        return;
    };
    let is_there = event.pointer(&odd.field).is_some();
    let Some(parent) = event.pointer_mut(parent) else {
        return;
    };
    match (parent, &odd.change) {
        (Value::Object(members), Change::Set(value)) => {
            members.insert(key.to_owned(), value.clone());
        }
        (Value::Object(members), Change::Drop(true)) => {
            members.shift_remove(key);
        }
        (Value::Object(members), Change::Twice(first)) if is_there => {
            let again = [(format!("{TWICE}{key}"), first.clone())];
            let all = again.into_iter().chain(std::mem::take(members));
            *members = all.collect();
        }
        (Value::Array(items), change) => {
            let place = key.parse::<usize>().ok();
            let Some(item) = place.and_then(|at| items.get_mut(at)) else {
                return;
            };
            match change {
                Change::Set(value) => *item = value.clone(),
                Change::Drop(true) => {
                    items.remove(place.unwrap_or_default());
                }
                _ => {}
            }
        }
        _ => {}
    }
}

fn pieces(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let pieces = characters.chunks(size.max(1));
    pieces.map(|piece| piece.iter().collect()).collect()
}

/// A JSON object with more members.
fn with(mut value: Value, more: Value) -> Value {
    if let (Value::Object(members), Value::Object(more)) = (&mut value, more) {
        members.extend(more);
    }
    value
}

impl Reply {
    fn named(&self) -> &str {
        self.model.as_deref().unwrap_or("scripted")
    }

    fn text_pieces(&self) -> Vec<String> {
        pieces(&self.text, self.piece.unwrap_or(PIECE))
    }

    fn thought_pieces(&self) -> Vec<String> {
        pieces(&self.thoughts, self.piece.unwrap_or(PIECE))
    }

    fn argument_pieces(&self, text: &str) -> Vec<String> {
        pieces(text, self.piece.unwrap_or(ARGUMENTS_PIECE))
    }

    /// Why it ends: what its script says, or one of these, without and with calls.
    fn finish_or(&self, words: [&str; 2]) -> Value {
        match &self.finish {
            Some(word) if word.is_empty() => Value::Null,
            Some(word) => word.as_str().into(),
            None => words[usize::from(!self.calls.is_empty())].into(),
        }
    }

    fn id(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.number)
    }

    fn call_id(&self, at: usize, call: &Call) -> String {
        let own = || format!("call_{}_{at}", self.number);
        call.id.clone().unwrap_or_else(own)
    }

    /// The tokens, under these names.
    fn figures(&self, names: [&str; 2]) -> Map<String, Value> {
        let pairs = names.into_iter().zip(self.usage.into_iter().flatten());
        pairs
            .map(|(name, tokens)| (name.to_owned(), tokens.into()))
            .collect()
    }
}

fn whole(dialect: Dialect, reply: &Reply) -> Value {
    match dialect {
        Dialect::ChatCompletions => {
            let content = if reply.text.is_empty() && !reply.calls.is_empty() {
                Value::Null
            } else {
                reply.text.as_str().into()
            };
            let mut message = json!({"role": "assistant", "content": content});
            if !reply.thoughts.is_empty() {
                message["reasoning_content"] = reply.thoughts.as_str().into();
            }
            if !reply.calls.is_empty() {
                message["tool_calls"] = chat_calls(reply, false).into();
            }
            let finish = reply.finish_or(["stop", "tool_calls"]);
            let choice = json!({"index": 0, "message": message, "finish_reason": finish});
            with(
                chat_head(reply, "chat.completion", vec![choice]),
                chat_usage(reply),
            )
        }
        Dialect::Completions => {
            let finish = reply.finish_or(["stop", "stop"]);
            let choice = json!({"index": 0, "text": reply.text, "finish_reason": finish});
            with(
                chat_head(reply, "text_completion", vec![choice]),
                chat_usage(reply),
            )
        }
        Dialect::Messages => {
            let stop = reply.finish_or(["end_turn", "tool_use"]);
            message(reply, message_blocks(reply), stop, message_usage(reply))
        }
        Dialect::Responses => response(reply, "completed", response_items(reply)),
        Dialect::OllamaChat | Dialect::OllamaGenerate => {
            let said = ollama_said(dialect, reply, &reply.text, &reply.thoughts, true);
            with(said, ollama_end(reply))
        }
    }
}

fn stream(dialect: Dialect, reply: &Reply) -> Vec<Event> {
    match dialect {
        Dialect::ChatCompletions | Dialect::Completions => chat_stream(dialect, reply),
        Dialect::Messages => message_stream(reply),
        Dialect::Responses => response_stream(reply),
        Dialect::OllamaChat | Dialect::OllamaGenerate => {
            let thoughts = reply.thought_pieces().into_iter();
            let thoughts = thoughts.map(|it| ollama_said(dialect, reply, "", &it, false));
            let texts = reply.text_pieces().into_iter();
            let texts = texts.map(|it| ollama_said(dialect, reply, &it, "", false));
            let mut lines: Vec<Value> = thoughts.chain(texts).collect();
            if !reply.calls.is_empty() {
                lines.push(ollama_said(dialect, reply, "", "", true));
            }
            let last = ollama_said(dialect, reply, "", "", false);
            lines.push(with(last, ollama_end(reply)));
            lines.into_iter().map(Event::Data).collect()
        }
    }
}

fn chat_head(reply: &Reply, object: &str, choices: Vec<Value>) -> Value {
    let id = reply.id("chatcmpl-");
    json!({"id": id, "object": object, "created": 1, "model": reply.named(), "choices": choices})
}

fn chat_usage(reply: &Reply) -> Value {
    let Some([read, written]) = reply.usage else {
        return Value::Null;
    };
    json!({"usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}})
}

fn chat_calls(reply: &Reply, has_index: bool) -> Vec<Value> {
    let calls = reply.calls.iter().enumerate().map(|(at, call)| {
        let function = json!({"name": call.name, "arguments": call.text()});
        let id = reply.call_id(at, call);
        let known = json!({"id": id, "type": "function", "function": function});
        let index = call.index.unwrap_or(at as u64);
        if has_index {
            with(json!({"index": index}), known)
        } else {
            known
        }
    });
    calls.collect()
}

fn chat_stream(dialect: Dialect, reply: &Reply) -> Vec<Event> {
    let is_chat = dialect == Dialect::ChatCompletions;
    let object = if is_chat {
        "chat.completion.chunk"
    } else {
        "text_completion"
    };
    let chunk = |delta: Value, finish: Value| {
        let choice = match is_chat {
            true => json!({"index": 0, "delta": delta, "finish_reason": finish}),
            false => json!({"index": 0, "text": delta, "finish_reason": finish}),
        };
        Event::Data(chat_head(reply, object, vec![choice]))
    };
    let mut events = Vec::new();
    if is_chat {
        events.push(chunk(
            json!({"role": "assistant", "content": ""}),
            Value::Null,
        ));
        let thoughts = reply.thought_pieces().into_iter();
        events.extend(thoughts.map(|it| chunk(json!({"reasoning_content": it}), Value::Null)));
    }
    let texts = reply.text_pieces().into_iter();
    events.extend(texts.map(|it| match is_chat {
        true => chunk(json!({"content": it}), Value::Null),
        false => chunk(it.into(), Value::Null),
    }));
    for mut call in chat_calls(reply, true).into_iter().filter(|_| is_chat) {
        let arguments = call["function"]["arguments"].take();
        let index = call["index"].clone();
        call["function"]["arguments"] = "".into();
        events.push(chunk(json!({"tool_calls": [call]}), Value::Null));
        let pieces = reply.argument_pieces(arguments.as_str().unwrap_or_default());
        events.extend(pieces.into_iter().map(|it| {
            let more = json!({"index": index, "function": {"arguments": it}});
            chunk(json!({"tool_calls": [more]}), Value::Null)
        }));
    }
    let finish = reply.finish_or(["stop", if is_chat { "tool_calls" } else { "stop" }]);
    events.push(match is_chat {
        true => chunk(json!({}), finish),
        false => chunk("".into(), finish),
    });
    if reply.usage.is_some() {
        let head = chat_head(reply, object, Vec::new());
        events.push(Event::Data(with(head, chat_usage(reply))));
    }
    events.push(Event::Raw("data: [DONE]\n\n".into()));
    events
}

fn message(reply: &Reply, blocks: Vec<Value>, stop: Value, usage: Value) -> Value {
    json!({"id": reply.id("msg_"), "type": "message", "role": "assistant", "model": reply.named(),
        "content": blocks, "stop_reason": stop, "stop_sequence": null, "usage": usage})
}

fn message_usage(reply: &Reply) -> Value {
    reply.figures(["input_tokens", "output_tokens"]).into()
}

fn message_blocks(reply: &Reply) -> Vec<Value> {
    let mut blocks = Vec::new();
    if !reply.thoughts.is_empty() {
        blocks.push(json!({"type": "thinking", "thinking": reply.thoughts, "signature": ""}));
    }
    if !reply.text.is_empty() || reply.calls.is_empty() {
        blocks.push(json!({"type": "text", "text": reply.text}));
    }
    blocks.extend(reply.calls.iter().enumerate().map(|(at, call)| {
        let input = match &call.arguments {
            Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into()),
            arguments => arguments.clone(),
        };
        json!({"type": "tool_use", "id": reply.call_id(at, call), "name": call.name, "input": input})
    }));
    blocks
}

fn message_stream(reply: &Reply) -> Vec<Event> {
    let mut usage = reply.figures(["input_tokens", "output_tokens"]);
    if usage.contains_key("output_tokens") {
        usage.insert("output_tokens".into(), 1.into());
    }
    let start = message(reply, Vec::new(), Value::Null, usage.into());
    let mut events = vec![json!({"type": "message_start", "message": start})];
    for (at, block) in message_blocks(reply).into_iter().enumerate() {
        let call = reply.calls.iter().enumerate().find(|(at, call)| {
            block["type"] == "tool_use" && block["id"] == reply.call_id(*at, call)
        });
        let (begun, kind, member, pieces) = match (&block["type"], call) {
            (_, Some((_, call))) => {
                let begun = with(block.clone(), json!({"input": {}}));
                (
                    begun,
                    "input_json_delta",
                    "partial_json",
                    reply.argument_pieces(&call.text()),
                )
            }
            (kind, None) if kind == "thinking" => {
                let begun = with(block.clone(), json!({"thinking": ""}));
                (begun, "thinking_delta", "thinking", reply.thought_pieces())
            }
            _ => {
                let begun = json!({"type": "text", "text": ""});
                (begun, "text_delta", "text", reply.text_pieces())
            }
        };
        events.push(json!({"type": "content_block_start", "index": at, "content_block": begun}));
        events.extend(pieces.into_iter().map(|piece| {
            let delta = json!({"type": kind, member: piece});
            json!({"type": "content_block_delta", "index": at, "delta": delta})
        }));
        events.push(json!({"type": "content_block_stop", "index": at}));
    }
    let stop =
        json!({"stop_reason": reply.finish_or(["end_turn", "tool_use"]), "stop_sequence": null});
    let written = reply
        .usage
        .map(|[_, written]| json!({"output_tokens": written}));
    events.push(json!({"type": "message_delta", "delta": stop, "usage": written.unwrap_or_else(|| json!({}))}));
    events.push(json!({"type": "message_stop"}));
    events.into_iter().map(Event::Named).collect()
}

fn response(reply: &Reply, status: &str, items: Vec<Value>) -> Value {
    let usage = match (status, reply.usage) {
        ("completed", Some([read, written])) => json!({
            "input_tokens": read, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": written, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written}),
        _ => Value::Null,
    };
    json!({"id": reply.id("resp_"), "object": "response", "created_at": 1, "status": status, "model": reply.named(),
        "output": items, "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "usage": usage})
}

fn response_items(reply: &Reply) -> Vec<Value> {
    let mut items = Vec::new();
    if !reply.thoughts.is_empty() {
        let part = json!({"type": "reasoning_text", "text": reply.thoughts});
        items.push(
            json!({"id": reply.id("rs_"), "type": "reasoning", "summary": [], "content": [part]}),
        );
    }
    if !reply.text.is_empty() || reply.calls.is_empty() {
        let part = json!({"type": "output_text", "text": reply.text, "annotations": []});
        items.push(json!({"id": reply.id("msg_"), "type": "message", "role": "assistant", "status": "completed",
            "content": [part]}));
    }
    items.extend(reply.calls.iter().enumerate().map(|(at, call)| {
        let id = reply.call_id(at, call);
        let item = json!({"id": format!("fc_{id}"), "call_id": id, "name": call.name, "status": "completed"});
        match reply.custom.contains(&call.name) {
            true => with(item, json!({"type": "custom_tool_call", "input": call.arguments["input"]})),
            false => with(item, json!({"type": "function_call", "arguments": call.text()})),
        }
    }));
    items
}

fn response_stream(reply: &Reply) -> Vec<Event> {
    let items = response_items(reply);
    let mut events = vec![
        json!({"type": "response.created", "response": response(reply, "in_progress", Vec::new())}),
    ];
    for (at, item) in items.iter().enumerate() {
        let kind = item["type"].as_str().unwrap_or_default();
        let (member, said, pieces) = match kind {
            "message" => ("content", "output_text", reply.text_pieces()),
            "reasoning" => ("content", "reasoning_text", reply.thought_pieces()),
            "custom_tool_call" => {
                let text = item["input"].as_str().unwrap_or_default();
                (
                    "input",
                    "custom_tool_call_input",
                    reply.argument_pieces(text),
                )
            }
            _ => {
                let text = item["arguments"].as_str().unwrap_or_default();
                (
                    "arguments",
                    "function_call_arguments",
                    reply.argument_pieces(text),
                )
            }
        };
        let is_said = member == "content";
        let mut place = json!({"output_index": at, "item_id": item["id"]});
        if is_said {
            place["content_index"] = 0.into();
        }
        let event = |kind: &str, more: Value| {
            with(
                with(json!({"type": format!("response.{kind}")}), place.clone()),
                more,
            )
        };
        let mut begun = item.clone();
        begun[member] = if is_said { json!([]) } else { "".into() };
        if item.get("status").is_some() {
            begun["status"] = "in_progress".into();
        }
        events
            .push(json!({"type": "response.output_item.added", "output_index": at, "item": begun}));
        let part = &item["content"][0];
        if is_said {
            let begun = with(part.clone(), json!({"text": ""}));
            events.push(event("content_part.added", json!({"part": begun})));
        }
        let deltas = pieces.into_iter();
        events.extend(deltas.map(|it| event(&format!("{said}.delta"), json!({"delta": it}))));
        let done = match is_said {
            true => json!({"text": part["text"]}),
            false => json!({member: item[member]}),
        };
        events.push(event(&format!("{said}.done"), done));
        if is_said {
            events.push(event("content_part.done", json!({"part": part})));
        }
        events.push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
    }
    let status = match reply.finish.as_deref() {
        None | Some("") => "completed",
        Some(status) => status,
    };
    let last = response(reply, status, items);
    events.push(json!({"type": format!("response.{status}"), "response": last}));
    let numbered = events.into_iter().enumerate();
    numbered
        .map(|(at, event)| Event::Named(with(event, json!({"sequence_number": at}))))
        .collect()
}

fn ollama_said(dialect: Dialect, reply: &Reply, text: &str, thoughts: &str, calls: bool) -> Value {
    let head = json!({"model": reply.named(), "created_at": "2024-01-01T00:00:00Z"});
    if dialect == Dialect::OllamaGenerate {
        let mut said = json!({"response": text, "done": false});
        if !thoughts.is_empty() {
            said["thinking"] = thoughts.into();
        }
        return with(head, said);
    }
    let mut message = json!({"role": "assistant", "content": text});
    if !thoughts.is_empty() {
        message["thinking"] = thoughts.into();
    }
    if calls && !reply.calls.is_empty() {
        let calls = reply.calls.iter().map(|call| {
            let arguments = match &call.arguments {
                Value::String(text) => {
                    serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into())
                }
                arguments => arguments.clone(),
            };
            json!({"function": {"name": call.name, "arguments": arguments}})
        });
        message["tool_calls"] = calls.collect();
    }
    with(head, json!({"message": message, "done": false}))
}

fn ollama_end(reply: &Reply) -> Value {
    let figures = reply.figures(["prompt_eval_count", "eval_count"]);
    let times = json!({"total_duration": 1, "load_duration": 1, "prompt_eval_duration": 1, "eval_duration": 1});
    let end = json!({"done": true, "done_reason": reply.finish_or(["stop", "stop"])});
    with(
        with(end, figures.into()),
        if reply.usage.is_some() {
            times
        } else {
            Value::Null
        },
    )
}
