//! What the official SDKs make of a reply's bytes: small ports of how they join a stream, with their quirks. `snapshots/agents/oracle.py`
//! asks the SDKs themselves.

use std::mem::take;

use serde_json::{Value, json};
use tslp_wire::chat::dialect::Dialect;

/// What a reader makes of a reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    pub(crate) text: String,
    /// Names and arguments, these as they were joined.
    pub(crate) calls: Vec<(String, String)>,
    /// Why it ended.
    pub(crate) end: Value,
    /// What the reader fails with.
    pub(crate) error: Option<&'static str>,
}

/// A reply as it came.
pub(crate) struct Body<'b> {
    pub(crate) dialect: Dialect,
    pub(crate) streams: bool,
    pub(crate) bytes: &'b [u8],
    /// Whether its framing says that it is all there.
    pub(crate) is_whole: bool,
}

const BROKEN: &str = "the connection broke off";
const NO_JSON: &str = "no JSON";
const UNFIT: &str = "it isn't of the reader's types";

type Read = fn(&mut Reading, &Body) -> Result<(), &'static str>;

/// Every reader of the dialect.
pub(crate) fn readings(body: &Body) -> Vec<(&'static str, Reading)> {
    let readers: &[(&'static str, Read)] = match (body.dialect, body.streams) {
        (Dialect::ChatCompletions, true) => {
            &[("by index", chat_by_index), ("AI SDK", chat_by_ai_sdk)]
        }
        (Dialect::ChatCompletions, false) => &[("whole", chat_whole)],
        (Dialect::Completions, true) => &[("pieces", completions)],
        (Dialect::Completions, false) => &[("whole", completion)],
        (Dialect::Messages, true) => &[
            ("MessageStream", message_snapshot),
            ("by index", message_by_index),
        ],
        (Dialect::Messages, false) => &[("whole", message_whole)],
        (Dialect::Responses, true) => &[
            ("items", response_items),
            ("last", response_last),
            ("pieces", response_pieces),
        ],
        (Dialect::Responses, false) => &[("whole", response_whole)],
        (Dialect::OllamaChat | Dialect::OllamaGenerate, true) => &[("lines", ollama_lines)],
        (Dialect::OllamaChat | Dialect::OllamaGenerate, false) => &[("whole", ollama_whole)],
    };
    let read = |(name, read): &(&'static str, Read)| {
        let mut said = Reading::default();
        let result = read(&mut said, body);
        let broken = (!body.is_whole).then_some(BROKEN);
        // A stream's reader meets what is wrong with an event before it meets the break.
        said.error = if body.streams {
            result.err().or(broken)
        } else {
            broken.or(result.err())
        };
        (*name, said)
    };
    readers.iter().map(read).collect()
}

/// JSON as Python and JavaScript read it: numbers may be none, or too large, and halves of pairs stand alone.
fn json_of(text: &str) -> Result<Value, &'static str> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_text = false;
    while let Some(sign) = rest.chars().next() {
        let mut taken = sign.len_utf8();
        let written = &rest[..taken];
        if is_text && sign == '\\' {
            taken = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
            let unit = |at: usize| {
                let digits = rest.get(at..at + 6)?.strip_prefix("\\u")?;
                u32::from_str_radix(digits, 16).ok()
            };
            match (unit(0), unit(6)) {
                (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => taken = 12,
                (Some(0xd800..=0xdfff), _) => {
                    plain.push('\u{fffd}');
                    rest = &rest[6..];
                    continue;
                }
                _ => {}
            }
            plain.push_str(&rest[..taken]);
        } else if !is_text && (sign == '-' || sign.is_ascii_digit() || sign == 'N' || sign == 'I') {
            let end = rest.find(|it: char| !(it.is_ascii_alphanumeric() || "+-.".contains(it)));
            taken = end.unwrap_or(rest.len());
            let number = &rest[..taken];
            let is_none = ["NaN", "Infinity", "-Infinity"].contains(&number);
            let is_large = number.parse::<f64>().is_ok_and(f64::is_infinite);
            plain.push_str(if is_none || is_large { "null" } else { number });
        } else {
            is_text ^= sign == '"';
            plain.push_str(written);
        }
        rest = &rest[taken..];
    }
    serde_json::from_str(&plain).map_err(|_| NO_JSON)
}

/// A server-sent event.
#[derive(Default)]
struct Event {
    name: Option<String>,
    data: String,
}

/// Which events of a stream an SDK hands on: those of Python also such as have no data, but anything else.
fn events(body: &Body, is_python: bool) -> Vec<Event> {
    let text = String::from_utf8_lossy(body.bytes);
    let text = match is_python {
        true => &*text,
        // A mark is no text, and a last `\r` waits for a `\n`.
        false => text.strip_prefix('\u{feff}').unwrap_or(&text),
    };
    let text = if is_python {
        text
    } else {
        text.strip_suffix('\r').unwrap_or(text)
    };
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (mut events, mut event, mut data) = (Vec::new(), Event::default(), Vec::new());
    let (mut has_id, mut has_retry) = (false, false);
    // What follows the last line's end is no line: an event without a blank line after it isn't handed on.
    let ended = text.rsplit_once('\n').map_or("", |it| it.0);
    for line in ended.split('\n') {
        if line.is_empty() {
            let is_event = match is_python {
                true => event.name.is_some() || !data.is_empty() || has_id || has_retry,
                false => !data.is_empty(),
            };
            event.data = take(&mut data).join("\n");
            let event = take(&mut event);
            has_retry = false;
            if is_event {
                events.push(event);
            }
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => event.name = Some(value.to_owned()).filter(|it| !it.is_empty()),
            "data" => data.push(value),
            "id" => has_id = true,
            "retry" => has_retry = value.parse::<u64>().is_ok(),
            _ => {}
        }
    }
    events
}

/// The chunks of a stream of OpenAI's, up to one that is an error; then what it fails with.
fn chunks(body: &Body) -> (Vec<Value>, Option<&'static str>) {
    let mut chunks = Vec::new();
    for event in events(body, true) {
        if event.data.starts_with("[DONE]") {
            break;
        }
        match json_of(&event.data) {
            Ok(chunk) if is_true(&chunk["error"]) => return (chunks, Some("APIError")),
            Ok(chunk) => chunks.push(chunk),
            Err(error) => return (chunks, Some(error)),
        }
    }
    (chunks, None)
}

/// As Python and JavaScript take it for a condition.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(it) => *it,
        Value::String(it) => !it.is_empty(),
        Value::Number(it) => it.as_f64() != Some(0.0),
        Value::Array(it) => !it.is_empty(),
        Value::Object(it) => !it.is_empty(),
    }
}

