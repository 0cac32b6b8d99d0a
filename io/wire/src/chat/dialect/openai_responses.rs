//! OpenAI's responses, as Codex speaks them: a conversation is a list of items, and one turn of the model's is several.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tslp_core::event::PartKind;
use tslp_core::message::Role;

use super::anthropic::is_clients_text;
use crate::chat::json_text::{empty_if_null, present_value, read_object};
use crate::chat::lenient::Fields as _;
use crate::chat::reply_content::{DecodedPiece, EventRole, ReplyContent, SURPLUS};
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

/// Whether an item is a call of a tool of the client's; others the server runs itself.
pub(in crate::chat) fn is_clients_call(kind: &str) -> bool {
    const CALLS: [&str; 6] = [
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "computer_call",
    ];
    CALLS.contains(&kind)
}

/// Takes an event of a reply, or a whole one.
pub(in crate::chat) fn take_reply(
    reply: &mut ReplyContent,
    event: &Value,
    said: &mut DecodedPiece,
) {
    let kind = event.text("type");
    let delta = event.text("delta");
    let item = &event["item"];
    let id = match item.text("id") {
        "" => event.text("item_id"),
        id => id,
    };
    let is_new = kind == "response.output_item.added" && item.is_object();
    // Some servers say of no event which item it is about: then it is the last one.
    let is_piece = kind.ends_with(".delta") || kind.contains("_call_");
    let is_stated = item.is_object() || !id.is_empty() || event.number("output_index").is_some();
    let is_of_item = is_piece || is_stated;
    let number = match is_of_item {
        true => reply.item_position(event.number("output_index"), id, is_new),
        false => 0,
    };
    let had_ended = reply.has_ended(number);
    let block = block_number(number, event.number("content_index").unwrap_or(0));
    match kind {
        "response.output_text.delta" => reply.add_block_text(block, delta, said),
        "response.refusal.delta" => said.add_part(PartKind::Refusal, 0, delta),
        "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
            reply.has_thoughts = true;
            said.add_part(PartKind::Reasoning, 0, delta);
        }
        "response.function_call_arguments.delta" => reply.add_call_piece(number, "", delta),
        "response.output_item.added" if is_clients_call(item.text("type")) => {
            reply.add_call_piece(number, item.text("name"), "");
        }
        "response.output_item.done" => take_item(reply, number, item, said),
        "response.created" => {
            reply.response_id = event["response"].word("id").map(str::to_owned);
        }
        "response.completed" | "response.incomplete" | "response.failed" => {
            // A call may be told with the end alone. Names of items may differ there.
            let items = event["response"].list("output").iter();
            let calls = items.filter(|item| is_clients_call(item.text("type")));
            let are_more = calls.clone().count() > reply.calls.len();
            for item in calls.filter(|_| are_more) {
                let id = item.text("id");
                let known = reply.item_named(id);
                let number = known.unwrap_or_else(|| reply.item_position(None, id, true));
                if reply.call(number).is_none() {
                    take_item(reply, number, item, said);
                }
            }
            take_end(reply, &event["response"], said);
            reply.end_was_said();
        }
        "error" => {
            let error = event.said("error").unwrap_or(&event["message"]);
            reply.note_error(error, said);
        }
        // Whatever else the stream says.
        kind if kind.starts_with("response.") && event.get("output").is_none() => {}
        _ => {
            for (number, item) in event.list("output").iter().enumerate() {
                take_item(reply, number, item, said);
                said.calls.extend(reply.call(number).map(|_| number));
            }
            take_end(reply, event, said);
        }
    }
    let is_text =
        kind.starts_with("response.output_text") || kind.starts_with("response.content_part");
    if is_of_item && !is_text && reply.call(number).is_some() {
        said.calls.push(if had_ended { SURPLUS } else { number });
    }
    said.role = match kind {
        "response.content_part.added" => EventRole::OpensText,
        "response.output_item.added" if item["type"] == "message" => EventRole::OpensText,
        "response.output_item.added" => EventRole::OpensOther,
        "response.output_text.done"
        | "response.completed"
        | "response.incomplete"
        | "response.failed" => EventRole::Ends,
        _ => EventRole::Content,
    };
}

fn block_number(item: usize, part: u64) -> u64 {
    (item as u64) << 32 | part
}

/// An item that is whole. Its text may have come piece by piece before.
fn take_item(reply: &mut ReplyContent, number: usize, item: &Value, said: &mut DecodedPiece) {
    let id = item.text("call_id");
    match item.text("type") {
        "custom_tool_call" => {
            let arguments = input_arguments(item.text("input"));
            reply.set_call(number, (id, item.text("name")), arguments);
        }
        "function_call" => {
            let arguments = item.arguments("arguments");
            reply.set_call(number, (id, item.text("name")), arguments);
        }
        kind if is_clients_call(kind) => {
            let name = kind.trim_end_matches("_call");
            let does = ["action", "operation"].map(|name| item.arguments(name));
            reply.set_call(number, (id, name), does.concat());
        }
        "message" => {
            for (part, content) in (0..).zip(item.list("content")) {
                let block = block_number(number, part);
                if !reply.has_block_text(block) {
                    reply.add_block_text(block, content.text("text"), said);
                    said.add_part(PartKind::Refusal, 0, content.text("refusal"));
                }
            }
        }
        "reasoning" if !reply.has_thoughts => {
            for part in item.list("content").iter().chain(item.list("summary")) {
                said.add_part(PartKind::Reasoning, 0, part.text("text"));
            }
        }
        _ => {}
    }
}

fn take_end(reply: &mut ReplyContent, response: &Value, said: &mut DecodedPiece) {
    if let Some(error) = response.said("error") {
        reply.note_error(error, said);
    }
    if let Some(id) = response.word("id") {
        reply.response_id = Some(id.to_owned());
    }
    let why = response["incomplete_details"].word("reason");
    if let Some(reason) = why.or(response.word("status")) {
        reply.finish_reason = Some(reason.to_owned());
    }
    let usage = &response["usage"];
    let known = &mut reply.usage;
    let cached = usage["input_tokens_details"].figure("cached_tokens");
    known.prompt_tokens = usage.figure("input_tokens").or(known.prompt_tokens);
    known.cached_tokens = cached.or(known.cached_tokens);
    known.completion_tokens = usage.figure("output_tokens").or(known.completion_tokens);
}
