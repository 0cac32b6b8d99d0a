//! Chat completions: requests, as Ollama's chat writes them, too, and replies.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tslp_core::event::PartKind;
use tslp_core::message::Role;

use crate::chat::json_text::{empty_if_null, present_value, read_object};
use crate::chat::lenient::Fields as _;
use crate::chat::reply_content::{DecodedPiece, EventRole, ReplyContent, SURPLUS};
use crate::chat::wire_message::{
    ArgumentsForm, TextInsertion, WireMessage, own_last, read_content,
};

#[derive(Deserialize)]
struct ChatMessage<'b> {
    role: String,
    #[serde(borrow, default, deserialize_with = "present_value")]
    content: Option<&'b RawValue>,
    #[serde(borrow)]
    tool_calls: Option<Vec<ChatCall<'b>>>,
    #[serde(default, deserialize_with = "empty_if_null")]
    tool_call_id: String,
    #[serde(borrow)]
    reasoning_content: Option<&'b RawValue>,
    #[serde(borrow)]
    reasoning: Option<&'b RawValue>,
    #[serde(borrow)]
    thinking: Option<&'b RawValue>,
}

#[derive(Deserialize)]
struct ChatCall<'b> {
    #[serde(default, deserialize_with = "empty_if_null")]
    id: String,
    #[serde(borrow, default)]
    function: ChatFunction<'b>,
}

#[derive(Default, Deserialize)]
struct ChatFunction<'b> {
    #[serde(default)]
    name: String,
    #[serde(borrow)]
    arguments: Option<&'b RawValue>,
}

/// Reads a message; and how the client calls its role.
pub(in crate::chat) fn read_item(
    item: &str,
) -> Result<(Vec<WireMessage>, String), serde_json::Error> {
    let wire: ChatMessage<'_> = read_object(item)?;
    let mut own = WireMessage::new(Role::parse(&wire.role));
    own.message.answers = wire.tool_call_id;
    let mut others = Vec::new();
    match wire.content {
        Some(content) => read_content(item, content, |_| false, &mut own, &mut others)?,
        None => own.set_new_text(TextInsertion {
            at: item.len() - 1..item.len() - 1,
            before: ",\"content\":",
            after: "",
        }),
    }
    for call in wire.tool_calls.into_iter().flatten() {
        let ChatFunction { name, arguments } = call.function;
        let name = (call.id, name);
        match arguments {
            // Ollama's clients write them as they are.
            Some(arguments) if arguments.get().starts_with('{') => {
                own.add_call(item, name, arguments, ArgumentsForm::Json)?;
            }
            Some(arguments) => own.add_call(item, name, arguments, ArgumentsForm::JsonInString)?,
            None => own.add_bare_call(name),
        }
    }
    let thoughts = [wire.reasoning_content, wire.reasoning, wire.thinking];
    for thought in thoughts.into_iter().flatten() {
        own.add_thought(item, thought);
    }
    Ok((own_last(own, others), wire.role))
}

/// Takes a chunk of a reply, or a whole one.
pub(in crate::chat) fn take_reply(
    reply: &mut ReplyContent,
    chunk: &Value,
    said: &mut DecodedPiece,
) {
    if let Some(error) = chunk.said("error") {
        reply.note_error(error, said);
    }
    for choice in chunk.list("choices") {
        let index = choice.figure("index").unwrap_or(0);
        if let Some(reason) = choice.word("finish_reason") {
            said.role = EventRole::Ends;
            if index == 0 {
                reply.finish_reason = Some(reason.to_owned());
            }
        }
        said.add_text(index, choice.text("text"));
        // Both may hold calls, whichever of them a client reads.
        for (name, is_whole) in [("delta", false), ("message", true)] {
            if choice[name].is_object() {
                take_delta(reply, (index, is_whole), &choice[name], said);
            }
        }
    }
}

/// The only call that a message of the old form has goes by this name.
const LEGACY_ID: &str = "function_call";

fn take_delta(
    reply: &mut ReplyContent,
    (choice, is_whole): (u32, bool),
    delta: &Value,
    said: &mut DecodedPiece,
) {
    let (mut text, mut thoughts) = (String::new(), String::new());
    let fields = ["reasoning_content", "reasoning", "thinking"];
    // Some servers say the same under two names.
    if let Some(thought) = fields.into_iter().find_map(|name| delta.said(name)) {
        push_content(thought, &mut thoughts, &mut String::new());
    }
    push_content(&delta["content"], &mut text, &mut thoughts);
    let mut others = String::new();
    let legacy = Some(&delta["function_call"]).filter(|it| it.is_object());
    let calls = delta.list("tool_calls").iter();
    let calls = calls.map(|call| (call, &call["function"]));
    for (call, function) in calls.chain(legacy.map(|function| (&Value::Null, function))) {
        // A custom tool has a text for its input.
        let (function, of) = match call["custom"].is_object() {
            true => (&call["custom"], "input"),
            false => (function, "arguments"),
        };
        let (name, arguments) = (function.text("name"), function.arguments(of));
        if choice != 0 {
            if !name.is_empty() {
                others.push_str(&format!("\n{name} "));
            }
            others.push_str(&arguments);
            said.calls.push(SURPLUS);
            continue;
        }
        let (id, index) = (call.text("id"), call.number("index"));
        let number = match is_whole {
            true => reply.new_call(id, index),
            false if call.is_null() => {
                let mut calls = reply.calls.iter();
                let known = calls.find(|it| it.id == LEGACY_ID).map(|it| it.number);
                known.unwrap_or_else(|| reply.new_call(LEGACY_ID, None))
            }
            false => reply.call_number(id, index, name),
        };
        let is_empty = name.is_empty() && arguments.trim().is_empty();
        let known = reply.call(number);
        let is_surplus = known.is_some_and(|it| it.has_ended) && !is_empty;
        said.calls.push(if is_surplus { SURPLUS } else { number });
        // As OpenAI's own server says it; what differs from that clients read in several ways.
        let is_first =
            known.is_some_and(|it| it.call.name.is_empty() && it.call.arguments.is_empty());
        let is_usual = index == Some(number as u64)
            && (is_first || id.is_empty() && name.is_empty())
            && (!is_first || !id.is_empty() && !name.is_empty())
            && (function[of].is_string() || function[of].is_null())
            && !(call["custom"].is_object() && call["function"].is_object());
        if !is_usual && call.is_object() {
            reply.note_odd_call(number);
        }
        reply.add_call_piece(number, name, &arguments);
        reply.end_closed_call(number, &arguments);
    }
    said.add_part(PartKind::Reasoning, choice, &thoughts);
    said.add_part(PartKind::Refusal, choice, delta.text("refusal"));
    said.add_text(choice, &text);
    said.add_part(PartKind::OtherToolCalls, choice, &others);
}

/// A text, or parts: reasoning models of some servers answer so, as clients may ask.
fn push_content(content: &Value, said: &mut String, thoughts: &mut String) {
    match content {
        Value::String(text) => said.push_str(text),
        Value::Array(parts) => {
            for part in parts {
                said.push_str(part.text("text"));
                push_content(&part["thinking"], thoughts, &mut String::new());
            }
        }
        _ => {}
    }
}