/// A text, or nothing; other JSON is written out, so that it isn't lost sight of.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A list that may be null, but nothing else.
fn list_or_null(value: &Value) -> Result<&[Value], &'static str> {
    match value {
        Value::Null => Ok(&[]),
        Value::Array(items) => Ok(items),
        _ => Err(UNFIT),
    }
}

fn is_object_or_null(value: &Value) -> bool {
    value.is_object() || value.is_null()
}

/// openai-python's chunks, as most clients join them.
fn chat_by_index(said: &mut Reading, body: &Body) -> Result<(), &'static str> {
    let (chunks, error) = chunks(body);
    let mut calls: Vec<(Value, (String, String))> = Vec::new();
    let mut legacy = (String::new(), String::new());
    let join = || {
        for chunk in chunks {
            if !chunk.is_object() {
                return Err(UNFIT);
            }
            let Some(choice) = list(&chunk["choices"]).first() else {
                continue;
            };
            if is_true(&choice["finish_reason"]) {
                said.end = choice["finish_reason"].clone();
            }
            let delta = &choice["delta"];
            said.text += &text_of(&delta["content"]);
            for piece in list_or_null(&delta["tool_calls"])? {
                // 0 and 0.0 are the same key.
                let index = match piece["index"].as_f64() {
                    Some(number) => json!(number),
                    None => piece["index"].clone(),
                };
                let at = calls.iter().position(|it| it.0 == index);
                let at = at.unwrap_or_else(|| {
                    calls.push((index, Default::default()));
                    calls.len() - 1
                });
                let call = &mut calls[at].1;
                if call.0.is_empty() {
                    call.0 = text_of(&piece["function"]["name"]);
                }
                call.1 += &text_of(&piece["function"]["arguments"]);
            }
            if legacy.0.is_empty() {
                legacy.0 = text_of(&delta["function_call"]["name"]);
            }
            legacy.1 += &text_of(&delta["function_call"]["arguments"]);
        }
        Ok(())
    };
    let joined = join();
    said.calls = calls.into_iter().map(|it| it.1).collect();
    if !legacy.0.is_empty() {
        said.calls.push(legacy);
    }
    joined.and(error.map_or(Ok(()), Err))
}

