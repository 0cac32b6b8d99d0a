//! OpenAI's responses, as Codex speaks them: a conversation is a list of items, and one turn of the model's is several.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tslp_core::event::PartKind;
use tslp_core::message::Role;

use super::anthropic::is_clients_text;
use crate::chat::json_text::{empty_if_null, present_value, read_object};
use crate::chat::reply_content::{DecodedPiece, ReplyContent};
use crate::chat::wire_message::{
    ArgumentsForm, WireMessage, input_arguments, own_last, read_content,
};

#[derive(Deserialize)]
struct InputItem<'b> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'b, str>>,
    #[serde(borrow, default, deserialize_with = "empty_if_null")]
    role: Cow<'b, str>,
    #[serde(borrow, default, deserialize_with = "present_value")]
    content: Option<&'b RawValue>,
    #[serde(borrow, default, deserialize_with = "empty_if_null")]
    name: Cow<'b, str>,
    #[serde(borrow, default, deserialize_with = "empty_if_null")]
    call_id: Cow<'b, str>,
    #[serde(borrow)]
    arguments: Option<&'b RawValue>,
    #[serde(borrow)]
    input: Option<&'b RawValue>,
    #[serde(borrow)]
    output: Option<&'b RawValue>,
}

impl InputItem<'_> {
    fn is_of_model(&self) -> bool {
        match self.kind.as_deref() {
            None | Some("message") => self.role == "assistant",
            Some(kind) => matches!(
                kind,
                "reasoning" | "function_call" | "custom_tool_call" | "local_shell_call"
            ),
        }
    }
}

/// Whether an item is part of a turn of the model's: neighbours of that kind are one message.
pub(in crate::chat) fn is_of_model(item: &str) -> bool {
    read_object::<InputItem<'_>>(item).is_ok_and(|item| item.is_of_model())
}

/// Reads one item, or several of one turn of the model's, with commas between them. Reasoning goes back as it came: it may be
/// encrypted, and servers check it.
pub(in crate::chat) fn read_items(unit: &str) -> Result<Vec<WireMessage>, serde_json::Error> {
    let mut items = serde_json::Deserializer::from_str(unit).into_iter::<&RawValue>();
    let mut turn: Option<WireMessage> = None;
    let mut messages = Vec::new();
    let mut rest = 0;
    while let Some(item) = items.next() {
        let json = item?.get();
        let item: InputItem<'_> = read_object(json)?;
        if item.is_of_model() {
            let turn = turn.get_or_insert_with(|| WireMessage::new(Role::Assistant));
            add_to_turn(unit, item, turn)?;
        } else {
            messages.extend(read_other(unit, item)?);
        }
        rest += items.byte_offset();
        let after = unit[rest..].trim_start();
        let Some(next) = after.strip_prefix(',') else {
            break;
        };
        rest = unit.len() - next.len();
        items = serde_json::Deserializer::from_str(next).into_iter();
    }
    messages.extend(turn);
    Ok(messages)
}

fn add_to_turn(
    unit: &str,
    item: InputItem<'_>,
    turn: &mut WireMessage,
) -> Result<(), serde_json::Error> {
    let name = || (item.call_id.to_string(), item.name.to_string());
    match item.kind.as_deref() {
        Some("function_call") => match item.arguments {
            Some(arguments) => {
                turn.add_call(unit, name(), arguments, ArgumentsForm::JsonInString)?
            }
            None => turn.add_bare_call(name()),
        },
        Some("custom_tool_call") => match item.input {
            Some(input) => turn.add_call(unit, name(), input, ArgumentsForm::InputAlone)?,
            None => turn.add_bare_call(name()),
        },
        Some("local_shell_call") => {
            turn.add_bare_call((item.call_id.to_string(), "local_shell".to_owned()))
        }
        Some("reasoning") => {}
        _ => {
            if let Some(content) = item.content {
                read_content(unit, content, |_| false, turn, &mut Vec::new())?;
            }
        }
    }
    Ok(())
}

fn read_other(unit: &str, item: InputItem<'_>) -> Result<Vec<WireMessage>, serde_json::Error> {
    let is_output = item
        .kind
        .as_deref()
        .is_some_and(|kind| kind.ends_with("_output"));
    let (role, content) = match item.kind.as_deref() {
        _ if is_output => (Role::Tool, item.output),
        None | Some("message") => (Role::parse(&item.role), item.content),
        Some(_) => (Role::Other, None),
    };
    let mut own = WireMessage::new(role);
    if is_output {
        own.message.answers = item.call_id.to_string();
    }
    let mut others = Vec::new();
    if let Some(content) = content {
        // A tool may return any JSON, such as a screenshot's.
        let is_text = content.get().starts_with(['"', '[', 'n']);
        if is_text || !is_output {
            read_content(unit, content, is_clients_text, &mut own, &mut others)?;
        }
    }
    Ok(own_last(own, others))
}