/// A call as the AI SDK's `StreamingToolCallTracker` keeps it.
struct Tracked {
    ids: Vec<String>,
    indexes: Vec<f64>,
    first_index: Option<f64>,
    name: String,
    arguments: String,
}

/// Whether a text is a whole object or list, and maybe more after it.
fn is_complete(arguments: &str) -> bool {
    let mut values = serde_json::Deserializer::from_str(arguments).into_iter::<Value>();
    starts_structured(arguments) && values.next().is_some_and(|it| it.is_ok())
}

fn starts_structured(arguments: &str) -> bool {
    arguments.trim_start().starts_with(['{', '['])
}

/// Of these calls the one that a piece goes on with; `None` if there are several.
fn matching(calls: &[Tracked], of: &[usize], begins: bool) -> Option<Option<usize>> {
    let open: Vec<usize> = match begins {
        true => of
            .iter()
            .copied()
            .filter(|at| !is_complete(&calls[*at].arguments))
            .collect(),
        false => of.to_vec(),
    };
    match open[..] {
        [] => Some(None),
        [one] => Some(Some(one)),
        _ => None,
    }
}

/// Where a piece belongs: `Some(None)` is a new call, `None` nobody knows.
fn resolve(
    calls: &[Tracked],
    id: Option<&str>,
    index: Option<f64>,
    name: Option<&str>,
    begins: bool,
) -> Option<Option<usize>> {
    let all = 0..calls.len();
    let is_named = |at: &usize| name.is_none_or(|name| calls[*at].name == name);
    let indexed: Option<Vec<usize>> = index.map(|index| {
        let has = |at: &usize| calls[*at].indexes.contains(&index);
        all.clone().filter(has).collect()
    });
    let indexed = indexed.filter(|it| !it.is_empty());
    let fitting: Vec<usize> = indexed.iter().flatten().copied().filter(is_named).collect();
    if let Some(id) = id {
        let with_id: Vec<usize> = all
            .filter(|at| calls[*at].ids.iter().any(|it| it == id))
            .collect();
        if with_id.is_empty() {
            return match fitting.is_empty() || begins {
                true => Some(None),
                false => matching(calls, &fitting, false),
            };
        }
        if index.is_some() {
            let both: Vec<usize> = fitting
                .into_iter()
                .filter(|at| with_id.contains(at))
                .collect();
            return match matching(calls, &both, begins) {
                Some(None) if name.is_some() => Some(None),
                Some(None) if indexed.is_some() => None,
                Some(None) => matching(calls, &with_id, false),
                found => found,
            };
        }
        let fitting: Vec<usize> = with_id.into_iter().filter(is_named).collect();
        return matching(calls, &fitting, begins && name.is_some());
    }
    if indexed.is_some() {
        return matching(calls, &fitting, begins);
    }
    if name.is_some() {
        return Some(None);
    }
    matching(calls, &all.collect::<Vec<_>>(), false)
}

/// Whether a chunk is of the types that the AI SDK reads.
fn fits_ai_sdk(chunk: &Value) -> bool {
    let is_text = |value: &Value| value.is_null() || value.is_string();
    let fits_call = |call: &Value| {
        let function = &call["function"];
        (call["index"].is_null() || call["index"].is_number())
            && is_text(&call["id"])
            && function.is_object()
            && is_text(&function["name"])
            && is_text(&function["arguments"])
    };
    let fits_choice = |choice: &Value| {
        let delta = &choice["delta"];
        is_text(&choice["finish_reason"])
            && is_object_or_null(delta)
            && (is_text(&delta["content"]) || delta["content"].is_array())
            && is_text(&delta["reasoning_content"])
            && matches!(delta["role"].as_str(), None | Some("assistant" | ""))
            && (delta["tool_calls"].is_null() || delta["tool_calls"].is_array())
            && list(&delta["tool_calls"]).iter().all(fits_call)
    };
    let usage = &chunk["usage"];
    let counts = ["prompt_tokens", "completion_tokens", "total_tokens"];
    is_text(&chunk["id"])
        && is_text(&chunk["model"])
        && (chunk["created"].is_null() || chunk["created"].is_number())
        && chunk["choices"]
            .as_array()
            .is_some_and(|it| it.iter().all(fits_choice))
        && is_object_or_null(usage)
        && counts
            .iter()
            .all(|it| usage[it].is_null() || usage[it].is_number())
}

/// `@ai-sdk/openai-compatible`: a chunk that doesn't fit is told of, and the others go on.
fn chat_by_ai_sdk(said: &mut Reading, body: &Body) -> Result<(), &'static str> {
    let mut calls: Vec<Tracked> = Vec::new();
    let mut pending: Vec<(f64, Option<String>, String)> = Vec::new();
    let mut forwarded: Vec<f64> = Vec::new();
    let mut error = None;
    for event in events(body, false)
        .into_iter()
        .filter(|it| it.data != "[DONE]")
    {
        let chunk = json_of(&event.data).unwrap_or_default();
        if !fits_ai_sdk(&chunk) {
            error = Some(UNFIT);
            continue;
        }
        let Some(choice) = chunk["choices"].get(0) else {
            continue;
        };
        if !choice["finish_reason"].is_null() {
            said.end = choice["finish_reason"].clone();
        }
        let delta = &choice["delta"];
        match &delta["content"] {
            Value::Array(parts) => parts
                .iter()
                .for_each(|it| said.text += &text_of(&it["text"])),
            content => said.text += &text_of(content),
        }
        for piece in list(&delta["tool_calls"]) {
            let (index, id) = (piece["index"].as_f64(), piece["id"].as_str());
            let function = &piece["function"];
            let (mut id, mut arguments) = (id.map(str::to_owned), text_of(&function["arguments"]));
            if let Some(index) = index.filter(|it| !forwarded.contains(it)) {
                let at = pending.iter().position(|it| it.0 == index);
                let mut kept = at.map_or((index, None, String::new()), |at| pending.remove(at));
                kept.1 = kept.1.or(id);
                kept.2 += &arguments;
                if function["name"].is_null() {
                    pending.push(kept);
                    continue;
                }
                forwarded.push(index);
                (id, arguments) = (kept.1, kept.2);
            }
            track(&mut calls, id, index, function["name"].as_str(), arguments)?;
        }
    }
    if !pending.is_empty() {
        return Err("a call without a name");
    }
    if calls.iter().all(|it| it.first_index.is_some()) {
        calls.sort_by(|one, other| one.first_index.partial_cmp(&other.first_index).unwrap());
    }
    said.calls = calls
        .into_iter()
        .map(|it| (it.name, it.arguments))
        .collect();
    if said.end.is_null() {
        error = error.or(Some("no finish reason"));
    }
    error.map_or(Ok(()), Err)
}