#[derive(Deserialize)]
struct StreamEvent {
    #[serde(rename = "type", default)]
    kind: String,
    output_index: Option<u32>,
    content_index: Option<u32>,
    delta: Option<Value>,
    item: Option<OutputItem>,
    /// The id of a response that came as one body.
    id: Option<String>,
    response: Option<ResponseObject>,
    error: Option<Value>,
    /// The message of an error that isn't wrapped.
    message: Option<String>,
    /// These four are of a whole response, too.
    output: Option<Vec<OutputItem>>,
    status: Option<String>,
    incomplete_details: Option<Value>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct ResponseObject {
    id: Option<String>,
    status: Option<String>,
    incomplete_details: Option<Value>,
    #[serde(default)]
    usage: Value,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct OutputItem {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default, deserialize_with = "empty_if_null")]
    content: Vec<OutputPart>,
    #[serde(default, deserialize_with = "empty_if_null")]
    summary: Vec<OutputPart>,
    #[serde(default, deserialize_with = "empty_if_null")]
    name: String,
    #[serde(default, deserialize_with = "empty_if_null")]
    arguments: String,
    #[serde(default, deserialize_with = "empty_if_null")]
    input: String,
    action: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct OutputPart {
    #[serde(default, deserialize_with = "empty_if_null")]
    text: String,
    #[serde(default, deserialize_with = "empty_if_null")]
    refusal: String,
}

/// Takes an event of a reply, or a whole one.
pub(in crate::chat) fn take_reply(
    reply: &mut ReplyContent,
    json: &[u8],
    said: &mut DecodedPiece,
) -> Result<(), serde_json::Error> {
    let event: StreamEvent = serde_json::from_slice(json)?;
    reply.count_json_bytes(json.len());
    let item = event.output_index.unwrap_or(0);
    let block = block_number(item, event.content_index.unwrap_or(0));
    // Of other events, which have none or an object, nobody asks for it.
    let delta = event.delta.as_ref().and_then(Value::as_str).unwrap_or("");
    match event.kind.as_str() {
        "response.output_text.delta" => reply.add_block_text(block, delta, said),
        "response.refusal.delta" => said.add_part(PartKind::Refusal, 0, delta),
        "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
            reply.has_thoughts = true;
            said.add_part(PartKind::Reasoning, 0, delta);
        }
        "response.function_call_arguments.delta" => {
            reply.add_call_piece(item as usize, "", delta);
        }
        "response.output_item.added" => {
            if let Some(OutputItem { kind, name, .. }) = event.item
                && kind == "function_call"
                && !name.is_empty()
            {
                reply.add_call_piece(item as usize, &name, "");
            }
        }
        "response.output_item.done" => {
            if let Some(done) = event.item {
                take_item(reply, item, done, said);
            }
        }
        "response.completed" | "response.incomplete" | "response.failed" => {
            if let Some(response) = event.response {
                take_end(reply, response, said);
            }
            reply.end_was_said();
        }
        "error" => {
            let message = || Value::from(event.message);
            let error = event.error.filter(|error| !error.is_null());
            reply.note_error(&error.unwrap_or_else(message), said);
        }
        // Whatever else the stream says.
        kind if kind.starts_with("response.") => {}
        _ => {
            for (index, item) in (0..).zip(event.output.into_iter().flatten()) {
                take_item(reply, index, item, said);
            }
            let whole = ResponseObject {
                id: event.id,
                status: event.status,
                incomplete_details: event.incomplete_details,
                usage: event.usage,
                error: event.error,
            };
            take_end(reply, whole, said);
        }
    }
    Ok(())
}

fn block_number(item: u32, part: u32) -> u64 {
    u64::from(item) << 32 | u64::from(part)
}

/// An item that is whole. Its text may have come piece by piece before.
fn take_item(reply: &mut ReplyContent, index: u32, item: OutputItem, said: &mut DecodedPiece) {
    match item.kind.as_str() {
        "function_call" => {
            reply.set_call(index as usize, &item.name, item.arguments);
        }
        "custom_tool_call" => {
            let arguments = input_arguments(&item.input);
            reply.set_call(index as usize, &item.name, arguments);
        }
        "local_shell_call" => {
            let action = item.action.as_deref().map_or("", RawValue::get);
            reply.set_call(index as usize, "local_shell", action.to_owned());
        }
        "message" => {
            for (part, content) in (0..).zip(item.content) {
                let block = block_number(index, part);
                if !reply.has_block_text(block) {
                    reply.add_block_text(block, &content.text, said);
                    said.add_part(PartKind::Refusal, 0, &content.refusal);
                }
            }
        }
        "reasoning" if !reply.has_thoughts => {
            let parts = item.content.into_iter().chain(item.summary);
            for part in parts {
                said.add_part(PartKind::Reasoning, 0, &part.text);
            }
        }
        _ => {}
    }
}

fn take_end(reply: &mut ReplyContent, response: ResponseObject, said: &mut DecodedPiece) {
    if let Some(error) = response.error.filter(|error| !error.is_null()) {
        reply.note_error(&error, said);
    }
    if let Some(id) = response.id {
        reply.response_id = Some(id);
    }
    let why = response.incomplete_details.as_ref();
    let why = why.and_then(|details| details.get("reason")?.as_str());
    if let Some(reason) = why.map(str::to_owned).or(response.status) {
        reply.finish_reason = Some(reason);
    }
    let usage = response.usage;
    let figure = |value: Option<&Value>| u32::try_from(value?.as_u64()?).ok();
    let cached = usage.get("input_tokens_details");
    let cached = figure(cached.and_then(|details| details.get("cached_tokens")));
    let known = &mut reply.usage;
    known.prompt_tokens = figure(usage.get("input_tokens")).or(known.prompt_tokens);
    known.cached_tokens = cached.or(known.cached_tokens);
    known.completion_tokens = figure(usage.get("output_tokens")).or(known.completion_tokens);
}