fn track(
    calls: &mut Vec<Tracked>,
    id: Option<String>,
    index: Option<f64>,
    name: Option<&str>,
    arguments: String,
) -> Result<(), &'static str> {
    let is_blank = name.is_some_and(|it| it.trim().is_empty());
    let id = id.filter(|it| !it.trim().is_empty());
    let name = name.filter(|it| !it.trim().is_empty());
    let begins = name.is_some() && starts_structured(&arguments);
    let at = match resolve(calls, id.as_deref(), index, name, begins) {
        None => return Ok(()),
        Some(Some(at)) => {
            calls[at].arguments += &arguments;
            at
        }
        Some(None) if is_blank => return Ok(()),
        Some(None) => {
            calls.push(Tracked {
                ids: Vec::new(),
                indexes: Vec::new(),
                first_index: index,
                name: name.ok_or("a call without a name")?.to_owned(),
                arguments,
            });
            calls.len() - 1
        }
    };
    calls[at].ids.extend(id);
    calls[at].indexes.extend(index);
    Ok(())
}

/// A whole body.
fn whole(body: &Body) -> Result<Value, &'static str> {
    let value = json_of(&String::from_utf8_lossy(body.bytes))?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(UNFIT)
    }
}

fn chat_whole(said: &mut Reading, body: &Body) -> Result<(), &'static str> {
    let value = whole(body)?;
    let choice = value["choices"].get(0).ok_or(UNFIT)?;
    let message = &choice["message"];
    said.text = text_of(&message["content"]);
    said.end = choice["finish_reason"].clone();
    let functions = list(&message["tool_calls"])
        .iter()
        .map(|it| &it["function"]);
    let functions = functions.chain(
        [&message["function_call"]]
            .into_iter()
            .filter(|it| it.is_object()),
    );
    said.calls = functions
        .map(|it| (text_of(&it["name"]), text_of(&it["arguments"])))
        .collect();
    Ok(())
}

fn completions(said: &mut Reading, body: &Body) -> Result<(), &'static str> {
    let (chunks, error) = chunks(body);
    for chunk in chunks {
        if !chunk.is_object() {
            return Err(UNFIT);
        }
        if let Some(choice) = list(&chunk["choices"]).first() {
            said.text += &text_of(&choice["text"]);
            if is_true(&choice["finish_reason"]) {
                said.end = choice["finish_reason"].clone();
            }
        }
    }
    error.map_or(Ok(()), Err)
}

fn completion(said: &mut Reading, body: &Body) -> Result<(), &'static str> {
    let value = whole(body)?;
    let choice = value["choices"].get(0).ok_or(UNFIT)?;
    said.text = text_of(&choice["text"]);
    said.end = choice["finish_reason"].clone();
    Ok(())
}

/// The events of a message that both of Anthropic's SDKs hand on: those that have a name.
fn message_events(body: &Body) -> Vec<Result<Value, &'static str>> {
    let events = events(body, true).into_iter();
    let events = events
        .filter(|it| it.name.as_deref().is_some_and(|name| name != "ping") && !it.data.is_empty());
    events.map(|it| json_of(&it.data)).collect()
}

/// The blocks of a message, with what a call's pieces are.
fn take_blocks(said: &mut Reading, blocks: &[(Value, Option<String>)]) {
    for (block, pieces) in blocks {
        match block["type"].as_str() {
            Some("text") => said.text += &text_of(&block["text"]),
            Some("tool_use") => {
                let input = pieces.clone().unwrap_or_else(|| block["input"].to_string());
                said.calls.push((text_of(&block["name"]), input));
            }
            _ => {}
        }
    }
}

/// Adds a piece to a block.
fn add_delta(block: &mut (Value, Option<String>), delta: &Value) {
    match (delta["type"].as_str(), block.0["type"].as_str()) {
        (Some("text_delta"), Some("text")) => {
            block.0["text"] = (text_of(&block.0["text"]) + &text_of(&delta["text"])).into();
        }
        (Some("input_json_delta"), Some("tool_use")) => {
            let piece = text_of(&delta["partial_json"]);
            if !piece.is_empty() {
                *block.1.get_or_insert_default() += &piece;
            }
        }
        _ => {}
    }
}

/// `MessageStream` of Anthropic's SDKs: blocks are appended, pieces go where the index says.
fn message_snapshot(said: &mut Reading, body: &Body) -> Result<(), &'static str> {
    let (mut blocks, mut has_begun) = (Vec::new(), false);
    let mut join = || {
        for event in message_events(body) {
            let event = event?;
            let kind = event["type"].as_str().ok_or(UNFIT)?;
            if !has_begun {
                has_begun = kind == "message_start";
                continue;
            }
            match kind {
                "content_block_start" => blocks.push((event["content_block"].clone(), None)),
                "content_block_delta" => {
                    let index = event["index"].as_u64().ok_or(UNFIT)? as usize;
                    add_delta(blocks.get_mut(index).ok_or(UNFIT)?, &event["delta"]);
                }
                "content_block_stop" => {
                    let index = event["index"].as_u64().ok_or(UNFIT)? as usize;
                    blocks.get(index).ok_or(UNFIT)?;
                }
                "message_delta" => said.end = event["delta"]["stop_reason"].clone(),
                _ => {}
            }
        }
        Ok(())
    };
    let joined = join();
    take_blocks(said, &blocks);
    joined
}

/// The same by index, as Claude Code joins them.
fn message_by_index(said: &mut Reading, body: &Body) -> Result<(), &'static str> {
    let mut blocks: Vec<(Value, (Value, Option<String>))> = Vec::new();
    let mut join = || {
        for event in message_events(body) {
            let event = event?;
            let index = event["index"].clone();
            let at = blocks.iter().position(|it| it.0 == index);
            match (event["type"].as_str(), at) {
                (Some("content_block_start"), None) => {
                    blocks.push((index, (event["content_block"].clone(), None)))
                }
                (Some("content_block_start"), Some(at)) => {
                    blocks[at].1 = (event["content_block"].clone(), None)
                }
                (Some("content_block_delta"), Some(at)) => {
                    add_delta(&mut blocks[at].1, &event["delta"])
                }
                (Some("content_block_delta"), None) => return Err(UNFIT),
                (Some("message_delta"), _) => said.end = event["delta"]["stop_reason"].clone(),
                _ => {}
            }
        }
        Ok(())
    };
    let joined = join();
    let blocks: Vec<_> = blocks.into_iter().map(|it| it.1).collect();
    take_blocks(said, &blocks);
    joined
}

fn message_whole(said: &mut Reading, body: &Body) -> Result<(), &'static str> {
    let value = whole(body)?;
    let blocks: Vec<_> = list(&value["content"])
        .iter()
        .map(|it| (it.clone(), None))
        .collect();
    take_blocks(said, &blocks);
    said.end = value["stop_reason"].clone();
    Ok(())
}

fn take_items(said: &mut Reading, items: &[Value]) {
    for item in items {
        match item["type"].as_str() {
            Some("message") => {
                for part in list(&item["content"]) {
                    said.text += &text_of(&part["text"]);
                }
            }
            Some("function_call") => {
                let call = (text_of(&item["name"]), text_of(&item["arguments"]));
                said.calls.push(call);
            }
            _ => {}
        }
    }
}

/// The end of a response, if the event is it.
fn response_end(event: &Value) -> Option<&Value> {
    let kind = event["type"].as_str()?.strip_prefix("response.")?;
    ["completed", "incomplete", "failed"]
        .contains(&kind)
        .then_some(&event["response"])
}

/// The items that are done, as Codex takes them.
fn response_items(said: &mut Reading, body: &Body) -> Result<(), &'static str> {
    let (chunks, error) = chunks(body);
    for event in chunks {
        let kind = event["type"].as_str().ok_or(UNFIT)?;
        if kind == "response.output_item.done" {
            take_items(said, &[event["item"].clone()]);
        } else if let Some(response) = response_end(&event) {
            said.end = response["status"].clone();
        }
    }
    error.map_or(Ok(()), Err)
}

/// What the last event says.
fn response_last(said: &mut Reading, body: &Body) -> Result<(), &'static str> {
    let (chunks, error) = chunks(body);
    for event in chunks {
        event["type"].as_str().ok_or(UNFIT)?;
        if let Some(response) = response_end(&event) {
            take_items(said, list(&response["output"]));
            said.end = response["status"].clone();
        }
    }
    error.map_or(Ok(()), Err)
}

/// What the pieces say.
fn response_pieces(said: &mut Reading, body: &Body) -> Result<(), &'static str> {
    let (chunks, error) = chunks(body);
    let mut calls: Vec<(Value, (String, String))> = Vec::new();
    let join = || {
        for event in chunks {
            let index = event["output_index"].clone();
            let at = calls.iter().position(|it| it.0 == index);
            match (event["type"].as_str().ok_or(UNFIT)?, at) {
                ("response.output_text.delta", _) => said.text += &text_of(&event["delta"]),
                ("response.output_item.added", at) if event["item"]["type"] == "function_call" => {
                    let call = (
                        text_of(&event["item"]["name"]),
                        text_of(&event["item"]["arguments"]),
                    );
                    match at {
                        Some(at) => calls[at].1 = call,
                        None => calls.push((index, call)),
                    }
                }
                ("response.function_call_arguments.delta", Some(at)) => {
                    calls[at].1.1 += &text_of(&event["delta"])
                }
                ("response.function_call_arguments.delta", None) => return Err(UNFIT),
                _ => {}
            }
        }
        Ok(())
    };
    let joined = join();
    said.calls = calls.into_iter().map(|it| it.1).collect();
    joined.and(error.map_or(Ok(()), Err))
}

fn response_whole(said: &mut Reading, body: &Body) -> Result<(), &'static str> {
    let value = whole(body)?;
    take_items(said, list(&value["output"]));
    said.end = value["status"].clone();
    Ok(())
}

fn take_ollama(said: &mut Reading, value: &Value) -> Result<(), &'static str> {
    if is_true(&value["error"]) {
        return Err("ResponseError");
    }
    if !value.is_object() {
        return Err(UNFIT);
    }
    let message = &value["message"];
    said.text += &(text_of(&message["content"]) + &text_of(&value["response"]));
    for call in list(&message["tool_calls"]) {
        let function = &call["function"];
        // The Python SDK takes objects alone.
        if !function["arguments"].is_object() {
            return Err(UNFIT);
        }
        said.calls.push((
            text_of(&function["name"]),
            function["arguments"].to_string(),
        ));
    }
    said.end = json!([value["done"], value["done_reason"]]);
    Ok(())
}

/// ollama-python's lines.
fn ollama_lines(said: &mut Reading, body: &Body) -> Result<(), &'static str> {
    let text = String::from_utf8_lossy(body.bytes);
    let text = text.replace("\r\n", "\n");
    let text = text.strip_suffix('\n').unwrap_or(&text);
    for line in text.split('\n').filter(|_| !text.is_empty()) {
        take_ollama(said, &json_of(line)?)?;
    }
    Ok(())
}

fn ollama_whole(said: &mut Reading, body: &Body) -> Result<(), &'static str> {
    take_ollama(said, &whole(body)?)
}
